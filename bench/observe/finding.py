"""S4: a session that Maestro launched is found by its name, however many transcripts lie beside it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bench.measure import Row, interleaved, row
from maestro.agents.claude.transcript import folder_name
from maestro.agents.registry import agent_named
from maestro.observe.resolve import Resolver, Sought

BAR = 1.5
WANTED = "00000000-0000-4000-8000-000000000007"
CLAUDE = agent_named("claude")


def rows(folder: Path) -> Iterator[Row]:
    many, few = home_with(folder / "many", 10_000), home_with(folder / "few", 10)

    def finding(home: Path) -> object:
        path = Resolver().resolve(CLAUDE, Sought("sess_1", WANTED, str(home)), {"HOME": str(home)}, 0)
        assert path is not None
        return path

    times = interleaved(lambda: finding(many), lambda: finding(few), 300)
    yield row("S4", "resolve a launched session, folder of 10,000 transcripts / of 10", BAR, times)


def home_with(home: Path, transcripts: int) -> Path:
    folder = home / ".claude" / "projects" / folder_name(str(home.resolve()))
    folder.mkdir(parents=True)
    for number in range(transcripts):
        (folder / f"00000000-0000-4000-8000-{number:012}.jsonl").write_bytes(b"{}\n")
    return home
