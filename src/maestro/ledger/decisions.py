"""Decisions: what was decided about sessions, by whom and why, written before it is done and never changed.

Each host has one chain: a link's hash covers all of it and the hash before it, so that a link that was changed, taken
out or put in between shows. What is typed is kept as far as it may be shown; its hash is of the exact text.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from pydantic.alias_generators import to_snake
from sqlalchemy.engine import Connection

from maestro.errors import InvalidInput, NotFound
from maestro.ledger import schema
from maestro.ledger.facts import Decision, DecisionKind, Question
from maestro.ledger.journal import Change
from maestro.ledger.roles import Actor
from maestro.redact import clean, redact

_decisions = schema.decisions
_TEXT_KEPT = 2000
_REASON_KEPT = 1000
_BATCH = 500

# Receipts that say that nothing was typed: what they are of was decided and not done.
NOT_TYPED: frozenset[str] = frozenset({"failed", "withdrawn"})


def record(
    change: Change,
    *,
    kind: DecisionKind,
    session_id: str,
    action: str,
    by: str,
    actor: Actor | None = None,
    question: Question | None = None,
    question_id: str | None = None,
    question_hash: str = "",
    version: int | None = None,
    follows: str | None = None,
    coordinator: str = "",
    text: str = "",
    confidence: float = 0.0,
    categories: Sequence[str] = (),
    reasons: Sequence[str] = (),
    shadow: bool = False,
    prompt_id: str | None = None,
    escalation_id: str | None = None,
    pane: dict[str, Any] | None = None,
    spent: dict[str, Any] | None = None,
) -> str:
    """Add a link to this host's chain. A receipt's `action` is the state of its prompt."""
    before = _last(change.connection, change.host)
    who = actor or change.actor
    fields: dict[str, Any] = {
        "id": change.new_id("deci"),
        "host": change.host,
        "seq": before.seq + 1 if before else 1,
        "at": change.now,
        "kind": kind,
        "session_id": session_id,
        "question_id": question.id if question else question_id,
        "version": question.version if question and version is None else version,
        "follows": follows,
        "actor": f"{who.role}:{who.session_id}" if who.session_id else who.role,
        "coordinator": _fit(coordinator, _REASON_KEPT),
        "action": action,
        "by": by[:32],
        "text": _fit(text, _TEXT_KEPT),
        "confidence": _number(confidence),
        "categories": [_fit(category, _REASON_KEPT) for category in categories],
        "reasons": [_fit(reason, _REASON_KEPT) for reason in reasons],
        "shadow": shadow,
        "prompt_id": prompt_id,
        "escalation_id": escalation_id,
        "question_hash": question_hash,
        "text_hash": hash_of(text),
        "pane": _plain(pane),
        "spent": _plain(spent or {}),
        "previous": before.hash if before else "",
    }
    fields["hash"] = _link(fields)
    change.connection.execute(_decisions.insert().values(**fields))
    names = ("id", "action", "by", "question_id", "version", "follows", "shadow", "prompt_id")
    told = {name: fields[name] for name in (*names, "escalation_id", "confidence", "categories", "text")}
    project_id = change.connection.execute(
        sa.select(schema.sessions.c.project_id).where(schema.sessions.c.id == session_id)
    ).scalar()
    change.record(f"decision.{kind}", session_id, project_id, {"decision": told})
    return str(fields["id"])


def get_decision(connection: Connection, decision_id: str) -> Decision:
    row = connection.execute(sa.select(_decisions).where(_decisions.c.id == decision_id)).first()
    if row is None:
        raise NotFound(
            f"There is no decision {decision_id}.", hint="`maestro inbox` shows what waits, with its ids."
        )
    return _fact(row)


def list_decisions(
    connection: Connection,
    *,
    session_id: str | None = None,
    question_id: str | None = None,
    since_seq: int = 0,
    since_ms: int = 0,
    host: str | None = None,
    kinds: Sequence[DecisionKind] = (),
    limit: int = 1000,
) -> list[Decision]:
    """Oldest first. Go on with the last one's `seq`; on a ledger of several hosts, host by host."""
    query = sa.select(_decisions).where(_decisions.c.seq > since_seq)
    for column, value in (("session_id", session_id), ("question_id", question_id), ("host", host)):
        if value is not None:
            query = query.where(_decisions.c[column] == value)
    if since_ms:
        query = query.where(_decisions.c.at >= since_ms)
    if kinds:
        query = query.where(_decisions.c.kind.in_(kinds))
    query = query.order_by(_decisions.c.seq, _decisions.c.host).limit(limit)
    return [_fact(row) for row in connection.execute(query)]


def answer_of(connection: Connection, question_id: str, version: int | None = None) -> Decision | None:
    """What this occurrence was answered with: typed, or about to be, by us or by a human; the latest.

    An answer whose receipt says that nothing was typed is none.
    """
    query = sa.select(_decisions).where(
        _decisions.c.question_id == question_id, sa.or_(_is_answer("answer", "probe"), _is_human())
    )
    if version is not None:
        query = query.where(_decisions.c.version == version)
    row = connection.execute(query.order_by(_decisions.c.seq.desc())).first()
    return _fact(row) if row else None


def of_prompt(connection: Connection, prompt_id: str) -> Decision | None:
    """What was decided that this prompt carries out."""
    query = sa.select(_decisions).where(_decisions.c.prompt_id == prompt_id, _decisions.c.kind != "receipt")
    row = connection.execute(query.order_by(_decisions.c.seq.desc())).first()
    return _fact(row) if row else None


def about(connection: Connection, session_id: str, question_hash: str) -> list[Decision]:
    """All that was decided about one subject of a session, oldest first."""
    query = sa.select(_decisions).where(
        _decisions.c.session_id == session_id, _decisions.c.question_hash == question_hash
    )
    return [_fact(row) for row in connection.execute(query.order_by(_decisions.c.seq))]


def following(connection: Connection, decision_id: str) -> list[Decision]:
    """What came of it: receipts, resolutions; oldest first."""
    session = sa.select(_decisions.c.session_id).where(_decisions.c.id == decision_id).scalar_subquery()
    # What follows it is about the same session: without that, every look would read the whole table.
    query = sa.select(_decisions).where(
        _decisions.c.session_id == session, _decisions.c.follows == decision_id
    )
    return [_fact(row) for row in connection.execute(query.order_by(_decisions.c.seq))]


def same_before(connection: Connection, session_id: str, question_hash: str) -> list[Decision]:
    """Our own answers to the same words of this session, oldest first; none where nothing was typed."""
    if not question_hash:
        return []
    query = sa.select(_decisions).where(
        _decisions.c.session_id == session_id,
        _decisions.c.question_hash == question_hash,
        _is_answer("answer"),
    )
    return [_fact(row) for row in connection.execute(query.order_by(_decisions.c.seq))]


def last_seq(connection: Connection, host: str) -> int:
    before = _last(connection, host)
    return before.seq if before else 0


def broken_link(connection: Connection, host: str) -> Decision | None:
    """The first link of a host's chain that is not what was written, does not follow the one before it, or is gone."""
    seq, before = 0, ""
    while True:
        query = sa.select(_decisions).where(_decisions.c.host == host, _decisions.c.seq > seq)
        rows = connection.execute(query.order_by(_decisions.c.seq).limit(_BATCH)).all()
        for row in rows:
            fields = dict(row._mapping)  # noqa: SLF001 - SQLAlchemy's documented name
            whole = fields["hash"] == _link({n: v for n, v in fields.items() if n != "hash"})
            if not whole or fields["seq"] != seq + 1 or fields["previous"] != before:
                # Whoever changed it did not ask whether it is still a fact.
                return Decision.model_construct(**_tuples(fields))
            seq, before = fields["seq"], fields["hash"]
        if len(rows) < _BATCH:
            return _missing_end(connection, host, seq, before)


def spent_since(
    connection: Connection, since_ms: int, session_id: str | None = None
) -> tuple[int, int, float]:
    """Calls, tokens and dollars of the brains. What was decided in shadow was paid for too."""
    query = sa.select(_decisions.c.spent).where(
        _decisions.c.at >= since_ms, sa.cast(_decisions.c.spent, sa.Text) != "{}"
    )
    if session_id is not None:
        query = query.where(_decisions.c.session_id == session_id)
    calls, tokens, cost = 0, 0, 0.0
    for spent in connection.execute(query).scalars():
        calls += int(spent.get("calls", 0))
        tokens += int(spent.get("tokens", 0))
        cost += float(spent.get("costUsd", 0.0))
    return calls, tokens, cost


def find(connection: Connection, word: str) -> Decision:
    """What `why` is asked about: a decision, or the latest about a question, escalation, prompt or session."""
    prefix, _, tail = word.strip().rpartition("_")
    column = {"ques": "question_id", "turn": "question_id", "prom": "prompt_id", "sess": "session_id"}.get(
        prefix.lower()
    )
    if prefix.lower() == "deci":
        return _by_id(connection, tail.upper())
    if prefix.lower() == "esca":
        found = _of_escalation(connection, tail.upper())
    elif column is not None:
        found = _latest(connection, _ends(_decisions.c[column], prefix, tail.upper()))
    else:
        named = sa.select(schema.sessions.c.id).where(schema.sessions.c.name == word)
        found = _latest(connection, _decisions.c.session_id.in_(named))
    if found is None:
        raise NotFound(
            f"Nothing was decided about “{word}”.",
            hint="Name a decision, question, escalation, prompt or session; `maestro inbox` shows what waits.",
        )
    return found


def hash_of(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def _missing_end(connection: Connection, host: str, seq: int, before: str) -> Decision | None:
    """The link after the last, if the log tells of one: a chain alone does not show that its end was taken off."""
    events = schema.events
    last = sa.select(events).where(events.c.host == host, events.c.kind.startswith("decision."))
    event = connection.execute(last.order_by(events.c.seq.desc()).limit(1)).first()
    known = sa.select(_decisions.c.id).where(_decisions.c.host == host, _decisions.c.seq == seq)
    if event is None or event.data["decision"]["id"] == connection.execute(known).scalar():
        return None
    told = {to_snake(name): value for name, value in event.data["decision"].items()}
    fields: dict[str, Any] = dict.fromkeys(Decision.model_fields, "")
    fields |= {"confidence": 0.0, "pane": None, "spent": {}}
    fields |= {"host": host, "seq": seq + 1, "at": event.at, "session_id": event.subject_id}
    fields |= {"kind": event.kind.removeprefix("decision."), "previous": before, "reasons": (), **told}
    return Decision.model_construct(**_tuples(fields))


def _by_id(connection: Connection, tail: str) -> Decision:
    rows = connection.execute(
        sa.select(_decisions).where(_ends(_decisions.c.id, "deci", tail)).limit(2)
    ).all()
    if len(rows) > 1:
        raise InvalidInput(f"“deci_{tail}” means several decisions.", hint="Type more of the id.")
    return _fact(rows[0]) if rows else get_decision(connection, f"deci_{tail}")


def _of_escalation(connection: Connection, tail: str) -> Decision | None:
    told = schema.escalations
    query = sa.select(told.c.id, told.c.decision_id).where(_ends(told.c.id, "esca", tail))
    rows = connection.execute(query).all()
    ids, decided = [row.id for row in rows], [row.decision_id for row in rows if row.decision_id]
    return _latest(connection, _decisions.c.id.in_(decided)) or _latest(
        connection, _decisions.c.escalation_id.in_(ids)
    )


def _latest(connection: Connection, condition: sa.ColumnElement[bool]) -> Decision | None:
    """The latest judgement among them; else what the latest of them is the end of, or that itself."""
    query = sa.select(_decisions).where(condition)
    newest = _decisions.c.seq.desc()
    judged = query.where(_decisions.c.kind.in_(("verdict", "attention")))
    row = connection.execute(judged.order_by(newest)).first()
    if row is not None:
        return _fact(row)
    row = connection.execute(query.order_by(newest)).first()
    if row is None:
        return None
    end = _fact(row)
    return get_decision(connection, end.follows) if end.follows else end


def _ends(column: sa.ColumnElement[Any], prefix: str, tail: str) -> sa.ColumnElement[bool]:
    """A whole id or its short form, which is its end."""
    whole = column == f"{prefix.lower()}_{tail}"
    if len(tail) < 4:
        return whole
    short = sa.and_(
        column.startswith(f"{prefix.lower()}_", autoescape=True), column.endswith(tail, autoescape=True)
    )
    return sa.or_(whole, short)


def _is_answer(*actions: str) -> sa.ColumnElement[bool]:
    """A verdict that was meant, and typed as far as is known."""
    verdict = sa.and_(_decisions.c.kind == "verdict", _decisions.c.action.in_(actions))
    return sa.and_(verdict, _decisions.c.shadow.is_(False), _is_typed())


def _is_human() -> sa.ColumnElement[bool]:
    return sa.and_(_decisions.c.kind == "resolution", _decisions.c.by == "human", _is_typed())


def _is_typed() -> sa.ColumnElement[bool]:
    receipts = _decisions.alias("receipts")
    return ~sa.exists().where(
        receipts.c.session_id == _decisions.c.session_id,
        receipts.c.follows == _decisions.c.id,
        receipts.c.kind == "receipt",
        receipts.c.action.in_(NOT_TYPED),
    )


def _last(connection: Connection, host: str) -> Any:
    query = sa.select(_decisions.c.seq, _decisions.c.hash).where(_decisions.c.host == host)
    return connection.execute(query.order_by(_decisions.c.seq.desc()).limit(1)).first()


def _link(fields: Mapping[str, Any]) -> str:
    return hash_of(json.dumps(dict(fields), sort_keys=True, separators=(",", ":")))


def _number(value: float) -> float:
    """As every database gives it back: no NaN, no infinity, no negative zero."""
    return float(value) + 0.0 if math.isfinite(value) else 0.0


def _plain(value: Any) -> Any:
    """Only what JSON holds, without secrets, so that it is read as it was written."""
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, str):
        return redact(clean(value))
    return _number(value) if isinstance(value, float) else value


def _fit(text: str, most: int) -> str:
    return redact(clean(text))[:most]


def _tuples(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        **fields,
        "categories": tuple(fields["categories"] or ()),
        "reasons": tuple(fields["reasons"] or ()),
    }


def _fact(row: Any) -> Decision:
    return Decision(**_tuples(dict(row._mapping)))  # noqa: SLF001 - SQLAlchemy's documented name
