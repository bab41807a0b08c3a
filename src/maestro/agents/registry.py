"""Agents by name: the built-in ones, and those that other packages bring."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points

from maestro.agents import Agent
from maestro.agents.launch import Launcher
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
    return sorted({*BUILT_IN, *(point.name for point in entry_points(group=ENTRY_POINTS))})


def launcher_named(name: str) -> Launcher:
    """The adapter of a CLI that Maestro can start."""
    agent = agent_named(name)
    if not isinstance(agent, Launcher):
        able = [other for other in agent_names() if isinstance(agent_named(other), Launcher)]
        raise InvalidInput(f"Maestro cannot start {name}.", hint=f"It can start: {', '.join(able)}.")
    return agent


def home_variables() -> list[str]:
    """The variables that say where agents keep their things."""
    return sorted({"HOME", *(name for agent in agent_names() for name in agent_named(agent).home_variables)})


def _built_in(name: str) -> Agent:
    adapter: Agent = import_module(f"maestro.agents.{name}").ADAPTER
    return adapter


def _plugin(name: str) -> Agent:
    for point in entry_points(group=ENTRY_POINTS, name=name):
        adapter: Agent = point.load()
        return adapter
    raise NotFound(f"there is no agent called {name!r}", hint=f"known: {', '.join(agent_names())}")
