"""Every session of every agent on this machine, by the CLIs' own rules."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from maestro.agents import Agent, Environment, Transcript
from maestro.errors import InvalidInput, NotFound
from maestro.observe.digest import Digest, Subject
from maestro.observe.resolve import read_head
from maestro.observe.transcript import digest_transcript

DEFAULT_MOST: Final = 50
_HEAD: Final = 64 * 1024


class Sighting(msgspec.Struct, frozen=True, rename="camel"):
    """One session that was found, with what it does."""

    agent: str
    transcript_id: str
    path: str
    project: str
    modified: int
    size: int
    digest: Digest


def discover(
    agents: Iterable[Agent],
    env: Environment,
    *,
    now: int,
    most: int = DEFAULT_MOST,
    cwd: str = "",
    last: int = 1,
) -> list[Sighting]:
    """The newest transcripts first, at most so many; only those are read."""
    found = [(agent, one) for agent in agents for one in agent.transcripts(env, cwd)]
    found.sort(key=lambda pair: (-pair[1].modified, str(pair[1].path)))
    sightings: list[Sighting] = []
    for agent, transcript in found:
        if len(sightings) >= most:
            break
        project = project_of(agent, transcript)
        if not cwd or not project or Path(project).resolve() == Path(cwd).resolve():
            sightings.append(_sighting(agent, transcript, project, now, last))
    return sightings


def find_transcript(agents: Iterable[Agent], env: Environment, wanted: str) -> tuple[Agent, Transcript]:
    """The transcript that a person means: a path, an id, or the beginning of one."""
    everything = [(agent, one) for agent in agents for one in agent.transcripts(env)]
    if "/" in wanted or wanted.endswith(".jsonl"):
        path = Path(wanted).expanduser().resolve()
        matches = [pair for pair in everything if pair[1].path.resolve() == path]
    else:
        matches = [pair for pair in everything if pair[1].session_id == wanted]
        matches = matches or [pair for pair in everything if pair[1].session_id.startswith(wanted)]
    if not matches:
        raise NotFound(
            f"no transcript {wanted!r} on this machine", hint="`maestro session discover` lists them all"
        )
    ids = {(pair[0].name, pair[1].session_id) for pair in matches}
    if len(ids) > 1:
        listed = ", ".join(sorted(name for _, name in ids)[:5])
        raise InvalidInput(
            f"{wanted!r} could be {len(ids)} transcripts: {listed}", hint="give more of the id"
        )
    return max(matches, key=lambda pair: pair[1].modified)


def project_of(agent: Agent, transcript: Transcript) -> str:
    """The working directory of a session."""
    return transcript.cwd or agent.project(read_head(transcript.path, _HEAD))


def _sighting(agent: Agent, transcript: Transcript, project: str, now: int, last: int) -> Sighting:
    subject = Subject(session_id=transcript.session_id, agent=agent.name)
    return Sighting(
        agent=agent.name,
        transcript_id=transcript.session_id,
        path=str(transcript.path),
        project=project,
        modified=transcript.modified,
        size=transcript.size,
        digest=digest_transcript(agent, transcript.path, subject, now=now, last=last),
    )
