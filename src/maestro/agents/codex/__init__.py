"""Codex CLI: all that is known of it, a file per question."""

from __future__ import annotations

from maestro.agents.codex.calls import Calls
from maestro.agents.codex.headless import Headlessly
from maestro.agents.codex.hooks import Hooks
from maestro.agents.codex.keys import Keys
from maestro.agents.codex.launch import Launching
from maestro.agents.codex.origin import Origins
from maestro.agents.codex.screen import Screens
from maestro.agents.codex.servers import Servers
from maestro.agents.codex.settings import Settings
from maestro.agents.codex.transcript import Transcripts
from maestro.agents.codex.versions import Versions


class Codex(
    Transcripts, Origins, Calls, Launching, Headlessly, Servers, Settings, Screens, Keys, Hooks, Versions
):
    pass


ADAPTER = Codex()
