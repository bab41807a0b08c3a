from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from sqlalchemy.engine import Connection

from maestro.ledger import projects, tasks
from maestro.ledger.facts import NewTask, Report, Task, TaskChange
from maestro.server.desk import AtDesk, Write

router = APIRouter(tags=["tasks"])


@router.get("/tasks")
def list_tasks(
    desk: AtDesk,
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

    return desk.journal.read(work)


@router.post("/tasks", status_code=201)
def create_task(desk: AtDesk, write: Write, request: NewTask) -> Task:
    return _show(desk, write(lambda change: tasks.create_task(change, request)))


@router.get("/tasks/{task_id}")
def show_task(desk: AtDesk, task_id: str) -> Task:
    return _show(desk, task_id)


@router.get("/tasks/{task_id}/children")
def children(desk: AtDesk, task_id: str, *, recursive: bool = False) -> list[Task]:
    return desk.journal.read(lambda connection: tasks.children(connection, task_id, recursive=recursive))


@router.patch("/tasks/{task_id}")
def update_task(desk: AtDesk, write: Write, task_id: str, request: TaskChange) -> Task:
    return _show(desk, write(lambda change: tasks.update_task(change, task_id, request)))


@router.post("/tasks/{task_id}/report")
def report_task(desk: AtDesk, write: Write, task_id: str, request: Report) -> Task:
    return _show(desk, write(lambda change: tasks.report_task(change, task_id, request)))


def _show(desk: AtDesk, task_id: str) -> Task:
    return desk.journal.read(lambda connection: tasks.get_task(connection, task_id))
