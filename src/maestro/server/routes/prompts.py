"""Prompts and answers on their way into sessions; what a session does, with evidence; what it asks."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from maestro.fleet.delivery import LONGEST
from maestro.ledger import prompts, questions, tasks
from maestro.ledger.facts import Fact, Id, Prompt, Question
from maestro.server.desk import AtDesk, Calling, KeyOfChange, Seeing
from maestro.server.insight import Explanation

router = APIRouter(tags=["prompts"])

# Longer than a prompt waits, and short enough that a forgotten caller does not stay for ever.
_MOST_SECONDS = 3600.0


class Message(Fact):
    """What to tell a session. While it asks something, it is the answer: `Choose 2`, `Choose 2: why`, or words."""

    message: Annotated[str, Field(min_length=1, max_length=2 * LONGEST)]
    wait: bool = True
    timeout: Annotated[float, Field(ge=0, le=_MOST_SECONDS, strict=False)] = 15.0
    question_id: Id | None = None
    version: int | None = None


@router.post("/sessions/{session_id}/prompt", status_code=202)
async def prompt(
    desk: AtDesk, actor: Calling, once: KeyOfChange, session_id: str, request: Message
) -> Prompt:
    """Type text into a session's terminal. Waiting, it answers when the text has arrived, or cannot be proved to
    have; not waiting, at once."""
    sent = await desk.outbox.send(
        actor,
        session_id,
        request.message,
        question_id=request.question_id,
        version=request.version,
        once=once,
    )
    return prompts.public(await desk.outbox.settled(sent.id, request.timeout) if request.wait else sent)


@router.get("/sessions/{session_id}/prompts")
async def list_prompts(desk: AtDesk, actor: Calling, session_id: str) -> list[Prompt]:
    """Everything that was to be typed into a session, oldest first, with its receipt."""
    session = await desk.crew.session(session_id)
    await desk.crew.require_sight(actor, session.id)
    found = await asyncio.to_thread(desk.journal.read, lambda c: prompts.list_prompts(c, session.id))
    return [prompts.public(one) for one in found]


@router.delete("/sessions/{session_id}/prompts/{prompt_id}")
async def withdraw(desk: AtDesk, actor: Calling, session_id: str, prompt_id: str) -> Prompt:
    """Take back what is still queued."""
    return prompts.public(await desk.outbox.withdraw(actor, session_id, prompt_id))


@router.get("/sessions/{session_id}/explain")
async def explain(desk: AtDesk, actor: Calling, session_id: str) -> Explanation:
    """What a session does, by each source, with the rule that decided and who says otherwise."""
    session = await desk.crew.session(session_id)
    await desk.crew.require_sight(actor, session.id)
    board = await asyncio.to_thread(desk.journal.read, tasks.list_tasks)
    return await desk.insight.explain(session, {task.id: task for task in board})


@router.get("/questions")
async def list_questions(
    desk: AtDesk,
    actor: Calling,
    seeing: Seeing,
    session_id: Annotated[str | None, Query(alias="sessionId")] = None,
    is_open: Annotated[bool | None, Query(alias="open")] = None,
) -> list[Question]:
    """What sessions asked, oldest first."""
    if session_id is not None:
        session_id = (await desk.crew.session(session_id)).id
        await desk.crew.require_sight(actor, session_id)
    found = await asyncio.to_thread(
        desk.journal.read, lambda c: questions.list_questions(c, session_id=session_id, is_open=is_open)
    )
    return [one for one in found if seeing.has_session(one.session_id)]
