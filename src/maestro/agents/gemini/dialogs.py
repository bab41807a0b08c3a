"""Gemini CLI: the dialogs on its screen as questions. Pure.

Every option has a number, also those that a list has scrolled out of sight, so a number says which one is meant. A
choice has a row for words of one's own as its last; in a multiple choice “Done” follows, which has no number.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from msgspec.structs import replace

from maestro.agents.gemini.layout import Layout, Row, said_before
from maestro.agents.questions import Option, Question, cut

ASKED: Final = "Answer Questions"
PLAN: Final = "Ready to start implementation?"
REVIEW: Final = "Review your answers:"
ALL: Final = "All of the above"
DONE: Final = "Done"
FREE_TEXT: Final = "Enter a custom value"
FEEDBACK: Final = "Type your feedback..."
_HINTED: Final = ("Enter your response", FREE_TEXT, FEEDBACK)
_OPTION: Final = re.compile(
    r" {0,2}(?P<cursor>[● ]) +(?P<number>\d{1,2})\. (?:\[(?P<tick>[x ])\])? *(?P<label>.*)$"
)
_DONE_ROW: Final = re.compile(r"(?P<cursor>[● ])  +Done$")
# A dialog that is higher than the screen has lost its first line, but not its last.
_HINTS: Final = re.compile(r"Enter to (?:select|submit) · (?!.*to edit plan).*Esc to cancel$")
_PLAN_HINTS: Final = re.compile(r"Enter to (?:select|submit) · .*to edit plan · Esc to cancel$")
_ALLOWED: Final = re.compile(r"Allow execution of .*\?$|Apply this change\?$|Do you want to proceed\?$")
_ENDS: Final = re.compile(r"Enter to (?:select|submit)\b.*\bEsc to cancel$|[● ]  +Done$")
_TABS: Final = re.compile(r"← (?P<tabs>.*) │ ≡ Review →$")
_TAB: Final = re.compile(r"(?P<mark>[□✓]) (?P<header>.*?)(?= │ |$)")
_MULTIPLE: Final = "(Select all that apply)"
_FIELD: Final = "> "
_NAMED_TOOL: Final = re.compile(r"Allow execution of (?:\[(.+)\]|MCP tool \"(.+?)\")")
_ACTION: Final = "Action Required"
_LASTING: Final = re.compile(
    r"for this session|future sessions|Trust (?:parent )?folder|always", re.IGNORECASE
)
_CUT: Final = "The dialog begins above the screen."
_SCROLLED: Final = "Some of its options are not on the screen."
_NO_ROOM: Final = re.compile(r"(?:│ )?\.\.\. (?:first |last )?\d+ (?:lines? )?hidden\b")
_INNER_TOP: Final = re.compile(r"╭─+╮$")
_INNER_BOTTOM: Final = re.compile(r"╰─+╯$")


class Found(NamedTuple):
    options: tuple[Option, ...]
    first: int  # the row of the first of them
    on_done: bool  # the cursor is on “Done”


def read_options(rows: Sequence[Row]) -> Found:
    heads = [at for at, row in enumerate(rows) if _OPTION.match(row.text) or _DONE_ROW.match(row.text)]
    heads = _last_run(rows, heads)
    if not heads:
        return Found((), len(rows), on_done=False)
    options: list[Option] = []
    on_done = False
    for at, stop in zip(heads, [*heads[1:], len(rows)], strict=True):
        found = _OPTION.match(rows[at].text)
        if found is None:
            on_done = rows[at].text.startswith("●")
            continue
        below = [row.text for row in _described(rows[at + 1 : stop])]
        option = Option(
            label=found["label"].removesuffix(" ✓").removesuffix(" (esc)"),
            description=" ".join(line.strip() for line in below),
            number=int(found["number"]),
            is_lasting=bool(_LASTING.search(found["label"])),
            is_chosen=found["tick"] == "x" or found["label"].endswith(" ✓"),
            is_current=found["cursor"] == "●",
        )
        options.append(option)
    return Found(tuple(options), heads[0], on_done)


def _last_run(rows: Sequence[Row], heads: Sequence[int]) -> list[int]:
    """Numbers that follow each other, from the bottom up: a plan or a question may hold a list of its own."""
    run: list[int] = []
    expected: int | None = None
    for at in reversed(heads):
        found = _OPTION.match(rows[at].text)
        if found is None:
            if run:
                break
            run.append(at)
            continue
        number = int(found["number"])
        if expected is not None and number != expected:
            break
        run.append(at)
        expected = number - 1
        if number == 1:
            break
    return run[::-1]


def _described(rows: Sequence[Row]) -> list[Row]:
    """The lines below an option that belong to it."""
    kept: list[Row] = []
    for row in rows:
        if not row.text.strip() or row.text in {"▲", "▼"} or _ENDS.match(row.text):
            break
        kept.append(row)
    return kept


def hints(rows: Sequence[Row]) -> str:
    """The last paragraph of a frame: which keys it takes."""
    last = max((at for at, row in enumerate(rows) if not row.text.strip()), default=-1)
    return " ".join(row.text.strip() for row in rows[last + 1 :])


def _has_hidden(rows: Sequence[Row]) -> bool:
    """Whether the dialog says that it has no room for some lines, or breaks the words of an option off."""
    is_broken = any(map(_breaks_off, rows[read_options(rows).first :]))
    return is_broken or any(map(_NO_ROOM.match, (row.text for row in rows)))


def _breaks_off(row: Row) -> bool:
    """Whether an option's words go on beyond the edge; elsewhere an ellipsis is one of them."""
    found = _OPTION.match(row.text)
    return found is not None and row.is_full and found["label"].removesuffix(" ✓").endswith("…")


def read_question(view: Layout) -> Question | None:
    """`ask_user`: one question of maybe several, or the review of their answers."""
    rows = view.frame
    if not rows or not (rows[0].text.startswith(ASKED) or _HINTS.match(hints(rows))):
        return None
    tabs_at = next((at for at, row in enumerate(rows) if _TABS.match(row.text)), None)
    tabs = _tabs(view, rows[tabs_at]) if tabs_at is not None else []
    inside = rows[(tabs_at if tabs_at is not None else 0) + 1 :]
    question = _one(view, inside)
    is_whole = rows[0].text.startswith(ASKED) and not _has_hidden(rows)
    unread = "" if is_whole else _CUT
    if question.kind != "several" and _is_scrolled(inside):
        unread = _SCROLLED
    question = replace(question, preamble=said_before(view.lines, view.frame_at), unread=unread)
    question = question if is_whole else cut(question)
    return _among_several(question, tabs) if tabs else question


def _one(view: Layout, rows: Sequence[Row]) -> Question:
    field = next((at for at, row in enumerate(rows) if row.text.startswith(_FIELD) or row.text == ">"), None)
    if any(row.text == REVIEW for row in rows):
        words = [row.text for row in rows if " → " in row.text]
        return Question("several", REVIEW, detail="\n".join(words), stage="review")
    found = read_options(rows)
    if not found.options and field is not None:
        return Question(
            "free_text", _words(rows[:field]), stage="typing", typed=_typed(view, rows[field:], len(_FIELD))
        )
    is_multiple = any(row.text == _MULTIPLE for row in rows)
    options, typed = _with_free_text(view, rows, found, FREE_TEXT)
    current = next((option for option in options if option.is_current), None)
    return Question(
        "multi_choice" if is_multiple else "choice",
        _words(rows[: found.first]),
        options,
        stage="review" if found.on_done else "typing" if current and current.is_free_text else "open",
        typed=typed,
    )


def _words(rows: Sequence[Row]) -> str:
    lines = [row.text.strip() for row in rows if row.text not in {_MULTIPLE, "▲"}]
    return "\n".join(lines).strip("\n")


def _with_free_text(
    view: Layout, rows: Sequence[Row], found: Found, label: str
) -> tuple[tuple[Option, ...], str]:
    """The row for words, where the list shows it: the last with a number, and neither ticked from a list nor described."""
    if not found.options:
        return (), ""
    last = found.options[-1]
    at = next(at for at, row in enumerate(rows) if at >= found.first and _is_row(row, last.number))
    has_more = any(row.text == "▼" for row in rows) and not any(_DONE_ROW.match(row.text) for row in rows)
    match = _OPTION.match(rows[at].text)
    assert match is not None
    is_hint = _is_hint(view, rows[at], match.start("label"))
    if has_more and not is_hint and not (last.is_current and _is_submitted_by_enter(rows)):
        return found.options, ""
    typed = "" if is_hint else _typed(view, rows[at:], match.start("label"))
    row = replace(last, label=label, description="", is_free_text=True)
    return (*found.options[:-1], row), typed


def _is_row(row: Row, number: int | None) -> bool:
    found = _OPTION.match(row.text)
    return found is not None and int(found["number"]) == number


def _is_submitted_by_enter(rows: Sequence[Row]) -> bool:
    """A field has the keyboard: the hints then say so."""
    return any(row.text.startswith("Enter to submit") for row in rows)


def _typed(view: Layout, rows: Sequence[Row], start: int) -> str:
    if _is_hint(view, rows[0], start):
        return ""
    lines = [rows[0].text[start:], *(row.text[start:] for row in _described(rows[1:]))]
    return "\n".join(lines).strip("\n").rstrip()


def _is_hint(view: Layout, row: Row, start: int) -> bool:
    """What a field suggests has a colour of its own behind the letter under the cursor; what was typed has none."""
    words = row.text[start:]
    if not words:
        return True
    column = row.column + start
    first, second = (view.capture.style_at(row.line, column + step) for step in (0, 1))
    if view.is_styled and first.inverse:
        return bool(second.colour) and len(words) > 1
    return words in _HINTED


class _Tab(NamedTuple):
    header: str
    is_answered: bool
    is_current: bool


def _tabs(view: Layout, row: Row) -> list[_Tab]:
    """The tabs but the last. The one on the screen is bold."""
    found = _TABS.match(row.text)
    if found is None:
        return []
    offset = row.column + found.start("tabs")
    return [
        _Tab(
            match["header"],
            match["mark"] == "✓",
            view.capture.style_at(row.line, offset + match.start("header")).bold,
        )
        for match in _TAB.finditer(found["tabs"])
    ]


def _among_several(question: Question, tabs: Sequence[_Tab]) -> Question:
    parts = [
        Question("choice", "", header=tab.header, stage="review" if tab.is_answered else "open")
        for tab in tabs
    ]
    if question.kind == "several":
        return replace(question, parts=tuple(parts), position=len(parts))
    bold = [at for at, tab in enumerate(tabs) if tab.is_current]
    position = bold[0] if len(bold) == 1 else _likely(question, tabs)
    parts[position] = replace(question, header=tabs[position].header, preamble="")
    return replace(question, kind="several", options=(), parts=tuple(parts), position=position)


def _likely(question: Question, tabs: Sequence[_Tab]) -> int:
    """Where no style tells: what has an answer is the last tab that has one, what has none the first that has none."""
    is_answered = bool(question.typed) or any(option.is_chosen for option in question.options)
    alike = [at for at, tab in enumerate(tabs) if tab.is_answered == is_answered]
    return (alike[-1] if is_answered else alike[0]) if alike else 0


def read_plan(view: Layout) -> Question | None:
    rows = view.frame
    if not rows or not (rows[0].text.startswith(PLAN) or _PLAN_HINTS.match(hints(rows))):
        return None
    found = read_options(rows)
    if not found.options:
        return None
    options, typed = _with_free_text(view, rows, found, FEEDBACK)
    current = next((option for option in options if option.is_current), None)
    is_whole = rows[0].text.startswith(PLAN) and not _has_hidden(rows) and not _is_scrolled(rows)
    question = Question(
        "plan",
        PLAN,
        options,
        preamble=said_before(view.lines, view.frame_at),
        detail="\n".join(row.text for row in rows[1 : found.first]).strip("\n"),
        unread="" if is_whole else _CUT,
        stage="typing" if current and current.is_free_text else "open",
        typed=typed,
    )
    return question if is_whole else cut(question)


def _is_scrolled(rows: Sequence[Row]) -> bool:
    return any(row.text.strip() in {"▲", "▼"} for row in rows)


def read_permission(view: Layout) -> Question | None:
    rows = view.frame
    found = read_options(rows)
    text_at = next((at for at in range(found.first - 1, -1, -1) if _ALLOWED.match(rows[at].text)), None)
    if not found.options or text_at is None:
        return None
    has_head = rows[0].text.startswith(("? ", _ACTION))
    body = rows[1:text_at] if has_head else rows[:text_at]
    is_whole = has_head and not _has_hidden(rows) and not _is_empty(body)
    question = Question(
        "permission",
        rows[text_at].text,
        found.options,
        preamble=said_before(view.lines, view.frame_at),
        tool=_tool(rows[0].text, rows[text_at].text),
        detail=_inner(body) or "\n".join(row.text for row in body if row.text.strip()),
        unread="" if has_head else _CUT,
    )
    return question if is_whole else cut(question)


def _is_empty(rows: Sequence[Row]) -> bool:
    """Whether the frame inside the frame has no room for what belongs there."""
    framed = [row for row in rows if row.text.strip()]
    return any(
        _INNER_TOP.match(one.text) and _INNER_BOTTOM.match(other.text) for one, other in pairwise(framed)
    )


def _tool(head: str, text: str) -> str:
    named = _NAMED_TOOL.match(text)
    if named:
        return named[1] or named[2]
    return head.split()[1] if head.startswith("? ") and len(head.split()) > 1 else ""


def _inner(rows: Sequence[Row]) -> str:
    """What stands in the frame inside the frame: the command, or the change. What is behind it, if it is cut, is lost."""
    lines: list[str] = []
    is_inside = False
    for row in rows:
        if _INNER_TOP.match(row.text):
            is_inside = True
        elif _INNER_BOTTOM.match(row.text):
            break
        elif is_inside:
            lines.append(row.text.removeprefix("│ ").removesuffix("│").rstrip())
    return "\n".join(lines)


def read_dialog(view: Layout) -> Question | None:
    """What the CLI itself asks."""
    found = read_options(view.frame)
    if not found.options:
        return None
    question = Question("dialog", _words(view.frame[: found.first]), found.options)
    return question if view.has_top and not _has_hidden(view.frame) else cut(question)
