"""Codex CLI: what its hooks tell, and how they are given to one session. Pure.

Checked on 0.166.0. It runs only hooks that somebody trusted, by a digest of their definition. Hooks on its command line
count as a configuration of their own, and so does trust in them: with both, ours run in this session, nothing is
written down, and every other hook stays as trusted as it was. A version that made the digest otherwise would ask at
its start whether the hooks shall be trusted.

A PermissionRequest hook could allow or deny, but the dialog is not shown before it has ended: nobody in front of the
pane could answer. So it only tells.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Final

from maestro.agents.hooks import Happening, HookEvent, Payload, told_by
from maestro.agents.questions import Answer, Option, Question, several
from maestro.agents.records import Record, list_of, object_of, rest_of, text_of, words_in

_TELLS: Final = frozenset({"SessionStart", "UserPromptSubmit"})
ASKS: Final = "request_user_input"
_FREE_TEXT: Final = "None of the above"
EDITS: Final = "apply_patch"
_ASKED: Final = ("questions",)
_OPTION: Final = ("label", "description")
_PART: Final = ("id", "question", "header", "options", "isOther", "isSecret")
_TIMEOUT: Final = 30  # seconds; named, because the digest holds it
_TIMEOUT_AT_THE_END: Final = 3  # Codex lets a SessionEnd hook run no longer
_SESSION_FLAGS: Final = "/<session-flags>/config.toml"  # what Codex calls its command line


class Hooks:
    hook_events: tuple[HookEvent, ...] = (
        HookEvent("SessionStart", answers=True),
        HookEvent("UserPromptSubmit", answers=True),
        HookEvent("Stop"),
        HookEvent("PreCompact"),
        HookEvent("PostCompact"),
        HookEvent("SessionEnd"),
        HookEvent("PreToolUse", matcher=ASKS),
        HookEvent("PostToolUse", matcher=ASKS),
        HookEvent("PermissionRequest"),
    )
    no_session_hooks: str = ""

    def hook_settings(self, commands: Mapping[str, str]) -> Mapping[str, object]:
        events = [event for event in self.hook_events if event.name in commands]
        return {"hooks": {event.name: [_group(event, commands[event.name])] for event in events}}

    def read_hook(self, event: str, payload: Payload) -> Happening:
        return told_by(payload, _READERS.get(event, _other)(payload))

    def hook_context(self, event: str, text: str) -> bytes | None:
        """As it is: what such a hook prints is put before the model, unless it looks like JSON."""
        return text.encode() if event in _TELLS else None

    def hook_answer(self, event: str, payload: Payload, question: Question, answer: Answer) -> bytes | None:  # noqa: ARG002  # no hook of ours waits
        return None


def _group(event: HookEvent, command: str) -> Record:
    timeout = _TIMEOUT_AT_THE_END if event.name == "SessionEnd" else _TIMEOUT
    hooks = [{"type": "command", "command": command, "timeout": timeout}]
    return {"matcher": event.matcher, "hooks": hooks} if event.matcher else {"hooks": hooks}


def session_flags(settings: Mapping[str, object]) -> list[str]:
    """`hook_settings` as words of a command line, with the trust that lets them run."""
    flags: list[str] = []
    trusted: list[str] = []
    for event, groups in object_of(settings.get("hooks")).items():
        flags += ["--config", f"hooks.{event}={_toml(groups)}"]
        name = re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()
        for number, group in enumerate(list_of(groups)):
            key = f"{_SESSION_FLAGS}:{name}:{number}:0"
            trusted.append(f"{_toml(key)}={{trusted_hash={_toml(_digest(name, object_of(group)))}}}")
    return [*flags, "--config", f"hooks.state={{{','.join(trusted)}}}"] if flags else []


def _digest(event: str, group: Record) -> str:
    """What Codex knows a hook by: its definition as JSON, all defaults spelled out, keys in order."""
    hooks = [{"async": False, **object_of(hook)} for hook in list_of(group.get("hooks"))]
    identity = {**group, "event_name": event, "hooks": hooks}
    plain = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{sha256(plain.encode('utf-8', 'replace')).hexdigest()}"


def _toml(value: object) -> str:
    """TOML on one line: a string of it is written as a JSON string is, a table with equals signs."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}={_toml(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_toml(inner) for inner in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def _other(payload: Payload) -> Happening:
    del payload
    return Happening("other")


def _session_start(payload: Payload) -> Happening:
    source = text_of(payload.get("source"))
    return Happening("compacted" if source == "compact" else "session_started", source=source)


def _prompted(payload: Payload) -> Happening:
    return Happening("prompted", text=text_of(payload.get("prompt")))


def _stopped(payload: Payload) -> Happening:
    return Happening("turn_ended", text=text_of(payload.get("last_assistant_message")))


def _compacting(payload: Payload) -> Happening:
    return Happening("compacting", source=text_of(payload.get("trigger")))


def _compacted(payload: Payload) -> Happening:
    return Happening("compacted", source=text_of(payload.get("trigger")))


def _ended(payload: Payload) -> Happening:
    return Happening("session_ended", source=text_of(payload.get("reason")))


def _asked(payload: Payload) -> Happening:
    if text_of(payload.get("tool_name")) != ASKS:
        return Happening("other")
    question = question_of(object_of(payload.get("tool_input")))
    return Happening("asked", question=question, call_id=text_of(payload.get("tool_use_id")))


def question_of(given: Record) -> Question:
    """Returns what a call of `request_user_input` asks."""
    parts = tuple(_part(object_of(part)) for part in list_of(given.get("questions")))
    return several(parts, words_in(given, _ASKED))


def _part(part: Record) -> Question:
    options = [object_of(option) for option in list_of(part.get("options"))]
    numbered = tuple(
        Option(
            text_of(option.get("label")),
            text_of(option.get("description")),
            number,
            takes_notes=True,
            preview=words_in(option, _OPTION),
        )
        for number, option in enumerate(options, start=1)
    )
    free = Option(_FREE_TEXT, number=len(numbered) + 1, is_free_text=True)
    return Question(
        "choice",
        text_of(part.get("question")),
        (*numbered, free),
        header=text_of(part.get("header")),
        inputs=words_in(part, _PART),
    )


def _permission(payload: Payload) -> Happening:
    """Which options there are, only the screen tells: one for commands that start alike is not always there."""
    tool = text_of(payload.get("tool_name"))
    given = object_of(payload.get("tool_input"))
    command = text_of(given.get("command"))
    # The screen shows an edit in other words than the patch.
    detail, preamble = ("", command or words_in(given, ("description",))) if tool == EDITS else (command, "")
    question = Question(
        "permission",
        f"May it use {tool}?" if tool else "May it go on?",
        header=text_of(given.get("description")),
        preamble=preamble,
        tool=tool,
        detail=detail or (rest_of(given, ("description",)) if tool != EDITS else ""),
        inputs=rest_of(given, ("command", "description")) if command else "",
    )
    return Happening("asked", question=question)


def _answered(payload: Payload) -> Happening:
    return Happening("answered", call_id=text_of(payload.get("tool_use_id")))


_READERS: Final = {
    "SessionStart": _session_start,
    "UserPromptSubmit": _prompted,
    "Stop": _stopped,
    "PreCompact": _compacting,
    "PostCompact": _compacted,
    "SessionEnd": _ended,
    "PreToolUse": _asked,
    "PostToolUse": _answered,
    "PermissionRequest": _permission,
}
