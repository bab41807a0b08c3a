"""A batch: lock → check → run → record → summary. A failure is a row, not an exception.

What is on the disk decides what is run: a batch that was interrupted at any moment goes on by the same call."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from maestro import confined
from maestro.dispatch import history, places
from maestro.dispatch.batch import (
    MOST_FAILURES,
    PROMPTS,
    RESULTS,
    RUNS,
    AgentEnd,
    AgentStatus,
    Attempt,
    BatchAgent,
    exit_code,
    run_id,
)
from maestro.dispatch.budget import Caps, exhausted, spent
from maestro.dispatch.engine import Admission, Engine, Go, Hold, Job, Stop
from maestro.dispatch.isolation import Grounds, Harvest, grounds
from maestro.dispatch.planning import Order, Plan, dispatch_folder, plan
from maestro.dispatch.process import now_ms
from maestro.dispatch.progress import Began, Ended, Event, Held, Started, Unrun
from maestro.dispatch.prompts import with_preamble
from maestro.dispatch.retry import Again, Over, next_move, resumed
from maestro.dispatch.run import this_process
from maestro.dispatch.runs import COMMAND, STDOUT_FILE, Run, RunResult
from maestro.dispatch.summary import Applied, Summary, summarize
from maestro.errors import InvalidInput, MaestroError
from maestro.home import locate

_EVIDENCE: Final = 16 * 1024 * 1024  # of an output, when it is looked through for names of files

Watch = Callable[[Event], None]
MakeEngine = Callable[[Plan], Engine]


async def dispatch(
    order: Order,
    env: Mapping[str, str],
    make_engine: MakeEngine,
    *,
    watch: Watch = lambda _: None,
    cancel: asyncio.Event | None = None,
    begun: Callable[[Plan], None] = lambda _: None,
) -> Summary:
    """Run the batch to its summary. `begun` is called once it is recorded that it has begun."""
    folder = dispatch_folder(order.folder)
    with history.locked(folder):
        made = plan(order, env, now_ms())
        return await _Running(made, make_engine(made), env, watch, cancel or asyncio.Event()).run(begun)


def failures(summary: Summary) -> int:
    """The exit code: how many did not succeed, as far as exit codes go."""
    return min(summary.failed, MOST_FAILURES)


class _Running:
    def __init__(
        self, made: Plan, engine: Engine, env: Mapping[str, str], watch: Watch, cancel: asyncio.Event
    ) -> None:
        self.plan = made
        self.engine = engine
        self.env = env
        self.watch = watch
        self.cancel = cancel
        self.attempts: dict[str, list[Attempt]] = {}
        self.numbers: dict[str, int] = {}  # of the last attempt
        self.holds: dict[str, int] = {}  # by tool: until when none of its agents starts
        self.closed: dict[str, str] = {}  # by tool: why none of its agents starts any more
        self.project = places.project_root(made.batch.root)
        self.ground: Grounds

    async def run(self, begun: Callable[[Plan], None]) -> Summary:
        folder, batch = self.plan.folder, self.plan.batch
        await self._settle()
        if self.plan.earlier is None and history.is_used(folder):
            history.move_aside(folder)
        confined.make_folders(os.path.join(folder, RESULTS))
        history.clear_halves(folder)
        self.ground = self._grounds()
        history.write_batch(folder, msgspec.structs.replace(batch, runner=this_process()))
        begun(self.plan)
        moves = {agent.name: self._first_move(agent) for agent in batch.agents}
        self._require_prompts(moves)
        kept = tuple(name for name, move in moves.items() if isinstance(move, Over))
        self.watch(Began(tuple(moves), kept, self.plan.settings.warnings))
        for agent in batch.agents:
            self._note_limit(agent, moves[agent.name])
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._agent(agent, moves[agent.name])) for agent in batch.agents]
        except ExceptionGroup as failed:
            # Failures of agents are results; this is a disk that takes nothing more. The others were ended.
            raise failed.exceptions[0] from None
        return await self._finish([task.result() for task in tasks])

    async def _settle(self) -> None:
        """Look after every attempt whose dispatcher died, before anything else is started."""

        async def settled(one: history.SeenAttempt) -> Attempt:
            if one.result is not None or one.found is not None:
                return Attempt(number=one.number, result=one.result, found=one.found)
            result, found = await self.engine.settle(one.run, one.folder)
            return Attempt(number=one.number, result=result, found=found)

        seen = history.attempts(self.plan.folder)
        done = {name: [await settled(one) for one in ones] for name, ones in seen.items()}
        numbers = history.last_numbers(self.plan.folder)
        goes_on = self.plan.earlier is not None
        for agent in self.plan.batch.agents:
            self.attempts[agent.name] = done.get(agent.name, []) if goes_on else []
            self.numbers[agent.name] = numbers.get(agent.name, 0) if goes_on else 0

    def _grounds(self) -> Grounds:
        batch = self.plan.batch
        state = places.state_folder(self.project, self.env)
        return grounds(
            isolate=batch.isolate,
            reads_only=batch.mode == "analysis",
            root=batch.root,
            folder=self.plan.folder,
            worktrees_folder=locate(self.env).path("worktrees"),
            results=os.path.join(self.plan.folder, RESULTS),
            batch_id=batch.id,
            spared=(self.plan.folder, state),
        )

    def _first_move(self, agent: BatchAgent) -> Again | Over:
        done, policy = self.attempts[agent.name], self.plan.order.policy
        return resumed(done, policy, now_ms(), failed_too=self.plan.order.failed_too)

    def _require_prompts(self, moves: Mapping[str, Again | Over]) -> None:
        for agent in self.plan.batch.agents:
            if isinstance(moves[agent.name], Again) and agent.name not in self.plan.prompts:
                raise InvalidInput(
                    f"{agent.name} is not finished, and its prompt {agent.prompt} is gone.",
                    hint=f"Its last one is below {os.path.join(self.plan.folder, RUNS)}.",
                )

    async def _agent(self, agent: BatchAgent, move: Again | Over) -> AgentEnd:
        while isinstance(move, Again):
            word = await self._attempt(agent, move.at)
            if isinstance(word, Stop):
                self.watch(Unrun(agent.name, word.reason))
                return self._ended(agent, _status_so_far(self.attempts[agent.name]), word.reason)
            move = word
        return self._ended(agent, move.status)

    async def _attempt(self, agent: BatchAgent, at: int) -> Again | Over | Stop:
        """Carry out the next attempt. Returns what follows from it, or why there was none."""
        number = self.numbers[agent.name] + 1
        folder = history.attempt_folder(self.plan.folder, agent.name, number)
        try:
            cwd = await self.ground.place_of(agent.name)
        except MaestroError as error:
            return Stop(error.message)
        prompt = with_preamble(cwd, self.plan.prompts[agent.name])
        run = Run(
            id=run_id(self.plan.batch.id, agent.name, number),
            tool=agent.tool,
            agent=self.plan.tool(agent.tool).agent or COMMAND,
            mode=self.plan.batch.mode,
            cwd=cwd,
            project=self.project,
            timeout_s=self.plan.seconds(agent.tool),
            started_at=now_ms(),
            model=agent.model,
            session_id=str(uuid.uuid4()),
            network=self.plan.order.network,
        )

        moves: list[Again | Over] = []

        async def started() -> None:
            await self.ground.entered(agent.name)
            self.watch(Started(agent.name, agent.tool, number))

        result = await self.engine.carry_out(
            Job(run=run, folder=folder, prompt=prompt),
            admit=lambda: self._admit(agent, at),
            started=started,
            ended=lambda result: moves.append(self._count(agent, number, result)),
            cancel=self.cancel,
        )
        if isinstance(result, Stop):
            return result
        await self.ground.left(agent.name, lambda: prompt + _head_of(os.path.join(folder, STDOUT_FILE)))
        return moves[-1]

    def _admit(self, agent: BatchAgent, at: int) -> Admission:
        """Whether it may start now: its own time, its tool's limit, the batch's budget."""
        if self.plan.order.caps != Caps():
            results = (one.result for done in self.attempts.values() for one in done)
            reason = exhausted(self.plan.order.caps, spent(result for result in results if result))
            if reason:
                return Stop(reason)
        if agent.tool in self.closed:
            return Stop(self.closed[agent.tool])
        until = max(at, self.holds.get(agent.tool, 0))
        return Hold(until) if until > now_ms() else Go()

    def _count(self, agent: BatchAgent, number: int, result: RunResult) -> Again | Over:
        """Take in what an attempt has come to: the next admission depends on it."""
        done = self.attempts[agent.name]
        self.numbers[agent.name] = number
        done.append(Attempt(number=number, result=result))
        move = next_move(done, self.plan.order.policy, now_ms())
        again = move.at if isinstance(move, Again) else None
        code = exit_code(result.status, result)
        self.watch(Ended(agent.name, result.status, code, self.plan.seconds(agent.tool), result.error, again))
        self._note_limit(agent, move)
        return move

    def _note_limit(self, agent: BatchAgent, move: Again | Over) -> None:
        """What one agent has met, the others of its tool need not meet."""
        done = self.attempts[agent.name]
        if not done or done[-1].result is None or done[-1].result.status != "limit":
            return
        if isinstance(move, Over):
            self.closed[agent.tool] = f"{agent.tool} is at a limit."
        elif move.at > max(self.holds.get(agent.tool, 0), now_ms()):
            self.holds[agent.tool] = move.at
            self.watch(Held(agent.tool, move.at))

    def _ended(self, agent: BatchAgent, status: AgentStatus, reason: str = "") -> AgentEnd:
        done = self.attempts[agent.name]
        if done and done[-1].result is not None:
            folder = history.attempt_folder(self.plan.folder, agent.name, done[-1].number)
            history.publish(self.plan.folder, agent.name, folder, status, done[-1].result)
        return AgentEnd(agent=agent, status=status, attempts=tuple(done), reason=reason)

    async def _finish(self, ends: list[AgentEnd]) -> Summary:
        harvest = await self.ground.harvest()
        applied = await self._apply(ends, harvest) if self.plan.order.apply else []
        ended_at = now_ms()
        summary = summarize(
            self.plan.batch,
            ends,
            ended_at=ended_at,
            changes=harvest.changes,
            work=harvest.work,
            applied=applied,
            notes=(*self.plan.settings.warnings, *harvest.notes),
            was_cancelled=self.cancel.is_set(),
        )
        history.write_summary(self.plan.folder, summary)
        is_over = not self.cancel.is_set() and all(end.status not in {"not_run", "cancelled"} for end in ends)
        if is_over:
            ended = msgspec.structs.replace(self.plan.batch, ended_at=ended_at)
            history.write_batch(self.plan.folder, ended)
            if self.plan.settings.cleanup:
                self._clean_up()
        return summary

    async def _apply(self, ends: list[AgentEnd], harvest: Harvest) -> list[Applied]:
        """Only what succeeded, and what no other agent has touched."""
        in_conflict = {name for one in harvest.changes.conflicts for name in one.agents}
        worked = [end for end in ends if end.agent.name in harvest.work]
        clean = [
            end.agent.name for end in worked if end.status == "success" and end.agent.name not in in_conflict
        ]
        applied = await self.ground.apply(clean)
        for end in worked:
            name = end.agent.name
            if name in in_conflict:
                reason = "Another agent has changed the same files."
                applied.append(Applied(name, is_merged=False, reason=reason))
            elif end.status != "success":
                applied.append(Applied(name, is_merged=False, reason=f"It ended as {end.status}."))
        before = history.read_summary(self.plan.folder) if self.plan.earlier else None
        told = {one.agent for one in applied}
        merged = [
            one for one in (before.applied if before else ()) if one.is_merged and one.agent not in told
        ]
        return [*merged, *applied]

    def _clean_up(self) -> None:
        """Remove the prompts of this batch; each lies in its run's folder, too."""
        with confined.folder(self.plan.folder) as folder:
            if not folder.has(PROMPTS):
                return
            with folder.below(PROMPTS) as place:
                for agent in self.plan.batch.agents:
                    try:
                        place.unlink(agent.prompt)
                    except FileNotFoundError:
                        pass
            try:
                folder.remove(PROMPTS)
            except OSError:
                pass  # something else is in it, which is not ours to remove


def _status_so_far(done: list[Attempt]) -> AgentStatus:
    return done[-1].result.status if done and done[-1].result else "not_run"


def _head_of(path: str) -> bytes:
    try:
        return confined.read(path, _EVIDENCE)
    except FileNotFoundError:
        return b""
