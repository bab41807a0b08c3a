"""A turn of the play: how it begins, what is written in it, how it ends. No I/O; time and ids are given."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from datetime import datetime
from typing import Any, TypeAlias

from maestro.testing.scripted_agent.effects import (
    AwaitPrompt,
    BeginTurn,
    Block,
    Effect,
    EndTurn,
    Hook,
    Outcome,
    Prompt,
    PutBack,
    Reply,
    Show,
    Write,
)
from maestro.testing.scripted_agent.hooks import injected
from maestro.testing.scripted_agent.steps import Imitated, Usage
from maestro.testing.scripted_agent.transcript import NOT_RUN, Record, Transcript

Scene: TypeAlias = Generator[Effect, Reply, None]

_INJECTS = frozenset({"SessionStart", "UserPromptSubmit"})
_INTERRUPTED = {
    "codex": "Conversation interrupted - use /feedback if something went wrong",
    "gemini": "Request cancelled.",
}


class NoMoreInput(Exception):
    """Nobody will type again."""


class Turn:
    """Where the session stands: between turns, or in one."""

    def __init__(
        self,
        transcript: Transcript,
        *,
        now: Callable[[], datetime],
        values: Mapping[str, str],
        interactive: bool,
        imitate: Imitated,
        hooked: Mapping[str, Any],
    ) -> None:
        self.transcript = transcript
        self.values = dict(values)
        self.usage = Usage()
        self.last_text = ""
        self._now = now
        self._interactive = interactive
        self._imitate = imitate
        self._hooked = hooked  # the payload that all events share, for each event that has hooks
        self._began: datetime | None = None
        self._opened = False
        self._unanswered_prompt: str | None = None

    def hook(self, event: str, matched: str = "", **fields: Any) -> Hook | None:
        """The hooks of an event, where there are any."""
        if event not in self._hooked:
            return None
        prompt = {} if event == "SessionStart" else {"prompt_id": self.transcript.prompt_id}
        payload = {**self._hooked[event], **prompt, "hook_event_name": event, **fields}
        return Hook(event, matched, payload)

    def run_hook(self, event: str, matched: str = "", **fields: Any) -> Scene:
        hook = self.hook(event, matched, **fields)
        if hook is None:
            return
        outcome = yield hook
        if event in _INJECTS and isinstance(outcome, Outcome) and (text := injected(outcome.stdout)):
            yield Write(self.transcript.injected(event, matched, text))

    def compact(self, trigger: str, model: str) -> Scene:
        """The context is emptied: a summary takes its place, and the session starts anew with it."""
        yield from self.open()
        yield from self.run_hook("PreCompact", trigger, trigger=trigger, custom_instructions=None)
        yield Write(self.transcript.compacted(trigger))
        yield from self.run_hook("SessionStart", "compact", source="compact", model=model)
        yield Show(Block("info", "Conversation compacted"))

    def open(self) -> Scene:
        if self._began is None:
            self._began = self._now()
            yield BeginTurn()
        if self._interactive and not self._opened:
            self._opened = True
            for record in self.transcript.opening():
                yield Write(record)

    def end(self, *, failed: bool = False, background: tuple[Record, ...] = ()) -> Scene:
        """The turn is over, by itself: its hooks run."""
        if self._began is None:
            return
        if failed:
            # Codex runs no hook then, and Gemini CLI none that a session can be given.
            if self._imitate == "claude":
                yield from self.run_hook(
                    "StopFailure", error="unknown", last_assistant_message=self.last_text
                )
        else:
            yield from self.run_hook(
                "Stop",
                permission_mode="default",
                stop_hook_active=False,
                last_assistant_message=self.last_text,
                background_tasks=list(background),
                session_crons=[],
            )
        yield from self._close(failed=failed)

    def _close(self, *, failed: bool = False) -> Scene:
        if self._began is not None:
            seconds = (self._now() - self._began).total_seconds()
            self._began = None
            self._unanswered_prompt = None
            yield Write(self.transcript.turn_duration(seconds))
            yield EndTurn(seconds, failed)

    def await_prompt(self) -> Scene:
        """Ends the turn, idles, and takes the next prompt; what is typed into the shell mode is none."""
        yield from self.end()
        while True:
            message = "Claude is waiting for your input"
            idle = self.hook("Notification", "idle_prompt", message=message, notification_type="idle_prompt")
            reply = yield AwaitPrompt(idle)
            if not isinstance(reply, Prompt):
                raise NoMoreInput
            if not reply.is_shell:
                yield from self.take(reply)
                return
            for record in self.transcript.shell_command(reply.text):
                yield Write(record)
            yield Show(Block("shell", reply.text))
            yield Show(Block("result", NOT_RUN))

    def take(self, prompt: Prompt) -> Scene:
        yield from self.open()
        if prompt.was_queued or not self._interactive:
            if not prompt.was_queued:
                yield Write(self.transcript.enqueued(prompt.text))
            yield Write(self.transcript.dequeued())
        record = self.transcript.prompt(prompt.text)
        yield from self.run_hook("UserPromptSubmit", permission_mode="default", prompt=prompt.text)
        yield Write(record)
        yield Show(Block("prompt", prompt.text))
        self._unanswered_prompt = prompt.text
        self.last_text = ""
        self.values["prompt"] = prompt.text

    def block(self, block: Record, *, stop_reason: str) -> Scene:
        yield from self.open()
        self._unanswered_prompt = None
        yield Write(self.transcript.said(block, usage=self.usage, stop_reason=stop_reason))

    def call(self, name: str, tool_input: Mapping[str, Any]) -> Generator[Effect, Reply, Record]:
        """The record of a tool call, not yet written; its PreToolUse hooks have run."""
        yield from self.open()
        self._unanswered_prompt = None
        use = self.transcript.tool_use(name, tool_input, usage=self.usage)
        yield from self.run_hook(
            "PreToolUse",
            name,
            permission_mode="default",
            tool_name=name,
            tool_input=dict(tool_input),
            tool_use_id=_use_id(use),
        )
        return use

    def called(self, use: Record, details: Any, **tool_input: Any) -> Scene:
        """After a tool call: its PostToolUse hooks."""
        block = use["message"]["content"][0]
        yield from self.run_hook(
            "PostToolUse",
            block["name"],
            permission_mode="default",
            tool_name=block["name"],
            tool_input={**block["input"], **tool_input},
            tool_response=details,
            tool_use_id=block["id"],
            duration_ms=0,
        )

    def stopped_in(self, use: Record) -> Scene:
        yield Write(self.transcript.rejected(use))
        yield Show(Block("result", "Interrupted"))
        yield from self.interrupted(in_tool=True)

    def interrupted(self, *, in_tool: bool) -> Scene:
        """The user stopped the turn, and no hook tells: the play goes on with its next step when a prompt comes."""
        unanswered = self._unanswered_prompt
        if unanswered is not None and self._imitate == "claude":
            self.transcript.forget_prompt()
            self._unanswered_prompt = None
            self._began = None
            yield PutBack(unanswered)
        else:
            yield Write(self.transcript.interrupted(in_tool=in_tool))
            if self._imitate != "claude":
                yield Show(Block("info", _INTERRUPTED[self._imitate]))
            yield from self._close(failed=self._imitate != "claude")
        yield from self.await_prompt()


def _use_id(use: Record) -> str:
    identifier: str = use["message"]["content"][0]["id"]
    return identifier
