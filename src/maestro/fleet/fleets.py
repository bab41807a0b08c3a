"""The tmux servers of this daemon's fleets: where they are, opened when needed, let go of when it ends."""

from __future__ import annotations

import asyncio
import os
import socket
from collections import defaultdict

from maestro import home as homes
from maestro.agents.registry import line_globs, title_globs
from maestro.errors import Conflict, DaemonError, NotFound
from maestro.fleet.guests import Guests
from maestro.fleet.states import PaneStates
from maestro.fleet.tmux import Pane, Tmux
from maestro.ledger import sessions
from maestro.ledger.journal import Journal


class Fleets:
    def __init__(self, journal: Journal, home: homes.Home) -> None:
        self.journal = journal
        self.home = home
        self.guests = Guests(home.path("guests.json"))
        self._fleets: dict[str, PaneStates] = {}
        # Held while a fleet's server is reached or ended, so that neither comes into the middle of the other.
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._ending: set[str] = set()
        self._closed = False

    def socket(self, fleet: str) -> str:
        return self.guests.socket(fleet) or self.home.path("fleets", fleet)

    def names(self) -> list[str]:
        """Fleets that have, or had, a tmux server; those of our own and those where we are guests."""
        try:
            own = os.listdir(self.home.path("fleets"))
        except FileNotFoundError:
            own = []
        return sorted({*own, *self.guests.names()})

    def runs(self, fleet: str) -> bool:
        """Whether a tmux server answers at the fleet's socket. One that is being ended may still do so, and fails."""
        if fleet in self._ending:
            return False
        try:
            with socket.socket(socket.AF_UNIX) as knocking:
                knocking.connect(self.socket(fleet))
        except OSError:
            return False
        return True

    async def open(self, fleet: str) -> Tmux:
        """The fleet's tmux server, started if need be."""
        async with self._turns[fleet]:
            return (await self._reach(fleet, may_start=True)).tmux

    async def _reach(self, fleet: str, *, may_start: bool) -> PaneStates:
        states = self._fleets.get(fleet)
        if states is None:
            path = self.socket(fleet)
            homes.check_socket_path(path)
            guest = self.guests.socket(fleet) is not None
            if not guest:
                _make_folder(os.path.dirname(path))
            tmux = Tmux(path, dict(os.environ), guest=guest, titles=title_globs(), lines=line_globs())
            states = self._fleets[fleet] = PaneStates(tmux, self.journal.clock)
            tmux.on_change = lambda: self._changed(fleet)
        before = states.tmux.server
        if await states.tmux.start(may_start=may_start) != before and not states.tmux.guest:
            await states.install()
        return states

    async def states(self, fleet: str) -> PaneStates:
        """The state of a running fleet's panes."""
        async with self._turns[fleet]:
            states = await self._running(fleet)
        if states is None:
            raise NotFound(f"The fleet “{fleet}” does not run.", hint="`maestro up` starts it.")
        return states

    async def find_pane(self, wanted: str, fleet: str | None = None) -> tuple[PaneStates, Pane]:
        """The pane that is meant: by its id (`%3`), its label, or its session's id or name."""
        fleets = [fleet] if fleet else [name for name in self.names() if self.runs(name)]
        found: list[tuple[PaneStates, Pane]] = []
        for name in fleets:
            states = await self.states(name)
            panes = await states.tmux.panes()
            found += [(states, p) for p in panes if wanted in {p.pane_id, p.label, p.session_id}]
        if not found and not wanted.startswith("%"):
            session = await asyncio.to_thread(
                self.journal.read, lambda connection: sessions.get_session(connection, wanted)
            )
            if session.place is not None and session.id != wanted:
                return await self.find_pane(session.id, session.place.fleet)
        if len(found) == 1:
            return found[0]
        if found:
            raise Conflict(
                f"“{wanted}” is a pane in {len(found)} fleets.", hint="Name the fleet: --fleet NAME"
            )
        raise NotFound(f"There is no pane “{wanted}”.", hint="`maestro fleet list-panes` shows all.")

    async def running(self, fleet: str) -> Tmux | None:
        """The fleet's tmux server if it runs."""
        async with self._turns[fleet]:
            states = await self._running(fleet)
        return states.tmux if states is not None else None

    async def _running(self, fleet: str) -> PaneStates | None:
        """Reach a server that runs. Whoever only looks must not start one anew that is just ended."""
        if not self.runs(fleet):
            return None
        try:
            return await self._reach(fleet, may_start=False)
        except DaemonError:
            if self.runs(fleet):
                raise
            return None

    async def end_fleet(self, fleet: str) -> None:
        """End the fleet's tmux server, and remove its socket."""
        if self.guests.socket(fleet) is not None:
            raise Conflict(
                f"{fleet} is a tmux server of your own.", hint="End it yourself: Maestro only looks into it."
            )
        async with self._turns[fleet]:
            reached = await self._running(fleet)
            self._ending.add(fleet)
            try:
                states = self._fleets.pop(fleet, None)
                if states is not None:
                    states.tmux.on_change = lambda: None
                    await states.close()
                if reached is not None:
                    await reached.tmux.kill_server()
                if os.path.exists(self.socket(fleet)):  # noqa: ASYNC240 - one look at a local file
                    os.unlink(self.socket(fleet))
            finally:
                self._ending.discard(fleet)

    async def close(self) -> None:
        """Let go of every server; they live on."""
        self._closed = True
        for states in self._fleets.values():
            await states.close()
            await states.tmux.close()

    def _changed(self, fleet: str) -> None:
        """tmux has news."""
        if not self._closed:
            self._fleets[fleet].changed()


def _make_folder(path: str) -> None:
    """Make the fleets' folder, but not the home around it: a home that was removed stays removed."""
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        pass
