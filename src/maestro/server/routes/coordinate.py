"""What an oversight loop asks of the daemon: cases, decisions, care; and what was decided, why, and how well."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Query

from maestro.coordinate import Assessment, Policy
from maestro.coordinate.oversight import Engagement
from maestro.coordinate.policy.config import parse_policy
from maestro.coordinate.stats import stats
from maestro.errors import InvalidInput
from maestro.ledger import decisions, escalations, prompts, questions, sessions
from maestro.ledger.facts import Decision, Escalation, Fact, Id, Ids, Prompt, Question
from maestro.ledger.roles import Actor, require
from maestro.server.desk import AtDesk, Calling, Desk, Seeing
from maestro.server.routes.fleets import the_only

router = APIRouter(tags=["coordinate"])

_HOUR_MS = 3600 * 1000
_MOST = 10_000


class Asked(Fact):
    """Which session's question, for which coordinator. Only a human's own loop brings a policy along."""

    session_id: Id
    coordinator: Id
    question_id: Id | None = None
    version: int = 0
    shadow: bool = False
    policy: dict[str, Any] | None = None


class Judged(Asked):
    assessment: dict[str, Any] | None = None


class Care(Fact):
    coordinator: Id
    sessions: Ids | None = None
    fleet: Id | None = None
    managed: Ids | None = None
    shadow: bool = False
    policy: dict[str, Any] | None = None


@router.post("/coordinate/case")
async def case(desk: AtDesk, actor: Calling, request: Asked) -> dict[str, Any]:
    """What a session waits for with all that is known of it, and the verdict where no brain is needed."""
    require(actor, "fleet.coordinate", own=True)
    policy = await _policy(desk, actor, request.policy, request.session_id, request.coordinator)
    found = await desk.oversight.consider(actor, _engagement(actor, request), policy)
    told: dict[str, Any] = msgspec.to_builtins(found)
    return told


@router.post("/coordinate/decide")
async def decide(desk: AtDesk, actor: Calling, request: Judged) -> dict[str, Any]:
    """Decide about a question, record it, do it; answers with the receipt."""
    require(actor, "fleet.coordinate", own=True)
    policy = await _policy(desk, actor, request.policy, request.session_id, request.coordinator)
    assessment = None if request.assessment is None else _assessment(request.assessment)
    done = await desk.oversight.decide(actor, _engagement(actor, request), policy, assessment)
    told: dict[str, Any] = msgspec.to_builtins(done)
    return told


@router.post("/coordinate/attend")
async def attend(desk: AtDesk, actor: Calling, request: Care) -> list[Decision]:
    """Look after workers that do not get on: those named, or those of a fleet's managed panes that do not just rest."""
    require(actor, "fleet.coordinate", own=True)
    named = list(request.sessions or ())
    wanted = named or await _managed(desk, actor, request)
    policy = _brought(actor, request.policy)

    async def policy_of(session_id: str) -> Policy:
        return policy or await _written_down(desk, actor, session_id, request.coordinator)

    coordinator = actor.session_id or request.coordinator
    return await desk.care.attend(
        actor, coordinator, policy_of, wanted, shadow=request.shadow, only_restless=not named
    )


@router.get("/coordinate/cases")
async def cases(
    desk: AtDesk,
    actor: Calling,
    since_hours: Annotated[float, Query(alias="sinceHours", gt=0, le=24 * 366)] = 24 * 7,
    limit: Annotated[int, Query(ge=1, le=_MOST)] = 1000,
) -> dict[str, Any]:
    """Questions that were decided, as cases, with what was done: for deciding them anew."""
    require(actor, "inbox.answer")
    since = desk.journal.clock() - int(since_hours * _HOUR_MS)
    found = await desk.cases.recorded(since, limit)
    return {"cases": [{"case": msgspec.to_builtins(one), "done": done} for one, done in found]}


class Decided(Fact):
    """A decision with everything that belongs to it."""

    decision: Decision
    question: Question | None
    following: tuple[Decision, ...]
    prompt: Prompt | None
    escalation: Escalation | None
    chain: str


@router.get("/decisions")
async def list_decisions(
    desk: AtDesk,
    actor: Calling,
    seeing: Seeing,
    session_id: Annotated[str | None, Query(alias="sessionId")] = None,
    question_id: Annotated[str | None, Query(alias="questionId")] = None,
    since: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=_MOST)] = 1000,
) -> list[Decision]:
    """What was decided, oldest first; `since` is the `seq` of the last one known."""
    require(actor, "inbox.read", own=session_id is None or seeing.has_session(session_id))
    found = await asyncio.to_thread(
        desk.journal.read,
        lambda c: decisions.list_decisions(
            c, session_id=session_id, question_id=question_id, since_seq=since, limit=limit
        ),
    )
    return [one for one in found if seeing.has_session(one.session_id)]


@router.get("/decisions/stats")
async def show_stats(
    desk: AtDesk,
    actor: Calling,
    seeing: Seeing,
    since_hours: Annotated[float | None, Query(alias="sinceHours", gt=0)] = None,
) -> dict[str, Any]:
    """How much goes on without the human, how often they are asked, and whether they agree."""
    require(actor, "inbox.read", own=True)
    since = 0 if since_hours is None else desk.journal.clock() - int(since_hours * _HOUR_MS)

    def read() -> dict[str, Any]:
        made = desk.journal.read(lambda c: decisions.list_decisions(c, since_ms=since, limit=1_000_000))
        asked = desk.journal.read(questions.list_questions)
        made = [one for one in made if seeing.has_session(one.session_id)]
        asked = [one for one in asked if seeing.has_session(one.session_id)]
        told: dict[str, Any] = msgspec.to_builtins(stats(made, asked))
        return told

    return await asyncio.to_thread(read)


@router.get("/decisions/audit")
async def audit(desk: AtDesk, actor: Calling) -> dict[str, Any]:
    """Whether the chain of decisions is whole."""
    require(actor, "inbox.read", own=True)
    host = desk.journal.host
    links = await asyncio.to_thread(desk.journal.read, lambda c: decisions.last_seq(c, host))
    broken = await asyncio.to_thread(desk.journal.read, lambda c: decisions.broken_link(c, host))
    return {"links": links, "brokenAt": broken.id if broken else None}


@router.get("/decisions/{word}/why")
async def why(desk: AtDesk, actor: Calling, seeing: Seeing, word: str) -> Decided:
    """Why something was done: a decision, or the latest about a question, escalation, prompt or session."""
    require(actor, "inbox.read", own=True)

    def read() -> Decided:
        reading = desk.journal.read
        found = reading(lambda c: decisions.find(c, word))
        require(actor, "inbox.read", own=seeing.has_session(found.session_id))
        asked = [one for one in reading(questions.list_questions) if one.id == found.question_id]
        waits = reading(escalations.list_escalations)
        broken = reading(lambda c: decisions.broken_link(c, found.host))
        prompt = reading(lambda c: prompts.get_prompt(c, found.prompt_id or "")) if found.prompt_id else None
        return Decided(
            decision=found,
            question=asked[0] if asked else None,
            following=tuple(reading(lambda c: decisions.following(c, found.id))),
            prompt=prompts.public(prompt) if prompt else None,
            escalation=next((one for one in waits if one.id == found.escalation_id), None),
            chain="whole" if broken is None else f"broken at {broken.id}",
        )

    return await asyncio.to_thread(read)


def _engagement(actor: Actor, request: Asked) -> Engagement:
    return Engagement(
        session_id=request.session_id,
        coordinator=actor.session_id or request.coordinator,
        question_id=request.question_id or "",
        version=request.version,
        shadow=request.shadow,
    )


async def _policy(
    desk: Desk, actor: Actor, brought: dict[str, Any] | None, session_id: str, coordinator: str
) -> Policy:
    """The human's own loop brings its policy; an agent's is what the human wrote down, whatever it says."""
    return _brought(actor, brought) or await _written_down(desk, actor, session_id, coordinator)


def _brought(actor: Actor, policy: dict[str, Any] | None) -> Policy | None:
    if policy is None or actor.role != "human":
        return None
    return parse_policy(msgspec.json.encode(policy), "the policy of this request")


async def _written_down(desk: Desk, actor: Actor, session_id: str, coordinator: str) -> Policy:
    session = await desk.crew.session(session_id)
    return await asyncio.to_thread(desk.find_policy, session, actor.session_id or coordinator)


def _assessment(told: dict[str, Any]) -> Assessment:
    try:
        return msgspec.convert(told, Assessment)
    except msgspec.ValidationError as error:
        raise InvalidInput(
            f"That is no assessment: {error}.",
            hint="It has brain, answer, confidence, categories, reasoning.",
        ) from error


async def _managed(desk: Desk, actor: Actor, request: Care) -> list[str]:
    states = await desk.crew.states(request.fleet or the_only(desk.crew))
    scope = await states.scope(request.managed, "")
    panes = await states.tmux.panes()
    managed = [pane.session_id for pane in panes if pane.pane_id in scope.managed and pane.session_id]
    if actor.session_id is None:
        return managed
    own = await asyncio.to_thread(
        desk.journal.read, lambda c: sessions.list_sessions(c, parent_session_id=actor.session_id)
    )
    return [session_id for session_id in managed if session_id in {one.id for one in own}]
