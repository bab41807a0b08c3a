"""Looks at panes, and gives one of a fleet's own more room while a dialog that is larger than it is read or answered.

Only while nobody sees it: whoever opens its window finds it as it was. tmux itself takes the room back when somebody
attaches, and when this daemon's connection ends, so that one that was killed leaves nothing behind.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections import defaultdict
from collections.abc import Coroutine
from typing import Any, Final, NamedTuple

import structlog

from maestro.agents.terminal import Terminal
from maestro.errors import DaemonError, MaestroError
from maestro.fleet.commands import ROOM_FORMAT, Room, enlarge_commands, restore_command
from maestro.fleet.facts import PaneRef, Sight
from maestro.fleet.room import LARGE, is_cramped, is_partly_read, is_too_small, may_enlarge
from maestro.fleet.sight import see
from maestro.fleet.states import PaneStates

_log = structlog.get_logger("enlarging")

_LOOK_SECONDS: Final = 0.04
_STILL_SECONDS: Final = 0.25  # a screen that did not change for so long is drawn
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


class Enlarging:
    def __init__(self) -> None:
        self._held: dict[PaneRef, _Held] = {}
        # Held while a pane gets its room or gives it back: what stands there meanwhile is half drawn.
        self._turns: defaultdict[PaneRef, asyncio.Lock] = defaultdict(asyncio.Lock)
        # Small screens that said nothing when they were larger either.
        self._tried: dict[PaneRef, str] = {}
        self._restoring: set[asyncio.Task[None]] = set()

    async def close(self) -> None:
        for held in self._held.values():
            held.end.cancel()
            with contextlib.suppress(MaestroError):
                await held.asked.states.tmux.run(*restore_command(held.room))
        self._held.clear()

    async def see(
        self, states: PaneStates, ref: PaneRef, terminal: Terminal | None, *, launched: bool
    ) -> Sight:
        """One look, at the whole dialog where that can be had."""
        asked = _Asked(states, ref, terminal, launched)
        if ref not in self._turns:
            sight = await _see(asked)
            if not self._would_help(ref, sight):
                return sight
        async with self._turns[ref]:
            sight = await _see(asked)
            held = self._held.get(ref)
            if held is not None and is_cramped(sight):
                # tmux took the room back: somebody came or went.
                held.end.cancel()
                self._held.pop(ref)
                held = None
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

    async def _enlarged(self, asked: _Asked, small: Sight) -> Sight:
        """Enlarges, and waits until the dialog is drawn anew and stays so."""
        if not await self._is_free(asked, small.pane.window_id):
            return small
        room = await _room(asked)
        try:
            await asked.states.tmux.act(asked.ref, *enlarge_commands(asked.ref, room, LARGE))
        except MaestroError as error:
            _log.warning("not enlarged", pane=asked.ref.pane_id, error=error.message)
            return small
        self._hold(asked, room)
        sight = await _until_drawn(asked, small)
        if sight.shown or sight.focused:
            await self._restored(self._held[asked.ref])
            return await _see(asked)
        if sight.screen.state == "unknown":
            self._tried[asked.ref] = small.content
        return sight

    async def _is_free(self, asked: _Asked, window_id: str) -> bool:
        """Whether no other pane of the same window has the room, or gives it back in time."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _TURN_SECONDS
        while any(
            held.room.window_id == window_id and ref[:2] == asked.ref[:2] for ref, held in self._held.items()
        ):
            if loop.time() >= deadline:
                return False
            await asyncio.sleep(_LOOK_SECONDS)
        return True

    def _hold(self, asked: _Asked, room: Room) -> None:
        """The room stays for as long as somebody looks, and a little longer."""
        before = self._held.get(asked.ref)
        if before is not None:
            before.end.cancel()
        loop = asyncio.get_running_loop()
        end = loop.call_later(_KEPT_SECONDS, lambda: self._soon(self._give_back(asked.ref)))
        self._held[asked.ref] = _Held(asked, room, end)

    async def _give_back(self, ref: PaneRef) -> None:
        async with self._turns[ref]:
            held = self._held.get(ref)
            if held is not None:
                await self._restored(held)

    async def _yield_to_human(self, held: _Held) -> None:
        look = await held.asked.states.look()
        if held.room.window_id in look.shown:
            await self._give_back(held.asked.ref)

    async def _restored(self, held: _Held) -> None:
        """The window as it was, and the dialog drawn in it."""
        held.end.cancel()
        self._held.pop(held.asked.ref, None)
        # Of a pane that is gone the window may still be there.
        await held.asked.states.tmux.run(*restore_command(held.room))
        with contextlib.suppress(MaestroError):
            await _until_small(held.asked, held.room)

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
        is_still = loop.time() - since >= (_SURE_SECONDS if is_rest else _STILL_SECONDS)
        if (is_still and _size(seen) != _size(small)) or seen.shown or seen.focused or seen.pane.dead:
            return seen
        await asyncio.sleep(_LOOK_SECONDS)
    return seen


async def _until_small(asked: _Asked, room: Room) -> None:
    """Waits until the window has its size again, and what stands in it is drawn."""
    loop = asyncio.get_running_loop()
    begun = since = loop.time()
    content = ""
    while loop.time() - begun < _DRAW_SECONDS and loop.time() - since < _STILL_SECONDS:
        await asyncio.sleep(_LOOK_SECONDS)
        seen = await _see(asked)
        is_large = seen.pane.width > room.width or seen.pane.height > room.height
        if is_large or seen.content != content:
            content, since = seen.content, loop.time()


def _size(sight: Sight) -> tuple[int, int]:
    return sight.pane.width, sight.pane.height
