"""Gemini CLI: all that is known of it, a file per question."""

from __future__ import annotations

from maestro.agents.gemini.calls import Calls
from maestro.agents.gemini.headless import Headlessly
from maestro.agents.gemini.hooks import Hooks
from maestro.agents.gemini.keys import Keys
from maestro.agents.gemini.launch import Launching
from maestro.agents.gemini.origin import Origins
from maestro.agents.gemini.screen import Screens
from maestro.agents.gemini.settings import Settings
from maestro.agents.gemini.transcript import Transcripts
from maestro.agents.gemini.versions import Versions


class Gemini(Transcripts, Origins, Calls, Launching, Headlessly, Settings, Screens, Keys, Hooks, Versions):
    pass


ADAPTER = Gemini()
