"""The open files of a tmux server: each pane takes one, and a server that has none left answers nobody any more."""

from __future__ import annotations

import os
import resource
from typing import Final

ENOUGH: Final = 1024  # for about a thousand panes
SPARE: Final = 32  # for clients, for commands, and for panes that are opened in the same moment


def allow_enough(pid: int) -> None:
    """Raise a low limit of this server, as far as the system lets us; the programs in its panes inherit it."""
    try:
        soft, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        enough = ENOUGH if hard == resource.RLIM_INFINITY else min(hard, ENOUGH)
        if soft != resource.RLIM_INFINITY and soft < enough:
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (enough, hard))
    except OSError:
        # It has ended, or is not ours to change: then what it may open is what there is.
        return


def limit_reached(pid: int) -> int | None:
    """Returns how many files this server may open when no other pane should be; None while there is room."""
    try:
        soft, _ = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        opened = len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return None
    return soft if soft != resource.RLIM_INFINITY and opened + SPARE > soft else None
