"""Reads the programs that a repository brings for git, so that a user can see and confirm them."""

from __future__ import annotations

import hashlib
import os
import stat

import msgspec

from maestro.worktrees.git_settings import Confirmed, Setting

_SAMPLE = ".sample"


class Hook(msgspec.Struct, frozen=True):
    name: str  # relative to the folder
    sha256: str
    is_executable: bool


class Programs(msgspec.Struct, frozen=True):
    """What a repository's own configuration would make git run, besides what is known to be harmless."""

    repository: str  # its common git folder
    settings: tuple[Setting, ...] = ()
    hooks_folder: str = ""
    hooks: tuple[Hook, ...] = ()

    @property
    def confirmed(self) -> Confirmed:
        """Returns the record of a user who confirms all of it."""
        return Confirmed(
            frozenset((one.key, one.value) for one in self.settings),
            frozenset({digest(self.hooks)} if self.hooks else ()),
        )


def confirmed(repository: str) -> Confirmed:  # noqa: ARG001 - nothing records what a user confirms of a repository yet
    """Returns what the user has confirmed of the repository with this common git folder."""
    return Confirmed()


def hooks_in(folder: str) -> tuple[Hook, ...]:
    """Returns the files of a folder of hooks, git's samples left out."""
    found = []
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(parent, name)
            if not name.endswith(_SAMPLE):
                found.append(_hook(path, os.path.relpath(path, folder)))
    return tuple(found)


def digest(hooks: tuple[Hook, ...]) -> str:
    return hashlib.sha256(msgspec.json.encode(hooks)).hexdigest()


def _hook(path: str, name: str) -> Hook:
    """Returns the file's content as a hash; anything that is no readable file has none."""
    shown = name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return Hook(shown, "", is_executable=False)
    with open(descriptor, "rb") as file:
        mode = os.fstat(descriptor).st_mode
        content = file.read() if stat.S_ISREG(mode) else b""
    return Hook(shown, hashlib.sha256(content).hexdigest(), is_executable=bool(mode & 0o111))
