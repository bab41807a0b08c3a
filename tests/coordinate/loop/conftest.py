from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.coordinate.loop.overseen import Overseen
from tests.fleet.typing.stage import Stage, staged


@pytest.fixture(scope="module")
def theatre() -> Iterator[Stage]:
    with staged() as made:
        yield made


@pytest.fixture
def stage(theatre: Stage) -> Iterator[Stage]:
    """One daemon for all tests of a file; each has workers of its own, and an oversight of those alone."""
    yield theatre
    theatre.send_everybody_home()


@pytest.fixture
def overseen(stage: Stage) -> Overseen:
    return Overseen(stage)
