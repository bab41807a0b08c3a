"""The scripted agent of `maestro.testing`: it writes Claude Code's transcript format."""

from __future__ import annotations

from maestro.agents.claude import Claude


class Scripted(Claude):
    name = "scripted"


ADAPTER = Scripted()
