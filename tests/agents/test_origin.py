"""What shows which transcript a process of a CLI writes: on recorded transcripts, screens and open files."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maestro.agents.origin import TellsOrigin
from maestro.agents.registry import agent_named
from maestro.agents.screen import Capture, captured

HERE = Path(__file__).parent
CLIS = ("claude", "codex", "gemini")
CODEX_ID = "01a1ea40-65be-7910-8820-96d39fbab9e6"
CLAUDE_ID = "cef5551e-0772-44f3-bee2-d58acf687baf"


def telling(name: str) -> TellsOrigin:
    agent = agent_named(name)
    assert isinstance(agent, TellsOrigin)
    return agent


@pytest.mark.parametrize(
    ("log", "headless"),
    [
        ("claude/headless_2.1.197", True),
        ("claude/tool_2.1.325", True),
        ("claude/permission_and_question_2.1.325", False),
        ("codex/exec_resumed_0.166.0", True),
        ("codex/approval_and_questions_0.166.0", False),
        ("gemini/interactive_0.61.0", False),
        ("gemini/headless_0.61.0", False),  # its log does not say
    ],
)
def test_how_a_transcript_began(log: str, headless: bool) -> None:  # noqa: FBT001
    agent = telling(log.split("/", maxsplit=1)[0])
    origin = agent.origin((HERE / "golden" / f"{log}.jsonl").read_bytes())
    assert (origin.headless, origin.began is not None) == (headless, True), origin
    assert bool(origin.cwd) is not log.startswith("gemini")


@pytest.mark.parametrize(
    ("originator", "source", "headless"),
    [
        ("codex-tui", '"cli"', False),
        ("codex-tui", '"vscode"', False),  # without --no-daemon
        ("codex_exec", '"exec"', True),
        ("codex_vscode", '"vscode"', True),
        ("codex_cli_rs", '{"subagent":"review"}', True),
    ],
)
def test_who_began_a_rollout_of_codex(originator: str, source: str, headless: bool) -> None:  # noqa: FBT001
    line = (
        '{"timestamp":"2026-11-17T16:04:18.897Z","type":"session_meta","payload":{"id":"x",'
        '"timestamp":"2026-11-17T16:04:11.334Z","cwd":"/work",'
        f'"originator":"{originator}","source":{source}}}}}\n'
    )
    origin = telling("codex").origin(line.encode())
    assert (origin.headless, origin.cwd, origin.began) == (headless, "/work", 1794931451334)


@pytest.mark.parametrize(
    ("screen", "prompts"),
    [
        ("claude/2.1.325/10_idle", ()),
        ("claude/2.1.325/11_prompt_typed", ()),
        ("claude/2.1.325/16_permission_write", ("write a file",)),
        ("claude/2.1.325/40_ask_tabs", ("/clear", "tabs")),
        ("claude/2.1.325/54_paste_unbracketed", ("line one of paste", "line two of paste")),
        ("codex/0.166.0/03_typed", ()),
        ("codex/0.166.0/06_approval", ("make the file",)),
        ("codex/0.166.0/12_ask2", ("ask in plan mode", "ask two")),
        ("gemini/0.61.0/02_typed", ()),
        ("gemini/0.61.0/12_ask_other", ("ask me", "ask me for other")),
    ],
)
def test_the_prompts_on_a_screen(screen: str, prompts: tuple[str, ...]) -> None:
    """Those that it has taken; a draft in its box and the rows of a dialog are none."""
    content = (HERE / "screens" / f"{screen}.txt").read_text()
    assert telling(screen.split("/", maxsplit=1)[0]).shown_prompts(captured(content)) == prompts


@pytest.mark.parametrize(
    ("path", "held"),
    [
        (f"/h/.codex/sessions/2026/11/17/rollout-2026-11-17T16-04-11-{CODEX_ID}.jsonl", CODEX_ID),
        (f"/h/.codex/thread-writer-locks/{CODEX_ID}.lock", CODEX_ID),
        ("/h/.codex/thread-writer-locks/.coordination.lock", ""),
        ("/h/.codex/state_5.sqlite", ""),
    ],
)
def test_what_codex_holds_open(path: str, held: str) -> None:
    assert telling("codex").held_session(path) == held
    assert telling("claude").held_session(path) == telling("gemini").held_session(path) == ""


@pytest.mark.parametrize(
    ("cli", "words", "named"),
    [
        ("claude", f"claude --resume {CLAUDE_ID}", CLAUDE_ID),
        ("claude", f"claude --session-id={CLAUDE_ID} --model x", CLAUDE_ID),
        ("claude", "claude --resume --model x", ""),
        ("claude", f"claude --resume {CLAUDE_ID} --fork-session", ""),
        ("claude", f"claude --fork-session -r {CLAUDE_ID}", ""),
        ("codex", f"codex resume --no-daemon {CODEX_ID}", CODEX_ID),
        ("codex", "codex resume --last", ""),
        ("codex", f"codex {CODEX_ID}", ""),
        ("gemini", f"node /bin/gemini --resume {CLAUDE_ID}", CLAUDE_ID),
    ],
)
def test_what_a_command_line_names(cli: str, words: str, named: str) -> None:
    assert telling(cli).named_session(words.split()) == named


@given(st.sampled_from(CLIS), st.binary(max_size=300), st.lists(st.text(max_size=40), max_size=8))
def test_any_bytes_and_any_screen(cli: str, head: bytes, lines: list[str]) -> None:
    agent = telling(cli)
    agent.origin(head)
    agent.named_session(lines)
    assert isinstance(agent.shown_prompts(Capture(tuple(lines))), tuple)
