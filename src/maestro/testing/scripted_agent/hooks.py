"""Hooks as Claude Code has them: which commands an event runs, what they are told, what their answer means. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from maestro.errors import InvalidInput
from maestro.testing.scripted_agent.dialog import Answer, Asked, Choice, Consent, PlanApproval, Several

DEFAULT_TIMEOUT = 60.0
PERMISSION_REQUEST = "PermissionRequest"


@dataclass(frozen=True)
class HookCommand:
    command: str
    timeout: float = DEFAULT_TIMEOUT


@dataclass(frozen=True)
class _Matched:
    event: str
    matcher: str
    command: HookCommand


@dataclass(frozen=True)
class HookSettings:
    """The hooks of a settings file."""

    entries: tuple[_Matched, ...] = ()

    @property
    def events(self) -> frozenset[str]:
        return frozenset(entry.event for entry in self.entries)

    def commands(self, event: str, matched: str) -> tuple[HookCommand, ...]:
        """What runs for an event; `matched` is the tool, the notification's kind, the start's source."""
        return tuple(
            entry.command
            for entry in self.entries
            if entry.event == event and _matches(entry.matcher, matched)
        )


def parse_settings(text: str) -> HookSettings:
    """The hooks in a settings file of Claude Code; everything else in it says nothing here."""
    try:
        settings = json.loads(text)
        entries = [
            _Matched(event, str(group.get("matcher", "")), _command(hook))
            for event, groups in settings.get("hooks", {}).items()
            for group in groups
            for hook in group["hooks"]
            if hook.get("type") == "command"
        ]
    except json.JSONDecodeError as fault:
        raise InvalidInput(f"the settings are not JSON: {fault.msg} at line {fault.lineno}.") from fault
    except (AttributeError, KeyError, TypeError, ValueError) as fault:
        raise InvalidInput("the settings' hooks are not in the form that Claude Code takes.") from fault
    return HookSettings(tuple(entries))


def _command(hook: Mapping[str, Any]) -> HookCommand:
    return HookCommand(str(hook["command"]), float(hook.get("timeout", DEFAULT_TIMEOUT)))


def _matches(matcher: str, matched: str) -> bool:
    if matcher in {"", "*"}:
        return True
    try:
        return re.fullmatch(matcher, matched) is not None
    except re.error:
        return matcher == matched


def injected(output: str) -> str:
    """What a hook at a start or a prompt puts before the model: a field of its JSON, or all that it printed."""
    try:
        told = json.loads(output)["hookSpecificOutput"]["additionalContext"]
    except json.JSONDecodeError:
        return output.strip()
    except (KeyError, TypeError):
        return ""
    return told if isinstance(told, str) else ""


def hook_answer(asked: Asked, output: str) -> Answer | None:
    """The answer that a PermissionRequest hook printed; none where it leaves the question to the person."""
    try:
        decision = json.loads(output)["hookSpecificOutput"]["decision"]
        behaviour = decision["behavior"]
    except (ValueError, KeyError, TypeError):
        return None
    if behaviour == "deny":
        is_consent = isinstance(asked, Consent)
        word = ("no",) if is_consent else ()
        return Answer(word, ends_turn=bool(decision.get("interrupt")), by=PERMISSION_REQUEST)
    return _allowed(asked, decision.get("updatedInput")) if behaviour == "allow" else None


def _allowed(asked: Asked, updated: Any) -> Answer | None:
    match asked:
        case Consent() | PlanApproval():
            return Answer(("yes",), by=PERMISSION_REQUEST)
        case Choice():
            questions: tuple[Choice, ...] = (asked,)
        case Several(parts):
            questions = parts
        case _:
            return None
    answers = updated.get("answers") if isinstance(updated, dict) else None
    if not isinstance(answers, dict):
        return None
    given = tuple((str(answers[one.question]),) for one in questions if one.question in answers)
    if len(given) < len(questions):
        return None
    return (
        Answer(given[0], by=PERMISSION_REQUEST)
        if len(given) == 1
        else Answer(parts=given, by=PERMISSION_REQUEST)
    )
