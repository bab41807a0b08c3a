"""A real CLI in a person's own pane, and delegates of the same CLI beside it: the session shows its own transcript only."""

from __future__ import annotations

import time
from collections.abc import Mapping

import pytest
from tests.real.clis import CLIS, Cli
from tests.real.fleet import RealFleet, Tmux
from tests.real.turns import says

# Codex keeps its rollout open by itself; by default its daemon does, for every Codex of the person.
_FLAGS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "claude": (("--permission-mode", "default"),),
    "codex": (("--no-daemon", "--sandbox", "read-only"), ("--sandbox", "read-only")),
    "gemini": (("--skip-trust",),),
}
_GAP = 0.5  # seconds between a text and its Enter, which some CLIs need


@pytest.fixture(scope="module", params=sorted(CLIS))
def cli(request: pytest.FixtureRequest) -> Cli:
    return CLIS[request.param]


def types(fleet: RealFleet, tmux: Tmux, text: str) -> None:
    """What the person types there themselves."""
    tmux("send-keys", "-t", "%0", "-l", text)
    fleet.until("it is in the box", lambda: tmux("capture-pane", "-p"), lambda screen: text in screen)
    time.sleep(_GAP)
    tmux("send-keys", "-t", "%0", "Enter")


def delegate(fleet: RealFleet, words: str, *more: str) -> None:
    fleet.load(says(words), afterwards=says(words))
    done = fleet(
        "delegate", "a delegate asks", "--to", fleet.cli.name, "--mode", "analysis", *more, timeout=120
    )
    assert done.returncode == 0, done


def said(fleet: RealFleet, session_id: str) -> list[str]:
    return [entry["text"] for entry in fleet.digest(session_id)["entries"]]


def test_the_transcript_is_its_own(fleet: RealFleet) -> None:
    (fleet.work.parent / "other").mkdir()
    for flags in _FLAGS[fleet.cli.name]:
        shows_its_own(fleet, flags)


def shows_its_own(fleet: RealFleet, flags: tuple[str, ...]) -> None:
    other = fleet.work.parent / "other"
    with fleet.own_tmux(fleet.cli.name, *flags) as tmux:
        fleet.until("it is ready", lambda: tmux("capture-pane", "-p"), lambda screen: "shortcuts" in screen)
        delegate(fleet, "Words of the delegate.")
        if fleet.cli.name != "gemini":  # which trusts no folder that it was not told of
            delegate(fleet, "Words of another folder.", "--cd", str(other))
        with fleet.adopted(tmux, "Mine") as session_id:
            assert said(fleet, session_id) == []
            assert fleet.digest(session_id)["unknownTranscript"]
            fleet.load(says("Words of the pane."), afterwards=says("Words of the pane."))
            types(fleet, tmux, "a person asks the pane")
            fleet.until_said(session_id, "Words of the pane.")
            delegate(fleet, "Words of the delegate.")
            assert said(fleet, session_id)[-1] == "Words of the pane."
            first = fleet.json("session", "show", session_id)["transcriptPath"]
            fleet.load(says("Words after clear."), afterwards=says("Words after clear."))
            types(fleet, tmux, "/clear")
            fleet.until(
                "it is cleared", lambda: tmux("capture-pane", "-p"), lambda s: "a person asks" not in s
            )
            types(fleet, tmux, "a person asks again")
            fleet.until_said(session_id, "Words after clear.")
            assert fleet.json("session", "show", session_id)["transcriptPath"] != first
            told = fleet.explain(session_id)["transcript"]
            assert ".jsonl: " in told, told
