"""Claude Code: dialogs in which it asks to go on: permissions, plans, and what the CLI itself wants to know. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from maestro.agents.claude.dialogs import INNER_RULE, MARGIN, Rows, rows, text_between
from maestro.agents.claude.layout import SIGN, Layout, said_before, soft_wrapped, unwrapped
from maestro.agents.questions import Option, Question, cut

_ARROW_OPTION: Final = re.compile(rf"(\s*){SIGN} (\S.*)$")
_SCROLL_MARK: Final = re.compile(r"\s+[↑↓]$")
_LASTING: Final = re.compile(
    r"always allow|don.t ask again|switch to|for this session|during this session|use auto mode|auto-accept"
    r"|bypass|allow all",
    re.IGNORECASE,
)
_AMENDABLE: Final = re.compile(r"(Yes|No), (.*)$")
_AMEND_HINT: Final = re.compile(r"and tell Claude what to do (?:differently|next)$")
_TOOLS: Final = {
    "Bash command": "Bash",
    "Create file": "Write",
    "Overwrite file": "Write",
    "Edit file": "Edit",
    "Edit notebook": "NotebookEdit",
    "Read file": "Read",
    "Fetch": "WebFetch",
    "Web Search": "WebSearch",
}
_FILE_DIALOGS: Final = frozenset({"Create file", "Overwrite file", "Edit file", "Edit notebook"})
_AMEND: Final = "Tab to amend"
_AMENDED: Final = ("Yes", "No")
_PLAN_TITLES: Final = frozenset({"Ready to code?", "Exit plan mode?"})
_PLAN_EDIT: Final = "ctrl+g to edit"  # below the last of its options
_PLAN_CHANGES: Final = "Tell Claude what to change"


def read_permission(view: Layout, start: int) -> Question | None:
    """May this tool run? The dialog names it, and shows what it would do.

    Of a dialog that is higher than the screen only the end is there: then nothing is said of what it would do, rather
    than a part of a command that looks like all of it.
    """
    found = rows_at_end(view, start)
    labels = [option.label for option in found.options]
    is_whole = start > 0 and not found.is_scrolled
    if not labels or not (_are_all(labels) if is_whole else all(map(_is_either, labels))):
        return None
    asked_at = _question_line(view, start, found.first)
    if asked_at is None:
        return None
    title_at = next((at for at in range(start, asked_at + 1) if view.lines[at].strip()), start)
    title = view.lines[title_at].strip() if is_whole else ""
    options, typed = _with_amendment(view, found)
    hints = view.last_paragraph() if typed is None else _AMEND
    question = Question(
        "permission",
        text=unwrapped(view.lines[asked_at : found.first], view.width).strip(),
        options=tuple(
            replace(
                option,
                is_lasting=_is_lasting(option.label),
                takes_notes=option.label in _AMENDED and _AMEND in hints,
            )
            for option in options
        ),
        header=title,
        preamble=said_before(view, start),
        tool=_TOOLS.get(title, ""),
        detail=_detail(view, title_at + 1, asked_at) if is_whole else "",
        inputs=_contents(view, title_at, asked_at) if is_whole else "",
        stage="typing" if typed is not None else "open",
        typed=typed or "",
    )
    return question if is_whole else cut(question)


def _are_all(labels: Sequence[str]) -> bool:
    return labels[0].startswith("Yes") and any(label.startswith("No") for label in labels)


def _is_either(label: str) -> bool:
    return label.startswith(("Yes", "No"))


def _is_lasting(label: str) -> bool:
    return label.startswith("Yes,") and _LASTING.search(label) is not None


def _question_line(view: Layout, start: int, first: int) -> int | None:
    """Where the sentence right above the options begins."""
    at = first - 1
    while at >= start and not view.lines[at].strip():
        at -= 1
    if at < start or not view.lines[at].rstrip().endswith("?"):
        return None
    while at > start and _goes_on(view, at - 1):
        at -= 1
    return at


def _goes_on(view: Layout, at: int) -> bool:
    line, following = view.lines[at], view.lines[at + 1]
    return bool(line.strip()) and not INNER_RULE.match(line) and soft_wrapped(line, following, view.width)


def _with_amendment(view: Layout, found: Rows) -> tuple[tuple[Option, ...], str | None]:
    """What is typed into an option, and None where no field has the keyboard.

    Tab opens a field inside “Yes” or “No”: “No, use pytest”. “don't ask again for: pytest *” is a field as soon as
    the cursor is on it, and takes every digit; then, too, the dialog does not offer Tab.
    """
    hints = view.last_paragraph()
    current = next((option for option in found.options if option.is_current), None)
    if current is None or _AMEND in hints or not hints.startswith("Esc to cancel"):
        return found.options, None
    opened = _AMENDABLE.match(current.label)
    if opened is None or _LASTING.search(current.label):
        return found.options, None if current is found.options[0] else ""
    typed = "" if _AMEND_HINT.match(opened[2]) else opened[2]
    kept = tuple(
        replace(option, label=opened[1]) if option.is_current else option for option in found.options
    )
    return kept, typed


def _detail(view: Layout, start: int, end: int) -> str:
    """What would be done: between the dashed lines, else everything below the title that is not grey."""
    dashes = [at for at in range(start, end) if re.match(r"\s*╌{8,}$", view.lines[at])]
    above = [at for at in range(start, dashes[0] if dashes else end) if _says_what(view, at)]
    within = range(dashes[0] + 1, dashes[-1]) if len(dashes) > 1 else range(0)
    title = view.lines[start - 1].strip() if start else ""
    if title in _FILE_DIALOGS:
        return view.lines[start].strip()
    shown = [view.lines[at] for at in (within or above)]
    has_margin = bool(shown) and all(MARGIN.match(line) for line in shown if line.strip())
    if has_margin:
        shown = [MARGIN.sub("   ", line, count=1) for line in shown]
    return unwrapped(shown, view.width).strip()


def _contents(view: Layout, title_at: int, end: int) -> str:
    """What would be written into a file, as far as the dialog shows it."""
    if view.lines[title_at].strip() not in _FILE_DIALOGS:
        return ""
    shown = [line for line in view.lines[title_at + 2 : end] if not INNER_RULE.match(line)]
    return "\n".join(line.strip() for line in shown).strip("\n")


def _says_what(view: Layout, at: int) -> bool:
    line = view.lines[at]
    if not line.strip() or line.strip() == "This command requires approval":
        return False
    column = len(line) - len(line.lstrip())
    return not view.is_styled or not view.colour_at(at, column)


def read_plan(view: Layout, start: int) -> Question | None:
    """May it carry out its plan?"""
    found = rows_at_end(view, start)
    if not found.options:
        return None
    above = view.lines[start : found.first]
    title = next((line.strip() for line in above if line.strip() and not INNER_RULE.match(line)), "")
    asked = _last_words(above)
    if title not in _PLAN_TITLES and not asked.startswith("Claude has written up a plan"):
        return None
    if not found.options[0].label.startswith("Yes"):
        return None
    has_all = found.options[-1].label.startswith("No") or _PLAN_EDIT in view.last_paragraph()
    options, typed = _with_changes(found.options) if has_all else (found.options, "")
    options = tuple(replace(option, is_lasting=_is_lasting(option.label)) for option in options)
    dashes = [at for at in range(start, found.first) if re.match(r"\s*╌{8,}$", view.lines[at])]
    # A long plan scrolls: its lower dashes are not there.
    plan_end = dashes[-1] if len(dashes) > 1 else _last_rule(view, start, found.first)
    plan = view.lines[dashes[0] + 1 : plan_end] if dashes else ()
    is_whole = len(dashes) != 1 and not any(_SCROLL_MARK.search(line) for line in above)
    question = Question(
        "plan",
        text=asked if asked.endswith("?") else title,
        options=options,
        header=title if title.endswith("?") else "",
        preamble=said_before(view, start),
        detail=unwrapped([_SCROLL_MARK.sub("", line) for line in plan], view.width),
        stage="typing" if options[-1].is_free_text and options[-1].is_current else "open",
        typed=typed,
        unread="" if is_whole else "The plan goes on where the screen ends.",
    )
    return question if is_whole and has_all and title in _PLAN_TITLES else cut(question)


def _last_words(lines: Sequence[str]) -> str:
    """The last paragraph above the options, as one line."""
    words: list[str] = []
    for line in reversed(lines):
        if INNER_RULE.match(line) or (words and not line.strip()):
            break
        if line.strip():
            words.insert(0, line.strip())
    return " ".join(words)


def _with_changes(options: tuple[Option, ...]) -> tuple[tuple[Option, ...], str]:
    """The row for changes of the plan takes words, and shows them in place of what it is for."""
    last = options[-1]
    if last.label.startswith("No"):
        return options, ""
    typed = "" if last.label == _PLAN_CHANGES else last.label
    return (*options[:-1], replace(last, label=_PLAN_CHANGES, is_free_text=True)), typed


def _last_rule(view: Layout, start: int, end: int) -> int:
    return max((at for at in range(start, end) if INNER_RULE.match(view.lines[at])), default=end)


def rows_at_end(view: Layout, start: int) -> Rows:
    """The options of a dialog whose text may itself be a numbered list: those below its last rule."""
    rules = [at for at in range(start, view.end) if INNER_RULE.match(view.lines[at])]
    return rows(view, rules[-1] + 1 if rules else start, view.end)


def read_dialog(view: Layout, start: int) -> Question | None:
    """What the CLI itself asks: its words, and options that mostly only arrows reach."""
    found = rows(view, start, view.end)
    if found.first >= 0 and not found.options:
        return None
    options, first = (found.options, found.first) if found.options else _arrow_options(view, start)
    text = text_between(view, start, first if options else view.end)
    return Question("dialog", text, options=options) if text else None


def _arrow_options(view: Layout, start: int) -> tuple[tuple[Option, ...], int]:
    """Options without numbers: the cursor's row, and its neighbours that begin in the same column."""
    for at in range(start, view.end):
        found = _ARROW_OPTION.match(view.lines[at])
        if found:
            column = found.start(2)
            first, last = at, at
            while first > start and _is_row(view.lines[first - 1], column):
                first -= 1
            while last + 1 < view.end and _is_row(view.lines[last + 1], column):
                last += 1
            return tuple(
                Option(view.lines[row][column:].strip(), is_current=row == at)
                for row in range(first, last + 1)
            ), first
    return (), view.end


def _is_row(line: str, column: int) -> bool:
    return len(line) > column and not line[:column].strip() and line[column] != " "
