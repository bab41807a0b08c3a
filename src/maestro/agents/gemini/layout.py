"""Gemini CLI: where things lie on its screen. Pure.

What is live is at the bottom: the input box below a rule over the whole width, or a dialog in a frame. A frame in the
history always has the input box somewhere below it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from maestro.agents.screen import Capture

_RULE: Final = re.compile(r"[─▀▄]{20,}$")
_SIGN: Final = re.compile(r" [>!*] |\s{0,2}[>!*]$")
_TOP: Final = re.compile(r" ?╭─+╮$")
_BOTTOM: Final = re.compile(r" ?╰─+╯$")
_NOTICES: Final = ("⚠ ", "\N{INFORMATION SOURCE} ")
_MOST_FOOTER_LINES: Final = 6
_WIDEST_GAP: Final = 2  # before the right edge: the frame's own, and half of a wide letter that had no room


class Row(NamedTuple):
    """A line of a frame's inside."""

    text: str
    line: int
    column: int  # where the text begins on the screen
    is_full: bool = False  # it reaches the frame's right edge


class Layout(NamedTuple):
    capture: Capture
    lines: tuple[str, ...]  # without the blank ones at the end
    rule: int | None  # above the input box
    box: int | None  # the line of the input box's sign
    frame: tuple[Row, ...]  # the inside of the dialog at the very bottom; nothing where there is a box
    frame_at: int  # its first line

    @property
    def is_styled(self) -> bool:
        return any(self.capture.spans)

    @property
    def has_top(self) -> bool:
        """Whether the frame begins on the screen, and not above it."""
        return 0 <= self.frame_at < len(self.lines) and _TOP.match(self.lines[self.frame_at]) is not None


def layout(capture: Capture) -> Layout:
    end = len(capture.lines)
    while end > 0 and not capture.lines[end - 1].strip():
        end -= 1
    lines = capture.lines[:end]
    rule, box = _box(lines)
    if box is not None:
        return Layout(capture, lines, rule, box, (), end)
    frame_at, frame = _frame(lines[: _end_of_dialog(lines)])
    return Layout(capture, lines, None, None, frame, frame_at)


def _box(lines: Sequence[str]) -> tuple[int | None, int | None]:
    """The last rule, if the prompt sign is below it and no frame is."""
    rule = next((at for at in range(len(lines) - 1, -1, -1) if _RULE.match(lines[at])), None)
    if rule is None or any(_TOP.match(line) or _BOTTOM.match(line) for line in lines[rule + 1 :]):
        return None, None
    below = range(rule + 1, min(rule + 1 + _MOST_FOOTER_LINES, len(lines)))
    sign = next((at for at in below if _SIGN.match(lines[at])), None)
    return (rule, sign) if sign is not None else (None, None)


def _end_of_dialog(lines: Sequence[str]) -> int:
    """Where a dialog would end: the CLI's own notices, a paragraph each, may stand below it for a while."""
    end = len(lines)
    while end > 0:
        begin = end
        while begin > 0 and lines[begin - 1].strip():
            begin -= 1
        if begin == end or not lines[begin].startswith(_NOTICES):
            break
        end = begin
        while end > 0 and not lines[end - 1].strip():
            end -= 1
    return end


def _frame(lines: Sequence[str]) -> tuple[int, tuple[Row, ...]]:
    """The frame that the screen ends with. Frames inside it are narrower, and stand between its sides."""
    bottom = len(lines) - 1
    if bottom < 0 or not _BOTTOM.match(lines[bottom]):
        return len(lines), ()
    margin = lines[bottom].index("╰")
    top = bottom - 1
    while top >= 0 and lines[top][margin : margin + 1] == "│":
        top -= 1
    rows = tuple(_row(lines[at], at, margin) for at in range(top + 1, bottom))
    return top, rows


def _row(line: str, at: int, margin: int) -> Row:
    inside = line[margin + 2 :].removesuffix("│")
    text = inside.rstrip()
    return Row(text, at, margin + 2, is_full=len(inside) - len(text) <= _WIDEST_GAP)


def said_before(lines: Sequence[str], top: int) -> str:
    """The agent's last words above a line, back to the prompt."""
    for at in range(top - 1, -1, -1):
        if lines[at].startswith(" > "):
            return ""
        if lines[at].startswith("✦ "):
            words = [line[2:] for line in lines[at:top]]
            end = next(
                (n for n, line in enumerate(words) if n and lines[at + n][:1] not in {"", " "}), len(words)
            )
            return "\n".join(words[:end]).strip()
    return ""
