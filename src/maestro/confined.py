"""Opens files of a project so that no link leads out of it.

A path is walked from the file system's root, folder by folder, each opened relative to the one before and never through a
link. What is then done in the last folder is done relative to its descriptor: whoever swaps a folder for a link in the
middle of a write changes nothing for us. So a path must begin with a real one (a project's root, after `realpath`); every
part that comes after it may be a stranger's, and a link among them is refused with `LeadsOut`.

Imported by commands, so it costs nothing but what is built into Python.
"""

from __future__ import annotations

import errno
import os
import stat

from maestro.errors import InvalidInput, LeadsOut

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

# A folder on the way need not be readable, where the system can open it for passing through alone.
_PASS = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LAST = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_NOFOLLOW | os.O_CLOEXEC
# A pipe in place of a file must not hold us up, so a file that is there is opened without waiting.
_FILE = _NEW | os.O_NONBLOCK
_BLOCK = 1 << 20
MOST_READ = 64 * 1024 * 1024
_LOCK_TRIES = 100
_MOST_LEVELS = 100_000  # of a tree that is removed


class Folder:
    """An open folder. Every name is one in it, and means the file itself: a link in its place is refused."""

    __slots__ = ("descriptor", "path")

    def __init__(self, path: str, descriptor: int) -> None:
        self.path = path
        self.descriptor = descriptor

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def open(self, name: str, flags: int, mode: int = 0o600) -> int:
        """Open a regular file. Raises LeadsOut for a link, and OSError as `os.open` does."""
        is_new = flags & os.O_EXCL
        try:
            descriptor = os.open(
                self._name(name), flags | (_NEW if is_new else _FILE), mode, dir_fd=self.descriptor
            )
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise _leads_out(self._path(name), self._path(name)) from error
            raise _named(error, self._path(name)) from error
        if is_new:
            return descriptor
        try:
            _require_regular(descriptor, self._path(name))
            os.set_blocking(descriptor, True)  # whoever inherits it does not expect otherwise
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def read(self, name: str, most: int = MOST_READ) -> bytes:
        """Return a file's content; not more than the first `most` bytes."""
        descriptor = self.open(name, os.O_RDONLY)
        try:
            return _read(descriptor, most)
        finally:
            os.close(descriptor)

    def read_end(self, name: str, most: int) -> bytes:
        """Return the last `most` bytes of a file."""
        descriptor = self.open(name, os.O_RDONLY)
        try:
            os.lseek(descriptor, max(0, os.fstat(descriptor).st_size - most), os.SEEK_SET)
            return _read(descriptor, most)
        finally:
            os.close(descriptor)

    def status(self, name: str) -> os.stat_result:
        """Return what the name itself is; of a link, that it is one."""
        return os.stat(self._name(name), dir_fd=self.descriptor, follow_symlinks=False)

    def has(self, name: str) -> bool:
        """Whether there is anything of this name, also a link."""
        try:
            self.status(name)
        except FileNotFoundError:
            return False
        return True

    def names(self) -> list[str]:
        return os.listdir(self.descriptor)

    def make(self, name: str, mode: int = 0o700) -> None:
        """Make a folder. Raises FileExistsError where there is anything of this name."""
        os.mkdir(self._name(name), mode, dir_fd=self.descriptor)

    def below(self, name: str, *, make: bool = False, mode: int = 0o700) -> Folder:
        """Open a folder in this one; `make`: where it is not there, it is made."""
        path = self._path(self._name(name))
        return Folder(path, _step(self.descriptor, name, _LAST, path, path, mode if make else None))

    def unlink(self, name: str) -> None:
        os.unlink(self._name(name), dir_fd=self.descriptor)

    def remove(self, name: str) -> None:
        """Remove an empty folder."""
        os.rmdir(self._name(name), dir_fd=self.descriptor)

    def remove_tree(self, name: str) -> None:
        """Remove what has this name, with everything in it, also what is too deep for a path. Of a link, the link alone."""
        if not stat.S_ISDIR(self.status(name).st_mode):
            self.unlink(name)
            return
        with self.below(name) as top:
            for _ in range(_MOST_LEVELS):
                names = top.names()
                if not names:
                    break
                for one in names:
                    top._remove_level(one)  # noqa: SLF001 - another one of this class
        self.remove(name)  # which fails where somebody still writes into it

    def _remove_level(self, name: str) -> None:
        """Remove what has this name; of a folder, the folders in it come up to this one instead."""
        if not stat.S_ISDIR(self.status(name).st_mode):
            self.unlink(name)
            return
        with self.below(name) as inner:
            for one in inner.names():
                if stat.S_ISDIR(inner.status(one).st_mode):
                    inner.rename(one, self, f".{os.urandom(16).hex()}")
                else:
                    inner.unlink(one)
        self.remove(name)

    def rename(self, name: str, to: Folder, new: str) -> None:
        os.rename(self._name(name), self._name(new), src_dir_fd=self.descriptor, dst_dir_fd=to.descriptor)

    def link(self, name: str, to: Folder, new: str) -> None:
        """Give a file a second name."""
        if stat.S_ISLNK(self.status(name).st_mode):
            raise _leads_out(self._path(name), self._path(name))
        os.link(
            self._name(name),
            self._name(new),
            src_dir_fd=self.descriptor,
            dst_dir_fd=to.descriptor,
            follow_symlinks=False,
        )

    def set_mode(self, name: str, mode: int) -> None:
        descriptor = self.open(name, os.O_RDONLY)
        try:
            os.fchmod(descriptor, mode)
        finally:
            os.close(descriptor)

    def sync(self) -> None:
        os.fsync(self.descriptor)

    def _path(self, name: str) -> str:
        return os.path.join(self.path, name)

    def _name(self, name: str) -> str:
        if name in {"", ".", ".."} or "/" in name or not _is_text(name):
            raise InvalidInput(f"“{name!r}” is no name of a file in {self.path}.")
        return name


def any_folder(path: str) -> Folder:
    """Open a folder that is the user's own to arrange, such as MAESTRO_HOME: links on the way to it are followed."""
    return Folder(path, os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))


def folder(path: str, *, make: bool = False, mode: int = 0o700) -> Folder:
    """Open a folder, no part of whose path is a link; `make`: what is not there of it is made."""
    parts = _parts(path)
    descriptor = os.open("/", _PASS if parts else _LAST)
    reached = ""
    for number, part in enumerate(parts, start=1):
        reached = f"{reached}/{part}"
        flags = _LAST if number == len(parts) else _PASS
        try:
            following = _step(descriptor, part, flags, reached, path, mode if make else None)
        finally:
            os.close(descriptor)
        descriptor = following
    return Folder(path, descriptor)


def _step(parent: int, part: str, flags: int, reached: str, path: str, make: int | None) -> int:
    """Open the folder `part` of `parent`. `reached` is its path, `path` the one that is wanted."""
    try:
        return os.open(part, flags, dir_fd=parent)
    except FileNotFoundError as error:
        if make is None:
            raise _named(error, path) from error
        try:
            os.mkdir(part, make, dir_fd=parent)
        except FileExistsError:
            pass  # somebody else has just made it
        except OSError as failed:
            raise _named(failed, path) from failed
        return _step(parent, part, flags, reached, path, None)
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENOTDIR}:
            kind = os.stat(part, dir_fd=parent, follow_symlinks=False).st_mode
            # A folder here: a link stood in its place a moment ago.
            if stat.S_ISLNK(kind) or stat.S_ISDIR(kind):
                raise _leads_out(path, reached) from error
        raise _named(error, path) from error


def _parts(path: str) -> list[str]:
    parts = [part for part in path.split("/") if part not in {"", "."}]
    if not path.startswith("/") or ".." in parts or not _is_text(path):
        raise InvalidInput(f"“{path!r}” is no absolute path.")
    return parts


def _is_text(name: str) -> bool:
    try:
        return b"\0" not in os.fsencode(name)
    except UnicodeEncodeError:
        return False


def _leads_out(path: str, link: str) -> LeadsOut:
    what = "it" if path == link else link
    return LeadsOut(f"{path} leads out of the project: {what} is a link.", hint="Remove it, then try again.")


def _require_regular(descriptor: int, path: str) -> None:
    kind = os.fstat(descriptor).st_mode
    if stat.S_ISDIR(kind):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not stat.S_ISREG(kind):
        raise OSError(errno.EINVAL, "it is no file", path)


def _named(error: OSError, path: str) -> OSError:
    """The same error with the whole path, where the system was given only a part of it."""
    return OSError(error.errno, error.strerror, path)


def _read(descriptor: int, most: int) -> bytes:
    blocks = []
    while most > 0 and (block := os.read(descriptor, min(most, _BLOCK))):
        blocks.append(block)
        most -= len(block)
    return b"".join(blocks)


# The same by path, each in one call.


def parent(path: str, *, make: bool = False) -> tuple[Folder, str]:
    """Open the folder that a path is in; return it with the name."""
    place, name = os.path.split(path)
    return folder(place, make=make), name


def open_file(path: str, flags: int, mode: int = 0o600) -> int:
    """Open a regular file, and return its descriptor."""
    place, name = parent(path)
    with place:
        return place.open(name, flags, mode)


def read(path: str, most: int = MOST_READ) -> bytes:
    """Return a file's content; not more than the first `most` bytes."""
    place, name = parent(path)
    with place:
        return place.read(name, most)


def read_end(path: str, most: int) -> bytes:
    """Return the last `most` bytes of a file."""
    place, name = parent(path)
    with place:
        return place.read_end(name, most)


def status(path: str) -> os.stat_result:
    """Return what is there; of a link, that it is one."""
    place, name = parent(path)
    with place:
        return place.status(name)


def exists(path: str) -> bool:
    """Whether there is anything, also a link: whoever opens it is refused."""
    try:
        status(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def is_file(path: str) -> bool:
    try:
        return stat.S_ISREG(status(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def names(path: str) -> list[str]:
    """Return the names in a folder."""
    with folder(path) as opened:
        return opened.names()


def make_folders(path: str, mode: int = 0o700) -> None:
    """Make the folder and those that it is in, where they are not there."""
    folder(path, make=True, mode=mode).close()


def make_new_folder(path: str, mode: int = 0o700) -> None:
    """Make the folder, and those that it is in. Raises FileExistsError where it is there already."""
    place, name = parent(path, make=True)
    with place:
        place.make(name, mode)


def unlink(path: str) -> None:
    place, name = parent(path)
    with place:
        place.unlink(name)


def remove_tree(path: str) -> None:
    """Remove what is there, with everything in it; nothing where there is nothing."""
    try:
        place, name = parent(path)
        with place:
            place.remove_tree(name)
    except FileNotFoundError:
        pass


class Lock:
    """A lock file that this process holds; entered, it is its descriptor.

    The kernel lets go of the lock when the last process that has the descriptor ends, however it ends, or closes it."""

    __slots__ = ("descriptor",)

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def __enter__(self) -> int:
        return self.descriptor

    def __exit__(self, *_: object) -> None:
        os.close(self.descriptor)


def lock(path: str, *, wait: bool = True, appends: bool = False) -> Lock:
    """Hold a lock file from now on. Raises BlockingIOError where another has it and `wait` is not set.

    `appends`: what is written goes to its end."""
    place, name = parent(path)
    with place:
        return Lock(_open_locked(place, name, os.O_APPEND if appends else 0, wait=wait))


def _open_locked(place: Folder, name: str, flags: int, *, wait: bool) -> int:
    """Open a file and lock it. One that was moved away while we waited is not the one that others lock."""
    import fcntl

    for _ in range(_LOCK_TRIES):
        descriptor = place.open(name, flags | os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            if os.path.samestat(os.fstat(descriptor), place.status(name)):
                return descriptor
        except FileNotFoundError:
            pass
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
    raise BlockingIOError(errno.EWOULDBLOCK, "it is replaced all the time", os.path.join(place.path, name))
