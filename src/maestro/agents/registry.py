"""Agents by name: the built-in ones, and those that other packages bring."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import NamedTuple, Protocol, cast

from maestro.agents import Agent, Environment
from maestro.agents.headless import Headless
from maestro.agents.hooks import Hooked
from maestro.agents.launch import Launcher
from maestro.agents.project_files import ActsOnProject
from maestro.agents.settings_place import Installable
from maestro.agents.terminal import TellsByLine, Terminal
from maestro.errors import InvalidInput, NotFound

BUILT_IN = ("claude", "codex", "gemini", "scripted")
ENTRY_POINTS = "maestro.agents"

_loaded: dict[str, Agent] = {}


def agent_named(name: str) -> Agent:
    """The adapter of one CLI, imported when it is first asked for."""
    known = _loaded.get(name)
    if known is not None:
        return known
    adapter = _built_in(name) if name in BUILT_IN else _plugin(name)
    _loaded[name] = adapter
    return adapter


def agent_names() -> list[str]:
    """Every agent that can be asked for."""
    return sorted({*BUILT_IN, *_plugin_names(tuple(sys.path))})


def launcher_named(name: str) -> Launcher:
    """The adapter of a CLI that Maestro can start."""
    agent = agent_named(name)
    if not isinstance(agent, Launcher):
        able = [other for other in agent_names() if isinstance(agent_named(other), Launcher)]
        raise InvalidInput(f"Maestro cannot start {name}.", hint=f"It can start: {', '.join(able)}.")
    return agent


def launchers_of(name: str, role: str) -> tuple[Launcher, ...]:
    """Whose variables are needed to start a session of this agent: its own; a coordinator starts workers of every
    agent, and the daemon keeps those variables for them."""
    own = launcher_named(name)
    if role != "coordinator":
        return (own,)
    others = (agent_named(other) for other in agent_names() if other != name)
    return (own, *(other for other in others if isinstance(other, Launcher)))


def folders_of_others(own: Iterable[str], env: Environment) -> tuple[str, ...]:
    """Returns where other agents than the one with these folders keep their things, for somebody with these variables."""
    known = (agent_named(name) for name in agent_names())
    every = (
        path for agent in known if isinstance(agent, Launcher) for path in agent.own_folders(env).writable
    )
    ours = {os.path.realpath(path) for path in own}
    found = (os.path.realpath(path) for path in every if os.path.isabs(path))
    return tuple(dict.fromkeys(path for path in found if path not in {"/", *ours} and os.path.isdir(path)))


def acting_agents() -> list[ActsOnProject]:
    """Every CLI of which it is known by which files of a project it acts."""
    known = (agent_named(name) for name in agent_names() if name != "scripted")
    return [agent for agent in known if isinstance(agent, ActsOnProject)]


def without_others_variables(env: Environment, name: str) -> dict[str, str]:
    """Returns the environment without the variables of agents other than this one: their keys are not its business."""
    own, others = _variables(name)
    return {key: value for key, value in env.items() if own.has(key) or not others.has(key)}


class _Names(NamedTuple):
    """Names of variables, some by how they begin."""

    whole: frozenset[str]
    beginnings: tuple[str, ...]

    def has(self, name: str) -> bool:
        return name in self.whole or name.startswith(self.beginnings)


def _names(patterns: Iterable[str]) -> _Names:
    every = frozenset(patterns)
    whole = frozenset(name for name in every if not name.endswith("*"))
    return _Names(whole, tuple(name[:-1] for name in every - whole))


@cache
def _variables(name: str) -> tuple[_Names, _Names]:
    """The variables of one agent, and of all others."""
    patterns: dict[bool, list[str]] = {True: [], False: []}
    for other in agent_names():
        try:
            agent = agent_named(other)
        except Exception:  # noqa: BLE001, S112 - a plugin that cannot be loaded must not stop another agent's run
            continue
        if isinstance(agent, Launcher):
            patterns[other == name] += agent.launch_variables
    return _names(patterns[True]), _names(patterns[False])


def headless_named(name: str) -> Headless:
    """The adapter of a CLI that can be run without a terminal."""
    agent = agent_named(name)
    if not isinstance(agent, Headless):
        raise InvalidInput(f"Maestro cannot run {name} without a terminal.")
    return agent


def terminal_named(name: str) -> Terminal | None:
    """The adapter of a CLI whose screen Maestro can read; None for one that only has transcripts."""
    agent = agent_named(name)
    return agent if isinstance(agent, Terminal) else None


def title_globs() -> list[str]:
    """Every pattern of a pane's title that tells what some agent does."""
    known = (terminal_named(name) for name in agent_names())
    return sorted({glob for terminal in known if terminal is not None for glob in terminal.title_globs})


def line_globs() -> list[str]:
    """Every pattern of a line on a screen that tells what nothing else does."""
    known = (agent_named(name) for name in agent_names())
    return sorted({glob for agent in known if isinstance(agent, TellsByLine) for glob in agent.line_globs})


def hooked_named(name: str) -> Hooked | None:
    """The adapter of a CLI whose hooks Maestro understands; None for one that has none."""
    agent = agent_named(name)
    return agent if isinstance(agent, Hooked) else None


class HookedByHand(Hooked, Installable, Protocol):
    """A CLI whose sessions tell us what they do, also those that were started by hand."""


def installable_named(name: str) -> HookedByHand:
    agent = agent_named(name)
    # The scripted agent lives in Claude Code's folder, where its hooks would be run by Claude Code.
    if name == "scripted" or not isinstance(agent, Hooked) or not isinstance(agent, Installable):
        raise InvalidInput(
            f"{name} cannot be given hooks for sessions that are started by hand.",
            hint="claude, codex and gemini can.",
        )
    return cast("HookedByHand", agent)


def home_variables() -> list[str]:
    """The variables that say where agents keep their things."""
    return sorted({"HOME", *(name for agent in agent_names() for name in agent_named(agent).home_variables)})


@lru_cache(4)
def _plugin_names(_path: tuple[str, ...]) -> frozenset[str]:
    """Asked for at every hook, and it looks through all that is installed: 3 ms."""
    return frozenset(point.name for point in entry_points(group=ENTRY_POINTS))


def _built_in(name: str) -> Agent:
    adapter: Agent = import_module(f"maestro.agents.{name}").ADAPTER
    return adapter


def _plugin(name: str) -> Agent:
    for point in entry_points(group=ENTRY_POINTS, name=name):
        adapter: Agent = point.load()
        return adapter
    raise NotFound(f"there is no agent called {name!r}", hint=f"known: {', '.join(agent_names())}")
