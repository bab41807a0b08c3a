"""Status from every source: who decides, who disagrees, and that nothing is never idle."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maestro.agents.hooks import HappeningKind
from maestro.agents.screen import ScreenState
from maestro.observe.fusion import (
    FusedStatus,
    Says,
    Source,
    fuse,
    of_hook,
    of_screen,
    of_transcript,
)
from maestro.observe.status import Status

NOW = 1_800_000_000_000


def says(source: Source, status: FusedStatus, ago: int | None = 0) -> Says:
    return Says(source, status, "words", "rule", None if ago is None else NOW - ago)


ENDED = says("process", "exited")
DIALOG = says("screen", "asking")
IDLE = says("screen", "finished")
BUSY = says("screen", "working")
BLIND = says("screen", "unknown")
TITLE = says("title", "working")


@pytest.mark.parametrize(
    ("said", "status", "rule", "against"),
    [
        ([], "unknown", "nothing matched", []),
        ([BLIND], "unknown", "nothing matched", []),
        ([BLIND, says("hook", "unknown"), says("transcript", "unknown")], "unknown", "nothing matched", []),
        ([ENDED, BUSY, says("hook", "working", 5000)], "exited", "its process has ended", ["screen"]),
        ([ENDED, DIALOG, says("transcript", "working", 5000)], "exited", "its process has ended", ["screen"]),
        ([DIALOG, says("hook", "finished", -500)], "asking", "a dialog is on its screen", ["hook"]),
        ([says("screen", "permission"), says("hook", "asking", 9000)], "permission", "a dialog", []),
        ([says("screen", "plan"), says("transcript", "working", 90_000)], "plan", "a dialog", []),
        ([says("screen", "dialog"), TITLE], "dialog", "a dialog", ["title"]),
        ([IDLE, says("hook", "working", -100)], "working", "after the screen", ["screen"]),
        ([IDLE, says("hook", "working", 5000)], "finished", "its screen shows it", []),
        ([IDLE, says("transcript", "failed", 5000)], "failed", "how the turn ended", []),
        ([IDLE, says("transcript", "interrupted", 5000)], "interrupted", "how the turn ended", []),
        ([IDLE, says("transcript", "asking", 5000)], "asking", "how the turn ended", ["screen"]),
        ([IDLE, says("transcript", "working", 100), TITLE], "working", "its title says", ["screen"]),
        ([IDLE, says("transcript", "working", 100)], "finished", "its screen shows it", ["transcript"]),
        ([IDLE, says("transcript", "working", 60_000)], "finished", "its screen shows it", []),
        ([BUSY, says("transcript", "thinking", 100)], "thinking", "its screen shows it", []),
        ([says("screen", "retrying"), says("hook", "working", -10)], "retrying", "after the screen", []),
        ([says("screen", "limited"), says("transcript", "failed", 50)], "limited", "its screen shows it", []),
        ([BLIND, TITLE], "working", "its title says so", []),
        (
            [BLIND, TITLE, says("hook", "finished", 10)],
            "working",
            "its title says so",
            [],
        ),  # it told a moment
        ([BLIND, says("hook", "finished", 10)], "finished", "its last hook", []),
        ([says("hook", "finished", 10), says("transcript", "working", 60_000)], "finished", "last hook", []),
        ([says("hook", "finished", 60_000), says("transcript", "working", 10)], "working", "transcript", []),
        ([says("transcript", "finished", 10)], "finished", "nothing else can be seen", []),
        ([says("title", "finished")], "finished", "only its title", []),
        (
            [says("screen", "exited"), says("transcript", "finished", 9000)],
            "exited",
            "its screen shows it",
            [],
        ),
    ],
)
def test_who_decides_and_who_disagrees(said: list[Says], status: str, rule: str, against: list[str]) -> None:
    fused = fuse(said, ["less certain"])
    assert (fused.status, rule in fused.rule) == (status, True), fused
    assert [one.source for one in fused.disagreements] == against
    assert fused.evidence == tuple(said)
    assert fused.degraded == ("less certain",)


def test_a_disagreement_says_who_and_what() -> None:
    [one] = fuse([ENDED, BUSY]).disagreements
    assert one.why == "screen says working: words"


SOURCES: tuple[Source, ...] = get_args(Source)
STATUSES: tuple[FusedStatus, ...] = get_args(FusedStatus)
# A process tells its end and nothing else.
SAID = st.builds(
    Says,
    st.sampled_from(SOURCES[1:]),
    st.sampled_from(STATUSES),
    st.text(max_size=5),
    st.text(max_size=5),
    st.none() | st.integers(0, 2 * NOW),
)


@given(st.lists(SAID, max_size=8), st.booleans())
def test_anything_that_is_said_has_an_outcome(said: list[Says], ended: bool) -> None:  # noqa: FBT001 - hypothesis gives it
    said = [*said, ENDED] if ended else said
    fused = fuse(said)
    told = {one.status for one in said} - {"unknown"}
    assert (fused.status == "unknown") is (not told)
    assert fused.status in told or not told, "nobody said so"
    assert fused.state in {"active", "idle", "thinking", "needs_input", "unknown"}
    assert fused.state != "idle" or told, "nothing is not idle"
    for one in fused.disagreements:
        assert one.status != fused.status


def test_every_state_of_every_source_has_a_name() -> None:
    screens: tuple[ScreenState, ...] = get_args(ScreenState)
    assert {of_screen(state) for state in screens} <= set(STATUSES)
    assert of_screen("unknown") == "unknown"
    assert of_screen("idle") == "finished"
    kinds: tuple[str, ...] = get_args(HappeningKind)
    assert {of_hook(kind) for kind in kinds} <= set(STATUSES)
    assert of_hook("a hook that nobody knows") == "unknown"
    statuses: tuple[Status, ...] = get_args(Status)
    assert {of_transcript(status) for status in statuses} <= set(STATUSES)
