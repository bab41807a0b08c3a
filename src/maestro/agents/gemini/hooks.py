"""Gemini CLI: what its hooks tell. Pure.

Checked on 0.61.0. A turn that ended with an error or was cancelled looks like one that ended well, but for its text. A
confirmation is told by a notification, which cannot answer it. PreCompress runs before every call of the model, whether or
not anything is compressed: it tells nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from maestro.agents.gemini.dialogs import ALL, FREE_TEXT
from maestro.agents.hooks import Happening, HookEvent, Payload, additional_context, told_by
from maestro.agents.questions import Answer, Option, Question, QuestionKind, several
from maestro.agents.records import Record, list_of, object_of, rest_of, text_of, words_in

ASKS: Final = "ask_user"
PLANS: Final = "exit_plan_mode"
_ASKED: Final = ("questions",)
_OPTION: Final = ("label", "description")
_PART: Final = ("question", "header", "type", "options", "multiSelect", "unconstrainedHeight")
_DETAILS: Final = (
    *("type", "title", "command", "prompt", "fileDiff", "toolName"),
    # The same again: the programs of the command, the file before and after the difference.
    *("rootCommand", "rootCommands", "originalContent", "newContent", "isModifying"),
)
_SAID_NOTHING: Final = "[no response text]"


class Hooks:
    hook_events: tuple[HookEvent, ...] = (
        HookEvent("SessionStart"),
        HookEvent("BeforeAgent", answers=True),
        HookEvent("AfterAgent"),
        HookEvent("BeforeTool", matcher=ASKS),
        HookEvent("AfterTool", matcher=ASKS),
        HookEvent("Notification"),
        HookEvent("SessionEnd"),
    )
    ends_alike: bool = True
    no_session_hooks: str = (
        "Gemini CLI reads hooks from your settings and the project's only; a settings file for one session must "
        "belong to root. `maestro install gemini` puts them into your settings."
    )

    def hook_settings(self, commands: Mapping[str, str]) -> Mapping[str, object]:
        events = [event for event in self.hook_events if event.name in commands]
        return {"hooks": {event.name: [_group(event, commands[event.name])] for event in events}}

    def read_hook(self, event: str, payload: Payload) -> Happening:
        return told_by(payload, _READERS.get(event, _other)(payload))

    def hook_context(self, event: str, text: str) -> bytes | None:
        return additional_context(event, text) if event == "BeforeAgent" else None

    def hook_answer(self, event: str, payload: Payload, question: Question, answer: Answer) -> bytes | None:  # noqa: ARG002  # none of its hooks can answer
        return None


def _group(event: HookEvent, command: str) -> Record:
    hook = {"name": f"maestro-{event.name}", "type": "command", "command": command}
    return {"matcher": event.matcher or "*", "hooks": [hook]}


def _other(payload: Payload) -> Happening:
    del payload
    return Happening("other")


def _session_start(payload: Payload) -> Happening:
    return Happening("session_started", source=text_of(payload.get("source")))


def _prompted(payload: Payload) -> Happening:
    return Happening("prompted", text=text_of(payload.get("prompt")))


def _ended_turn(payload: Payload) -> Happening:
    """Whether it failed or was cancelled, the transcript and the screen tell."""
    text = text_of(payload.get("prompt_response")).strip()
    return Happening("turn_ended", text="" if text == _SAID_NOTHING else text)


def _ended(payload: Payload) -> Happening:
    return Happening("session_ended", source=text_of(payload.get("reason")))


def _asked(payload: Payload) -> Happening:
    if text_of(payload.get("tool_name")) != ASKS:
        return Happening("other")
    return Happening("asked", question=question_of(object_of(payload.get("tool_input"))))


def question_of(given: Record) -> Question:
    """Returns what a call of `ask_user` asks."""
    parts = tuple(_part(object_of(part)) for part in list_of(given.get("questions")))
    return several(parts, words_in(given, _ASKED))


def _part(part: Record) -> Question:
    text, header = text_of(part.get("question")), text_of(part.get("header"))
    kind, beside = text_of(part.get("type")), words_in(part, _PART)
    if kind == "text":
        return Question("free_text", text, header=header, inputs=beside)
    given = [object_of(option) for option in list_of(part.get("options"))]
    labels = [
        (text_of(option.get("label")), text_of(option.get("description")), words_in(option, _OPTION))
        for option in given
    ]
    if kind == "yesno":
        beside = "\n".join([beside, *(words_in(option, ()) for option in given)]).strip()
        labels = [("Yes", "", ""), ("No", "", "")]
    is_multiple = part.get("multiSelect") is True and kind != "yesno"
    if is_multiple and len(labels) > 1:
        labels.append((ALL, "Select all options", ""))
    options = tuple(
        Option(label, about, number, preview=rest) for number, (label, about, rest) in enumerate(labels, 1)
    )
    free = Option(FREE_TEXT, number=len(options) + 1, is_free_text=True)
    shown: QuestionKind = "multi_choice" if is_multiple else "choice"
    return Question(shown, text, (*options, free), header=header, inputs=beside)


def _answered(payload: Payload) -> Happening:
    return Happening("answered" if text_of(payload.get("tool_name")) == ASKS else "other")


def _notified(payload: Payload) -> Happening:
    """A confirmation. Which options there are, only the screen tells; a question has a hook of its own."""
    details = object_of(payload.get("details"))
    kind = text_of(details.get("type"))
    if text_of(payload.get("notification_type")) != "ToolPermission" or kind in {"", ASKS}:
        return Happening("other")
    title = text_of(details.get("title"))
    if kind == PLANS:
        return Happening("asked", question=Question("plan", title))
    question = Question(
        "permission",
        title or "May it go on?",
        # The screen shows an edit in other words than the difference.
        preamble=text_of(details.get("fileDiff")),
        tool=text_of(details.get("toolName")) or kind,
        detail=text_of(details.get("command")) or text_of(details.get("prompt")),
        inputs=rest_of(details, _DETAILS),
    )
    return Happening("asked", question=question)


_READERS: Final = {
    "SessionStart": _session_start,
    "BeforeAgent": _prompted,
    "AfterAgent": _ended_turn,
    "BeforeTool": _asked,
    "AfterTool": _answered,
    "Notification": _notified,
    "SessionEnd": _ended,
}
