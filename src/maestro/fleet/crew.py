"""The sessions that live in panes: start, find again, end. What is about to happen is recorded before it does.

A session's pane carries its id (`@session_id`), so that whatever was recorded when the daemon died, the pane and the
session find each other again.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec
import structlog

from maestro import home as homes
from maestro import processes
from maestro.agents.launch import Launcher, LaunchPlan, LaunchRequest
from maestro.agents.registry import agent_named, hooked_named, launcher_named, terminal_named
from maestro.agents.screen import captured
from maestro.errors import Conflict, MaestroError, Refused
from maestro.files import write_atomically
from maestro.fleet.door import FOLDER
from maestro.fleet.fleets import Fleets
from maestro.fleet.isolate import Sandbox, isolated
from maestro.fleet.launch import (
    LAUNCH_FILE,
    caller_environment,
    entry_argv,
    launch_file,
    session_environment,
    session_hooks,
)
from maestro.fleet.processtree import GRACE_SECONDS, ProcessId, end_tree
from maestro.fleet.prompt import PromptTask, first_prompt
from maestro.fleet.requests import Spawn
from maestro.fleet.tmux import Pane, Tmux
from maestro.ledger import sessions, tasks
from maestro.ledger.facts import NewSession, Place, Session, SessionChange, SessionStatus
from maestro.ledger.journal import Change, Journal, Once
from maestro.ledger.roles import HUMAN, Actor, require
from maestro.worktrees import worktree as worktrees

_log = structlog.get_logger("crew")

READY_SECONDS: Final = 30.0
_LOOK_SECONDS: Final = 0.05
_LAST_LINES: Final = 15
_STATUS_LOOKS: Final = 30


class Begun(NamedTuple):
    """A session that was started; whether it is ready is not known yet."""

    session: Session
    fleet: str
    pane: Pane | None
    quiet: bool  # without a prompt an agent writes nothing: its screen must do as evidence


class Crew(Fleets):
    """Every fleet of this daemon, with the sessions in it."""

    def __init__(
        self, journal: Journal, home: homes.Home, transcript_of: Callable[[Session], os.PathLike[str] | None]
    ) -> None:
        super().__init__(journal, home)
        self.transcript_of = transcript_of
        # Set by whoever reads screens: told when tmux has news of a fleet; types what a CLI cannot be started with.
        self.on_change: Callable[[str], None] = lambda _fleet: None
        self.type_first: Callable[[Session, str], Awaitable[None]] | None = None
        self._settling: dict[str, asyncio.Task[None]] = {}
        self._unsettled: set[str] = set()
        self._stopping: set[str] = set()

    async def close(self) -> None:
        self._closed = True
        for task in self._settling.values():
            task.cancel()
        await asyncio.gather(*self._settling.values(), return_exceptions=True)
        await super().close()

    # Starting.

    async def spawn(self, actor: Actor, request: Spawn, once: Once | None = None) -> Session:
        """Start a session in a pane and return when it is ready, or has failed."""
        return await self.ready(await self.begin(actor, request, once))

    async def begin(self, actor: Actor, request: Spawn, once: Once | None = None) -> Begun:
        """Start a session in a pane. Repeated after a crash it goes on from where it was."""
        launcher = launcher_named(request.agent)
        session = await self._intend(actor, request, launcher, once)
        quiet = not _has_prompt(request, session)
        if session.status != "spawning" or session.place is not None:
            return Begun(session, request.fleet, None, quiet)
        return await self._open_pane(session, request, launcher, resume=False, quiet=quiet)

    async def begin_again(self, session: Session, request: Spawn) -> Begun:
        """Open a session again that had ended, with its agent's own memory of it."""
        launcher = launcher_named(session.agent)
        await self._move(session.id, "spawning")
        return await self._open_pane(session, request, launcher, resume=True, quiet=True)

    async def _open_pane(
        self, session: Session, request: Spawn, launcher: Launcher, *, resume: bool, quiet: bool
    ) -> Begun:
        tmux = await self.open(request.fleet)
        pane = await self._pane_of(tmux, session.id)
        if pane is None:
            try:
                if request.worktree and session.worktree is None:
                    session = await self._give_worktree(session)
                pane = await self._start(tmux, session, request, launcher, resume=resume)
            except MaestroError as error:
                await self._end(session.id, "error", f"It could not be started: {error.message}")
                raise
        await self.place(session.id, request.fleet, request.label or session.name, pane)
        return Begun(session, request.fleet, pane, quiet)

    async def ready(self, begun: Begun) -> Session:
        """Wait for evidence that the agent is there, or has failed."""
        tmux = await self.running(begun.fleet)
        if begun.pane is None or tmux is None:
            return await self.session(begun.session.id)
        return await self._ready(tmux, begun.session.id, begun.pane, quiet=begun.quiet)

    async def _intend(self, actor: Actor, request: Spawn, launcher: Launcher, once: Once | None) -> Session:
        homely = set(agent_named(request.agent).home_variables)
        new = NewSession(
            agent=request.agent,
            role=request.role,
            name=request.name or request.label,
            project_id=request.project_id,
            directory=request.directory,
            parent_session_id=request.parent_session_id,
            task_ids=request.task_ids,
            cwd=request.cwd,
            model=request.model,
            mode=request.mode,
            transcript_id=str(uuid.uuid4()),
            environment={
                name: value
                for name, value in caller_environment(request.environment, launcher).items()
                if name in homely
            },
        )
        session_id = await asyncio.to_thread(
            self.journal.write, actor, lambda change: sessions.create_session(change, new), once
        )
        return await self.session(session_id)

    async def _start(
        self, tmux: Tmux, session: Session, request: Spawn, launcher: Launcher, *, resume: bool
    ) -> Pane:
        token = sessions.new_token()

        def mint(change: Change) -> str:
            sessions.mint_token(change, session.id, token)
            return session.id

        await self._write(HUMAN, mint)
        env = session_environment(
            request.environment, launcher, session_id=session.id, token=token, maestro_home=self.home.root
        )
        folder = self.home.path("sessions", session.id)
        first = "" if resume else await self._first_prompt(session, request)
        plan = launcher.launch(
            LaunchRequest(
                session_id=session.id,
                transcript_id=session.transcript_id or "",
                cwd=session.cwd,
                folder=folder,
                env=env,
                first_prompt=first,
                model=session.model or "",
                mode=request.mode,
                role=session.role,
                settings=session_hooks(hooked_named(session.agent)),
                is_isolated=request.isolate,
                # A person made its folder a project.
                is_trusted=True,
                resume=resume,
            )
        )
        if plan.transcript_id is None and session.transcript_id is not None:
            await self._write(HUMAN, lambda c: sessions.forget_transcript_id(c, session.id))
        if request.isolate:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            plan = await asyncio.to_thread(self._isolated, plan, session, launcher, env)
        launching = await asyncio.to_thread(self._lay_out, folder, plan, env, session.cwd)
        options = {
            "@session_id": session.id,
            "@pane_label": request.label or session.name,
            "@pane_notify": "working",
        }
        pane = await self._pane_for(tmux, session, request, entry_argv(launching), options)
        if plan.prompt == "typed" and self.type_first is not None:
            await self.place(session.id, request.fleet, request.label or session.name, pane)
            await self.type_first(await self.session(session.id), first)
        return pane

    async def _pane_for(
        self,
        tmux: Tmux,
        session: Session,
        request: Spawn,
        argv: Sequence[str],
        options: Mapping[str, str],
    ) -> Pane:
        if not any(pane.session == request.fleet for pane in await tmux.panes()):
            return await tmux.new_session(
                request.fleet,
                argv,
                cwd="/",
                window_name=request.window or request.label or session.name,
                options=options,
            )
        beside = await self._in_window(tmux, request.fleet, request.window)
        if beside is not None:
            return await tmux.split(beside.ref, argv, cwd="/", options=options)
        name = request.window or request.label or session.name
        return await tmux.new_window(request.fleet, argv, cwd="/", name=name, options=options)

    async def _give_worktree(self, session: Session) -> Session:
        path = self.home.path("worktrees", session.id)
        made = await asyncio.to_thread(worktrees.create, session.cwd, path, session.id, session.name)
        await self._write(HUMAN, lambda c: sessions.give_worktree(c, session.id, made))
        return await self.session(session.id)

    def _isolated(
        self, plan: LaunchPlan, session: Session, launcher: Launcher, env: Mapping[str, str]
    ) -> LaunchPlan:
        """The same agent, in a sandbox."""
        door = self.home.path(FOLDER)
        git = worktrees.git_folders(session.cwd)
        sandbox = Sandbox(
            cwd=os.path.realpath(session.cwd),
            maestro_home=os.path.realpath(self.home.root),
            socket=os.path.join(os.path.realpath(self.home.root), os.path.basename(self.home.socket)),
            door=os.path.realpath(door),
            own=launcher.own_folders(env),
            writable=(*([session.worktree.path] if session.worktree else []), *git.writable),
            protected=git.protected,
            # Its launch files, and Maestro itself, wherever it is installed: it reports by it.
            readable=(os.path.realpath(self.home.path("sessions", session.id)), os.path.realpath(sys.prefix)),
        )
        argv = isolated(plan.argv, sandbox, shutil.which("bwrap", path=env.get("PATH")))
        return msgspec.structs.replace(plan, argv=argv)

    @staticmethod
    def _lay_out(folder: str, plan: LaunchPlan, env: Mapping[str, str], cwd: str) -> str:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        for file in plan.files:
            write_atomically(file.path, file.content, file.mode)
        path = os.path.join(folder, LAUNCH_FILE)
        write_atomically(path, launch_file(plan, env, cwd))
        return path

    @staticmethod
    async def _in_window(tmux: Tmux, fleet: str, window: str | None) -> Pane | None:
        if window is None:
            return None
        panes = [p for p in await tmux.panes() if p.session == fleet and p.window_name == window]
        return panes[-1] if panes else None

    async def _first_prompt(self, session: Session, request: Spawn) -> str:
        if not _has_prompt(request, session):
            return ""
        own = [
            await asyncio.to_thread(self.journal.read, lambda c, t=t: tasks.get_task(c, t))
            for t in session.task_ids
        ]
        return first_prompt(
            session.id,
            subject=request.subject,
            message=request.message,
            tasks=tuple(PromptTask(task.id, task.title, task.description) for task in own),
        )

    async def _ready(self, tmux: Tmux, session_id: str, pane: Pane, *, quiet: bool) -> Session:
        """Wait for evidence that the agent is there: its transcript, or, without a prompt, its screen; or a dialog
        that it shows first. An agent that dies before has failed, and its last screen says why."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + READY_SECONDS
        while loop.time() < deadline:
            session = await self.session(session_id)
            if session.status != "spawning":
                return session
            now = next(
                (p for p in await tmux.panes() if p.ref == pane.ref or p.pane_id == pane.pane_id), None
            )
            if now is None or now.dead:
                return await self._died(tmux, session_id, now)
            if await asyncio.to_thread(self.transcript_of, session) is not None:
                return await self._move(session_id, "working")
            shown = await self._shown_status(tmux, now, session.agent)
            if shown is not None and (quiet or shown == "needs_input"):
                return await self._move(session_id, shown)
            await asyncio.sleep(_LOOK_SECONDS)
        # It lives, and nothing proves more: its status stays as it is.
        return await self.session(session_id)

    @staticmethod
    async def _shown_status(tmux: Tmux, pane: Pane, agent: str) -> SessionStatus | None:
        """What the screen says of an agent that has just been started."""
        terminal = terminal_named(agent)
        capture = captured(await tmux.capture(pane.ref, escapes=True), title=pane.title)
        if terminal is None:
            return "idle" if any(capture.lines) else None
        screen = terminal.read_screen(capture)
        if screen.question is not None or screen.state == "dialog":
            return "needs_input"
        return "idle" if screen.state in {"idle", "error", "limit"} else None

    async def _died(self, tmux: Tmux, session_id: str, pane: Pane | None) -> Session:
        if pane is None:
            return await self._end(session_id, "error", "Its pane is gone.")
        pane = await self._with_exit_status(tmux, pane)
        shown = (await tmux.capture(pane.ref, lines=_LAST_LINES)).splitlines()
        written = [line for line in shown if line.strip() and not line.startswith("Pane is dead")]
        screen = "\n".join(written[-_LAST_LINES:])
        code = (
            f"exit code {pane.exit_status}" if pane.exit_status is not None else f"signal {pane.exit_signal}"
        )
        return await self._end(session_id, "error", f"It ended early ({code}):\n{screen}")

    @staticmethod
    async def _with_exit_status(tmux: Tmux, pane: Pane) -> Pane:
        """tmux may know that a program ended before it knows how."""
        for _ in range(_STATUS_LOOKS):
            if pane.exit_status is not None or pane.exit_signal:
                break
            await asyncio.sleep(_LOOK_SECONDS)
            pane = await tmux.pane(pane.pane_id)
        return pane

    # Finding again.

    async def settle(self) -> None:
        """After a start of the daemon: connect to every fleet that runs, and see what became of its sessions."""
        live = await asyncio.to_thread(self.journal.read, lambda c: sessions.list_sessions(c, active=True))
        fleets = {session.place.fleet for session in live if session.place} | set(self.names())
        for fleet in sorted(fleets):
            await self.settle_fleet(fleet)
        for session in live:
            interrupted = session.status == "spawning" and session.place is None
            mine = session.host == self.journal.host and session.mode is not None
            if interrupted and mine and not await self._adopt_pane(session, fleets):
                await self._end(session.id, "error", "The daemon died before it was started.")

    async def settle_fleet(self, fleet: str) -> None:
        """Sessions whose pane is gone or dead have ended; say so."""
        tmux = await self.running(fleet)
        panes = {pane.session_id: pane for pane in await tmux.panes() if pane.session_id} if tmux else {}
        live = await asyncio.to_thread(self.journal.read, lambda c: sessions.list_sessions(c, active=True))
        for session in live:
            if session.place is None or session.place.fleet != fleet or session.host != self.journal.host:
                continue
            if session.id in self._stopping:
                continue  # whoever stops it says how it ended
            pane = panes.get(session.id)
            if pane is None:
                await self._end(session.id, "error", f"{GONE} tmux or the pane ended.")
            elif pane.dead and session.status != "spawning":
                assert tmux is not None
                pane = await self._with_exit_status(tmux, pane)
                if pane.exit_status == 0:
                    await self._end(session.id, "stopped", "It ended by itself.")
                else:
                    await self._died(tmux, session.id, pane)

    async def _adopt_pane(self, session: Session, fleets: set[str]) -> bool:
        for fleet in fleets:
            tmux = await self.running(fleet)
            pane = await self._pane_of(tmux, session.id) if tmux else None
            if tmux is not None and pane is not None:
                await self.place(session.id, fleet, pane.label, pane)
                await self._ready(tmux, session.id, pane, quiet=False)
                return True
        return False

    def _changed(self, fleet: str) -> None:
        """tmux has news: look what became of the sessions, once for any number of news."""
        super()._changed(fleet)
        if self._closed:
            return
        self.on_change(fleet)
        self._unsettled.add(fleet)
        running = self._settling.get(fleet)
        if running is None or running.done():
            self._settling[fleet] = asyncio.get_running_loop().create_task(self._settle_soon(fleet))

    async def _settle_soon(self, fleet: str) -> None:
        while fleet in self._unsettled:
            self._unsettled.discard(fleet)
            try:
                await self.settle_fleet(fleet)
            except MaestroError as error:
                _log.warning("settle", fleet=fleet, error=error.message)

    # Ending.

    async def stop(
        self, actor: Actor, wanted: str, *, force: bool = False, keep_pane: bool = False
    ) -> Session:
        """End a session's whole process tree, and record it when all of it is dead."""
        session = await self.session(wanted)
        own = actor.session_id is not None and session.parent_session_id == actor.session_id
        require(actor, "session.change", own=own)
        adopted = session.place is not None and self.guests.socket(session.place.fleet) is not None
        if adopted or (session.place is None and session.pid is None):
            raise Conflict(
                "Maestro did not start this session.",
                hint="End it in its own terminal; `session report` closes it here.",
            )
        root = None
        if session.pid is not None:
            started = await asyncio.to_thread(
                self.journal.read, lambda c: sessions.process_start(c, session.id)
            )
            root = ProcessId(session.pid, started) if started is not None else None
        self._stopping.add(session.id)
        try:
            await asyncio.to_thread(end_tree, root, session.id, grace=0.0 if force else GRACE_SECONDS)
            stopped = await self._end(session.id, "stopped", f"Stopped by a {actor.role}.")
            if not keep_pane:
                await self._close_pane(session)
        finally:
            self._stopping.discard(session.id)
        return stopped

    async def _close_pane(self, session: Session) -> None:
        tmux = await self.running(session.place.fleet) if session.place else None
        pane = await self._pane_of(tmux, session.id) if tmux else None
        if tmux is not None and pane is not None:
            await tmux.kill_pane(pane.ref)

    # The ledger.

    async def require_sight(self, actor: Actor, session_id: str) -> None:
        """Raise unless the actor may see what this pane's session shows."""
        session = await self.session(session_id)
        await asyncio.to_thread(
            self.journal.read, lambda connection: sessions.require_sight(connection, actor, session)
        )

    async def has_sight(self, actor: Actor, session_id: str) -> bool:
        try:
            await self.require_sight(actor, session_id)
        except Refused:
            return False
        return True

    async def session(self, wanted: str) -> Session:
        return await asyncio.to_thread(self.journal.read, lambda c: sessions.get_session(c, wanted))

    async def _pane_of(self, tmux: Tmux, session_id: str) -> Pane | None:
        return next((pane for pane in await tmux.panes() if pane.session_id == session_id), None)

    async def place(self, session_id: str, fleet: str, label: str, pane: Pane) -> None:
        place = Place(
            fleet=fleet,
            label=label,
            pane_id=pane.pane_id,
            pane_pid=pane.pane_pid,
            server_pid=pane.server_pid,
            server_started=pane.server_started,
        )
        started = processes.start_time(pane.pane_pid)
        birth = (started, processes.boot_id()) if started is not None else None
        await self._write(HUMAN, lambda c: sessions.place_session(c, session_id, place, birth))

    async def _move(self, session_id: str, status: SessionStatus) -> Session:
        change = SessionChange(status=status)
        await self._write(HUMAN, lambda c: sessions.change_session(c, session_id, change, None))
        return await self.session(session_id)

    async def _end(self, session_id: str, status: SessionStatus, why: str) -> Session:
        await self._write(HUMAN, lambda c: sessions.end_session(c, session_id, status, why))
        return await self.session(session_id)

    async def _write(self, actor: Actor, work: Callable[[Change], str]) -> None:
        await asyncio.to_thread(self.journal.write, actor, work)


# How a session that was not ended by anybody is marked: `up --resume` opens these again.
GONE: Final = "Gone:"


def _has_prompt(request: Spawn, session: Session) -> bool:
    return bool(request.subject.strip() or request.message.strip() or session.task_ids)
