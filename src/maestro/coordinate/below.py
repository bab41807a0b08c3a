"""What is below a coordinator, as the ledger has it at one moment: its workers and theirs, their tasks, what they wait for."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from maestro.ledger import escalations, questions, schema, sessions, sight, tasks
from maestro.ledger.facts import Escalation, Session, Task

_DECIDED: Final = ("verdict", "resolution", "attention")


class Below(NamedTuple):
    sessions: tuple[Session, ...]  # the live ones, by when they began
    names: Mapping[str, str]  # by id, of those that have ended too
    tasks: tuple[Task, ...]
    asks: Mapping[str, str]  # by session: the question that is open
    escalations: tuple[Escalation, ...]  # open ones, oldest first


class Decided(NamedTuple):
    """A decision, with what it was about."""

    id: str
    at: int
    session_id: str
    action: str
    by: str
    question: str
    text: str


def below(connection: Connection, coordinator: Session) -> Below:
    """All that this session started, and what those started."""
    every = sessions.list_sessions(connection)
    family = sight.below({one.id: one.parent_session_id for one in every}, [coordinator.id])
    found = [one for one in every if one.id in family]
    board = tasks.list_tasks(connection, project_id=coordinator.project_id)
    return _gathered(connection, found, _their_tasks(board, coordinator, family))


def of_project(connection: Connection, project_id: str) -> Below:
    """All of a project, for whoever looks on from outside."""
    found = sessions.list_sessions(connection, project_id=project_id)
    return _gathered(connection, found, tasks.list_tasks(connection, project_id=project_id))


def last_decided(connection: Connection, session_ids: Collection[str], most: int) -> list[Decided]:
    """The latest decisions about these sessions, oldest first; what became of each is left out."""
    told, asked = schema.decisions, schema.questions
    query = (
        sa.select(told, asked.c.text.label("question"))
        .join(asked, asked.c.id == told.c.question_id, isouter=True)
        .where(
            told.c.session_id.in_(session_ids), told.c.kind.in_(_DECIDED), told.c.action.not_in(("ignore",))
        )
        .order_by(told.c.seq.desc())
        .limit(most)
    )
    rows: list[Any] = list(reversed(connection.execute(query).all()))
    return [
        Decided(row.id, row.at, row.session_id, row.action, row.by, row.question or "", row.text)
        for row in rows
    ]


def _gathered(connection: Connection, found: list[Session], board: list[Task]) -> Below:
    live = tuple(one for one in found if one.ended_at is None)
    names = {one.id: one.name for one in found}
    asks = {
        one.session_id: _words(one.text, str(one.asked.get("detail") or ""))
        for one in questions.list_questions(connection, is_open=True)
        if one.session_id in names
    }
    waiting = [
        one for one in escalations.list_escalations(connection, is_open=True) if one.session_id in names
    ]
    return Below(live, names, tuple(board), asks, tuple(waiting))


def _their_tasks(board: list[Task], coordinator: Session, family: set[str]) -> list[Task]:
    """Those that it or its workers made or work on, and the parts of its own; not its own, which it knows."""
    makers = {coordinator.id, *family}
    own = set(coordinator.task_ids)
    parts = sight.below({task.id: task.parent_id for task in board}, own)
    return [
        task
        for task in board
        if task.id not in own
        and (task.created_by in makers or family.intersection(task.session_ids) or task.id in parts)
    ]


def _words(text: str, detail: str) -> str:
    return f"{text} {detail}".strip()
