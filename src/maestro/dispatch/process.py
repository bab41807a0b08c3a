"""Runs one program to its end, whatever it does: in a session of its own, its output in files, a deadline, and at the
end nothing of it left.

This process adopts what its children leave behind (a "subreaper"), so that one look at its own children tells whether
a run is really over: a look at every process of the machine would cost more than the run of a small program.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Final, Literal, NamedTuple

from maestro import processes
from maestro.errors import InvalidInput, NotFound, TimedOut
from maestro.fleet.processtree import RUN_MARKER, ProcessId, end_tree, members

GRACE_SECONDS: Final = 3.0
_SUBREAPER: Final = 36  # PR_SET_CHILD_SUBREAPER of Linux's prctl

# The programs that run now, by pid: every other child of this process was adopted.
_running: dict[int, str] = {}


class Program(NamedTuple):
    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str
    stdin: str  # paths
    stdout: str
    stderr: str
    mark: str  # in the environment of everything that it starts: unique on this machine


class Ended(NamedTuple):
    how: Literal["exited", "timeout", "cancelled"]
    exit_code: int | None  # None: a signal ended it
    signal: int | None
    survivors: tuple[int, ...] = ()  # pids that even SIGKILL did not end


async def run_program(
    program: Program, *, seconds: float, cancel: asyncio.Event, grace: float = GRACE_SECONDS
) -> Ended:
    """Run it until it ends, its time is up, or `cancel` is set; then end whatever it has started."""
    _adopt_orphans()
    child = _spawn(program)
    _running[child.pid] = program.mark
    try:
        how = await _first_end(child, seconds, cancel)
        survivors = () if how == "exited" else await _end(child, program.mark, grace)
    except asyncio.CancelledError:
        await asyncio.shield(_end(child, program.mark, grace))
        raise
    finally:
        code = child.poll() if _has_ended(child) else None
        del _running[child.pid]
    survivors += await _end_leftovers(program.mark)
    if code is None:
        return Ended(how, None, None, survivors)
    return Ended(how, None if code < 0 else code, -code if code < 0 else None, survivors)


def marked(env: Mapping[str, str], mark: str) -> dict[str, str]:
    """The environment by which everything that a run starts is known to be its own."""
    outer = env.get(RUN_MARKER)
    return dict(env) | {RUN_MARKER: f"{outer}/{mark}" if outer else mark}


def _spawn(program: Program) -> subprocess.Popen[bytes]:
    if not program.argv or any("\0" in word for word in (*program.argv, *program.env, *program.env.values())):
        raise InvalidInput("A program cannot be started with a NUL character in its words or variables.")
    descriptors = [os.open(program.stdin, os.O_RDONLY | os.O_CLOEXEC)]
    try:
        descriptors += [_open_output(program.stdout), _open_output(program.stderr)]
        return subprocess.Popen(
            program.argv,
            env=program.env,
            cwd=program.cwd,
            stdin=descriptors[0],
            stdout=descriptors[1],
            stderr=descriptors[2],
            start_new_session=True,
        )
    except (FileNotFoundError, NotADirectoryError, PermissionError) as error:
        raise NotFound(
            f"{program.argv[0]} cannot be started in {program.cwd}: {error.strerror}.",
            hint="Check that it is installed and on PATH, and that the folder is there.",
        ) from error
    except OSError as error:
        raise InvalidInput(f"{program.argv[0]} cannot be started: {error.strerror}.") from error
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def _open_output(path: str) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)


async def _first_end(
    child: subprocess.Popen[bytes], seconds: float, cancel: asyncio.Event
) -> Literal["exited", "timeout", "cancelled"]:
    ended = asyncio.ensure_future(_exit(child.pid))
    cancelled = asyncio.ensure_future(cancel.wait())
    try:
        await asyncio.wait({ended, cancelled}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if ended.done():
            return "exited"
        return "cancelled" if cancelled.done() else "timeout"
    finally:
        ended.cancel()
        cancelled.cancel()


async def _exit(pid: int) -> None:
    """Return when the child has ended. It is not reaped here, so that its pid stays its own."""
    loop = asyncio.get_running_loop()
    try:
        descriptor = os.pidfd_open(pid)
    except (AttributeError, OSError):
        await loop.run_in_executor(_threads(), os.waitid, os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        return
    ended: asyncio.Future[None] = loop.create_future()
    loop.add_reader(descriptor, _settle, ended)
    try:
        await ended
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


def _settle(ended: asyncio.Future[None]) -> None:
    if not ended.done():
        ended.set_result(None)


async def _end(child: subprocess.Popen[bytes], mark: str, grace: float) -> tuple[int, ...]:
    """End the child and everything that it has started; the pids that would not go."""
    started = processes.start_time(child.pid)
    root = None if started is None else ProcessId(child.pid, started)
    return await _end_all(mark, root, (), grace)


async def _end_leftovers(mark: str) -> tuple[int, ...]:
    """What a program has left running behind it is ended, too: a run that is over costs nothing more."""
    orphans = _orphans_of(mark)
    if not orphans:
        return ()
    return await _end_all(mark, None, orphans, 0.0)


def _reap(ended: Iterable[ProcessId]) -> None:
    """Take leave of what we adopted: what nobody waits for stays in the list of processes for ever."""
    for process in ended:
        if process.pid not in _running:
            try:
                os.waitpid(process.pid, os.WNOHANG)
            except ChildProcessError:
                pass  # its own parent did


async def _end_all(
    mark: str, root: ProcessId | None, also: tuple[ProcessId, ...], grace: float
) -> tuple[int, ...]:
    def end() -> tuple[int, ...]:
        try:
            _reap(end_tree(root, mark, grace=grace, also=also, variable=RUN_MARKER))
        except TimedOut as error:
            return tuple(error.context["pids"])
        return ()

    return await asyncio.get_running_loop().run_in_executor(_threads(), end)


def _has_ended(child: subprocess.Popen[bytes]) -> bool:
    """Whether it can be reaped without waiting for it."""
    return child.returncode is not None or processes.start_time(child.pid) is None


@cache
def _threads() -> ThreadPoolExecutor:
    """Ending waits for processes; many runs may end at once, and none shall wait for another's."""
    return ThreadPoolExecutor(max_workers=256, thread_name_prefix="ending")


@cache
def _adopt_orphans() -> bool:
    """Whether processes that lose their parent become children of this one. Linux only; once for the process."""
    try:
        return bool(ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0) == 0)
    except (AttributeError, OSError):
        return False


def _orphans_of(mark: str) -> tuple[ProcessId, ...]:
    """Adopted children that are this run's, by the mark in their environment."""
    pid = os.getpid()
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            children = [int(word) for word in file.read().split()]
    except OSError:
        # This kernel does not list them.
        return tuple(members(None, mark, variable=RUN_MARKER)) if os.path.isdir("/proc/self") else ()
    found = []
    for child in children:
        if child not in _running and (started := processes.start_time(child)) is not None:
            marker = processes.variable(child, RUN_MARKER)
            if marker is not None and mark in marker.split("/"):
                found.append(ProcessId(child, started))
    return tuple(found)


def end_run(mark: str, grace: float = 0.0) -> int:
    """End every process that carries a run's mark, whoever its parent is; how many there were."""
    return len(end_tree(None, mark, grace=grace, variable=RUN_MARKER))


def tell(pid: int, started: int, boot: str, number: signal.Signals) -> bool:
    """Signal exactly this process, by a descriptor that no other process can get; False when it is gone."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return False
    except (AttributeError, OSError):
        return processes.send_signal(pid, started, boot, number)
    try:
        if not processes.is_same(pid, started, boot):
            return False
        signal.pidfd_send_signal(descriptor, number)
    except ProcessLookupError:
        return False
    finally:
        os.close(descriptor)
    return True


def now_ms() -> int:
    return time.time_ns() // 1_000_000
