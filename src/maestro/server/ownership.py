"""Tells a daemon that its home is no longer its own: removed, renamed, replaced, or without its socket.

Nobody can reach such a daemon, and while it lives it keeps a lock and a ledger that nobody sees. It ends then. The
agents in its fleets go on: their work is worth more than a tidy list of processes, and a tmux server whose socket
was removed makes it again on SIGUSR1.
"""

from __future__ import annotations

import asyncio
import os
from typing import NamedTuple

from maestro.home import Home

# Three calls of the system each time: an idle daemon spends about a hundredth of a percent of a core on them.
_LOOK_SECONDS = 2.0
# A loss counts when it is seen twice: a home may be moved away and back.
_AGAIN_SECONDS = 1.0


class _Identity(NamedTuple):
    """Which file or folder this is, whatever its name."""

    device: int
    inode: int


class Ownership:
    """The home as it was when the daemon had its lock and its socket in it."""

    def __init__(self, home: Home, lock: int) -> None:
        """`lock`: the descriptor of the daemon's lock, which it holds."""
        # As long as they are open, no other file or folder gets their inodes.
        self._held = [_hold(path) for path in (home.root, home.socket)]
        status = os.fstat(lock)
        self._marks = (
            ("home", home.root, _identity_of(home.root)),
            ("lock", home.daemon_lock, _Identity(status.st_dev, status.st_ino)),
            ("socket", home.socket, _identity_of(home.socket)),
        )

    def lost(self) -> str:
        """Returns "home", "lock" or "socket", whichever is gone or another one's; nothing while all is ours.

        A path that cannot be looked at now, for lack of permission or of a network, is not lost.
        """
        for name, path, ours in self._marks:
            try:
                now = _identity_of(path)
            except OSError:
                continue
            if now is None or now != ours:
                return name
        return ""

    async def until_lost(self) -> str:
        """Waits until something is lost for good, and returns its name."""
        while True:
            if self.lost():
                await asyncio.sleep(_AGAIN_SECONDS)
                if name := self.lost():
                    return name
            await asyncio.sleep(_LOOK_SECONDS)


def _hold(path: str) -> int | None:
    try:
        return os.open(path, getattr(os, "O_PATH", os.O_RDONLY) | os.O_CLOEXEC)
    except OSError:
        return None


def _identity_of(path: str) -> _Identity | None:
    try:
        status = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return _Identity(status.st_dev, status.st_ino)
