"""project.json and what comes next: parsed strictly, moved by results alone, never overwritten blindly."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.chains.support import package, project_at

from maestro.chains import Phase, Project, ResultBlock
from maestro.chains.project import TRANSITIONS, after_step, as_json, faults, moved, parse_project, phase_of
from maestro.chains.project_file import project_path, read_project, write_project
from maestro.chains.routing.ladder import next_rung
from maestro.errors import Conflict, IllegalTransition, InvalidInput, NotFound

NOW = "2026-01-31T12:00:00Z"
GOOD = ResultBlock(status="SUCCESS", summary="Fine.", verdict="PASS")


def at(rung: str) -> Project:
    found = project_at(rung)
    assert found is not None
    return found


def test_a_project_is_written_as_it_is_read() -> None:
    assert parse_project(as_json(at("planned"))) == at("planned")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "truncated"),
        ("{", "truncated"),
        ("[]", "Expected `object`"),
        ("{}", "missing required field `name`"),
        ('{"name": ""}', "name: it is empty"),
        ('{"name": "a", "phasen": []}', "unknown field `phasen`"),
        ('{"name": "a", "phases": [{"number": 1}]}', "title"),
        ('{"name": "a", "phases": [{"number": 1, "title": "x", "status": "finished"}]}', "finished"),
        ('{"name": "a", "phases": [{"number": 0, "title": "x"}], "current_phase": 0}', "not one of 1 to 999"),
        (
            '{"name": "a", "phases": [{"number": 1, "title": "x"}, {"number": 1, "title": "y"}], "current_phase": 1}',
            "two with the number 1",
        ),
        ('{"name": "a", "phases": [{"number": 1, "title": "x"}], "current_phase": 2}', "no phase 2"),
        ('{"name": "a", "phases": [{"number": 1, "title": "x"}]}', "names none"),
    ],
)
def test_what_is_wrong_is_named(text: str, words: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_project(text.encode())
    assert words in caught.value.message


@given(st.binary(max_size=200))
def test_any_bytes_are_a_project_or_refused(data: bytes) -> None:
    try:
        project = parse_project(data)
    except InvalidInput:
        return
    assert faults(project) == []


@pytest.mark.parametrize(
    ("rung", "chain"),
    [
        ("none", "init"),
        ("empty", "roadmap"),
        ("pending", "analyze"),
        ("analyzed", "plan"),
        ("planned", "execute"),
        ("executed", "verify"),
        ("verified", "review"),
        ("reviewed", "test"),
        ("blocked", "debug"),
        ("done", "milestone-close"),
        ("complete", "next-milestone"),
    ],
)
def test_the_ladder(rung: str, chain: str) -> None:
    assert next_rung(project_at(rung)).chain == chain


def test_following_the_ladder_closes_every_phase_and_the_milestone() -> None:
    project, walked = at("pending"), []
    while project.status == "active":
        rung = next_rung(project)
        walked.append(rung.chain)
        for step in package().chains[rung.chain].steps:
            project = after_step(project, step.command, GOOD, rung.phase, NOW)
        assert faults(project) == []
        assert len(walked) < 30
    phase = ["analyze", "plan", "execute", "verify", "review", "test"]
    assert walked == [*phase, *phase, "milestone-close"]
    assert next_rung(project).chain == "next-milestone"


def test_a_check_that_finds_gaps_blocks_and_debug_frees() -> None:
    gaps = ResultBlock(status="SUCCESS", summary="Two gaps.", verdict="GAPS")
    project = after_step(at("executed"), "verify", gaps, 1, NOW)
    phase = phase_of(project, 1)
    assert phase is not None
    assert (phase.status, phase.blocked_by) == ("blocked", "Two gaps.")
    assert next_rung(project).why == "phase 1 is blocked: Two gaps."
    freed = phase_of(after_step(project, "debug", GOOD, 1, NOW), 1)
    assert freed is not None
    assert (freed.status, freed.blocked_by) == ("executed", "")


def test_changed_work_has_to_be_checked_again() -> None:
    phase = phase_of(after_step(at("reviewed"), "plan", GOOD, 1, NOW), 1)
    assert phase is not None
    assert (phase.status, phase.reviewed) == ("planned", False)


@pytest.mark.parametrize("command", ["plan", "execute", "verify", "review", "milestone-complete"])
def test_a_failed_step_changes_nothing(command: str) -> None:
    failed = ResultBlock(status="FAILURE", summary="No.", verdict="PASS")
    assert after_step(at("executed"), command, failed, 1, NOW) == at("executed")


def test_work_beside_the_roadmap_changes_nothing() -> None:
    assert after_step(at("planned"), "execute", GOOD, None, NOW) == at("planned")


COMMANDS = sorted(package().commands)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(COMMANDS),
            st.sampled_from(["SUCCESS", "FAILURE", "BLOCKED"]),
            st.sampled_from(["PASS", "GAPS", "FAIL", None]),
            st.sampled_from([None, 1, 2, 9]),
        ),
        max_size=25,
    )
)
def test_whatever_steps_say_the_project_stays_whole(
    steps: list[tuple[str, str, str | None, int | None]],
) -> None:
    project = at("pending")
    for command, status, verdict, phase in steps:
        block = ResultBlock(status=status, summary="s", verdict=verdict)  # type: ignore[arg-type]  # sampled words
        later = after_step(project, command, block, phase, NOW)
        assert faults(later) == []
        for before, behind in zip(project.phases, later.phases, strict=False):
            # A phase may be closed in the same step that verified, reviewed or tested it.
            reached = {before.status, *TRANSITIONS[before.status]}
            assert behind.status in reached | {one for status in reached for one in TRANSITIONS[status]}
        project = later
        assert next_rung(project).chain in package().chains


def test_a_move_that_the_table_does_not_know_is_refused() -> None:
    with pytest.raises(IllegalTransition, match="is pending and cannot become verified"):
        moved(at("pending"), 1, "verified", NOW)
    with pytest.raises(NotFound, match="no phase 9"):
        moved(at("pending"), 9, "planned", NOW)


def test_a_file_is_written_and_read(place: Path) -> None:
    state = str(place / ".maestro")
    assert read_project(state) is None
    write_project(state, at("planned"), earlier=None)
    assert read_project(state) == at("planned")


def test_an_unreadable_file_stops_and_is_kept(place: Path) -> None:
    path = Path(project_path(str(place)))
    path.write_bytes(b'{"name": "a", ')
    with pytest.raises(InvalidInput, match=r"project\.json"):
        read_project(str(place))
    with pytest.raises(InvalidInput, match=r"project\.json"):
        write_project(str(place), at("planned"), earlier=None)
    assert path.read_bytes() == b'{"name": "a", '
    assert [entry.name for entry in place.iterdir()] == ["project.json"]


def test_what_somebody_else_wrote_is_not_overwritten(place: Path) -> None:
    write_project(str(place), at("planned"), earlier=None)
    changed = Project(name="other", phases=(Phase(number=1, title="Mine"),), current_phase=1)
    with pytest.raises(Conflict, match="changed by somebody else"):
        write_project(str(place), changed, earlier=at("pending"))
    assert read_project(str(place)) == at("planned")
