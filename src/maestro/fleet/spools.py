"""The way to the daemon from a sandbox that lets a session write but not connect: requests left as files, answered by files.

Each such session has a folder of its own, which it may write to, so everything in it is hostile: opened by the folder's
descriptor and never through a link, regular files only, bounded in size and number. The folder's bell is a pipe: it
costs nothing while it is quiet, and whoever rings finds out at once that no daemon listens.
"""

from __future__ import annotations

import asyncio
import os
import re
import stat
import threading
import time
from collections.abc import Awaitable, Callable, Collection
from functools import partial
from typing import Final

import msgspec
import structlog

from maestro import confined
from maestro.errors import MaestroError

FOLDER: Final = "spools"
BELL: Final = "bell"
REQUEST: Final = ".request"
ANSWER: Final = ".answer"
LONGEST: Final = 1 << 20  # of a request's file
_LONGEST_ANSWER: Final = 4 << 20
_MOST_ENTRIES: Final = 1_000
_AT_ONCE: Final = 8
_PAUSE_SECONDS: Final = (
    0.02  # between two looks: a session that rings without end must not keep the daemon busy
)
_OLD_SECONDS: Final = 600.0  # nobody waits for such an answer any more
_NAME: Final = re.compile(r"[0-9a-f-]{1,80}\.request")

_log = structlog.get_logger("spools")


class Left(msgspec.Struct, frozen=True):
    """A request as a session left it. The token says who it is; nothing else here does."""

    method: str
    target: str  # path and query
    token: str
    body: str = ""
    key: str = ""
    is_report: bool = False  # whoever left it may be gone, and it counts all the same


class Answer(msgspec.Struct, frozen=True):
    status: int
    body: str


class NotTaken(Exception):
    """A file that is no request; the message says why."""


Carry = Callable[[str, Left], Awaitable[Answer]]


class Spools:
    """The folders of all sandboxed sessions. `carry` passes a request on in the name of the session whose folder it is."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._open: dict[str, _Spool] = {}
        self.carry: Carry | None = None
        self._removes = threading.Lock()

    def path(self, session_id: str) -> str:
        return os.path.join(self._root, session_id)

    def make(self, session_id: str) -> None:
        """Make the session's folder, and listen to its bell."""
        os.makedirs(self._root, mode=0o700, exist_ok=True)
        path = self.path(session_id)
        os.makedirs(path, mode=0o700, exist_ok=True)
        self._listen(session_id)

    async def read_reports(self, session_ids: Collection[str]) -> None:
        """Pass on the reports that these sessions left while no daemon was there, oldest first, before anybody finds out
        which of them have ended meanwhile."""
        for session_id in session_ids:
            try:
                spool = _Spool(self.path(session_id), session_id, self._carried)
            except OSError:
                continue
            try:
                await spool.read_reports()
            finally:
                await spool.close()

    def listen(self, session_ids: Collection[str]) -> None:
        """Listen to the bells of these sessions, as far as they have one; remove all other folders."""
        try:
            names = os.listdir(self._root)
        except FileNotFoundError:
            return
        for name in names:
            if name in session_ids:
                self._listen(name)
            else:
                self._remove(name)

    async def forget(self, session_id: str) -> None:
        """Remove the folder of a session that has ended."""
        spool = self._open.pop(session_id, None)
        if spool is not None:
            await spool.close()
        await asyncio.to_thread(self._remove, session_id)

    def _remove(self, name: str) -> None:
        """Remove a folder, whatever its session put there: no link is followed, and no depth is too deep.

        A session that ends is seen to end more than once: each returns when the folder is gone, and takes away nothing
        that another is just removing."""
        try:
            with self._removes, confined.any_folder(self._root) as root:
                root.remove_tree(name)
        except FileNotFoundError:
            pass
        except (OSError, MaestroError) as error:
            _log.warning("not removed", session=name, error=str(error))

    async def close(self) -> None:
        for spool in self._open.values():
            await spool.close()
        self._open.clear()

    def _listen(self, session_id: str) -> None:
        if session_id in self._open:
            return
        try:
            spool = _Spool(self.path(session_id), session_id, self._carried)
            spool.listen()
        except OSError as error:
            _log.warning("cannot listen", session=session_id, error=str(error))
            return
        self._open[session_id] = spool

    async def _carried(self, session_id: str, left: Left) -> Answer:
        assert self.carry is not None
        return await self.carry(session_id, left)


class _Spool:
    """One folder, by its descriptor."""

    def __init__(self, path: str, session_id: str, carry: Carry) -> None:
        self._session_id = session_id
        self._carry = carry
        self._folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        self._bell: int | None = None
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._passed_over: set[str] = set()  # refused, and not to be removed: a folder, say

    def listen(self) -> None:
        self._bell = self._open_bell()
        self._ring_later()

    async def close(self) -> None:
        if self._bell is not None:
            asyncio.get_running_loop().remove_reader(self._bell)
            os.close(self._bell)
            self._bell = None
        # What ends a session may be what one of its own files asked for.
        tasks = [task for task in self._tasks.values() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._folder >= 0:
            os.close(self._folder)
            self._folder = -1

    async def read_reports(self) -> None:
        for name in self._requests():
            try:
                left = self._read(name)
            except NotTaken as error:
                self._refuse(name, error)
                continue
            if left.is_report:
                await self._answer(name, left)

    def _open_bell(self) -> int:
        """The pipe. O_RDWR: with a writer of its own it never comes to its end."""
        flags = os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
        for _ in range(2):
            try:
                status = os.stat(BELL, dir_fd=self._folder, follow_symlinks=False)
                if stat.S_ISFIFO(status.st_mode):
                    bell = os.open(BELL, flags, dir_fd=self._folder)
                    if stat.S_ISFIFO(os.fstat(bell).st_mode):
                        return bell
                    os.close(bell)
                os.unlink(BELL, dir_fd=self._folder)
            except FileNotFoundError:
                pass
            os.mkfifo(BELL, 0o600, dir_fd=self._folder)
        return os.open(BELL, flags, dir_fd=self._folder)

    def _rung(self) -> None:
        assert self._bell is not None
        asyncio.get_running_loop().remove_reader(self._bell)
        try:
            os.read(self._bell, 1 << 16)
        except BlockingIOError:
            pass
        self._look()
        asyncio.get_running_loop().call_later(_PAUSE_SECONDS, self._await_ring)

    def _ring_later(self) -> None:
        asyncio.get_running_loop().call_soon(self._look)
        self._await_ring()

    def _await_ring(self) -> None:
        if self._bell is not None:
            asyncio.get_running_loop().add_reader(self._bell, self._rung)

    def _look(self) -> None:
        if self._folder < 0:
            return
        for name in self._requests():
            if len(self._tasks) >= _AT_ONCE:
                break
            if name not in self._tasks:
                task = asyncio.get_running_loop().create_task(self._take(name))
                self._tasks[name] = task
                task.add_done_callback(partial(self._done, name))

    def _done(self, name: str, task: asyncio.Task[None]) -> None:
        was_full = len(self._tasks) >= _AT_ONCE
        self._tasks.pop(name, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("not answered", session=self._session_id, name=name, exc_info=error)
        if was_full and self._bell is not None:
            self._look()

    async def _take(self, name: str) -> None:
        try:
            left = self._read(name)
        except NotTaken as error:
            self._refuse(name, error)
            return
        await self._answer(name, left)

    async def _answer(self, name: str, left: Left) -> None:
        """Pass it on, write what came of it, and only then remove it: a daemon that dies meanwhile does it again, under
        the same idempotency key."""
        answer = await self._carry(self._session_id, left)
        try:
            self._write(name.removesuffix(REQUEST) + ANSWER, msgspec.json.encode(answer))
        except OSError as error:
            _log.warning("not answered", session=self._session_id, name=name, error=str(error))
        self._remove(name)

    def _requests(self) -> list[str]:
        """The names of what may be requests, oldest first. Old answers are removed on the way."""
        found, now = [], time.time()
        try:
            with os.scandir(self._folder) as entries:
                for count, entry in enumerate(entries):
                    if count >= _MOST_ENTRIES:
                        _log.warning("too many files", session=self._session_id, most=_MOST_ENTRIES)
                        break
                    if entry.name.endswith(REQUEST) and entry.name not in self._passed_over:
                        found.append(entry.name)
                    elif (
                        entry.name != BELL
                        and entry.name not in self._passed_over
                        and now - entry.stat(follow_symlinks=False).st_mtime > _OLD_SECONDS
                    ):
                        self._remove(entry.name)
        except OSError as error:
            _log.warning("cannot look", session=self._session_id, error=str(error))
        return sorted(found)

    def _read(self, name: str) -> Left:
        if not _NAME.fullmatch(name):
            raise NotTaken("its name is odd")
        try:
            # O_NONBLOCK: a pipe is not waited for.
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            descriptor = os.open(name, flags, dir_fd=self._folder)
        except OSError as error:
            raise NotTaken(error.strerror or "it cannot be opened") from error
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise NotTaken("it is no regular file")
            if status.st_nlink > 1 or status.st_uid != os.geteuid():
                raise NotTaken("it is another's file")
            if status.st_size > LONGEST:
                raise NotTaken(f"it has {status.st_size} bytes")
            content = file.read(LONGEST + 1)
        if len(content) > LONGEST:
            raise NotTaken(f"it has more than {LONGEST} bytes")
        try:
            return msgspec.json.decode(content, type=Left)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise NotTaken(f"it cannot be read: {error}") from error

    def _refuse(self, name: str, error: NotTaken) -> None:
        _log.warning("refused", session=self._session_id, name=name[:100], reason=str(error))
        self._remove(name)

    def _write(self, name: str, content: bytes) -> None:
        if len(content) > _LONGEST_ANSWER:
            content = msgspec.json.encode(Answer(507, '{"error":"The answer is too long.","code":"error"}'))
        temporary = f".{os.urandom(8).hex()}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(temporary, flags, 0o600, dir_fd=self._folder)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        os.rename(temporary, name, src_dir_fd=self._folder, dst_dir_fd=self._folder)

    def _remove(self, name: str) -> None:
        try:
            os.unlink(name, dir_fd=self._folder)
        except FileNotFoundError:
            pass
        except OSError:
            if len(self._passed_over) < _MOST_ENTRIES:
                self._passed_over.add(name)
