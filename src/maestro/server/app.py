"""The daemon's application: the routes behind the gate."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from fastapi import FastAPI

from maestro import __version__
from maestro.coordinate import Policy
from maestro.coordinate.admission import Admission
from maestro.coordinate.briefing import Briefing
from maestro.coordinate.care import Care
from maestro.coordinate.cases import Cases
from maestro.coordinate.digests import Digests
from maestro.coordinate.inbox import Inbox
from maestro.coordinate.memory.recollection import Recollection
from maestro.coordinate.oversight import Oversight
from maestro.coordinate.policy.config_file import find_policy
from maestro.coordinate.receipts import give_receipt
from maestro.coordinate.reports import Reports
from maestro.coordinate.vision.document_file import principles_of
from maestro.fleet.asking import Asking
from maestro.fleet.channels import Channels
from maestro.fleet.crew import Crew
from maestro.fleet.hearing import Hearing
from maestro.fleet.lookout import Lookout
from maestro.fleet.outbox import Outbox
from maestro.home import Home
from maestro.ledger.facts import Session
from maestro.ledger.journal import Journal
from maestro.ledger.projects import get_project
from maestro.observe.observer import Observer
from maestro.server.answers import install_error_answers
from maestro.server.desk import Desk
from maestro.server.gate import Gate
from maestro.server.insight import Insight
from maestro.server.refusals import Refusals
from maestro.server.routes import (
    coordinate,
    events,
    fleets,
    hooks,
    logs,
    memory,
    overview,
    projects,
    prompts,
    runs,
    sessions,
    system,
    tasks,
)
from maestro.server.routes import inbox as inboxes
from maestro.server.spool import FOLDER as SPOOL
from maestro.server.spool import Spool
from maestro.server.spooled import Spooled
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
    lookout = Lookout(crew, asking, channels, observer.owes_answer, observer.ended_since)
    observer.owned = lookout.logs.owned
    outbox = Outbox(crew, lookout, channels)
    crew.on_change = lookout.changed
    crew.type_first = outbox.queue
    crew.look_at = lookout.look
    crew.last_words = observer.last_words
    hearing = Hearing(journal, lookout, asking, channels)
    spool = Spool(home.path(SPOOL), hearing)

    def project_of(session: Session) -> str:
        return journal.read(lambda c: get_project(c, session.project_id)).directory

    def policy_of(session: Session, coordinator: str) -> Policy:
        # The project's own folder, not the worktree that the worker may write in.
        return find_policy(coordinator, project_of(session), os.environ, home.root).policy

    recollection = Recollection(crew, os.environ)
    briefing = Briefing(crew, observer, recollection)
    hearing.brief = briefing.heard
    outbox.append = briefing.to_append
    cases = Cases(crew, observer, lambda session: principles_of(project_of(session), os.environ, home.root))
    oversight = Oversight(crew, lookout, outbox, cases)
    admission = Admission(journal, policy_of)
    inbox = Inbox(crew, lookout, outbox, cases, admission)
    outbox.admit = admission.admit
    outbox.on_settled = crew.on_lost = give_receipt
    wakeups.on_news = inbox.rouse
    app.state.desk = Desk(
        journal=journal,
        wakeups=wakeups,
        observer=observer,
        digests=Digests(observer, lookout),
        crew=crew,
        lookout=lookout,
        outbox=outbox,
        insight=Insight(crew, lookout, observer),
        cases=cases,
        oversight=oversight,
        care=Care(crew, lookout, outbox, cases, oversight),
        inbox=inbox,
        reports=Reports(crew, lookout, outbox, observer),
        recollection=recollection,
        briefing=briefing,
        find_policy=policy_of,
        hearing=hearing,
        spool=spool,
        home=home.root,
        stop=stop,
        restart=restart,
    )
    # `logs` first: its /sessions/log-digests must not be read as a session's id.
    for routes in (projects, tasks, logs, memory, fleets, prompts, sessions, events, hooks, runs, overview):
        app.include_router(routes.router, prefix="/api")
    for routes in (inboxes, coordinate, system):
        app.include_router(routes.router, prefix="/api")
    install_error_answers(app, Refusals(journal))
    gate = Gate(app, journal, human_token)
    crew.spools.carry = Spooled(gate).carry
    return Application(gate, crew, lookout, outbox, spool)
