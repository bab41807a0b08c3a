"""A repository whose files are pipes, or bytes that nobody can read: no command waits for them, none ends in a traceback."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.hostile import commands
from tests.hostile.crowded import SILENT, Crowded
from tests.hostile.scene import NOTHING, staged
from tests.support import Maestro


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _noise(path: Path) -> None:
    path.write_bytes(b"\xff\xfe\0[" * 100 + b"\n\0\n")


@pytest.mark.more  # make test-more
@pytest.mark.parametrize("make", [_pipe, _noise])
def test_no_command_is_held_up(maestro: Maestro, make: Callable[[Path], None]) -> None:
    found: list[str] = []
    with staged(maestro, NOTHING, scripted=True) as scene:
        crowded = Crowded(scene)
        brought = [
            path for path in sorted(scene.folder.rglob("*")) if path.is_file() and not path.is_symlink()
        ]
        odd = [path for path in brought if ".git" not in path.relative_to(scene.folder).parts]
        assert len(odd) > 50, "the files of the hostile repository"
        for path in odd:
            path.unlink()
            make(path)
        for run in commands.EVERY:
            line = f"maestro {' '.join(run.words)}"
            try:
                done = crowded.done(run)
            except subprocess.TimeoutExpired:
                found.append(f"{line}: {SILENT}")
                continue
            if SILENT in done.stderr:
                found.append(f"{line}: {SILENT}")
            if "Traceback" in done.stderr:
                found.append(f"{line}: {done.stderr.strip()[-600:]}")
    assert not found, "\n".join(found)
