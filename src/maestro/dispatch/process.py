"""Runs one program to its end, whatever it does: in a session of its own, its output in files, a deadline, and at the
end nothing of it left.

The kernel helps to prove the end. This process adopts what its children leave behind (a "subreaper"): no child left
means that nothing is left. A control group, where one may be made, ends its members at once. What remains is looked
for by the mark in its environment.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, Final, Literal, NamedTuple, TypeVar

from maestro import cgroup, confined, processes
from maestro.confined import Folder
from maestro.errors import InvalidInput, NotFound, TimedOut
from maestro.fleet.processtree import KILL_SECONDS, RUN_MARKER, end_tree
from maestro.processes import ProcessId

GRACE_SECONDS: Final = 3.0
_AGREEING_LOOKS: Final = 2

T = TypeVar("T")

# The programs that run now, by pid: every other child of this process was adopted.
_running: dict[int, str] = {}


class Program(NamedTuple):
    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str
    stdin: str  # paths: of files that no link leads to, or /dev/null
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
    """Runs it until it ends, its time is up, or `cancel` is set; then ends whatever it has started."""
    group = cgroup.make(program.mark)
    is_adopting = _adoption.begin()
    try:
        return await _run(program, group, seconds, cancel, grace, is_adopting=is_adopting)
    finally:
        _adoption.end()
        if group is not None:
            group.remove()


class _Adoption:
    """Makes this process adopt orphans while a run is under way, and only then: an adopted process that nobody
    waits for would stay in the list of processes for as long as this one lives."""

    def __init__(self) -> None:
        self._runs = 0

    def begin(self) -> bool:
        self._runs += 1
        return processes.adopt_orphans(wanted=True)

    def end(self) -> None:
        self._runs -= 1
        if not self._runs:
            processes.adopt_orphans(wanted=False)
        processes.reap_adopted(_running)


_adoption: Final = _Adoption()


async def _run(
    program: Program,
    group: cgroup.Group | None,
    seconds: float,
    cancel: asyncio.Event,
    grace: float,
    *,
    is_adopting: bool,
) -> Ended:
    child = _spawn(program)
    _running[child.pid] = program.mark
    try:
        if group is not None:
            group.add(child.pid)
        how = await _first_end(child, seconds, cancel)
        survivors = () if how == "exited" else await _end(child, program.mark, grace)
    except asyncio.CancelledError:
        await asyncio.shield(_end(child, program.mark, grace))
        if group is not None:
            await asyncio.shield(_in_thread(group.end, KILL_SECONDS))
        raise
    finally:
        code = child.poll() if _has_ended(child) else None
        del _running[child.pid]
    processes.reap_adopted(_running)
    if not is_adopting or processes.has_children():
        if group is not None:
            survivors += await _in_thread(group.end, KILL_SECONDS)
            processes.reap_adopted(_running)
        if not is_adopting or _may_have_left(program.mark):
            survivors += await _end_all(program.mark, None, 0.0)
    survivors = tuple(sorted(set(survivors)))
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
    descriptors = _open_all(program)
    try:
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


def _open_all(program: Program) -> list[int]:
    """Open its input and its outputs; most often they are in one folder, which is opened once."""
    written = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    folders: dict[str, Folder] = {}
    opened: list[int] = []
    try:
        for path, flags in (
            (program.stdin, os.O_RDONLY),
            (program.stdout, written),
            (program.stderr, written),
        ):
            place, name = os.path.split(path)
            if path == os.devnull:
                opened.append(os.open(path, flags | os.O_CLOEXEC))
                continue
            if place not in folders:
                folders[place] = confined.folder(place)
            opened.append(folders[place].open(name, flags))
    except BaseException:
        for descriptor in opened:
            os.close(descriptor)
        raise
    finally:
        for folder in folders.values():
            folder.close()
    return opened


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
    """Ends the child and everything that it has started; returns the pids that would not go."""
    return await _end_all(mark, processes.identify(child.pid), grace)


async def _end_all(mark: str, root: ProcessId | None, grace: float) -> tuple[int, ...]:
    def end() -> tuple[int, ...]:
        try:
            end_tree(root, mark, grace=grace, variable=RUN_MARKER)
        except TimedOut as error:
            return tuple(error.context["pids"])
        return ()

    return await _in_thread(end)


async def _in_thread(work: Callable[..., T], *words: Any) -> T:
    return await asyncio.get_running_loop().run_in_executor(_threads(), work, *words)


def _has_ended(child: subprocess.Popen[bytes]) -> bool:
    """Whether it can be reaped without waiting for it."""
    return child.returncode is not None or processes.start_time(child.pid) is None


@cache
def _threads() -> ThreadPoolExecutor:
    """Ending waits for processes; many runs may end at once, and none shall wait for another's."""
    return ThreadPoolExecutor(max_workers=256, thread_name_prefix="ending")


def _may_have_left(mark: str) -> bool:
    """Whether an adopted child may be this run's. A look at its own children costs less than one at every process."""
    for _ in range(_AGREEING_LOOKS):
        children = processes.listed_children()
        if children is None or any(_may_be_of(child, mark) for child in children if child not in _running):
            return True
    return False


def _may_be_of(pid: int, mark: str) -> bool:
    # One without a marker may be in the middle of becoming another program.
    marker = processes.variable(pid, RUN_MARKER)
    return marker is None or mark in marker.split("/")


def end_run(mark: str, grace: float = 0.0) -> int:
    """Ends every process that carries a run's mark, whoever its parent is; returns how many there were."""
    ended = end_tree(None, mark, grace=grace, variable=RUN_MARKER)
    if (group := cgroup.find(mark)) is not None:
        group.end(KILL_SECONDS)
        group.remove()
    return len(ended)


def now_ms() -> int:
    return time.time_ns() // 1_000_000
