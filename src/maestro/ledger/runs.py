"""Runs and batches without a terminal: their truth is in files; here they only leave word that they began or are over."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from maestro.errors import NotFound, Refused
from maestro.ledger.facts import Fact, Id, Ids, Name, PathText, Text
from maestro.ledger.journal import Change
from maestro.ledger.projects import choose_project
from maestro.ledger.roles import require

_Count = Annotated[int, Field(ge=0)]
_Cost = Annotated[float | None, Field(ge=0, strict=False)]
_Mode = Literal["analysis", "write"]


class RunEnded(Fact):
    id: Id
    tool: Name
    mode: _Mode
    status: Literal["success", "failed", "timeout", "cancelled", "denied", "limit", "refused"]
    directory: PathText
    folder: PathText
    duration_ms: _Count
    cost_usd: _Cost = None
    summary: Annotated[Text, Field(max_length=4000)] = ""
    session_id: Id | None = None  # the session that asked for it
    prompt_session: bool = False  # tell that session

    @property
    def news(self) -> str:
        """What the session that asked for it is told."""
        outcome = "has its answer" if self.status == "success" else f"is over: {self.status}"
        return f"The run {self.id} ({self.tool}, {self.mode}) {outcome}. Read it: maestro delegate output {self.id}"


class BatchStarted(Fact):
    id: Id
    directory: PathText
    folder: PathText
    mode: _Mode
    agents: Ids
    is_resumed: bool = False


class BatchEnded(Fact):
    id: Id
    directory: PathText
    folder: PathText
    status: Literal["success", "partial_failure", "cancelled"]
    total: _Count
    succeeded: _Count
    failed: _Count
    duration_ms: _Count
    cost_usd: _Cost = None
    file_conflicts: _Count = 0


def record_run(change: Change, run: RunEnded) -> str:
    require(change.actor, "run.report")
    own = change.actor.session_id
    if own is not None and run.session_id not in {None, own}:
        raise Refused(
            "A session may only speak of its own runs.", hint="A human may of any; leave sessionId out."
        )
    told = run.model_dump(by_alias=True, exclude={"id", "prompt_session"})
    change.record("run.ended", run.id, _project_of(change, run.directory), told)
    return run.id


def record_batch(change: Change, kind: Literal["started", "ended"], batch: BatchStarted | BatchEnded) -> str:
    require(change.actor, "run.report")
    told = batch.model_dump(exclude={"id"})
    change.record(f"batch.{kind}", batch.id, _project_of(change, batch.directory), told)
    return batch.id


def _project_of(change: Change, directory: str) -> str | None:
    """A run needs no project."""
    try:
        return choose_project(change.connection, None, directory).id
    except NotFound:
        return None
