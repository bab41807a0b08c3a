"""Gathers what shows which transcript an agent in a person's own pane writes: its process, files, screen.

Only while somebody asks, and only for sessions that Maestro did not launch: of the others it knows the name.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from maestro import processes
from maestro.agents import Agent, Moment, Transcript
from maestro.agents.origin import Origin, TellsOrigin
from maestro.agents.registry import agent_named, terminal_named
from maestro.agents.screen import captured
from maestro.agents.terminal import Terminal
from maestro.fleet.facts import Sight
from maestro.fleet.ownership import Candidate, Process, Shown
from maestro.ledger.facts import Session

_HEAD: Final = 256 * 1024  # a first prompt was seen at 43 KB, behind instructions and hook output
_TAIL: Final = 256 * 1024
_NEWEST: Final = 20  # of those that could be its, the newest are read
_SLACK: Final = 100  # milliseconds between the clocks of processes and files, at most

Identity = tuple[int, int]


class Running(NamedTuple):
    """The process of the agent that has the pane's terminal."""

    pid: int
    argv: tuple[str, ...]
    identity: processes.ProcessId | None


def running(session: Session) -> Running | None:
    """Returns the agent's process; None when it does not have its pane's terminal, or the system does not tell."""
    terminal, place = terminal_named(session.agent), session.place
    if terminal is None or place is None:
        return None
    for pid, argv in processes.foreground_group(place.pane_pid):
        if terminal.is_agent(argv):
            return Running(pid, argv, processes.identify(pid))
    return None


def is_told(session: Session) -> bool:
    """Whether the system tells who has the terminal of a session's pane."""
    return session.place is not None and processes.foreground(session.place.pane_pid) is not None


def process_of(session: Session, found: Running | None) -> Process:
    """Describes the agent's process."""
    if found is None:
        return Process(cwd=os.path.realpath(session.cwd))
    agent = agent_named(session.agent)
    held: set[str] = set()
    if isinstance(agent, TellsOrigin):
        held = {agent.held_session(path) for path in processes.files_written(found.pid)} - {""}
    return Process(
        started=processes.started_at(found.pid),
        cwd=os.path.realpath(processes.folder(found.pid) or session.cwd),
        argv=found.argv,
        named=agent.named_session(found.argv) if isinstance(agent, TellsOrigin) else "",
        held=frozenset(held),
    )


def is_alone(terminal: Terminal | None, pid: int, cwd: str) -> bool:
    """Whether no other process of this CLI works in the folder, but those that it started itself."""
    if terminal is None:
        return False
    for other, argv in processes.command_lines():
        is_like_it = other != pid and terminal.is_agent(argv) and processes.folder(other) == cwd
        if is_like_it and pid not in {parent for parent, _ in processes.ancestry(other)}:
            return False
    return True


def environment_of(session: Session, found: Running | None) -> dict[str, str]:
    """Returns the variables that say where the agent in the pane keeps its things.

    Its shell may have set them after it was started: the agent's own process tells first.
    """
    env = {**os.environ, **session.environment}
    pids = [found.pid] if found else []
    pids += [session.place.pane_pid] if session.place else []
    for name in ("HOME", *agent_named(session.agent).home_variables):
        values = (processes.variable(pid, name) for pid in pids)
        value = next((one for one in values if one is not None), None)
        if value is not None:
            env[name] = value
    return env


def possible_logs(session: Session, process: Process, found: Running | None) -> list[Transcript]:
    """Lists the transcripts of its folder that were written since its process started, or that the process names."""
    since = (process.started or 0) - _SLACK
    own = {process.named, *process.held}
    logs = [
        log
        for log in agent_named(session.agent).transcripts(environment_of(session, found), process.cwd)
        if log.modified >= since or log.session_id in own
    ]
    return sorted(logs, key=lambda log: log.modified)[-_NEWEST:]


def shown_by(agent: Agent, sight: Sight | None) -> Shown:
    """Describes what a look at the pane shows."""
    if sight is None:
        return Shown()
    if not isinstance(agent, TellsOrigin):
        return Shown(content=sight.content)
    return Shown(agent.shown_prompts(captured(sight.content, title=sight.pane.title)), sight.content)


class Owner(NamedTuple):
    """The other session that a transcript is known to belong to."""

    name: str
    is_left: bool  # in a person's own pane, by an agent that no longer has it open


_NOBODY: Final = Owner("", is_left=False)


class Candidates:
    """Reads transcripts as candidates; remembers how each began."""

    def __init__(self) -> None:
        self._origins: dict[Path, tuple[Identity, Origin, str]] = {}

    def read(self, agent: Agent, log: Transcript, owners: Mapping[str, Owner]) -> Candidate:
        origin, first = self._origin(agent, log.path)
        prompt, text = _last_words(agent, log.path)
        cwd = log.cwd or origin.cwd
        owner = owners.get(log.session_id, _NOBODY)
        return Candidate(
            transcript_id=log.session_id,
            path=str(log.path),
            modified=log.modified,
            began=origin.began,
            cwd=os.path.realpath(cwd) if cwd else "",
            is_headless=origin.headless,
            owner=owner.name,
            is_left=owner.is_left,
            first_prompt=first,
            last_prompt=prompt,
            last_text=text,
        )

    def _origin(self, agent: Agent, path: Path) -> tuple[Origin, str]:
        """Reads how a transcript began: once, when it has got as far as its first prompt."""
        identity = identity_of(path)
        known = self._origins.get(path)
        if known is not None and known[0] == identity and known[2]:
            return known[1], known[2]
        head = _part(path, 0, _HEAD)
        origin = agent.origin(head) if isinstance(agent, TellsOrigin) else Origin(cwd=agent.project(head))
        first = next((one.text for one in _moments(agent, head) if one.kind == "prompt"), "")
        if identity is not None:
            self._origins[path] = (identity, origin, first)
        return origin, first


def identity_of(path: Path) -> Identity | None:
    """Returns what tells a file from another one of the same name; None when it is not there."""
    try:
        about = path.stat()
    except OSError:
        return None
    return about.st_dev, about.st_ino


def _last_words(agent: Agent, path: Path) -> tuple[str, str]:
    """Returns the last prompt that a transcript has, and the last text behind it."""
    try:
        size = path.stat().st_size
    except OSError:
        return "", ""
    prompt, text = "", ""
    for one in _moments(agent, _part(path, max(0, size - _TAIL), _TAIL)):
        if one.kind == "prompt":
            prompt, text = one.text, ""
        elif one.kind == "text":
            text = one.text
    return prompt, text


def _moments(agent: Agent, lines: bytes) -> list[Moment]:
    return [moment for line in lines.split(b"\n") for moment in agent.read_plain(line)]


def _part(path: Path, start: int, length: int) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(start)
            return file.read(length)
    except OSError:
        return b""
