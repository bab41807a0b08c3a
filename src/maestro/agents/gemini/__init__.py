"""Gemini CLI: all that is known of it, a file per question."""

from __future__ import annotations

from maestro.agents.gemini.launch import Launching
from maestro.agents.gemini.transcript import Transcripts


class Gemini(Transcripts, Launching):
    pass


ADAPTER = Gemini()
