from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query

from maestro.ledger.facts import EventPage
from maestro.ledger.sight import sight_of
from maestro.server.desk import AtDesk, Calling

router = APIRouter(tags=["events"])


@router.get("/events")
async def events(
    desk: AtDesk,
    actor: Calling,
    since: Annotated[str | None, Query(max_length=200)] = None,
    subjects: Annotated[str, Query(max_length=10_000)] = "",
    wait: Annotated[int, Query(ge=0, le=60)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 1000,
) -> EventPage:
    """Events after `since` (a cursor of an earlier answer, or a sequence number; `now` for none so far). With
    `wait`, answers as soon as there is one, at the latest after that many seconds. `subjects`: only events
    about these ids, separated by commas. A session gets what is about the sessions and tasks that it may read."""
    wanted = [part for part in subjects.split(",") if part]
    cursor = await asyncio.to_thread(desk.journal.cursor) if since == "now" else since or "0"
    loop = asyncio.get_running_loop()
    deadline = loop.time() + wait
    while True:
        news = desk.wakeups.next()
        before = cursor
        found, cursor = await asyncio.to_thread(desk.journal.events_since, cursor, wanted, limit)
        if found and actor.session_id is not None:
            # Anew each time: it may have started a session, or been given a task, since.
            sight = await asyncio.to_thread(desk.journal.read, lambda connection: sight_of(connection, actor))
            found = [event for event in found if sight.has_event(event)]
        if not found and cursor != before:
            continue  # nothing in these for the caller; there may be more of them
        if found or desk.wakeups.closing or loop.time() >= deadline:
            return EventPage(events=tuple(found), cursor=cursor)
        await desk.wakeups.wait(news, deadline - loop.time())
