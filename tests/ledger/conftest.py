from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.ledger.support import Board, Clock

from maestro.ledger.database import open_database
from maestro.ledger.journal import Journal


@pytest.fixture
def open_journal() -> Iterator[Callable[[str], Journal]]:
    opened: list[Journal] = []

    def opening(url: str) -> Journal:
        opened.append(Journal(open_database(url), "host_TEST", Clock()))
        return opened[-1]

    yield opening
    for journal in opened:
        journal.engine.dispose()


@pytest.fixture
def journal(database_url: str, open_journal: Callable[[str], Journal]) -> Journal:
    return open_journal(database_url)


@pytest.fixture
def board(journal: Journal, place: Path) -> Board:
    return Board(journal, place / "project")
