"""Gemini CLI: a run without a terminal, as a stream of JSON records. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

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
)
from maestro.agents.launch import FileToWrite
from maestro.agents.limits import is_limit, resets_at
from maestro.agents.records import Record, count_of, object_of, parse, text_of
from maestro.errors import InvalidInput

_TOOLS: Mapping[Ability, tuple[str, ...]] = {
    "read": ("read_file", "read_many_files", "list_directory"),
    "search": ("glob", "grep_search", "search_file_content"),
    "edit": ("write_file", "replace"),
    "shell": ("run_shell_command",),
    "web": ("google_web_search", "web_fetch"),
}
_SESSION_VARIABLES = ("GEMINI_CLI", "GEMINI_CLI_NO_RELAUNCH", "GEMINI_CLI_TRUST_WORKSPACE")
_NOT_ALLOWED = ("policy_violation", "tool_not_registered")
_REFUSALS = ("SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "RECITATION", "SPII")
_TOO_MANY_REQUESTS = 429
_HTTP_STATUS = re.compile(rb"^\s*status: ([45]\d\d)$", re.MULTILINE)


class Headlessly:
    program: str = "gemini"
    session_variables: tuple[str, ...] = _SESSION_VARIABLES

    def headless(self, request: RunRequest) -> RunPlan:
        if request.mcp_config:
            raise InvalidInput(
                "Gemini CLI takes no MCP servers for one run.", hint="Add them to its settings.json instead."
            )
        argv = ["gemini", "--output-format", "stream-json", *(["--skip-trust"] if request.is_trusted else [])]
        if request.resume:
            argv += ["--resume", request.resume]
        elif request.session_id:
            argv += ["--session-id", request.session_id]
        if request.model:
            argv += ["--model", request.model]
        # In `plan` it would write a plan, and may write files for it; `default` has no tool that would have to ask.
        argv += ["--approval-mode", "yolo" if request.mode == "write" else "default"]
        if request.is_apart:
            # Its sessions and hooks cannot be left out.
            argv += ["--extensions", "none", "--allowed-mcp-server-names", "none"]
        abilities = abilities_of(request)
        if abilities is None:
            return RunPlan(argv=tuple(argv), stdin=request.prompt_path)
        policy = FileToWrite(f"{request.folder}/policy.toml", _policy(request, abilities))
        # Of all policies the administrator's comes first, before what the person's settings allow.
        argv += ["--admin-policy", policy.path]
        return RunPlan(argv=tuple(argv), stdin=request.prompt_path, files=(policy,))

    def outcome(self, output: Output, request: RunRequest) -> Outcome:  # noqa: ARG002 - the port's
        records = [r for line in output.stdout.split(b"\n") if line.startswith(b"{") and (r := parse(line))]
        result = next((r for r in reversed(records) if r.get("type") == "result"), None)
        whole = parse(output.stdout) if result is None else None  # `--output-format json`
        if whole is not None and "response" in whole:
            result, last = whole, text_of(whole.get("response"))
        else:
            last = _last_answer(records)
        status, error = _verdict(result, _complaint(output.stderr), output)
        denials = _denials(records)
        if status == "success" and not last.strip():
            status, error = "failed", "It ended without an answer."
        if status == "success" and denials:
            status, error = "denied", denied_words(denials)
        return Outcome(
            status=status,
            text=last if status in {"success", "denied"} else _said(records),
            error=error,
            retried="" if result else _last_attempt(output.stderr),
            session_id=_session_id(records, whole, output),
            usage=_usage(object_of((result or {}).get("stats"))),
            denials=denials,
            resets_at=resets_at(error, output.ended_at) if status == "limit" else None,
        )

    def counted(self, transcript: bytes) -> Counters | None:  # noqa: ARG002 - the port's
        """It counts each run by itself."""
        return None

    def spoken(self, line: bytes) -> str:
        record = parse(line) or {}
        if record.get("type") == "message" and record.get("role") == "assistant":
            return text_of(record.get("content"))
        if record.get("type") == "tool_use":
            words = text_of(object_of(record.get("parameters")).get("command"))
            return f"$ {words}" if words else f"[{text_of(record.get('tool_name'))}]"
        return ""


def _policy(request: RunRequest, abilities: tuple[Ability, ...]) -> bytes:
    """Everything is denied but these tools. A list of strings is written in TOML as in JSON."""
    named = [tool for ability in abilities for tool in _TOOLS[ability]]
    forbidden = {*_TOOLS["edit"], *_TOOLS["shell"]} if request.mode == "analysis" else set()
    allowed = json.dumps([*named, *(tool for tool in request.allowed_tools if tool not in forbidden)])
    return (
        '[[rule]]\ntoolName = "*"\ndecision = "deny"\npriority = 900\n\n'
        f'[[rule]]\ntoolName = {allowed}\ndecision = "allow"\npriority = 950\n'
    ).encode()


def _verdict(result: Record | None, complaint: Record, output: Output) -> tuple[OutcomeStatus, str]:
    error = object_of((result or {}).get("error")) or complaint
    words = _sentence(text_of(error.get("message")))
    code = error.get("code")
    if any(reason in words for reason in _REFUSALS):
        return "refused", words
    # An HTTP status comes as the exit code, of which the system keeps eight bits.
    exit_of_limit = output.exit_code == _TOO_MANY_REQUESTS % 256
    if code == _TOO_MANY_REQUESTS or (error and is_limit(words)) or (exit_of_limit and not error):
        return "limit", words or silence(output)
    if result is None or error or output.exit_code != 0 or result.get("status", "success") != "success":
        retried = _last_attempt(output.stderr)
        if retried and not words:
            return "failed", f"It was trying again after {retried}."
        return "failed", words or (BROKEN_OFF if result is None and output.stdout else silence(output))
    return "success", ""


def _last_attempt(stderr: bytes) -> str:
    """It tries again for minutes, and says why only in what it prints for its developers."""
    attempts = _HTTP_STATUS.findall(stderr)
    return f"HTTP {attempts[-1].decode()}" if attempts else ""


def _complaint(stderr: bytes) -> Record:
    """The error that it writes as JSON at the end of stderr, after whatever else is there."""
    start = stderr.rfind(b"\n{\n")
    record = parse(stderr[start + 1 :]) if start >= 0 else parse(stderr)
    return object_of((record or {}).get("error"))


def _sentence(words: str) -> str:
    """The sentence in what the API answered, where it is passed on as JSON."""
    start, end = words.find("{"), words.rfind("}")
    inner = object_of((parse(words[start : end + 1].encode("utf-8", "replace")) or {}).get("error"))
    if start < 0 or not inner:
        return words
    message, status = text_of(inner.get("message")), text_of(inner.get("status"))
    return f"{message} ({inner.get('code')} {status})" if message else words


def _session_id(records: list[Record], whole: Record | None, output: Output) -> str:
    for record in [*records, whole or {}, parse(output.stderr[output.stderr.rfind(b"\n{\n") + 1 :]) or {}]:
        if text_of(record.get("session_id")):
            return text_of(record["session_id"])
    return ""


def _last_answer(records: list[Record]) -> str:
    """What it said after its last tool: what it said before was on the way."""
    said: list[str] = []
    for record in records:
        if record.get("type") in ("tool_use", "tool_result"):
            said = []
        elif record.get("type") == "message" and record.get("role") == "assistant":
            said.append(text_of(record.get("content")))
    return "".join(said)


def _said(records: list[Record]) -> str:
    turns: list[str] = [""]
    for record in records:
        if record.get("type") == "tool_use":
            turns.append("")
        elif record.get("type") == "message" and record.get("role") == "assistant":
            turns[-1] += text_of(record.get("content"))
    return joined(turns)


def _denials(records: list[Record]) -> tuple[Denial, ...]:
    calls = {str(r.get("tool_id")): r for r in records if r.get("type") == "tool_use"}
    found = []
    for record in records:
        if record.get("type") == "tool_result" and object_of(record.get("error")).get("type") in _NOT_ALLOWED:
            call = calls.get(str(record.get("tool_id")), {})
            parameters = object_of(call.get("parameters"))
            detail = text_of(parameters.get("command")) or text_of(parameters.get("file_path"))
            found.append(Denial(text_of(call.get("tool_name")), detail[:200]))
    return tuple(found)


def _usage(stats: Record) -> tuple[ModelUsage, ...]:
    models = []
    for name, counted in object_of(stats.get("models")).items():
        numbers = object_of(counted)
        tokens = object_of(numbers.get("tokens"))
        if tokens:
            cached, thinking = count_of(tokens.get("cached")), count_of(tokens.get("thoughts"))
            said = count_of(tokens.get("candidates"))
            prompt = count_of(tokens.get("prompt")) + count_of(tokens.get("tool"))
        else:
            # The stream leaves thinking out of everything but the total.
            cached, said = count_of(numbers.get("cached")), count_of(numbers.get("output_tokens"))
            prompt = count_of(numbers.get("input_tokens"))
            thinking = max(0, count_of(numbers.get("total_tokens")) - prompt - said)
        usage = ModelUsage(
            str(name), input=max(0, prompt - cached), output=said + thinking, cached=cached, thinking=thinking
        )
        if isinstance(name, str) and (usage.input or usage.output or usage.cached):
            models.append(usage)
    return tuple(models)
