"""What waits for the human, what they answer, and the answers of theirs that stand for them."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter
from pydantic import Field

from maestro.coordinate.inbox import View
from maestro.fleet.delivery import LONGEST
from maestro.ledger import precedents, prompts
from maestro.ledger.facts import Decision, Escalation, Fact, Precedent, Prompt, Question, Text
from maestro.ledger.roles import require
from maestro.server.desk import AtDesk, Calling, KeyOfChange, Seeing, Write

router = APIRouter(tags=["inbox"])

_MOST_SECONDS = 3600.0


class EscalationView(Escalation):
    """An escalation, with the session that it is of and what is asked there."""

    session_name: str
    agent: str
    fleet: str
    location: str
    question: Question | None
    findings: tuple[dict[str, Any], ...]


class HumanAnswer(Fact):
    """A human's answer: `Choose 2`, `Choose 2: why`, or words."""

    message: Annotated[str, Field(min_length=1, max_length=2 * LONGEST)]
    remember: Annotated[
        bool, Field(description="the same answer stands when exactly this is asked again")
    ] = True
    version: Annotated[int | None, Field(description="of the question that the human has read")] = None
    wait: bool = True
    timeout: Annotated[float, Field(ge=0, le=_MOST_SECONDS, strict=False)] = 15.0


class Offer(Fact):
    """A rule that would spare the human the same answer."""

    name: str
    pattern: str
    answer: str
    kinds: tuple[str, ...]
    tool: str
    times: int


class AnswerOutcome(Fact):
    escalation: EscalationView
    prompt: Prompt
    decision: Decision | None
    offer: Offer | None


class Dismissal(Fact):
    reason: Text = ""


@router.get("/inbox")
async def list_inbox(desk: AtDesk, actor: Calling, *, all: bool = False) -> list[EscalationView]:  # noqa: A002 - the query's name
    """What waits for the human, longest first; with `all` also what no longer does."""
    return [_shown(view) for view in await desk.inbox.list(actor, every=all)]


@router.get("/inbox/{word}")
async def show(desk: AtDesk, actor: Calling, word: str) -> EscalationView:
    """One of them: by its id, its question's, or the name of a session that has one open."""
    return _shown(await desk.inbox.show(actor, word))


@router.post("/inbox/{word}/answer", status_code=202)
async def answer(
    desk: AtDesk, actor: Calling, once: KeyOfChange, word: str, request: HumanAnswer
) -> AnswerOutcome:
    """Give a human's answer to the worker, if what it asks is still what the human was told."""
    done = await desk.inbox.answer(
        actor,
        word,
        request.message,
        version=request.version,
        remember=request.remember,
        seconds=request.timeout if request.wait else 0.0,
        once=once,
    )
    rule = done.offer
    return AnswerOutcome(
        escalation=_shown(done.view),
        prompt=prompts.public(done.prompt),
        decision=done.decision,
        offer=None
        if rule is None
        else Offer(
            name=rule.name,
            pattern=rule.pattern,
            answer=rule.answer,
            kinds=rule.kinds,
            tool=rule.tool,
            times=done.times,
        ),
    )


@router.post("/inbox/{word}/dismiss")
async def dismiss(desk: AtDesk, actor: Calling, word: str, request: Dismissal) -> EscalationView:
    """The human does not want to be asked this."""
    return _shown(await desk.inbox.dismiss(actor, word, request.reason))


@router.post("/inbox/{word}/notified")
async def notified(desk: AtDesk, actor: Calling, word: str) -> EscalationView:
    """The human was told of it as it is."""
    return _shown(await desk.inbox.mark_notified(actor, word))


@router.get("/precedents")
async def list_precedents(
    desk: AtDesk,
    actor: Calling,
    seeing: Seeing,
    *,
    all: bool = False,  # noqa: A002 - the query's name
) -> list[Precedent]:
    """Answers of humans that stand when exactly the same is asked again."""
    require(actor, "inbox.read", own=True)
    now = desk.journal.clock()
    found = await asyncio.to_thread(
        desk.journal.read, lambda c: precedents.list_precedents(c, now=now, all=all)
    )
    return [one for one in found if seeing.has_project(one.project_id)]


@router.get("/precedents/{word}")
async def show_precedent(desk: AtDesk, actor: Calling, seeing: Seeing, word: str) -> Precedent:
    require(actor, "inbox.read", own=True)
    found = await asyncio.to_thread(desk.journal.read, lambda c: precedents.get_precedent(c, word))
    require(actor, "inbox.read", own=seeing.has_project(found.project_id))
    return found


@router.delete("/precedents/{word}")
async def forget_precedent(desk: AtDesk, write: Write, word: str) -> Precedent:
    """It counts no more."""
    require(write.actor, "inbox.answer")
    found = await asyncio.to_thread(write, lambda change: precedents.forget(change, word))
    return await asyncio.to_thread(desk.journal.read, lambda c: precedents.get_precedent(c, found))


def _shown(view: View) -> EscalationView:
    place = view.session.place
    return EscalationView(
        **view.escalation.model_dump(),
        session_name=view.session.name,
        agent=view.session.agent,
        fleet=place.fleet if place else "",
        location=f"{place.fleet}:{place.pane_id}" if place else "",
        question=view.question,
        findings=tuple(msgspec.to_builtins(view.findings)),
    )
