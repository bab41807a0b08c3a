"""Folds texts so that what was typed is known again where a terminal or a CLI shows it. Pure.

A screen breaks lines anywhere and loses characters. Nobody sees joiners and variation selectors. What joins a character
may be lost: tmux keeps 21 bytes in a cell, and gives a skin tone cells of its own that a CLI draws over. A character that
is younger than the machine is not drawn at all, and what stood in its place before stays there.
Texts that differ in anything else that can be seen stay different.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final
from unicodedata import category, normalize

from maestro.invisible import without_invisible

# Letters with a cell or two of their own each: long texts are made of them.
_LETTERS: Final = re.compile(
    "[!-~\u00ae-\u024f\u0410-\u044f\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fa5\uac00-\ud7a3]*"
)
# Of a cell that got more than 21 bytes tmux keeps whole characters, so 18 bytes or more.
_MOST_BYTES: Final = 17
_JOINER: Final = "\u200d"
_JOINING: Final = frozenset({"Mn", "Me", "Cf"})
_SKIN_TONES: Final = re.compile("[\U0001f3fb-\U0001f3ff]")
# Blocks that Unicode still fills: which of their characters are drawn depends on the machine's age.
_YOUNG: Final = (range(0x1F6D5, 0x1F6E0), range(0x1F7D9, 0x1F800), range(0x1FA70, 0x1FB00))
_GAP: Final = "\ufdd0"  # in the place of a character that is not drawn; itself none
_WIDEST: Final = 2  # columns that a CLI keeps free for one character


@lru_cache(maxsize=32)
def folded(text: str) -> str:
    """Returns a text as any terminal shows it, without its spaces."""
    return _with_gaps(text).replace(_GAP, "")


def is_same(one: str, other: str) -> bool:
    """Whether two texts differ in nothing but what a terminal or a CLI may lose: joiners themselves, or what they join."""
    return folded(one) == folded(other) or _plain(one) == _plain(other)


def shows(seen: str, text: str) -> bool:
    """Whether a box in which this is read, and which was empty before, may show this text."""
    if is_same(seen, text):
        return True
    if _SKIN_TONES.search(text):
        # What is drawn over them moves every symbol behind them on its line.
        return _without_symbols(seen) == _without_symbols(text) != ""
    wanted = _with_gaps(text)
    return _GAP in wanted and _fills(folded(seen), wanted)


def _plain(text: str) -> str:
    return normalize("NFC", without_invisible("".join(text.split())))


def _without_symbols(text: str) -> str:
    return "".join(character for character in folded(text) if category(character) != "So")


def _fills(seen: str, wanted: str) -> bool:
    """Whether every gap can be filled with what stood there before. Gaps that a CLI closes leave as much at the end; more
    than that was typed by somebody."""
    gaps = wanted.count(_GAP)
    if not len(wanted) - gaps <= len(seen) <= len(wanted) - gaps + gaps * _WIDEST:
        return False
    found: dict[str, int] = {}
    for at, character in enumerate(seen):
        found[character] = found.get(character, 0) | 1 << at
    # A bit for every place up to which `seen` may be what is wanted.
    places, all_places = 1, (2 << len(seen)) - 1
    for character in wanted:
        if character == _GAP:
            for _ in range(_WIDEST):
                places |= places << 1 & all_places
        else:
            places = (places & found.get(character, 0)) << 1
    return places != 0


@lru_cache(maxsize=32)
def _with_gaps(text: str) -> str:
    return "".join(word if _LETTERS.fullmatch(word) else _drawn(word) for word in text.split())


def _drawn(word: str) -> str:
    cells: list[list[str]] = []
    for character in word:
        if cells and (_joins(character) or _is_joined(cells[-1], character)):
            cells[-1].append(character)
        else:
            cells.append([character])
    return normalize("NFC", "".join(_surely_drawn("".join(cell)) for cell in cells))


def _joins(character: str) -> bool:
    """Whether it is shown as a part of the character before it."""
    return category(character) in _JOINING or _SKIN_TONES.match(character) is not None


def _is_joined(cell: list[str], character: str) -> bool:
    """Whether a joiner makes one emoji of both; letters that it joins stay letters."""
    return cell[-1] == _JOINER and category(character) == "So" == category(cell[0])


def _surely_drawn(cell: str) -> str:
    """Of a character and all that joins it, what every terminal draws."""
    is_sequence = _JOINER in cell and category(cell[0]) == "So"
    if is_sequence or _SKIN_TONES.search(cell) or len(cell.encode("utf-8", "replace")) > _MOST_BYTES:
        cell = next((character for character in cell if not _joins(character)), "")
    visible = without_invisible(cell)
    return "".join(character if _is_drawn(character) else _GAP for character in visible)


def _is_drawn(character: str) -> bool:
    return category(character) != "Cn" and not any(ord(character) in block for block in _YOUNG)


def is_drawn_whole(text: str) -> bool:
    """Whether a terminal of any age draws every character of it."""
    return _GAP not in _with_gaps(text)
