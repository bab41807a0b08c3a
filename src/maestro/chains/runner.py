"""Carries a chain out: one move after another, each recorded before and after, until there is none.

A step is a run in a process of its own, so that it outlives this one. Its id is in the state before it begins: whoever
resumes finds it by that id, running, ended or dead, and never starts it a second time beside itself.
"""

from __future__ import annotations

import os
import time
from typing import Final, Protocol

import msgspec

from maestro import confined
from maestro.chains import Command
from maestro.chains.artifacts import Ground, artifact_patterns, remember, remembered
from maestro.chains.moves import (
    AskFailure,
    AskGate,
    FailureChoice,
    Finish,
    GateChoice,
    Pause,
    RedoStep,
    RetryStep,
    ReviewStep,
    RunStep,
    again,
    gate,
    next_move,
    waits,
)
from maestro.chains.project_file import read_project
from maestro.chains.review import RULE, ReviewFault, parse_review, redo_text, review_prompt
from maestro.chains.settling import limit_ends, settled, spent_by
from maestro.chains.state import (
    OUTPUT_FILE,
    PROMPT_FILE,
    REVIEW_FILE,
    REVIEW_PROMPT_FILE,
    Analysis,
    ChainState,
    StepAnalysis,
    StepRecord,
    with_step,
)
from maestro.chains.state_file import write_state
from maestro.chains.step_runs import Setting, StepRuns
from maestro.chains.steps import assembled, command_of_step, complaint_of
from maestro.dispatch import delegate
from maestro.dispatch.process import now_ms
from maestro.dispatch.runs import RunResult, RunSeen
from maestro.errors import InvalidInput, MaestroError
from maestro.files import write_atomically
from maestro.redact import clean, redact

_LONGEST_SLEEP_SECONDS: Final = 30.0


class Desk(Protocol):
    """Who watches a chain and is asked."""

    def began(self, state: ChainState, index: int, *, review: bool, attached: bool) -> None: ...
    def said(self, words: str) -> None: ...
    def waits(self, state: ChainState) -> None: ...
    def ended(self, state: ChainState, index: int, *, review: bool) -> None: ...
    def ask_failure(self, state: ChainState, index: int) -> FailureChoice: ...
    def ask_gate(self, state: ChainState, index: int, why: str) -> GateChoice: ...


class ChainRun:
    """One chain in the hands of this process."""

    def __init__(self, setting: Setting, folder: str, state: ChainState, desk: Desk) -> None:
        self.setting = setting
        self.folder = folder
        self.state = state
        self.desk = desk
        self.runs = StepRuns(setting)

    def carry_out(self) -> ChainState:
        while True:
            match next_move(self.state):
                case RunStep(index):
                    self._do_step(index)
                case Pause() as pause:
                    if self._paused(pause):
                        return self.state
                case RetryStep(index):
                    step = self.state.steps[index]
                    self._record(again(self.state, index, complaint_of(step), retried=True))
                case ReviewStep(index):
                    self._do_review(index)
                case RedoStep(index):
                    self._redo(index, by_itself=True)
                case AskFailure(index):
                    if self._after_failure(index, self.desk.ask_failure(self.state, index)):
                        return self.state
                case AskGate(index, why):
                    if self._at_gate(index, why, self.desk.ask_gate(self.state, index, why)):
                        return self.state
                case Finish(status, why):
                    self._record(msgspec.structs.replace(self.state, status=status, error=why))
                    return self.state

    def stop(self) -> None:
        """End what runs now. The step is to be done again when the chain goes on."""
        if self.state.status == "paused":
            return  # nothing runs, and it is on record until when
        for step in self.state.steps:
            if step.status == "running" and step.exec_id:
                self.runs.end(step.exec_id)
                self._record(again(self.state, step.index, "It was interrupted by a person."))
            elif step.review == "running" and step.review_id:
                self.runs.end(step.review_id)
                self._record(with_step(self.state, step.index, {"review": "", "review_id": None}))
        self._record(
            msgspec.structs.replace(self.state, status="stopped", error="It was interrupted by a person.")
        )

    def _record(self, state: ChainState) -> None:
        """One transition, one write."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self.state = msgspec.structs.replace(state, updated_at=stamp)
        write_state(self.folder, self.state)

    def _keep(self, name: str, number: int, text: str) -> None:
        """For people, who may pass it on; the run's own folder has what was said to the letter."""
        path = os.path.join(self.folder, name.format(number=number))
        data = redact(clean(text)).encode(errors="replace")
        write_atomically(path, data, durable=False, confined=True)

    # Steps

    def _do_step(self, index: int) -> None:
        step = self.state.steps[index]
        try:
            command = command_of_step(step, self.setting.catalogue)
            seen = self.runs.found(step.exec_id) if step.status == "running" and step.exec_id else None
            if seen is None:
                seen = self._start_step(step, command)
            else:
                self.desk.began(self.state, index, review=False, attached=True)
        except MaestroError as error:
            words = f"{error.message} {error.hint}".strip()
            failed = {"status": "failed", "failure": words, "failure_kind": "setup"}
            self._record(with_step(self.state, index, failed))
            self.desk.ended(self.state, index, review=False)
            return
        result = self.runs.awaited(seen, self.desk.said)
        if result is None:
            self._record(again(self.state, index, "Its process died before it came to its end."))
            return
        self._keep(OUTPUT_FILE, step.number, result.text or result.error)
        ground = Ground(
            self.setting.root,
            self.setting.state_folder,
            remembered(self.folder, step.number),
            self.setting.catalogue.formats,
        )
        self._record(settled(self.state, index, result, command, ground))
        self.desk.ended(self.state, index, review=False)

    def _start_step(self, step: StepRecord, command: Command) -> RunSeen:
        """Begin its run. One that is on record, and that a process died before, is begun by its own name."""
        setting = self.setting
        project = read_project(setting.state_folder)
        state = msgspec.structs.replace(self.state, project=project)
        made = assembled(state, step.index, setting.catalogue, project, setting.named_state, setting.template)
        run_id = step.exec_id or ""
        if not self.runs.is_free(run_id):
            run_id = self.runs.free_id(f"{state.session_id}-s{step.number}a", len(step.attempts) + 1)
        order = delegate.Order(
            prompt=made.prompt.encode(errors="replace"),
            mode=command.mode,
            to=state.to or command.tool or setting.executor,
            cd=setting.root,
            id=run_id,
            timeout_s=state.timeout_s,
        )
        prepared, prompt = delegate.ready(order, setting.env)
        self._keep(PROMPT_FILE, step.number, made.prompt)
        patterns = artifact_patterns(command, state.context, project, setting.named_state)
        remember(self.folder, step.number, setting.root, patterns)
        if run_id != step.exec_id:
            changes = {
                "status": "running",
                "exec_id": run_id,
                "attempts": (*step.attempts, run_id),
                "tool": prepared.run.tool,
            }
            self._record(with_step(state, step.index, changes))
        self.desk.began(self.state, step.index, review=False, attached=False)
        return self.runs.hand_over(prepared, prompt)

    def _paused(self, pause: Pause) -> bool:
        """Whether the chain ends here, to go on when the limit has ended; else that is waited for."""
        now, until = now_ms(), pause.until
        if until > now:
            step = self.state.steps[pause.index]
            what, tool = ("Review of step", self.state.review_by) if pause.review else ("Step", step.tool)
            clock = time.strftime("%Y-%m-%d %H:%M:%S %Z", time.localtime(until / 1000))
            why = f"{what} {step.number} ({step.cmd}): {tool} is at a limit until {clock}."
            self._record(msgspec.structs.replace(self.state, status="paused", error=why))
            if not waits(self.state, until, now):
                return True
            self.desk.waits(self.state)
        # In turns: the clock may be set, and the machine may sleep, meanwhile.
        while (left := until - now_ms()) > 0:
            time.sleep(min(left / 1000, _LONGEST_SLEEP_SECONDS))
        self._record(msgspec.structs.replace(self.state, status="running", paused_until=None, error=""))
        return False

    # Reviews

    def _do_review(self, index: int) -> None:
        step = self.state.steps[index]
        try:
            seen = self.runs.found(step.review_id) if step.review == "running" and step.review_id else None
            if seen is None:
                seen = self._start_review(step)
            else:
                self.desk.began(self.state, index, review=True, attached=True)
        except MaestroError as error:
            self._unreviewed(index, f"{error.message} {error.hint}".strip())
            return
        result = self.runs.awaited(seen, self.desk.said)
        if result is None:
            self._record(with_step(self.state, index, {"review": "", "review_id": None}))
            return
        self._keep(REVIEW_FILE, step.number, result.text or result.error)
        if self._review_waits(step, result):
            return
        told = parse_review(result.text) if result.status in ("success", "denied") else None
        if isinstance(told, Analysis):
            self._reviewed(index, told, result)
        elif told is not None and not step.review_complaint:
            again_asked = {
                "review": "",
                "review_id": None,
                "review_complaint": told.words,
                "review_spent": step.review_spent.plus(spent_by(result)),
            }
            self._record(with_step(self.state, index, again_asked, gemini_session_id=_session(result)))
        else:
            why = (
                told.words
                if isinstance(told, ReviewFault)
                else result.error or f"It ended as {result.status}."
            )
            self._unreviewed(index, why, result)

    def _review_waits(self, step: StepRecord, result: RunResult) -> bool:
        """Whether it met a limit that ends: unreviewed, the next step would begin past its gate."""
        times = step.review_limits + 1
        until = limit_ends(self.state, times, result) if result.status == "limit" else None
        if until is None:
            return False
        waiting = {
            "review": "",
            "review_id": None,
            "review_limits": times,
            "review_spent": step.review_spent.plus(spent_by(result)),
        }
        self._record(with_step(self.state, step.index, waiting, paused_until=until))
        return True

    def _start_review(self, step: StepRecord) -> RunSeen:
        setting, state = self.setting, self.state
        path = os.path.join(self.folder, OUTPUT_FILE.format(number=step.number))
        output = confined.read(path).decode(errors="replace")
        text = review_prompt(state, step, output, complaint=step.review_complaint)
        run_id = step.review_id or ""
        if not self.runs.is_free(run_id):
            run_id = self.runs.free_id(f"{state.session_id}-s{step.number}r", step.review_runs + 1)
        order = delegate.Order(
            prompt=text.encode(errors="replace"),
            mode="analysis",
            to=state.review_by,
            cd=setting.root,
            rule=RULE,
            id=run_id,
            resume=state.gemini_session_id,
        )
        try:
            prepared, prompt = delegate.ready(order, setting.env)
        except InvalidInput:
            if order.resume is None:
                raise
            # Not every tool can go on with a session; then each review stands alone.
            prepared, prompt = delegate.ready(msgspec.structs.replace(order, resume=None), setting.env)
        self._keep(REVIEW_PROMPT_FILE, step.number, text)
        if run_id != step.review_id:
            changes = {"review": "running", "review_id": run_id, "review_runs": step.review_runs + 1}
            self._record(with_step(state, step.index, changes))
        self.desk.began(self.state, step.index, review=True, attached=False)
        return self.runs.hand_over(prepared, prompt, review=True)

    def _reviewed(self, index: int, told: Analysis, result: RunResult) -> None:
        step = self.state.steps[index]
        line = StepAnalysis(step=index, exec_id=result.id, tool=result.tool, analysis=told)
        changes = {
            "review": "reviewed",
            "analysis": told,
            "review_spent": step.review_spent.plus(spent_by(result)),
        }
        self._record(
            with_step(
                self.state,
                index,
                changes,
                step_analyses=(*self.state.step_analyses, line),
                gemini_session_id=_session(result),
            )
        )
        self.desk.ended(self.state, index, review=True)

    def _unreviewed(self, index: int, why: str, result: RunResult | None = None) -> None:
        step = self.state.steps[index]
        line = StepAnalysis(
            step=index,
            exec_id=result.id if result else "",
            tool=result.tool if result else self.state.review_by,
            analysis=None,
            why=redact(clean(why)),
        )
        spent = step.review_spent.plus(spent_by(result)) if result else step.review_spent
        self._record(
            with_step(
                self.state,
                index,
                {"review": "unreviewed", "review_spent": spent},
                step_analyses=(*self.state.step_analyses, line),
            )
        )
        self.desk.ended(self.state, index, review=True)

    # What a person says

    def _after_failure(self, index: int, choice: FailureChoice) -> bool:
        """Whether the chain ends here."""
        step = self.state.steps[index]
        if choice == "retry":
            self._record(again(self.state, index, complaint_of(step)))
        elif choice == "skip":
            self._record(with_step(self.state, index, {"passed_over": True}))
        else:
            why = f"Step {step.number} ({step.cmd}) failed: {step.failure}"
            self._record(msgspec.structs.replace(self.state, status="failed", error=why))
        return choice == "abort"

    def _at_gate(self, index: int, why: str, choice: GateChoice) -> bool:
        step = self.state.steps[index]
        if choice == "redo":
            self._redo(index, by_itself=False)
        elif choice == "go_on":
            self._record(with_step(self.state, index, {"gate_passed": True}))
        else:
            words = f"Step {step.number} ({step.cmd}): {why}."
            self._record(msgspec.structs.replace(self.state, status="stopped", error=words))
        return choice == "stop"

    def _redo(self, index: int, *, by_itself: bool) -> None:
        step = self.state.steps[index]
        assert step.analysis is not None
        complaint = redo_text(step.analysis, gate(self.state, step))
        self._record(again(self.state, index, complaint, redone=step.redone or by_itself))


def _session(result: RunResult) -> str | None:
    return result.session_id or None
