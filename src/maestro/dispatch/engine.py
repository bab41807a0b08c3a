"""What carries out a batch's attempts: the port on one page.

An engine has places and a pace, and nothing else to decide: whether an agent is run again, waits for a limit or is over
its budget is said by `admit` when there is a place. What it carries out is recorded in the attempt's folder, so
that any engine can tell what became of an attempt that another one began."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple, Protocol

import msgspec

from maestro.dispatch.batch import Found
from maestro.dispatch.runs import Run, RunResult


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt of one agent: all that an engine needs to carry it out, on whichever machine."""

    run: Run
    folder: str  # not there yet
    prompt: bytes


class Go(NamedTuple):
    pass


class Hold(NamedTuple):
    until: int  # milliseconds since 1970: then ask again


class Stop(NamedTuple):
    reason: str  # it shall not start at all


Admission = Go | Hold | Stop


class Engine(Protocol):
    name: str

    async def carry_out(
        self,
        job: Job,
        *,
        admit: Callable[[], Admission],
        started: Callable[[], Awaitable[None]],
        ended: Callable[[RunResult], None],
        cancel: asyncio.Event,
    ) -> RunResult | Stop:
        """Wait for a place and for its turn, ask `admit`, run it to its recorded result. `cancel` ends it.

        `ended` is called before anybody else gets the place: what a run cost, or the limit that it met, is known to the
        next `admit`.

        A run that fails is a result; what is raised is a disk that cannot be written."""

    async def settle(self, run: Run, folder: str) -> tuple[RunResult | None, Found]:
        """An attempt whose engine died: end what is alive of it, record what was found. Its result, if it has one."""
