"""Gemini CLI: one step at a time, from what the screen shows."""

from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maestro.agents.gemini import ADAPTER
from maestro.agents.questions import Answer
from maestro.agents.screen import UNKNOWN, Screen, captured
from maestro.agents.terminal import Cannot, Step, Terminal

SCREENS = Path(__file__).parents[1] / "screens" / "gemini" / "0.61.0"
JOINER = "\u2060"
FOUR = Answer(
    parts=(Answer(choices=(2,)), Answer(text="Proj 1"), Answer(choices=(2,)), Answer(text="Oracle")),
)


def screen(name: str) -> Screen:
    return ADAPTER.read_screen(captured((SCREENS / name).read_text()))


def step(name: str, answer: Answer) -> tuple[tuple[str, ...], str]:
    found = ADAPTER.answer_step(screen(name), answer)
    assert isinstance(found, Step), found
    return found.keys, found.text


def refusal(name: str, answer: Answer) -> str:
    found = ADAPTER.answer_step(screen(name), answer)
    assert isinstance(found, Cannot), found
    return found.reason


def test_it_is_a_terminal_that_needs_a_gap_before_enter() -> None:
    assert isinstance(ADAPTER, Terminal)
    assert ADAPTER.submission.gap == 0.3


@pytest.mark.parametrize("name", ["confirm.ansi", "edit.ansi", "ask.ansi", "plan.ansi"])
def test_a_digit_answers_at_once(name: str) -> None:
    assert step(name, Answer(choices=(2,))) == (("2",), "")


def test_a_confirmation_takes_no_words() -> None:
    assert "as a prompt" in refusal("confirm.ansi", Answer(choices=(3,), text="another way"))


def test_an_option_that_is_not_there_is_refused() -> None:
    assert "no option 5" in refusal("confirm.ansi", Answer(choices=(5,)))
    assert "exactly one" in refusal("ask.ansi", Answer(choices=(1, 2)))
    assert "wants words" in refusal("ask.ansi", Answer(choices=(3,)))
    assert "not both" in refusal("ask.ansi", Answer(choices=(1,), text="and words"))


def test_a_dialog_of_its_own_gets_no_digit_twice() -> None:
    assert step("35_trust.txt", Answer(choices=(3,))) == (("3",), "")
    assert step("35_trust.txt", Answer(choices=(1,))) == (("Enter",), "")


def test_words_go_into_the_last_row() -> None:
    words = Answer(text="DuckDB\nor 2")
    assert step("ask.ansi", words) == (("3",), "")
    assert step("ask_custom.ansi", words) == ((), "DuckDB\nor 2")
    assert step("ask_custom_typed.ansi", words) == (("Enter",), "")
    assert step("ask_custom_typed.ansi", Answer(text="MySQL")) == (("C-e", "C-u"), "")


def test_an_option_is_not_typed_into_the_field_for_words() -> None:
    assert step("ask_custom.ansi", Answer(choices=(1,))) == (("Up",), "")


def test_a_plan_takes_words_as_well() -> None:
    words = Answer(text="Add tests first")
    assert step("plan.ansi", words) == (("3",), "")
    assert step("plan_feedback.ansi", words) == ((), "Add tests first")
    assert step("plan_feedback_typed.ansi", words) == (("Enter",), "")


def test_only_what_differs_is_ticked() -> None:
    assert step("multi.ansi", Answer(choices=(1, 3))) == (("1",), "")
    assert step("multi_1_3.ansi", Answer(choices=(3,))) == (("1",), "")
    assert step("multi_1_3.ansi", Answer(choices=(1, 3))) == (("Down",), "")
    assert step("multi_1_3.ansi", Answer(choices=(1, 2, 3))) == (("2",), "")


def test_all_of_the_above_is_one_row() -> None:
    assert step("multi_5.ansi", Answer(choices=(4,))) == (("4",), "")


def test_words_of_a_multiple_choice_end_it() -> None:
    assert step("multi_5.ansi", Answer(choices=(1, 3), text="Words")) == ((), "Words")
    assert step("multi_words.ansi", Answer(choices=(1, 3), text="Words")) == (("Enter",), "")
    assert step("multi_words.ansi", Answer(choices=(1, 3))) == (("C-e", "C-u"), "")


def test_done_ends_a_multiple_choice() -> None:
    assert step("multi_done.ansi", Answer(choices=(1, 3), text="Words")) == (("Enter",), "")


def test_of_several_questions_the_one_on_the_screen_is_answered() -> None:
    assert step("four.ansi", FOUR) == (("2",), "")
    assert step("four_text.ansi", FOUR) == ((), "Proj 1")
    assert step("four_text_typed.ansi", FOUR) == (("Enter",), "")
    assert step("four_yesno.ansi", FOUR) == (("2",), "")
    assert step("four_choice.ansi", FOUR) == (("3",), "")
    assert step("four_custom.ansi", FOUR) == (("Enter",), "")
    assert step("four_review.ansi", FOUR) == (("Enter",), "")
    assert "4 questions" in refusal("four.ansi", Answer(choices=(1,)))


def test_nothing_is_submitted_while_a_question_has_no_answer() -> None:
    assert step("four_review_missing.ansi", FOUR) == (("BTab",), "")


def test_a_question_may_be_left_without_an_answer() -> None:
    three = Answer(parts=(*FOUR.parts[:3], Answer()))
    assert step("four_choice.ansi", three) == (("Tab",), "")
    assert step("four_review_missing.ansi", three) == (("Enter",), "")


def test_a_screen_without_a_question_is_not_answered() -> None:
    assert isinstance(ADAPTER.answer_step(UNKNOWN, Answer(choices=(1,))), Cannot)
    assert "asks nothing" in refusal("idle.ansi", Answer(choices=(1,)))


@pytest.mark.parametrize(
    ("prompt", "typed"),
    [
        ("plain words", "plain words"),
        ("/stats now", f"{JOINER}/stats now"),
        ("\n/quit", f"{JOINER}/quit"),
        ("/home/dev/x is a file", "/home/dev/x is a file"),
        ("// a comment", "// a comment"),
        ("!ls", "!ls"),
        ("look at @alpha", "look at @alpha "),
        ("@a.txt what", "@a.txt what"),
        ("?", "?"),
        ("1", "1"),
    ],
)
def test_a_prompt_arrives_as_text(prompt: str, typed: str) -> None:
    assert ADAPTER.as_text(prompt) == typed


@given(st.text())
def test_a_prompt_keeps_its_words(prompt: str) -> None:
    typed = ADAPTER.as_text(prompt)
    assert typed.strip().removeprefix(JOINER) in {prompt.strip(), prompt.strip().removeprefix(JOINER)}
    assert ADAPTER.as_text(typed).strip() == typed.strip()


def test_a_long_prompt_is_in_the_box_as_a_mark() -> None:
    draft = screen("pasted.ansi").draft
    assert draft is not None
    assert ADAPTER.box_holds(draft, "line\n" * 61)
    assert not ADAPTER.box_holds(f"{draft}\nmore", "line\n" * 61)


def test_what_no_screen_shows_is_not_missed_in_the_box() -> None:
    assert ADAPTER.box_holds("/stats", ADAPTER.as_text("/stats"))


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["gemini"], True),
        (["node", "/usr/local/bin/gemini", "--session-id", "x"], True),
        (["/usr/bin/node", "--max-old-space-size=8000", "/x/@google/gemini-cli/bundle/gemini.js"], True),
        (["bash"], False),
        (["less", "gemini"], False),
        (["node", "server.js", "gemini"], False),
        ([], False),
    ],
)
def test_its_processes_are_known(argv: list[str], *, expected: bool) -> None:
    assert ADAPTER.is_agent(argv) is expected


@pytest.mark.parametrize(
    ("title", "state"),
    [
        ("◇  Ready (proj)", "idle"),
        ("✦  Working… (proj)", "working"),
        ("✋  Action Required (proj)", "question"),
        ("✦", None),
        ("proj", None),
        ("", None),
    ],
)
def test_its_title_tells(title: str, state: str | None) -> None:
    reading = ADAPTER.read_title(title)
    assert (reading.state if reading else None) == state
    globs = [found for glob, found in ADAPTER.title_globs.items() if fnmatchcase(title, glob)]
    assert globs == ([state] if state else [])


def test_its_title_tells_that_it_works_where_the_status_line_is_cut() -> None:
    idle = (SCREENS / "05_finished.txt").read_text()
    assert ADAPTER.read_screen(captured(idle, title="✦  Working… (proj)")).state == "working"
    assert ADAPTER.read_screen(captured(idle, title="◇  Ready (proj)")).state == "idle"


@pytest.mark.parametrize("path", sorted(SCREENS.glob("*.ansi")), ids=lambda path: path.stem)
def test_a_screen_without_its_styles_says_the_same(path: Path) -> None:
    styled = captured(path.read_text())
    plain = ADAPTER.read_screen(captured("\n".join(styled.lines)))
    assert plain.state == ADAPTER.read_screen(styled).state


def test_a_prompt_in_the_log_was_taken() -> None:
    log = Path(__file__).parents[1] / "golden" / "gemini" / "interactive_0.61.0.jsonl"
    prompts = [taken for line in log.read_bytes().splitlines() if (taken := ADAPTER.taken(line))]
    assert {"make the file", "ask multi", "trigger 500"} <= set(prompts)
    assert ADAPTER.taken(b"no record") is None


@pytest.mark.parametrize("is_cut", [False, True])
def test_an_ellipsis_breaks_an_option_off_only_at_the_edge(*, is_cut: bool) -> None:
    lines = (SCREENS / "10_ask.txt").read_text().split("\n")
    at = next(number for number, line in enumerate(lines) if "1.  PostgreSQL" in line)
    room = len(lines[at]) - 2
    words = "│ ● 1.  Postgres"
    lines[at] = (f"{words:s<{room - 1}}…" if is_cut else f"{words}…").ljust(room) + " │"
    question = ADAPTER.read_screen(captured("\n".join(lines))).question
    assert question is not None
    assert question.options[0].label.endswith("s…")
    assert (question.is_cut, bool(question.unread)) == (is_cut, is_cut)
