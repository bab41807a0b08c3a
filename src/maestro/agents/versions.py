"""The versions of a CLI that were tried, and how far each works: the facts and the port, on one page. Pure.

`tests/real` walks through all that Maestro does with a CLI, step by step, on each of these versions; a soak holds that
a step fails on a version exactly where the CLI's own table says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, Literal, Protocol, runtime_checkable

import msgspec

Part = Literal["launch", "read", "type", "answer", "hooks", "headless", "usage"]
State = Literal["yes", "degraded", "no"]

PARTS: Final[Mapping[Part, str]] = {
    "launch": "a session is started, and ended",
    "read": "its status is told from screen, title and transcript",
    "type": "prompts arrive, once and whole",
    "answer": "its questions are told and answered",
    "hooks": "its hooks tell what happens",
    "headless": "runs without a terminal: delegate, dispatch, chain",
    "usage": "tokens and cost are counted",
}
# Every step of the walk, and the part of the work that it shows. Where a part's first step fails, the part does not work.
STEPS: Final[Mapping[str, Part]] = {
    "first_prompt": "launch",
    "a_version_that_it_does_not_tell": "launch",
    "trust": "launch",
    "adopted_from_the_users_own_tmux": "launch",
    "status_while_it_works": "read",
    "api_error": "read",
    "retry": "read",
    "limit": "read",
    "prompt_while_idle": "type",
    "a_long_prompt": "type",
    "prompts_while_busy": "type",
    "prompts_while_it_is_stopped_at_random": "type",
    "first_characters": "type",
    "permission_given": "answer",
    "permission_refused": "answer",
    "a_permission_with_words": "answer",
    "choice_by_its_key": "answer",
    "choice_with_a_reason": "answer",
    "a_preview_with_a_reason_by_keys": "answer",
    "words": "answer",
    "words_instead_of_a_choice": "answer",
    "multiple_choice": "answer",
    "several_questions": "answer",
    "several_questions_by_keys": "answer",
    "plan_approved": "answer",
    "plan_with_words": "answer",
    "its_hooks_tell": "hooks",
    "a_waiting_coordinator_is_woken": "hooks",
    "run_with_a_tool": "headless",
    "analysis_writes_nothing": "headless",
    "a_bad_request_fails": "headless",
    "a_limit_is_a_limit": "headless",
    "a_broken_api": "headless",
    "silence_ends_at_the_deadline": "headless",
    "a_megabyte_arrives_whole": "headless",
    "a_resumed_session_counts_each_run": "usage",
}
_NUMBER: Final = re.compile(r"\d{1,9}(?:\.\d{1,9}){1,3}")


class Recorded(msgspec.Struct, frozen=True):
    """One version that took the walk."""

    version: str
    fails: Mapping[str, str] = {}  # steps that do not hold on it, and why


class Works(msgspec.Struct, frozen=True):
    state: State
    reason: str = ""


class Outlook(msgspec.Struct, frozen=True):
    """How far a version works."""

    version: str  # empty where it is not known
    is_recorded: bool
    nearest: str  # the recorded version that the parts are of
    parts: Mapping[Part, Works]

    @property
    def words(self) -> str:
        """Says in one sentence which version this is judged by."""
        if self.is_recorded:
            return ""
        return f"not recorded; nearest is {self.nearest}: degraded"


@runtime_checkable
class Versioned(Protocol):
    """A CLI of which it is recorded how far each version works."""

    name: str
    program: str  # the command on PATH
    versions: tuple[Recorded, ...]


def version_in(text: str) -> str:
    """Returns the first version number in what a program printed, or nothing."""
    found = _NUMBER.search(text)
    return found[0] if found else ""


def numbers(version: str) -> tuple[int, ...]:
    """Returns a version in a form that compares, of three numbers or more; an unknown one is older than all."""
    found = _NUMBER.match(version)
    told = tuple(map(int, found[0].split("."))) if found else ()
    return (*told, *(0,) * (3 - len(told))) if told else ()


def outlook(recorded: Sequence[Recorded], version: str) -> Outlook | None:
    """Tells how far this version works, by itself or by its nearest neighbour; None where nothing was recorded."""
    if not recorded:
        return None
    exact = next((one for one in recorded if one.version == version), None)
    one = exact or _nearest(recorded, version)
    parts = {part: _works(one, part) for part in PARTS}
    if exact is None:
        parts = {part: _doubted(works, one.version) for part, works in parts.items()}
    return Outlook(version, exact is not None, one.version, parts)


def _nearest(recorded: Sequence[Recorded], version: str) -> Recorded:
    """Returns the newest that is not newer: a CLI keeps what it had. Below all of them the oldest."""
    by_age = sorted(recorded, key=lambda one: numbers(one.version))
    older = [one for one in by_age if numbers(one.version) <= numbers(version)]
    return older[-1] if older else by_age[0 if version else -1]


def _works(one: Recorded, part: Part) -> Works:
    broken = {step: why for step, why in one.fails.items() if STEPS.get(step) == part}
    if not broken:
        return Works("yes")
    first = next(step for step, shown in STEPS.items() if shown == part)
    return Works("no" if first in broken else "degraded", " ".join(dict.fromkeys(broken.values())))


def _doubted(works: Works, nearest: str) -> Works:
    reason = works.reason or f"It was not tried on this version; it works on {nearest}."
    return Works("no" if works.state == "no" else "degraded", reason)
