"""Codex CLI: the calls that its rollout tells of. Pure.

Recorded on 0.166.0. A call is written when it is made, before its dialog; its output when it is over.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from maestro.agents.codex.hooks import ASKS, EDITS, question_of
from maestro.agents.questions import Question
from maestro.agents.records import Record, object_of, parse, text_of
from maestro.agents.terminal import Call

_MADE: Final = frozenset({"function_call", "custom_tool_call"})
_OVER: Final = frozenset({"function_call_output", "custom_tool_call_output", "verified_answer"})


class Calls:
    def calls(self, line: bytes) -> Sequence[Call]:
        if b'"call_id"' not in line:
            return ()
        payload = object_of((parse(line) or {}).get("payload"))
        kind, call_id = text_of(payload.get("type")), text_of(payload.get("call_id"))
        if kind in _MADE:
            return (Call(call_id, _asked(payload)),)
        return (Call(call_id, is_over=True),) if kind in _OVER else ()


def _asked(payload: Record) -> Question:
    name = text_of(payload.get("name"))
    given = parse(text_of(payload.get("arguments")).encode("utf-8", "replace")) or {}
    if name == ASKS:
        return question_of(given)
    # The screen shows an edit in other words than the patch.
    command = "" if name == EDITS else text_of(given.get("cmd")) or text_of(given.get("command"))
    return Question("permission", "", tool=name, detail=command)
