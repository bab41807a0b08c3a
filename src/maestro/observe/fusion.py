"""Status from everything that is known: hooks, screen, title, transcript, process. Pure.

Each source says what it says, and when. The rules below are tried in order; the first that matches decides, and
whoever says otherwise is a disagreement that is shown. Nothing that matches means `unknown`, never `idle`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from maestro.agents.screen import ScreenState
from maestro.ages import has_passed, is_from_before
from maestro.observe.status import State, Status

Source = Literal["process", "screen", "hook", "title", "transcript"]
FusedStatus = Literal[
    "working",
    "thinking",
    "background",
    "asking",  # a question with or without options
    "permission",
    "plan",
    "dialog",  # the CLI itself asks
    "finished",
    "interrupted",
    "failed",
    "retrying",
    "limited",
    "exited",
    "unknown",
]


class Says(msgspec.Struct, frozen=True, rename="camel"):
    """What one source says."""

    source: Source
    status: FusedStatus
    says: str  # in words, with the line or event that it rests on
    rule: str  # the rule that matched there
    at: int | None  # when it was so
    weak: bool = False  # it may be so: this source cannot tell an end from a pause


class Disagreement(msgspec.Struct, frozen=True, rename="camel"):
    source: Source
    status: FusedStatus
    why: str


class Fused(msgspec.Struct, frozen=True, rename="camel"):
    status: FusedStatus
    state: State
    rule: str  # how the sources were weighed
    evidence: tuple[Says, ...]
    disagreements: tuple[Disagreement, ...] = ()
    degraded: tuple[str, ...] = ()  # what is known to be less certain here, in words


_STATES: Final[dict[FusedStatus, State]] = {
    "working": "active",
    "thinking": "thinking",
    "background": "active",
    "asking": "needs_input",
    "permission": "needs_input",
    "plan": "needs_input",
    "dialog": "needs_input",
    "finished": "idle",
    "interrupted": "idle",
    "failed": "idle",
    "retrying": "active",
    "limited": "idle",
    "exited": "idle",
    "unknown": "unknown",
}
_OF_SCREEN: Final[dict[ScreenState, FusedStatus]] = {
    "idle": "finished",
    "working": "working",
    "background": "background",
    "question": "asking",
    "permission": "permission",
    "plan": "plan",
    "error": "failed",
    "retrying": "retrying",
    "limit": "limited",
    "dialog": "dialog",
    "exited": "exited",
    "unknown": "unknown",
}
_OF_HOOK: Final[dict[str, FusedStatus]] = {
    "session_started": "finished",
    "prompted": "working",
    "asked": "asking",
    "answered": "working",
    "turn_ended": "finished",
    "turn_failed": "failed",
    "idle": "finished",
    "compacting": "working",
    "session_ended": "exited",
}
# Statuses that are two views of one thing.
_ALIKE: Final[tuple[frozenset[FusedStatus], ...]] = (
    frozenset({"working", "thinking", "background", "retrying"}),
    frozenset({"asking", "permission", "plan", "dialog"}),
    frozenset({"finished", "interrupted", "failed", "limited"}),
)
_ASKS: Final[frozenset[FusedStatus]] = _ALIKE[1]
# What a hook told so shortly before the look, the screen may not show yet.
_DRAWING: Final = 1_500


def of_screen(state: ScreenState) -> FusedStatus:
    return _OF_SCREEN[state]


def of_hook(kind: str) -> FusedStatus:
    return _OF_HOOK.get(kind, "unknown")


def of_transcript(status: Status) -> FusedStatus:
    return status


def fuse(said: Sequence[Says], degraded: Sequence[str] = ()) -> Fused:
    """What the session does, by all that is said of it."""
    told = [one for one in said if one.status != "unknown"]
    decided, rule = _decide(told)
    if decided is None:
        return Fused("unknown", "unknown", "nothing matched", tuple(said), (), tuple(degraded))
    status = _refined(decided, told)
    against = tuple(
        Disagreement(one.source, one.status, f"{one.source} says {one.status}: {one.says}")
        for one in told
        if one is not decided and not one.weak and not _agree(one.status, status) and not _older(one, decided)
    )
    return Fused(status, _STATES[status], rule, tuple(said), against, tuple(degraded))


def _decide(told: Sequence[Says]) -> tuple[Says | None, str]:
    by: dict[Source, Says] = {one.source: one for one in told}
    process, screen, hook = by.get("process"), by.get("screen"), by.get("hook")
    title, transcript = by.get("title"), by.get("transcript")
    if process is not None and process.status == "exited":
        return process, "its process has ended"
    if screen is not None and screen.status in _ASKS:
        return screen, "a dialog is on its screen"
    if hook is not None and screen is not None:
        if _newer(hook, screen) and not is_from_before(hook.at or 0, screen.at or 0):
            return hook, "its hook told it after the screen was seen"
        if hook.status in _ASKS and _is_being_drawn(hook, screen):
            return hook, "its hook told it, and its screen may not show it yet"
    if screen is not None and screen.status == "finished" and transcript is not None:
        # An idle box looks the same after success, error and interruption; the transcript tells which.
        if transcript.status in {"failed", "interrupted", "finished", "asking"}:
            return transcript, "its screen is idle, and its transcript says how the turn ended"
        if title is not None and title.status == "working":
            return title, "its title says that it works, and its screen may be about to"
    if screen is not None:
        return screen, "its screen shows it"
    if title is not None and title.status != "finished":
        return title, "its title says so, and its screen cannot be read"
    if hook is not None and (transcript is None or _newer(hook, transcript)):
        return hook, "its last hook told it"
    if transcript is not None:
        return transcript, "its transcript says so, and nothing else can be seen"
    return title, "only its title tells"


def _refined(decided: Says, told: Sequence[Says]) -> FusedStatus:
    """Of two names for one thing, the one that says more."""
    if decided.status == "working":
        for one in told:
            if one.source == "screen" and one.status in {"retrying", "limited"}:
                return one.status
            if one.source == "transcript" and one.status == "thinking":
                return "thinking"
    return decided.status


def _agree(one: FusedStatus, other: FusedStatus) -> bool:
    return one == other or any(one in alike and other in alike for alike in _ALIKE)


def _newer(one: Says, other: Says) -> bool:
    return one.at is not None and other.at is not None and one.at > other.at


def _is_being_drawn(hook: Says, screen: Says) -> bool:
    return hook.at is not None and screen.at is not None and not has_passed(_DRAWING, hook.at, screen.at)


def _older(one: Says, decided: Says) -> bool:
    """What was said before the decision's own time was true then."""
    if one.source in {"screen", "title", "process"}:
        return False
    if one.source == "hook":
        # It tells a moment, and the next one may be on its way.
        return (
            one.at is not None
            and decided.at is not None
            and (one.at <= decided.at or is_from_before(one.at, decided.at))
        )
    return one.at is not None and decided.at is not None and one.at + _DRAWING < decided.at
