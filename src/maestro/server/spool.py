"""What agents' hooks said while nobody listened: files that `carrier.py` wrote, heard in the order of their time.

A file is removed when it was heard. One that is torn or that nobody can read is said in the log and removed, too:
what stands here must not stop a daemon from starting.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import stat
import time
from typing import Any, NamedTuple, Protocol
from weakref import WeakValueDictionary

import structlog

from maestro.errors import MaestroError

FOLDER = "spool"
LONGEST = 1 << 20  # of a payload; a hook sends none that is longer
_LONGEST_FILE = LONGEST + 4096
# A delivery begins with the time at which its hook was run. What is this old is of another clock.
_TIME = re.compile(r"[0-9]{1,20}")
_LATE_MS = 60_000
_UNFINISHED_SECONDS = 60
_REMEMBERED = 10_000

_log = structlog.get_logger("spool")


class Ear(Protocol):
    """Whoever makes something of what a hook says."""

    async def heard(
        self,
        agent: str,
        event: str,
        payload: dict[str, Any],
        *,
        session_id: str | None,
        at: int,
        waits: bool,
        listens: bool,
        is_redacted: bool,
    ) -> bytes | None: ...


class Said(NamedTuple):
    """One thing that a hook said."""

    agent: str
    event: str
    payload: dict[str, Any]
    session_id: str | None
    at: int
    is_redacted: bool = False  # it lay on the disk, where secrets were taken out of it


class Spool:
    """All that hooks say passes here, so that what one session says is heard in its order."""

    def __init__(self, folder: str, ear: Ear) -> None:
        self._folder = folder
        self._ear = ear
        self._reading = asyncio.Lock()
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._taken: dict[str, None] = {}

    def take(self, delivery: str) -> bool:
        """Claims a delivery; False when it was claimed before. A hook that had no answer in time keeps its payload
        here, and its request is read all the same: before the file, or a while after it."""
        if delivery in self._taken:
            return False
        self._taken[delivery] = None
        if len(self._taken) > _REMEMBERED:
            del self._taken[next(iter(self._taken))]
        return True

    async def answer(self, said: Said, *, waits: bool, listens: bool = True) -> bytes | None:
        """Hear it after all that its session said before; what the hook must print, if it is there and listens."""
        turn = self._turn(said)
        async with turn:
            if not waits:
                return await self._heard(said, waits=False, listens=listens)
        # Its session says more while it waits.
        return await self._heard(said, waits=True, listens=listens)

    async def hear(self, said: Said) -> bool:
        """Hear it for nobody who waits."""
        try:
            await self.answer(said, waits=False, listens=False)
        except MaestroError as error:
            _log.warning("not heard", agent=said.agent, hook=said.event, error=error.message)
            return False
        except Exception:  # noqa: BLE001 - the edge of a loop over foreign words: one of them must not stop the rest
            _log.exception("not heard", agent=said.agent, hook=said.event)
            return False
        return True

    async def read(self) -> int:
        """Hear all that was kept, oldest first; how much it was."""
        async with self._reading:
            heard = 0
            for name in self._names():
                path = os.path.join(self._folder, name)
                if self.take(name):
                    said = unpacked(_content(path))
                    if said is None:
                        _log.warning("unreadable", path=path)
                    else:
                        heard += await self.hear(said)
                _remove(path)
            return heard

    def _names(self) -> list[str]:
        try:
            names = sorted(os.listdir(self._folder))
        except FileNotFoundError:
            return []
        for name in names:
            if name.startswith(".") and not name.startswith(".start"):
                _remove_unfinished(os.path.join(self._folder, name))
        return [name for name in names if not name.startswith(".")]

    def _turn(self, said: Said) -> asyncio.Lock:
        speaker = said.session_id or str(said.payload.get("session_id", ""))
        return self._turns.setdefault(speaker, asyncio.Lock())

    async def _heard(self, said: Said, *, waits: bool, listens: bool) -> bytes | None:
        return await self._ear.heard(
            said.agent,
            said.event,
            said.payload,
            session_id=said.session_id,
            at=said.at,
            waits=waits,
            listens=listens,
            is_redacted=said.is_redacted,
        )


def told_at(delivery: str | None, now: int) -> int:
    """Returns when a hook was run, in milliseconds. A daemon that hung takes it in later, and its agent has gone on."""
    nanoseconds = (delivery or "").partition("-")[0]
    at = int(nanoseconds) // 1_000_000 if _TIME.fullmatch(nanoseconds) else now
    return at if 0 <= now - at <= _LATE_MS else now


def payload_of(body: bytes) -> dict[str, Any] | None:
    """The object that a hook was given; None for anything else."""
    try:
        payload = json.loads(body.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return payload if isinstance(payload, dict) else None


def unpacked(content: bytes) -> Said | None:
    """A file's content: `maestro-hook 1 AT AGENT EVENT LENGTH SESSION`, a line end, the payload. None when torn."""
    head, found, body = content.partition(b"\n")
    words = head.decode("utf-8", "replace").split(" ")
    if not found or len(words) != 7 or words[:2] != ["maestro-hook", "1"]:
        return None
    _, _, at, agent, event, length, session = words
    payload = payload_of(body)
    if (
        payload is None
        or length != str(len(body))
        or not (at.isascii() and at.isdecimal() and agent and event)
    ):
        return None
    return Said(agent, event, payload, session or None, int(at[:15]), is_redacted=True)


def _content(path: str) -> bytes:
    """Empty for what is no file, or cannot be read, or is longer than a hook writes."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return b""
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LONGEST_FILE:
            return b""
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read()
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError as error:
        _log.warning("not removed", path=path, error=str(error))


def _remove_unfinished(path: str) -> None:
    """What a killed hook left; one that is at work is younger."""
    try:
        if time.time() - os.lstat(path).st_mtime > _UNFINISHED_SECONDS:
            os.unlink(path)
    except OSError:
        pass
