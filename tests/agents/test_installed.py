"""Programs that tell their version, or do not: real ones, each as broken as a program can be."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.patience import patience, until
from tests.support import clean_env

from maestro import processes
from maestro.agents.installed import CACHE_FILE, ask, known_version

HOUR = 60 * 60 * 1000


class Bench:
    """A program called `cli` on a PATH of its own."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.home = place / "home"
        self.home.mkdir()
        self.env = clean_env(place) | {"PATH": f"{place}:/usr/bin:/bin"}

    def program(self, script: str) -> Path:
        # Another file, as an upgrade brings one; the old one lives on, so its number is not taken again.
        path = self.place / "cli"
        if path.exists():
            path.rename(self.place / f"old{len(list(self.place.iterdir()))}")
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    def known(self, now: int, cwd: str = "/") -> str:
        return known_version(str(self.home), "cli", self.env, cwd, now=now, seconds=patience())

    @property
    def asked(self) -> int:
        counted = self.place / "asked"
        return len(counted.read_text().splitlines()) if counted.exists() else 0


@pytest.fixture
def bench(place: Path) -> Bench:
    return Bench(place)


@pytest.mark.parametrize(
    ("script", "fault", "version", "words"),
    [
        ("echo WARNING: 9.9.9 >&2; echo codex-cli 0.149.0", "", "0.149.0", "codex-cli 0.149.0"),
        ("echo 0.56.0 >&2", "", "0.56.0", "0.56.0"),
        ("exit 0", "unclear", "", ""),
        ("echo hello; echo 1.2.3", "unclear", "", "hello"),
        (r"printf '\377\000\033]0;x\007no version\n'", "unclear", "", "no version"),
        ("echo first; echo 'cannot find module' >&2; exit 1", "fails", "", "exit code 1: cannot find module"),
        ("exit 3", "fails", "", "exit code 3, and it says nothing"),
        ("kill -9 $$", "fails", "", "signal 9, and it says nothing"),
        ("yes no version", "unclear", "", "no version"),
        # What it leaves behind keeps its pipes open.
        ("sleep 3600 & echo 1.2.3", "", "1.2.3", "1.2.3"),
    ],
)
def test_a_program_that_answers(bench: Bench, script: str, fault: str, version: str, words: str) -> None:
    path = bench.program(script)
    found = ask("cli", bench.env, "/", seconds=patience())
    assert (found.path, found.fault, found.version) == (str(path), fault, version)
    assert found.words.endswith(words)
    assert "\x1b" not in found.words


def test_a_program_that_does_not_answer_is_slow_and_ends_with_all_that_it_started(bench: Bench) -> None:
    pids = bench.place / "pids"
    bench.program(f"sleep 3600 & echo $! >> {pids}; echo $$ >> {pids}; wait")
    found = ask("cli", bench.env, "/", seconds=patience(1))
    assert found.fault == "slow"
    assert found.words.startswith("no answer in ")
    ended = [int(pid) for pid in pids.read_text().split()]
    assert len(ended) == 2
    until(lambda: not any(map(processes.exists, ended)), lambda: str(ended))


def test_a_program_that_cannot_be_started(bench: Bench) -> None:
    assert ask("cli", bench.env, "/").fault == "missing"
    bench.program("")
    (bench.place / "cli").write_bytes(b"\x7fELF of nowhere")
    found = ask("cli", bench.env, "/")
    assert (found.fault, found.words) == ("fails", "Exec format error")
    assert ask("cli", bench.env, str(bench.place / "gone")).fault == "fails"


def test_the_same_program_is_asked_once(bench: Bench) -> None:
    bench.program(f"echo >> {bench.place}/asked; echo 1.0.0")
    assert [bench.known(now=HOUR), bench.known(now=2 * HOUR)] == ["1.0.0"] * 2
    assert bench.asked == 1
    bench.known(now=HOUR, cwd=str(bench.place))  # a program may stand for several, and choose by the folder
    assert bench.asked == 2


def test_another_program_is_asked_again(bench: Bench) -> None:
    bench.program(f"echo >> {bench.place}/asked; echo 1.0.0")
    bench.known(now=HOUR)
    bench.program(f"echo >> {bench.place}/asked; echo 2.0.0")
    assert (bench.known(now=HOUR), bench.asked) == ("2.0.0", 2)


@pytest.mark.parametrize("later", [25 * HOUR, -HOUR])
def test_an_answer_holds_for_a_day_and_not_before_it_was_given(bench: Bench, later: int) -> None:
    bench.program(f"echo >> {bench.place}/asked; echo 1.0.0")
    bench.known(now=100 * HOUR)
    bench.known(now=100 * HOUR + later)
    assert bench.asked == 2


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b'[{"program": []}]', b"\xff"])
def test_a_broken_record_is_replaced(bench: Bench, content: bytes) -> None:
    bench.program(f"echo >> {bench.place}/asked; echo 1.0.0")
    (bench.home / CACHE_FILE).write_bytes(content)
    assert [bench.known(now=HOUR), bench.known(now=HOUR)] == ["1.0.0"] * 2
    assert bench.asked == 1


def test_no_home_is_made_for_the_record(bench: Bench) -> None:
    bench.program("echo 1.0.0")
    bench.home.rmdir()
    assert bench.known(now=HOUR) == "1.0.0"
    assert not bench.home.exists()


def test_what_told_no_version_is_asked_again(bench: Bench) -> None:
    bench.program(f"echo >> {bench.place}/asked; exit 1")
    assert [bench.known(now=HOUR), bench.known(now=HOUR)] == ["", ""]
    assert bench.asked == 2
