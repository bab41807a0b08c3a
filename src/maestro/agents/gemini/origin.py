"""Gemini CLI: what shows which chat log a process of it writes. Pure.

Recorded on 0.61.0. It holds no log open, and its log does not say whether it had a terminal. A log begins when the CLI
is ready, before the first prompt; `/clear` begins another one.
"""

from __future__ import annotations

from collections.abc import Sequence

from maestro.agents.gemini.layout import layout
from maestro.agents.origin import Origin, word_after
from maestro.agents.records import millis, parse, text_of
from maestro.agents.screen import Capture, blocks_after


class Origins:
    def origin(self, head: bytes) -> Origin:
        first = parse(head.split(b"\n", 1)[0]) or {}
        return Origin(began=millis(text_of(first.get("startTime"))))

    def held_session(self, path: str) -> str:  # noqa: ARG002  # it holds no file of a session open
        return ""

    def named_session(self, argv: Sequence[str]) -> str:
        return word_after(argv, "--session-id", "--resume", "-r")

    def shown_prompts(self, capture: Capture) -> tuple[str, ...]:
        view = layout(capture)
        end = view.rule if view.box is not None else view.frame_at
        return blocks_after(" > ", view.lines[:end])
