"""The ledger's nouns, as frozen facts, and the requests that change them.

The same classes are stored, sent and documented in OpenAPI: there is no second set of models. Names are
snake_case here and camelCase on the wire; times are milliseconds since 1970.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from maestro.redact import clean, redact

TaskStatus = Literal["pending", "in_progress", "completed", "blocked", "error", "cancelled"]
Priority = Literal["low", "normal", "high", "urgent"]
ReportKind = Literal["progress", "complete", "blocked", "error"]
SessionStatus = Literal[
    "spawning",
    "working",
    "retrying",  # an API error, and it tries again
    "idle",
    "failed",  # its turn ended with an API error; the agent lives, and takes a prompt
    "limited",  # the same, by a limit that time or money lifts
    "needs_input",
    "completed",
    "error",
    "stopped",
]
SessionRole = Literal["worker", "coordinator"]
DecisionKind = Literal[
    "verdict",  # about a question
    "receipt",  # what became of what was typed
    "resolution",  # how it ended: a human's answer, or by itself
    "attention",  # about a worker that does not get on
]
EscalationKind = Literal["question", "stuck", "limit", "error", "blocked", "budget", "idle"]
PromptKind = Literal["prompt", "answer"]
PromptState = Literal[
    "queued",  # nothing was typed yet
    "typing",  # from here on it will never be typed again
    "pasted",  # it stands in the agent's box; Enter comes next
    "submitted",  # the agent has it: `evidence` proves it
    "uncertain",  # it was typed, and nothing proves that it arrived; `reason` says what was seen
    "failed",  # it was not typed, and will not be
    "withdrawn",
]


def _fit_to_keep(text: str) -> str:
    """What agents and people write is stored without secrets and control characters."""
    return redact(clean(text))


def _storable(text: str) -> str:
    """Ids and paths are taken as they are, or not at all."""
    if "\0" in text:
        raise ValueError("has a character that cannot be stored")
    return text


Title = Annotated[str, Field(min_length=1, max_length=500), AfterValidator(_fit_to_keep)]
Name = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_fit_to_keep)]
PathText = Annotated[str, Field(min_length=1, max_length=4096), AfterValidator(_storable)]
Text = Annotated[str, Field(max_length=100_000), AfterValidator(_fit_to_keep)]
Id = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_storable)]
Ids = Annotated[tuple[Id, ...], Field(strict=False, max_length=1000)]
# Where a session's agent keeps its own things: a few variables of its caller, never all.
Environment = Annotated[dict[Id, PathText], Field(max_length=20)]


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


class Place(Fact):
    """The one pane that a session lives in: `%3` of another tmux server is another pane."""

    fleet: str
    label: str
    pane_id: str
    pane_pid: int
    server_pid: int
    server_started: int


class Worktree(Fact):
    """A session's own copy of a repository's files. `project` is the folder that it was made for."""

    project: str
    path: str
    cwd: str  # in it, the place of the project's folder
    branch: str


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
    mode: str | None
    network: bool  # a person opened the network to its commands, which its CLI's own sandbox would close
    transcript_id: str | None
    transcript_path: str | None
    environment: dict[str, str]
    place: Place | None
    worktree: Worktree | None
    pid: int | None
    last_report: str | None
    created_at: int
    updated_at: int
    ended_at: int | None


class Question(Fact):
    """One occurrence of something that a session waits for. `asked` is the whole of it."""

    id: str
    session_id: str
    version: int  # counts up when what is asked changes while it is open
    kind: str
    text: str
    asked: dict[str, Any]
    source: str
    call_id: str
    opened_at: int
    closed_at: int | None
    closed_by: str


class Prompt(Fact):
    """Text on its way into a session, with what became of it."""

    id: str
    session_id: str
    kind: PromptKind
    state: PromptState
    text: str
    sender: str | None
    question_id: str | None
    answer: dict[str, Any] | None
    reason: str
    evidence: tuple[str, ...]
    transcript_size: int | None
    created_at: int
    updated_at: int
    typed_at: int | None
    settled_at: int | None


class Decision(Fact):
    """A link of this host's chain of what was decided about sessions, by whom and why; never changed afterwards.

    `hash` covers every other field and the hash before it: a row that was changed or taken out shows.
    """

    id: str
    host: str
    seq: int
    at: int
    kind: DecisionKind
    session_id: str
    question_id: str | None
    version: int | None
    follows: str | None  # the decision that this is the end of
    actor: str  # role, and session if it is one's
    coordinator: str
    action: str
    by: str  # policy, precedent, history, budget, human, or the name of a brain
    text: str  # what is typed, as far as it may be shown
    confidence: float
    categories: tuple[str, ...]
    reasons: tuple[str, ...]
    shadow: bool  # decided, and on purpose not done
    prompt_id: str | None
    escalation_id: str | None
    question_hash: str
    text_hash: str
    pane: dict[str, Any] | None
    spent: dict[str, Any]
    previous: str
    hash: str


class Escalation(Fact):
    """Something that waits for the human."""

    id: str
    session_id: str
    kind: EscalationKind
    subject: str  # what it is about: one open escalation for each
    question_id: str | None
    version: int | None
    text: str
    reason: str
    categories: tuple[str, ...]
    proposed: str  # what would have been answered, if anything
    confidence: float
    decision_id: str | None
    opened_at: int
    updated_at: int
    news: int  # how often something new was told of it
    notified_at: int | None
    closed_at: int | None
    closed_by: str


class Precedent(Fact):
    """A human's answer to a question, which counts when exactly the same is asked again."""

    id: str
    project_id: str
    fingerprint: str
    kind: str
    question: str
    options: tuple[str, ...]
    answer: str
    decision_id: str | None
    created_at: int
    expires_at: int
    answers: int  # how often a human gave it
    uses: int
    used_at: int | None
    forgotten_at: int | None


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
    directory: PathText
    name: Name | None = None


class NewTask(Fact):
    title: Title
    description: Text = ""
    project_id: Id | None = None
    directory: PathText | None = None
    parent_id: Id | None = None
    depends_on: Ids = ()
    assignee: Name | None = None
    priority: Priority = "normal"


class TaskChange(Fact):
    """What is set is changed; an empty string clears `parentId` and `assignee`."""

    title: Title | None = None
    description: Text | None = None
    parent_id: Id | Literal[""] | None = None
    assignee: Name | Literal[""] | None = None
    priority: Priority | None = None
    status: TaskStatus | None = None
    blocked_reason: Text | None = None
    add_depends_on: Ids = ()
    remove_depends_on: Ids = ()


class Report(Fact):
    kind: ReportKind
    message: Text = ""


class NewSession(Fact):
    agent: Annotated[Id, Field(max_length=100)]
    role: SessionRole = "worker"
    name: Name | None = None
    project_id: Id | None = None
    directory: PathText | None = None
    parent_session_id: Id | None = None
    task_ids: Ids = ()
    cwd: PathText | None = None
    model: Id | None = None
    mode: Id | None = None
    network: bool = False
    transcript_id: Id | None = None
    environment: Environment = Field(default_factory=dict)


class SessionChange(Fact):
    status: SessionStatus | None = None
    name: Name | None = None
    pid: Annotated[int, Field(gt=1)] | None = None
    transcript_id: Id | None = None
    transcript_path: PathText | None = None


class NewSessionResult(Fact):
    """A new session and its token, which is told this once and stored only as a hash."""

    session: Session
    token: str


class EventPage(Fact):
    events: tuple[Event, ...]
    cursor: str
