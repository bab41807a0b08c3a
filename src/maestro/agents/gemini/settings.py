"""Where Gemini CLI reads a person's hooks."""

from __future__ import annotations

from posixpath import join

from maestro.agents import Environment
from maestro.agents.files import config_folder
from maestro.agents.settings_place import Scope, SettingsPlace

_TRUSTED_FOLDER = "Gemini CLI reads a project's hooks only in a folder that you trust."


class Settings:
    def settings_place(self, scope: Scope, env: Environment, project: str) -> SettingsPlace:
        if scope == "user":
            folder = config_folder({"HOME": env.get("GEMINI_CLI_HOME") or env.get("HOME", "")}, "", ".gemini")
            return SettingsPlace(str(folder / "settings.json"), has_comments=True)
        return SettingsPlace(
            join(project, ".gemini", "settings.json"), has_comments=True, advice=_TRUSTED_FOLDER
        )
