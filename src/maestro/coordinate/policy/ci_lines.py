"""Returns the single commands that CI files run in the project's own folder. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from maestro.coordinate.policy.makefile_text import NotTold
from maestro.fleet.yaml_text import value_of

_MOST_BRACKETS: Final = 4_000  # the time that the library takes grows with the square of those that are open
_MOST_LINES: Final = 500
_NOT_SINGLE: Final = re.compile(
    r"\\$|<<|^\s*(?:if|then|else|elif|fi|for|while|until|do|done|case|esac|function|\{|\}|\(|\)|cd|pushd|set|export|source|\.)(?:\s|;|$)",
    re.MULTILINE,
)


def github_lines(text: str) -> list[str]:
    """Returns the lines of a workflow's `run:` steps. A step in another folder or shell has none that count here."""
    workflow = _loaded(text)
    lines: list[str] = []
    for job in _values(workflow.get("jobs")):
        steps = job.get("steps") if isinstance(job, dict) else None
        if not isinstance(steps, list) or _is_elsewhere(workflow) or _is_elsewhere(job):
            continue
        for step in steps:
            if (
                isinstance(step, dict)
                and "working-directory" not in step
                and step.get("shell") in {None, "bash", "sh"}
            ):
                lines += _single(step.get("run"))
    return lines[:_MOST_LINES]


def gitlab_lines(text: str) -> list[str]:
    """Returns the lines of the `script:` of every job."""
    lines: list[str] = []
    for job in _values(_loaded(text)):
        script = job.get("script") if isinstance(job, dict) else None
        given = list(_flat(script))
        # One line of a script may lead to another folder.
        if not any(_NOT_SINGLE.search(line) for line in given):
            lines += [line for one in given for line in _single(one)]
    return lines[:_MOST_LINES]


def _single(run: Any) -> list[str]:
    """Returns the commands of a block in which every line is one of its own."""
    if not isinstance(run, str) or _NOT_SINGLE.search(run):
        return []
    return [line.strip() for line in run.split("\n") if line.strip()]


def _is_elsewhere(place: dict[Any, Any]) -> bool:
    defaults = place.get("defaults")
    run = defaults.get("run") if isinstance(defaults, dict) else None
    return isinstance(run, dict) and bool({"working-directory", "shell"}.intersection(run))


def _flat(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _flat(one)


def _values(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else []


def _loaded(text: str) -> dict[Any, Any]:
    if sum(map(text.count, "[{")) > _MOST_BRACKETS:
        raise NotTold("it has too many brackets")
    value = value_of(text)
    return value if isinstance(value, dict) else {}
