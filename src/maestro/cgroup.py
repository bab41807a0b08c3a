"""Keeps the processes of a run in a control group of their own, where the kernel lets this user make one.

A process cannot leave its group by `setsid`, by a cleared environment or by losing its parent, and the kernel ends a
whole group at once, however fast its members fork. A program enters its group just after its start; what it forks in
that first moment is known by the run's mark alone. Linux 5.14 with cgroup v2 and a writable folder is needed: a
desktop's terminal most often has that, a login by ssh most often not. Everything here does nothing where it is not.
"""

from __future__ import annotations

import hashlib
import os
import select
import time
from functools import cache
from typing import Final, NamedTuple

_PREFIX: Final = "maestro-run-"


class Group(NamedTuple):
    folder: str

    def add(self, pid: int) -> bool:
        """Moves a process into the group; what it starts from then on is in it, too."""
        return _write(os.path.join(self.folder, "cgroup.procs"), str(pid))

    def end(self, seconds: float) -> tuple[int, ...]:
        """Kills every member at once, those of groups below included, and waits for their end.

        Returns the pids that are left after `seconds`.
        """
        deadline = time.monotonic() + seconds
        watched: dict[int, int] = {}
        try:
            self._watch(watched)
            if not _write(os.path.join(self.folder, "cgroup.kill"), "1"):
                return ()
            # What was forked meanwhile was killed, too. A group counts a process out before it has quite ended.
            self._watch(watched)
            return tuple(
                sorted(pid for pid, descriptor in watched.items() if not _has_ended(descriptor, deadline))
            )
        finally:
            for descriptor in watched.values():
                os.close(descriptor)

    def _watch(self, watched: dict[int, int]) -> None:
        for pid in self._members():
            if pid not in watched:
                try:
                    watched[pid] = os.pidfd_open(pid)
                except OSError:
                    pass  # it has ended

    def _members(self) -> tuple[int, ...]:
        pids: list[int] = []
        for folder, _, _ in os.walk(self.folder):
            try:
                with open(os.path.join(folder, "cgroup.procs"), encoding="ascii") as file:
                    pids += map(int, file.read().split())
            except OSError:
                pass  # a group below was just removed
        return tuple(sorted(pids))

    def remove(self) -> None:
        """Removes the group and those below it, as far as they have no members."""
        for folder, _, _ in os.walk(self.folder, topdown=False):
            try:
                os.rmdir(folder)
            except OSError:
                pass  # a member would not end


def make(mark: str) -> Group | None:
    """Makes the group of a run below this process's own; None where that is not possible."""
    group = find(mark)
    if group is None:
        return None
    try:
        os.mkdir(group.folder, 0o700)
    except FileExistsError:
        return group
    except OSError:
        return None
    if os.path.exists(os.path.join(group.folder, "cgroup.kill")):
        return group
    group.remove()
    return None


def find(mark: str) -> Group | None:
    """Returns the group that `make` makes for this run, whether it is there or not."""
    own = _own_folder()
    if own is None:
        return None
    return Group(os.path.join(own, _PREFIX + hashlib.sha256(mark.encode()).hexdigest()[:24]))


def leave(pid: int) -> None:
    """Moves a process out of every run's group: the daemon, and what is detached, outlive the run that started them."""
    path = _path_of(pid)
    mount = _mount()
    if path is None or mount is None:
        return
    parts = path.split("/")
    inside = next((n for n, part in enumerate(parts) if part.startswith(_PREFIX)), None)
    if inside is not None:
        _write(os.path.join(mount, *parts[:inside], "cgroup.procs"), str(pid))


@cache
def _own_folder() -> str | None:
    path, mount = _path_of(os.getpid()), _mount()
    if path is None or mount is None:
        return None
    folder = os.path.join(mount, path)
    return folder if os.access(folder, os.W_OK) else None


def _path_of(pid: int) -> str | None:
    """Returns the group of a process, relative to the mount point."""
    try:
        with open(f"/proc/{pid}/cgroup", encoding="utf-8", errors="surrogateescape") as file:
            paths = [line.rstrip("\n").removeprefix("0::/") for line in file if line.startswith("0::/")]
    except OSError:
        return None
    # Outside of this namespace's own part of the tree, the kernel writes `/..`.
    return paths[0] if paths and not paths[0].startswith("..") else None


@cache
def _mount() -> str | None:
    """Returns where the whole tree of groups is mounted."""
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
            for line in file:
                place, _, kind = line.partition(" - ")
                fields = place.split()
                if kind.startswith("cgroup2 ") and fields[3] == "/":
                    return fields[4]
    except (OSError, IndexError):
        pass
    return None


def _has_ended(descriptor: int, deadline: float) -> bool:
    poller = select.poll()
    poller.register(descriptor, select.POLLIN)
    return bool(poller.poll(max(0, int((deadline - time.monotonic()) * 1000))))


def _write(path: str, text: str) -> bool:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        os.write(descriptor, text.encode())
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
