"""Gemini CLI: the calls that its chat log tells of. Pure.

Recorded on 0.61.0. A message is written again with each of its calls that is over; a patch restates all of them, and
tells nothing new.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from maestro.agents.gemini.hooks import ASKS, PLANS, question_of
from maestro.agents.questions import Question
from maestro.agents.records import Record, list_of, object_of, parse, text_of
from maestro.agents.terminal import Call

_OVER: Final = frozenset({"success", "error", "cancelled"})


class Calls:
    def calls(self, line: bytes) -> Sequence[Call]:
        if b'"toolCalls"' not in line and b'"functionResponse"' not in line:
            return ()
        record = parse(line) or {}
        found = [
            Call(text_of(call.get("id")), _asked(call), text_of(call.get("status")) in _OVER)
            for call in map(object_of, list_of(record.get("toolCalls")))
        ]
        answers = (object_of(part).get("functionResponse") for part in list_of(record.get("content")))
        return [*found, *(Call(text_of(object_of(one).get("id")), is_over=True) for one in answers if one)]


def _asked(call: Record) -> Question:
    name, given = text_of(call.get("name")), object_of(call.get("args"))
    if name == ASKS:
        return question_of(given)
    if name == PLANS:
        return Question("plan", "")
    return Question("permission", "", tool=name, detail=text_of(given.get("command")))
