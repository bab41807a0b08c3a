"""What can be asked of fleets."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from maestro.agents.launch import Mode
from maestro.ledger.facts import Fact, Id, Ids, Name, PathText, Session, SessionRole, Text

DEFAULT_FLEET = "maestro"

# Variables of the caller; filtered again by what the agent may know.
CallerEnvironment = Annotated[dict[Id, Annotated[str, Field(max_length=32_768)]], Field(max_length=200)]


class Spawn(Fact):
    """One session, to be started in a pane."""

    agent: Id = "claude"
    role: SessionRole = "worker"
    name: Name | None = None
    project_id: Id | None = None
    directory: PathText | None = None
    parent_session_id: Id | None = None
    task_ids: Ids = ()
    subject: Text = ""
    message: Text = ""
    cwd: PathText | None = None
    model: Id | None = None
    mode: Mode = "default"
    worktree: bool = False
    isolate: bool = False
    network: bool = False  # open the network to its commands, where its CLI's own sandbox would close it
    fleet: Id = DEFAULT_FLEET
    label: Name | None = None
    window: Name | None = None
    environment: CallerEnvironment = Field(default_factory=dict)


class AdoptPane(Fact):
    """A pane of the user's own tmux server, by its socket and id."""

    socket: PathText
    pane_id: Annotated[str, Field(pattern=r"^%[0-9]+$")]
    agent: Id | None = None
    name: Name | None = None
    project_id: Id | None = None
    # Accepted from older clients, and not used: the agent's own process tells its variables.
    environment: CallerEnvironment = Field(default_factory=dict, deprecated=True)


class Up(Fact):
    """A fleet.yml, as text with the place that it came from."""

    text: Annotated[str, Field(max_length=1_000_000)]
    source: PathText
    folder: PathText
    resume: bool = False
    environment: CallerEnvironment = Field(default_factory=dict)


class PaneOutcome(Fact):
    """What `up` found or did for one pane: `started`, `alive`, `resumed`, `gone` or `failed`."""

    label: str
    outcome: str
    session: Session | None
    note: str = ""


class UpOutcome(Fact):
    fleet: str
    socket: str
    panes: tuple[PaneOutcome, ...]
    notes: tuple[str, ...] = ()
