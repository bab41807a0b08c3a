"""Which tool does a chain's steps, and which one reviews them. Pure but for a look at PATH."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from typing import Final

from maestro.dispatch.delegate import adapter
from maestro.dispatch.tools import Toolbox
from maestro.errors import NotFound

_EXECUTORS: Final = ("codex", "claude", "gemini")
_REVIEWERS: Final = ("gemini", "claude", "codex")
REVIEW_ROLE: Final = "review"
_SCRIPTED: Final = "scripted"  # always there, and never what somebody means who names no tool


def installed(box: Toolbox, name: str, env: Mapping[str, str]) -> bool:
    return any(
        shutil.which(adapter(known, tool).program, path=env.get("PATH")) is not None
        for known, tool in box.candidates(name)
    )


def executor(box: Toolbox, wanted: str, env: Mapping[str, str]) -> str:
    """The tool that a person names; else the one of tools.toml, else Codex, else what is installed."""
    if wanted:
        return box.find(wanted)[0]
    if box.default:
        return box.find(box.default)[0]
    for name in (*_EXECUTORS, *sorted(box.tools)):
        if name != _SCRIPTED and name in box.tools and installed(box, name, env):
            return name
    raise NotFound(
        "No tool is installed that could do the steps.",
        hint="Install codex, claude or gemini, or describe one in tools.toml and name it with --to.",
    )


def reviewer(box: Toolbox, wanted: str, doing: str, env: Mapping[str, str]) -> str:
    """The tool that a person names; else the role `review`, else Gemini, else another than the one that does the steps.
    Empty where there is no other."""
    if wanted:
        return box.find(wanted)[0]
    if REVIEW_ROLE in box.roles:
        return box.find(REVIEW_ROLE)[0]
    for name in (*_REVIEWERS, *sorted(box.tools)):
        tool = box.tools.get(name)
        if tool is None or name in (doing, _SCRIPTED) or (tool.command and "analysis" not in tool.modes):
            continue
        if installed(box, name, env):
            return name
    return ""
