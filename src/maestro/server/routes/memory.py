"""What a session must not forget: kept by its own word, and told again to whoever goes on with it."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter
from pydantic import Field

from maestro.coordinate.memory.recollection import Kept
from maestro.ledger.facts import Fact
from maestro.server.desk import AtDesk, Calling

router = APIRouter(tags=["sessions"])


class ToKeep(Fact):
    """The agent's own JSON, as text: its faults are told by line and column."""

    text: Annotated[str, Field(max_length=1_000_000)]


class Remembered(Fact):
    """What is kept, and the block that an agent goes on with; `savedAt` is none where nothing was kept yet."""

    session_id: str
    state: dict[str, Any]
    saved_at: int | None
    automatic: bool
    block: str


@router.post("/sessions/{session_id}/dehydrate")
async def dehydrate(desk: AtDesk, actor: Calling, session_id: str, request: ToKeep) -> Remembered:
    return _remembered(await desk.recollection.dehydrate(actor, session_id, request.text))


@router.get("/sessions/{session_id}/rehydrate")
async def rehydrate(desk: AtDesk, actor: Calling, session_id: str) -> Remembered:
    return _remembered(await desk.recollection.shown(actor, session_id))


def _remembered(kept: Kept) -> Remembered:
    return Remembered(
        session_id=kept.whose.session_id,
        state=msgspec.to_builtins(kept.state),
        saved_at=kept.at,
        automatic=kept.is_automatic,
        block=kept.block(most_tokens=None),
    )
