from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.coordinate.dehydration.coordinated import Coordinated


@pytest.fixture(scope="module")
def theatre() -> Iterator[Coordinated]:
    made = Coordinated(Path(tempfile.mkdtemp(prefix="mt")))
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def stage(theatre: Coordinated) -> Iterator[Coordinated]:
    """One daemon for all tests of a file; what one project's vision and policy say counts in no other."""
    theatre.begin_anew()
    yield theatre
    theatre.send_everybody_home()
