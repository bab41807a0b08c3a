"""The whole at a glance: what `maestro status` shows."""

from __future__ import annotations

from sqlalchemy.engine import Connection

from maestro.ledger.facts import Fact, Project, Session
from maestro.ledger.projects import all_projects
from maestro.ledger.sessions import list_sessions
from maestro.ledger.sight import Sight
from maestro.ledger.tasks import list_tasks


class ProjectSummary(Fact):
    project: Project
    tasks: dict[str, int]
    active_sessions: tuple[Session, ...]


class Summary(Fact):
    projects: tuple[ProjectSummary, ...]


def summarise(connection: Connection, sight: Sight) -> Summary:
    """As far as the caller may read it."""
    tasks = [task for task in list_tasks(connection) if sight.has_task(task.id)]
    sessions = [one for one in list_sessions(connection, active=True) if sight.has_session(one.id)]
    return Summary(
        projects=tuple(
            ProjectSummary(
                project=project,
                tasks=_counts([t.status for t in tasks if t.project_id == project.id]),
                active_sessions=tuple(s for s in sessions if s.project_id == project.id),
            )
            for project in all_projects(connection)
            if sight.has_project(project.id)
        )
    )


def _counts(statuses: list[str]) -> dict[str, int]:
    return {status: statuses.count(status) for status in dict.fromkeys(statuses)}
