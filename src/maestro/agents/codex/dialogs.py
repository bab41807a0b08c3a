"""Codex CLI: the dialogs on its screen as questions. Pure.

An approval has no field for words: who refuses says why in the next prompt. A question of the model's has one under
its options, whichever of them is chosen; the last option is there for answers that are none of the others.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import Final, NamedTuple

from msgspec.structs import replace

from maestro.agents.codex.layout import HIDDEN, SIGN, Layout, paragraph_start, said_before
from maestro.agents.questions import Option, Question, cut

UNANSWERED: Final = "Submit with unanswered questions?"
PLAN: Final = "Implement this plan?"
NO_NOTES: Final = "Add notes"
_ROW: Final = re.compile(r"(?P<margin> {0,2})(?P<cursor>[\u203a ]) (?P<number>\d{1,2})\. (?P<rest>.*)$")
_SHORTCUT: Final = re.compile(r" \((?:[a-z]|esc|enter)\)$")
_LASTING: Final = re.compile(
    r"don.t ask (?:me )?again|for this (?:session|conversation)|in the future|Trust (?:all )?and continue",
    re.IGNORECASE,
)
_APPROVAL: Final = re.compile(r"  (?:Would you like to|Do you want to|Allow|Approve) .*")
_POSITION: Final = re.compile(r"  Question (\d+)/(\d+)(?: \((\d+) unanswered\))?$")
_EDIT: Final = re.compile(r"• (?:Added|Edited|Deleted|Changed) ")
_OPTIONS_LEFT: Final = re.compile(r"\boption \d+/\d+ \|")  # it shows some of its options at a time
_WELCOME: Final = "  Welcome to Codex"
_SIGN_IN_ROW: Final = re.compile(r"(?P<cursor>[> ]) (?P<number>\d)\. (?P<label>\S.*)$")
_WAY_BACK: Final = re.compile(r"  Press esc to (?:cancel|go back)$")
GO_BACK: Final = "Go back (esc)"
_COUNT: Final = re.compile(r"  \[… \d+ lines?\]")
_FREE_TEXT: Final = "None of the above"
_TOOLS: Final = {
    "Would you like to run the following command?": "exec_command",
    "Would you like to make the following edits?": "apply_patch",
    "Would you like to send input to the existing terminal?": "write_stdin",
    "Would you like to grant these permissions?": "request_permissions",
}


class Seen(NamedTuple):
    question: Question
    at: int  # the line that it begins with


class Rows(NamedTuple):
    options: tuple[Option, ...]
    start: int
    end: int


def read_rows(view: Layout, start: int, end: int, margin: int) -> Rows:
    """The first paragraph of numbered options between two lines, whose cursor stands in the column `margin`."""
    for at in range(start, end):
        found = _ROW.match(view.lines[at])
        if found and len(found["margin"]) == margin and found["number"] == "1":
            stop = at
            while stop < end and view.lines[stop].strip():
                stop += 1
            return Rows(_options(view.lines[at:stop], margin), at, stop)
    return Rows((), end, end)


def _options(lines: Sequence[str], margin: int) -> tuple[Option, ...]:
    options: list[Option] = []
    described_from = 0
    for line in lines:
        found = _ROW.match(line)
        if found and len(found["margin"]) == margin and int(found["number"]) == len(options) + 1:
            label, gap, description = _columns(found["rest"])
            described_from = found.start("rest") + len(label) + gap if description else 0
            options.append(
                Option(label, description, int(found["number"]), is_current=found["cursor"] == SIGN)
            )
        elif options:
            options[-1] = _continued(options[-1], line, described_from)
    return tuple(_known(option) for option in options)


def _columns(rest: str) -> tuple[str, int, str]:
    found = re.search(r" {2,}(?=\S)", rest)
    return (rest[: found.start()], len(found[0]), rest[found.end() :]) if found else (rest, 0, "")


def _continued(option: Option, line: str, described_from: int) -> Option:
    words = line.strip()
    if described_from and len(line) - len(line.lstrip()) >= described_from:
        return replace(option, description=f"{option.description} {words}")
    return replace(option, label=f"{option.label} {words}")


def _known(option: Option) -> Option:
    label = _SHORTCUT.sub("", option.label)
    return replace(
        option,
        label=label,
        is_lasting=bool(_LASTING.search(label)),
        is_free_text=label == _FREE_TEXT,
    )


def read_approval(view: Layout) -> Seen | None:
    rows = read_rows(view, _options_at(view), view.hints_at, 0)
    at = _heading(view.lines, rows.start, _APPROVAL)
    if not rows.options or at is None:
        return None
    words = list(takewhile(str.strip, view.lines[at : rows.start]))
    text = " ".join(line.strip() for line in words)
    body = view.lines[at + len(words) : rows.start]
    edit = _edit(view.lines[:at])
    question = Question(
        "permission",
        text,
        rows.options,
        preamble=said_before(view.lines, at),
        tool=_TOOLS.get(text, ""),
        detail=_command(body) or "\n".join(filter(None, [_facts(body), edit])),
    )
    # What an approval of edits is about stands above it, maybe beyond the screen.
    is_whole = not _has_hidden(view, at) and (edit or question.tool != "apply_patch")
    return Seen(question if is_whole else cut(question), at)


def _options_at(view: Layout) -> int:
    """Where the paragraph of the options begins: above the hints, mostly with a blank line between them."""
    above = view.hints_at - 1
    start = paragraph_start(view.lines, above - 1 if above > 0 and not view.lines[above].strip() else above)
    counts = [at for at in range(start, above) if _COUNT.match(view.lines[at])]
    return counts[-1] + 1 if counts else start


def _has_hidden(view: Layout, start: int) -> bool:
    """Whether the dialog says that it has no room for some of its lines."""
    return any(map(HIDDEN.match, view.lines[start : view.hints_at]))


def _heading(lines: Sequence[str], below: int, pattern: re.Pattern[str]) -> int | None:
    """The closest line above that begins a dialog. Nothing of the history stands in a dialog."""
    for at in range(below - 1, -1, -1):
        if pattern.match(lines[at]):
            return at
        if lines[at].strip() and not lines[at].startswith("  "):
            return None
    return None


def _command(body: Sequence[str]) -> str:
    """What stands behind the dollar sign. A long line of it is broken by the screen's edge, which nothing shows."""
    start = next((at for at, line in enumerate(body) if line.startswith("  $ ")), None)
    if start is None:
        return ""
    lines = [body[start][4:], *(line[2:] for line in body[start + 1 :])]
    return "\n".join(lines).strip("\n")


def _facts(body: Sequence[str]) -> str:
    return "\n".join(line.strip() for line in body if line.strip())


def _edit(above: Sequence[str]) -> str:
    """The change that an approval of edits is about: the last thing in the history."""
    start = next((at for at in range(len(above) - 1, -1, -1) if above[at][:1].strip()), None)
    if start is None or not _EDIT.match(above[start]):
        return ""
    lines = [above[start][2:], *(line[4:] for line in above[start + 1 :])]
    return "\n".join(line for line in lines if line.strip() and line != "+ Show details")


def read_plan(view: Layout) -> Seen | None:
    rows = read_rows(view, _options_at(view), view.hints_at, 0)
    at = _heading(view.lines, rows.start, re.compile(rf"  {re.escape(PLAN)}$"))
    if not rows.options or at is None:
        return None
    plan = _proposed(view.lines[:at])
    question = Question("plan", PLAN, rows.options, preamble=said_before(view.lines, at), detail=plan)
    return Seen(question if plan and not _has_hidden(view, at) else cut(question), at)


def _proposed(lines: Sequence[str]) -> str:
    start = next((at for at in range(len(lines) - 1, -1, -1) if lines[at] == "• Proposed Plan"), None)
    if start is None:
        return ""
    plan: list[str] = []
    for line in lines[start + 1 :]:
        if line.startswith("  Worked for ") or (line.strip() and not line.startswith("  ")):
            break
        plan.append(line[2:])
    return "\n".join(plan).strip("\n")


def read_question(view: Layout) -> Seen | None:
    """`request_user_input`: one question of maybe several, with a field for notes."""
    at = next((at for at in range(view.hints_at - 1, -1, -1) if _POSITION.match(view.lines[at])), None)
    found = _POSITION.match(view.lines[at]) if at is not None else None
    if at is None or found is None:
        return None
    rows = read_rows(view, at + 1, view.hints_at, 2)
    words = [line.strip() for line in view.lines[at + 1 : rows.start]]
    preamble = said_before(view.lines, at)
    options = tuple(replace(option, takes_notes=not option.is_free_text) for option in rows.options)
    question = Question(
        "choice" if options else "free_text",
        " ".join(filter(None, words)),
        options,
        preamble=preamble,
        stage="typing" if "clear notes" in (view.hints or "") or not rows.options else "open",
        typed=_notes(view, rows.end, view.hints_at),
    )
    if _OPTIONS_LEFT.search(view.hints or "") or _has_hidden(view, at):
        question = cut(question)
    position, count = int(found[1]) - 1, int(found[2])
    if count < 2 or not 0 <= position < count:
        return Seen(question, at)
    parts = [Question("choice", "")] * count
    parts[position] = replace(question, preamble="")
    return Seen(replace(question, kind="several", options=(), parts=tuple(parts), position=position), at)


def _notes(view: Layout, start: int, end: int) -> str:
    lines = list(view.lines[start:end])
    while lines and not lines[0].strip():
        lines.pop(0)
        start += 1
    if not lines or not lines[0].startswith(f"  {SIGN}"):
        return ""
    text = "\n".join(line[4:] for line in lines).strip("\n")
    is_hint = view.capture.style_at(start, 4).faint if view.is_styled else text == NO_NOTES
    return "" if is_hint else text


def read_unanswered(view: Layout) -> Seen | None:
    """What comes when the last of several questions has an answer and another has none."""
    rows = read_rows(view, 0, view.hints_at, 2)
    at = _heading(view.lines, rows.start, re.compile(rf"  {re.escape(UNANSWERED)}$"))
    if not rows.options or at is None:
        return None
    return Seen(Question("several", UNANSWERED, rows.options, stage="review"), at)


def read_dialog(view: Layout) -> Question | None:
    """What the CLI itself asks: its text is all that stands above the options, up to the history."""
    rows = read_rows(view, _options_at(view), view.hints_at, 0)
    top = min(rows.start, view.hints_at)
    first = top
    while first > 0 and (not view.lines[first - 1].strip() or view.lines[first - 1].startswith("  ")):
        first -= 1
    words = [line.strip() for line in view.lines[first:top]]
    shown = [line for line in words if line and not line.startswith((">_ OpenAI Codex", "/", "[… "))]
    question = Question("dialog", "\n".join(shown), rows.options)
    return cut(question) if _has_hidden(view, first) else question


def read_sign_in(view: Layout) -> Question | None:
    """How a person wants to sign in: the options are apart, each with a line below it. What follows a choice (a link, a
    code, a field for a key) offers only to go back, and nothing is told of a key."""
    top = next((at for at, line in enumerate(view.lines) if line.strip()), 0)
    if view.box is not None or not view.lines or not view.lines[top].startswith(_WELCOME):
        return None
    heads = [at for at in range(top, len(view.lines)) if _SIGN_IN_ROW.match(view.lines[at])]
    first = paragraph_start(view.lines, top) + len(list(takewhile(str.strip, view.lines[top:])))
    back_at = next((at for at, line in enumerate(view.lines) if _WAY_BACK.match(line)), None)
    words = _paragraphs(view.lines[first : heads[0] if heads else _field_at(view.lines, back_at)])
    if heads:
        stops = [*heads[1:], view.hints_at]
        options = tuple(_way_in(view.lines[at:stop]) for at, stop in zip(heads, stops, strict=True))
        question = Question("dialog", words, options)
        return question if view.hints is not None else cut(question)
    if back_at is None:
        return cut(Question("dialog", words))
    return Question("dialog", words, (Option(GO_BACK),))


def _paragraphs(lines: Sequence[str]) -> str:
    """The words, without a link: it is of use only where it can be opened."""
    text = "\n".join(line.strip(" >") for line in lines)
    kept = [
        part.replace("\n", " ").strip()
        for part in text.split("\n\n")
        if not part.strip().startswith("https:")
    ]
    return "\n".join(filter(None, kept))


def _field_at(lines: Sequence[str], back_at: int | None) -> int:
    """Where a field for a key begins, or else the line with the way back."""
    return next((at for at, line in enumerate(lines) if line.startswith("╭")), back_at or len(lines))


def _way_in(lines: Sequence[str]) -> Option:
    found = _SIGN_IN_ROW.match(lines[0])
    assert found is not None
    below = " ".join(line.strip() for line in lines[1:] if line.strip())
    return Option(found["label"], below, int(found["number"]), is_current=found["cursor"] == ">")
