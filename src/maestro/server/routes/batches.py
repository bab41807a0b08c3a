"""Batches need no daemon; here they say that they began and that they are over, so that whoever watches knows."""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import Field

from maestro.errors import NotFound
from maestro.ledger import projects
from maestro.ledger.facts import Fact, Id, Ids, PathText
from maestro.ledger.journal import Change
from maestro.ledger.roles import require
from maestro.server.desk import Calling, Write

router = APIRouter(tags=["runs"])

_Count = Annotated[int, Field(ge=0)]


class BatchStarted(Fact):
    id: Id
    directory: PathText
    folder: PathText
    mode: Literal["analysis", "write"]
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
    cost_usd: Annotated[float | None, Field(ge=0, strict=False)] = None
    file_conflicts: _Count = 0


class BatchNoted(Fact):
    id: Id


@router.post("/batches/started", status_code=201)
async def batch_started(write: Write, actor: Calling, request: BatchStarted) -> BatchNoted:
    """Record that a batch of runs begins, or goes on."""
    require(actor, "run.report")
    return await _noted(write, "batch.started", request)


@router.post("/batches/ended", status_code=201)
async def batch_ended(write: Write, actor: Calling, request: BatchEnded) -> BatchNoted:
    """Record that a batch of runs is over."""
    require(actor, "run.report")
    return await _noted(write, "batch.ended", request)


async def _noted(write: Write, kind: str, request: BatchStarted | BatchEnded) -> BatchNoted:
    def work(change: Change) -> str:
        try:
            project = projects.choose_project(change.connection, None, request.directory).id
        except NotFound:
            project = None
        change.record(kind, request.id, project, request.model_dump(exclude={"id"}))
        return request.id

    await asyncio.to_thread(write, work)
    return BatchNoted(id=request.id)
