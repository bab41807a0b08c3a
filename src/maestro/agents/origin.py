"""Defines what shows which transcript a process writes: the facts and the port. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import msgspec

from maestro.agents.screen import Capture


class Origin(msgspec.Struct, frozen=True):
    """What a transcript tells of the process that began it."""

    cwd: str = ""
    began: int | None = None  # milliseconds since 1970
    headless: bool = False  # it has no terminal: it cannot be in a pane


@runtime_checkable
class TellsOrigin(Protocol):
    """A CLI whose transcripts and processes show which belongs to which."""

    def origin(self, head: bytes) -> Origin:
        """Reads a transcript's first bytes."""

    def held_session(self, path: str) -> str:
        """Returns the id of the session whose file this is that a process of the CLI has open; empty: of none."""

    def named_session(self, argv: Sequence[str]) -> str:
        """Returns the id of the session that a command line names; empty: it names none."""

    def shown_prompts(self, capture: Capture) -> tuple[str, ...]:
        """Returns the prompts on a screen that the CLI has taken, oldest first, without what stands in its box."""


def word_after(argv: Sequence[str], *options: str) -> str:
    """Returns the value of an option on a command line, as one word or as two; empty where it is not there."""
    for at, word in enumerate(argv):
        for option in options:
            if word == option and at + 1 < len(argv) and not argv[at + 1].startswith("-"):
                return argv[at + 1]
            if word.startswith(f"{option}="):
                return word.removeprefix(f"{option}=")
    return ""
