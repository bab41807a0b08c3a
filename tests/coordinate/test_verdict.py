"""The verdict: every row of the seed's decision engine (§4) and of its edge cases (§9) that concerns the decision."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maestro.agents.questions import Option, Question
from maestro.coordinate import (
    ALLOWED,
    Assessment,
    Case,
    Earlier,
    Finding,
    GateVerdict,
    History,
    Policy,
    PrecedentSettings,
    PreEscalation,
    Verdict,
)
from maestro.coordinate.verdict import can_probe, decide, proposed

NOW = 1_800_000_000_000
STOPPED = GateVerdict(
    "escalate", (Finding("git operations", "option 1", "git push", "It changes the remote."),)
)
READ_ONLY = GateVerdict("allow", read_only=True)
PROBE = "What do you mean?"
OPTIONS = (Option("Incremental"), Option("Rewrite"), Option("Other", is_free_text=True))
CHOICE = Question(kind="choice", text="Which migration?", options=OPTIONS)
BARE_CHOICE = msgspec.structs.replace(CHOICE, options=OPTIONS[:2])
MULTI = Question(kind="multi_choice", text="Which checks?", options=OPTIONS)
WORDS = Question(kind="free_text", text="What is the module's name?")
LASTING = Option("Yes, and don't ask again", is_lasting=True)
PERMISSION = Question(
    kind="permission",
    text="Do you want to proceed?",
    tool="Bash",
    detail="ls",
    options=(Option("Yes"), LASTING, Option("No, and say what to do", is_free_text=True)),
)
LASTING_FIRST = msgspec.structs.replace(PERMISSION, options=(LASTING, Option("Allow once")))
PLAN = Question(
    kind="plan", text="Ready?", detail="1. do it", options=(Option("Yes"), Option("No", is_free_text=True))
)
DIALOG = Question(kind="dialog", text="Trust this folder?", options=(Option("Yes"), Option("No")))
SEVERAL = Question(
    kind="several", text="", parts=(CHOICE, msgspec.structs.replace(PERMISSION, kind="choice"))
)
HUMAN = Earlier("prec_1", "Which migration?", "Choose 1", "human", 7)
POLICY = Policy(
    confidence_threshold=0.7,
    always_escalate=("git operations", "API key management"),
    always_log=("architecture decisions", "git"),
    pre_escalation=PreEscalation(enabled=True, probe_message=PROBE),
)
SUPERVISED = msgspec.structs.replace(POLICY, strictness="all")
NO_PROBE = msgspec.structs.replace(POLICY, pre_escalation=PreEscalation(enabled=False, probe_message=PROBE))


def case(asked: Question = CHOICE, **named: Any) -> Case:
    fields: dict[str, Any] = {"gate": ALLOWED, **named}
    return Case("sess_1", "Main", "claude", "ques_1", 1, asked, **fields)


def thinks(confidence: float = 0.9, answer: str = "Choose 1", **named: Any) -> Assessment:
    named = {"can_be_undone": True, **named}
    return Assessment(brain="claude", answer=answer, confidence=confidence, **named)


def threshold(value: float, policy: Policy = POLICY) -> Policy:
    return msgspec.structs.replace(policy, confidence_threshold=value)


class Row(NamedTuple):
    name: str
    case: Case
    assessment: Assessment | None
    expected: tuple[str, str, str] | None  # action, by, text
    policy: Policy = POLICY
    gate: GateVerdict | None = ALLOWED


ROWS = [
    # §4 Assessment flow.
    Row("category match escalates, before any model", case(gate=STOPPED), None, ("escalate", "policy", "")),
    Row(
        "category match overrides confidence",
        case(gate=STOPPED),
        thinks(1.0),
        ("escalate", "policy", "Choose 1"),
    ),
    Row("category match overrides a precedent", case(gate=STOPPED, precedent=HUMAN), None, ("escalate", "policy", "Choose 1")),
    Row("no match: confidence is assessed", case(), None, None),
    Row("at the threshold it is answered", case(), thinks(0.7), ("answer", "claude", "Choose 1")),
    Row("above it too", case(), thinks(0.71), ("answer", "claude", "Choose 1")),
    Row("below it is probed, if that is enabled", case(), thinks(0.69), ("probe", "claude", PROBE)),
    Row("below it is escalated, if not", case(), thinks(0.69), ("escalate", "claude", "Choose 1"), NO_PROBE),
    # §4 Category rules are natural language: the model names them too.
    Row("the model sees a category", case(), thinks(1.0, categories=("git operations",)), ("escalate", "claude", "Choose 1")),
    Row("in other letters", case(), thinks(1.0, categories=("  api KEY   Management",)), ("escalate", "claude", "Choose 1")),
    Row("in fewer words", case(), thinks(1.0, categories=("api keys", "key management")), ("escalate", "claude", "Choose 1")),
    Row("in more words", case(), thinks(1.0, categories=("risky git operations",)), ("escalate", "claude", "Choose 1")),
    Row("what cannot be undone is the human's", case(), thinks(1.0, can_be_undone=False), ("escalate", "claude", "Choose 1")),
    Row("unless a rule of the human's says it", case(), msgspec.structs.replace(thinks(1.0), brain="rules", can_be_undone=False), ("answer", "rules", "Choose 1")),
    Row("supervised: what no rule names is the human's", case(), thinks(1.0), ("escalate", "claude", "Choose 1"), SUPERVISED),
    Row("supervised: also what they answered before", case(precedent=HUMAN), None, None, SUPERVISED),
    Row("supervised: a rule names it", case(), msgspec.structs.replace(thinks(1.0), brain="rules"), ("answer", "rules", "Choose 1"), SUPERVISED),
    Row("a category that is only logged", case(), thinks(1.0, categories=("architecture decisions",)), ("answer", "claude", "Choose 1")),
    Row("one that is logged counts as it is named", case(), thinks(1.0, categories=("git",)), ("answer", "claude", "Choose 1")),
    Row("a category of no list", case(), thinks(1.0, categories=("naming", "", "!")), ("answer", "claude", "Choose 1")),
    Row("without categories nothing always escalates", case(), thinks(1.0, categories=("git operations",)), ("answer", "claude", "Choose 1"), msgspec.structs.replace(POLICY, always_escalate=())),
    # §4 Confidence: an ambiguous question has a low one; a precedent of a human raises it to certainty.
    Row("a human answered exactly this before", case(precedent=HUMAN), None, ("answer", "precedent", "Choose 1")),
    Row("and needs no model then", case(precedent=HUMAN), thinks(0.1, "Choose 2"), ("answer", "precedent", "Choose 1")),
    Row("precedents are switched off", case(precedent=HUMAN), None, None, msgspec.structs.replace(POLICY, precedents=PrecedentSettings(enabled=False))),
    Row("an engine's own answer is no precedent", case(precedent=msgspec.structs.replace(HUMAN, by="engine")), None, None),
    Row("a precedent without an answer is none", case(precedent=msgspec.structs.replace(HUMAN, answer=" ")), None, None),
    Row("the gate stops what the human answered before", case(precedent=HUMAN), None, ("escalate", "policy", "Choose 1"), POLICY, STOPPED),
    Row("the gate has to have looked at it", case(precedent=HUMAN), None, ("escalate", "policy", "Choose 1"), POLICY, None),
    # What is proven to read only is answered by code, once.
    Row("a look is answered without a model", case(PERMISSION, gate=READ_ONLY), None, ("answer", "policy", "Choose 1"), POLICY, READ_ONLY),
    Row("a human's answer to it comes first", case(PERMISSION, gate=READ_ONLY, precedent=msgspec.structs.replace(HUMAN, answer="Choose 3: no")), None, ("answer", "precedent", "Choose 3: no"), POLICY, READ_ONLY),
    Row("the option that lasts is not taken", case(LASTING_FIRST, gate=READ_ONLY), None, ("answer", "policy", "Choose 2"), POLICY, READ_ONLY),
    Row("without an option that allows it, a brain is asked", case(BARE_CHOICE, gate=READ_ONLY), None, None, POLICY, READ_ONLY),
    Row("who wants to see everything is asked", case(PERMISSION, gate=READ_ONLY), None, None, msgspec.structs.replace(POLICY, strictness="all"), READ_ONLY),
    Row("not again and again", case(PERMISSION, gate=READ_ONLY, history=History(answered_before=3)), None, ("escalate", "history", "Choose 1"), POLICY, READ_ONLY),
    Row("not over budget", case(PERMISSION, gate=READ_ONLY, over_budget="The cap is reached."), None, ("escalate", "budget", "Choose 1"), POLICY, READ_ONLY),
    Row("similar questions decide nothing", case(similar=(HUMAN,)), None, None),
    # §4 Probe mechanics.
    Row("1: typed into the field for words", case(), thinks(0.2), ("probe", "claude", PROBE)),
    Row("1: where there is one", case(BARE_CHOICE), thinks(0.2), ("escalate", "claude", "Choose 1")),
    Row("1: words are asked for", case(WORDS), thinks(0.2, "parser"), ("probe", "claude", PROBE)),
    Row("1: a turn that ended with a question", case(WORDS, is_turn_end=True), thinks(0.2, "go on"), ("probe", "claude", PROBE)),
    Row("1: several options and words", case(MULTI), thinks(0.2), ("probe", "claude", PROBE)),
    Row("1: never for a permission", case(PERMISSION), thinks(0.2), ("escalate", "claude", "Choose 1")),
    Row("1: never for a plan", case(PLAN), thinks(0.2), ("escalate", "claude", "Choose 1")),
    Row("1: never for the CLI's own dialog", case(DIALOG), thinks(0.2), ("escalate", "claude", "Choose 1")),
    Row("1: several questions at once take no single probe", case(SEVERAL), thinks(0.2, "Choose 1; Choose 1"), ("escalate", "claude", "Choose 1; Choose 1")),
    Row("1: a probe that is empty is none", case(), thinks(0.2), ("escalate", "claude", "Choose 1"), msgspec.structs.replace(POLICY, pre_escalation=PreEscalation(probe_message=" "))),
    Row("1: a probe that would choose an option is none", case(), thinks(0.2), ("escalate", "claude", "Choose 1"), msgspec.structs.replace(POLICY, pre_escalation=PreEscalation(probe_message="rewrite"))),
    Row("2, 3: until the worker responds nothing is done", case(history=History(pending="prom_1", probed=True)), None, ("ignore", "history", "")),
    Row("4: what it responds is assessed again", case(history=History(probed=True)), None, None),
    Row("5: now above, it is answered", case(history=History(probed=True)), thinks(0.8), ("answer", "claude", "Choose 1")),
    Row("6: still below, it is escalated", case(history=History(probed=True)), thinks(0.5), ("escalate", "claude", "Choose 1")),
    Row("6: also without an answer", case(history=History(probed=True)), thinks(0.9, ""), ("escalate", "claude", "")),
    # A brain that does not decide.
    Row("no answer is probed", case(), thinks(0.9, " "), ("probe", "claude", PROBE)),
    Row("no answer is escalated, where it cannot be", case(PERMISSION), thinks(0.9, ""), ("escalate", "claude", "")),
    Row("an unavailable or malformed brain", case(), thinks(1.0, failed="It is not logged in."), ("escalate", "claude", "")),
    Row("a confidence that is no number", case(), thinks(math.nan), ("escalate", "claude", "Choose 1")),
    Row("one above 1", case(), thinks(1.01), ("escalate", "claude", "Choose 1")),
    Row("one below 0", case(), thinks(-0.01), ("escalate", "claude", "Choose 1"), threshold(0.0)),
    # The gate looks at the answer as well.
    Row("the gate stops the answer", case(), thinks(1.0), ("escalate", "policy", "Choose 1"), POLICY, STOPPED),
    Row("the gate has not looked at the answer", case(), thinks(1.0), ("escalate", "policy", "Choose 1"), POLICY, None),
    Row("an answer that the question does not take", case(BARE_CHOICE), thinks(1.0, "something else"), ("escalate", "policy", "something else")),
    Row("an option that it does not have", case(), thinks(1.0, "Choose 9"), ("escalate", "policy", "Choose 9")),
    Row("an option that lasts, by number", case(PERMISSION), thinks(1.0, "Choose 2"), ("escalate", "policy", "Choose 2")),
    Row("an option that lasts, by its label", case(PERMISSION), thinks(1.0, "yes, and don't ask again"), ("escalate", "policy", "yes, and don't ask again")),
    Row("an option that lasts, with a reason", case(PERMISSION), thinks(1.0, "Choose 2: it is safe"), ("escalate", "policy", "Choose 2: it is safe")),
    Row("an option that lasts, in one of several", case(SEVERAL), thinks(1.0, "Choose 1; Choose 2"), ("escalate", "policy", "Choose 1; Choose 2")),
    Row("several without one", case(SEVERAL), thinks(1.0, "Choose 1; Choose 1"), ("answer", "claude", "Choose 1; Choose 1")),
    Row("a human may have chosen one, once", case(PERMISSION, precedent=msgspec.structs.replace(HUMAN, answer="Choose 2")), None, ("escalate", "policy", "Choose 2")),
    Row("this time only", case(PERMISSION), thinks(1.0), ("answer", "claude", "Choose 1")),
    # History and budget.
    Row("answered twice before", case(history=History(answered_before=2)), thinks(), ("answer", "claude", "Choose 1")),
    Row("the same question a fourth time", case(history=History(answered_before=3)), thinks(), ("escalate", "history", "Choose 1")),
    Row("also where a precedent would answer", case(history=History(answered_before=3), precedent=HUMAN), None, ("escalate", "history", "Choose 1")),
    Row("an answer that cannot be typed", case(history=History(failures=2)), None, ("escalate", "history", "")),
    Row("a cap is reached", case(over_budget="The cap is reached."), None, ("escalate", "budget", "")),
    Row("also where a precedent would answer for nothing", case(over_budget="x", precedent=HUMAN), None, ("escalate", "budget", "Choose 1")),
    # §9 Worker behaviour.
    Row("somebody types into it as it is captured", case(msgspec.structs.replace(CHOICE, stage="typing", typed="I thi")), thinks(), ("ignore", "history", "")),
    Row("an empty field is nobody's", case(msgspec.structs.replace(CHOICE, stage="typing")), thinks(), ("answer", "claude", "Choose 1")),
    Row("it resolves itself: an answer is under way", case(history=History(pending="prom_1")), thinks(), ("ignore", "history", "")),
    Row("the human has it already", case(history=History(escalated="esca_1")), thinks(), ("ignore", "history", "")),
    Row("the human has it, whatever the gate says", case(gate=STOPPED, history=History(escalated="esca_1")), None, ("ignore", "history", "")),
    # §9 Config.
    Row("threshold 0.0 answers everything", case(), thinks(0.0), ("answer", "claude", "Choose 1"), threshold(0.0)),
    Row("threshold 0.0: only categories escalate", case(), thinks(0.0, categories=("git operations",)), ("escalate", "claude", "Choose 1"), threshold(0.0)),
    Row("threshold 0.0: the gate still stands", case(gate=STOPPED), thinks(1.0), ("escalate", "policy", "Choose 1"), threshold(0.0)),
    Row("threshold 1.0 escalates everything", case(), thinks(0.999), ("escalate", "claude", "Choose 1"), threshold(1.0, NO_PROBE)),
    Row("threshold 1.0: a rule of the human is certain", case(), Assessment("rules", "Choose 1", 1.0), ("answer", "rules", "Choose 1"), threshold(1.0)),
    Row("a threshold that is no number answers nothing", case(), thinks(1.0), ("escalate", "claude", "Choose 1"), threshold(math.nan, NO_PROBE)),
]  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_row(row: Row) -> None:
    verdict = decide(row.case, row.policy, row.assessment, row.gate, NOW)
    assert (verdict and (verdict.action, verdict.by, verdict.text)) == row.expected
    if verdict is not None:
        assert verdict.reasons or verdict.action == "answer", "whoever asks why gets a reason"
        assert not math.isnan(verdict.confidence)


def test_a_verdict_says_why() -> None:
    stopped = decide(case(gate=STOPPED), POLICY, None, None, NOW)
    assert stopped is not None
    assert stopped.categories == ("git operations",)
    assert stopped.reasons == ("It changes the remote. (option 1: “git push”)",)
    unsure = decide(
        case(), NO_PROBE, thinks(0.5, reasoning="Two ways.", categories=("naming",)), ALLOWED, NOW
    )
    assert unsure == Verdict(
        "escalate",
        "claude",
        "Choose 1",
        0.5,
        ("naming",),
        ("0.50 sure; 0.70 is asked for.", "Two ways."),
    )
    known = decide(case(precedent=HUMAN), POLICY, None, ALLOWED, NOW)
    assert known is not None
    assert (known.precedent_id, known.confidence) == ("prec_1", 1.0)
    lasting = decide(case(PERMISSION), POLICY, thinks(1.0, "Choose 2"), ALLOWED, NOW)
    assert lasting is not None
    assert lasting.categories == ("lasting",)


def test_what_the_gate_has_to_look_at() -> None:
    off = msgspec.structs.replace(POLICY, precedents=PrecedentSettings(enabled=False))
    assert proposed(case(precedent=HUMAN), POLICY, thinks(1.0, "Choose 2")) == "Choose 1"
    assert proposed(case(precedent=HUMAN), off, thinks(1.0, "Choose 2")) == "Choose 2"
    assert proposed(case(), POLICY, None) == ""
    assert proposed(case(), POLICY, thinks(1.0, failed="x")) == ""


# Whatever comes.

_texts = st.text(max_size=12)
_answers = st.one_of(
    _texts,
    st.sampled_from(
        ["Choose 1", "Choose 2", "choose 2: why not", "Choose 1, 2", "Choose 1; Choose 2", "Yes"]
    ),
    st.builds("Choose {}".format, st.integers(0, 9)),
)
_options = st.builds(
    Option,
    label=st.one_of(_texts, st.sampled_from(["Yes", "Always", "Other"])),
    is_free_text=st.booleans(),
    is_lasting=st.booleans(),
)
_kinds = st.sampled_from(["choice", "multi_choice", "permission", "plan", "free_text", "dialog"])
_single = st.builds(
    Question, kind=_kinds, text=_texts, options=st.lists(_options, max_size=4).map(tuple), detail=_texts
)
_questions = st.one_of(
    _single,
    st.builds(Question, kind=st.just("several"), text=_texts, parts=st.lists(_single, max_size=3).map(tuple)),
)
_gates = st.sampled_from([ALLOWED, STOPPED, GateVerdict("escalate")])
_categories = st.lists(st.one_of(_texts, st.sampled_from(["git operations", "git", "naming"])), max_size=3)
_cases = st.builds(
    Case,
    st.just("sess_1"),
    st.just("Main"),
    st.just("claude"),
    st.just("ques_1"),
    st.integers(1, 3),
    _questions,
    _gates,
    history=st.builds(
        History,
        answered_before=st.integers(0, 4),
        probed=st.booleans(),
        pending=st.sampled_from(["", "", "", "prom_1"]),
        escalated=st.sampled_from(["", "", "", "esca_1"]),
        failures=st.integers(0, 2),
    ),
    precedent=st.one_of(
        st.none(),
        st.builds(
            Earlier, st.just("prec_1"), _texts, _answers, st.sampled_from(["human", "engine"]), st.just(1)
        ),
    ),
    over_budget=st.sampled_from(["", "", "the cap"]),
    is_turn_end=st.booleans(),
)
_assessments = st.builds(
    Assessment,
    brain=st.just("claude"),
    answer=_answers,
    confidence=st.one_of(st.floats(0, 1), st.floats()),
    categories=_categories.map(tuple),
    failed=st.sampled_from(["", "", "", "no"]),
)
_policies = st.builds(
    Policy,
    confidence_threshold=st.floats(0, 1),
    always_escalate=_categories.map(tuple),
    always_log=_categories.map(tuple),
    pre_escalation=st.builds(PreEscalation, enabled=st.booleans(), probe_message=_answers),
    precedents=st.builds(PrecedentSettings, enabled=st.booleans()),
)
_maybe_gates = st.one_of(st.none(), _gates)


def _chosen(asked: Question, text: str) -> list[Option]:
    """The options that a text picks, as the one who types it reads it."""
    from maestro.errors import InvalidInput
    from maestro.fleet.answers import parse_answer

    try:
        answer = parse_answer(text, asked)
    except InvalidInput:
        return []
    if answer.parts:
        pairs = zip(asked.parts, answer.parts, strict=True)
        return [part.options[n - 1] for part, one in pairs for n in one.choices if n <= len(part.options)]
    only = asked.parts[0] if asked.parts else asked
    return [only.options[n - 1] for n in answer.choices if n <= len(only.options)]


@given(_cases, _policies, st.one_of(st.none(), _assessments), _maybe_gates)
def test_whatever_comes_there_is_a_verdict_and_it_is_safe(
    one: Case, policy: Policy, assessment: Assessment | None, gate: GateVerdict | None
) -> None:
    verdict = decide(one, policy, assessment, gate, NOW)
    if verdict is None:
        assert assessment is None
        return
    assert 0.0 <= verdict.confidence <= 1.0
    if one.gate.verdict == "escalate":
        assert verdict.action in {"escalate", "ignore"}
    if verdict.action == "answer":
        assert gate is not None
        assert gate.verdict == "allow"
        assert verdict.text == proposed(one, policy, assessment) != ""
        assert not any(option.is_lasting for option in _chosen(one.asked, verdict.text))
        assert (one.history.pending, one.history.escalated, one.over_budget) == ("", "", "")
        assert one.history.answered_before < 3
    if verdict.action == "probe":
        assert can_probe(one, policy)
        assert not one.history.probed
        assert one.asked.kind not in {"permission", "plan", "dialog"}
        assert not _chosen(one.asked, verdict.text) or one.is_turn_end


@given(
    _cases, _policies, _assessments, _maybe_gates, st.floats(0, 1), _categories, st.booleans(), st.booleans()
)
def test_a_stricter_policy_never_answers_what_a_laxer_one_escalates(
    one: Case,
    policy: Policy,
    assessment: Assessment,
    gate: GateVerdict | None,
    higher: float,
    more: list[str],
    stops: bool,  # noqa: FBT001 - drawn by Hypothesis
    stops_answer: bool,  # noqa: FBT001 - likewise
) -> None:
    strict = msgspec.structs.replace(
        policy,
        confidence_threshold=max(higher, policy.confidence_threshold),
        always_escalate=(*policy.always_escalate, *more),
    )
    stopped = msgspec.structs.replace(one, gate=STOPPED if stops else one.gate)
    lax_verdict = decide(one, policy, assessment, gate, NOW)
    strict_verdict = decide(stopped, strict, assessment, STOPPED if stops_answer else gate, NOW)
    assert lax_verdict is not None
    assert strict_verdict is not None
    if strict_verdict.action == "answer":
        assert lax_verdict.action == "answer"
