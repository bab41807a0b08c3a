"""What a script consists of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

ANY_ANSWER = "*"
DECLINED = "(declined)"
PERMISSION_ANSWERS = ("yes", "always", "no")


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
class Permission:
    command: str
    description: str
    result: str
    seconds: float
    answers: Mapping[str, tuple[Step, ...]]


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
class Exit:
    code: int


Step: TypeAlias = (
    Say | Think | Tool | Work | Run | Ask | Permission | ApiError | Limit | Wait | Silent | SetUsage | Exit
)


@dataclass(frozen=True)
class Script:
    name: str
    steps: tuple[Step, ...]
    on_prompt: tuple[Step, ...] = ()
    model: str = "scripted"
    placeholder: str = 'Try "say hello"'
