"""A run of a coding-agent CLI without a terminal: the facts and the port, on one page. Pure.

An adapter turns a request into a plan, and what the process left behind into an outcome; `dispatch/` carries the plan
out. Both functions are total over what a CLI can print: garbage is a failure with a reason, never an exception, and
nothing counts as success that the CLI did not say itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, Protocol, runtime_checkable

import msgspec

from maestro.agents import Environment
from maestro.agents.launch import FileToWrite

RunMode = Literal[
    "analysis",  # reads, changes nothing: the CLI's own flags see to it
    "write",  # edits files and runs commands, and asks nobody
]
OutcomeStatus = Literal[
    "success",
    "failed",
    "denied",  # it answered, but was not allowed something that it tried
    "limit",  # a rate or quota limit: no failure of the run; `resets_at` where the CLI tells
    "refused",  # the model, or a hook of the person, would not take the prompt
]
# What an agent may do, in words that every CLI has a meaning for.
Ability = Literal["read", "search", "edit", "shell", "web"]
READING: tuple[Ability, ...] = ("read", "search")


class ModelUsage(msgspec.Struct, frozen=True):
    """Tokens of one model. All input is `input` + `cached` + `cache_write`."""

    model: str
    input: int = 0  # not from the cache, and not written to it
    output: int = 0  # with thinking
    cached: int = 0
    cache_write: int = 0
    thinking: int = 0  # the part of `output`, where the CLI tells
    cost_usd: float | None = None  # where the CLI tells


class Counters(msgspec.Struct, frozen=True):
    """What a CLI has counted: for one run or, where it says so, for the whole session up to now."""

    models: tuple[ModelUsage, ...] = ()
    cost_usd: float | None = None


class Denial(msgspec.Struct, frozen=True):
    tool: str
    detail: str = ""


class RunRequest(msgspec.Struct, frozen=True, kw_only=True):
    prompt_path: str  # absolute; never on the command line, which every user of the machine can read
    folder: str  # the run's own: absolute, ours alone; a plan's files go there
    cwd: str
    mode: RunMode
    env: Environment  # what the agent will see
    model: str = ""
    session_id: str = ""  # a UUID that the CLI's session shall have, where it takes one
    resume: str = ""  # the CLI's own id of the session to go on with
    abilities: tuple[Ability, ...] | None = None  # less than the mode allows
    allowed_tools: tuple[str, ...] = ()  # in the CLI's own words, in addition; never against the mode
    network: bool = False  # open to its commands, where the CLI's own sandbox would close it
    mcp_config: str = ""  # the path of a file in the form that all three CLIs share: {"mcpServers": {…}}
    mcp_servers: Mapping[str, Mapping[str, object]] = {}  # what that file holds, for CLIs that take no file
    before: Counters | None = None  # with `resume`: what the session had counted before this run
    schema: bytes = b""  # JSON Schema of the answer, for CLIs that take one
    # Nobody goes on with it: where the CLI can, it keeps no session, and leaves out the person's hooks and plugins.
    is_apart: bool = False
    is_trusted: bool = False  # the person trusts the folder: the CLI may be told so
    foreign_servers: tuple[str, ...] = ()  # MCP servers of the person's settings, to be kept out by name


class RunPlan(msgspec.Struct, frozen=True, kw_only=True):
    argv: tuple[str, ...]
    env: Mapping[str, str] = {}  # in addition to the request's
    stdin: str = "/dev/null"  # a path; never left open, for some CLIs read it to its end first
    files: tuple[FileToWrite, ...] = ()  # to be written before the start


class Output(msgspec.Struct, frozen=True, kw_only=True):
    """What a process has left behind."""

    stdout: bytes
    stderr: bytes
    exit_code: int | None  # None: a signal ended it
    ended_at: int  # milliseconds since 1970
    signal: int | None = None


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    status: OutcomeStatus
    text: str = ""  # the answer; of a run that did not come to its end, what it had said
    error: str = ""  # why it is no success
    retried: str = ""  # what it was trying again after when it was ended: the reason of most timeouts
    session_id: str = ""  # the CLI's own, to resume it
    usage: tuple[ModelUsage, ...] = ()
    cost_usd: float | None = None
    # Of a resumed session of which nobody knows what it had counted before, usage and cost are the session's.
    counts_session: bool = False
    totals: Counters | None = (
        None  # the session's counters now, where the CLI keeps such: `before` of the next run
    )
    denials: tuple[Denial, ...] = ()
    resets_at: int | None = None  # milliseconds since 1970


@runtime_checkable
class Headless(Protocol):
    """A CLI that can be run without a terminal. Agents that can implement this besides `Agent`."""

    name: str
    program: str  # what must be on PATH
    # Variables that a running session sets for its children: a run that a session starts must not see them.
    # `NAME_*` is every variable that begins so.
    session_variables: tuple[str, ...]

    def headless(self, request: RunRequest) -> RunPlan:
        """How to run it. Raises InvalidInput for what this CLI cannot do."""

    def outcome(self, output: Output, request: RunRequest) -> Outcome:
        """What became of it. Never raises."""

    def counted(self, transcript: bytes) -> Counters | None:
        """What a session's transcript says that it has counted so far; None where that is not needed or not told."""

    def spoken(self, line: bytes) -> str:
        """What a line of its output tells a person who looks on; nothing for most lines."""


@runtime_checkable
class DeniesSilently(Protocol):
    """A CLI whose output leaves out what it did not allow; only the session's transcript has it."""

    def silent_denials(self, transcript: bytes, since: int) -> tuple[Denial, ...]:
        """What was denied since then, in milliseconds since 1970. Never raises."""


@runtime_checkable
class BringsServers(Protocol):
    """A CLI that starts the MCP servers of the person's settings in every run, but for those that it is told by name."""

    def configured_servers(self, env: Environment) -> tuple[str, ...]:
        """Their names. Raises InvalidInput where they cannot be kept out."""


def abilities_of(request: RunRequest) -> tuple[Ability, ...] | None:
    """What the agent may do; None for everything. Reading alone is the most that analysis allows."""
    if request.mode == "write":
        return request.abilities
    wanted = request.abilities if request.abilities is not None else READING
    return tuple(ability for ability in wanted if ability in {"read", "search", "web"})


def since(now: Counters, request: RunRequest) -> tuple[Counters, bool]:
    """Counters of this run alone, from those of the whole session; and whether they still are the session's."""
    if not request.resume:
        return now, False
    if request.before is None:
        return now, True
    earlier = {usage.model: usage for usage in request.before.models}
    if len(now.models) == len(earlier) == 1:
        # Some CLIs do not name the model; one is one.
        earlier = {now.models[0].model: request.before.models[0]}
    models = [_less(usage, earlier.get(usage.model)) for usage in now.models]
    cost = now.cost_usd
    if cost is not None and request.before.cost_usd is not None:
        cost = _money(cost - request.before.cost_usd)
    used = tuple(usage for usage in models if any(usage_numbers(usage)))
    return Counters(used, cost), False


def usage_numbers(usage: ModelUsage) -> tuple[int, ...]:
    return usage.input, usage.output, usage.cached, usage.cache_write, usage.thinking


def _less(now: ModelUsage, before: ModelUsage | None) -> ModelUsage:
    if before is None:
        return now
    cost = now.cost_usd
    if cost is not None and before.cost_usd is not None:
        cost = _money(cost - before.cost_usd)
    return ModelUsage(
        now.model,
        input=max(0, now.input - before.input),
        output=max(0, now.output - before.output),
        cached=max(0, now.cached - before.cached),
        cache_write=max(0, now.cache_write - before.cache_write),
        thinking=max(0, now.thinking - before.thinking),
        cost_usd=cost,
    )


def _money(amount: float) -> float:
    """Differences of sums in floating point: a ten-thousandth of a cent is enough."""
    return max(0.0, round(amount, 8))


def denied_words(denials: tuple[Denial, ...]) -> str:
    return f"It was not allowed: {', '.join(sorted({denial.tool for denial in denials}))}."


def ending(output: Output) -> str:
    """How the process ended, in words."""
    if output.signal is not None:
        return f"It was ended by signal {output.signal}."
    return f"It ended with exit code {output.exit_code}."


BROKEN_OFF = "It ended before it had a result."


def silence(output: Output) -> str:
    """Why a run without a result is a failure: how it ended, and the last thing that it complained of."""
    if not output.stdout.strip() and not output.stderr.strip() and output.exit_code == 0:
        return "It ended with exit code 0 and said nothing."
    words = last_words(output.stderr) or last_words(output.stdout)
    return f"{ending(output)} {words}" if words else ending(output)


def last_words(text: bytes, limit: int = 600) -> str:
    """The end of what a program printed, whole lines where they fit."""
    shown = text.decode("utf-8", "replace").strip()
    if len(shown) <= limit:
        return shown
    tail = shown[-limit:]
    _, newline, rest = tail.partition("\n")
    return f"… {rest if newline and rest.strip() else tail}"


def joined(parts: Iterable[str]) -> str:
    return "\n\n".join(part for part in parts if part.strip())
