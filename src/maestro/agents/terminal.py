"""How an agent in a terminal is read and spoken to: the port, on one page. Pure.

An adapter reads a screen, and says which keys come next; `fleet/typing.py` alone presses them. After every step the
screen is read again and the next step is decided from what it shows, so a dialog that somebody else moved on is never
answered by keys that were meant for its earlier state.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, Protocol, runtime_checkable

import msgspec

from maestro.agents.questions import Answer, Question
from maestro.agents.screen import Capture, Screen, ScreenState
from maestro.agents.shown import folded, is_drawn_whole, shows

Key = str  # as tmux names it: "Enter", "Right", "1", "Escape", "BTab"


class Step(msgspec.Struct, frozen=True):
    """Text to paste, then keys to press; the screen must look different afterwards."""

    note: str  # what it does, for the receipt
    keys: tuple[Key, ...] = ()
    text: str = ""
    # It answers the dialog: nothing more is pressed after it, as whatever stands there then may be the next dialog.
    is_final: bool = False
    undoes: bool = (
        False  # it takes something back: unticks, clears or leaves a field, goes back to a question
    )


class Cannot(msgspec.Struct, frozen=True):
    """The dialog on the screen does not take this answer."""

    reason: str


class Submission(msgspec.Struct, frozen=True):
    """How text gets from the input box to the agent."""

    keys: tuple[Key, ...] = ("Enter",)
    gap: float = 0.0  # seconds between the paste and the keys that the CLI needs to take them for two things


class TitleReading(msgspec.Struct, frozen=True):
    state: ScreenState
    evidence: str


class Call(msgspec.Struct, frozen=True):
    """A tool call that a line of the transcript tells of."""

    id: str
    question: Question | None = None  # what is asked for it, where the line holds its arguments
    is_over: bool = False  # it has its result: whatever it asked was answered


@runtime_checkable
class TellsCalls(Protocol):
    """A CLI whose transcript tells which of its calls are over."""

    def calls(self, line: bytes) -> Sequence[Call]:
        """The calls that this line tells of. Total: any bytes are a line."""


@runtime_checkable
class TellsQueue(Protocol):
    """A CLI whose transcript tells what goes into its own queue of prompts, and what comes out of it."""

    def enqueued(self, line: bytes) -> str | None:
        """The prompt that this line says was put into the queue. Total: any bytes are a line."""

    def given(self, line: bytes) -> str | None:
        """The prompt that this line says the model gets, from the queue or at once."""


@runtime_checkable
class TellsByLine(Protocol):
    """A CLI that tells some things by a line on its screen alone, and neither by a hook nor by its title."""

    # Globs of such lines, as fnmatch takes them, found anywhere in a line: tmux watches them while the agent works.
    line_globs: tuple[str, ...]


@runtime_checkable
class EmptiesBox(Protocol):
    """A CLI whose input box can be emptied without interrupting or quitting it."""

    def holds_own(self, draft: str, prompt: str, pasted: str = "") -> bool:
        """Whether what stands in the input box surely is this prompt, and nobody has changed a character of it that is
        seen. Stricter than `box_holds`, which is asked right after the prompt was pasted.

        `pasted`: what stood in the box right after it was pasted, where somebody saw it.
        """

    def emptied_by(self, draft: str) -> tuple[Key, ...]:
        """The keys that take this draft out of the input box."""


@runtime_checkable
class Terminal(Protocol):
    """A CLI whose screen Maestro can read and whose dialogs it can answer."""

    name: str
    recorded_versions: tuple[str, ...]  # the CLI's versions that its screens were recorded on
    submission: Submission
    # Globs, as fnmatch takes them, of pane titles that tell a state: tmux watches them, so nobody has to poll.
    title_globs: Mapping[str, ScreenState]

    def is_agent(self, argv: Sequence[str]) -> bool:
        """Whether a process with this command line is the CLI, and not a shell or an editor in its place."""

    def read_screen(self, capture: Capture) -> Screen:
        """What the screen says. Total: what no rule matches is `unknown`, never `idle`."""

    def read_title(self, title: str) -> TitleReading | None:
        """What the pane's title says, where the CLI sets one that tells."""

    def as_text(self, prompt: str) -> str:
        """The prompt, changed as little as it takes for its first character not to switch a mode of the input box."""

    def box_holds(self, draft: str, prompt: str) -> bool:
        """Whether what stands in the input box is this prompt and nothing else; a long one may be shown by a mark."""

    def answer_step(self, screen: Screen, answer: Answer) -> Step | Cannot:
        """What to do next so that the question on this screen gets this answer."""

    def version_in(self, head: bytes) -> str:
        """The CLI's own version, where the first bytes of a transcript tell it."""

    def taken(self, line: bytes) -> str | None:
        """The prompt that this line of the transcript says was taken: at once, or into the CLI's own queue."""


def holds(draft: str, prompt: str, mark: re.Pattern[str] | None = None) -> bool:
    """`box_holds` for most: wrapped and indented anyhow, or only its end, or a mark in its place."""
    seen = folded(draft)
    if not seen:
        return False
    return (
        shows(draft, prompt)
        or (mark is not None and mark.fullmatch(draft.strip()) is not None)
        or (len(seen) > _SCROLLED and folded(prompt).endswith(seen))
    )


def surely_holds(draft: str, prompt: str, mark: re.Pattern[str], pasted: str) -> bool:
    """`holds_own` for most: all of it is seen, or a mark that counts as much as it has. Many texts have as many lines:
    a mark that counts nothing else must be the very one that it got when it was pasted."""
    marked = mark.fullmatch(draft.strip())
    if marked is not None:
        counts = {
            "breaks": {prompt.count("\n")},
            "lines": {prompt.count("\n") + 1},
            "chars": _lengths(prompt),
        }
        told = {name: int(count) for name, count in marked.groupdict().items() if count}
        is_known = "chars" in told or draft.strip() == pasted.strip()
        return bool(told) and is_known and all(count in counts[name] for name, count in told.items())
    return bool(folded(draft)) and is_drawn_whole(prompt) and folded(draft) == folded(prompt)


def _lengths(text: str) -> set[int]:
    """How long a text is by code points, and as JavaScript counts."""
    return {len(text), len(text.encode("utf-16-le", "replace")) // 2}


def emptied_by(draft: str) -> tuple[Key, ...]:
    """The keys that take a draft out of an input box, row by row, and that do nothing in an empty one.

    They neither interrupt nor quit, as Escape and Ctrl-C may. C-u takes a row, or what it joins; some CLIs stay on the
    row then, and the key after it goes on to the row above.
    """
    return ("C-e", *("C-u", "BSpace") * (draft.count("\n") + 2))


_SCROLLED: Final = 200  # a box that shows only the end of a text shows at least this much of it


def field_holds(shown: str, text: str, mark: re.Pattern[str] | None = None) -> bool:
    """The same of a dialog's field, which shows only the last few lines of a text that has more."""
    if holds(shown, text, mark):
        return True
    seen = folded(shown)
    return shown.count("\n") >= 2 and bool(seen) and folded(text).endswith(seen)
