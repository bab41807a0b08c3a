"""Pure: whether text may go into a terminal now, and what the text is that goes."""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

from maestro.fleet.facts import Sight
from maestro.redact import clean, fold, redact

LONGEST: Final = 500_000

# Whatever a terminal could take for a command. Newline and tab are text.
_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_LINE_ENDS: Final = re.compile("\r\n?|[\x85\u2028\u2029]")
_SURROGATES: Final = re.compile("[\ud800-\udfff]")
_SHOWN: Final = 60
_ASKING: Final = frozenset({"question", "permission", "plan", "dialog"})
_NO_BOX: Final = _ASKING | {"exited", "unknown"}
_SLOWEST_SECONDS: Final = 30.0  # an agent that was stopped, or gets no processor, is waited for this long


class Decision(NamedTuple):
    verdict: Literal["ready", "hold", "refuse"]
    reason: str = ""


READY: Final = Decision("ready")


def typable(text: str) -> str:
    """The text as it is typed: one kind of line end, nothing that a terminal obeys."""
    text = _LINE_ENDS.sub("\n", text)
    return _SURROGATES.sub("\ufffd", _CONTROL.sub("", text)).strip("\n")


def may_prompt(sight: Sight | None, agent: str) -> Decision:
    """Whether a prompt may be pasted into this pane now."""
    blocked = may_touch(sight, agent)
    if blocked != READY or sight is None:
        return blocked
    screen = sight.screen
    if screen.question is not None or screen.state in _ASKING:
        asked = f": “{_short(screen.question.text)}”" if screen.question and screen.question.text else ""
        return Decision("hold", f"It asks something first{asked}.")
    if screen.state == "exited":
        return Decision("refuse", f"{agent} has ended: “{_short(screen.evidence)}”.")
    if screen.state == "unknown":
        return Decision("hold", "Its screen shows nothing that is known: see `maestro session explain`.")
    if screen.draft is None:
        return Decision("hold", f"It shows no input box ({screen.state}: “{_short(screen.evidence)}”).")
    if screen.draft:
        words = f"“{_short(screen.draft)}”" if screen.draft.strip() else "nothing but spaces"
        return Decision("hold", f"Somebody's draft stands in its box: {words}.")
    return READY


def may_touch(sight: Sight | None, agent: str) -> Decision:
    """Whether anything at all may be typed into this pane now."""
    if sight is None:
        return Decision("refuse", "Its pane is gone.")
    if sight.pane.dead:
        return Decision("refuse", f"{agent} has ended; its pane is dead.")
    if sight.in_front is False:
        return Decision("refuse", f"{agent} is not in front of its pane: “{_short(sight.front)}” is.")
    if sight.focused:
        return Decision("hold", "A human looks at its pane.")
    if sight.pane.in_mode:
        return Decision("hold", "Its pane is in copy mode.")
    if sight.pane.synchronized:
        return Decision("hold", "Its window has synchronize-panes on: every pane in it would get the text.")
    return READY


class AfterEnter(NamedTuple):
    """One look at a pane after Enter was pressed there."""

    sight: Sight | None
    has_read: bool | None  # before the look, the agent had read all that was typed and waited for more
    is_in_box: bool  # the box holds the text that was pasted, and nothing else
    queued_before: int  # how many prompts the screen showed as queued before Enter
    has_taken: bool  # since then, a hook or the transcript tells of a prompt that the text is a part of


def unsent_looks(earlier: int, after: AfterEnter, agent: str) -> int:
    """Returns how many looks in a row prove that Enter was lost, this one included.

    A box that still shows the text proves nothing by itself: a slow agent may have taken it and not drawn yet, and a
    second Enter would send it twice. A look at an agent that has not read everything yet counts for nothing.
    """
    if (
        not after.is_in_box
        or after.has_taken
        or after.sight is None
        or queue_length(after.sight) != after.queued_before
        or may_touch(after.sight, agent) != READY
    ):
        return 0
    return earlier + 1 if after.has_read is True else earlier


class Left(NamedTuple):
    """One look at a box in which a prompt of ours was left: pasted, and not proved to be sent."""

    sight: Sight | None
    is_own: bool  # the box holds that prompt, and nobody has changed it
    is_told: bool  # whoever sent it was told that it is uncertain


def what_of_left(left: Left, agent: str) -> Literal["send", "clear", "leave"]:
    """Decides what becomes of our own text in a box.

    As long as its sender waits for it, it is sent. Whoever was told that nothing proves it may have sent it again, or
    given it up: then it is taken out, and that is certain.
    """
    if not left.is_own or left.sight is None or may_touch(left.sight, agent) != READY:
        return "leave"
    screen = left.sight.screen
    if screen.question is not None or screen.state in _NO_BOX:
        return "leave"
    return "clear" if left.is_told else "send"


def is_queued(sight: Sight, queued_before: int) -> bool:
    """Whether the agent's own queue got one more prompt, and its box was emptied. A queue may show only the beginning
    of a long prompt, or of many prompts only the first."""
    return sight.screen.draft == "" and queue_length(sight) == queued_before + 1


def queue_length(sight: Sight) -> int:
    return len(sight.screen.queued) + sight.screen.queued_more


class Allowance:
    """Counts the seconds in which an agent could have acted. The time in which it has not even read what was typed
    does not count, up to a limit."""

    def __init__(self, seconds: float, now: float) -> None:
        self._left = seconds
        self._last = now
        self._end = now + max(seconds, _SLOWEST_SECONDS)

    def spend(self, now: float, has_read: bool | None) -> None:  # noqa: FBT001 - three answers, None among them
        if has_read is not False:
            self._left -= now - self._last
        self._last = now

    @property
    def is_spent(self) -> bool:
        return self._left <= 0 or self._last >= self._end


def _short(text: str) -> str:
    line = fold(redact(clean(text)))
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"
