"""The looks of Gemini CLI 0.61.0. Pure."""

from __future__ import annotations

from maestro.testing.scripted_agent import gemini_dialogs as dialogs
from maestro.testing.scripted_agent.cells import (
    BOLD,
    GREY,
    INVERSE,
    PLAIN,
    UNCOLOURED,
    UPRIGHT,
    cells,
    padded,
    wrap_all,
)
from maestro.testing.scripted_agent.dialog import Choice, Consent, Dialog, Gate, PlanApproval
from maestro.testing.scripted_agent.keys import clean
from maestro.testing.scripted_agent.screen import (
    BRAILLE,
    MOST_BOX_LINES,
    Frame,
    ScreenState,
    Spinner,
    conversation,
    duration,
    laid_out,
    under_dialog,
)
from maestro.testing.scripted_agent.small import shrunk

VERSION = "0.61.0"
PLACEHOLDER = "Type your message or @path/to/file"
SHELL_PLACEHOLDER = "Type your shell command"
RESPONSE = "Enter your response"
MOST_ROWS_IN_SIGHT = 3  # of a multiple choice: the others are scrolled away
FEWEST_FOLDED_LINES, LONGEST_UNFOLDED = 6, 500
MARKS = {
    "prompt": " > ",
    "shell": " $ ",
    "text": "✦ ",
    "info": "\N{INFORMATION SOURCE} ",
    "tool": "✓  ",
    "result": "   ",
    "error": "✕ ",
    "done": "  ",
}


def render(state: ScreenState, width: int, height: int) -> Frame:
    size = (width, height)
    head = [
        "",
        f" ▝▜▄     Gemini CLI v{VERSION}",
        "   ▝▜▄",
        f"  ▗▟▀    {state.name} · scripted agent",
        " ▝▀",
        "",
    ]
    above = conversation(state, MARKS, head, width, height)
    if state.dialog is not None:
        return under_dialog(above, _fitting(state, state.dialog, size), size, _title(state))
    if state.queued:
        rest = [f"    {clean(text).splitlines()[0]}" for text in state.queued]
        above += ["  Queued (press ↑ to edit):", *rest, ""]
    working = _working(state.spinner) if state.spinner is not None else ""
    hint = "? for shortcuts" if state.box.is_empty else ""
    status = padded(working, max(0, width - 16)) + hint
    mode = "  shell mode enabled (esc to disable)" if state.box.is_shell else " Shift+Tab to accept edits"
    notice = [f" {state.notice}"] if state.notice else []
    box, column = _box(state, width)
    third = max(1, width // 2)
    footer = [
        "",
        f" {padded('workspace (/directory)', third)}sandbox",
        f" {padded(state.cwd, third)}no sandbox",
    ]
    below = [*notice, status.rstrip(), "─" * width, mode, "", *box, *footer]
    return laid_out(
        above, below, (len(footer), column), size, shown=False, title=_title(state), at_bottom=False
    )


def _title(state: ScreenState) -> str:
    if state.dialog is not None:
        return f"✋  Action Required ({state.folder})"
    return f"✦  Working… ({state.folder})" if state.spinner else f"◇  Ready ({state.folder})"


def _working(spinner: Spinner) -> str:
    mark = BRAILLE[spinner.frame % len(BRAILLE)]
    return f" {mark} {spinner.note or 'Thinking...'} (esc to cancel, {duration(spinner.seconds)})"


def _box(state: ScreenState, width: int) -> tuple[list[str], int]:
    mark = "!" if state.box.is_shell else ">"
    if state.box.is_empty:
        hint = SHELL_PLACEHOLDER if state.box.is_shell else PLACEHOLDER
        return [f" {mark} {INVERSE} {UPRIGHT}{GREY} {hint}{UNCOLOURED}"], 3
    rows = wrap_all("".join(map(_folded, state.box.draft.pieces)), max(1, width - 4))[-MOST_BOX_LINES:]
    lines = [f" {mark if index == 0 else ' '} {row}" for index, row in enumerate(rows)]
    lines[-1] += f"{INVERSE} {UPRIGHT}"
    return lines, 3 + cells(rows[-1])


def _folded(piece: str) -> str:
    lines = piece.count("\n") + 1
    if lines >= FEWEST_FOLDED_LINES:
        return f"[Pasted Text: {lines} lines]"
    return f"[Pasted Text: {len(piece)} chars]" if len(piece) > LONGEST_UNFOLDED else piece


def _fitting(state: ScreenState, dialog: Dialog, size: tuple[int, int]) -> list[str]:
    lines = _dialog_lines(state, dialog, size[0])
    return shrunk(lines, "gemini", *size) if isinstance(dialog.asked, Consent) else lines


def _dialog_lines(state: ScreenState, dialog: Dialog, width: int) -> list[str]:
    inner = max(4, width - 4)
    match dialog.asked:
        case Consent():
            return _framed(_consent_lines(dialog, dialog.asked, inner), inner)
        case Gate():
            parent = state.cwd.rstrip("/").rpartition("/")[0].rpartition("/")[2]
            labels = [f"Trust folder ({state.folder})", f"Trust parent folder ({parent})", "Don't trust"]
            words = ["", "Do you trust the files in this folder?", "", *_list(dialog, labels), ""]
            return _framed(words, inner)
    if isinstance(dialog.asked, PlanApproval):
        return _framed(_plan_lines(dialog, dialog.asked.plan, inner), inner)
    return _framed(["Answer Questions", "", *_question_lines(dialog, inner)], inner)


def _framed(lines: list[str], inner: int) -> list[str]:
    sides = [f"│ {padded(line, inner)} │" for line in lines]
    return [f"╭{'─' * (inner + 2)}╮", *sides, f"╰{'─' * (inner + 2)}╯"]


def _list(dialog: Dialog, labels: list[str]) -> list[str]:
    return [
        f"{'●' if row == dialog.focus else ' '} {row + 1}. {clean(label)}" for row, label in enumerate(labels)
    ]


def _consent_lines(dialog: Dialog, asked: Consent, inner: int) -> list[str]:
    tool = "WriteFile" if asked.file else "Shell"
    room = max(1, inner - 4)
    rows = wrap_all(clean(asked.command), room)
    return [
        f"? {tool}  {asked.file or rows[0]}",
        *_framed(rows, room),
        "Apply this change?" if asked.file else f"Allow execution of [{tool}]?",
        "",
        *_list(dialog, list(dialogs.rows(dialog))),
    ]


def _plan_lines(dialog: Dialog, plan: str, inner: int) -> list[str]:
    lines = ["Ready to start implementation?", "", *wrap_all(clean(plan), inner), ""]
    for row, label in enumerate(dialogs.rows(dialog)):
        is_field = row == len(dialogs.PLAN_OPTIONS)
        first, *more = (_field(dialog, label, is_current=row == dialog.focus) if is_field else label).split(
            "\n"
        )
        lines += [
            f"{'●' if row == dialog.focus else ' '} {row + 1}.  {first}",
            *(f"      {line}" for line in more),
        ]
        if not is_field:
            lines.append(f"      {dialogs.PLAN_OPTIONS[row].description}")
    does = "submit" if dialog.focus == len(dialogs.PLAN_OPTIONS) else "select · ↑/↓ to navigate"
    return [*lines, "", f"Enter to {does} · Ctrl+G to edit plan · Esc to cancel"]


def _field(dialog: Dialog, hint: str, *, is_current: bool) -> str:
    if dialog.here.typed:
        return clean(dialog.here.typed) + (f"{INVERSE} {UPRIGHT}" if is_current else "")
    return f"{INVERSE}{hint[0]}{UPRIGHT}{GREY}{hint[1:]}{UNCOLOURED}" if is_current else hint


def _tabs(dialog: Dialog) -> list[str]:
    if len(dialog.questions) == 1:
        return []
    ticks = [
        f"{'✓' if dialogs.picked(dialog, place) else '□'} {_tab(question.header, is_current=place == dialog.position)}"
        for place, question in enumerate(dialog.questions)
    ]
    return [f"← {' │ '.join([*ticks, '≡ Review'])} →", ""]


def _tab(words: str, *, is_current: bool) -> str:
    return f"{BOLD}{clean(words)}{PLAIN}" if is_current else clean(words)


def _question_lines(dialog: Dialog, inner: int) -> list[str]:
    if dialog.is_reviewing:
        answers = [
            f"{question.header} → {', '.join(dialogs.picked(dialog, place)) or '(not answered)'}"
            for place, question in enumerate(dialog.questions)
        ]
        keys = "Enter to submit · Tab/Shift+Tab to edit answers · Esc to cancel"
        missing = sum(not dialogs.picked(dialog, place) for place in range(len(dialog.questions)))
        plural = "" if missing == 1 else "s"
        warning = [f"⚠ You have {missing} unanswered question{plural}", ""] if missing else []
        return [*_tabs(dialog), "Review your answers:", "", *warning, *answers, "", keys]
    question = dialog.question
    lines = [*_tabs(dialog), *wrap_all(clean(question.question), inner)]
    if not question.options:
        first, *more = _field(dialog, RESPONSE, is_current=True).split("\n")
        return [*lines, "", f"> {first}", *(f"  {line}" for line in more), "", "", _keys_line(dialog)]
    rows = _choice_rows(dialog, question)
    if question.multi:
        top = max(0, min(dialog.focus - MOST_ROWS_IN_SIGHT + 1, len(rows) - MOST_ROWS_IN_SIGHT))
        rows = [["▲"], *rows[top : top + MOST_ROWS_IN_SIGHT], ["▼"]]
        lines.append("(Select all that apply)")
    return [*lines, "", *(line for row in rows for line in row), "", _keys_line(dialog)]


def _choice_rows(dialog: Dialog, asked: Choice) -> list[list[str]]:
    rows: list[list[str]] = []
    field = dialogs.text_row(dialog)
    for row, label in enumerate(dialogs.rows(dialog)):
        mark = "●" if row == dialog.focus else " "
        if asked.multi and row == len(asked.options) + 2:
            rows.append([f"{mark}  {label}", "   Finish selection"])
            continue
        tick = ("[x] " if row in dialog.here.chosen else "[ ] ") if asked.multi else " "
        words = _field(dialog, label, is_current=row == dialog.focus) if row == field else clean(label)
        first, *more = words.split("\n")
        lines = [f"{mark} {row + 1}. {tick}{first}", *(f"{' ' * (5 + len(tick))}{line}" for line in more)]
        about = asked.options[row].description if row < len(asked.options) else ""
        if asked.multi and row == len(asked.options):
            about = "Select all options"
        if about:
            lines.append(f"{' ' * (5 + len(tick))}{clean(about)}")
        rows.append(lines)
    return rows


def _keys_line(dialog: Dialog) -> str:
    is_several = len(dialog.questions) > 1
    if dialog.focus == dialogs.text_row(dialog):
        switch = " · Tab/Shift+Tab to switch questions" if is_several else ""
        return f"Enter to submit{switch} · Esc to cancel"
    return (
        f"Enter to select · {'←/→ to switch questions' if is_several else '↑/↓ to navigate'} · Esc to cancel"
    )
