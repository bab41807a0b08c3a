"""One step: its prompt before it runs, and what its output is worth afterwards. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from maestro.chains import Catalogue, Command, Context, Phase, Project, ResultBlock
from maestro.chains.context import told, work_folder
from maestro.chains.result_block import BlockFault, parse_result
from maestro.chains.review import hints_text
from maestro.chains.state import ChainState, FailureKind, StepRecord
from maestro.chains.template import (
    AUTO_DIRECTIVE,
    NO_HINTS,
    fill_args,
    fill_template,
    fill_text,
    prompt_of,
    result_format,
    values_of,
)
from maestro.dispatch.runs import RunResult
from maestro.errors import InvalidInput
from maestro.redact import clean, redact


class Assembled(NamedTuple):
    args: str
    prompt: str


class Judged(NamedTuple):
    """A run's outcome as the chain sees it. With a failure, the block says no success, or there is none."""

    block: ResultBlock | None
    kind: FailureKind = ""
    failure: str = ""


def assembled(
    state: ChainState, index: int, catalogue: Catalogue, project: Project | None, folder: str, template: str
) -> Assembled:
    """`folder` is the state folder as agents name it. Raises InvalidInput for what is not known and needed."""
    step = state.steps[index]
    command = command_of_step(step, catalogue)
    values = values_of(state.context, folder, work_folder(state.context, project, folder))
    fill_text(" ".join(f"{{{name}}}" for name in command.inputs), values)
    args = fill_args(step.args, values, auto_flag=command.auto_flag if state.auto_mode else "")
    prompt = fill_template(
        template,
        {
            "COMMAND": f"/{step.cmd}",
            "ARGS": args,
            "STEP_N": f"{step.number}/{len(state.steps)}",
            "AUTO_DIRECTIVE": AUTO_DIRECTIVE if state.auto_mode else "",
            "CHAIN_NAME": state.chain_name,
            "ANALYSIS_HINTS": _hints(state, index) or NO_HINTS,
            "PROMPT": prompt_of(command, catalogue.formats, values),
            "CONTEXT": told(state.context, project, folder),
            "RESULT_FORMAT": result_format(command),
        },
    )
    if step.complaint:
        prompt = f"{prompt.rstrip()}\n\n## This step was tried before\n\n{step.complaint}\n"
    return Assembled(args, prompt)


def command_of_step(step: StepRecord, catalogue: Catalogue) -> Command:
    command = catalogue.commands.get(step.command)
    if command is None:
        raise InvalidInput(
            f"There is no command {step.command} any more.",
            hint="Bring its file back, or begin another chain: `maestro chain list`.",
        )
    return command


def _hints(state: ChainState, index: int) -> str:
    """Of the last step before it that was done."""
    for step in reversed(state.steps[:index]):
        if step.status == "completed":
            return hints_text(step.analysis)
    return ""


def judged(result: RunResult, command: Command) -> Judged:
    error = redact(clean(result.error))
    match result.status:
        case "success" | "denied":
            block = parse_result(result.text, command.result)
        case "limit":
            return Judged(None, "limit", error or "It hit a limit.")
        case "cancelled":
            return Judged(None, "cancelled", error or "It was cancelled.")
        case "failed" | "timeout" | "refused":
            return Judged(None, "failure", error or f"Its run ended as {result.status}.")
    if isinstance(block, BlockFault):
        return Judged(None, "answer", block.words)
    if block.status == "FAILURE":
        return Judged(block, "failure", block.summary)
    if block.status == "BLOCKED":
        return Judged(block, "blocked", block.summary)
    return Judged(block)


def promised_files(
    command: Command, context: Context, project: Project | None, folder: str
) -> dict[str, bool]:
    """What must be there after a success, from the project's root, and whether it may be as it was before; `context` is
    the one after the block."""
    values = values_of(context, folder, work_folder(context, project, folder))
    return {fill_text(path, values): path in command.may_keep for path in command.artifacts}


def complaint_of(step: StepRecord) -> str:
    """What the next attempt is told of this one."""
    if step.failure_kind == "answer":
        return (
            f"Its end could not be used: {step.failure} Look at what is there already, do what is missing, and end "
            "exactly as this text asks."
        )
    return f"It failed: {' '.join(step.failure.split())} Look at what is there already before you begin."


def kept_statuses(before: Project | None, after: Project, *, phase: int | None, command: Command) -> Project:
    """How a phase stands is Maestro's alone to change: what an agent wrote there is taken back. Phases that this step
    has nothing to do with are left alone: another chain may be at them."""
    known = {(one.number, one.title): one for one in (before.phases if before else ())}
    makes_phases = "{state}/project.json" in command.artifacts
    phases = tuple(
        _kept(known.get((one.number, one.title)), one)
        if one.number == phase or (makes_phases and (one.number, one.title) not in known)
        else one
        for one in after.phases
    )
    return msgspec.structs.replace(after, phases=phases)


def _kept(earlier: Phase | None, phase: Phase) -> Phase:
    earlier = earlier or Phase(number=phase.number, title=phase.title)
    return msgspec.structs.replace(
        phase,
        status=earlier.status,
        analyzed=earlier.analyzed,
        reviewed=earlier.reviewed,
        tested=earlier.tested,
        blocked_by=earlier.blocked_by,
    )


def commands_digest(steps: Iterable[StepRecord], catalogue: Catalogue) -> str:
    """What the chain's commands say, so that a change in between can be pointed out."""
    said = [catalogue.commands.get(step.command) for step in steps]
    return hashlib.sha256(msgspec.json.encode(said)).hexdigest()[:16]
