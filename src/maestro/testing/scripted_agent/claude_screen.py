"""The looks of Claude Code 2.1.325. Pure."""

from __future__ import annotations

from maestro.testing.scripted_agent import claude_dialogs as dialogs
from maestro.testing.scripted_agent.cells import (
    DIM,
    HIGHLIGHT,
    INVERSE,
    PLAIN,
    UNCOLOURED,
    UPRIGHT,
    cells,
    fit,
    padded,
    wrap,
    wrap_all,
)
from maestro.testing.scripted_agent.dialog import Choice, Consent, Dialog, Gate, PlanApproval
from maestro.testing.scripted_agent.effects import Block
from maestro.testing.scripted_agent.keys import clean
from maestro.testing.scripted_agent.screen import (
    MOST_BOX_LINES,
    Frame,
    ScreenState,
    Spinner,
    block_lines,
    conversation,
    duration,
    laid_out,
    under_dialog,
)
from maestro.testing.scripted_agent.small import shrunk

VERSION = "2.1.325"
POINTER = "\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT}"
SPINNER = "·✢✳✶✻✽"
TITLE = "✳ Claude Code"
PREVIEW_COLUMN = 34
MARKS = {
    "prompt": f"{POINTER} ",
    "shell": "! ",
    "text": "● ",
    "info": "● ",
    "tool": "● ",
    "result": "  ⎿  ",
    "error": "● ",
    "done": "✻ ",
}
_GATE_HEADS = {
    "trust": [
        "Accessing workspace:",
        "",
        "{cwd}",
        "",
        "Quick safety check: is this a project that you trust?",
    ],
    "bypass": [
        "WARNING: Claude Code running in Bypass Permissions mode",
        "",
        "Nothing is asked in this mode.",
    ],
    "key": ["Detected a custom API key in your environment", "", "Do you want to use this API key?"],
}


def render(state: ScreenState, width: int, height: int) -> Frame:
    size = (width, height)
    head = [
        "",
        f" ▐▛███▛█   Claude Code v{VERSION}",
        f"▝▜██████▀  {state.name} · scripted agent",
        f" ▝▝   ▝▝   {state.cwd}",
        "",
    ]
    if isinstance(state.dialog and state.dialog.asked, Gate):
        head = []
    above = conversation(state, MARKS, head, width, height)
    if state.dialog is not None:
        return under_dialog(above, _fitting(state, state.dialog, size), size, TITLE)
    for text in state.queued:
        above += [*block_lines(Block("prompt", text), MARKS, width), "  ctrl+x ctrl+s to send now", ""]
    if state.spinner is not None:
        above += [_spinner_line(state.spinner), ""]
    box, column = _box(state, width)
    below = [*box, f"  {state.notice or _footer(state)}"]
    return laid_out(above, below, (2, column), size, shown=False, title=TITLE)


def _spinner_line(spinner: Spinner) -> str:
    mark = SPINNER[spinner.frame % len(SPINNER)]
    if spinner.note:
        return f"{mark} {spinner.note}"
    return f"{mark} {spinner.verb}… ({duration(spinner.seconds)} · ↓ 10 tokens)"


def _footer(state: ScreenState) -> str:
    if state.box.is_shell:
        return "! for shell mode"
    if state.spinner:
        return "⏸ manual mode on · esc to interrupt"
    return "⏸ manual mode on · ? for shortcuts" if state.box.is_empty else "⏸ manual mode on"


def _box(state: ScreenState, width: int) -> tuple[list[str], int]:
    """The input box between its rules, and the cursor's column in its last line."""
    rule = "─" * width
    mark = f"{'!' if state.box.is_shell else POINTER}\N{NO-BREAK SPACE}"
    if state.box.is_empty:
        hint = "Press up to edit queued messages" if state.queued else state.placeholder
        if not hint or state.box.is_shell or (state.spinner and not state.queued):
            return [rule, f"{mark}{INVERSE} {UPRIGHT}", rule], cells(mark)
        return [rule, f"{mark}{INVERSE}{hint[0]}{UPRIGHT}{DIM}{hint[1:]}{PLAIN}", rule], cells(mark)
    room = max(1, width - 3)
    rows = wrap_all(state.box.draft.shown, room)[-MOST_BOX_LINES:]
    lines = [f"{mark if index == 0 else '  '}{row}" for index, row in enumerate(rows)]
    lines[-1] += f"{INVERSE} {UPRIGHT}"
    return [rule, *lines, rule], 2 + cells(rows[-1])


def _fitting(state: ScreenState, dialog: Dialog, size: tuple[int, int]) -> list[str]:
    lines = _dialog_lines(state, dialog, size[0])
    return shrunk(lines, "claude", *size) if isinstance(dialog.asked, Consent) else lines


def _dialog_lines(state: ScreenState, dialog: Dialog, width: int) -> list[str]:
    match dialog.asked:
        case Consent():
            return _consent_lines(dialog, dialog.asked, width)
        case PlanApproval(plan):
            return _plan_lines(dialog, plan, width)
        case Gate(kind):
            return _gate_lines(dialog, kind, state.cwd, width)
    rule = "─" * width
    if dialog.is_reviewing:
        return [rule, _tabs(dialog), "", *_review_lines(dialog)]
    lines = [rule, _tabs(dialog), "", *wrap_all(clean(dialog.question.question), width), ""]
    if dialog.question.has_previews:
        return [*lines, *_preview_rows(dialog, width), rule, *_last_rows(dialog)]
    return [*lines, *_choice_rows(dialog, dialog.question, rule), "", _keys_line(dialog)]


def _tabs(dialog: Dialog) -> str:
    first = dialog.questions[0]
    if len(dialog.questions) == 1 and not first.multi:
        return f" ☐ {clean(first.header)}"
    ticks = [
        f"{'☒' if dialogs.picked(dialog, place) else '☐'} {_tab(question.header, is_current=place == dialog.position)}"
        for place, question in enumerate(dialog.questions)
    ]
    return f"←  {'  '.join(ticks)}  ✔ {_tab('Submit', is_current=dialog.is_reviewing)}  →"


def _tab(words: str, *, is_current: bool) -> str:
    return f"{HIGHLIGHT}{clean(words)}{UNCOLOURED}" if is_current else clean(words)


def _keys_line(dialog: Dialog) -> str:
    moves = "Tab/Arrow keys to navigate" if len(dialog.questions) > 1 else "↑/↓ to navigate"
    edits = " · ctrl+g to edit in Vim" if dialogs.is_on_text_row(dialog) else ""
    return f"Enter to select · {moves}{edits} · Esc to cancel"


def _choice_rows(dialog: Dialog, asked: Choice, rule: str) -> list[str]:
    lines: list[str] = []
    number = 0
    for row, label in enumerate(dialogs.rows(dialog)):
        mark = POINTER if row == dialog.focus else " "
        if row == len(asked.options) + 1 and asked.multi:
            lines.append(f"{mark}    {label}")
            continue
        number += 1
        if row > len(asked.options):
            lines += [rule, f"{mark} {number}. {label}"]
            continue
        tick = ("[✔] " if row in dialog.here.chosen else "[ ] ") if asked.multi else ""
        first, *more = _row_text(dialog, asked, row).split("\n")
        lines += [f"{mark} {number}. {tick}{first}", *(f"{' ' * (5 + len(tick))}{line}" for line in more)]
        if row < len(asked.options) and asked.options[row].description:
            lines.append(f"{' ' * (5 + len(tick))}{clean(asked.options[row].description)}")
    return lines


def _row_text(dialog: Dialog, asked: Choice, row: int) -> str:
    if row < len(asked.options):
        is_answer = row in dialog.here.chosen and not asked.multi
        return clean(asked.options[row].label) + (" ✔" if is_answer else "")
    cursor = f"{INVERSE} {UPRIGHT}" if row == dialog.focus else ""
    if dialog.here.typed:
        return f"{clean(dialog.here.typed)}{cursor}"
    return dialogs.TYPE_SOMETHING if asked.multi else f"{dialogs.TYPE_SOMETHING}."


def _preview_rows(dialog: Dialog, width: int) -> list[str]:
    options = dialog.question.options
    left = [
        f"{POINTER if row == dialog.focus else ' '} {row + 1}. {clean(option.label)}"
        for row, option in enumerate(options)
    ]
    preview = clean(options[min(dialog.focus, len(options) - 1)].preview).split("\n")
    inner = max(4, width - PREVIEW_COLUMN - 4)
    box = [
        f"┌{'─' * (inner + 2)}┐",
        *(f"│ {padded(line, inner)} │" for line in preview),
        f"└{'─' * (inner + 2)}┘",
    ]
    right = [*box, "", "Notes: press n to add notes"]
    rows = max(len(left), len(right))
    left += [""] * (rows - len(left))
    right += [""] * (rows - len(right))
    return [(padded(a, PREVIEW_COLUMN) + b).rstrip() if b else a for a, b in zip(left, right, strict=True)]


def _last_rows(dialog: Dialog) -> list[str]:
    mark = POINTER if dialog.focus == len(dialog.question.options) else " "
    keys = "Enter to select · ↑/↓ to navigate · n to add notes · Esc to cancel"
    return [f"{mark} {dialogs.CHAT}", "", keys]


def _review_lines(dialog: Dialog) -> list[str]:
    lines = ["Review your answers", ""]
    for place, question in enumerate(dialog.questions):
        lines.append(f" ● {clean(question.question)}")
        picked = ", ".join(dialogs.picked(dialog, place))
        if picked:
            lines.append(f"   → {picked}")
    marks = [POINTER if row == dialog.focus else " " for row in range(2)]
    ends = [f"{marks[0]} 1. Submit answers", f"{marks[1]} 2. Cancel"]
    return [*lines, "", "Ready to submit your answers?", "", *ends]


def _consent_lines(dialog: Dialog, asked: Consent, width: int) -> list[str]:
    rule, dashes = "─" * width, "╌" * width
    rows = [f" {row}" for row in wrap_all(clean(asked.command), max(1, width - 1))]
    options = [
        f" {POINTER if row == dialog.focus else ' '} {row + 1}. {clean(label)}"
        for row, label in enumerate(dialogs.rows(dialog))
    ]
    keys = ["", " Esc to cancel · Tab to amend"]
    if dialog.is_typing:
        hint = (
            "and tell Claude what to do next"
            if dialog.focus == 0
            else "and tell Claude what to do differently"
        )
        words = clean(dialog.here.typed).replace("\n", " ")
        options[dialog.focus] += f", {words}{INVERSE} {UPRIGHT}" if words else f", {DIM}{hint}{PLAIN}"
        keys = ["", " Esc to cancel"]
    if asked.file:
        numbered = [f" {number:2}{row}" for number, row in enumerate(rows, start=1)]
        title = [rule, " Create file", f" {asked.file}", dashes, *numbered, dashes]
        return [*title, f" Do you want to create {asked.file}?", *options, *keys]
    description = [f" {clean(asked.description)}"] if asked.description else []
    title = [rule, " Bash command", "", *description, dashes, *rows, dashes, ""]
    return [*title, " Do you want to proceed?", *options, *keys]


def _plan_lines(dialog: Dialog, plan: str, width: int) -> list[str]:
    edge, rule, dashes = "▔" * width, f"  {'─' * max(1, width - 2)}", f"  {'╌' * max(1, width - 2)}"
    rows = [
        f"{POINTER if row == dialog.focus else ' '} {row + 1}. {label}"
        for row, label in enumerate(dialogs.rows(dialog))
    ]
    if not plan:
        head = [edge, rule, "   Exit plan mode?", "", "    Claude wants to exit plan mode", ""]
        return [*head, *(f"    {row}" for row in rows)]
    if dialog.here.typed:
        mark = POINTER if dialog.focus == 2 else " "
        rows[2] = f"{mark} 3. {dialog.here.typed}{INVERSE} {UPRIGHT}"
    words = [f"   {row}" for line in clean(plan).split("\n") for row in wrap(line, max(1, width - 3))]
    return [
        edge, rule, "   Ready to code?", "", "   Here is Claude's plan:", dashes, *words, dashes, rule,
        "   Claude has written up a plan and is ready to execute. Would you like to proceed?", "",
        *(f"   {row}" for row in rows), "        shift+tab to approve with this feedback", "",
        "   ctrl+g to edit in Vim · ~/.claude/plans/scripted.md",
    ]  # fmt: skip


def _gate_lines(dialog: Dialog, kind: str, cwd: str, width: int) -> list[str]:
    head = [fit(f" {line.format(cwd=cwd) if line else ''}".rstrip(), width) for line in _GATE_HEADS[kind]]
    rows = [
        f" {POINTER if row == dialog.focus else ' '} {label}"
        for row, label in enumerate(dialogs.rows(dialog))
    ]
    return ["─" * width, *head, "", *rows, "", " Enter to confirm · Esc to cancel"]
