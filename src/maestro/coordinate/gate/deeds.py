"""What a command does, as a fact. Pure."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

Level = Literal["read", "change", "wary", "sure"]
UNREADABLE: Final = "unreadable"
UNKNOWN: Final = "unknown"  # a program that nobody told us about


class Effect(NamedTuple):
    level: Level
    category: str = ""  # of wary and sure
    why: str = ""
    evidence: str = ""
