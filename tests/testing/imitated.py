"""A dialog of an imitated CLI in memory: its screen as the adapters see it, and keys as tmux would send them."""

from __future__ import annotations

from dataclasses import replace

from maestro.agents.questions import Answer as Wanted
from maestro.agents.screen import Screen, captured
from maestro.agents.terminal import Cannot, Step, Terminal
from maestro.testing.scripted_agent.box import RULES, Sent, Tempo, in_tempo
from maestro.testing.scripted_agent.dialog import Answer, Asked
from maestro.testing.scripted_agent.effects import Block
from maestro.testing.scripted_agent.keys import Key
from maestro.testing.scripted_agent.render import LOOKS, render
from maestro.testing.scripted_agent.screen import Frame, ScreenState
from maestro.testing.scripted_agent.steps import Imitated

MOST_STEPS = 40
NAMES = {
    "Enter": "enter", "Escape": "esc", "Up": "up", "Down": "down", "Left": "left", "Right": "right", "Tab": "tab",
    "BTab": "btab", "C-u": "ctrl-u", "C-c": "ctrl-c", "BSpace": "backspace", "C-e": "end",
}  # fmt: skip
SAID = (Block("prompt", "do it"), Block("text", "One question first."))


def key_named(name: str) -> Key:
    return Key(NAMES[name]) if name in NAMES else Key("text", name)


def typed(text: str) -> list[Key]:
    return [Key("text", character) for character in text]


class Imitation:
    """An agent that shows one state, and takes keys at a pace."""

    def __init__(self, imitate: Imitated, adapter: Terminal, **state: object) -> None:
        self.adapter = adapter
        self.state = ScreenState("fixer", "/home/dev/proj", imitate=imitate, blocks=SAID)
        self.state = replace(self.state, **state)  # type: ignore[arg-type]  # the test names its fields
        self.answer: Answer | None = None
        self.sent: list[Sent] = []
        self._tempo = Tempo()
        self._clock = 0.0

    @property
    def frame(self) -> Frame:
        return render(self.state, 120, 40)

    def read(self) -> Screen:
        frame = self.frame
        return self.adapter.read_screen(captured("\n".join(frame.lines), title=frame.title))

    def ask(self, asked: Asked) -> Screen:
        self.answer = None
        self.state = replace(self.state, dialog=LOOKS[self.state.imitate].open(asked))
        return self.read()

    def press(self, *keys: Key, gap: float = 1.0) -> None:
        for key in keys:
            self._clock += gap
            taken, self._tempo = in_tempo(RULES[self.state.imitate], self._tempo, key, self._clock)
            self._take(taken)

    def _take(self, key: Key) -> None:
        if self.state.dialog is None:
            box, sent = self.state.box.press(key, RULES[self.state.imitate])
            self.state = replace(self.state, box=box)
            self.sent += [sent] if sent is not None else []
            return
        after = LOOKS[self.state.imitate].press(self.state.dialog, key)
        if isinstance(after, Answer):
            self.answer = after
            self.state = replace(self.state, dialog=None)
        else:
            self.state = replace(self.state, dialog=after)

    def settle(self, wanted: Wanted) -> Answer | Cannot:
        """Step by step, as typing does: read the screen, decide, press; the screen must change each time."""
        for _ in range(MOST_STEPS):
            step = self.adapter.answer_step(self.read(), wanted)
            if isinstance(step, Cannot):
                return step
            before = self.frame
            self.carry_out(step)
            if self.answer is not None:
                return self.answer
            assert self.frame != before, f"{step} changed nothing:\n" + "\n".join(before.lines)
        raise AssertionError(f"no answer after {MOST_STEPS} steps:\n" + "\n".join(self.frame.lines))

    def carry_out(self, step: Step) -> None:
        if step.text:
            self.press(Key("paste", step.text))
        for name in step.keys:
            self.press(key_named(name))
            if self.state.dialog is None:
                break
