"""Reads the files of a project that say how it is tested, linted, type-checked, built and formatted.

They are read by confined.py: no link is followed, no pipe waited for, no more read than is looked at. A file that cannot be
read is one that says nothing.
"""

from __future__ import annotations

import os
import re
from typing import Final

import msgspec

from maestro import confined
from maestro.coordinate import AnswerRule, Policy
from maestro.coordinate.policy.project_commands import (
    CARGO,
    GITHUB,
    GITLAB,
    GO,
    LARGEST,
    LOCKS,
    MAKEFILES,
    PACKAGE,
    PYPROJECT,
    Commands,
    project_commands,
    still_as_confirmed,
)
from maestro.errors import LeadsOut

_MOST_WORKFLOWS: Final = 20
_WORKFLOW: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,70}\.ya?ml")


def commands_of(folder: str) -> Commands:
    """Returns the commands that the files of this folder hold."""
    return project_commands(_files(os.path.realpath(folder)))


def as_confirmed(policy: Policy, folder: str) -> tuple[Policy, tuple[AnswerRule, ...]]:
    """Leaves out the rules whose scripts, in this folder, are not as the person confirmed them. Returns these as well."""
    if not any(rule.digest for rule in policy.rules):
        return policy, ()
    found = commands_of(folder).found
    now = {(re.escape(one.command), one.source): one.text for one in found}
    changed = tuple(
        rule for rule in policy.rules if not still_as_confirmed(rule, now.get((rule.pattern, rule.source)))
    )
    kept = tuple(rule for rule in policy.rules if rule not in changed)
    return msgspec.structs.replace(policy, rules=kept), changed


def changed_words(changed: tuple[AnswerRule, ...], folder: str) -> str:
    """Returns the sentence for the person whose rules do not count any more; empty where all do."""
    if not changed:
        return ""
    names = ", ".join(f"“{rule.name or rule.source}”" for rule in changed[:5])
    more = f" and {len(changed) - 5} more" if len(changed) > 5 else ""
    one = len(changed) == 1
    return (
        f"{'This rule waits' if one else 'These rules wait'} until you confirm {'it' if one else 'them'} again, as the "
        f"{'script is' if one else 'scripts are'} not as you confirmed in {folder}: {names}{more}. "
        "Confirm: maestro coordinate init --again"
    )


def _files(root: str) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for name in (PACKAGE, PYPROJECT, CARGO, GO, GITLAB, *MAKEFILES, *_workflows(root)):
        try:
            found[name] = confined.read(os.path.join(root, name), LARGEST + 1)
        except (OSError, LeadsOut):
            continue
    for name in LOCKS:
        try:
            if confined.is_file(os.path.join(root, name)):
                found[name] = b""
        except (OSError, LeadsOut):
            continue
    return found


def _workflows(root: str) -> list[str]:
    try:
        names = confined.names(os.path.join(root, GITHUB))
    except (OSError, LeadsOut):
        return []
    return [GITHUB + name for name in sorted(names) if _WORKFLOW.fullmatch(name)][:_MOST_WORKFLOWS]
