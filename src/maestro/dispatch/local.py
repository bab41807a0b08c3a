"""The engine of one machine: agents are child processes of this one."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Final

import msgspec

from maestro import confined
from maestro.agents.headless import Headless, Output
from maestro.dispatch.batch import FOUND_FILE, Found
from maestro.dispatch.engine import Admission, Go, Job, Stop
from maestro.dispatch.process import GRACE_SECONDS, end_run, now_ms
from maestro.dispatch.run import (
    begin,
    carry_out,
    check,
    mark_of,
    read_outputs,
    record_failure,
    record_result,
    record_start,
    this_process,
)
from maestro.dispatch.runs import COMMAND, STDOUT_FILE, Run, RunResult, result_of
from maestro.errors import MaestroError, TimedOut
from maestro.files import write_atomically

CANCELLED: Final = "The batch was cancelled."


class LocalEngine:
    name = "local"

    def __init__(
        self,
        *,
        places: int,
        stagger_s: float,
        adapter: Callable[[Run], Headless],
        env: Mapping[str, str],
        grace: float = GRACE_SECONDS,
    ) -> None:
        """`places`: how many at once, 0 for all; `stagger_s`: between two starts."""
        self._places = asyncio.Semaphore(places) if places else None
        self._stagger_s = stagger_s
        self._adapter = adapter
        self._env = env
        self._grace = grace
        self._runner = this_process()
        self._starting = asyncio.Lock()
        self._next_start = 0.0

    async def carry_out(
        self,
        job: Job,
        *,
        admit: Callable[[], Admission],
        started: Callable[[], Awaitable[None]],
        ended: Callable[[RunResult], None],
        cancel: asyncio.Event,
    ) -> RunResult | Stop:
        while True:
            async with self._place():
                word = await self._turn(admit, cancel)
                if isinstance(word, Go):
                    await started()
                    result = await self._run(job, cancel)
                    ended(result)
                    return result
            if isinstance(word, Stop):
                return word
            await sleep_until(word.until, cancel)

    async def settle(self, run: Run, folder: str) -> tuple[RunResult | None, Found]:
        try:
            ended, stubborn = await asyncio.to_thread(end_run, mark_of(folder)), ""
        except TimedOut as error:
            ended, stubborn = 0, f" {error.message}"
        result, size = None, _size(os.path.join(folder, STDOUT_FILE))
        if not ended and not stubborn and run.agent != COMMAND:
            # A CLI of ours says itself that it has come to its end; of any other program only its exit code does.
            result = self._told(run, folder)
        if result is not None:
            words = "It came to its end after its dispatcher had died."
        elif ended or stubborn:
            words = f"Its dispatcher died while it ran; {ended} of its processes were alive and were ended.{stubborn}"
        elif size:
            words = (
                f"Its dispatcher died while it ran; nothing of it was alive, and it had printed {size} bytes."
            )
        else:
            words = "Its dispatcher died while it ran; nothing of it was alive, and it had printed nothing."
        found = Found(words, now_ms(), ended, size, is_finished=result is not None)
        write_atomically(os.path.join(folder, FOUND_FILE), msgspec.json.encode(found), confined=True)
        if result is not None:
            record_result(result, folder)
        return result, found

    def _told(self, run: Run, folder: str) -> RunResult | None:
        """What its output says, where that is whole."""
        stdout, stderr = read_outputs(folder)
        output = Output(
            stdout=stdout,
            stderr=stderr,
            exit_code=0,
            ended_at=_changed_at(os.path.join(folder, STDOUT_FILE)),
        )
        try:
            agent = self._adapter(run)
            outcome = agent.outcome(output, check(run, folder, agent, self._env).request)
        except MaestroError:
            return None
        if outcome.status != "success":
            return None
        return result_of(run, outcome, how="exited", exit_code=None, signal=None, ended_at=output.ended_at)

    @asynccontextmanager
    async def _place(self) -> AsyncIterator[None]:
        if self._places is None:
            yield
        else:
            async with self._places:
                yield

    async def _turn(self, admit: Callable[[], Admission], cancel: asyncio.Event) -> Admission:
        """Go, when nobody else has started for a while."""
        word = _admission(admit, cancel)
        if not isinstance(word, Go) or not self._stagger_s:
            return word
        async with self._starting:
            word = _admission(admit, cancel)
            if isinstance(word, Go):
                await sleep_until(now_ms() + round((self._next_start - time.monotonic()) * 1000), cancel)
                word = _admission(admit, cancel)
            if isinstance(word, Go):
                self._next_start = time.monotonic() + self._stagger_s
        return word

    async def _run(self, job: Job, cancel: asyncio.Event) -> RunResult:
        run = msgspec.structs.replace(job.run, started_at=now_ms(), runner=self._runner)
        try:
            ready = check(run, job.folder, self._adapter(run), self._env)
            begin(ready, job.prompt)
            return await carry_out(ready, cancel, grace=self._grace)
        except (MaestroError, OSError) as error:
            # What cannot be started is a failure of this agent, not of the batch. If even that cannot be written
            # down, the disk is the reason, and the batch ends.
            known = (
                error if isinstance(error, MaestroError) else MaestroError(f"It was not started: {error}.")
            )
            confined.make_folders(job.folder)
            record_start(run, job.folder)
            return record_failure(run, job.folder, known)


def _admission(admit: Callable[[], Admission], cancel: asyncio.Event) -> Admission:
    return Stop(CANCELLED) if cancel.is_set() else admit()


async def sleep_until(at: int, cancel: asyncio.Event) -> None:
    """Until then, or until the batch is cancelled."""
    while not cancel.is_set() and (left := at - now_ms()) > 0:
        try:
            # The clock may be set while we sleep.
            await asyncio.wait_for(cancel.wait(), min(left / 1000, 60.0))
        except TimeoutError:
            pass


def _size(path: str) -> int:
    try:
        return confined.status(path).st_size
    except OSError:
        return 0


def _changed_at(path: str) -> int:
    try:
        return confined.status(path).st_mtime_ns // 1_000_000
    except OSError:
        return now_ms()
