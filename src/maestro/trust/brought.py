"""Finds the files of a project that can act, with their digests: Maestro's own, and those that a CLI acts on."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from glob import escape, glob
from typing import Final

from maestro.errors import InvalidInput
from maestro.trust import Brought
from maestro.trust.wants import wants_of

EVERYWHERE: Final = "/"  # the top of files outside of a project, which are called by their whole path
_MOST_FILES: Final = 5_000
_LARGEST: Final = 64 * 1024 * 1024
_BLOCK: Final = 1 << 20
_SHOWN: Final = 200_000  # bytes that are looked into for what a file wants


def maestro_files(state: str) -> tuple[str, ...]:
    """Returns the patterns of what Maestro itself acts on; `state` is the state folder, below the root."""
    return (
        "fleet.yml",
        "coordinate.config.json",
        f"{state}/coordinate.config.json",
        f"{state}/coordinate/*/coordinate.config.json",
        f"{state}/tools.toml",
        f"{state}/chains.toml",
        f"{state}/commands/*.md",
        f"{state}/rules/*.md",
        f"{state}/agents/*.md",
    )


def brought_by(top: str, folders: Iterable[str], patterns: Iterable[str]) -> list[Brought]:
    """Returns what lies below `top` in these folders and matches; a pattern that ends with a slash is a whole folder.

    Names are relative to `top`, so that a worktree of a project has the names of the project.
    """
    names: dict[str, None] = {}
    for folder in folders:
        for pattern in patterns:
            for path in sorted(glob(os.path.join(escape(folder), pattern), include_hidden=True)):
                name = os.path.normpath(path) if top == EVERYWHERE else os.path.relpath(path, top)
                names[name + ("/" if pattern.endswith("/") else "")] = None
    return [brought for name in names if (brought := brought_file(top, name)) is not None]


def brought_file(top: str, name: str) -> Brought | None:
    """Returns one file or folder as it is now; None where there is none."""
    path = os.path.join(top, name)
    if name.endswith("/"):
        digest, count = _folder_digest(path)
        return Brought(name, digest, (f"{count} files that the CLI reads or runs",)) if count else None
    try:
        digest, head = _digest_and_head(path)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be read: {error.strerror}.", hint="Mend it or move it away."
        ) from error
    # What a link leads to is not the project's, and need not be shown: it may be a key.
    real = os.path.realpath(path)
    inside = real == path if top == EVERYWHERE else real.startswith(os.path.realpath(top) + os.sep)
    return Brought(name, digest, (f"is a link to {real}",) if not inside else wants_of(name, head))


def digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _digest_and_head(path: str) -> tuple[str, bytes]:
    """Returns a file's digest and how it begins, by one reading: what is shown is what is confirmed."""
    found, head = hashlib.sha256(), b""
    left = _LARGEST
    with open(path, "rb", opener=_without_waiting) as file:
        while left > 0 and (block := file.read(_BLOCK)):
            found.update(block)
            head = head or block[:_SHOWN]
            left -= len(block)
    if left <= 0:
        raise InvalidInput(f"{path} is too large to be confirmed.", hint="Move it away.")
    return found.hexdigest(), head


def _folder_digest(folder: str) -> tuple[str, int]:
    """Returns one digest of every file in a folder, and how many there are."""
    found, count = hashlib.sha256(), 0
    for path in _files_below(folder):
        count += 1
        if count > _MOST_FILES:
            raise InvalidInput(
                f"{folder} has over {_MOST_FILES:,} files: too many to be confirmed.", hint="Move it away."
            )
        words = os.fsencode(os.path.relpath(path, folder)) + b"\0" + _content_mark(path) + b"\0"
        found.update(words)
    return found.hexdigest(), count


def _content_mark(path: str) -> bytes:
    try:
        return _digest_and_head(path)[0].encode()
    except OSError:
        return (
            b"unreadable"  # a link to nowhere, a socket: whatever becomes readable there changes the digest
        )


def _files_below(folder: str) -> Iterator[str]:
    """A link to a folder is followed as a CLI follows it; the bound on files ends a circle of links."""
    for place, folders, files in os.walk(folder, followlinks=True):
        folders.sort()
        for name in sorted(files):
            yield os.path.join(place, name)


def _without_waiting(path: str, flags: int) -> int:
    """A pipe in place of a file must not hold us up."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)
