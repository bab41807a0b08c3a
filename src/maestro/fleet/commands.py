"""Pure: tmux commands for one pane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from maestro.fleet.facts import PaneRef
from maestro.fleet.words import line, lines, literal

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


class Room(NamedTuple):
    """A window as it was before one of its panes got more room, and how that is known."""

    token: str
    window_id: str
    width: int
    height: int
    zoomed: bool  # its active pane filled it
    panes: int
    active: str
    sizing: str  # its own `window-size`; empty where it has none


ROOM: Final = "@pane_room"
ROOM_FORMAT: Final = (
    "#{window_id} #{window_width} #{window_height} #{window_zoomed_flag} #{window_panes}"
    " #{P:#{?pane_active,#{pane_id},}}"
)


def enlarged_command(session: str) -> Command:
    """Lists the windows of a session that have more room for the moment."""
    listed = f"#{{?{ROOM},#{{window_id}},}}"
    return ("list-windows", "-t", f"={session}", "-F", listed)


# Whoever comes or goes: a human who wants the window as it is, the daemon whose connection has ended.
_ENDS: Final = ("client-attached", "client-detached")


def enlarge_commands(ref: PaneRef, room: Room, size: tuple[int, int]) -> list[Command]:
    """One pane fills its window, and has this size at the least; its border takes one line. tmux itself undoes it as
    soon as anybody comes or goes, so that a daemon that is killed leaves nothing behind."""
    width, height = max(size[0], room.width), max(size[1] + 1, room.height)
    zoom = ("resize-pane", "-Z", "-t", ref.pane_id)
    fills = room.panes == 1 or (room.zoomed and room.active == ref.pane_id)
    return [
        ("set-option", "-w", "-t", room.window_id, ROOM, room.token),
        *(("set-hook", "-g", _hook(event, room), _restoring(room, "#")) for event in _ENDS),
        *([] if fills else [zoom, zoom] if room.zoomed else [zoom]),
        ("resize-window", "-t", room.window_id, "-x", str(width), "-y", str(height)),
    ]


def restore_command(room: Room) -> Command:
    """The window as it was. Once that was done, or something else was begun there, nothing happens."""
    # What `run-shell` is given is expanded before it runs: a doubled sign is left for then.
    return ("run-shell", "-b", "-d", "0", "-C", _restoring(room, "##"))


def _restoring(room: Room, sign: str) -> str:
    zoomed = ("if-shell", "-F", "-t", room.window_id, f"{sign}{{window_zoomed_flag}}")
    commands: list[Command] = []
    if room.panes > 1:
        commands += [(*zoomed, line(("resize-pane", "-Z", "-t", room.window_id)))]
        commands += [("select-pane", "-t", room.active)]
        commands += [("resize-pane", "-Z", "-t", room.active)] if room.zoomed else []
    sizing = ("set-option", "-w", "-t", room.window_id, "window-size", room.sizing)
    commands += [
        ("resize-window", "-t", room.window_id, "-x", str(room.width), "-y", str(room.height)),
        sizing if room.sizing else ("set-option", "-w", "-u", "-t", room.window_id, "window-size"),
        ("set-option", "-w", "-u", "-t", room.window_id, ROOM),
        *(("set-hook", "-g", "-u", _hook(event, room)) for event in _ENDS),
    ]
    still = f"{sign}{{==:{sign}{{{ROOM}}},{room.token}}}"
    return line(("if-shell", "-F", "-t", room.window_id, still, lines(commands)))


def _hook(event: str, room: Room) -> str:
    """A place of its own in the list of what follows an event."""
    return f"{event}[{100 + int(room.window_id.removeprefix('@'))}]"
