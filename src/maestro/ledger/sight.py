"""What of the ledger a caller may read: a session reads itself and, if it coordinates, those below it; of the board
what is its own. `roles.py` has the whole table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from maestro.ledger import schema
from maestro.ledger.facts import Event, Session
from maestro.ledger.roles import Actor, require

_sessions = schema.sessions
_tasks = schema.tasks


class Sight(NamedTuple):
    """The ids that a caller may read of; a human reads everything."""

    is_all: bool
    sessions: frozenset[str] = frozenset()
    tasks: frozenset[str] = frozenset()
    projects: frozenset[str] = frozenset()

    def has_session(self, session_id: str) -> bool:
        return self.is_all or session_id in self.sessions

    def has_task(self, task_id: str) -> bool:
        return self.is_all or task_id in self.tasks

    def has_project(self, project_id: str) -> bool:
        return self.is_all or project_id in self.projects

    def has_event(self, event: Event) -> bool:
        """Whether it is about, or was done by, something that the caller may read."""
        if self.is_all:
            return True
        parts = [event.data, *(part for part in event.data.values() if isinstance(part, dict))]
        about = {event.subject_id, event.session_id, *(str(part.get("sessionId", "")) for part in parts)}
        return not about.isdisjoint(self.sessions | self.tasks | self.projects)


def sight_of(connection: Connection, actor: Actor) -> Sight:
    if actor.session_id is None:
        return Sight(is_all=True)
    parents = _parents(connection)
    seen = {actor.session_id}
    if actor.role == "coordinator":
        seen |= below(parents, [actor.session_id])
    project = connection.execute(
        sa.select(_sessions.c.project_id).where(_sessions.c.id == actor.session_id)
    ).scalar()
    projects = frozenset({str(project)} if project else ())
    return Sight(False, frozenset(seen), _tasks_in_sight(connection, actor, seen, projects), projects)


def require_sight(connection: Connection, actor: Actor, session: Session) -> None:
    """Raise unless the actor may see what this session says."""
    require(actor, "session.read", own=sight_of(connection, actor).has_session(session.id))


def require_task_sight(connection: Connection, actor: Actor, task_id: str) -> None:
    require(actor, "task.read", own=sight_of(connection, actor).has_task(task_id))


def is_child(session: Session, actor: Actor) -> bool:
    """Whether the actor started it."""
    return actor.session_id is not None and session.parent_session_id == actor.session_id


def is_below(connection: Connection, session_id: str, ancestor: str) -> bool:
    """Whether a session was started by another one, or by one that that one started, and so on."""
    return session_id in sessions_below(connection, ancestor)


def sessions_below(connection: Connection, ancestor: str) -> set[str]:
    return below(_parents(connection), [ancestor])


def below(parents: Mapping[str, str | None], roots: Iterable[str]) -> set[str]:
    """Everything under these, at any depth."""
    children: dict[str, list[str]] = {}
    for one, parent in parents.items():
        if parent is not None:
            children.setdefault(parent, []).append(one)
    found: set[str] = set()
    stack = list(roots)
    while stack:
        fresh = [one for one in children.get(stack.pop(), ()) if one not in found]
        found.update(fresh)
        stack.extend(fresh)
    return found


def tasks_of(connection: Connection, session_ids: Iterable[str]) -> set[str]:
    """The tasks of these sessions, and everything below them."""
    links = schema.session_tasks
    query = sa.select(links.c.task_id).where(links.c.session_id.in_(list(session_ids)))
    own = set(connection.execute(query).scalars())
    rows = connection.execute(sa.select(_tasks.c.id, _tasks.c.parent_id))
    return own | below({row.id: row.parent_id for row in rows}, own)


def _tasks_in_sight(
    connection: Connection, actor: Actor, seen: set[str], projects: frozenset[str]
) -> frozenset[str]:
    own = tasks_of(connection, seen)
    if actor.role == "coordinator":
        reads = sa.or_(_tasks.c.project_id.in_(projects), _tasks.c.created_by.in_(seen))
        own |= set(connection.execute(sa.select(_tasks.c.id).where(reads)).scalars())
    return frozenset(own)


def _parents(connection: Connection) -> dict[str, str | None]:
    rows = connection.execute(sa.select(_sessions.c.id, _sessions.c.parent_session_id))
    return {row.id: row.parent_session_id for row in rows}
