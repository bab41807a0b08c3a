"""Codex CLI: what its screen says. Pure.

Recorded on 0.149.0, 0.160.1 and 0.166.0. While it streams a reply it shows no line that says so: then its title tells,
whose spinner turns, and that no line says how long the turn took. 0.149.0 never says how long.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from maestro.agents.codex import dialogs
from maestro.agents.codex.layout import SCROLLED, SIGN, Layout, last_line_above, layout, paragraph_start
from maestro.agents.codex.versions import VERSIONS
from maestro.agents.limits import is_limit
from maestro.agents.screen import Capture, Rule, Screen, ScreenState, first_match
from maestro.agents.terminal import TitleReading

_VERSION: Final = re.compile(r"\s*(?:│ )?>_ OpenAI Codex \(v(\d[\w.-]*)\)")
_SPINNER: Final = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_ACTION: Final = re.compile(r"\[ . \] Action Required\b")
_STATUS: Final = re.compile(r"[•◦] .+ \(.*\besc to interrupt\)(?: · .*)?$")
_RETRYING: Final = re.compile(r"[•◦] (?:Reconnecting|Retrying)\b")
_QUEUE: Final = re.compile(r"• (?:Messages to be submitted|Queued follow-up inputs)\b")
_QUEUE_HINT: Final = re.compile(r"    \S.* edit last queued message$")
_BETWEEN: Final = re.compile(r"(?:  [└↳] |    |  \s*$|$)")  # what may stand between the status and the box
_TURN_OVER: Final = re.compile(r"  Worked for ")
_NOTICE: Final = re.compile(r"• (?:Model changed|Unrecognized command|You ran|Tip:)")
_FAILURE: Final = "■ "
_LIMIT: Final = re.compile(r"out of credits|spending limit", re.IGNORECASE)
_INTERRUPTED: Final = re.compile(r"■ Conversation interrupted\b")
_PLACEHOLDERS: Final = ("Ask Codex to do anything",)
_RESUME: Final = re.compile(r"  codex resume [0-9a-f]{8}-[0-9a-f-]{27}$")
_LEFT: Final = ("Token usage: ", "To continue this session, run")
_DIALOGS: Final[Mapping[str, re.Pattern[str]]] = {
    "trust": re.compile(r"  Folder access$|  .*(?:Trust this folder\?|Do you trust the contents)"),
    "hooks_review": re.compile(r"  Hooks need review|  Lifecycle hooks from config"),
    "update": re.compile(r"  .*Update available!"),
}


class Screens:
    recorded_versions: tuple[str, ...] = tuple(one.version for one in VERSIONS)
    title_globs: Mapping[str, ScreenState] = {
        f"[{_SPINNER}] *": "working",
        "[[] ? ] Action Required*": "question",
    }

    # No hook tells that it tries again, or that a turn failed.
    line_globs: tuple[str, ...] = ("Reconnecting... ", _FAILURE)

    def read_title(self, title: str) -> TitleReading | None:
        """It names an approval and a question alike."""
        if _turns(title):
            return TitleReading("working", title)
        return TitleReading("question", title) if _ACTION.match(title) else None

    def read_screen(self, capture: Capture) -> Screen:
        view = layout(capture)
        versions = [match[1] for line in view.lines if (match := _VERSION.match(line))]
        version = versions[-1] if versions else ""
        return first_match(RULES, view, version)


def _turns(title: str) -> bool:
    return title[:1] in _SPINNER and title[1:2] == " "


# Dialogs: the last paragraph tells which keys they take.


def _asked(
    state: ScreenState, read: Callable[[Layout], dialogs.Seen | None]
) -> Callable[[Layout], Screen | None]:
    def rule(view: Layout) -> Screen | None:
        if view.hints is None:
            return None
        seen = read(view)
        return seen and Screen(state, evidence=view.lines[seen.at].strip(), question=seen.question)

    return rule


def _dialog_with(pattern: re.Pattern[str]) -> Callable[[Layout], Screen | None]:
    def rule(view: Layout) -> Screen | None:
        if view.hints is None:
            return None
        line = next((line for line in reversed(view.lines) if pattern.match(line)), None)
        if line is None:
            return None
        return Screen("dialog", evidence=line.strip(), question=dialogs.read_dialog(view))

    return rule


def _sign_in(view: Layout) -> Screen | None:
    """Nobody is signed in: it fills the screen, from the top, and is there only before a session begins."""
    question = dialogs.read_sign_in(view)
    if question is None:
        return None
    # What goes on below the edge of a small screen tells nothing of its keys.
    return Screen("dialog", evidence=view.hints or view.lines[-1].strip(), question=question)


def _other_dialog(view: Layout) -> Screen | None:
    if view.hints is None:
        return None
    return Screen("dialog", evidence=view.hints, question=dialogs.read_dialog(view))


# The input box, and what stands right above it.


def _boxed(view: Layout, state: ScreenState, evidence: str) -> Screen:
    return Screen(state, evidence=evidence.strip(), draft=_draft(view), queued=_queued(view))


def _status(view: Layout) -> int | None:
    """The line that says what it does: above the box, and above the prompts that it holds."""
    at = (view.box or 0) - 1
    while at >= 0 and (_BETWEEN.match(view.lines[at]) or _QUEUE.match(view.lines[at])):
        at -= 1
    if at < 0 or not _STATUS.match(view.lines[at]):
        return None
    # The model may say the same words, but it does not say them faintly.
    is_own = not view.is_styled or view.capture.style_at(at, view.lines[at].rindex("(")).faint
    return at if is_own else None


def _retrying(view: Layout) -> Screen | None:
    at = _status(view)
    if at is None or not _RETRYING.match(view.lines[at]):
        return None
    return _boxed(view, "retrying", view.lines[at])


def _working(view: Layout) -> Screen | None:
    at = _status(view)
    return None if at is None else _boxed(view, "working", view.lines[at])


def _working_title(view: Layout) -> Screen | None:
    if view.box is None or not _turns(view.capture.title):
        return None
    return _boxed(view, "working", view.capture.title)


def _failure(view: Layout) -> tuple[str, str] | None:
    """The error that the turn ended with, its first line and all of it: the last paragraph above the box."""
    if view.box is None:
        return None
    end = last_line_above(view.lines, view.box)
    start = paragraph_start(view.lines, end)
    if end < 0 or not view.lines[start].startswith(_FAILURE):
        return None
    if (
        view.is_styled
        and not view.capture.style_at(start, 0).colour
        and not _INTERRUPTED.match(view.lines[start])
    ):
        return None
    return view.lines[start], " ".join(line.strip() for line in view.lines[start : end + 1])


def _interrupted(view: Layout) -> Screen | None:
    failure = _failure(view)
    return _boxed(view, "idle", failure[0]) if failure and _INTERRUPTED.match(failure[0]) else None


def _limit(view: Layout) -> Screen | None:
    failure = _failure(view)
    if failure is None or not (is_limit(failure[1]) or _LIMIT.search(failure[1])):
        return None
    return _boxed(view, "limit", failure[1])


def _error(view: Layout) -> Screen | None:
    failure = _failure(view)
    return _boxed(view, "error", failure[0]) if failure else None


def _unfinished(view: Layout) -> Screen | None:
    """Something was said, but not how long the turn took. A title without a spinner denies that it goes on."""
    if view.box is None or view.capture.title:
        return None
    for at in range(view.box - 1, -1, -1):
        line = view.lines[at]
        if _TURN_OVER.match(line) or line.startswith((_FAILURE, f"{SIGN} ")):
            return None
        if line.startswith("• ") and not _NOTICE.match(line):
            return _boxed(view, "working", line)
    return None


def _idle(view: Layout) -> Screen | None:
    return None if view.box is None else _boxed(view, "idle", view.lines[view.box])


def _left(view: Layout) -> Screen | None:
    """What it prints last. Only a shell's lines may stand below."""
    if view.box is not None:
        return None
    below = [line for line in view.lines if line.strip()][-8:]
    said = any(line.startswith(_LEFT) for line in below)
    found = next((line for line in reversed(below) if _RESUME.match(line) or line.startswith(_LEFT[0])), None)
    return Screen("exited", evidence=found.strip()) if said and found else None


RULES: Final = (
    Rule("question", _asked("question", dialogs.read_question)),
    Rule("unanswered", _asked("question", dialogs.read_unanswered)),
    Rule("approval", _asked("permission", dialogs.read_approval)),
    Rule("plan", _asked("plan", dialogs.read_plan)),
    # Behind what a session asks: the model may have written the words with which it begins.
    Rule("sign_in", _sign_in),
    *(Rule(name, _dialog_with(pattern)) for name, pattern in _DIALOGS.items()),
    Rule("dialog", _other_dialog),
    Rule("retrying", _retrying),
    Rule("working", _working),
    Rule("working_title", _working_title),
    Rule("interrupted", _interrupted),
    Rule("limit", _limit),
    Rule("error", _error),
    Rule("unfinished", _unfinished),
    Rule("idle", _idle),
    Rule("left", _left),
)


def _draft(view: Layout) -> str:
    """What a person has typed. What the box only suggests is faint."""
    if view.box is None:
        return ""
    lines = [line[2:] for line in view.lines[view.box : view.footer]]
    if _is_scrolled(view, view.box):
        lines[0] = lines[0].removesuffix(SCROLLED).rstrip()
        lines.insert(0, SCROLLED)
    text = "\n".join(lines).strip("\n")
    if view.lines[view.box].startswith("!"):
        return f"!{text}"
    is_hint = view.capture.style_at(view.box, 2).faint if view.is_styled else text in _PLACEHOLDERS
    if text.strip():
        return "" if is_hint else text
    return view.capture.spaces_in(range(view.box, view.footer), 2)


def _is_scrolled(view: Layout, at: int) -> bool:
    """Whether lines are hidden above this one: a faint arrow at its right end says so."""
    line = view.lines[at]
    is_own = not view.is_styled or view.capture.style_at(at, len(line) - 1).faint
    return line.endswith(f"  {SCROLLED}") and is_own


def _queued(view: Layout) -> tuple[str, ...]:
    """Prompts between the status and the box, each with an arrow before it."""
    prompts: list[list[str]] = []
    at = (view.box or 0) - 1
    while at >= 0 and (_BETWEEN.match(view.lines[at]) or _QUEUE.match(view.lines[at])):
        at -= 1
    is_queue = False
    for line in view.lines[at + 1 : view.box or 0]:
        if _QUEUE.match(line):
            is_queue = True
        elif is_queue and line.startswith("  ↳ "):
            prompts.append([line[4:]])
        elif is_queue and prompts and line.startswith("    ") and not _QUEUE_HINT.match(line):
            prompts[-1].append(line[4:])
    return tuple("\n".join(prompt) for prompt in prompts)
