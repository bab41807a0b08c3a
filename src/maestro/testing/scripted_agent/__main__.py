"""The agent's one loop: plays the script, writes the transcript, shows and asks through its face."""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import random
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from maestro.errors import Conflict, InvalidInput, MaestroError, NotFound
from maestro.testing.scripted_agent.beside import Hooks
from maestro.testing.scripted_agent.drive import Drive, Face
from maestro.testing.scripted_agent.files import TranscriptFile, git_branch
from maestro.testing.scripted_agent.hooks import HookSettings, parse_settings
from maestro.testing.scripted_agent.play import Play
from maestro.testing.scripted_agent.process import Ended, Wakeups
from maestro.testing.scripted_agent.screen import ScreenState
from maestro.testing.scripted_agent.script import parse_script
from maestro.testing.scripted_agent.steps import IMITATED, Imitated, Script
from maestro.testing.scripted_agent.transcript import SessionFacts, Transcript, transcript_path

STDIN, STDOUT = 0, 1
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_NAME_AND_VALUE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)


def main(argv: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(argv)
    try:
        return _play(options)
    except Ended as ended:
        return ended.code
    except MaestroError as error:
        print(f"scripted agent: {error.message}", file=sys.stderr)
        return error.exit_code
    except OSError as error:
        print(f"scripted agent: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="scripted_agent", description="Play a script as a coding agent would."
    )
    parser.add_argument(
        "--script", required=True, metavar="FILE", help="the JSON script, or - for standard input"
    )
    parser.add_argument("--session-id", type=_session_id, metavar="UUID", help="the id of this session")
    parser.add_argument(
        "--resume", type=_session_id, metavar="UUID", help="go on with this session: its steps were played"
    )
    parser.add_argument("--cwd", metavar="DIR", help="work in this directory")
    parser.add_argument("--prompt", metavar="TEXT", help="the first prompt")
    parser.add_argument(
        "--speed", type=_speed, default=1.0, metavar="X", help="multiplies durations; 0: no delays"
    )
    parser.add_argument(
        "--set",
        type=_name_and_value,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a value for ${NAME}",
    )
    parser.add_argument(
        "--imitate",
        choices=IMITATED,
        help="the CLI to look like, whatever the script says (also: MAESTRO_IMITATE)",
    )
    parser.add_argument("--settings", metavar="FILE", help="settings of Claude Code: their hooks are run")
    parser.add_argument("--seed", type=int, metavar="N", help="the same ids every time")
    return parser


def _session_id(text: str) -> str:
    if not _UUID.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a UUID")
    return text.lower()


def _speed(text: str) -> float:
    speed = float(text)
    if not (math.isfinite(speed) and speed >= 0):
        raise argparse.ArgumentTypeError("must be 0 or more")
    return speed


def _name_and_value(text: str) -> tuple[str, str]:
    pair = _NAME_AND_VALUE.fullmatch(text)
    if pair is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return pair[1], pair[2]


def _play(options: argparse.Namespace) -> int:
    set_values: dict[str, str] = dict(options.set)
    script = _load(
        options.script,
        {*os.environ, *set_values},
        imitate=options.imitate or os.environ.get("MAESTRO_IMITATE", ""),
    )
    settings = HookSettings() if script.hookless else _settings(options.settings)
    cwd = _enter(options.cwd)
    chance = random.Random(options.seed)
    new_id = _ids(chance)
    session_id: str = options.resume or options.session_id or new_id()
    path = transcript_path(_config_dir(), cwd, session_id)
    if options.resume:
        if not path.exists():
            raise NotFound(f"There is no session {session_id} to resume: {path} is not there.")
        script = replace(script, steps=())
    if path.exists() and not options.resume:
        raise Conflict(f"Session {session_id} is already in use: {path} exists.")
    with contextlib.ExitStack() as stack:
        keys = _terminal_input(stack, is_script_from_stdin=options.script == "-")
        facts = SessionFacts(
            session_id, cwd, git_branch(Path(cwd)), script.model, interactive=keys is not None
        )
        transcript = Transcript(facts, new_id=new_id, now=_now)
        file = stack.enter_context(contextlib.closing(TranscriptFile(path, resumed=bool(options.resume))))
        wakeups = stack.enter_context(Wakeups())
        if keys is None:
            face = _lines_face(wakeups, script.imitate)
        else:
            face = _terminal_face(
                stack,
                wakeups,
                keys,
                ScreenState(script.name, cwd, placeholder=script.placeholder, imitate=script.imitate),
                enqueued=lambda text: file.append(transcript.enqueued(text)),
                chance=chance,
            )
        of_play = {"prompt": "", "answer": "", "session_id": session_id, "cwd": cwd}
        values = {**os.environ, **set_values, **of_play}
        told = {"session_id": session_id, "transcript_path": str(path), "cwd": cwd}
        play = Play(
            script,
            transcript,
            now=_now,
            values=values,
            interactive=facts.interactive,
            hooked=dict.fromkeys(settings.events, told),
        )
        hooks = stack.enter_context(contextlib.closing(Hooks(settings)))
        drive = Drive(face, file, hooks, options.speed, script)
        source = "resume" if options.resume else "startup"
        try:
            return drive.play(play.run(options.prompt, source))
        finally:
            reason = "prompt_input_exit" if facts.interactive else "other"
            hooks.last({**told, "hook_event_name": "SessionEnd", "reason": reason})


def _settings(place: str | None) -> HookSettings:
    if place is None:
        return HookSettings()
    try:
        return parse_settings(Path(place).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as fault:
        raise InvalidInput(f"Settings {place}: {fault}.") from fault


def _load(place: str, known_names: set[str], imitate: str) -> Script:
    name = "standard input" if place == "-" else place
    try:
        content = sys.stdin.buffer.read() if place == "-" else Path(place).read_bytes()
        return parse_script(content.decode(), known_names, imitate)
    except UnicodeDecodeError as fault:
        raise InvalidInput(f"Script {name}: it is not UTF-8 text.") from fault
    except OSError as fault:
        raise InvalidInput(f"Script {name}: {fault.strerror or fault}.") from fault
    except InvalidInput as fault:
        raise InvalidInput(f"Script {name}: {fault.message}") from fault


def _enter(folder: str | None) -> str:
    if folder is not None:
        try:
            os.chdir(folder)
        except OSError as fault:
            raise InvalidInput(f"--cwd {folder}: {fault.strerror or fault}.") from fault
    return os.path.realpath(Path.cwd())


def _ids(chance: random.Random) -> Callable[[], str]:
    def new_id() -> str:
        digits = f"{chance.getrandbits(128):032x}"
        variant = "89ab"[int(digits[16], 16) % 4]
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"

    return new_id


def _config_dir() -> Path:
    configured = os.environ.get("CLAUDE_CONFIG_DIR")
    return Path(configured) if configured else Path.home() / ".claude"


def _now() -> datetime:
    return datetime.now(UTC)


def _terminal_input(stack: contextlib.ExitStack, *, is_script_from_stdin: bool) -> int | None:
    """The descriptor that keys come from; none when there is no terminal to draw on."""
    if not os.isatty(STDOUT):
        return None
    if os.isatty(STDIN):
        return STDIN
    if not is_script_from_stdin:
        return None
    try:
        keys = os.open("/dev/tty", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    stack.callback(os.close, keys)
    return keys


def _lines_face(wakeups: Wakeups, imitate: Imitated) -> Face:
    from maestro.testing.scripted_agent.lines import LinesFace

    return LinesFace(wakeups, imitate)


def _terminal_face(
    stack: contextlib.ExitStack,
    wakeups: Wakeups,
    keys: int,
    state: ScreenState,
    *,
    enqueued: Callable[[str], None],
    chance: random.Random,
) -> Face:
    from maestro.testing.scripted_agent.terminal import Screen, TerminalFace

    wakeups.watch(keys)
    screen = stack.enter_context(Screen(keys, STDOUT))
    return TerminalFace(screen, wakeups, state, enqueued=enqueued, now=_now, chance=chance)


if __name__ == "__main__":
    sys.exit(main())
