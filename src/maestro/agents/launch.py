"""How a session of a coding-agent CLI is started: the facts and the port, on one page. Pure.

An adapter turns a request into a plan; `fleet/` carries it out. Nothing here or in an adapter's `launch` reads or
writes anything, so that a plan can be recorded before it is carried out, and made again after a crash.
"""

from __future__ import annotations

from collections.abc import Mapping
from posixpath import join
from typing import Final, Literal, Protocol, runtime_checkable

import msgspec

from maestro.agents import Environment
from maestro.errors import InvalidInput

Role = Literal["worker", "coordinator"]
Mode = Literal[
    "default",  # whatever the person has configured in the CLI
    "plan",  # reads and proposes, changes nothing
    "cautious",  # asks before it edits or runs anything
    "edits",  # edits freely, asks before it runs commands
    "autonomous",  # asks only for what the CLI itself finds risky
    "unrestricted",  # never asks; for isolated sessions
]
PromptDelivery = Literal[
    "none",  # there is no first prompt
    "argv",  # the command line holds it
    "file",  # the command line says which file holds it
    "typed",  # nothing holds it: it must be typed when the agent is ready
]

# A command line is shown to every user of the machine and bounded by the system; what is longer goes into a file.
LONGEST_IN_ARGV: Final = 4_000


class FileToWrite(msgspec.Struct, frozen=True):
    path: str
    content: bytes
    mode: int = 0o600


class LaunchRequest(msgspec.Struct, frozen=True, kw_only=True):
    session_id: str
    transcript_id: str  # the UUID that the CLI's own log shall have; with `resume`, the one that it has
    cwd: str
    folder: str  # the session's own folder: absolute, ours alone; a plan's files go there
    env: Environment  # what the agent will see
    first_prompt: str = ""
    model: str = ""
    mode: Mode = "default"
    role: Role = "worker"
    settings: Mapping[str, object] = {}  # for this session alone, in the CLI's own words: its hooks
    is_isolated: bool = False
    network: bool = (
        False  # the person opens the network to its commands; else the CLI's own sandbox closes it
    )
    spool: str = ""  # the session's folder for requests that its commands cannot send
    is_trusted: bool = False  # the person lets agents work in this folder: the CLI need not ask
    resume: bool = False
    cli_version: str = ""  # of a CLI whose launch needs it; empty where it did not tell


class LaunchPlan(msgspec.Struct, frozen=True, kw_only=True):
    argv: tuple[str, ...]
    env: Mapping[str, str] = {}  # in addition to the request's
    files: tuple[FileToWrite, ...] = ()  # to be written before the start
    transcript_id: str | None = None  # None: the CLI gives one by itself; the first prompt's tag finds it
    prompt: PromptDelivery = "none"
    terminal_modes: str = ""  # escape sequences that the terminal gets before the start
    needs_spool: bool = (
        False  # its sandbox lets commands write to the request's spool, but connect to nothing
    )


class OwnFolders(msgspec.Struct, frozen=True):
    """What a CLI keeps in the person's home, for a session that may see and change little else."""

    writable: tuple[str, ...]
    protected: tuple[str, ...] = ()  # inside those, what runs commands in other sessions: to be read only


@runtime_checkable
class LaunchedByVersion(Protocol):
    """A CLI whose versions take different flags; it is asked which one it is before it is launched."""

    version_command: str  # the program that tells


@runtime_checkable
class Launcher(Protocol):
    """A CLI that Maestro can start. Agents that can be started implement this besides `Agent`."""

    name: str
    # Variables of the caller that this CLI needs: credentials, addresses, where its things lie. `NAME_*` is every
    # variable that begins so. Never one that a running session of the CLI sets for its children.
    launch_variables: tuple[str, ...]

    def launch(self, request: LaunchRequest) -> LaunchPlan:
        """How to start the session, or to reopen it. Raises InvalidInput for what this CLI cannot do."""

    def own_folders(self, env: Environment) -> OwnFolders:
        """Where the CLI keeps its things for somebody with these variables."""


def require_value(value: str) -> None:
    """Raises InvalidInput for a model or an id that a CLI would take for an option of its own."""
    if value.startswith("-"):
        raise InvalidInput(
            f"“{value}” is no model and no id: it begins as an option does.", hint="Leave it out, or mend it."
        )


class Opening(msgspec.Struct, frozen=True):
    """The first prompt as it goes onto a command line."""

    text: str
    files: tuple[FileToWrite, ...]
    delivery: PromptDelivery


def opening(request: LaunchRequest) -> Opening:
    """The first prompt itself, or, for a long one, the sentence that says where it is. A resumed session has none."""
    text = request.first_prompt
    if request.resume or not text:
        return Opening("", (), "none")
    if len(text.encode("utf-8", "replace")) <= LONGEST_IN_ARGV:
        return Opening(text, (), "argv")
    path = join(request.folder, "prompt.md")
    pointer = (
        f"<session_id>{request.session_id}</session_id>\n\n"
        f"Your instructions are in the file {path}. Read all of it, then do what it says."
    )
    return Opening(pointer, (FileToWrite(path, text.encode("utf-8", "replace")),), "file")
