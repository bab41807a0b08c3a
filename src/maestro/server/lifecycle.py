"""The daemon as a process, seen from outside: is it there, start it, end it.

The truth of "there is one" is the lock that it holds; its record (pid, start time, boot id) tells which
process that is, so that nothing here ever signals a stranger that got an old pid. Imported by every command:
light imports only.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import sys
import time

from maestro import errors, processes
from maestro import home as homes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

START_SECONDS = 30.0
_TURN_SECONDS = 120.0  # for another command that starts it: three attempts of the length above, and a little
_UNNAMED_SECONDS = 2.0  # that a daemon may take to write its record, or to end after it removed it
_PAUSE_SECONDS = 0.02
_STARTS = 3

# What the daemon, and with it every agent that it starts, may know of the caller's environment. A command
# that an agent's hook runs carries the agent's own variables: those must not reach other sessions.
_PASSED_ON = {
    "HOME",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "MAESTRO_DATABASE_URL",
    "MAESTRO_HOME",
    "PATH",
    "SHELL",
    "TMPDIR",
    "TZ",
    "USER",
}
_PASSED_ON_PREFIXES = ("LC_", "XDG_")


def scrubbed(env: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in env.items()
        if name in _PASSED_ON or name.startswith(_PASSED_ON_PREFIXES)
    }


def read_record(home: homes.Home) -> dict[str, Any] | None:
    """What the daemon wrote of itself when it started; None when there is nothing that can be read."""
    try:
        with open(home.daemon_record, encoding="utf-8") as file:
            record = json.load(file)
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) and isinstance(record.get("pid"), int) else None


def is_alive(record: Mapping[str, Any] | None) -> bool:
    process = processes.recorded(record) if record is not None else None
    return process is not None and processes.is_same(process)


def is_running(home: homes.Home) -> bool:
    """Whether a daemon holds the lock, whatever the record says."""
    try:
        descriptor = os.open(home.daemon_lock, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not _try_lock(descriptor)
    finally:
        os.close(descriptor)


def stopped_pid(home: homes.Home) -> int | None:
    """Returns the daemon's pid where it is stopped, by SIGSTOP or a debugger: it holds its lock and answers nobody."""
    record = read_record(home)
    if record is None or not is_alive(record) or not processes.is_stopped(record["pid"]):
        return None
    return int(record["pid"])


def check_not_stopped(home: homes.Home) -> None:
    pid = stopped_pid(home)
    if pid is not None:
        raise errors.DaemonError(
            f"The daemon (pid {pid}) is stopped, as by SIGSTOP, and answers nobody.",
            hint=f"Let it go on: kill -CONT {pid}. Or end it: maestro server stop --force; the next command starts another.",
        )


def start(home: homes.Home, env: Mapping[str, str], listen: str | None = None) -> None:
    """Start the daemon unless there is one, and return when it answers.

    Concurrent callers queue at the start lock; all but the first find it running.
    """
    homes.check_socket_path(home.socket)
    homes.prepare(home)
    gate = os.open(home.start_lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _await_turn(home, gate)
        _await_end_without_socket(home)
        if not is_running(home):
            _launch_again(home, env, listen or _earlier_listen(home))
    finally:
        os.close(gate)


def _await_turn(home: homes.Home, gate: int) -> None:
    deadline = time.monotonic() + _TURN_SECONDS
    while not _try_lock(gate):
        if time.monotonic() >= deadline:
            raise errors.TimedOut(
                f"Another command starts the daemon and has not come to an end within {_TURN_SECONDS:.0f} s.",
                hint=f"Find it with: fuser {home.start_lock}",
            )
        time.sleep(_PAUSE_SECONDS)


def _await_end_without_socket(home: homes.Home) -> None:
    """Wait for a daemon that nobody can reach: it has lost its socket, and ends by itself when it notices."""
    deadline = time.monotonic() + START_SECONDS
    while is_running(home) and not os.path.exists(home.socket) and time.monotonic() < deadline:
        time.sleep(_PAUSE_SECONDS)


def _launch_again(home: homes.Home, env: Mapping[str, str], listen: str | None) -> None:
    """One that ended without a word was killed before it could answer: another is started, a few times."""
    for left in range(_STARTS - 1, -1, -1):
        try:
            _launch(home, env, listen)
        except errors.DaemonError:
            if left == 0 or _last_line(home.start_log):
                raise
        else:
            return


def _earlier_listen(home: homes.Home) -> str | None:
    """A daemon that died kept its record; the next one listens where it did."""
    record = read_record(home)
    listen = record.get("listen") if record else None
    return listen if isinstance(listen, str) else None


def _launch(home: homes.Home, env: Mapping[str, str], listen: str | None) -> None:
    reader, writer = os.pipe()
    try:
        # -P: a folder of the caller must not pose as one of our packages.
        arguments = [sys.executable, "-P", "-m", "maestro.server", "--home", home.root, "--ready-fd", "3"]
        if listen:
            arguments += ["--listen", listen]
        output = os.open(home.start_log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            pid = os.posix_spawn(
                sys.executable,
                arguments,
                scrubbed(env) | {"MAESTRO_HOME": home.root},
                file_actions=[
                    (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
                    (os.POSIX_SPAWN_DUP2, output, 1),
                    (os.POSIX_SPAWN_DUP2, output, 2),
                    (os.POSIX_SPAWN_DUP2, writer, 3),
                ],
            )
        finally:
            os.close(output)
        os.close(writer)
        writer = -1
        _await_ready(home, reader, pid)
    finally:
        os.close(reader)
        if writer >= 0:
            os.close(writer)


def _await_ready(home: homes.Home, reader: int, pid: int) -> None:
    """The daemon writes one line of JSON when it answers, or when it cannot; at its death the pipe ends."""
    answer = b""
    deadline = time.monotonic() + START_SECONDS
    while not answer.endswith(b"\n"):
        readable, _, _ = select.select([reader], [], [], max(0.0, deadline - time.monotonic()))
        if not readable:
            raise errors.TimedOut(
                f"The daemon (pid {pid}) did not answer within {START_SECONDS:.0f} s.",
                hint=f"See {home.log} and {home.start_log}.",
            )
        part = os.read(reader, 65536)
        if not part:
            raise errors.DaemonError(
                f"The daemon ended before it answered. {_last_line(home.start_log)}".rstrip(),
                hint=f"See {home.start_log} and {home.log}.",
            )
        answer += part
    told = json.loads(answer)
    if "error" in told:
        raise errors.from_wire(503, told)


def stop(home: homes.Home, timeout: float = 30.0, *, force: bool = False) -> bool:
    """End the recorded daemon and wait until it is gone. False when there was none.

    Without `force` it finishes what it accepted. Only the very process that the record names is signalled, and only if
    it holds the daemon's lock.
    """
    number = signal.SIGKILL if force else signal.SIGTERM
    deadline = time.monotonic() + (_UNNAMED_SECONDS if force else timeout)
    is_first = True
    while (process := _signalled(home, number)) is None:
        # One that begins or ends just now has no record. One that was asked to stop ends without a signal.
        if not is_running(home):
            return not is_first
        if time.monotonic() >= deadline:
            raise errors.DaemonError(
                f"A daemon is running, but {home.daemon_record} does not say which process it is: pid, start time and "
                "boot id must be those of the process that holds its lock. Nothing was ended.",
                hint=f"Find it with: fuser {home.daemon_lock}",
            )
        is_first = False
        time.sleep(_PAUSE_SECONDS)
    if not processes.wait_for_end(process.pid, timeout):
        check_not_stopped(home)
        raise errors.TimedOut(
            f"The daemon (pid {process.pid}) is still finishing what it accepted.",
            hint="Wait, or end it now with `maestro server stop --force`.",
        )
    return True


def _signalled(home: homes.Home, number: signal.Signals) -> processes.ProcessId | None:
    """Signals the daemon that the record names, and returns it; None, and nobody is signalled, where it is no daemon."""

    def holds_lock(pid: int) -> bool:
        return is_running(home) and processes.writes_to(pid, home.daemon_lock)

    record = read_record(home)
    process = processes.recorded(record) if record is not None else None
    return process if process is not None and processes.send_signal(process, number, holds_lock) else None


def take_lock(path: str) -> int | None:
    """The daemon's own lock, held until it ends; None when another daemon has it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    if _try_lock(descriptor):
        return descriptor
    os.close(descriptor)
    return None


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _last_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = [line.strip() for line in file if line.strip()]
    except OSError:
        return ""
    return lines[-1] if lines else ""
