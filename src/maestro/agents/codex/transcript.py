"""Codex CLI: where its rollouts lie and what their lines mean.

Recorded on 0.166.0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from maestro.agents import ENTRIES, EVERYTHING, Buffer, Environment, Moment, Transcript, Usage, Wanted
from maestro.agents.files import config_folder, files_in, json_string
from maestro.agents.records import Record, count_of, first, list_of, millis, object_of, parse, text_of

_NAME = re.compile(r"rollout-.*?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.jsonl\Z")
_VERSION = re.compile(rb'"cli_version":"([^"\\]{1,40})"')
_CWD = re.compile(rb'"cwd":("(?:[^"\\]|\\.)*")')
_CALLS = ("function_call", "custom_tool_call", "local_shell_call", "web_search_call")
_QUESTION_TOOL = "request_user_input"
_NOT_TYPED_BY_A_PERSON = ("<environment_context>", "<user_instructions>", "<turn_aborted>")

# The payload is a line's first inner object; the line's type, the first of them, stands right before it.
_NOISY_LINES = tuple(
    f'"type":"{kind}","payload":{{'.encode()
    for kind in ("session_meta", "world_state", "turn_context", "token_usage_record", "retained_context")
)
_RESPONSE_ITEM = b'"type":"response_item","payload":{'
_RESPONSE = (b'{"type":"message"',)  # its words come again in an event
_RESULTS = (*_RESPONSE, b'{"type":"function_call_output"', b'{"type":"custom_tool_call_output"')
_EVENT = b'"type":"event_msg","payload":{'
_NOISE = re.compile(
    rb'\{"timestamp":"[^"\\]*","ordinal":\d+,"type":"(?:session_meta"|world_state"|turn_context"|token_usage_record"'
    rb'|response_item","payload":\{"type":"message"'
    rb'|event_msg","payload":\{"type":"(?:token_count|thread_settings_applied)")'
)
_NOISY_EVENTS = (b'{"type":"token_count"', b'{"type":"thread_settings_applied"')
_ITEM_COMPLETED = b'{"type":"item_completed"'
_SPOKEN = (b'{"type":"UserMessage"', b'{"type":"AgentMessage"')


class _Part(msgspec.Struct, gc=False):
    text: str = ""


class _Item(msgspec.Struct, gc=False):
    type: str = ""
    content: list[_Part] = []


class _Payload(msgspec.Struct, gc=False):
    type: str = ""
    item: _Item | None = None
    name: str = ""
    error: msgspec.Raw | None = None


class _Line(msgspec.Struct, gc=False):
    type: str = ""
    timestamp: str | int | float | None = None
    payload: _Payload | None = None


_decode = msgspec.json.Decoder(_Line).decode


class Transcripts:
    name = "codex"
    home_variables: tuple[str, ...] = ("CODEX_HOME",)
    noise = _NOISE
    noise_letter = ord("t")

    def locate(self, session_id: str, cwd: str, env: Environment) -> Path | None:  # noqa: ARG002  # rollouts lie by date
        sessions = _sessions(env)
        for day in _days_of(session_id):
            for path, _ in files_in(sessions / day, f"-{session_id}.jsonl"):
                return path
        if not _NAME.match(f"rollout-{session_id}.jsonl"):
            return None
        return max(sessions.glob(f"*/*/*/rollout-*-{session_id}.jsonl"), default=None)

    def transcripts(self, env: Environment, cwd: str = "") -> Iterator[Transcript]:  # noqa: ARG002  # likewise
        for day in _sessions(env).glob("*/*/*"):
            for path, stat in files_in(day, ".jsonl"):
                name = _NAME.match(path.name)
                if name:
                    modified = stat.st_mtime_ns // 1_000_000
                    yield Transcript(self.name, path, name[1], modified, stat.st_size)

    def project(self, head: bytes) -> str:
        found = _CWD.search(head)
        return json_string(found[1]) if found else ""

    def version_in(self, head: bytes) -> str:
        found = _VERSION.search(head)
        return found[1].decode("ascii", "replace") if found else ""

    def companions(self, path: Path) -> list[Path]:  # noqa: ARG002  # it has no subagents with files of their own
        return []

    def read(self, buffer: Buffer, start: int, end: int, wanted: Wanted = EVERYTHING) -> tuple[Moment, ...]:
        brace = buffer.find(b"{", start + 1, end)
        kind = buffer.find(b'"type":', start, brace)
        if brace > 0 and kind > 0 and buffer.find(b"\\", start, brace) < 0:
            if buffer.startswith(_RESPONSE_ITEM, kind):
                if wanted == ENTRIES or buffer.startswith(_RESULTS if wanted else _RESPONSE, brace):
                    return ()
            elif buffer.startswith(_NOISY_LINES, kind) or (
                buffer.startswith(_EVENT, kind) and _is_noisy_event(buffer, brace, end)
            ):
                return ()
        try:
            line = _decode(memoryview(buffer)[start:end])
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return self.read_plain(bytes(buffer[start:end]))
        if not _is_unambiguous(buffer, start, end, line):
            return self.read_plain(bytes(buffer[start:end]))
        return _moments(line)

    def read_plain(self, line: bytes) -> tuple[Moment, ...]:
        record = parse(line)
        if record is None:
            return ()
        normal = _normalised(record)
        if normal.payload is not None and (normal.payload.name == _QUESTION_TOOL or normal.payload.error):
            return _rare_moments(normal, object_of(first(record, "payload")))
        return _moments(normal)

    def usage(self, line: bytes) -> Usage | None:
        if b'"token_count"' not in line and b'"turn_context"' not in line:
            return None
        record = parse(line) or {}
        payload = object_of(record.get("payload"))
        if record.get("type") == "turn_context":
            return Usage(model=text_of(payload.get("model")), id="", running_total=True)
        total = object_of(object_of(payload.get("info")).get("total_token_usage"))
        if payload.get("type") != "token_count" or not total:
            return None
        cached = count_of(total.get("cached_input_tokens"))
        written = count_of(total.get("cache_write_input_tokens"))
        return Usage(
            model="",
            id="total",
            fresh=max(0, count_of(total.get("input_tokens")) - cached - written),
            cache_read=cached,
            cache_write=written,
            output=count_of(total.get("output_tokens")),
            running_total=True,
        )


def _sessions(env: Environment) -> Path:
    return config_folder(env, "CODEX_HOME", ".codex") / "sessions"


def _days_of(session_id: str) -> list[str]:
    """Folders of the days around the time that a session's id begins with, in whatever zone they were named."""
    try:
        born = datetime.fromtimestamp(int(session_id.replace("-", "")[:12], 16) / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return []
    return [f"{born + timedelta(days=shift):%Y/%m/%d}" for shift in (0, -1, 1)]


def _is_noisy_event(buffer: Buffer, payload: int, end: int) -> bool:
    return buffer.startswith(_NOISY_EVENTS, payload) or (
        buffer.startswith(_ITEM_COMPLETED, payload) and _is_unspoken(buffer, payload, end)
    )


def _is_unspoken(buffer: Buffer, payload: int, end: int) -> bool:
    """Whether a completed item is neither a prompt nor a text."""
    item = buffer.find(b"{", payload + 1, end)
    return (
        buffer.startswith(b'{"type":"', item)
        and buffer.endswith(b'"item":', payload, item)
        and not buffer.startswith(_SPOKEN, item)
        and buffer.find(b"\\", payload, item + 24) < 0
    )


def _is_unambiguous(buffer: Buffer, start: int, end: int, line: _Line) -> bool:
    """Whether the first reading of every repeatable key is the last one too, and nothing rare is wanted."""
    payload = line.payload
    if payload is None or payload.name == _QUESTION_TOOL or payload.error:
        return False
    brace = buffer.find(b"{", start + 1, end)
    kind = buffer.find(b'"type":', start, brace)
    if (
        kind < 0
        or buffer.find(b"\\", start, brace) >= 0
        or not buffer.startswith(f'"type":"{line.type}","payload":{{"type":"{payload.type}"'.encode(), kind)
        or buffer.find(b'"payload":', start, end) != buffer.rfind(b'"payload":', start, end)
        or (buffer.find(b"\\", start, end) >= 0 and buffer.rfind(b"\\u00", start, end) >= 0)
    ):
        return False
    if buffer.find(b'"item":', brace, end) != buffer.rfind(b'"item":', brace, end):
        return False
    if payload.item is None:
        return True
    item = buffer.find(b"{", brace + 1, end)
    return buffer.endswith(b'"item":', brace, item) and buffer.startswith(
        f'{{"type":"{payload.item.type}"'.encode(), item
    )


def _normalised(record: Record) -> _Line:
    """A line of any shape as the fields that matter. Of a repeated key that names or holds them, the first counts."""
    line = _Line(type=text_of(first(record, "type")), timestamp=record.get("timestamp"))
    payload = first(record, "payload")
    if not isinstance(payload, dict):
        return line
    line.payload = _Payload(type=text_of(first(payload, "type")), name=text_of(payload.get("name")))
    if payload.get("error") is not None:
        line.payload.error = msgspec.Raw(b"1")
    item = first(payload, "item")
    if isinstance(item, dict):
        parts = [part for part in list_of(item.get("content")) if isinstance(part, dict)]
        line.payload.item = _Item(
            type=text_of(first(item, "type")), content=[_Part(text_of(part.get("text"))) for part in parts]
        )
    return line


def _moments(line: _Line) -> tuple[Moment, ...]:
    payload = line.payload
    if payload is None:
        return ()
    if line.type == "response_item":
        return _response_moments(payload, line)
    if line.type != "event_msg":
        return ()
    at = millis(line.timestamp)
    if payload.type == "item_completed":
        return _spoken(payload.item, at) if payload.item is not None else ()
    if payload.type == "task_started":
        return (Moment("turn_started", at),)
    if payload.type == "task_complete":
        return (Moment("turn_ended", at),)
    if payload.type == "turn_aborted":
        return (Moment("interrupted", at),)
    return ()


def _response_moments(payload: _Payload, line: _Line) -> tuple[Moment, ...]:
    if payload.type in _CALLS:
        return (Moment("tool_call", millis(line.timestamp), payload.name),)
    if payload.type.endswith("call_output"):
        return (Moment("tool_result", millis(line.timestamp)),)
    if payload.type == "reasoning":
        return (Moment("thinking", millis(line.timestamp)),)
    return ()


def _spoken(item: _Item, at: int | None) -> tuple[Moment, ...]:
    if item.type == "AgentMessage":
        return tuple([Moment("text", at, part.text) for part in item.content if part.text])
    if item.type == "UserMessage":
        words = " ".join([part.text for part in item.content]).strip()
        if words and not words.startswith(_NOT_TYPED_BY_A_PERSON):
            return (Moment("prompt", at, words),)
    return ()


def _rare_moments(line: _Line, payload: Record) -> tuple[Moment, ...]:
    """Questions and failures, whose words lie deeper."""
    at = millis(line.timestamp)
    assert line.payload is not None
    kind = line.payload.type
    if line.type == "response_item" and kind in _CALLS and line.payload.name == _QUESTION_TOOL:
        return (Moment("question", at, _question(text_of(payload.get("arguments")))),)
    if line.type == "event_msg" and kind == "task_complete" and line.payload.error:
        return (Moment("api_error", at, _failure(payload.get("error"))), Moment("turn_ended", at))
    return _moments(line)


def _question(arguments: str) -> str:
    asked = list_of((parse(arguments.encode("utf-8", "replace")) or {}).get("questions"))
    return " ".join(filter(None, [text_of(object_of(one).get("question")) for one in asked]))


def _failure(error: object) -> str:
    words = text_of(object_of(error).get("message")) or text_of(error) or "the turn failed"
    inner = object_of((parse(words.encode("utf-8", "replace")) or {}).get("error"))
    return text_of(inner.get("message")) or words
