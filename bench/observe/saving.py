"""S13: what a coordinator reads, against the raw end of the transcript that it was made from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bench.measure import Row
from maestro.agents.registry import agent_named
from maestro.observe.context import clock
from maestro.observe.digest import Subject
from maestro.observe.stats import digest_saving
from maestro.observe.transcript import digest_transcript

from .transcripts import NOW, write_session

BAR = 1 / 200
SESSIONS = 40
CLAUDE = agent_named("claude")


def rows(folder: Path) -> Iterator[Row]:
    digest_tokens = raw_tokens = 0
    for number in range(SESSIONS):
        path = folder / f"saving-{number}.jsonl"
        write_session(path, 600_000, seed=number)
        digest = digest_transcript(CLAUDE, path, Subject("s"), now=round(NOW.timestamp() * 1000))
        shown = "\n".join(f'[{clock(entry.timestamp)}] "{entry.text}"' for entry in digest.entries)
        saving = digest_saving(CLAUDE, path, shown, last=5)
        digest_tokens += saving.digest_tokens
        raw_tokens += saving.raw_tokens
    ratio = digest_tokens / raw_tokens
    what = "tokens of a digest of 5 entries / of the raw tail it came from"
    yield Row("S13", what, ratio, BAR, ratio <= BAR, 0.0, 0.0, at_most=True)
