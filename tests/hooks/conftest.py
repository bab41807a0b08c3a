from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.hooks.stage import Stage
from tests.support import Maestro


@pytest.fixture
def stage(maestro: Maestro) -> Iterator[Stage]:
    made = Stage(maestro)
    yield made
    for process in made.started:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture
def listening(stage: Stage) -> Stage:
    """With a daemon that hears, and that nobody but the test replaces."""
    stage.forbid_start()
    stage.listen()
    return stage
