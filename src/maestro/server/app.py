"""The daemon's application: the routes behind the gate."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from fastapi import FastAPI

from maestro import __version__
from maestro.ledger.journal import Journal
from maestro.observe.observer import Observer
from maestro.server.answers import install_error_answers
from maestro.server.desk import Desk
from maestro.server.gate import Gate
from maestro.server.routes import events, logs, projects, sessions, system, tasks
from maestro.server.wakeups import Wakeups

if TYPE_CHECKING:
    from starlette.types import ASGIApp


def build(
    journal: Journal,
    wakeups: Wakeups,
    human_token: str,
    home: str,
    stop: Callable[[], None],
    restart: Callable[[str | None], None],
) -> ASGIApp:
    app = FastAPI(
        title="Maestro", version=__version__, docs_url=None, redoc_url=None, openapi_url="/openapi.json"
    )
    observer = Observer(os.environ, home, journal.clock)
    app.state.desk = Desk(
        journal=journal, wakeups=wakeups, observer=observer, home=home, stop=stop, restart=restart
    )
    # `logs` first: its /sessions/log-digests must not be read as a session's id.
    for routes in (projects, tasks, logs, sessions, events, system):
        app.include_router(routes.router, prefix="/api")
    install_error_answers(app)
    return Gate(app, journal, human_token)
