"""Runs without a terminal need no daemon; here they say that they are over, so that whoever watches knows."""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import Field

from maestro.errors import NotFound, Refused
from maestro.ledger import projects, sessions
from maestro.ledger.facts import Fact, Id, Name, PathText, Text
from maestro.ledger.journal import Change
from maestro.ledger.roles import require
from maestro.server.desk import AtDesk, Calling, Write

router = APIRouter(tags=["runs"])


class RunEnded(Fact):
    id: Id
    tool: Name
    mode: Literal["analysis", "write"]
    status: Literal["success", "failed", "timeout", "cancelled", "denied", "limit", "refused"]
    directory: PathText
    folder: PathText
    duration_ms: Annotated[int, Field(ge=0)]
    cost_usd: Annotated[float | None, Field(ge=0, strict=False)] = None
    summary: Annotated[Text, Field(max_length=4000)] = ""
    session_id: Id | None = None  # the session that asked for it
    prompt_session: bool = False  # tell that session


class Noted(Fact):
    id: Id


@router.post("/runs/ended", status_code=201)
async def run_ended(desk: AtDesk, write: Write, actor: Calling, request: RunEnded) -> Noted:
    """Record that a run is over. A session that asked for one in the background gets a prompt that says so."""
    require(actor, "run.report")
    if actor.session_id is not None and request.session_id not in {None, actor.session_id}:
        raise Refused("A session may only speak of its own runs.", hint="Leave sessionId out.")

    recorded = []

    def work(change: Change) -> str:
        recorded.append(request.id)
        try:
            project = projects.choose_project(change.connection, None, request.directory).id
        except NotFound:
            project = None
        change.record(
            "run.ended",
            request.id,
            project,
            request.model_dump(by_alias=True, exclude={"id", "prompt_session"}),
        )
        return request.id

    await asyncio.to_thread(write, work)
    # A request that is repeated because its answer was lost does not prompt twice.
    if recorded and request.prompt_session and request.session_id:
        session = await desk.crew.session(request.session_id)
        if session.status not in sessions.ENDED and session.place is not None:
            # Not `send`: while the session asks something, that would be its answer.
            await desk.outbox.queue(session, _message(request))
    return Noted(id=request.id)


def _message(run: RunEnded) -> str:
    outcome = "has its answer" if run.status == "success" else f"is over: {run.status}"
    return f"The run {run.id} ({run.tool}, {run.mode}) {outcome}. Read it: maestro delegate output {run.id}"
