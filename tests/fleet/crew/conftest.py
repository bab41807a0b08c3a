from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.fleet.crew.seen import close_panes, scripts_of
from tests.support import Maestro


@pytest.fixture
def crew(shared_maestro: Maestro) -> Iterator[Maestro]:
    """One daemon for all tests of a file; each has a folder of its own, and leaves no pane to the next."""
    yield replace(shared_maestro, cwd=Path(tempfile.mkdtemp(dir=shared_maestro.place)))
    close_panes(shared_maestro)


@pytest.fixture
def script(maestro: Maestro) -> Callable[..., str]:
    folder = scripts_of(maestro)
    folder.mkdir()

    def write(*steps: dict[str, Any], **rest: Any) -> str:
        path = folder / f"script{len(list(folder.iterdir()))}.json"
        path.write_text(json.dumps({"steps": steps, **rest}))
        return str(path)

    return write


@pytest.fixture
def spawn(
    maestro: Maestro, project: dict[str, Any], script: Callable[..., str]
) -> Callable[..., dict[str, Any]]:
    def spawning(
        *words: str,
        steps: tuple[dict[str, Any], ...] = ({"say": "I am at work on it."}, {"work": 3600}),
        env: dict[str, str] | None = None,
    ) -> dict[str, Any]:
        scripted = ("--agent", "scripted", "--model", script(*steps), "--message", "Begin")
        found: dict[str, Any] = maestro.json("session", "spawn", *scripted, *words, env=env or {})
        return found

    return spawning
