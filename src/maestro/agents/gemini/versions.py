"""Gemini CLI: the versions that were tried. All of them take the same flags. Pure."""

from __future__ import annotations

from typing import Final

from maestro.agents.versions import Recorded

VERSIONS: Final = (Recorded("0.56.0"), Recorded("0.61.0"))


class Versions:
    versions: tuple[Recorded, ...] = VERSIONS
