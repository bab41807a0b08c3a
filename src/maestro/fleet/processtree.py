"""Ends every process that a session, or a headless run, has started, and proves that none is left.

A process belongs to a session if it descends from the session's first process, shares its terminal session, or has
the session's id in its environment: one that has left its parent and its group by `setsid` keeps the id. The same
holds for runs, by another variable; a run that was started inside another has both ids in it, with a slash between
them. A process is known by its pid and start time, and is signalled by a pidfd that was opened before the start time
was read: a stranger that got an old pid is never hit.

Listing processes is not atomic. One that ends before it is read may have left a child that the list does not have,
and one that is becoming another program has no environment for a moment. So a session has ended only when two looks
in a row found none of its processes, and could read every process that they listed.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, Self

from maestro.errors import TimedOut
from maestro.processes import ProcessId, boot_id

MARKER = "MAESTRO_SESSION_ID"
RUN_MARKER = "MAESTRO_RUN_ID"
GRACE_SECONDS = 5.0
KILL_SECONDS = 5.0
_HASTY_LOOKS = 20  # looks without a pause that catch a process which forks without one
_PAUSE_SECONDS = 0.001  # between later looks that could not read every process
# Marks a process in the middle of exec: its new program has no environment yet.
_BECOMING = ""
_YOUNG_SECONDS = 2.0  # a process this young may still exec into a program with another environment
_TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
# In /proc/PID/stat:
_KERNEL_THREAD = 0x00200000  # PF_KTHREAD among the flags
_ENDED = frozenset({b"Z", b"X"})  # states


class _Seen(NamedTuple):
    id: ProcessId
    parent: int
    group: int
    session: int
    marker: str | None  # the session that its environment names, if any
    has_ended: bool  # and its parent has not reaped it


class _Look(NamedTuple):
    processes: dict[int, _Seen]
    is_whole: bool  # every listed process could be read


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
    return _members(_Census(variable).look(), root, session_id, spared, known)


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
    census = _Census(variable)
    known = _members(census.look(), root, session_id, spared, also)
    with _Watched() as watched:
        watched.add(known)
        if root is not None and root in watched and grace > 0:
            asked = _ask(root, watched, graceful)
            watched.wait(time.monotonic() + grace, until=lambda: asked.isdisjoint(watched))

        def hunt(process: _Seen) -> None:
            """Kills a process at first sight: the next moment it may have forked and ended."""
            if (
                process.id.pid != os.getpid()
                and process.id.pid not in spared
                and _names(process.marker, session_id)
            ):
                watched.add({process.id})
                watched.kill({process.id})
                known.add(process.id)

        deadline, looks, is_empty = time.monotonic() + KILL_SECONDS, 0, False
        while True:
            # The second of two looks that agree takes nothing from the first.
            look = census.look(anew=is_empty, on_new=hunt)
            found = _members(look, root, session_id, spared, known)
            watched.add(found)
            watched.kill(found)
            known |= found
            looks += 1
            is_late = time.monotonic() >= deadline
            if found:
                if is_late:
                    raise _not_ended(session_id, found)
                watched.wait(min(deadline, time.monotonic() + 1.0), until=lambda: not watched)
                is_empty = False
            elif look.is_whole or is_late:
                # Where processes come and go without a pause, no look may ever be whole.
                if is_empty:
                    break
                is_empty = True
            else:
                is_empty = False
                if looks > _HASTY_LOOKS:
                    time.sleep(_PAUSE_SECONDS)
    return known


def _not_ended(session_id: str, left: set[ProcessId]) -> TimedOut:
    pids = sorted(process.pid for process in left)
    return TimedOut(
        f"These processes of {session_id} did not end: {', '.join(map(str, pids))}.",
        hint="They wait for the kernel, most often for a disk or a network share. Try again later.",
        pids=pids,
    )


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

    def kill(self, processes: Iterable[ProcessId]) -> None:
        for process in processes:
            if process in self._descriptors:
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


class _Census:
    """Looks at every process, and keeps what it read of those that will not change.

    Reading all of them in every look would keep a machine busy on which many sessions end, and would be too slow to
    catch a process that forks without a pause.
    """

    def __init__(self, variable: str) -> None:
        self._variable = variable
        self._kept: dict[int, _Seen] = {}
        self._listed: set[int] = set()

    def look(self, *, anew: bool = False, on_new: Callable[[_Seen], None] | None = None) -> _Look:
        """Lists the processes and reads those that are not kept; with `anew`, checks that the kept ones are the same.

        Calls `on_new` for each live process that the look before did not list, as soon as it is read.
        """
        processes: dict[int, _Seen] = {}
        is_whole = True
        listed = {int(name) for name in os.listdir("/proc") if name.isdecimal()}
        new = listed - self._listed
        self._listed = listed
        # The new ones first: they are the most likely to be gone soon.
        for pid in (*new, *(listed - new)):
            try:
                process = self._read(pid, anew=anew)
            except (FileNotFoundError, ProcessLookupError):
                is_whole = False
                continue
            if not process.has_ended:
                if on_new is not None and pid in new:
                    on_new(process)
                processes[pid] = process
            is_whole = is_whole and process.marker != _BECOMING
        return _Look(processes, is_whole)

    def _read(self, pid: int, *, anew: bool) -> _Seen:
        kept = self._kept.get(pid)
        if kept is not None and not anew:
            return kept
        process = _read(pid)
        if kept is not None and kept.id == process.id and kept.has_ended == process.has_ended:
            return kept
        if process.has_ended:
            # Between being listed and being read it may have forked.
            self._kept[pid] = process
            raise ProcessLookupError(pid)
        process = process._replace(marker=_marker(pid, self._variable))
        if process.marker is None and not _is_young(process.id):
            self._kept[pid] = process
        return process


def _is_young(process: ProcessId) -> bool:
    ticks = time.clock_gettime(time.CLOCK_BOOTTIME) * _TICKS_A_SECOND
    return ticks - process.started < _YOUNG_SECONDS * _TICKS_A_SECOND


def _process(pid: int) -> _Seen | None:
    """Returns the live process without its marker; None when it has ended."""
    try:
        process = _read(pid)
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if process.has_ended else process


def _read(pid: int) -> _Seen:
    """Returns the process without its marker."""
    fields = _stat(pid)
    return _Seen(
        ProcessId(pid, int(fields[19]), boot_id()),
        parent=int(fields[1]),
        group=int(fields[2]),
        session=int(fields[3]),
        marker=None,
        has_ended=fields[0] in _ENDED,
    )


def _stat(pid: int) -> list[bytes]:
    """Returns the fields of /proc/PID/stat from the third on: the second may hold spaces and brackets."""
    with open(f"/proc/{pid}/stat", "rb") as file:
        stat = file.read()
    return stat[stat.rindex(b")") + 2 :].split()


def _marker(pid: int, name: str) -> str | None:
    try:
        content = _environment(pid)
        if not content:
            fields = _stat(pid)
            if int(fields[6]) & _KERNEL_THREAD:
                return None
            if fields[0] in _ENDED:
                raise ProcessLookupError(pid)
            # In the middle of exec, an environment has no place yet; an empty one has.
            if int(fields[48]) == 0:
                return _BECOMING
            content = _environment(pid)  # its exec may have ended between the two reads
    except PermissionError:
        return None  # another user's, or one that hides itself: its parents tell whose it is
    prefix = f"{name}=".encode()
    for variable in content.split(b"\0"):
        if variable.startswith(prefix):
            return variable.removeprefix(prefix).decode("utf-8", "replace")
    return None


def _environment(pid: int) -> bytes:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read()
    except ProcessLookupError:
        # The kernel says so of a process that ends just now, and of its own threads.
        return b""
