"""Pure: whether a pane is too small for the dialog on it, whether it may be enlarged for a moment, and what to say."""

from __future__ import annotations

from typing import Final

from maestro.fleet.facts import Sight

# As much as dialogs take that people can still read; a longer command is for the human in any case.
LARGE: Final = (160, 120)
# Sizes to name to a person; a screen below the first may be too small to be read at all.
_SIZES: Final = ((80, 24), (120, 40), (160, 60), LARGE)
STILL_SECONDS: Final = 0.25  # a screen that did not change for so long is drawn
_MOVING_SECONDS: Final = 0.5  # one that still changes after so long does so by itself: an agent works


def is_too_small(sight: Sight) -> bool:
    """Whether a larger pane would show more of the dialog that stands there, or whether there is one."""
    question = sight.screen.question
    if question is not None:
        return question.is_cut or any(part.is_cut for part in question.parts)
    is_read = sight.screen.state != "unknown"
    return not is_read and bool(sight.content.strip()) and _is_below(sight, _SIZES[0])


def is_partly_read(sight: Sight) -> bool:
    """Whether something of the dialog is not on the screen. In a pane whose size has just changed it may still be drawn
    as it was: with a list that scrolls in the room that it had."""
    question = sight.screen.question
    return question is not None and any(one.unread for one in (question, *question.parts))


def is_cramped(sight: Sight) -> bool:
    """The same, where more room can still be had: beyond that, a dialog is answered as far as it is seen."""
    return is_too_small(sight) and _is_below(sight, LARGE)


def may_enlarge(sight: Sight) -> bool:
    """Whether the pane is ours, too small, and nobody would see what is done to it."""
    is_free = sight.own and not (sight.shown or sight.focused)
    is_live = not (sight.pane.dead or sight.pane.in_mode)
    return is_free and is_live and is_cramped(sight)


class Settling:
    """Tells when a pane whose window gets its size back is drawn in it, from one look after another."""

    def __init__(self, window: tuple[int, int]) -> None:
        self._window = window
        self._small = self._since = 0.0
        self._content: str | None = None

    def is_over(self, sight: Sight, now: float) -> bool:
        """`now`: seconds of any clock. A window that somebody sees has their terminal's size, and keeps it."""
        if not sight.shown and (sight.pane.width > self._window[0] or sight.pane.height > self._window[1]):
            return False
        if self._content is None:
            self._small = now
        if sight.content != self._content:
            self._content, self._since = sight.content, now
        return now - self._since >= STILL_SECONDS or now - self._small >= _MOVING_SECONDS


def advice(sight: Sight) -> str:
    """What to do about a dialog that its pane is too small for."""
    pane = sight.pane
    small = f"Its pane is {_by(pane.width, pane.height)}: too small to show the whole dialog"
    width, height = next(
        (size for size in _SIZES if _is_below(sight, size)), (2 * pane.width, 2 * pane.height)
    )
    seen = ", and somebody has its window open" if sight.own and (sight.shown or sight.focused) else ""
    return f"{small}{seen}. Enlarge it to {_by(width, height)} or more, or answer it there."


def _is_below(sight: Sight, size: tuple[int, int]) -> bool:
    return sight.pane.width < size[0] or sight.pane.height < size[1]


def _by(width: int, height: int) -> str:
    return f"{width}\N{MULTIPLICATION SIGN}{height}"
