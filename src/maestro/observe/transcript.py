"""From a transcript on disk to what happened last in it, and to its digest."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from maestro.agents import Agent
from maestro.observe.digest import DEFAULT_LAST, USUAL_SHAPE, Digest, Shape, Subject, digest, unseen
from maestro.observe.recent import Gathering, Recent
from maestro.observe.tail import FARTHEST, Lines, TailReader, tail_reader

_NEWLINE: Final = 10  # a number: looking for it takes two thirds of the time


class DigestRequest(NamedTuple):
    """One session to be digested, and the file that its agent writes; None where there is none."""

    agent: Agent
    path: str | Path | None
    subject: Subject


def digest_transcripts(
    requests: Sequence[DigestRequest],
    *,
    now: int,
    last: int = DEFAULT_LAST,
    since: int | None = None,
    shape: Shape = USUAL_SHAPE,
) -> list[Digest]:
    """Returns the digest of each session, read now. Without a transcript it is empty and its status unknown.

    All files are read before the first text is shortened: the processor stays with one kind of work, which takes an
    eighth less time than both in turns.
    """
    read = [_recent_or_none(request, last, since, full=shape.full) for request in requests]
    return [
        unseen(request.subject) if recent is None else digest(request.subject, recent, now, shape)
        for request, recent in zip(requests, read, strict=True)
    ]


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
    """Returns the digest of one session, as `digest_transcripts` does."""
    [told] = digest_transcripts(
        [DigestRequest(agent, path, subject)], now=now, last=last, since=since, shape=shape
    )
    return told


def _recent_or_none(request: DigestRequest, last: int, since: int | None, *, full: bool) -> Recent | None:
    if request.path is None:
        return None
    try:
        return read_recent(request.agent, request.path, last, since=since, full=full)
    except OSError:
        return None


def read_recent(
    agent: Agent,
    path: str | Path,
    last: int,
    *,
    since: int | None = None,
    full: bool = False,
    farthest: int = FARTHEST,
    reader: TailReader | None = None,
) -> Recent:
    """The last `last` entries of a transcript and all that tells how its session does. OSError if it is gone.

    `full`: short texts count wherever they stand."""
    reader = reader or tail_reader()
    gathering = Gathering(last, since, full=full)
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        stat = os.fstat(fd)
        _gather(agent, gathering, reader.blocks(fd, stat.st_size, farthest))
    finally:
        os.close(fd)
    return gathering.result(stat.st_size, stat.st_mtime_ns // 1_000_000, reader.bytes_read)


def _gather(agent: Agent, gathering: Gathering, blocks: Iterator[Lines]) -> None:
    """Reads lines, the last one first, until there are enough."""
    noise_letter, is_noise, read = agent.noise_letter, agent.noise.match, agent.read
    wanted = gathering.wanted
    for buffer, floor, high in blocks:
        end = high
        rfind = buffer.rfind
        while end > floor:
            newline = rfind(_NEWLINE, floor, end)
            start = newline + 1
            if start < end and (buffer[start + 2] != noise_letter or not is_noise(buffer, start, end)):
                moments = read(buffer, start, end, wanted)
                if moments:
                    gathering.take(moments)
                    if gathering.enough:
                        return
                    wanted = gathering.wanted
            end = newline
