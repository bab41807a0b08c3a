"""Claude Code: where its transcripts lie and what their lines mean.

Recorded on 2.1.197 and 2.1.325.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from maestro.agents import ENTRIES, EVERYTHING, Buffer, Environment, Moment, Transcript, Usage, Wanted
from maestro.agents.files import config_folder, files_in, json_string
from maestro.agents.records import (
    Record,
    count_of,
    first_key,
    list_of,
    millis,
    object_of,
    parse,
    text_of,
)

_MESSAGE_TYPES = ("user", "assistant", "system")
_QUESTION_TOOLS = ("AskUserQuestion", "ExitPlanMode")
_ENDS_A_TURN = ("end_turn", "stop_sequence", "max_tokens", "refusal")
_NOT_TYPED_BY_A_PERSON = ("<local-command", "<system-reminder", "<command-", "<bash-")
_BACKGROUND_WORK_FINISHED = "<task-notification>"
_INTERRUPTED = "[Request interrupted by user"
_LONGEST_FOLDER = 200
_WORDS = ("text", "prompt", "api_error", "interrupted", "turn_started")  # what is read from a record's words

# A line's first inner brace opens the value of the key right before it. With a comma before the key's quotes, in
# a valid line these bytes cannot be part of a string, so they tell what the line is. A call's or a result's head
# counts even if the line repeats a key later, or spells one with escapes: no CLI does, and most bytes stay unread.
_ATTACHMENT = b',"attachment":{'
_MESSAGE = b',"message":{'
_RESULT = b',"message":{"role":"user","content":[{"tool_use_id"'
_WORDLESS = (b',"content":[{"type":"tool_use"', b',"content":[{"type":"thinking"')
_BRACE = ord("{")
_T, _R, _E = b"tre"  # of "attachment", "role" and "text": a look at one byte saves most comparisons
_NOT_TYPE_FIRST = b'{"p'  # parentUuid
_BOOKKEEPING = re.compile(rb'\{"type":"(?:[^uas\\]|u[^s\\]|a[^s\\]|s[^y\\])')  # not user, assistant or system
_VERSION = re.compile(rb'"version":"([0-9][^"\\]{0,40})"')
_CWD = re.compile(rb'"cwd":("(?:[^"\\]|\\.)*")')


class _Block(msgspec.Struct, gc=False):
    type: str = ""
    text: str = ""
    name: str = ""
    tool_use_id: str | msgspec.UnsetType = msgspec.UNSET


class _Message(msgspec.Struct, gc=False):
    content: str | list[_Block] = ""
    id: str = ""
    stop_reason: str | None = None


class _Record(msgspec.Struct, gc=False, rename="camel"):
    type: str = ""
    message: _Message | None = None
    timestamp: str | int | float | None = None
    is_meta: bool = False
    is_compact_summary: bool = False
    is_api_error_message: bool = False
    attachment: msgspec.Raw = msgspec.Raw()
    subtype: str = ""
    pending_background_agent_count: int = 0


_A_RESULT = _Message([_Block(tool_use_id="")])
_decode = msgspec.json.Decoder(_Record).decode


class Transcripts:
    name = "claude"
    home_variables: tuple[str, ...] = ("CLAUDE_CONFIG_DIR",)
    noise = _BOOKKEEPING
    noise_letter = ord("t")

    def locate(self, session_id: str, cwd: str, env: Environment) -> Path | None:
        if not session_id or "/" in session_id or "\0" in session_id:
            return None
        projects = projects_folder(env)
        file_name = f"{session_id}.jsonl"
        if cwd:
            path = projects / folder_name(os.path.realpath(cwd)) / file_name
            if path.is_file():
                return path
        for folder in _folders(projects):
            path = folder / file_name
            if path.is_file():
                return path
        return None

    def transcripts(self, env: Environment, cwd: str = "") -> Iterator[Transcript]:
        projects = projects_folder(env)
        folders = _folders_of(projects, cwd) if cwd else _folders(projects)
        for folder in folders:
            for path, stat in files_in(folder, ".jsonl"):
                yield Transcript(
                    agent=self.name,
                    path=path,
                    session_id=path.stem,
                    modified=stat.st_mtime_ns // 1_000_000,
                    size=stat.st_size,
                )

    def project(self, head: bytes) -> str:
        for found in _CWD.finditer(head):
            cwd = json_string(found[1])
            if cwd.startswith("/"):
                return cwd
        return ""

    def version_in(self, head: bytes) -> str:
        found = _VERSION.search(head)
        return found[1].decode("ascii", "replace") if found else ""

    def companions(self, path: Path) -> list[Path]:
        return sorted((path.with_suffix("") / "subagents").glob("agent-*.jsonl"))

    def read(self, buffer: Buffer, start: int, end: int, wanted: Wanted = EVERYTHING) -> tuple[Moment, ...]:
        brace = buffer.find(_BRACE, start + 1, end)
        is_result = False
        if start + len(_ATTACHMENT) < brace < end - 2:
            if buffer[brace + 2] == _R:
                is_result = buffer.startswith(_RESULT, brace - 11)
                if is_result and wanted:
                    return ()
            elif buffer[brace - 3] == _T and buffer.startswith(_ATTACHMENT, brace - 14):
                return ()
            elif wanted == ENTRIES:
                block = buffer.find(_BRACE, brace + 1, end)
                if block + 10 < end and buffer[block + 10] != _E and _is_wordless(buffer, brace, block, end):
                    return ()
        line = buffer[start:end]
        if line[:3] != _NOT_TYPE_FIRST:
            return () if _BOOKKEEPING.match(line) else self.read_plain(bytes(line))
        try:
            record = _decode(line)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return self.read_plain(bytes(line))
        if record.attachment:
            return ()
        if is_result:
            record.message = _A_RESULT
        moments = _moments(record)
        for moment in moments:
            if moment.kind == "question" or (
                wanted != ENTRIES and moment.kind in _WORDS and b'"text"' not in line
            ):
                return self.read_plain(bytes(line))  # its words lie deeper, or it may be none
        return moments

    def read_plain(self, line: bytes) -> tuple[Moment, ...]:
        record = parse(line)
        if record is None or _is_bookkeeping(record):
            return ()
        normal = _normalised(record)
        brace = line.find(b"{", 1)
        if brace > 11 and line.startswith(_RESULT, brace - 11):
            normal.message = _A_RESULT
        moments = _moments(normal)
        if brace > 11 and _is_wordless(line, brace, line.find(b"{", brace + 1), len(line)):
            return tuple([moment for moment in moments if moment.kind not in _WORDS])
        return moments

    def usage(self, line: bytes) -> Usage | None:
        if b'"usage"' not in line:
            return None
        message = object_of((parse(line) or {}).get("message"))
        usage = object_of(message.get("usage"))
        model = text_of(message.get("model"))
        if not usage or not model or model == "<synthetic>":
            return None
        return Usage(
            model=model,
            id=text_of(message.get("id")),
            fresh=count_of(usage.get("input_tokens")),
            cache_read=count_of(usage.get("cache_read_input_tokens")),
            cache_write=count_of(usage.get("cache_creation_input_tokens")),
            output=count_of(usage.get("output_tokens")),
        )


def projects_folder(env: Environment) -> Path:
    return config_folder(env, "CLAUDE_CONFIG_DIR", ".claude") / "projects"


def folder_name(cwd: str) -> str:
    """The name that Claude Code gives the folder of a working directory. Different paths may share one."""
    units = cwd.encode("utf-16-le", "surrogatepass")
    codes = [int.from_bytes(units[i : i + 2], "little") for i in range(0, len(units), 2)]
    name = "".join(chr(code) if code < 128 and chr(code).isalnum() else "-" for code in codes)
    if len(name) <= _LONGEST_FOLDER:
        return name
    hashed = 0
    for code in codes:
        hashed = (hashed * 31 + code) & 0xFFFFFFFF
    if hashed >= 1 << 31:
        hashed -= 1 << 32
    return f"{name[:_LONGEST_FOLDER]}-{_base36(abs(hashed))}"


def _base36(number: int) -> str:
    digits = ""
    while number:
        number, rest = divmod(number, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[rest] + digits
    return digits or "0"


def _folders(projects: Path) -> list[Path]:
    try:
        return [Path(entry.path) for entry in os.scandir(projects) if entry.is_dir()]
    except OSError:
        return []


def _folders_of(projects: Path, cwd: str) -> list[Path]:
    name = folder_name(os.path.realpath(cwd))
    if len(name) <= _LONGEST_FOLDER:
        return [projects / name]
    return [
        folder for folder in _folders(projects) if folder.name[:_LONGEST_FOLDER] == name[:_LONGEST_FOLDER]
    ]


def _is_wordless(buffer: Buffer, brace: int, block: int, end: int) -> bool:
    """Whether a line, whose first inner braces are given, holds a tool's call or a thought and no text."""
    return (
        buffer.startswith(_WORDLESS, block - 12)
        and buffer.startswith(_MESSAGE, brace - 11)
        and buffer[brace + 2] != _R
        and buffer.find(b"}", brace, block) < 0
        and buffer.rfind(b'"text"', block, end) < 0
    )


def _is_bookkeeping(record: Record) -> bool:
    name, value = first_key(record)
    return "attachment" in record or (name == "type" and value not in _MESSAGE_TYPES)


def _normalised(record: Record) -> _Record:
    """A record of any shape as the fields that matter. What has the wrong type counts as absent."""
    message = record.get("message")
    return _Record(
        type=text_of(record.get("type")),
        message=_normalised_message(message) if isinstance(message, dict) else None,
        timestamp=record.get("timestamp"),
        is_meta=bool(record.get("isMeta")),
        is_compact_summary=bool(record.get("isCompactSummary")),
        is_api_error_message=bool(record.get("isApiErrorMessage")),
        subtype=text_of(record.get("subtype")),
        pending_background_agent_count=count_of(record.get("pendingBackgroundAgentCount")),
    )


def _normalised_message(message: Record) -> _Message:
    return _Message(
        content=_normalised_content(message.get("content")),
        id=text_of(message.get("id")),
        stop_reason=text_of(message.get("stop_reason")),
    )


def _normalised_content(content: object) -> str | list[_Block]:
    if not isinstance(content, list):
        return text_of(content)
    return [_normalised_block(block) for block in content if isinstance(block, dict)]


def _normalised_block(block: Record) -> _Block:
    kind, name, text = (text_of(block.get(key)) for key in ("type", "name", "text"))
    if kind == "tool_use" and name in _QUESTION_TOOLS:
        text = _question(object_of(block.get("input")))
    return _Block(type=kind, text=text, name=name, tool_use_id=block.get("tool_use_id", msgspec.UNSET))


def _question(asked: Record) -> str:
    questions = [text_of(object_of(question).get("question")) for question in list_of(asked.get("questions"))]
    return " ".join(filter(None, questions)) or text_of(asked.get("plan"))


def _moments(record: _Record) -> tuple[Moment, ...]:
    message = record.message
    if record.type == "system":
        return _system_moments(record)
    if message is None:
        return ()
    content = message.content
    blocks = [_Block("text", content)] if isinstance(content, str) else content
    at = millis(record.timestamp)
    for block in blocks:
        if block.tool_use_id is not msgspec.UNSET or block.type == "tool_result":
            return (Moment("tool_result", at),)
    if record.type == "assistant":
        return _assistant_moments(record, message, blocks, at)
    if record.type == "user" and not record.is_meta and not record.is_compact_summary:
        return _prompt_moments(" ".join([block.text for block in blocks if block.type == "text"]), at)
    return ()


def _system_moments(record: _Record) -> tuple[Moment, ...]:
    at = millis(record.timestamp)
    if record.subtype == "turn_duration":
        return (Moment("background" if record.pending_background_agent_count > 0 else "turn_ended", at),)
    if record.subtype == "api_error":
        return (Moment("api_error", at),)
    return ()


def _assistant_moments(
    record: _Record, message: _Message, blocks: list[_Block], at: int | None
) -> tuple[Moment, ...]:
    if record.is_api_error_message:
        words = " ".join([block.text for block in blocks if block.type == "text"])
        return (Moment("api_error", at, words, message.id),)
    moments: list[Moment] = []
    for block in blocks:
        if block.type == "text":
            moments.append(Moment("text", at, block.text, message.id))
        elif block.type == "tool_use":
            if block.name in _QUESTION_TOOLS:
                moments.append(Moment("question", at, block.text, message.id))
            else:
                moments.append(Moment("tool_call", at, block.name, message.id))
        elif block.type.endswith("thinking"):
            moments.append(Moment("thinking", at, "", message.id))
    if moments and message.stop_reason in _ENDS_A_TURN:
        moments.append(Moment("turn_ended", at))
    return tuple(moments)


def _prompt_moments(text: str, at: int | None) -> tuple[Moment, ...]:
    words = text.strip()
    if not words or words.startswith(_NOT_TYPED_BY_A_PERSON):
        return ()
    if words.startswith(_INTERRUPTED):
        return (Moment("interrupted", at),)
    if words.startswith(_BACKGROUND_WORK_FINISHED):
        return (Moment("turn_started", at),)
    return (Moment("prompt", at, words),)
