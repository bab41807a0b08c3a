"""A tmux server that belongs to one test, workers in it, and a human at a terminal."""

from __future__ import annotations

import asyncio
import fcntl
import functools
import os
import pty
import signal
import subprocess
import termios
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.patience import PATIENCE, patience, within
from tests.support import clean_env

from maestro.fleet.facts import Pane, PaneRef
from maestro.fleet.states import Look, PaneStates
from maestro.fleet.tmux import Tmux
from maestro.fleet.wait import Waited, coordinate_wait

QUIET = ("cat", "-")


def in_loop(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    @functools.wraps(test)
    def run(*args: Any, **named: Any) -> None:
        async def bounded() -> None:
            async with within(2 * PATIENCE):
                await test(*args, **named)

        asyncio.run(bounded())

    return run


class Clock:
    """The real time, which a test may put forward, or stop for a while."""

    def __init__(self) -> None:
        self.ahead = 0
        self._stopped: int | None = None

    def __call__(self) -> int:
        return time.time_ns() // 1_000_000 + self.ahead if self._stopped is None else self._stopped

    def stop(self) -> None:
        self._stopped = self()

    def go_on(self) -> None:
        """It is as late as if it had never stopped."""
        self._stopped = None


class Human:
    """A real terminal with a real tmux client."""

    def __init__(self, floor: Floor) -> None:
        self._floor = floor
        self._master, slave = pty.openpty()
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, b"\x30\x00\xa0\x00\x00\x00\x00\x00")
        self.process = subprocess.Popen(
            ["tmux", "-S", floor.tmux.socket, "attach", "-t", "=main"],
            stdin=slave, stdout=slave, stderr=slave, env=floor.env, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - a terminal of its own
        )  # fmt: skip
        os.close(slave)
        asyncio.get_running_loop().add_reader(self._master, self._drain)

    def press(self, keys: bytes) -> None:
        os.write(self._master, keys)

    async def look_at(self, ref: PaneRef) -> None:
        await self._floor.tmux.select(ref)

    async def leave(self) -> None:
        """Look at the desk: a pane where nobody works."""
        await self._floor.tmux.select(self._floor.desk.ref)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def _drain(self) -> None:
        try:
            read = os.read(self._master, 65536)
        except OSError:
            read = b""
        if not read:
            asyncio.get_running_loop().remove_reader(self._master)

    def close(self) -> None:
        if self.process.poll() is None:
            self.kill()
        asyncio.get_running_loop().remove_reader(self._master)
        os.close(self._master)


class Floor:
    def __init__(self, place: Path) -> None:
        self.env = clean_env(place)
        self.clock = Clock()
        self.tmux = Tmux(str(place / "tmux"), self.env)
        self.states = PaneStates(self.tmux, self.clock)
        self.tmux.on_change = self.states.changed
        self.humans: list[Human] = []
        self.desk: Pane

    async def __aenter__(self) -> Self:
        await self.tmux.start()
        self.desk = await self.tmux.new_session("main", QUIET, cwd="/", window_name="desk")
        await self.states.install()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.states.close()
        await self.tmux.kill_server()
        for human in self.humans:
            human.close()

    async def worker(self, label: str, notify: str = "", argv: tuple[str, ...] = QUIET) -> Pane:
        pane = await self.tmux.new_window("main", argv, cwd="/", name=label, options={"@pane_label": label})
        if notify:
            await self.states.notify(pane.ref, notify)
        return pane

    async def human(self) -> Human:
        """Attached, looking at the desk."""
        human = Human(self)
        self.humans.append(human)
        await self.until(lambda look: look.states[self.desk.pane_id].focused)
        return human

    async def until(self, holds: Callable[[Look], bool]) -> Look:
        async with within():
            while True:
                news = self.states.news()
                look = await self.states.look()
                if holds(look):
                    return look
                await self.states.wait(news, patience())

    async def see(self, ref: PaneRef, text: str, *, joined: bool = False) -> str:
        """The screen once it shows `text`; tmux does not tell when a screen changes."""
        async with within():
            while True:
                screen = await self.tmux.capture(ref)
                screen = screen.replace("\n", "") if joined else screen
                if text in screen:
                    return screen
                await asyncio.sleep(0.01)

    async def ended(self, pane: Pane) -> Pane:
        """Its screen and its exit, once tmux knows both; they come in any order."""
        async with within():
            while True:
                news = self.states.news()
                found = await self.tmux.pane(pane.pane_id)
                if found.dead and found.exit_status is not None:
                    return found
                await self.states.wait(news, patience())

    def outside(self, *words: str, said: bytes = b"") -> bytes:
        """tmux as somebody else runs it."""
        return subprocess.run(
            ["tmux", "-S", self.tmux.socket, *words],
            input=said,
            env=self.env,
            capture_output=True,
            check=True,
        ).stdout

    async def option(self, ref: PaneRef, name: str) -> str:
        lines = await self.tmux.run("show-options", "-p", "-v", "-q", "-t", ref.pane_id, name)
        return "\n".join(lines)


@asynccontextmanager
async def visiting(socket: str, env: dict[str, str]) -> AsyncIterator[Tmux]:
    guest = Tmux(socket, env, guest=True)
    await guest.start()
    yield guest
    await guest.close()


async def sweep(floor: Floor, coordinator: str = "boss", **options: object) -> Waited:
    return await coordinate_wait(floor.states, coordinator, timeout=0, **options)  # type: ignore[arg-type]


async def blocked(floor: Floor, coordinator: str = "boss") -> asyncio.Task[Waited]:
    """A wait that has swept and sleeps."""
    waiting = floor.states._waiting
    task = asyncio.create_task(coordinate_wait(floor.states, coordinator, timeout=patience(2 * PATIENCE)))
    while floor.states._waiting == waiting and not task.done():  # noqa: ASYNC110 - that somebody waits is no event
        await asyncio.sleep(0)
    assert not task.done(), f"it did not wait: {task.result().first_line}"
    return task
