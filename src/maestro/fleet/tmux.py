"""The one file that runs tmux.

A server of our own is spoken to over one control-mode connection that lives in a hidden session. The user's own
server (`guest`) gets a short-lived process per question and nothing that stays: no session, no hook, no client.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import secrets
import signal
from collections.abc import Callable, Mapping, Sequence

from maestro import processes
from maestro.errors import Conflict, DaemonError, MaestroError, NotFound
from maestro.fleet import reading, server_files, words
from maestro.fleet.commands import (
    PLACEHOLDER,
    Command,
    capture_command,
    name_words,
    only_this,
    option_commands,
    respawn_command,
    style_commands,
)
from maestro.fleet.connection import Connection, process_of
from maestro.fleet.facts import HIDDEN_SESSION, Client, Glance, Pane, PaneRef, ServerId, Version

__all__ = ["HIDDEN_SESSION", "Client", "Glance", "Pane", "PaneRef", "ServerId", "Tmux", "Version"]

# Longer than any program takes to end when its terminal goes.
_END_SECONDS = 10.0
# A hook's own commands tell control clients nothing; what it schedules does, without any process.
_WAKE = f"run-shell -b -d 0 -C 'rename-window -t ={HIDDEN_SESSION}:0 wake'"
_HOOKS = (
    *("pane-died", "pane-exited", "pane-focus-in", "pane-focus-out"),
    *("client-attached", "client-detached", "client-active"),
    # From 3.3 on; an older server refuses them, and the once-a-second comparison has to do.
    *("client-focus-in", "client-focus-out"),
)
# Set by somebody else: tmux compares once a second and tells. Lengths only, as a value may hold line ends.
_COMPARED = "#{pane_id}#{pane_dead}#{n:@pane_notify}#{==:#{@pane_notify},checked}#{n:@session_id}"


def _lines_format(globs: Sequence[str]) -> str:
    """Which of these lines a pane shows, a digit each. Only of one that works: tmux reads the whole screen for it."""
    found = "".join(f"#{{!=:#{{C:{words.pattern(glob)}}},0}}" for glob in globs)
    return f"#{{?#{{==:#{{@pane_notify}},working}},{found},}}" if found else ""


def _preparing(titles: Sequence[str], lines: Sequence[str]) -> list[str]:
    """A server of our own, made so that it tells us what happens; also when a title begins or ceases to match, and when
    one of these lines comes or goes."""
    compared = _COMPARED + "".join(f"#{{m:{words.pattern(title)},#{{pane_title}}}}" for title in titles)
    compared += _lines_format(lines)
    commands: list[Command] = [
        ("set-option", "-s", "focus-events", "on"),
        ("set-option", "-g", "-w", "automatic-rename", "off"),
        ("set-option", "-p", "-t", f"={HIDDEN_SESSION}:0", "remain-on-exit", "on"),
        *(("set-hook", "-g", hook, _WAKE) for hook in _HOOKS),
        ("refresh-client", "-B", f"panes::#{{S:#{{W:#{{P:{compared} }}}}}}"),
    ]
    return [words.line(command) for command in commands]


class Tmux:
    def __init__(
        self,
        socket: str,
        env: Mapping[str, str],
        *,
        guest: bool = False,
        titles: Sequence[str] = (),
        lines: Sequence[str] = (),
    ) -> None:
        self.socket = socket
        self.guest = guest
        # Called in the loop when something may have changed; who is woken looks again.
        self.on_change: Callable[[], None] = lambda: None
        self._env = {name: value for name, value in env.items() if name not in {"TMUX", "TMUX_PANE"}}
        self._guest: ServerId | None = None
        self._version: Version | None = None
        self._closing_pane = asyncio.Lock()
        self._lines_format = _lines_format(lines)
        self._connection = Connection(self._attaching, _preparing(titles, lines), self._env, self._changed)

    # The connection.

    @property
    def server(self) -> ServerId | None:
        """Which server we speak to; None when there is none."""
        return self._guest if self.guest else self._connection.server

    async def version(self) -> Version:
        if self._version is None:
            _, said, _ = await self._process("-V")
            numbers = re.search(r"(\d+)\.(\d+)", said)
            text = said.removeprefix("tmux").strip()
            self._version = Version(text, *map(int, numbers.groups())) if numbers else Version(text, 99, 0)
        return self._version

    async def start(self, *, may_start: bool = True) -> ServerId:
        """Start the server if it does not run, and connect; again and again is harmless. One that may not be started
        and has just ended is a DaemonError."""
        version = await self.version()
        if not version.usable:
            raise DaemonError(version.degraded[0], hint="Install a newer tmux.")
        if self.guest:
            return await self._guest_server()
        try:
            await self._connection.start(may_start=may_start)
        except FileNotFoundError as error:
            raise _missing() from error
        return self._present()

    def _present(self) -> ServerId:
        """Returns the server that we speak to; it may have ended while we waited for its answer."""
        if self.server is None:
            raise reading.ending()
        return self.server

    def _changed(self) -> None:
        self.on_change()

    async def close(self) -> None:
        """Leave; the server and everything in it stay."""
        await self._connection.close()

    async def kill_server(self) -> None:
        """End the server with every pane, and wait until it has ended."""
        self._own("end the server")
        server = self.server
        await self._connection.close()
        await self._process("-S", self.socket, "-N", "kill-server")
        if server is not None:
            await asyncio.to_thread(_ended, server)
        self._connection.server = None

    def _attaching(self, may_start: bool) -> Command:  # noqa: FBT001 - the connection's one question
        session = ("new-session", "-A", "-s", HIDDEN_SESSION, "-n", "wake", "-f", "no-output,ignore-size")
        # A server without any session is ending, and a new session in it would keep it from that.
        guarded = ("-N", "if-shell", "-F", "#{S:1}", words.line((*session, *PLACEHOLDER)))
        return (
            *("tmux", "-S", self.socket, "-f", "/dev/null", "-u", "-C"),
            *((*session, *PLACEHOLDER) if may_start else guarded),
        )

    # Commands.

    async def run(self, *command: str) -> list[str]:
        """One command; the lines that it answers."""
        if self.guest:
            return await self._guest_run(*command)
        control = await self._connection.control()
        blocks = await control.ask(words.line(command), 1)
        if not blocks[0].ok:
            raise _refusal(blocks[0].lines)
        return blocks[0].lines

    async def run_many(self, commands: Sequence[Command]) -> list[list[str]]:
        """Several commands in one write, each on its own; the first failure is raised when all are done."""
        if self.guest:
            return [await self._guest_run(*command) for command in commands]
        control = await self._connection.control()
        asked = [control.ask(words.line(command), 1) for command in commands]
        answers = await asyncio.gather(*asked)
        for blocks in answers:
            if not blocks[0].ok:
                raise _refusal(blocks[0].lines)
        return [blocks[0].lines for blocks in answers]

    async def act(self, ref: PaneRef, *commands: Command, typing: bool = False) -> list[str]:
        """Commands for exactly this pane, or none of them; the lines that the last one answers.

        tmux itself compares before it runs them, so that nothing can come in between. With `typing` the pane's program
        must also be the one that gets what is typed, and the only one.
        """
        refused = secrets.token_hex(8)
        command = (
            *("if-shell", "-F", "-t", ref.pane_id, only_this(ref, typing=typing)),
            *(words.lines(commands), words.line(("display-message", "-p", refused))),
        )
        if self.guest:
            server = await self._guest_server()
            lines = await self._guest_run(*command) if server == _server_of(ref) else [refused]
        else:
            control = await self._connection.control()
            if self.server != _server_of(ref):
                raise _other_pane(ref)
            blocks = await control.ask(words.line(command), 1 + len(commands))
            failed = next((block for block in blocks if not block.ok), None)
            if failed is not None:
                raise _refusal(failed.lines)
            lines = blocks[-1].lines
        if lines == [refused]:
            raise _other_pane(ref)
        return lines

    # Facts.

    async def panes(self) -> tuple[Pane, ...]:
        server = await self._guest_server() if self.guest else None
        lines = await self.run("list-panes", "-a", "-F", reading.PANE_FORMAT)
        server = server or self._present()
        found = reading.panes(lines, server)
        if not self.guest and any(_unreaped(pane) for pane in found):
            # tmux 3.3a now and then misses that a child has ended; told again, it looks.
            processes.send_signal(process_of(server), signal.SIGCHLD)
        return found

    async def lines_shown(self) -> dict[str, str]:
        """By pane, which of the watched lines it shows; nothing of one that does not work."""
        if not self._lines_format:
            return {}
        told = await self.run("list-panes", "-a", "-F", f"#{{pane_id}} {self._lines_format}")
        return {pane_id: shown for pane_id, _, shown in (line.partition(" ") for line in told)}

    async def clients(self) -> tuple[Client, ...]:
        """Who is attached; our own connection left out."""
        lines = await self.run("list-clients", "-F", reading.CLIENT_FORMAT)
        return reading.clients(lines, self._connection.pid)

    async def glance(self) -> tuple[tuple[Glance, ...], tuple[Client, ...]]:
        """The state of every pane, and who is attached, in one round trip."""
        server = await self._guest_server() if self.guest else None
        panes, clients = await self.run_many(
            [
                ("list-panes", "-a", "-F", reading.GLANCE_FORMAT),
                ("list-clients", "-F", reading.CLIENT_FORMAT),
            ]
        )
        server = server or self._present()
        own = self._connection.pid
        return reading.glances(panes, server, self._connection.hidden_pane), reading.clients(clients, own)

    async def pane(self, pane_id: str) -> Pane:
        for pane in await self.panes():
            if pane.pane_id == pane_id:
                return pane
        raise NotFound(f"There is no pane {pane_id}.")

    async def capture(self, ref: PaneRef, *, lines: int | None = None, escapes: bool = False) -> str:
        """The screen; with `lines`, so many lines of what scrolled away before it too. Dead panes have one too."""
        return "\n".join(await self.act(ref, capture_command(ref, lines=lines, escapes=escapes)))

    # Typing. Nobody but `fleet/typing.py` calls these.

    async def paste(self, ref: PaneRef, text: str) -> None:
        """Put text into exactly this pane, bracketed, so that its lines do not submit themselves."""
        buffer = f"maestro-{secrets.token_hex(8)}"
        pasting = ("paste-buffer", "-p", "-d", "-b", buffer, "-t", ref.pane_id)
        try:
            if self.guest:
                # On a command line every user of the machine could read it.
                load = ("-S", self.socket, "-N", "-u", "load-buffer", "-b", buffer, "-")
                code, _, complaint = await self._process(*load, given=words.encoded(text))
                if code != 0:
                    raise _refusal([complaint.strip()])
                await self.act(ref, pasting, typing=True)
            else:
                setting = self.run("set-buffer", "-b", buffer, "--", text)
                await asyncio.gather(setting, self.act(ref, pasting, typing=True))
        except MaestroError:
            with contextlib.suppress(MaestroError):
                await self.run("delete-buffer", "-b", buffer)
            raise

    async def press(self, ref: PaneRef, keys: Sequence[str]) -> None:
        """Press keys, by their tmux names, in exactly this pane."""
        await self.act(ref, ("send-keys", "-t", ref.pane_id, *keys), typing=True)

    # Changes.

    async def set_options(self, ref: PaneRef, options: Mapping[str, str]) -> None:
        """Pane options; an empty value takes the option away."""
        if options:
            await self.act(ref, *option_commands(ref, options))

    async def new_session(
        self,
        name: str,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str] | None = None,
        window_name: str = "",
        size: tuple[int, int] = (200, 50),
        options: Mapping[str, str] | None = None,
    ) -> Pane:
        """A new session with one pane. The program starts when the pane's options are set, not before."""
        place = ("new-session", "-d", "-s", name, "-x", str(size[0]), "-y", str(size[1]))
        return await self._create((*place, *name_words(window_name)), argv, cwd, env, options)

    async def new_window(
        self,
        session: str,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str] | None = None,
        name: str = "",
        options: Mapping[str, str] | None = None,
    ) -> Pane:
        place = ("new-window", "-d", "-t", f"={session}:")
        return await self._create((*place, *name_words(name)), argv, cwd, env, options)

    async def split(
        self,
        beside: PaneRef,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str] | None = None,
        vertical: bool = False,
        options: Mapping[str, str] | None = None,
    ) -> Pane:
        place = ("split-window", "-d", "-v" if vertical else "-h", "-t", beside.pane_id)
        return await self._create(place, argv, cwd, env, options, beside=beside)

    async def respawn(
        self, ref: PaneRef, argv: Sequence[str], *, cwd: str, env: Mapping[str, str] | None = None
    ) -> Pane:
        """Another program in the same pane; what ran there is ended."""
        self._own("start programs")
        await self.act(ref, respawn_command(ref, argv, cwd, env))
        return await self.pane(ref.pane_id)

    async def kill_pane(self, ref: PaneRef) -> None:
        """Close a pane. One at a time: tmux 3.3a crashes when a window loses two panes before it has told its control
        clients of the first."""
        self._own("close panes")
        async with self._closing_pane:
            await self.act(ref, ("kill-pane", "-t", ref.pane_id))
            await self.run("display-message", "-p", "told")

    async def select(self, ref: PaneRef) -> None:
        """Make it the active pane of the active window of its session."""
        await self.act(ref, ("select-window", "-t", ref.pane_id), ("select-pane", "-t", ref.pane_id))

    async def set_title(self, ref: PaneRef, title: str) -> None:
        self._own("name panes")
        await self.act(ref, ("select-pane", "-t", ref.pane_id, "-T", words.literal(title)))

    async def set_style(self, ref: PaneRef, style: str) -> None:
        """Colours of the pane; empty is tmux's own."""
        self._own("colour panes")
        await self.act(ref, *style_commands(ref, style))

    async def _create(
        self,
        place: Command,
        argv: Sequence[str],
        cwd: str,
        env: Mapping[str, str] | None,
        options: Mapping[str, str] | None,
        beside: PaneRef | None = None,
    ) -> Pane:
        self._own("open panes")
        server = self.server
        if server is not None and (limit := server_files.limit_reached(server.pid)) is not None:
            raise _full(limit)
        command = (*place, "-P", "-F", "#{pane_id} #{pane_pid}", "-c", "/", *PLACEHOLDER)
        lines = await (self.act(beside, command) if beside else self.run(*command))
        pane_id, pane_pid = reading.words_of(lines, 2)
        ref = PaneRef(*self._present(), pane_id, int(pane_pid))
        try:
            await self.act(
                ref,
                ("set-option", "-p", "-t", pane_id, "remain-on-exit", "on"),
                # tmux's own note would push the first line off a screen that somebody wants to read.
                ("set-option", "-q", "-p", "-t", pane_id, "remain-on-exit-format", ""),
                *option_commands(ref, options or {}),
                respawn_command(ref, argv, cwd, env),
            )
        except (MaestroError, asyncio.CancelledError):
            with contextlib.suppress(MaestroError):
                await asyncio.shield(self.kill_pane(ref))
            raise
        return await self.pane(pane_id)

    # The user's own server.

    def _own(self, what: str) -> None:
        if self.guest:
            raise Conflict(f"Maestro does not {what} in a tmux server that is not its own.")

    async def _guest_server(self) -> ServerId:
        lines = await self._guest_run("display-message", "-p", "#{pid}")
        pid = int(reading.words_of(lines, 1)[0])
        self._guest = ServerId(pid, processes.start_time(pid) or 0)
        return self._guest

    async def _guest_run(self, *command: str) -> list[str]:
        # A last semicolon would end the command instead of belonging to it.
        escaped = [word[:-1] + "\\;" if word.endswith(";") else word for word in command]
        code, said, complaint = await self._process("-S", self.socket, "-N", "-u", *escaped)
        if code != 0:
            raise _refusal([complaint.strip()])
        return said.removesuffix("\n").split("\n") if said else []

    async def _process(self, *arguments: str, given: bytes | None = None) -> tuple[int, str, str]:
        raw = [words.encoded(argument) for argument in arguments]
        try:
            process = await asyncio.create_subprocess_exec(
                "tmux", *raw, stdin=-3 if given is None else -1, stdout=-1, stderr=-1, cwd="/", env=self._env,
                umask=processes.umask_of_user(),
            )  # fmt: skip
        except FileNotFoundError as error:
            raise _missing() from error
        said, complaint = await process.communicate(given)
        return process.returncode or 0, words.decoded(said), words.decoded(complaint)


def _ended(server: ServerId) -> None:
    """Waits for a server's end. Whoever attaches in its last moment can keep it alive, without any session of ours."""
    if not processes.wait_for_end(server.pid, _END_SECONDS):
        processes.send_signal(process_of(server), signal.SIGKILL)
        processes.wait_for_end(server.pid, _END_SECONDS)


def _unreaped(pane: Pane) -> bool:
    known = pane.exit_status is not None or pane.exit_signal
    return pane.dead and not known and processes.start_time(pane.pane_pid) is None


def _server_of(ref: PaneRef) -> ServerId:
    return ServerId(ref.server_pid, ref.server_started)


def _other_pane(ref: PaneRef) -> Conflict:
    return Conflict(
        f"Pane {ref.pane_id} is no longer the one that was meant.",
        hint="It was closed, or something else runs in it. Look again with `maestro fleet list-panes`.",
    )


def _full(limit: int) -> Conflict:
    return Conflict(
        f"tmux may open {limit} files at once, and has no room for another pane.",
        hint="Close panes; or end the fleet and the daemon, and start them where `ulimit -Hn` is higher.",
    )


def _missing() -> DaemonError:
    return DaemonError("tmux is not installed.", hint="Install tmux 3.2 or newer.")


def _refusal(lines: Sequence[str]) -> MaestroError:
    said = " ".join(lines).strip()
    if said.startswith(("can't find", "no such")):
        return NotFound(f"tmux: {said}.")
    if said.startswith(("no server running", "error connecting", "lost server", "server exited")):
        return DaemonError(f"tmux: {said}.", hint="`maestro up` starts it.")
    return Conflict(f"tmux: {said}.")


def attach_argv(socket: str, session: str) -> tuple[str, ...]:
    """What a person's terminal runs to look at a session."""
    return ("tmux", "-S", socket, "attach-session", "-t", f"={session}")


def visit_argv(socket: str, session: str, pane_id: str) -> tuple[str, ...]:
    """What a person's terminal runs to look at one pane of a session, from outside this server."""
    chosen = ("select-window", "-t", pane_id, ";", "select-pane", "-t", pane_id, ";")
    return ("tmux", "-S", socket, *chosen, "attach-session", "-t", f"={session}")


def switch_argv(socket: str, pane_id: str) -> tuple[str, ...]:
    """What moves the terminal that already looks at this server to one of its panes."""
    return ("tmux", "-S", socket, "switch-client", "-t", pane_id)
