"""Whether a time has passed, by times of the clock on the wall, which can be set back: pure."""

from __future__ import annotations

from typing import Final

# Clocks of two machines differ, and a time may be read a moment after another process has written it down.
_DIFFER_MS: Final = 60_000


def is_from_before(at: int, now: int) -> bool:
    """Whether this time was written down before the clock was set back: it is far in the future."""
    return at - now > _DIFFER_MS


def has_passed(span: int, since: int, now: int) -> bool:
    """Whether `span` milliseconds have passed since then.

    How long ago a time from before the clock was set back is, nobody knows; it counts as passed, so that nothing waits
    for the clock to come there again.
    """
    return now - since >= span or is_from_before(since, now)
