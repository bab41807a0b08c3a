"""Pure: which panes the human looks at. Computed when it is used; nothing is remembered that could be stale."""

from __future__ import annotations

from collections.abc import Iterable

from maestro.fleet.facts import Client

# A terminal that nobody touched for so long is only left open.
FOCUS_IDLE = 120_000
# A touch that is later than now by more than tmux's whole seconds was before the clock was set back.
_ROUNDED = 2_000


def looks(client: Client, now: int, idle: int = FOCUS_IDLE) -> bool:
    """Whether a human sits at this client: a program never does, nor does a window that is in the background."""
    return (
        not client.control
        and "control-mode" not in client.flags
        and "focused" in client.flags
        and "suspended" not in client.flags
        and _is_touched(client, now, idle)
    )


def focused_panes(clients: Iterable[Client], now: int, idle: int = FOCUS_IDLE) -> frozenset[str]:
    return frozenset(client.pane_id for client in clients if looks(client, now, idle))


def shown_windows(clients: Iterable[Client], now: int, idle: int = FOCUS_IDLE) -> frozenset[str]:
    """The windows that somebody may see: on a terminal that was touched lately, whether or not it has the keyboard."""
    return frozenset(
        client.window_id
        for client in clients
        if "suspended" not in client.flags and _is_touched(client, now, idle)
    )


def next_lapse(clients: Iterable[Client], now: int, idle: int = FOCUS_IDLE) -> int | None:
    """When the first of them will have looked for the last time, if nobody touches anything."""
    return min((_lapses(client, idle) for client in clients if looks(client, now, idle)), default=None)


def _is_touched(client: Client, now: int, idle: int) -> bool:
    """Whether somebody touched it lately."""
    return client.activity * 1000 <= now + _ROUNDED and now < _lapses(client, idle)


def _lapses(client: Client, idle: int) -> int:
    # tmux tells whole seconds: the touch may have been at the very end of that one.
    return (client.activity + 1) * 1000 + idle
