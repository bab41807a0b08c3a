"""A permission on a screen that is too small for it, as each CLI draws it there. Pure."""

from __future__ import annotations

import re

from maestro.testing.scripted_agent.cells import cells, wrap_all
from maestro.testing.scripted_agent.steps import Imitated

_OPTION = re.compile(r"[│ ]*(?:\S )? ?\d\. ")
_MOST_OPTIONS = 2
_MOST_LINES = 3


def shrunk(lines: list[str], imitate: Imitated, width: int, height: int) -> list[str]:
    """The dialog's lines as they are drawn in so much room; those of one that fits stay as they are."""
    if len(lines) <= height:
        return lines
    return _SHRUNK[imitate](lines, (width, height))


def _as_claude(lines: list[str], size: tuple[int, int]) -> list[str]:
    """The first lines are gone; of the options, those that would fill the screen, an arrow before the last."""
    options = [at for at, line in enumerate(lines) if _OPTION.match(line)]
    if len(options) <= _MOST_OPTIONS or len(options) + 8 <= size[1]:
        return lines
    last = options[_MOST_OPTIONS - 1]
    return [*lines[:last], f" ↓{lines[last][2:]}", *lines[options[-1] + 1 :]]


def _as_codex(lines: list[str], size: tuple[int, int]) -> list[str]:
    """A count stands for what is above the options; no blank line parts these from the keys."""
    width, height = size
    options = [at for at, line in enumerate(lines) if _OPTION.match(line)]
    keys = [f"  {row}" for row in wrap_all(lines[-1].strip(), max(1, width - 2))]
    shown = [line for at in options for line in _wrapped(lines[at], width)][:_MOST_LINES]
    room = max(0, height - len(keys) - len(shown) - 1)
    above = [row for line in lines[: options[0]] for row in _wrapped(line, width)]
    return [*above[:room], f"  [… {len(above) - room} lines] ^a view all", *shown, *keys]


def _as_gemini(lines: list[str], size: tuple[int, int]) -> list[str]:
    """The frame around the command has no room for it, or for its first lines."""
    width, height = size
    top = next(at for at, line in enumerate(lines) if line.startswith("│ ╭"))
    bottom = next(at for at, line in enumerate(lines) if line.startswith("│ ╰"))
    room = height - (len(lines) - (bottom - top - 1)) - 1
    inside = lines[top + 1 : bottom]
    if room < 1:
        return [*lines[1 : top + 1], *lines[bottom:]]
    hidden = f"│ │ ... {len(inside) - room} hidden (Ctrl+O) ..."
    mark = f"{hidden}{' ' * max(0, width - 4 - cells(hidden))} │ │"
    return [*lines[: top + 1], mark, *inside[-room:], *lines[bottom:]]


def _wrapped(line: str, width: int) -> list[str]:
    indent = " " * (5 if _OPTION.match(line) else 2)
    first, *more = wrap_all(line, width) or [""]
    return [first, *(f"{indent}{row.strip()}" for row in more)]


_SHRUNK = {"claude": _as_claude, "codex": _as_codex, "gemini": _as_gemini}
