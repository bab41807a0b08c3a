"""`summary.json`: how a batch came off. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal

import msgspec

from maestro.agents.headless import RunMode
from maestro.dispatch.batch import AgentEnd, AgentStatus, Batch, exit_code
from maestro.dispatch.changes import Changes, FileConflict
from maestro.dispatch.runs import RunResult

ErrorType = Literal["timeout", "file_conflict", "runtime", "quota"]


class AgentRow(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    exit_code: int
    status: AgentStatus
    agent: str
    tool: str
    attempts: int
    duration_ms: int | None
    error: str
    session_id: str
    found: tuple[str, ...]  # what was left of attempts whose dispatcher died
    files_changed: tuple[str, ...]
    patch: str  # a file beside this one
    branch: str
    worktree: str


class AgentError(msgspec.Struct, frozen=True, kw_only=True):
    agent: str
    timestamp: str
    type: ErrorType
    message: str
    resolution: str = "pending"
    resolved: bool = False


class AgentTokens(msgspec.Struct, frozen=True):
    input: int
    output: int
    cached: int


class TokenUsage(msgspec.Struct, frozen=True, kw_only=True):
    total_input: int
    total_output: int
    total_cached: int
    by_agent: Mapping[str, AgentTokens]


class Work(msgspec.Struct, frozen=True):
    """What an agent did in a checkout of its own."""

    branch: str
    worktree: str
    patch: str


class Applied(msgspec.Struct, frozen=True):
    agent: str
    is_merged: bool
    commit: str = ""
    reason: str = ""


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    batch_status: Literal["success", "partial_failure"]
    total_agents: int
    succeeded: int
    failed: int  # all others, also those that were not run
    wall_time_seconds: int
    agents: tuple[AgentRow, ...]
    batch_id: str
    mode: RunMode
    started_at: int
    ended_at: int
    was_cancelled: bool
    token_usage: TokenUsage
    cost_usd: float | None  # None: of no run is it known
    cost_unknown: tuple[str, ...]  # agents whose cost, or a part of it, is not in there
    errors: tuple[AgentError, ...]
    file_conflicts: tuple[FileConflict, ...]
    unclear_changes: tuple[FileConflict, ...]
    applied: tuple[Applied, ...]
    notes: tuple[str, ...]
    version: int = 1


def summarize(
    batch: Batch,
    ends: Sequence[AgentEnd],
    *,
    ended_at: int,
    changes: Changes,
    work: Mapping[str, Work],
    applied: Sequence[Applied] = (),
    notes: Sequence[str] = (),
    was_cancelled: bool = False,
) -> Summary:
    succeeded = sum(end.status == "success" for end in ends)
    costs = [r.cost_usd for end in ends for r in results_of(end) if r.cost_usd is not None]
    return Summary(
        batch_status="success" if succeeded == len(ends) else "partial_failure",
        total_agents=len(ends),
        succeeded=succeeded,
        failed=len(ends) - succeeded,
        wall_time_seconds=_wall_time(ends),
        agents=tuple(_row(end, changes, work.get(end.agent.name)) for end in ends),
        batch_id=batch.id,
        mode=batch.mode,
        started_at=batch.started_at,
        ended_at=ended_at,
        was_cancelled=was_cancelled,
        token_usage=_tokens(ends),
        cost_usd=round(sum(costs), 8) if costs else None,
        cost_unknown=tuple(end.agent.name for end in ends if _is_cost_unknown(end)),
        errors=(*_failures(ends, ended_at), *_conflict_errors(changes, ended_at)),
        file_conflicts=changes.conflicts,
        unclear_changes=changes.unclear,
        applied=tuple(applied),
        notes=tuple(notes),
    )


def results_of(end: AgentEnd) -> list[RunResult]:
    return [attempt.result for attempt in end.attempts if attempt.result is not None]


def _wall_time(ends: Sequence[AgentEnd]) -> int:
    """From the first start to the last end; a batch that went on later has the time between in it."""
    results = [result for end in ends for result in results_of(end)]
    if not results:
        return 0
    return round((max(r.ended_at for r in results) - min(r.started_at for r in results)) / 1000)


def _row(end: AgentEnd, changes: Changes, work: Work | None) -> AgentRow:
    result = end.result
    return AgentRow(
        name=end.agent.name,
        exit_code=exit_code(end.status, result),
        status=end.status,
        agent=end.agent.agent,
        tool=result.tool if result else end.agent.tool,
        attempts=len(end.attempts),
        duration_ms=result.duration_ms if result else None,
        error=_error(end),
        session_id=result.session_id if result else "",
        found=tuple(attempt.found.words for attempt in end.attempts if attempt.found),
        files_changed=changes.files.get(end.agent.name, ()),
        patch=work.patch if work else "",
        branch=work.branch if work else "",
        worktree=work.worktree if work else "",
    )


def _error(end: AgentEnd) -> str:
    said = end.result.error if end.result and end.status != "success" else ""
    return " ".join(part for part in (said, end.reason) if part)


def _is_cost_unknown(end: AgentEnd) -> bool:
    return any(attempt.result is None or attempt.result.cost_usd is None for attempt in end.attempts)


def _tokens(ends: Sequence[AgentEnd]) -> TokenUsage:
    by_agent = {}
    for end in ends:
        usage = [usage for result in results_of(end) for usage in result.usage]
        by_agent[end.agent.name] = AgentTokens(
            sum(one.input + one.cache_write for one in usage),
            sum(one.output for one in usage),
            sum(one.cached for one in usage),
        )
    return TokenUsage(
        total_input=sum(one.input for one in by_agent.values()),
        total_output=sum(one.output for one in by_agent.values()),
        total_cached=sum(one.cached for one in by_agent.values()),
        by_agent=by_agent,
    )


def _failures(ends: Sequence[AgentEnd], now: int) -> list[AgentError]:
    types: dict[AgentStatus, ErrorType] = {"timeout": "timeout", "limit": "quota"}
    return [
        AgentError(
            agent=end.agent.name,
            timestamp=_iso(end.result.ended_at if end.result else now),
            type=types.get(end.status, "runtime"),
            message=_error(end) or end.status,
        )
        for end in ends
        if end.status != "success"
    ]


def _conflict_errors(changes: Changes, now: int) -> list[AgentError]:
    return [
        AgentError(
            agent=agent,
            timestamp=_iso(now),
            type="file_conflict",
            message=f"{one.file} (modified by {' and '.join(one.agents)})",
        )
        for one in changes.conflicts
        for agent in one.agents
    ]


def _iso(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
