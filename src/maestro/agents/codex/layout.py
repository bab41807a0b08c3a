"""Codex CLI: where things lie on its screen. Pure.

What is live is at the bottom: the input box with the lines that belong to it, or a dialog in its place, whose last
paragraph says which keys it takes. The box's sign is bold; that of a prompt in the history is faint besides.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from maestro.agents.screen import Capture

SIGN: Final = "\u203a"
SCROLLED: Final = "↑"  # of a draft that is higher than the box, only the end is shown
_SIGN: Final = re.compile(rf"[{SIGN}!](?: |$)")
_HINTS: Final = re.compile(
    r"  (?:press )?enter (?:to )?(?:confirm|select|continue|submit|review)\b"
    r"|  tab (?:to add|or esc to clear) notes\b"
    r"|  t trust all · "
    r"|  option \d+/\d+ \| ",
    re.IGNORECASE,
)
# In the place of lines for which the screen has no room; then no blank line parts the options from the hints either.
HIDDEN: Final = re.compile(r"  \[… \d+ lines?\]|[↑↓]$")
_TOOL: Final = re.compile(
    r"• (?:Running|Ran|Added|Edited|Deleted|Explor\w+|Call\w+|Search\w+|Updated Plan|Proposed Plan|Exited|Waited"
    r"|Questions \d+/\d+|Model changed|Interacted|Viewed|Spawned|You ran)\b"
)


class Layout(NamedTuple):
    capture: Capture
    lines: tuple[str, ...]  # without the blank ones at the end
    box: int | None  # the line of the input box's sign
    hints: str | None  # the last paragraph as one line, where it tells which keys a dialog takes
    hints_at: int

    @property
    def is_styled(self) -> bool:
        return any(self.capture.spans)

    @property
    def footer(self) -> int:
        """Where the lines below the input box begin: the last paragraph, unless it is the box itself."""
        start = paragraph_start(self.lines, len(self.lines) - 1)
        return start if self.box is not None and start > self.box else len(self.lines)


def layout(capture: Capture) -> Layout:
    end = len(capture.lines)
    while end > 0 and not capture.lines[end - 1].strip():
        end -= 1
    lines = capture.lines[:end]
    start = _hints_at(lines)
    if end and _tells_keys(lines, start):
        hints = " ".join(line.strip() for line in lines[start:])
        return Layout(capture, lines, None, hints, start)
    return Layout(capture, lines, _box(capture, lines), None, end)


def _hints_at(lines: Sequence[str]) -> int:
    """Where the last paragraph begins; of one with lines for which there is no room, what stands below the options."""
    start = paragraph_start(lines, len(lines) - 1)
    below = last_hidden(lines, start)
    if below is None:
        return start
    return next((at for at in range(below, len(lines)) if _tells_keys(lines, at)), start)


def _tells_keys(lines: Sequence[str], at: int) -> bool:
    """Whether the hints begin here; a narrow screen breaks them anywhere."""
    return _HINTS.match(" ".join([lines[at], *(line.strip() for line in lines[at + 1 : at + 3])])) is not None


def last_hidden(lines: Sequence[str], start: int) -> int | None:
    """The last line that stands for others, from `start` on: an arrow for options, a count for all else."""
    return next((at for at in range(len(lines) - 1, start - 1, -1) if HIDDEN.match(lines[at])), None)


def _box(capture: Capture, lines: Sequence[str]) -> int | None:
    at = len(lines) - 1
    while at >= 0 and not _SIGN.match(lines[at]):
        if lines[at].strip() and not lines[at].startswith("  "):
            return None
        at -= 1
    if at < 0:
        return None
    if any(capture.spans):
        sign = capture.style_at(at, 0)
        return at if sign.bold and not sign.faint and not sign.inverse else None
    # Without styles a prompt in the history looks the same, but it has no lines of its own at the very bottom.
    return at if "" in (line.strip() for line in lines[at:]) else None


def paragraph_start(lines: Sequence[str], at: int) -> int:
    """The first line of the paragraph that a line is in."""
    while at > 0 and lines[at - 1].strip():
        at -= 1
    return max(at, 0)


def last_line_above(lines: Sequence[str], at: int) -> int:
    """The closest line above that is not blank; -1 where there is none."""
    at -= 1
    while at >= 0 and not lines[at].strip():
        at -= 1
    return at


def said_before(lines: Sequence[str], top: int) -> str:
    """The agent's last words above a line, back to the prompt; calls of tools in between are left out."""
    at = top - 1
    end = top
    while at >= 0:
        line = lines[at]
        if line.startswith(f"{SIGN} "):
            return ""
        if line.startswith("• ") and not _TOOL.match(line):
            words = [line[2:] for line in lines[at:end]]
            return "\n".join(words).strip()
        if line.strip() and not line.startswith("  "):
            end = at
        at -= 1
    return ""
