"""Where chains and commands come from: the package, then the user, then the project; the last one wins.

chains      <package>/catalogue.toml   MAESTRO_HOME/chains.toml     <state>/chains.toml
commands    <package>/commands/*.md    MAESTRO_HOME/commands/*.md   <state>/commands/*.md
"""

from __future__ import annotations

import os
from importlib.resources import files
from typing import Final

from maestro import confined
from maestro.chains import Catalogue, Command
from maestro.chains.catalogue.catalogue import Source, build_catalogue, formats_in
from maestro.chains.catalogue.command_text import parse_command
from maestro.errors import InvalidInput

FILE: Final = "chains.toml"
COMMANDS: Final = "commands"
_LARGEST: Final = 1_000_000


def load_catalogue(home: str, state: str) -> Catalogue:
    """`home` is MAESTRO_HOME, `state` the project's state folder. Faults name the file and the line."""
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
    for folder, may_link in ((home, True), (state, False)):
        commands += _commands_in(os.path.join(folder, COMMANDS), list(formats), may_link=may_link)
        path = os.path.join(folder, FILE)
        if (text := _text(path, may_link=may_link)) is not None:
            sources.append(Source(path, text))
    return build_catalogue(commands, sources, formats)


def step_template() -> str:
    return (files("maestro.chains") / "step.md").read_text(encoding="utf-8")


def _commands_in(folder: str, formats: list[str], *, may_link: bool) -> list[Command]:
    try:
        inside = confined.names(os.path.realpath(folder) if may_link else folder)
        names = sorted(name for name in inside if name.endswith(".md") and name[0] != ".")
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise InvalidInput(f"{folder} cannot be read: {error.strerror}.") from error
    found = []
    for name in names:
        path = os.path.join(folder, name)
        text = _text(path, may_link=may_link)
        if text is not None:
            found.append(parse_command(name.removesuffix(".md"), text, path, formats))
    return found


def _text(path: str, *, may_link: bool) -> str | None:
    """`may_link`: it is the user's own file, wherever links lead; a project's leads nowhere else."""
    try:
        data = confined.read(os.path.realpath(path) if may_link else path, _LARGEST + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.") from error
    if len(data) > _LARGEST:
        raise InvalidInput(f"{path} has over {_LARGEST} bytes.", hint="A chain or a command is a short text.")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidInput(f"{path}:{line}: it is not UTF-8.") from error
