"""Claude Code: the calls that its transcript tells of. Pure.

A question and a plan are written when they are answered, with their result; another call when it is made.
"""

from __future__ import annotations

from collections.abc import Sequence

from maestro.agents.claude.hooks import question_of
from maestro.agents.records import list_of, object_of, parse, text_of
from maestro.agents.terminal import Call


class Calls:
    def calls(self, line: bytes) -> Sequence[Call]:
        if b'"tool_' not in line:
            return ()
        message = object_of((parse(line) or {}).get("message"))
        found: list[Call] = []
        for block in map(object_of, list_of(message.get("content"))):
            if block.get("type") == "tool_use":
                asked = question_of(text_of(block.get("name")), object_of(block.get("input")))
                found.append(Call(text_of(block.get("id")), asked))
            elif block.get("type") == "tool_result":
                found.append(Call(text_of(block.get("tool_use_id")), is_over=True))
        return found
