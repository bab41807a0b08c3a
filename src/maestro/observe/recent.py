"""What happened last in a transcript: moments gathered backwards, until there is enough to tell. Pure."""

from __future__ import annotations

from typing import Final

import msgspec

from maestro.agents import ENTRIES, EVERYTHING, NO_RESULT, Moment, Wanted
from maestro.redact import clean

SHORTEST_TEXT: Final = 10
SHORTEST_PROMPT: Final = 5
_SHORTEST: Final = {"text": SHORTEST_TEXT, "prompt": SHORTEST_PROMPT, "api_error": 1}
_BEGINNING: Final = 24  # characters that nearly always decide it
_WINDOW: Final = 4096  # characters that decide whether a text is long enough


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
        "_last",
        "_last_text",
        "_records",
        "_restated",
        "_since",
        "enough",
        "wanted",
    )

    def __init__(self, last: int, since: int | None = None) -> None:
        self._last = last
        self._since = since
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
        for moment in moments[::-1]:
            if moment.record in self._records:
                continue
            if not moment.restated:
                self._add(moment)
            elif moment.record not in restated_before:
                self._restated.setdefault(moment.record, []).append(moment)
        self._records.update([moment.record for moment in moments if moment.record and not moment.restated])

    def _add(self, moment: Moment) -> None:
        shortest = _SHORTEST.get(moment.kind)
        shown = shortest is not None and _is_long_enough(moment.text, shortest)
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
            if is_entry(moment) and (self._since is None or (moment.at or 0) > self._since)
        ]
        if not missing:
            return entries
        return sorted(entries + missing, key=lambda moment: moment.at or 0)


def is_entry(moment: Moment) -> bool:
    """Whether a moment is something that a digest shows."""
    shortest = _SHORTEST.get(moment.kind)
    return shortest is not None and _is_long_enough(moment.text, shortest)


def _is_long_enough(text: str, shortest: int) -> bool:
    beginning = text[:_BEGINNING].strip()
    if len(beginning) >= shortest and beginning.isprintable():
        return True
    return len(clean(text[:_WINDOW]).strip()) >= shortest
