"""What a chain has done so far: `state.json`, the seed's keys and ours. Pure.

One file is the whole truth of a chain; every change of it is one transition, and whoever reads it can go on from there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec

from maestro.chains import Catalogue, Chain, Context, Project, StepVerdict
from maestro.dispatch.runs import Process
from maestro.errors import InvalidInput

SESSION_ID: Final = re.compile(r"coord-\d{14}(?:-\d{1,4})?")
OUTPUT_FILE: Final = "step-{number}-output.txt"
PROMPT_FILE: Final = "step-{number}-prompt.md"
REVIEW_PROMPT_FILE: Final = "step-{number}-review-prompt.md"
REVIEW_FILE: Final = "step-{number}-review.txt"

StepState = Literal[
    "pending",
    "running",
    "completed",
    "failed",  # and stays so in the report, also when the chain went on without it
    "skipped",  # a person began behind it
]
ChainStatus = Literal[
    "running",
    "completed",  # every step is, or was skipped by a person
    "failed",  # a step is
    "stopped",  # by a gate, the budget or a signal; it can go on
    "paused",  # a tool is at a limit; it can go on when that ends
]
# Why a step failed. An answer that was no result can be mended by its author; a blocked one only by a person.
FailureKind = Literal["", "answer", "failure", "blocked", "limit", "cancelled", "setup"]
ReviewState = Literal["", "running", "reviewed", "unreviewed"]
Severity = Literal["critical", "high", "medium", "low", "info"]


class Spent(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens, money and time of the runs of a step. No cost: nobody told one."""

    input: int = 0
    output: int = 0
    cost_usd: float | None = None
    is_estimate: bool = False
    duration_ms: int = 0

    def plus(self, other: Spent) -> Spent:
        told = [cost for cost in (self.cost_usd, other.cost_usd) if cost is not None]
        return Spent(
            input=self.input + other.input,
            output=self.output + other.output,
            cost_usd=sum(told) if told else None,
            is_estimate=self.is_estimate or other.is_estimate,
            duration_ms=self.duration_ms + other.duration_ms,
        )


class Issue(msgspec.Struct, frozen=True, kw_only=True):
    severity: Severity
    description: str
    location: str = ""


class Hints(msgspec.Struct, frozen=True, kw_only=True):
    additions: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()
    context: tuple[str, ...] = ()


class Analysis(msgspec.Struct, frozen=True, kw_only=True):
    """What the reviewer said of a step."""

    quality_score: int
    assessment: str
    issues: tuple[Issue, ...] = ()
    next_step_hints: Hints = Hints()


class StepAnalysis(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the chain's history of reviews: also of the ones whose step was done again."""

    step: int
    exec_id: str
    tool: str
    analysis: Analysis | None  # None: it was not reviewed, for this reason
    why: str = ""


class StepRecord(msgspec.Struct, frozen=True, kw_only=True):
    index: int
    cmd: str  # as the seed calls it
    args: str  # with placeholders until it runs
    status: StepState = "pending"
    exec_id: str | None = None  # the run that does it, or did
    analysis: Analysis | None = None
    retried: bool = False  # by itself: once
    limits: int = 0  # how often its tool was at a limit
    command: str  # as the catalogue calls it
    tool: str = ""
    attempts: tuple[str, ...] = ()  # every run that it had
    complaint: str = ""  # what the next attempt is told of the last one
    failure: str = ""
    failure_kind: FailureKind = ""
    passed_over: bool = False  # a person let the chain go on without it
    summary: str = ""
    verdict: StepVerdict | None = None
    artifacts: tuple[str, ...] = ()
    review: ReviewState = ""
    review_id: str | None = None
    review_runs: int = 0
    review_limits: int = 0  # how often the reviewer was at a limit
    review_complaint: str = ""
    redone: bool = False  # after its review, by itself: once
    gate_passed: bool = False  # a person let the chain go on in spite of its review
    spent: Spent = Spent()
    review_spent: Spent = Spent()

    @property
    def number(self) -> int:
        return self.index + 1


class ChainState(msgspec.Struct, frozen=True, kw_only=True):
    session_id: str
    status: ChainStatus = "running"
    created_at: str  # ISO 8601, UTC
    intent: str
    task_type: str  # what the intent was taken for
    chain_name: str
    auto_mode: bool
    phase: int | None
    current_step: int = 0
    gemini_session_id: str | None = None  # the reviewer's session, whichever tool it is of
    step_analyses: tuple[StepAnalysis, ...] = ()
    steps: tuple[StepRecord, ...]
    context: Context
    project: Project | None = None  # as the last transition left it
    to: str = ""  # the tool that a person wants for every step
    review_by: str = ""  # empty: no reviews
    min_score: int | None = None
    budget_usd: float | None = None
    timeout_s: float | None = None
    commands: str = ""  # a digest of what its commands said when it began
    runner: Process | None = None  # who runs it, or ran it last
    error: str = ""
    paused_until: int | None = None  # milliseconds since 1970: the tool that is next is at a limit until then
    updated_at: str = ""
    version: int = 1

    @property
    def spent(self) -> Spent:
        total = Spent()
        for step in self.steps:
            total = total.plus(step.spent).plus(step.review_spent)
        return total


def new_steps(chain: Chain, catalogue: Catalogue, first: int) -> tuple[StepRecord, ...]:
    """`first` is the number of the step to begin with; the ones before it are skipped."""
    return tuple(
        StepRecord(
            index=index,
            cmd=catalogue.commands[step.command].seed_name or step.command,
            args=step.args,
            status="skipped" if index + 1 < first else "pending",
            command=step.command,
        )
        for index, step in enumerate(chain.steps)
    )


def with_step(state: ChainState, index: int, changes: Mapping[str, Any], **of_chain: Any) -> ChainState:
    """The state with another step; `current_step` is the first one that is not done."""
    steps = tuple(
        msgspec.structs.replace(step, **changes) if step.index == index else step for step in state.steps
    )
    current = next((s.index for s in steps if s.status in ("pending", "running")), len(steps))
    failed = next((s.index for s in steps if s.status == "failed" and not s.passed_over), len(steps))
    return msgspec.structs.replace(state, steps=steps, current_step=min(current, failed), **of_chain)


def as_json(state: ChainState) -> bytes:
    return msgspec.json.format(msgspec.json.encode(state), indent=2) + b"\n"


def parse_state(data: bytes, session_id: str) -> ChainState:
    """The state of this chain. Raises InvalidInput that says what is wrong."""
    try:
        state = msgspec.json.decode(data, type=ChainState)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        what, _, place = str(error).partition(" - at `$")
        where = f"{place.strip('`.')}: " if place else ""
        raise InvalidInput(f"{where}{what}.") from error
    if not state.steps or [step.index for step in state.steps] != list(range(len(state.steps))):
        raise InvalidInput("steps: they are not numbered from 0 on.")
    if state.session_id != session_id:
        raise InvalidInput(f"session_id: it is “{state.session_id}”, of another chain.")
    return state
