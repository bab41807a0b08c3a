"""Finds out which CLIs this machine has, in which versions, and how far each works."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

import msgspec

from maestro.agents import Environment
from maestro.agents.installed import SECONDS, Installed, ask
from maestro.agents.registry import agent_named
from maestro.agents.versions import Outlook, Recorded, Versioned, outlook


class Surveyed(msgspec.Struct, frozen=True):
    name: str
    installed: Installed
    outlook: Outlook | None  # None: it is not here, or nothing is recorded of it
    recorded: tuple[Recorded, ...]


def survey(names: Iterable[str], env: Environment, cwd: str, *, seconds: float = SECONDS) -> list[Surveyed]:
    """Asks those of these CLIs whose versions are recorded, all at once."""
    agents = map(agent_named, names)
    known = [agent for agent in agents if isinstance(agent, Versioned) and agent.versions]
    with ThreadPoolExecutor(max_workers=max(1, len(known))) as threads:
        answers = list(threads.map(lambda agent: ask(agent.program, env, cwd, seconds=seconds), known))
    return [
        Surveyed(
            agent.name,
            installed,
            outlook(agent.versions, installed.version) if installed.version else None,
            agent.versions,
        )
        for agent, installed in zip(known, answers, strict=True)
    ]
