"""What to do about a question: one total function of all that is known. Pure.

    nothing to do      an answer is under way, the human has it, or somebody types       ignore
    policy             the gate stops the question                                       escalate
    budget, history    a cap is reached; the same words again and again                  escalate
    precedent          a human answered exactly this                                     answer
    proof              code has proven that a command only reads                         answer
    a brain            failed, or sees a category that always escalates                  escalate
                       no answer, or not sure enough                                     probe once, else escalate
                       sure, and it cannot be undone                                     escalate
                       sure, and the gate lets the answer pass                           answer

Nothing that comes later can loosen what came before, and no answer passes that the gate has not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from maestro.agents.questions import Answer, Question
from maestro.coordinate import Assessment, Case, Finding, GateVerdict, Policy, Verdict
from maestro.errors import InvalidInput
from maestro.fleet.answers import parse_answer

MOST_REPEATS: Final = 3
MOST_FAILURES: Final = 2
_NEVER_PROBED: Final = frozenset({"permission", "plan", "dialog"})
_WITHOUT_JUDGEMENT: Final = frozenset({"rules", "none"})
_WORD: Final = re.compile(r"\w+")
_CHOOSE: Final = re.compile(r"\s*choose\s+(\d[\d\s,&and]*)", re.IGNORECASE)
_NUMBER: Final = re.compile(r"\d+")
_YES: Final = re.compile(r"\s*(?:yes|allow|approve)\b", re.IGNORECASE)


def decide(
    case: Case, policy: Policy, assessment: Assessment | None, gate_of_answer: GateVerdict | None, now: int
) -> Verdict | None:
    """What to do. None: that depends on an assessment. `gate_of_answer` is about what `proposed` says."""
    del now  # whatever depends on the time was settled when the case was gathered
    if (reason := _why_not_now(case)) is not None:
        return Verdict("ignore", "history", reasons=(reason,))
    text = proposed(case, policy, assessment)
    if case.gate.verdict == "escalate":
        return _stopped(case.gate, text, assessment)
    if case.over_budget:
        return Verdict("escalate", "budget", text, reasons=(case.over_budget,))
    if (reason := _why_enough(case)) is not None:
        return Verdict("escalate", "history", text, reasons=(reason,))
    if _counts(case, policy):
        return _by_precedent(case, text, gate_of_answer)
    if _yes_to_a_look(case, policy):
        return _by_proof(case, text, gate_of_answer)
    return None if assessment is None else _by_brain(case, policy, assessment, gate_of_answer)


def proposed(case: Case, policy: Policy, assessment: Assessment | None) -> str:
    """The answer that would be given, which the gate has to look at; empty where there is none yet."""
    if case.precedent is not None and _counts(case, policy):
        return case.precedent.answer
    if yes := _yes_to_a_look(case, policy):
        return yes
    return "" if assessment is None or assessment.failed else assessment.answer.strip()


def can_probe(case: Case, policy: Policy) -> bool:
    """Whether the worker may be asked what it means: once, and only where the question takes words."""
    asked, message = case.asked, policy.pre_escalation.probe_message.strip()
    if not policy.pre_escalation.enabled or case.history.probed or not message:
        return False
    if asked.kind in _NEVER_PROBED:
        return False
    if case.is_turn_end:
        return True
    if asked.kind != "free_text" and asked.free_text is None:
        return False
    answer = _parsed(message, asked)
    return answer is not None and bool(answer.text) and not answer.choices


def _why_not_now(case: Case) -> str | None:
    if case.history.pending:
        return "An answer to it is under way."
    if case.history.escalated:
        return "It waits for the human already."
    if case.asked.stage == "typing" and case.asked.typed.strip():
        return "Somebody is typing into it."
    return None


def _why_enough(case: Case) -> str | None:
    if case.history.answered_before >= MOST_REPEATS:
        return f"The same was asked and answered {case.history.answered_before} times before."
    if case.history.failures >= MOST_FAILURES:
        return f"An answer could not be typed {case.history.failures} times."
    return None


def _counts(case: Case, policy: Policy) -> bool:
    """Whether there is a precedent that stands for an answer: a human's."""
    known = case.precedent
    counts = policy.precedents.enabled and policy.strictness != "all"
    return counts and known is not None and known.by == "human" and bool(known.answer.strip())


def _by_precedent(case: Case, text: str, gate: GateVerdict | None) -> Verdict:
    assert case.precedent is not None
    if (refused := _refused(case, text, gate, None)) is not None:
        return refused
    why = "You answered exactly this before."
    return Verdict("answer", "precedent", text, 1.0, reasons=(why,), precedent_id=case.precedent.id)


def _yes_to_a_look(case: Case, policy: Policy) -> str:
    """The answer that lets a command run once which is proven to read only; empty where there is no such answer, and
    where the human wants to see everything."""
    if not case.gate.read_only or policy.strictness == "all":
        return ""
    yes = (
        number
        for number, option in enumerate(case.asked.options, 1)
        if _YES.match(option.label) and not (option.is_lasting or option.is_free_text)
    )
    return next((f"Choose {number}" for number in yes), "")


def _by_proof(case: Case, text: str, gate: GateVerdict | None) -> Verdict:
    if (refused := _refused(case, text, gate, None)) is not None:
        return refused
    return Verdict("answer", "policy", text, 1.0, reasons=("It only reads, inside the project.",))


def _by_brain(case: Case, policy: Policy, assessment: Assessment, gate: GateVerdict | None) -> Verdict:
    text, confidence = assessment.answer.strip(), assessment.confidence
    if assessment.failed:
        return Verdict("escalate", assessment.brain, reasons=(assessment.failed,))
    if not 0.0 <= confidence <= 1.0:
        why = "Its confidence is not a number between 0 and 1."
        return Verdict("escalate", assessment.brain, text, categories=assessment.categories, reasons=(why,))
    if found := _always_escalated(assessment.categories, policy):
        why = f"It is about {', '.join(found)}."
        return Verdict(
            "escalate", assessment.brain, text, confidence, assessment.categories, _reasons(why, assessment)
        )
    is_judged = assessment.brain not in _WITHOUT_JUDGEMENT
    if is_judged and policy.strictness == "all":
        why = "No rule of yours names it."
        return Verdict(
            "escalate", assessment.brain, text, confidence, assessment.categories, _reasons(why, assessment)
        )
    if not text or not confidence >= policy.confidence_threshold:
        return _unsure(case, policy, assessment)
    if is_judged and not assessment.can_be_undone:
        why = "It cannot be undone."
        return Verdict(
            "escalate", assessment.brain, text, confidence, assessment.categories, _reasons(why, assessment)
        )
    if (refused := _refused(case, text, gate, assessment)) is not None:
        return refused
    return Verdict(
        "answer", assessment.brain, text, confidence, assessment.categories, _reasons("", assessment)
    )


def _unsure(case: Case, policy: Policy, assessment: Assessment) -> Verdict:
    text, confidence = assessment.answer.strip(), assessment.confidence
    why = f"{confidence:.2f} sure; {policy.confidence_threshold:.2f} is asked for."
    reasons = _reasons(why if text else "There is no answer to it.", assessment)
    # Rules that do not match are not close to an answer, and what the worker says more of it is not for them to read.
    is_close = bool(text) or assessment.brain not in _WITHOUT_JUDGEMENT
    if is_close and can_probe(case, policy):
        message = policy.pre_escalation.probe_message.strip()
        return Verdict("probe", assessment.brain, message, confidence, assessment.categories, reasons)
    return Verdict("escalate", assessment.brain, text, confidence, assessment.categories, reasons)


def _refused(
    case: Case, text: str, gate: GateVerdict | None, assessment: Assessment | None
) -> Verdict | None:
    """Why an answer that somebody is sure of is not given after all."""
    categories = assessment.categories if assessment else ()
    confidence = assessment.confidence if assessment else 1.0
    if gate is None:
        why = "The gate has not looked at this answer."
        return Verdict("escalate", "policy", text, confidence, categories, (why,))
    if gate.verdict == "escalate":
        return _stopped(gate, text, assessment)
    answer = _parsed(text, case.asked)
    if answer is None and not case.is_turn_end:
        why = "The question does not take this answer."
        return Verdict("escalate", "policy", text, confidence, categories, (why,))
    if _is_lasting(text, answer, case.asked):
        why = "It would change what is asked later; only a human may."
        return Verdict("escalate", "policy", text, confidence, _united(("lasting",), categories), (why,))
    return None


def _stopped(gate: GateVerdict, text: str, assessment: Assessment | None) -> Verdict:
    categories = _united(gate.categories, assessment.categories if assessment else ())
    confidence = assessment.confidence if assessment and 0.0 <= assessment.confidence <= 1.0 else 0.0
    reasons = tuple(dict.fromkeys(map(_sentence, gate.findings))) or ("The policy asks for a human.",)
    return Verdict("escalate", "policy", text, confidence, categories, reasons)


def _sentence(finding: Finding) -> str:
    return f"{finding.why} ({finding.where}: “{finding.evidence}”)" if finding.evidence else finding.why


def _always_escalated(named: Iterable[str], policy: Policy) -> tuple[str, ...]:
    """The categories that always escalate among those that a brain names.

    A name of neither list counts as near as its words come: “git” and “risky git operations” are “git operations”.
    """
    escalated = {_said(name): name for name in policy.always_escalate if _said(name)}
    logged = {_said(name) for name in policy.always_log}
    found: dict[str, None] = {}
    for name in map(_said, named):
        if name in escalated:
            found[escalated[name]] = None
        elif name and name not in logged:
            words = frozenset(name)
            near = (known for said, known in escalated.items() if words <= set(said) or set(said) <= words)
            found.update(dict.fromkeys(near))
    return tuple(found)


def _said(name: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(name.casefold()))


def _is_lasting(text: str, answer: Answer | None, asked: Question) -> bool:
    """Whether an answer picks an option that lasts, by its key or in words."""
    if asked.parts:
        parts = answer.parts if answer is not None and answer.parts else ()
        if len(parts) == len(asked.parts):
            return any(
                _is_lasting(part.text, part, one) for part, one in zip(parts, asked.parts, strict=True)
            )
        return any(_is_lasting(text, answer, one) for one in asked.parts)
    numbers = set(answer.choices) if answer is not None else set()
    if chosen := _CHOOSE.match(text):
        numbers |= {int(number) for number in _NUMBER.findall(chosen[1])}
    said = " ".join(text.casefold().split())
    return any(
        option.is_lasting and (number in numbers or " ".join(option.label.casefold().split()) in said)
        for number, option in enumerate(asked.options, 1)
    )


def _parsed(text: str, asked: Question) -> Answer | None:
    try:
        return parse_answer(text, asked)
    except InvalidInput:
        return None


def _reasons(why: str, assessment: Assessment) -> tuple[str, ...]:
    return tuple(reason for reason in (why, assessment.reasoning) if reason)


def _united(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*one, *other)))
