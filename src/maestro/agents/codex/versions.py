"""Codex CLI: the versions that were tried, and the flags that came with one. Pure."""

from __future__ import annotations

from typing import Final

from maestro.agents.versions import Recorded, numbers

VERSIONS: Final = (Recorded("0.149.0"), Recorded("0.160.1"), Recorded("0.166.0"))
# The server that sessions share came with the flag against it.
_SHARED_SERVER_SINCE: Final = (0, 156, 0)


class Versions:
    versions: tuple[Recorded, ...] = VERSIONS


def without_shared_server(version: str) -> tuple[str, ...]:
    """Returns the flags that keep a session apart from other sessions' server, which has their environment and outlives it.

    Every version takes the setting; it starts no such server, but where the person has started one, it is used."""
    if not version:
        return ("--config", "features.daemon_auto_start=false")
    return ("--no-daemon",) if numbers(version) >= _SHARED_SERVER_SINCE else ()
