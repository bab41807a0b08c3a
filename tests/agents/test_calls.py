"""Calls in transcripts: which of them asks what, and which are over; and what that proves of a question."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maestro.agents.questions import Question
from maestro.agents.registry import agent_named
from maestro.agents.terminal import TellsCalls, Terminal
from maestro.fleet.proof import results_since

WHICH = {"question": "Which one?", "header": "Which", "options": [{"label": "A", "description": "a"}]}


def line(record: Any) -> bytes:
    return json.dumps(record).encode()


def claude_call(call_id: str, tool: str, **given_to_it: Any) -> bytes:
    block = {"type": "tool_use", "id": call_id, "name": tool, "input": given_to_it}
    return line({"type": "assistant", "message": {"role": "assistant", "content": [block]}})


def claude_result(call_id: str) -> bytes:
    block = {"type": "tool_result", "tool_use_id": call_id, "content": "done"}
    return line({"type": "user", "message": {"role": "user", "content": [block]}})


def codex_call(call_id: str, tool: str, **given_to_it: Any) -> bytes:
    payload = {
        "type": "function_call",
        "name": tool,
        "arguments": json.dumps(given_to_it),
        "call_id": call_id,
    }
    return line({"type": "response_item", "payload": payload})


def codex_result(call_id: str) -> bytes:
    payload = {"type": "function_call_output", "call_id": call_id, "output": "done"}
    return line({"type": "response_item", "payload": payload})


def gemini_call(call_id: str, tool: str, status: str = "scheduled", **given_to_it: Any) -> bytes:
    call = {"id": call_id, "name": tool, "args": given_to_it, "status": status}
    return line({"id": "m", "type": "gemini", "content": "", "toolCalls": [call]})


def gemini_result(call_id: str) -> bytes:
    return line({"id": "u", "type": "user", "content": [{"functionResponse": {"id": call_id, "name": "x"}}]})


CLIS = {
    "claude": (claude_call, claude_result, "AskUserQuestion", "Bash", "command"),
    "codex": (codex_call, codex_result, "request_user_input", "exec_command", "cmd"),
    "gemini": (gemini_call, gemini_result, "ask_user", "run_shell_command", "command"),
}


@pytest.mark.parametrize("agent", CLIS)
def test_results_belong_to_what_was_asked(agent: str, tmp_path: Path) -> None:
    call, result, asks, shell, key = CLIS[agent]
    terminal = agent_named(agent)
    assert isinstance(terminal, Terminal)
    asked = Question("choice", "Which one?")
    run = Question("permission", "Proceed?", tool="Bash", detail="git push")
    path = tmp_path / "log.jsonl"

    def since(lines: list[bytes], *more: bytes) -> tuple[list[str], list[str]]:
        before = b"".join(one + b"\n" for one in lines)
        path.write_bytes(before + b"".join(one + b"\n" for one in more))
        return (
            list(results_since(terminal, path, len(before), asked)),
            list(results_since(terminal, path, len(before), run)),
        )

    question, command = call("q1", asks, questions=[WHICH]), call("c1", shell, **{key: "git push"})
    assert since([question], result("q1")) == (["q1"], [])
    assert since([], question, result("q1")) == (["q1"], [])
    assert since([command], result("c1")) == ([], ["c1"])
    assert since([question, result("q1")], result("q1")) == ([], []), "it had its result before"
    assert since([question], command) == ([], []), "a call is no result"
    assert since([call("c2", shell, **{key: "ls"})], result("c2")) == ([], [])
    assert since([question], result("q9")) == ([], []), "nothing tells what it asked"
    twice = [question, call("q2", asks, questions=[WHICH])]
    assert since(twice, result("q1"), result("q2"))[0] == ["q1", "q2"]
    assert since([question], result("q1")[:-4]) == ([], []), "a torn line"


def test_a_message_of_gemini_is_written_again_with_each_result(tmp_path: Path) -> None:
    terminal = agent_named("gemini")
    assert isinstance(terminal, Terminal)
    path = tmp_path / "log.jsonl"
    path.write_bytes(gemini_call("q1", "ask_user", "success", questions=[WHICH]) + b"\n")
    size = path.stat().st_size
    path.write_bytes(path.read_bytes() * 2)
    assert list(results_since(terminal, path, size, Question("choice", "Which one?"))) == []
    assert list(results_since(terminal, path, 0, Question("choice", "Which one?"))) == ["q1"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "message",
                    "content",
                    "payload",
                    "call_id",
                    "id",
                    "toolCalls",
                    "input",
                    "args",
                    "name",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@pytest.mark.parametrize("agent", CLIS)
@given(record=JSON | st.binary(max_size=30))
def test_any_line(agent: str, record: Any) -> None:
    terminal = agent_named(agent)
    assert isinstance(terminal, TellsCalls)
    told = record if isinstance(record, bytes) else line(record)
    marked = told + b' "tool_ "call_id" "toolCalls"'
    for one in (told, marked):
        assert all(isinstance(call.id, str) for call in terminal.calls(one))
