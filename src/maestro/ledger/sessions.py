"""Sessions: one conversation of one agent each, with a token that dies with it."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from maestro.errors import IllegalTransition, InvalidInput, NotFound
from maestro.ledger import questions, schema, tasks
from maestro.ledger.facts import (
    NewSession,
    Place,
    Report,
    ReportKind,
    Session,
    SessionChange,
    SessionStatus,
    Worktree,
)
from maestro.ledger.journal import Change
from maestro.ledger.lookup import find
from maestro.ledger.projects import choose_project, get_project, project_for_directory
from maestro.ledger.roles import Actor, require
from maestro.ledger.sight import is_below, is_child
from maestro.processes import ProcessId
from maestro.redact import clean, redact

_sessions = schema.sessions
_FACT_COLUMNS = [c for c in _sessions.c if c.name not in {"token_hash", "pid_started", "boot_id"}]

ENDED: frozenset[SessionStatus] = frozenset({"completed", "error", "stopped"})
AT_REST: frozenset[SessionStatus] = frozenset({"idle", "failed", "limited"})
AT_WORK: frozenset[SessionStatus] = frozenset({"working", "retrying"})
_LIVE: frozenset[SessionStatus] = frozenset({"spawning", "needs_input", *AT_REST, *AT_WORK})
_REPORTED: Mapping[ReportKind, SessionStatus] = {
    "progress": "working",
    "complete": "completed",
    "blocked": "needs_input",
    "error": "error",
}
# One that reports from its own pane is still there afterwards, and can be given the next task.
_STAYS: Mapping[ReportKind, SessionStatus] = {"complete": "idle", "error": "idle"}
_WHY = 300

# What is known of the work when it is reported as done; told which tasks could not be moved, and why.
Check = Callable[[list[str]], dict[str, Any]]


def list_sessions(
    connection: Connection,
    *,
    project_id: str | None = None,
    parent_session_id: str | None = None,
    active: bool | None = None,
    ended_after: int | None = None,
) -> list[Session]:
    """In the order in which they began. `ended_after`: those that live, or ended after this."""
    query = sa.select(*_FACT_COLUMNS).order_by(_sessions.c.id)
    if project_id:
        query = query.where(_sessions.c.project_id == project_id)
    if parent_session_id:
        query = query.where(_sessions.c.parent_session_id == parent_session_id)
    if active is not None:
        query = query.where(_sessions.c.ended_at.is_(None) if active else _sessions.c.ended_at.is_not(None))
    if ended_after is not None:
        query = query.where(_sessions.c.ended_at.is_(None) | (_sessions.c.ended_at > ended_after))
    rows = connection.execute(query).all()
    own = _tasks_by_session(connection)
    return [Session(**row._mapping, task_ids=tuple(own.get(row.id, ()))) for row in rows]  # noqa: SLF001 - SQLAlchemy's documented name


def get_session(connection: Connection, wanted: str) -> Session:
    session_id = _find(connection, wanted)
    row = connection.execute(sa.select(*_FACT_COLUMNS).where(_sessions.c.id == session_id)).one()
    return Session(**row._mapping, task_ids=tuple(_tasks_by_session(connection).get(session_id, ())))  # noqa: SLF001 - SQLAlchemy's documented name


def create_session(change: Change, request: NewSession) -> str:
    """Record that a session is about to be. Its token comes from `mint_token`."""
    connection = change.connection
    parent_id = _find(connection, request.parent_session_id) if request.parent_session_id else None
    if change.actor.role == "coordinator" and parent_id is None:
        parent_id = change.actor.session_id
    own = change.actor.session_id is not None and parent_id == change.actor.session_id
    require(change.actor, "session.create", own=own)
    own_tasks = [tasks.get_task(connection, wanted) for wanted in dict.fromkeys(request.task_ids)]
    for task in own_tasks:
        tasks.require_own(change, task.id)
    if own_tasks and not request.project_id:
        project_id = own_tasks[0].project_id
    else:
        project_id = choose_project(connection, request.project_id, request.directory).id
    if any(task.project_id != project_id for task in own_tasks):
        raise InvalidInput("A session's tasks must be in its own project.")
    session_id = change.new_id("sess")
    fields: dict[str, Any] = {
        "id": session_id,
        "project_id": project_id,
        "name": request.name or _default_name(request, session_id, [task.title for task in own_tasks]),
        "role": request.role,
        "agent": request.agent,
        "status": "spawning",
        "parent_session_id": parent_id,
        "cwd": request.cwd or _directory_of(connection, project_id),
        "model": request.model,
        "mode": request.mode,
        "network": request.network,
        "transcript_id": request.transcript_id,
        "transcript_path": None,
        "environment": request.environment,
    }
    _insert(change, fields, [task.id for task in own_tasks])
    return session_id


def _default_name(request: NewSession, session_id: str, titles: list[str]) -> str:
    if request.role == "coordinator":
        return f"Coordinator: {titles[0]}"[:200] if titles else f"Coordinator {session_id[-6:]}"
    return titles[0][:200] if titles else f"{request.agent} {session_id[-6:]}"


def adopt_session(
    change: Change,
    *,
    agent: str,
    transcript_id: str,
    transcript_path: str | None,
    cwd: str,
    project: str | None,
    name: str | None,
) -> str:
    """Record a session that an agent runs without Maestro; the one that there is when it was adopted before."""
    require(change.actor, "session.adopt")
    connection = change.connection
    known = connection.execute(
        sa.select(_sessions.c.id).where(
            _sessions.c.agent == agent,
            _sessions.c.transcript_id == transcript_id,
            _sessions.c.ended_at.is_(None),
        )
    ).scalar()
    if known:
        return str(known)
    if not project and not os.path.isdir(cwd):
        raise NotFound(
            f"Its folder, {cwd or 'which it does not name'}, is not there.",
            hint="Name the project that it belongs to: --project PROJECT",
        )
    session_id = change.new_id("sess")
    fields: dict[str, Any] = {
        "id": session_id,
        "project_id": get_project(connection, project).id if project else project_for_directory(change, cwd),
        "name": name or f"{agent} {transcript_id[:8]}",
        "role": "worker",
        "agent": agent,
        "status": "working",
        "parent_session_id": None,
        "cwd": cwd,
        "model": None,
        "mode": None,
        "network": False,
        "transcript_id": transcript_id,
        "transcript_path": transcript_path,
        "environment": {},
    }
    _insert(change, fields, [])
    return session_id


def _insert(change: Change, fields: dict[str, Any], task_ids: list[str]) -> None:
    fields = fields | {
        "host": change.host,
        "place": None,
        "worktree": None,
        "pid": None,
        "last_report": None,
        "created_at": change.now,
        "updated_at": change.now,
        "ended_at": None,
    }
    change.connection.execute(_sessions.insert().values(**fields))
    for task_id in task_ids:
        change.connection.execute(
            schema.session_tasks.insert().values(session_id=fields["id"], task_id=task_id)
        )
    # Where an agent keeps its things is nobody's news.
    told = {name: value for name, value in fields.items() if name != "environment"} | {"task_ids": task_ids}
    change.record("session.created", fields["id"], fields["project_id"], {"session": told})


def change_session(change: Change, wanted: str, request: SessionChange, birth: tuple[int, str] | None) -> str:
    """`birth`: start time and boot id of the process that `pid` names, as the daemon saw them."""
    session = get_session(change.connection, wanted)
    require(change.actor, "session.change", own=is_child(session, change.actor))
    fields = {n: v for n, v in request.model_dump(exclude={"status"}).items() if v is not None}
    if request.pid is not None:
        if birth is None:
            raise NotFound(f"There is no process {request.pid}.", hint="Give the pid of a process that runs.")
        fields |= {"pid_started": birth[0], "boot_id": birth[1]}
    if request.status and request.status != session.status:
        fields |= _status_fields(session.status, request.status, change.now)
    if fields:
        _apply(change, session, "session.changed", fields, {})
    if fields.get("status") == "working":
        tasks.begin_work(change, session.task_ids)
    return session.id


def place_session(change: Change, session_id: str, place: Place, birth: tuple[int, str] | None) -> str:
    """Record the pane that a session lives in, and its process. `birth` as in `change_session`."""
    session = get_session(change.connection, session_id)
    fields: dict[str, Any] = {"place": place.model_dump(by_alias=True), "pid": place.pane_pid}
    if birth is not None:
        fields |= {"pid_started": birth[0], "boot_id": birth[1]}
    _apply(change, session, "session.placed", fields, {})
    return session.id


def forget_transcript_id(change: Change, session_id: str) -> str:
    """The agent gives its transcript an id of its own: the tag in the first prompt will find it."""
    session = get_session(change.connection, session_id)
    _apply(change, session, "session.changed", {"transcript_id": None}, {})
    return session.id


def follow_transcript(change: Change, session_id: str, transcript_id: str, path: str | None) -> str:
    """The agent itself says which log it writes now."""
    session = get_session(change.connection, session_id)
    fields = {"transcript_id": transcript_id, "transcript_path": path}
    _apply(change, session, "session.changed", fields, {})
    return session.id


def placeholder_of(session: Session) -> str:
    """Returns what an adopted pane's session has for a transcript's id while that is unknown: its pane."""
    place = session.place
    return unknown_transcript(place.pane_id, place.server_pid) if place else "%"


def unknown_transcript(pane_id: str, server_pid: int) -> str:
    """Returns the same for a pane: `%0` is one in every server."""
    return f"{pane_id}-{server_pid}"


def leave_place(change: Change, session_id: str) -> str:
    """Record that a session no longer belongs to a pane: its fleet was taken down."""
    session = get_session(change.connection, session_id)
    _apply(change, session, "session.placed", {"place": None}, {})
    return session.id


def give_worktree(change: Change, session_id: str, worktree: Worktree | None) -> str:
    """Record the checkout that a session works in, or that it no longer has one."""
    session = get_session(change.connection, session_id)
    fields: dict[str, Any] = {"worktree": worktree.model_dump(by_alias=True) if worktree else None}
    if worktree:
        fields["cwd"] = worktree.cwd
    _apply(change, session, "session.worktree", fields, {})
    return session.id


def report_session(change: Change, wanted: str, report: Report, check: Check | None = None) -> str:
    """What a session says of its work; its tasks follow. In a pane it lives on until its agent ends, or is ended: only
    one that nothing else would tell the end of, or whose end a human reports, ends by it."""
    session = get_session(change.connection, wanted)
    is_its_own = session.id == change.actor.session_id
    require(change.actor, "session.report", own=is_its_own)
    target = _REPORTED[report.kind]
    if is_its_own and session.place is not None and session.status not in ENDED:
        target = _STAYS.get(report.kind, target)
    fields: dict[str, Any] = {}
    if target != session.status:
        fields |= _status_fields(session.status, target, change.now)
    if report.message:
        fields["last_report"] = report.message
    left = tasks.follow_report(change, session.task_ids, report)
    told: dict[str, Any] = {"report": report.kind, "message": report.message}
    told |= {"left": left} if left else {}
    told |= {"evidence": check(left)} if check is not None else {}
    _apply(change, session, "session.reported", fields, told)
    return session.id


def assign_task(change: Change, session_id: str, wanted: str) -> tuple[str, list[str]]:
    """Make it this session's task: its id, and the sessions that it was taken from, which must be the actor's own."""
    session = get_session(change.connection, session_id)
    task_id, holders = tasks.give_task(change, wanted, session.id, session.name)
    if tasks.get_task(change.connection, task_id).project_id != session.project_id:
        raise InvalidInput("A session's tasks must be in its own project.")
    for holder in holders:
        other = get_session(change.connection, holder)
        require(change.actor, "session.prompt", own=is_child(other, change.actor))
    told = {"task_id": task_id, "taken_from": holders}
    change.record("session.assigned", session.id, session.project_id, {"assignment": told})
    return task_id, holders


def give_parent(change: Change, session_id: str, parent_id: str) -> str:
    """Whose child it is, when nobody's so far: the coordinator that a fleet.yml gives it to."""
    session = get_session(change.connection, session_id)
    if session.parent_session_id is None and not is_below(change.connection, parent_id, session.id):
        _apply(change, session, "session.changed", {"parent_session_id": parent_id}, {})
    return session.id


def end_session(change: Change, session_id: str, status: SessionStatus, why: str) -> str:
    """Record that a session has ended, as Maestro itself found; one that had ended before stays as it was."""
    session = get_session(change.connection, session_id)
    if session.status not in ENDED:
        fields = _status_fields(session.status, status, change.now) | {"last_report": redact(clean(why))}
        _apply(change, session, "session.ended", fields, {"message": fields["last_report"]})
    return session.id


def new_token() -> str:
    return f"mst_{secrets.token_urlsafe(32)}"


def mint_token(change: Change, session_id: str, token: str) -> None:
    """Give the session this token, in place of any earlier one."""
    change.connection.execute(
        _sessions.update().where(_sessions.c.id == session_id).values(token_hash=hash_token(token))
    )


def hash_token(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def actor_of_token(connection: Connection, token: str) -> Actor | None:
    """Who holds this token; None when no live session does."""
    row = connection.execute(
        sa.select(_sessions.c.id, _sessions.c.role).where(
            _sessions.c.token_hash == hash_token(token), _sessions.c.ended_at.is_(None)
        )
    ).first()
    return Actor(row.role, row.id) if row else None


def live_tokens(connection: Connection, host: str) -> dict[str, Actor]:
    """Who holds which token, by its hash, of the live sessions of this host."""
    rows = connection.execute(
        sa.select(_sessions.c.token_hash, _sessions.c.role, _sessions.c.id).where(
            _sessions.c.ended_at.is_(None), _sessions.c.token_hash.is_not(None), _sessions.c.host == host
        )
    )
    return {row.token_hash: Actor(row.role, row.id) for row in rows}


def live_processes(connection: Connection, host: str) -> dict[tuple[int, int], Actor]:
    """(pid, start time) of the processes that sessions of this host are known to run in.

    A process that Maestro started in a pane stays its session's as long as it runs, also when that was closed: it must
    not become a human's. An adopted one may be a person's own shell, and is theirs again."""
    columns = (_sessions.c.pid, _sessions.c.pid_started, _sessions.c.role, _sessions.c.id)
    rows = connection.execute(
        sa.select(*columns, _sessions.c.ended_at, _sessions.c.mode, _sessions.c.place).where(
            sa.or_(_sessions.c.ended_at.is_(None), _sessions.c.mode.is_not(None)),
            _sessions.c.pid.is_not(None),
            _sessions.c.host == host,
        )
    )
    return {
        (row.pid, row.pid_started): Actor(row.role, row.id)
        for row in rows
        if row.ended_at is None or row.place is not None
    }


def process_of(connection: Connection, session_id: str) -> ProcessId | None:
    """The session's process, so that no other one with its pid is taken for it; None without a complete record."""
    columns = (_sessions.c.pid, _sessions.c.pid_started, _sessions.c.boot_id)
    row = connection.execute(sa.select(*columns).where(_sessions.c.id == session_id)).first()
    found = ProcessId(row.pid or 0, row.pid_started or 0, row.boot_id or "") if row else None
    return found if found and found.is_complete else None


def nearest_session(chain: Iterable[tuple[int, int]], live: Mapping[tuple[int, int], Actor]) -> Actor | None:
    """The session whose process is the caller or its nearest ancestor."""
    return next((live[process] for process in chain if process in live), None)


def _status_fields(current: SessionStatus, target: SessionStatus, now: int) -> dict[str, Any]:
    """A live session takes any status; one that has ended can only be started again."""
    if current in ENDED and target != "spawning":
        raise IllegalTransition(
            f"A session that is {current} cannot become {target}.", hint="It has ended; start or resume one."
        )
    if current in _LIVE and target == "spawning":
        raise IllegalTransition(
            f"A session that is {current} cannot become spawning.", hint="It has started already."
        )
    if target in ENDED:
        # A token dies with its session, and an ended session's process no longer lends its role.
        return {"status": target, "ended_at": now, "token_hash": None}
    return {"status": target, "ended_at": None}


def _apply(change: Change, session: Session, kind: str, fields: dict[str, Any], told: dict[str, Any]) -> None:
    fields = fields | {"updated_at": change.now}
    change.connection.execute(_sessions.update().where(_sessions.c.id == session.id).values(**fields))
    if fields.get("ended_at") is not None:
        questions.close_all(change, session.id, "the session ended")
        why = str(fields.get("last_report") or session.last_report or "it said nothing")[:_WHY]
        reason = f"Its session “{session.name}” has ended ({fields['status']}): {why}"
        tasks.leave_behind(change, session.task_ids, failed=fields["status"] == "error", reason=reason)
    public = {n: v for n, v in fields.items() if n != "token_hash"}
    change.record(kind, session.id, session.project_id, told | {"changes": public})


def _tasks_by_session(connection: Connection) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for row in connection.execute(sa.select(schema.session_tasks).order_by(schema.session_tasks.c.task_id)):
        found.setdefault(row.session_id, []).append(row.task_id)
    return found


def _find(connection: Connection, wanted: str) -> str:
    exact = connection.execute(sa.select(_sessions.c.id).where(_sessions.c.id == wanted)).scalar()
    if exact:
        return str(exact)
    rows = connection.execute(sa.select(_sessions.c.id, _sessions.c.name))
    return find("session", wanted, {row.id: row.name for row in rows})


def _directory_of(connection: Connection, project_id: str) -> str:
    query = sa.select(schema.projects.c.directory).where(schema.projects.c.id == project_id)
    return str(connection.execute(query).scalar_one())
