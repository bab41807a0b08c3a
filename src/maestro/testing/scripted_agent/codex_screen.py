"""The looks of Codex 0.166.0. Pure."""

from __future__ import annotations

from maestro.testing.scripted_agent import codex_dialogs as dialogs
from maestro.testing.scripted_agent.cells import BOLD, DIM, PLAIN, cells, padded, wrap_all
from maestro.testing.scripted_agent.dialog import Consent, Dialog, Gate, PlanApproval
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

VERSION = "0.166.0"
POINTER = "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}"
PLACEHOLDER = "Ask Codex to do anything"
LONGEST_UNFOLDED = 1000
MARKS = {
    "prompt": f"{POINTER} ",
    "shell": "• You ran ",
    "text": "• ",
    "info": "■ ",
    "tool": "• Ran ",
    "result": "  └ ",
    "error": "■ ",
    "done": "  ",
}

# Its box's sign is bold; that of a prompt in the history is faint besides.
_STYLED_MARKS = {**MARKS, "prompt": f"{BOLD}{DIM}{POINTER} {PLAIN}"}


def render(state: ScreenState, width: int, height: int) -> Frame:
    size = (width, height)
    head = ["", f"  >_ OpenAI Codex (v{VERSION})", f"     {state.cwd}", ""]
    above = conversation(state, _STYLED_MARKS, head, width, height)
    if state.dialog is not None:
        if isinstance(state.dialog.asked, Gate):
            above = [""]
        return under_dialog(above, _fitting(state, state.dialog, size), size, _title(state))
    live: list[str] = []
    if state.spinner is not None:
        live += [_working_line(state.spinner), ""]
    if state.queued:
        rest = [f"  ↳ {clean(text).splitlines()[0]}" for text in state.queued]
        note = "• Messages to be submitted after next tool call (press esc to interrupt and send immediately)"
        live += [note, *rest, ""]
    box, column = _box(state, width)
    hint = "Shell mode" if state.box.is_shell else "? for shortcuts"
    last = f"  {state.notice or hint}" if state.box.is_empty or state.box.is_shell else ""
    below = [*live, *box, "", f"  {state.name} default · {state.cwd}", last]
    return laid_out(above, below, (3, column), size, shown=True, title=_title(state))


def _title(state: ScreenState) -> str:
    place = f"{state.name} | {state.folder}"
    if state.dialog is not None:
        return f"[ . ] Action Required | {place}"
    if state.spinner is not None:
        return f"{BRAILLE[state.spinner.frame % len(BRAILLE)]} {place}"
    return place


def _working_line(spinner: Spinner) -> str:
    what = spinner.note or "Working"
    mark = "•◦"[spinner.frame % 2]
    return f"{mark} {what} {DIM}({duration(spinner.seconds)} • esc to interrupt){PLAIN}"


def _box(state: ScreenState, width: int) -> tuple[list[str], int]:
    mark = f"{BOLD}{'!' if state.box.is_shell else POINTER}{PLAIN}"
    if state.box.is_empty:
        return [f"{mark} {DIM}{'' if state.box.is_shell else PLACEHOLDER}{PLAIN}"], 2
    text = "".join(
        f"[Pasted Content {len(piece)} chars]" if len(piece) > LONGEST_UNFOLDED else piece
        for piece in state.box.draft.pieces
    )
    rows = wrap_all(text, max(1, width - 3))[-MOST_BOX_LINES:]
    lines = [f"{mark if index == 0 else ' '} {row}" for index, row in enumerate(rows)]
    return lines, 2 + cells(rows[-1])


def _fitting(state: ScreenState, dialog: Dialog, size: tuple[int, int]) -> list[str]:
    lines = _dialog_lines(state, dialog, size[0])
    return shrunk(lines, "codex", *size) if isinstance(dialog.asked, Consent) else lines


def _dialog_lines(state: ScreenState, dialog: Dialog, width: int) -> list[str]:
    match dialog.asked:
        case Consent():
            return _consent_lines(dialog, dialog.asked, width)
        case PlanApproval(plan):
            proposed = [
                "• Proposed Plan",
                "",
                *(f"  {row}" for row in wrap_all(clean(plan), max(1, width - 2))),
                "",
            ]
            about = [option.description for option in dialogs.PLAN_OPTIONS]
            rows = _described(dialog, about)
            return [*proposed, "  Implement this plan?", "", *rows, "", "  enter select · esc back"]
        case Gate("hooks"):
            head = ["  Hooks need review", "  1 hook is new or changed.", ""]
            return [*head, *_rows(dialog), "", "  enter confirm · esc skip"]
        case Gate():
            head = ["  Folder access", f"  {state.cwd}", "", "  Trust this folder?", ""]
            return [*head, *_rows(dialog), "", "  enter continue · esc back"]
    if dialog.is_reviewing:
        count = len(dialogs.open_places(dialog))
        left = f"{count} unanswered question{'' if count == 1 else 's'}"
        rows = _described(dialog, [f"Submit with {left}", "Return to the first unanswered question"], "  ")
        head = ["  Submit with unanswered questions?", f"  {left}", ""]
        return [*head, *rows, "", "  Press enter to confirm or esc to go back"]
    return _question_lines(dialog, width)


def _rows(dialog: Dialog) -> list[str]:
    return [
        f"{POINTER if row == dialog.focus else ' '} {row + 1}. {clean(label)}"
        for row, label in enumerate(dialogs.rows(dialog))
    ]


def _described(dialog: Dialog, about: list[str], indent: str = "") -> list[str]:
    """Options with what they mean beside them."""
    labels = [f"{number}. {clean(label)}" for number, label in enumerate(dialogs.rows(dialog), start=1)]
    room = max(map(cells, labels), default=0) + 2
    return [
        f"{indent}{POINTER if row == dialog.focus else ' '} {padded(label, room)}{DIM}{words}{PLAIN}"
        for row, (label, words) in enumerate(zip(labels, about, strict=True))
    ]


def _consent_lines(dialog: Dialog, asked: Consent, width: int) -> list[str]:
    first, *more = wrap_all(clean(asked.command), max(1, width - 4))
    head = ["  Would you like to run the following command?", "", "  Environment: local", ""]
    if asked.file:
        head = ["  Would you like to make the following edits?", "", f"  Destination: {asked.file}", ""]
        return [*head, *_rows(dialog), "", "  Press enter to confirm or esc to cancel"]
    reason = [f"  Reason: {clean(asked.description)}", ""] if asked.description else []
    command = [f"  $ {first}", *(f"    {row}" for row in more)]
    keys = ["", "  Press enter to confirm or esc to cancel"]
    return [*head, *reason, *command, "", *_rows(dialog), *keys]


def _question_lines(dialog: Dialog, width: int) -> list[str]:
    count = len(dialog.questions)
    open_ones = len(dialogs.open_places(dialog))
    question = [f"  {row}" for row in wrap_all(clean(dialog.question.question), max(1, width - 2))]
    lines = [f"  Question {dialog.position + 1}/{count} ({open_ones} unanswered)", *question, ""]
    options = dialog.question.options
    if options:
        about = [*(clean(option.description) for option in options), "Optionally, add details in notes (tab)"]
        lines += _described(dialog, about, "  ")
    if dialog.is_typing:
        lines += ["", *_notes_lines(dialog, width)]
    return [*lines, "", f"  {_keys_line(dialog, open_ones)}"]


def _notes_lines(dialog: Dialog, width: int) -> list[str]:
    hint = "Add notes" if dialog.question.options else "Type your answer (optional)"
    if not dialog.here.typed:
        return [f"  {POINTER} {DIM}{hint}{PLAIN}"]
    rows = wrap_all(clean(dialog.here.typed), max(1, width - 5))
    return [f"  {POINTER if index == 0 else ' '} {row}" for index, row in enumerate(rows)]


def _keys_line(dialog: Dialog, open_ones: int) -> str:
    is_last = open_ones <= 1 and not dialog.here.is_answered
    sends = "enter to submit all" if is_last and len(dialog.questions) > 1 else "enter to submit answer"
    moves = ["←/→ to navigate questions"] if len(dialog.questions) > 1 else []
    if dialog.is_typing and dialog.question.options:
        return f"tab or esc to clear notes | {sends}"
    begins = ["tab to add notes"] if dialog.question.options else []
    return " | ".join([*begins, sends, *moves, "esc to interrupt"])
