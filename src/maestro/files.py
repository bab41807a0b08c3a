"""The one way to write a file: whole or not at all, also when the machine dies in between."""

from __future__ import annotations

import errno
import os

from maestro import confined as confinement
from maestro.errors import DiskFull, NoPermission

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from maestro.confined import Folder

_NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def write_atomically(
    path: str,
    data: bytes,
    mode: int = 0o600,
    *,
    durable: bool = True,
    check: Callable[[], None] | None = None,
    confined: bool = False,
) -> None:
    """Replace `path` by `data`: unique temporary file, fsync, rename, fsync of the folder.

    Not `durable`: nothing is synced. It is whole whenever a process dies; when the machine does, it may be lost.
    `check` is called last of all before the old file is replaced; if it raises, the old file stays.
    `confined`: for everything in a project; no part of the path may be a link (see confined.py).
    """
    place, name = os.path.split(path)
    try:
        with confinement.folder(place) if confined else confinement.any_folder(place or ".") as folder:
            replace_in(folder, name, data, mode, durable=durable, check=check)
    except OSError as error:
        _explain(error, path)
        raise


def replace_in(
    folder: Folder,
    name: str,
    data: bytes,
    mode: int = 0o600,
    *,
    durable: bool = True,
    check: Callable[[], None] | None = None,
) -> None:
    """The same in a folder that is open: for whoever writes many files into one."""
    temporary = f".{name}.{os.getpid()}.{os.urandom(6).hex()}.tmp"
    try:
        _write_whole(folder, temporary, data, mode, durable=durable)
        if check is not None:
            check()
        folder.rename(temporary, folder, name)
        if durable:
            folder.sync()
    except BaseException as error:
        _discard(folder, temporary)
        if isinstance(error, OSError):
            _explain(error, os.path.join(folder.path, name))
        raise


def write_new(path: str, data: bytes, mode: int = 0o600, *, confined: bool = False) -> None:
    """Write a file that is not there yet, durably, by one sync: it brings the new name to the disk as well.

    Whole whenever a process dies. A machine that dies before this returns may leave the name without the content."""
    place, name = os.path.split(path)
    try:
        with confinement.folder(place) if confined else confinement.any_folder(place or ".") as folder:
            replace_in(folder, name, data, mode, durable=False)
            descriptor = folder.open(name, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
    except OSError as error:
        _explain(error, path)
        raise


def _explain(error: OSError, path: str) -> None:
    """Raise it as one of ours, if it is one that a person can do something about."""
    if error.errno in _NO_SPACE:
        raise DiskFull(
            f"No space left to write {path}.", hint="Free some disk space; the old file is intact."
        ) from error
    if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
        raise NoPermission(
            f"{path} cannot be written: {error.strerror}.", hint="Check who owns the folder and its mode."
        ) from error


def _write_whole(folder: Folder, name: str, data: bytes, mode: int, *, durable: bool) -> None:
    descriptor = folder.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        if durable:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _discard(folder: Folder, name: str) -> None:
    try:
        folder.unlink(name)
    except FileNotFoundError:
        pass
