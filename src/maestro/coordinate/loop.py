"""The oversight loop: wait → assess → decide → act → log, one worker at a time, for hours or days.

It runs in the human's own process, with their CLIs and keys; the daemon decides, records and types. Nothing is kept in
memory that the ledger and the log do not have: killed anywhere, the same call goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Literal, NamedTuple, Protocol

import msgspec

from maestro.coordinate import Assessment, Brain, Case, Policy
from maestro.coordinate.interruptible import run_interruptibly
from maestro.coordinate.log import CoordinateLog
from maestro.coordinate.log_entries import entry, heartbeat
from maestro.coordinate.notices import Notices
from maestro.errors import MaestroError

CARE_SECONDS: Final = 30.0

Reason = Literal["once", "all done", "idle", "stopped", "fleet ended"]


class Ended(NamedTuple):
    reason: Reason
    engagements: int


class Daemon(Protocol):
    """What the loop asks of the daemon."""

    def fleet_runs(self) -> bool: ...
    def wait(self, seconds: float, *, handled: bool) -> dict[str, Any]: ...
    def let_go(self, *, handled: bool) -> None: ...
    def consider(self, session_id: str) -> dict[str, Any]: ...
    def decide(self, case: Case, assessment: Assessment | None) -> dict[str, Any]: ...
    def attend(self, session_ids: Sequence[str] | None = None) -> list[dict[str, Any]]: ...
    def sequence_of(self, decision_id: str) -> int: ...
    def decisions(self, since: int) -> list[dict[str, Any]]: ...
    def question(self, decision: Mapping[str, Any]) -> dict[str, Any] | None: ...
    def session_name(self, session_id: str) -> str: ...
    def inbox(self) -> list[dict[str, Any]]: ...
    def notified(self, escalation_id: str) -> None: ...


class Loop:
    def __init__(
        self,
        daemon: Daemon,
        policy: Policy,
        brain: Brain,
        log: CoordinateLog,
        notices: Notices,
        *,
        say: Callable[[str], None],
        clock: Callable[[], float],
        now: Callable[[], int],
        since: int = 0,
    ) -> None:
        self._daemon = daemon
        self._policy = policy
        self._brain = brain
        self._log = log
        self._notices = notices
        self._say = say
        self._clock = clock
        self._now = now
        self._since = since
        self._logged: int | None = None
        self._idle = 0
        self._handled = False
        self._is_over = False  # all workers were done when it last looked
        self._asked: Case | None = None  # what it is engaged with
        self._engagements = 0
        # Nobody waits for help much longer than the policy says.
        self._care_seconds = min(CARE_SECONDS, max(1.0, policy.stuck.intervene_after / 4))
        self._cared = clock() - self._care_seconds

    def run(self, *, once: bool = False) -> Ended:
        """Go on until all is done, the fleet is idle for too long or is taken down, or whoever runs it stops it."""
        while True:
            try:
                ended = self.step(once=once)
            except MaestroError:
                # Whatever was asked of a fleet that is taken down meanwhile fails, each in its own way.
                if self._daemon.fleet_runs():
                    raise
                ended = "fleet ended"
            if ended is not None:
                return Ended(ended, self._engagements)

    def step(self, *, once: bool = False) -> Reason | None:
        """One engagement, or one wait that was in vain."""
        self.catch_up()
        waited = self._wait()
        if waited["capture"] is not None:
            self._idle = 0
            self._handled = self._engage(waited["capture"])
            self._engagements += 1
            self.catch_up()
            return "once" if once else None
        counts = counts_of(waited["status"])
        if _are_all_done(counts):
            return "all done"
        if once:
            return "once"
        return None if waited["firstLine"] == "FOCUSED" else self._was_idle(counts)

    def _wait(self) -> dict[str, Any]:
        """Until a pane needs somebody, or for `waitTimeout`; meanwhile workers that do not get on are looked after."""
        deadline = self._clock() + self._policy.timeouts.wait_timeout
        while True:
            if self._clock() - self._cared >= self._care_seconds:
                self._care(None)
            left = deadline - self._clock()
            until_care = self._cared + self._care_seconds - self._clock()
            # Where the last one was taken up that was not done yet, there is nothing to wait for.
            seconds = 0.0 if self._is_over else max(0.0, min(left, until_care))
            waited = self._daemon.wait(seconds, handled=self._handled)
            self._handled = False
            self._is_over = _are_all_done(counts_of(waited["status"]))
            if waited["capture"] is not None or self._is_over or self._clock() >= deadline:
                return waited

    def finish(self) -> None:
        """Let go of what it is engaged with, and write down what was decided while it waited. With a fleet that has ended,
        its panes and who was engaged with them are gone."""
        try:
            self._daemon.let_go(handled=self._handled)
        except MaestroError:
            if self._daemon.fleet_runs():
                raise
        self._handled = False
        self.catch_up()

    def _engage(self, capture: Mapping[str, Any]) -> bool:
        """Deal with one pane, with one response at most; whether that was all that can be done about it."""
        session_id, label = str(capture["sessionId"] or ""), str(capture["paneLabel"])
        if not session_id or capture["notifyState"] == "done":
            return True
        if capture["notifyState"] == "error":
            self._care([session_id])
        considered = self._daemon.consider(session_id)
        if considered["case"] is None:
            self._skip(label, "nothing is asked there")
            return True
        case = self._asked = msgspec.convert(considered["case"], Case)
        assessment: Assessment | None = None
        if considered["verdict"] is None:
            self._say(
                f"{label}: asks {self._brain.name} about “{_words(case.asked.text, case.asked.detail)}”"
            )
            assessment = run_interruptibly(lambda: self._brain.assess(case, self._policy))
        done = self._daemon.decide(case, assessment)
        if done["outcome"] in {"ignore", "yield", "stale"}:
            self._skip(label, done["reason"])
        # What was not decided is offered again: the human was there, or it is another question by now.
        return done["outcome"] not in {"yield", "stale"}

    def _care(self, session_ids: Sequence[str] | None) -> None:
        if session_ids is None:
            self._cared = self._clock()
        self._daemon.attend(session_ids)
        self.catch_up()

    def _skip(self, label: str, reason: str) -> None:
        if self._policy.logging.log_routine_skips:
            self._say(f"{label}: skipped, {reason}")

    def _was_idle(self, counts: Mapping[str, int]) -> Reason | None:
        timeouts = self._policy.timeouts
        self._idle += 1
        if self._idle % timeouts.idle_heartbeat_interval == 0:
            self._log.append(heartbeat(self._now(), counts))
        if self._idle < timeouts.consecutive_timeout_limit:
            return None
        minutes = self._idle * timeouts.wait_timeout // 60
        told = {
            "id": f"idle-{self._now()}",
            "kind": "idle",
            "sessionName": "the fleet",
            "text": f"Nothing has happened for {minutes} minutes.",
            "reason": f"{self._idle} waits in a row were in vain.",
        }
        self._report(run_interruptibly(lambda: self._notices.tell(told)))
        return "idle"

    # The log and the human.

    def catch_up(self) -> None:
        """Write down what was decided since the last look, by whomever, and tell the human what is new for them."""
        if self._logged is None:
            known = self._log.last_logged()
            self._logged = self._daemon.sequence_of(known) if known else self._since
        for decision in self._daemon.decisions(self._logged):
            question = self._daemon.question(decision) or self._in_words(decision)
            name = self._daemon.session_name(decision["sessionId"])
            text = entry(decision, question, name, self._policy)
            if text is not None:
                self._log.append(text)
            if (line := line_of(decision, question, name)) is not None:
                self._say(line)
            self._logged = int(decision["seq"])
        for escalation in self._daemon.inbox():
            if escalation["notifiedAt"] is None:
                self._report(run_interruptibly(partial(self._notices.tell, escalation)))
                self._daemon.notified(escalation["id"])

    def _in_words(self, decision: Mapping[str, Any]) -> dict[str, Any] | None:
        """What a turn ended with is no question of the ledger's; what it is engaged with, it knows itself."""
        if self._asked is None or decision["questionId"] != self._asked.question_id:
            return None
        return {"text": self._asked.asked.text, "asked": msgspec.to_builtins(self._asked.asked)}

    def _report(self, failures: Sequence[str]) -> None:
        for failure in failures:
            self._say(f"notify: {failure}")


def _are_all_done(counts: Mapping[str, int]) -> bool:
    return counts.get("total", 0) > 0 and counts["done"] == counts["total"]


def counts_of(status: str) -> dict[str, int]:
    """`STATUS total=3 working=1 …` as numbers."""
    parts = (word.partition("=") for word in status.split()[1:])
    return {name: int(value) for name, _, value in parts if value.isdigit()}


def line_of(decision: Mapping[str, Any], question: Mapping[str, Any] | None, name: str) -> str | None:
    """A decision in one line for whoever looks on."""
    if decision["kind"] == "receipt":
        return None if decision["action"] == "submitted" else f"{name}: {decision['action']}{_why(decision)}"
    asked = question or {}
    words = _words(str(asked.get("text", "")), str(asked.get("asked", {}).get("detail", "")))
    about = f" “{words}”" if words else ""
    said = f" → {_short(decision['text'])}" if decision["text"] else ""
    verb = {
        "answer": "answered",
        "probe": "asked back about",
        "escalate": "for you:" if words else "for you",
        "dismiss": "dismissed",
        "help": "prompted, for it does not get on",
        "resume": "resumed after its limit",
    }.get(decision["action"], decision["action"])
    if decision["action"] == "escalate":
        said = _why(decision)
    who = "" if decision["by"] == "human" and decision["kind"] == "resolution" else f" ({decision['by']})"
    shadow = "would have " if decision["shadow"] else "you " if decision["by"] == "human" else ""
    return f"{name}: {shadow}{verb}{about}{said}{who}"


def _why(decision: Mapping[str, Any]) -> str:
    return f": {_short(' '.join(decision['reasons']), 160)}" if decision["reasons"] else ""


def _words(text: str, detail: str) -> str:
    """What is asked; of a permission what for, too."""
    return _short(f"{text} {detail}".strip())


def _short(text: str, most: int = 90) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"
