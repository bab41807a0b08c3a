"""Escalations: what waits for the human. One is open for each subject, and it is told again only when there is news."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from maestro.errors import InvalidInput, NotFound
from maestro.ledger import lookup, schema
from maestro.ledger.facts import Escalation, EscalationKind
from maestro.ledger.journal import Change
from maestro.ledger.questions import IN_WORDS
from maestro.ledger.sessions import get_session
from maestro.redact import clean, redact

_escalations = schema.escalations
_TEXT_KEPT = 4000
_REASON_KEPT = 1000

# How a human closes one without an answer: it is not opened again for the same version of its subject.
DISMISSED = "dismissed"
WENT_ON = "the worker went on"
SESSION_ENDED = "the session has ended"
# These are news of an end, or of more than one session: an ended session does not settle them.
_OUTLIVE: frozenset[EscalationKind] = frozenset({"error", "budget"})


def open_escalation(
    change: Change,
    *,
    session_id: str,
    kind: EscalationKind,
    subject: str,
    text: str,
    reason: str,
    question_id: str | None = None,
    version: int | None = None,
    categories: Sequence[str] = (),
    proposed: str = "",
    confidence: float = 0.0,
    decision_id: str | None = None,
) -> str:
    """The open one of this subject, with what is new; else the one that a human dismissed; else a new one."""
    fields: dict[str, Any] = {
        "version": version,
        "text": _fit(text, _TEXT_KEPT),
        "reason": _fit(reason, _REASON_KEPT),
        "categories": [_fit(category, _REASON_KEPT) for category in categories],
        "proposed": _fit(proposed, _TEXT_KEPT),
        "confidence": confidence if 0.0 <= confidence <= 1.0 else 0.0,
        "decision_id": decision_id,
        "updated_at": change.now,
    }
    known = open_of(change.connection, subject)
    if known is not None:
        return _tell_news(change, known, fields)
    if (settled := dismissed(change.connection, subject, version)) is not None:
        return settled.id
    fields |= {
        "id": change.new_id("esca"),
        "session_id": session_id,
        "kind": kind,
        "subject": subject,
        "question_id": question_id,
        "opened_at": change.now,
        "news": 0,
        "notified_at": None,
        "closed_at": None,
        "closed_by": "",
    }
    change.connection.execute(_escalations.insert().values(**fields))
    told = {name: value for name, value in fields.items() if name not in {"closed_at", "closed_by"}}
    _record(change, "opened", session_id, told)
    return str(fields["id"])


def get_escalation(connection: Connection, escalation_id: str) -> Escalation:
    row = connection.execute(sa.select(_escalations).where(_escalations.c.id == escalation_id)).first()
    if row is None:
        raise NotFound(f"There is no escalation {escalation_id}.", hint="`maestro inbox` shows what waits.")
    return _fact(row)


def list_escalations(
    connection: Connection, *, is_open: bool | None = None, session_id: str | None = None
) -> list[Escalation]:
    """Oldest first: who waits longest comes first."""
    query = sa.select(_escalations).order_by(_escalations.c.id)
    if session_id is not None:
        query = query.where(_escalations.c.session_id == session_id)
    if is_open is not None:
        closed = _escalations.c.closed_at
        query = query.where(closed.is_(None) if is_open else closed.is_not(None))
    return [_fact(row) for row in connection.execute(query)]


def open_of(connection: Connection, subject: str) -> Escalation | None:
    query = sa.select(_escalations).where(
        _escalations.c.subject == subject, _escalations.c.closed_at.is_(None)
    )
    row = connection.execute(query.order_by(_escalations.c.id.desc())).first()
    return _fact(row) if row else None


def dismissed(connection: Connection, subject: str, version: int | None) -> Escalation | None:
    """The last of this subject, if a human dismissed it as it is."""
    query = sa.select(_escalations).where(_escalations.c.subject == subject)
    row = connection.execute(query.order_by(_escalations.c.id.desc())).first()
    if row is None or not row.closed_by.startswith(DISMISSED) or row.version != version:
        return None
    return _fact(row)


def find_escalation(connection: Connection, word: str) -> Escalation:
    """What a person means: an id or its short form, a question, or a session that one open escalation is of."""
    wanted = word.strip()
    by_question = sa.select(_escalations).where(
        sa.or_(_escalations.c.id == wanted, _escalations.c.question_id == wanted)
    )
    newest = (_escalations.c.closed_at.is_not(None), _escalations.c.id.desc())
    if row := connection.execute(by_question.order_by(*newest)).first():
        return _fact(row)
    if wanted.upper().startswith("SESS_"):
        return _only_one_of(connection, wanted)
    sessions = schema.sessions
    joined = sa.select(_escalations.c.id, _escalations.c.closed_at, sessions.c.name).join(
        sessions, sessions.c.id == _escalations.c.session_id
    )
    rows = connection.execute(joined).all()
    for names in (
        {row.id: row.name for row in rows if row.closed_at is None},
        {row.id: row.id for row in rows if row.closed_at is not None},
    ):
        try:
            return get_escalation(connection, lookup.find("escalation", wanted, names))
        except NotFound:
            continue
    raise NotFound(f"Nothing that waits is “{word}”.", hint="`maestro inbox` shows what waits.")


def close_escalation(change: Change, escalation_id: str, closed_by: str) -> str:
    """It waits no longer; the first who says so says why."""
    known = get_escalation(change.connection, escalation_id)
    if known.closed_at is None:
        fields = {"closed_at": change.now, "closed_by": _fit(closed_by, _REASON_KEPT)}
        _update(change, escalation_id, fields)
        told = {"id": known.id, "kind": known.kind, "question_id": known.question_id, **fields}
        _record(change, "closed", known.session_id, told)
    return escalation_id


def decided(change: Change, escalation_id: str, decision_id: str) -> str:
    """Which decision says why."""
    _update(change, escalation_id, {"decision_id": decision_id})
    return escalation_id


def mark_notified(change: Change, escalation_id: str) -> str:
    """The human was told. No event: that would be news to whoever tells of news."""
    _update(change, escalation_id, {"notified_at": change.now})
    return escalation_id


def withdraw_over(change: Change, *, session_id: str | None = None) -> list[str]:
    """Close what nobody waits for any more; of one session, or of all. What was closed.

    While an answer to a question is on its way, its receipt says how it ended. One that was asked in words is over when
    the session has gone on, which only its transcript tells.
    """
    questions, sessions, prompts = schema.questions, schema.sessions, schema.prompts
    answering = sa.exists().where(
        prompts.c.question_id == _escalations.c.question_id, prompts.c.settled_at.is_(None)
    )
    query = (
        sa.select(
            _escalations.c.id,
            _escalations.c.kind,
            sessions.c.ended_at,
            questions.c.closed_at.label("over_at"),
            questions.c.source,
            answering.label("is_answered"),
        )
        .join(sessions, sessions.c.id == _escalations.c.session_id)
        .outerjoin(questions, questions.c.id == _escalations.c.question_id)
        .where(_escalations.c.closed_at.is_(None))
        .order_by(_escalations.c.id)
    )
    if session_id is not None:
        query = query.where(_escalations.c.session_id == session_id)
    closed = []
    for row in change.connection.execute(query).all():
        if row.ended_at is not None and row.kind not in _OUTLIVE:
            closed.append(close_escalation(change, row.id, SESSION_ENDED))
        elif (
            row.kind == "question"
            and row.over_at is not None
            and not row.is_answered
            and row.source != IN_WORDS
        ):
            closed.append(close_escalation(change, row.id, WENT_ON))
    return closed


def _tell_news(change: Change, known: Escalation, fields: dict[str, Any]) -> str:
    if (known.text, known.version, known.reason) == (fields["text"], fields["version"], fields["reason"]):
        return known.id
    fields |= {"news": known.news + 1, "notified_at": None}
    _update(change, known.id, fields)
    told = {"id": known.id, "kind": known.kind, "question_id": known.question_id, **fields}
    _record(change, "changed", known.session_id, told)
    return known.id


def _only_one_of(connection: Connection, wanted: str) -> Escalation:
    session = get_session(connection, wanted)
    found = list_escalations(connection, is_open=True, session_id=session.id)
    if not found:
        raise NotFound(f"{session.name} waits for nothing.", hint="`maestro inbox` shows what waits.")
    if len(found) > 1:
        ids = ", ".join(one.id for one in found[:5])
        raise InvalidInput(
            f"{session.name} waits for {len(found)} things: {ids}.", hint="Name one by its id."
        )
    return found[0]


def _update(change: Change, escalation_id: str, fields: dict[str, Any]) -> None:
    change.connection.execute(
        _escalations.update().where(_escalations.c.id == escalation_id).values(**fields)
    )


def _record(change: Change, what: str, session_id: str, told: dict[str, Any]) -> None:
    query = sa.select(schema.sessions.c.project_id).where(schema.sessions.c.id == session_id)
    project_id: str | None = change.connection.execute(query).scalar()
    change.record(f"escalation.{what}", session_id, project_id, {"escalation": told})


def _fit(text: str, most: int) -> str:
    return redact(clean(text))[:most]


def _fact(row: Any) -> Escalation:
    fields = dict(row._mapping)  # noqa: SLF001 - SQLAlchemy's documented name
    return Escalation(**{**fields, "categories": tuple(fields["categories"])})
