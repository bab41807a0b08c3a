"""How far a version of a CLI works: by its own row, or by its nearest neighbour's."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from tests.real.clis import CLIS, OLDER

from maestro.agents.codex.versions import without_shared_server
from maestro.agents.registry import agent_named
from maestro.agents.versions import PARTS, STEPS, Recorded, Versioned, numbers, outlook, version_in

REAL = Path(__file__).parents[1] / "real"
TRIED = (
    Recorded("1.10.0"),
    Recorded("1.9.2", {"retry": "It shows no retry.", "its_hooks_tell": "It has no hooks."}),
)


def recorded(name: str) -> tuple[Recorded, ...]:
    agent = agent_named(name)
    assert isinstance(agent, Versioned)
    return agent.versions


def steps(name: str) -> set[str]:
    """Every step of the walk that this CLI takes."""
    files = (REAL / f"test_{name}.py", REAL / "runs" / f"test_{name}.py")
    nodes = [node for file in files for node in ast.parse(file.read_text()).body]
    return {
        node.name.removeprefix("test_")
        for node in nodes
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


@pytest.mark.parametrize("name", CLIS)
def test_the_versions_of_the_walk_are_those_of_the_table(name: str) -> None:
    walked = {CLIS[name].version, *OLDER[name]}
    assert {one.version for one in recorded(name)} == walked


@pytest.mark.parametrize("name", CLIS)
def test_every_step_shows_a_part_and_every_failure_is_of_a_step(name: str) -> None:
    assert steps(name) - STEPS.keys() == set()
    assert {step for one in recorded(name) for step in one.fails} - steps(name) == set()
    # On the pinned version all of it holds: `make test-real` shows that.
    assert [one.fails for one in recorded(name) if one.version == CLIS[name].version] == [{}]


def test_every_step_is_taken_by_a_cli() -> None:
    assert STEPS.keys() == {step for name in CLIS for step in steps(name)}
    assert set(STEPS.values()) == PARTS.keys()


def test_a_recorded_version_works_as_recorded() -> None:
    found = outlook(TRIED, "1.9.2")
    assert found
    assert (found.is_recorded, found.nearest, found.words) == (True, "1.9.2", "")
    states = {part: works.state for part, works in found.parts.items()}
    assert states == dict.fromkeys(PARTS, "yes") | {"read": "degraded", "hooks": "no"}
    assert found.parts["read"].reason == "It shows no retry."


@pytest.mark.parametrize(
    ("version", "nearest"),
    [
        ("1.9.3", "1.9.2"),
        ("1.10.1", "1.10.0"),
        ("2.0.0", "1.10.0"),
        ("1.9.10", "1.9.2"),  # numbers, not letters
        ("0.1.0", "1.9.2"),
        ("", "1.10.0"),
    ],
)
def test_another_version_is_degraded_by_its_nearest(version: str, nearest: str) -> None:
    found = outlook(TRIED, version)
    assert found
    assert (found.is_recorded, found.nearest) == (False, nearest)
    assert found.words == f"not recorded; nearest is {nearest}: degraded"
    assert {works.state for works in found.parts.values()} <= {"degraded", "no"}
    assert all(works.reason for works in found.parts.values())


def test_nothing_is_said_of_a_cli_of_which_nothing_is_recorded() -> None:
    assert outlook((), "1.0.0") is None


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ("codex-cli 0.149.0", "0.149.0"),
        ("2.1.197 (Claude Code)", "2.1.197"),
        ("0.56.0", "0.56.0"),
        ("tmux 3.3a", "3.3"),
        ("1.2.3-beta.4", "1.2.3"),
        ("no number", ""),
        ("", ""),
        ("9" * 5000 + "." + "9" * 5000, "999999999.999999999"),
    ],
)
def test_a_version_is_found_in_what_a_program_says(said: str, version: str) -> None:
    assert version_in(said) == version
    told = tuple(int(number) for number in version.split(".") if number)
    assert numbers(version) == ((*told, 0, 0)[:3] if told else ())


@pytest.mark.parametrize(
    ("version", "flags"),
    [
        ("0.149.0", ()),
        ("0.155.1", ()),
        ("0.155", ()),
        ("0.156", ("--no-daemon",)),
        ("0.156.0", ("--no-daemon",)),
        ("0.160.1", ("--no-daemon",)),
        ("1.0.0", ("--no-daemon",)),
        ("", ("--config", "features.daemon_auto_start=false")),
    ],
)
def test_codex_gets_a_flag_from_the_version_on_that_knows_it(version: str, flags: tuple[str, ...]) -> None:
    assert without_shared_server(version) == flags
