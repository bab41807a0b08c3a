"""Looks at panes, and gives one of a fleet's own more room while a dialog that is larger than it is read or answered.

Only while nobody sees it: whoever opens its window finds it as it was. tmux itself takes the room back when somebody
attaches, and when this daemon's connection ends, so that one that was killed leaves nothing behind.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Coroutine
from typing import Any, Final, NamedTuple
from weakref import WeakValueDictionary

import structlog

from maestro import processes
from maestro.agents.terminal import Terminal
from maestro.errors import DaemonError, MaestroError
from maestro.fleet.commands import ROOM_FORMAT, Room, enlarge_commands, restore_command
from maestro.fleet.facts import PaneRef, Sight
from maestro.fleet.room import (
    LARGE,
    STILL_SECONDS,
    Settling,
    is_cramped,
    is_partly_read,
    is_too_small,
    may_enlarge,
)
from maestro.fleet.sight import see
from maestro.fleet.states import PaneStates

_log = structlog.get_logger("enlarging")

_LOOK_SECONDS: Final = 0.04
_SURE_SECONDS: Final = 2.0  # one that still shows only a part after so long has no more to show
_DRAW_SECONDS: Final = 6.0  # until a CLI has drawn a dialog in another size
_KEPT_SECONDS: Final = 1.0  # after the last look at the dialog
_TURN_SECONDS: Final = 5.0  # until another pane of the same window is done


class _Asked(NamedTuple):
    """Whom a look is at, and how."""

    states: PaneStates
    ref: PaneRef
    terminal: Terminal | None
    launched: bool


class _Held(NamedTuple):
    """A pane that has more room now."""

    asked: _Asked
    room: Room
    end: asyncio.TimerHandle


class _Window(NamedTuple):
    """One window of one tmux server: only one of its panes at a time can have more room."""

    server_pid: int
    server_started: int
    window_id: str


class Enlarging:
    def __init__(self) -> None:
        self._held: dict[PaneRef, _Held] = {}
        # Windows of which one pane is about to be held.
        self._claimed: set[_Window] = set()
        # Held while a pane gets its room or gives it back: what stands there meanwhile is half drawn.
        self._turns: WeakValueDictionary[PaneRef, asyncio.Lock] = WeakValueDictionary()
        # Small screens that said nothing when they were larger either.
        self._tried: dict[PaneRef, str] = {}
        self._restoring: set[asyncio.Task[None]] = set()

    async def close(self) -> None:
        for held in self._held.values():
            held.end.cancel()
        tasks = tuple(self._restoring)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for held in tuple(self._held.values()):
            held.end.cancel()
            with contextlib.suppress(MaestroError):
                await held.asked.states.tmux.run(*restore_command(held.room))
        self._held.clear()

    async def see(
        self, states: PaneStates, ref: PaneRef, terminal: Terminal | None, *, launched: bool
    ) -> Sight:
        """One look, at the whole dialog where that can be had."""
        asked = _Asked(states, ref, terminal, launched)
        if ref not in self._held and ref not in self._turns:
            sight = await _see(asked)
            if not self._would_help(ref, sight):
                return sight
        async with self._turn(ref):
            sight = await _see(asked)
            held = self._held.get(ref)
            if held is not None and is_cramped(sight):
                # tmux took the room back, as somebody came or went; or another pane was put into the window.
                await self._restored(held)
                sight, held = await _see(asked), None
            if held is None:
                return await self._enlarged(asked, sight) if self._would_help(ref, sight) else sight
            if sight.shown or sight.focused:
                await self._restored(held)
                return await _see(asked)
            if sight.screen.question is None and sight.screen.state != "unknown":
                await self._restored(held)
            else:
                self._hold(asked, held.room)
            return sight

    def changed(self) -> None:
        """tmux has news: somebody may have opened a window that is larger than it should be."""
        for held in tuple(self._held.values()):
            self._soon(self._yield_to_human(held))

    def _would_help(self, ref: PaneRef, sight: Sight) -> bool:
        return may_enlarge(sight) and self._tried.get(ref) != sight.content

    def _turn(self, ref: PaneRef) -> asyncio.Lock:
        return self._turns.setdefault(ref, asyncio.Lock())

    async def _enlarged(self, asked: _Asked, small: Sight) -> Sight:
        """Enlarges, and waits until the dialog is drawn anew and stays so."""
        window = _Window(*asked.ref[:2], small.pane.window_id)
        if not await self._is_free(window):
            return small
        self._claimed.add(window)
        try:
            # Until then another pane of the window may have been large.
            small = await _see(asked)
            if not self._would_help(asked.ref, small):
                return small
            room = await _room(asked)
            held = self._hold(asked, room)
        finally:
            self._claimed.discard(window)
        try:
            await asked.states.tmux.act(asked.ref, *enlarge_commands(asked.ref, room, LARGE))
        except MaestroError as error:
            _log.warning("not enlarged", pane=asked.ref.pane_id, error=error.message)
            await self._restored(held)
            return small
        sight = await _until_drawn(asked, small)
        if sight.shown or sight.focused:
            await self._restored(held)
            return await _see(asked)
        if sight.screen.state == "unknown":
            self._keep_tried(asked.ref, small.content)
        return sight

    def _keep_tried(self, ref: PaneRef, content: str) -> None:
        ended = [one for one in self._tried if processes.start_time(one.pane_pid) is None]
        for one in ended:
            self._tried.pop(one)
        self._tried[ref] = content

    async def _is_free(self, window: _Window) -> bool:
        """Whether no other pane of the same window has the room, or gives it back in time."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _TURN_SECONDS
        while window in self._claimed or window in map(_window_of, self._held.values()):
            if loop.time() >= deadline:
                return False
            await asyncio.sleep(_LOOK_SECONDS)
        return True

    def _hold(self, asked: _Asked, room: Room) -> _Held:
        """The room stays for as long as somebody looks, and a little longer."""
        before = self._held.get(asked.ref)
        if before is not None:
            before.end.cancel()
        loop = asyncio.get_running_loop()
        end = loop.call_later(_KEPT_SECONDS, lambda: self._soon(self._give_back(asked.ref, room.token)))
        held = self._held[asked.ref] = _Held(asked, room, end)
        return held

    async def _give_back(self, ref: PaneRef, token: str) -> None:
        async with self._turn(ref):
            held = self._held.get(ref)
            if held is not None and held.room.token == token:
                await self._restored(held)

    async def _yield_to_human(self, held: _Held) -> None:
        look = await held.asked.states.look()
        if held.room.window_id in look.shown:
            await self._give_back(held.asked.ref, held.room.token)

    async def _restored(self, held: _Held) -> None:
        """Gives the room back, and waits until the window is as it was and the dialog drawn in it. It is held until
        then: the window is no other pane's before, and whoever is cancelled here leaves the timer to do it."""
        try:
            # Of a pane that is gone the window may still be there.
            await held.asked.states.tmux.run(*restore_command(held.room))
            await _until_small(held.asked, held.room)
        except MaestroError as error:
            _log.info("restored unseen", pane=held.asked.ref.pane_id, error=error.message)
        held.end.cancel()
        self._held.pop(held.asked.ref, None)

    def _soon(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(_quietly(work))
        self._restoring.add(task)
        task.add_done_callback(self._restoring.discard)


async def _quietly(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except MaestroError as error:
        _log.warning("room", error=error.message)


async def _see(asked: _Asked) -> Sight:
    return await see(asked.states, asked.ref, asked.terminal, launched=asked.launched)


async def _room(asked: _Asked) -> Room:
    tmux, ref = asked.states.tmux, asked.ref
    facts = await tmux.act(ref, ("display-message", "-p", "-t", ref.pane_id, ROOM_FORMAT))
    sizing = await tmux.act(ref, ("show-options", "-w", "-v", "-t", ref.pane_id, "window-size"))
    words = facts[0].split() if facts else []
    if len(words) != 6:
        raise DaemonError("tmux does not tell the size of a window.", hint="Try again in a moment.")
    window, width, height, zoomed, panes, active = words
    return Room(
        secrets.token_hex(8),
        window,
        int(width),
        int(height),
        zoomed == "1",
        int(panes),
        active,
        "".join(sizing),
    )


async def _until_drawn(asked: _Asked, small: Sight) -> Sight:
    """Waits until the dialog is drawn in the larger pane, all of it, and stays so for a moment."""
    loop = asyncio.get_running_loop()
    begun = since = loop.time()
    seen = small
    while loop.time() - begun < _DRAW_SECONDS:
        now = await _see(asked)
        if now.content != seen.content or _size(now) != _size(seen):
            since = loop.time()
        seen = now
        is_rest = is_too_small(seen) or is_partly_read(seen) or seen.screen.state == "unknown"
        is_still = loop.time() - since >= (_SURE_SECONDS if is_rest else STILL_SECONDS)
        if (is_still and _size(seen) != _size(small)) or seen.shown or seen.focused or seen.pane.dead:
            return seen
        await asyncio.sleep(_LOOK_SECONDS)
    return seen


async def _until_small(asked: _Asked, room: Room) -> None:
    """Waits until the window has its size again, and what stands in it is drawn."""
    loop = asyncio.get_running_loop()
    begun = loop.time()
    settling = Settling((room.width, room.height))
    while loop.time() - begun < _DRAW_SECONDS:
        await asyncio.sleep(_LOOK_SECONDS)
        if settling.is_over(await _see(asked), loop.time()):
            return


def _window_of(held: _Held) -> _Window:
    return _Window(*held.asked.ref[:2], held.room.window_id)


def _size(sight: Sight) -> tuple[int, int]:
    return sight.pane.width, sight.pane.height
