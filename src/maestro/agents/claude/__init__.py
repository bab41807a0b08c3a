"""Claude Code: all that is known of it, a file per question."""

from __future__ import annotations

from maestro.agents.claude.launch import Launching
from maestro.agents.claude.transcript import Transcripts


class Claude(Transcripts, Launching):
    pass


ADAPTER = Claude()
