"""The panes' state in tmux: read, settled, changed one at a time, shown. Pane options are the only memory."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from maestro.errors import Conflict, DaemonError, MaestroError, NotFound
from maestro.fleet import colours, focus, leases, panes, reading
from maestro.fleet.commands import Command, capture_command, option_commands, style_commands
from maestro.fleet.facts import Glance, Pane, PaneRef, ServerId
from maestro.fleet.panes import PaneState
from maestro.fleet.tmux import Tmux

STATUS_OPTION = "@maestro_status"
NEXT_OPTION = "@maestro_next"
WINDOW_OPTION = "@window_notify"
# In tmux's prefix table: go to the next pane that needs the human.
NEXT_KEY = "N"


@dataclass(frozen=True)
class Look:
    """All panes at one moment."""

    glances: Mapping[str, Glance]
    states: Mapping[str, PaneState]
    now: int
    shown: frozenset[str] = frozenset()  # the windows that somebody may see

    def of(self, pane_ids: Collection[str]) -> dict[str, PaneState]:
        return {pane_id: state for pane_id, state in self.states.items() if pane_id in pane_ids}

    def but(self, states: Mapping[str, PaneState]) -> Look:
        return Look(self.glances, {**self.states, **states}, self.now, self.shown)


@dataclass(frozen=True)
class Scope:
    """Which of all panes a coordinator looks after, and which words meant none."""

    all: frozenset[str]
    managed: frozenset[str]
    unknown: tuple[str, ...]


@dataclass(frozen=True)
class Taken:
    """A pane that a coordinator was given."""

    pane: Pane
    state: PaneState
    before: PaneState
    screen: str


class PaneStates:
    """`changed` must be called when tmux tells that something changed: it is for `Tmux.on_change`."""

    def __init__(
        self,
        tmux: Tmux,
        clock: Callable[[], int],
        *,
        focus_idle: int = focus.FOCUS_IDLE,
        lease: int = leases.LEASE,
    ) -> None:
        self.tmux = tmux
        self.closing = False
        self._clock = clock
        self._focus_idle = focus_idle
        self._lease = lease
        # Whoever reads in order to write holds this, so that two coordinators never take the same pane.
        self._turn = asyncio.Lock()
        self._news = asyncio.Event()
        self._waiting = 0
        self._settling: asyncio.Task[None] | None = None
        self._again = False
        self._timer: asyncio.TimerHandle | None = None
        # What tmux shows already: a pane's colours, a window's state, the segment.
        self._shown: dict[object, str] = {}
        self._showing: set[asyncio.Task[None]] = set()

    async def install(self) -> None:
        """What a person sees and presses, on a server of our own."""
        jump = f"if-shell -F '#{{{NEXT_OPTION}}}' {{ run-shell -C 'switch-client -t #{{{NEXT_OPTION}}}' }}"
        await self.tmux.run_many(
            [
                ("set-option", "-g", "status-right", f"#{{{STATUS_OPTION}}} "),
                ("set-option", "-g", "status-right-length", "80"),
                ("set-option", "-g", "-w", "pane-border-status", "top"),
                ("set-option", "-g", "-w", "pane-border-format", colours.BORDER_FORMAT),
                ("bind-key", "-N", "Next pane that needs you", NEXT_KEY, jump),
            ]
        )
        self._shown.clear()
        await self.look()

    async def close(self) -> None:
        """Nobody waits any longer; what tmux holds stays as it is."""
        self.closing = True
        if self._timer is not None:
            self._timer.cancel()
        if self._settling is not None:
            await asyncio.wait([self._settling])
        self._ring()
        if self._showing:
            await asyncio.wait(set(self._showing))

    # Waking.

    def changed(self) -> None:
        """Something may have changed: whoever waits looks again, and if nobody waits, we look."""
        self._ring()
        if self._waiting or self.closing:
            return
        if self._settling is None or self._settling.done():
            self._settling = asyncio.get_running_loop().create_task(self._settle())
        else:
            self._again = True

    def news(self) -> asyncio.Event:
        """Take this before looking, wait on it after: news in between is then not missed."""
        return self._news

    async def wait(self, news: asyncio.Event, seconds: float) -> None:
        if self.closing or seconds <= 0:
            return
        self._waiting += 1
        try:
            async with asyncio.timeout(seconds):
                await news.wait()
        except TimeoutError:
            return
        finally:
            self._waiting -= 1

    def _ring(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    async def _settle(self) -> None:
        self._again = True
        while self._again:
            self._again = False
            try:
                await self.look()
            except MaestroError:
                # Without tmux there is nothing to settle; whoever needs a pane is told so when they ask.
                return

    # Reading.

    async def look(self) -> Look:
        """The state of every pane now, with what changed by itself written down and shown."""
        async with self._turn:
            look = await self._look()
            self._show(look)
            return look

    async def scope(self, wanted: Sequence[str] | None, own_pane: str) -> Scope:
        """The panes that a coordinator looks after."""
        found = await self.tmux.panes()
        chosen, unknown = panes.managed(found, wanted, own_pane)
        return Scope(frozenset(pane.pane_id for pane in found), frozenset(chosen), tuple(unknown))

    async def _look(self) -> Look:
        glances, clients = await self.tmux.glance()
        now = self._clock()
        focused = focus.focused_panes(clients, now, self._focus_idle)
        found = {glance.pane_id: glance for glance in glances}
        before = {pane_id: panes.state_of(glance) for pane_id, glance in found.items()}
        states = {
            pane_id: panes.settled(state, focused=pane_id in focused, now=now)
            for pane_id, state in before.items()
        }
        changes = [
            (found[pane_id], state)
            for pane_id, state in states.items()
            if state != before[pane_id] or self._unshown(found[pane_id].ref, state)
        ]
        await asyncio.gather(*(self._try_write(glance.ref, state) for glance, state in changes))
        ends = [focus.next_lapse(clients, now, self._focus_idle)]
        ends += [state.lease.until for state in states.values() if state.lease.holds(now)]
        self._look_again_at(min((end for end in ends if end is not None), default=None), now)
        return Look(found, states, now, focus.shown_windows(clients, now, self._focus_idle))

    async def _state(self, ref: PaneRef) -> PaneState:
        """One pane's state, if it is still that pane."""
        lines = await self.tmux.act(ref, ("display-message", "-p", "-t", ref.pane_id, reading.GLANCE_FORMAT))
        [glance] = reading.glances(lines, _server(ref), "")
        return panes.state_of(glance)

    # Changing.

    async def notify(self, ref: PaneRef, word: str) -> PaneState:
        """A worker says what happened."""
        notify = panes.asked_notify(word)
        async with self._turn:
            state = panes.notified(await self._state(ref), notify, self._clock())
            await self._write(ref, state)
        self.changed()
        return state

    async def connect(self, ref: PaneRef, coordinator: str) -> PaneState:
        async with self._turn:
            look = await self._look()
            state = look.states.get(ref.pane_id, PaneState())
            if state.focused:
                raise Conflict(f"The human looks at pane {ref.pane_id}.")
            if not leases.may_take(state.lease, coordinator, look.now):
                raise Conflict(f"Pane {ref.pane_id} is engaged by {state.lease.coordinator}.")
            lease = leases.taken(coordinator, look.now, self._lease)
            state = panes.taken_up(state, lease, look.now, told=True)
            await self._write(ref, state)
            self._show(look.but({ref.pane_id: state}))
            return state

    async def disconnect(self, ref: PaneRef, coordinator: str | None = None) -> PaneState:
        """Its coordinator is through with it; without one: whoever was engaged."""
        async with self._turn:
            state = await self._state(ref)
            if not state.lease.coordinator:
                return state
            if coordinator is not None and state.lease.coordinator != coordinator:
                raise Conflict(f"Pane {ref.pane_id} is engaged by {state.lease.coordinator}.")
            state = panes.handed_back(state)
            await self._write(ref, state)
        self.changed()
        return state

    async def hand_back(self, coordinator: str, *, handled: bool = False) -> None:
        """Whatever this coordinator was given before is dealt with."""
        async with self._turn:
            look = await self._look()
            given = {
                pane_id: panes.handed_back(state, handled=handled)
                for pane_id, state in look.states.items()
                if state.lease.coordinator == coordinator
            }
            for pane_id, state in given.items():
                await self._try_write(look.glances[pane_id].ref, state)
            self._show(look.but(given))

    async def still_engaged(self, ref: PaneRef, coordinator: str) -> bool:
        """Whether it may go on with the pane: it still has it, and the human has not come."""
        look = await self.look()
        glance, state = look.glances.get(ref.pane_id), look.states.get(ref.pane_id)
        return (
            glance is not None
            and state is not None
            and glance.ref == ref
            and state.lease.coordinator == coordinator
        )

    async def take_next(
        self, coordinator: str, scope: Collection[str], *, told: bool
    ) -> tuple[Taken | None, Look]:
        """Sweep; engage the coordinator with the first pane that it should take, and capture that pane."""
        async with self._turn:
            look = await self._look()
            for pane_id in panes.queue(look.of(scope), look.now):
                ref, before = look.glances[pane_id].ref, look.states[pane_id]
                taken = await self._take(ref, before, coordinator, look.now, told=told)
                if taken is not None:
                    look = look.but({pane_id: taken.state})
                    break
            else:
                taken = None
            self._show(look)
            return taken, look

    async def confirm(self, taken: Taken) -> None:
        """Its coordinator has been told of the pane."""
        async with self._turn:
            try:
                state = await self._state(taken.pane.ref)
                if state.lease == taken.state.lease:
                    await self._write(taken.pane.ref, state._replace(told=True))
            except (Conflict, NotFound):
                return

    async def release(self, taken: Taken) -> None:
        """Taken, but its coordinator never learned of it: the next one gets it."""
        async with self._turn:
            try:
                state = await self._state(taken.pane.ref)
                if state.lease == taken.state.lease:
                    await self._write(taken.pane.ref, panes.let_go(state, taken.before))
            except (Conflict, NotFound):
                return
        self.changed()

    async def _take(
        self, ref: PaneRef, before: PaneState, coordinator: str, now: int, *, told: bool
    ) -> Taken | None:
        state = panes.taken_up(before, leases.taken(coordinator, now, self._lease), now, told=told)
        try:
            screen, facts = await asyncio.gather(
                self.tmux.act(ref, *self._writing(ref, state), capture_command(ref)),
                self.tmux.act(ref, ("display-message", "-p", "-t", ref.pane_id, reading.PANE_FORMAT)),
            )
        except (Conflict, NotFound):
            # It was closed after the sweep.
            return None
        except (asyncio.CancelledError, DaemonError):
            # tmux may have done it already, and nobody will be told.
            with contextlib.suppress(DaemonError):
                await asyncio.shield(self._try_write(ref, before))
            asyncio.get_running_loop().call_soon(self.changed)
            raise
        [pane] = reading.panes(facts, _server(ref))
        return Taken(pane, state, before, "\n".join(screen))

    async def _try_write(self, ref: PaneRef, state: PaneState) -> None:
        try:
            await self._write(ref, state)
        except (Conflict, NotFound):
            # The pane is gone, and its state with it.
            return

    async def _write(self, ref: PaneRef, state: PaneState) -> None:
        await self.tmux.act(ref, *self._writing(ref, state))

    def _writing(self, ref: PaneRef, state: PaneState) -> list[Command]:
        commands = option_commands(ref, panes.options_of(state))
        if not self.tmux.guest and self._unshown(ref, state):
            self._shown[ref] = colours.pane_style(state)
            commands += style_commands(ref, self._shown[ref])
        return commands

    # Showing.

    def _unshown(self, ref: PaneRef, state: PaneState) -> bool:
        # A pane of which nothing was ever said has tmux's own colours.
        shown = self._shown.get(ref, None if state.notify else "")
        return not self.tmux.guest and shown != colours.pane_style(state)

    def _show(self, look: Look) -> None:
        """Windows, the status bar's segment, where the key leads: what is not shown already. Nobody waits for it."""
        if self.tmux.guest:
            return
        self._shown = {
            key: shown
            for key, shown in self._shown.items()
            if not isinstance(key, PaneRef) or key.pane_id in look.glances
        }
        wanted = _showing(look)
        new = {key: value for key, value in wanted.items() if self._shown.get(key) != value[0]}
        self._shown.update({key: text for key, (text, _) in new.items()})
        commands = [command for _, commands in new.values() for command in commands]
        if commands:
            task = asyncio.get_running_loop().create_task(self._run_shown(commands))
            self._showing.add(task)
            task.add_done_callback(self._showing.discard)

    async def _run_shown(self, commands: Sequence[Command]) -> None:
        try:
            await self.tmux.run_many(commands)
        except MaestroError:
            # A window, or tmux itself, is gone; the next look shows what is there then.
            return

    def _look_again_at(self, moment: int | None, now: int) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if moment is not None and not self.closing:
            delay = max(moment - now, 1) / 1000
            self._timer = asyncio.get_running_loop().call_later(delay, self.changed)


def _showing(look: Look) -> dict[object, tuple[str, list[Command]]]:
    """What should be seen, and the commands that show it."""
    wanted: dict[object, tuple[str, list[Command]]] = {}
    windows: dict[str, list[PaneState]] = {}
    for pane_id, state in look.states.items():
        windows.setdefault(look.glances[pane_id].window_id, []).append(state)
    for window, states in windows.items():
        notify = panes.loudest(states)
        target = ("set-option", "-q", "-w", "-t", window)
        styled = (*target, "window-status-style", colours.window_style(notify))
        wanted[window] = (notify, [(*target, WINDOW_OPTION, notify), styled])
    needing = panes.needing_human(look.states, look.now)
    for option, text in (
        (STATUS_OPTION, panes.segment(look.states, look.now)),
        (NEXT_OPTION, needing[0] if needing else ""),
    ):
        wanted[option] = (text, [("set-option", "-g", option, text)])
    return wanted


def _server(ref: PaneRef) -> ServerId:
    return ServerId(ref.server_pid, ref.server_started)
