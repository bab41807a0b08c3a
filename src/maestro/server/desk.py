"""What every route needs: the journal, who calls, and the idempotency key of a change."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Header, Request

from maestro.coordinate.admission import FindPolicy
from maestro.coordinate.briefing import Briefing
from maestro.coordinate.care import Care
from maestro.coordinate.cases import Cases
from maestro.coordinate.digests import Digests
from maestro.coordinate.inbox import Inbox
from maestro.coordinate.memory.recollection import Recollection
from maestro.coordinate.oversight import Oversight
from maestro.coordinate.reports import Reports
from maestro.fleet.crew import Crew
from maestro.fleet.lookout import Lookout
from maestro.fleet.outbox import Outbox
from maestro.ledger.journal import Change, Journal, Once
from maestro.ledger.roles import Actor
from maestro.ledger.sight import Sight, sight_of
from maestro.observe.observer import Observer
from maestro.server.insight import Insight
from maestro.server.spool import Ear, Spool
from maestro.server.wakeups import Wakeups


@dataclass(frozen=True)
class Desk:
    journal: Journal
    wakeups: Wakeups
    observer: Observer
    digests: Digests
    crew: Crew
    lookout: Lookout
    outbox: Outbox
    insight: Insight
    cases: Cases
    oversight: Oversight
    care: Care
    inbox: Inbox
    reports: Reports
    recollection: Recollection
    briefing: Briefing
    find_policy: FindPolicy
    hearing: Ear
    spool: Spool
    home: str
    stop: Callable[[], None]
    restart: Callable[[str | None], None]


def _desk(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    return desk


def _actor(request: Request) -> Actor:
    actor: Actor = request.state.actor
    return actor


async def _once(
    request: Request,
    idempotency_key: Annotated[str | None, Header(min_length=8, max_length=200)] = None,
) -> Once | None:
    if idempotency_key is None:
        return None
    content = b"\0".join([request.method.encode(), str(request.url.path).encode(), await request.body()])
    return Once(idempotency_key, hashlib.sha256(content).hexdigest())


AtDesk = Annotated[Desk, Depends(_desk)]
Calling = Annotated[Actor, Depends(_actor)]


async def _sight(desk: AtDesk, actor: Calling) -> Sight:
    """What the caller may read of everything."""
    if actor.session_id is None:
        return Sight(is_all=True)
    return await asyncio.to_thread(desk.journal.read, lambda connection: sight_of(connection, actor))


Seeing = Annotated[Sight, Depends(_sight)]
KeyOfChange = Annotated[Once | None, Depends(_once)]


class Writing:
    """A change on behalf of the caller, done once per idempotency key."""

    def __init__(self, desk: AtDesk, actor: Calling, once: KeyOfChange) -> None:
        self.journal = desk.journal
        self.actor = actor
        self.once = once

    def __call__(self, work: Callable[[Change], str]) -> str:
        return self.journal.write(self.actor, work, self.once)


Write = Annotated[Writing, Depends()]
