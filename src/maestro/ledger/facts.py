"""The ledger's nouns, as frozen facts, and the requests that change them.

The same classes are stored, sent and documented in OpenAPI: there is no second set of models. Names are
snake_case here and camelCase on the wire; times are milliseconds since 1970.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

TaskStatus = Literal["pending", "in_progress", "completed", "blocked", "error", "cancelled"]
Priority = Literal["low", "normal", "high", "urgent"]
ReportKind = Literal["progress", "complete", "blocked", "error"]
SessionStatus = Literal["spawning", "working", "idle", "needs_input", "completed", "error", "stopped"]
SessionRole = Literal["worker", "coordinator"]

Title = Annotated[str, Field(min_length=1, max_length=500)]
Text = Annotated[str, Field(max_length=100_000)]
Id = Annotated[str, Field(min_length=1, max_length=200)]
Ids = Annotated[tuple[Id, ...], Field(strict=False, max_length=1000)]


class Fact(BaseModel):
    model_config = ConfigDict(
        frozen=True, strict=True, extra="forbid", alias_generator=to_camel, populate_by_name=True
    )


class Project(Fact):
    id: str
    name: str
    directory: str
    created_at: int


class Progress(Fact):
    """How far a task's subtree is: its leaves that count, and those of them that are completed."""

    completed: int
    total: int


class Task(Fact):
    id: str
    project_id: str
    title: str
    description: str
    parent_id: str | None
    depends_on: Ids
    assignee: str | None
    priority: Priority
    status: TaskStatus
    blocked_reason: str | None
    last_report: str | None
    created_by: str | None
    session_ids: Ids
    progress: Progress
    created_at: int
    updated_at: int
    started_at: int | None
    ended_at: int | None


class Session(Fact):
    id: str
    project_id: str
    name: str
    role: SessionRole
    agent: str
    status: SessionStatus
    parent_session_id: str | None
    task_ids: Ids
    cwd: str
    host: str
    model: str | None
    transcript_id: str | None
    transcript_path: str | None
    pid: int | None
    last_report: str | None
    created_at: int
    updated_at: int
    ended_at: int | None


class Event(Fact):
    """A row of the one log of everything that happened. (host, seq) is its place in commit order."""

    host: str
    seq: int
    at: int
    kind: str
    project_id: str | None
    subject_id: str
    session_id: str | None
    role: str
    data: dict[str, Any]

    @property
    def cursor(self) -> str:
        return f"{self.host}:{self.seq}"


class NewProject(Fact):
    directory: Annotated[str, Field(min_length=1, max_length=4096)]
    name: Annotated[str, Field(min_length=1, max_length=200)] | None = None


class NewTask(Fact):
    title: Title
    description: Text = ""
    project_id: Id | None = None
    directory: str | None = None
    parent_id: Id | None = None
    depends_on: Ids = ()
    assignee: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    priority: Priority = "normal"


class TaskChange(Fact):
    """What is set is changed; an empty string clears `parentId` and `assignee`."""

    title: Title | None = None
    description: Text | None = None
    parent_id: Annotated[str, Field(max_length=200)] | None = None
    assignee: Annotated[str, Field(max_length=200)] | None = None
    priority: Priority | None = None
    status: TaskStatus | None = None
    blocked_reason: Text | None = None
    add_depends_on: Ids = ()
    remove_depends_on: Ids = ()


class Report(Fact):
    kind: ReportKind
    message: Text = ""


class NewSession(Fact):
    agent: Annotated[str, Field(min_length=1, max_length=100)]
    role: SessionRole = "worker"
    name: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    project_id: Id | None = None
    directory: str | None = None
    parent_session_id: Id | None = None
    task_ids: Ids = ()
    cwd: Annotated[str, Field(max_length=4096)] | None = None
    model: str | None = None
    transcript_id: str | None = None


class SessionChange(Fact):
    status: SessionStatus | None = None
    name: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    pid: Annotated[int, Field(gt=1)] | None = None
    transcript_id: str | None = None
    transcript_path: str | None = None


class NewSessionResult(Fact):
    """A new session and its token, which is told this once and stored only as a hash."""

    session: Session
    token: str


class EventPage(Fact):
    events: tuple[Event, ...]
    cursor: str
