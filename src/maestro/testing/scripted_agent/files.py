"""The files that the scripted agent touches: its transcript, and git's record of the branch."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

from maestro.testing.scripted_agent.transcript import Record


class TranscriptFile:
    """Appends each record as one whole line; the file comes with its first record."""

    def __init__(self, path: Path, *, resumed: bool = False) -> None:
        self._path = path
        self._resumed = resumed
        self._descriptor: int | None = None

    def append(self, record: Record) -> None:
        if self._descriptor is None:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC
            if not self._resumed:
                flags |= os.O_CREAT | os.O_EXCL
            self._descriptor = os.open(self._path, flags, 0o600)
        line = json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n"
        left = memoryview(line.encode("utf-8", "replace"))
        while left:
            left = left[os.write(self._descriptor, left) :]

    def close(self) -> None:
        if self._descriptor is not None:
            with contextlib.suppress(OSError):
                os.close(self._descriptor)
            self._descriptor = None


def git_branch(cwd: Path) -> str:
    """The branch that `cwd` is on, read from git's files; `HEAD` when there is none to name."""
    for folder in (cwd, *cwd.parents):
        place = folder / ".git"
        if place.is_file():
            pointer = _first_line(place)
            if not pointer.startswith("gitdir:"):
                return "HEAD"
            place = folder / pointer.removeprefix("gitdir:").strip()
        if place.is_dir():
            head = _first_line(place / "HEAD")
            prefix = "ref: refs/heads/"
            return head.removeprefix(prefix) if head.startswith(prefix) else "HEAD"
    return "HEAD"


def _first_line(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.readline().strip()
    except OSError:
        return ""
