"""Finds the keys of services in a text, also where the end of a line, or a terminal's frame, has split one. Pure.

What goes on in the next line is told from ordinary words there by how long a key of its kind is, and by how it looks.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import pairwise, zip_longest
from typing import Final, NamedTuple

from maestro.key_formats import FORMATS, Format

Span = tuple[int, int]
_Known = tuple[str, Format]  # what a key begins with, and how it looks
_Beginning = tuple[int, int, Format]  # where that begins and ends

_SIGNS: Final = "_-."
# By the last characters of what a key begins with; and those that end in none of the signs, by a letter without which
# there is none of them.
_BY_ENDING: Final[dict[str, list[_Known]]] = {}
_BY_LETTER: Final[dict[str, list[_Known]]] = {}
for _format in FORMATS:
    for _begin in _format.begins:
        if _begin[-1] in _SIGNS:
            _BY_ENDING.setdefault(_begin[-3:], []).append((_begin, _format))
        else:
            _letter = next((one for one in "A/J~KVB=142" if one in _begin), _begin)
            _BY_LETTER.setdefault(_letter, []).append((_begin, _format))
# One pattern for each: what begins with one letter is found much faster than what begins with one of several.
_ENDINGS: Final = tuple(
    (sign, re.compile(re.escape(sign) + "(?=[A-Za-z0-9+/=_.-]{8})").finditer) for sign in _SIGNS
)
_LETTERS: Final = tuple((letter, tuple(begin for begin, _ in known)) for letter, known in _BY_LETTER.items())
_RUNS: Final = {one.letters: re.compile(f"[{one.letters}]*") for one in FORMATS}
_RUN: Final = re.compile("[A-Za-z0-9._~+/=-]*")
_PRIVATE_KEY: Final = re.compile(
    r"-----BEGIN ?[A-Z0-9 ]*PRIVATE ?KEY(?: ?BLOCK)?-----"
    r".*?(?:-----END ?[A-Z0-9 ]*PRIVATE ?KEY(?: ?BLOCK)?-----|\Z)",
    re.DOTALL,
)
_DISTINCTIVE: Final = 4  # letters: so long a beginning needs no gap before it, where the whole key follows

_LINE_ENDS: Final = "\r\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
# Of a line that a terminal or a shell goes on with in the next one: the frame around it, a backslash.
_MARGIN: Final = " \t|\\>\u2502\u2503\u2551\u258f\u2595\u23bf" + _LINE_ENDS
_MOST_LINES: Final = 24  # that one key may be spread over
_SHORTEST_REST: Final = 8  # of a key, on a line with other words
_SPARE: Final = 3  # letters that a key may be longer than its kind
_LIKE_KEY: Final = 12  # letters
_PATH: Final = re.compile(r"[/~]|\.\.?/")
_NAMED: Final = re.compile(r"[=:(][^\s]|[:(]")  # behind a name
_WORD: Final = r"(?:[A-Z]?[a-z]{1,15}|[A-Z]{1,15}|\d{1,6})"
# Words, numbers and names made of them; and so is every part of such a text. It never looks at a letter twice.
_ORDINARY: Final = re.compile(rf"[_./=+-]*+(?:{_WORD}(?:[_./=+-]++{_WORD})*+)?+[_./=+-]*+")
# A value in code: a variable, a name with dots, a call, anything between two quotation marks.
_CODE: Final = re.compile(
    r"""["'`]?\$(?:[A-Z_][A-Z0-9_]*|[a-z_][a-z0-9_]*|\{[^\s{}]*\})["'`)\]}]*"""
    r"""|[A-Z]?[a-z_]{2,}(?:\.[A-Za-z_]\w*)+[)\]}]*|[A-Za-z_][\w.]*(?:\([\w.,=$]*[)\]}]+[\w.]*)+|(["'`]).*\1"""
)
# As JSON writes a tab or any other character: what follows is no part of a word with it.
_IN_LETTERS: Final = re.compile(r"\\(?:[bft]|u[0-9a-fA-F]{4})\Z")
# A key behind a backslash that is none of JSON's line ends, as in the path of a file.
_BEHIND_BACKSLASH: Final = re.compile(
    r"\\(?="
    + "|".join(
        f"{re.escape(begin)}[{one.letters}]{{{one.least}}}"
        for one in FORMATS
        for begin in one.begins
        if begin[0] in "nr"
    )
    + ")"
)


class Pieces(NamedTuple):
    """A text put together of pieces of another one."""

    text: str
    at: list[int]  # where each piece begins here
    origin: list[int]  # and where in the other

    def place(self, place: int) -> int:
        piece = bisect_right(self.at, place) - 1
        return self.origin[piece] + place - self.at[piece]

    def span(self, start: int, end: int) -> Span:
        """The same span in the other text."""
        return self.place(start), self.place(end - 1) + 1

    def find(self, place: int) -> int:
        """Where here that place of the other text is, or the next one that is here."""
        piece = max(0, bisect_right(self.origin, place) - 1)
        return min(self.at[piece] + max(0, place - self.origin[piece]), self.ends_at(piece))

    def ends_at(self, piece: int) -> int:
        return self.at[piece + 1] if piece + 1 < len(self.at) else len(self.text)

    def begins(self, place: int) -> bool:
        """Whether a piece begins there."""
        return self.at[bisect_right(self.at, place) - 1] == place

    def ends(self, place: int) -> bool:
        return place == len(self.text) or self.begins(place)


def may_hold_key(text: str) -> bool:
    """Whether there can be a key at all: cheap, because every text that is shown comes here."""
    if "\\" in text or not text.isprintable():
        text = "".join([line.strip(_MARGIN) for line in _with_line_ends(text).splitlines()])
    return line_may_hold_key(text)


def line_may_hold_key(text: str) -> bool:
    for sign, endings in _ENDINGS:
        if sign in text:
            for found in endings(text):
                if text[found.end() - 3 : found.end()] in _BY_ENDING:
                    return True
    for letter, begins in _LETTERS:
        if letter in text:
            for begin in begins:
                if begin in text:
                    return True
    return "-----B" in text


def joined_lines(text: str) -> Pieces:
    """The text with its lines put together, without what stands around each."""
    parts, at, origin = [], [], []
    here = there = 0
    for line in _with_line_ends(text).splitlines(keepends=True):
        inner = line.lstrip(_MARGIN)
        at.append(here)
        origin.append(there + len(line) - len(inner))
        parts.append(inner.rstrip(_MARGIN))
        here += len(parts[-1])
        there += len(line)
    return Pieces("".join(parts), at or [0], origin or [0])


def keys_in(lines: Pieces, seen: Pieces) -> Iterator[Span]:
    """Where keys stand in the text, each whole. `seen`: that text, of the pieces between what nobody sees."""
    search = _Search(lines, seen)
    last: Span = (0, 0)
    for start, end, kind in sorted(_beginnings(lines.text), key=lambda one: one[0]):
        if last[0] < start < last[1]:
            continue
        found = search.key(start, end, kind)
        if found is not None:
            last = (found[0], max(found[1], last[1]))
            yield lines.span(*found)
    for block in _PRIVATE_KEY.finditer(lines.text):
        yield lines.span(*block.span())


def goes_on_to(lines: Pieces, start: int, end: int) -> int:
    """Where a value that looks like a key ends, which stands there in the text: maybe some lines further down."""
    if end - start < _LIKE_KEY:
        return end
    line = bisect_right(lines.origin, end - 1) - 1
    if line < 0 or lines.place(lines.ends_at(line) - 1) + 1 != end:
        return end
    value = (lines.find(start), lines.ends_at(line))
    if _ORDINARY.fullmatch(lines.text, *value) or _CODE.fullmatch(lines.text, *value):
        return end
    for below in range(line + 1, min(line + 1 + _MOST_LINES, len(lines.at))):
        run = _RUN.match(lines.text, lines.at[below], lines.ends_at(below))
        if run is None or not run[0] or not _is_rest(lines, *run.span()):
            break
        end = lines.span(*run.span())[1]
        if run.end() != lines.ends_at(below):
            break
    return end


def is_split(key: str) -> bool:
    """Whether it holds the end of a line."""
    return len(_with_line_ends(key).splitlines()) > 1


def _with_line_ends(text: str) -> str:
    """The text with line ends where JSON has written them in letters; as long as it was."""
    if "\\" not in text or ("\\n" not in text and "\\r" not in text):
        return text
    return _BEHIND_BACKSLASH.sub(" ", text).replace("\\r", "  ").replace("\\n", " \n")


def _beginnings(joined: str) -> Iterator[_Beginning]:
    """What keys begin with, wherever it stands."""
    for _, endings in _ENDINGS:
        for sign in endings(joined):
            end = sign.end()
            for begin, kind in _BY_ENDING.get(joined[end - 3 : end], ()):
                if joined.endswith(begin, 0, end):
                    yield end - len(begin), end, kind
    for letter, known in _BY_LETTER.items():
        if letter in joined:
            for begin, kind in known:
                start = joined.find(begin)
                while start >= 0:
                    yield start, start + len(begin), kind
                    start = joined.find(begin, start + len(begin))


class _Search:
    """Judges what keys begin with, and looks at no stretch of the lines for each of them anew: there may be a beginning
    at every few letters of a long run."""

    def __init__(self, lines: Pieces, seen: Pieces) -> None:
        self._lines = lines
        self._seen = seen
        self._blank = [here for here, below in pairwise(lines.at) if here == below]
        self._runs: dict[str, Span] = {}  # by their letters, the last one
        self._ordinary: Span = (0, 0)  # the last stretch that is
        self._pieces: dict[Span, tuple[bool, bool]] = {}  # whether like words, whether the rest of a key
        self._undotted: dict[int, int] = {}

    def key(self, start: int, body: int, kind: Format) -> Span | None:
        """The key that begins here, as it stands in the lines; None where there is none."""
        text, at = self._lines.text, self._lines.at
        begin = start
        if kind.before:
            start = _before(text, start, kind)
            if 4 * (begin - start) < 3 * kind.before:
                return None
        is_apart = kind.before > 0 or self._is_apart(start)
        if not is_apart and body - start < _DISTINCTIVE:
            return None
        end = self._end(start, body, kind)
        length = end - body
        if length < (kind.least if is_apart else kind.whole):
            return None
        is_over_lines = bisect_left(at, end) - bisect_right(at, start) > 0
        if is_over_lines and length < min(kind.whole, _LIKE_KEY):
            return None
        if (is_over_lines or not is_apart) and self._is_ordinary(start if kind.before else body, end):
            return None
        return (body if text[body - 1] in "= " else start), end  # the name of a value may stay

    def _is_apart(self, start: int) -> bool:
        """Whether no word stands directly before it, as a reader or a program sees it."""
        text = self._lines.text
        return (
            start == 0
            or not _is_letter(text[start - 1])
            or self._lines.begins(start)
            or self._seen.begins(self._lines.place(start))
            or _IN_LETTERS.search(text, max(0, start - 6), start) is not None
        )

    def _end(self, start: int, body: int, kind: Format) -> int:
        text, at = self._lines.text, self._lines.at
        line = bisect_left(at, body)
        limit = at[line + _MOST_LINES] if line + _MOST_LINES < len(at) else len(text)
        blank = bisect_right(self._blank, start)
        if blank < len(self._blank):
            limit = min(limit, self._blank[blank])
        end = min(self._run(body, kind), limit)
        if end <= body:
            return body
        joins = sorted(set(at[line : bisect_left(at, end)]))
        taken = joins[0] if joins else end
        is_long = end - body >= kind.whole
        pieces = list(pairwise((*joins, end)))
        for (first, last), below in zip_longest(pieces, pieces[1:]):
            if kind.is_exact and first - body >= kind.whole:
                break
            is_missing = is_long and first - body < kind.whole
            fits = last != end or last - body <= kind.whole + _SPARE or self._lines.ends(last)
            is_like_words, is_rest = self._piece(first, last)
            is_rest = is_rest or (below is not None and self._piece(*below)[1])
            if not (is_missing and (fits or not is_like_words)) and not is_rest:
                break
            taken = last
        if taken not in self._undotted:
            self._undotted[taken] = body + len(text[body:taken].rstrip("."))
        return max(body, self._undotted[taken])

    def _run(self, body: int, kind: Format) -> int:
        """Where the letters of the kind end."""
        start, end = self._runs.get(kind.letters, (0, 0))
        if not start <= body < end:
            run = _RUNS[kind.letters].match(self._lines.text, body)
            end = run.end() if run else body
            self._runs[kind.letters] = (body, end)
        return end

    def _is_ordinary(self, first: int, last: int) -> bool:
        if self._ordinary[0] <= first and last <= self._ordinary[1]:
            return True
        if _ORDINARY.fullmatch(self._lines.text, first, last) is None:
            return False
        self._ordinary = (first, last)
        return True

    def _piece(self, first: int, last: int) -> tuple[bool, bool]:
        if (first, last) not in self._pieces:
            is_like_words = _ORDINARY.fullmatch(self._lines.text, first, last) is not None
            self._pieces[first, last] = (
                is_like_words,
                not is_like_words and _is_rest(self._lines, first, last),
            )
        return self._pieces[first, last]


def _is_rest(lines: Pieces, first: int, last: int) -> bool:
    """Whether what a line begins with looks like the rest of a key, and not like words, a path or a name."""
    is_alone = last - first >= _SHORTEST_REST or lines.ends(last)
    if not is_alone or _ORDINARY.fullmatch(lines.text, first, last) or _PATH.match(lines.text, first):
        return False
    is_value = "=" in lines.text[first:last].rstrip("=")
    return not is_value and (lines.ends(last) or _NAMED.match(lines.text, last) is None)


def _before(text: str, start: int, kind: Format) -> int:
    """Where the part of a key begins that stands before what it is known by."""
    run = _RUNS[kind.letters].match(text[max(0, start - kind.before) : start][::-1])
    return start - (run.end() if run else 0)


def _is_letter(one: str) -> bool:
    return one.isascii() and one.isalnum()
