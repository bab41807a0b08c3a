"""The screen in the looks of the CLI that is imitated. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from maestro.testing.scripted_agent import (
    claude_dialogs,
    claude_screen,
    codex_dialogs,
    codex_screen,
    gemini_dialogs,
    gemini_screen,
)
from maestro.testing.scripted_agent.dialog import Answer, Asked, Dialog
from maestro.testing.scripted_agent.keys import Key
from maestro.testing.scripted_agent.screen import Frame, ScreenState
from maestro.testing.scripted_agent.steps import Imitated


class Look(NamedTuple):
    """One CLI's dialogs and screens."""

    open: Callable[[Asked], Dialog]
    press: Callable[[Dialog, Key], Dialog | Answer]
    render: Callable[[ScreenState, int, int], Frame]
    marks: Mapping[str, str]


LOOKS: dict[Imitated, Look] = {
    "claude": Look(claude_dialogs.opened, claude_dialogs.press, claude_screen.render, claude_screen.MARKS),
    "codex": Look(codex_dialogs.opened, codex_dialogs.press, codex_screen.render, codex_screen.MARKS),
    "gemini": Look(gemini_dialogs.opened, gemini_dialogs.press, gemini_screen.render, gemini_screen.MARKS),
}


def render(state: ScreenState, width: int, height: int) -> Frame:
    frame = LOOKS[state.imitate].render(state, width, height)
    if state.imitate == "claude":
        return frame
    # All scripted agents go by one name: the mark at the title's end tells which CLI's screen this is.
    return replace(frame, title=f"{frame.title} · scripted {state.imitate}")
