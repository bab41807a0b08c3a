"""What happened last in a transcript: moments gathered backwards, until there is enough to tell. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

import msgspec

from maestro.agents import ENTRIES, EVERYTHING, NO_RESULT, Moment, Wanted
from maestro.redact import clean

SHORTEST_TEXT: Final = 10
SHORTEST_PROMPT: Final = 5
_SHORTEST: Final = {"text": SHORTEST_TEXT, "prompt": SHORTEST_PROMPT, "api_error": 1}
_BEGINS_A_TURN: Final = frozenset({"prompt", "turn_started", "interrupted"})  # or comes between two
_ENDS_A_TURN: Final = frozenset({"turn_ended", "background", "api_error"})
_BEGINNING: Final = 24  # characters that nearly always decide it
_WINDOW: Final = 4096  # characters that decide whether a text is long enough


# Where in its turn a moment stands, seen from the end of the transcript: nothing is newer; its turn goes on without
# words; its turn is over and nothing was said since; something was said since.
Standing = Literal["newest", "running", "last", "spoken"]


class Recent(msgspec.Struct, frozen=True, gc=False):
    """The end of a transcript, oldest first."""

    entries: tuple[Moment, ...] = ()  # texts, prompts and errors
    after_text: tuple[Moment, ...] = ()  # since the agent's last text; a tool's result only if it came last
    last_text: Moment | None = None
    size: int = 0
    modified: int = 0  # milliseconds since 1970
    bytes_read: int = 0


class Gathering:
    """Takes lines' moments from the newest backwards and knows when it has enough."""

    __slots__ = (
        "_after",
        "_entries",
        "_full",
        "_last",
        "_last_text",
        "_records",
        "_restated",
        "_since",
        "_standing",
        "enough",
        "wanted",
    )

    def __init__(self, last: int, since: int | None = None, *, full: bool = False) -> None:
        """`full`: every text and prompt counts, however short."""
        self._last = last
        self._since = since
        self._full = full
        self._standing: Standing = "newest"
        self._entries: list[Moment] = []
        self._after: list[Moment] = []
        self._restated: dict[str, list[Moment]] = {}
        self._records: set[str] = set()
        self._last_text: Moment | None = None
        self.wanted: Wanted = EVERYTHING
        self.enough = False

    def take(self, moments: tuple[Moment, ...]) -> None:
        """The moments of the next older line."""
        if not moments[0].record and not moments[0].restated:
            for moment in reversed(moments):
                self._add(moment)
            return
        restated_before = set(self._restated)
        standing: Standing = "newest"
        for moment in moments[::-1]:
            if moment.record in self._records:
                continue
            if not moment.restated:
                self._add(moment)
                continue
            is_shown, standing = _looked_at(moment, standing, full=self._full)
            if moment.record not in restated_before:
                self._restated.setdefault(moment.record, []).extend([moment] if is_shown else [])
        self._records.update([moment.record for moment in moments if moment.record and not moment.restated])

    def _add(self, moment: Moment) -> None:
        shown, self._standing = _looked_at(moment, self._standing, full=self._full)
        if self.wanted != ENTRIES:
            if shown and moment.kind == "text":
                self._last_text = moment
                self.wanted = ENTRIES
            elif moment.kind != "tool_result" or not self._after:
                self._after.append(moment)
                self.wanted = NO_RESULT
        if not shown:
            return
        if self._since is not None and moment.at is not None and moment.at <= self._since:
            self.enough = self.wanted == ENTRIES
        elif len(self._entries) < self._last:
            self._entries.append(moment)
        if self.wanted == ENTRIES and len(self._entries) >= self._last:
            self.enough = True

    def result(self, size: int, modified: int, bytes_read: int) -> Recent:
        entries = self._with_restated(self._entries[::-1])
        last_text = self._last_text
        if last_text is None:
            last_text = next((entry for entry in reversed(entries) if entry.kind == "text"), None)
        return Recent(
            entries=tuple(entries[-self._last :] if self._last else ()),
            after_text=tuple(self._after[::-1]),
            last_text=last_text,
            size=size,
            modified=modified,
            bytes_read=bytes_read,
        )

    def _with_restated(self, entries: list[Moment]) -> list[Moment]:
        """A rewritten history adds what was never written by itself, in its place by time."""
        missing = [
            moment
            for record, moments in self._restated.items()
            if record not in self._records
            for moment in moments
            if self._since is None or (moment.at or 0) > self._since
        ]
        if not missing:
            return entries
        return sorted(entries + missing, key=lambda moment: moment.at or 0)


def entries_among(moments: Iterable[Moment], *, full: bool = False) -> list[Moment]:
    """Those of successive moments, oldest first, that a digest shows; nothing is known of what comes after them."""
    shown: list[Moment] = []
    standing: Standing = "newest"
    for moment in reversed(list(moments)):
        is_shown, standing = _looked_at(moment, standing, full=full)
        if is_shown:
            shown.append(moment)
    return shown[::-1]


def _looked_at(moment: Moment, standing: Standing, *, full: bool) -> tuple[bool, Standing]:
    """Whether a digest shows the moment, and where the moment before it stands.

    A short text is shown when it is the last of its turn: “No.” may be all of an answer, “OK.” before further words or in
    front of a call that runs is none. Of older turns only words and beginnings count: calls and ends may be left unread.
    """
    kind = moment.kind
    if kind == "text":
        if _is_long_enough(moment.text, SHORTEST_TEXT):
            return True, "spoken"
        if _is_long_enough(moment.text, 1):
            return full or standing in {"newest", "last"}, "spoken"
    shortest = _SHORTEST.get(kind)
    shown = shortest is not None and _is_long_enough(moment.text, 1 if full else shortest)
    if kind in _BEGINS_A_TURN or (kind in _ENDS_A_TURN and standing != "spoken" and _is_an_end(moment)):
        return shown, "last"
    return shown, "running" if standing == "newest" else standing


def _is_an_end(moment: Moment) -> bool:
    """Whether it ends the turn: an error without words is tried again."""
    return moment.kind != "api_error" or bool(moment.text)


def _is_long_enough(text: str, shortest: int) -> bool:
    beginning = text[:_BEGINNING].strip()
    if len(beginning) >= shortest and beginning.isprintable():
        return True
    return len(clean(text[:_WINDOW]).strip()) >= shortest
