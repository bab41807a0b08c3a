"""What the agent's terminal shows: state → lines, in the looks of Claude Code. Pure."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field

from maestro.testing.scripted_agent.dialog import CHAT, SUBMIT, TYPE_SOMETHING, Choice, Consent, Dialog
from maestro.testing.scripted_agent.effects import Block
from maestro.testing.scripted_agent.keys import Draft, clean

DIM, PLAIN = "\x1b[2m", "\x1b[22m"
POINTER = "\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT}"
BOX_MARK = f"{POINTER}\N{NO-BREAK SPACE}"
SPINNER = "·✢✳✶✻✽"
MOST_BOX_LINES = 12
MOST_RESULT_LINES = 3
VERBS = (("Working", "Worked"), ("Brewing", "Brewed"), ("Cooking", "Cooked"), ("Churning", "Churned"))

_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_MARKS = {"prompt": f"{POINTER} ", "text": "● ", "tool": "● ", "result": "  ⎿  ", "error": "● ", "done": "✻ "}


@dataclass(frozen=True)
class Spinner:
    frame: int
    verb: str
    seconds: int
    note: str = ""


@dataclass(frozen=True)
class ScreenState:
    name: str
    cwd: str
    blocks: tuple[Block, ...] = ()
    spinner: Spinner | None = None
    queued: tuple[str, ...] = ()
    draft: Draft = field(default_factory=Draft)
    placeholder: str = ""
    dialog: Dialog | None = None
    notice: str = ""


@dataclass(frozen=True)
class Frame:
    """`lines` fill the screen from its top; `cursor` is (row, column) from 0, or none when hidden."""

    lines: tuple[str, ...]
    cursor: tuple[int, int] | None = None


def render(state: ScreenState, width: int, height: int) -> Frame:
    if state.dialog is not None:
        bottom = _dialog_lines(state.dialog, width)
        lines = [*_conversation(state, width, height), *bottom]
        return Frame(tuple(fit(line, width) for line in lines[-height:]))
    box, column = _box(state, width)
    footer = f"  {state.notice or _footer(state)}"
    conversation = _conversation(state, width, height)
    room = max(0, height - len(box) - 1)
    conversation = conversation[-room:] if room else []
    conversation += [""] * (room - len(conversation))
    lines = [*conversation, *box, footer][-height:]
    cursor_row = len(lines) - 3
    cursor = (cursor_row, min(column, width - 1)) if cursor_row >= 0 else None
    return Frame(tuple(fit(line, width) for line in lines), cursor)


def block_lines(block: Block, width: int | None = None) -> list[str]:
    """One block as plain lines, wrapped to `width` if there is one."""
    mark = _MARKS[block.kind]
    hang = " " * cells(mark)
    room = None if width is None else max(1, width - len(hang))
    rows = [row for line in clean(block.text).split("\n") for row in wrap(line, room)]
    if block.kind == "result" and len(rows) > MOST_RESULT_LINES:
        rows = [*rows[:MOST_RESULT_LINES], f"… +{len(rows) - MOST_RESULT_LINES} lines"]
    return [f"{mark if index == 0 else hang}{row}" for index, row in enumerate(rows)]


def duration(seconds: float) -> str:
    whole = int(seconds)
    return f"{whole // 60}m {whole % 60}s" if whole >= 60 else f"{whole}s"


def dialog_text(asked: Choice | Consent) -> list[str]:
    """A question as plain lines, for an agent without a terminal."""
    if isinstance(asked, Consent):
        head = ["Bash command", f"  {asked.command}", "Do you want to proceed?"]
    else:
        head = [f"☐ {asked.header}", asked.question]
    options = [
        f"  {number}. {option.label}" + (f": {option.description}" if option.description else "")
        for number, option in enumerate(asked.options, start=1)
    ]
    return [*head, *options]


def _conversation(state: ScreenState, width: int, height: int) -> list[str]:
    """The header and the blocks; of a long conversation only the blocks that can be seen."""
    lines: list[str] = []
    if len(state.blocks) <= height:
        lines = ["", f" ▐▛▜▌  {state.name}", " ▝▀▀▘  scripted agent", f"       {state.cwd}", ""]
    for block in state.blocks[-height:]:
        if block.kind == "result" and lines:
            lines.pop()
        lines += [*block_lines(block, width), ""]
    for text in state.queued:
        lines += [*block_lines(Block("prompt", text), width), ""]
    if state.spinner is not None and state.dialog is None:
        lines += [_spinner_line(state.spinner), ""]
    return lines


def _spinner_line(spinner: Spinner) -> str:
    mark = SPINNER[spinner.frame % len(SPINNER)]
    if spinner.note:
        return f"{mark} {spinner.note}"
    return f"{mark} {spinner.verb}… ({duration(spinner.seconds)} · esc to interrupt)"


def _footer(state: ScreenState) -> str:
    return "⏸ manual mode on · " + ("esc to interrupt" if state.spinner else "? for shortcuts")


def _box(state: ScreenState, width: int) -> tuple[list[str], int]:
    """The input box between its rules, and the cursor's column in its last line."""
    rule = "─" * width
    hint = "Press up to edit queued messages" if state.queued else state.placeholder
    if not state.draft.pieces:
        shown = f"{DIM}{hint}{PLAIN}" if hint and (state.queued or not state.spinner) else ""
        return [rule, f"{BOX_MARK}{shown}", rule], cells(BOX_MARK)
    room = max(1, width - 3)
    rows = [row for line in state.draft.shown.split("\n") for row in wrap(line, room)][-MOST_BOX_LINES:]
    lines = [f"{BOX_MARK if index == 0 else '  '}{row}" for index, row in enumerate(rows)]
    return [rule, *lines, rule], 2 + cells(rows[-1])


def _dialog_lines(dialog: Dialog, width: int) -> list[str]:
    rule = "─" * width
    if isinstance(dialog.asked, Consent):
        return _consent_lines(dialog, dialog.asked, rule, width)
    asked = dialog.asked
    tick = "☒" if dialog.picked else "☐"
    title = f"←  {tick} {asked.header}  ✔ Submit  →" if asked.multi else f" {tick} {asked.header}"
    if dialog.reviewing:
        return [rule, title, "", *_review_lines(dialog, asked)]
    question = [row for line in clean(asked.question).split("\n") for row in wrap(line, width)]
    lines = [rule, title, "", *question, ""]
    number = 0
    for row, label in enumerate(dialog.rows):
        mark = POINTER if row == dialog.focus else " "
        if label == SUBMIT and row == len(asked.options) + 1:
            lines.append(f"{mark}    {SUBMIT}")
            continue
        number += 1
        if label == CHAT and row == len(dialog.rows) - 1:
            lines += [rule, f"{mark} {number}. {CHAT}"]
            continue
        box = ("[✔] " if row in dialog.chosen else "[ ] ") if asked.multi else ""
        lines.append(f"{mark} {number}. {box}{_row_text(dialog, asked, row)}")
        if row < len(asked.options) and asked.options[row].description:
            lines.append(f"{' ' * (5 + len(box))}{clean(asked.options[row].description)}")
    return [*lines, "", "Enter to select · ↑/↓ to navigate · Esc to cancel"]


def _row_text(dialog: Dialog, asked: Choice, row: int) -> str:
    if row < len(asked.options):
        return clean(asked.options[row].label)
    return dialog.typed or (TYPE_SOMETHING if asked.multi else f"{TYPE_SOMETHING}.")


def _review_lines(dialog: Dialog, asked: Choice) -> list[str]:
    marks = [POINTER if row == dialog.focus else " " for row in range(2)]
    return [
        "Review your answers",
        "",
        f" ● {clean(asked.question)}",
        f"   → {', '.join(dialog.picked) or 'nothing yet'}",
        "",
        "Ready to submit your answers?",
        "",
        f"{marks[0]} 1. Submit answers",
        f"{marks[1]} 2. Cancel",
    ]


def _consent_lines(dialog: Dialog, asked: Consent, rule: str, width: int) -> list[str]:
    dashes = "╌" * width
    command = [f" {row}" for line in clean(asked.command).split("\n") for row in wrap(line, width - 1)]
    options = [
        f" {POINTER if row == dialog.focus else ' '} {row + 1}. {label}"
        for row, label in enumerate(dialog.rows)
    ]
    description = [f" {clean(asked.description)}"] if asked.description else []
    question = ["", " Do you want to proceed?", *options, "", " Esc to cancel · Tab to amend"]
    return [rule, " Bash command", "", *description, dashes, *command, dashes, *question]


def cells(text: str) -> int:
    """The columns that `text` takes on a terminal."""
    return sum(map(_width_of, _STYLE.sub("", text)))


def _width_of(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def wrap(line: str, room: int | None) -> list[str]:
    """`line` cut at spaces into rows of at most `room` columns; at least one row."""
    line = line.expandtabs(4)
    if room is None or cells(line) <= room:
        return [line]
    rows: list[str] = []
    row, used = "", 0
    for character in line:
        width = _width_of(character)
        if used + width > max(room, 2):
            head, space, tail = row.rpartition(" ")
            rows.append(head if space and head.strip() else row)
            row = tail if space and head.strip() else ""
            used = cells(row)
        row += character
        used += width
    return [*rows, row]


def fit(line: str, width: int) -> str:
    """`line` in one row, cut to `width` columns; its styles take none and stay."""
    line = line.replace("\n", " ").replace("\t", " ")
    if cells(line) <= width:
        return line
    kept: list[str] = []
    used = 0
    for piece in re.split(f"({_STYLE.pattern})", line):
        if _STYLE.fullmatch(piece):
            kept.append(piece)
            continue
        for character in piece:
            used += _width_of(character)
            if used > width:
                break
            kept.append(character)
    return "".join(kept)
