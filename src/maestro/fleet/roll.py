"""The sessions of this daemon's fleets, found again: what became of each, whatever was recorded when the daemon died.

A session's pane carries its id (`@session_id`), so that the pane and the session find each other.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Final

import structlog

from maestro import home as homes
from maestro import processes
from maestro.agents.registry import terminal_named
from maestro.agents.screen import ScreenState, captured
from maestro.errors import MaestroError
from maestro.fleet.deaths import LAST_LINES, early_end, killed_by, killed_end
from maestro.fleet.environments import Environments
from maestro.fleet.fleets import Fleets
from maestro.fleet.proof import LOST, left_in_queue
from maestro.fleet.spools import FOLDER as SPOOLS
from maestro.fleet.spools import Spools
from maestro.fleet.tmux import Pane, Tmux
from maestro.ledger import prompts, sessions, sight
from maestro.ledger.facts import Place, Prompt, Session, SessionChange, SessionStatus
from maestro.ledger.journal import Change, Journal
from maestro.ledger.roles import HUMAN, Actor

_log = structlog.get_logger("roll")

READY_SECONDS: Final = 30.0
# How a session that was not ended by anybody is marked: `up --resume` opens these again.
GONE: Final = "Gone:"
_LOOK_SECONDS: Final = 0.05
# What a screen says of a session, as far as it says anything.
STATUS_SHOWN: Final[dict[ScreenState, SessionStatus]] = {
    "idle": "idle",
    "error": "failed",
    "limit": "limited",
    "working": "working",
    "background": "working",
    "retrying": "retrying",
    "question": "needs_input",
    "permission": "needs_input",
    "plan": "needs_input",
    "dialog": "needs_input",
}
_STATUS_LOOKS: Final = 30


class Roll(Fleets):
    """Every session that lives in a pane, and whether it still does."""

    def __init__(
        self, journal: Journal, home: homes.Home, transcript_of: Callable[[Session], os.PathLike[str] | None]
    ) -> None:
        super().__init__(journal, home)
        self.environments = Environments(home)
        self.spools = Spools(home.path(SPOOLS))
        self.transcript_of = transcript_of
        # Set by whoever reads screens: told when tmux has news of a fleet; types what a CLI cannot be started with;
        # keeps what a session asks; tells what it said last; told, in the transaction, of a prompt that was lost.
        self.on_change: Callable[[str], None] = lambda _fleet: None
        self.type_first: Callable[[Session, str], Awaitable[None]] | None = None
        self.look_at: Callable[[Session], Awaitable[object]] | None = None
        self.last_words: Callable[[Session], str] = lambda _session: ""
        self.on_lost: Callable[[Change, str], object] = lambda _change, _prompt_id: None
        self._settling: dict[str, asyncio.Task[None]] = {}
        self._unsettled: set[str] = set()
        self._stopping: set[str] = set()
        self._awaited: set[str] = set()

    async def close(self) -> None:
        self._closed = True
        for task in self._settling.values():
            task.cancel()
        await asyncio.gather(*self._settling.values(), return_exceptions=True)
        await self.spools.close()
        await super().close()

    # Evidence.

    def is_awaited(self, session_id: str) -> bool:
        """Whether somebody waits for the first sign of it, and will say what it shows."""
        return session_id in self._awaited

    async def _ready(self, tmux: Tmux, session_id: str, pane: Pane, *, quiet: bool) -> Session:
        self._awaited.add(session_id)
        try:
            session = await self._first_sign(tmux, session_id, pane, quiet=quiet)
        finally:
            self._awaited.discard(session_id)
        if session.place is not None and session.status not in sessions.ENDED:
            # What its title said meanwhile was not listened to. One that gives no sign yet will be heard by its own.
            self.on_change(session.place.fleet)
        return session

    async def _first_sign(self, tmux: Tmux, session_id: str, pane: Pane, *, quiet: bool) -> Session:
        """Wait for evidence that the agent is there: its transcript, or, without a prompt, its screen; or a dialog
        that it shows first. An agent that dies before has failed, and its last screen says why."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + READY_SECONDS
        while loop.time() < deadline:
            session = await self.session(session_id)
            if session.status != "spawning":
                return session
            now = next(
                (p for p in await tmux.panes() if p.ref == pane.ref or p.pane_id == pane.pane_id), None
            )
            if now is None or now.dead:
                return await self._died(tmux, session_id, now)
            # One that is opened again has its transcript of before.
            if not quiet and await asyncio.to_thread(self.transcript_of, session) is not None:
                return await self._move(session_id, "working")
            shown = await self._shown_status(tmux, now, session.agent)
            if shown is not None and (quiet or shown == "needs_input"):
                ready = await self._move(session_id, shown)
                if shown == "needs_input" and self.look_at is not None:
                    await self.look_at(ready)
                return ready
            await asyncio.sleep(_LOOK_SECONDS)
        # It lives, and nothing proves more: its status stays as it is.
        return await self.session(session_id)

    @staticmethod
    async def _shown_status(tmux: Tmux, pane: Pane, agent: str) -> SessionStatus | None:
        """What the screen says of an agent that has just been started."""
        terminal = terminal_named(agent)
        capture = captured(await tmux.capture(pane.ref, escapes=True), title=pane.title)
        if terminal is None:
            return "idle" if any(capture.lines) else None
        screen = terminal.read_screen(capture)
        return "needs_input" if screen.question is not None else STATUS_SHOWN.get(screen.state)

    async def _died(self, tmux: Tmux, session_id: str, pane: Pane | None) -> Session:
        if pane is None:
            return await self._end(session_id, "error", "Its pane is gone.")
        pane = await self._with_exit_status(tmux, pane)
        if signal := killed_by(pane.exit_status, pane.exit_signal):
            words = await asyncio.to_thread(self.last_words, await self.session(session_id))
            return await self._end(session_id, "error", killed_end(signal, words))
        shown = (await tmux.capture(pane.ref, lines=LAST_LINES)).splitlines()
        return await self._end(session_id, "error", early_end(pane.exit_status, pane.exit_signal, shown))

    @staticmethod
    async def _with_exit_status(tmux: Tmux, pane: Pane) -> Pane:
        """tmux may know that a program ended before it knows how."""
        for _ in range(_STATUS_LOOKS):
            if pane.exit_status is not None or pane.exit_signal:
                break
            await asyncio.sleep(_LOOK_SECONDS)
            pane = await tmux.pane(pane.pane_id)
        return pane

    # Finding again.

    async def settle(self) -> None:
        """After a start of the daemon: connect to every fleet that runs, and see what became of its sessions."""
        live = await asyncio.to_thread(self.journal.read, lambda c: sessions.list_sessions(c, active=True))
        await self.spools.read_reports([session.id for session in live])
        fleets = {session.place.fleet for session in live if session.place} | set(self.names())
        for fleet in sorted(fleets):
            await self.settle_fleet(fleet)
        for session in live:
            interrupted = session.status == "spawning" and session.place is None
            mine = session.host == self.journal.host and session.mode is not None
            if interrupted and mine and not await self._adopt_pane(session, fleets):
                await self._end(session.id, "error", "The daemon died before it was started.")
        await self._forget_ended()

    async def settle_fleet(self, fleet: str) -> None:
        """Sessions whose pane is gone or dead have ended; say so."""
        # In this order: a session that gets its pane meanwhile is not known yet, and not missed.
        live = await asyncio.to_thread(self.journal.read, lambda c: sessions.list_sessions(c, active=True))
        tmux = await self.running(fleet)
        panes = {pane.session_id: pane for pane in await tmux.panes() if pane.session_id} if tmux else {}
        for session in live:
            if session.place is None or session.place.fleet != fleet or session.host != self.journal.host:
                continue
            if session.id in self._stopping:
                continue  # whoever stops it says how it ended
            pane = panes.get(session.id)
            if pane is None:
                await self._end(session.id, "error", f"{GONE} tmux or the pane ended.")
            elif pane.dead and session.status != "spawning":
                assert tmux is not None
                pane = await self._with_exit_status(tmux, pane)
                if pane.exit_status == 0:
                    await self._end(session.id, "stopped", "It ended by itself.")
                else:
                    await self._died(tmux, session.id, pane)

    async def _adopt_pane(self, session: Session, fleets: set[str]) -> bool:
        for fleet in fleets:
            tmux = await self.running(fleet)
            pane = await self._pane_of(tmux, session.id) if tmux else None
            if tmux is not None and pane is not None:
                await self.place(session.id, fleet, pane.label, pane)
                await self._ready(tmux, session.id, pane, quiet=False)
                return True
        return False

    def _changed(self, fleet: str) -> None:
        """tmux has news: look what became of the sessions, once for any number of news."""
        super()._changed(fleet)
        if self._closed:
            return
        self.on_change(fleet)
        self._unsettled.add(fleet)
        running = self._settling.get(fleet)
        if running is None or running.done():
            self._settling[fleet] = asyncio.get_running_loop().create_task(self._settle_soon(fleet))

    async def _settle_soon(self, fleet: str) -> None:
        while fleet in self._unsettled:
            self._unsettled.discard(fleet)
            try:
                await self.settle_fleet(fleet)
            except MaestroError as error:
                _log.warning("settle", fleet=fleet, error=error.message)

    async def listen_to_spools(self) -> None:
        """Answer what sandboxed sessions leave as files, from now on."""
        live = await asyncio.to_thread(self.journal.read, lambda c: sessions.list_sessions(c, active=True))
        self.spools.listen([session.id for session in live])

    async def _forget_ended(self) -> None:
        """Remove what is kept for sessions that have ended for good while no daemon was there to see it."""
        every = await asyncio.to_thread(self.journal.read, sessions.list_sessions)
        staying = {session.id for session in every if session.ended_at is None or may_return(session)}
        await asyncio.to_thread(self.environments.forget_all_but, staying)

    # The ledger.

    async def require_sight(self, actor: Actor, session_id: str) -> None:
        """Raise unless the actor may see what this pane's session shows."""
        session = await self.session(session_id)
        await asyncio.to_thread(
            self.journal.read, lambda connection: sight.require_sight(connection, actor, session)
        )

    async def session(self, wanted: str) -> Session:
        return await asyncio.to_thread(self.journal.read, lambda c: sessions.get_session(c, wanted))

    async def _pane_of(self, tmux: Tmux, session_id: str) -> Pane | None:
        return next((pane for pane in await tmux.panes() if pane.session_id == session_id), None)

    async def place(self, session_id: str, fleet: str, label: str, pane: Pane) -> None:
        place = Place(
            fleet=fleet,
            label=label,
            pane_id=pane.pane_id,
            pane_pid=pane.pane_pid,
            server_pid=pane.server_pid,
            server_started=pane.server_started,
        )
        started = processes.start_time(pane.pane_pid)
        birth = (started, processes.boot_id()) if started is not None else None
        await self._write(HUMAN, lambda c: sessions.place_session(c, session_id, place, birth))

    async def _move(self, session_id: str, status: SessionStatus) -> Session:
        change = SessionChange(status=status)
        await self._write(HUMAN, lambda c: sessions.change_session(c, session_id, change, None))
        return await self.session(session_id)

    async def _end(self, session_id: str, status: SessionStatus, why: str) -> Session:
        lost = await asyncio.to_thread(self._lost_prompts, session_id)

        def work(change: Change) -> str:
            for prompt in lost:
                prompts.lose(change, prompt.id, LOST)
                self.on_lost(change, prompt.id)
            return sessions.end_session(change, session_id, status, why)

        await self._write(HUMAN, work)
        ended = await self.session(session_id)
        await self.spools.forget(session_id)
        if not may_return(ended):
            await asyncio.to_thread(self.environments.forget, session_id)
        return ended

    def _lost_prompts(self, session_id: str) -> list[Prompt]:
        """What its agent, which has ended, still held in a queue of its own."""
        session = self.journal.read(lambda c: sessions.get_session(c, session_id))
        terminal = terminal_named(session.agent)
        sent = self.journal.read(lambda c: prompts.list_prompts(c, session_id)) if terminal else []
        if terminal is None or not sent:
            return []
        path = self.transcript_of(session)
        if session.mode is None:
            if path is None:
                return []  # which transcript is its own is unknown, not whether it has one
            # Each was measured by the transcript that was taken for its own at that time.
            sent = [prompt.model_copy(update={"transcript_size": None}) for prompt in sent]
        return left_in_queue(terminal, path, sent)

    async def _write(self, actor: Actor, work: Callable[[Change], str]) -> None:
        await asyncio.to_thread(self.journal.write, actor, work)


def may_return(session: Session) -> bool:
    """Whether `up --resume` opens it again: it was ended by nobody."""
    return session.status == "error" and (session.last_report or "").startswith(GONE)
