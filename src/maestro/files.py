"""The one way to write a file: whole or not at all, also when the machine dies in between."""

from __future__ import annotations

import errno
import os

from maestro.errors import DiskFull, NoPermission

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def write_atomically(
    path: str,
    data: bytes,
    mode: int = 0o600,
    *,
    durable: bool = True,
    check: Callable[[], None] | None = None,
) -> None:
    """Replace `path` by `data`: unique temporary file, fsync, rename, fsync of the folder.

    Not `durable`: nothing is synced. It is whole whenever a process dies; when the machine does, it may be lost.
    `check` is called last of all before the old file is replaced; if it raises, the old file stays.
    """
    folder = os.path.dirname(path) or "."
    temporary = os.path.join(folder, f".{os.path.basename(path)}.{os.getpid()}.{os.urandom(6).hex()}.tmp")
    try:
        _write_whole(temporary, data, mode, durable=durable)
        if check is not None:
            check()
        os.rename(temporary, path)
        if durable:
            _sync_folder(folder)
    except BaseException as error:
        _discard(temporary)
        if isinstance(error, OSError):
            _explain(error, path)
        raise


def write_new(path: str, data: bytes, mode: int = 0o600) -> None:
    """Write a file that is not there yet, durably, by one sync: it brings the new name to the disk as well.

    Whole whenever a process dies. A machine that dies before this returns may leave the name without the content."""
    write_atomically(path, data, mode, durable=False)
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        _explain(error, path)
        raise
    finally:
        os.close(descriptor)


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


def _write_whole(path: str, data: bytes, mode: int, *, durable: bool) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        if durable:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_folder(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _discard(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
