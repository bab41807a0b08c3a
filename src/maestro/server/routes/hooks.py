"""What agents' own hooks say, as it happens; `maestro hook` sends it, `spool.py` has what nobody listened to."""

from __future__ import annotations

import asyncio
from functools import lru_cache
from typing import Annotated, Any

from fastapi import APIRouter, BackgroundTasks, Header, Path, Request, Response
from starlette.requests import ClientDisconnect

from maestro.agents.registry import agent_names, hooked_named
from maestro.errors import InvalidInput
from maestro.ledger.roles import require
from maestro.server.desk import AtDesk, Calling, Desk
from maestro.server.spool import LONGEST, Said, payload_of, told_at

router = APIRouter(tags=["hooks"])

_Name = Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
_Word = Annotated[str | None, Header(max_length=200)]


@router.post("/hooks/{agent}/{event}", response_class=Response)
async def hook(
    desk: AtDesk,
    actor: Calling,
    http: Request,
    later: BackgroundTasks,
    agent: _Name,
    event: _Name,
    waits: bool = False,  # noqa: FBT001, FBT002 - a query
    maestro_session: _Word = None,
    maestro_delivery: _Word = None,
) -> Response:
    """An event of an agent: any JSON object, at most 1 MB. What is answered with 200 is for the agent; 204 says
    nothing. With `waits` the answer comes when there is one, or never. A hook that prints nothing is not kept until
    what it said is in the ledger."""
    session_id = maestro_session or actor.session_id
    require(actor, "session.report", own=session_id == actor.session_id)
    payload = payload_of(await _body(http))
    if payload is None or (maestro_delivery and not desk.spool.take(maestro_delivery)):
        return Response(status_code=204)
    said = Said(agent, event, payload, session_id, told_at(maestro_delivery, desk.journal.clock()))
    if not waits and event not in _answered_events(agent):
        # The agent goes on at once; what it said is taken in behind its back, in order.
        later.add_task(desk.spool.hear, said)
        answer = None
    else:
        heard = asyncio.ensure_future(desk.spool.answer(said, waits=waits))
        answer = await _while_it_waits(http, desk, heard) if waits else await heard
    # A daemon that hung for a while has not heard those that did not wait for it.
    later.add_task(desk.spool.read)
    return Response(answer, media_type="application/json") if answer else Response(status_code=204)


@lru_cache(64)
def _answered_events(agent: str) -> frozenset[str]:
    """Those whose hooks print something for the agent."""
    hooked = hooked_named(agent) if agent in agent_names() else None
    return frozenset(event.name for event in hooked.hook_events if event.answers) if hooked else frozenset()


async def _body(http: Request) -> bytes:
    """Empty when the hook did not stay: it has kept its payload then."""
    body = b""
    try:
        async for part in http.stream():
            body += part
            if len(body) > LONGEST:
                raise InvalidInput("What a hook says may have 1 MB.", hint="Send less.")
    except ClientDisconnect:
        return b""
    return body


async def _while_it_waits(http: Request, desk: Desk, heard: asyncio.Future[bytes | None]) -> bytes | None:
    """The answer; None when the hook was ended, because its question was answered on the screen, or we end."""
    tasks: list[asyncio.Future[Any]] = [
        heard,
        asyncio.ensure_future(_has_left(http)),
        asyncio.ensure_future(_is_closing(desk)),
    ]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return heard.result() if heard.done() else None
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _has_left(http: Request) -> None:
    while (await http.receive())["type"] != "http.disconnect":
        pass


async def _is_closing(desk: Desk) -> None:
    while not desk.wakeups.closing:
        news = desk.wakeups.next()
        if not desk.wakeups.closing:
            await news.wait()
