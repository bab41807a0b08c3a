"""Ends everything that a session, or a headless run, has started, and makes sure that it is gone.

A process belongs to a session if it descends from the session's first process, shares its terminal session, or has
the session's id in its environment: one that has left its parent and its group by `setsid` keeps the id. What is
said of sessions here holds for runs, by another variable; a run that was started inside another has both ids in it,
with a slash between them. A process is known by its pid and start time, and is signalled by a pidfd that was opened before the start time was read: a
stranger that got an old pid is never hit.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, Self

from maestro.errors import TimedOut

MARKER = "MAESTRO_SESSION_ID"
RUN_MARKER = "MAESTRO_RUN_ID"
GRACE_SECONDS = 5.0
KILL_SECONDS = 5.0
_LOOKS = 30
_PAUSE_SECONDS = 0.01  # between looks: where processes come and go, they do so for a while
# A process that is just becoming another program has no environment for a moment; later, it has none of its own.
_BECOMING = ""
_YOUNG_SECONDS = 2.0
_TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


class ProcessId(NamedTuple):
    pid: int
    started: int  # in the kernel's ticks


class _Seen(NamedTuple):
    id: ProcessId
    parent: int
    group: int
    session: int
    marker: str | None  # the session that its environment names, if any


class _Look(NamedTuple):
    processes: dict[int, _Seen]
    is_steady: bool  # no process ended while we looked


def members(
    root: ProcessId | None,
    session_id: str,
    spared: frozenset[int] = frozenset(),
    known: Iterable[ProcessId] = (),
    *,
    variable: str = MARKER,
) -> set[ProcessId]:
    """Every live process of the session, and what those that are known to be its own have started.

    This process, those spared, and other sessions' are never among them.
    """
    return _members(_look(variable), root, session_id, spared, known)


def _members(
    look: _Look,
    root: ProcessId | None,
    session_id: str,
    spared: frozenset[int],
    known: Iterable[ProcessId],
) -> set[ProcessId]:
    seen = look.processes
    spared = spared | {os.getpid()}
    at_root = seen.get(root.pid) if root else None
    terminal = root.pid if root and at_root and at_root.id == root and at_root.session == root.pid else None
    markers = {pid: process.marker for pid, process in seen.items() if pid not in spared}
    children: dict[int, list[int]] = {}
    for process in seen.values():
        children.setdefault(process.parent, []).append(process.id.pid)
    first = {pid for pid, marker in markers.items() if _names(marker, session_id)}
    first |= {p.pid for p in (root, *known) if p and p.pid in markers and seen[p.pid].id == p}
    if terminal:
        first |= {pid for pid, marker in markers.items() if not marker and seen[pid].session == terminal}
    found: set[int] = set()
    pending = list(first)
    while pending:
        pid = pending.pop()
        if pid not in found:
            found.add(pid)
            # Below a process with another session's id, everything is that session's.
            pending += [c for c in children.get(pid, ()) if c in markers and _is_of(markers[c], session_id)]
    return {seen[pid].id for pid in found}


def end_tree(
    root: ProcessId | None,
    session_id: str,
    *,
    grace: float = GRACE_SECONDS,
    graceful: signal.Signals = signal.SIGTERM,
    spared: frozenset[int] = frozenset(),
    also: Iterable[ProcessId] = (),
    variable: str = MARKER,
) -> set[ProcessId]:
    """End the session's processes and return all that were ended; TimedOut names those that would not.

    First the root's group is asked by `graceful`; whatever is left after `grace` seconds, or after the root has
    ended, is killed, and so is what it started meanwhile. `also`: processes that are known to be the session's.
    """
    known = members(root, session_id, spared, also, variable=variable)
    with _Watched() as watched:
        watched.add(known)
        if root is not None and root in watched and grace > 0:
            asked = _ask(root, watched, graceful)
            watched.wait(time.monotonic() + grace, until=lambda: asked.isdisjoint(watched))
        deadline = time.monotonic() + KILL_SECONDS
        while True:
            look = _look(variable)
            found = _members(look, root, session_id, spared, known)
            watched.add(found)
            watched.kill()
            known |= found
            watched.wait(min(deadline, time.monotonic() + 1.0), until=lambda: not watched)
            left = _left(root, session_id, spared, known, variable, _strangers(look, found))
            if not left:
                return known
            if time.monotonic() >= deadline:
                pids = sorted(process.pid for process in left)
                raise TimedOut(
                    f"These processes of {session_id} did not end: {', '.join(map(str, pids))}.",
                    hint="They wait for the kernel, most often for a disk or a network share. Try again later.",
                    pids=pids,
                )


def _left(
    root: ProcessId | None,
    session_id: str,
    spared: frozenset[int],
    known: Iterable[ProcessId],
    variable: str,
    strangers: Mapping[int, _Seen],
) -> set[ProcessId]:
    """What is alive of the session after all that was known of it has ended.

    A process that ends between being listed and being read may have been one of the session, with a child that the
    list does not have yet. So nothing found counts only if nothing ended meanwhile; on a busy machine, after many looks.
    Each looks only at what the one before it could not have judged: new processes and young ones. To read all of them
    again and again would keep a machine busy on which many sessions end.
    """
    for _ in range(_LOOKS):
        look = _look(variable, strangers)
        left = _members(look, root, session_id, spared, known)
        if left or look.is_steady:
            return left
        strangers = _strangers(look, left)
        time.sleep(_PAUSE_SECONDS)
    return set()


def _strangers(look: _Look, members: set[ProcessId]) -> dict[int, _Seen]:
    """Processes that are none of the session, and old enough to stay so."""
    return {
        pid: seen for pid, seen in look.processes.items() if seen.id not in members and not _is_young(seen.id)
    }


class _Watched:
    """Live processes, each by a pidfd, so that its end is noticed and no other process is ever meant."""

    def __init__(self) -> None:
        self._descriptors: dict[ProcessId, int] = {}
        self._poller = select.poll()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for descriptor in self._descriptors.values():
            os.close(descriptor)

    def __iter__(self) -> Iterator[ProcessId]:
        return iter(self._descriptors)

    def __contains__(self, process: object) -> bool:
        return process in self._descriptors

    def __len__(self) -> int:
        return len(self._descriptors)

    def add(self, processes: Iterable[ProcessId]) -> None:
        for process in processes:
            if process not in self._descriptors:
                try:
                    descriptor = os.pidfd_open(process.pid)
                except ProcessLookupError:
                    continue
                current = _process(process.pid)
                if current is None or current.id != process:
                    os.close(descriptor)
                    continue
                self._descriptors[process] = descriptor
                self._poller.register(descriptor, select.POLLIN)

    def signal(self, process: ProcessId, number: signal.Signals) -> None:
        try:
            signal.pidfd_send_signal(self._descriptors[process], number)
        except (ProcessLookupError, PermissionError):
            pass  # it has ended; or it became another user's, and is then told as left

    def kill(self) -> None:
        for process in self._descriptors:
            self.signal(process, signal.SIGKILL)

    def wait(self, deadline: float, until: Callable[[], bool]) -> None:
        """Wait for ends until `until` is true or time is up."""
        while not until():
            left = deadline - time.monotonic()
            ended = self._poller.poll(max(0, int(left * 1000)))
            by_descriptor = {descriptor: process for process, descriptor in self._descriptors.items()}
            for descriptor, _ in ended:
                self._poller.unregister(descriptor)
                os.close(descriptor)
                del self._descriptors[by_descriptor[descriptor]]
            if not ended and left <= 0:
                return


def _ask(root: ProcessId, watched: _Watched, number: signal.Signals) -> set[ProcessId]:
    """Signal the group that the root leads, the root first: each by its own pidfd, never by the group's number."""
    asked = set()
    for process in sorted(watched, key=lambda process: process != root):
        current = _process(process.pid)
        if process == root or (current and current.id == process and current.group == root.pid):
            watched.signal(process, number)
            asked.add(process)
    return asked


def _names(marker: str | None, session_id: str) -> bool:
    return marker is not None and session_id in marker.split("/")


def _is_of(marker: str | None, session_id: str) -> bool:
    return not marker or _names(marker, session_id)


def _look(variable: str, judged: Mapping[int, _Seen] | None = None) -> _Look:
    """Every process; those that are `judged` are not read again."""
    processes: dict[int, _Seen] = {}
    is_steady = True
    # The newest first: it is the most likely to be gone soon.
    for pid in sorted((int(name) for name in os.listdir("/proc") if name.isdecimal()), reverse=True):
        if judged and pid in judged:
            processes[pid] = judged[pid]
            continue
        try:
            process = _read(pid, variable)
        except (FileNotFoundError, ProcessLookupError):
            is_steady = False
            continue
        if process is not None:
            processes[pid] = process
            is_steady = is_steady and not (process.marker == _BECOMING and _is_young(process.id))
    return _Look(processes, is_steady)


def _is_young(process: ProcessId) -> bool:
    ticks = time.clock_gettime(time.CLOCK_BOOTTIME) * _TICKS_A_SECOND
    return ticks - process.started < _YOUNG_SECONDS * _TICKS_A_SECOND


def _process(pid: int) -> _Seen | None:
    """What the kernel tells of a process; None when it has ended."""
    try:
        return _read(pid, None)
    except (FileNotFoundError, ProcessLookupError):
        return None


def _read(pid: int, variable: str | None) -> _Seen | None:
    """What its environment says is only looked for if there is a variable to look for. None for a process that has ended, only its parent has not noticed."""
    with open(f"/proc/{pid}/stat", "rb") as file:
        stat = file.read()
    state, *fields = stat[stat.rindex(b")") + 2 :].split()
    if state in {b"Z", b"X"}:
        return None
    return _Seen(
        ProcessId(pid, int(fields[18])),
        int(fields[0]),
        int(fields[1]),
        int(fields[2]),
        _marker(pid, variable) if variable else None,
    )


def _marker(pid: int, name: str) -> str | None:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            content = file.read()
    except PermissionError:
        return None  # another user's, or one that hides itself: its parents tell whose it is
    if not content:
        return _BECOMING
    prefix = f"{name}=".encode()
    for variable in content.split(b"\0"):
        if variable.startswith(prefix):
            return variable.removeprefix(prefix).decode("utf-8", "replace")
    return None
