"""The whole at a glance: what `maestro status` shows."""

from __future__ import annotations

from sqlalchemy.engine import Connection

from maestro.ledger.facts import Fact, Project, Session
from maestro.ledger.projects import all_projects
from maestro.ledger.sessions import list_sessions
from maestro.ledger.tasks import list_tasks


class ProjectSummary(Fact):
    project: Project
    tasks: dict[str, int]
    active_sessions: tuple[Session, ...]


class Summary(Fact):
    projects: tuple[ProjectSummary, ...]


def summarise(connection: Connection) -> Summary:
    tasks = list_tasks(connection)
    sessions = list_sessions(connection, active=True)
    return Summary(
        projects=tuple(
            ProjectSummary(
                project=project,
                tasks=_counts([t.status for t in tasks if t.project_id == project.id]),
                active_sessions=tuple(s for s in sessions if s.project_id == project.id),
            )
            for project in all_projects(connection)
        )
    )


def _counts(statuses: list[str]) -> dict[str, int]:
    return {status: statuses.count(status) for status in dict.fromkeys(statuses)}
