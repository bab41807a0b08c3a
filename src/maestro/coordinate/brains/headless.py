"""One run of the person's own CLI, without tools, in an empty folder, that assesses one case.

Everything of the run goes with it: the worker's text is in its prompt. What counts is in the ledger.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import uuid
from collections.abc import Mapping
from typing import Final

import msgspec

from maestro import confined
from maestro.agents.headless import Headless
from maestro.agents.registry import headless_named
from maestro.coordinate import Assessment, BrainSettings, Case, Policy, Spent
from maestro.coordinate.assessment import SCHEMA, failed, parse_assessment
from maestro.coordinate.brief import brief
from maestro.dispatch.delegate import environment
from maestro.dispatch.process import end_run, now_ms
from maestro.dispatch.run import Transcribing, begin, carry_out, check, look, mark_of, this_process
from maestro.dispatch.runs import Run, RunResult
from maestro.errors import Conflict, LeadsOut, MaestroError
from maestro.home import locate, prepare

_GRACE_SECONDS: Final = 1.0
_PREFIX: Final = "brain-"
_BEGUN_MS: Final = 60_000
# A hook of this run must not be taken for one of the session that the loop runs in.
_OF_OUR_SESSION: Final = "MAESTRO_SESSION_"


class HeadlessBrain:
    """`folder` is ours alone, and holds each run for as long as it lasts. They run in an empty folder elsewhere: in a
    project, a worker could write what the CLIs read by themselves. It is the same for all of them, for the CLIs
    remember every folder that they ever were in."""

    def __init__(self, settings: BrainSettings, env: Mapping[str, str], folder: str) -> None:
        self.name: str = settings.kind
        self._settings = settings
        self._env = {k: v for k, v in environment(env).items() if not k.startswith(_OF_OUR_SESSION)}
        self._runs = os.path.abspath(folder)
        self._home = locate(env)
        self._empty = self._home.path("brain")
        self._swept = False

    async def assess(self, case: Case, policy: Policy) -> Assessment:
        told = brief(case, policy)
        prompt = f"{told.system}\n\n{told.user}\n".encode()
        run = self._run()
        folder = os.path.join(self._runs, run.id)
        try:
            self._prepare()
            agent = headless_named(self.name)
            ready = check(run, folder, agent, self._env)
            begin(ready, prompt)
            result = await carry_out(ready, asyncio.Event(), grace=_GRACE_SECONDS)
            self._forget(agent, run.session_id)
        except MaestroError as error:
            return failed(self.name, error.message)
        except OSError as error:
            return failed(self.name, f"It could not be run: {error}.")
        finally:
            _discard(folder)
        spent = _spent(result)
        if result.status != "success":
            return failed(self.name, f"{self.name}: {result.status}. {result.error}", spent)
        return parse_assessment(result.text, self.name, case, spent)

    def _run(self) -> Run:
        own = uuid.uuid4()
        return Run(
            id=f"{_PREFIX}{own.hex}",
            tool=self.name,
            agent=self.name,
            mode="analysis",
            project=self._empty,
            cwd=self._empty,
            timeout_s=float(self._settings.timeout),
            started_at=now_ms(),
            runner=this_process(),
            model=self._settings.model,
            session_id=str(own),
            abilities=(),
            schema=msgspec.json.encode(SCHEMA),
            is_apart=True,
        )

    def _prepare(self) -> None:
        prepare(self._home)
        confined.make_folders(self._runs)
        os.makedirs(self._empty, mode=0o700, exist_ok=True)
        if os.listdir(self._empty):
            raise Conflict(
                f"{self._empty} must be empty.", hint="Brains run there. Look what is in it, and remove it."
            )
        if not self._swept:
            self._swept = True
            self._sweep()

    def _sweep(self) -> None:
        """Remove what brains left that were killed, and end what they left running."""
        for name in confined.names(self._runs):
            folder = os.path.join(self._runs, name)
            if not name.startswith(_PREFIX):
                continue
            try:
                is_running = look(folder).state == "running"
            except MaestroError:
                # Killed before it was recorded, or another brain is at it this very moment.
                is_running = now_ms() - confined.status(folder).st_mtime_ns // 1_000_000 < _BEGUN_MS
            if not is_running:
                end_run(mark_of(folder))
                _discard(folder)

    def _forget(self, agent: Headless, session_id: str) -> None:
        """Remove the session's log, where the CLI keeps one whatever it is told. By the id that we gave it and no
        other: what a run prints must not say what is removed."""
        if isinstance(agent, Transcribing):
            path = agent.locate(session_id, self._empty, self._env)
            if path is not None:
                path.unlink(missing_ok=True)


def _discard(folder: str) -> None:
    with contextlib.suppress(OSError, LeadsOut):
        confined.remove_tree(folder)


def _spent(result: RunResult) -> Spent:
    tokens = sum(u.input + u.output + u.cached + u.cache_write for u in result.usage)
    return Spent(
        calls=1, tokens=tokens, cost_usd=result.cost_usd or 0.0, milliseconds=max(0, result.duration_ms)
    )
