"""Which workers need no look: they rest, owe nothing, and nothing of them has changed since the last one. Pure."""

from __future__ import annotations

from typing import Final

import msgspec

from maestro.agents.screen import Screen
from maestro.ages import has_passed
from maestro.ledger.board import ENDED
from maestro.ledger.facts import Session, Task
from maestro.observe.digest import Digest
from maestro.observe.stuck import AT_REST

LOOK_AGAIN_AFTER: Final = 300_000  # whatever no event told of is found then


class Trace(msgspec.Struct, frozen=True):
    """What changes with anything that a session does, and with anything that is done about it."""

    session: Session
    tasks: tuple[Task, ...]
    log: tuple[int, int]  # its transcript's size, and when it was written last


class Rest(msgspec.Struct, frozen=True):
    """A session that was seen at rest then."""

    at: int
    trace: Trace


def is_at_rest(trace: Trace, digest: Digest, screen: Screen | None) -> bool:
    """Whether time alone cannot bring this session into trouble.

    Of a pane that Maestro did not start, tmux tells nothing: an error there is found only by looking.
    """
    if trace.session.mode is None or screen is None or screen.state != "idle":
        return False
    is_through = all(task.status in ENDED for task in trace.tasks)
    return is_through and digest.status in AT_REST and digest.stuck is None


def needs_look(rest: Rest | None, trace: Trace, now: int) -> bool:
    return rest is None or rest.trace != trace or has_passed(LOOK_AGAIN_AFTER, rest.at, now)
