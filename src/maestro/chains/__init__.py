"""From an intent to finished, reviewed steps: the facts, on one page. Pure.

An intent is routed to a `Chain` (`Route`). A chain is steps one after another, each a `Command`: a prompt of ours that
one agent carries out in one run. The agent ends with a result block (`ResultBlock`); what it says of phase, issue,
specification and scratch folder is the `Context` of the steps after it. `project.json` (`Project`) tells how far the
work is, and so what comes next.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from maestro.agents.headless import RunMode

Clarity = Literal[0, 1, 2, 3]  # 0 nothing understood, 1 a guess, 2 clear, 3 named
CLEAR: Final = 2  # below this, Maestro asks instead of running

Field = Literal[
    "STATUS", "PHASE", "ARTIFACTS", "SUMMARY", "VERIFICATION", "VERDICT", "ISSUE", "SPEC", "SCRATCH",
]  # fmt: skip
FIELDS: Final[tuple[Field, ...]] = (
    "STATUS", "PHASE", "ARTIFACTS", "SUMMARY", "VERIFICATION", "VERDICT", "ISSUE", "SPEC", "SCRATCH",
)  # fmt: skip
ALWAYS: Final[tuple[Field, ...]] = ("STATUS", "ARTIFACTS", "SUMMARY")  # of every result block

StepStatus = Literal["SUCCESS", "FAILURE", "BLOCKED"]
StepVerdict = Literal["PASS", "GAPS", "FAIL"]

# What a command or a step may leave to be filled in: `{phase}`. The first five are the seed's; they travel from step to
# step. `state` is the project's own folder, `work` the one that this chain's artifacts are in.
Placeholder = Literal["description", "phase", "issue_id", "spec_session_id", "scratch_dir", "state", "work"]
ARGUMENTS: Final = ("description", "phase", "issue_id", "spec_session_id", "scratch_dir")
PLACEHOLDERS: Final = (*ARGUMENTS, "state", "work")

Workplace = Literal[
    "phase",  # <state>/phases/NN-slug: a chain of a phase; without one it cannot begin
    "scratch",  # <state>/scratch/…: work beside the roadmap, also in a project that has one
    "issue",  # <state>/issues/ISSUE-ID/
    "current",  # the phase that is named, else the current one, else a scratch folder
    "either",  # the phase that is named, else a scratch folder
    "none",
]


# Commands and chains: Markdown and TOML, the package's, the user's, the project's.

BUILT_IN: Final = "built in"


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """What one step does: a prompt with the facts that Maestro needs to run and to check it."""

    name: str
    seed_name: str = ""  # its other name: `maestro-plan`, `quality-test`
    purpose: str
    tool: str = ""  # the tool that runs it; empty: the chain's executor
    mode: RunMode = "write"
    inputs: tuple[Placeholder, ...] = ()  # what must be known before it can run
    args: str = '"{description}"'  # in its chain of one step
    work: Workplace = "either"  # likewise
    artifacts: tuple[str, ...] = ()  # files that it must make or change, with placeholders
    may_keep: tuple[str, ...] = ()  # those of them that may rightly stay as they were
    auto_flag: str = ""  # added to its arguments when nobody is there to be asked
    result: tuple[Field, ...] = ()  # what its result block must have beside `ALWAYS`
    formats: tuple[str, ...] = ()  # sections of formats.md that go with its prompt
    prompt: str
    place: str = BUILT_IN  # or the file that it comes from


class Step(msgspec.Struct, frozen=True):
    command: str
    args: str = ""  # with placeholders, as a person would write them after the command

    @property
    def gaps(self) -> bool:
        """Whether it plans only what a check found missing."""
        return "--gaps" in self.args.split()


class Chain(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    purpose: str
    steps: tuple[Step, ...]  # chains that it names are already taken apart
    work: Workplace = "either"
    place: str = BUILT_IN


class Catalogue(msgspec.Struct, frozen=True):
    """Every command, and every chain, also the one of one step for each command; by name."""

    commands: Mapping[str, Command]
    chains: Mapping[str, Chain]
    formats: Mapping[str, str]  # sections of formats.md by their title


# project.json

PhaseStatus = Literal["pending", "planned", "executed", "verified", "done", "blocked"]
ProjectStatus = Literal["active", "complete"]  # complete: its milestone is, and no next one has begun


class Phase(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    number: int
    title: str
    goal: str = ""
    status: PhaseStatus = "pending"
    analyzed: bool = False
    reviewed: bool = False
    tested: bool = False
    blocked_by: str = ""  # why it is blocked, in a sentence


class Project(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    goal: str = ""
    status: ProjectStatus = "active"
    milestone: str = ""
    milestones_done: tuple[str, ...] = ()
    phases: tuple[Phase, ...] = ()  # of this milestone
    current_phase: int | None = None
    updated: str = ""  # ISO 8601, UTC


# Routing.


class Route(msgspec.Struct, frozen=True, kw_only=True):
    """Where an intent leads. With `ask`, it is not run: that question is put to the person first."""

    chain: str  # empty: none was found
    clarity: Clarity
    ask: str = ""
    candidates: tuple[str, ...] = ()  # where words are not sure: chains or `continue`, the likeliest first
    issue: str = ""  # ISSUE-…
    phase: int | None = (
        None  # that it names, or that comes next; the current one is not meant by every intent
    )
    description: str = ""  # what the steps are told of it
    why: str = ""


# What goes from step to step.


class ResultBlock(msgspec.Struct, frozen=True, kw_only=True):
    """How an agent says that a step is over."""

    status: StepStatus
    summary: str
    artifacts: tuple[str, ...] = ()  # paths inside the project
    phase: int | None = None
    verification: str = ""
    verdict: StepVerdict | None = None
    issue: str = ""
    spec: str = ""
    scratch: str = ""


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """What the next step is told of the ones before it; saved with the chain's state."""

    description: str = ""
    phase: int | None = None
    issue_id: str = ""
    spec_session_id: str = ""
    scratch_dir: str = ""
    work: Workplace = "either"
