"""What can be seen of sessions from outside: tmux's panes, and the processes in them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.support import Maestro


def panes(maestro: Maestro, fleet: str = "maestro") -> list[str]:
    """`@session_id` of every pane of ours, as tmux itself tells."""
    done = subprocess.run(
        ["tmux", "-S", maestro.home.path("fleets", fleet), "list-panes", "-a", "-F", "#{@session_id}"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return sorted(line for line in done.stdout.splitlines() if line)


def server_of(maestro: Maestro, fleet: str = "maestro") -> int:
    """The process of a fleet's tmux server."""
    asked = ["tmux", "-S", maestro.home.path("fleets", fleet), "display-message", "-p", "#{pid}"]
    return int(subprocess.run(asked, capture_output=True, text=True, check=True).stdout)


def agents(maestro: Maestro) -> list[int]:
    """Every process of a scripted agent of this test."""
    found, scripts = [], os.fsencode(scripts_of(maestro))
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                words = Path(f"/proc/{entry}/cmdline").read_bytes()
            except OSError:
                continue
            if b"scripted_agent" in words and scripts in words:
                found.append(int(entry))
    return found


def scripts_of(maestro: Maestro) -> Path:
    """Beside the folder that a test works in: a checkout there stays clean."""
    return maestro.cwd.with_name(f"{maestro.cwd.name}-scripts")


def close_panes(maestro: Maestro) -> None:
    """End every session of ours that has a pane, and its tmux server."""
    fleets = Path(maestro.home.path("fleets"))
    for fleet in list(fleets.glob("*")):
        maestro.daemon.call("POST", f"/api/fleets/{fleet.name}/down", {}, timeout=60)
    assert not list(fleets.glob("*"))
