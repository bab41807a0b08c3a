from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.coordinate.journey.overseen import Overseen


@pytest.fixture(scope="module")
def theatre() -> Iterator[Overseen]:
    made = Overseen(Path(tempfile.mkdtemp(prefix="mt")))
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def stage(theatre: Overseen) -> Iterator[Overseen]:
    """One daemon for all tests of a file; each has a project and panes of its own, and leaves none to the next."""
    theatre.begin_anew()
    yield theatre
    theatre.clear()
