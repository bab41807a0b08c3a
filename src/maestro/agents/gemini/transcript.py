"""Gemini CLI: where its chat logs lie and what their lines mean.

Recorded on 0.61.0. A record is written again when it changes, with the same id; the last one counts. A `$set`
line may restate the whole history.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from maestro.agents import EVERYTHING, Buffer, Environment, Kind, Moment, Transcript, Usage, Wanted
from maestro.agents.files import config_folder, files_in
from maestro.agents.records import Record, count_of, list_of, millis, object_of, parse, text_of

_NOT_TYPED_BY_A_PERSON = ("<session_context>", "<hook_context>")
_DONE = ("success", "error", "cancelled")
_QUESTION_TOOL = "ask_user"
_CANCELLED = "Request cancelled."
_PATCH = b'{"$set":{'
_LAST_UPDATED = re.compile(rb'\{"\$set":\{"lastUpdated":"[^"\\]*"\}\}\Z')
_ERROR_FRAME = "[API Error: "


class _Part(msgspec.Struct, gc=False, rename="camel"):
    text: str = ""
    function_response: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class _Call(msgspec.Struct, gc=False):
    name: str = ""
    status: str = ""
    description: str = ""


class _Message(msgspec.Struct, gc=False, rename="camel"):
    id: str = ""
    type: str = ""
    timestamp: str | int | float | None = None
    content: str | list[_Part] = ""
    display_content: list[_Part] = []
    tool_calls: list[_Call] = []


class _Patch(msgspec.Struct, gc=False):
    messages: list[_Message] = []


class _Line(_Message, gc=False, rename="camel"):
    patch: _Patch | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="$set")


_decode = msgspec.json.Decoder(_Line).decode


class Transcripts:
    name = "gemini"
    home_variables: tuple[str, ...] = ("GEMINI_CLI_HOME",)
    noise = _LAST_UPDATED
    noise_letter = ord("$")

    def locate(self, session_id: str, cwd: str, env: Environment) -> Path | None:
        ending = f"-{session_id[:8]}.jsonl"
        slugs = _slugs(env)
        slug = slugs.get(os.path.realpath(cwd)) if cwd else None
        folders = [_chats(env, slug)] if slug else [_chats(env, name) for name in _all_slugs(env)]
        found = [
            (stat.st_mtime_ns, path)
            for folder in folders
            for path, stat in files_in(folder, ending)
            if len(session_id) == 8 or _session_of(path) == session_id
        ]
        return max(found)[1] if found else None

    def transcripts(self, env: Environment, cwd: str = "") -> Iterator[Transcript]:
        projects = {slug: project for project, slug in _slugs(env).items()}
        wanted = os.path.realpath(cwd) if cwd else ""
        for slug in _all_slugs(env):
            if wanted and projects.get(slug) != wanted:
                continue
            for path, stat in files_in(_chats(env, slug), ".jsonl"):
                if path.name.startswith("session-"):
                    yield Transcript(
                        agent=self.name,
                        path=path,
                        session_id=_session_of(path) or path.stem.rpartition("-")[2],
                        modified=stat.st_mtime_ns // 1_000_000,
                        size=stat.st_size,
                        cwd=projects.get(slug, ""),
                    )

    def project(self, head: bytes) -> str:  # noqa: ARG002  # the folder tells, the log does not
        return ""

    def version_in(self, head: bytes) -> str:  # noqa: ARG002  # its log does not say; its screen does
        return ""

    def companions(self, path: Path) -> list[Path]:  # noqa: ARG002  # it has no subagents with files of their own
        return []

    def read(self, buffer: Buffer, start: int, end: int, wanted: Wanted = EVERYTHING) -> tuple[Moment, ...]:  # noqa: ARG002  # a call is part of the record that holds the text
        try:
            return _moments(_decode(memoryview(buffer)[start:end]))
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return self.read_plain(bytes(buffer[start:end]))

    def read_plain(self, line: bytes) -> tuple[Moment, ...]:
        record = parse(line)
        if record is None:
            return ()
        normal = _normalised(record, _Line())
        if "$set" in record:
            listed = list_of(object_of(record["$set"]).get("messages"))
            normal.patch = _Patch([_normalised(one, _Message()) for one in listed if isinstance(one, dict)])
        return _moments(normal)

    def usage(self, line: bytes) -> Usage | None:
        if b'"tokens"' not in line or line.startswith(_PATCH):
            return None
        record = parse(line) or {}
        tokens = object_of(record.get("tokens"))
        if not tokens:
            return None
        cached = count_of(tokens.get("cached"))
        return Usage(
            model=text_of(record.get("model")),
            id=text_of(record.get("id")),
            fresh=max(0, count_of(tokens.get("input")) - cached) + count_of(tokens.get("tool")),
            cache_read=cached,
            output=count_of(tokens.get("output")) + count_of(tokens.get("thoughts")),
        )


def _home(env: Environment) -> Path:
    return config_folder(env, "", ".gemini")


def _chats(env: Environment, slug: str) -> Path:
    return _home(env) / "tmp" / slug / "chats"


def _slugs(env: Environment) -> dict[str, str]:
    """The folder name of each project, as Gemini CLI keeps them."""
    try:
        known = object_of((parse((_home(env) / "projects.json").read_bytes()) or {}).get("projects"))
    except OSError:
        return {}
    return {str(cwd): slug for cwd, slug in known.items() if isinstance(slug, str) and "/" not in slug}


def _all_slugs(env: Environment) -> list[str]:
    try:
        return [entry.name for entry in os.scandir(_home(env) / "tmp") if entry.is_dir()]
    except OSError:
        return []


def _session_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return text_of((parse(file.readline(4096)) or {}).get("sessionId"))
    except OSError:
        return ""


_AnyMessage = TypeVar("_AnyMessage", bound=_Message)


def _normalised(record: Record, message: _AnyMessage) -> _AnyMessage:
    """A record of any shape as the fields that matter. What has the wrong type counts as absent."""
    message.id = text_of(record.get("id"))
    message.type = text_of(record.get("type"))
    message.timestamp = record.get("timestamp")
    content = record.get("content")
    message.content = _parts(content) if isinstance(content, list) else text_of(content)
    message.display_content = _parts(record.get("displayContent"))
    calls = [call for call in list_of(record.get("toolCalls")) if isinstance(call, dict)]
    message.tool_calls = [
        _Call(*(text_of(call.get(key)) for key in ("name", "status", "description"))) for call in calls
    ]
    return message


def _parts(value: object) -> list[_Part]:
    parts = [part for part in list_of(value) if isinstance(part, dict)]
    return [
        _Part(text_of(part.get("text")), msgspec.Raw() if "functionResponse" in part else msgspec.UNSET)
        for part in parts
    ]


def _moments(line: _Line) -> tuple[Moment, ...]:
    if line.patch is msgspec.UNSET:
        return tuple(_message_moments(line, restated=False))
    return tuple([one for message in line.patch.messages for one in _message_moments(message, restated=True)])


def _message_moments(message: _Message, *, restated: bool) -> list[Moment]:
    at = millis(message.timestamp)

    def moment(kind: Kind, text: str = "") -> Moment:
        return Moment(kind, at, text, message.id, message.id, restated)

    content = message.content
    parts = [_Part(content)] if isinstance(content, str) else content
    words = " ".join([part.text for part in message.display_content or parts if part.text])
    if message.type == "user":
        if any(part.function_response is not msgspec.UNSET for part in parts):
            return [moment("tool_result")]
        words = words.strip()
        return [] if not words or words.startswith(_NOT_TYPED_BY_A_PERSON) else [moment("prompt", words)]
    if message.type == "gemini":
        said = [moment("text", words)] if words else []
        return said + [one for call in message.tool_calls for one in _call_moments(call, moment)]
    if message.type == "error":
        return [moment("api_error", _failure(words))]
    return [moment("interrupted")] if message.type == "info" and words == _CANCELLED else []


def _call_moments(call: _Call, moment: Callable[[Kind, str], Moment]) -> list[Moment]:
    if call.status in _DONE:
        return [moment("tool_call", call.name), moment("tool_result", "")]
    if call.name == _QUESTION_TOOL:
        return [moment("question", call.description)]
    return [moment("tool_call", call.name)]


def _failure(words: str) -> str:
    framed = words.removeprefix(_ERROR_FRAME).removesuffix("]")
    inner = object_of((parse(framed.encode("utf-8", "replace")) or {}).get("error"))
    message = text_of(inner.get("message"))
    return f"API error: {message}" if message else words or "the request failed"
