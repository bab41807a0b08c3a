"""Claude Code: all that is known of it, a file per question."""

from __future__ import annotations

from maestro.agents.claude.calls import Calls
from maestro.agents.claude.headless import Headlessly
from maestro.agents.claude.hooks import Hooks
from maestro.agents.claude.keys import Keys
from maestro.agents.claude.launch import Launching
from maestro.agents.claude.origin import Origins
from maestro.agents.claude.screen import Screens
from maestro.agents.claude.settings import Settings
from maestro.agents.claude.transcript import Transcripts
from maestro.agents.claude.versions import Versions


class Claude(Transcripts, Origins, Calls, Launching, Headlessly, Screens, Keys, Hooks, Settings, Versions):
    pass


ADAPTER = Claude()
