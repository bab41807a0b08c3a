from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.fleet.typing.stage import Stage, staged


@pytest.fixture(scope="module")
def theatre() -> Iterator[Stage]:
    with staged() as made:
        yield made


@pytest.fixture
def stage(theatre: Stage) -> Iterator[Stage]:
    """One daemon for all tests of a file; each has sessions of its own."""
    yield theatre
    theatre.send_everybody_home()
