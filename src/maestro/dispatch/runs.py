"""What a run is, and what became of it: the two files of its folder, and its state. Pure."""

from __future__ import annotations

import re
from typing import Final, Literal

import msgspec

from maestro.agents.headless import Ability, Counters, Denial, ModelUsage, Outcome, RunMode
from maestro.errors import InvalidInput

RunStatus = Literal["success", "failed", "timeout", "cancelled", "denied", "limit", "refused"]
RunState = Literal[
    "success", "failed", "timeout", "cancelled", "denied", "limit", "refused",
    "running",
    "interrupted",  # whoever ran it is gone, and there is no result: never a success
]  # fmt: skip

COMMAND: Final = "command"  # stands for an agent's name where a tool is any program
RUN_FILE: Final = "run.json"
RESULT_FILE: Final = "result.json"
PROMPT_FILE: Final = "prompt.md"
STDOUT_FILE: Final = "stdout"
STDERR_FILE: Final = "stderr"
RUNNER_LOG: Final = "runner.log"  # of the process of its own; locked from before it starts until it has ended

DEFAULT_SECONDS: dict[RunMode, float] = {"write": 600.0, "analysis": 300.0}
LONGEST_SECONDS: Final = 7 * 86_400.0
LARGEST_PROMPT: Final = 1024 * 1024  # bytes

# Those of `errors.py` stay free: a run that hit a limit is not a command that was wrong.
EXIT_CODES: dict[RunState, int] = {
    "success": 0, "failed": 1, "denied": 20, "limit": 21, "refused": 22, "interrupted": 23,
    "timeout": 124, "cancelled": 130, "running": 0,
}  # fmt: skip

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class Process(msgspec.Struct, frozen=True):
    """One process of this machine, so that no other one is taken for it."""

    pid: int
    started: int  # in the kernel's ticks
    boot: str


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """`run.json`: what was asked, and who runs it. Written before the agent starts."""

    id: str
    tool: str
    agent: str  # the adapter that runs it
    mode: RunMode
    project: str  # its root: where this run is kept, and its tools are described
    cwd: str
    timeout_s: float
    started_at: int  # milliseconds since 1970
    runner: Process | None = None
    model: str = ""
    rule: str = ""
    session_id: str = ""
    resume: str = ""
    abilities: tuple[Ability, ...] | None = None
    allowed_tools: tuple[str, ...] = ()
    network: bool = False  # the person opened it to the run's commands
    mcp_config: str = ""
    earlier: Counters | None = None  # what an earlier run of the resumed session left its counters at
    schema: bytes = b""  # JSON Schema of the answer
    is_apart: bool = False  # nobody goes on with it, and nothing of the person's own takes part
    asked_by: str = ""  # the session that is told when it ends
    version: int = 1


class RunResult(msgspec.Struct, frozen=True, kw_only=True):
    """`result.json`: written once, when nothing of the run is alive any more."""

    id: str
    tool: str
    status: RunStatus
    text: str
    error: str
    session_id: str
    usage: tuple[ModelUsage, ...]
    cost_usd: float | None
    cost_is_estimate: bool  # by our own price list, for the CLI told tokens only
    counts_session: bool
    exit_code: int | None
    signal: int | None
    started_at: int
    ended_at: int
    duration_ms: int
    denials: tuple[Denial, ...] = ()
    resets_at: int | None = None
    totals: Counters | None = None
    survivors: tuple[int, ...] = ()
    version: int = 1


class RunSeen(msgspec.Struct, frozen=True, kw_only=True):
    """A run's folder, looked at."""

    folder: str
    state: RunState
    run: Run
    result: RunResult | None = None


def new_run_id(prefix: str, hour: int, minute: int, second: int, randomness: bytes) -> str:
    return f"{prefix}-{hour:02}{minute:02}{second:02}-{randomness[:2].hex()}"


def checked_id(given: str) -> str:
    """A run's id is the name of a folder, and never leads out of the one that it is in."""
    if not _ID.fullmatch(given) or ".." in given:
        raise InvalidInput(
            f"“{given}” cannot be the id of a run.",
            hint="Use up to 64 letters, digits, dots, dashes and underscores, the first a letter or digit.",
        )
    return given


def checked_seconds(given: float) -> float:
    if not 0 < given <= LONGEST_SECONDS:
        raise InvalidInput(
            f"A timeout of {given:g} s is not possible.", hint="Give seconds: more than 0, at most a week."
        )
    return given


def checked_prompt(prompt: bytes) -> bytes:
    if not prompt.strip():
        raise InvalidInput("The prompt is empty.", hint="Give some text, - for stdin, or @FILE.")
    if len(prompt) > LARGEST_PROMPT:
        raise InvalidInput(
            f"The prompt has {len(prompt)} bytes; at most {LARGEST_PROMPT} are possible.",
            hint="Put the material into files and name them in the prompt.",
        )
    return prompt


def result_of(
    run: Run,
    outcome: Outcome,
    *,
    how: Literal["exited", "timeout", "cancelled"],
    exit_code: int | None,
    signal: int | None,
    ended_at: int,
    survivors: tuple[int, ...] = (),
) -> RunResult:
    """What became of it. A deadline or a person's word counts more than whatever the agent printed last."""
    status: RunStatus = outcome.status if how == "exited" else how
    error = outcome.error
    if how == "timeout":
        retried = f" It was trying again after: {outcome.retried}" if outcome.retried else ""
        error = f"It did not end within {run.timeout_s:g} s and was ended.{retried}"
    elif how == "cancelled":
        error = "It was cancelled."
    if survivors:
        error += f" These processes would not end: {', '.join(map(str, survivors))}."
    return RunResult(
        id=run.id,
        tool=run.tool,
        status=status,
        text=outcome.text,
        error=error,
        session_id=outcome.session_id or run.resume or run.session_id,
        usage=outcome.usage,
        cost_usd=outcome.cost_usd,
        cost_is_estimate=False,
        counts_session=outcome.counts_session,
        exit_code=exit_code,
        signal=signal,
        started_at=run.started_at,
        ended_at=ended_at,
        duration_ms=max(0, ended_at - run.started_at),
        denials=outcome.denials,
        resets_at=outcome.resets_at,
        totals=outcome.totals,
        survivors=survivors,
    )
