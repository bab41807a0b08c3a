"""The one way to change the ledger, and the one log of everything that happened.

A write is one transaction: the change, its events, and the answer under its idempotency key. It is
acknowledged after the commit, so what was acknowledged survives any crash, and a request that is repeated
because its answer was lost is answered from the first time. Writes are serialised in this process, which is
the database's only writer on this host: events are numbered in the order of their commits.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar

import sqlalchemy as sa
from pydantic.alias_generators import to_camel
from sqlalchemy.engine import Connection, Engine

from maestro.errors import InvalidInput, KeyReused
from maestro.ids import new_id, time_of
from maestro.ledger import schema
from maestro.ledger.database import translated
from maestro.ledger.facts import Event
from maestro.ledger.roles import Actor

T = TypeVar("T")

ANSWERS_KEPT_MS = 24 * 3600 * 1000


class Once(NamedTuple):
    """An idempotency key and a fingerprint of the request that it came with."""

    key: str
    request: str


# Whatever is sorted by its id.
_MINTED = (
    schema.projects,
    schema.tasks,
    schema.sessions,
    schema.questions,
    schema.escalations,
    schema.precedents,
)


class Change:
    """A write under way: what a change needs to act and to say what it did."""

    def __init__(
        self, connection: Connection, actor: Actor, host: str, now: int, seq: int, newest: int = 0
    ) -> None:
        """`newest`: the time in the newest id that there is."""
        self.connection = connection
        self.actor = actor
        self.host = host
        self.now = now
        self._seq = seq
        self.newest = newest
        self.events: list[Event] = []

    def new_id(self, prefix: str) -> str:
        """Ids are in the order in which they are made, also when the clock is set back: the rest is sorted by them."""
        self.newest = max(self.now, self.newest + 1)
        return new_id(prefix, self.newest)

    def record(self, kind: str, subject_id: str, project_id: str | None, data: dict[str, Any]) -> None:
        self._seq += 1
        event = Event(
            host=self.host,
            seq=self._seq,
            at=self.now,
            kind=kind,
            project_id=project_id,
            subject_id=subject_id,
            session_id=self.actor.session_id,
            role=self.actor.role,
            data={part: _on_wire(value) for part, value in data.items()},
        )
        self.connection.execute(schema.events.insert().values(**event.model_dump()))
        self.events.append(event)


class Journal:
    def __init__(self, engine: Engine, host: str, clock: Callable[[], int]) -> None:
        self.engine = engine
        self.host = host
        self.clock = clock
        self._writing = threading.Lock()
        self._newest: int | None = None
        self._after_commit: list[Callable[[], None]] = []

    def after_commit(self, call: Callable[[], None]) -> None:
        """Call this after every commit that recorded events; from the writing thread."""
        self._after_commit.append(call)

    def read(self, work: Callable[[Connection], T]) -> T:
        with translated(self.engine), self.engine.connect() as connection, connection.begin():
            return work(connection)

    def write(self, actor: Actor, work: Callable[[Change], str], once: Once | None = None) -> str:
        """Do `work`, which returns the id of what it made or changed, exactly once per key."""
        with self._writing, translated(self.engine):
            now = self.clock()
            connecting = self.engine.connect().execution_options(maestro_write=True)
            with connecting as connection, connection.begin():
                if once and (earlier := _earlier_answer(connection, once)):
                    return earlier
                if self._newest is None:
                    self._newest = _newest_id(connection)
                change = Change(connection, actor, self.host, now, self._last_seq(connection), self._newest)
                subject_id = work(change)
                self._newest = change.newest
                if once:
                    connection.execute(
                        schema.answers.insert().values(
                            key=once.key, request=once.request, subject_id=subject_id, at=now
                        )
                    )
        if change.events:
            for call in self._after_commit:
                call()
        return subject_id

    def earlier(self, once: Once) -> str | None:
        """What `write` answered under this key, if it came before."""
        return self.read(lambda connection: _earlier_answer(connection, once))

    def forget_old_answers(self) -> None:
        connecting = self.engine.connect().execution_options(maestro_write=True)
        with self._writing, translated(self.engine), connecting as connection, connection.begin():
            oldest = self.clock() - ANSWERS_KEPT_MS
            connection.execute(schema.answers.delete().where(schema.answers.c.at < oldest))

    def _last_seq(self, connection: Connection) -> int:
        mine = sa.select(sa.func.max(schema.events.c.seq)).where(schema.events.c.host == self.host)
        return connection.execute(mine).scalar() or 0

    def cursor(self) -> str:
        return f"{self.host}:{self.read(self._last_seq)}"

    def events_since(
        self, cursor: str | None, subjects: Iterable[str] = (), limit: int = 1000
    ) -> tuple[list[Event], str]:
        """Events after the cursor, oldest first, and the cursor to go on from.

        With `subjects`, only events about one of these ids; the cursor still moves past the others.
        """
        host, seq = self._parse(cursor)
        wanted = set(subjects)

        def work(connection: Connection) -> tuple[list[Event], int]:
            query = (
                sa.select(schema.events)
                .where(schema.events.c.host == host, schema.events.c.seq > seq)
                .order_by(schema.events.c.seq)
                .limit(limit)
            )
            rows = [Event(**row._mapping) for row in connection.execute(query)]  # noqa: SLF001 - SQLAlchemy's documented name
            last = rows[-1].seq if rows else seq
            return [e for e in rows if not wanted or _is_about(e, wanted)], last

        found, last = self.read(work)
        return found, f"{host}:{last}"

    def _parse(self, cursor: str | None) -> tuple[str, int]:
        if not cursor:
            return self.host, 0
        host, _, seq = cursor.rpartition(":")
        if not seq.isascii() or not seq.isdigit() or len(seq) > 18:
            raise InvalidInput(
                f"“{cursor}” is not an event cursor.",
                hint="Use the `cursor` of an earlier answer, or a sequence number.",
            )
        return host or self.host, int(seq)


def _earlier_answer(connection: Connection, once: Once) -> str | None:
    row = connection.execute(
        sa.select(schema.answers.c.request, schema.answers.c.subject_id).where(
            schema.answers.c.key == once.key
        )
    ).first()
    if row is None:
        return None
    if row.request != once.request:
        raise KeyReused(
            "This idempotency key came before with another request.", hint="Send a new key for a new request."
        )
    return str(row.subject_id)


def _on_wire(value: Any) -> Any:
    """The log holds facts as they go over the wire."""
    return {to_camel(name): v for name, v in value.items()} if isinstance(value, dict) else value


def _is_about(event: Event, wanted: set[str]) -> bool:
    return event.subject_id in wanted or event.session_id in wanted


def _newest_id(connection: Connection) -> int:
    """Returns the time in the newest id; each table's is at the end of its index."""
    newest = 0
    for table in _MINTED:
        found = connection.execute(sa.select(sa.func.max(table.c.id))).scalar()
        try:
            newest = max(newest, time_of(found) if found else 0)
        except ValueError:
            # Another program's id, which tells no time.
            continue
    return newest
