"""What a worker writes must not be taken for what its CLI shows."""

from pathlib import Path

import pytest

from maestro.agents.claude import ADAPTER
from maestro.agents.claude.layout import SIGN
from maestro.agents.screen import Screen, captured

SCREENS = Path(__file__).parent.parent / "screens" / "claude"
RULE = "─" * 80
BOX = f"{RULE}\n{SIGN}\xa0{{}}\n{RULE}\n  ⏸ manual mode on · ? for shortcuts"
DIALOG_PARTS = (
    "Enter to select · ↑/↓ to navigate · Esc to cancel",
    "Esc to cancel · Tab to amend",
    "esc to interrupt",
    "✻ 500 stub 500 · Retrying in 4s · attempt 4/10",
    "✻ Waiting for 1 background agent to finish",
    "Resume this session with:",
)


def read(text: str) -> Screen:
    return ADAPTER.read_screen(captured(text))


def reply(*lines: str) -> str:
    """A reply as the CLI prints one: its first line after a bullet, everything two columns in."""
    first, *rest = lines
    return "\n".join([f"{SIGN} go on", "", f"● {first}", *(f"  {line}" if line else "" for line in rest), ""])


@pytest.mark.parametrize("path", sorted(SCREENS.glob("*/*.txt")), ids=lambda path: "/".join(path.parts[-2:]))
def test_a_screen_quoted_in_a_reply_is_only_a_reply(path: Path) -> None:
    quoted = reply("Look:", *captured(path.read_text()).lines)
    assert read(f"{quoted}\n✻ Worked for 8s\n\n{BOX.format('')}").state == "idle"
    assert read(quoted).state in {"unknown", "exited"}  # drawn halfway: no box yet


@pytest.mark.parametrize("words", DIALOG_PARTS)
def test_words_of_a_dialog_at_the_end_of_a_reply_are_only_words(words: str) -> None:
    assert read(f"{reply('Done.', words)}\n{BOX.format('')}").state == "idle"


def test_an_error_that_the_model_only_writes_is_none() -> None:
    styled = (
        "\x1b[38;5;231m●\x1b[39m \x1b[1mAPI Error: 400 no\x1b[0m\n\n"
        f"\x1b[38;5;244m{RULE}\n\x1b[39m{SIGN}\xa0\x1b[7m \x1b[0m\n\x1b[38;5;244m{RULE}\n\x1b[39m  ? for shortcuts"
    )
    assert read(styled).state == "idle"
    assert read(styled.replace("231m●\x1b[39m \x1b[1m", "220m●\x1b[39m \x1b[38;5;220m")).state == "error"


@pytest.mark.parametrize(
    ("box", "draft"),
    [
        ("hello world\x1b[7m \x1b[0m", "hello world"),
        ("\x1b[7mh\x1b[0mello", "hello"),  # the cursor stands on its first letter
        ("\x1b[7mT\x1b[0;2mry “fix the tests”\x1b[0m", ""),
        ("run the\x1b[7m \x1b[0;2mtests\x1b[0m", "run the"),  # what it suggests to go on with
        ("[Pasted text #1 +399 lines]\x1b[7m \x1b[0m", "[Pasted text #1 +399 lines]"),
        ("one\n  two", "one\ntwo"),
        ("", ""),
    ],
)
def test_a_draft_is_what_a_person_typed(box: str, draft: str) -> None:
    assert read(f"\x1b[38;5;244m{RULE}\x1b[39m\n{SIGN}\xa0{box}\n\x1b[38;5;244m{RULE}").draft == draft


def test_without_styles_every_word_in_the_box_counts_as_a_draft() -> None:
    assert read(BOX.format("Try “fix the tests”")).draft == "Try “fix the tests”"


def test_a_shell_shows_no_draft_and_no_idle_agent() -> None:
    assert read("user@host:~$ ls\nfile\nuser@host:~$ ").state == "unknown"
    assert read("user@host:~$ ").draft is None


def test_agents_in_the_background_count_only_as_the_last_thing_said() -> None:
    waiting = f"{reply('Started.')}\n✻ Waiting for 1 background agent to finish\n"
    assert read(f"{waiting}\n{BOX.format('')}").state == "background"
    assert read(f"{waiting}\n● Agent “Count” finished · 0s\n\n{BOX.format('')}").state == "idle"


def test_a_session_name_in_the_rule_of_the_box() -> None:
    assert read(BOX.format("").replace(RULE, f"{'─' * 60} my-session ──", 1)).state == "idle"


@pytest.mark.parametrize(
    ("title", "state"),
    [("⠂ Fix the tests", "working"), ("⠐ x", "working"), ("✳ Claude Code", None), ("", None), ("vim", None)],
)
def test_titles(title: str, state: str | None) -> None:
    reading = ADAPTER.read_title(title)
    assert (reading.state if reading else None) == state
