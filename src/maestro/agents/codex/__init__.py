"""Codex CLI: all that is known of it, a file per question."""

from __future__ import annotations

from maestro.agents.codex.launch import Launching
from maestro.agents.codex.transcript import Transcripts


class Codex(Transcripts, Launching):
    pass


ADAPTER = Codex()
