"""Text on a terminal: how wide it is, and how it is cut. Pure."""

from __future__ import annotations

import re
import unicodedata

BOLD, DIM, PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[22m"
INVERSE, UPRIGHT = "\x1b[7m", "\x1b[27m"
HIGHLIGHT, RED = "\x1b[38;5;16m", "\x1b[31m"
GREY, UNCOLOURED = "\x1b[38;5;248m", "\x1b[39m"

_STYLE = re.compile(r"\x1b\[[0-9;]*m")


def cells(text: str) -> int:
    """The columns that `text` takes on a terminal."""
    return sum(map(_width_of, _STYLE.sub("", text)))


def _width_of(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def wrap(line: str, room: int | None) -> list[str]:
    """`line` cut at spaces into rows of at most `room` columns; at least one row."""
    line = line.expandtabs(4)
    if room is None or cells(line) <= room:
        return [line]
    rows: list[str] = []
    row, used = "", 0
    for character in line:
        width = _width_of(character)
        if used + width > max(room, 2):
            head, space, tail = row.rpartition(" ")
            rows.append(head if space and head.strip() else row)
            row = tail if space and head.strip() else ""
            used = cells(row)
        row += character
        used += width
    return [*rows, row]


def wrap_all(text: str, room: int | None) -> list[str]:
    """Every line of `text`, wrapped."""
    return [row for line in text.split("\n") for row in wrap(line, room)]


def fit(line: str, width: int) -> str:
    """`line` in one row, cut to `width` columns; its styles take none and stay."""
    line = line.replace("\n", " ").replace("\t", " ")
    if cells(line) <= width:
        return line
    kept: list[str] = []
    used = 0
    for piece in re.split(f"({_STYLE.pattern})", line):
        if _STYLE.fullmatch(piece):
            kept.append(piece)
            continue
        for character in piece:
            used += _width_of(character)
            if used > width:
                break
            kept.append(character)
    return "".join(kept)


def padded(text: str, width: int) -> str:
    """`text` in exactly `width` columns."""
    cut = fit(text, width)
    return cut + " " * max(0, width - cells(cut))
