"""YAML 1.2 text, pure: its value, and the line where each part of it stands.

The library tells values but no lines. The scanner is for text that the library has accepted, or has refused for a
repeated key: block and flow collections, quoted, plain and block scalars, comments, anchors and tags. Of anything
else it knows the line of what is around it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

import msgspec
import ryaml

_BREAK = "\n"
_BLANKS = " \t"
_FLOW_MARKS = ",[]{}"


class Place(msgspec.Struct, frozen=True):
    """Where a value begins, and its parts with it. `line` counts from 1."""

    line: int
    entries: tuple[tuple[str, Place], ...] = ()  # of a mapping; an entry's line is that of its key
    items: tuple[Place, ...] = ()  # of a sequence; an item's line is that of its dash

    def at(self, *path: str | int) -> Place:
        """The value at this path; what it was last seen in, where the path leads out of the text."""
        here = self
        for step in path:
            if isinstance(step, int):
                found = here.items[step] if step < len(here.items) else None
            else:
                found = next((place for key, place in here.entries if key == step), None)
            if found is None:
                break
            here = found
        return here

    def repeated(self) -> Iterator[tuple[str, int]]:
        """Keys that stand twice in one mapping, each with the line of its second place."""
        seen: set[str] = set()
        for key, place in self.entries:
            if key in seen:
                yield key, place.line
            seen.add(key)
        for part in [*(place for _, place in self.entries), *self.items]:
            yield from part.repeated()


def value_of(text: str) -> Any:
    """Raises ValueError for what is not one document of YAML."""
    return ryaml.loads(text)  # type: ignore[attr-defined]  # its stub does not re-export what the package does


def places(text: str) -> Place:
    scanner = _Scanner(text.removeprefix("\ufeff").replace("\r\n", _BREAK).replace("\r", _BREAK))
    try:
        return scanner.block(0)
    except RecursionError:
        return Place(1)


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.starts = [0, *(index + 1 for index, sign in enumerate(text) if sign == _BREAK)]

    @property
    def line(self) -> int:
        return bisect_right(self.starts, self.at)

    @property
    def column(self) -> int:
        return self.at - self.starts[self.line - 1]

    def sign(self, ahead: int = 0) -> str:
        return self.text[self.at + ahead : self.at + ahead + 1]

    def is_mark(self, mark: str) -> bool:
        """Whether a mark stands here that counts only with a blank, or nothing, after it."""
        return self.sign() == mark and self.sign(1) in {"", " ", "\t", _BREAK}

    def to_line_end(self) -> None:
        end = self.text.find(_BREAK, self.at)
        self.at = len(self.text) if end < 0 else end

    def to_content(self) -> None:
        """Past blanks, line ends, comments and the marks around a document."""
        while self.at < len(self.text):
            if self.sign() in _BLANKS + _BREAK or (
                self.column == 0 and self.text.startswith("---", self.at) and self._is_alone(3)
            ):
                self.at += 3 if self.sign() == "-" else 1
            elif self.sign() == "#" or (self.column == 0 and self.sign() == "%"):
                self.to_line_end()
            else:
                return

    def _is_alone(self, length: int) -> bool:
        return self.sign(length) in {"", " ", "\t", _BREAK}

    def past_properties(self) -> None:
        """Past anchors and tags."""
        while self.sign() in {"&", "!"}:
            while self.sign() not in {"", " ", "\t", _BREAK}:
                self.at += 1
            self.to_content()

    def block(self, indent: int) -> Place:
        """A value whose lines are indented by at least this many columns."""
        self.to_content()
        line = self.line
        if self.at >= len(self.text) or self.column < indent:
            return Place(line)
        self.past_properties()
        if self.at >= len(self.text) or self.column < indent:
            return Place(line)
        if self.is_mark("-"):
            return Place(line, items=tuple(self._sequence(self.column)))
        if self.sign() in {"|", ">"}:
            self._block_scalar(indent)
            return Place(line)
        if self.sign() in {"[", "{"}:
            return self._flow()
        if self._key_end() is not None:
            return Place(line, entries=tuple(self._mapping(self.column)))
        self._scalar(indent)
        return Place(line)

    def _sequence(self, column: int) -> Iterator[Place]:
        while self.at < len(self.text) and self.column == column and self.is_mark("-"):
            line = self.line
            self.at += 1
            yield msgspec.structs.replace(self.block(column + 1), line=line)
            self.to_content()

    def _mapping(self, column: int) -> Iterator[tuple[str, Place]]:
        while self.at < len(self.text) and self.column == column:
            line = self.line
            self.past_properties()
            end = self._key_end()
            if end is None:
                return
            key = _key(self.text[self.at : end])
            self.at = end
            while self.sign() != ":":
                self.at += 1
            self.at += 1
            yield key, self._value(column, line)
            self.to_content()

    def _value(self, column: int, line: int) -> Place:
        self.to_content()
        if self.line > line and self.column == column and self.is_mark("-"):
            return Place(line, items=tuple(self._sequence(column)))
        if self.line > line and self.column <= column:
            return Place(line)
        return msgspec.structs.replace(self.block(column + 1), line=line)

    def _key_end(self) -> int | None:
        """Where the key that begins here ends; None when what begins here is no key."""
        start = self.at
        try:
            if self.sign() in {'"', "'"}:
                self._quoted()
                end = self.at
                while self.sign() in {" ", "\t"}:
                    self.at += 1
                return end if self.is_mark(":") and _BREAK not in self.text[start:end] else None
            while self.at < len(self.text) and self.sign() != _BREAK:
                if self.is_mark(":"):
                    return self.at
                if self.sign() in _BLANKS and self.sign(1) == "#":
                    return None
                self.at += 1
            return None
        finally:
            self.at = start

    def _quoted(self) -> None:
        quote = self.sign()
        self.at += 1
        while self.at < len(self.text):
            if self.sign() == "\\" and quote == '"':
                self.at += 2
            elif self.sign() == quote:
                self.at += 1
                if quote == '"' or self.sign() != quote:
                    return
                self.at += 1
            else:
                self.at += 1

    def _scalar(self, indent: int) -> None:
        """A scalar that is no key: quoted, or plain over all lines that are indented enough."""
        if self.sign() in {'"', "'"}:
            self._quoted()
            return
        while self.at < len(self.text):
            comment = self._comment_on_line()
            self.to_line_end()
            end = self.at
            if comment:
                return
            while self.sign() in {" ", "\t", _BREAK}:
                self.at += 1
            if self.sign() in {"", "#"} or self.column < indent or self._is_document_mark():
                self.at = end
                return

    def _is_document_mark(self) -> bool:
        return self.column == 0 and self.text.startswith(("---", "..."), self.at) and self._is_alone(3)

    def _comment_on_line(self) -> bool:
        end = self.text.find(_BREAK, self.at)
        line = self.text[self.at : len(self.text) if end < 0 else end]
        return " #" in line or "\t#" in line

    def _block_scalar(self, indent: int) -> None:
        self.to_line_end()
        while self.at < len(self.text):
            self.at += 1  # past the line end
            start = self.at
            while self.sign() == " ":
                self.at += 1
            if self.sign() not in {"", _BREAK} and self.column < indent:
                self.at = start
                return
            self.to_line_end()

    def _flow(self) -> Place:
        line = self.line
        opening = self.sign()
        self.at += 1
        entries: list[tuple[str, Place]] = []
        items: list[Place] = []
        while True:
            self.to_content()
            if self.sign() in {"", "]", "}"}:
                self.at += 1
                return Place(line, entries=tuple(entries), items=tuple(items))
            if self.sign() == ",":
                self.at += 1
                continue
            start = self.at
            part = self._flow_value()
            key = _key(self.text[start : self.at])
            value = self._after_colon()
            if opening == "{":
                entries.append((key, msgspec.structs.replace(value or part, line=part.line)))
            else:
                items.append(Place(part.line, entries=((key, value),)) if value else part)

    def _after_colon(self) -> Place | None:
        self.to_content()
        if self.sign() != ":":
            return None
        self.at += 1
        self.to_content()
        return Place(self.line) if self.sign() in {"", ",", "]", "}"} else self._flow_value()

    def _flow_value(self) -> Place:
        line = self.line
        self.past_properties()
        if self.sign() in {"[", "{"}:
            return msgspec.structs.replace(self._flow(), line=line)
        if self.sign() in {'"', "'"}:
            self._quoted()
        else:
            self._flow_plain()
        return Place(line)

    def _flow_plain(self) -> None:
        start = self.at
        while self.at < len(self.text):
            sign = self.sign()
            if sign in _FLOW_MARKS or (sign == "#" and self.text[self.at - 1] in _BLANKS + _BREAK):
                break
            if sign == ":" and self.sign(1) in {"", " ", "\t", _BREAK, *_FLOW_MARKS}:
                break
            self.at += 1
        if self.at == start:
            self.at += 1  # a text that the reader refused must not hold us here for ever


def _key(raw: str) -> str:
    written = raw.strip()
    if written[:1] not in {'"', "'"}:
        return written
    try:
        value = value_of(written)
    except ValueError:
        return written
    return value if isinstance(value, str) else written
