"""What the system knows of processes. The Linux-only calls live here, each with its fallback."""

from __future__ import annotations

import os
import select
import signal
import socket
import struct
import time
from collections.abc import Iterator

_LINUX = os.uname().sysname == "Linux"
# The umask from before `close_to_others`; -1, which subprocess reads as "the same as mine", where that was not called.
_umask_of_user = -1


def boot_id() -> str:
    """Changes at every boot, so that a pid from before it is never mistaken for one of today."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


def close_to_others() -> None:
    """Makes every file of this process private from now on. What it starts for the user takes `umask_of_user`."""
    global _umask_of_user  # noqa: PLW0603 - a process has one umask
    before = os.umask(0o077)
    _umask_of_user = before if _umask_of_user == -1 else _umask_of_user


def umask_of_user() -> int:
    """Returns the umask for programs that write the user's own files: agents, git."""
    return _umask_of_user


def start_time(pid: int) -> int | None:
    """When the process started, in the kernel's ticks; None when there is no such process."""
    if _LINUX:
        fields = _stat_fields(pid)
        return int(fields[19]) if fields else None
    return 0 if exists(pid) else None


def parent(pid: int) -> int | None:
    if not _LINUX:
        return os.getppid() if pid == os.getpid() else None
    fields = _stat_fields(pid)
    return int(fields[1]) if fields else None


def ancestry(pid: int, limit: int = 64) -> list[tuple[int, int]]:
    """(pid, start time) of the process and of its parents, nearest first."""
    chain: list[tuple[int, int]] = []
    current: int | None = pid
    while current and current > 1 and len(chain) < limit:
        fields = _stat_fields(current) if _LINUX else None
        if fields is None:
            break
        chain.append((current, int(fields[19])))
        current = int(fields[1])
    return chain


def foreground(pid: int) -> tuple[str, ...] | None:
    """The command line of whoever has the terminal that this process lives in; None where it cannot be told."""
    return next(in_foreground(pid), None)


def in_foreground(pid: int) -> Iterator[tuple[str, ...]]:
    """The command lines of the group that has this process's terminal: of its leader first, then of what it started
    in the same group, as a shell that was given one command does."""
    fields = _stat_fields(pid) if _LINUX else None
    if fields is None or int(fields[5]) <= 0:
        return
    group, waiting = fields[5], [int(fields[5])]
    for _ in range(_MOST_IN_FRONT):
        if not waiting:
            return
        member = waiting.pop(0)
        own = _stat_fields(member)
        if own is None or own[2] != group:
            continue
        words = _words(f"/proc/{member}/cmdline")
        if words:
            yield tuple(words.removesuffix("\0").split("\0"))
        waiting += map(int, _words(f"/proc/{member}/task/{member}/children").split())


_MOST_IN_FRONT = 16


def _words(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""


def has_foreground(pid: int) -> bool | None:
    """Whether the process itself, or its group, has its terminal."""
    fields = _stat_fields(pid) if _LINUX else None
    return None if fields is None else fields[5] == fields[2]


def variable(pid: int, name: str) -> str | None:
    """What a variable was when the process started; None where it has none, or the system does not tell."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            content = file.read()
    except OSError:
        return None
    prefix = f"{name}=".encode()
    for line in content.split(b"\0"):
        if line.startswith(prefix):
            return line.removeprefix(prefix).decode("utf-8", "replace")
    return None


def exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def is_same(pid: int, started: int, boot: str) -> bool:
    """Whether this very process still lives: not another one that got its pid."""
    if boot and boot_id() and boot != boot_id():
        return False
    now = start_time(pid)
    return now is not None and started in {0, now}


def wait_for_end(pid: int, timeout: float) -> bool:
    """Wait until the process, which need not be a child, has ended. True when it has."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    except (AttributeError, OSError):
        return _poll_for_end(pid, timeout)
    try:
        poller = select.poll()
        poller.register(descriptor, select.POLLIN)
        return bool(poller.poll(max(0, int(timeout * 1000))))
    finally:
        os.close(descriptor)


def send_signal(pid: int, started: int, boot: str, number: signal.Signals) -> bool:
    """Signal exactly this process; False when it is gone."""
    if not is_same(pid, started, boot):
        return False
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


def peer_of(connection: socket.socket) -> tuple[int, int] | None:
    """(pid, uid) of the process at the other end of a Unix socket; None where the system does not tell."""
    if not hasattr(socket, "SO_PEERCRED"):
        return None
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    pid, uid, _gid = struct.unpack("3i", raw)
    return pid, uid


def _stat_fields(pid: int) -> list[str] | None:
    """Fields of /proc/PID/stat from the third on: the second may hold spaces and brackets."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            text = file.read()
    except OSError:
        return None
    fields = text[text.rindex(")") + 2 :].split()
    # A zombie has ended; only its parent has not noticed.
    return None if fields[0] in {"Z", "X"} else fields


def _poll_for_end(pid: int, timeout: float) -> bool:
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        if not exists(pid):
            return True
        time.sleep(0.02)
    return not exists(pid)
