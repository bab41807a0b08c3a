"""A real CLI in a person's own pane, and delegates of the same CLI beside it: the session shows its own transcript only."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pytest
from tests.real.clis import CLIS, Cli
from tests.real.fleet import RealFleet
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


class Pane(NamedTuple):
    fleet: RealFleet
    socket: str

    def tmux(self, *command: str) -> str:
        done = self.fleet.network.run(
            ["tmux", "-S", self.socket, *command], env=self.fleet.env, cwd=self.fleet.work
        )
        assert done.returncode == 0, done
        return done.stdout

    def types(self, text: str) -> None:
        """What the person types there themselves."""
        self.tmux("send-keys", "-t", "%0", "-l", text)
        self.fleet.until("it is in the box", lambda: self.tmux("capture-pane", "-p"), lambda s: text in s)
        time.sleep(_GAP)
        self.tmux("send-keys", "-t", "%0", "Enter")


@contextlib.contextmanager
def started(fleet: RealFleet, flags: tuple[str, ...]) -> Iterator[Pane]:
    pane = Pane(fleet, fleet.own_socket())
    pane.tmux("-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "40", fleet.cli.name, *flags)
    try:
        yield pane
    finally:
        pane.tmux("kill-server")


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
    with started(fleet, flags) as pane:
        adopt = ("session", "adopt", "--pane", "%0", "--tmux-socket", pane.socket)
        fleet.until(
            "it is ready", lambda: pane.tmux("capture-pane", "-p"), lambda screen: "shortcuts" in screen
        )
        delegate(fleet, "Words of the delegate.")
        if fleet.cli.name != "gemini":  # which trusts no folder that it was not told of
            delegate(fleet, "Words of another folder.", "--cd", str(other))
        session_id = str(fleet.json(*adopt)["id"])
        assert said(fleet, session_id) == []
        assert fleet.digest(session_id)["unknownTranscript"]
        fleet.load(says("Words of the pane."), afterwards=says("Words of the pane."))
        pane.types("a person asks the pane")
        fleet.until_said(session_id, "Words of the pane.")
        delegate(fleet, "Words of the delegate.")
        assert said(fleet, session_id)[-1] == "Words of the pane."
        first = fleet.json("session", "show", session_id)["transcriptPath"]
        fleet.load(says("Words after clear."), afterwards=says("Words after clear."))
        pane.types("/clear")
        fleet.until(
            "it is cleared", lambda: pane.tmux("capture-pane", "-p"), lambda s: "a person asks" not in s
        )
        pane.types("a person asks again")
        fleet.until_said(session_id, "Words after clear.")
        assert fleet.json("session", "show", session_id)["transcriptPath"] != first
        told = fleet.explain(session_id)["transcript"]
        assert ".jsonl: " in told, told
        fleet("session", "report", "complete", "done", "--session", session_id)
