"""Claude Code: what its hooks tell, and what a waiting hook answers. Pure.

While a PermissionRequest hook runs, its dialog is on the screen as well, and whoever answers first counts. When a person
has answered there, the hook goes on: nobody ends it before the CLI itself ends, so it must be told. What it prints then
is ignored, except for `interrupt`, which would stop a turn that the person let go on: so no answer has it. Esc, and a
hook's own `timeout`, end it by SIGTERM; after a timeout the dialog stays.

Answers to AskUserQuestion are words: a label, labels joined by commas as the CLI itself joins them, or anything else.
A plan is answered by keys alone: a hook's yes leaves plan mode for whatever mode the CLI prefers (2.1.325: `auto`), and
2.1.197 was seen not to take its no.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from maestro.agents.claude.dialogs import FREE_TEXT
from maestro.agents.hooks import Happening, HookEvent, Payload, additional_context
from maestro.agents.questions import Answer, Option, Question, several
from maestro.agents.records import Record, list_of, object_of, rest_of, text_of, words_in

_ASKS: Final = "AskUserQuestion"
_PLANS: Final = "ExitPlanMode"
_TELLS: Final = frozenset({"SessionStart", "UserPromptSubmit"})
_QUESTION_TOOLS: Final = f"{_ASKS}|{_PLANS}"
# Seconds. The CLI ends a hook after its own default unless it is told a time; a dialog may stay open for days.
_LONGEST_WAIT: Final = 7 * 24 * 3600
# The argument of its own tools that tells what a call is for.
_DETAILS: Final[Mapping[str, tuple[str, ...]]] = {
    "Bash": ("command",),
    "Edit": ("file_path",),
    "Glob": ("pattern",),
    "Grep": ("pattern",),
    "LS": ("path",),
    "MultiEdit": ("file_path",),
    "NotebookEdit": ("notebook_path",),
    "Read": ("file_path",),
    "WebFetch": ("url",),
    "WebSearch": ("query",),
    "Write": ("file_path",),
}
_HOW_LONG: Final = ("timeout", "run_in_background")  # of a command; it does the same
_OPTION: Final = ("label", "description", "preview")
_ASKED: Final = ("questions",)
_PLANNED: Final = ("plan", "planFilePath", "allowedPrompts")
_PART: Final = ("question", "header", "options", "multiSelect")
_BACKGROUND_WORK_FINISHED: Final = "<task-notification>"  # a turn begins, but nobody asked for it
_YES: Final = "Yes"
_NO: Final = "No"
_REFUSED: Final = "The person refused this. Stop, and wait to be told how to go on."


class Hooks:
    hook_events: tuple[HookEvent, ...] = (
        HookEvent("SessionStart", answers=True),
        HookEvent("UserPromptSubmit", answers=True),
        HookEvent("Stop"),
        HookEvent("StopFailure"),
        HookEvent("Notification"),
        HookEvent("PreCompact"),
        HookEvent("SessionEnd"),
        HookEvent("PreToolUse", matcher=_QUESTION_TOOLS),
        HookEvent("PostToolUse", matcher=_QUESTION_TOOLS),
        HookEvent("PermissionRequest", matcher="*", waits=True),
    )
    no_session_hooks: str = ""

    def hook_settings(self, commands: Mapping[str, str]) -> Mapping[str, object]:
        events = [event for event in self.hook_events if event.name in commands]
        return {"hooks": {event.name: [_group(event, commands[event.name])] for event in events}}

    def read_hook(self, event: str, payload: Payload) -> Happening:
        happening = _READERS.get(event, _other)(payload)
        return msgspec.structs.replace(
            happening,
            transcript_id=text_of(payload.get("session_id")),
            transcript_path=text_of(payload.get("transcript_path")),
            cwd=text_of(payload.get("cwd")),
        )

    def hook_context(self, event: str, text: str) -> bytes | None:
        return additional_context(event, text) if event in _TELLS else None

    def hook_answer(self, event: str, payload: Payload, question: Question, answer: Answer) -> bytes | None:
        if event != "PermissionRequest":
            return None
        tool, asked = text_of(payload.get("tool_name")), object_of(payload.get("tool_input"))
        if tool == _PLANS:
            return None
        decision = _answered(asked, answer) if tool == _ASKS else _permitted(question, answer)
        if decision is None:
            return None
        return msgspec.json.encode({"hookSpecificOutput": {"hookEventName": event, "decision": decision}})


def _group(event: HookEvent, command: str) -> Record:
    hook: Record = {"type": "command", "command": command}
    if event.waits:
        hook["timeout"] = _LONGEST_WAIT
    return {"matcher": event.matcher, "hooks": [hook]} if event.matcher else {"hooks": [hook]}


def _other(payload: Payload) -> Happening:
    del payload
    return Happening("other")


def _session_start(payload: Payload) -> Happening:
    source = text_of(payload.get("source"))
    return Happening("compacted" if source == "compact" else "session_started", source=source)


def _prompted(payload: Payload) -> Happening:
    text = text_of(payload.get("prompt"))
    return Happening("prompted", text="" if text.lstrip().startswith(_BACKGROUND_WORK_FINISHED) else text)


def _stopped(payload: Payload) -> Happening:
    running = [
        task
        for task in list_of(payload.get("background_tasks"))
        if text_of(object_of(task).get("status")) in {"", "running"}
    ]
    text = text_of(payload.get("last_assistant_message"))
    return Happening("turn_ended", text=text, background=len(running))


def _failed(payload: Payload) -> Happening:
    text = text_of(payload.get("last_assistant_message")) or text_of(payload.get("error"))
    return Happening("turn_failed", text=text)


def _notified(payload: Payload) -> Happening:
    kind = text_of(payload.get("notification_type"))
    return Happening("idle" if kind == "idle_prompt" else "other", text=text_of(payload.get("message")))


def _compacting(payload: Payload) -> Happening:
    return Happening("compacting", source=text_of(payload.get("trigger")))


def _ended(payload: Payload) -> Happening:
    return Happening("session_ended", source=text_of(payload.get("reason")))


def _asked(payload: Payload) -> Happening:
    question = question_of(text_of(payload.get("tool_name")), object_of(payload.get("tool_input")))
    return Happening("asked", question=question, call_id=text_of(payload.get("tool_use_id")))


def _answer_given(payload: Payload) -> Happening:
    return Happening("answered", call_id=text_of(payload.get("tool_use_id")))


_READERS: Final = {
    "SessionStart": _session_start,
    "UserPromptSubmit": _prompted,
    "Stop": _stopped,
    "StopFailure": _failed,
    "Notification": _notified,
    "PreCompact": _compacting,
    "SessionEnd": _ended,
    "PreToolUse": _asked,
    "PermissionRequest": _asked,
    "PostToolUse": _answer_given,
}


# What is asked


def question_of(tool: str, asked: Record) -> Question:
    """Returns what a call of this tool asks of a person."""
    if tool == _ASKS:
        parts = tuple(_part(object_of(part)) for part in list_of(asked.get("questions")))
        return several(parts, words_in(asked, _ASKED))
    if tool == _PLANS:
        return Question(
            "plan",
            "Would you like to proceed?",
            options=(Option(_YES), Option(_NO, is_free_text=True)),
            tool=tool,
            detail=text_of(asked.get("plan")),
            # A yes lets it do without asking what it lists here as well.
            inputs="\n".join(filter(None, [words_in(asked, _PLANNED), *_allowed(asked)])),
        )
    return Question(
        "permission",
        f"May it use {tool}?" if tool else "May it go on?",
        options=(Option(_YES, takes_notes=True), Option(_NO, takes_notes=True)),
        header=text_of(asked.get("description")),
        tool=tool,
        detail=_detail(tool, asked),
        inputs=_inputs(tool, asked),
    )


def _allowed(asked: Record) -> list[str]:
    """Returns what a plan wants to do without asking; which tool does it tells nothing more."""
    return [words_in(object_of(one), ("tool",)) for one in list_of(asked.get("allowedPrompts"))]


def _part(part: Record) -> Question:
    options = [object_of(option) for option in list_of(part.get("options"))]
    numbered = tuple(
        Option(
            text_of(option.get("label")),
            text_of(option.get("description")),
            number,
            takes_notes=part.get("multiSelect") is not True,
            preview="\n".join(filter(None, (text_of(option.get("preview")), words_in(option, _OPTION)))),
        )
        for number, option in enumerate(options, start=1)
    )
    if not any(text_of(option.get("preview")) for option in options):
        numbered += (Option(FREE_TEXT, number=len(numbered) + 1, is_free_text=True),)
    return Question(
        "multi_choice" if part.get("multiSelect") is True else "choice",
        text_of(part.get("question")),
        options=numbered,
        header=text_of(part.get("header")),
        inputs=words_in(part, _PART),
    )


def _detail(tool: str, asked: Record) -> str:
    """What a call is for: one argument of the CLI's own tools, and all that another tool is given."""
    found = next((text_of(asked.get(key)) for key in _DETAILS.get(tool, ()) if text_of(asked.get(key))), "")
    return found or rest_of(asked, ())


def _inputs(tool: str, asked: Record) -> str:
    known = next((key for key in _DETAILS.get(tool, ()) if text_of(asked.get(key))), None)
    return "" if known is None else rest_of(asked, (known, "description", *_HOW_LONG))


# What is answered


def _answered(asked: Record, answer: Answer) -> Record | None:
    """The call's own input with `answers`: for each question's text a label, labels, or words of one's own."""
    questions = [object_of(part) for part in list_of(asked.get("questions"))]
    parts = answer.parts if len(questions) > 1 else (answer,)
    if not questions or len(parts) != len(questions):
        return None
    answers: Record = {}
    notes: Record = {}
    for question, part in zip(questions, parts, strict=True):
        words = _words(_part(question), part)
        if words is None:
            return None
        answers[text_of(question.get("question"))] = words
        if part.choices and part.text and question.get("multiSelect") is not True:
            notes[text_of(question.get("question"))] = {"notes": part.text}
    given = {**asked, "answers": answers, **({"annotations": notes} if notes else {})}
    return {"behavior": "allow", "updatedInput": given}


def _words(question: Question, answer: Answer) -> str | None:
    chosen = [_label(question, choice) for choice in answer.choices]
    if None in chosen or (answer.text and not chosen and question.free_text is None):
        return None
    labels = [label for label in chosen if label is not None]
    if question.kind == "choice":
        if not labels:
            return answer.text or None
        return labels[0] if len(labels) == 1 else None
    if answer.text and question.free_text is None:
        return None
    return ", ".join([*labels, answer.text] if answer.text else labels) or None


def _label(question: Question, choice: int) -> str | None:
    if not 1 <= choice <= len(question.options):
        return None
    option = question.options[choice - 1]
    return None if option.is_free_text else option.label


def _permitted(question: Question, answer: Answer) -> Record | None:
    """Yes once, or no. What lasts, and words with a yes, can only be typed."""
    if not answer.choices:
        return {"behavior": "deny", "message": answer.text} if answer.text else None
    if len(answer.choices) != 1 or not 1 <= answer.choices[0] <= len(question.options):
        return None
    option = question.options[answer.choices[0] - 1]
    if option.label.startswith(_NO):
        return {"behavior": "deny", "message": answer.text or _REFUSED}
    return {"behavior": "allow"} if option.label == _YES and not answer.text else None
