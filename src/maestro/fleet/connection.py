"""The lasting connection to a tmux server of our own: made once, made again when it breaks."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence

from maestro import processes
from maestro.errors import DaemonError
from maestro.fleet import reading, server_files
from maestro.fleet.control import Control
from maestro.fleet.facts import ServerId

_PAUSES = (0.0, 0.02, 0.1, 0.5, 1.0, 2.0)
_START_PAUSES = (0.02, 0.1, 0.5)
_IGNORED_NOTICES = (b"%output ", b"%extended-output ", b"%layout-change ", b"%session-changed ")


class Connection:
    def __init__(
        self,
        attach: Callable[[bool], Sequence[str]],
        prepare: Sequence[str],
        env: Mapping[str, str],
        woken: Callable[[], None],
    ) -> None:
        """`attach` gives the program that connects, and may start the server or not; `prepare` are the lines that
        follow; `woken` is called in the loop when something may have changed."""
        self._attach = attach
        self._prepare = prepare
        self._env = env
        self._woken = woken
        self._control: Control | None = None
        self._one_at_a_time = asyncio.Lock()
        self._reconnecting: asyncio.Task[None] | None = None
        self._closed = True
        self._wake_scheduled = False
        self.server: ServerId | None = None
        self.hidden_pane = ""

    @property
    def pid(self) -> int | None:
        """Our own client's."""
        return self._control.pid if self._control else None

    async def start(self, *, may_start: bool) -> None:
        async with self._one_at_a_time:
            if self._control is None or not self._control.alive:
                self._closed = False
                await self._start(may_start=may_start)

    async def _start(self, *, may_start: bool) -> None:
        """Connects. A server that was killed may still take a connection in its last moment: then one that may be started
        is tried again, since nothing was asked of it yet."""
        for pause in _START_PAUSES if may_start else ():
            try:
                await self._connect(may_start=True)
            except DaemonError:
                await asyncio.sleep(pause)
            else:
                return
        await self._connect(may_start=may_start)

    async def control(self) -> Control:
        if (self._control is None or not self._control.alive) and self._reconnecting is not None:
            await asyncio.wait([self._reconnecting])
        if self._control is None or not self._control.alive:
            raise DaemonError("There is no tmux server.", hint="`maestro up` starts it.")
        return self._control

    async def close(self) -> None:
        self._closed = True
        if self._reconnecting is not None:
            self._reconnecting.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._reconnecting
            self._reconnecting = None
        control, self._control = self._control, None
        if control is not None:
            control.close()
            await control.ended

    async def _connect(self, *, may_start: bool) -> None:
        _, control = await asyncio.get_running_loop().subprocess_exec(
            lambda: Control(self._notice, self._lost),
            *self._attach(may_start),
            cwd="/",
            umask=processes.umask_of_user(),
            env=self._env,
        )
        try:
            await control.ready
            self._control = control
            answer = await control.ask('display-message -p "#{pid} #{pane_id}"', 1)
            pid, self.hidden_pane = reading.words_of(answer[0].lines, 2)
            self.server = ServerId(int(pid), processes.start_time(int(pid)) or 0)
            server_files.allow_enough(int(pid))
            await asyncio.gather(*(control.ask(line, 1) for line in self._prepare))
        except BaseException as error:
            self._control = None
            control.close()
            if isinstance(error, DaemonError):
                # Its end is awaited, or a process of ours would be left that nobody knows.
                await control.ended
            raise

    def _notice(self, line: bytes) -> None:
        if not line.startswith(_IGNORED_NOTICES):
            self._wake()

    def _wake(self) -> None:
        """Once for all that arrived together."""
        if not self._wake_scheduled:
            self._wake_scheduled = True
            asyncio.get_running_loop().call_soon(self._do_wake)

    def _do_wake(self) -> None:
        self._wake_scheduled = False
        self._woken()

    def _lost(self) -> None:
        if self._closed or self._control is None:
            return
        self._control = None
        self._wake()
        self._reconnecting = asyncio.get_running_loop().create_task(self._reconnect())

    async def _reconnect(self) -> None:
        async with self._one_at_a_time:
            if self._control is not None and self._control.alive:
                return  # somebody started it anew while we waited for our turn
            server = self.server
            for pause in _PAUSES:
                await asyncio.sleep(pause)
                if server is None or not processes.is_same(process_of(server)):
                    break
                try:
                    await self._connect(may_start=False)
                except DaemonError:
                    continue
                self._wake()
                return
            self.server = None
        self._wake()


def process_of(server: ServerId) -> processes.ProcessId:
    """The server's process. No record of a server outlives a boot."""
    return processes.ProcessId(server.pid, server.started, processes.boot_id())
