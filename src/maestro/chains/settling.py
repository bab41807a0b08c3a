"""A step's run is over: what it makes of the chain's state, the files that it had to leave, and project.json.

Done twice, it comes to the same: a process may die between the project's file and the chain's.
"""

from __future__ import annotations

import time
from typing import Final

import msgspec

from maestro.chains import Command, Context, Project, ResultBlock
from maestro.chains.artifacts import Ground, complaint_about
from maestro.chains.context import after, misplaced_scratch
from maestro.chains.moves import again
from maestro.chains.project import after_step
from maestro.chains.project_file import read_project, write_project
from maestro.chains.state import ChainState, Spent, with_step
from maestro.chains.steps import Judged, judged, kept_statuses, promised_files
from maestro.dispatch.retry import RetryPolicy, after_limit
from maestro.dispatch.runs import RunResult
from maestro.errors import Conflict, InvalidInput, LeadsOut

_TRIES: Final = 5


def settled(state: ChainState, index: int, result: RunResult, command: Command, ground: Ground) -> ChainState:
    """The state after the run; project.json is moved on with it."""
    step = state.steps[index]
    spent = step.spent.plus(spent_by(result))
    found = judged(result, command)
    project, context = state.project, state.context
    block = found.block
    if block is not None and found.kind in ("", "blocked"):
        try:
            if not found.kind:
                misplaced = misplaced_scratch(context, block, ground.named_state)
                context = after(context, block)
                found = (
                    Judged(block, "answer", misplaced)
                    if misplaced
                    else _with_files(found, command, block, context, ground)
                )
            if found.kind in ("", "blocked"):
                phase = context.phase if context.work in ("phase", "current", "either") else None
                project = _moved_on(state.project, command, block, phase, ground.state_folder)
        except (InvalidInput, Conflict, LeadsOut) as error:
            # What the agent left cannot be used: project.json is broken, an artifact's path cannot be told, or a link
            # leads out of the project.
            found = Judged(block, "answer", f"{error.message} {error.hint}".strip())
    if found.kind == "limit" and (until := limit_ends(state, step.limits + 1, result)) is not None:
        waiting = again(state, index, step.complaint, limits=step.limits + 1, spent=spent)
        return msgspec.structs.replace(waiting, paused_until=until)
    if found.kind:
        failed = {
            "status": "failed",
            "failure": found.failure,
            "failure_kind": found.kind,
            "summary": found.block.summary if found.block else "",
            "spent": spent,
        }
        return with_step(state, index, failed, project=project)
    assert found.block is not None
    done = {
        "status": "completed",
        "failure": "",
        "failure_kind": "",
        "summary": found.block.summary,
        "verdict": found.block.verdict,
        "artifacts": found.block.artifacts,
        "spent": spent,
    }
    return with_step(state, index, done, context=context, phase=context.phase, project=project)


def limit_ends(state: ChainState, times: int, result: RunResult) -> int | None:
    """When what met a limit, so many times now, may be run again; None: nobody knows, and it failed."""
    if result.resets_at is None and not state.auto_mode:
        return None  # a person decides
    return after_limit(result.ended_at, result.resets_at, times, RetryPolicy()) or result.resets_at


def _with_files(
    found: Judged, command: Command, block: ResultBlock, context: Context, ground: Ground
) -> Judged:
    """A success whose files are not there, not new or not in their form is none."""
    project = read_project(ground.state_folder)
    promised = promised_files(command, context, project, ground.named_state)
    complaint = complaint_about(promised, block.artifacts, command, ground)
    return Judged(block, "answer", complaint) if complaint else found


def _moved_on(
    before: Project | None, command: Command, block: ResultBlock, phase: int | None, folder: str
) -> Project | None:
    """project.json after the step. Somebody else may write it meanwhile: then it is read again."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    for _ in range(_TRIES):
        there = read_project(folder)
        if there is None:
            return None
        project = kept_statuses(before, there, phase=phase, command=command)
        project = after_step(project, command.name, block, phase, now)
        if project == there:
            return there
        try:
            write_project(folder, project, earlier=there)
        except Conflict:
            continue
        return project
    raise Conflict("project.json is being changed by somebody else all the time.", hint="Try it again.")


def spent_by(result: RunResult) -> Spent:
    return Spent(
        input=sum(usage.input + usage.cached + usage.cache_write for usage in result.usage),
        output=sum(usage.output for usage in result.usage),
        cost_usd=result.cost_usd,
        is_estimate=result.cost_is_estimate,
        duration_ms=result.duration_ms,
    )
