from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.fleet.typing.stage import Stage, staged


@pytest.fixture
def stage() -> Iterator[Stage]:
    """A daemon of its own for each test: the view shows every session that there is."""
    with staged() as made:
        yield made
