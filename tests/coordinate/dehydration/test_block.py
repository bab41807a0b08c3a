"""`<coordinator_state>`: everything in it, short enough for a hook, and nothing that breaks out of it."""

from __future__ import annotations

from datetime import UTC
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maestro.coordinate.memory.dehydration import Criterion, Note, State
from maestro.coordinate.memory.rehydration import MOST_TOKENS, Whose, state_block
from maestro.fleet.prompt import PromptTask, first_prompt
from maestro.observe.context import estimated_tokens

GOLDEN = Path(__file__).parent / "golden"
SAVED = 1_794_753_130_000  # 2026-11-15 14:32:10 UTC

STATE = State(
    summary="Two of three parts are done; <auth> & tests are left.",
    last_action="Prompted the tester.",
    next_steps=("Wait for the tester", "Merge"),
    required_files=("docs/plan.md", "src/auth.py"),
    pending_escalations=(Note("May “build/” be removed? (file deletion)", "esca_01", "backend", SAVED),),
    recent_decisions=(
        Note("“Which database?” answered by rules: SQLite", "deci_01", "backend", SAVED - 60_000),
        Note("We do not touch the API."),
    ),
    config="/home/me/app/coordinate.config.json",
    vision="/home/me/app/VISION.md",
    chapter="Chapter 2: Login",
    criteria=(Criterion("Users can log in", done=True), Criterion("Tests pass", done=False)),
    panes=(Note("backend (sess_02), working", "%3"), Note("tester (sess_03), idle", "%4")),
)
TASK = PromptTask("task_01", "Build the login", "Users shall log in with a password.")
COORDINATOR = Whose("sess_01", "Lead", "coordinator", (TASK,))
WORKER = Whose("sess_02", "backend", "worker", (TASK,))


@pytest.mark.parametrize(("name", "state"), [("coordinator", STATE), ("nothing_kept", State())])
def test_the_block_is_as_it_was_agreed(name: str, state: State) -> None:
    block = state_block(COORDINATOR, state, SAVED if state != State() else None, UTC)
    ET.fromstring(block)
    assert block + "\n" == (GOLDEN / f"{name}.xml").read_text(encoding="utf-8")


def test_a_worker_gets_its_task_again_and_its_own_words() -> None:
    task = first_prompt("sess_02", tasks=(TASK,))
    begins = '<session_state session="sess_02" name="backend">\n'
    assert state_block(WORKER, State(), None, UTC) == f"{begins}{task}\n</session_state>"
    words = State(summary="Half of it is done.", next_steps=("The other half",))
    assert state_block(WORKER, words, SAVED, UTC).endswith(
        f"{task}\n<summary>Half of it is done.</summary>\n"
        "<next_steps>\n  <step>The other half</step>\n</next_steps>\n</session_state>"
    )


def test_what_has_no_room_is_cut_and_counted_and_where_all_is_said() -> None:
    state = State(
        summary="s" * 4_000,
        next_steps=tuple(f"step {n} " + "x" * 400 for n in range(20)),
        required_files=tuple(f"src/{n}.py" for n in range(8)),
        recent_decisions=tuple(Note(f"decision {n} " + "y" * 400, f"deci_{n}") for n in range(20)),
        pending_escalations=tuple(Note(f"escalation {n} " + "z" * 400, f"esca_{n}") for n in range(20)),
    )
    block = state_block(COORDINATOR, state, SAVED, UTC)
    root = ET.fromstring(block)
    assert estimated_tokens(len(block)) <= MOST_TOKENS
    assert len(block) < 10_000
    assert [one.get("path") for one in root.iter("file")] == list(state.required_files)
    shown = [one.get("id") for one in root.iter("decision")]
    assert shown == [f"deci_{n}" for n in range(20)][-len(shown) :]  # the newest
    assert next(root.iter("escalation")).get("id") == "esca_0"  # who waits longest
    left_out = root.find("pending_escalations/left_out")
    assert left_out is not None
    assert int(left_out.get("count", "0")) + len(list(root.iter("escalation"))) == 20
    assert "`maestro session rehydrate` shows all of it." in block
    whole = state_block(COORDINATOR, state, SAVED, UTC, most_tokens=None)
    assert len(list(ET.fromstring(whole).iter("step"))) == 20
    assert "left_out" not in whole


ANY = st.text(max_size=600) | st.text("<>&\"' ", max_size=4_000)
NOTES = st.lists(st.builds(Note, ANY, ANY, ANY, st.none() | st.integers(0, SAVED)), max_size=25).map(tuple)
STATES = st.builds(
    State,
    summary=ANY,
    last_action=ANY,
    next_steps=st.lists(ANY, max_size=25).map(tuple),
    required_files=st.lists(ANY, max_size=8).map(tuple),
    pending_escalations=NOTES,
    recent_decisions=NOTES,
    config=ANY,
    vision=ANY,
    chapter=ANY,
    criteria=st.lists(st.builds(Criterion, ANY, st.booleans()), max_size=30).map(tuple),
    panes=NOTES,
)
TASKS = st.lists(st.builds(PromptTask, ANY, ANY, ANY), max_size=5).map(tuple)
TAGS = {
    "coordinator_state", "role", "task", "title", "description", "summary", "last_action", "next_steps", "step",
    "required_files", "file", "config", "vision", "chapter", "panes", "pane", "recent_decisions", "decision",
    "pending_escalations", "escalation", "left_out", "session_state", "session_id",
}  # fmt: skip


@given(state=STATES, tasks=TASKS, name=ANY, role=st.sampled_from(["coordinator", "worker"]))
def test_whatever_is_kept_it_is_well_formed_and_within_its_bound(
    state: State, tasks: tuple[PromptTask, ...], name: str, role: str
) -> None:
    whose = Whose("sess_01", name, role, tasks)
    block = state_block(whose, state, SAVED, UTC)
    assert block, "the least of it always has room"
    assert estimated_tokens(len(block)) <= MOST_TOKENS
    for text in (block, state_block(whose, state, SAVED, UTC, most_tokens=None)):
        assert {one.tag for one in ET.fromstring(text).iter()} <= TAGS
