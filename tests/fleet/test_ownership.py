"""Which transcript belongs to a process in a person's own pane: by evidence, or unknown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maestro.fleet.ownership import Candidate, Prior, Process, Shown, Verdict, ruled_out, same_words, whose

STARTED = 1_000_000
HERE = Process(started=STARTED, cwd="/work")
NOTHING = Shown()


def log(name: str, **facts: object) -> Candidate:
    known: dict[str, object] = {"modified": STARTED + 60_000, "began": STARTED + 30_000, "cwd": "/work"}
    return Candidate(name, f"/logs/{name}.jsonl", **{**known, **facts})  # type: ignore[arg-type]


def found(verdict: Verdict) -> str | None:
    return verdict.candidate.transcript_id if verdict.candidate else None


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"is_headless": True}, "without a terminal"),
        ({"cwd": "/elsewhere"}, "another folder"),
        ({"owner": "Docs"}, "Docs's"),
        ({"modified": STARTED - 60_000}, "before this process started"),
    ],
)
def test_what_cannot_be_its_own(facts: dict[str, object], why: str) -> None:
    one = log("a", last_prompt="go", **facts)
    assert why in ruled_out(one, HERE)
    assert found(whose(HERE, [one], Shown(("go",)))) is None


def test_a_delegate_beside_it_is_no_rival() -> None:
    own, delegate = log("own", last_prompt="mine"), log("delegate", last_prompt="mine", is_headless=True)
    assert found(whose(HERE, [own, delegate], Shown(("mine",)))) == "own"


def test_the_only_one_in_the_folder_needs_a_proof_too() -> None:
    told = whose(HERE, [log("stranger", last_prompt="something else")], NOTHING)
    assert (found(told), "nothing on its screen" in told.evidence) == (None, True), told


def test_a_screen_that_shows_another_prompt_contradicts() -> None:
    stranger = log("stranger", began=STARTED + 100, last_prompt="theirs", first_prompt="theirs")
    alone = HERE._replace(is_alone=True, named="stranger", argv=("agent", "theirs"))
    assert found(whose(alone, [stranger], Shown(("mine",)))) is None
    assert found(whose(alone, [stranger], NOTHING)) == "stranger"


def test_an_open_file_beats_the_screen() -> None:
    logs = [log("old", last_prompt="same"), log("new", last_prompt="same", is_headless=True)]
    assert found(whose(HERE._replace(held=frozenset({"new"})), logs, Shown(("same",)))) == "new"
    assert found(whose(HERE._replace(held=frozenset({"none yet"})), logs, Shown(("same",)))) is None


def test_an_open_file_beats_a_row_whose_agent_has_left_it() -> None:
    held = HERE._replace(held=frozenset({"a"}))
    left = log("a", owner="Docs", is_left=True)
    assert whose(held, [left], NOTHING) == Verdict(left, "its process has this file open")
    assert found(whose(held, [left._replace(is_left=False)], NOTHING)) is None, "two have it open"
    assert found(whose(HERE, [left._replace(last_prompt="go")], Shown(("go",)))) is None, "it has not"
    both = HERE._replace(held=frozenset({"a", "b"}))
    assert found(whose(both, [left._replace(last_prompt="go")], Shown(("go",)))) is None


def test_of_several_open_files_the_screen_tells() -> None:
    """Codex keeps those from before `/clear` open."""
    logs = [log("old", last_prompt="before"), log("new", last_prompt="after")]
    both = HERE._replace(held=frozenset({"old", "new"}))
    assert found(whose(both, logs, Shown(("after",)))) == "new"
    assert "2 conversations" in whose(both, logs, NOTHING).evidence


def test_the_lowest_prompt_on_the_screen_counts() -> None:
    logs = [log("a", last_prompt="first of all"), log("b", last_prompt="second of all")]
    assert found(whose(HERE, logs, Shown(("first of all", "second of all", "queued")))) == "b"


def test_equal_prompts_are_told_apart_by_the_answer_or_not_at_all() -> None:
    logs = [log("a", last_prompt="go", last_text="The answer of a."), log("b", last_prompt="go")]
    assert found(whose(HERE, logs, Shown(("go",), "> go\n● The **answer** of\n  a."))) == "a"
    assert "same prompt" in whose(HERE, logs, Shown(("go",), "> go")).evidence


def test_what_was_shown_before_stands_until_another_begins() -> None:
    own, known, new = log("own", last_prompt="go"), log("known", last_prompt="go"), log("new")
    prior = Prior(own.path, "its first proof", frozenset({known.path}))
    assert whose(HERE, [own, known], NOTHING, prior) == Verdict(own, "its first proof")
    assert found(whose(HERE, [own, known], Shown(("go",)), prior)) == "own"
    told = whose(HERE, [own, known, new], NOTHING, prior)
    assert (found(told), "began since" in told.evidence) == (None, True), told
    again = new._replace(last_prompt="go")
    assert found(whose(HERE, [own, known, again], Shown(("go",)), prior)) is None, "two could be meant"


def test_resumed_in_the_same_process() -> None:
    """`/resume` goes on with one that was known not to be its own; the screen shows that one's prompts."""
    own, resumed = log("own", last_prompt="newer"), log("resumed", last_prompt="older")
    prior = Prior(own.path, "before", frozenset({resumed.path}))
    assert found(whose(HERE, [own, resumed], Shown(("older",)), prior)) == "resumed"


@pytest.mark.parametrize(
    ("process", "facts", "is_own"),
    [
        (HERE._replace(named="a"), {"modified": STARTED - 60_000}, True),
        (HERE._replace(argv=("agent", "do this")), {"first_prompt": "do this"}, True),
        (HERE._replace(argv=("agent", "do this")), {"first_prompt": "do this", "began": 1}, False),
        (HERE._replace(is_alone=True), {"began": STARTED + 2_000}, True),
        (HERE._replace(is_alone=True), {"began": STARTED + 30_000}, False),
        (HERE._replace(is_alone=True), {"began": STARTED - 1_000}, False),  # of the agent before it
        (HERE, {"began": STARTED + 2_000}, False),
    ],
)
def test_what_else_is_a_proof(process: Process, facts: dict[str, object], is_own: bool) -> None:  # noqa: FBT001
    assert (found(whose(process, [log("a", **facts)], NOTHING)) == "a") is is_own
    assert found(whose(process, [log("a", **facts), log("b")], NOTHING)) is None, "not where two could be"


@pytest.mark.parametrize(
    ("shown", "written", "same"),
    [
        ("go on\n  with it", "go on with it", True),
        ("a long first paragraph", "a long first paragraph\n\nand a second one", True),
        ("go", "go on", False),
        ("", "", False),
        ("?!", "?!", True),
        ("?!", "!!", False),
    ],
)
def test_the_same_words(shown: str, written: str, same: bool) -> None:  # noqa: FBT001
    assert same_words(shown, written) is same


@given(
    st.lists(st.sampled_from(["go", "stop", ""]), max_size=4),
    st.lists(st.sampled_from(["go", "stop", "else"]), max_size=3),
    st.booleans(),
)
def test_another_sessions_is_never_shown(last: list[str], shown: list[str], held: bool) -> None:  # noqa: FBT001
    """Whatever the evidence: what is another's, headless or elsewhere is not its own."""
    kinds: list[dict[str, object]] = [{"owner": "x"}, {"is_headless": True}, {"cwd": "/elsewhere"}]
    logs = [log(f"log{n}", last_prompt=text, **kinds[n % 3]) for n, text in enumerate(last)]
    process = HERE._replace(held=frozenset({"another"}) if held else frozenset(), is_alone=True)
    assert found(whose(process, logs, Shown(tuple(shown)))) is None
