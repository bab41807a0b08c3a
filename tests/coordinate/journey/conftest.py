from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.coordinate.journey.overseen import Overseen


@pytest.fixture
def stage() -> Iterator[Overseen]:
    """A daemon of its own for each test: what is decided in one counts in no other."""
    made = Overseen(Path(tempfile.mkdtemp(prefix="mt")))
    try:
        yield made
    finally:
        made.close()
