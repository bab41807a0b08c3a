from __future__ import annotations

from tests.fleet.typing import conftest as typing_stage

# One daemon for all tests of a file; a file whose tests need more of it has a `stage` of its own.
theatre, stage = typing_stage.theatre, typing_stage.stage  # fixtures
