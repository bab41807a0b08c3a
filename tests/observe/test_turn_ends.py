"""Whether a transcript tells of a turn's end, and whether it is newer than the screen that was seen."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from maestro.fleet.logs import Owned
from maestro.ledger import sessions
from maestro.ledger.database import open_database
from maestro.ledger.facts import NewProject, NewSession, Session
from maestro.ledger.journal import Journal
from maestro.ledger.projects import add_project
from maestro.ledger.roles import HUMAN
from maestro.observe.observer import Observer

NOW = 1_800_000_000_000
CALL = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "make"}}
TEXT = {"type": "text", "text": "I am at work on it, and shall be for a while."}


def record(content: Any, at: int, stop: str | None) -> str:
    message = {"role": "assistant", "content": [content], "stop_reason": stop}
    time = datetime.fromtimestamp(at / 1000, UTC).isoformat()
    return json.dumps({"type": "assistant", "timestamp": time, "message": message}) + "\n"


@pytest.fixture
def session(place: Path) -> Session:
    journal = Journal(open_database(f"sqlite+pysqlite:///{place}/l.db"), "host_T", lambda: NOW)
    project = journal.write(HUMAN, lambda c: add_project(c, NewProject(directory=str(place))))
    made = journal.write(
        HUMAN, lambda c: sessions.create_session(c, NewSession(agent="scripted", project_id=project))
    )
    found = journal.read(lambda c: sessions.get_session(c, made))
    journal.engine.dispose()
    return found


@pytest.mark.parametrize(
    ("content", "stop", "is_over"),
    [(CALL, "tool_use", False), (TEXT, None, True), (TEXT, "end_turn", True)],
    ids=["a call", "words that may be the last", "the end"],
)
def test_only_words_can_end_a_turn(
    place: Path, session: Session, content: Any, stop: str | None, *, is_over: bool
) -> None:
    log = place / "log.jsonl"
    log.write_text(record(content, NOW - 5_000, stop))
    observer = Observer({"HOME": str(place)}, str(place), lambda: NOW)
    observer.owned = lambda _: Owned(log, "", "it is the test's")
    assert observer.ended_since(session, NOW - 6_000) is is_over
    assert not observer.ended_since(session, NOW - 4_000), "it was written before"


@pytest.mark.parametrize(
    ("seen_at", "owes"), [(NOW - 9_000, True), (NOW - 5_000, True), (NOW - 3_000, False)]
)
def test_a_screen_that_was_seen_before_its_log_went_on_says_nothing(
    place: Path, session: Session, seen_at: int, *, owes: bool
) -> None:
    log = place / "log.jsonl"
    log.write_text(record(CALL, NOW - 5_000, "tool_use"))
    observer = Observer({"HOME": str(place)}, str(place), lambda: NOW)
    observer.owned = lambda _: Owned(log, "", "it is the test's")
    assert observer.owes_answer(session, seen_at) is owes
