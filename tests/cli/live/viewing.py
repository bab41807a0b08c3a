"""The live view without a terminal, in front of a real daemon: its keys are pressed and its screen is read."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from tests.fleet.typing.stage import Stage
from tests.patience import Deadline
from textual.pilot import Pilot

from maestro.cli.live.app import Live

# Long enough for every question that a test waits for to have been seen.
AT_ONCE = 0.0
NEVER_LONG_ENOUGH = 1e9


class Viewer:
    def __init__(self, app: Live, pilot: Pilot[None]) -> None:
        self.app = app
        self._pilot = pilot

    @property
    def screen(self) -> str:
        strips = self.app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)

    async def press(self, *keys: str) -> None:
        await self._pilot.press(*keys)

    async def write(self, text: str) -> None:
        names = {" ": "space", ".": "full_stop", ",": "comma"}
        await self._pilot.press(*(names.get(letter, letter) for letter in text))

    async def until(self, probe: Callable[[], Any]) -> Any:
        deadline = Deadline()
        while not (found := await asyncio.to_thread(probe)):
            assert not deadline.passed, f"it did not happen\n{self.screen}"
            await self._pilot.pause(0.1)
        return found

    async def sees(self, *texts: str) -> str:
        deadline = Deadline()
        while not all(text in self.screen for text in texts):
            assert not deadline.passed, f"{texts} did not appear\n{self.screen}"
            await self._pilot.pause(0.1)
        return self.screen

    async def sees_no(self, text: str) -> None:
        deadline = Deadline()
        while text in self.screen:
            assert not deadline.passed, f"{text} did not go away\n{self.screen}"
            await self._pilot.pause(0.1)


@asynccontextmanager
async def viewing(
    stage: Stage, *, looked_at: float = AT_ONCE, size: tuple[int, int] = (80, 24)
) -> AsyncIterator[Viewer]:
    app = Live(stage.maestro.daemon, looked_at=looked_at)
    async with app.run_test(size=size) as pilot:
        yield Viewer(app, pilot)


def run(scenario: Awaitable[None]) -> None:
    async def whole() -> None:
        await scenario

    asyncio.run(whole())
