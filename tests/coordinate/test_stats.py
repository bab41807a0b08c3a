"""What `coordinate stats` counts, from decisions as the chain has them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maestro.coordinate import Spent
from maestro.coordinate.stats import Agreement, CoordinateStats, Tally, Waiting, stats
from maestro.ledger.decisions import hash_of
from maestro.ledger.facts import Decision, Question

OPENED = 1_000


class Chain:
    """Decisions one after the other, a second apart."""

    def __init__(self) -> None:
        self.made: list[Decision] = []
        self.asked: dict[str, Question] = {}

    def add(self, kind: str, action: str, by: str, question: str = "", text: str = "", **fields: Any) -> str:
        number = len(self.made) + 1
        known: dict[str, Any] = {
            "id": f"deci_{number}",
            "host": "host_TEST",
            "seq": number,
            "at": OPENED + number * 1000,
            "kind": kind,
            "session_id": "sess_1",
            "question_id": question or None,
            "version": 1 if question else None,
            "follows": None,
            "actor": "human",
            "coordinator": "",
            "action": action,
            "by": by,
            "text": text,
            "confidence": 0.5,
            "categories": (),
            "reasons": (),
            "shadow": False,
            "prompt_id": None,
            "escalation_id": None,
            "question_hash": "",
            "text_hash": hash_of(text),
            "pane": None,
            "spent": {},
            "previous": "",
            "hash": "",
            **fields,
        }
        self.made.append(Decision(**known))
        if question:
            self.ask(question)
        return f"deci_{number}"

    def ask(self, name: str) -> None:
        options = [{"label": "Yes"}, {"label": "No"}]
        self.asked[name] = Question(
            id=name,
            session_id="sess_1",
            version=1,
            kind="choice",
            text="Well?",
            asked={"kind": "choice", "text": "Well?", "options": options},
            source="hook",
            call_id="",
            opened_at=OPENED,
            closed_at=None,
            closed_by="",
        )

    def verdict(self, action: str, question: str, text: str = "", by: str = "rules", **fields: Any) -> str:
        return self.add("verdict", action, by, question, text, **fields)

    def receipt(self, of: str, action: str) -> str:
        return self.add("receipt", action, "rules", follows=of)

    def human(self, question: str, text: str) -> str:
        return self.add("resolution", "answer", "human", question, text)

    @property
    def stats(self) -> CoordinateStats:
        return stats(self.made, self.asked.values())


@pytest.fixture
def chain() -> Chain:
    return Chain()


def test_nothing_was_decided(chain: Chain) -> None:
    found = chain.stats
    assert (found.decided, found.autonomy_rate, found.escalation_rate) == (0, None, None)
    assert (found.agreement, found.engine_waiting, found.spent) == (Agreement(), Waiting(), Spent())


def test_rates_count_each_question_once(chain: Chain) -> None:
    chain.verdict("answer", "a")
    chain.verdict("probe", "b", by="claude")
    chain.verdict("answer", "b", by="claude")
    chain.verdict("escalate", "c", by="policy")
    chain.verdict("escalate", "c", by="policy")  # it changed on the screen
    chain.verdict("answer", "d", shadow=True)
    chain.verdict("probe", "e")
    found = chain.stats
    assert (found.decided, found.answered, found.escalated, found.probed) == (3, 2, 1, 2)
    assert (found.autonomy_rate, found.escalation_rate) == (2 / 3, 1 / 3)
    assert found.shadow == 1


def test_what_was_not_typed_was_not_answered(chain: Chain) -> None:
    chain.receipt(chain.verdict("answer", "a"), "withdrawn")
    assert chain.stats.decided == 0
    chain.verdict("escalate", "a")
    chain.receipt(chain.verdict("answer", "b"), "failed")
    chain.receipt(chain.verdict("answer", "b"), "submitted")
    chain.receipt(chain.verdict("answer", "c"), "uncertain")
    found = chain.stats
    assert (found.answered, found.escalated) == (2, 1)
    assert (found.uncertain_receipts, found.failed_receipts) == (1, 1)


def test_by_whom_and_about_what(chain: Chain) -> None:
    chain.verdict("answer", "a", categories=("test strategy",))
    chain.verdict("escalate", "b", by="policy", categories=("git operations", "spending"))
    chain.verdict("probe", "c", by="claude", categories=("test strategy",))
    found = chain.stats
    assert found.by_decider == {
        "claude": Tally(probed=1),
        "policy": Tally(escalated=1),
        "rules": Tally(answered=1),
    }
    assert found.by_category == {
        "git operations": Tally(escalated=1),
        "spending": Tally(escalated=1),
        "test strategy": Tally(answered=1, probed=1),
    }


def test_agreement_with_the_human(chain: Chain) -> None:
    chain.verdict("escalate", "a", "Choose 1")
    chain.human("a", "yes")  # the same in other words
    chain.verdict("answer", "b", "Choose 1", shadow=True)
    chain.human("b", "Choose 2")
    chain.verdict("escalate", "c")  # nothing was proposed
    chain.human("c", "Choose 1")
    chain.verdict("answer", "d", "Choose 1")  # nobody asked the human
    chain.verdict("escalate", "e", "Choose 1")  # not answered yet
    chain.verdict("escalate", "f", "Choose 1")
    chain.add("resolution", "dismiss", "human", "f")
    chain.verdict("escalate", "g", "Choose 2")
    chain.verdict("escalate", "g", "Choose 1")  # the last opinion counts
    chain.human("g", "Choose 1")
    chain.human("h", "Choose 1")
    chain.verdict("escalate", "h", "Choose 1")  # too late to be an opinion
    found = chain.stats
    assert found.agreement == Agreement(compared=3, agreed=2, rate=2 / 3)
    assert found.human_answers == 5


def test_an_answer_that_was_cut_or_redacted_is_compared_by_its_hash(chain: Chain) -> None:
    chain.verdict("escalate", "a", "use [redacted]", text_hash=hash_of("use one"))
    chain.human("a", "use two")
    chain.verdict("escalate", "b", "long, cut", text_hash=hash_of("long, uncut"))
    chain.add("resolution", "answer", "human", "b", "shown otherwise", text_hash=hash_of("long, uncut"))
    assert chain.stats.agreement == Agreement(2, 1, 0.5)


def test_a_question_that_is_no_longer_known_is_compared_by_its_words(chain: Chain) -> None:
    chain.verdict("escalate", "turn_1", "Go  on")
    chain.human("turn_1", "go on")
    assert stats(chain.made).agreement == Agreement(1, 1, 1.0)
    assert stats(chain.made).human_waiting == Waiting()


def test_how_long_it_took(chain: Chain) -> None:
    for number in range(10):
        chain.verdict("answer", f"q{number}")  # decided after 1, 2, … 10 seconds
    found = chain.stats
    assert found.engine_waiting == Waiting(10, 5_000, 9_000)
    assert found.human_waiting == Waiting()
    chain.receipt(chain.made[0].id, "submitted")
    assert chain.stats.engine_waiting == Waiting(10, 6_000, 10_000), "until the worker has it"
    chain.human("z", "Choose 1")
    assert chain.stats.human_waiting == Waiting(1, 12_000, 12_000)


def test_help_and_cost(chain: Chain) -> None:
    chain.add("attention", "help", "policy", spent={"calls": 1, "tokens": 5, "costUsd": 0.25})
    chain.receipt(chain.add("attention", "help", "policy"), "failed")
    chain.add("attention", "resume", "policy", shadow=True)
    chain.add("attention", "escalate", "policy")
    chain.verdict("answer", "a", shadow=True, spent={"calls": 2, "tokens": 7, "milliseconds": 9})
    found = chain.stats
    assert found.helped == 1
    assert found.spent == Spent(3, 12, 0.25, 9)
    assert msgspec.json.decode(msgspec.json.encode(found))["spent"]["costUsd"] == 0.25


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["verdict", "receipt", "resolution", "attention"]),
            st.sampled_from(["answer", "probe", "escalate", "failed", "uncertain", "dismiss", "help"]),
            st.sampled_from(["human", "rules", "policy"]),
            st.sampled_from(["", "a", "b"]),
            st.sampled_from(["", "Choose 1", "no"]),
            st.booleans(),
            st.one_of(st.none(), st.integers(1, 9)),
        ),
        max_size=12,
    )
)
def test_any_chain_adds_up(links: list[tuple[Any, ...]]) -> None:
    chain = Chain()
    for kind, action, by, question, text, shadow, of in links:
        follows = f"deci_{of}" if of else None
        chain.add(kind, action, by, question, text, shadow=shadow, follows=follows)
    found = chain.stats
    assert found.answered + found.escalated == found.decided
    assert 0 <= found.agreement.agreed <= found.agreement.compared <= found.human_answers
    if found.decided:
        assert found.autonomy_rate is not None
        assert found.escalation_rate is not None
        assert found.autonomy_rate + found.escalation_rate == pytest.approx(1)
    tallies = found.by_decider.values()
    assert sum(one.answered for one in tallies) == found.answered
    assert sum(one.probed for one in tallies) == found.probed
