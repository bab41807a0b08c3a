"""A folder of prompts: which agents they are for, what is wrong with them, and what every prompt begins with. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from maestro.dispatch.runs import LARGEST_PROMPT
from maestro.errors import InvalidInput, NotFound

ENDING: Final = ".txt"
_STRIPPED: Final = re.compile(r"[^A-Za-z0-9_-]")
_NOT_A_RESULT: Final = frozenset({"summary"})  # results/summary.json is the batch's own


class Named(NamedTuple):
    """Whose prompt a file is, and what its results are called."""

    file: str
    agent: str
    name: str


def prompt_files(names: Iterable[str], place: str) -> list[str]:
    """The prompts among the files of a folder, in order. One that we would not run is a fault, not passed over."""
    visible = sorted(name for name in names if not name.startswith("."))
    other = [name for name in visible if not name.endswith(ENDING)]
    if other:
        raise InvalidInput(
            f"Prompt file {other[0]} in {place} does not end in {ENDING}.", hint="Rename it, or move it away."
        )
    if not visible:
        raise InvalidInput(f"No prompt files found in {place}.", hint="Write one as AGENT.txt there.")
    return visible


def sanitized(stem: str) -> str:
    """An agent's name as a file's name gives it: letters, digits, dashes and underscores."""
    return _STRIPPED.sub("", stem)


def normalized(name: str) -> str:
    """As the roster has it."""
    return name.replace("_", "-")


def agent_of(stem: str, roster: Collection[str]) -> str:
    """The agent that a prompt is for. `coder.api` is for `coder` where there is no agent `coderapi`."""
    whole = sanitized(stem)
    first = sanitized(stem.partition(".")[0])
    if normalized(whole) not in roster and first and normalized(first) in roster:
        return first
    return whole


def named(
    files: Sequence[str], roster: Collection[str], *, taken: Mapping[str, str] | None = None
) -> list[Named]:
    """Every prompt with its agent and the name of its results: no two share one.

    `taken`: names that files have from before. Others get their agent's name, the file that is called exactly so
    first, and a number behind it where that is in use."""
    names = dict(taken or {})
    used = {name.lower() for name in names.values()} | _NOT_A_RESULT
    stems = {file: file.removesuffix(ENDING) for file in files}
    agents = {file: agent_of(stem, roster) for file, stem in stems.items()}
    for file in sorted(files, key=lambda file: (stems[file] != sanitized(stems[file]), file)):
        if file in names:
            continue
        wanted = (
            sanitized(stems[file].replace(".", "-"))
            if stems[file].startswith(f"{agents[file]}.")
            else agents[file]
        )
        if not wanted:
            raise InvalidInput(
                f"Prompt file {file} produces an empty agent name after sanitization.",
                hint="Name it after its agent: AGENT.txt",
            )
        names[file] = _free(wanted, used)
        used.add(names[file].lower())
    return [Named(file, agents[file], names[file]) for file in files]


def _free(wanted: str, used: Collection[str]) -> str:
    if wanted.lower() not in used:
        return wanted
    number = 2
    while f"{wanted}-{number}".lower() in used:
        number += 1
    return f"{wanted}-{number}"


def check_agents(prompts: Iterable[Named], roster: Collection[str]) -> None:
    for prompt in prompts:
        if normalized(prompt.agent) not in roster:
            raise NotFound(
                f"Agent '{prompt.agent}' not found. Available agents: {', '.join(sorted(roster))}.",
                hint=f"Rename {prompt.file}, add {normalized(prompt.agent)}.md to the roster, or use --any-agent.",
            )


def check_prompt(name: str, text: bytes) -> bytes:
    if len(text) > LARGEST_PROMPT:
        raise InvalidInput(
            f"Prompt file {name} exceeds 1MB size limit ({len(text)} bytes).",
            hint="Put the material into files and name them in the prompt.",
        )
    if not text.strip():
        raise InvalidInput(
            f"Prompt file {name} is empty or whitespace-only.", hint="Write the whole task into it."
        )
    return text


def with_preamble(root: str, text: bytes) -> bytes:
    """The prompt as the agent gets it: it knows nothing of the conversation that it comes from."""
    preamble = (
        f"PROJECT ROOT: {root}\n"
        "All file paths in this task are relative to this directory: read and write files by absolute paths below it,"
        " and run commands in it.\n\n"
    )
    return preamble.encode("utf-8", "surrogateescape") + text
