"""Makes every machine look alike to a test: no variable, umask, time zone, locale or folder of whoever runs it."""

from __future__ import annotations

import locale
import os
import tempfile
import time
from pathlib import Path

import pytest
from tests.support import clean_env

# What pytest and its plugins tell themselves, and what `make soak` tells tests. PATH finds the programs under test.
_KEPT = ("PATH", "PYTEST_", "HYPOTHESIS_", "COVERAGE_", "MAESTRO_SOAK")
# Files that mean something to Maestro, an agent, git or pytest in every folder below them.
_MEANINGFUL = (".git", ".maestro", ".claude", ".codex", ".gemini", "CLAUDE.md", "AGENTS.md", "GEMINI.md", "VISION.md",
               "coordinate.config.json", "fleet.yml", "pyproject.toml", "pytest.ini", "conftest.py")  # fmt: skip
# A socket's path may have 107 bytes, and tests make folders of their own above their sockets.
_LONGEST = 40


def settle() -> None:
    """Gives this process the umask, the time zone, the encoding and the temporary folder that tests are written for."""
    os.umask(0o022)
    os.environ["TZ"] = "UTC"
    time.tzset()
    if locale.getencoding().lower() != "utf-8":
        locale.setlocale(locale.LC_CTYPE, "C.UTF-8")
    os.environ["TMPDIR"] = tempfile.tempdir = temporary_folder(
        [tempfile.gettempdir(), "/tmp", "/var/tmp", "/dev/shm"]
    )


def temporary_folder(candidates: list[str]) -> str:
    """Returns the first folder that is short, writable, and below nothing that means something."""
    for candidate in map(os.path.realpath, candidates):
        above = (Path(candidate), *Path(candidate).parents)
        is_plain = not any(os.path.lexists(folder / name) for folder in above for name in _MEANINGFUL)
        if is_plain and len(candidate) <= _LONGEST and os.access(candidate, os.W_OK | os.X_OK):
            return candidate
    pytest.exit(
        f"Tests need a short temporary folder that is in no project. Set TMPDIR; not {candidates[0]}.", 4
    )


def enter(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Gives a test the environment of a new user whose home is `place`, and takes away all other variables."""
    for name in list(os.environ):
        if not name.startswith(_KEPT):
            monkeypatch.delenv(name)
    for name, value in clean_env(place).items():
        if name != "PATH":
            monkeypatch.setenv(name, value)
