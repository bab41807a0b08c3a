"""Sights of a pane, as a look at one would give them."""

from __future__ import annotations

from typing import Any

from maestro.agents.screen import Screen
from maestro.fleet.facts import Pane, Sight

PANE = Pane(
    server_pid=10,
    server_started=1,
    pane_id="%1",
    pane_pid=11,
    session="main",
    window_id="@1",
    window_index=0,
    window_name="w",
    pane_index=0,
    title="",
    width=100,
    height=30,
    active=True,
    window_active=True,
    dead=False,
    exit_status=None,
    exit_signal="",
    in_mode=False,
    synchronized=False,
    alternate=False,
    cursor_x=0,
    cursor_y=0,
    command="claude",
    notify="",
    coordinator_active=False,
    user_focused=False,
    book="",
    label="w",
    manages="",
    session_id="sess_1",
)
IDLE = Screen("idle", draft="")


def sight(screen: Screen = IDLE, **named: Any) -> Sight:
    """An idle agent in front of a pane that nobody looks at, but for what is named."""
    of_pane = {name: named.pop(name) for name in list(named) if name in Pane._fields}
    facts: dict[str, Any] = {"focused": False, "in_front": True, "front": "claude", "title": None} | named
    return Sight(pane=PANE._replace(**of_pane), screen=screen, content="", at=0, **facts)
