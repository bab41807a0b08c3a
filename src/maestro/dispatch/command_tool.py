"""A tool that is any program, by a template of its command line.

It reads the prompt on stdin, or from the file whose path stands for {prompt_file}; what it prints is its answer.
"""

from __future__ import annotations

from maestro.agents.headless import Counters, Outcome, Output, RunPlan, RunRequest, silence
from maestro.agents.limits import is_limit, resets_at
from maestro.dispatch.tools import Tool
from maestro.errors import InvalidInput


class CommandTool:
    session_variables: tuple[str, ...] = ()
    project_files: tuple[str, ...] = ()  # whoever described it has said what it runs
    needs_trust: bool = False
    inner_variables: tuple[str, ...] = ()

    def __init__(self, name: str, tool: Tool) -> None:
        self.name = name
        self.tool = tool
        self.program = tool.command[0]

    def headless(self, request: RunRequest) -> RunPlan:
        if request.mode not in self.tool.modes:
            raise InvalidInput(
                f"The tool {self.name} cannot be run for {request.mode}.",
                hint=f"Its `modes` in tools.toml: {', '.join(self.tool.modes)}.",
            )
        template = " ".join(self.tool.command)
        if request.resume and "{resume}" not in template:
            raise InvalidInput(
                f"The tool {self.name} cannot go on with an earlier run.",
                hint="Its command in tools.toml has no {resume}.",
            )
        values = {
            "{prompt_file}": request.prompt_path,
            "{model}": request.model,
            "{cwd}": request.cwd,
            "{resume}": request.resume,
        }
        argv = []
        for word in self.tool.command:
            for name, value in values.items():
                word = word.replace(name, value)  # noqa: PLW2901 - one after the other
            argv.append(word)
        reads_file = "{prompt_file}" in template
        return RunPlan(argv=tuple(argv), stdin="/dev/null" if reads_file else request.prompt_path)

    def outcome(self, output: Output, request: RunRequest) -> Outcome:  # noqa: ARG002 - the port's
        text = output.stdout.decode("utf-8", "replace").strip()
        if output.exit_code == 0 and text:
            return Outcome(status="success", text=text)
        words = silence(output)
        if output.exit_code != 0 and is_limit(words):
            return Outcome(
                status="limit", text=text, error=words, resets_at=resets_at(words, output.ended_at)
            )
        return Outcome(status="failed", text=text, error=words)

    def counted(self, transcript: bytes) -> Counters | None:  # noqa: ARG002 - the port's
        return None

    def spoken(self, line: bytes) -> str:
        return line.decode("utf-8", "replace")
