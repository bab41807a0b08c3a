"""Transcripts in Claude Code's format, as large and as noisy as real ones, with words of our own."""

from __future__ import annotations

import json
import random
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
_WORDS = """the parser reads each line from its end and keeps only what a person would want to know about it
while tests run in the background and the build waits for a lock that another process holds now""".split()  # noqa: SIM905  # prose is easier to read than a list


def write_session(path: Path, size: int, seed: int) -> None:
    """One session of about `size` bytes: turns of text, tool calls, results and bookkeeping."""
    chance = random.Random(seed)
    session = str(uuid.UUID(int=chance.getrandbits(128)))
    when = NOW - timedelta(hours=2)
    written = 0
    with path.open("wb") as file:
        while written < size:
            for record in _turn(chance, session, when):
                line = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
                written += file.write(line)
            when += timedelta(seconds=40)


def _turn(chance: random.Random, session: str, when: datetime) -> list[dict[str, Any]]:
    records = []
    if chance.random() < 0.15:
        records.append(_user(chance, session, when, _prose(chance, 12)))
        shape = {"system": _prose(chance, 800), "tools": _tools(chance, 20)}
        records.append(_bookkeeping("api-request-shape", session, shapeHash="0" * 64, shape=shape))
    message = "msg_" + "".join(chance.choices("0123456789abcdef", k=20))
    records.append(_assistant(chance, session, when, message, {"type": "text", "text": _prose(chance, 30)}))
    for _ in range(chance.randint(0, 4)):
        records += _tool_use(chance, session, when, message)
    if chance.random() < 0.3:
        records.append(_snapshot(chance, session, when))
    return records


def _tool_use(chance: random.Random, session: str, when: datetime, message: str) -> list[dict[str, Any]]:
    tool = "toolu_" + "".join(chance.choices("0123456789abcdef", k=20))
    call = {"type": "tool_use", "id": tool, "name": "Read", "input": {"file_path": _prose(chance, 6)}}
    output = _code(chance, chance.choice((2, 10, 40, 120)))
    result = {"tool_use_id": tool, "type": "tool_result", "content": output, "is_error": False}
    details = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
    request = {"model": "claude-opus-5-5", "max_tokens": 128000, "thinking": {"type": "adaptive"}}
    blocks = [{"path": ["messages", number], "value": {"type": "ephemeral"}} for number in range(8)]
    return [
        _assistant(chance, session, when, message, call),
        _user(chance, session, when, [result], toolUseResult=details),
        _bookkeeping("api-request", session, id=_id(chance), params=request, cacheControl=blocks),
        _bookkeeping("last-prompt", session, lastPrompt=_prose(chance, 8), leafUuid=_id(chance)),
    ]


def _code(chance: random.Random, lines: int) -> str:
    """Output of a tool: short lines with quotes and indents, as source has them."""
    return "\n".join(
        f'{number:6}\t    call("{chance.choice(_WORDS)}", {{"{chance.choice(_WORDS)}": {number}}})'
        for number in range(lines)
    )


def _tools(chance: random.Random, count: int) -> list[dict[str, Any]]:
    """Tool descriptions with their schemas: what most bytes of a real transcript are."""
    return [
        {
            "name": f"Tool{number}",
            "description": _prose(chance, 120),
            "input_schema": {
                "type": "object",
                "properties": {
                    word: {
                        "type": "string",
                        "description": _prose(chance, 9),
                        "enum": chance.choices(_WORDS, k=4),
                    }
                    for word in chance.choices(_WORDS, k=8)
                },
                "required": chance.choices(_WORDS, k=2),
                "additionalProperties": False,
            },
        }
        for number in range(count)
    ]


def _prose(chance: random.Random, words: int) -> str:
    text = " ".join(chance.choices(_WORDS, k=words))
    middle = len(text) // 2
    return f"{text[:middle]}. {text[middle:]}\n".capitalize()


def _id(chance: random.Random) -> str:
    return str(uuid.UUID(int=chance.getrandbits(128)))


def _tail(chance: random.Random, session: str, when: datetime) -> dict[str, Any]:
    return {
        "uuid": _id(chance),
        "timestamp": when.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "userType": "external",
        "entrypoint": "cli",
        "cwd": "/home/someone/project",
        "sessionId": session,
        "version": "2.1.325",
        "gitBranch": "main",
    }


def _head(chance: random.Random) -> dict[str, Any]:
    return {"parentUuid": _id(chance), "isSidechain": False}


def _user(
    chance: random.Random, session: str, when: datetime, content: object, **more: object
) -> dict[str, Any]:
    message = {"role": "user", "content": content}
    head = {**_head(chance), "promptId": _id(chance), "type": "user", "message": message}
    return {**head, **_tail(chance, session, when), **more}


def _assistant(
    chance: random.Random, session: str, when: datetime, message: str, block: dict[str, Any]
) -> dict[str, Any]:
    usage = {
        "input_tokens": 1200,
        "cache_creation_input_tokens": 77,
        "cache_read_input_tokens": 30000,
        "output_tokens": 45,
        "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
        "service_tier": "standard",
        "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0},
    }
    body = {
        "id": message,
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-5-5",
        "content": [block],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": usage,
        "stop_details": None,
    }
    head = {**_head(chance), "message": body, "requestId": "req_" + _id(chance), "type": "assistant"}
    return {**head, **_tail(chance, session, when), "effort": "medium", "madeBy": "model"}


def _snapshot(chance: random.Random, session: str, when: datetime) -> dict[str, Any]:
    prompt = [_prose(chance, 200) for _ in range(5)]
    attachment = {"type": "prompt_snapshot", "systemPrompt": prompt, "tools": _tools(chance, 25)}
    return {**_head(chance), "attachment": attachment, "type": "attachment", **_tail(chance, session, when)}


def _bookkeeping(kind: str, session: str, **more: object) -> dict[str, Any]:
    return {"type": kind, "sessionId": session, **more}
