"""Claude Code: a run without a terminal, as a stream of JSON records. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from maestro.agents.headless import (
    BROKEN_OFF,
    Ability,
    Counters,
    Denial,
    ModelUsage,
    Outcome,
    OutcomeStatus,
    Output,
    RunPlan,
    RunRequest,
    abilities_of,
    denied_words,
    joined,
    silence,
    since,
    usage_numbers,
)
from maestro.agents.limits import is_limit, resets_at
from maestro.agents.records import Record, count_of, list_of, object_of, parse, text_of

_TOOLS: Mapping[Ability, tuple[str, ...]] = {
    "read": ("Read",),
    "search": ("Grep", "Glob"),
    "edit": ("Edit", "Write", "NotebookEdit"),
    "shell": ("Bash",),
    "web": ("WebFetch", "WebSearch"),
}
# What a run that may do everything is not asked about. A rule of the person that denies still denies.
_UNASKED = ("Bash", "Edit", "Write", "NotebookEdit", "WebFetch", "WebSearch")
_SESSION_VARIABLES = (
    "AI_AGENT", "CLAUDECODE", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_EXECPATH",
    "CLAUDE_CODE_MESSAGING_*", "CLAUDE_CODE_SESSION_*", "CLAUDE_CODE_SSE_PORT", "CLAUDE_EFFORT", "CLAUDE_ENV_FILE",
    "CLAUDE_PID", "CLAUDE_PROJECT_DIR",
)  # fmt: skip
_NO_SUCH_TOOL = "No such tool available: "
_KEPT_OUT = (" is disabled", " is not enabled")  # 2.1.325, 2.1.197


class Headlessly:
    program: str = "claude"
    session_variables: tuple[str, ...] = _SESSION_VARIABLES

    def headless(self, request: RunRequest) -> RunPlan:
        argv = ["claude", "-p", "--output-format", "stream-json", "--verbose"]
        if request.resume:
            argv += ["--resume", request.resume]
        elif request.session_id:
            argv += ["--session-id", request.session_id]
        if request.model:
            argv += ["--model", request.model]
        if request.mcp_config:
            argv += ["--mcp-config", request.mcp_config]
        if request.schema:
            argv += ["--json-schema", request.schema.decode()]
        if request.is_apart:
            argv += ["--no-session-persistence"]
        # Prompts are read from stdin; `--allowedTools` and the like take every word up to the next option.
        return RunPlan(
            argv=(*argv, *_permissions(request)),
            env=_apart(request) if request.is_apart else {},
            stdin=request.prompt_path,
        )

    def outcome(self, output: Output, request: RunRequest) -> Outcome:
        records = list(_records(output.stdout))
        result = next((r for r in reversed(records) if r.get("type") == "result"), None)
        if result is None:
            return _without_result(output, records)
        status, error = _verdict(result, output)
        denials = _denials(result, records)
        if status == "success" and denials:
            status, error = "denied", denied_words(denials)
        counters, counts_session = _counters(result, request)
        return Outcome(
            status=status,
            text=text_of(result.get("result")) if status in {"success", "denied"} else _said(records),
            error=error,
            session_id=text_of(result.get("session_id")),
            usage=counters.models,
            cost_usd=counters.cost_usd,
            counts_session=counts_session,
            totals=_totals(result),
            denials=denials,
            resets_at=resets_at(error, output.ended_at) if status == "limit" else None,
        )

    def counted(self, transcript: bytes) -> Counters | None:
        start = transcript.rfind(b'{"type":"cost-state"')
        if start < 0:
            return None
        record = parse(transcript[start:].split(b"\n", 1)[0])
        return None if record is None else _totals(record, cost="totalCostUSD")

    def spoken(self, line: bytes) -> str:
        record = parse(line) or {}
        if record.get("type") == "assistant":
            return joined(_blocks(record))
        if record.get("subtype") == "api_retry":
            return f"Trying again: {text_of(record.get('error')) or 'the API failed'}."
        return ""


def _apart(request: RunRequest) -> Mapping[str, str]:
    """No hooks, no plugins, no CLAUDE.md. As a variable and not as an option: a version that does not know it goes on.

    It would try again for three minutes after an error of the API."""
    return {
        "CLAUDE_CODE_SAFE_MODE": "1",
        "CLAUDE_CODE_MAX_RETRIES": request.env.get("CLAUDE_CODE_MAX_RETRIES", "2"),
    }


def _permissions(request: RunRequest) -> list[str]:
    abilities = abilities_of(request)
    named = None if abilities is None else [tool for ability in abilities for tool in _TOOLS[ability]]
    allowed = [*(_UNASKED if named is None else named), *request.allowed_tools]
    if request.mode == "analysis":
        # Tools that write are not there at all, not for subagents either; other MCP servers could bring some.
        # `plan` would deny as well, but makes the model write a plan instead of an answer.
        mode = ["--permission-mode", "dontAsk", "--strict-mcp-config"]
    else:
        # As root, bypassing all permissions is refused; and it would pass over the rules of the person.
        mode = ["--permission-mode", "acceptEdits"]
    tools = [] if named is None else ["--tools", ",".join(named)]
    return [*mode, *tools, *(["--allowedTools", ",".join(allowed)] if allowed else [])]


def _records(stdout: bytes) -> Iterator[Record]:
    for line in stdout.split(b"\n"):
        if line.startswith(b"{") and (record := parse(line)) is not None:
            yield record


def _verdict(result: Record, output: Output) -> tuple[OutcomeStatus, str]:
    """`subtype` says "success" for errors, too, so it is not asked."""
    words = text_of(result.get("result")) or " ".join(text_of(e) for e in list_of(result.get("errors")))
    if result.get("stop_reason") == "refusal":
        return "refused", words or "The model refused to answer."
    if result.get("api_error_status") == 429 or (result.get("is_error") and is_limit(words)):
        return "limit", words
    if result.get("is_error") is not False or output.exit_code != 0:
        return "failed", words or text_of(result.get("subtype")) or silence(output)
    if count_of(result.get("num_turns")) == 0 and not count_of(
        object_of(result.get("usage")).get("output_tokens")
    ):
        return "refused", words or "The prompt never reached the model."
    if not words.strip():
        return "failed", "It ended without an answer."
    return "success", ""


def _without_result(output: Output, records: list[Record]) -> Outcome:
    retry = next((r for r in reversed(records) if r.get("subtype") == "api_retry"), {})
    retried = (text_of(retry.get("error")) or "the API failed") if retry else ""
    reason = BROKEN_OFF if records else silence(output)
    limited = retry.get("error_status") == 429
    return Outcome(
        status="limit" if limited and output.exit_code not in {0, None} else "failed",
        text=_said(records),
        error=f"{reason} It was trying again after: {retried}." if retried else reason,
        retried=retried,
        session_id=next((text_of(r.get("session_id")) for r in records if r.get("session_id")), ""),
        denials=_denials({}, records),
    )


def _said(records: list[Record]) -> str:
    return joined(part for record in records if record.get("type") == "assistant" for part in _blocks(record))


def _blocks(record: Record) -> Iterator[str]:
    message = object_of(record.get("message"))
    if message.get("model") != "<synthetic>":
        for block in list_of(message.get("content")):
            yield text_of(object_of(block).get("text"))


def _denials(result: Record, records: list[Record]) -> tuple[Denial, ...]:
    found = [
        Denial(text_of(d.get("tool_name")), _short(object_of(d.get("tool_input"))))
        for d in map(object_of, list_of(result.get("permission_denials")))
    ]
    for record in records:
        if record.get("type") == "user":
            for block in map(object_of, list_of(object_of(record.get("message")).get("content"))):
                words = text_of(block.get("content"))
                if (
                    block.get("is_error")
                    and _NO_SUCH_TOOL in words
                    and any(kept in words for kept in _KEPT_OUT)
                ):
                    found.append(Denial(words.split(_NO_SUCH_TOOL, 1)[1].split(".", 1)[0]))
    return tuple(found)


def _short(tool_input: Record) -> str:
    for key in ("command", "file_path", "url", "notebook_path"):
        if text_of(tool_input.get(key)):
            return text_of(tool_input[key])[:200]
    return ""


def _totals(record: Record, cost: str = "total_cost_usd") -> Counters:
    """`modelUsage` and the cost go on counting when a session is resumed."""
    models = tuple(
        ModelUsage(
            str(model),
            input=count_of(usage.get("inputTokens")),
            output=count_of(usage.get("outputTokens")),
            cached=count_of(usage.get("cacheReadInputTokens")),
            cache_write=count_of(usage.get("cacheCreationInputTokens")),
            thinking=count_of(usage.get("thinkingTokens")),
            cost_usd=_dollars(usage.get("costUSD")),
        )
        for model, usage in ((m, object_of(u)) for m, u in object_of(record.get("modelUsage")).items())
        if isinstance(model, str)
    )
    return Counters(models, _dollars(record.get(cost)))


def _counters(result: Record, request: RunRequest) -> tuple[Counters, bool]:
    totals = _totals(result)
    if request.resume and _is_of_run(totals, _own_usage(result, "")):
        return totals, False
    if not request.resume or request.before is not None or len(totals.models) != 1:
        return since(totals, request)
    # `usage` is of this run alone; what it cost is not told apart from what went before.
    return Counters((_own_usage(result, totals.models[0].model),), None), False


def _own_usage(result: Record, model: str) -> ModelUsage:
    usage = object_of(result.get("usage"))
    return ModelUsage(
        model,
        input=count_of(usage.get("input_tokens")),
        output=count_of(usage.get("output_tokens")),
        cached=count_of(usage.get("cache_read_input_tokens")),
        cache_write=count_of(usage.get("cache_creation_input_tokens")),
        thinking=count_of(object_of(usage.get("output_tokens_details")).get("thinking_tokens")),
    )


def _is_of_run(totals: Counters, own: ModelUsage) -> bool:
    """Whether the totals are of this run alone, as 2.1.197 tells them: they say what the run's own usage says."""
    counted = [sum(numbers) for numbers in zip(*map(usage_numbers, totals.models), strict=True)]
    return counted[:4] == list(usage_numbers(own)[:4])


def _dollars(value: object) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e9:
        return float(value)
    return None
