"""Answer workers' questions when sure, probe when close, escalate when not: the facts, on one page. Pure.

A question becomes a `Case`: all that is known of it, taken at one moment. The gate looks at it first (`GateVerdict`), a
brain may look at it then (`Assessment`), and one total function decides (`Verdict`). What was decided is recorded
before a key is pressed.
"""

from __future__ import annotations

from typing import Literal, Protocol

import msgspec

from maestro.agents.questions import Question

Action = Literal[
    "answer",  # type this answer
    "probe",  # ask the worker what it means, once
    "escalate",  # the human decides
    "ignore",  # nothing is to be done, or somebody is at it
]
Preset = Literal["autonomous", "cautious", "supervised", "custom"]
Strictness = Literal[
    "sure",  # the gate stops what is certainly of a category
    "wary",  # and what could be
    "all",  # and the human decides everything that no rule of theirs names
]
BrainName = Literal["rules", "claude", "codex", "gemini", "api", "none"]


# Policy: coordinate.config.json.


class PreEscalation(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    enabled: bool = True
    probe_message: str = (
        "Can you elaborate on what you need? I want to make sure I give you the right answer."
    )


class Timeouts(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    wait_timeout: int = 300  # seconds before a wait is idle
    consecutive_timeout_limit: int = 10  # idle waits before the human is told
    idle_heartbeat_interval: int = 3  # every so many idle waits a heartbeat is logged


class Logging(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    log_autonomous_decisions: bool = True
    log_escalations: bool = True
    log_probes: bool = True
    log_routine_skips: bool = False


class CategoryRule(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A category of the user's own, in words for the model and as matchers for the gate."""

    name: str
    description: str = ""
    patterns: tuple[str, ...] = ()  # regular expressions on the folded text of question, options and answer
    commands: tuple[str, ...] = ()  # beginnings of shell commands: "terraform apply"


class AnswerRule(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """For the brain `rules`: what to answer when the question, or a permission's command, is like this."""

    pattern: str  # a regular expression, matched against the whole folded text or command
    answer: str  # `Choose 2`, the label of an option, or words
    kinds: tuple[str, ...] = ()  # of question; empty: any
    name: str = ""
    tool: str = ""  # of a permission: the tool that would run; empty: any
    source: str = ""  # of a rule for a project's own script: the file that holds the script
    digest: str = (
        ""  # and the SHA-256 of all that the script ran when the person confirmed the rule; empty: no script
    )


class BrainSettings(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    kind: BrainName = "rules"
    model: str = ""
    provider: str = ""  # of `api`: anthropic, openai, google
    base_url: str = ""  # of `api`
    api_key_env: str = ""  # of `api`: the variable that holds the key
    timeout: int = 120  # seconds for one assessment
    calls_per_hour: int = 120
    max_tokens: int = 2_000  # of one answer


class PrecedentSettings(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    enabled: bool = True
    expire_days: int = 30
    offer_rule_after: int = 3


class StuckSettings(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Workers that do not get on, and limits."""

    intervene_after: int = 120  # seconds
    help_message: str = (
        "You seem to be stuck. Say in one sentence what you are doing and what is in the way, then go on."
    )
    most_helps: int = 1  # prompts for one trouble; then the human is told
    on_limit: Literal["escalate", "resume"] = "escalate"
    resume_message: str = "The limit has been reset. Go on where you were."
    most_resumes: int = 3  # of one session in a day


class Budget(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """What may be spent before the human is asked; 0 is no cap. The brain's own calls count."""

    session_tokens: int = 0
    session_cost_usd: float = 0.0
    fleet_tokens: int = 0
    fleet_cost_usd: float = 0.0


class NotifySettings(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    desktop: bool = True
    command: tuple[str, ...] = ()  # run with the escalation as JSON on stdin
    webhook: str = ""  # an http(s) address that the escalation is posted to as JSON


class Policy(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    preset: Preset = "custom"
    confidence_threshold: float = 0.7
    strictness: Strictness = "wary"
    always_escalate: tuple[str, ...] = ()
    always_log: tuple[str, ...] = ()
    categories: tuple[CategoryRule, ...] = ()
    rules: tuple[AnswerRule, ...] = ()
    principles: tuple[str, ...] = ()  # for the model: how the human wants things decided
    pre_escalation: PreEscalation = PreEscalation()
    timeouts: Timeouts = Timeouts()
    logging: Logging = Logging()
    brain: BrainSettings = BrainSettings()
    precedents: PrecedentSettings = PrecedentSettings()
    stuck: StuckSettings = StuckSettings()
    budget: Budget = Budget()
    notify: NotifySettings = NotifySettings()


# The gate.


class Finding(msgspec.Struct, frozen=True, rename="camel"):
    """One reason why a human has to decide."""

    category: str  # of `alwaysEscalate`, or "unreadable", "lasting", "disguised", "dialog of the CLI"
    where: str  # question, detail, preamble, option 2, answer
    evidence: str  # the words that matched, short and safe
    why: str  # in one sentence


class GateVerdict(msgspec.Struct, frozen=True, rename="camel"):
    verdict: Literal["allow", "escalate"]
    findings: tuple[Finding, ...] = ()
    read_only: bool = False  # code has proven that it only reads, and may answer yes itself
    fetches: tuple[str, ...] = ()  # the hosts that it would fetch from, which nobody here knows

    @property
    def categories(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(finding.category for finding in self.findings))


ALLOWED = GateVerdict("allow")


# What a brain says.


class Spent(msgspec.Struct, frozen=True, rename="camel"):
    calls: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    milliseconds: int = 0


class Assessment(msgspec.Struct, frozen=True, rename="camel"):
    """What a brain thinks. One that was unavailable or made no sense says so in `failed`, and decides nothing."""

    brain: str
    answer: str = ""  # `Choose 2`, `Choose 1, 3`, or short text; empty: it would not answer
    confidence: float = 0.0
    categories: tuple[str, ...] = ()  # of `alwaysEscalate` and `alwaysLog`, in their words, that it sees
    can_be_undone: bool = False  # all that the answer lets happen; one that says nothing of it does not know
    reasoning: str = ""
    failed: str = ""
    spent: Spent = Spent()


# A case.


class Earlier(msgspec.Struct, frozen=True, rename="camel"):
    """What was answered before, to the same question or a similar one."""

    id: str
    question: str
    answer: str
    by: Literal["human", "engine"]
    at: int


class History(msgspec.Struct, frozen=True, rename="camel"):
    """What happened to this question, and to the same words, before."""

    answered_before: int = 0  # how often we answered the same words of this session already
    probed: bool = False  # the worker was asked what it means, and this is what came of it
    pending: str = ""  # an answer to this very occurrence is under way or was typed: its prompt
    escalated: str = ""  # its open escalation
    failures: int = 0  # how often an answer to it could not be typed


class Case(msgspec.Struct, frozen=True, rename="camel"):
    """All that a decision rests on, at one moment."""

    session_id: str
    session_name: str
    agent: str
    question_id: str
    version: int
    asked: Question
    gate: GateVerdict  # on the question alone
    history: History = History()
    precedent: Earlier | None = None  # a human's, of exactly this question
    similar: tuple[Earlier, ...] = ()  # input for a model, never more
    task: str = ""
    digest: tuple[str, ...] = ()  # the worker's last texts
    principles: tuple[str, ...] = ()  # how the human wants such things decided
    over_budget: str = ""  # which cap is reached
    is_turn_end: bool = False  # no dialog: the worker ended its turn with a question in words


class Verdict(msgspec.Struct, frozen=True, rename="camel"):
    action: Action
    by: str  # policy, precedent, history, budget, rules, claude, codex, gemini, api
    text: str = ""  # what is typed: the answer, or the probe
    confidence: float = 0.0
    categories: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    precedent_id: str = ""


class Brain(Protocol):
    """Something that assesses cases. Never raises for what a model or a CLI did: `failed` says it."""

    name: str

    async def assess(self, case: Case, policy: Policy) -> Assessment: ...
