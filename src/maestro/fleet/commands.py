"""Pure: tmux commands for one pane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from maestro.fleet.facts import PaneRef
from maestro.fleet.words import literal

Command = Sequence[str]

# What stands in a pane until its options are set: waits on its terminal and does nothing.
PLACEHOLDER = ("cat", "-")


def only_this(ref: PaneRef, *, typing: bool = False) -> str:
    """A condition that holds for this pane and no other. `typing`: and only while what is typed reaches its program."""
    # Without such a pane tmux falls back to another one; so its id is compared too.
    names = ["pane_id", "pane_pid", "pid"]
    values = [ref.pane_id, str(ref.pane_pid), str(ref.server_pid)]
    if typing:
        # A dead pane and one in copy mode swallow it; a synchronized one hands it on to its neighbours.
        names += ["pane_dead", "pane_in_mode", "pane_synchronized"]
        values += ["0", "0", "0"]
    shown = ":".join(f"#{{?{name},1,0}}" if name in _FLAGS else f"#{{{name}}}" for name in names)
    return f"#{{==:{shown},{':'.join(values)}}}"


_FLAGS = frozenset({"pane_dead", "pane_in_mode", "pane_synchronized"})


def option_commands(ref: PaneRef, options: Mapping[str, str]) -> list[Command]:
    target = ("set-option", "-q", "-p", "-t", ref.pane_id)
    return [
        (*target, name, value) if value else (*target, "-u", name) for name, value in sorted(options.items())
    ]


def style_commands(ref: PaneRef, style: str) -> list[Command]:
    return option_commands(ref, {"window-style": style, "window-active-style": style})


def capture_command(ref: PaneRef, *, lines: int | None = None, escapes: bool = False) -> Command:
    history = ("-S", f"-{lines}") if lines else ()
    return ("capture-pane", "-p", *(("-e",) if escapes else ()), *history, "-t", ref.pane_id)


def respawn_command(ref: PaneRef, argv: Sequence[str], cwd: str, env: Mapping[str, str] | None) -> Command:
    variables = [word for name, value in (env or {}).items() for word in ("-e", f"{name}={value}")]
    # A single word would be read by a shell; a program's name is not a script.
    program = argv if len(argv) > 1 else ("/bin/sh", "-c", 'exec "$0"', *argv)
    return ("respawn-pane", "-k", "-t", ref.pane_id, "-c", literal(cwd), *variables, "--", *program)


def name_words(name: str) -> Command:
    return ("-n", literal(name)) if name else ()
