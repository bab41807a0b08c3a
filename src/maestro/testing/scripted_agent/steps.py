"""What a script consists of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

ANY_ANSWER = "*"
DECLINED = "(declined)"
PERMISSION_ANSWERS = ("yes", "always", "no")
PLAN_ANSWERS = ("yes", "no")

Imitated = Literal["claude", "codex", "gemini"]
IMITATED: tuple[Imitated, ...] = get_args(Imitated)
GateKind = Literal["trust", "bypass", "key", "hooks"]
CompactTrigger = Literal["manual", "auto"]
COMPACT_TRIGGERS: tuple[CompactTrigger, ...] = get_args(CompactTrigger)
GATES: tuple[GateKind, ...] = get_args(GateKind)


@dataclass(frozen=True)
class Usage:
    input_tokens: int = 100
    output_tokens: int = 20
    cache_read_input_tokens: int = 0
    cache_creation_input_tokens: int = 0


@dataclass(frozen=True)
class Option:
    label: str
    description: str = ""
    preview: str = ""  # what it would look like, drawn beside the options


@dataclass(frozen=True)
class Say:
    text: str


@dataclass(frozen=True)
class Think:
    text: str


@dataclass(frozen=True)
class Tool:
    name: str
    input: Mapping[str, Any] = field(default_factory=dict)
    result: str = ""
    seconds: float = 0.0
    is_error: bool = False


@dataclass(frozen=True)
class Work:
    seconds: float


@dataclass(frozen=True)
class Run:
    argv: tuple[str, ...]


@dataclass(frozen=True)
class Ask:
    question: str
    header: str
    options: tuple[Option, ...]
    multi: bool
    answers: Mapping[str, tuple[Step, ...]]


@dataclass(frozen=True)
class AskSeveral:
    parts: tuple[Ask, ...]
    answers: Mapping[str, tuple[Step, ...]]


@dataclass(frozen=True)
class Permission:
    command: str
    description: str
    result: str
    seconds: float
    answers: Mapping[str, tuple[Step, ...]]
    options: tuple[Option, ...] = ()  # none: those that the CLI always offers
    file: str = ""


@dataclass(frozen=True)
class Plan:
    plan: str
    answers: Mapping[str, tuple[Step, ...]]


@dataclass(frozen=True)
class Background:
    description: str
    seconds: float
    result: str


@dataclass(frozen=True)
class OwnDialog:
    """A question of the CLI itself: whether to trust the folder, and the like."""

    kind: GateKind


@dataclass(frozen=True)
class ApiError:
    status: int
    text: str
    retrying: float


@dataclass(frozen=True)
class Limit:
    text: str
    resets: str


@dataclass(frozen=True)
class Wait:
    pass


@dataclass(frozen=True)
class Silent:
    calls: int
    seconds: float
    tool: str


@dataclass(frozen=True)
class SetUsage:
    usage: Usage


@dataclass(frozen=True)
class Compact:
    """The agent's context is emptied."""

    trigger: CompactTrigger


@dataclass(frozen=True)
class Exit:
    code: int


Step: TypeAlias = (
    Say
    | Think
    | Tool
    | Work
    | Run
    | Ask
    | AskSeveral
    | Permission
    | Plan
    | Background
    | OwnDialog
    | ApiError
    | Limit
    | Wait
    | Silent
    | SetUsage
    | Compact
    | Exit
)


@dataclass(frozen=True)
class Script:
    name: str
    steps: tuple[Step, ...]
    on_prompt: tuple[Step, ...] = ()
    model: str = "scripted"
    placeholder: str = 'Try "say hello"'
    imitate: Imitated = "claude"
    notify_after: float = 6.0  # seconds that a question is open before the CLI notifies
    idle_after: float = 60.0  # seconds of idling before it notifies
    hookless: bool = False  # it runs no hooks, whatever its settings say
