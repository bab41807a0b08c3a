"""Claude Code: the dialogs on its screen as questions. Pure.

A single choice and a multiple one have a row for free words as their last; options with a preview beside them have
none. Several questions, and a single multiple choice, have tabs above them and a review at their end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from maestro.agents.claude.layout import SIGN, Layout, said_before, soft_wrapped, unwrapped
from maestro.agents.questions import Option, Question, QuestionKind, cut

FREE_TEXT: Final = "Type something"
# An arrow in the place of the cursor: the list goes on beyond the rows that are shown.
_OPTION: Final = re.compile(rf"(\s{{0,8}}?)({SIGN} ?|[↑↓] )?\s*(\d{{1,2}})\.\s?(?:\[(.)\] ?)?(.*)$")
_TABS: Final = re.compile(r"(?:←\s+| )[☐☒] ")
_TAB: Final = re.compile(r"([☐☒✔]) (.*?)(?= {2}|$)")
_LEAVE: Final = "Chat about this"
_CHAT: Final = re.compile(rf"(?:{SIGN} |  )(\d+)\. {_LEAVE}$")
_LEAVE_ROW: Final = re.compile(rf"(?:{SIGN} |  ) {{3}}(?:Submit|Next)$")
INNER_RULE: Final = re.compile(r"\s*[─╌]{8,}$")
MARGIN: Final = re.compile(r"\s*│ ")  # before each line of a text that takes several
_PREVIEW: Final = "n to add notes"
_NOTES: Final = re.compile(r"\s+Notes: ?")
_NOTES_OPEN: Final = "ctrl+g to edit"
_NO_NOTES: Final = ("press n to add notes", "Add notes on this design…")
_UNSEEN_PREVIEWS: Final = "The previews of its other options are not on the screen."


class Rows(NamedTuple):
    """The options of a dialog, and where they are."""

    options: tuple[Option, ...]
    first: int  # the line of the first of them
    last: int
    end: int  # behind the last
    is_scrolled: bool = False  # there are more of them than are shown


NO_ROWS: Final = Rows((), -1, -1, -1)
_Heads = list[tuple[int, re.Match[str]]]


def rows(view: Layout, start: int, end: int) -> Rows:
    """Reads the last numbered list between two lines: a question or a command above it may hold one of its own.

    A list that begins with another number than 1 is scrolled only where an arrow says so, or where the dialog is higher
    than the screen. Elsewhere nobody knows what its numbers mean: then it has a place, but no options.
    """
    heads, limit = _last_list(view, start, end)
    if not heads:
        return NO_ROWS
    ends = [at for at, _ in heads[1:]] + [_end_of_block(view, heads[-1][0], limit)]
    has_arrow = any((found[2] or "").startswith(("↑", "↓")) for _, found in heads)
    is_scrolled = has_arrow or (heads[0][1][3] != "1" and view.dialog == 0)
    if heads[0][1][3] != "1" and not is_scrolled:
        return Rows((), heads[0][0], heads[-1][0], ends[-1])
    edge = _preview_column(view, heads[0][0], limit)
    options = tuple(
        _option(view, at, found, stop, edge) for (at, found), stop in zip(heads, ends, strict=True)
    )
    return Rows(_with_cursor(options, heads), heads[0][0], heads[-1][0], ends[-1], is_scrolled)


def _last_list(view: Layout, start: int, end: int) -> tuple[_Heads, int]:
    """Returns the rows of the last list whose numbers follow each other, and the line that ends it.

    The row that leaves the dialog stands below a rule, and counts only where nothing else is there.
    """
    heads: _Heads = []
    limit = end
    is_open = False
    for at in range(start, end):
        line = view.lines[at]
        found = _OPTION.match(line)
        if INNER_RULE.match(line) or _LEAVE_ROW.match(line):
            limit = at if is_open else limit
            is_open = False
        elif found is None:
            is_open = is_open and _goes_on(view, at, heads)
        elif is_open and _follows(heads[-1][1], found):
            heads.append((at, found))
        elif not heads or not (_is_inside(found, heads) or _CHAT.match(line)):
            heads, limit, is_open = [(at, found)], end, True
    return heads, limit


def _goes_on(view: Layout, at: int, heads: _Heads) -> bool:
    """Whether a line can stand between two options of a list: below one that fills its line, also a blank one."""
    line = view.lines[at]
    if not line.strip():
        return len(view.lines[at - 1]) >= view.width
    return len(line) - len(line.lstrip()) >= heads[-1][1].start(3)


def _is_inside(found: re.Match[str], heads: _Heads) -> bool:
    """Whether a number stands in the words of an option: they begin three columns behind its own."""
    return found.start(3) >= heads[-1][1].start(3) + 3


def _follows(one: re.Match[str], other: re.Match[str]) -> bool:
    is_next = int(other[3]) == int(one[3]) + 1 and abs(one.start(3) - other.start(3)) <= 1
    return is_next and not (other[2] or "").startswith("↑")


def _end_of_block(view: Layout, start: int, limit: int) -> int:
    at = start + 1
    while at < limit and view.lines[at].strip():
        at += 1
    return at


def _preview_column(view: Layout, start: int, end: int) -> int | None:
    column = view.lines[start].find("┌─")
    below = view.lines[start + 1 : end]
    return column if column > 0 and any(line[column : column + 1] == "│" for line in below) else None


def _option(view: Layout, at: int, found: re.Match[str], stop: int, edge: int | None) -> Option:
    lines = [line[:edge].rstrip() if edge else line for line in view.lines[at:stop]]
    width = edge or view.width
    is_ticked = found[4] in {"✔", "x"}
    first = lines[0][found.start(5) :]
    if first.endswith("✔"):
        is_ticked, first = True, first[:-1].rstrip()
    label: list[str] = [first]
    description: list[str] = []
    number_colour = view.colour_at(at, found.start(3))
    before = lines[0].removesuffix("✔").rstrip() if not first.endswith("✔") else lines[0]
    for offset, line in enumerate(lines[1:], start=1):
        if not line.strip():
            break
        column = len(line) - len(line.lstrip())
        if view.is_styled and edge is None:
            goes_on = not description and view.colour_at(at + offset, column) != number_colour
        else:
            goes_on = not description and (edge is not None or soft_wrapped(before, line, width))
        (label if goes_on else description).append(line)
        before = line
    return Option(
        label=unwrapped([" " * found.start(5) + label[0], *label[1:]], width).replace("\n", " "),
        description=unwrapped(description, width).replace("\n", " "),
        number=int(found[3]),
        is_chosen=is_ticked,
        is_current=(found[2] or "").startswith(SIGN),
    )


def _with_cursor(
    options: tuple[Option, ...], heads: Sequence[tuple[int, re.Match[str]]]
) -> tuple[Option, ...]:
    """2.1.197 draws no cursor before a long option with a preview; the row stands one column further left."""
    columns = [found.start(3) for _, found in heads]
    if any(option.is_current for option in options) or len(set(columns)) != 2:
        return options
    return tuple(
        replace(option, is_current=column == min(columns))
        for option, column in zip(options, columns, strict=True)
    )


def read_choice(view: Layout, start: int) -> Question | None:
    """AskUserQuestion: one question of maybe several."""
    tabs_at = next((at for at in range(start, view.end) if view.lines[at].strip()), start)
    tabs = _tabs(view, tabs_at)
    hints = view.last_paragraph()
    found = rows(view, tabs_at + (1 if tabs else 0), view.end)
    if not found.options:
        return None
    if _lacks_options(view, found):
        return _rest_of_choice(view, tabs_at, tabs, found)
    text = text_between(view, tabs_at + (1 if tabs else 0), found.first)
    is_multiple = any(_checkbox(view.lines[at]) for at in range(found.first, found.end))
    options = found.options
    typed = unread = ""
    is_typing = False
    if _PREVIEW in hints:
        options, unread = _with_preview(view, found), _UNSEEN_PREVIEWS
        typed, is_typing = _notes(view, found.first), _NOTES_OPEN in hints
    else:
        options, typed = _with_freetext_between(view, found)
        is_typing = any(option.is_current and option.is_free_text for option in options)
    question = Question(
        kind="multi_choice" if is_multiple else "choice",
        text=text,
        options=options,
        header=tabs[0].header if len(tabs) == 1 else "",
        preamble=said_before(view, start),
        stage="typing" if is_typing else "open",
        typed=typed,
        unread=unread if len(options) > 1 else "",
    )
    # A dialog that is higher than the screen has lost its edge.
    question = question if start else cut(question)
    return question if len(tabs) < 2 else _among_several(question, tabs)


def _lacks_options(view: Layout, found: Rows) -> bool:
    """Whether the screen has no room for some options: between the last and the row that leaves the dialog."""
    leave = next((match for line in view.lines[found.first :] if (match := _CHAT.match(line))), None)
    is_short = leave is not None and int(leave[1]) > (found.options[-1].number or 0) + 1
    return found.is_scrolled or is_short


def _rest_of_choice(view: Layout, tabs_at: int, tabs: Sequence[_Tab], found: Rows) -> Question:
    text = text_between(view, tabs_at + (1 if tabs else 0), found.first)
    options = tuple(
        replace(option, is_free_text=option.label.rstrip(".") == FREE_TEXT)
        for option in found.options
        if option.label != _LEAVE
    )
    return cut(Question("choice", text, options, header=tabs[0].header if len(tabs) == 1 else ""))


def _with_preview(view: Layout, found: Rows) -> tuple[Option, ...]:
    """The options, with what stands in the frame beside them: it belongs to the one that the cursor is on."""
    edge = _preview_column(view, found.first, view.end)
    if edge is None:
        return tuple(replace(option, takes_notes=True) for option in found.options)
    shown: list[str] = []
    for line in view.lines[found.first + 1 : view.end]:
        if line[edge : edge + 1] != "│":
            break
        shown.append(line[edge + 1 :].strip().removesuffix("│").rstrip())
    preview = "\n".join(shown)
    return tuple(
        replace(option, preview=preview if option.is_current else "", takes_notes=True)
        for option in found.options
    )


def _notes(view: Layout, start: int) -> str:
    """What is typed below the frame, for the option that will be chosen."""
    at = next((at for at in range(start, view.end) if _NOTES.match(view.lines[at])), None)
    if at is None:
        return ""
    end = at + 1
    while end < view.end and view.lines[end].strip() and not INNER_RULE.match(view.lines[end]):
        end += 1
    first = _NOTES.sub("", view.lines[at], count=1)
    text = unwrapped([first, *view.lines[at + 1 : end]], view.width)
    return "" if text in _NO_NOTES else text.strip()


def _checkbox(line: str) -> bool:
    found = _OPTION.match(line)
    return found is not None and found[4] is not None


def _with_freetext_between(view: Layout, found: Rows) -> tuple[tuple[Option, ...], str]:
    """The last row before the rule takes words: it shows them, or in their place what it is for."""
    *others, last = found.options
    is_empty = last.label.rstrip(".") == FREE_TEXT
    first, *more = view.lines[found.last : found.end]
    head = _OPTION.match(first)
    words = unwrapped([" " * head.start(5) + head[5] if head else "", *more], view.width)
    row = replace(last, label=FREE_TEXT, description="", is_free_text=True)
    return (*others, row), "" if is_empty else words.strip()


class _Tab(NamedTuple):
    header: str
    is_answered: bool
    is_current: bool


def _tabs(view: Layout, at: int) -> list[_Tab]:
    """The tabs on a line, without the one that submits. The one on the screen is told by its colour."""
    line = view.lines[at] if at < view.end else ""
    if not _TABS.match(line):
        return []
    found = list(_TAB.finditer(line.removesuffix("→").rstrip()))
    colours = [view.colour_at(at, match.start(2)) for match in found]
    return [
        _Tab(match[2].strip(), match[1] == "☒", colours.count(colour) == 1 and len(found) > 2)
        for match, colour in zip(found, colours, strict=True)
        if match[1] != "✔"
    ]


def _among_several(question: Question, tabs: Sequence[_Tab]) -> Question:
    """All questions of a dialog: of those that are not on the screen, only what their tabs tell."""
    coloured = [position for position, tab in enumerate(tabs) if tab.is_current]
    waiting = [position for position, tab in enumerate(tabs) if not tab.is_answered]
    position = coloured[0] if len(coloured) == 1 else (waiting or [len(tabs) - 1])[0]
    parts = [_unseen(tab) for tab in tabs]
    parts[position] = replace(question, header=tabs[position].header, preamble="")
    return replace(question, kind="several", parts=tuple(parts), position=position, options=())


def _unseen(tab: _Tab) -> Question:
    return Question("choice", "", header=tab.header, stage="review" if tab.is_answered else "open")


def read_review(view: Layout, start: int) -> Question | None:
    """The last tab: every answer, and whether they shall be sent."""
    tabs_at = next((at for at in range(start, view.end) if view.lines[at].strip()), start)
    tabs = _tabs(view, tabs_at)
    found = rows(view, tabs_at, view.end)
    if [option.label for option in found.options] != ["Submit answers", "Cancel"]:
        return None
    given = _answers(view, tabs_at + 1, found.first)
    parts = tuple(
        replace(_unseen(tab), text=given[position][0] if 0 <= position < len(given) else "")
        for position, tab in zip(_answered_positions(tabs), tabs, strict=True)
    )
    kind: QuestionKind = "several" if len(tabs) > 1 else "multi_choice"
    return Question(
        kind,
        text="Ready to submit your answers?",
        options=found.options,
        header=tabs[0].header if len(tabs) == 1 else "",
        preamble=said_before(view, start),
        detail="\n".join(f"{asked} → {answer}" for asked, answer in given),
        parts=parts if len(tabs) > 1 else (),
        position=len(tabs),
        stage="review",
    )


def _answered_positions(tabs: Sequence[_Tab]) -> list[int]:
    """For each tab, which of the review's answers is its own: only those that have one are listed."""
    positions, count = [], 0
    for tab in tabs:
        positions.append(count if tab.is_answered else -1)
        count += tab.is_answered
    return positions


def _answers(view: Layout, start: int, end: int) -> list[tuple[str, str]]:
    """The questions that a review lists, and what was answered."""
    given: list[tuple[list[str], list[str]]] = []
    for line in view.lines[start:end]:
        words = MARGIN.sub("   ", line, count=1)
        if words.strip().startswith("● "):
            given.append(([words.replace("●", " ", 1)], []))
        elif words.startswith("   ") and given:
            asked, answer = given[-1]
            if words.strip().startswith("→ "):
                answer.append(words.replace("→", " ", 1))
            else:
                (answer or asked).append(words)
    return [(unwrapped(asked, view.width), unwrapped(answer, view.width)) for asked, answer in given]


def text_between(view: Layout, start: int, end: int) -> str:
    """The words between two lines, paragraph by paragraph."""
    lines = [MARGIN.sub("", line, count=1) for line in view.lines[start:end]]
    return re.sub(r"\n{3,}", "\n\n", unwrapped(lines, view.width)).strip()
