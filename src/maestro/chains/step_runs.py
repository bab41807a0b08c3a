"""The runs that a chain's steps and reviews are: begun in a process of their own, found again, waited for, ended."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

import msgspec

from maestro import confined, processes
from maestro.chains import Catalogue
from maestro.dispatch import delegate, places
from maestro.dispatch.run import Ready, ask_to_end, has_runner, identity_of, look, this_process
from maestro.dispatch.runs import RUN_FILE, STDOUT_FILE, RunResult, RunSeen
from maestro.redact import clean, redact

_LOOK_SECONDS: Final = 0.3
_STARTING_SECONDS: Final = 0.05
_ENDING_SECONDS: Final = 30.0
_TAIL: Final = 64 * 1024


class Setting(NamedTuple):
    """Where a chain runs, and with what."""

    root: str
    state_folder: str
    catalogue: Catalogue
    template: str
    executor: str  # where neither the person nor the command names one
    env: Mapping[str, str]
    start: Callable[[str], int]  # starts the process that carries out the run of a folder
    tells_session: bool = False  # each step's end is a prompt to the session that asked

    @property
    def named_state(self) -> str:
        """The state folder as agents name it."""
        return os.path.relpath(self.state_folder, self.root)


class StepRuns:
    def __init__(self, setting: Setting) -> None:
        self.setting = setting

    def is_free(self, run_id: str) -> bool:
        return bool(run_id) and not confined.exists(os.path.join(self.setting.state_folder, "runs", run_id))

    def free_id(self, prefix: str, number: int) -> str:
        """A folder may be there that a process died over before it could write anything into it."""
        while not self.is_free(f"{prefix}{number}"):
            number += 1
        return f"{prefix}{number}"

    def hand_over(self, prepared: Ready, prompt: bytes, *, review: bool = False) -> RunSeen:
        if review or not self.setting.tells_session:
            # Where this process is waited for, the session that asked is not to be told of every step besides; and
            # of reviews never.
            prepared = prepared._replace(run=msgspec.structs.replace(prepared.run, asked_by=""))
        places.prepare(self.setting.root, self.setting.env)
        delegate.hand_over(prepared, prompt, self.setting.start)
        return look(prepared.folder)

    def found(self, run_id: str) -> RunSeen | None:
        """The run of this id, if it ever began."""
        folder = os.path.join(self.setting.state_folder, "runs", run_id)
        return look(folder) if confined.exists(os.path.join(folder, RUN_FILE)) else None

    def awaited(self, seen: RunSeen, said: Callable[[str], None]) -> RunResult | None:
        """Its result, when it has one; None where its process died without. `said` hears its last line."""
        last = ""
        seen = self._taken_up(seen)
        while seen.state == "running":
            words = last_words(seen, self.setting.env)
            if words and words != last:
                last = words
                said(words)
            seen = delegate.wait_for(seen, _LOOK_SECONDS)
        if seen.state != "interrupted":
            return seen.result
        # Its process may be just about to begin, for one that died meanwhile. With a result on record it will not; if
        # it is there already, it is waited for.
        runner = delegate.cancel_run(seen).run.runner
        if runner is None or runner == seen.run.runner:
            return None
        while processes.is_same(identity_of(runner)):
            processes.wait_for_end(runner.pid, _LOOK_SECONDS)
        return look(seen.folder).result

    def _taken_up(self, seen: RunSeen) -> RunSeen:
        """Whoever began it may have died before its process could say who it is: then it looks dead and is starting."""
        while seen.state == "interrupted" and has_runner(seen.folder):
            time.sleep(_STARTING_SECONDS)
            seen = look(seen.folder)
        return seen

    def end(self, run_id: str) -> None:
        seen = self.found(run_id)
        if seen is None:
            return
        if seen.run.runner != this_process():
            delegate.cancel_run(seen)
            return
        # Interrupted while it was handed over. With a result on record its process does not begin; one that has begun
        # is told to end.
        delegate.cancel_run(msgspec.structs.replace(seen, state="interrupted"))
        runner = look(seen.folder).run.runner
        if runner is not None and runner != this_process() and ask_to_end(seen.folder, runner):
            processes.wait_for_end(runner.pid, _ENDING_SECONDS)


def last_words(seen: RunSeen, env: Mapping[str, str]) -> str:
    """The last line that a run has said so far."""
    try:
        lines = confined.read_end(os.path.join(seen.folder, STDOUT_FILE), _TAIL).split(b"\n")
    except OSError:
        return ""
    agent = delegate.taken_over_agent(seen, env)
    for line in reversed(lines):
        if line and (words := redact(clean(agent.spoken(line))).strip()):
            return words.splitlines()[-1].strip()
    return ""
