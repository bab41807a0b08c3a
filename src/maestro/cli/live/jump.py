"""From the live view to a session's pane: by the tmux that the person is in, else by one that the view makes room for."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from maestro.coordinate.overview import PaneView
from maestro.fleet.tmux import switch_argv, visit_argv


class Way(NamedTuple):
    argv: tuple[str, ...]
    env: dict[str, str]
    needs_terminal: bool  # it takes the terminal until the person detaches


def way_to(pane: PaneView, env: Mapping[str, str]) -> Way:
    """`env` is the view's own: it tells whether the view runs in the pane's tmux server."""
    here = env.get("TMUX", "").rsplit(",", 2)[0]
    if here and os.path.realpath(here) == os.path.realpath(pane.socket):
        return Way(switch_argv(pane.socket, pane.pane_id), dict(env), needs_terminal=False)
    # tmux refuses to start inside tmux unless told that it is meant.
    outside = {name: value for name, value in env.items() if name not in {"TMUX", "TMUX_PANE"}}
    return Way(visit_argv(pane.socket, pane.tmux_session, pane.pane_id), outside, needs_terminal=True)
