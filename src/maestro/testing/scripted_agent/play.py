"""The play itself: steps in, effects out, what came of them back in. No I/O; time and ids are given."""

from __future__ import annotations

import shlex
from collections import deque
from collections.abc import Callable, Generator, Mapping
from datetime import datetime
from typing import Any, TypeAlias

from maestro.testing.scripted_agent import steps
from maestro.testing.scripted_agent.dialog import Answer, Choice, Consent
from maestro.testing.scripted_agent.effects import (
    AwaitPrompt,
    BeginTurn,
    Block,
    Busy,
    Effect,
    EndTurn,
    Execute,
    Outcome,
    Prompt,
    PutBack,
    PutQuestion,
    Reply,
    Show,
    Write,
)
from maestro.testing.scripted_agent.script import fill
from maestro.testing.scripted_agent.steps import ANY_ANSWER, DECLINED, Option, Script, Step, Usage
from maestro.testing.scripted_agent.transcript import Record, Transcript, question_input

LONGEST_OUTPUT = 30_000
_API_ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


Scene: TypeAlias = Generator[Effect, Reply, None]


class _NoMoreInput(Exception):
    """Nobody will type again."""


class _Exited(Exception):
    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Play:
    """One session of the scripted agent. `run` yields effects and returns the exit code."""

    def __init__(
        self,
        script: Script,
        transcript: Transcript,
        *,
        now: Callable[[], datetime],
        values: Mapping[str, str],
        interactive: bool,
    ) -> None:
        self._script = script
        self._transcript = transcript
        self._now = now
        self._values = dict(values)
        self._interactive = interactive
        self._pending: deque[Step] = deque()
        self._usage = Usage()
        self._turn_began: datetime | None = None
        self._opened = False
        self._unanswered_prompt: str | None = None

    def run(self, first_prompt: str | None = None) -> Generator[Effect, Reply, int]:
        try:
            if first_prompt is not None:
                yield from self._take(Prompt(first_prompt))
            yield from self._play_all(self._script.steps)
            while self._interactive or self._script.on_prompt:
                yield from self._await_prompt()
                yield from self._play_all(self._script.on_prompt)
        except _NoMoreInput:
            return 0
        except _Exited as exited:
            return exited.code
        return 0

    def _play_all(self, steps_to_play: tuple[Step, ...]) -> Scene:
        self._pending.extend(steps_to_play)
        while self._pending:
            yield from self._play(self._pending.popleft())
        yield from self._end_turn()

    def _play(self, step: Step) -> Scene:
        match step:
            case steps.Say(text):
                yield from self._say(text)
            case steps.Think(text):
                yield from self._block({"type": "thinking", "thinking": text, "signature": ""})
            case steps.Work(seconds):
                yield from self._open_turn()
                if (yield Busy(seconds)):
                    yield from self._interrupted(in_tool=False)
            case steps.Tool():
                yield from self._tool(step)
            case steps.Silent(calls, seconds, tool):
                for number in range(calls, 0, -1):
                    path = {"file_path": f"part-{number}.txt"}
                    self._pending.appendleft(steps.Tool(tool, path, "", seconds))
            case steps.Run(argv):
                yield from self._run(tuple(fill(word, self._values) for word in argv))
            case steps.Ask():
                yield from self._ask(step)
            case steps.Permission():
                yield from self._permission(step)
            case steps.ApiError():
                yield from self._api_error(step)
            case steps.Limit(text, resets):
                text = f"{text} · resets {resets}" if resets else text
                yield from self._fail(text, status=429, error="rate_limit")
            case steps.Wait():
                yield from self._await_prompt()
            case steps.SetUsage(usage):
                self._transcript.close_message()
                self._usage = usage
            case steps.Exit(code):
                yield from self._end_turn()
                raise _Exited(code)

    def _open_turn(self) -> Scene:
        if self._turn_began is None:
            self._turn_began = self._now()
            yield BeginTurn()
        if self._interactive and not self._opened:
            self._opened = True
            for record in self._transcript.opening():
                yield Write(record)

    def _end_turn(self) -> Scene:
        if self._turn_began is not None:
            seconds = (self._now() - self._turn_began).total_seconds()
            self._turn_began = None
            self._unanswered_prompt = None
            yield Write(self._transcript.turn_duration(seconds))
            yield EndTurn(seconds)

    def _await_prompt(self) -> Scene:
        yield from self._end_turn()
        reply = yield AwaitPrompt()
        if not isinstance(reply, Prompt):
            raise _NoMoreInput
        yield from self._take(reply)

    def _take(self, prompt: Prompt) -> Scene:
        yield from self._open_turn()
        if prompt.was_queued or not self._interactive:
            if not prompt.was_queued:
                yield Write(self._transcript.enqueued(prompt.text))
            yield Write(self._transcript.dequeued())
        yield Write(self._transcript.prompt(prompt.text))
        yield Show(Block("prompt", prompt.text))
        self._unanswered_prompt = prompt.text
        self._values["prompt"] = prompt.text

    def _block(self, block: Record) -> Scene:
        yield from self._open_turn()
        reason = "tool_use" if _calls_a_tool(self._pending) else "end_turn"
        self._unanswered_prompt = None
        yield Write(self._transcript.said(block, usage=self._usage, stop_reason=reason))

    def _say(self, text: str) -> Scene:
        filled = fill(text, self._values)
        yield from self._block({"type": "text", "text": filled})
        yield Show(Block("text", filled))

    def _call(self, name: str, tool_input: Mapping[str, Any]) -> Generator[Effect, Reply, Record]:
        yield from self._open_turn()
        self._unanswered_prompt = None
        return self._transcript.tool_use(name, tool_input, usage=self._usage)

    def _tool(self, tool: steps.Tool) -> Scene:
        use = yield from self._call(tool.name, tool.input)
        yield Write(use)
        yield Show(Block("tool", tool_line(tool.name, tool.input)))
        if (yield Busy(tool.seconds)):
            yield from self._stopped_in(use)
            return
        details: Any = f"Error: {tool.result}" if tool.is_error else _details(tool.name, tool.result)
        yield Write(self._transcript.tool_result(use, tool.result, is_error=tool.is_error, details=details))
        yield Show(Block("result", tool.result or "(no output)"))

    def _run(self, argv: tuple[str, ...]) -> Scene:
        command = {"command": shlex.join(argv)}
        use = yield from self._call("Bash", command)
        yield Write(use)
        yield Show(Block("tool", tool_line("Bash", command)))
        outcome = yield Execute(argv)
        if not isinstance(outcome, Outcome):
            yield from self._stopped_in(use)
            return
        output = "\n".join(part.rstrip("\n") for part in (outcome.stdout, outcome.stderr) if part)
        output = output[:LONGEST_OUTPUT]
        failed = outcome.exit_code != 0
        content = f"Exit code {outcome.exit_code}\n{output}".rstrip("\n") if failed else output
        details: Any = f"Error: {content}"
        if not failed:
            details = _shell_details(outcome.stdout[:LONGEST_OUTPUT], outcome.stderr[:LONGEST_OUTPUT])
        yield Write(self._transcript.tool_result(use, content, is_error=failed, details=details))
        yield Show(Block("result", content or "(no output)"))

    def _ask(self, ask: steps.Ask) -> Scene:
        asked = Choice(ask.question, ask.header, ask.options, multi=ask.multi)
        question = question_input(ask.question, ask.header, ask.options, multi=ask.multi)
        use = yield from self._call("AskUserQuestion", question)
        answer = yield PutQuestion(asked)
        assert isinstance(answer, Answer)
        # The real CLI too keeps an open question out of its transcript until it is answered.
        yield Write(use)
        if answer.declined:
            labels = " / ".join(option.label for option in ask.options)
            declined = f"User declined to answer questions\n⎿  · {ask.question} ({labels})"
            yield Show(Block("text", declined))
            yield Write(self._transcript.rejected(use))
        else:
            answers = {ask.question: answer.text}
            details = {**question, "answers": answers, "annotations": {}}
            content = f'User answered: "{ask.question}"="{answer.text}".'
            yield Show(Block("text", f"User answered the question:\n⎿  · {ask.question} → {answer.text}"))
            yield Write(self._transcript.tool_result(use, content, is_error=False, details=details))
        self._values["answer"] = answer.text
        self._branch(ask.answers, DECLINED if answer.declined else answer.text)
        if answer.ends_turn:
            yield from self._interrupted(in_tool=True)

    def _permission(self, step: steps.Permission) -> Scene:
        tool_input = {"command": step.command, "description": step.description or step.command}
        use = yield from self._call("Bash", tool_input)
        yield Write(use)
        yield Show(Block("tool", tool_line("Bash", tool_input)))
        options = (Option("Yes"), Option("Yes, and always allow it in this project"), Option("No"))
        answer = yield PutQuestion(Consent(step.command, step.description, options))
        assert isinstance(answer, Answer)
        word = "no" if answer.declined else answer.text
        self._values["answer"] = word
        if word == "no":
            yield Write(self._transcript.rejected(use))
            yield Show(Block("result", "User rejected this command"))
            self._branch(step.answers, word)
            yield from self._interrupted(in_tool=True)
            return
        if (yield Busy(step.seconds)):
            yield from self._stopped_in(use)
            return
        scope = "always" if word == "always" else "once"
        decision = {"decision": "accept", "source": "user_temporary", "grantScope": scope}
        details = _shell_details(step.result, "")
        yield Write(
            self._transcript.tool_result(
                use, step.result, is_error=False, details=details, permissionDecision=decision
            )
        )
        yield Show(Block("result", step.result or "(no output)"))
        self._branch(step.answers, word)

    def _branch(self, answers: Mapping[str, tuple[Step, ...]], answer: str) -> None:
        chosen = answers.get(answer)
        if chosen is None and answer != DECLINED:
            chosen = answers.get(ANY_ANSWER)
        self._pending.extendleft(reversed(chosen or ()))

    def _api_error(self, step: steps.ApiError) -> Scene:
        yield from self._open_turn()
        note = f"{step.status} {step.text} · Retrying in {max(1, round(step.retrying))}s · attempt 1/10"
        if step.retrying and (yield Busy(step.retrying, note)):
            yield from self._interrupted(in_tool=False)
            return
        error = "rate_limit" if step.status == 429 else "unknown"
        yield from self._fail(f"API Error: {step.status} {step.text}", status=step.status, error=error)

    def _fail(self, text: str, *, status: int, error: str) -> Scene:
        yield from self._open_turn()
        kind = _API_ERROR_TYPES.get(status, "api_error")
        yield Write(self._transcript.api_error(text, status=status, error=error, kind=kind))
        yield Show(Block("error", text))
        yield from self._end_turn()

    def _stopped_in(self, use: Record) -> Scene:
        yield Write(self._transcript.rejected(use))
        yield Show(Block("result", "Interrupted"))
        yield from self._interrupted(in_tool=True)

    def _interrupted(self, *, in_tool: bool) -> Scene:
        """The user stopped the turn: the play goes on with its next step when a prompt comes."""
        unanswered = self._unanswered_prompt
        if unanswered is not None:
            self._transcript.forget_prompt()
            self._unanswered_prompt = None
            self._turn_began = None
            yield PutBack(unanswered)
        else:
            yield Write(self._transcript.interrupted(in_tool=in_tool))
        yield from self._await_prompt()


def _calls_a_tool(pending: deque[Step]) -> bool:
    """Does the message that is being said now end with a tool call?"""
    for step in pending:
        match step:
            case steps.Say() | steps.Think() | steps.Work() | steps.SetUsage():
                continue
            case steps.Tool() | steps.Run() | steps.Ask() | steps.Permission() | steps.Silent():
                return True
            case _:
                return False
    return False


def tool_line(name: str, tool_input: Mapping[str, Any]) -> str:
    """A tool call as people see it: its name with the value that says most."""
    for field in ("command", "file_path", "path", "pattern", "url"):
        if isinstance(tool_input.get(field), str):
            return f"{name}({tool_input[field]})"
    return f"{name}({', '.join(tool_input)})"


def _details(name: str, result: str) -> Any:
    return _shell_details(result, "") if name == "Bash" else {"type": "text", "content": result}


def _shell_details(stdout: str, stderr: str) -> Record:
    return {
        "stdout": stdout,
        "stderr": stderr,
        "interrupted": False,
        "isImage": False,
        "noOutputExpected": False,
    }
