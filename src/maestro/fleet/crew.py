"""The sessions that live in panes: start and end. What is about to happen is recorded before it does."""

from __future__ import annotations

import asyncio
import functools
import os
import shutil
import sys
import uuid
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple

import msgspec

import maestro
from maestro.agents.installed import known_version
from maestro.agents.launch import LaunchedByVersion, Launcher, LaunchPlan, LaunchRequest, require_value
from maestro.agents.project_files import ActsOnProject
from maestro.agents.registry import (
    agent_named,
    folders_of_others,
    hooked_named,
    launcher_named,
    launchers_of,
)
from maestro.errors import Conflict, MaestroError
from maestro.files import write_atomically
from maestro.fleet import toolchains
from maestro.fleet.commands import enlarged_command
from maestro.fleet.coordinator_prompt import coordinator_prompt
from maestro.fleet.door import FOLDER
from maestro.fleet.isolate import Sandbox, isolated
from maestro.fleet.launch import (
    LAUNCH_FILE,
    SPOOL_VARIABLE,
    caller_environment,
    entry_argv,
    launch_file,
    session_environment,
    session_hooks,
)
from maestro.fleet.processtree import GRACE_SECONDS, end_tree
from maestro.fleet.prompt import PromptTask, first_prompt
from maestro.fleet.requests import Spawn
from maestro.fleet.roll import Roll
from maestro.fleet.tmux import Pane, Tmux
from maestro.ledger import sessions, tasks
from maestro.ledger.facts import NewSession, Session
from maestro.ledger.journal import Change, Once
from maestro.ledger.roles import HUMAN, Actor, require
from maestro.ledger.sight import is_child
from maestro.trust.project import ProjectTrust
from maestro.trust.root import find_root
from maestro.worktrees import worktree as worktrees
from maestro.worktrees.git_folders import copies, git_folders

# Threads of their own: the end of a large fleet takes minutes, and nobody who reads the ledger meanwhile may wait for it.
_ENDING: Final = ThreadPoolExecutor(16, thread_name_prefix="ending")

# A dialog of an agent's CLI can be read in a pane of this size.
_LEAST_WIDTH: Final = 80
_LEAST_HEIGHT: Final = 20


class Begun(NamedTuple):
    """A session that was started; whether it is ready is not known yet."""

    session: Session
    fleet: str
    pane: Pane | None
    quiet: bool  # without a prompt an agent writes nothing: its screen must do as evidence


class Crew(Roll):
    """Every fleet of this daemon, with the sessions in it."""

    # Starting.

    async def spawn(self, actor: Actor, request: Spawn, once: Once | None = None) -> Session:
        """Start a session in a pane and return when it is ready, or has failed."""
        return await self.ready(await self.begin(actor, request, once))

    async def begin(self, actor: Actor, request: Spawn, once: Once | None = None) -> Begun:
        """Start a session in a pane. Repeated after a crash it goes on from where it was."""
        launcher = launcher_named(request.agent)
        require_value(request.model or "")
        request = await asyncio.to_thread(self._with_kept_environment, actor, request)
        session = await self._intend(actor, request, launcher, once)
        quiet = not _has_prompt(request, session)
        if session.status != "spawning" or session.place is not None:
            return Begun(session, request.fleet, None, quiet)
        return await self._open_pane(session, request, launcher, resume=False, quiet=quiet)

    async def begin_again(self, session: Session, request: Spawn) -> Begun:
        """Open a session again that had ended, with its agent's own memory of it."""
        launcher = launcher_named(session.agent)
        # The pane that it had is gone, and must not be missed while it gets another.
        await self._write(HUMAN, lambda change: sessions.leave_place(change, session.id))
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
                elif session.worktree is not None:
                    await asyncio.to_thread(worktrees.require_no_link, session.worktree)
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

    def _with_kept_environment(self, actor: Actor, request: Spawn) -> Spawn:
        """A coordinator's child knows what the coordinator's own starter let its children know: the coordinator has the
        keys of one CLI alone, and what its process says is no person's word."""
        kept = self.environments.of(actor.session_id) if actor.session_id else None
        return request if kept is None else request.model_copy(update={"environment": kept})

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
            network=request.network,
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
        if session.role == "coordinator":
            every = launchers_of(session.agent, session.role)
            known = caller_environment(request.environment, *every)
            await asyncio.to_thread(self.environments.keep, session.id, known)
        env = session_environment(
            request.environment,
            launcher,
            session_id=session.id,
            token=token,
            maestro_home=self.home.root,
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
                network=request.network,
                spool=self.spools.path(session.id),
                is_trusted=await asyncio.to_thread(self._trusts, session),
                resume=resume,
                cli_version=await asyncio.to_thread(self._version_of, launcher, session, request),
            )
        )
        if plan.transcript_id is None and session.transcript_id is not None:
            await self._write(HUMAN, lambda c: sessions.forget_transcript_id(c, session.id))
        if plan.needs_spool:
            self.spools.make(session.id)
            env |= {SPOOL_VARIABLE: self.spools.path(session.id)}
        if request.isolate:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            plan = await asyncio.to_thread(self._isolated, plan, session, launcher, env, request.environment)
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

    def _trusts(self, session: Session) -> bool:
        """Whether the CLI may be told that the folder is trusted. Otherwise its own question comes to the inbox."""
        agent = agent_named(session.agent)
        if not isinstance(agent, ActsOnProject):
            return False
        # A worktree is trusted as the project is that it was made from.
        origin = session.worktree.project if session.worktree else session.cwd
        trust = ProjectTrust(self.home.root, find_root(origin).folder, os.environ)
        return trust.trusts_folder(agent, session.cwd)

    def _version_of(self, launcher: Launcher, session: Session, request: Spawn) -> str:
        """Asks the CLI for its version, where that decides how it is launched; without the session's token."""
        if not isinstance(launcher, LaunchedByVersion):
            return ""
        env = caller_environment(request.environment, launcher)
        now = self.journal.clock()
        return known_version(self.home.root, launcher.version_command, env, session.cwd, now=now)

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
            below = beside.width < 2 * _LEAST_WIDTH + 1
            return await tmux.split(beside.ref, argv, cwd="/", vertical=below, options=options)
        name = request.window or request.label or session.name
        return await tmux.new_window(request.fleet, argv, cwd="/", name=name, options=options)

    async def _give_worktree(self, session: Session) -> Session:
        path = self.home.path("worktrees", session.id)
        made = await asyncio.to_thread(worktrees.create, session.cwd, path, session.id, session.name)
        await self._write(HUMAN, lambda c: sessions.give_worktree(c, session.id, made))
        return await self.session(session.id)

    def _isolated(
        self,
        plan: LaunchPlan,
        session: Session,
        launcher: Launcher,
        env: Mapping[str, str],
        caller: Mapping[str, str],
    ) -> LaunchPlan:
        """The same agent, in a sandbox. `caller`: what its starter's environment says, of other agents too."""
        door = self.home.path(FOLDER)
        git = git_folders(session.cwd)
        spool = [os.path.realpath(env[SPOOL_VARIABLE])] if SPOOL_VARIABLE in env else []
        homes = toolchains.homes(env)
        own = launcher.own_folders(env)
        sandbox = Sandbox(
            cwd=os.path.realpath(session.cwd),
            maestro_home=os.path.realpath(self.home.root),
            socket=os.path.join(os.path.realpath(self.home.root), os.path.basename(self.home.socket)),
            door=os.path.realpath(door),
            own=own,
            homes=homes,
            writable=(*([session.worktree.path] if session.worktree else []), *git.writable, *spool),
            copies=copies(git, os.path.realpath(self.home.path("sessions", session.id))),
            protected=git.protected,
            hidden=(*_temporary_folder(env), *folders_of_others(own.writable, caller)),
            readable=(
                *git.readable,
                *toolchains.readable(env, (*homes, os.path.realpath(self.home.root))),
                # Its launch files, and Maestro itself, wherever it is installed: it reports by it.
                os.path.realpath(self.home.path("sessions", session.id)),
                *map(os.path.realpath, (sys.prefix, sys.base_prefix, os.path.dirname(maestro.__file__))),
            ),
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
        """Returns the pane of this window that is halved for another; None where no half could be read any more: the
        next one goes into another window of that name."""
        if window is None:
            return None
        # What is large for the moment will be small again.
        large = set(await tmux.run(*enlarged_command(fleet)))
        panes = [
            p
            for p in await tmux.panes()
            if p.session == fleet and p.window_name == window and p.window_id not in large
        ]
        roomy = [p for p in panes if p.width > 2 * _LEAST_WIDTH or p.height > 2 * _LEAST_HEIGHT]
        return max(roomy, key=lambda pane: pane.width * pane.height, default=None)

    async def _first_prompt(self, session: Session, request: Spawn) -> str:
        if not _has_prompt(request, session):
            return ""
        own = [
            await asyncio.to_thread(self.journal.read, lambda c, t=t: tasks.get_task(c, t))
            for t in session.task_ids
        ]
        write = coordinator_prompt if session.role == "coordinator" else first_prompt
        return write(
            session.id,
            subject=request.subject,
            message=request.message,
            tasks=tuple(PromptTask(task.id, task.title, task.description) for task in own),
        )

    # Ending.

    async def stop(
        self, actor: Actor, wanted: str, *, force: bool = False, keep_pane: bool = False
    ) -> Session:
        """End a session's whole process tree, and record it when all of it is dead."""
        session = await self.session(wanted)
        require(actor, "session.change", own=is_child(session, actor))
        adopted = session.place is not None and self.guests.socket(session.place.fleet) is not None
        if adopted or (session.place is None and session.pid is None):
            raise Conflict(
                "Maestro did not start this session.",
                hint="End it in its own terminal; `session report` closes it here.",
            )
        root = await asyncio.to_thread(self.journal.read, lambda c: sessions.process_of(c, session.id))
        self._stopping.add(session.id)
        try:
            end = functools.partial(end_tree, root, session.id, grace=0.0 if force else GRACE_SECONDS)
            await asyncio.get_running_loop().run_in_executor(_ENDING, end)
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


def _temporary_folder(env: Mapping[str, str]) -> tuple[str, ...]:
    """An isolated session has one of its own, in the place where programs look for it."""
    path = os.path.realpath(env.get("TMPDIR") or "/")
    return (path,) if path != "/" and os.path.isdir(path) else ()


def _has_prompt(request: Spawn, session: Session) -> bool:
    # A coordinator is told how it works in any case.
    told = request.subject.strip() or request.message.strip() or session.task_ids
    return bool(told) or session.role == "coordinator"
