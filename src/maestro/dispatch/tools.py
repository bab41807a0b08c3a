"""`tools.toml`: which tools there are, with their models, roles and fallbacks. The user's file, then the project's.

    default = "claude"                  # the tool when none is named

    [roles]
    review = "gemini"                   # `--to review`

    [tools.claude]                      # a CLI that Maestro knows: what to say to it when nothing is said
    model = "opus"
    timeout = 900
    fallbacks = ["codex"]               # tools to use where this one is not installed

    [tools.quick]                       # the same CLI by another name
    agent = "gemini"
    model = "flash"

    [tools.mine]                        # any program: reads the prompt on stdin, or where {prompt_file} stands
    command = ["my-agent", "--model", "{model}", "--file", "{prompt_file}"]
    modes = ["write"]

A project's file may come with a repository that somebody cloned: nothing of it counts before the person trusts it.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from maestro.agents.headless import RunMode
from maestro.agents.registry import agent_names
from maestro.errors import InvalidInput, NotFound
from maestro.trust.project import ProjectTrust, read_brought, read_own

FILE: Final = "tools.toml"
PLACEHOLDERS: Final = ("{prompt_file}", "{model}", "{cwd}", "{resume}")


class Tool(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A tool as a file describes it."""

    agent: str = ""
    command: tuple[str, ...] = ()
    model: str = ""
    timeout: float | None = None
    modes: tuple[RunMode, ...] = ("write",)  # of a command: nobody but its author knows whether it only reads
    fallbacks: tuple[str, ...] = ()


class ToolsFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    default: str = ""
    trust: tuple[str, ...] = ()  # the person's file only, from before `maestro trust`: taken over once
    roles: dict[str, str] = {}
    tools: dict[str, Tool] = {}


class Toolbox(msgspec.Struct, frozen=True):
    """Every tool that can be asked for here, by name."""

    tools: Mapping[str, Tool]
    roles: Mapping[str, str]
    default: str = ""

    def names(self) -> list[str]:
        return sorted({*self.tools, *self.roles})

    def find(self, name: str) -> tuple[str, Tool]:
        """The tool of this name, or of this role."""
        known = self.roles.get(name, name)
        tool = self.tools.get(known)
        if tool is None:
            raise NotFound(
                f"There is no tool “{name}”."
                if name == known
                else f"The role {name} is given to “{known}”, which is no tool.",
                hint=f"There are: {', '.join(self.names())}.",
            )
        return known, tool

    def candidates(self, name: str) -> list[tuple[str, Tool]]:
        """The tool, then its fallbacks, each once."""
        found: dict[str, Tool] = {}
        pending = [name]
        while pending:
            known, tool = self.find(pending.pop(0))
            if known not in found:
                found[known] = tool
                pending += tool.fallbacks
        return list(found.items())


def load_toolbox(trust: ProjectTrust, state: str) -> Toolbox:
    """Returns the built-in tools, with the person's file on top, then the project's. Faults name the file and the key."""
    return _toolbox(trust.home, state, trust.read)


def shown_toolbox(trust: ProjectTrust, state: str) -> Toolbox:
    """Returns every tool that is described, for a person to see; nothing may be run by it."""
    return _toolbox(trust.home, state, read_brought)


def _toolbox(home: str, state: str, read: Callable[[str], bytes | None]) -> Toolbox:
    user_path, project_path = os.path.join(home, FILE), os.path.join(state, FILE)
    user, project = _load(user_path, read_own(user_path)), _load(project_path, read(project_path))
    if project.trust:
        raise InvalidInput(
            f"{project_path}: `trust` is not the project's to give.",
            hint="Remove it. Trust is given by: maestro trust",
        )
    tools: dict[str, Tool] = {name: Tool(agent=name) for name in agent_names()}
    for path, file in ((user_path, user), (project_path, project)):
        for name, tool in file.tools.items():
            tools[name] = _completed(path, name, tool, tools.get(name))
    box = Toolbox(tools, {**user.roles, **project.roles}, project.default or user.default)
    _check_names(box, user_path, user)
    _check_names(box, project_path, project)
    return box


def _completed(path: str, name: str, tool: Tool, earlier: Tool | None) -> Tool:
    """What a file says of a tool, on top of what was known of it."""
    where = f"{path}: tools.{name}"
    if tool.agent and tool.command:
        raise InvalidInput(f"{where}: `agent` and `command` exclude each other.")
    if tool.command:
        unknown = [word for word in _braced(tool.command) if word not in PLACEHOLDERS]
        if unknown:
            raise InvalidInput(
                f"{where}.command: there is no placeholder {unknown[0]}.",
                hint=f"There are: {', '.join(PLACEHOLDERS)}.",
            )
    if tool.agent and tool.agent not in agent_names():
        raise InvalidInput(
            f"{where}.agent: Maestro knows no CLI “{tool.agent}”.",
            hint=f"It knows: {', '.join(agent_names())}.",
        )
    if tool.timeout is not None and not 0 < tool.timeout <= 7 * 86_400:
        raise InvalidInput(
            f"{where}.timeout: {tool.timeout:g} s is not possible.", hint="Give seconds, at most a week."
        )
    if not tool.agent and not tool.command:
        if earlier is None:
            raise InvalidInput(
                f"{where}: neither `agent` nor `command` says what to run.",
                hint=f"agent is one of {', '.join(agent_names())}; command is a list of words.",
            )
        given = {key: value for key in ("model", "timeout", "fallbacks") if (value := getattr(tool, key))}
        return msgspec.structs.replace(earlier, **given)
    return tool


def _braced(words: tuple[str, ...]) -> list[str]:
    return [part for word in words for part in _placeholders_in(word)]


def _placeholders_in(word: str) -> list[str]:
    """`{name}` parts of a word; braces that hold anything else are the program's own."""
    found = []
    for part in word.split("{")[1:]:
        name, closed, _ = part.partition("}")
        if closed and name.replace("_", "").isalpha():
            found.append(f"{{{name}}}")
    return found


def _check_names(box: Toolbox, path: str, file: ToolsFile) -> None:
    known = {*box.tools, *box.roles}
    named = [("default", file.default)] if file.default else []
    named += [(f"roles.{role}", tool) for role, tool in file.roles.items()]
    named += [
        (f"tools.{name}.fallbacks", other) for name, tool in file.tools.items() for other in tool.fallbacks
    ]
    for key, name in named:
        if name not in known:
            raise InvalidInput(
                f"{path}: {key}: there is no tool “{name}”.", hint=f"There are: {', '.join(box.names())}."
            )


def _load(path: str, content: bytes | None) -> ToolsFile:
    if content is None:
        return ToolsFile()
    try:
        told = tomllib.loads(content.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} is not TOML: {error}.") from error
    try:
        return msgspec.convert(told, ToolsFile)
    except msgspec.ValidationError as error:
        # “Expected `str`, got `int` - at `$.tools[...].model`”
        what, _, place = str(error).partition(" - at `$")
        key = place.strip("`.") or "the file"
        raise InvalidInput(
            f"{path}: {key}: {what}.", hint="`maestro delegate --help` shows what a tool may have."
        ) from error
