"""Finds the issue and the phase that an intent names. Pure."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from maestro.chains import Project

_TRACKED: Final = r"[a-z]{2,10}-\d{1,6}"  # an id of a tracker, such as ABC-123
_NOUN: Final = r"(?:issues?|bugs?|tickets?)"
_ISSUE: Final = re.compile(
    rf"\b(?:{_NOUN}\s+)?(?P<own>issue-[a-z0-9]+(?:-[a-z0-9]+)*)"
    rf"|\b{_NOUN}[\s:]+(?P<tracked>{_TRACKED})\b|\b(?P<before>{_TRACKED})\s+{_NOUN}\b"
    rf"|\b{_NOUN}\s*(?:no\.?\s*|number\s*|nr\.?\s*)?#?(?P<counted>\d{{1,6}})\b"
    r"|(?<![\w&/#])#(?P<marked>\d{1,5})\b(?![0-9a-f])"
)
_ALONE: Final = re.compile(rf"[#\[(]?({_TRACKED}|\d{{1,6}})[\])]?")
_PULL_REQUEST: Final = re.compile(r"\b(?:pr|pull request|merge request|mr)\s*#?\d+")
_COLOUR: Final = re.compile(r"\b(?:colou?r|background|hex)\b")
_PHASE: Final = re.compile(r"\b(?:phase|etappe|fase)\s*#?(\d{1,3})\b|第?\s*(\d{1,3})\s*阶段|阶段\s*(\d{1,3})")
_THIS_PHASE: Final = re.compile(r"\b(?:this|current|the) phase\b")


def plain(text: str) -> str:
    """Returns the words in one case, with single spaces."""
    return " ".join(unicodedata.normalize("NFKC", text[:2_000]).casefold().split())


def is_issue(words: str) -> bool:
    """Returns whether the text is the id of an issue and nothing else."""
    text = plain(words).rstrip(".!?")
    return bool(_ALONE.fullmatch(text) and not text.isdecimal()) or bool(
        (found := _ISSUE.fullmatch(text)) and _of_match(found, text)
    )


def issue_in(words: str) -> str:
    """Returns the issue that it names, as ISSUE-12; empty where it names none. `ABC-123` counts alone, or beside a noun
    for issues: a text is full of names such as UTF-8."""
    text = plain(words).rstrip(".!?")
    if alone := _ALONE.fullmatch(text):
        return f"ISSUE-{alone[1].upper()}".replace("ISSUE-ISSUE-", "ISSUE-")
    if _PULL_REQUEST.search(text):
        return ""
    return next((issue for found in _ISSUE.finditer(text) if (issue := _of_match(found, text))), "")


def _of_match(found: re.Match[str], text: str) -> str:
    own, tracked = found["own"], found["tracked"] or found["before"]
    if own:  # a word such as “issue-tracker” is no id
        return str(own).upper() if any(letter.isdigit() for letter in own) else ""
    if tracked:
        return f"ISSUE-{tracked.upper()}"
    if found["marked"] and _COLOUR.search(text):
        return ""
    return f"ISSUE-{found['counted'] or found['marked']}"


def phase_in(words: str, project: Project | None) -> int | None:
    """Returns the phase that it names, by its number or as the one in work."""
    text = plain(words)
    found = _PHASE.search(text)
    if found is None:
        return project.current_phase if project and _THIS_PHASE.search(text) else None
    return next((int(group) for group in found.groups() if group), 0) or None
