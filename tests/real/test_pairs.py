"""Dialogs that come one upon the other in the real CLIs: none gets another one's answer, each answer has its decision.

Three pairs spawned and three adopted for each CLI, or fifty and fifty in a soak.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, cast

import pytest
from tests.real import test_claude, test_codex, test_gemini
from tests.real.clis import CLIS, Cli
from tests.real.fleet import RealFleet
from tests.real.turns import Reply, Scripted, calls, says
from tests.real.walk import Asked
from tests.support import SOAK

pytestmark = [pytest.mark.soak, pytest.mark.timeout(7200 if SOAK else 600)]

COUNT = 50 if SOAK else 3
_HOW: Mapping[str, ModuleType] = {"claude": test_claude, "codex": test_codex, "gemini": test_gemini}
_ADOPTED: Mapping[str, tuple[str, ...]] = {
    "claude": ("--permission-mode", "default"),
    "codex": ("--no-daemon", "--sandbox", "read-only", "--ask-for-approval", "on-request"),
    "gemini": ("--skip-trust",),
}
_YES_TO_ALL = {"name": "yes to all", "pattern": ".*", "answer": "Choose 1"}


@pytest.fixture(scope="module", params=sorted(CLIS))
def cli(request: pytest.FixtureRequest) -> Cli:
    return CLIS[request.param]


@dataclass(frozen=True)
class Pair:
    turns: tuple[Scripted, ...]
    answers: tuple[str, str]
    results: tuple[str, str]  # what the model gets for each, or a part of it


def asks(
    fleet: RealFleet, preamble: str, *, about: str = "It is needed", question: str = "Which one shall it be?"
) -> Reply:
    options = [{"label": "Alpha", "description": about}, {"label": "Beta", "description": "Something else"}]
    asked: dict[str, Any] = {"question": question, "header": "Which", "options": options}
    if fleet.cli.name == "claude":
        return calls(preamble, "AskUserQuestion", questions=[{**asked, "multiSelect": False}])
    if fleet.cli.name == "codex":
        return calls(preamble, "request_user_input", questions=[{**asked, "id": "which"}])
    return calls(preamble, "ask_user", questions=[{**asked, "type": "choice"}])


def runs(fleet: RealFleet, command: str) -> Reply:
    make = cast("Callable[[str], Asked]", _HOW[fleet.cli.name].runs)
    return cast("Reply", make(command).turns[0])


def another_preamble(fleet: RealFleet, number: int) -> Pair:
    turns = (asks(fleet, f"The tests shall run, {number}."), asks(fleet, "The backups shall be deleted."))
    return Pair(turns, ("Choose 1", "Choose 2"), ("Alpha", "Beta"))


def another_description(fleet: RealFleet, number: int) -> Pair:
    first = asks(fleet, "One question.", about=f"It only looks, {number}")
    return Pair(
        (first, asks(fleet, "One question.", about="It deletes all of it")),
        ("Choose 2", "Choose 1"),
        ("Beta", "Alpha"),
    )


def words(fleet: RealFleet, number: int) -> Pair:
    turns = (asks(fleet, "Once."), asks(fleet, "Once."))
    return Pair(turns, (f"Gamma {number}", "Choose 2"), (f"Gamma {number}", "Beta"))


def equal_permissions(fleet: RealFleet, number: int) -> Pair:
    """The command leaves a line each time that it runs."""
    call = runs(fleet, f"echo once >> ran-{number}.txt")
    return Pair((call, call), ("Choose 1", "Choose 1"), ("", ""))


def another_command(fleet: RealFleet, number: int) -> Pair:
    turns = (runs(fleet, f"touch a-{number}.txt"), runs(fleet, f"touch a-{number}.txt b-{number}.txt"))
    return Pair(turns, ("Choose 1", "Choose 1"), ("", ""))


PAIRS = (another_preamble, equal_permissions, words, another_description, another_command)


def question(fleet: RealFleet, session_id: str, *earlier: str) -> dict[str, Any]:
    """What it asks now, which is none of the earlier questions."""
    return fleet.until(
        "it asks another question",
        lambda: fleet.screen(session_id),
        lambda screen: screen["hasQuestion"] and screen["questionId"] not in earlier,
    )


def decided(fleet: RealFleet, session_id: str) -> list[tuple[str, str]]:
    told = fleet.json("coordinate", "why", session_id)
    assert told["chain"] == "whole"
    return [(one["kind"], one["action"]) for one in told["story"]]


def play(fleet: RealFleet, session_id: str, pair: Pair, number: int) -> None:
    since = fleet.load(*pair.turns, says(f"All is answered, {number}."))
    before = len(fleet.json("session", "prompts", session_id))
    fleet.tell(session_id, f"begin {number}")
    earlier: list[str] = []
    for place, answer in enumerate(pair.answers, 1):
        screen = question(fleet, session_id, *earlier)
        assert len(fleet.api.received(since)) == place, f"dialog {place} of {number} got no answer of its own"
        receipt = fleet.sent(session_id, answer)
        told = (receipt["state"], receipt["questionId"])
        assert told == ("submitted", screen["questionId"]), (number, place, receipt)
        assert decided(fleet, session_id) == [("resolution", "answer"), ("receipt", "submitted")]
        earlier.append(screen["questionId"])
    fleet.until_said(session_id, f"All is answered, {number}.")
    assert len(fleet.api.received(since)) == 3
    results = fleet.api.received(since)[-1].tool_results()[-2:]
    assert [part for part, result in zip(pair.results, results, strict=True) if part not in result] == [], (
        results
    )
    assert len(fleet.json("session", "prompts", session_id)) == before + 3


def play_all(fleet: RealFleet, session_id: str, first: int, count: int) -> None:
    for number in range(first, first + count):
        make = PAIRS[number % len(PAIRS)]
        play(fleet, session_id, make(fleet, number), number)
        if make is equal_permissions:
            ran = (fleet.work / f"ran-{number}.txt").read_text()
            assert ran == "once\n" * 2, "the command ran once for each answer"
    print(f"{count} pairs")  # noqa: T201 - what a soak run reports


def test_pairs_spawned(fleet: RealFleet) -> None:
    fleet.load(says("I am ready."))
    session_id = fleet.spawn("get ready")
    fleet.until_said(session_id, "I am ready.")
    play_all(fleet, session_id, 0, COUNT)


@contextlib.contextmanager
def adopted(fleet: RealFleet) -> Iterator[str]:
    """One that a person runs in their own tmux, and that tells nothing."""
    program = (fleet.cli.name, *_ADOPTED[fleet.cli.name])
    with fleet.own_tmux(*program, lines=50) as tmux, fleet.adopted(tmux, "Pairs") as session_id:
        fleet.until_status(session_id, "finished")
        yield session_id


def test_pairs_adopted(fleet: RealFleet) -> None:
    with adopted(fleet) as session_id:
        play_all(fleet, session_id, 1000 + 3, COUNT)


def test_a_question_after_a_plan(fleet: RealFleet) -> None:
    for number in range(COUNT // 10 or 1):
        if fleet.cli.name == "codex":
            session_id = codex_plan(fleet, number)
        else:
            plan = _HOW[fleet.cli.name].plans()
            fleet.load(*plan.turns, asks(fleet, "And now?"), says("All is answered."))
            session_id = fleet.spawn("begin", plan.mode)
        first = fleet.until_asked(session_id)
        assert first["kind"] == "plan", first
        before = len(fleet.api.received())
        fleet.tell(session_id, "Choose 1" if fleet.cli.name == "codex" else "Choose 2")
        second = question(fleet, session_id, first["questionId"])
        assert second["kind"] == "choice", second
        assert len(fleet.api.received()) == before + 1
        fleet.tell(session_id, "Choose 2")
        fleet.until_said(session_id, "All is answered.")
        assert "Beta" in fleet.api.received()[-1].tool_results()[-1]
        fleet.stop(session_id)


def codex_plan(fleet: RealFleet, number: int) -> str:
    """It proposes plans in a mode of its own, which a human switches on."""
    fleet.load(says("I am ready."))
    session_id = fleet.spawn("get ready")
    fleet.until_said(session_id, "I am ready.")
    fleet.press(session_id, "BTab")
    fleet.until("it plans", lambda: fleet.screen(session_id), lambda screen: "Plan mode" in screen["content"])
    plan = says("<proposed_plan>\n# Plan\n\n1. Create a.txt\n</proposed_plan>\n")
    fleet.load(plan, asks(fleet, "And now?"), says("All is answered."))
    fleet.tell(session_id, f"plan it, {number}")
    return session_id


def test_a_dangerous_one_after_a_harmless_one(fleet: RealFleet) -> None:
    """Overseen with a policy that says yes to all: the second waits for the human, and has a decision of its own."""
    policy = {
        "rules": [_YES_TO_ALL],
        "notify": {"desktop": False},
        "precedents": {"enabled": False},
    }
    (fleet.work / "coordinate.config.json").write_text(json.dumps(policy))
    fleet.json("trust", "--yes")
    for number in range(COUNT // 10 or 1):
        (fleet.work / "precious").mkdir(exist_ok=True)
        turns = (runs(fleet, f"touch fine-{number}.txt"), runs(fleet, "rm -rf precious"))
        since = fleet.load(*turns, says("All is answered."))
        session_id = fleet.spawn("begin")
        first = fleet.until_asked(session_id)
        fleet.json("coordinate", "--once", timeout=120)
        second = question(fleet, session_id, first["questionId"])
        assert "rm -rf precious" in json.dumps(second), second
        fleet.json("coordinate", "--once", timeout=120)
        [waiting] = fleet.json("inbox")
        assert (waiting["sessionId"], waiting["questionId"]) == (session_id, second["questionId"])
        assert [one["state"] for one in fleet.json("session", "prompts", session_id)] == ["submitted"]
        assert (fleet.work / "precious").exists()
        assert len(fleet.api.received(since)) == 2
        fleet.stop(session_id)
