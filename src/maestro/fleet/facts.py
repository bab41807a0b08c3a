"""What tmux knows, and what a look at a pane shows, as frozen facts."""

from __future__ import annotations

from typing import NamedTuple

from maestro.agents.screen import Screen
from maestro.agents.terminal import TitleReading

# The session that only our control connection lives in.
HIDDEN_SESSION = "_maestro"


class ServerId(NamedTuple):
    """One life of one tmux server: a restarted one may have the same panes' names, never the same identity."""

    pid: int
    started: int


class PaneRef(NamedTuple):
    """Exactly one pane with exactly one process in it. Whatever acts on a pane takes this, never a name."""

    server_pid: int
    server_started: int
    pane_id: str
    pane_pid: int


class Pane(NamedTuple):
    server_pid: int
    server_started: int
    pane_id: str
    pane_pid: int
    session: str
    window_id: str
    window_index: int
    window_name: str
    pane_index: int
    title: str
    width: int
    height: int
    active: bool
    window_active: bool
    dead: bool
    # Neither is known for a moment after the end, nor ever for a program that only closed its terminal.
    exit_status: int | None
    exit_signal: str
    in_mode: bool
    synchronized: bool
    alternate: bool
    cursor_x: int
    cursor_y: int
    command: str
    notify: str
    coordinator_active: bool
    user_focused: bool
    book: str
    label: str
    manages: str
    session_id: str

    @property
    def ref(self) -> PaneRef:
        return PaneRef(self.server_pid, self.server_started, self.pane_id, self.pane_pid)

    @property
    def location(self) -> str:
        return f"{self.session}:{self.window_index}.{self.pane_index}"


class Glance(NamedTuple):
    """As much of a pane as its state takes: asking for all of it would take tmux five times as long."""

    server_pid: int
    server_started: int
    pane_id: str
    pane_pid: int
    window_id: str
    notify: str
    coordinator_active: bool
    user_focused: bool
    book: str

    @property
    def ref(self) -> PaneRef:
        return PaneRef(self.server_pid, self.server_started, self.pane_id, self.pane_pid)


class Client(NamedTuple):
    """A terminal, or a program in control mode, that is attached to a session."""

    name: str
    pid: int
    control: bool
    flags: frozenset[str]
    session: str
    window_id: str
    pane_id: str
    activity: int


class Sight(NamedTuple):
    """One look at a session's pane."""

    pane: Pane
    screen: Screen
    title: TitleReading | None
    focused: bool
    in_front: bool | None  # the agent has the terminal; None where the system does not tell
    front: str  # the program that has it
    content: str  # the screen as plain text
    at: int
    shown: bool = False  # somebody may see its window
    own: bool = False  # it is in a fleet of ours, and not in the user's own tmux


class Version(NamedTuple):
    """What `tmux -V` said, and what cannot be done with it."""

    text: str
    major: int
    minor: int

    @property
    def usable(self) -> bool:
        return (self.major, self.minor) >= (3, 2)

    @property
    def degraded(self) -> tuple[str, ...]:
        """What is missing, in words for a person."""
        if not self.usable:
            return (f"tmux {self.text} is too old: 3.2 or newer is needed.",)
        if (self.major, self.minor) < (3, 3):
            return (
                "A terminal that loses the keyboard focus is noticed late: tmux 3.3 tells at once.",
                "How a dead pane's program was killed is not known: tmux 3.3 tells.",
            )
        return ()
