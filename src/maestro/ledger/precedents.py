"""Precedents: a human's answers, which count when exactly the same is asked again in the same project."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from maestro.ledger import lookup, schema
from maestro.ledger.facts import Precedent
from maestro.ledger.journal import Change
from maestro.redact import clean, redact

_precedents = schema.precedents
_TEXT_KEPT = 4000


def remember(
    change: Change,
    *,
    project_id: str,
    fingerprint: str,
    kind: str,
    question: str,
    options: Sequence[str],
    answer: str,
    decision_id: str | None,
    expires_at: int,
) -> str:
    """A human answered this. The same answer again makes it firmer; another one takes its place."""
    given = redact(clean(answer))
    # What holds a secret cannot be typed again from here; what has no fingerprint is equal to nothing.
    counts = bool(fingerprint) and given == clean(answer)
    fields: dict[str, Any] = {"decision_id": decision_id, "expires_at": expires_at}
    for known in _standing(change.connection, project_id, fingerprint):
        if known.answer == given and counts:
            fields["answers"] = known.answers + 1
            _update(change, known.id, fields)
            _record(change, "repeated", known.project_id, {"id": known.id, **fields})
            return known.id
        forget(change, known.id)
    fields |= {
        "id": change.new_id("prec"),
        "project_id": project_id,
        "fingerprint": fingerprint,
        "kind": kind,
        "question": _fit(question),
        "options": [_fit(option) for option in options],
        "answer": given,
        "created_at": change.now,
        "answers": 1,
        "uses": 0,
        "used_at": None,
        "forgotten_at": None if counts else change.now,
    }
    change.connection.execute(_precedents.insert().values(**fields))
    _record(change, "remembered", project_id, {n: v for n, v in fields.items() if n != "fingerprint"})
    return str(fields["id"])


def match(connection: Connection, project_id: str, fingerprint: str, now: int) -> Precedent | None:
    """The answer that stands for exactly this question, if it has not expired."""
    standing = _standing(connection, project_id, fingerprint)
    return next((known for known in standing if known.expires_at > now), None)


def get_precedent(connection: Connection, wanted: str) -> Precedent:
    """By its id, or its short form."""
    query = sa.select(_precedents.c.id, _precedents.c.question)
    names = {row.id: row.question[:60] for row in connection.execute(query)}
    found = lookup.find("precedent", wanted, names)
    return _fact(connection.execute(sa.select(_precedents).where(_precedents.c.id == found)).one())


def list_precedents(
    connection: Connection,
    *,
    project_id: str | None = None,
    now: int | None = None,
    all: bool = False,  # noqa: A002 - the name of the command's own option
) -> list[Precedent]:
    """Oldest first; without `all` only what stands, and with `now` only what stands then."""
    query = sa.select(_precedents).order_by(_precedents.c.id)
    if project_id is not None:
        query = query.where(_precedents.c.project_id == project_id)
    if not all:
        query = query.where(_precedents.c.forgotten_at.is_(None))
        if now is not None:
            query = query.where(_precedents.c.expires_at > now)
    return [_fact(row) for row in connection.execute(query)]


def use(change: Change, precedent_id: str) -> str:
    """It stood for a human's answer once more. No event: the decision that rests on it is one."""
    counted = {"uses": _precedents.c.uses + 1, "used_at": change.now}
    _update(change, precedent_id, counted)
    return precedent_id


def forget(change: Change, wanted: str) -> str:
    """It counts no more; the first time is when it was forgotten."""
    known = get_precedent(change.connection, wanted)
    if known.forgotten_at is None:
        _update(change, known.id, {"forgotten_at": change.now})
        _record(change, "forgotten", known.project_id, {"id": known.id, "forgotten_at": change.now})
    return known.id


def _standing(connection: Connection, project_id: str, fingerprint: str) -> list[Precedent]:
    query = sa.select(_precedents).where(
        _precedents.c.project_id == project_id,
        _precedents.c.fingerprint == fingerprint,
        _precedents.c.forgotten_at.is_(None),
    )
    return [_fact(row) for row in connection.execute(query.order_by(_precedents.c.id.desc()))]


def _update(change: Change, precedent_id: str, fields: dict[str, Any]) -> None:
    change.connection.execute(_precedents.update().where(_precedents.c.id == precedent_id).values(**fields))


def _record(change: Change, what: str, project_id: str, told: dict[str, Any]) -> None:
    change.record(f"precedent.{what}", told["id"], project_id, {"precedent": told})


def _fit(text: str) -> str:
    return redact(clean(text))[:_TEXT_KEPT]


def _fact(row: Any) -> Precedent:
    fields = dict(row._mapping)  # noqa: SLF001 - SQLAlchemy's documented name
    return Precedent(**{**fields, "options": tuple(fields["options"])})
