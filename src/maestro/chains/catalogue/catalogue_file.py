"""Where chains and commands come from: the package, then the user, then the project; the last one wins.

chains      <package>/catalogue.toml   MAESTRO_HOME/chains.toml     <state>/chains.toml
commands    <package>/commands/*.md    MAESTRO_HOME/commands/*.md   <state>/commands/*.md
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.resources import files
from typing import Final

from maestro import confined
from maestro.chains import Catalogue, Command
from maestro.chains.catalogue.catalogue import Source, build_catalogue, formats_in
from maestro.chains.catalogue.command_text import parse_command
from maestro.errors import InvalidInput
from maestro.trust.project import ProjectTrust, read_brought, read_own

FILE: Final = "chains.toml"
COMMANDS: Final = "commands"


Read = Callable[[str], bytes | None]


def load_catalogue(trust: ProjectTrust, state: str) -> Catalogue:
    """Returns what can be run; `state` is the project's state folder. What the project brings must be trusted."""
    return _catalogue(trust.home, state, trust.read)


def shown_catalogue(home: str, state: str) -> Catalogue:
    """Returns everything that is described, for a person to see; nothing may be run by it."""
    return _catalogue(home, state, read_brought)


def _catalogue(home: str, state: str, read_project: Read) -> Catalogue:
    """Faults name the file and the line."""
    package = files("maestro.chains.catalogue")
    formats = formats_in((package / "formats.md").read_text(encoding="utf-8"))
    sources = [Source("built in", (package / "catalogue.toml").read_text(encoding="utf-8"))]
    commands = [
        parse_command(
            entry.name.removesuffix(".md"), entry.read_text(encoding="utf-8"), "built in", list(formats)
        )
        for entry in sorted((package / COMMANDS).iterdir(), key=lambda entry: entry.name)
        if entry.name.endswith(".md")
    ]
    for folder, read in ((home, read_own), (state, read_project)):
        commands += _commands_in(os.path.join(folder, COMMANDS), list(formats), read)
        path = os.path.join(folder, FILE)
        if (text := _text(path, read)) is not None:
            sources.append(Source(path, text))
    return build_catalogue(commands, sources, formats)


def step_template() -> str:
    return (files("maestro.chains") / "step.md").read_text(encoding="utf-8")


def _commands_in(folder: str, formats: list[str], read: Read) -> list[Command]:
    try:
        inside = confined.names(os.path.realpath(folder) if read is read_own else folder)
        names = sorted(name for name in inside if name.endswith(".md") and name[0] != ".")
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise InvalidInput(f"{folder} cannot be read: {error.strerror}.") from error
    found = []
    for name in names:
        path = os.path.join(folder, name)
        text = _text(path, read)
        if text is not None:
            found.append(parse_command(name.removesuffix(".md"), text, path, formats))
    return found


def _text(path: str, read: Read) -> str | None:
    data = read(path)
    if data is None:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidInput(f"{path}:{line}: it is not UTF-8.") from error
