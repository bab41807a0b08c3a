"""What a coordinator's own hooks print for its model, by each CLI's way; and that they print nothing rather than late."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from tests.patience import run, until
from tests.support import Maestro, forbid_start

from maestro.agents.hook_command import hook_command

CHILDREN = 20
PROMPTS = {"claude": "UserPromptSubmit", "codex": "UserPromptSubmit", "gemini": "BeforeAgent"}


@pytest.fixture
def maestro(shared_maestro: Maestro) -> Maestro:
    """One daemon for all tests of the file; each has a project of its own."""
    return replace(shared_maestro, cwd=Path(tempfile.mkdtemp(dir=shared_maestro.place)))


def session(maestro: Maestro, agent: str, **fields: Any) -> tuple[str, dict[str, str]]:
    """A session that the ledger knows, and the environment of whatever runs in it."""
    body = {"agent": agent, "directory": str(maestro.cwd), **fields}
    made = maestro.daemon.call("POST", "/api/sessions", body)
    own = {"MAESTRO_SESSION_ID": made["session"]["id"], "MAESTRO_SESSION_TOKEN": made["token"]}
    return made["session"]["id"], maestro.env | own


def hook(env: Mapping[str, str], agent: str, event: str, **payload: Any) -> str:
    """What the hook prints, as the agent's CLI runs it."""
    told = {"session_id": f"log-of-{env['MAESTRO_SESSION_ID']}", "hook_event_name": event, **payload}
    done = run(
        ["sh", "-c", hook_command(agent, event)],
        input=json.dumps(told),
        env=dict(env), text=True,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return str(done.stdout)


def told(agent: str, event: str, printed: str) -> str:
    """What of it the CLI puts before the model."""
    if agent == "codex":
        return printed
    output = json.loads(printed)["hookSpecificOutput"]
    assert output["hookEventName"] == event
    return str(output["additionalContext"])


def events(maestro: Maestro, kind: str, about: str) -> list[dict[str, Any]]:
    cursor, found = "0", []
    while (page := maestro.daemon.call("GET", "/api/events", query={"since": cursor}))["events"]:
        found += page["events"]
        cursor = page["cursor"]
    return [one["data"] for one in found if one["kind"] == kind and one["subjectId"] == about]


@pytest.mark.parametrize("agent", sorted(PROMPTS))
def test_each_turn_brings_the_context(maestro: Maestro, project: dict[str, Any], agent: str) -> None:
    lead, env = session(maestro, agent, role="coordinator", name="Lead")
    event = PROMPTS[agent]
    assert hook(env, agent, event, prompt="Begin") == "", "there is nothing to tell yet"
    task = maestro.json("task", "create", "Fix <login> & logout")
    child, _ = session(
        maestro,
        "claude",
        name="Fixer",
        parentSessionId=lead,
        taskIds=[task["id"]],
        transcriptId=f"none-yet-{agent}",
    )
    nested, _ = session(
        maestro, "claude", name="Helper", parentSessionId=child, transcriptId=f"nor-this-{agent}"
    )
    maestro.json("task", "report", "blocked", task["id"], "no key")
    block = told(agent, event, hook(env, agent, event, prompt="How does it go?"))
    root = ET.fromstring(block)
    assert root.tag == "coordinator_context"
    [board] = root.iter("task")
    assert (board.get("title"), board.get("status")) == ("Fix <login> & logout", "blocked")
    shown = {one.get("id"): one.get("under") for one in root.iter("session")}
    assert shown == {child: None, nested: child}
    worker, of_worker = session(maestro, agent, name="Other")
    assert hook(of_worker, agent, event, prompt="Do it") == "", "a worker has no context of others"
    assert events(maestro, "session.briefed", worker) == []
    [cost] = events(maestro, "session.briefed", lead)
    assert cost == {"way": "hook", "tokens": -(-len(block) // 4)}


def test_twenty_workers_are_read_in_time(maestro: Maestro, project: dict[str, Any]) -> None:
    lead, env = session(maestro, "claude", role="coordinator", name="Lead")
    logs = maestro.place / "claude" / "projects" / "p"
    logs.mkdir(parents=True)
    for number in range(CHILDREN):
        log = f"0000000{number:02}-0000-4000-8000-000000000000"
        said = {
            "role": "assistant",
            "content": [{"type": "text", "text": f"Worker {number} is at its part."}],
        }
        call = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "Read", "input": {"x": "y" * 4000}}]}  # fmt: skip
        base = {"type": "assistant", "timestamp": "2026-11-16T03:00:00.000Z", "sessionId": log}
        lines = [json.dumps({**base, "message": message}) for message in (said, *[call] * 40)]
        (logs / f"{log}.jsonl").write_text("\n".join(lines) + "\n")
        where = {"CLAUDE_CONFIG_DIR": str(maestro.place / "claude")}
        session(
            maestro, "claude", name=f"w{number}", parentSessionId=lead, transcriptId=log, environment=where
        )
    printed = told("claude", "UserPromptSubmit", hook(env, "claude", "UserPromptSubmit", prompt="All well?"))
    root = ET.fromstring(printed)
    left = sum(int(more.get("left_out", "0")) for more in root.iter("more"))
    assert len(list(root.iter("session"))) + left == CHILDREN
    assert "is at its part." in printed
    assert len(printed) <= 6_000


def test_a_worker_of_an_agent_that_is_gone_is_shown_as_far_as_it_is_known(
    maestro: Maestro, project: dict[str, Any]
) -> None:
    lead, env = session(maestro, "claude", role="coordinator", name="Lead")
    odd, _ = session(maestro, "a-plugin-that-was-removed", name="Odd", parentSessionId=lead)
    block = told("claude", "UserPromptSubmit", hook(env, "claude", "UserPromptSubmit", prompt="Well?"))
    assert [(one.get("id"), one.get("state")) for one in ET.fromstring(block).iter("session")] == [
        (odd, "unknown")
    ]


def test_what_takes_too_long_is_nothing_and_the_agent_goes_on(
    maestro: Maestro, project: dict[str, Any]
) -> None:
    lead, env = session(maestro, "claude", role="coordinator", name="Lead")
    child, _ = session(maestro, "claude", name="Slow", parentSessionId=lead)
    log, pipe = Path(maestro.home.log), maestro.place / "slow.jsonl"
    before = len(log.read_bytes())
    os.mkfifo(pipe)  # whoever opens it waits, as on a disk that hangs
    try:
        maestro.daemon.call("PATCH", f"/api/sessions/{child}", {"transcriptPath": str(pipe)})
        assert hook(env, "claude", "UserPromptSubmit", prompt="Well?") == ""
        # It was heard all the same, and once.
        assert [one["hook"]["text"] for one in events(maestro, "agent.prompted", lead)] == ["Well?"]
        assert events(maestro, "session.briefed", lead) == []
        assert b"brief took too long" in log.read_bytes()[before:]
    finally:
        # Whoever waits goes on, and nobody comes to wait here again.
        end = os.open(pipe, os.O_RDWR)
        pipe.unlink()
        os.close(end)


def test_what_nobody_listens_to_is_not_counted(maestro: Maestro, project: dict[str, Any]) -> None:
    """A hook that found no daemon has gone on without an answer; what it said is heard later."""
    lead, env = session(maestro, "claude", role="coordinator", name="Lead")
    session(maestro, "claude", name="Fixer", parentSessionId=lead)
    assert maestro("server", "stop").returncode == 0
    forbid_start(maestro.home)
    assert hook(env, "claude", "UserPromptSubmit", prompt="Anybody?") == ""
    until(lambda: events(maestro, "agent.prompted", lead), "what was kept to be heard")
    assert [one["hook"]["text"] for one in events(maestro, "agent.prompted", lead)] == ["Anybody?"]
    assert events(maestro, "session.briefed", lead) == []
