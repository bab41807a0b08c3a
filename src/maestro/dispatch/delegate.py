"""One prompt to one tool: from what a person asked to a run that can begin; and the runs of a project, found again."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import time
import uuid
from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from maestro import confined, processes
from maestro.agents.headless import Headless, Outcome, RunMode
from maestro.agents.registry import BUILT_IN, headless_named
from maestro.dispatch import places, run
from maestro.dispatch.command_tool import CommandTool
from maestro.dispatch.process import end_run, now_ms
from maestro.dispatch.rules import trusted_rule, under_rule
from maestro.dispatch.run import (
    Ready,
    ask_to_end,
    carry_out,
    carrying_out,
    identity_of,
    look,
    mark_of,
    record_result,
    record_start,
    this_process,
)
from maestro.dispatch.runs import (
    COMMAND,
    DEFAULT_SECONDS,
    RUN_FILE,
    Process,
    Run,
    RunResult,
    RunSeen,
    checked_id,
    checked_prompt,
    checked_seconds,
    new_run_id,
    result_of,
)
from maestro.dispatch.tools import Tool, Toolbox, load_toolbox, shown_toolbox
from maestro.errors import Conflict, InvalidInput, NotFound
from maestro.home import locate
from maestro.trust.project import ProjectTrust

LATEST: Final = ""  # `--resume` without an id
_SESSION: Final = "MAESTRO_SESSION_ID"


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What a person asked for."""

    prompt: bytes
    mode: RunMode
    to: str = ""
    cd: str = ""
    model: str = ""
    rule: str = ""
    resume: str | None = None  # a run's id, a session's, or LATEST
    id: str = ""
    timeout_s: float | None = None
    mcp_config: str = ""
    allowed_tools: tuple[str, ...] = ()
    network: bool = False


def toolbox(cwd: str, env: Mapping[str, str]) -> Toolbox:
    """Returns the tools that may be run in the project of this folder."""
    trust = trust_of(cwd, env)
    return load_toolbox(trust, places.state_folder(trust.root, env))


def described_tools(cwd: str, env: Mapping[str, str]) -> Toolbox:
    """Returns the tools that are described for this folder, whether they may be run or not."""
    trust = trust_of(cwd, env)
    return shown_toolbox(trust, places.state_folder(trust.root, env))


def trust_of(cwd: str, env: Mapping[str, str]) -> ProjectTrust:
    """Returns what the person trusts of the project that a folder belongs to."""
    return ProjectTrust(locate(env).root, places.project_root(cwd), env)


def ready(order: Order, env: Mapping[str, str]) -> tuple[Ready, bytes]:
    """The run that the order means, checked, and its whole prompt. Nothing is written."""
    asked_in = os.path.realpath(order.cd or os.getcwd())
    earlier = _resumed(order, asked_in, env) if order.resume is not None else None
    cwd = asked_in if order.cd or earlier is None else _resumed_folder(earlier, asked_in)
    trust = trust_of(asked_in, env)
    root, state = trust.root, places.state_folder(trust.root, env)
    box = load_toolbox(trust, state)
    prompt = checked_prompt(order.prompt)
    if order.rule:
        prompt = checked_prompt(under_rule(trusted_rule(order.rule, trust, state), prompt))
    wanted = order.to or (earlier.run.tool if earlier else "") or box.default
    if not wanted:
        raise InvalidInput(
            "Which tool?",
            hint=f"Say --to and one of {', '.join(box.names())}, or set `default` in tools.toml.",
        )
    candidates = box.candidates(wanted)
    if order.resume is not None:
        candidates = candidates[:1]  # no other tool knows the session
    first_error: NotFound | None = None
    for name, tool in candidates:
        made = _run(order, name, tool, root, cwd, earlier, env)
        try:
            agent = adapter(name, tool)
            folder = os.path.join(state, "runs", made.id)
            return run.check(made, folder, agent, environment(env)), prompt
        except NotFound as error:
            first_error = first_error or error
    assert first_error is not None
    raise first_error


def adapter(name: str, tool: Tool) -> Headless:
    return CommandTool(name, tool) if tool.command else headless_named(tool.agent)


def environment(env: Mapping[str, str]) -> dict[str, str]:
    """The caller's environment without what agents set for their own children: the caller may be one's child."""
    patterns = [name for agent in BUILT_IN for name in headless_named(agent).session_variables]
    named = {name for name in patterns if not name.endswith("*")}
    prefixes = tuple(name[:-1] for name in patterns if name.endswith("*"))
    return {name: value for name, value in env.items() if name not in named and not name.startswith(prefixes)}


def _run(
    order: Order, name: str, tool: Tool, root: str, cwd: str, earlier: RunSeen | None, env: Mapping[str, str]
) -> Run:
    resume = ""
    if order.resume is not None:
        resume = _session_of(earlier) if earlier else order.resume
    clock = time.localtime()
    return Run(
        id=checked_id(order.id or new_run_id(name, clock.tm_hour, clock.tm_min, clock.tm_sec, os.urandom(2))),
        tool=name,
        agent=tool.agent or COMMAND,
        mode=order.mode,
        project=root,
        cwd=cwd,
        timeout_s=checked_seconds(order.timeout_s or tool.timeout or DEFAULT_SECONDS[order.mode]),
        started_at=now_ms(),
        runner=this_process(),
        model=order.model or tool.model,
        rule=order.rule,
        session_id="" if resume else str(uuid.uuid4()),
        resume=resume,
        allowed_tools=order.allowed_tools,
        network=order.network,
        mcp_config=os.path.abspath(order.mcp_config) if order.mcp_config else "",
        earlier=earlier.result.totals if earlier and earlier.result else None,
        asked_by=env.get(_SESSION, ""),
    )


def _resumed(order: Order, cwd: str, env: Mapping[str, str]) -> RunSeen | None:
    """The run to go on from; None where the id is of a session that no run here knows."""
    seen = list_runs(cwd, env)
    wanted = order.resume
    if wanted == LATEST:
        fitting = [s for s in seen if not order.to or order.to in {s.run.tool, s.run.agent}]
        if not fitting:
            raise NotFound("There is no run here to go on with.", hint="Say --resume ID, or leave it out.")
        found = fitting[0]
    else:
        found_by_session = [s for s in seen if s.result and s.result.session_id == wanted]
        by_id = [s for s in seen if s.run.id == wanted]
        if not by_id and not found_by_session:
            return None
        found = (by_id or found_by_session)[0]
    if found.state == "running":
        raise Conflict(
            f"{found.run.id} is still running.", hint=f"Type: maestro delegate wait {found.run.id}"
        )
    return found


def _resumed_folder(earlier: RunSeen, asked_in: str) -> str:
    """Returns where the earlier run worked. Its record lies in the project and could name any folder."""
    root, cwd = places.project_root(asked_in), os.path.realpath(earlier.run.cwd)
    if cwd != root and not cwd.startswith(root + os.sep):
        raise InvalidInput(
            f"{earlier.run.id} worked in {cwd}, which is not in this project.",
            hint=f"If you want it there, say so: --cd {cwd}",
        )
    return cwd


def _session_of(seen: RunSeen) -> str:
    session = (seen.result.session_id if seen.result else "") or seen.run.resume or seen.run.session_id
    if not session:
        raise Conflict(f"{seen.run.id} ended before it had a session.", hint="Start a new run.")
    return session


def carry_out_here(prepared: Ready) -> RunResult:
    """Run it in this process. A signal to end cancels the run; a second one does not wait for anybody."""

    async def main() -> RunResult:
        cancel = asyncio.Event()
        loop = asyncio.get_running_loop()

        def stop() -> None:
            if cancel.is_set():
                loop.run_in_executor(None, end_run, mark_of(prepared.folder))
            cancel.set()

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, stop)
        return await carry_out(prepared, cancel)

    with carrying_out(prepared.folder):
        return asyncio.run(main())


def taken_over(folder: str, env: Mapping[str, str]) -> Ready:
    """A run that was begun for another process, ready to be carried out by this one."""
    seen = look(folder)
    return run.check(seen.run, folder, taken_over_agent(seen, env), environment(env))


def taken_over_agent(seen: RunSeen, env: Mapping[str, str]) -> Headless:
    if seen.run.agent != COMMAND:
        return headless_named(seen.run.agent)
    trust = ProjectTrust(locate(env).root, seen.run.project, env)
    return adapter(*load_toolbox(trust, places.state_folder(trust.root, env)).find(seen.run.tool))


def run_by(made: Run, runner: Process) -> Run:
    return msgspec.structs.replace(made, runner=runner)


def hand_over(prepared: Ready, prompt: bytes, start: Callable[[str], int]) -> None:
    """Begin the run, and let a process of its own carry it out: `start` starts it and returns its pid."""
    run.begin(prepared, prompt)
    pid = start(prepared.folder)
    runner = Process(pid, processes.start_time(pid) or 0, processes.boot_id())
    record_start(run_by(prepared.run, runner), prepared.folder)


def list_runs(cwd: str, env: Mapping[str, str]) -> list[RunSeen]:
    """The runs of the project, the newest first. What is not a run's folder is passed over."""
    folder = places.runs_folder(cwd, env)
    try:
        with confined.folder(folder) as runs:
            names = [name for name in runs.names() if stat.S_ISDIR(runs.status(name).st_mode)]
    except OSError:
        return []
    seen = [
        look(path)
        for name in names
        if confined.exists(os.path.join(path := os.path.join(folder, name), RUN_FILE))
    ]
    return sorted(seen, key=lambda s: (s.run.started_at, s.run.id), reverse=True)


def find_run(wanted: str, cwd: str, env: Mapping[str, str]) -> RunSeen:
    """By its id, by a part of it that only one has, or by the id of its session."""
    path = os.path.join(places.runs_folder(cwd, env), checked_id(wanted))
    if confined.exists(os.path.join(path, RUN_FILE)):
        return look(path)
    seen = list_runs(cwd, env)
    fitting = [s for s in seen if s.run.id.startswith(wanted) or s.run.id.endswith(wanted)]
    fitting = fitting or [s for s in seen if wanted in {s.run.session_id, s.run.resume}]
    if len(fitting) > 1:
        raise InvalidInput(
            f"“{wanted}” fits {len(fitting)} runs.",
            hint=f"For example {fitting[0].run.id}; give more of the id.",
        )
    if not fitting:
        raise NotFound(f"There is no run “{wanted}” here.", hint="`maestro delegate list` shows all.")
    return fitting[0]


def wait_for(seen: RunSeen, seconds: float) -> RunSeen:
    """The run when it is over, or as it is when the time is up."""
    if seen.state == "running" and seen.run.runner is not None:
        processes.wait_for_end(seen.run.runner.pid, seconds)
        return look(seen.folder)
    return seen


def cancel_run(seen: RunSeen, seconds: float = 30.0) -> RunSeen:
    """End it and everything that it has started. What was over stays as it is.

    Nobody is signalled of whom it is not proven that they carry the run out.
    """
    runner = seen.run.runner
    if seen.state == "running" and runner is not None:
        if not ask_to_end(seen.folder, runner) and look(seen.folder).state == "running":
            raise _left_alone(seen, f"process {runner.pid}, which its record names, does not carry it out")
        seen = wait_for(seen, seconds)
    is_certain = runner is None or identity_of(runner).is_complete
    if runner is not None and not is_certain and seen.state == "interrupted" and processes.exists(runner.pid):
        why = f"its record names process {runner.pid}, and not its start time and boot id: it may be any process"
        raise _left_alone(seen, why)
    if seen.state == "running":
        raise Conflict(f"{seen.run.id} did not end within {seconds:g} s.", hint="Try it again.")
    if seen.state == "interrupted":
        # Whoever ran it was killed, and could end nothing.
        end_run(mark_of(seen.folder))
        outcome = Outcome(status="failed", error="It was cancelled.")
        ended = result_of(seen.run, outcome, how="cancelled", exit_code=None, signal=None, ended_at=now_ms())
        record_result(ended, seen.folder)
        seen = look(seen.folder)
    return seen


def _left_alone(seen: RunSeen, why: str) -> Conflict:
    return Conflict(
        f"{seen.run.id} was not cancelled, and nothing was ended: {why}.",
        hint=f"If it has only just begun, try again. The record is {os.path.join(seen.folder, RUN_FILE)}.",
    )
