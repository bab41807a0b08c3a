"""“It is done”, held against what else is known of the work. Pure; it tells, and never blocks.

Each source says one of three things: it agrees, it disagrees, or it cannot tell. A worker reports from within its turn,
so that it still works is no disagreement when it speaks for itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal

import msgspec

from maestro.redact import clean, fold, redact

Stand = Literal["agrees", "disagrees", "cannot tell"]

_SHOWN: Final = 160
_AT_WORK: Final = frozenset({"working", "thinking", "background", "retrying"})
_FAILING: Final = frozenset({"failed", "limited", "error"})

_COUNTED = r"\b(?!0\b)\d+ (?:\w+ ){0,2}(?:failed|failing|failures?|errors?)\b"
_BROKEN = (
    r"\b(?:tests?|build|suite|checks?|it|they|this|that|lint|types?)(?: \w+){0,2} "
    r"(?:fails?|(?:is|are) (?:still )?(?:failing|broken|red)|(?:does|do)(?: not|n't) (?:work|pass|compile|build|run))\b"
)
_UNABLE = r"\b(?:i|we) (?:could(?: not|n't)|can(?:not|'t| not)|was(?: not|n't) able to|am unable to|did(?: not|n't) manage)\b"
_UNDONE = (
    r"\bnot (?:yet )?(?:done|finished|complete|completed|implemented|tested|working|fixed)\b"
    r"|\b(?:i am|i'm) (?:stuck|blocked)\b|\b(?:i )?(?:gave up|have given up)\b|\bstill (?:fails?|failing|broken|to do|open)\b"
    r"|\bwithout (?:running|having run) (?:the |any )?tests?\b|\bskipped the tests?\b"
)
_FAILS: Final = re.compile(f"{_COUNTED}|{_BROKEN}|{_UNABLE}|{_UNDONE}")
_DENIED: Final = re.compile(
    r"\b(?:no|nothing|none|never|no longer|not)(?: \w+){0,3} (?:fails?|failed|failing|failures?|errors?|broken)\b"
    r"|\b(?:fixed|repaired|solved|mended|resolved)\b"
)
_ASKS: Final = re.compile(
    r"\?\s*$|\b(?:let me know|please (?:confirm|decide|choose|tell me|advise)|shall i|should i|do you want|would you like"
    r"|waiting for (?:your|you|the)|which (?:one|option) (?:do|should|would))\b"
)
_CHECKED: Final = re.compile(
    r"\b(?:tests?|checks?|suite|build|lint|mypy|ruff|pytest|types?)\b[^.!?]{0,40}\b(?:pass|passes|passed|passing|green|succeeds?|succeeded|clean|ok)\b"
    r"|\b\d+ passed\b|\ball (?:\d+ )?(?:tests? )?(?:pass|passed|green)\b|\bverified\b|\bi (?:ran|checked|tried|tested)\b"
)


class Work(msgspec.Struct, frozen=True):
    """What is known of a session's work when it says that it is done."""

    status: str = "unknown"  # as `session explain` tells it
    is_own_word: bool = True  # the session itself reports
    question: str = ""  # what it asks at this moment
    waits_for_human: int = 0  # of its matters, in the inbox
    changed: tuple[str, ...] | None = None  # files; None: nobody can tell
    has_worktree: bool = False
    last_text: str = ""
    message: str = ""
    left: tuple[str, ...] = ()  # why its tasks could not be completed
    busy_children: int = 0


class Point(msgspec.Struct, frozen=True):
    source: str
    stand: Stand
    says: str


class Completion(msgspec.Struct, frozen=True, rename="camel"):
    """`agrees`: nothing speaks against it."""

    agrees: bool
    points: tuple[Point, ...]

    @property
    def disagreement(self) -> str:
        """What speaks against it, in a sentence or two; empty when nothing does."""
        return " ".join(point.says for point in self.points if point.stand == "disagrees")


def check_completion(work: Work) -> Completion:
    points = (_status(work), *_open_matters(work), _changes(work), *_words(work))
    return Completion(all(point.stand != "disagrees" for point in points), points)


def _status(work: Work) -> Point:
    if work.question:
        return Point("status", "disagrees", f"It asks something: “{_short(work.question)}”.")
    if work.status in _AT_WORK:
        if work.is_own_word:
            return Point("status", "cannot tell", "It reports from within its turn.")
        return Point("status", "disagrees", "It still works.")
    if work.status in _FAILING:
        return Point("status", "disagrees", f"Its turn ended with an error ({work.status}).")
    if work.status in {"finished", "idle"}:
        return Point("status", "agrees", "It is idle.")
    return Point("status", "cannot tell", f"What it does is {work.status or 'unknown'}.")


def _open_matters(work: Work) -> Iterator[Point]:
    for reason in work.left:
        yield Point("tasks", "disagrees", _short(reason))
    if work.busy_children:
        yield Point("sessions", "disagrees", f"It has {_count(work.busy_children, 'worker')} still at work.")
    if work.waits_for_human:
        matters = _count(work.waits_for_human, "matter")
        yield Point("inbox", "disagrees", f"It has {matters} waiting for the human.")


def _changes(work: Work) -> Point:
    if work.changed is None:
        return Point("changes", "cannot tell", "Its folder is no git repository.")
    if work.changed:
        files = _count(len(work.changed), "file")
        named = ", ".join(_short(name, 60) for name in work.changed[:3])
        where = "in its worktree" if work.has_worktree else "in its folder, by whomever"
        return Point("changes", "agrees", f"{files} changed {where}: {named}{_more(work.changed)}.")
    if work.has_worktree:
        return Point("changes", "disagrees", "Nothing is changed in its worktree.")
    return Point("changes", "cannot tell", "Nothing uncommitted is in its folder.")


def _words(work: Work) -> Iterator[Point]:
    """Its last text is of before the report, or, looked at later, what it said after it."""
    said = _sentences(work.last_text)
    against = next(
        (one for one in said if _FAILS.search(one.lower()) and not _DENIED.search(one.lower())), ""
    )
    if against:
        yield Point("last text", "disagrees", f"It says: “{_short(against)}”")
    elif said and _ASKS.search(said[-1].lower()):
        yield Point("last text", "disagrees", f"It ends with a question: “{_short(said[-1])}”")
    elif said:
        yield Point("last text", "agrees", f"It says: “{_short(said[-1])}”")
    told = next(
        (
            one
            for one in (*_sentences(work.message), *said)
            if _CHECKED.search(one.lower()) and one != against
        ),
        "",
    )
    if told:
        yield Point("checks", "agrees", f"It says how it was checked: “{_short(told)}”")
    else:
        yield Point("checks", "cannot tell", "It does not say how it was checked.")


def _sentences(text: str) -> list[str]:
    folded = fold(redact(clean(text))).replace("\u2019", "'")
    return [part.strip() for part in re.split(r"(?<=[.!?])\s+", folded) if part.strip()]


def _short(text: str, most: int = _SHOWN) -> str:
    line = fold(redact(clean(text)))
    return line if len(line) <= most else line[: most - 1] + "…"


def _more(names: Sequence[str]) -> str:
    return f" and {len(names) - 3} more" if len(names) > 3 else ""


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
