"""What became of a run: the real CLIs' recorded outputs, and every way in which they mislead."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from maestro.agents.headless import (
    Counters,
    Denial,
    DeniesSilently,
    ModelUsage,
    Outcome,
    Output,
    RunMode,
    RunRequest,
)
from maestro.agents.registry import headless_named

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*/*.json"))
AT = 1_794_769_668_000


def request(mode: RunMode = "write", **more: Any) -> RunRequest:
    return RunRequest(prompt_path="/p", folder="/f", cwd="/c", env={}, mode=mode, **more)


def outcome(
    agent: str, stdout: bytes | str, stderr: bytes = b"", code: int | None = 0, **more: Any
) -> Outcome:
    out = stdout if isinstance(stdout, bytes) else stdout.encode()
    output = Output(stdout=out, stderr=stderr, exit_code=code, ended_at=AT, signal=more.pop("signal", None))
    return headless_named(agent).outcome(output, request(**more))


def lines(*records: dict[str, Any]) -> str:
    return "\n".join(json.dumps(record) for record in records)


@pytest.mark.parametrize("path", GOLDEN, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_recorded_outputs(path: Path) -> None:
    case = json.loads(path.read_text())
    asked = case["request"]
    if "before" in asked:
        asked["before"] = msgspec.convert(asked["before"], Counters)
    output = Output(
        stdout=path.with_suffix(".stdout").read_bytes(),
        stderr=path.with_suffix(".stderr").read_bytes(),
        exit_code=case["exit_code"],
        signal=case["signal"],
        ended_at=AT,
    )
    found = headless_named(path.parent.name).outcome(output, request(**asked))
    told = json.loads(msgspec.json.encode(found))
    assert {name: told[name] for name in case["outcome"]} == case["outcome"]
    empty = Outcome(status=found.status)
    for name in set(Outcome.__struct_fields__) - set(case["outcome"]) - {"totals"}:
        assert getattr(found, name) == getattr(empty, name), name


def test_every_cli_has_each_kind_of_end() -> None:
    kinds = {(path.parent.name, json.loads(path.read_text())["outcome"]["status"]) for path in GOLDEN}
    for agent in ("claude", "codex", "gemini"):
        assert {(agent, "success"), (agent, "failed"), (agent, "denied")} <= kinds
    assert {("claude", "limit"), ("codex", "limit"), ("claude", "refused")} <= kinds


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini", "scripted"])
class TestNothingIsNoSuccess:
    def test_silence_with_exit_0(self, agent: str) -> None:
        found = outcome(agent, b"")
        assert found.status == "failed"
        assert found.error == "It ended with exit code 0 and said nothing."

    def test_garbage(self, agent: str) -> None:
        assert outcome(agent, b"\xff\x00{]}").status == "failed"

    def test_a_signal(self, agent: str) -> None:
        found = outcome(agent, b"", code=None, signal=9)
        assert (found.status, found.error) == ("failed", "It was ended by signal 9.")

    def test_plain_text_where_records_belong(self, agent: str) -> None:
        assert outcome(agent, b"Everything went fine.\n").status == "failed"


def claude_result(**more: Any) -> str:
    usage = {"modelUsage": {"m": {"inputTokens": 5, "outputTokens": 7}}, "total_cost_usd": 0.5}
    return json.dumps(
        {"type": "result", "subtype": "success", "is_error": False, "result": "Yes.", "num_turns": 1}
        | usage
        | more
    )


class TestClaude:
    def test_an_error_says_subtype_success(self) -> None:
        found = outcome("claude", claude_result(is_error=True, result="Broken."), code=1)
        assert (found.status, found.error) == ("failed", "Broken.")

    def test_a_result_with_a_failing_exit_code_is_a_failure(self) -> None:
        assert outcome("claude", claude_result(), code=1).status == "failed"

    def test_a_missing_is_error_is_not_taken_for_false(self) -> None:
        record = json.loads(claude_result())
        del record["is_error"]
        assert outcome("claude", json.dumps(record)).status == "failed"

    def test_an_empty_answer_is_a_failure(self) -> None:
        found = outcome("claude", claude_result(result="  "))
        assert (found.status, found.error) == ("failed", "It ended without an answer.")

    def test_a_refusal(self) -> None:
        assert outcome("claude", claude_result(stop_reason="refusal", result="No.")).status == "refused"

    def test_a_limit_tells_when_it_ends(self) -> None:
        words = "Claude AI usage limit reached|1794780000"
        found = outcome("claude", claude_result(is_error=True, result=words), code=1)
        assert (found.status, found.resets_at) == ("limit", 1_794_780_000_000)

    def test_a_limit_by_its_http_status_alone(self) -> None:
        found = outcome("claude", claude_result(is_error=True, result="Wait.", api_error_status=429), code=1)
        assert (found.status, found.resets_at) == ("limit", None)

    def test_only_the_last_result_counts(self) -> None:
        two = claude_result(result="First.") + "\n" + claude_result(result="Second.")
        assert outcome("claude", two).text == "Second."

    def test_several_models_of_a_resumed_session_are_told_apart(self) -> None:
        usage = {"a": {"inputTokens": 30, "costUSD": 0.3}, "b": {"inputTokens": 5, "costUSD": 0.1}}
        before = Counters((ModelUsage("a", input=20, cost_usd=0.1),), 0.1)
        told = claude_result(modelUsage=usage, total_cost_usd=0.4)
        found = outcome("claude", told, resume="x", before=before)
        assert [(u.model, u.input, u.cost_usd) for u in found.usage] == [("a", 10, 0.2), ("b", 5, 0.1)]
        assert found.cost_usd == 0.3
        assert not found.counts_session

    def test_what_cannot_be_told_apart_is_said(self) -> None:
        usage = {"a": {"inputTokens": 30}, "b": {"inputTokens": 5}}
        assert outcome("claude", claude_result(modelUsage=usage), resume="x").counts_session

    def test_its_transcript_tells_what_was_counted(self) -> None:
        state = (
            b'{"type":"cost-state","totalCostUSD":0.02,"modelUsage":{"m":{"inputTokens":9,"costUSD":0.02}}}'
        )
        counted = headless_named("claude").counted(b'{"type":"user"}\n' + state + b'\n{"type":"mode"}\n')
        assert counted == Counters((ModelUsage("m", input=9, cost_usd=0.02),), 0.02)

    def test_what_it_said_before_it_was_ended_is_kept(self) -> None:
        said = {"type": "assistant", "session_id": "s", "message": {"content": [{"text": "Half"}]}}
        found = outcome("claude", lines(said), code=143)
        assert (found.status, found.text, found.session_id) == ("failed", "Half", "s")


class TestCodex:
    DONE = (
        {"type": "thread.started", "thread_id": "t"},
        {"type": "item.completed", "item": {"type": "error", "message": "Just a warning."}},
        {"type": "item.completed", "item": {"type": "agent_message", "text": "Yes."}},
        {
            "type": "turn.completed",
            "usage": {"input_tokens": 100, "cached_input_tokens": 40, "output_tokens": 7},
        },
    )

    def test_warnings_are_no_errors(self) -> None:
        found = outcome("codex", lines(*self.DONE))
        assert (found.status, found.text, found.session_id) == ("success", "Yes.", "t")
        assert [(u.input, u.cached, u.output) for u in found.usage] == [(60, 40, 7)]

    def test_a_turn_that_never_ended(self) -> None:
        assert outcome("codex", lines(*self.DONE[:-1])).status == "failed"

    def test_a_failed_turn_with_an_answer_before(self) -> None:
        failed = {"type": "turn.failed", "error": {"message": "stream disconnected"}}
        found = outcome("codex", lines(*self.DONE[:-1], failed), code=1)
        assert (found.status, found.error, found.text) == ("failed", "stream disconnected", "Yes.")

    def test_a_usage_limit_tells_when_it_ends(self) -> None:
        words = "You've hit your usage limit. Try again in 2 hours 30 minutes."
        found = outcome("codex", lines({"type": "turn.failed", "error": {"message": words}}), code=1)
        assert (found.status, found.resets_at) == ("limit", AT + 9_000_000)

    def test_usage_of_a_resumed_session_is_of_this_run_alone(self) -> None:
        before = Counters((ModelUsage("", input=50, cached=30, output=5),))
        found = outcome("codex", lines(*self.DONE), resume="t", before=before)
        assert [(u.input, u.cached, u.output) for u in found.usage] == [(10, 10, 2)]

    def test_its_rollout_tells_what_was_counted(self) -> None:
        def count(tokens: int) -> bytes:
            usage = {"total_token_usage": {"input_tokens": tokens, "cached_input_tokens": 1}}
            return json.dumps({"payload": {"type": "token_count", "info": usage}}).encode()

        counted = headless_named("codex").counted(b"\n".join([count(10), count(21), b'{"payload":{}}']))
        assert counted == Counters((ModelUsage("", input=20, cached=1),))

    def test_what_its_sandbox_stopped_is_in_its_rollout_alone(self) -> None:
        def line(at: str, **payload: Any) -> bytes:
            return json.dumps({"timestamp": at, "type": "response_item", "payload": payload}).encode()

        def stopped(at: str, call: str) -> list[bytes]:
            asked = line(
                at, type="function_call", call_id=call, arguments=json.dumps({"cmd": f"touch {call}"})
            )
            told = f"Process exited with code 1\nOutput:\ntouch: {call}: Read-only file system\n"
            return [asked, line(at, type="function_call_output", call_id=call, output=told)]

        fine = line("2026-11-15T19:00:02Z", type="function_call_output", call_id="x", output="all well")
        rollout = [
            *stopped("2026-11-15T18:00:00Z", "before"),
            *stopped("2026-11-15T19:00:01Z", "now"),
            fine,
            b"{",
        ]
        codex = headless_named("codex")
        assert isinstance(codex, DeniesSilently)
        start = 1_794_769_200_000  # 19:00:00
        assert codex.silent_denials(b"\n".join(rollout), start) == (Denial("shell", "touch now"),)


class TestGemini:
    def test_the_exit_code_is_a_status_of_which_eight_bits_are_left(self) -> None:
        assert outcome("gemini", b"", code=429 % 256).status == "limit"
        assert outcome("gemini", b"", code=400 % 256).status == "failed"

    def test_its_error_is_at_the_end_of_stderr(self) -> None:
        error = {"session_id": "s", "error": {"message": "Resource exhausted, retry in 30s", "code": 429}}
        stderr = b"Warning: something {\n odd\n" + json.dumps(error, indent=2).encode()
        found = outcome("gemini", b"", stderr, code=173)
        assert (found.status, found.resets_at, found.session_id) == ("limit", AT + 30_000, "s")

    def test_the_answer_is_what_it_said_after_its_last_tool(self) -> None:
        told = lines(
            {"type": "message", "role": "user", "content": "question"},
            {"type": "message", "role": "assistant", "content": "On it."},
            {"type": "tool_use", "tool_id": "1", "tool_name": "read_file"},
            {"type": "tool_result", "tool_id": "1", "status": "success"},
            {"type": "message", "role": "assistant", "content": "Half", "delta": True},
            {"type": "message", "role": "assistant", "content": " done.", "delta": True},
            {"type": "result", "status": "success", "stats": {}},
        )
        assert outcome("gemini", told).text == "Half done."

    def test_it_ends_with_0_when_it_is_terminated(self) -> None:
        assert outcome("gemini", lines({"type": "init", "session_id": "s"})).status == "failed"
