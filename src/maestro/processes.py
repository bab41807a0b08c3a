"""What the system knows of processes. The Linux-only calls live here, each with its fallback."""

from __future__ import annotations

import os
import select
import signal
import socket
import struct
import time
from collections.abc import Callable, Container, Iterator, Mapping
from typing import Final, NamedTuple

_MOST_REAPED: Final = 100_000
_LINUX = os.uname().sysname == "Linux"
_SET_CHILD_SUBREAPER: Final = 36  # PR_SET_CHILD_SUBREAPER of Linux's prctl
# The umask from before `close_to_others`; -1, which subprocess reads as "the same as mine", where that was not called.
_umask_of_user = -1
_boot: str | None = None


class ProcessId(NamedTuple):
    """One process of this machine. A pid alone is given to others later, and start times begin anew at every boot."""

    pid: int
    started: int  # in the kernel's ticks
    boot: str

    @property
    def is_complete(self) -> bool:
        """Whether it can name one process only. What is missing or impossible fits nothing."""
        return self.pid > 1 and self.started > 0 and bool(self.boot)


def boot_id() -> str:
    """Changes at every boot, so that a pid from before it is never mistaken for one of today."""
    global _boot  # noqa: PLW0603 - a process lives in one boot
    if _boot is None:
        try:
            with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
                _boot = file.read().strip()
        except OSError:
            _boot = ""
    return _boot


def identify(pid: int) -> ProcessId | None:
    """Returns the process that has this pid now; None when there is none."""
    started = start_time(pid)
    return None if started is None else ProcessId(pid, started, boot_id())


def recorded(record: Mapping[str, object]) -> ProcessId | None:
    """Returns the process that a record of ours names; None unless the record has all that tells it from others."""
    pid, started, boot = record.get("pid"), record.get("started"), record.get("boot")
    if type(pid) is not int or type(started) is not int or type(boot) is not str:
        return None
    found = ProcessId(pid, started, boot)
    return found if found.is_complete else None


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
    return (words for _, words in foreground_group(pid))


def foreground_group(pid: int) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yields pid and command line of each process in the group that has this process's terminal, its leader first."""
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
            yield member, tuple(words.removesuffix("\0").split("\0"))
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


def has_read_input(pid: int) -> bool | None:
    """Whether whoever has this process's terminal has read all that was typed there, and waits for more.

    A program that was stopped, or gets no processor, has not: what its terminal shows is old. None where the system
    does not tell.
    """
    fields = _stat_fields(pid) if _LINUX else None
    path = _terminal(int(fields[4])) if fields else None
    if fields is None or path is None:
        return None
    try:
        terminal = os.open(path, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if _unread(terminal):
            return False
    except OSError:
        return None
    finally:
        os.close(terminal)
    group = [int(name) for name in os.listdir("/proc") if name.isdecimal() and _group_of(name) == fields[5]]
    states = [state for member in group for state in _thread_states(member)]
    return bool(states) and all(state == "S" for state in states)


def _terminal(number: int) -> str | None:
    """Returns the path of a pseudo-terminal by its device number."""
    major, minor = os.major(number), os.minor(number)
    if not _FIRST_PTS <= major < _FIRST_PTS + 8:
        return None
    return f"/dev/pts/{(major - _FIRST_PTS) * 256 + minor}"


_FIRST_PTS: Final = 136  # the major number of the first 256 pseudo-terminals


def _unread(terminal: int) -> int:
    import array
    import fcntl
    import termios

    count = array.array("i", [0])
    fcntl.ioctl(terminal, termios.FIONREAD, count)
    return count[0]


def _group_of(pid: str) -> str:
    fields = _words(f"/proc/{pid}/stat").rpartition(") ")[2].split()
    return fields[2] if len(fields) > 2 else ""


def _thread_states(pid: int) -> list[str]:
    """Returns the state of each thread: S sleeps, R runs or would, T was stopped, D waits for a device."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    stats = (_words(f"/proc/{pid}/task/{thread}/stat") for thread in threads)
    return [stat.rpartition(") ")[2][0] for stat in stats if stat]


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


def is_same(process: ProcessId) -> bool:
    """Whether this very process still lives: not another one that got its pid. Without all three, it is nobody."""
    return process.is_complete and identify(process.pid) == process


def is_stopped(pid: int) -> bool:
    """Whether a signal or a debugger holds it; False where the system does not tell."""
    fields = _stat_fields(pid) if _LINUX else None
    return fields is not None and fields[0] in {"T", "t"}


def writes_to(pid: int, path: str) -> bool:
    """Whether the process has this very file open to write: a proof that no copied or invented record can bring."""
    try:
        wanted = os.stat(path, follow_symlinks=False)
    except OSError:
        return False
    for number in _open_to_write(pid):
        try:
            found = os.stat(f"/proc/{pid}/fd/{number}")
        except OSError:
            continue
        if (found.st_dev, found.st_ino) == (wanted.st_dev, wanted.st_ino):
            return True
    return False


def files_written(pid: int) -> set[str]:
    """Returns the files that the process, or one below it, has open to write; none where the system does not tell.

    What has left its terminal serves others too, as daemons do: its files are not counted.
    """
    paths: set[str] = set()
    waiting, own = [pid], _stat_fields(pid) if _LINUX else None
    for _ in range(_MOST_BELOW):
        if not waiting:
            break
        member = waiting.pop(0)
        fields = _stat_fields(member)
        if own is None or fields is None or fields[3] != own[3]:
            continue
        for number in _open_to_write(member):
            try:
                paths.add(os.readlink(f"/proc/{member}/fd/{number}"))
            except OSError:
                continue
        try:
            threads = os.listdir(f"/proc/{member}/task")
        except OSError:
            continue
        for thread in threads:
            waiting += map(int, _words(f"/proc/{member}/task/{thread}/children").split())
    return {path for path in paths if path.startswith("/") and not path.startswith("/dev/")}


_MOST_BELOW = 64


def _open_to_write(pid: int) -> Iterator[str]:
    """Yields the numbers of the descriptors that the process may write to."""
    try:
        descriptors = os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return
    for number in descriptors:
        flags = _words(f"/proc/{pid}/fdinfo/{number}").partition("flags:")[2].split()[:1]
        if flags and int(flags[0], 8) & os.O_ACCMODE != os.O_RDONLY:
            yield number


def started_at(pid: int) -> int | None:
    """Returns when the process started, in milliseconds since 1970; None where the system does not tell."""
    ticks = start_time(pid) if _LINUX else None
    if ticks is None:
        return None
    age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    return int((time.time() - age) * 1000)


def folder(pid: int) -> str | None:
    """Returns the working directory of a process; None where the system does not tell."""
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return None


def command_lines() -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yields pid and command line of every process that the system lets us see."""
    try:
        names = os.listdir("/proc")
    except OSError:
        return
    for name in names:
        words = _words(f"/proc/{name}/cmdline") if name.isdecimal() else ""
        if words:
            yield int(name), tuple(words.removesuffix("\0").split("\0"))


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


def send_signal(
    process: ProcessId, number: signal.Signals, is_ours: Callable[[int], bool] | None = None
) -> bool:
    """Signals exactly this process, by a descriptor that no other process can get.

    Returns False, and signals nobody, when it is gone, when the identity is not complete, or when `is_ours` denies it.
    """
    if not process.is_complete:
        return False
    try:
        descriptor = os.pidfd_open(process.pid)
    except (AttributeError, OSError):
        return False
    try:
        if not is_same(process) or (is_ours is not None and not is_ours(process.pid)):
            return False
        signal.pidfd_send_signal(descriptor, number)
    except ProcessLookupError:
        return False
    finally:
        os.close(descriptor)
    return True


def adopt_orphans(*, wanted: bool) -> bool:
    """Makes processes below this one its children when they lose their parent ("subreaper"), or the system's first
    process's again. Returns whether they are this one's now; always False where there is no such thing."""
    import ctypes  # takes longer to import than most commands run

    try:
        return bool(ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, int(wanted), 0, 0, 0) == 0) and wanted
    except (AttributeError, OSError):
        return False


def reap_adopted(spared: Container[int]) -> None:
    """Reaps children that have ended and that this process did not start: nobody else ever would.

    They are known by their session, since whatever this process starts and waits for is in its own, or is `spared`.
    """
    try:
        # The kernel tells of one child that has ended; where it is not to be reaped, others may stand behind it.
        for _ in range(_MOST_REAPED):
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if ended is None:
                return
            if not _reap_adopted(ended.si_pid, spared):
                break
    except ChildProcessError:
        return
    for pid in children():
        _reap_adopted(pid, spared)


def _reap_adopted(pid: int, spared: Container[int]) -> bool:
    try:
        return pid not in spared and os.getsid(pid) != os.getsid(0) and os.waitpid(pid, os.WNOHANG)[0] == pid
    except (ChildProcessError, ProcessLookupError):
        return True  # somebody else did


def has_children() -> bool:
    """Whether this process has any child, running or not reaped. The kernel answers at once, however many there are."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def children() -> list[int]:
    """Returns the children of this process, those included that have ended and were not reaped."""
    listed = listed_children()
    if listed is not None or not _LINUX:
        return listed or []
    own = str(os.getpid())
    stats = {name: _words(f"/proc/{name}/stat") for name in os.listdir("/proc") if name.isdecimal()}
    return [int(name) for name, stat in stats.items() if stat.rpartition(") ")[2].split()[1:2] == [own]]


def listed_children() -> list[int] | None:
    """Returns the children of this process from the kernel's own list of them; None where it has none."""
    pids: list[int] = []
    try:
        for thread in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{thread}/children", encoding="ascii") as file:
                pids += map(int, file.read().split())
    except OSError:
        return None
    return pids


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
