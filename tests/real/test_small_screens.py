"""The real CLIs in panes that are too small for their dialogs: ours are enlarged for the moment, a person's never."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import ModuleType
from typing import Any, cast

import pytest
from tests.real import test_claude, test_codex, test_gemini
from tests.real.clis import CLIS, Cli
from tests.real.fleet import RealFleet, Tmux
from tests.real.test_coordinate import _YES_TO_ALL, overseen_once, rule, story
from tests.real.turns import Reply, says
from tests.real.walk import Asked

_HOW: Mapping[str, ModuleType] = {"claude": test_claude, "codex": test_codex, "gemini": test_gemini}
_BY_HAND = {
    "claude": ("--permission-mode", "manual"),
    "codex": ("--no-daemon", "--sandbox", "read-only", "--ask-for-approval", "on-request"),
    "gemini": ("--skip-trust",),
}
# Its end is what matters, and at 40 by 10 one sees its beginning, its end, or nothing of it.
_WORDS = " ".join(f"word{number:02}" for number in range(40))
HIDING = f"echo {_WORDS} && rm -rf build && echo {_WORDS}"


@pytest.fixture(scope="module", params=sorted(CLIS))
def cli(request: pytest.FixtureRequest) -> Cli:
    return CLIS[request.param]


def runs(fleet: RealFleet, command: str) -> Asked:
    make = cast("Callable[[str], Asked]", _HOW[fleet.cli.name].runs)
    return make(command)


def tmux_of(fleet: RealFleet, session_id: str) -> tuple[Tmux, str]:
    """tmux as a person at the fleet's own server uses it, and the session's pane."""
    place = fleet.json("session", "show", session_id)["place"]
    return fleet.tmux_of(place["fleet"]), place["paneId"]


def size(tmux: Tmux, pane: str) -> tuple[str, str]:
    """The window's size, and its own rule for it."""
    show = ("display-message", "-p", "-t", pane, "#{window_width}x#{window_height}=")
    shown, _, rule = tmux(*show, ";", "show-options", "-w", "-v", "-t", pane, "window-size").partition("=")
    return shown, rule.strip()


def asked_when_small(fleet: RealFleet, asked: Asked) -> tuple[str, Tmux, str]:
    """A session whose window was left at 40 by 10 when its dialog comes."""
    gate = threading.Event()
    first, *others = asked.turns
    assert isinstance(first, Reply)
    fleet.load(replace(first, gate=gate), *others, says("All is answered."))
    session_id = fleet.spawn("begin")
    fleet.asked("begin")
    tmux, pane = tmux_of(fleet, session_id)
    # In one step: the daemon may look, and enlarge the pane, at any moment.
    small = ("resize-window", "-t", pane, "-x", "40", "-y", "10")
    tmux(*small, ";", "set-option", "-w", "-u", "-t", pane, "window-size")
    until_small_again(fleet, tmux, pane)
    gate.set()
    return session_id, tmux, pane


def until_small_again(fleet: RealFleet, tmux: Tmux, pane: str) -> None:
    fleet.until("its window is as it was", lambda: size(tmux, pane), lambda now: now == ("40x10", ""))


def test_a_permission_in_a_small_pane_is_read_whole_and_answered_by_policy(fleet: RealFleet) -> None:
    rule(fleet, {"pattern": r"touch [a-z]+\.txt", "answer": "Choose 1"})
    session_id, tmux, pane = asked_when_small(fleet, runs(fleet, "touch small.txt"))
    screen = _until_whole(fleet, session_id)
    assert (screen["kind"], screen["detail"]) == ("permission", "touch small.txt")
    assert [option["label"].startswith("No") for option in screen["options"]][-1], screen["options"]
    until_small_again(fleet, tmux, pane)
    overseen_once(fleet)
    assert story(fleet, session_id) == [("verdict", "answer", "rules"), ("receipt", "submitted", "rules")]
    fleet.until_said(session_id, "All is answered.")
    assert (fleet.work / "small.txt").exists()
    until_small_again(fleet, tmux, pane)


def test_a_question_in_a_small_pane_is_answered(fleet: RealFleet) -> None:
    asked = cast("Asked", _HOW[fleet.cli.name].CHOICE)
    session_id, tmux, pane = asked_when_small(fleet, asked)
    screen = fleet.until_asked(session_id)
    assert screen["questionText"] == asked.text
    assert tuple(option["label"] for option in screen["options"])[:2] == asked.labels
    fleet.tell(session_id, "Choose 2")
    fleet.until_said(session_id, "All is answered.")
    until_small_again(fleet, tmux, pane)


def test_what_a_small_pane_hides_is_read_and_waits_for_the_human(fleet: RealFleet) -> None:
    """The policy says yes to all; the gate sees the whole command, and its danger."""
    rule(fleet, _YES_TO_ALL)
    (fleet.work / "build").mkdir(exist_ok=True)
    session_id, tmux, pane = asked_when_small(fleet, runs(fleet, HIDING))
    screen = _until_whole(fleet, session_id)
    assert "".join(screen["detail"].split()) == "".join(HIDING.split())
    overseen_once(fleet)
    [escalation] = fleet.json("inbox")
    assert "file deletion" in escalation["categories"]
    assert fleet.json("session", "prompts", session_id) == []
    assert (fleet.work / "build").exists()
    until_small_again(fleet, tmux, pane)


def test_a_persons_own_small_pane_is_left_as_it_is(fleet: RealFleet) -> None:
    """What it hides is not judged, nothing is typed, and the refusal says what to do."""
    rule(fleet, _YES_TO_ALL)
    (fleet.work / "build").mkdir(exist_ok=True)
    program = (fleet.cli.name, *_BY_HAND[fleet.cli.name])
    with fleet.own_tmux(*program, columns=100) as tmux, fleet.adopted(tmux, "Mine") as session_id:
        fleet.until_status(session_id, "finished")
        gate = threading.Event()
        first = cast("Reply", runs(fleet, HIDING).turns[0])
        since = fleet.load(replace(first, gate=gate), says("All is answered."))
        fleet.tell(session_id, "begin")
        fleet.asked("begin", since=since)
        tmux("resize-window", "-t", "%0", "-x", "40", "-y", "10")
        gate.set()
        screen = fleet.until_asked(session_id)
        assert "rm -rf build" not in screen["detail"]
        place = fleet.json("session", "show", session_id)["place"]
        assert fleet.json("coordinate", "--once", "--fleet", place["fleet"], timeout=120)["ended"] == "once"
        [escalation] = fleet.json("inbox")
        assert "unreadable" in escalation["categories"], escalation
        assert fleet.json("session", "prompts", session_id)[1:] == []
        receipt = fleet.sent(session_id, "Choose 1")
        assert receipt["state"] == "failed", receipt
        assert "40\N{MULTIPLICATION SIGN}10: too small" in receipt["reason"], receipt
        assert "Enlarge it to 80\N{MULTIPLICATION SIGN}24 or more" in receipt["reason"], receipt
        assert tmux("display-message", "-p", "-t", "%0", "#{window_width}x#{window_height}") == "40x10"
        assert (fleet.work / "build").exists()
        tmux("resize-window", "-t", "%0", "-x", "120", "-y", "50")
        whole = _until_whole(fleet, session_id)
        assert "".join(whole["detail"].split()) == "".join(HIDING.split())
        fleet.tell(session_id, "Choose 1")
        fleet.until_said(session_id, "All is answered.")
        assert not (fleet.work / "build").exists()


def _until_whole(fleet: RealFleet, session_id: str) -> dict[str, Any]:
    return fleet.until(
        "all of it is read", lambda: fleet.screen(session_id), lambda screen: screen.get("detail")
    )
