from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.coordinate.roles.cast import Cast, family
from tests.fleet.typing.stage import Stage, staged


@pytest.fixture(scope="module")
def cast() -> Iterator[Cast]:
    with family() as found:
        yield found


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    """One daemon for all tests of a file; each has sessions of its own."""
    with staged() as made:
        yield made
