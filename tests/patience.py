"""How long a test waits: until something happened, with a deadline that grows with the machine's measured slowness.

Every number of seconds is one of a quiet machine. What a test waits for comes at once there; on a busy one it comes
later, and only what never comes is a failure.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import IO, Any, AnyStr

PATIENCE = 30.0
# A measure holds for so long; each takes about 12 ms of a quiet machine.
_FRESH_SECONDS = 5.0
# The same work on a quiet machine of two cores.
_QUIET_SECONDS = 0.012
# What hangs must end, on any machine.
_MOST = 20.0


class _Measure:
    def __init__(self) -> None:
        self.slowness = 1.0
        self.at = float("-inf")


_last = _Measure()


def slowness() -> float:
    """Returns how many times slower than a quiet machine this one is now: 1 at least."""
    now = time.monotonic()
    if now - _last.at > _FRESH_SECONDS:
        _last.at = now
        _last.slowness = min(max(1.0, _waiting_for_each_core(), _work_seconds() / _QUIET_SECONDS), _MOST)
    return _last.slowness


def patience(seconds: float = PATIENCE) -> float:
    """Returns how long something may take now that takes less than `seconds` on a quiet machine."""
    return seconds * slowness()


def growing(seconds: float) -> Iterator[float]:
    """Yields time limits for the product, each twice the one before.

    For a limit that must come after something has happened, and comes in any case: where it came too early, the test
    takes the next. Fails after the fifth.
    """
    for doubled in range(5):
        yield math.ceil(patience(seconds) * 2**doubled * 10) / 10
    raise AssertionError(f"it did not happen within {patience(seconds) * 16:.0f} s")


class Deadline:
    """Moves away while the machine turns out to be slower than it seemed."""

    def __init__(self, seconds: float = PATIENCE) -> None:
        self._begun = time.monotonic()
        self._seconds = seconds
        self._allowed = patience(seconds)

    @property
    def left(self) -> float:
        self._allowed = max(self._allowed, patience(self._seconds))
        return max(0.0, self._begun + self._allowed - time.monotonic())

    @property
    def passed(self) -> bool:
        return self.left == 0

    def __str__(self) -> str:
        return f"{self._allowed:.0f} s"


def until(
    probe: Callable[[], Any], describe: Callable[[], object] | str = "", seconds: float = PATIENCE
) -> Any:
    """Returns what `probe` gives as soon as it is true. Fails with what `describe` tells when patience ends."""
    deadline, pause = Deadline(seconds), 0.02
    while not (found := probe()):
        if deadline.passed:
            told = describe if isinstance(describe, str) else describe()
            raise AssertionError(f"it did not happen within {deadline}\n{told}")
        # Each probe is work for the one who is waited for.
        time.sleep(pause)
        pause = min(0.25, pause * 1.4)
    return found


@contextlib.asynccontextmanager
async def within(seconds: float = PATIENCE) -> AsyncIterator[None]:
    """Raises TimeoutError in its block when patience ends."""
    deadline, loop = Deadline(seconds), asyncio.get_running_loop()
    timers: list[asyncio.Handle] = []
    async with asyncio.timeout(None) as scope:

        def look() -> None:
            left = deadline.left
            if left == 0:
                scope.reschedule(loop.time())
            else:
                timers[:] = [loop.call_later(min(left, _FRESH_SECONDS), look)]

        look()
        try:
            yield
        finally:
            for timer in timers:
                timer.cancel()


def told_by(process: subprocess.Popen[AnyStr], seconds: float = 2 * PATIENCE) -> tuple[AnyStr, AnyStr]:
    """Returns what a process wrote, both its streams, when it has ended. Closes its input first."""
    deadline = Deadline(seconds)
    while True:
        try:
            return process.communicate(timeout=max(0.01, min(deadline.left, _FRESH_SECONDS)))
        except subprocess.TimeoutExpired:
            if deadline.passed:
                raise


def end_of(process: subprocess.Popen[Any], seconds: float = 2 * PATIENCE) -> int:
    """Returns the exit code of a process when it has ended."""
    deadline = Deadline(seconds)
    while True:
        try:
            return process.wait(max(0.01, min(deadline.left, _FRESH_SECONDS)))
        except subprocess.TimeoutExpired:
            if deadline.passed:
                raise


def run(
    words: Sequence[Any], *, seconds: float = 2 * PATIENCE, check: bool = False, **options: Any
) -> subprocess.CompletedProcess[Any]:
    """Runs a command to its end, as `subprocess.run` does; its output is captured unless it goes elsewhere."""
    said = options.pop("input", None)
    if said is not None:
        options["stdin"] = subprocess.PIPE
    for stream in ("stdout", "stderr"):
        options.setdefault(stream, subprocess.PIPE)
    with subprocess.Popen(words, **options) as process:
        if process.stdin is not None and said is not None:
            # `communicate` cannot be asked again while it still has input to give.
            threading.Thread(target=_give, args=(process.stdin, said), daemon=True).start()
            process.stdin = None
        try:
            out, err = told_by(process, seconds)
        except BaseException:
            process.kill()
            raise
    done = subprocess.CompletedProcess(process.args, process.returncode, out, err)
    if check:
        done.check_returncode()
    return done


def _give(stream: IO[AnyStr], text: AnyStr) -> None:
    """Writes a process's input and closes it; a process that has ended wants no more of it."""
    with contextlib.suppress(BrokenPipeError), stream:
        stream.write(text)


def _waiting_for_each_core() -> float:
    """Returns how many processes share a core: those that run or want to, now and over the last minute."""
    try:
        cores = len(os.sched_getaffinity(0))
        load = os.getloadavg()[0]
        with open("/proc/loadavg", encoding="ascii") as file:
            runnable = int(file.read().split()[3].partition("/")[0])
    except (OSError, AttributeError, ValueError, IndexError):
        # Not Linux, or no /proc: the work alone tells.
        return 1.0
    return max(load, runnable) / cores


def _work_seconds() -> float:
    """Returns how long it takes to start a small program and to compute a little."""
    begun = time.perf_counter()
    child = os.posix_spawn(sys.executable, [sys.executable, "-I", "-S", "-c", "pass"], {})
    os.waitpid(child, 0)
    sum(number * number for number in range(50_000))
    return time.perf_counter() - begun
