"""Ways in which a session does not get on, each with its evidence and what to do about it. Pure."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from maestro.agents import Moment
from maestro.agents.limits import is_limit, needs_login, resets_at
from maestro.observe.recent import Recent
from maestro.observe.status import Verdict, shown

StuckKind = Literal["limit", "api_errors", "question", "silent", "wedged", "finished"]

SILENT_AFTER: Final = 30_000
SILENT_CALLS: Final = 5
WEDGED_AFTER: Final = 10 * 60_000
UNANSWERED_AFTER: Final = 30_000
UNNOTICED_AFTER: Final = 60_000
_LAST_WORDS: Final = 400
_DAY: Final = 24 * 3_600_000

_WORKING: Final = frozenset({"working", "thinking", "retrying", "background"})
AT_REST: Final = frozenset({"finished", "interrupted"})


class Stuck(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    kind: StuckKind
    warning: str
    evidence: str
    remedy: str
    silent_duration_ms: int
    tool_calls_since_last_text: int
    resets_at: int | None = None


class Case(msgspec.Struct, frozen=True, gc=False):
    """What the judgement rests on."""

    recent: Recent
    verdict: Verdict
    now: int
    silent: int  # milliseconds since the agent last spoke or was spoken to
    calls: int  # tool calls since then
    errors: tuple[Moment, ...]  # API errors since the model gave anything else

    @property
    def seen_at(self) -> int | None:
        """When that was written which the status rests on."""
        return self.verdict.evidence[0].at if self.verdict.evidence else None

    @property
    def evidence(self) -> str:
        return self.verdict.evidence[0].says if self.verdict.evidence else ""

    def stuck(
        self, kind: StuckKind, warning: str, remedy: str, *, evidence: str = "", resets: int | None = None
    ) -> Stuck:
        return Stuck(kind, warning, evidence or self.evidence, remedy, self.silent, self.calls, resets)


def find_stuck(recent: Recent, verdict: Verdict, now: int, *, task_open: bool = False) -> Stuck | None:
    """The most telling way in which a session is stuck, if it is."""
    if verdict.status == "unknown" or (verdict.status in AT_REST and not task_open):
        return None
    calls, quiet_since = silence(recent)
    silent = max(0, now - quiet_since) if quiet_since is not None else 0
    case = Case(recent, verdict, now, silent, calls, _errors(recent))
    if verdict.status in _WORKING:
        return _repeated_errors(case) or _silent(case) or _wedged(case)
    if verdict.status == "failed":
        return _limit(case) or _repeated_errors(case)
    if verdict.status == "asking":
        return _question(case)
    return _unnoticed(case)


def silence(recent: Recent) -> tuple[int, int | None]:
    """Tool calls since the agent last spoke or was spoken to, and when that was."""
    calls = 0
    since = recent.last_text.at if recent.last_text is not None else None
    for moment in recent.after_text:
        if moment.kind == "tool_call":
            calls += 1
            since = moment.at if since is None else since
        elif moment.kind == "prompt":
            calls = 0
            since = moment.at if moment.at is not None else since
    return calls, since


def _errors(recent: Recent) -> tuple[Moment, ...]:
    errors: list[Moment] = []
    for moment in recent.after_text:
        if moment.kind == "api_error":
            errors.append(moment)
        elif moment.kind in {"tool_call", "thinking", "question"}:
            errors.clear()
    return tuple(errors)


def _limit(case: Case) -> Stuck | None:
    said = case.errors[-1] if case.errors else None
    if said is None or not is_limit(said.text):
        return None
    when = resets_at(said.text, said.at if said.at is not None else case.now)
    return case.stuck(
        "limit", f"Limit reached: {shown(said.text)}", _limit_remedy(when, case.now), resets=when
    )


def _limit_remedy(resets: int | None, now: int) -> str:
    if resets is not None and resets <= now:
        return "The limit is over: prompt it to go on."
    return "Wait for the reset, or go on with another model or account."


def _repeated_errors(case: Case) -> Stuck | None:
    if not case.errors or case.verdict.status not in {"failed", "retrying"}:
        return None
    number = len(case.errors)
    said = next((error.text for error in reversed(case.errors) if error.text), "")
    warning = f"{number} API errors in a row" if number > 1 else "Stopped by an API error"
    return case.stuck("api_errors", warning, _remedy(said), evidence=shown(said))


def _remedy(said: str) -> str:
    if needs_login(said):
        return "Its key or login is not accepted: log in again in its terminal, or give it a valid key, then prompt it."
    return "Prompt it to try again; if the error stays, look at its network, key and model."


def retrying(words: str, silent: int, calls: int) -> Stuck:
    """An API error that the agent tries to get over by itself, in the words of its screen."""
    remedy = "It tries again by itself; if the error stays, look at its network, key and model."
    if needs_login(words):
        remedy = _remedy(words)
    return Stuck("api_errors", f"Tries again after an API error: {words}", words, remedy, silent, calls)


def stopped(said: str, said_at: int | None, now: int, silent: int, calls: int, *, limited: bool) -> Stuck:
    """An error or a limit that ended a turn, in the words of a screen whose transcript does not tell of it."""
    words = shown(said)
    if limited:
        resets = resets_at(said, now if said_at is None else said_at)
        if said_at is None and resets != resets_at(said, now - _DAY):
            resets = None  # it counts from when that was said, which is unknown
        remedy = _limit_remedy(resets, now)
        return Stuck("limit", f"Limit reached: {words}", words, remedy, silent, calls, resets)
    return Stuck("api_errors", "Stopped by an API error", words, _remedy(words), silent, calls)


def _question(case: Case) -> Stuck | None:
    if case.seen_at is None or case.now - case.seen_at < UNANSWERED_AFTER:
        return None
    asked = case.recent.after_text[-1].text if case.recent.after_text else ""
    if not asked and case.recent.last_text is not None:
        asked = case.recent.last_text.text[-_LAST_WORDS:]
    warning = f"Waits for an answer since {_seconds(case.now - case.seen_at)}s"
    return case.stuck("question", warning, "Answer it.", evidence=shown(asked))


def _silent(case: Case) -> Stuck | None:
    if case.silent <= SILENT_AFTER or case.calls <= SILENT_CALLS:
        return None
    warning = f"No text output for {_seconds(case.silent)}s ({case.calls} tool calls since last text)"
    return case.stuck(
        "silent", warning, "Read more of its log; if it goes in circles, prompt it to try another way."
    )


def _wedged(case: Case) -> Stuck | None:
    if case.seen_at is None or case.now - case.seen_at < WEDGED_AFTER:
        return None
    warning = f"Seems to work, but has written nothing for {(case.now - case.seen_at) // 60_000} minutes"
    return case.stuck(
        "wedged", warning, "Look at its terminal: it may wait for a permission, hang in a tool, or be gone."
    )


def _unnoticed(case: Case) -> Stuck | None:
    if case.seen_at is None or case.now - case.seen_at < UNNOTICED_AFTER:
        return None
    warning = f"Its turn ended {_seconds(case.now - case.seen_at)}s ago, but its task is still open"
    return case.stuck("finished", warning, "Check its work and close the task, or prompt it to go on.")


def _seconds(milliseconds: int) -> int:
    return (milliseconds + 500) // 1000
