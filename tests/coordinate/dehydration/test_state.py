"""What an agent may say of its state, what is wrong with it and where, and what of it counts later."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maestro.coordinate.memory.dehydration import (
    FIELDS,
    FileFound,
    Known,
    Note,
    State,
    merged,
    parse_state,
)
from maestro.errors import InvalidInput

FILES = {"docs/plan.md", "src/auth.py"}


def find_file(path: str) -> FileFound:
    if path.startswith(("/", "..")):
        return FileFound(fault="is outside of the project")
    return FileFound(path) if path in FILES else FileFound(fault="is no file of the project")


def faults(text: str) -> list[str]:
    with pytest.raises(InvalidInput) as raised:
        parse_state(text, find_file)
    assert "--help" in raised.value.hint
    return raised.value.message.splitlines()


def test_everything_that_is_said_is_kept() -> None:
    told = {
        "summary": "Two of three parts are done.",
        "lastAction": "Prompted the tester.",
        "nextSteps": ["Wait for the tester", "Merge"],
        "requiredFiles": ["docs/plan.md", "src/auth.py"],
        "pendingEscalations": ["Which license?", {"id": "esca_1", "worker": "tester", "text": "May it?"}],
        "recentDecisions": [{"question": "Which database?", "answer": "SQLite", "worker": "backend"}],
        "config": "coordinate.config.json",
        "vision": "VISION.md",
        "chapter": 2,
        "panes": ["%3", {"id": "%4", "label": "tester"}],
    }
    assert set(told) == set(FIELDS)
    assert parse_state(json.dumps(told), find_file) == State(
        summary="Two of three parts are done.",
        last_action="Prompted the tester.",
        next_steps=("Wait for the tester", "Merge"),
        required_files=("docs/plan.md", "src/auth.py"),
        pending_escalations=(Note("Which license?"), Note("May it?", "esca_1", "tester")),
        recent_decisions=(Note("question: Which database?; answer: SQLite", worker="backend"),),
        config="coordinate.config.json",
        vision="VISION.md",
        chapter="2",
        panes=(Note("%3"), Note("label: tester", "%4")),
    )
    assert parse_state("{}", find_file) == State()


def test_all_faults_are_told_each_with_its_place() -> None:
    text = """{
  "sumary": "x",
  "lastAction": ["no"],
  "nextSteps": ["one", 2],
  "requiredFiles": ["docs/plan.md", "../secret", "docs/none.md", " "],
  "panes": {"a": 1},
  "lastAction": "twice",
  "recentDecisions": [{"question": ["no"]}, 5]
}"""
    assert faults(text) == [
        "line 2, column 3: sumary is no field of this. Did you mean summary?",
        "line 3, column 17: lastAction must be text.",
        "line 4, column 24: nextSteps[1] must be text.",
        "line 5, column 37: requiredFiles[1] is outside of the project: ../secret.",
        "line 5, column 50: requiredFiles[2] is no file of the project: docs/none.md.",
        "line 5, column 66: requiredFiles[3] names no file.",
        "line 6, column 12: panes must be a list in [ ].",
        "line 7, column 3: lastAction is there twice. Remove one.",
        "line 8, column 36: recentDecisions[0].question must be text.",
        "line 8, column 45: recentDecisions[1] must be text or an object of texts.",
    ]


def test_eight_files_and_no_more() -> None:
    eight = ["docs/plan.md"] * 8
    assert len(parse_state(json.dumps({"requiredFiles": eight}), find_file).required_files) == 8
    [fault] = faults(json.dumps({"requiredFiles": [*eight, "src/auth.py"]}))
    assert "requiredFiles has 9 files; 8 are read again." in fault


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "This is no JSON object"),
        ("[]", "This is no JSON object"),
        ('{"summary": "x"', "line 1, column 15: this is not JSON"),
        ('{"summary": "x",}', "line 1, column 17: this is not JSON"),
        (" " * 300_000, "300,000 characters"),
    ],
)
def test_what_is_no_object_is_refused(text: str, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        parse_state(text, find_file)


def test_long_texts_are_cut_and_secrets_left_out() -> None:
    told = {
        "summary": "a" * 10_000,
        "nextSteps": ["b" * 1_000] * 40,
        "recentDecisions": [f"decision {n}" for n in range(30)],
        "lastAction": "used the key sk-ant-REDACTED",
    }
    state = parse_state(json.dumps(told), find_file)
    assert len(state.summary) == 4_000
    assert {len(step) for step in state.next_steps} == {500}
    assert len(state.next_steps) == 20
    assert [note.text for note in state.recent_decisions] == [f"decision {n}" for n in range(20, 30)]
    assert state.last_action == "used the key [redacted]"


OPEN = Note("May it be removed?", "esca_2", "backend", 5)
DECIDED = tuple(Note(f"decided {n}", f"deci_{n}") for n in range(12))
KNOWN = Known(
    pending=(OPEN,),
    decisions=DECIDED,
    config="/p/coordinate.config.json",
    vision="/p/VISION.md",
    chapter="Chapter 2: Login",
    panes=(Note("backend", "%3"),),
)


def test_what_is_left_out_is_filled_in() -> None:
    state = merged(State(summary="x"), None, KNOWN)
    assert state.pending_escalations == (OPEN,)
    assert state.recent_decisions == DECIDED[-10:]
    assert (state.config, state.vision, state.chapter) == (KNOWN.config, KNOWN.vision, KNOWN.chapter)
    assert state.panes == KNOWN.panes


def test_what_the_agent_says_stands_beside_what_is_known() -> None:
    given = State(
        pending_escalations=(Note("mine"), Note("the same", "esca_2")),
        recent_decisions=(Note("my own"), Note("the same", "deci_11")),
        config="other.json",
        panes=(Note("%3"), Note("another", "%9")),
    )
    state = merged(given, None, KNOWN)
    assert state.pending_escalations == (OPEN, Note("mine"))
    assert state.recent_decisions == (Note("my own"), *DECIDED[-10:])
    assert state.config == "other.json"
    assert state.panes == (*KNOWN.panes, Note("another", "%9"))


def test_its_words_stay_until_it_says_others() -> None:
    before = State(summary="old", next_steps=("a",), last_action="b", required_files=("src/auth.py",))
    assert merged(State(), before, Known()) == before
    # They belong together: a new summary does not stand with the steps of the old one.
    assert merged(State(summary="new"), before, Known()) == State(summary="new")


def test_of_last_time_only_what_it_alone_knows_counts() -> None:
    before = State(
        pending_escalations=(Note("answered since", "esca_1"), Note("mine"), Note("its own", "ticket-7")),
        recent_decisions=(Note("old", "deci_0"), Note("my own")),
        panes=(Note("gone", "%1"), Note("on the laptop")),
    )
    state = merged(State(), before, KNOWN)
    assert state.pending_escalations == (OPEN, Note("mine"), Note("its own", "ticket-7"))
    assert state.recent_decisions == (Note("my own"), *DECIDED[-10:])
    assert state.panes == (*KNOWN.panes, Note("on the laptop"))
    # Kept once more, nothing is there twice.
    assert merged(State(), state, KNOWN) == state


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=9), inner, max_size=5)
    ),
    max_leaves=12,
)


@given(value=JSON)
def test_any_json_is_a_state_or_told_with_its_places(value: object) -> None:
    told = ""
    try:
        state = parse_state(json.dumps(value), find_file)
    except InvalidInput as error:
        told = error.message
    else:
        assert isinstance(value, dict)
        assert set(value) <= set(FIELDS)
        assert merged(State(), state, Known()).summary == state.summary
    for line in told.splitlines():
        assert line.startswith(("line 1, column ", "This is no JSON object")), told


@given(text=st.text())
def test_any_text_is_a_state_or_refused(text: str) -> None:
    with contextlib.suppress(InvalidInput):
        assert isinstance(parse_state(text, find_file), State)
