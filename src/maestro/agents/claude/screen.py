"""Claude Code: what its screen says. Pure.

Recorded on 2.1.197 and 2.1.325. The rules are tried in their order; the first that matches tells.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from msgspec.structs import replace

from maestro.agents.claude import approvals, dialogs
from maestro.agents.claude.layout import SIGN, Layout, layout
from maestro.agents.claude.versions import VERSIONS
from maestro.agents.questions import Question
from maestro.agents.screen import Capture, Rule, Screen, ScreenState, first_match
from maestro.agents.terminal import TitleReading

_VERSION: Final = re.compile(r"Claude Code v(\d+\.\d+\.\d+)")
_BOX_COLUMN: Final = 2  # where a draft begins
_SPINNER: Final = re.compile(r"[·✢✳✶✻✽*] \S.*?…(?: \(.*\))?$")
_RETRYING: Final = re.compile(r"[·✢✳✶✻✽*] .*\bRetrying in \d+\s?\w* · attempt \d+/\d+")
_BACKGROUND: Final = re.compile(r"✻ Waiting for \d+ background \w+ to finish")
_TURN_OVER: Final = re.compile(r"✻ \S+ for (?:\d+[hms] ?)+(?: · |$)")
_INTERRUPT: Final = "esc to interrupt"
_LIMIT: Final = re.compile(
    r"You've (?:hit|reached) your .*\b(?:limit|cap)\b|Claude usage limit reached"
    r"|(?:5-hour|Usage|Session|Weekly) limit reached|You're out of (?:extra )?usage|Credit balance is too low"
    r"|API Error: .*\b429\b",
    re.IGNORECASE,
)
_ERROR: Final = re.compile(
    r"API Error\b|Prompt is too long|Invalid API key|Please run /login|Request timed out"
)
_ABOVE_WORDS: Final = re.compile(r"(?:●| {2}⎿) ?\xa0? ?(?=\S)")
_RESUME: Final = re.compile(r"(?:Resume this session with:|claude .*--resume [0-9a-f-]{36})$")
_SHELL_PROMPT: Final = re.compile(rf".{{0,80}}[$#%>{SIGN}]$")
_NO_CONNECTION: Final = " Unable to connect to Anthropic services"
_QUEUE_HINT: Final = "Press up to edit queued messages"
_SEND_NOW: Final = re.compile(r" {2}\S.* to send now$")
_CONFIRM: Final = re.compile(
    r"\b(?:Enter to (?:confirm|continue|stay|select|submit)|Press Enter to continue|Esc to (?:cancel|exit|close|go back|skip))",
    re.IGNORECASE,
)
_DIALOGS: Final[Mapping[str, re.Pattern[str]]] = {
    "trust": re.compile(r"Accessing workspace:|Do you trust the files"),
    "api_key": re.compile(r"Detected a custom API key"),
    "bypass_warning": re.compile(r"WARNING: Claude Code running in Bypass Permissions mode"),
    "onboarding": re.compile(r"Choose the text style|Select login method|Let's get started"),
    "update": re.compile(r"\b(?:update|upgrade) (?:is )?(?:available|required)", re.IGNORECASE),
    "auto_mode_check": re.compile(r"Auto mode can't check actions"),
}


class Screens:
    recorded_versions: tuple[str, ...] = tuple(one.version for one in VERSIONS)
    # 2.1.197 turns a spinner in its title while it works; 2.1.325 shows ✳ whatever it does.
    title_globs: Mapping[str, ScreenState] = {"⠂ *": "working", "⠐ *": "working"}

    # While it tries again it writes nothing down and runs no hook.
    line_globs: tuple[str, ...] = ("Retrying in * attempt ",)

    def read_title(self, title: str) -> TitleReading | None:
        return TitleReading("working", title) if title.startswith(("⠂ ", "⠐ ")) else None

    def read_screen(self, capture: Capture) -> Screen:
        view = layout(capture)
        version = _version(capture)
        return first_match(RULES, view, version)


def _version(capture: Capture) -> str:
    found = [match[1] for line in capture.lines if (match := _VERSION.search(line[:60]))]
    return found[-1] if found else ""


# Dialogs: there is no input box.


def _asked(
    view: Layout, state: ScreenState, read: Callable[[Layout, int], Question | None], evidence: str = ""
) -> Screen | None:
    if view.dialog is None:
        return None
    question = read(view, view.dialog)
    if question is None:
        return None
    return Screen(state, evidence=evidence or view.last_paragraph(), question=question)


def _review(view: Layout) -> Screen | None:
    return _asked(view, "question", dialogs.read_review, "Ready to submit your answers?")


def _choice(view: Layout) -> Screen | None:
    hints = view.last_paragraph()
    if not hints.startswith("Enter to select · ") or "Esc to cancel" not in hints:
        return None
    return _asked(view, "question", dialogs.read_choice)


def _plan(view: Layout) -> Screen | None:
    screen = _asked(view, "plan", approvals.read_plan)
    if screen is None or screen.question is None:
        return None
    return replace(screen, evidence=screen.question.header or screen.question.text)


def _permission(view: Layout) -> Screen | None:
    hints = view.last_paragraph()
    if not hints.startswith("Esc to cancel") and not hints.endswith("(esc)"):
        return None
    last = view.lines[view.end - 1].strip()
    return _asked(view, "permission", approvals.read_permission, "" if hints.startswith("Esc") else last)


def _dialog_with(pattern: re.Pattern[str]) -> Callable[[Layout], Screen | None]:
    def read(view: Layout) -> Screen | None:
        if view.dialog is None:
            return None
        line = next((line for line in view.lines[view.dialog : view.end] if pattern.search(line)), None)
        return _asked(view, "dialog", approvals.read_dialog, line.strip()) if line else None

    return read


def _other_dialog(view: Layout) -> Screen | None:
    """Whatever else stands in the box's place, with its edge, and says how to leave it."""
    if not view.dialog or not _CONFIRM.search(view.last_paragraph()):
        return None
    return _asked(view, "dialog", approvals.read_dialog)


def _resume_line(view: Layout) -> Screen | None:
    """What it prints last. Nothing but a shell's lines may stand below."""
    if view.box is not None:
        return None
    below = [line for line in view.lines[: view.end] if line.strip()][-4:]
    found = next((line for line in reversed(below) if _RESUME.match(line)), None)
    return Screen("exited", evidence=found) if found else None


def _no_connection(view: Layout) -> Screen | None:
    """It gives up at its first start, and ends."""
    found = view.box is None and next((line for line in view.lines if line.startswith(_NO_CONNECTION)), None)
    return Screen("exited", evidence=found.strip()) if found else None


def _shell_prompt(view: Layout) -> Screen | None:
    if view.box is not None or not view.end:
        return None
    last = view.lines[view.end - 1].rstrip()
    if not _SHELL_PROMPT.match(last) or not any(_VERSION.search(line) for line in view.lines):
        return None
    return Screen("exited", evidence=last)


# The input box, and the lines above and below it.


def _boxed(view: Layout, state: ScreenState, evidence: str, *, queued: tuple[str, ...] = ()) -> Screen:
    return Screen(state, evidence=evidence.strip(" "), draft=_draft(view), queued=queued)


def _retrying(view: Layout) -> Screen | None:
    status = _status(view)
    if status.line is None or not _RETRYING.match(status.line):
        return None
    return _boxed(view, "retrying", status.line, queued=_queued(view, status))


def _working_footer(view: Layout) -> Screen | None:
    if view.box is None:
        return None
    footer = view.lines[view.box.bottom + 1 : view.end]
    line = next((line for line in footer if _INTERRUPT in line), None)
    return _boxed(view, "working", line, queued=_queued(view, _status(view))) if line else None


def _spinner(view: Layout) -> Screen | None:
    status = _status(view)
    if status.line is None or not _SPINNER.match(status.line):
        return None
    return _boxed(view, "working", status.line, queued=_queued(view, status))


def _background(view: Layout) -> Screen | None:
    status = _status(view)
    if status.line is None or not _BACKGROUND.match(status.line):
        return None
    return _boxed(view, "background", status.line)


def _last_words(state: ScreenState, pattern: re.Pattern[str]) -> Callable[[Layout], Screen | None]:
    """The turn ended with words of the CLI's own. They have the colour of a fault, which the model's never have.

    A bullet before them shares that colour; the corner that stands before words on a limit is grey.
    """

    def read(view: Layout) -> Screen | None:
        at = _last_block(view)
        head = _ABOVE_WORDS.match(view.lines[at]) if at is not None else None
        if at is None or head is None or not pattern.match(view.lines[at], head.end()):
            return None
        mark, words = view.colour_at(at, len(head[0]) - len(head[0].lstrip())), view.colour_at(at, head.end())
        is_faulty = words == mark if head[0].startswith("●") else bool(words) and words != mark
        return _boxed(view, state, view.lines[at]) if is_faulty or not view.is_styled else None

    return read


def _menu(view: Layout) -> Screen | None:
    """A list of commands or files covers what stands above the box: whether it works cannot be seen."""
    if view.box is None or not view.box.top:
        return None
    above = view.lines[view.box.top - 1]
    draft = _draft(view)
    if draft[:1] not in {"/", "@"} or not above.startswith("  "):
        return None
    return _boxed(view, "unknown", above)


def _idle(view: Layout) -> Screen | None:
    if view.box is None:
        return None
    return _boxed(view, "idle", view.lines[view.box.top + 1])


RULES: Final = (
    Rule("review", _review),
    Rule("question", _choice),
    Rule("plan", _plan),
    Rule("permission", _permission),
    *(Rule(name, _dialog_with(pattern)) for name, pattern in _DIALOGS.items()),
    Rule("dialog", _other_dialog),
    Rule("resume_line", _resume_line),
    Rule("no_connection", _no_connection),
    Rule("shell_prompt", _shell_prompt),
    Rule("retrying", _retrying),
    Rule("working_footer", _working_footer),
    Rule("spinner", _spinner),
    Rule("background", _background),
    Rule("menu", _menu),
    Rule("limit", _last_words("limit", _LIMIT)),
    Rule("error", _last_words("error", _ERROR)),
    Rule("idle", _idle),
)


class _Status(NamedTuple):
    """The line above the box that says what it does, and the lines between them."""

    at: int
    line: str | None


def _status(view: Layout) -> _Status:
    if view.box is None:
        return _Status(-1, None)
    at = view.box.top - 1
    while at >= 0 and (not view.lines[at] or view.lines[at].startswith(" ")):
        at -= 1
    return _Status(at, view.lines[at] if at >= 0 else None)


def _last_block(view: Layout) -> int | None:
    """Where what was last said begins: above the line that ends the turn, if there is one."""
    at = view.box.top - 1 if view.box else -1
    while at >= 0 and (
        not _ABOVE_WORDS.match(view.lines[at])
        and (view.lines[at][:1] in {"", " "} or _TURN_OVER.match(view.lines[at]))
    ):
        at -= 1
    return at if at >= 0 else None


def _draft(view: Layout) -> str:
    """What a person has typed. Suggestions and hints are faint, all but the letter under the cursor."""
    if view.box is None:
        return ""
    rows = range(view.box.top + 1, view.box.bottom)
    typed = [_typed(view, at) for at in rows]
    text = "\n".join(typed).strip("\n")
    if view.lines[view.box.top + 1].startswith("!"):
        return f"!{text}"
    text = "" if text == _QUEUE_HINT else text
    return text or view.capture.spaces_in(rows, _BOX_COLUMN)


def _typed(view: Layout, at: int) -> str:
    line = view.lines[at]
    kept = ""
    for column in range(_BOX_COLUMN, len(line)):
        style = view.capture.style_at(at, column)
        under_cursor = style.inverse and view.capture.style_at(at, column + 1).faint
        if not style.faint and not (under_cursor and column + 1 < len(line)):
            kept += line[column]
    return kept.rstrip()


def _queued(view: Layout, status: _Status) -> tuple[str, ...]:
    """Prompts that wait: 2.1.197 shows them between the spinner and the box, 2.1.325 above the spinner."""
    if view.box is None or status.line is None:
        return ()
    below = _prompts(view.lines[status.at + 1 : view.box.top], f"  {SIGN} ")
    if below:
        return tuple(below)
    at = status.at - 1
    while at >= 0 and not view.lines[at].strip():
        at -= 1
    if at < 0 or not _SEND_NOW.match(view.lines[at]):
        return ()
    first = at
    while first > 0 and (
        not view.lines[first - 1].strip() or view.lines[first - 1].startswith((f"{SIGN} ", "  "))
    ):
        first -= 1
    while first < at and not view.lines[first].startswith(f"{SIGN} "):
        first += 1
    while first < at and _is_taken(view, first):
        first += 1
        while first < at and not view.lines[first].startswith(f"{SIGN} "):
            first += 1
    return tuple(_prompts(view.lines[first:at], f"{SIGN} "))


def _is_taken(view: Layout, at: int) -> bool:
    """Whether the prompt on this line is being worked on: its words then have another colour than its sign."""
    if view.is_styled:
        return view.colour_at(at, 2) != view.colour_at(at, 0)
    above = next((line for line in reversed(view.lines[:at]) if line.strip()), "")
    return not above.startswith(("●", f"{SIGN} ", "  "))


def _prompts(lines: tuple[str, ...], sign: str) -> list[str]:
    prompts: list[list[str]] = []
    for line in lines:
        if line.startswith(sign):
            prompts.append([line.removeprefix(sign)])
        elif line.strip() and prompts:
            prompts[-1].append(line[len(sign) :])
    return ["\n".join(prompt) for prompt in prompts]
