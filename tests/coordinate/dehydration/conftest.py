from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.coordinate.dehydration.coordinated import Coordinated


@pytest.fixture
def stage() -> Iterator[Coordinated]:
    """A daemon of its own for each test: what one project's vision and policy say counts in no other."""
    made = Coordinated(Path(tempfile.mkdtemp(prefix="mt")))
    try:
        yield made
    finally:
        made.close()
