"""The scripted agent of `maestro.testing`: it writes Claude Code's transcript format, whichever CLI it imitates.

Its script is what would be another agent's model: a file's path, by `model` or by MAESTRO_SCRIPT. A relative path
is relative to the session's working directory. A mark at the end of its pane's title tells which CLI's screen it shows.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from posixpath import join
from typing import Final

import msgspec

from maestro.agents import Environment
from maestro.agents.claude import Claude
from maestro.agents.codex import ADAPTER as CODEX
from maestro.agents.files import config_folder
from maestro.agents.gemini import ADAPTER as GEMINI
from maestro.agents.launch import FileToWrite, LaunchPlan, LaunchRequest, OwnFolders, opening
from maestro.agents.origin import TellsOrigin
from maestro.agents.questions import Answer
from maestro.agents.screen import Capture, Screen, ScreenState
from maestro.agents.scripted.headless import ALLOWED, Headlessly, require_allowed
from maestro.agents.terminal import Cannot, EmptiesBox, Step, Submission, Terminal, TitleReading
from maestro.agents.versions import Recorded
from maestro.errors import InvalidInput

MODULE: Final = "maestro.testing.scripted_agent"
_MARK: Final = re.compile(r" · scripted (codex|gemini)\s*$")
# Without the title: what only one of the CLIs shows.
_FACES: Final[Mapping[str, re.Pattern[str]]] = {
    "codex": re.compile(
        "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}" r"\s|  >_ OpenAI Codex |  Question \d+/\d+ "
    ),
    "gemini": re.compile(r"\s{0,2}╭─|\s>\s{3}Type your message| workspace \(/directory\)"),
}


class ImitatedScreen(Screen, frozen=True):
    """A screen, and whose it is: its dialogs are answered by that CLI's keys."""

    imitated: str = "claude"


class Scripted(Headlessly, Claude):
    name = "scripted"
    launch_variables: tuple[str, ...] = ("CLAUDE_CONFIG_DIR", "MAESTRO_IMITATE", "MAESTRO_SCRIPT", ALLOWED)
    project_files: tuple[str, ...] = ()
    # What the most particular of the CLIs needs: which of them this is shows on the screen only.
    submission: Submission = Submission(gap=0.3)
    recorded_versions: tuple[str, ...] = (
        *Claude.recorded_versions,
        *CODEX.recorded_versions,
        *GEMINI.recorded_versions,
    )
    versions: tuple[Recorded, ...] = ()  # it has those of Maestro itself
    title_globs: Mapping[str, ScreenState] = {
        **Claude.title_globs,
        **CODEX.title_globs,
        **GEMINI.title_globs,
    }

    line_globs: tuple[str, ...] = (*Claude.line_globs, *CODEX.line_globs, *GEMINI.line_globs)

    def launch(self, request: LaunchRequest) -> LaunchPlan:
        require_allowed(request.env)
        script = request.model or request.env.get("MAESTRO_SCRIPT", "")
        if not script:
            raise InvalidInput(
                "The scripted agent has no script to play.",
                hint="Give the path of one as its model, or set MAESTRO_SCRIPT.",
            )
        if script.startswith("~/"):
            script = join(request.env.get("HOME", "/"), script[2:])
        first = opening(request)
        settings = _settings(request)
        return LaunchPlan(
            # -P: a folder of the project must not pose as one of our packages.
            argv=(
                sys.executable, "-P", "-m", MODULE,
                "--script", join(request.cwd, script),
                "--resume" if request.resume else "--session-id", request.transcript_id,
                *(["--settings", settings[0].path] if settings else []),
                *([f"--prompt={first.text}"] if first.text else []),
            ),
            files=(*settings, *first.files),
            transcript_id=request.transcript_id,
            prompt=first.delivery,
        )  # fmt: skip

    def own_folders(self, env: Environment) -> OwnFolders:
        return OwnFolders((str(config_folder(env, "CLAUDE_CONFIG_DIR", ".claude")),))

    def is_agent(self, argv: Sequence[str]) -> bool:
        words = list(argv)
        return any(words[at : at + 2] == ["-m", MODULE] for at in range(len(words)))

    def read_screen(self, capture: Capture) -> Screen:
        imitated = _imitated(capture)
        screen = _CLIS[imitated].read_screen(
            msgspec.structs.replace(capture, title=_MARK.sub("", capture.title))
        )
        return ImitatedScreen(**msgspec.structs.asdict(screen), imitated=imitated)

    def shown_prompts(self, capture: Capture) -> tuple[str, ...]:
        shown = _CLIS[_imitated(capture)]
        bare = msgspec.structs.replace(capture, title=_MARK.sub("", capture.title))
        return shown.shown_prompts(bare) if isinstance(shown, TellsOrigin) else ()

    def read_title(self, title: str) -> TitleReading | None:
        mark = _MARK.search(title)
        return _CLIS[mark[1] if mark else "claude"].read_title(_MARK.sub("", title))

    def as_text(self, prompt: str) -> str:
        """What no CLI takes for anything else: Codex runs a command in spite of a space before it."""
        text = super().as_text(prompt)
        return f"> {text.lstrip()}" if text.lstrip().startswith("!") else text

    def box_holds(self, draft: str, prompt: str) -> bool:
        return any(cli.box_holds(draft, prompt) for cli in _CLIS.values())

    def holds_own(self, draft: str, prompt: str, pasted: str = "") -> bool:
        clis = [cli for cli in _CLIS.values() if isinstance(cli, EmptiesBox)]
        return any(cli.holds_own(draft, prompt, pasted) for cli in clis)

    def answer_step(self, screen: Screen, answer: Answer) -> Step | Cannot:
        imitated = screen.imitated if isinstance(screen, ImitatedScreen) else "claude"
        return _CLIS[imitated].answer_step(screen, answer)


def _imitated(capture: Capture) -> str:
    mark = _MARK.search(capture.title)
    if mark is not None:
        return mark[1]
    if capture.title:
        return "claude"
    shown = (name for name, face in _FACES.items() if any(face.match(line) for line in capture.lines))
    return next(shown, "claude")


def _settings(request: LaunchRequest) -> tuple[FileToWrite, ...]:
    if not request.settings:
        return ()
    content = msgspec.json.encode(dict(request.settings))
    return (FileToWrite(f"{request.folder}/scripted-settings.json", content),)


_CLIS: Final[Mapping[str, Terminal]] = {"claude": Claude(), "codex": CODEX, "gemini": GEMINI}
ADAPTER = Scripted()
