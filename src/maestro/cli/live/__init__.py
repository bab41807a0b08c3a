"""`maestro` alone on a terminal: the live view, until the person leaves it."""

from __future__ import annotations

import os


def run() -> int:
    from maestro.server.client import Daemon

    daemon = Daemon(os.environ)
    # What is wrong with the daemon is told as every command tells it, before the screen is taken.
    daemon.call("GET", "/api/health")
    from maestro.cli.live.app import Live

    # Without the mouse the terminal's own selecting and copying still works.
    Live(daemon).run(mouse=False)
    return 0
