"""A terminal's screen, as it was captured, and what it says. Pure.

A capture keeps as much of the style as tells what a person typed from what the program only suggests.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final, Generic, Literal, NamedTuple, TypeVar

import msgspec

from maestro.agents.questions import Question

ScreenState = Literal[
    "idle",  # it waits for a prompt
    "working",
    "background",  # its turn is over; agents that it started still run
    "question",
    "permission",
    "plan",
    "error",  # its turn ended with an error
    "retrying",  # the API failed, and it tries again
    "limit",  # a quota is used up; nothing will happen before it is renewed
    "dialog",  # the CLI itself asks: trust, key, update, hooks, warnings
    "exited",
    "unknown",
]

_SEQUENCE: Final = re.compile(
    r"\x1b\[([0-9;:]*)m"  # a style
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # a link, a title
    r"|\x1b\[[0-?]*[ -/]*[@-~]"
    r"|\x1b[()][0-9A-B]"
    r"|\x1b.?"
    r"|[\x00-\x08\x0b-\x1f\x7f]"
)


class Style(msgspec.Struct, frozen=True):
    faint: bool = False
    bold: bool = False
    inverse: bool = False
    colour: str = ""  # the parameters that set it: "90", "38;5;246", "38;2;153;153;153"


class Span(msgspec.Struct, frozen=True):
    """Characters [start, end) of a line that share a style."""

    start: int
    end: int
    style: Style


class Capture(msgspec.Struct, frozen=True):
    lines: tuple[str, ...]  # without escapes, and without spaces at the end
    spans: tuple[tuple[Span, ...], ...] = ()  # for each line; nothing where the capture had no styles
    title: str = ""
    cursor: tuple[int, int] | None = None  # column, line

    def style_at(self, line: int, column: int) -> Style:
        if line < len(self.spans):
            for span in self.spans[line]:
                if span.start <= column < span.end:
                    return span.style
        return PLAIN

    def spaces_in(self, rows: range, column: int) -> str:
        """What was typed into these rows, from this column on, where they show nothing: only the cursor tells of it."""
        if self.cursor is None or self.cursor[1] not in rows:
            return ""
        return "\n" * (self.cursor[1] - rows.start) + " " * (self.cursor[0] - column)


class Screen(msgspec.Struct, frozen=True, rename="camel"):
    """What one screen says, and what it says it by."""

    state: ScreenState
    rule: str = ""  # the rule that matched; none for unknown
    evidence: str = ""  # the line that it matched on
    question: Question | None = None
    draft: str | None = None  # what stands in the input box, unsent; None where there is no box
    queued: tuple[str, ...] = ()  # prompts that the CLI holds until it has time, as far as it shows them
    queued_more: int = 0  # how many more it says that it holds
    version: str = ""  # the CLI's own, where the screen shows it


PLAIN: Final = Style()
UNKNOWN: Final = Screen("unknown")


View = TypeVar("View")


class Rule(NamedTuple, Generic[View]):
    """One way in which a CLI's screen tells its state; `View` is how the CLI lays its screen out."""

    name: str
    read: Callable[[View], Screen | None]


def first_match(rules: Iterable[Rule[View]], view: View, version: str) -> Screen:
    """What the first rule that matches says. When none does, nothing is known."""
    for rule in rules:
        screen = rule.read(view)
        if screen is not None:
            return msgspec.structs.replace(screen, rule=rule.name, version=version)
    return msgspec.structs.replace(UNKNOWN, version=version)


def captured(text: str, *, title: str = "", cursor: tuple[int, int] | None = None) -> Capture:
    """A capture from what `tmux capture-pane` prints, with or without `-e`. Takes any text whatsoever."""
    lines: list[str] = []
    spans: list[tuple[Span, ...]] = []
    style = PLAIN
    for raw in text.split("\n"):
        plain, found, style = _line(raw, style)
        lines.append(plain.rstrip(" "))
        spans.append(found)
    return Capture(tuple(lines), tuple(spans), title, cursor)


def _line(raw: str, style: Style) -> tuple[str, tuple[Span, ...], Style]:
    plain = ""
    spans: list[Span] = []
    at = 0
    for match in _SEQUENCE.finditer(raw):
        plain, spans = _more(plain, spans, raw[at : match.start()], style)
        if match[1] is not None:
            style = styled(style, match[1])
        at = match.end()
    plain, spans = _more(plain, spans, raw[at:], style)
    return plain, tuple(spans), style


def _more(plain: str, spans: list[Span], text: str, style: Style) -> tuple[str, list[Span]]:
    if text and style != PLAIN:
        spans.append(Span(len(plain), len(plain) + len(text), style))
    return plain + text, spans


def styled(style: Style, parameters: str) -> Style:
    """The style after one SGR sequence."""
    codes = parameters.replace(":", ";").split(";") if parameters else ["0"]
    at = 0
    while at < len(codes):
        code = codes[at]
        if code in {"", "0"}:
            style = PLAIN
        elif code in {"1", "2", "7"}:
            name = {"1": "bold", "2": "faint", "7": "inverse"}[code]
            style = msgspec.structs.replace(style, **{name: True})
        elif code == "22":
            style = msgspec.structs.replace(style, bold=False, faint=False)
        elif code == "27":
            style = msgspec.structs.replace(style, inverse=False)
        elif code in {"38", "48"}:
            length = 3 if codes[at + 1 : at + 2] == ["5"] else 5
            if code == "38":
                style = msgspec.structs.replace(style, colour=";".join(codes[at : at + length]))
            at += length - 1
        elif code == "39":
            style = msgspec.structs.replace(style, colour="")
        elif len(code) == 2 and code[0] in "39" and code[1] in "01234567":
            style = msgspec.structs.replace(style, colour=code)
        at += 1
    return style


_CHOICE: Final = re.compile(r"\d+\. ")  # a row of a dialog


def blocks_after(sign: str, lines: Iterable[str]) -> tuple[str, ...]:
    """Returns the texts that begin with this sign; the lines of one are indented as its first."""
    blocks: list[list[str]] = []
    is_open = False
    for line in lines:
        if line.startswith(sign):
            blocks.append([line.removeprefix(sign)])
            is_open = True
        elif is_open and line.startswith(" " * len(sign)) and line.strip():
            blocks[-1].append(line.strip())
        else:
            is_open = False
    texts = ("\n".join(block).strip() for block in blocks)
    return tuple(text for text in texts if text and not _CHOICE.match(text))
