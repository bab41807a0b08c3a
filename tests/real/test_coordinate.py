"""Oversight of the real CLIs: what is safe is answered by policy, what is not waits for the human."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from subprocess import CompletedProcess
from types import ModuleType
from typing import Any, cast

import pytest
from tests.real import test_claude, test_codex, test_gemini, walk
from tests.real.clis import CLIS, Cli
from tests.real.fleet import RealFleet
from tests.real.turns import Received
from tests.real.walk import Asked

_HOW: Mapping[str, ModuleType] = {"claude": test_claude, "codex": test_codex, "gemini": test_gemini}
_CHOSEN = {"claude": '="SQLite"', "codex": '"answers":["SQLite"]', "gemini": '"0":"SQLite"'}
_ALLOWED = {"claude": "no output", "codex": "exited with code 0", "gemini": "(empty)"}
# Whatever is asked, this policy would say yes: only the gate stands between.
_YES_TO_ALL = {"name": "yes to all", "pattern": ".*", "answer": "Choose 1"}


@pytest.fixture(scope="module", params=sorted(CLIS))
def cli(request: pytest.FixtureRequest) -> Cli:
    return CLIS[request.param]


def runs(fleet: RealFleet, command: str) -> Asked:
    make = cast("Callable[[str], Asked]", _HOW[fleet.cli.name].runs)
    return make(command)


def choice(fleet: RealFleet) -> Asked:
    return cast("Asked", _HOW[fleet.cli.name].CHOICE)


def rule(fleet: RealFleet, *rules: Mapping[str, Any]) -> None:
    """The policy of the project, which the human trusts."""
    policy = {
        "rules": rules,
        "notify": {"desktop": False},
        "precedents": {"enabled": False},
    }
    (fleet.work / "coordinate.config.json").write_text(json.dumps(policy))
    fleet.json("trust", "--yes")


def overseen_once(fleet: RealFleet) -> None:
    told = fleet.json("coordinate", "--once", timeout=120)
    assert told["ended"] == "once", told


def story(fleet: RealFleet, session_id: str) -> list[tuple[str, str, str]]:
    """What was decided about the session's last question, and what came of it."""
    told = fleet.json("coordinate", "why", session_id)
    assert told["chain"] == "whole"
    return [(one["kind"], one["action"], one["by"]) for one in told["story"]]


def last_result(fleet: RealFleet, since: int) -> str:
    """The tool's result that the model got last."""
    received: list[Received] = fleet.api.received(since)
    return received[-1].tool_results()[-1]


def test_a_permission_is_answered_by_policy(fleet: RealFleet) -> None:
    rule(fleet, {"pattern": r"touch [a-z]+\.txt", "answer": "Choose 1"})
    since = len(fleet.api.received())
    session_id, _ = walk.seen(fleet, runs(fleet, "touch notes.txt"))
    overseen_once(fleet)
    assert story(fleet, session_id) == [("verdict", "answer", "rules"), ("receipt", "submitted", "rules")]
    fleet.until_said(session_id, "All is answered.")
    assert _ALLOWED[fleet.cli.name] in last_result(fleet, since)
    assert (fleet.work / "notes.txt").exists()
    assert fleet.json("inbox") == []


def test_a_choice_is_answered_by_the_loop(fleet: RealFleet) -> None:
    """The loop itself, which ends when its workers are done."""
    rule(fleet, {"pattern": "which database.*", "answer": "Choose 2"})
    since = len(fleet.api.received())
    session_id, _ = walk.seen(fleet, choice(fleet))
    ended: list[CompletedProcess[str]] = []
    loop = threading.Thread(target=lambda: ended.append(fleet("coordinate", timeout=120)))
    loop.start()
    try:
        fleet.until_said(session_id, "All is answered.")
        assert _CHOSEN[fleet.cli.name] in last_result(fleet, since)
    finally:
        fleet("session", "report", "complete", "done", "--session", session_id)
        loop.join()
    assert ended[0].returncode == 0, ended
    assert "→ Choose 2 (rules)" in ended[0].stdout
    assert "All workers are done." in ended[0].stdout
    assert story(fleet, session_id) == [("verdict", "answer", "rules"), ("receipt", "submitted", "rules")]


def test_what_is_dangerous_waits_and_is_allowed(fleet: RealFleet) -> None:
    since = len(fleet.api.received())
    session_id, escalation = escalated(fleet)
    told = fleet.json("answer", escalation["id"], "1", timeout=120)
    assert told["prompt"]["state"] == "submitted", told
    fleet.until_said(session_id, "All is answered.")
    assert _ALLOWED[fleet.cli.name] in last_result(fleet, since)
    assert not (fleet.work / "build").exists()
    assert fleet.json("inbox") == []
    assert story(fleet, session_id) == [
        ("verdict", "escalate", "policy"),
        ("resolution", "answer", "human"),
        ("receipt", "submitted", "human"),
    ]


def test_what_is_dangerous_waits_and_is_refused(fleet: RealFleet) -> None:
    session_id, escalation = escalated(fleet)
    options = escalation["question"]["asked"]["options"]
    no = next(number for number, option in enumerate(options, 1) if option["label"].startswith("No"))
    told = fleet.json("answer", escalation["id"], str(no), timeout=120)
    assert told["prompt"]["state"] == "submitted", told
    fleet.until_status(session_id, "interrupted", "finished")
    assert (fleet.work / "build").exists()
    assert fleet.json("inbox") == []
    assert story(fleet, session_id)[-1] == ("receipt", "submitted", "human")


def escalated(fleet: RealFleet) -> tuple[str, dict[str, Any]]:
    """It wants to delete something: that waits in the inbox, with its reason, and nothing is typed."""
    rule(fleet, _YES_TO_ALL)
    (fleet.work / "build").mkdir(exist_ok=True)
    session_id, screen = walk.seen(fleet, runs(fleet, "rm -rf build"))
    overseen_once(fleet)
    [escalation] = fleet.json("inbox")
    assert escalation["sessionId"] == session_id
    assert "file deletion" in escalation["categories"]
    assert escalation["reason"]
    assert fleet.json("session", "prompts", session_id) == []
    assert dialog(fleet.screen(session_id)["content"]) == dialog(screen["content"]), (
        "no key was pressed there"
    )
    assert (fleet.work / "build").exists()
    return session_id, dict(escalation)


def dialog(content: str) -> str:
    """The screen from the command on, with the dialog and its cursor: a CLI's banner moves, and so does the mark of a
    tool that waits."""
    assert "rm -rf build" in content
    return content[content.index("rm -rf build") :].replace("●", " ")
