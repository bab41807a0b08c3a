"""The play itself: steps in, effects out, what came of them back in. No I/O; time and ids are given."""

from __future__ import annotations

import shlex
from collections import deque
from collections.abc import Callable, Generator, Mapping
from datetime import datetime
from typing import Any

from maestro.testing.scripted_agent import steps
from maestro.testing.scripted_agent.dialog import (
    DEFAULT_OPTIONS,
    Answer,
    Asked,
    Choice,
    Consent,
    Gate,
    PlanApproval,
    Several,
)
from maestro.testing.scripted_agent.effects import (
    Block,
    Busy,
    Effect,
    Execute,
    Outcome,
    Prompt,
    PutQuestion,
    Reply,
    Rest,
    Show,
    Write,
)
from maestro.testing.scripted_agent.script import fill
from maestro.testing.scripted_agent.steps import ANY_ANSWER, DECLINED, Script, Step
from maestro.testing.scripted_agent.transcript import Record, Transcript, question_input
from maestro.testing.scripted_agent.turn import NoMoreInput, Scene, Turn

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
_RETRIES = {
    "claude": "{status} {text} · Retrying in {seconds}s · attempt 1/10",
    "codex": "Reconnecting... 1/5",
    "gemini": "Trying to reach {model} (Attempt 2/10)",
}


class _Exited(Exception):
    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Play:
    """One session of the scripted agent. `run` yields effects and returns the exit code.

    `hooked` holds, for each event that has hooks, the payload that every one of them gets.
    """

    def __init__(
        self,
        script: Script,
        transcript: Transcript,
        *,
        now: Callable[[], datetime],
        values: Mapping[str, str],
        interactive: bool,
        hooked: Mapping[str, Any] | None = None,
    ) -> None:
        self._script = script
        self._interactive = interactive
        self._pending: deque[Step] = deque()
        self._transcript = transcript
        self._turn = Turn(
            transcript,
            now=now,
            values=values,
            interactive=interactive,
            imitate=script.imitate,
            hooked=hooked or {},
        )

    def run(self, first_prompt: str | None = None, source: str = "startup") -> Generator[Effect, Reply, int]:
        self._pending.extend(self._script.steps)
        try:
            while self._pending and isinstance(self._pending[0], steps.OwnDialog):
                yield from self._play(self._pending.popleft())
            yield from self._turn.run_hook("SessionStart", source, source=source, model=self._script.model)
            if first_prompt is not None:
                yield from self._turn.take(Prompt(first_prompt))
            yield from self._play_all(())
            while self._interactive or self._script.on_prompt:
                yield from self._turn.await_prompt()
                yield from self._play_all(self._script.on_prompt)
        except NoMoreInput:
            return 0
        except _Exited as exited:
            return exited.code
        return 0

    def _play_all(self, steps_to_play: tuple[Step, ...]) -> Scene:
        self._pending.extend(steps_to_play)
        while self._pending:
            yield from self._play(self._pending.popleft())
        yield from self._turn.end()

    def _play(self, step: Step) -> Scene:
        match step:
            case steps.Say(text):
                yield from self._say(text)
            case steps.Think(text):
                yield from self._block({"type": "thinking", "thinking": text, "signature": ""})
            case steps.Work(seconds):
                yield from self._turn.open()
                if (yield Busy(seconds)):
                    yield from self._turn.interrupted(in_tool=False)
            case steps.Tool():
                yield from self._tool(step)
            case steps.Silent(calls, seconds, tool):
                for number in range(calls, 0, -1):
                    path = {"file_path": f"part-{number}.txt"}
                    self._pending.appendleft(steps.Tool(tool, path, "", seconds))
            case steps.Run(argv):
                yield from self._run(tuple(fill(word, self._turn.values) for word in argv))
            case steps.Ask():
                asked = Choice(step.question, step.header, step.options, multi=step.multi)
                yield from self._ask((step,), asked, step.answers)
            case steps.AskSeveral(parts, answers):
                choices = tuple(Choice(one.question, one.header, one.options, one.multi) for one in parts)
                yield from self._ask(parts, Several(choices), answers)
            case steps.Permission():
                yield from self._permission(step)
            case steps.Plan():
                yield from self._plan(step)
            case steps.Background():
                yield from self._background(step)
            case steps.OwnDialog(kind):
                answer = yield PutQuestion(Gate(kind))
                if not isinstance(answer, Answer) or answer.declined:
                    raise _Exited(1)
            case steps.ApiError():
                yield from self._api_error(step)
            case steps.Limit(text, resets):
                text = f"{text} · resets {resets}" if resets else text
                yield from self._fail(text, text, status=429, error="rate_limit")
            case steps.Wait():
                yield from self._turn.await_prompt()
            case steps.SetUsage(usage):
                self._transcript.close_message()
                self._turn.usage = usage
            case steps.Compact(trigger):
                yield from self._turn.compact(trigger, self._script.model)
            case steps.Exit(code):
                yield from self._turn.end()
                raise _Exited(code)

    def _block(self, block: Record) -> Scene:
        reason = "tool_use" if _calls_a_tool(self._pending) else "end_turn"
        yield from self._turn.block(block, stop_reason=reason)

    def _say(self, text: str) -> Scene:
        filled = fill(text, self._turn.values)
        yield from self._block({"type": "text", "text": filled})
        self._turn.last_text = filled
        yield Show(Block("text", filled))

    def _tool(self, tool: steps.Tool) -> Scene:
        use = yield from self._turn.call(tool.name, tool.input)
        yield Write(use)
        yield Show(Block("tool", tool_line(tool.name, tool.input)))
        if (yield Busy(tool.seconds)):
            yield from self._turn.stopped_in(use)
            return
        details: Any = f"Error: {tool.result}" if tool.is_error else _details(tool.name, tool.result)
        yield Write(self._transcript.tool_result(use, tool.result, is_error=tool.is_error, details=details))
        yield Show(Block("result", tool.result or "(no output)"))
        yield from self._turn.called(use, details)

    def _run(self, argv: tuple[str, ...]) -> Scene:
        command = {"command": shlex.join(argv)}
        use = yield from self._turn.call("Bash", command)
        yield Write(use)
        yield Show(Block("tool", tool_line("Bash", command)))
        outcome = yield Execute(argv)
        if not isinstance(outcome, Outcome):
            yield from self._turn.stopped_in(use)
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
        yield from self._turn.called(use, details)

    def _put(self, asked: Asked, tool: str, tool_input: Record) -> Generator[Effect, Reply, Answer]:
        """Asks on the screen, and by hooks at the same time."""
        hook = self._turn.hook(
            "PermissionRequest", tool, permission_mode="default", tool_name=tool, tool_input=tool_input
        )
        kind = "permission_prompt"
        message = "Claude needs your permission"
        note = self._turn.hook("Notification", kind, message=message, notification_type=kind)
        answer = yield PutQuestion(asked, hook, note)
        assert isinstance(answer, Answer)
        return answer

    def _ask(
        self, asks: tuple[steps.Ask, ...], asked: Asked, answers: Mapping[str, tuple[Step, ...]]
    ) -> Scene:
        question = question_input(asks)
        use = yield from self._turn.call("AskUserQuestion", question)
        answer = yield from self._put(asked, "AskUserQuestion", question)
        # The real CLI too keeps an open question out of its transcript until it is answered.
        yield Write(use)
        if answer.declined:
            listed = [f"· {one.question} ({' / '.join(o.label for o in one.options)})" for one in asks]
            yield Show(Block("info", "User declined to answer questions\n⎿  " + "\n   ".join(listed)))
            yield Write(self._transcript.rejected(use))
        else:
            given = {one.question: answer.of(place) for place, one in enumerate(asks)}
            details = {**question, "answers": given, "annotations": {}}
            pairs = ", ".join(f'"{one}"="{text}"' for one, text in given.items())
            listed = [f"· {one} → {text}" for one, text in given.items()]
            if answer.by:
                listed.append(f"Allowed by {answer.by} hook")
            yield Show(Block("info", "User answered Claude's questions:\n⎿  " + "\n   ".join(listed)))
            content = f"User answered: {pairs}."
            yield Write(self._transcript.tool_result(use, content, is_error=False, details=details))
            yield from self._turn.called(use, details, answers=given, annotations={})
        self._turn.values["answer"] = answer.text
        self._branch(answers, DECLINED if answer.declined else answer.text)
        if answer.ends_turn:
            yield from self._turn.interrupted(in_tool=True)

    def _permission(self, step: steps.Permission) -> Scene:
        name = "Write" if step.file else "Bash"
        tool_input = {"command": step.command, "description": step.description or step.command}
        if step.file:
            tool_input = {"file_path": step.file, "content": step.command}
        use = yield from self._turn.call(name, tool_input)
        yield Write(use)
        yield Show(Block("tool", tool_line(name, tool_input)))
        options = step.options or DEFAULT_OPTIONS
        consent = Consent(step.command, step.description, options, step.file)
        answer = yield from self._put(consent, name, tool_input)
        word = "no" if answer.declined else answer.text
        self._turn.values["answer"] = word
        branch = answer.chosen if answer.chosen in step.answers else word
        if word == "no":
            yield Write(self._transcript.rejected(use, " ".join(answer.notes)))
            yield Show(Block("result", "User rejected this command"))
            self._branch(step.answers, branch)
            if answer.ends_turn:
                yield from self._turn.interrupted(in_tool=True)
            return
        if (yield Busy(step.seconds)):
            yield from self._turn.stopped_in(use)
            return
        scope = "always" if word == "always" else "once"
        decision = {"decision": "accept", "source": "user_temporary", "grantScope": scope}
        details = _details(name, step.result)
        yield Write(
            self._transcript.tool_result(
                use, step.result, is_error=False, details=details, permissionDecision=decision
            )
        )
        yield Show(Block("result", step.result or "(no output)"))
        yield from self._turn.called(use, details)
        self._branch(step.answers, branch)

    def _plan(self, step: steps.Plan) -> Scene:
        tool_input = {"plan": step.plan} if step.plan else {}
        use = yield from self._turn.call("ExitPlanMode", tool_input)
        answer = yield from self._put(PlanApproval(step.plan), "ExitPlanMode", tool_input)
        yield Write(use)
        word = "no" if answer.declined else answer.labels[0]
        self._turn.values["answer"] = word
        if word == "yes":
            details = {"plan": step.plan}
            yield Show(Block("info", "User approved Claude's plan"))
            yield Write(self._transcript.tool_result(use, "Approved.", is_error=False, details=details))
            yield from self._turn.called(use, details)
        else:
            yield Show(Block("info", "User rejected Claude's plan"))
            yield Write(self._transcript.rejected(use, "" if word == "no" else word))
        self._branch(step.answers, word)
        if answer.ends_turn:
            yield from self._turn.interrupted(in_tool=True)

    def _background(self, step: steps.Background) -> Scene:
        """The turn ends while an agent that it started still works; its end is a prompt of its own."""
        tool_input = {"description": step.description, "prompt": step.description}
        use = yield from self._turn.call("Agent", tool_input)
        yield Write(use)
        yield Show(Block("tool", f"Agent({step.description})"))
        content = "Async agent launched successfully."
        details = {"isAsync": True, "status": "async_launched", "description": step.description}
        yield Write(self._transcript.tool_result(use, content, is_error=False, details=details))
        yield Show(Block("result", "Backgrounded agent (↓ to manage · ctrl+o to expand)"))
        yield from self._turn.end(background=({"type": "agent", "description": step.description},))
        yield Show(Block("done", "Waiting for 1 background agent to finish"))
        yield Rest(step.seconds)
        yield Show(Block("info", f'Agent "{step.description}" finished · {step.seconds:.0f}s'))
        note = f"<task-notification>\n<status>completed</status>\n<result>{step.result}</result>"
        yield from self._turn.take(Prompt(f"{note}\n</task-notification>"))

    def _branch(self, answers: Mapping[str, tuple[Step, ...]], answer: str) -> None:
        chosen = answers.get(answer)
        if chosen is None and answer != DECLINED:
            chosen = answers.get(ANY_ANSWER)
        self._pending.extendleft(reversed(chosen or ()))

    def _api_error(self, step: steps.ApiError) -> Scene:
        yield from self._turn.open()
        note = _RETRIES[self._script.imitate].format(
            status=step.status, text=step.text, seconds=max(1, round(step.retrying)), model=self._script.model
        )
        if step.retrying and (yield Busy(step.retrying, note)):
            yield from self._turn.interrupted(in_tool=False)
            return
        error = "rate_limit" if step.status == 429 else "unknown"
        text = f"API Error: {step.status} {step.text}"
        shown = {"claude": text, "codex": step.text, "gemini": f"[API Error: {step.text}]"}
        yield from self._fail(text, shown[self._script.imitate], status=step.status, error=error)

    def _fail(self, text: str, shown: str, *, status: int, error: str) -> Scene:
        yield from self._turn.open()
        kind = _API_ERROR_TYPES.get(status, "api_error")
        self._turn.last_text = text
        yield Write(self._transcript.api_error(text, status=status, error=error, kind=kind))
        yield Show(Block("error", shown))
        yield from self._turn.end(failed=True)


def _calls_a_tool(pending: deque[Step]) -> bool:
    """Does the message that is being said now end with a tool call?"""
    for step in pending:
        match step:
            case steps.Say() | steps.Think() | steps.Work() | steps.SetUsage():
                continue
            case steps.Tool() | steps.Run() | steps.Silent() | steps.Permission() | steps.Plan():
                return True
            case steps.Ask() | steps.AskSeveral() | steps.Background():
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
