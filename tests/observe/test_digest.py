"""The seeds' rules and numbers, and how a session's state is told."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maestro.agents import Kind, Moment
from maestro.agents.limits import is_limit, resets_at
from maestro.observe.digest import Shape, Subject, cut, digest, entry_of, turns_since_text
from maestro.observe.recent import Gathering, Recent, entries_among
from maestro.observe.status import assess

NOW = 1_800_000_000_000
SECOND = 1000


def moment(kind: Kind, ago: float, text: str = "", message: str = "") -> Moment:
    """Something that happened so many seconds before now."""
    return Moment(kind, NOW - round(ago * SECOND), text, message)


def recent(*moments: Moment, last: int = 5) -> Recent:
    gathering = Gathering(last)
    for one in reversed(moments):
        gathering.take((one,))
    return gathering.result(0, 0, 0)


def stuck_kind(*moments: Moment, task_open: bool = False) -> str | None:
    found = digest(Subject("s", task_open=task_open), recent(*moments), NOW).stuck
    return found.kind if found else None


SAID = moment("text", 60, "I will look at the parser first.")


@pytest.mark.parametrize(
    ("said", "shown", "more"),
    [
        ("Tests pass. I fixed the null check.", "Tests pass.", True),
        ("Tests pass in v1.2.3 of it", "Tests pass in v1.2.3 of it", False),
        ("Really?! Yes, really.", "Really?!", True),
        ("  Trimmed all around.  ", "Trimmed all around.", False),
        ("One line\nand another one", "One line and another one", False),
        ("x" * 150, "x" * 150, False),
        ("x" * 151, "x" * 147 + "...", True),
    ],
)
def test_a_text_is_its_first_sentence_of_at_most_150_characters(said: str, shown: str, *, more: bool) -> None:
    entry = entry_of(Moment("text", 1, said))
    assert (entry.text, entry.is_first_sentence, entry.source) == (shown, more, "assistant")


@pytest.mark.parametrize(
    ("asked", "shown", "more"),
    [
        ("Fix it. Then test it.", "[PROMPT] Fix it. Then test it.", False),
        ("y" * 200, "[PROMPT] " + "y" * 200, False),
        ("y" * 201, "[PROMPT] " + "y" * 197 + "...", True),
    ],
)
def test_a_prompt_is_marked_and_has_at_most_200_characters(asked: str, shown: str, *, more: bool) -> None:
    entry = entry_of(Moment("prompt", 1, asked))
    assert (entry.text, entry.is_first_sentence, entry.source) == (shown, more, "user")


def test_full_keeps_lines_and_max_length_cuts() -> None:
    said = "First. Second.\nThird."
    assert entry_of(Moment("text", 1, said), Shape(full=True)).text == said
    assert entry_of(Moment("text", 1, said), Shape(full=True, max_length=10)).text == "First. ..."
    assert entry_of(Moment("text", 1, "a" * 40), Shape(max_length=10)).text == "aaaaaaa..."
    assert entry_of(Moment("text", 1, "a" * 400), Shape(max_length=300)).text == "a" * 297 + "..."


@pytest.mark.parametrize(
    ("kind", "text", "kept"),
    [
        ("text", "123456789", False),
        ("text", "1234567890", True),
        ("text", " 123456789 ", False),
        ("text", "\x1b[31m12345678\x1b[0m", False),
        ("prompt", "1234", False),
        ("prompt", "12345", True),
        ("tool_call", "a long enough name", False),
        ("api_error", "E", True),
        ("api_error", "", False),
    ],
)
def test_short_ones_are_left_out(kind: Any, text: str, *, kept: bool) -> None:
    more = Moment("text", 2, "and there is more to say")
    assert (Moment(kind, 1, text) in entries_among([Moment(kind, 1, text), more])) is kept


SHORT = moment("text", 50, "No.")
PROMPTED = moment("prompt", 40, "and now do this")


@pytest.mark.parametrize(
    ("moments", "kept"),
    [
        ([SAID, SHORT], True),
        ([SAID, SHORT, moment("turn_ended", 50)], True),
        ([SAID, SHORT, moment("background", 50)], True),
        ([SAID, SHORT, PROMPTED], True),
        ([SAID, SHORT, moment("prompt", 40, "1")], True),
        ([SAID, SHORT, PROMPTED, moment("tool_call", 30, "Bash")], True),
        ([SAID, SHORT, moment("turn_started", 40), moment("text", 30, "The agent is back.")], True),
        ([SAID, SHORT, moment("tool_call", 45, "Bash"), moment("interrupted", 44)], True),
        ([SAID, SHORT, moment("api_error", 45, "API Error: 500")], True),
        ([SAID, SHORT, moment("api_error", 45)], False),
        ([SAID, SHORT, moment("tool_call", 45, "Bash")], False),
        ([SAID, SHORT, moment("question", 45, "Which one?")], False),
        ([SAID, SHORT, moment("text", 45, "I will not do that."), moment("turn_ended", 45)], False),
        ([SAID, SHORT, moment("turn_ended", 50), moment("text", 45, "I will not do that.")], False),
        ([SAID, SHORT, moment("text", 45, "Yes."), moment("turn_ended", 45)], False),
        ([SAID, SHORT, moment("text", 45, "  ")], False),
    ],
)
def test_a_short_text_is_kept_when_it_is_the_last_of_its_turn(moments: list[Moment], *, kept: bool) -> None:
    assert (SHORT in recent(*moments).entries) is kept
    assert (SHORT in entries_among(moments)) is kept


def test_what_was_said_last_counts_as_said_however_short() -> None:
    calls = [moment("tool_call", 55, "Bash") for _ in range(8)]
    shown = digest(Subject("s"), recent(SAID, *calls, SHORT, moment("turn_ended", 50)), NOW)
    assert (shown.entries[-1].text, shown.metrics.turns_since_last_text) == ("No.", 0)
    asked = recent(SAID, moment("text", 5, "Go on?"), moment("turn_ended", 5))
    assert assess(asked, NOW).status == "asking"


def test_full_keeps_every_text() -> None:
    moments = [
        moment("prompt", 70, "Hi"),
        SHORT,
        moment("tool_call", 45, "Bash"),
        moment("text", 44, " "),
        SAID,
    ]
    gathering = Gathering(5, full=True)
    for one in reversed(moments):
        gathering.take((one,))
    assert [one.text for one in gathering.result(0, 0, 0).entries] == ["Hi", "No.", SAID.text]
    assert entries_among(moments, full=True) == [moments[0], SHORT, SAID]


def test_a_rewritten_history_keeps_the_last_text_of_each_turn() -> None:
    words = [
        ("prompt", "Shall I remove it all?"),
        ("text", "Hm."),
        ("text", "No."),
        ("prompt", "Why not then?"),
    ]
    history = [
        Moment(kind, at, text, record=str(at), restated=True)  # type: ignore[arg-type]  # of these kinds
        for at, (kind, text) in enumerate(words)
    ]
    gathering = Gathering(5)
    gathering.take(tuple(history))
    assert [one.text for one in gathering.result(0, 0, 0).entries] == [words[0][1], "No.", words[3][1]]


@given(text=st.text(min_size=1), longest=st.integers(4, 40))
def test_a_cut_is_never_longer_than_told(text: str, longest: int) -> None:
    shown = cut(text, longest)
    assert len(shown) <= longest
    assert shown == text or shown.endswith("...")


@pytest.mark.parametrize("whole", ["👩\u200d🚀", "👍🏽", "e\u0301", "☀\ufe0f"])
def test_a_cut_leaves_characters_whole(whole: str) -> None:
    text = "abc" + whole * 10
    for longest in range(6, 30):
        kept = cut(text, longest).removesuffix("...").removeprefix("abc")
        assert kept == whole * (len(kept) // len(whole))


def test_the_last_entries_come_oldest_first() -> None:
    entries = [moment("text", 100 - number, f"text number {number}") for number in range(9)]
    shown = digest(Subject("s"), recent(*entries, last=3), NOW).entries
    assert [entry.text[-1] for entry in shown] == ["6", "7", "8"]


def test_silence_is_warned_of_in_the_seeds_words() -> None:
    calls = [moment("tool_call", 44 - number, "Bash") for number in range(8)]
    stuck = digest(Subject("s"), recent(moment("text", 45, "Build error persists."), *calls), NOW).stuck
    assert stuck is not None
    assert stuck.kind == "silent"
    assert stuck.warning == "No text output for 45s (8 tool calls since last text)"
    assert (stuck.silent_duration_ms, stuck.tool_calls_since_last_text) == (45_000, 8)
    assert stuck.remedy


@pytest.mark.parametrize(("silent", "calls"), [(30, 8), (45, 5)])
def test_short_silence_or_few_calls_are_no_warning(silent: int, calls: int) -> None:
    moments = [moment("tool_call", 20, "Bash") for _ in range(calls)]
    assert stuck_kind(moment("text", silent, "Build error persists."), *moments) is None


def test_a_prompt_ends_the_silence_before_it() -> None:
    calls = [moment("tool_call", 9, "Bash") for _ in range(8)]
    assert (
        stuck_kind(moment("text", 7200, "All is done here."), moment("prompt", 10, "go on now"), *calls)
        is None
    )


@pytest.mark.parametrize(
    ("moments", "state", "status"),
    [
        ([], "unknown", "unknown"),
        ([SAID, moment("turn_ended", 60)], "idle", "finished"),
        ([SAID, moment("tool_call", 5, "Bash")], "active", "working"),
        ([SAID, moment("tool_call", 5, "Bash"), moment("tool_result", 4)], "thinking", "thinking"),
        ([SAID, moment("prompt", 5, "and now this")], "thinking", "thinking"),
        ([SAID, moment("question", 5, "Which one?")], "needs_input", "asking"),
        ([moment("text", 5, "Shall I go on?"), moment("turn_ended", 5)], "needs_input", "asking"),
        ([SAID, moment("interrupted", 5), moment("turn_ended", 5)], "idle", "interrupted"),
        ([SAID, moment("turn_ended", 9), moment("background", 5)], "active", "background"),
        ([SAID, moment("api_error", 5, "API Error: 500")], "idle", "failed"),
        ([SAID, moment("api_error", 5)], "active", "retrying"),
        ([moment("text", 5, "I just said this.")], "active", "working"),
        ([moment("text", 500, "I said this long ago.")], "idle", "finished"),
    ],
)
def test_status_rests_on_the_last_thing_that_happened(moments: list[Moment], state: str, status: str) -> None:
    verdict = assess(recent(*moments), NOW)
    assert (verdict.state, verdict.status) == (state, status)
    assert bool(verdict.evidence) is (status != "unknown")


@pytest.mark.parametrize(
    ("moments", "kind"),
    [
        (
            [SAID, moment("api_error", 50, "API Error: 500"), moment("api_error", 40, "API Error: 500")],
            "api_errors",
        ),
        ([SAID, moment("api_error", 40, "You've hit your usage limit. Try again in 2 hours.")], "limit"),
        ([SAID, moment("question", 31, "Which one?")], "question"),
        ([SAID, moment("question", 5, "Which one?")], None),
        ([SAID, moment("tool_call", 601, "Bash")], "wedged"),
        ([SAID, moment("tool_call", 500, "Bash")], None),
        ([SAID, moment("turn_ended", 6000)], None),
    ],
)
def test_other_ways_to_be_stuck(moments: list[Moment], kind: str | None) -> None:
    assert stuck_kind(*moments) == kind


def test_finished_unnoticed_needs_an_open_task() -> None:
    assert stuck_kind(SAID, moment("turn_ended", 61), task_open=True) == "finished"
    assert stuck_kind(SAID, moment("turn_ended", 61), task_open=False) is None


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("Claude AI usage limit reached|1800000600", 600),
        ("You've hit your usage limit. Try again in 3 hours 20 minutes.", 12_000),
        ("Quota exceeded. Please retry in 34.5s.", 34.5),
        ("quota will reset after 1h2m3s", 3723),
        ("rate limit; resets at 2027-01-15T08:10:00Z", 600),
        ("5-hour limit reached - resets 9am (UTC)", 3600),
        ("You've hit your limit · resets 8:30am (UTC)", 1800),
        ("limit reached, resets 7am (UTC)", 23 * 3600),
        ("hit your usage limit. Visit settings or try again at Jan 16th, 2027 1:29 AM.", 62_940),
        ("usage limit reached, resets Jan 16 at 9am", 25 * 3600),
        ("usage limit reached, try again at Feb 30th, 2027 1:29 AM", None),
        ("429 Too Many Requests", None),
    ],
)
def test_a_limit_tells_when_it_ends(text: str, seconds: float | None) -> None:
    assert is_limit(text)
    assert resets_at(text, NOW) == (None if seconds is None else NOW + round(seconds * 1000))


def test_an_ordinary_error_is_no_limit() -> None:
    assert not is_limit("API Error: 400 the request is malformed")


def test_turns_count_messages_and_not_blocks() -> None:
    after = [
        moment("tool_call", 5, "Read", "m1"),
        moment("tool_call", 5, "Read", "m1"),
        moment("tool_call", 4, "Read", "m2"),
    ]
    assert turns_since_text(recent(moment("text", 9, "I will look at it.", "m1"), *after)) == 1
    assert turns_since_text(recent(moment("text", 9, "I will look at it.", "m0"), *after)) == 2


def test_a_record_written_again_counts_once_and_its_last_form_wins() -> None:
    gathering = Gathering(5)
    gathering.take((Moment("text", 2, "the final words of it", record="a"),))
    gathering.take((Moment("text", 1, "some early words of it", record="a"),))
    assert [entry.text for entry in gathering.result(0, 0, 0).entries] == ["the final words of it"]


def test_a_restated_history_adds_only_what_is_missing_in_its_place() -> None:
    gathering = Gathering(3)
    gathering.take(
        tuple(
            Moment("text", at, f"text from {at} o'clock", record=str(at), restated=True) for at in (1, 2, 3)
        )
    )
    gathering.take((Moment("text", 4, "text from 4 o'clock", record="4"),))
    gathering.take((Moment("text", 2, "text from 2 o'clock", record="2"),))
    assert [entry.at for entry in gathering.result(0, 0, 0).entries] == [2, 3, 4]


def test_the_wire_has_both_seeds_fields() -> None:
    subject = Subject("sess_1", "Worker: fix", "Frontend", ("task_1",), "claude")
    wire = json.loads(msgspec.json.encode(digest(subject, recent(SAID), NOW)))
    assert set(wire) >= {
        *("sessionId", "sessionName", "workerName", "taskIds", "state", "entries", "stuck", "metrics"),
        *("lastActivityTimestamp", "status", "evidence"),
    }
    assert set(wire["entries"][0]) == {"timestamp", "text", "source", "isFirstSentence"}
    assert set(wire["metrics"]) == {"turnsSinceLastText", "lastActivityTimestamp", "idleDurationMs"}


def test_our_own_mark_is_not_part_of_what_was_asked() -> None:
    def shown(text: str) -> str:
        return entry_of(Moment("prompt", 0, text)).text

    assert shown("<session_id>sess_1</session_id>\n\nFix the login") == "[PROMPT] Fix the login"
    assert shown("<session_id>sess_1</session_id>") == "[PROMPT] <session_id>sess_1</session_id>"
    assert shown("<session_id>sess_1 and no more") == "[PROMPT] <session_id>sess_1 and no more"
