"""Two coordinators and twenty tags, killed at random: each tag is handled once."""

from __future__ import annotations

import random
import subprocess
import time

import pytest
from tests.coordinate.tags.dispatched import Office, kill
from tests.support import SOAK, Maestro

TAGS = 20
KILLS = 20 if SOAK else 4
ROUNDS = 15 if SOAK else 1


def notes(office: Office, turn: int, count: int = TAGS) -> list[str]:
    """So many lines in three files; their words."""
    words = [f"piece {number} of {turn}" for number in range(count)]
    for place, name in enumerate(("one.md", "two.md", "deep/three.md")):
        (office.project / name).parent.mkdir(exist_ok=True)
        office.note(*words[place::3], name=name)
    return words


def kill_at_random(office: Office, rng: random.Random, *, runs_too: bool) -> None:
    """Two dispatchers, one of which is killed and started again, time after time; then both to their ends."""
    working: dict[str, subprocess.Popen[bytes]] = {}
    try:
        for _ in range(KILLS):
            for name in ("ann", "bob"):
                if name not in working or working[name].poll() is not None:
                    working[name] = office.start(name)
            time.sleep(rng.uniform(0.05, 1.0))  # the moment of the kill is the seeded chance
            runners = office.runners()
            if runs_too and runners and rng.random() < 0.5:
                kill(rng.choice(runners))
            else:
                victim = working[rng.choice(["ann", "bob"])]
                victim.kill()
                victim.wait()
    finally:
        for process in working.values():
            process.kill()
            process.wait()


def settle(office: Office) -> None:
    """What a coordinator finds when nobody is killed any more."""
    office.wait_for_runs()
    while office.dispatch("--async"):
        office.wait_for_runs()


@pytest.mark.more
@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_each_tag_is_handled_once(maestro: Maestro) -> None:
    rng = random.Random(20261117)
    office = Office(maestro)
    expected: list[str] = []
    for turn in range(ROUNDS):
        expected += notes(office, turn)
        kill_at_random(office, rng, runs_too=False)
        settle(office)
        assert sorted(office.handled) == sorted(expected)
    assert set(office.states()) == {"done"}
    runs = [path.name for path in (office.project / ".maestro" / "runs").iterdir() if path.is_dir()]
    assert sorted(runs) == sorted(
        f"{seen.tag.id}-{attempt(office, seen.tag.id)}" for seen in office.tags.all()
    )
    whole = "".join(path.read_text() for path in office.project.rglob("*.md") if ".maestro" not in path.parts)
    assert sorted(whole.splitlines()) == sorted(f"- {words} #done-fix" for words in expected)
    with office.tags.locked():
        for name in ("one.md", "two.md", "deep/three.md"):
            office.tags.files.rewrite(name, lambda text: text)
    assert list(office.project.rglob("*.tmp")) == []


@pytest.mark.more
@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_nothing_is_handled_twice_when_runs_are_killed_too(maestro: Maestro) -> None:
    rng = random.Random(20261118)
    office = Office(maestro)
    expected: list[str] = []
    for turn in range(ROUNDS):
        expected += notes(office, turn, TAGS if SOAK else 8)
        kill_at_random(office, rng, runs_too=True)
        settle(office)
        assert len(office.handled) == len(set(office.handled)), "handled twice"
    for seen in office.tags.all():
        assert seen.record is not None
        if seen.tag.state == "done":
            assert seen.tag.text in office.handled
        else:
            assert (seen.tag.state, "interrupted" in seen.record.failed) == ("delegated", True), seen
    assert sorted(seen.tag.text for seen in office.tags.all()) == sorted(expected)


def attempt(office: Office, tag_id: str) -> int:
    record = office.tags.record(tag_id)
    assert record is not None
    return record.attempt
