"""Tasks in their tables: read with what is derived, changed along the board's rules.

A change is decided first, as the fields that it sets; the row and the event then take the same fields, so
the table always equals the log replayed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from maestro.errors import Conflict, InvalidInput
from maestro.ledger import board, schema
from maestro.ledger.board import Node
from maestro.ledger.facts import NewTask, Report, Task, TaskChange, TaskStatus
from maestro.ledger.journal import Change
from maestro.ledger.lookup import find
from maestro.ledger.projects import all_projects, choose_project
from maestro.ledger.roles import Actor, require
from maestro.ledger.sight import tasks_of

_tasks = schema.tasks


def list_tasks(
    connection: Connection,
    *,
    project_id: str | None = None,
    parent_session_id: str | None = None,
    statuses: Iterable[str] = (),
) -> list[Task]:
    """Tasks in the order of their creation. `parent_session_id`: those that this session made, and those
    that its child sessions work on."""
    live = [project_id] if project_id else [p.id for p in all_projects(connection)]
    query = sa.select(_tasks).where(_tasks.c.project_id.in_(live)).order_by(_tasks.c.id)
    rows = [dict(row._mapping) for row in connection.execute(query)]  # noqa: SLF001 - SQLAlchemy's documented name
    workers = _sessions_by_task(connection)
    progress = board.progress({row["id"]: _node(row) for row in rows})
    tasks = [_task(row, workers.get(row["id"], ()), progress[row["id"]]) for row in rows]
    if parent_session_id:
        mine = _task_ids_below(connection, parent_session_id)
        tasks = [t for t in tasks if t.created_by == parent_session_id or t.id in mine]
    chosen = set(statuses)
    return [t for t in tasks if not chosen or t.status in chosen]


def get_task(connection: Connection, wanted: str) -> Task:
    task_id = _find(connection, wanted)
    row = connection.execute(sa.select(_tasks.c.project_id).where(_tasks.c.id == task_id)).one()
    return next(t for t in list_tasks(connection, project_id=row.project_id) if t.id == task_id)


def children(connection: Connection, wanted: str, *, recursive: bool) -> list[Task]:
    """The task's children; with `recursive`, all below it, parents before their children."""
    parent = get_task(connection, wanted)
    below: dict[str | None, list[Task]] = {}
    for task in list_tasks(connection, project_id=parent.project_id):
        below.setdefault(task.parent_id, []).append(task)
    if not recursive:
        return below.get(parent.id, [])
    found: list[Task] = []
    stack = list(reversed(below.get(parent.id, [])))
    while stack:
        task = stack.pop()
        found.append(task)
        stack.extend(reversed(below.get(task.id, [])))
    return found


def create_task(change: Change, request: NewTask) -> str:
    require(change.actor, "task.create")
    connection = change.connection
    parent_id = _find(connection, request.parent_id) if request.parent_id else None
    if parent_id and not request.project_id:
        project_id = _project_of(connection, parent_id)
    else:
        project_id = choose_project(connection, request.project_id, request.directory).id
    if not request.title.strip():
        raise InvalidInput("A task needs a title.", hint='For example: maestro task create "Fix the login"')
    fields: dict[str, Any] = {
        "id": change.new_id("task"),
        "project_id": project_id,
        "title": request.title.strip(),
        "description": request.description,
        "parent_id": parent_id,
        "depends_on": _unique(_find(connection, d) for d in request.depends_on),
        "assignee": request.assignee,
        "priority": request.priority,
        "status": "pending",
        "blocked_reason": None,
        "last_report": None,
        "created_by": change.actor.session_id,
        "created_at": change.now,
        "updated_at": change.now,
        "started_at": None,
        "ended_at": None,
    }
    nodes = _board(connection, project_id)
    _check_same_project(nodes, parent_id, fields["depends_on"])
    nodes[fields["id"]] = _node(fields)
    board.check_no_cycle(nodes)
    connection.execute(_tasks.insert().values(**fields))
    change.record("task.created", fields["id"], project_id, {"task": fields})
    return str(fields["id"])


def update_task(change: Change, wanted: str, request: TaskChange) -> str:
    task_id = _find(change.connection, wanted)
    require_own(change, task_id)
    project_id = _project_of(change.connection, task_id)
    nodes = _board(change.connection, project_id)
    node = nodes[task_id]
    fields = request.model_dump(
        exclude_unset=True, exclude={"parent_id", "add_depends_on", "remove_depends_on", "status"}
    )
    fields = {name: value for name, value in fields.items() if value is not None}
    if "title" in fields:
        fields["title"] = fields["title"].strip()
        if not fields["title"]:
            raise InvalidInput("A task needs a title.", hint="Give --title some words.")
    if "assignee" in fields:
        fields["assignee"] = fields["assignee"] or None
    if request.parent_id is not None:
        fields["parent_id"] = _find(change.connection, request.parent_id) if request.parent_id else None
    if request.add_depends_on or request.remove_depends_on:
        fields["depends_on"] = _changed_dependencies(change.connection, node, request)
    if "parent_id" in fields or "depends_on" in fields:
        node = node._replace(
            parent_id=fields.get("parent_id", node.parent_id),
            depends_on=tuple(fields.get("depends_on", node.depends_on)),
        )
        _check_same_project(nodes, node.parent_id, node.depends_on)
        nodes[task_id] = node
        board.check_no_cycle(nodes)
    if request.status and request.status != node.status:
        board.check_move(nodes, task_id, request.status)
        fields |= _status_fields(request.status, request.blocked_reason, change.now)
    elif request.blocked_reason is not None and node.status != "blocked":
        raise InvalidInput(
            "Only a blocked task has a reason for it.",
            hint="Add --status blocked, or use `task report blocked`.",
        )
    if fields:
        _apply(change, task_id, project_id, "task.changed", fields, {})
    return task_id


def report_task(change: Change, wanted: str, report: Report) -> str:
    task_id = _find(change.connection, wanted)
    require(change.actor, "task.report", own=_is_own(change.connection, change.actor, task_id))
    project_id = _project_of(change.connection, task_id)
    nodes = _board(change.connection, project_id)
    fields: dict[str, Any] = {}
    for status in board.path_for_report(nodes[task_id].status, report.kind):
        board.check_move(nodes, task_id, status)
        nodes[task_id] = nodes[task_id]._replace(status=status)
        fields |= _status_fields(status, report.message, change.now)
        if status == "in_progress" and report.kind == "complete":
            _apply(change, task_id, project_id, "task.changed", dict(fields), {})
    if report.kind == "blocked" and report.message:
        fields["blocked_reason"] = report.message
    if report.message:
        fields["last_report"] = report.message
    told = {"report": report.kind, "message": report.message}
    _apply(change, task_id, project_id, "task.reported", fields, told)
    return task_id


def follow_report(change: Change, task_ids: Iterable[str], report: Report) -> list[str]:
    """Move the tasks of a session as it reports. One that cannot be moved stays: why, in a sentence each.

    What it has completed or failed at is all that it had; otherwise it speaks of what it is at, or of the first."""
    open_ones = [task for task in _rows(change.connection, task_ids) if task["status"] not in board.ENDED]
    if report.kind in {"progress", "blocked"}:
        open_ones = [task for task in open_ones if task["status"] == "in_progress"] or open_ones[:1]
    left: list[str] = []
    for task in open_ones:
        try:
            report_task(change, task["id"], report)
        except Conflict as error:
            left.append(error.message)
    return left


def begin_work(change: Change, task_ids: Iterable[str]) -> None:
    """A session is at work: its tasks that wait for nothing are in progress."""
    for task in _rows(change.connection, task_ids):
        if task["status"] != "pending":
            continue
        try:
            board.check_move(_board(change.connection, task["project_id"]), task["id"], "in_progress")
        except Conflict:
            continue  # it waits for others; the session may see to that
        fields = _status_fields("in_progress", None, change.now)
        _apply(change, task["id"], task["project_id"], "task.changed", fields, {})


def leave_behind(change: Change, task_ids: Iterable[str], *, failed: bool, reason: str) -> None:
    """A session has ended. What it was at, and nobody else is, says so: nothing is in progress for ever."""
    for task in _rows(change.connection, task_ids):
        if task["status"] != "in_progress" or _live_sessions_at(change.connection, task["id"]):
            continue
        fields = _status_fields("error" if failed else "blocked", reason, change.now)
        _apply(change, task["id"], task["project_id"], "task.changed", fields | {"last_report": reason}, {})


def give_task(change: Change, wanted: str, session_id: str, name: str) -> tuple[str, list[str]]:
    """Make it this session's task, and no other live one's: its id, and the sessions that it was taken from."""
    task_id = _find(change.connection, wanted)
    require_own(change, task_id)
    [task] = _rows(change.connection, [task_id])
    if task["status"] in board.ENDED:
        raise Conflict(
            f"“{task['title']}” is {task['status']}.",
            hint=f"`maestro task update {task_id} --status "
            f"{'in_progress' if task['status'] == 'completed' else 'pending'}` opens it again.",
        )
    fields: dict[str, Any] = {"assignee": name}
    if task["status"] != "in_progress":
        board.check_move(_board(change.connection, task["project_id"]), task_id, "in_progress")
        fields |= _status_fields("in_progress", None, change.now)
    holders = [other for other in _live_sessions_at(change.connection, task_id) if other != session_id]
    links = schema.session_tasks
    change.connection.execute(
        links.delete().where(links.c.task_id == task_id, links.c.session_id.in_([*holders, session_id]))
    )
    change.connection.execute(links.insert().values(session_id=session_id, task_id=task_id))
    _apply(change, task_id, task["project_id"], "task.changed", fields, {})
    return task_id, holders


def take_task(change: Change, task_id: str, session_id: str) -> None:
    """It is not this session's any more, and waits for somebody."""
    links = schema.session_tasks
    change.connection.execute(
        links.delete().where(links.c.task_id == task_id, links.c.session_id == session_id)
    )
    [task] = _rows(change.connection, [task_id])
    if task["status"] == "in_progress" and not _live_sessions_at(change.connection, task_id):
        fields = _status_fields("pending", None, change.now) | {"assignee": None}
        _apply(change, task_id, task["project_id"], "task.changed", fields, {})


def _rows(connection: Connection, task_ids: Iterable[str]) -> list[dict[str, Any]]:
    """In the order of the ids."""
    wanted = list(task_ids)
    rows = connection.execute(sa.select(_tasks).where(_tasks.c.id.in_(wanted)))
    found = {row.id: dict(row._mapping) for row in rows}  # noqa: SLF001 - SQLAlchemy's documented name
    return [found[task_id] for task_id in wanted if task_id in found]


def _live_sessions_at(connection: Connection, task_id: str) -> list[str]:
    links, sessions = schema.session_tasks, schema.sessions
    query = (
        sa.select(sessions.c.id)
        .join(links, links.c.session_id == sessions.c.id)
        .where(links.c.task_id == task_id, sessions.c.ended_at.is_(None))
        .order_by(sessions.c.id)
    )
    return list(connection.execute(query).scalars())


def _apply(
    change: Change, task_id: str, project_id: str, kind: str, fields: dict[str, Any], told: dict[str, Any]
) -> None:
    fields = fields | {"updated_at": change.now}
    change.connection.execute(_tasks.update().where(_tasks.c.id == task_id).values(**fields))
    change.record(kind, task_id, project_id, told | {"changes": fields})


def _status_fields(status: TaskStatus, reason: str | None, now: int) -> dict[str, Any]:
    fields: dict[str, Any] = {"status": status, "blocked_reason": None}
    if status == "blocked":
        fields["blocked_reason"] = reason or None
    if status == "in_progress":
        fields |= {"started_at": now, "ended_at": None}
    elif status == "pending":
        fields |= {"started_at": None, "ended_at": None}
    elif status in board.ENDED:
        fields["ended_at"] = now
    return fields


def _changed_dependencies(connection: Connection, node: Node, request: TaskChange) -> list[str]:
    added = [_find(connection, d) for d in request.add_depends_on]
    removed = {_find(connection, d) for d in request.remove_depends_on}
    return [d for d in _unique([*node.depends_on, *added]) if d not in removed]


def _check_same_project(nodes: board.Board, parent_id: str | None, depends_on: Iterable[str]) -> None:
    for other in (*((parent_id,) if parent_id else ()), *depends_on):
        if other not in nodes:
            raise InvalidInput(
                f"{other} belongs to another project.",
                hint="A parent or dependency must be in the same project.",
            )


def require_own(change: Change, task_id: str) -> None:
    """Raise unless the actor may say whose task it is."""
    require(change.actor, "task.update", own=_is_own(change.connection, change.actor, task_id))


def _is_own(connection: Connection, actor: Actor, task_id: str) -> bool:
    """A session's own tasks: those that it works on; for a coordinator also what is below them, those that it made
    and those of its child sessions."""
    if not actor.session_id:
        return False
    if actor.role != "coordinator":
        working = sa.select(schema.session_tasks.c.task_id).where(
            schema.session_tasks.c.session_id == actor.session_id
        )
        return task_id in connection.execute(working).scalars().all()
    maker = connection.execute(sa.select(_tasks.c.created_by).where(_tasks.c.id == task_id)).scalar()
    if maker == actor.session_id or task_id in tasks_of(connection, [actor.session_id]):
        return True
    return task_id in _task_ids_below(connection, actor.session_id)


def _task_ids_below(connection: Connection, parent_session_id: str) -> set[str]:
    query = (
        sa.select(schema.session_tasks.c.task_id)
        .join(schema.sessions, schema.sessions.c.id == schema.session_tasks.c.session_id)
        .where(schema.sessions.c.parent_session_id == parent_session_id)
    )
    return set(connection.execute(query).scalars())


def _sessions_by_task(connection: Connection) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for row in connection.execute(
        sa.select(schema.session_tasks).order_by(schema.session_tasks.c.session_id)
    ):
        found.setdefault(row.task_id, []).append(row.session_id)
    return found


def _find(connection: Connection, wanted: str) -> str:
    exact = connection.execute(
        sa.select(_tasks.c.id)
        .join(schema.projects, schema.projects.c.id == _tasks.c.project_id)
        .where(_tasks.c.id == wanted, schema.projects.c.removed_at.is_(None))
    ).scalar()
    if exact:
        return str(exact)
    rows = connection.execute(
        sa.select(_tasks.c.id, _tasks.c.title)
        .join(schema.projects, schema.projects.c.id == _tasks.c.project_id)
        .where(schema.projects.c.removed_at.is_(None))
    )
    return find("task", wanted, {row.id: row.title for row in rows})


def _project_of(connection: Connection, task_id: str) -> str:
    return str(connection.execute(sa.select(_tasks.c.project_id).where(_tasks.c.id == task_id)).scalar_one())


def _board(connection: Connection, project_id: str) -> dict[str, Node]:
    columns = (_tasks.c.id, _tasks.c.title, _tasks.c.status, _tasks.c.parent_id, _tasks.c.depends_on)
    rows = connection.execute(sa.select(*columns).where(_tasks.c.project_id == project_id))
    return {row.id: _node(dict(row._mapping)) for row in rows}  # noqa: SLF001 - SQLAlchemy's documented name


def _node(row: dict[str, Any]) -> Node:
    return Node(row["id"], row["title"], row["status"], row["parent_id"], tuple(row["depends_on"]))


def _task(row: dict[str, Any], session_ids: Iterable[str], progress: Any) -> Task:
    return Task(**row, session_ids=tuple(session_ids), progress=progress)


def _unique(ids: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(ids))
