"""Questions: each occurrence of something that a session waits for, opened and closed once."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from maestro.errors import NotFound
from maestro.ledger import schema
from maestro.ledger.facts import Question
from maestro.ledger.journal import Change

_questions = schema.questions

# The source of a question that the agent's own hook told of.
HOOK = "hook"
# The source of a question that ended a turn, in words: it is never open as a dialog is.
IN_WORDS = "transcript"
# How the words end by which a hook closes a question.
SAID_SO = "said so"


def open_question(connection: Connection, session_id: str) -> Question | None:
    """What the session waits for now; the latest, if several were left open."""
    query = (
        sa.select(_questions)
        .where(_questions.c.session_id == session_id, _questions.c.closed_at.is_(None))
        .order_by(_questions.c.id.desc())
    )
    row = connection.execute(query).first()
    return Question(**row._mapping) if row else None  # noqa: SLF001 - SQLAlchemy's documented name


def get_question(connection: Connection, question_id: str) -> Question:
    row = connection.execute(sa.select(_questions).where(_questions.c.id == question_id)).first()
    if row is None:
        raise NotFound(
            f"There is no question {question_id}.", hint="`maestro session explain ID` shows the open one."
        )
    return Question(**row._mapping)  # noqa: SLF001 - SQLAlchemy's documented name


def list_questions(
    connection: Connection, *, session_id: str | None = None, is_open: bool | None = None
) -> list[Question]:
    query = sa.select(_questions).order_by(_questions.c.id)
    if session_id is not None:
        query = query.where(_questions.c.session_id == session_id)
    if is_open is not None:
        closed = _questions.c.closed_at
        query = query.where(closed.is_(None) if is_open else closed.is_not(None))
    return [Question(**row._mapping) for row in connection.execute(query)]  # noqa: SLF001 - SQLAlchemy's documented name


def ask(change: Change, session_id: str, asked: dict[str, Any], *, source: str, call_id: str = "") -> str:
    """Record that a session began to wait for this. Whatever was open before is over."""
    close_all(change, session_id, "another question came")
    fields = {
        "id": change.new_id("ques"),
        "session_id": session_id,
        "version": 1,
        "kind": asked["kind"],
        "text": asked["text"],
        "asked": asked,
        "source": source,
        "call_id": call_id,
        "opened_at": change.now,
        "closed_at": None,
        "closed_by": "",
    }
    change.connection.execute(_questions.insert().values(**fields))
    told = {name: value for name, value in fields.items() if name not in {"closed_at", "closed_by"}}
    change.record("question.asked", session_id, _project_of(change, session_id), {"question": told})
    return str(fields["id"])


def note_in_words(change: Change, question: Question) -> str:
    """Keep a question in words that something is decided about. No dialog waits for it, so it is not open."""
    known = sa.select(_questions.c.id).where(_questions.c.id == question.id)
    if change.connection.execute(known).first() is None:
        fields = question.model_dump() | {"closed_at": change.now, "closed_by": "it was asked in words"}
        change.connection.execute(_questions.insert().values(**fields))
    return question.id


def amend(
    change: Change, question: Question, asked: dict[str, Any], *, source: str, call_id: str = ""
) -> str:
    """More is known of an open question than before, or it changed on the screen. Once a hook told of it, it is the hook's:
    it has the hook's words."""
    fields: dict[str, Any] = {"asked": asked, "kind": asked["kind"], "text": asked["text"]}
    if source == HOOK:
        fields["source"] = HOOK
    if call_id:
        fields["call_id"] = call_id
    if _decided_by(asked) != _decided_by(question.asked):
        fields["version"] = question.version + 1
    change.connection.execute(_questions.update().where(_questions.c.id == question.id).values(**fields))
    _record(change, "question.changed", question, fields)
    return question.id


def _decided_by(asked: dict[str, Any]) -> tuple[Any, ...]:
    """Returns the part that an answer is given to: who has read it may answer, whatever else becomes known.

    A permission is given to what stands in its detail. Its text is the CLI's own phrase, of which the screen has one
    wording and the hook another, and whichever comes second must not make an answer to the first stale.
    """
    options = tuple(one.get("label") for one in asked.get("options", ()))
    parts = tuple(_decided_by(part) for part in asked.get("parts", ()))
    detail = asked.get("detail", "")
    text = "" if asked["kind"] == "permission" and detail else asked["text"]
    return asked["kind"], text, detail, options, parts


def close(change: Change, question_id: str, closed_by: str) -> str:
    """It is no longer open; the first who says so says why."""
    question = get_question(change.connection, question_id)
    if question.closed_at is None:
        fields = {"closed_at": change.now, "closed_by": closed_by}
        change.connection.execute(_questions.update().where(_questions.c.id == question_id).values(**fields))
        _record(change, "question.closed", question, fields)
    return question_id


def close_all(change: Change, session_id: str, closed_by: str) -> None:
    query = sa.select(_questions.c.id).where(
        _questions.c.session_id == session_id, _questions.c.closed_at.is_(None)
    )
    for question_id in change.connection.execute(query).scalars().all():
        close(change, str(question_id), closed_by)


def _record(change: Change, kind: str, question: Question, fields: dict[str, Any]) -> None:
    told = {"id": question.id, "kind": question.kind, "text": question.text, **fields}
    change.record(kind, question.session_id, _project_of(change, question.session_id), {"question": told})


def _project_of(change: Change, session_id: str) -> str | None:
    query = sa.select(schema.sessions.c.project_id).where(schema.sessions.c.id == session_id)
    found: str | None = change.connection.execute(query).scalar()
    return found
