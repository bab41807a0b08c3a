"""Every session at a glance, by how much it needs the human: what the live view shows. Pure.

Who needs the human most stands first; among equals, who has waited longest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

import msgspec

from maestro.agents.questions import Option
from maestro.agents.questions import Question as Asked
from maestro.coordinate.doing import DONE, ESCALATION, Seat, Word, doing
from maestro.ledger.facts import Escalation, Question, Session, Task
from maestro.observe.digest import Digest
from maestro.redact import clean, fold, redact

Takes = Literal[
    "one",  # one of its options
    "many",  # any of them
    "several",  # an answer for each of its parts
    "words",  # it has no options
]

RECENT_MS: Final = 10 * 60_000  # so long a session that has ended is still shown
LINES: Final = 3
WORKING_SECONDS: Final = 2
RESTING_SECONDS: Final = 30
_MOST: Final = 4_000  # characters of a text that are sent; a plan may be a book

_ORDER: Final[dict[Word, int]] = {
    "waiting": 0,
    "error": 1,
    "stuck": 2,
    "working": 3,
    "unknown": 4,
    "idle": 5,
    "done": 6,
    "ended": 7,
}


class PaneView(msgspec.Struct, frozen=True, rename="camel"):
    fleet: str
    socket: str
    pane_id: str
    tmux_session: str
    location: str
    focused: bool
    engaged: bool  # a coordinator is at it


class OptionView(msgspec.Struct, frozen=True, rename="camel"):
    number: int
    label: str
    description: str
    is_free_text: bool
    confirm: str  # why it is asked for again before it is told; empty: it need not be


class PartView(msgspec.Struct, frozen=True, rename="camel"):
    text: str
    options: tuple[OptionView, ...]


class QuestionView(msgspec.Struct, frozen=True, rename="camel"):
    id: str
    version: int
    kind: str
    takes: Takes
    preamble: str
    tool: str
    detail: str
    parts: tuple[PartView, ...]  # one, but where several are asked at once
    opened_at: int


class EscalationView(msgspec.Struct, frozen=True, rename="camel"):
    id: str
    kind: str
    text: str
    reason: str
    categories: tuple[str, ...]
    proposed: str
    opened_at: int


class LineView(msgspec.Struct, frozen=True, rename="camel"):
    at: int | None
    text: str
    source: str


class Row(msgspec.Struct, frozen=True, rename="camel"):
    session_id: str
    name: str
    agent: str
    role: str
    task: str
    status: Word
    evidence: str  # what the status rests on, in one line
    needs_you: int
    since: int
    line: str  # what it asks, or the last thing that it said
    lines: tuple[LineView, ...]
    question: QuestionView | None
    escalation: EscalationView | None
    pane: PaneView | None


class FleetView(msgspec.Struct, frozen=True, rename="camel"):
    name: str
    socket: str
    running: bool


class Overview(msgspec.Struct, frozen=True, rename="camel"):
    now: int
    refresh_after: int  # seconds after which to look again when no event came
    headline: str
    counts: dict[str, int]
    fleets: tuple[FleetView, ...]
    rows: tuple[Row, ...]


def overview(rows: Sequence[Row], fleets: Sequence[FleetView], now: int) -> Overview:
    counts: dict[str, int] = {word: sum(row.status == word for row in rows) for word in _ORDER}
    counts["needsYou"] = sum(row.needs_you > DONE for row in rows)
    counts["inbox"] = sum(row.escalation is not None for row in rows)
    counts["total"] = len(rows)
    refresh_after = WORKING_SECONDS if counts["working"] else RESTING_SECONDS
    return Overview(now, refresh_after, headline(counts), counts, tuple(fleets), tuple(rows))


def headline(counts: Mapping[str, int]) -> str:
    """`3 working · 1 needs you · 1 done`."""
    if not counts["total"]:
        return "no sessions"
    need = counts["needsYou"]
    parts = [f"{counts['working']} working"]
    if need:
        parts.append(f"{need} {'needs' if need == 1 else 'need'} you")
    parts += [f"{counts[word]} {word}" for word in ("idle", "done") if counts[word]]
    return " · ".join(parts)


def rows(
    sessions: Iterable[Session],
    digests: Mapping[str, Digest],
    questions: Iterable[Question],
    escalations: Iterable[Escalation],
    seats: Mapping[str, Seat],
    tasks: Mapping[str, Task],
    now: int,
) -> list[Row]:
    """A row for each session, whoever needs the human most first; among equals who has waited longest. Digests and
    seats are by session."""
    asked = {question.session_id: question for question in questions}  # oldest first: the latest stays
    inbox: dict[str, Escalation] = {}
    for escalation in sorted(escalations, key=lambda one: (one.question_id is None, one.opened_at)):
        inbox.setdefault(escalation.session_id, escalation)
    made = [
        _row(
            session,
            digests.get(session.id),
            asked.get(session.id),
            inbox.get(session.id),
            seats.get(session.id),
            tasks,
            now,
        )
        for session in sessions
    ]
    known = {row.session_id for row in made}
    made += [_without_session(one) for session_id, one in inbox.items() if session_id not in known]
    return sorted(made, key=_place)


def _place(row: Row) -> tuple[int, int, int, str]:
    return -row.needs_you, _ORDER[row.status], row.since, row.session_id


def _row(
    session: Session,
    digest: Digest | None,
    question: Question | None,
    escalation: Escalation | None,
    seat: Seat | None,
    tasks: Mapping[str, Task],
    now: int,
) -> Row:
    engaged = seat is not None and seat.state.lease.holds(now)
    does = doing(session, digest, question, seat, now, engaged=engaged)
    lines = (
        () if digest is None else tuple(_line(one.timestamp, one.text, one.source) for one in digest.entries)
    )
    asking = None if question is None else _question(question, escalation)
    escalated = None if escalation is None else _escalation(escalation)
    return Row(
        session_id=session.id,
        name=_safe(session.name),
        agent=session.agent,
        role=session.role,
        task=next((_safe(tasks[one].title) for one in session.task_ids if one in tasks), ""),
        status=does.word,
        evidence=_safe(does.evidence),
        needs_you=ESCALATION if escalation is not None else does.needs,
        since=escalation.opened_at if escalation is not None else does.since,
        line=_last_line(asking, escalated, lines) or _safe(does.evidence),
        lines=lines[-LINES:],
        question=asking,
        escalation=escalated,
        pane=None if seat is None or seat.dead else _pane(seat, engaged=engaged),
    )


def _without_session(escalation: Escalation) -> Row:
    """What is in the inbox is shown, whatever became of whom it is about."""
    view = _escalation(escalation)
    return Row(
        session_id=escalation.session_id,
        name=_safe(escalation.subject),
        agent="",
        role="",
        task="",
        status="waiting",
        evidence=view.reason,
        needs_you=ESCALATION,
        since=escalation.opened_at,
        line=_last_line(None, view, ()),
        lines=(),
        question=None,
        escalation=view,
        pane=None,
    )


# What is shown.


def _last_line(
    question: QuestionView | None, escalation: EscalationView | None, lines: Sequence[LineView]
) -> str:
    if question is not None:
        text = " / ".join(part.text for part in question.parts if part.text)
        return fold(f"{text} {question.detail}" if question.kind == "permission" else text or question.detail)
    if escalation is not None:
        return fold(escalation.text or escalation.reason)
    return fold(lines[-1].text) if lines else ""


def _question(question: Question, escalation: Escalation | None) -> QuestionView:
    asked = msgspec.convert(question.asked, Asked)
    parts = asked.parts or (asked,)
    categories = () if escalation is None else tuple(map(_safe, escalation.categories))
    return QuestionView(
        id=question.id,
        version=question.version,
        kind=question.kind,
        takes=_takes(parts),
        preamble=_safe(asked.preamble),
        tool=_safe(asked.tool),
        detail=_safe(asked.detail),
        parts=tuple(
            PartView(
                _safe(part.text),
                tuple(_option(number, one, categories) for number, one in enumerate(part.options, 1)),
            )
            for part in parts
        ),
        opened_at=question.opened_at,
    )


def _takes(parts: Sequence[Asked]) -> Takes:
    if len(parts) > 1:
        return "several"
    if not parts[0].options:
        return "words"
    return "many" if parts[0].kind == "multi_choice" else "one"


def _option(number: int, option: Option, categories: Sequence[str]) -> OptionView:
    why = [f"it was escalated for {', '.join(categories)}"] if categories else []
    if option.is_lasting:
        why.append("it changes what will be asked later")
    return OptionView(
        number=number,
        label=_safe(option.label),
        description=_safe(option.description),
        is_free_text=option.is_free_text,
        confirm=", and ".join(why),
    )


def _escalation(escalation: Escalation) -> EscalationView:
    return EscalationView(
        id=escalation.id,
        kind=escalation.kind,
        text=_safe(escalation.text),
        reason=_safe(escalation.reason),
        categories=tuple(map(_safe, escalation.categories)),
        proposed=_safe(escalation.proposed),
        opened_at=escalation.opened_at,
    )


def _pane(seat: Seat, *, engaged: bool) -> PaneView:
    return PaneView(
        seat.fleet,
        seat.socket,
        seat.pane_id,
        seat.tmux_session,
        seat.location,
        seat.state.focused,
        engaged,
    )


def _line(at: int | None, text: str, source: str) -> LineView:
    return LineView(at, _safe(text), source)


def _safe(text: object) -> str:
    shown = redact(clean(str(text))).strip()
    return shown if len(shown) <= _MOST else shown[: _MOST - 1] + "…"
