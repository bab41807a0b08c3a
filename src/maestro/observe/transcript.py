"""From a transcript on disk to its digest."""

from __future__ import annotations

from pathlib import Path

from maestro.agents import Agent
from maestro.observe.digest import DEFAULT_LAST, USUAL_SHAPE, Digest, Shape, Subject, digest, unseen
from maestro.observe.recent import read_recent


def digest_transcript(
    agent: Agent,
    path: str | Path | None,
    subject: Subject,
    *,
    now: int,
    last: int = DEFAULT_LAST,
    since: int | None = None,
    shape: Shape = USUAL_SHAPE,
) -> Digest:
    """The digest of one session, read now. Without a transcript it is empty and its status unknown."""
    if path is None:
        return unseen(subject)
    try:
        recent = read_recent(agent, path, last, since=since)
    except OSError:
        return unseen(subject)
    return digest(subject, recent, now, shape)
