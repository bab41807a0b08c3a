"""What a terminal sends → keys, and the draft that keys make in the input box. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

PASTE_BEGINS = b"\x1b[200~"
PASTE_ENDS = b"\x1b[201~"
FEWEST_FOLDED_LINES = 10

_SEQUENCE = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|O[@-~])")
_UNFINISHED = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*|O)?\Z")
_NAMED = {
    b"\r": "enter",
    b"\n": "newline",
    b"\t": "tab",
    b"\x03": "ctrl-c",
    b"\x04": "ctrl-d",
    b"\x15": "ctrl-u",
    b"\x08": "backspace",
    b"\x7f": "backspace",
    b"\x1b[Z": "btab",
    b"\x1b[A": "up",
    b"\x1b[B": "down",
    b"\x1b[C": "right",
    b"\x1b[D": "left",
    b"\x1bOA": "up",
    b"\x1bOB": "down",
    b"\x1bOC": "right",
    b"\x1bOD": "left",
}
_CONTROL = {code: None for code in (*range(0x20), *range(0x7F, 0xA0)) if code not in {0x09, 0x0A}}


@dataclass(frozen=True)
class Key:
    """`text` is one typed character, `paste` a whole bracketed paste; the others are named keys."""

    name: str
    text: str = ""


def decode_keys(received: bytes, *, is_all: bool = False) -> tuple[tuple[Key, ...], bytes]:
    """The keys in `received`, and the bytes of a key that has not fully arrived.

    `is_all` says that nothing more came within the escape delay: a lone ESC is then the Esc key.
    """
    keys: list[Key] = []
    place = 0
    while place < len(received):
        key, after = _key_at(received, place, is_all=is_all)
        if after == place:
            break
        if key is not None:
            keys.append(key)
        place = after
    return tuple(keys), received[place:]


def _key_at(received: bytes, place: int, *, is_all: bool) -> tuple[Key | None, int]:
    """The key that begins at `place` and where it ends; it ends at `place` when more bytes must come."""
    if received.startswith(PASTE_BEGINS, place):
        end = received.find(PASTE_ENDS, place)
        if end < 0:
            return None, place
        pasted = received[place + len(PASTE_BEGINS) : end].decode("utf-8", "replace")
        return Key("paste", clean(pasted)), end + len(PASTE_ENDS)
    first = received[place]
    if first == 0x1B:
        return _escape_at(received, place, is_all=is_all)
    name = _NAMED.get(received[place : place + 1])
    if name is not None:
        return Key(name), place + 1
    if first < 0x20:
        return None, place + 1
    end = place + _utf8_length(first)
    character = received[place:end]
    if end > len(received) and _continues(character[1:]) and not is_all:
        return None, place
    try:
        text = clean(character.decode())
    except UnicodeDecodeError:
        return Key("text", "\N{REPLACEMENT CHARACTER}"), place + 1
    return (Key("text", text) if text else None), end


def _escape_at(received: bytes, place: int, *, is_all: bool) -> tuple[Key | None, int]:
    sequence = _SEQUENCE.match(received, place)
    if sequence is not None:
        name = _NAMED.get(sequence[0])
        return (Key(name) if name else None), sequence.end()
    if _UNFINISHED.match(received, place) and not is_all:
        return None, place
    return Key("esc"), place + 1


def _utf8_length(first: int) -> int:
    if first >= 0xF0:
        return 4
    if first >= 0xE0:
        return 3
    return 2 if first >= 0xC0 else 1


def _continues(tail: bytes) -> bool:
    return all(0x80 <= byte < 0xC0 for byte in tail)


def clean(text: str) -> str:
    """`text` with one kind of line end and no control character that a terminal would obey."""
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_CONTROL)


@dataclass(frozen=True)
class Draft:
    """The text in the input box; a long paste is one piece that Claude Code shows folded."""

    pieces: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    @property
    def shown(self) -> str:
        folded = 0
        shown: list[str] = []
        for piece in self.pieces:
            breaks = piece.count("\n")
            if breaks >= FEWEST_FOLDED_LINES:
                folded += 1
                shown.append(f"[Pasted text #{folded} +{breaks} lines]")
            else:
                shown.append(piece)
        return "".join(shown)

    def press(self, key: Key) -> Draft:
        match key.name:
            case "text":
                return self._typed(key.text)
            case "newline":
                return self._typed("\n")
            case "paste":
                return Draft((*self.pieces, key.text)) if key.text else self
            case "backspace":
                return self._erased()
            case "ctrl-u":
                return self._without_last_line()
            case _:
                return self

    def _typed(self, character: str) -> Draft:
        return Draft((*self.pieces, character))

    def _without_last_line(self) -> Draft:
        """A folded paste is one word of its line; at the beginning of a line nothing is left to take."""
        kept = list(self.pieces)
        while kept:
            piece = kept.pop()
            if piece.count("\n") >= FEWEST_FOLDED_LINES or "\n" not in piece:
                continue
            return Draft((*kept, piece[: piece.rindex("\n") + 1]))
        return Draft()

    def _erased(self) -> Draft:
        if not self.pieces:
            return self
        *before, last = self.pieces
        if last.count("\n") >= FEWEST_FOLDED_LINES or len(last) == 1:
            return Draft(tuple(before))
        return Draft((*before, last[:-1]))
