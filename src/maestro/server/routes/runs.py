"""Runs and batches need no daemon; here they say that they began or are over, so that whoever watches knows."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter

from maestro.ledger import runs
from maestro.ledger.facts import Fact
from maestro.ledger.journal import Change
from maestro.ledger.runs import BatchEnded, BatchStarted, RunEnded
from maestro.server.desk import AtDesk, Write

router = APIRouter(tags=["runs"])


class Noted(Fact):
    id: str


@router.post("/runs/ended", status_code=201)
async def run_ended(desk: AtDesk, write: Write, request: RunEnded) -> Noted:
    """Record that a run is over. A session that asked for one in the background gets a prompt that says so."""
    recorded: list[str] = []

    def work(change: Change) -> str:
        recorded.append(runs.record_run(change, request))
        return request.id

    await asyncio.to_thread(write, work)
    # A request that is repeated because its answer was lost does not prompt twice.
    if recorded and request.prompt_session and request.session_id:
        await desk.outbox.tell(request.session_id, request.news)
    return Noted(id=request.id)


@router.post("/batches/started", status_code=201)
async def batch_started(write: Write, request: BatchStarted) -> Noted:
    """Record that a batch of runs begins, or goes on."""
    await asyncio.to_thread(write, lambda change: runs.record_batch(change, "started", request))
    return Noted(id=request.id)


@router.post("/batches/ended", status_code=201)
async def batch_ended(write: Write, request: BatchEnded) -> Noted:
    """Record that a batch of runs is over."""
    await asyncio.to_thread(write, lambda change: runs.record_batch(change, "ended", request))
    return Noted(id=request.id)
