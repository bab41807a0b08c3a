"""What became of what was decided: a receipt for every prompt that carries a decision out."""

from __future__ import annotations

from maestro.ledger import decisions, escalations, prompts, questions
from maestro.ledger.journal import Change


def give_receipt(change: Change, prompt_id: str) -> None:
    """A prompt is over: what was decided gets its receipt, in the same transaction."""
    prompt = prompts.get_prompt(change.connection, prompt_id)
    decision = decisions.of_prompt(change.connection, prompt_id)
    if decision is None:
        return
    decisions.record(
        change,
        kind="receipt",
        session_id=prompt.session_id,
        action=prompt.state,
        by=decision.by,
        question_id=decision.question_id,
        version=decision.version,
        question_hash=decision.question_hash,
        follows=decision.id,
        coordinator=decision.coordinator,
        reasons=tuple(line for line in (prompt.reason, *prompt.evidence) if line),
        prompt_id=prompt_id,
        pane=decision.pane,
    )
    waiting = escalations.open_of(change.connection, decision.question_id) if decision.question_id else None
    if waiting is None and decision.escalation_id is not None:
        waiting = escalations.get_escalation(change.connection, decision.escalation_id)
    if prompt.state == "submitted" and waiting is not None:
        escalations.close_escalation(change, waiting.id, f"answered by {decision.by}: {prompt_id}")
    question = (
        questions.get_question(change.connection, decision.question_id) if decision.question_id else None
    )
    # One in words has no end in the ledger: it is closed from the start.
    is_open = question is not None and (question.closed_at is None or question.source == questions.IN_WORDS)
    if prompt.state == "uncertain" and decision.kind == "verdict" and decision.question_id and is_open:
        escalations.open_escalation(
            change,
            session_id=prompt.session_id,
            kind="question",
            subject=decision.question_id,
            question_id=decision.question_id,
            version=decision.version,
            text=f"Was “{decision.text}” taken?",
            reason=f"It was typed, and nothing proves that it arrived: {prompt.reason}",
            proposed=decision.text,
            decision_id=decision.id,
        )
