"""Codex CLI: a run without a terminal, `codex exec --json`. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from maestro.agents.headless import (
    BROKEN_OFF,
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
)
from maestro.agents.launch import FileToWrite
from maestro.agents.limits import is_limit, resets_at
from maestro.agents.records import Record, count_of, millis, object_of, parse, text_of
from maestro.errors import InvalidInput

_SESSION_VARIABLES = (
    "CODEX_APPLY_PATCH_*", "CODEX_CI", "CODEX_MANAGED_*", "CODEX_SANDBOX", "CODEX_SANDBOX_*", "CODEX_SESSION_ID",
    "CODEX_THREAD_ID", "CODEX_TOOL_CALL_ID", "CODEX_VERSION",
)  # fmt: skip
# Each brings tools; reading is one more command for its shell, so without abilities there is no shell.
_TOOL_FEATURES = (
    "shell_tool", "unified_exec", "view_image", "apps", "plugins", "multi_agent", "goals", "image_generation",
    "tool_suggest", "skill_search",
)  # fmt: skip
# A command that wrote where it may not: the sandbox tells nobody but the command.
_SANDBOX_WORDS = ("Read-only file system", "Operation not permitted")


class Headlessly:
    program: str = "codex"
    session_variables: tuple[str, ...] = _SESSION_VARIABLES

    def headless(self, request: RunRequest) -> RunPlan:
        abilities = abilities_of(request)
        writes = abilities is None or bool({"edit", "shell"} & set(abilities))
        argv = ["codex", "exec", "--json", "--skip-git-repo-check"]
        if request.model:
            argv += ["--model", request.model]
        argv += ["--sandbox", "workspace-write" if writes else "read-only"]
        argv += ["--config", 'approval_policy="never"']
        if writes and request.network:
            argv += ["--config", "sandbox_workspace_write.network_access=true"]
        if abilities is not None:
            argv += ["--config", f"web_search={'live' if 'web' in abilities else 'disabled'}"]
            argv += _without_features(() if abilities else _TOOL_FEATURES)
        if request.is_apart:
            argv += ["--ephemeral", "--config", "project_doc_max_bytes=0", *_without_features(("hooks",))]
        for name in request.foreign_servers:
            argv += ["--config", f"mcp_servers.{name}.enabled=false"]
        schema = FileToWrite(f"{request.folder}/schema.json", request.schema) if request.schema else None
        if schema:
            argv += ["--output-schema", schema.path]
        argv += _servers(request)
        # It gives each session an id by itself. `-`: the prompt is what stdin holds.
        argv += ["resume", request.resume, "-"] if request.resume else ["-"]
        return RunPlan(argv=tuple(argv), stdin=request.prompt_path, files=(schema,) if schema else ())

    def outcome(self, output: Output, request: RunRequest) -> Outcome:
        records = [r for line in output.stdout.split(b"\n") if line.startswith(b"{") and (r := parse(line))]
        ended = next((r for r in reversed(records) if r.get("type") in ("turn.completed", "turn.failed")), {})
        messages = [text_of(item.get("text")) for item in _items(records, "agent_message")]
        denials = _denials(records, request)
        status, error = _verdict(records, ended, output)
        if status == "success" and not (messages and messages[-1].strip()):
            status, error = "failed", "It ended without an answer."
        if status == "success" and denials:
            status, error = "denied", denied_words(denials)
        totals = None
        if ended.get("type") == "turn.completed":
            totals = Counters((_usage(object_of(ended.get("usage")), request.model),))
        counters, counts_session = since(totals, request) if totals else (Counters(), False)
        return Outcome(
            status=status,
            text=messages[-1] if status in {"success", "denied"} else joined(messages),
            error=error,
            retried="" if ended else _last_error(records),
            session_id=next((text_of(r.get("thread_id")) for r in records if r.get("thread_id")), ""),
            usage=counters.models,
            counts_session=counts_session,
            totals=totals,
            denials=denials,
            resets_at=resets_at(error, output.ended_at) if status == "limit" else None,
        )

    def counted(self, transcript: bytes) -> Counters | None:
        """Usage goes on counting when a session is resumed; its rollout has what was counted last."""
        end = len(transcript)
        while (found := transcript.rfind(b'"total_token_usage"', 0, end)) >= 0:
            start = transcript.rfind(b"\n", 0, found) + 1
            record = parse(transcript[start:].split(b"\n", 1)[0]) or {}
            info = object_of(object_of(record.get("payload")).get("info"))
            if info:
                return Counters((_usage(object_of(info.get("total_token_usage")), ""),))
            end = start
        return None

    def silent_denials(self, transcript: bytes, since: int) -> tuple[Denial, ...]:
        """A command that its sandbox stopped is in no event, only in what the model was told."""
        commands: dict[str, str] = {}
        found = []
        for line in transcript.split(b"\n"):
            if b'"function_call' in line and (record := parse(line)) is not None:
                payload = object_of(record.get("payload"))
                call = text_of(payload.get("call_id"))
                if payload.get("type") == "function_call":
                    arguments = parse(text_of(payload.get("arguments")).encode("utf-8", "replace")) or {}
                    commands[call] = text_of(arguments.get("cmd"))
                elif (millis(record.get("timestamp")) or 0) >= since and any(
                    words in text_of(payload.get("output")) for words in _SANDBOX_WORDS
                ):
                    found.append(Denial("shell", commands.get(call, "")[:200]))
        return tuple(found)

    def spoken(self, line: bytes) -> str:
        record = parse(line) or {}
        item = object_of(record.get("item"))
        if record.get("type") == "item.completed" and item.get("type") == "agent_message":
            return text_of(item.get("text"))
        if record.get("type") == "item.started" and item.get("type") == "command_execution":
            return f"$ {text_of(item.get('command'))}"
        return text_of(record.get("message")) if record.get("type") == "error" else ""


def _without_features(names: Iterable[str]) -> list[str]:
    """By `--config` and not by `--disable`: a version that does not know a feature goes on."""
    return [word for name in names for word in ("--config", f"features.{name}=false")]


def _servers(request: RunRequest) -> list[str]:
    """It takes MCP servers on the command line only."""
    words = []
    for name, server in request.mcp_servers.items():
        if server.get("env"):
            raise InvalidInput(
                f"Codex would show the variables of the MCP server {name} to every user of this machine.",
                hint="Take `env` out of the file and set the variables where you call Maestro.",
            )
        for key in ("command", "args", "url"):
            if key in server:
                # A string or a list of strings is written in TOML as in JSON.
                words += ["--config", f"mcp_servers.{name}.{key}={json.dumps(server[key])}"]
    return words


def _verdict(records: list[Record], ended: Record, output: Output) -> tuple[OutcomeStatus, str]:
    if ended.get("type") == "turn.completed" and output.exit_code == 0:
        return "success", ""
    words = text_of(object_of(ended.get("error")).get("message"))
    if not words:
        words = _last_error(records)
    words = _inner_message(words)
    if is_limit(words) and output.exit_code != 0:
        return "limit", words
    return "failed", words or (BROKEN_OFF if records else silence(output))


def _last_error(records: list[Record]) -> str:
    """Warnings are items of type "error"; what it tries again after, or ends a turn by, is an event of that type."""
    return next((text_of(r.get("message")) for r in reversed(records) if r.get("type") == "error"), "")


def _inner_message(words: str) -> str:
    """The sentence in what the API answered, where it is passed on as JSON."""
    inner = (
        object_of((parse(words.encode("utf-8", "replace")) or {}).get("error")) if words[:1] == "{" else {}
    )
    return text_of(inner.get("message")) or words


def _items(records: list[Record], kind: str) -> Iterator[Record]:
    for record in records:
        item = object_of(record.get("item"))
        if record.get("type") == "item.completed" and item.get("type") == kind:
            yield item


def _denials(records: list[Record], request: RunRequest) -> tuple[Denial, ...]:
    found = []
    for item in _items(records, "command_execution"):
        output = text_of(item.get("aggregated_output"))
        sandboxed = request.mode == "analysis" and any(words in output for words in _SANDBOX_WORDS)
        if item.get("status") == "declined" or sandboxed:
            found.append(Denial("shell", text_of(item.get("command"))[:200]))
    found += [
        Denial("edit", "a patch")
        for item in _items(records, "file_change")
        if item.get("status") == "declined"
    ]
    return tuple(found)


def _usage(usage: Record, model: str) -> ModelUsage:
    cached = count_of(usage.get("cached_input_tokens"))
    written = count_of(usage.get("cache_write_input_tokens"))
    return ModelUsage(
        model,  # what it was told; it does not say which one it took
        input=max(0, count_of(usage.get("input_tokens")) - cached - written),
        output=count_of(usage.get("output_tokens")),
        cached=cached,
        cache_write=written,
        thinking=count_of(usage.get("reasoning_output_tokens")),
    )
