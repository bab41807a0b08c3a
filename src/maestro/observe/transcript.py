"""From a transcript on disk to what happened last in it, and to its digest."""

from __future__ import annotations

import os
from pathlib import Path

from maestro.agents import NOISE, Agent
from maestro.observe.digest import DEFAULT_LAST, USUAL_SHAPE, Digest, Shape, Subject, digest, unseen
from maestro.observe.recent import Gathering, Recent
from maestro.observe.tail import FARTHEST, TailReader, tail_reader


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


def read_recent(
    agent: Agent,
    path: str | Path,
    last: int,
    *,
    since: int | None = None,
    farthest: int = FARTHEST,
    reader: TailReader | None = None,
) -> Recent:
    """The last `last` entries of a transcript and all that tells how its session does. OSError if it is gone."""
    reader = reader or tail_reader()
    gathering = Gathering(last, since)
    glance, read, take = agent.glance, agent.read, gathering.take
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        stat = os.fstat(fd)
        text_seen = False
        for buffer, start, end, whole in reader.lines(fd, stat.st_size, agent.noise, farthest):
            verdict = glance(buffer, start, end)
            if verdict == NOISE or (verdict and text_seen) or not whole:
                continue
            moments = read(buffer, start, end)
            if moments:
                take(moments)
                text_seen = gathering.text_seen
                if gathering.enough:
                    break
    finally:
        os.close(fd)
    return gathering.result(stat.st_size, stat.st_mtime_ns // 1_000_000, reader.bytes_read)
