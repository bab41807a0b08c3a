"""What a session must not forget, and what it was told of it: events of its own in the one log; the latest counts."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from maestro.ledger import schema
from maestro.ledger.facts import Session
from maestro.ledger.journal import Change

DEHYDRATED = "session.dehydrated"
REHYDRATED = "session.rehydrated"
BRIEFED = "session.briefed"
# After these an agent's own context is gone, or about to go; `agent.session_started` only from some sources.
_FORGETS = "agent.compacting"
_STARTED = "agent.session_started"
_FORGETFUL_STARTS = frozenset({"clear"})
_LOOKED_AT = 50

_events = schema.events

Way = Literal["hook", "typed"]


class Dehydrated(NamedTuple):
    """What was kept last: the state, when, and whether the agent itself gave it."""

    state: dict[str, Any]
    at: int
    is_automatic: bool


class Told(NamedTuple):
    """What a session was told of its own accord, in estimated tokens."""

    turns: int = 0
    tokens: int = 0
    rehydrations: int = 0
    rehydrated_tokens: int = 0


def record_dehydrated(change: Change, session: Session, state: dict[str, Any], *, automatic: bool) -> str:
    change.record(DEHYDRATED, session.id, session.project_id, {"state": state, "automatic": automatic})
    return session.id


def record_told(change: Change, session: Session, *, context: int, state: int, way: Way) -> str:
    """`context` and `state`: the tokens of each that it was told; 0 for what it was not."""
    if context:
        change.record(BRIEFED, session.id, session.project_id, {"tokens": context, "way": way})
    if state:
        change.record(REHYDRATED, session.id, session.project_id, {"tokens": state, "way": way})
    return session.id


def last_dehydrated(connection: Connection, session_id: str) -> Dehydrated | None:
    row = connection.execute(_of(session_id, DEHYDRATED).limit(1)).first()
    return Dehydrated(row.data["state"], row.at, bool(row.data["automatic"])) if row else None


def has_lived(connection: Connection, session_id: str) -> bool:
    """Whether it has had a turn: then it starts again, and does not begin."""
    return connection.execute(_of(session_id, "agent.prompted", DEHYDRATED).limit(1)).first() is not None


def has_hooks(connection: Connection, session_id: str) -> bool:
    """Whether its agent's own hooks have ever told anything: then they tell of prompts, too."""
    query = sa.select(_events.c.seq).where(
        _events.c.subject_id == session_id, _events.c.kind.startswith("agent.", autoescape=True)
    )
    return connection.execute(query.limit(1)).first() is not None


def is_owed(connection: Connection, session_id: str) -> bool:
    """Whether its agent has forgotten what it did, and was not told of it since."""
    for row in connection.execute(_of(session_id, _FORGETS, _STARTED, REHYDRATED).limit(_LOOKED_AT)):
        if row.kind == REHYDRATED:
            return False
        if row.kind == _FORGETS or row.data.get("hook", {}).get("source") in _FORGETFUL_STARTS:
            return True
    return False


def told(connection: Connection, session_id: str) -> Told:
    sums = {BRIEFED: [0, 0], REHYDRATED: [0, 0]}
    for row in connection.execute(_of(session_id, BRIEFED, REHYDRATED)):
        sums[row.kind][0] += 1
        sums[row.kind][1] += int(row.data["tokens"])
    return Told(*sums[BRIEFED], *sums[REHYDRATED])


def _of(session_id: str, *kinds: str) -> sa.Select[Any]:
    """Newest first."""
    query = sa.select(_events).where(_events.c.subject_id == session_id, _events.c.kind.in_(kinds))
    return query.order_by(_events.c.seq.desc())
