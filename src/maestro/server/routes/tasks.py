from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from sqlalchemy.engine import Connection

from maestro.ledger import projects, sight, tasks
from maestro.ledger.facts import NewTask, Report, Task, TaskChange
from maestro.server.desk import AtDesk, Calling, KeyOfChange, Seeing, Write

router = APIRouter(tags=["tasks"])


@router.get("/tasks")
def list_tasks(
    desk: AtDesk,
    seeing: Seeing,
    project_id: Annotated[str | None, Query(alias="projectId")] = None,
    directory: str | None = None,
    parent_session_id: Annotated[str | None, Query(alias="parentSessionId")] = None,
    status: str | None = None,
) -> list[Task]:
    """All tasks, or those of a project (by id, name, or a directory in it), of a coordinator, or of a status."""

    def work(connection: Connection) -> list[Task]:
        project = None
        if project_id or directory:
            project = projects.choose_project(connection, project_id, directory).id
        statuses = status.split(",") if status else ()
        return tasks.list_tasks(
            connection, project_id=project, parent_session_id=parent_session_id, statuses=statuses
        )

    return [task for task in desk.journal.read(work) if seeing.has_task(task.id)]


@router.post("/tasks", status_code=201)
def create_task(desk: AtDesk, write: Write, request: NewTask) -> Task:
    return _show(desk, write(lambda change: tasks.create_task(change, request)))


@router.get("/tasks/{task_id}")
def show_task(desk: AtDesk, actor: Calling, task_id: str) -> Task:
    return _read(desk, actor, task_id)


@router.get("/tasks/{task_id}/children")
def children(desk: AtDesk, actor: Calling, task_id: str, *, recursive: bool = False) -> list[Task]:
    task_id = _read(desk, actor, task_id).id
    return desk.journal.read(lambda connection: tasks.children(connection, task_id, recursive=recursive))


@router.patch("/tasks/{task_id}")
def update_task(desk: AtDesk, write: Write, task_id: str, request: TaskChange) -> Task:
    return _show(desk, write(lambda change: tasks.update_task(change, task_id, request)))


@router.post("/tasks/{task_id}/report")
async def report_task(desk: AtDesk, actor: Calling, once: KeyOfChange, task_id: str, request: Report) -> Task:
    return await desk.reports.report_task(actor, task_id, request, once)


def _show(desk: AtDesk, task_id: str) -> Task:
    return desk.journal.read(lambda connection: tasks.get_task(connection, task_id))


def _read(desk: AtDesk, actor: Calling, task_id: str) -> Task:
    def work(connection: Connection) -> Task:
        found = tasks.get_task(connection, task_id)
        sight.require_task_sight(connection, actor, found.id)
        return found

    return desk.journal.read(work)
