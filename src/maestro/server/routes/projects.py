from __future__ import annotations

from fastapi import APIRouter

from maestro.ledger import projects
from maestro.ledger.facts import NewProject, Project
from maestro.server.desk import AtDesk, Write

router = APIRouter(tags=["projects"])


@router.get("/projects")
def list_projects(desk: AtDesk) -> list[Project]:
    return desk.journal.read(projects.all_projects)


@router.post("/projects", status_code=201)
def add_project(desk: AtDesk, write: Write, request: NewProject) -> Project:
    project_id = write(lambda change: projects.add_project(change, request))
    return desk.journal.read(lambda connection: projects.get_project(connection, project_id))


@router.get("/projects/{project_id}")
def show_project(desk: AtDesk, project_id: str) -> Project:
    return desk.journal.read(lambda connection: projects.get_project(connection, project_id))


@router.delete("/projects/{project_id}")
def remove_project(write: Write, project_id: str) -> dict[str, str]:
    return {"removed": write(lambda change: projects.remove_project(change, project_id))}
