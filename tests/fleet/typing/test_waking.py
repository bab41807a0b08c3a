"""A prompt that is queued at the moment when the work on its queue ends is delivered."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy.engine import Connection

from maestro.fleet.asking import Asking
from maestro.fleet.channels import Channels
from maestro.fleet.crew import Crew
from maestro.fleet.lookout import Lookout
from maestro.fleet.outbox import Outbox
from maestro.home import Home
from maestro.ledger import prompts, sessions
from maestro.ledger.database import open_database
from maestro.ledger.facts import NewProject, NewSession
from maestro.ledger.journal import Journal
from maestro.ledger.projects import add_project
from maestro.ledger.roles import HUMAN
from maestro.observe.observer import Observer

T = TypeVar("T")


class Paused(Journal):
    """A journal whose readers can be held when they have read."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.has_read = threading.Event()
        self.may_go = threading.Event()
        self.may_go.set()

    def read(self, work: Callable[[Connection], T]) -> T:
        found = super().read(work)
        self.has_read.set()
        assert self.may_go.wait(60)
        return found


def test_a_prompt_that_is_queued_while_its_queue_is_found_empty(place: Path) -> None:
    journal = Paused(open_database(f"sqlite+pysqlite:///{place}/l.db"), "host_T", lambda: 1_800_000_000_000)
    project = journal.write(HUMAN, lambda c: add_project(c, NewProject(directory=str(place))))
    request = NewSession(agent="scripted", project_id=project)
    session = journal.write(HUMAN, lambda c: sessions.create_session(c, request))

    async def play() -> str:
        outbox = outbox_of(journal, place)
        journal.has_read.clear()
        journal.may_go.clear()
        outbox.deliver(session)
        assert await asyncio.to_thread(journal.has_read.wait, 60)
        prompt = await asyncio.to_thread(
            journal.write, HUMAN, lambda c: prompts.enqueue(c, session, "Go on.", kind="prompt")
        )
        outbox.deliver(session)
        journal.may_go.set()
        return (await outbox.settled(prompt, 10)).state

    assert asyncio.run(play()) == "failed", "it has no terminal, and was tried"
    journal.engine.dispose()


def outbox_of(journal: Journal, place: Path) -> Outbox:
    home, channels = Home(str(place)), Channels()
    observer = Observer({"HOME": str(place)}, home.root, journal.clock)
    crew = Crew(journal, home, lambda _: None)
    lookout = Lookout(crew, Asking(journal), channels, observer.owes_answer, observer.ended_since)
    return Outbox(crew, lookout, channels)
