"""Gemini CLI: what its screen says. Pure. Recorded on 0.61.0."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from maestro.agents.gemini import dialogs
from maestro.agents.gemini.layout import Layout, layout
from maestro.agents.gemini.versions import VERSIONS
from maestro.agents.questions import Question
from maestro.agents.screen import Capture, Rule, Screen, ScreenState, first_match
from maestro.agents.terminal import TitleReading

_VERSION: Final = re.compile(r".{0,12}\bGemini CLI v(\d[\w.-]*)")
_CANCEL: Final = "(esc to cancel, "
_RETRYING: Final = re.compile(
    r"Trying to reach .* \(Attempt \d+/\d+\)|This is taking a bit longer, we're still on it\."
)
_QUEUED_MORE: Final = re.compile(r"    \.\.\. \(\+(\d{1,6}) more\)")
_QUEUE: Final = re.compile(r"  Queued \(press ↑ to edit\):$")
_FAILURE: Final = "✕ "
_LIMIT: Final = re.compile(
    r"RESOURCE_EXHAUSTED|quota|usage limit|rate limit|daily limit|\"code\":\s*429", re.IGNORECASE
)
_LIMIT_DIALOG: Final = re.compile(r"Usage limit reached for |You have (?:reached|exhausted) your ")
_CANCELLED: Final = "\u2139 Request cancelled."
_PLACEHOLDERS: Final = ("Type your message or @path/to/file", "Type your shell command")
_GOODBYE: Final = "Agent powering down. Goodbye!"
_RESUME: Final = re.compile(r"To resume this session: gemini --resume \S+")
_DIALOGS: Final[Mapping[str, re.Pattern[str]]] = {
    "trust": re.compile(r"Do you trust the files in this folder\?"),
    "sign_in": re.compile(r"How would you like to authenticate|Enter Gemini API Key"),
    "loop": re.compile(r"A potential loop was detected"),
}


class Screens:
    recorded_versions: tuple[str, ...] = tuple(one.version for one in VERSIONS)
    title_globs: Mapping[str, ScreenState] = {
        "◇ *": "idle",
        "✦ *": "working",
        "⏲ *": "working",
        "✋ *": "question",
    }

    # Without hooks of its own nothing but its title tells of a turn, and that does not tell how it ended.
    line_globs: tuple[str, ...] = ("(Attempt ", "This is taking a bit longer, ", _FAILURE)

    def read_title(self, title: str) -> TitleReading | None:
        """It names a confirmation and a question alike."""
        states: Mapping[str, ScreenState] = {"◇": "idle", "✦": "working", "⏲": "working", "✋": "question"}
        state = states.get(title[:1])
        return TitleReading(state, title) if state and title[1:2] == " " else None

    def read_screen(self, capture: Capture) -> Screen:
        view = layout(capture)
        versions = [match[1] for line in view.lines if (match := _VERSION.match(line))]
        version = versions[-1] if versions else ""
        return first_match(RULES, view, version)


# Dialogs: the screen ends with a frame.


def _asked(
    state: ScreenState, read: Callable[[Layout], Question | None]
) -> Callable[[Layout], Screen | None]:
    def rule(view: Layout) -> Screen | None:
        question = read(view)
        if question is None:
            return None
        evidence = question.text if state == "permission" else view.frame[-1].text or view.frame[0].text
        return Screen(state, evidence=evidence, question=question)

    return rule


def _dialog_with(state: ScreenState, pattern: re.Pattern[str]) -> Callable[[Layout], Screen | None]:
    def rule(view: Layout) -> Screen | None:
        line = next((row.text for row in view.frame if pattern.search(row.text)), None)
        if line is None:
            return None
        return Screen(state, evidence=line.strip(), question=dialogs.read_dialog(view))

    return rule


def _other_dialog(view: Layout) -> Screen | None:
    question = dialogs.read_dialog(view)
    if question is None:
        return None
    evidence = question.text.split("\n")[0] or view.frame[0].text.strip()
    return Screen("dialog", evidence=evidence, question=question)


def _left(view: Layout) -> Screen | None:
    """Its last words, in a frame; only a shell's lines may stand below."""
    if view.box is not None:
        return None
    for line in reversed(view.lines):
        if _GOODBYE in line or _RESUME.search(line):
            return Screen("exited", evidence=line.strip("│ "))
        if line.startswith((" > ", "✦ ")):
            return None
    return None


# The input box, and what stands right above it.


def _boxed(view: Layout, state: ScreenState, evidence: str) -> Screen:
    queued, more = _queued(view)
    return Screen(state, evidence=evidence.strip(), draft=_draft(view), queued=queued, queued_more=more)


def _status(view: Layout) -> str | None:
    """The lines right above the rule, if they say that Escape would cancel something."""
    if view.rule is None:
        return None
    at = view.rule - 1
    said: list[str] = []
    while at >= 0 and view.lines[at].strip() and len(said) < 3:
        said.insert(0, view.lines[at].strip())
        at -= 1
    words = " ".join(said)
    return words if _CANCEL in words else None


def _retrying(view: Layout) -> Screen | None:
    status = _status(view)
    return _boxed(view, "retrying", status) if status and _RETRYING.search(status) else None


def _working(view: Layout) -> Screen | None:
    status = _status(view)
    return _boxed(view, "working", status) if status else None


def _working_title(view: Layout) -> Screen | None:
    if view.box is None or view.capture.title[:2] not in {"✦ ", "⏲ "}:
        return None
    return _boxed(view, "working", view.capture.title)


def _last_words(view: Layout) -> str | None:
    """The error that the turn ended with, if nothing but hints of the CLI's own came after it."""
    if view.rule is None:
        return None
    for at in range(view.rule - 1, -1, -1):
        line = view.lines[at]
        if line.startswith(_FAILURE):
            below = view.lines[at + 1 : view.rule]
            more = [
                text.strip()
                for text in below[: next((n for n, text in enumerate(below) if not text.strip()), 0)]
            ]
            return " ".join([line, *more])
        if line.startswith(("✦ ", " > ", "│", "╰", "╭", _CANCELLED)):
            return None
    return None


def _limit(view: Layout) -> Screen | None:
    words = _last_words(view)
    return _boxed(view, "limit", words) if words and _LIMIT.search(words) else None


def _error(view: Layout) -> Screen | None:
    words = _last_words(view)
    return _boxed(view, "error", words) if words else None


def _idle(view: Layout) -> Screen | None:
    return None if view.box is None else _boxed(view, "idle", view.lines[view.box])


RULES: Final = (
    Rule("question", _asked("question", dialogs.read_question)),
    Rule("plan", _asked("plan", dialogs.read_plan)),
    Rule("confirmation", _asked("permission", dialogs.read_permission)),
    Rule("limit_dialog", _dialog_with("limit", _LIMIT_DIALOG)),
    *(Rule(name, _dialog_with("dialog", pattern)) for name, pattern in _DIALOGS.items()),
    Rule("left", _left),
    Rule("dialog", _other_dialog),
    Rule("retrying", _retrying),
    Rule("working", _working),
    Rule("working_title", _working_title),
    Rule("limit", _limit),
    Rule("error", _error),
    Rule("idle", _idle),
)


def _draft(view: Layout) -> str:
    """What a person has typed. What the box suggests stands behind a cursor of its own, which is a space."""
    if view.box is None:
        return ""
    lines = [line[3:] for line in _typed_lines(view)]
    text = "\n".join(lines).strip("\n").rstrip()
    sign = view.lines[view.box].strip()[:1]
    if sign == "!":
        return f"!{'' if _is_hint(view, text) else text}"
    # Where nothing is typed, it suggests something: a box without a word holds spaces. Its cursor is elsewhere.
    return "" if _is_hint(view, text) else text or " "


def _typed_lines(view: Layout) -> tuple[str, ...]:
    """From the sign to the blank line above the last paragraph, unless the box is that paragraph."""
    assert view.box is not None
    last = len(view.lines) - 1
    while last > view.box and view.lines[last - 1].strip():
        last -= 1
    return view.lines[view.box : last if last > view.box else len(view.lines)]


def _is_hint(view: Layout, text: str) -> bool:
    if text.strip() not in _PLACEHOLDERS:
        return False
    assert view.box is not None
    column = len(view.lines[view.box]) - len(view.lines[view.box][3:].lstrip())
    # Below the cursor its first letter is inverse; in a pane without the focus there is no cursor, and all is grey.
    styles = view.capture.style_at(view.box, 3), view.capture.style_at(view.box, column)
    return not view.is_styled or styles[0].inverse or bool(styles[1].colour)


def _queued(view: Layout) -> tuple[tuple[str, ...], int]:
    """Returns the prompts that it holds, of a long one the beginning, of many the first three; and how many more."""
    if view.rule is None:
        return (), 0
    for at in range(view.rule - 1, max(-1, view.rule - 10), -1):
        if _QUEUE.match(view.lines[at]):
            below = view.lines[at + 1 : view.rule]
            held = below[
                : next((n for n, line in enumerate(below) if not line.startswith("    ")), len(below))
            ]
            more = sum(int(match[1]) for line in held if (match := _QUEUED_MORE.match(line)))
            return tuple(line.strip() for line in held if not _QUEUED_MORE.match(line)), more
    return (), 0
