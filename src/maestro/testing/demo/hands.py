"""The two who keep the workers going: `maestro coordinate` as a process of its own, and a person at a shell."""

from __future__ import annotations

import contextlib
import os
import queue
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from typing import Final

from maestro.dispatch.places import state_folder
from maestro.errors import MaestroError
from maestro.testing.demo.audience import Spoken
from maestro.testing.demo.stage import FLEET

_NOTICING_SECONDS: Final = 1.0
_READING_SECONDS: Final = 5.0
_END_SECONDS: Final = 10.0
# What the person answers to the one question that is theirs.
_ANSWER: Final = "2"


def _command(*words: str) -> list[str]:
    return [sys.executable, "-m", "maestro", *words]


def _now() -> int:
    return int(time.time() * 1000)


class Coordinator:
    """A real `maestro coordinate`; it ends by itself when all workers are done."""

    def __init__(self, env: Mapping[str, str], place: str) -> None:
        self.debrief_path = os.path.join(state_folder(place, env), "coordinate", "oversight", "DEBRIEF.md")
        self._process = subprocess.Popen(
            _command("coordinate", "--fleet", FLEET),
            env=dict(env),
            cwd=place,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._lines: queue.SimpleQueue[Spoken] = queue.SimpleQueue()
        self._ear = threading.Thread(target=self._listen, daemon=True)
        self._ear.start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(Spoken(_now(), "coordinator", line.rstrip()))

    def said(self) -> list[Spoken]:
        """What it said since the last look."""
        said: list[Spoken] = []
        with contextlib.suppress(queue.Empty):
            while True:
                said.append(self._lines.get_nowait())
        return said

    def is_over(self) -> bool:
        """Whether it has ended, as it should."""
        if self._process.poll() is None:
            return False
        self._ear.join()
        if self._process.returncode != 0:
            words = " ".join(line.text for line in self.said())
            raise MaestroError(
                f"The demo's coordinator ended with {self._process.returncode}: {words}",
                hint="Run `maestro doctor`, and the demo again.",
            )
        return True

    def end(self) -> None:
        """Whatever happened, it does not outlive the demo."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._ear.join()
        if self._process.stdout is not None:
            self._process.stdout.close()


class Person:
    """Somebody who does something else, looks into the inbox when told to, and answers."""

    def __init__(self, env: Mapping[str, str], place: str) -> None:
        self._env = dict(env)
        self._place = place
        self._said: list[Spoken] = []
        self._due: list[tuple[float, tuple[str, ...]]] = []

    def notice(self, escalation_id: str) -> None:
        """There is something in the inbox: look at it soon, and answer when it is read."""
        now = time.monotonic()
        self._due = [
            (now + _NOTICING_SECONDS, ("inbox", "show", escalation_id)),
            (now + _NOTICING_SECONDS + _READING_SECONDS, ("answer", escalation_id, _ANSWER)),
        ]

    def act(self) -> None:
        """Do what is due."""
        while self._due and time.monotonic() >= self._due[0][0]:
            self.run(*self._due.pop(0)[1])

    def remark(self, text: str) -> None:
        """What a person would note beside their commands."""
        self._say(f"# {text}")

    def run(self, *words: str) -> None:
        """One command at the shell, with what it prints."""
        self._say(f"$ maestro {shlex.join(words)}")
        done = subprocess.run(
            _command(*words),
            env=self._env,
            cwd=self._place,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise MaestroError(
                f"The demo ran `maestro {shlex.join(words)}`: {done.stderr.strip()}",
                hint="Run `maestro doctor`, and the demo again.",
            )
        for line in done.stdout.splitlines():
            self._say(line)

    def said(self) -> list[Spoken]:
        """What was seen at the shell since the last look."""
        said, self._said = self._said, []
        return said

    def _say(self, line: str) -> None:
        self._said.append(Spoken(_now(), "you", line))
