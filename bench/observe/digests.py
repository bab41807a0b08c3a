"""S1 to S3: digests against the C limit, against the seed's algorithm in Node, and of a huge file."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.measure import Row, interleaved, row
from maestro.agents.registry import agent_named
from maestro.observe.digest import Subject
from maestro.observe.transcript import DigestRequest, digest_transcripts, read_recent

from .limit import compile_limit, reading
from .transcripts import NOW, write_session

LAST = 5
SIZE = 2_000_000  # five entries lie within the last 165 KB on average, as in real sessions
DISTINCT = 25  # sessions that are written; the others are copies of them
BARS = {5: 12.0, 50: 8.0, 500: 7.0}
ROUNDS = {5: 200, 50: 60, 500: 80}
NODE_ROUNDS = {5: 200, 50: 25, 500: 5}
SEED = Path(__file__).with_name("seed_algorithm.js")

CLAUDE = agent_named("claude")
NOW_MS = round(NOW.timestamp() * 1000)


def rows(folder: Path, wanted: set[str]) -> Iterator[Row]:
    paths = [folder / f"{number}.jsonl" for number in range(max(BARS))]
    for number, path in enumerate(paths):
        if number < DISTINCT:
            write_session(path, SIZE, seed=number)
        else:
            shutil.copyfile(paths[number % DISTINCT], path)
    if not wanted or "S1" in wanted:
        yield from against_the_limit(folder, paths)
    if not wanted or "S2" in wanted:
        yield from against_the_seed(paths)
    if not wanted or "S3" in wanted:
        yield huge_file(folder)


def digesting(paths: list[Path]) -> Callable[[], object]:
    work = [DigestRequest(CLAUDE, str(path), Subject(path.stem)) for path in paths]

    def call() -> object:
        return digest_transcripts(work, now=NOW_MS, last=LAST)

    return call


def against_the_limit(folder: Path, paths: list[Path]) -> Iterator[Row]:
    compiler = shutil.which("cc")
    if compiler is None:
        return
    library = compile_limit(folder, compiler)
    bytes_read = [read_recent(CLAUDE, path, LAST).bytes_read for path in paths]
    for count, bar in BARS.items():
        limit = reading(library, paths[:count], bytes_read[:count])
        times = interleaved(digesting(paths[:count]), limit, ROUNDS[count])
        yield row("S1", f"digest of {count} sessions / reading the same bytes in C", bar, times)


def against_the_seed(paths: list[Path]) -> Iterator[Row]:
    node = shutil.which("node")
    if node is None:
        return
    for count in BARS:
        command = [node, str(SEED), str(LAST), *map(str, paths[:count])]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as seed:
            times = interleaved(digesting(paths[:count]), answering(seed), NODE_ROUNDS[count])
        yield row(
            "S2", f"digest of {count} sessions, the seed's algorithm in Node / ours", 15, times, at_most=False
        )


def answering(process: subprocess.Popen[str]) -> Callable[[], object]:
    """One pass of a program that answers a line with a line."""
    assert process.stdin is not None
    assert process.stdout is not None
    questions, answers = process.stdin, process.stdout

    def call() -> str:
        questions.write("\n")
        questions.flush()
        return answers.readline()

    return call


def huge_file(folder: Path) -> Row:
    small, huge = folder / "small.jsonl", folder / "huge.jsonl"
    write_session(small, 1_000_000, seed=1)
    with huge.open("wb") as file:
        file.truncate(1 << 30)
        file.seek(1 << 30)
        file.write(b"\n" + small.read_bytes())
    times = interleaved(digesting([huge]), digesting([small]), 300)
    return row("S3", "digest of a 1 GB transcript / of a 1 MB one", 1.2, times)
