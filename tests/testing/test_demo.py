"""The demo, as a person runs it: its story, its numbers, and that nothing of it is left."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest
from tests import skips
from tests.patience import told_by, until
from tests.support import Maestro

from maestro.testing.demo.lead import worth_showing

_SECONDS = 330  # more than its own deadline, by which it ends itself


@pytest.fixture
def folder(maestro: Maestro) -> Path:
    """Where the demo puts everything."""
    made = maestro.place / "t"
    made.mkdir()
    maestro.env["TMPDIR"] = str(made)
    return made


def left_of(folder: Path) -> list[str]:
    """Files in the folder, and processes that know of a path in it."""
    mark = os.fsencode(folder / "maestro-demo-")
    found = [str(path) for path in folder.rglob("*")]
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                known = (process / "environ").read_bytes() + (process / "cmdline").read_bytes()
            except OSError:
                continue
            if mark in known:
                found.append((process / "cmdline").read_text().replace("\0", " "))
    return found


@pytest.mark.more
def test_the_story_as_lines_and_as_json(maestro: Maestro, folder: Path) -> None:
    as_lines, as_json = maestro.start("demo"), maestro.start("demo", "--json")
    told, complaints = told_by(as_lines, seconds=_SECONDS)
    assert as_lines.returncode == 0, told + complaints
    wire, complaints = told_by(as_json, seconds=_SECONDS)
    assert as_json.returncode == 0, wire[-2000:] + complaints

    steps = (
        "Frontend Dev  asks: Which e-mail addresses should the form accept?",
        "coordinator   Frontend Dev: answered “Which e-mail addresses should the form accept?” → Choose 1 (rules)",
        "coordinator   Frontend Dev: answered “May it use Bash? git diff --stat” → Choose 1 (policy)",
        "coordinator   Frontend Dev: answered “May it use Bash? npm test” → Choose 1 (rules)",
        "Test Writer   reports blocked: Rows of the old login are in the way",
        "coordinator   Test Writer: for you: “May I run `psql -c 'DROP TABLE sessions_v1'`",
        "you           $ maestro inbox show esca_",
        "you           why           database changes",
        "you           $ maestro answer esca_",
        "Good that I asked",
        "coordinator   Backend Dev: prompted, for it does not get on",
        "I was reading the same models in circles",
        "coordinator   All workers are done.",
        "you           The chain is whole",
        "you           $ maestro session spawn --role coordinator",
        "Lead Agent    $ maestro session spawn --agent scripted --model writer.json",
        "Lead Agent    $ maestro fleet coordinate-wait",
        "Doc Writer    reports blocked: What does an unknown user get?",
        "|unchecked|Doc Writer|",
        "Lead Agent    $ maestro context",
        'status="blocked" blocked_reason="What does an unknown user get?"',
        "Lead Agent    $ maestro session prompt 'Doc Writer'",
        "Doc Writer    reports complete: Guide written, all 5 examples pass",
        "|done|Doc Writer|",
        "Lead Agent    $ maestro task children 'Document the account API'",
        "completed  Write the API guide",
        "Lead Agent    $ maestro session show 'Doc Writer'",
        "Lead Agent    for it",
        "Lead Agent    reports complete: The guide is written, and its examples were run",
        "● completed  Document the account API  (1/1)",
        "you           $ maestro session prompt 'Lead Agent'",
        'Lead Agent    "Doc Writer wrote the guide',
        "6 of 6 tasks completed by their workers' own reports",
        "Autonomy 75%: 3 of 4 questions answered without you, 1 escalated, one stuck worker helped.",
        "The agent as coordinator: 1 worker started, 1 prompt arrived, 2 reports of “done” checked",
    )
    place = 0
    for step in steps:
        place = told.find(step, place)
        assert place >= 0, f"{step}\n{told}"
    assert "You are the coordinator" not in told

    lines, _, outcome = wire.rpartition("\n{\n")
    facts = json.loads("{\n" + outcome)
    assert facts["tasks_completed"] == facts["tasks_total"] == 6
    assert (facts["questions_decided"], facts["answered_by_rules"]) == (4, 3)
    assert (facts["escalated"], facts["answered_by_you"], facts["workers_helped"]) == (1, 1, 1)
    assert facts["autonomy_rate"] == pytest.approx(3 / 4)
    # Five decisions and the answer of the person; each of the five that were typed has its receipt.
    assert (facts["decisions_recorded"], facts["chain_whole"]) == (11, True)
    assert 0 < facts["digest_tokens"] < facts["raw_tokens"] / 10
    assert facts["debrief"].startswith("# Debrief\n")
    assert (facts["agent_workers_started"], facts["agent_prompts_arrived"]) == (1, 1)
    assert (facts["agent_reports_checked"], facts["agent_reports_disputed"]) == (2, 0)
    # By the hook of the prompt that the person typed; the commands that it ran itself are not counted.
    assert facts["agent_context_turns"] == 1
    assert facts["agent_context_tokens"] > 0
    assert facts["agent_report"] == "The guide is written, and its examples were run"
    events = [json.loads(line) for line in lines.splitlines()]
    assert "escalation.opened" in {event.get("kind") for event in events}
    assert {"coordinator", "Lead Agent", "you"} <= {event.get("by") for event in events}

    assert left_of(folder) == []
    assert not Path(maestro.home.root).exists()
    assert not Path(maestro.env["CLAUDE_CONFIG_DIR"]).exists()


_ONLY_SOAK = (pytest.mark.soak, skips.only_soak)
_OF_FIRST, _OF_SECOND = "coordinator   Oversight by rules", "Lead Agent    $ maestro fleet coordinate-wait"


@pytest.mark.more
@pytest.mark.parametrize(
    ("how", "when"),
    [
        (signal.SIGINT, _OF_FIRST),
        pytest.param(signal.SIGTERM, _OF_FIRST, marks=_ONLY_SOAK),
        pytest.param(signal.SIGHUP, _OF_FIRST, marks=_ONLY_SOAK),
        pytest.param(signal.SIGTERM, _OF_SECOND, marks=_ONLY_SOAK),
        pytest.param(signal.SIGKILL, _OF_SECOND, marks=_ONLY_SOAK),
    ],
)
def test_an_interrupted_demo_leaves_nothing(
    maestro: Maestro, folder: Path, how: signal.Signals, when: str
) -> None:
    demo = maestro.start("demo", start_new_session=True)
    assert demo.stdout is not None
    assert any(when in line for line in demo.stdout), demo.communicate()
    # Ctrl-C and a closed terminal reach all that run in the terminal's foreground.
    reach = os.killpg if how in {signal.SIGINT, signal.SIGHUP} else os.kill
    reach(demo.pid, how)
    told_by(demo, seconds=_SECONDS)
    if how == signal.SIGKILL:
        # Its guard clears up behind it, and has no other way to tell.
        until(lambda: left_of(folder) == [], seconds=_SECONDS)
    else:
        assert demo.returncode == 130
    assert left_of(folder) == []


def test_of_what_a_command_prints_the_telling_lines_are_shown() -> None:
    shown = "id      sess_1\nstatus  idle\nfor it  It is idle.\n        It says: “Done.”\npid     7"
    assert worth_showing("maestro session show 'Doc Writer'", shown) == [
        "status  idle",
        "for it  It is idle.",
        "        It says: “Done.”",
    ]
    assert worth_showing("maestro fleet coordinate-wait --timeout 60", "%2|done|Doc Writer|demo:1.0\n{}") == [
        "%2|done|Doc Writer|demo:1.0"
    ]
    context = '<coordinator_context>\n  <task_board>\n    <task id="1" />\n  </task_board>\n      [04:19] "[PROMPT] Go"\n'
    assert worth_showing("maestro context", context) == ['<task id="1" />']
    assert worth_showing("maestro task children X", "ID  STATUS\n1   completed") == [
        "ID  STATUS",
        "1   completed",
    ]
