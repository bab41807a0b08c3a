"""What sessions said, as a person reads it and as a program does; transcripts by the scripted agent."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.patience import run, told_by
from tests.support import Maestro

from maestro.errors import Refused

Start = Callable[..., dict[str, Any]]
CLOCK = re.compile(r"\[\d\d:\d\d:\d\d\]")


class Agents:
    """Sessions of the scripted agent: each plays its script to the end before it is looked at."""

    def __init__(self, maestro: Maestro, project: dict[str, Any]) -> None:
        self.maestro = maestro
        self.project = project

    def session(self, *steps: dict[str, Any], name: str = "Frontend Dev", **options: Any) -> dict[str, Any]:
        transcript_id = str(uuid.uuid4())
        body = {
            "agent": "scripted",
            "name": name,
            "projectId": self.project["id"],
            "transcriptId": transcript_id,
            "environment": {"CLAUDE_CONFIG_DIR": self.maestro.env["CLAUDE_CONFIG_DIR"]},
            **options,
        }
        made: dict[str, Any] = self.maestro.daemon.call("POST", "/api/sessions", body)
        if steps:
            self.play(transcript_id, *steps)
        return {**made["session"], "token": made["token"]}

    def play(self, transcript_id: str, *steps: dict[str, Any]) -> None:
        script = self.maestro.place / f"{uuid.uuid4().hex}.json"
        script.write_text(json.dumps({"steps": steps}))
        run(
            [sys.executable, "-m", "maestro.testing.scripted_agent", "--speed", "0", "--script", str(script), "--session-id", transcript_id, "--prompt", "Fix the login"],
            env=self.maestro.env, cwd=self.maestro.cwd, check=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
    )  # fmt: skip

    def transcript(self, session: dict[str, Any]) -> Path:
        [path] = Path(self.maestro.env["CLAUDE_CONFIG_DIR"]).glob(
            f"projects/*/{session['transcriptId']}.jsonl"
        )
        return path


@pytest.fixture
def agents(guest: Maestro, guest_project: dict[str, Any]) -> Agents:
    return Agents(guest, guest_project)


READING = {"say": "I'll start by reading the login component. Then I will fix it."}
FIXED = {"say": "Login validation is fixed. All 12 tests pass."}
LEAK = {"say": "The key is sk-ant-api03-abcdefghijklmnopqrstuvwxyz and \x1b[31mred\x1b[0m text follows here."}


def test_a_block_per_session(guest: Maestro, agents: Agents) -> None:
    one = agents.session(READING, FIXED, name="Login Dev")
    two = agents.session(LEAK, name="Backend Dev")
    shown = guest("session", "logs", f"{one['id']},{two['id'][-6:]}").stdout
    assert CLOCK.sub("[TIME]", re.sub(r"idle(_\d+s)?|active", "STATE", shown)) == (
        f"[{one['id']} | Login Dev | STATE]\n"
        '  [TIME] "[PROMPT] Fix the login"\n'
        '  [TIME] "I\'ll start by reading the login component."\n'
        '  [TIME] "Login validation is fixed."\n'
        "\n"
        f"[{two['id']} | Backend Dev | STATE]\n"
        '  [TIME] "[PROMPT] Fix the login"\n'
        '  [TIME] "The key is [redacted] and red text follows here."\n'
    )
    assert guest("session", "logs", "Login Dev", "--last", "1").stdout.count("\n") == 2


def test_json_is_the_wire_digest(guest: Maestro, agents: Agents) -> None:
    task = guest.json("task", "create", "Fix login", "--assignee", "Ann")["id"]
    session = agents.session(READING, FIXED, taskIds=[task], name="Worker: Fix login")
    digest = guest.json("session", "logs", session["id"])
    assert {"sessionId", "sessionName", "workerName", "taskIds", "state", "entries", "stuck", "metrics",
            "lastActivityTimestamp", "status", "evidence"} <= set(digest)  # fmt: skip
    assert (digest["sessionName"], digest["workerName"], digest["taskIds"]) == (
        "Worker: Fix login",
        "Ann",
        [task],
    )
    assert digest["entries"][-1] | {"timestamp": 0} == {
        "timestamp": 0, "text": "Login validation is fixed.", "source": "assistant", "isFirstSentence": True,
    }  # fmt: skip
    assert set(digest["metrics"]) == {"turnsSinceLastText", "lastActivityTimestamp", "idleDurationMs"}
    both = guest.json("session", "logs", f"{session['id']},{session['id']}")
    assert [d["sessionId"] for d in both] == [session["id"]] * 2


def test_how_much_is_shown(guest: Maestro, agents: Agents) -> None:
    session = agents.session(READING, FIXED)["id"]
    full = guest.json("session", "logs", session, "--full")
    assert full["entries"][-1]["text"] == FIXED["say"]
    short = guest.json("session", "logs", session, "--max-length", "10")
    assert short["entries"][-1]["text"] == "Login v..."
    assert guest.json("session", "logs", session, "--since", "4102444800000")["entries"] == []
    assert len(guest.json("session", "logs", session, "--since", "1h")["entries"]) == 3


def test_a_short_answer_is_shown_and_with_full_every_text(guest: Maestro, agents: Agents) -> None:
    session = agents.session({"say": "OK."}, READING, {"say": "No."})["id"]
    shown = [entry["text"] for entry in guest.json("session", "logs", session)["entries"]]
    assert shown == ["[PROMPT] Fix the login", "I'll start by reading the login component.", "No."]
    full = [entry["text"] for entry in guest.json("session", "logs", session, "--full")["entries"]]
    assert full == ["[PROMPT] Fix the login", "OK.", READING["say"], "No."]


def test_a_worker_that_only_calls_tools_is_stuck(guest: Maestro, agents: Agents) -> None:
    session = agents.session(READING, {"silent": {"calls": 8, "seconds": 0, "tool": "Read"}}, {"wait": True})
    path = agents.transcript(session)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines = [line for line in lines if line.get("subtype") != "turn_duration"]
    for line in lines:
        if "timestamp" in line:
            line["timestamp"] = "2020-01-01T10:00:00.000Z"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    shown = guest("session", "logs", session["id"]).stdout
    assert "] ⚠ STUCK\n" in shown
    assert re.search(r"  ⚠ No text output for \d+s \(8 tool calls since last text\)\n    → \S", shown)


def test_the_three_things_that_can_be_missing(guest: Maestro, guest_project: dict[str, Any]) -> None:
    nothing = guest("session", "logs")
    assert (nothing.returncode, "provide session IDs or use --my-workers" in nothing.stderr) == (2, True)
    outside = guest("session", "logs", "--my-workers")
    assert (outside.returncode, "MAESTRO_SESSION_ID not set." in outside.stderr) == (2, True)
    made = guest.daemon.call(
        "POST",
        "/api/sessions",
        {"agent": "scripted", "role": "coordinator", "projectId": guest_project["id"]},
    )
    inside = {"MAESTRO_SESSION_ID": made["session"]["id"], "MAESTRO_SESSION_TOKEN": made["token"]}
    alone = guest("session", "logs", "--my-workers", env=inside)
    assert (alone.returncode, "No active worker sessions found." in alone.stderr) == (3, True)


def test_a_session_without_a_transcript_says_so(guest: Maestro, agents: Agents) -> None:
    session = agents.session()
    shown = guest("session", "logs", session["id"]).stdout
    assert shown == f"[{session['id']} | Frontend Dev | unknown]\n  no transcript yet\n"


def test_who_may_read_what(guest: Maestro, agents: Agents) -> None:
    boss = agents.session(READING, role="coordinator", name="boss")
    mine = agents.session(READING, parentSessionId=boss["id"], name="mine")
    below = agents.session(READING, parentSessionId=mine["id"], name="below")
    other = agents.session(READING, name="other")

    def code(reader: dict[str, Any], read: dict[str, Any]) -> int:
        inside = {"MAESTRO_SESSION_ID": reader["id"], "MAESTRO_SESSION_TOKEN": reader["token"]}
        return guest("session", "logs", read["id"], env=inside).returncode

    assert [code(boss, one) for one in (boss, mine, below, other)] == [0, 0, 0, Refused.exit_code]
    assert [code(mine, one) for one in (mine, below, other, boss)] == [0, 5, 5, 5]
    inside = {"MAESTRO_SESSION_ID": boss["id"], "MAESTRO_SESSION_TOKEN": boss["token"]}
    assert "mine" in guest("session", "logs", "--my-workers", env=inside).stdout
    assert guest("session", "discover", env=inside).returncode == Refused.exit_code


def test_following_multiplexes_by_time_and_ends_with_the_sessions(guest: Maestro, agents: Agents) -> None:
    one = agents.session(READING, name="Ann")
    two = agents.session(name="Bartholomew")
    watching = guest.start("session", "logs", f"{one['id']},{two['id']}", "-f")
    as_json = guest.start("session", "logs", f"{one['id']},{two['id']}", "-f", "--json", "--last", "0")
    assert watching.stdout
    assert watching.stdout.readline() == f"[session:logs] Watching 2 session(s): {one['id']}, {two['id']}\n"
    assert '"[PROMPT] Fix the login"' in watching.stdout.readline()
    line = watching.stdout.readline()
    assert CLOCK.sub("[TIME]", line) == (
        f'[TIME] [Ann         | {one["id"]}] "I\'ll start by reading the login component."\n'
    )
    # The second one's transcript appears only now.
    agents.play(two["transcriptId"], FIXED)
    assert '"[PROMPT] Fix the login"' in watching.stdout.readline()
    assert f'[Bartholomew | {two["id"]}] "Login validation is fixed."' in watching.stdout.readline()
    with agents.transcript(one).open("a") as file:
        record = json.loads(agents.transcript(two).read_text().splitlines()[-1])
        said = next(
            json.loads(row)
            for row in agents.transcript(two).read_text().splitlines()
            if '"Login validation' in row
        )
        assert record
        said["message"]["content"][0]["text"] = "A half line arrives in two pieces."
        whole = json.dumps(said) + "\n"
        file.write(whole[:40])
        file.flush()
        file.write(whole[40:])
    assert '"A half line arrives in two pieces."' in watching.stdout.readline()
    for session in (one, two):
        guest.daemon.call("POST", f"/api/sessions/{session['id']}/report", {"kind": "complete"})
    # A session that has ended may still have said something: one more line wakes the follower.
    with agents.transcript(one).open("a") as file:
        file.write(whole)
    out, err = told_by(watching)
    assert (watching.returncode, err) == (0, "")
    assert "A half line arrives" in out
    out, _ = told_by(as_json)
    assert as_json.returncode == 0
    lines = [json.loads(row) for row in out.splitlines()]
    assert all(set(row) == {"sessionId", "worker", "timestamp", "text"} for row in lines)
    assert lines[-1]["text"] == "A half line arrives in two pieces."


def test_context_is_escaped_and_fresh(guest: Maestro, agents: Agents) -> None:
    boss = agents.session(role="coordinator", name="boss")
    inside = {"MAESTRO_SESSION_ID": boss["id"], "MAESTRO_SESSION_TOKEN": boss["token"]}
    assert guest("context", env=inside).stdout == ""
    task = guest.json("task", "create", 'Close </task_board> & "win"', env=inside)["id"]
    worker = agents.session(
        {"say": "I say </session> and go on with it."}, parentSessionId=boss["id"], taskIds=[task]
    )
    shown = CLOCK.sub("[TIME]", guest("context", env=inside).stdout)
    assert re.sub(r'state="\w+"', 'state="S"', shown) == (
        "<coordinator_context>\n"
        "  <task_board>\n"
        f'    <task id="{task}" title="Close &lt;/task_board&gt; &amp; &quot;win&quot;" assignee="{worker["name"]}" status="pending" />\n'
        "  </task_board>\n"
        "  <session_activity>\n"
        f'    <session id="{worker["id"]}" worker="Frontend Dev" task="{task}" state="S">\n'
        '      [TIME] "[PROMPT] Fix the login"\n'
        '      [TIME] "I say &lt;/session&gt; and go on with it."\n'
        "    </session>\n"
        "  </session_activity>\n"
        "</coordinator_context>\n"
    )


def test_context_without_a_daemon_is_empty_and_starts_none(maestro: Maestro) -> None:
    done = maestro("context")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not Path(maestro.home.root).exists()


def test_stats_count_each_message_once_and_show_the_saving(guest: Maestro, agents: Agents) -> None:
    usage = {
        "input_tokens": 1000,
        "output_tokens": 50,
        "cache_read_input_tokens": 400,
        "cache_creation_input_tokens": 30,
    }
    noise = {"tool": {"name": "Read", "input": {}, "result": "x" * 50_000, "seconds": 0}}
    session = agents.session({"usage": usage}, READING, noise, FIXED)["id"]
    [stats] = guest.json("session", "stats", session)
    [model] = stats["models"]
    messages = model["messages"]
    assert (model["input"], model["output"]) == (1000 * messages, 50 * messages)
    assert (model["cacheRead"], model["cacheWrite"]) == (400 * messages, 30 * messages)
    assert stats["saving"]["rawTokens"] > 100 * stats["saving"]["digestTokens"] > 0
    per_million = {"input": 1, "output": 2, "cacheRead": 3, "cacheWrite": 4}
    prices = {"as_of": "2026-01-01", "models": {model["model"]: per_million}}
    Path(guest.home.path("prices.json")).write_text(json.dumps(prices))
    [stats] = guest.json("session", "stats", session)
    assert stats["costUsd"] == pytest.approx(messages * (1000 + 100 + 1200 + 120) / 1e6)
    assert "2026-01-01" in guest("session", "stats", session).stdout


def test_discover_and_adopt_all_three(guest: Maestro, place: Path) -> None:
    golden = Path(__file__).parent.parent / "agents" / "golden"
    work = str(guest.cwd)

    def lay(source: Path, target: Path) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(re.sub(r'"cwd":\s*"[^"]*"', f'"cwd":"{work}"', source.read_text()))

    claude_id = str(uuid.uuid4())
    lay(
        golden / "claude" / "tool_2.1.325.jsonl",
        Path(guest.env["CLAUDE_CONFIG_DIR"]) / "projects" / "-x" / f"{claude_id}.jsonl",
    )
    codex_id = str(uuid.uuid4())
    day = Path(guest.env["CODEX_HOME"]) / "sessions" / "2026" / "11" / "15"
    lay(
        golden / "codex" / "approval_and_questions_0.166.0.jsonl",
        day / f"rollout-2026-11-15T10-00-00-{codex_id}.jsonl",
    )
    gemini = place / ".gemini"
    lay(
        golden / "gemini" / "interactive_0.61.0.jsonl",
        gemini / "tmp" / "work" / "chats" / "session-2026-11-15T19-16-44444444.jsonl",
    )
    (gemini / "projects.json").write_text(json.dumps({"projects": {work: "work"}}))

    found = guest.json("session", "discover")
    assert sorted(one["agent"] for one in found) == ["claude", "codex", "gemini"]
    assert {one["project"] for one in found} == {work}
    assert all(one["digest"]["entries"] and one["digest"]["status"] != "unknown" for one in found)
    assert [one["modified"] for one in found] == sorted((one["modified"] for one in found), reverse=True)
    shown = guest("session", "discover").stdout
    assert all(one["transcriptId"] in shown for one in found)
    for one in found:
        session = guest.json("session", "adopt", one["transcriptId"][:12])
        assert (session["agent"], session["cwd"]) == (one["agent"], work)
        assert guest.json("session", "adopt", one["path"])["id"] == session["id"], "twice is harmless"
        said = guest.json("session", "logs", session["id"])["entries"]
        assert said[-1]["text"] == one["digest"]["entries"][-1]["text"]
    assert [project["directory"] for project in guest.json("project", "list")] == [work]
    unknown = guest("session", "adopt", "no-such-transcript")
    assert (unknown.returncode, "session discover" in unknown.stderr) == (3, True)
