"""The input box: what keys make of it, and what each CLI does with the first character and with haste. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from maestro.testing.scripted_agent.keys import Draft, Key
from maestro.testing.scripted_agent.steps import Imitated

QUIT_COMMANDS = frozenset({"/exit", "/quit"})
OWN_COMMANDS = QUIT_COMMANDS | {"/clear", "/compact", "/cost", "/help", "/model"}

_INVISIBLE = re.compile("[\u200b\u200e\u200f\u2060-\u2064\ufeff]")
_COMMAND = re.compile(r"/[A-Za-z][\w:-]*(?=\s|\Z)")


class BoxRules(NamedTuple):
    """What one CLI's box does of its own."""

    shell_by_paste: bool  # a paste that begins with ! switches to the shell, as typing it does
    shell_after_space: bool  # a space before the ! does not keep it from being one
    command_after_space: bool  # …nor does it keep a command that it knows from being one
    removes_invisible: bool  # characters that nobody sees are taken out, and Enter has to be pressed again
    trims: bool  # spaces around a prompt are not sent
    unknown_command: Literal["dropped", "kept", "sent"]  # what becomes of /words that it does not know
    is_ctrl_c_final: bool  # on an empty box, one Ctrl-C quits
    burst_length: int  # so many characters at once are taken for a paste…
    burst_gap: float  # …each within so many seconds of the last…
    after_burst: float  # …and Enter is part of it for so long
    after_any: float  # Enter so soon after any other key, or after a paste, is a new line
    joins_lines: bool  # C-u at the beginning of a line takes the line end before it
    sends_again: bool  # two Enters that it reads at once both send what the box held before the first


RULES: dict[Imitated, BoxRules] = {
    "claude": BoxRules(
        shell_by_paste=True, shell_after_space=False, command_after_space=True, removes_invisible=True, trims=False,
        unknown_command="dropped", is_ctrl_c_final=False,
        burst_length=0, burst_gap=0, after_burst=0, after_any=0, joins_lines=True, sends_again=False,
    ),
    "codex": BoxRules(
        shell_by_paste=True, shell_after_space=True, command_after_space=False, removes_invisible=False, trims=True,
        unknown_command="kept", is_ctrl_c_final=True,
        burst_length=3, burst_gap=0.008, after_burst=0.12, after_any=0, joins_lines=True, sends_again=False,
    ),
    "gemini": BoxRules(
        shell_by_paste=False, shell_after_space=False, command_after_space=True, removes_invisible=False, trims=True,
        unknown_command="sent", is_ctrl_c_final=False,
        burst_length=0, burst_gap=0, after_burst=0, after_any=0.04, joins_lines=False, sends_again=True,
    ),
}  # fmt: skip


class Tempo(NamedTuple):
    """When the last keys came: some CLIs take a hasty Enter for a part of what was pasted."""

    last_at: float = -1000.0
    last: str = ""
    burst: int = 0


def in_tempo(rules: BoxRules, tempo: Tempo, key: Key, at: float) -> tuple[Key, Tempo]:
    """The key as the CLI takes it that gets it at this time."""
    gap = at - tempo.last_at
    if key.name == "enter" and tempo.last:
        in_burst = 0 < rules.burst_length <= tempo.burst and gap <= rules.after_burst
        is_hasty = gap < rules.after_any and tempo.last != "enter"
        if in_burst or is_hasty:
            return Key("newline"), Tempo(at, "newline", tempo.burst)
    is_run = key.name == "text" and gap <= rules.burst_gap and tempo.last in {"text", "newline"}
    burst = tempo.burst + 1 if is_run else int(key.name == "text")
    return key, Tempo(at, key.name, burst)


@dataclass(frozen=True)
class Sent:
    text: str
    kind: Literal["prompt", "shell", "quit", "command"] = "prompt"  # only a prompt reaches the model


@dataclass(frozen=True)
class Box:
    draft: Draft = field(default_factory=Draft)
    is_shell: bool = False

    @property
    def is_empty(self) -> bool:
        return not self.draft.pieces

    def press(self, key: Key, rules: BoxRules) -> tuple[Box, Sent | None]:
        """The box after a key; what it sent, when the key submits."""
        if key.name == "enter":
            return self._submitted(rules)
        switches = key.name == "text" or (key.name == "paste" and rules.shell_by_paste)
        if switches and self.is_empty and not self.is_shell and key.text.startswith("!"):
            rest = key.text[1:]
            return Box(Draft((rest,)) if rest else Draft(), is_shell=True), None
        if self.is_empty and self.is_shell and key.name in {"backspace", "esc"}:
            return Box(), None
        if key.name == "ctrl-u" and rules.joins_lines and self.draft.text.endswith("\n"):
            key = Key("backspace")
        return replace(self, draft=self.draft.press(key)), None

    def _submitted(self, rules: BoxRules) -> tuple[Box, Sent | None]:
        raw = self.draft.text
        text = raw.strip()
        if not text:
            return self, None
        if rules.removes_invisible and _INVISIBLE.search(raw):  # it wants a second Enter then
            return replace(self, draft=Draft((_INVISIBLE.sub("", raw),))), None
        if self.is_shell:
            return Box(), Sent(text, "shell")
        if rules.shell_after_space and text.startswith("!") and raw[0].isspace():
            return Box(), Sent(text[1:].strip(), "shell")
        word = text.split()[0]
        if word in OWN_COMMANDS and (rules.command_after_space or raw.startswith("/")):
            return Box(), Sent(text, "quit" if word in QUIT_COMMANDS else "command")
        if not _COMMAND.match(raw) or rules.unknown_command == "sent":
            return Box(), Sent(text if rules.trims else raw.rstrip())
        return (self if rules.unknown_command == "kept" else Box()), Sent(text, "command")
