"""Prompts: text on its way into a session. Every step is recorded before the next thing happens.

The text is kept exactly as long as it may still have to be typed; after that only what may be shown of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from maestro.errors import Conflict, NotFound
from maestro.ids import new_id, time_of
from maestro.ledger import schema
from maestro.ledger.facts import Prompt, PromptKind, PromptState
from maestro.ledger.journal import Change
from maestro.ledger.sessions import get_session
from maestro.redact import clean, redact

_prompts = schema.prompts
_COLUMNS = [column for column in _prompts.c if column.name != "host"]
_TOLD = 300

SETTLED: frozenset[PromptState] = frozenset({"submitted", "uncertain", "failed", "withdrawn"})
UNDER_WAY: frozenset[PromptState] = frozenset({"typing", "pasted"})
_NEXT: Mapping[PromptState, frozenset[PromptState]] = {
    "queued": frozenset({"typing", "failed", "withdrawn"}),
    "typing": frozenset({"pasted", "submitted", "uncertain", "failed"}),
    "pasted": frozenset({"submitted", "uncertain"}),
}


def get_prompt(connection: Connection, prompt_id: str) -> Prompt:
    row = connection.execute(sa.select(*_COLUMNS).where(_prompts.c.id == prompt_id)).first()
    if row is None:
        raise NotFound(
            f"There is no prompt {prompt_id}.", hint="`maestro session prompts ID` shows a session's."
        )
    return _fact(row)


def list_prompts(connection: Connection, session_id: str) -> list[Prompt]:
    """Oldest first: the order in which they are typed."""
    query = sa.select(*_COLUMNS).where(_prompts.c.session_id == session_id).order_by(_prompts.c.id)
    return [_fact(row) for row in connection.execute(query)]


def unsettled(connection: Connection, host: str) -> list[Prompt]:
    """Everything of this host that still has to be typed, or proved; oldest first."""
    query = (
        sa.select(*_COLUMNS)
        .where(_prompts.c.host == host, _prompts.c.settled_at.is_(None))
        .order_by(_prompts.c.id)
    )
    return [_fact(row) for row in connection.execute(query)]


def left_of(connection: Connection, session_id: str) -> list[Prompt]:
    """What of a session's queue still has to be typed, or proved; oldest first."""
    query = (
        sa.select(*_COLUMNS)
        .where(_prompts.c.session_id == session_id, _prompts.c.settled_at.is_(None))
        .order_by(_prompts.c.id)
    )
    return [_fact(row) for row in connection.execute(query)]


def enqueue(
    change: Change,
    session_id: str,
    text: str,
    *,
    kind: PromptKind,
    question_id: str | None = None,
    answer: dict[str, Any] | None = None,
) -> str:
    session = get_session(change.connection, session_id)
    last = change.connection.execute(
        sa.select(sa.func.max(_prompts.c.id)).where(_prompts.c.session_id == session_id)
    ).scalar()
    # Ids of one millisecond have no order of their own, and the queue has one; a clock may be put back.
    moment = change.now if last is None else max(change.now, time_of(last) + 1)
    prompt_id = new_id("prom", moment)
    fields: dict[str, Any] = {
        "id": prompt_id,
        "session_id": session.id,
        "host": session.host,
        "kind": kind,
        "state": "queued",
        "text": text,
        "sender": change.actor.session_id,
        "question_id": question_id,
        "answer": answer,
        "reason": "",
        "evidence": [],
        "transcript_size": None,
        "created_at": change.now,
        "updated_at": change.now,
        "typed_at": None,
        "settled_at": None,
    }
    change.connection.execute(_prompts.insert().values(**fields))
    told = {"prompt_id": prompt_id, "kind": kind, "text": shown(text)[:_TOLD], "question_id": question_id}
    change.record("prompt.queued", session.id, session.project_id, {"prompt": told})
    return prompt_id


def move(
    change: Change,
    prompt_id: str,
    state: PromptState,
    *,
    reason: str = "",
    evidence: Sequence[str] = (),
    transcript_size: int | None = None,
    text: str | None = None,
) -> str:
    """The next step of its life. One that is over stays as it is, and must not be typed. `text`: what is typed, where
    it is more than was sent."""
    prompt = get_prompt(change.connection, prompt_id)
    if prompt.state in SETTLED and state in SETTLED:
        return prompt_id
    if state not in _NEXT.get(prompt.state, frozenset()):
        raise Conflict(f"A prompt that is {prompt.state} cannot become {state}.")
    fields: dict[str, Any] = {
        "state": state,
        "reason": redact(clean(reason)),
        "evidence": [*prompt.evidence, *(redact(clean(line)) for line in evidence)],
        "updated_at": change.now,
    }
    if state == "typing":
        fields |= {"typed_at": change.now, "transcript_size": transcript_size}
        if text is not None:
            fields["text"] = text
    if state in SETTLED:
        fields |= {
            "settled_at": change.now,
            "text": shown(prompt.text),
            "answer": shown_answer(prompt.answer),
        }
    change.connection.execute(_prompts.update().where(_prompts.c.id == prompt_id).values(**fields))
    session = get_session(change.connection, prompt.session_id)
    told = {name: value for name, value in fields.items() if name not in {"text", "answer", "updated_at"}}
    told |= {"prompt_id": prompt_id, "kind": prompt.kind}
    change.record(f"prompt.{state}", session.id, session.project_id, {"prompt": told})
    return prompt_id


def lose(change: Change, prompt_id: str, reason: str) -> str:
    """Record that a submitted prompt failed after all: the CLI ended with it in its own queue."""
    prompt = get_prompt(change.connection, prompt_id)
    if prompt.state != "submitted":
        return prompt_id
    fields: dict[str, Any] = {"state": "failed", "reason": redact(clean(reason)), "updated_at": change.now}
    change.connection.execute(_prompts.update().where(_prompts.c.id == prompt_id).values(**fields))
    session = get_session(change.connection, prompt.session_id)
    told = {"state": "failed", "reason": fields["reason"], "prompt_id": prompt_id, "kind": prompt.kind}
    change.record("prompt.failed", session.id, session.project_id, {"prompt": told})
    return prompt_id


def last_typed(connection: Connection, session_id: str) -> Prompt | None:
    """Returns the prompt that was typed into a session last, whatever became of it.

    Prompts are typed in the order of their ids, whatever the clock does. An answer overtakes them, and is none.
    """
    query = (
        sa.select(*_COLUMNS)
        .where(
            _prompts.c.session_id == session_id,
            _prompts.c.kind == "prompt",
            _prompts.c.typed_at.is_not(None),
        )
        .order_by(_prompts.c.id.desc())
        .limit(1)
    )
    row = connection.execute(query).first()
    return None if row is None else _fact(row)


def resolve(
    change: Change, prompt_id: str, state: PromptState, *, reason: str = "", evidence: Sequence[str] = ()
) -> str:
    """Records what became of a prompt that was uncertain. One that is certain stays as it is."""
    prompt = get_prompt(change.connection, prompt_id)
    if prompt.state != "uncertain":
        return prompt_id
    fields: dict[str, Any] = {
        "state": state,
        "reason": redact(clean(reason)),
        "evidence": [*prompt.evidence, *(redact(clean(line)) for line in evidence)],
    }
    change.connection.execute(
        _prompts.update().where(_prompts.c.id == prompt_id).values(**fields, updated_at=change.now)
    )
    session = get_session(change.connection, prompt.session_id)
    told = fields | {"prompt_id": prompt_id, "kind": prompt.kind}
    change.record(f"prompt.{state}", session.id, session.project_id, {"prompt": told})
    return prompt_id


def hold(change: Change, prompt_id: str, reason: str) -> str:
    """Why it waits. No event: it is a state of the world, and nothing was done."""
    change.connection.execute(
        _prompts.update()
        .where(_prompts.c.id == prompt_id, _prompts.c.state == "queued")
        .values(reason=redact(clean(reason)), updated_at=change.now)
    )
    return prompt_id


def shown(text: str) -> str:
    """What of a prompt may be shown."""
    return redact(clean(text))


def public(prompt: Prompt) -> Prompt:
    """What is still to be typed is kept as it is, and shown without secrets."""
    return prompt.model_copy(update={"text": shown(prompt.text), "answer": shown_answer(prompt.answer)})


def shown_answer(answer: Any) -> Any:
    """What of an answer may be shown: its words are as much a secret as a prompt's."""
    if isinstance(answer, str):
        return shown(answer)
    if isinstance(answer, dict):
        return {name: shown_answer(value) for name, value in answer.items()}
    return [shown_answer(value) for value in answer] if isinstance(answer, list) else answer


def _fact(row: Any) -> Prompt:
    fields = dict(row._mapping)  # noqa: SLF001 - SQLAlchemy's documented name
    return Prompt(**{**fields, "evidence": tuple(fields["evidence"])})
