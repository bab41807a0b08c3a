"""Pure: words for tmux's own command parser, so that what is meant is what arrives."""

from __future__ import annotations

from collections.abc import Sequence

from maestro.errors import InvalidInput

# Inside double quotes tmux gives a meaning to these; a backslash before them, or three octal digits, takes it away.
_MEANINGFUL = {ord('"'): '\\"', ord("\\"): "\\\\", ord("$"): "\\$", ord("~"): "\\176", 0x7F: "\\177"}
_MEANINGFUL |= {code: f"\\{code:03o}" for code in range(1, 32)}
# A byte that is no UTF-8 could be taken for the end of the input.
_MEANINGFUL |= {0xDC00 + byte: f"\\{byte:03o}" for byte in range(0x80, 0x100)}


def quoted(word: str) -> str:
    """One argument, as it stands in a line of commands."""
    if "\0" in word:
        raise InvalidInput("Text for tmux cannot hold a NUL character.")
    return f'"{word.translate(_MEANINGFUL)}"'


def line(command: Sequence[str]) -> str:
    return " ".join(map(quoted, command))


def lines(commands: Sequence[Sequence[str]]) -> str:
    """Several commands in one line; tmux stops at the first that fails."""
    return " ; ".join(map(line, commands))


def literal(text: str) -> str:
    """Text for an argument that tmux expands as a format."""
    return text.replace("#", "##")


def pattern(glob: str) -> str:
    """A glob that stands inside a format."""
    return literal(glob).replace(",", "#,").replace("}", "#}")


def encoded(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise InvalidInput("Text for tmux must be valid Unicode.") from error


def decoded(raw: bytes) -> str:
    """Bytes that are no UTF-8 survive there and back."""
    return raw.decode("utf-8", "surrogateescape")
