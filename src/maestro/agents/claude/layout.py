"""Claude Code: where things lie on its screen. Pure.

Everything that the model or a command prints stands two columns or more from the left edge; a rule in column 0, the
prompt sign with a no-break space behind it and the bullets are the CLI's own. So a reply that draws a dialog, a rule
or a prompt is never taken for one. What is live is at the bottom: the input box, or a dialog in its place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from maestro.agents.screen import Capture

SIGN: Final = "\u276f"  # before the prompt, and before the row that a dialog's cursor is on
_RULE: Final = re.compile(r"─{8,}(?: \S.{0,80} ─+)?$")  # newer ones carry a session's name
_EDGE: Final = re.compile(r"(?:─{8}|▔{8})")
_PROMPT: Final = re.compile(f"[{SIGN}!]\xa0")
# What stands below a rule inside of a dialog.
_INNER: Final = re.compile(rf"(?:{SIGN} |  )(?:\d+\. )?Chat about this$| Claude has written up a plan")
_BULLETS: Final = ("● ", "●\xa0")
# The mark before a call that waits blinks.
_UNMARKED_CALL: Final = re.compile(r"  [A-Z]\w*\(.*\)$")
_TURNS: Final = (f"{SIGN} ", "✻ ")


class Box(NamedTuple):
    """The input box: the rules above and below it."""

    top: int
    bottom: int


class Layout(NamedTuple):
    capture: Capture
    end: int  # behind the last line that is not blank
    width: int
    box: Box | None
    dialog: int | None  # the first line of the dialog; None where there is a box, or nothing that begins one

    @property
    def lines(self) -> tuple[str, ...]:
        return self.capture.lines

    @property
    def is_styled(self) -> bool:
        return any(self.capture.spans)

    def colour_at(self, line: int, column: int) -> str:
        return self.capture.style_at(line, column).colour

    def last_paragraph(self) -> str:
        """The lines at the very bottom, as one: a dialog's hints."""
        start = self.end
        while start > 0 and self.lines[start - 1].strip():
            start -= 1
        return " ".join(line.strip() for line in self.lines[start : self.end])


def layout(capture: Capture) -> Layout:
    lines = capture.lines
    end = len(lines)
    while end > 0 and not lines[end - 1].strip():
        end -= 1
    longest = max((len(line) for line in lines[:end]), default=0)
    edges = [at for at in range(end) if _EDGE.match(lines[at]) or _is_edge_with_notice(lines[at], longest)]
    width = max((len(lines[at]) for at in edges), default=longest)
    box = _box(lines, edges)
    return Layout(capture, end, width, box, None if box else _dialog(lines, edges, end))


def _is_edge_with_notice(line: str, longest: int) -> bool:
    """2.1.325 writes its notices into the upper edge of some dialogs; a long one leaves only the last column of it."""
    return line.endswith("▔") and len(line) == longest and line.startswith((" ", "▔")) and line[1:2] != " "


def _box(lines: Sequence[str], edges: Sequence[int]) -> Box | None:
    """The last two rules, if they enclose the prompt sign."""
    if len(edges) < 2:
        return None
    top, bottom = edges[-2:]
    inside = lines[top + 1 : bottom]
    if not (_RULE.match(lines[top]) and _RULE.match(lines[bottom]) and inside and _PROMPT.match(inside[0])):
        return None
    return Box(top, bottom) if all(line.startswith("  ") or not line for line in inside[1:]) else None


def _dialog(lines: Sequence[str], edges: Sequence[int], end: int) -> int | None:
    """The line below the last edge. A dialog that is higher than the screen has lost its edge."""
    left = list(edges)
    if left and left[-1] + 1 < end and _INNER.match(lines[left[-1] + 1]):
        left.pop()
    if left:
        return left[-1] + 1
    if end and not any(line.startswith((*_BULLETS, "✻ ")) for line in lines[:end]):
        return 0
    return None


def soft_wrapped(line: str, following: str, width: int) -> bool:
    """Whether a line ends only because the next word had no room on it."""
    word = following.split(maxsplit=1)[:1]
    return bool(word) and len(line) + 1 + len(word[0]) > width - 3


def unwrapped(lines: Sequence[str], width: int) -> str:
    """Lines as they were before the CLI broke them at the screen's edge, as well as can be told."""
    text = ""
    before = ""
    for line in lines:
        words = line.strip()
        if not before:
            text += ("\n" if text else "") + words
        elif words and soft_wrapped(before, words, width):
            is_one_word = len(before.rsplit(maxsplit=1)[-1]) + len(words.split()[0]) > width - 6 - _indent(
                line
            )
            text += words if is_one_word else f" {words}"
        else:
            text += f"\n{words}"
        before = line.rstrip()
    return text.strip("\n")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def said_before(view: Layout, top: int, *, furthest: int = 60) -> str:
    """The agent's last words above a line; calls of tools in between are left out."""
    said: list[str] = []
    for paragraph in _paragraphs_upwards(view.lines[max(0, top - furthest) : max(0, top - 1)]):
        first = paragraph[0]
        if first.startswith(_TURNS):
            return ""
        is_unmarked = not said and len(paragraph) == 1 and _UNMARKED_CALL.match(first)
        is_call = is_unmarked or re.match(r"● [A-Z]\w*\(", first)
        if any(line.startswith("  ⎿") for line in paragraph) or is_call:
            if said:
                return ""
            continue
        text = [line[2:] if line.startswith(("  ", *_BULLETS)) else line for line in paragraph]
        said.insert(0, unwrapped(text, view.width - 2))
        if first.startswith("●"):
            return "\n\n".join(said)
    return ""


def _paragraphs_upwards(lines: Sequence[str]) -> list[list[str]]:
    paragraphs: list[list[str]] = [[]]
    for line in reversed(lines):
        if not line.strip() or _EDGE.match(line):
            paragraphs.append([])
        else:
            paragraphs[-1].insert(0, line)
            if line.startswith((*_BULLETS, *_TURNS)):
                paragraphs.append([])
    return [paragraph for paragraph in paragraphs if paragraph]
