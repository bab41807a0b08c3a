"""What the stub API says, turn by turn, and what it was asked. Pure."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Api = Literal["anthropic", "openai", "gemini"]
Purpose = Literal["turn", "side", "count", "other"]  # side: titles, routing; whatever comes without tools


@dataclass(frozen=True)
class Text:
    text: str


@dataclass(frozen=True)
class Thinking:
    text: str


@dataclass(frozen=True)
class Call:
    """A tool that the model wants to use."""

    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Used:
    """Tokens; `fresh` are those of the input that came from no cache."""

    fresh: int = 100
    output: int = 20
    cache_read: int = 0
    cache_write: int = 0
    thinking: int = 0


@dataclass(frozen=True)
class Reply:
    blocks: tuple[Text | Thinking | Call, ...]
    used: Used = Used()
    delay: float = 0  # seconds before the first byte
    between: float = 0  # seconds between pieces of text
    cut: bool = False  # drop the connection in the middle of a text
    gate: threading.Event | None = None  # the first byte waits for this


@dataclass(frozen=True)
class Failure:
    status: int
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)
    kind: str = ""  # the API's own word for it, where it has one; else the usual for the status
    details: tuple[Mapping[str, Any], ...] = ()  # of Gemini's errors
    more: Mapping[str, Any] = field(default_factory=dict)  # what else OpenAI's error holds


@dataclass(frozen=True)
class Silence:
    """The request is taken, and nothing comes until `gate` opens; then the connection is closed."""

    gate: threading.Event


Turn = Reply | Failure | Silence


def says(text: str, **more: Any) -> Reply:
    return Reply((Text(text),), **more)


def calls(text: str, tool: str, **arguments: Any) -> Reply:
    return Reply((Text(text), Call(tool, arguments)))


@dataclass(frozen=True)
class Received:
    """One request, as the API received it."""

    number: int
    api: Api | None
    purpose: Purpose
    path: str
    body: Any

    def user_texts(self) -> list[str]:
        """Every text of the conversation that has the user's role, oldest first: of a person, of a hook, of the CLI."""
        if self.api == "anthropic":
            messages = [m["content"] for m in self.body["messages"] if m["role"] == "user"]
        elif self.api == "openai":
            messages = [m["content"] for m in self.body["input"] if m.get("role") == "user"]
        elif self.api == "gemini":
            messages = [m["parts"] for m in self.body["contents"] if m.get("role") == "user"]
        else:
            messages = []
        return [
            part["text"]
            for message in messages
            for part in ([{"text": message}] if isinstance(message, str) else message)
            if "text" in part
        ]

    def tool_results(self) -> list[str]:
        """What tools answered, oldest first, as one text each."""
        found = []
        if self.api == "anthropic":
            for message in self.body["messages"]:
                if isinstance(message["content"], list):
                    found += [p["content"] for p in message["content"] if p["type"] == "tool_result"]
        elif self.api == "openai":
            found = [i["output"] for i in self.body["input"] if i.get("type", "").endswith("call_output")]
        elif self.api == "gemini":
            for message in self.body["contents"]:
                found += [
                    p["functionResponse"]["response"] for p in message["parts"] if "functionResponse" in p
                ]
        return [one if isinstance(one, str) else repr(one) for one in found]


Scripted = (
    Turn | Callable[[Received], Turn]
)  # what is said may need a name that the CLI told with its request
