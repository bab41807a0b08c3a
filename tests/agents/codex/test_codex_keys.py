"""Codex CLI: one step at a time, from what the screen shows."""

from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maestro.agents.codex import ADAPTER
from maestro.agents.questions import Answer
from maestro.agents.screen import UNKNOWN, Screen, captured
from maestro.agents.terminal import Cannot, Step, Terminal

SCREENS = Path(__file__).parents[1] / "screens" / "codex" / "0.166.0"
JOINER = "\u2060"


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


def test_it_is_a_terminal() -> None:
    assert isinstance(ADAPTER, Terminal)
    assert ADAPTER.submission.gap == 0.0


@pytest.mark.parametrize("name", ["approval.ansi", "patch.ansi", "plan.ansi", "ask.ansi"])
def test_a_digit_answers_at_once(name: str) -> None:
    assert step(name, Answer(choices=(2,))) == (("2",), "")


@pytest.mark.parametrize("name", ["approval.ansi", "plan.ansi"])
def test_an_approval_takes_no_words(name: str) -> None:
    assert "as a prompt" in refusal(name, Answer(choices=(3,), text="another way"))


def test_an_option_that_is_not_there_is_refused() -> None:
    assert "no option 4" in refusal("approval.ansi", Answer(choices=(4,)))
    assert "exactly one" in refusal("approval.ansi", Answer(choices=(1, 2)))
    assert "exactly one" in refusal("ask.ansi", Answer())


def test_in_a_dialog_of_its_own_a_digit_moves_and_enter_confirms() -> None:
    trust_all = Answer(choices=(2,))
    assert step("01_hooks_review.txt", trust_all) == (("2",), "")
    assert step("01b_hooks_digit2_only_moves.txt", trust_all) == (("Enter",), "")


def test_words_go_into_the_notes_of_the_option_for_everything_else() -> None:
    words = Answer(text="3 things")
    assert step("ask.ansi", words) == (("Down", "Down"), "")
    assert step("ask_down.ansi", words) == (("Tab",), "")
    assert step("ask_none_notes.ansi", words) == (("Enter",), "")


def test_words_that_somebody_else_typed_are_not_submitted() -> None:
    assert step("ask_none_notes.ansi", Answer(text="4 things")) == (("Tab",), "")
    assert step("ask_notes.ansi", Answer(choices=(2,))) == (("Tab",), "")


def test_an_option_may_have_words_with_it() -> None:
    both = Answer(choices=(1,), text="Use DuckDB please")
    assert step("ask.ansi", both) == (("Tab",), "")
    assert step("ask_notes_empty.ansi", both) == ((), "Use DuckDB please")
    assert step("ask_notes.ansi", both) == (("Enter",), "")


def test_of_several_questions_the_one_on_the_screen_is_answered() -> None:
    both = Answer(parts=(Answer(choices=(2,)), Answer(choices=(1,))))
    assert step("ask2.ansi", both) == (("2",), "")
    assert step("ask2_x.ansi", both) == (("1",), "")
    assert "2 questions" in refusal("ask2.ansi", Answer(choices=(1,)))


def test_nothing_is_submitted_while_a_question_has_no_answer() -> None:
    both = Answer(parts=(Answer(choices=(2,)), Answer(choices=(1,))))
    assert step("ask2_unanswered.ansi", both) == (("2",), "")
    assert step("ask2_goback.ansi", both) == (("Enter",), "")


def test_a_screen_without_a_question_is_not_answered() -> None:
    assert isinstance(ADAPTER.answer_step(UNKNOWN, Answer(choices=(1,))), Cannot)
    assert "asks nothing" in refusal("idle.ansi", Answer(choices=(1,)))


@pytest.mark.parametrize(
    ("prompt", "typed"),
    [
        ("plain words", "plain words"),
        ("/status", " /status"),
        ("\n/status\n", " /status"),
        ("!ls", f"{JOINER}!ls"),
        ("  !ls", f"{JOINER}!ls"),
        ("look at @alpha", "look at @alpha "),
        ("use $skill", "use $skill "),
        ("@alpha", "@alpha "),
        ("mail a@b.c", "mail a@b.c"),
        ("#5", "#5"),
        ("1", "1"),
        ("? what", "? what"),
        ("two\nlines", "two\nlines"),
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
    draft = screen("22_paste_big.txt").draft
    assert draft is not None
    assert ADAPTER.box_holds(draft, "row\n" * 400)
    assert not ADAPTER.box_holds(f"{draft} and more", "row\n" * 400)


def test_what_no_screen_shows_is_not_missed_in_the_box() -> None:
    assert ADAPTER.box_holds("!ls", ADAPTER.as_text("!ls"))


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["codex", "--no-daemon"], True),
        (["/opt/codex/bin/codex", "resume"], True),
        (["node", "/usr/lib/node_modules/@openai/codex/bin/codex.js", "--no-daemon"], True),
        (["/usr/bin/node", "--no-warnings", "/usr/local/bin/codex"], True),
        (["bash"], False),
        (["vim", "codex"], False),
        (["node", "server.js", "codex"], False),
        ([], False),
    ],
)
def test_its_processes_are_known(argv: list[str], *, expected: bool) -> None:
    assert ADAPTER.is_agent(argv) is expected


@pytest.mark.parametrize(
    ("title", "state"),
    [
        ("⠙ Stub title | proj", "working"),
        ("[ . ] Action Required | Stub title | proj", "question"),
        ("[ ! ] Action Required | proj", "question"),
        ("Stub title | proj", None),
        ("", None),
        (" ", None),
    ],
)
def test_its_title_tells(title: str, state: str | None) -> None:
    reading = ADAPTER.read_title(title)
    assert (reading.state if reading else None) == state
    globs = [found for glob, found in ADAPTER.title_globs.items() if fnmatchcase(title, glob)]
    assert globs == ([state] if state else [])


def test_a_spinner_in_the_title_tells_that_it_works() -> None:
    idle = (SCREENS / "idle.ansi").read_text()
    assert ADAPTER.read_screen(captured(idle, title="⠙ proj")).state == "working"
    assert ADAPTER.read_screen(captured(idle, title="proj")).state == "idle"


def test_a_title_without_a_spinner_tells_that_it_is_done() -> None:
    streaming = (SCREENS / "streaming.ansi").read_text()
    assert ADAPTER.read_screen(captured(streaming, title="proj")).state == "idle"
    assert ADAPTER.read_screen(captured(streaming)).state == "working"


@pytest.mark.parametrize("path", sorted(SCREENS.glob("*.ansi")), ids=lambda path: path.stem)
def test_a_screen_without_its_styles_says_the_same(path: Path) -> None:
    styled = captured(path.read_text())
    plain = ADAPTER.read_screen(captured("\n".join(styled.lines)))
    assert plain.state == ADAPTER.read_screen(styled).state


def test_a_prompt_in_the_log_was_taken() -> None:
    log = Path(__file__).parents[1] / "golden" / "codex" / "errors_and_interrupt_0.166.0.jsonl"
    prompts = [taken for line in log.read_bytes().splitlines() if (taken := ADAPTER.taken(line))]
    assert prompts[-3:] == ["slow", "second while busy", "slow 2"]
    assert ADAPTER.taken(b"no record") is None
