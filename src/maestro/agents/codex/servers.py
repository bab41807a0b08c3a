"""Codex CLI: the MCP servers of the person's own settings."""

from __future__ import annotations

import re
import tomllib
from typing import Final

from maestro.agents import Environment
from maestro.agents.files import config_folder
from maestro.errors import InvalidInput

_NAME: Final = re.compile(r"[A-Za-z0-9_-]+")  # what can be named in `--config a.b.c=…`


class Servers:
    def configured_servers(self, env: Environment) -> tuple[str, ...]:
        path = config_folder(env, "CODEX_HOME", ".codex") / "config.toml"
        try:
            told = tomllib.loads(path.read_text(encoding="utf-8")).get("mcp_servers", {})
        except FileNotFoundError:
            return ()
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise InvalidInput(f"{path} cannot be read: {error}.", hint="Codex needs it, too.") from error
        names = tuple(told) if isinstance(told, dict) else ()
        for name in names:
            if not _NAME.fullmatch(name):
                raise InvalidInput(
                    f"Codex cannot be run without the MCP server “{name}”: its name is no plain word.",
                    hint=f"Give it a name of letters, digits, dashes and underscores in {path}.",
                )
        return names
