from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query

from maestro.ledger.facts import EventPage
from maestro.server.desk import AtDesk

router = APIRouter(tags=["events"])


@router.get("/events")
async def events(
    desk: AtDesk,
    since: Annotated[str | None, Query(max_length=200)] = None,
    subjects: Annotated[str, Query(max_length=10_000)] = "",
    wait: Annotated[int, Query(ge=0, le=60)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 1000,
) -> EventPage:
    """Events after `since` (a cursor of an earlier answer, or a sequence number; `now` for none so far). With
    `wait`, answers as soon as there is one, at the latest after that many seconds. `subjects`: only events
    about these ids, separated by commas."""
    wanted = [part for part in subjects.split(",") if part]
    cursor = await asyncio.to_thread(desk.journal.cursor) if since == "now" else since or "0"
    loop = asyncio.get_running_loop()
    deadline = loop.time() + wait
    while True:
        news = desk.wakeups.next()
        found, cursor = await asyncio.to_thread(desk.journal.events_since, cursor, wanted, limit)
        if found or desk.wakeups.closing or loop.time() >= deadline:
            return EventPage(events=tuple(found), cursor=cursor)
        await desk.wakeups.wait(news, deadline - loop.time())
