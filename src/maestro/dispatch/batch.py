"""What a batch is: its agents, how each came off, and the files of its folder. Pure."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from maestro.agents.headless import RunMode
from maestro.dispatch.runs import EXIT_CODES, Process, RunResult, RunStatus

PROMPTS: Final = "prompts"
RESULTS: Final = "results"
RUNS: Final = "runs"  # <name>.<attempt>: a run's folder each
EARLIER: Final = "earlier"  # what earlier batches of this folder left
BATCH_FILE: Final = "batch.json"
CHANGES_FILE: Final = "changes.json"  # which files each agent changed
LOCK_FILE: Final = "lock"
SUMMARY_FILE: Final = "summary.json"
FOUND_FILE: Final = "found.json"  # in a run's folder: what was found of it after its dispatcher had died

MOST_FAILURES: Final = 100  # exit codes end at 255, and a shell has its own meanings for those over 125

Isolation = Literal["", "worktree"]
AgentStatus = Literal[
    "success", "failed", "timeout", "cancelled", "denied", "limit", "refused",
    "not_run",  # the batch came to its end, or to its budget's, first
]  # fmt: skip


class BatchAgent(msgspec.Struct, frozen=True, kw_only=True):
    """One prompt for one agent."""

    name: str  # of its results; no two in a batch are the same
    agent: str  # in the roster
    prompt: str  # the file in prompts/
    tool: str
    model: str = ""


class Batch(msgspec.Struct, frozen=True, kw_only=True):
    """`batch.json`: what was asked, and who runs it. Written before the first agent starts."""

    id: str
    agents: tuple[BatchAgent, ...]
    root: str  # the project's folder that agents work in, or have a checkout of
    mode: RunMode
    isolate: Isolation = ""
    started_at: int = 0  # milliseconds since 1970
    ended_at: int | None = None
    runner: Process | None = None
    version: int = 1


class Found(msgspec.Struct, frozen=True):
    """`found.json`: what was left of an attempt whose dispatcher died."""

    words: str
    at: int
    processes_ended: int = 0
    output_bytes: int = 0
    is_finished: bool = False  # its output was whole: its result is beside this


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One run of an agent of the batch that is over."""

    number: int
    result: RunResult | None  # None: it was interrupted, and `found` tells the rest
    found: Found | None = None


class AgentEnd(msgspec.Struct, frozen=True, kw_only=True):
    """How an agent came off, all its attempts together."""

    agent: BatchAgent
    status: AgentStatus
    attempts: tuple[Attempt, ...] = ()
    reason: str = ""  # of one that was not run

    @property
    def result(self) -> RunResult | None:
        return self.attempts[-1].result if self.attempts else None


def run_id(batch_id: str, name: str, attempt: int) -> str:
    """Its processes are found by this id, whoever started them: no other run has it."""
    return f"{batch_id}.{name}.{attempt}"


def exit_code(status: AgentStatus, result: RunResult | None) -> int:
    """What stands in NAME.exit: 0 for success and nothing else, 124 for our own deadline.

    An agent that ends with 124 by itself has that code too, and the status `failed`."""
    if status == "success":
        return 0
    if status == "timeout" or result is None:
        return EXIT_CODES["timeout"] if status == "timeout" else 255
    if status == "cancelled":
        return EXIT_CODES["cancelled"]
    if result.exit_code:
        return result.exit_code
    return 128 + result.signal if result.signal else EXIT_CODES[status_of(status)]


def status_of(status: AgentStatus) -> RunStatus:
    return "failed" if status == "not_run" else status
