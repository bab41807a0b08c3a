"""Proof that a prompt arrived: what the agent itself wrote or told after it was typed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Final

from maestro.agents.terminal import Terminal

_MOST: Final = 16 * 1024 * 1024  # more than any agent writes in the seconds that proof is waited for


def same_prompt(told: str, *typed: str) -> bool:
    """Whether the agent means the text that was typed; it may trim and wrap it."""
    squashed = "".join(told.split())
    return any(squashed == "".join(text.split()) for text in typed)


def mentions(told: str, *typed: str) -> bool:
    """Whether the agent means a text that the typed one is a part of: it may have been taken with something else."""
    squashed = "".join(told.split())
    return any("".join(text.split()) in squashed for text in typed)


def size_of(path: os.PathLike[str] | None) -> int:
    try:
        return os.stat(path).st_size if path is not None else 0
    except OSError:
        return 0


def lines_since(path: os.PathLike[str], size: int) -> Iterator[bytes]:
    """Whole lines that a transcript got since it was this long."""
    try:
        with open(path, "rb") as file:
            file.seek(size if size <= os.fstat(file.fileno()).st_size else 0)
            written = file.read(_MOST)
    except OSError:
        return
    *lines, _torn = written.split(b"\n")
    yield from lines


def taken_since(terminal: Terminal, lines: Iterable[bytes], *typed: str) -> bool:
    """Whether one of these lines says that the agent has the prompt."""
    for line in lines:
        taken = terminal.taken(line)
        if taken is not None and same_prompt(taken, *typed):
            return True
    return False
