from __future__ import annotations

import os
from typing import Any

import sqlalchemy as sa
from fastapi import APIRouter
from pydantic import Field

from maestro import __version__
from maestro.errors import InvalidInput
from maestro.ledger.facts import Fact
from maestro.ledger.roles import require
from maestro.ledger.summary import Summary, summarise
from maestro.server.desk import AtDesk, Calling, Seeing

router = APIRouter(tags=["system"])


class Restart(Fact):
    python: str | None = Field(default=None, max_length=4096)


@router.get("/health")
def health(desk: AtDesk) -> dict[str, Any]:
    """That the daemon answers and that its ledger can be read."""
    desk.journal.read(lambda connection: connection.execute(sa.text("SELECT 1")))
    return {"version": __version__, "pid": os.getpid(), "home": desk.home, "host": desk.journal.host}


@router.get("/status")
def status(desk: AtDesk, seeing: Seeing) -> Summary:
    return desk.journal.read(lambda connection: summarise(connection, seeing))


@router.post("/server/stop")
async def stop(desk: AtDesk, actor: Calling) -> dict[str, int]:
    """Finish what was accepted, then end."""
    require(actor, "server.control")
    desk.stop()
    return {"stopping": os.getpid()}


@router.post("/server/restart")
async def restart(desk: AtDesk, actor: Calling, request: Restart) -> dict[str, int]:
    """Finish what was accepted, then run again with the code that is now installed; the socket stays open.

    `python`: the interpreter of the Maestro that asks, when it is newer than the daemon."""
    require(actor, "server.control")
    if request.python and not os.access(request.python, os.X_OK):
        raise InvalidInput(f"{request.python} cannot be run.", hint="Give the path of a Python interpreter.")
    desk.restart(request.python)
    return {"restarting": os.getpid()}
