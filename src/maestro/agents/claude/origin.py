"""Claude Code: what shows which transcript a process of it writes. Pure.

Recorded on 2.1.325. It opens its transcript for each record and closes it again, so that no open file tells. `/clear`
begins another transcript; `/resume` goes on with the one that was chosen, and its screen shows that one's prompts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from maestro.agents.claude.layout import SIGN, layout
from maestro.agents.claude.transcript import Transcripts
from maestro.agents.origin import Origin, word_after
from maestro.agents.records import millis
from maestro.agents.screen import Capture, blocks_after

_TIME: Final = re.compile(rb'"timestamp":"([^"\\]{10,40})"')
_ENTRYPOINT: Final = re.compile(rb'"entrypoint":"([^"\\]{1,40})"')
_IN_A_TERMINAL: Final = b"cli"  # `sdk-cli` is `claude -p`; others are editors and programs that embed it


class Origins:
    def origin(self, head: bytes) -> Origin:
        time, entrypoint = _TIME.search(head), _ENTRYPOINT.search(head)
        return Origin(
            cwd=Transcripts().project(head),
            began=millis(time[1].decode("ascii", "replace")) if time else None,
            headless=entrypoint is not None and entrypoint[1] != _IN_A_TERMINAL,
        )

    def held_session(self, path: str) -> str:  # noqa: ARG002  # it holds no file of a session open
        return ""

    def named_session(self, argv: Sequence[str]) -> str:
        # A fork goes on from the session that is named, in one of its own.
        return "" if "--fork-session" in argv else word_after(argv, "--session-id", "--resume", "-r")

    def shown_prompts(self, capture: Capture) -> tuple[str, ...]:
        view = layout(capture)
        end = view.box.top if view.box is not None else view.dialog
        return blocks_after(f"{SIGN} ", view.lines[:end])
