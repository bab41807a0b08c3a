"""What an artifact must look like at the least, as formats.md says it to agents. Pure.

    Maestro looks whether `plan.md` begins with `# Plan` and has lines that begin with `## Tasks`, `### T`.

The sentence is both: what the agent reads, and what is checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Final, NamedTuple

_SENTENCE: Final = re.compile(
    r"^Maestro looks whether `([^`]+)` begins with `([^`]+)`(?: and has lines that begin with (.+))?\.$",
    re.MULTILINE,
)
_QUOTED: Final = re.compile(r"`([^`]+)`")


class Form(NamedTuple):
    pattern: str  # the end of its path, with wildcards
    first: str  # what its first line begins with
    lines: tuple[str, ...] = ()  # and what others do


def form_of(section: str) -> Form | None:
    """The form that a section of formats.md tells; None where it is checked otherwise."""
    found = _SENTENCE.search(section)
    return Form(found[1], found[2], tuple(_QUOTED.findall(found[3] or ""))) if found else None


def form_for(path: str, names: Iterable[str], formats: Mapping[str, str]) -> Form | None:
    """The form of this artifact, if it is one of the formats (`names`) that the command was told."""
    for name in names:
        form = form_of(formats.get(name, ""))
        if form is not None and PurePosixPath(path).match(form.pattern):
            return form
    return None


def form_fault(path: str, text: str, form: Form) -> str:
    """What is wrong with it, in a sentence; empty: nothing."""
    lines = [plain for line in text.removeprefix("\ufeff").splitlines() if (plain := _plain(line))]
    if not lines:
        return f"{path} is empty."
    if not lines[0].startswith(_plain(form.first)):
        return f"{path} does not begin with “{form.first}”, as its format asks."
    for wanted in form.lines:
        if not any(line.startswith(_plain(wanted)) for line in lines):
            return f"{path} has no line that begins with “{wanted}”, as its format asks."
    return ""


def _plain(line: str) -> str:
    """Bold or not is all the same."""
    return line.replace("**", "").strip()
