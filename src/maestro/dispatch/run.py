"""One run: check, record that it begins, run it, record what became of it.

A run's folder is its truth: `run.json` before the agent starts, `result.json` whole or not at all when nothing of it is
alive any more. Whoever finds the first without the second, and nobody who runs it, knows that it was interrupted.
"""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import os
import shutil
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, TypeVar, runtime_checkable

import msgspec

from maestro import confined, processes
from maestro.agents import Environment, Usage
from maestro.agents.headless import (
    BringsServers,
    Counters,
    DeniesSilently,
    Headless,
    Outcome,
    Output,
    RunPlan,
    RunRequest,
    denied_words,
)
from maestro.agents.launch import require_value
from maestro.agents.project_files import ActsOnProject
from maestro.agents.registry import without_others_variables
from maestro.confined import Folder
from maestro.dispatch.prices import with_cost
from maestro.dispatch.process import GRACE_SECONDS, Program, marked, now_ms, run_program
from maestro.dispatch.runs import (
    COMMAND,
    PROMPT_FILE,
    RESULT_FILE,
    RUN_FILE,
    RUNNER_LOG,
    STDERR_FILE,
    STDOUT_FILE,
    Process,
    Run,
    RunResult,
    RunSeen,
    result_of,
)
from maestro.errors import Conflict, InvalidInput, MaestroError, NotFound
from maestro.files import replace_in, write_atomically, write_new
from maestro.home import locate
from maestro.observe.stats import load_prices
from maestro.trust.project import ONCE, ProjectTrust

# Output beyond this is not read: its end is what holds the result.
_MOST_READ: Final = 64 * 1024 * 1024


T = TypeVar("T")


@runtime_checkable
class Transcribing(Protocol):
    """The part of an `Agent` that a run needs; a tool by command template has no transcripts."""

    def locate(self, session_id: str, cwd: str, env: Environment) -> Path | None: ...
    def usage(self, line: bytes) -> Usage | None: ...


class Ready(NamedTuple):
    """A run that was checked and can begin."""

    run: Run
    folder: str
    agent: Headless
    request: RunRequest
    plan: RunPlan


def mark_of(folder: str) -> str:
    """What marks the processes of a run. Two projects may have a run of the same id, but not the same folder."""
    place = hashlib.sha256(os.fsencode(os.path.realpath(folder))).hexdigest()[:16]
    return f"{os.path.basename(folder)}.{place}"


def this_process() -> Process:
    pid = os.getpid()
    return Process(pid, processes.start_time(pid) or 0, processes.boot_id())


def identity_of(process: Process) -> processes.ProcessId:
    return processes.ProcessId(process.pid, process.started, process.boot)


def ask_to_end(folder: str, runner: Process) -> bool:
    """Signal the process that carries the run out to end it; False, and nobody is signalled, where that is not proven.

    A run's record lies in the project, and whoever wrote there may have named any process. The one that carries it out
    has the run's log open, which no record can pretend.
    """
    log = os.path.join(folder, RUNNER_LOG)
    return processes.send_signal(
        identity_of(runner), signal.SIGTERM, is_ours=lambda pid: processes.writes_to(pid, log)
    )


@contextmanager
def carrying_out(folder: str) -> Iterator[None]:
    """Has the run's log open meanwhile: by that others know who carries it out."""
    log = confined.open_file(os.path.join(folder, RUNNER_LOG), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        yield
    finally:
        os.close(log)


def check(run: Run, folder: str, agent: Headless, env: Mapping[str, str]) -> Ready:
    """Everything that can be wrong before anything is written. The folder and its prompt need not be there yet.

    A CLI gets its own variables and keys, not another's; what a program of the person's own needs, nobody knows."""
    if run.agent != COMMAND:
        env = without_others_variables(env, run.agent)
    for value in (run.model, run.resume, run.session_id):
        require_value(value)
    if not os.path.isdir(run.cwd):
        raise NotFound(f"There is no folder {run.cwd}.", hint="Give another one by --cd.")
    if confined.exists(os.path.join(folder, RESULT_FILE)):
        raise Conflict(f"The run {run.id} is over.", hint="Use another id.")
    request = RunRequest(
        prompt_path=os.path.join(folder, PROMPT_FILE),
        folder=folder,
        cwd=run.cwd,
        mode=run.mode,
        env=env,
        model=run.model,
        session_id=run.session_id,
        resume=run.resume,
        abilities=run.abilities,
        allowed_tools=run.allowed_tools,
        network=run.network,
        mcp_config=run.mcp_config,
        mcp_servers=_mcp_servers(run.mcp_config),
        schema=run.schema,
        is_apart=run.is_apart,
        is_trusted=_is_trusted(run, agent, env),
        foreign_servers=_foreign_servers(run, agent, env),
    )
    plan = agent.headless(request)
    if shutil.which(plan.argv[0], path=env.get("PATH")) is None:
        raise NotFound(
            f"{plan.argv[0]} is not on PATH.", hint=f"Install it, or use another tool than {run.tool}."
        )
    return Ready(run, folder, agent, request, plan)


def _is_trusted(run: Run, agent: Headless, env: Mapping[str, str]) -> bool:
    """Whether the CLI may be told that the folder is trusted. Raises Untrusted where the project would act by it."""
    if run.is_apart:
        return True  # its folder is our own, and empty
    trust = ProjectTrust(locate(env).root, run.project, env)
    return isinstance(agent, ActsOnProject) and trust.require_run(agent, run.cwd)


def begin(ready: Ready, prompt: bytes) -> None:
    """Make the folder with all that the agent needs. An id that is in use is a Conflict."""
    runs, name = confined.parent(ready.folder, make=True)
    with runs:
        try:
            runs.make(name)
        except FileExistsError as error:
            raise Conflict(f"There is a run {ready.run.id} already.", hint="Use another id.") from error
        with runs.below(name) as folder:
            replace_in(folder, PROMPT_FILE, prompt, durable=False)
            replace_in(folder, RUN_FILE, msgspec.json.encode(ready.run), durable=False)


def record_start(run: Run, folder: str) -> None:
    path = os.path.join(folder, RUN_FILE)
    write_atomically(path, msgspec.json.encode(run), durable=False, confined=True)


async def carry_out(ready: Ready, cancel: asyncio.Event, *, grace: float = GRACE_SECONDS) -> RunResult:
    """Run what `begin` has recorded, to its result. Other than by a broken disk, a run always gets one."""
    run, folder = ready.run, ready.folder
    request = msgspec.structs.replace(ready.request, before=_counted_before(ready))
    for file in ready.plan.files:
        write_atomically(file.path, file.content, file.mode, durable=False, confined=True)
    program = Program(
        argv=ready.plan.argv,
        env=marked(_agent_environment(request, ready.plan), mark_of(folder)),
        cwd=run.cwd,
        stdin=ready.plan.stdin,
        stdout=os.path.join(folder, STDOUT_FILE),
        stderr=os.path.join(folder, STDERR_FILE),
        mark=mark_of(folder),
    )
    try:
        ended = await run_program(program, seconds=run.timeout_s, cancel=cancel, grace=grace)
    except MaestroError as error:
        return record_failure(run, folder, error)
    ended_at = now_ms()
    stdout, stderr = read_outputs(folder)
    output = Output(
        stdout=stdout, stderr=stderr, exit_code=ended.exit_code, signal=ended.signal, ended_at=ended_at
    )
    result = result_of(
        run,
        _with_silent_denials(ready, ready.agent.outcome(output, request)),
        how=ended.how,
        exit_code=ended.exit_code,
        signal=ended.signal,
        ended_at=ended_at,
        survivors=ended.survivors,
    )
    result = _counted(ready, result)
    # Syncing waits for the disk; other runs go on meanwhile.
    await asyncio.to_thread(record_result, result, folder)
    return result


def _agent_environment(request: RunRequest, plan: RunPlan) -> dict[str, str]:
    """What the person allowed this command once is not for the agent to use."""
    return {name: value for name, value in {**request.env, **plan.env}.items() if name != ONCE}


def _with_silent_denials(ready: Ready, outcome: Outcome) -> Outcome:
    if outcome.status != "success" or ready.run.mode != "analysis":
        return outcome
    if not isinstance(ready.agent, DeniesSilently):
        return outcome
    denials = ready.agent.silent_denials(_transcript(ready, outcome.session_id), ready.run.started_at)
    if not denials:
        return outcome
    return msgspec.structs.replace(outcome, status="denied", denials=denials, error=denied_words(denials))


def record_failure(run: Run, folder: str, error: MaestroError) -> RunResult:
    """A run whose agent could not be started has a result, too: somebody may wait for it."""
    outcome = Outcome(status="failed", error=error.message)
    result = result_of(run, outcome, how="exited", exit_code=None, signal=None, ended_at=now_ms())
    record_result(result, folder)
    return result


def record_result(result: RunResult, folder: str) -> None:
    data = msgspec.json.format(msgspec.json.encode(result), indent=2)
    write_new(os.path.join(folder, RESULT_FILE), data, confined=True)


def look(folder: str) -> RunSeen:
    """A run as its folder tells it. Every state but `running` lasts."""
    run = _load(os.path.join(folder, RUN_FILE), Run)
    result = _result(folder)
    if result is None and run.runner is not None and not _is_alive(run.runner):
        # It may have ended between the two looks; its result is there before it is gone.
        result = _result(folder)
        if result is None:
            return RunSeen(folder=folder, state="interrupted", run=run)
    if result is None:
        return RunSeen(folder=folder, state="running", run=run)
    return RunSeen(folder=folder, state=result.status, run=run, result=result)


def has_runner(folder: str) -> bool:
    """Whether a process of the run's own lives, also one that is just starting and has recorded nothing yet."""
    try:
        log = confined.open_file(os.path.join(folder, RUNNER_LOG), os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(log, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(log)
    return False


def _result(folder: str) -> RunResult | None:
    path = os.path.join(folder, RESULT_FILE)
    return _load(path, RunResult) if confined.exists(path) else None


def _load(path: str, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(confined.read(path), type=kind)
    except FileNotFoundError as error:
        raise NotFound(f"There is no {path}.", hint="`maestro delegate list` shows the runs.") from error
    except msgspec.MsgspecError as error:
        raise InvalidInput(
            f"{path} cannot be read: {error}.", hint="It was left as it is; move it away to go on."
        ) from error


def _is_alive(process: Process) -> bool:
    return processes.is_same(identity_of(process))


def read_outputs(folder: str) -> tuple[bytes, bytes]:
    """Return what a run's program printed, to stdout and stderr; of long output the end."""
    with confined.folder(folder) as opened:
        return _end_of(opened, STDOUT_FILE), _end_of(opened, STDERR_FILE)


def _end_of(folder: Folder, name: str) -> bytes:
    try:
        return folder.read_end(name, _MOST_READ)
    except FileNotFoundError:
        return b""  # it was not started


def _read(path: str) -> bytes:
    """Return a transcript, wherever the agent keeps it."""
    try:
        with open(path, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _MOST_READ))
            return file.read()
    except FileNotFoundError:
        return b""


def _mcp_servers(path: str) -> Mapping[str, Mapping[str, object]]:
    if not path:
        return {}
    try:
        with open(path, "rb") as file:
            told = msgspec.json.decode(file.read(), type=dict[str, Any])
        return msgspec.convert(told.get("mcpServers", {}), dict[str, dict[str, object]])
    except OSError as error:
        raise NotFound(f"The MCP configuration {path} cannot be read: {error.strerror}.") from error
    except msgspec.MsgspecError as error:
        raise InvalidInput(
            f"The MCP configuration {path} is not usable: {error}.", hint='It must hold {"mcpServers": {…}}.'
        ) from error


def _foreign_servers(run: Run, agent: Headless, env: Mapping[str, str]) -> tuple[str, ...]:
    return agent.configured_servers(env) if run.is_apart and isinstance(agent, BringsServers) else ()


def _counted_before(ready: Ready) -> Counters | None:
    """What the resumed session had counted: by its transcript, which knows of every use, else by our last run of it."""
    if not ready.run.resume:
        return None
    counted = ready.agent.counted(_transcript(ready, ready.run.resume))
    return counted if counted is not None else ready.run.earlier


def _counted(ready: Ready, result: RunResult) -> RunResult:
    """The result with its models named, where only the transcript names them, and with what it cost."""
    if any(not usage.model for usage in result.usage) and isinstance(ready.agent, Transcribing):
        model = "unknown"
        for line in _transcript(ready, result.session_id).split(b"\n"):
            if (told := ready.agent.usage(line)) is not None and told.model:
                model = told.model
        named = tuple(u if u.model else msgspec.structs.replace(u, model=model) for u in result.usage)
        result = msgspec.structs.replace(result, usage=named)
    if result.cost_usd is not None or not result.usage:
        return result
    return with_cost(result, load_prices(ready.request.env, Path(locate(ready.request.env).root)))


def _transcript(ready: Ready, session_id: str) -> bytes:
    if not isinstance(ready.agent, Transcribing):
        return b""
    path = ready.agent.locate(session_id, ready.run.cwd, ready.request.env)
    return _read(str(path)) if path is not None else b""
