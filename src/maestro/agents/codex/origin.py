"""Codex CLI: what shows which rollout a process of it writes. Pure.

Recorded on 0.166.0. It keeps its rollout open, and from its start a lock file with the thread's id, also those of the
threads before `/clear`, `/new` and `/resume`. Without `--no-daemon` a daemon does both, for all of them. Rollouts of all
folders lie together, by date.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from maestro.agents.codex.layout import SIGN, layout
from maestro.agents.codex.transcript import Transcripts
from maestro.agents.origin import Origin
from maestro.agents.records import millis
from maestro.agents.screen import Capture, blocks_after

_ID: Final = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_HELD: Final = re.compile(rf".*/(?:sessions/.*/rollout-.*|thread-writer-locks/)({_ID})\.(?:jsonl|lock)\Z")
_WHOLE_ID: Final = re.compile(rf"{_ID}\Z")
_SOURCE: Final = re.compile(rb'"source":("(?:[^"\\]|\\.)*"|\{)')
_PAYLOAD_TIME: Final = re.compile(rb'"payload":\{.{0,300}?"timestamp":"([^"\\]{10,40})"', re.DOTALL)
_TIME: Final = re.compile(rb'"timestamp":"([^"\\]{10,40})"')
_IN_A_TERMINAL: Final = b'"cli"'
_OF_TERMINAL: Final = b'"originator":"codex-tui"'


class Origins:
    def origin(self, head: bytes) -> Origin:
        first = head.split(b"\n", 1)[0]
        times = (found for pattern in (_PAYLOAD_TIME, _TIME) if (found := pattern.search(first)))
        source = _SOURCE.search(first)
        return Origin(
            cwd=Transcripts().project(first),
            began=next(filter(None, (millis(one[1].decode("ascii", "replace")) for one in times)), None),
            # `exec`, `mcp`, or a thread that another one started; its daemon calls a terminal's thread `vscode`.
            headless=source is not None and source[1] != _IN_A_TERMINAL and _OF_TERMINAL not in first,
        )

    def held_session(self, path: str) -> str:
        found = _HELD.match(path)
        return found[1] if found else ""

    def named_session(self, argv: Sequence[str]) -> str:
        words = list(argv)
        after = words[words.index("resume") + 1 :] if "resume" in words else []
        return next((word for word in after if _WHOLE_ID.match(word)), "")

    def shown_prompts(self, capture: Capture) -> tuple[str, ...]:
        view = layout(capture)
        return blocks_after(f"{SIGN} ", view.lines[: view.box])
