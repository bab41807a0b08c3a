"""What a coordinator is told: short, its own commands as they are, and nothing that a task could pose as."""

from __future__ import annotations

import re
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maestro.cli.main import parser_of
from maestro.errors import MaestroError
from maestro.fleet.coordinator_prompt import coordinator_prompt
from maestro.fleet.prompt import PromptTask, assignment, taken_away

SESSION = "sess_01M7H6VSE7X6JZMTPKV646RVEP"
TASK = PromptTask("task_1", "Ship accounts", "All of it")
PROMPT = coordinator_prompt(SESSION, tasks=(TASK,))


def commands() -> list[str]:
    """Every command of the prompt, with the first of what can be chosen, and its options."""
    found = []
    for line in PROMPT.splitlines():
        if not line.startswith("maestro "):
            continue
        for part in re.split(r"; |, then |, (?=maestro)", re.sub(r" \(.*?\)$", "", line)):
            words = part if part.startswith("maestro") else f"maestro {part}"
            heads = words.split(" | ")
            noun = " ".join(heads[0].split()[:2])
            found += [heads[0], *(f"{noun} {tail}" for tail in heads[1:])]
    return [command.replace("[", "").replace("]", "") for command in found]


@pytest.mark.parametrize("command", commands())
def test_its_commands_are_ours(command: str) -> None:
    command = command.replace("--title|--description|--priority|--status …", "--status pending").replace(
        "claude|codex|gemini", "codex"
    )
    words = shlex.split(re.sub(r"\b(progress)\|[a-z|]+", r"\1", command))[1:]
    assert words[0] in {"task", "session", "fleet", "inbox", "vision", "tag", "context"}
    try:
        parser_of(words[0]).parse_args([word if word != "N.M" else "1.2" for word in words[1:]])
    except (MaestroError, SystemExit) as error:
        raise AssertionError(f"{words}: {error}") from error


def test_the_commands_of_a_coordinator_are_all_there() -> None:
    told = {" ".join(command.split()[1:3]) for command in commands()}
    wanted = {
        "task create", "task children", "task update", "session spawn", "session prompt", "session assign",
        "session logs", "session show", "session stop", "session diff", "session merge", "session report",
        "session list", "session dehydrate", "session rehydrate", "inbox list", "vision show", "vision next",
        "vision check", "tag list", "tag claim", "tag done", "fleet coordinate-wait",
    }  # fmt: skip
    in_text = {words for words in wanted if f"maestro {words}" in PROMPT or words in PROMPT}
    assert wanted - told - in_text == set()


def test_it_is_short_and_fits_on_a_command_line() -> None:
    assert len(PROMPT.split()) < 700
    assert len(PROMPT) < 4000


def test_it_tells_the_way_and_the_limits() -> None:
    assert PROMPT.startswith(f"<session_id>{SESSION}</session_id>\n")
    for part in ("1. SPAWN", "2. MONITOR", "3. RECOVER", "4. VERIFY", "| signal | meaning | action |"):
        assert part in PROMPT
    for part in (
        "Passive read",
        "Active write",
        "Never answer what waits for the human",
        "A refusal is final",
    ):
        assert part in PROMPT
    assert '<task id="task_1">\n<title>Ship accounts</title>' in PROMPT
    assert "You have no task yet" in coordinator_prompt(SESSION)
    assert "You have no task yet" not in coordinator_prompt(SESSION, message="Look after the tests")


@given(st.text(), st.text(), st.text(), st.text())
def test_nothing_closes_a_tag(a: str, b: str, c: str, d: str) -> None:
    text = coordinator_prompt(SESSION, subject=a, message=b, tasks=(PromptTask("task_1", c, d),))
    assert text.count("<session_id>") == text.count("</session_id>") == 1
    assert text.count("</task>") == 1
    assert "\x1b" not in text
    given_task = assignment(PromptTask("task_1", c, d), b)
    assert given_task.count("<task ") == given_task.count("</task>") == 1
    assert given_task.count("<") == given_task.count(">")
    assert "<" not in taken_away("task_1", c, d)


def test_a_long_description_is_read_from_the_board() -> None:
    text = assignment(PromptTask("task_1", "a", "x" * 20_000))
    assert len(text) < 10_000
    assert "`maestro task show task_1` prints all" in text
