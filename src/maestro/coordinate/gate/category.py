"""A built-in category, as data: its names, what it means, and how prose says it. Pure.

`sure` patterns are certainly of the category, `wary` ones could be.
"""

from __future__ import annotations

from typing import NamedTuple


class Category(NamedTuple):
    name: str
    description: str
    aliases: tuple[str, ...] = ()
    sure: tuple[str, ...] = ()
    wary: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()  # sure, in a sentence that decides on them
