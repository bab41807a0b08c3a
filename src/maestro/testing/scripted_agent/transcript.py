"""Records in the format of Claude Code's transcript, and the name of the file for them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

from maestro.testing.scripted_agent.steps import Ask, Option, Usage

FORMAT_VERSION = "2.1.325"
LONGEST_FOLDER_NAME = 200
REJECTED = "The user rejected this tool use."
NOT_RUN = "(the scripted agent runs nothing that is typed)"

Record: TypeAlias = dict[str, Any]

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def project_folder_name(cwd: str) -> str:
    """The folder name for a working directory: all but ASCII letters and digits becomes `-`."""
    units = cwd.encode("utf-8", "surrogateescape").decode("utf-8", "replace").encode("utf-16-be")
    codes = [int.from_bytes(units[place : place + 2], "big") for place in range(0, len(units), 2)]
    name = "".join(chr(code) if code < 128 and chr(code).isalnum() else "-" for code in codes)
    if len(name) <= LONGEST_FOLDER_NAME:
        return name
    signed = 0
    for code in codes:
        signed = (signed * 31 + code) & 0xFFFFFFFF
    number = 2**32 - signed if signed >= 2**31 else signed
    return f"{name[:LONGEST_FOLDER_NAME]}-{_base36(number)}"


def _base36(number: int) -> str:
    digits = _DIGITS[number % 36]
    while number := number // 36:
        digits = _DIGITS[number % 36] + digits
    return digits


def transcript_path(config_dir: Path, cwd: str, session_id: str) -> Path:
    return config_dir / "projects" / project_folder_name(cwd) / f"{session_id}.jsonl"


@dataclass(frozen=True)
class SessionFacts:
    session_id: str
    cwd: str
    git_branch: str
    model: str
    interactive: bool


class Transcript:
    """Builds the records of one session, each linked to the one before; writes nothing."""

    def __init__(
        self, facts: SessionFacts, *, new_id: Callable[[], str], now: Callable[[], datetime]
    ) -> None:
        self._facts = facts
        self._new_id = new_id
        self._now = now
        self._tip: str | None = None
        self._before_prompt: str | None = None
        self._prompt_id = new_id()
        self._prompts = 0
        self._linked = 0
        self._message: tuple[str, str] | None = None
        self._blocks = 0

    def opening(self) -> tuple[Record, ...]:
        """What the real CLI writes before the first prompt of an interactive session; it carries no time."""
        session = {"sessionId": self._facts.session_id}
        return (
            {"type": "mode", "mode": "normal", **session},
            {"type": "permission-mode", "permissionMode": "default", **session},
        )

    def enqueued(self, text: str) -> Record:
        return {**self._queue_operation("enqueue"), "content": text}

    def dequeued(self) -> Record:
        return self._queue_operation("dequeue")

    def prompt(self, text: str) -> Record:
        self.close_message()
        self._prompt_id = self._new_id()
        self._prompts += 1
        self._before_prompt = self._tip
        origin: Record = {"promptSource": "sdk", "turnOrigin": "sdk"}
        if self._facts.interactive:
            origin = {"origin": {"kind": "human"}, "promptSource": "typed", "turnOrigin": "human"}
        position = {"promptIndex": self._prompts, "turnIndex": self._prompts}
        body = {"permissionMode": "default", **origin, "turnPosition": position}
        return self._user(text, **body)

    @property
    def prompt_id(self) -> str:
        return self._prompt_id

    def shell_command(self, command: str) -> tuple[Record, Record]:
        """What the real CLI writes when the user runs a command in its shell mode; this one runs nothing."""
        self.close_message()
        asked = self._user(f"<bash-input>{command}</bash-input>")
        output = f"<bash-stdout>{NOT_RUN}</bash-stdout><bash-stderr></bash-stderr>"
        return asked, self._user(output)

    def forget_prompt(self) -> None:
        """The prompt went back into the box: what comes next is linked to what came before it."""
        self._tip = self._before_prompt

    def said(self, block: Record, *, usage: Usage, stop_reason: str) -> Record:
        """One block of the assistant's message; blocks share the message's id until it is closed."""
        if self._message is None:
            self._message = (f"msg_{_compact(self._new_id())}", f"req_{_compact(self._new_id())}")
            self._blocks = 0
        message_id, request_id = self._message
        message = {
            "id": message_id,
            "type": "message",
            "role": "assistant",
            "model": self._facts.model,
            "content": [block],
            "stop_reason": stop_reason,
            "stop_sequence": None,
            "usage": _usage(usage),
        }
        index = self._blocks
        self._blocks += 1
        return self._linked_record(
            "assistant", message=message, apiBlockIndex=index, requestId=request_id, madeBy="model"
        )

    def tool_use(self, name: str, tool_input: Mapping[str, Any], *, usage: Usage) -> Record:
        block = {
            "type": "tool_use",
            "id": f"toolu_{_compact(self._new_id())}",
            "name": name,
            "input": dict(tool_input),
        }
        record = self.said(block, usage=usage, stop_reason="tool_use")
        self.close_message()
        return record

    def tool_result(self, use: Record, content: str, *, is_error: bool, details: Any, **extra: Any) -> Record:
        """What the tool call in the record `use` gave."""
        block = {
            "tool_use_id": use["message"]["content"][0]["id"],
            "type": "tool_result",
            "content": content,
            "is_error": is_error,
        }
        return self._user([block], toolUseResult=details, sourceToolAssistantUUID=use["uuid"], **extra)

    def rejected(self, use: Record, words: str = "") -> Record:
        said = f"{REJECTED} The user said: {words}" if words else REJECTED
        return self.tool_result(
            use, said, is_error=True, details="User rejected tool use", toolDenialKind="user-rejected"
        )

    def interrupted(self, *, in_tool: bool) -> Record:
        self.close_message()
        text = "[Request interrupted by user for tool use]" if in_tool else "[Request interrupted by user]"
        return self._user([{"type": "text", "text": text}])

    def api_error(self, text: str, *, status: int, error: str, kind: str) -> Record:
        self.close_message()
        message = {
            "id": self._new_id(),
            "type": "message",
            "role": "assistant",
            "model": "<synthetic>",
            "content": [{"type": "text", "text": text}],
            "stop_reason": "stop_sequence",
            "stop_sequence": "",
            "usage": _usage(Usage(0, 0, 0, 0)),
        }
        return self._linked_record(
            "assistant",
            message=message,
            error=error,
            isApiErrorMessage=True,
            apiErrorStatus=status,
            apiErrorType=kind,
            madeBy="model",
        )

    def turn_duration(self, seconds: float) -> Record:
        self.close_message()
        return self._linked_record(
            "system",
            subtype="turn_duration",
            durationMs=round(seconds * 1000),
            messageCount=self._linked + 1,
            isMeta=False,
        )

    def injected(self, event: str, matched: str, text: str) -> Record:
        """What a hook put before the model."""
        name = f"{event}:{matched}" if matched else event
        told = {"type": "hook_additional_context", "hookName": name, "hookEvent": event, "content": [text]}
        return self._linked_record("attachment", attachment=told)

    def compacted(self, trigger: str) -> Record:
        self.close_message()
        self._tip = None
        return self._linked_record(
            "system",
            subtype="compact_boundary",
            content="Conversation compacted",
            level="info",
            compactMetadata={"trigger": trigger},
        )

    def close_message(self) -> None:
        self._message = None

    def _user(self, content: Any, **body: Any) -> Record:
        message = {"role": "user", "content": content}
        return self._linked_record("user", promptId=self._prompt_id, message=message, **body)

    def _linked_record(self, kind: str, **body: Any) -> Record:
        parent, self._tip = self._tip, self._new_id()
        self._linked += 1
        return {
            "parentUuid": parent,
            "isSidechain": False,
            "type": kind,
            **body,
            "uuid": self._tip,
            "timestamp": iso(self._now()),
            "userType": "external",
            "entrypoint": "cli" if self._facts.interactive else "sdk-cli",
            "cwd": self._facts.cwd,
            "sessionId": self._facts.session_id,
            "version": FORMAT_VERSION,
            "gitBranch": self._facts.git_branch,
        }

    def _queue_operation(self, operation: str) -> Record:
        return {
            "type": "queue-operation",
            "operation": operation,
            "timestamp": iso(self._now()),
            "sessionId": self._facts.session_id,
        }


def question_input(asks: tuple[Ask, ...]) -> Record:
    return {"questions": [_question(ask) for ask in asks]}


def _question(ask: Ask) -> Record:
    options = [_option(option) for option in ask.options]
    return {"question": ask.question, "header": ask.header, "multiSelect": ask.multi, "options": options}


def _option(option: Option) -> Record:
    preview = {"preview": option.preview} if option.preview else {}
    return {"label": option.label, "description": option.description, **preview}


def iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _compact(identifier: str) -> str:
    return identifier.replace("-", "")[:24]


def _usage(usage: Usage) -> Record:
    by_age = {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": usage.cache_creation_input_tokens}
    return {**asdict(usage), "cache_creation": by_age, "service_tier": "standard"}
