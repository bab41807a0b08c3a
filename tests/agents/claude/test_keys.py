"""What is typed next, decided from a recorded screen alone. The same steps were put through the real CLI."""

import json
from pathlib import Path

import pytest

from maestro.agents.claude import ADAPTER
from maestro.agents.claude.layout import SIGN
from maestro.agents.questions import Answer, as_shown
from maestro.agents.screen import Screen, captured
from maestro.agents.terminal import Cannot, Step, Terminal

SCREENS = Path(__file__).parent.parent / "screens" / "claude"
THREE = Answer(parts=(Answer((2,)), Answer((1, 2)), Answer((2,))))


def screen(name: str, version: str = "2.1.325") -> Screen:
    paths = [SCREENS / version / f"{name}{suffix}" for suffix in (".ansi", ".txt")]
    path = next(path for path in paths if path.exists())
    return ADAPTER.read_screen(captured(path.read_text()))


@pytest.mark.parametrize(
    ("name", "answer", "keys", "text"),
    [
        ("14_permission_bash", Answer((1,)), "1", ""),
        ("14_permission_bash", Answer((4,)), "4", ""),
        ("14_permission_bash", Answer((4,), "use pytest"), "Down", ""),
        ("14_permission_bash", Answer((), "use pytest"), "Down", ""),  # words alone refuse
        ("14_permission_bash", Answer((1,), "then list it"), "Tab", ""),
        ("80_perm_no_tab", Answer((4,), "use pytest"), "", "use pytest"),
        ("80_perm_no_typed", Answer((4,), "use pytest"), "Enter", ""),
        ("80_perm_down", Answer((1,)), "Up", ""),  # the cursor is in a field that would take the digit
        ("80_perm_down", Answer((4,), "use pytest"), "Down", ""),
        ("62_plan_approval_full", Answer((2,)), "2", ""),
        ("62_plan_approval_full", Answer((), "add tests"), "3", ""),
        ("63_plan_feedback", Answer((3,), "add a test step 2"), "Enter", ""),
        ("63_plan_feedback", Answer((1,)), "Up", ""),
        ("60_plan_approval", Answer((2,)), "2", ""),
        ("20_ask_single", Answer((2,)), "2", ""),
        ("20_ask_single", Answer((4,), "it is small"), "4", ""),
        ("22_ask_other_focused", Answer((), "one\n  two"), "", "one two"),
        ("22_ask_other_focused", Answer((), "ends with \\"), "", "ends with \\ "),
        ("22_ask_other_focused", Answer((1,)), "Up", ""),
        ("23_ask_other_typed", Answer((), "CockroachDB 42 please"), "Enter", ""),
        ("30_ask_multi", Answer((1, 3)), "1", ""),
        ("31_ask_multi_1_3", Answer((1, 3)), "Right", ""),
        ("31_ask_multi_1_3", Answer((3,)), "1", ""),  # unticks
        ("33_ask_multi_review", Answer((1, 3)), "1", ""),
        ("35_ask_multi_other", Answer((2,)), "4", ""),
        ("30_ask_multi", Answer((), "Alerts"), "Down", ""),
        ("38_ask_multi_other_down_typed", Answer((1, 2), "Alerts 24x7"), "Up", ""),
        ("39_ask_multi_on_submit", Answer((1, 2), "Alerts 24x7"), "Right", ""),
        ("40_ask_tabs", THREE, "2", ""),
        ("41_ask_tabs_q2", THREE, "1", ""),
        ("42_ask_tabs_q3", THREE, "2", ""),
        ("43_ask_tabs_review", THREE, "1", ""),
        ("80_tabs_review_missing", THREE, "Left", ""),
        ("80_tabs_back_q1", THREE, "Right", ""),  # it is chosen already
        ("44_ask_preview", Answer((2,)), "2", ""),
        ("45_ask_preview_digit2", Answer((2,)), "Enter", ""),
        ("44_ask_preview", Answer((2,), "it is wider"), "2", ""),
        ("45_ask_preview_digit2", Answer((2,), "it is wider"), "n", ""),
        ("preview_notes_open", Answer((2,), "it is wider"), "", "it is wider"),
        ("preview_notes_typed", Answer((2,), "it is wider"), "Escape", ""),
        ("preview_notes_left", Answer((2,), "hi"), "Enter", ""),
        ("02_onboarding_done_only", Answer((2,)), "Down", ""),
        ("02_onboarding_done_only", Answer((1,)), "Enter", ""),
        ("03_trust_seeded", Answer((1,)), "Up", ""),
        ("90_bypass_warning", Answer((2,)), "Down", ""),
    ],
)
def test_the_next_step(name: str, answer: Answer, keys: str, text: str) -> None:
    step = ADAPTER.answer_step(screen(name), answer)
    assert isinstance(step, Step)
    assert (step.keys, step.text) == ((keys,) if keys else (), text)


@pytest.mark.parametrize(("label", "keys"), [("SQLite", ("2",)), ("MySQL", ("3",))])
def test_an_option_of_a_scrolled_list_is_pressed_by_its_digit(label: str, keys: tuple[str, ...]) -> None:
    """The list begins with the second option; its first has scrolled out of sight."""
    path = SCREENS / "2.1.325" / "20_ask_single.txt"
    lines = path.read_text().replace("  2. SQLite", "↑ 2. SQLite").split("\n")
    kept = [line for line in lines if "PostgreSQL" not in line and "Relational" not in line]
    shown = ADAPTER.read_screen(captured("\n".join(kept)))
    asked = shown.question
    assert asked is not None
    place = next(at for at, option in enumerate(asked.options, start=1) if option.label == label)
    told = as_shown(Answer((place,)), asked, asked)
    assert told is not None
    step = ADAPTER.answer_step(shown, told)
    assert isinstance(step, Step)
    assert step.keys == keys
    missing = ADAPTER.answer_step(shown, Answer((1,)))
    assert isinstance(missing, Cannot)


def test_a_refusal_in_a_scrolled_list_is_found_by_its_digit() -> None:
    path = SCREENS / "2.1.325" / "14_permission_bash.txt"
    kept = path.read_text().replace(f" {SIGN} 1. Yes\n", "").replace("   2. Yes", f" {SIGN} 2. Yes")
    shown = ADAPTER.read_screen(captured(kept[kept.rindex(" Do you want") :]))
    step = ADAPTER.answer_step(shown, Answer((), "use pytest"))
    assert isinstance(step, Step)
    assert step.keys == ("Down",), "towards “No”"


def test_a_cursor_that_is_not_drawn_is_known_by_its_place() -> None:
    step = ADAPTER.answer_step(screen("80_preview_2", "2.1.197"), Answer((2,)))
    assert isinstance(step, Step)
    assert step.keys == ("Enter",)


@pytest.mark.parametrize(
    ("name", "answer", "reason"),
    [
        ("10_idle", Answer((1,)), "no question"),
        ("20_ask_single", Answer((9,)), "no option 9"),
        ("20_ask_single", Answer(()), "exactly one"),
        ("20_ask_single", Answer((4,)), "wants words"),
        ("23_ask_other_typed", Answer((), "something else"), "other words"),
        ("30_ask_multi", Answer((7,)), "no option 7"),
        ("40_ask_tabs", Answer(parts=(Answer((1,)),)), "3 questions"),
        ("20_ask_single", Answer((2,), "it is small"), "not both"),
        ("44_ask_preview", Answer((), "words"), "no field"),
        ("preview_notes_typed", Answer((2,)), "other words"),
        ("preview_notes_typed", Answer((1,), "it is wider"), "other words"),
        ("preview_notes_typed", Answer((2,), "it is small"), "other words"),
        ("60_plan_approval", Answer((), "words"), "no field"),
        ("80_perm_fetch", Answer((), "words"), "no field"),
        ("14_permission_bash", Answer((2,), "words"), "no field"),
        ("90_bypass_warning", Answer((), "words"), "no field"),
        ("95_auto_risky", Answer((1,)), "no option 1"),
    ],
)
def test_what_a_dialog_does_not_take(name: str, answer: Answer, reason: str) -> None:
    refusal = ADAPTER.answer_step(screen(name), answer)
    assert isinstance(refusal, Cannot)
    assert reason in refusal.reason


@pytest.mark.parametrize(
    ("prompt", "typed"),
    [
        ("fix it", "fix it"),
        ("!ls", " !ls"),
        ("/help me", "> /help me"),
        ("  /clear", "> /clear"),
        ("/tmp is full", "> /tmp is full"),
        ("/etc/passwd is odd", "/etc/passwd is odd"),
        ("exit", "exit."),
        (" quit\n", "quit."),
        ("exit now", "exit now"),
        ("ends with \\", "ends with \\ "),
        ("zero\u200bwidth", "zerowidth"),
        ("family 👩\u200d💻", "family 👩\u200d💻"),
        ("#note", "#note"),
        ("@file", "@file"),
        ("1", "1"),
        ("a\n/help\nb", "a\n/help\nb"),
    ],
)
def test_a_prompt_as_plain_text(prompt: str, typed: str) -> None:
    assert ADAPTER.as_text(prompt) == typed


@pytest.mark.parametrize(
    ("argv", "is_agent"),
    [
        (("claude",), True),
        (("/usr/local/bin/claude", "--session-id", "x", "--", "claude -p is what I mean, -p"), True),
        (("node", "/x/node_modules/@anthropic-ai/claude-code/cli.js"), True),
        (("node", "--no-warnings", "/home/me/.local/bin/claude", "--resume"), True),
        (("claude", "-p", "hello"), False),
        (("claude", "mcp", "serve"), False),
        (("bash",), False),
        (("vim", "claude"), False),
        (("node", "server.js"), False),
        ((), False),
    ],
)
def test_which_process_is_the_agent(argv: tuple[str, ...], *, is_agent: bool) -> None:
    assert ADAPTER.is_agent(argv) is is_agent


@pytest.mark.parametrize(
    ("record", "prompt"),
    [
        ({"type": "user", "message": {"role": "user", "content": "fix it"}}, "fix it"),
        (
            {"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": "fix it"}]}},
            "fix it",
        ),
        ({"type": "queue-operation", "operation": "enqueue", "content": "later\nthen"}, "later\nthen"),
        ({"type": "queue-operation", "operation": "dequeue"}, None),
        ({"type": "user", "isMeta": True, "message": {"role": "user", "content": "fix it"}}, None),
        ({"type": "user", "message": {"role": "user", "content": "<task-notification>x"}}, None),
        ({"type": "assistant", "message": {"content": [{"type": "text", "text": "fix it"}]}}, None),
        ([], None),
    ],
)
def test_a_prompt_that_was_taken(record: object, prompt: str | None) -> None:
    assert ADAPTER.taken(json.dumps(record).encode()) == prompt


def test_it_is_a_terminal() -> None:
    assert isinstance(ADAPTER, Terminal)
