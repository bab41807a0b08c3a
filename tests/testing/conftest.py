from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import skips
from tests.testing.stage import Home, Pane


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture
def pane(home: Home, place: Path) -> Iterator[Pane]:
    if shutil.which("tmux") is None:
        skips.skip_for(skips.TMUX)
    own = Pane(home, sockets=place)
    yield own
    own.end()
