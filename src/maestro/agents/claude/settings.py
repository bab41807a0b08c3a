"""Where Claude Code reads a person's hooks."""

from __future__ import annotations

from posixpath import join

from maestro.agents import Environment
from maestro.agents.files import config_folder
from maestro.agents.settings_place import Scope, SettingsPlace


class Settings:
    def settings_place(self, scope: Scope, env: Environment, project: str) -> SettingsPlace:
        if scope == "user":
            return SettingsPlace(str(config_folder(env, "CLAUDE_CONFIG_DIR", ".claude") / "settings.json"))
        # settings.json of a project is shared with others, whose machines do not have our paths; this one is not.
        return SettingsPlace(join(project, ".claude", "settings.local.json"))
