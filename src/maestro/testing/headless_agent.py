"""A coding agent without a terminal that plays a script: for demos, plugin authors and tests of runs.

    python -m maestro.testing.headless_agent --session-id ID [--script FILE] < PROMPT

The prompt is read from stdin to its end, as the real CLIs do. The script is JSON: an object with `steps`, each step an
object with one key. Without --script the prompt, from its first brace on, may be the script; a step of a chain is done as
`chain_step.py` has it; any other prompt is answered.

    say TEXT            the next thing that it says; the last one is the answer
    sleep SECONDS       works for a while
    write {PATH: TEXT}  writes files; relative to its folder; in analysis it is denied
    run [WORDS]         runs a program and waits for it
    stdout, stderr TEXT prints this as it is
    ignore [NAMES]      does not react to these signals: TERM, INT, HUP
    leave SECONDS       leaves a process behind that sleeps so long; with `leave_apart` in a session of its own, with no
                        parent and deaf to every signal that can be ignored
    limit TEXT          fails with a rate limit in these words
    fail TEXT           fails with this error
    exit CODE           ends at once, without a result
    kill NAME           ends by a signal
    usage {…}           input, output, cached, cost
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from typing import Any

from maestro.testing import chain_step

_MODEL = "scripted"
_DEAF = (
    "import signal, time\n"
    "for name in ('SIGTERM', 'SIGINT', 'SIGHUP'): signal.signal(getattr(signal, name), signal.SIG_IGN)\n"
    "time.sleep({seconds})"
)


class Run:
    """What one run has said and counted so far."""

    def __init__(self, session_id: str, mode: str) -> None:
        self.session_id = session_id
        self.mode = mode
        self.said = ""
        self.turns = 0
        self.denials: list[dict[str, Any]] = []
        self.usage = {"input": 10, "output": 5, "cached": 0, "cost": 0.0}

    def play(self, step: str, value: Any) -> None:
        getattr(self, f"do_{step}")(value)

    def do_say(self, text: str) -> None:
        self.said, self.turns = text, self.turns + 1
        content = [{"type": "text", "text": text}]
        self.record({"type": "assistant", "message": {"model": _MODEL, "content": content}})

    def do_sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def do_write(self, files: dict[str, str]) -> None:
        for path, text in files.items():
            if self.mode == "analysis":
                self.denials.append({"tool_name": "Write", "tool_input": {"file_path": path}})
                continue
            os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)

    def do_run(self, words: list[str]) -> None:
        subprocess.run(words, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def do_stdout(self, text: str) -> None:
        print(text, end="", flush=True)

    def do_stderr(self, text: str) -> None:
        print(text, end="", file=sys.stderr, flush=True)

    def do_ignore(self, names: list[str]) -> None:
        for name in names:
            signal.signal(getattr(signal, f"SIG{name}"), signal.SIG_IGN)

    def do_leave(self, seconds: float) -> None:
        subprocess.Popen([sys.executable, "-S", "-c", f"import time; time.sleep({seconds})"]).returncode = 0

    def do_leave_apart(self, seconds: float) -> None:
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.execv(  # noqa: S606 - no shell is needed
                    sys.executable, [sys.executable, "-S", "-c", _DEAF.format(seconds=seconds)]
                )
            os._exit(0)
        os.wait()

    def do_limit(self, text: str) -> None:
        self.end(text, is_error=True, api_error_status=429)

    def do_fail(self, text: str) -> None:
        self.end(text, is_error=True)

    def do_exit(self, code: int) -> None:
        sys.stdout.flush()
        os._exit(code)

    def do_kill(self, name: str) -> None:
        os.kill(os.getpid(), getattr(signal, f"SIG{name}"))

    def do_usage(self, usage: dict[str, Any]) -> None:
        self.usage |= usage

    def end(self, text: str, *, is_error: bool = False, **more: Any) -> None:
        counted = {
            "inputTokens": self.usage["input"],
            "outputTokens": self.usage["output"],
            "cacheReadInputTokens": self.usage["cached"],
            "costUSD": self.usage["cost"],
        }
        self.record(
            {
                "type": "result",
                "subtype": "success",
                "is_error": is_error,
                "result": text,
                "num_turns": max(1, self.turns),
                "permission_denials": self.denials,
                "modelUsage": {_MODEL: counted},
                "total_cost_usd": self.usage["cost"],
                **more,
            }
        )
        self.do_exit(1 if is_error else 0)

    def record(self, record: dict[str, Any]) -> None:
        print(json.dumps(record | {"session_id": self.session_id}), flush=True)


def _steps(prompt: str, path: str) -> list[dict[str, Any]]:
    if path:
        with open(path, encoding="utf-8") as file:
            return list(json.load(file)["steps"])
    played = chain_step.played(prompt)
    if played is not None:
        return played
    try:
        return list(json.loads(prompt[max(0, prompt.find("{")) :])["steps"])
    except (ValueError, TypeError, KeyError):
        return [{"say": f"I was asked: {prompt.strip()[:2000]}"}]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--script", default="")
    parser.add_argument("--mode", default="write")
    parser.add_argument("--session-id", default="")
    parser.add_argument("--resume", default="")
    arguments = parser.parse_args()
    prompt = sys.stdin.buffer.read().decode("utf-8", "replace")
    run = Run(arguments.session_id or arguments.resume, arguments.mode)
    for step in _steps(prompt, arguments.script):
        for name, value in step.items():
            run.play(name, value)
    run.end(run.said)


if __name__ == "__main__":
    main()
