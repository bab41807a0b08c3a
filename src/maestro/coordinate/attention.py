"""Workers that do not get on: what is the matter, and what to do about it. Pure.

Nothing is ever killed or restarted: a worker is prompted, a bounded number of times, or the human is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal

import msgspec

from maestro.ages import has_passed
from maestro.coordinate import Policy
from maestro.ledger.board import ENDED
from maestro.ledger.facts import EscalationKind, Task
from maestro.observe.digest import Digest, Source

BLOCKED_AFTER: Final = 60_000
MOST_FAILURES: Final = 2
RESET_MARGIN: Final = 30_000  # clocks differ; a limit is not tried in the very second of its reset
DAY: Final = 24 * 3600 * 1000

Move = Literal["wait", "help", "resume", "escalate"]


class Trouble(msgspec.Struct, frozen=True):
    """One way in which a session does not get on. `subject` is the same as long as it is the same trouble."""

    kind: EscalationKind
    subject: str
    text: str
    reason: str
    since: int
    can_be_helped: bool = False  # a prompt could get it going
    can_pass: bool = False  # it may get over it by itself
    resets_at: int | None = None


class Past(msgspec.Struct, frozen=True):
    """What was done before: about this trouble, and about this session's limits."""

    helps: int = 0
    last_help: int | None = None
    resumes: int = 0  # of this session, within a day
    resumed_at: int | None = None  # after this very limit
    failures: int = 0  # prompts about this that could not be typed


class Response(msgspec.Struct, frozen=True):
    move: Move
    text: str = ""  # what to type
    reason: str = ""


def troubles(session_id: str, digest: Digest, tasks: Iterable[Task], now: int) -> list[Trouble]:
    """What is the matter with a session, by its digest, which knows its screen, and its tasks."""
    own = tuple(tasks)
    return [*_by_digest(session_id, digest, own, now), *_blocked(session_id, own, now)]


def respond(trouble: Trouble, past: Past, policy: Policy, now: int) -> Response:
    """What to do about it now."""
    settings = policy.stuck
    if trouble.kind == "limit" and settings.on_limit == "resume":
        return _after_limit(trouble, past, policy, now)
    is_urgent = trouble.kind in {"limit", "error", "blocked"} and not trouble.can_pass
    patience = settings.intervene_after * 1000
    if not is_urgent and not has_passed(patience, trouble.since, now):
        return Response("wait")
    if is_urgent or not trouble.can_be_helped or settings.most_helps == 0:
        return Response("escalate", reason=trouble.reason)
    if past.failures >= MOST_FAILURES:
        return _untypable(trouble, past)
    if past.last_help is not None and not has_passed(patience, past.last_help, now):
        return Response("wait")
    if past.helps < settings.most_helps:
        return Response("help", settings.help_message, trouble.reason)
    times = "once" if past.helps == 1 else f"{past.helps} times"
    return Response("escalate", reason=f"{trouble.reason} It was prompted {times}, and nothing came of it.")


def has_cap(policy: Policy) -> bool:
    caps = policy.budget
    return bool(caps.session_tokens or caps.session_cost_usd or caps.fleet_tokens or caps.fleet_cost_usd)


def over_budget(policy: Policy, session: tuple[int, float], fleet: tuple[int, float]) -> str:
    """Which cap is reached, in a sentence; nothing when none is. Each is (tokens, dollars)."""
    caps: Sequence[tuple[str, float, float, str]] = (
        ("session", session[0], policy.budget.session_tokens, "tokens"),
        ("session", session[1], policy.budget.session_cost_usd, "US dollars"),
        ("fleet", fleet[0], policy.budget.fleet_tokens, "tokens"),
        ("fleet", fleet[1], policy.budget.fleet_cost_usd, "US dollars"),
    )
    for whose, spent, cap, unit in caps:
        if cap and spent >= cap:
            return f"The {whose}'s budget is used up: {_number(spent)} of {_number(cap)} {unit}."
    return ""


def _after_limit(trouble: Trouble, past: Past, policy: Policy, now: int) -> Response:
    settings = policy.stuck
    if past.resumed_at is not None:
        if not has_passed(settings.intervene_after * 1000, past.resumed_at, now):
            return Response("wait")
        return Response("escalate", reason=f"{trouble.reason} It was told to go on, and nothing came of it.")
    if past.failures >= MOST_FAILURES:
        return _untypable(trouble, past)
    if past.resumes >= settings.most_resumes:
        return Response(
            "escalate", reason=f"{trouble.reason} It was resumed {past.resumes} times within a day already."
        )
    if trouble.resets_at is None:
        return Response("escalate", reason=f"{trouble.reason} When it ends is not told.")
    if now < trouble.resets_at + RESET_MARGIN:
        return Response("wait")
    return Response("resume", settings.resume_message, "The limit is over.")


def _untypable(trouble: Trouble, past: Past) -> Response:
    return Response(
        "escalate", reason=f"{trouble.reason} It could not be prompted: tried {past.failures} times."
    )


def _by_digest(session_id: str, digest: Digest, tasks: Sequence[Task], now: int) -> list[Trouble]:
    stuck = digest.stuck
    if stuck is None or stuck.kind == "question":
        # What it asks is a question, and decided as one.
        return []
    kind: EscalationKind = (
        "limit" if stuck.kind == "limit" else "error" if stuck.kind == "api_errors" else "stuck"
    )
    is_retrying = digest.status == "retrying"
    is_quiet = kind == "stuck" or is_retrying
    since = now - stuck.silent_duration_ms if is_quiet else digest.last_activity_timestamp or now
    return [
        Trouble(
            kind=kind,
            subject=f"{session_id}:{stuck.kind}:{_episode(digest, tasks)}",
            text=stuck.evidence or stuck.warning,
            reason=f"{stuck.warning}." if not stuck.warning.endswith(".") else stuck.warning,
            since=since,
            # One that hangs in a tool reads nothing.
            can_be_helped=stuck.kind in {"silent", "finished"},
            can_pass=is_retrying,
            resets_at=stuck.resets_at,
        )
    ]


def _episode(digest: Digest, tasks: Iterable[Task]) -> str:
    """What tells one trouble from the next of its kind. Our own prompt about it must not make it a new one."""
    kind = digest.stuck.kind if digest.stuck else ""
    if kind == "finished":
        return ",".join(sorted(task.id for task in tasks if task.status not in ENDED))
    said: frozenset[Source] = (
        frozenset({"assistant"}) if kind == "silent" else frozenset({"assistant", "user"})
    )
    times = (entry.timestamp for entry in reversed(digest.entries) if entry.source in said)
    return str(next(times, None) or 0)


def _blocked(session_id: str, tasks: Iterable[Task], now: int) -> list[Trouble]:
    return [
        Trouble(
            kind="blocked",
            subject=f"{session_id}:blocked:{task.id}:{task.updated_at}",
            text=task.blocked_reason or task.title,
            reason=f"Its task “{task.title}” is blocked.",
            since=task.updated_at,
        )
        for task in tasks
        if task.status == "blocked" and has_passed(BLOCKED_AFTER, task.updated_at, now)
    ]


def _number(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.2f}"
