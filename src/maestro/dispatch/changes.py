"""Which agent changed which file, where all work in one folder. Pure.

Git tells which files changed between two moments, not who changed them. Moments are the starts and ends of agents:
what changed while one agent ran alone is its own; of those that ran side by side, it is those who name the file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec


class Interval(msgspec.Struct, frozen=True):
    """From one moment to the next."""

    running: frozenset[str]  # agents
    changed: frozenset[str]  # files, relative to the repository's top


class FileConflict(msgspec.Struct, frozen=True):
    file: str
    agents: tuple[str, ...]


class Changes(msgspec.Struct, frozen=True):
    files: Mapping[str, tuple[str, ...]] = {}  # by agent
    conflicts: tuple[FileConflict, ...] = ()  # files of two or more agents
    unclear: tuple[FileConflict, ...] = ()  # changed while these ran, and none of them names it


def names_file(file: str, told: bytes) -> bool:
    """Whether a prompt or an output tells of a file: by its path or, where it is no everyday word, by its name."""
    path = file.encode("utf-8", "surrogateescape")
    name = path.rpartition(b"/")[2]
    return path in told or (b"." in name and name in told)


def attributed(intervals: Sequence[Interval], named: Mapping[str, frozenset[str]]) -> Changes:
    """`named`: by agent, the files that it names."""
    owners: dict[str, set[str]] = {}
    unclear: dict[str, set[str]] = {}
    for interval in intervals:
        for file in interval.changed:
            if len(interval.running) == 1:
                owners.setdefault(file, set()).update(interval.running)
                continue
            who = {agent for agent in interval.running if file in named.get(agent, ())}
            if who:
                owners.setdefault(file, set()).update(who)
            elif interval.running:
                unclear.setdefault(file, set()).update(interval.running)
    return Changes(
        files=_by_agent(owners),
        conflicts=_conflicts((file, agents) for file, agents in owners.items() if len(agents) > 1),
        unclear=_conflicts((file, agents) for file, agents in unclear.items() if file not in owners),
    )


def _by_agent(owners: Mapping[str, Iterable[str]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for file, agents in sorted(owners.items()):
        for agent in agents:
            found.setdefault(agent, []).append(file)
    return {agent: tuple(files) for agent, files in found.items()}


def _conflicts(found: Iterable[tuple[str, set[str]]]) -> tuple[FileConflict, ...]:
    return tuple(FileConflict(file, tuple(sorted(agents))) for file, agents in sorted(found))
