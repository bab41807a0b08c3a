"""Carries out what a play wants done: on the face, in the transcript, by hooks."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Generator
from typing import Protocol, assert_never

from maestro.testing.scripted_agent import effects
from maestro.testing.scripted_agent.beside import Beside, Hooks
from maestro.testing.scripted_agent.dialog import Answer, Asked
from maestro.testing.scripted_agent.files import TranscriptFile
from maestro.testing.scripted_agent.process import Child
from maestro.testing.scripted_agent.steps import Script


class Face(Protocol):
    """How the agent looks and listens: a terminal, or plain lines."""

    def show(self, block: effects.Block) -> None: ...
    def begin_turn(self) -> None: ...
    def end_turn(self, seconds: float, *, failed: bool) -> None: ...
    def put_back(self, text: str) -> None: ...
    def busy(self, deadline: float | None, child: Child | None, note: str) -> bool: ...
    def settle(self, child: Child, deadline: float) -> None: ...
    def rest(self, deadline: float) -> None: ...
    def ask(self, asked: Asked, beside: Beside) -> Answer: ...
    def await_prompt(self, beside: Beside) -> effects.Prompt | None: ...


class Drive:
    def __init__(self, face: Face, file: TranscriptFile, hooks: Hooks, speed: float, script: Script) -> None:
        self._face = face
        self._file = file
        self._hooks = hooks
        self._speed = speed
        self._script = script

    def play(self, scene: Generator[effects.Effect, effects.Reply, int]) -> int:
        """The whole play; its exit code."""
        reply: effects.Reply = None
        while True:
            try:
                effect = scene.send(reply)
            except StopIteration as end:
                code: int = end.value
                return code
            reply = self._perform(effect)

    def _perform(self, effect: effects.Effect) -> effects.Reply:
        match effect:
            case effects.Write(record):
                self._file.append(record)
            case effects.Show(block):
                self._face.show(block)
            case effects.BeginTurn():
                self._face.begin_turn()
            case effects.EndTurn(seconds, failed):
                self._face.end_turn(seconds, failed=failed)
            case effects.PutBack(text):
                self._face.put_back(text)
            case effects.Busy(seconds, note):
                return self._face.busy(self._in(seconds), None, note)
            case effects.Rest(seconds):
                self._face.rest(self._in(seconds))
            case effects.Execute(argv):
                with contextlib.closing(Child(argv)) as child:
                    return None if self._face.busy(None, child, "") else child.outcome()
            case effects.Hook():
                return self._run_hooks(effect)
            case effects.PutQuestion(asked, hook, notification):
                delay = self._script.notify_after * self._speed
                with contextlib.closing(Beside(self._hooks, asked, hook, notification, delay)) as beside:
                    return self._face.ask(asked, beside)
            case effects.AwaitPrompt(notification):
                delay = self._script.idle_after * self._speed
                with contextlib.closing(Beside(self._hooks, None, None, notification, delay)) as beside:
                    return self._face.await_prompt(beside)
            case _:
                assert_never(effect)
        return None

    def _run_hooks(self, hook: effects.Hook) -> effects.Outcome:
        printed: list[str] = []
        for child, deadline in self._hooks.started(hook):
            with contextlib.closing(child):
                self._face.settle(child, deadline)
                if child.ended():
                    printed.append(child.outcome().stdout)
        return effects.Outcome(0, "".join(printed), "")

    def _in(self, seconds: float) -> float:
        return time.monotonic() + seconds * self._speed
