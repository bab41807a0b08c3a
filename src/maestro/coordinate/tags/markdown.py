"""The lines of a Markdown text, byte for byte, and what in them is text: not code, a comment or an address. Pure.

A small part of CommonMark, which errs on one side: what could be code is not text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

HIDDEN: Final = "\0"  # stands where something is not text

_LONE: Final = re.compile("[\ud800-\udfff]")
_LINES: Final = re.compile(r"([^\r\n]*)(\r\n|\n|\r|\Z)")
_QUOTE: Final = re.compile(r" {0,3}> ?")
_BULLET: Final = re.compile(r"( *)([-*+]|\d{1,9}[.)])( +|$)")
_FENCE: Final = re.compile(r"(`{3,}(?=[^`]*$)|~{3,})")
_HEADING: Final = re.compile(r"(#{1,6})(?:[ \t]+|$)(.*)")
_RULE: Final = re.compile(r"(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
_RAW: Final = re.compile(r"<(pre|script|style|textarea)(?=[\s>]|$)", re.IGNORECASE)
# Each alternative is bounded, so that no text, however made, takes more than a moment.
_INLINE: Final = re.compile(
    r"(?P<escaped>\\.)"
    r"|(?P<ticks>`+)"
    r"|(?P<comment><!--)"
    r"|(?P<raw><(?P<name>code|pre|kbd|samp|script|style|textarea)(?:\s[^<>]*)?>)"
    r"|(?P<link><[a-z][a-z0-9+.-]{0,30}:[^<>\s]*>|\b[a-z][a-z0-9+.-]{0,30}://[^\s<>]*|\bwww\.[^\s<>]+)"
    r"|(?P<tag></?[a-z][\w-]*(?:\s[^<>]*)?/?>)"
    r"|(?P<target>\]\([^)\n]{0,300}\))"
    r"|(?P<definition>(?:^|(?<=\n))[ >]*\[[^\]\n]{1,1000}\]:[^\n]*)",
    re.IGNORECASE | re.DOTALL,
)


class Line(NamedTuple):
    text: str  # without its end
    end: str
    seen: str  # as long as `text`, with HIDDEN where it is not text
    is_code: bool = False
    level: int = 0  # of a heading


def lines_of(text: str) -> tuple[Line, ...]:
    """All of it: the texts and ends of the lines, joined, are the text."""
    raw = [(found[1], found[2]) for found in _LINES.finditer(text) if found[0]]
    shapes = list(_shapes([line for line, _ in raw]))
    seen = [
        HIDDEN * len(line) if shape.is_hidden else line for (line, _), shape in zip(raw, shapes, strict=True)
    ]
    start = 0
    while start < len(raw):
        end = start + 1
        if not shapes[start].is_hidden:
            while end < len(raw) and shapes[end].goes_on:
                end += 1
            seen[start:end] = masked("\n".join(seen[start:end])).split("\n")
        start = end
    return tuple(
        Line(line, ending, shown, shape.is_code, shape.level)
        for (line, ending), shown, shape in zip(raw, seen, shapes, strict=True)
    )


def joined(lines: Sequence[Line]) -> str:
    return "".join(line.text + line.end for line in lines)


def replaced(lines: Sequence[Line], number: int, text: str) -> str:
    """The whole with one line, counted from 1, in other words. All else is as it was."""
    return joined(
        [line._replace(text=text) if place == number else line for place, line in enumerate(lines, 1)]
    )


def decoded(data: bytes) -> str:
    """A file's text. Bytes that are no UTF-8 come out again as they were."""
    return data.decode("utf-8", "surrogateescape")


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def readable(text: str) -> str:
    """For facts, which are shown and stored: without such bytes."""
    return _LONE.sub("\N{REPLACEMENT CHARACTER}", text)


def heading_text(line: Line) -> str:
    """The words of a heading, without its marks."""
    words = re.sub(r"^[ \t>]*#+", "", line.text).strip()
    return re.sub(r"(?:^|\s)#+$", "", words).strip()


def without_comments(lines: Sequence[Line]) -> str:
    """The text of these lines as a reader sees it: comments are not there."""
    return re.sub(r"<!--.*?(?:-->|\Z)", "", joined(lines), flags=re.DOTALL)


def masked(text: str) -> str:
    """One paragraph, with HIDDEN for whatever in it is not text."""
    kept = list(text)
    lowered = "".join(c.lower() if c.isascii() else c for c in text)  # as long as the text
    runs: dict[str, list[int]] = {}
    for run in re.finditer(r"`+", text):
        runs.setdefault(run[0], []).append(run.end())
    missing: set[str] = set()
    place = 0
    while found := _INLINE.search(text, place):
        place = end = found.end()
        if closing := _closing(found):
            # What is opened and not closed in its paragraph is text.
            end = -1 if closing in missing else _end_of(closing, lowered, runs, end)
            if end < 0:
                missing.add(closing)
                continue
        for hidden in range(found.start(), end):
            if kept[hidden] != "\n":
                kept[hidden] = HIDDEN
        place = end
    return "".join(kept)


def _closing(found: re.Match[str]) -> str:
    """What has to follow, where the match only opens something."""
    if found["ticks"]:
        return found["ticks"]
    if found["comment"]:
        return "-->"
    return f"</{found['name'].lower()}>" if found["raw"] else ""


def _end_of(closing: str, lowered: str, runs: Mapping[str, Sequence[int]], start: int) -> int:
    """Where the next one ends; -1 where there is none. A run of backticks ends at the next run of the same length."""
    if closing in runs:
        ends = runs[closing]
        later = bisect_right(ends, start)
        return ends[later] if later < len(ends) else -1
    place = lowered.find(closing, start)
    return place + len(closing) if place >= 0 else -1


class _Shape(NamedTuple):
    is_hidden: bool = False  # code, or a comment of whole lines
    is_code: bool = False
    goes_on: bool = False  # the paragraph of the line before
    level: int = 0


class _Fence(NamedTuple):
    mark: str
    quotes: int
    column: int  # a line that begins before it, with words, is out of the fence's list item


_TEXT: Final = _Shape()
_MORE: Final = _Shape(goes_on=True)
_CODE: Final = _Shape(is_hidden=True, is_code=True)
_AWAY: Final = _Shape(is_hidden=True)


class _Reader:
    """What the lines so far have opened."""

    def __init__(self) -> None:
        self.fence: _Fence | None = None
        self.until = ""  # what ends a comment or raw HTML
        self.columns: list[int] = []  # where the contents of the open list items begin
        self.in_paragraph = False
        self.quotes = 0

    def shape(self, line: str) -> _Shape:
        quotes, rest = _unquoted(line.expandtabs(4))
        if self.until:
            if self.until in rest.lower():
                self.until = ""
            return _AWAY
        indent = len(rest) - len(rest.lstrip(" "))
        if self.fence is not None:
            if not self._leaves(self.fence, quotes, rest, indent):
                if quotes == self.fence.quotes and _closes(rest.strip(), self.fence.mark):
                    self.fence = None
                return _CODE
            self.fence = None
        if not rest.strip():
            self.in_paragraph = False
            return _TEXT
        if quotes != self.quotes:
            self.in_paragraph = self.in_paragraph and quotes < self.quotes
            self.quotes, self.columns = quotes, []
        while self.columns and indent < self.columns[-1]:
            self.columns.pop()
        column = self.columns[-1] if self.columns else 0
        if indent - column >= 4 and not self.in_paragraph:
            return _CODE
        return self._words(rest, indent, column)

    @staticmethod
    def _leaves(fence: _Fence, quotes: int, rest: str, indent: int) -> bool:
        """Whether the line is not in the quote, or the list item, that the fence is in."""
        if quotes != fence.quotes:
            return quotes < fence.quotes
        return bool(rest.strip()) and indent < fence.column

    def _words(self, rest: str, indent: int, column: int) -> _Shape:
        """A line with words that is no code by its place alone."""
        was_paragraph = self.in_paragraph
        is_item = False
        while (
            indent - column < 4 and (found := _BULLET.match(rest, indent)) and not _RULE.match(rest, indent)
        ):
            is_item = True
            blanks = len(found[3])
            # Five blanks after the mark: what follows is code in the item.
            indent = column = found.end() if 0 < blanks <= 4 else found.end(2) + 1
            self.columns.append(column)
            if blanks > 4:
                self.in_paragraph = False
                return _CODE
        words = rest[indent:]
        if fence := _FENCE.match(words):
            self.in_paragraph = False
            self.fence = _Fence(fence[1], self.quotes, column)
            return _CODE
        if words.startswith("<!--") or _RAW.match(words):
            return self._raw(words)
        if (heading := _HEADING.match(words)) and indent - column < 4:
            self.in_paragraph = False
            return _Shape(level=0 if is_item else len(heading[1]))
        self.in_paragraph = not _RULE.match(words)
        return _MORE if was_paragraph and not is_item and self.in_paragraph else _TEXT

    def _raw(self, words: str) -> _Shape:
        """A comment or raw HTML that begins the line. One that ends in it may have text behind it."""
        raw = _RAW.match(words)
        ending = f"</{raw[1].lower()}>" if raw else "-->"
        if ending in words[4:].lower():
            was_paragraph, self.in_paragraph = self.in_paragraph, True
            return _MORE if was_paragraph else _TEXT
        self.until = ending
        return _AWAY


def _shapes(lines: Sequence[str]) -> Iterator[_Shape]:
    reader = _Reader()
    for line in lines:
        yield reader.shape(line)


def _unquoted(line: str) -> tuple[int, str]:
    """How deep the line is quoted, and what is quoted."""
    depth = place = 0
    while found := _QUOTE.match(line, place):
        depth, place = depth + 1, found.end()
    return depth, line[place:]


def _closes(words: str, mark: str) -> bool:
    return len(words) >= len(mark) and set(words) == {mark[0]}
