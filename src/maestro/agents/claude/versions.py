"""Claude Code: the versions that were tried. All of them take the same flags. Pure."""

from __future__ import annotations

from typing import Final

from maestro.agents.versions import Recorded

VERSIONS: Final = (Recorded("2.1.197"), Recorded("2.1.325"))


class Versions:
    versions: tuple[Recorded, ...] = VERSIONS
