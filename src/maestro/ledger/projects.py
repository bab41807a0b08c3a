"""Projects: working directories that agents work in."""

from __future__ import annotations

import os

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from maestro.errors import Conflict, InvalidInput, NotFound
from maestro.ledger import schema
from maestro.ledger.facts import NewProject, Project
from maestro.ledger.journal import Change
from maestro.ledger.lookup import find
from maestro.ledger.roles import require

_COLUMNS = [c for c in schema.projects.c if c.name != "removed_at"]


def all_projects(connection: Connection) -> list[Project]:
    rows = connection.execute(
        sa.select(*_COLUMNS).where(schema.projects.c.removed_at.is_(None)).order_by(schema.projects.c.id)
    )
    return [Project(**row._mapping) for row in rows]  # noqa: SLF001 - SQLAlchemy's documented name


def get_project(connection: Connection, wanted: str) -> Project:
    projects = {p.id: p for p in all_projects(connection)}
    return projects[find("project", wanted, {i: p.name for i, p in projects.items()})]


def project_of_directory(connection: Connection, directory: str) -> Project:
    """The project whose folder is this one or the nearest above it."""
    place = os.path.realpath(directory)
    holding = [
        p
        for p in all_projects(connection)
        if place == p.directory or place.startswith(p.directory.rstrip("/") + "/")
    ]
    if not holding:
        raise NotFound(
            f"{directory} is in no project.",
            hint="Add it with `maestro project add .`, or name one with --project.",
        )
    return max(holding, key=lambda p: len(p.directory))


def choose_project(connection: Connection, project_id: str | None, directory: str | None) -> Project:
    if project_id:
        return get_project(connection, project_id)
    if directory:
        return project_of_directory(connection, directory)
    raise InvalidInput("Provide projectId or directory")


def add_project(change: Change, request: NewProject) -> str:
    """Adding a folder twice is harmless: the same project comes back."""
    require(change.actor, "project.write")
    if not os.path.isabs(request.directory):
        raise InvalidInput(f"{request.directory} is not an absolute path.", hint="Give the whole path.")
    directory = os.path.realpath(request.directory)
    if not os.path.isdir(directory):
        raise NotFound(f"{request.directory} is not a folder.", hint="Create it first, or check the path.")
    existing = all_projects(change.connection)
    for project in existing:
        if project.directory == directory:
            if request.name and request.name != project.name:
                raise Conflict(
                    f"{directory} is already the project “{project.name}”.",
                    hint=f"`maestro project remove {project.name}` first, or leave out --name.",
                )
            return project.id
    name = request.name or _free_name(os.path.basename(directory) or "root", {p.name for p in existing})
    if any(p.name == name for p in existing):
        raise Conflict(f"There is already a project “{name}”.", hint="Give another one with --name.")
    project = Project(id=change.new_id("proj"), name=name, directory=directory, created_at=change.now)
    change.connection.execute(schema.projects.insert().values(**project.model_dump()))
    change.record("project.added", project.id, project.id, {"project": project.model_dump()})
    return project.id


def project_for_directory(change: Change, directory: str) -> str:
    """The project of this folder; made when there is none."""
    try:
        return project_of_directory(change.connection, directory).id
    except NotFound:
        return add_project(change, NewProject(directory=directory or "(no folder named)"))


def remove_project(change: Change, wanted: str) -> str:
    require(change.actor, "project.write")
    project = get_project(change.connection, wanted)
    live = change.connection.execute(
        sa.select(sa.func.count())
        .select_from(schema.sessions)
        .where(schema.sessions.c.project_id == project.id, schema.sessions.c.ended_at.is_(None))
    ).scalar()
    if live:
        raise Conflict(
            f"“{project.name}” has {live} live session{'s' if live > 1 else ''}.", hint="Stop them first."
        )
    change.connection.execute(
        schema.projects.update().where(schema.projects.c.id == project.id).values(removed_at=change.now)
    )
    change.record("project.removed", project.id, project.id, {"name": project.name})
    return project.id


def _free_name(wanted: str, taken: set[str]) -> str:
    name, count = wanted, 1
    while name in taken:
        count += 1
        name = f"{wanted}-{count}"
    return name
