"""One look at a session's pane: what tmux says of it, what its screen shows, who has its terminal, who looks at it."""

from __future__ import annotations

import asyncio

from maestro import processes
from maestro.agents.screen import UNKNOWN, captured
from maestro.agents.terminal import Terminal
from maestro.fleet import reading
from maestro.fleet.commands import capture_command
from maestro.fleet.facts import Pane, PaneRef, ServerId, Sight
from maestro.fleet.states import PaneStates


async def see(states: PaneStates, ref: PaneRef, terminal: Terminal | None, *, launched: bool) -> Sight:
    """`launched`: the pane's own process is the agent, because Maestro started it there."""
    look, facts, lines = await asyncio.gather(
        states.look(),
        states.tmux.act(ref, ("display-message", "-p", "-t", ref.pane_id, reading.PANE_FORMAT)),
        states.tmux.act(ref, capture_command(ref, escapes=True)),
    )
    [pane] = reading.panes(facts, ServerId(ref.server_pid, ref.server_started))
    capture = captured("\n".join(lines), title=pane.title, cursor=(pane.cursor_x, pane.cursor_y))
    state = look.states.get(pane.pane_id)
    in_front, front = _front(pane, terminal, launched=launched)
    return Sight(
        pane=pane,
        screen=UNKNOWN if terminal is None else terminal.read_screen(capture),
        title=None if terminal is None else terminal.read_title(pane.title),
        focused=state is not None and state.focused,
        in_front=in_front,
        front=front,
        content="\n".join(capture.lines),
        at=look.now,
        shown=pane.window_id in look.shown,
        own=not states.tmux.guest,
    )


def _front(pane: Pane, terminal: Terminal | None, *, launched: bool) -> tuple[bool | None, str]:
    if terminal is None or processes.foreground(pane.pane_pid) is None:
        return None, pane.command
    if any(map(terminal.is_agent, processes.in_foreground(pane.pane_pid))):
        return True, pane.command
    # In a sandbox, or under another name: but it is the very process that we started.
    return launched and processes.has_foreground(pane.pane_pid) is True, pane.command
