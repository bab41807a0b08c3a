"""The daemon's application: the routes behind the gate."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from fastapi import FastAPI

from maestro import __version__
from maestro.fleet.asking import Asking
from maestro.fleet.channels import Channels
from maestro.fleet.crew import Crew
from maestro.fleet.hearing import Hearing
from maestro.fleet.lookout import Lookout
from maestro.fleet.outbox import Outbox
from maestro.home import Home
from maestro.ledger.journal import Journal
from maestro.observe.observer import Observer
from maestro.server.answers import install_error_answers
from maestro.server.desk import Desk
from maestro.server.gate import Gate
from maestro.server.insight import Insight
from maestro.server.routes import (
    events,
    fleets,
    hooks,
    logs,
    projects,
    prompts,
    runs,
    sessions,
    system,
    tasks,
)
from maestro.server.spool import FOLDER as SPOOL
from maestro.server.spool import Spool
from maestro.server.wakeups import Wakeups

if TYPE_CHECKING:
    from starlette.types import ASGIApp


class Application(NamedTuple):
    """What the daemon serves, and whom it looks after meanwhile."""

    asgi: ASGIApp
    crew: Crew
    lookout: Lookout
    outbox: Outbox
    spool: Spool


def build(
    journal: Journal,
    wakeups: Wakeups,
    human_token: str,
    home: Home,
    stop: Callable[[], None],
    restart: Callable[[str | None], None],
) -> Application:
    app = FastAPI(
        title="Maestro", version=__version__, docs_url=None, redoc_url=None, openapi_url="/openapi.json"
    )
    observer = Observer(os.environ, home.root, journal.clock)
    crew = Crew(journal, home, lambda session: next(iter(observer.transcripts([session])), None))
    channels, asking = Channels(), Asking(journal)
    lookout = Lookout(crew, asking, channels)
    outbox = Outbox(crew, lookout, channels)
    crew.on_change = lookout.changed
    crew.type_first = outbox.queue
    crew.look_at = lookout.look
    hearing = Hearing(journal, lookout, asking, channels)
    spool = Spool(home.path(SPOOL), hearing)
    app.state.desk = Desk(
        journal=journal,
        wakeups=wakeups,
        observer=observer,
        crew=crew,
        lookout=lookout,
        outbox=outbox,
        insight=Insight(crew, lookout, observer),
        hearing=hearing,
        spool=spool,
        home=home.root,
        stop=stop,
        restart=restart,
    )
    # `logs` first: its /sessions/log-digests must not be read as a session's id.
    for routes in (projects, tasks, logs, fleets, prompts, sessions, events, hooks, runs, system):
        app.include_router(routes.router, prefix="/api")
    install_error_answers(app)
    return Application(Gate(app, journal, human_token), crew, lookout, outbox, spool)
