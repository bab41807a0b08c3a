"""The daemon's own files are private; what it does for a person has that person's umask."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.patience import until
from tests.support import Maestro


@pytest.fixture(params=[0o002, 0o027, 0o000])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    """Is set before the first command starts the daemon."""
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_work_has_the_users_umask_and_the_home_is_private(umask: int, maestro: Maestro, spawn: Any) -> None:
    for words in (
        ("init", "-q", "-b", "main"),
        ("config", "user.name", "t"),
        ("config", "user.email", "t@example.org"),
        ("commit", "-q", "--allow-empty", "-m", "first"),
    ):
        subprocess.run(["git", *words], cwd=maestro.cwd, check=True)
    made = "mkdir made; echo x > made/it; git add made; git commit -qm made"
    change = {"run": ["sh", "-c", f"{made}; touch {maestro.cwd}/done"]}
    session = spawn("--name", "Ann", "--worktree", steps=(change, {"say": "Made."}))
    until((maestro.cwd / "done").exists)
    assert mode(maestro.cwd / "done") == 0o666 & ~umask, "an agent's file"
    checkout = Path(session["worktree"]["path"])
    assert (mode(checkout / "made"), mode(checkout / "made/it")) == (0o777 & ~umask, 0o666 & ~umask)
    maestro.json("session", "stop", session["id"])
    maestro.json("session", "merge", session["id"])
    assert mode(maestro.cwd / "made/it") == 0o666 & ~umask, "a file that git wrote for the daemon"
    home = Path(maestro.home.root)
    assert mode(home) == 0o700
    files = {path: mode(path) for path in home.rglob("*") if not path.is_relative_to(home / "worktrees")}
    assert Path(maestro.home.socket) in files
    assert {str(path): oct(found) for path, found in files.items() if found & 0o077} == {}
