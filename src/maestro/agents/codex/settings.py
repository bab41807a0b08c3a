"""Where Codex reads a person's hooks."""

from __future__ import annotations

from posixpath import join

from maestro.agents import Environment
from maestro.agents.files import config_folder
from maestro.agents.settings_place import Scope, SettingsPlace

_TRUST = (
    "Codex skips hooks that you have not trusted, without a word. Start codex: it says “Hooks need review”; "
    "look at them there and trust them. A new version at another place must be trusted again."
)
_TRUSTED_PROJECT = " The project itself must be trusted, too."


class Settings:
    def settings_place(self, scope: Scope, env: Environment, project: str) -> SettingsPlace:
        if scope == "user":
            return SettingsPlace(
                str(config_folder(env, "CODEX_HOME", ".codex") / "hooks.json"), advice=_TRUST
            )
        return SettingsPlace(join(project, ".codex", "hooks.json"), advice=_TRUST + _TRUSTED_PROJECT)
