"""Reads the programs that a repository brings for git, so that a user can see and confirm them."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable

import msgspec

from maestro.home import locate
from maestro.trust import Brought
from maestro.trust.brought import digest_of
from maestro.trust.records import read_record
from maestro.worktrees.git_settings import Confirmed, Setting, programs_among

_SAMPLE = ".sample"
_HOOKS = ".git/hooks/"


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

    @property
    def project(self) -> str:
        """The folder that what the user confirms of it is recorded for."""
        return project_of(self.repository)

    @property
    def brought(self) -> list[Brought]:
        """Returns the programs as files of a project that can act, for `maestro trust`."""
        found = [
            Brought(_setting_name(key), digest_of(_joined(values)), ("a program for git", *values))
            for key, values in _by_key(self.settings).items()
        ]
        if self.hooks:
            wants = ("programs that git runs", *(hook.name for hook in self.hooks))
            found.append(Brought(_HOOKS, digest(self.hooks), wants))
        return found


def project_of(repository: str) -> str:
    """Returns the folder whose `.git` is this common git folder; a bare one stands for itself."""
    return os.path.dirname(repository) if os.path.basename(repository) == ".git" else repository


def confirmed(repository: str, settings: Iterable[Setting]) -> Confirmed:
    """Returns what the user has confirmed of the repository with this common git folder, which has these settings."""
    record = read_record(locate(os.environ).root, project_of(repository))
    files = record.files if record else {}
    pairs = {
        (key, value)
        for key, values in _by_key(programs_among(settings)).items()
        if files.get(_setting_name(key)) == digest_of(_joined(values))
        for value in values
    }
    return Confirmed(frozenset(pairs), frozenset({files[_HOOKS]} if _HOOKS in files else ()))


def _by_key(settings: Iterable[Setting]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for one in settings:
        found.setdefault(one.key, []).append(one.value)
    return found


def _setting_name(key: str) -> str:
    return f".git/config ({key})"


def _joined(values: list[str]) -> bytes:
    return "\0".join(values).encode("utf-8", "surrogateescape")


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
