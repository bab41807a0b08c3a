"""Intents and the chains that they mean. Whatever is not known is asked, never guessed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.chains.support import package, project_at, weights

from maestro.chains import Route
from maestro.chains.routing.route import answered, is_clear, question_of, route

TABLES = Path(__file__).parent / "tables"
RUNGS = [
    "none",
    "empty",
    "complete",
    "pending",
    "analyzed",
    "planned",
    "executed",
    "verified",
    "blocked",
    "done",
]


def intents(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (TABLES / f"{name}.jsonl").read_text().splitlines()]


def routed(intent: str, rung: str = "pending") -> Route:
    return route(intent, package(), project_at(rung), weights())


def answer(found: Route) -> str:
    return found.chain if is_clear(found) else "ask"


class Rates(NamedTuple):
    """Bar R16d, as shares of a table."""

    right: float
    wrong_without_asking: float
    right_or_offered: float


def rates(name: str) -> Rates:
    right = wrong = offered = 0
    told = intents(name)
    for row in told:
        meant = row.get("accept", row.get("expect")) or ["ask"]
        found = routed(row["intent"])
        # A chain that lacks nothing but the issue is told, and asks for it.
        is_right = (found.chain or "ask") in meant
        right += is_right
        wrong += not is_right and bool(found.chain)
        offered += is_right or bool({*found.candidates} & {*meant})
    return Rates(right / len(told), wrong / len(told), offered / len(told))


@pytest.mark.parametrize("name", ["everyday", "unusual", "first_round", "second_round", "third_round"])
def test_intents_of_strangers_lead_where_they_mean(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """tables/README.md says who wrote them, and which of them measures anything."""
    found = rates(name)
    with capsys.disabled():
        print(f"\n{name}: " + ", ".join(f"{share:.1%} {what}" for what, share in found._asdict().items()))  # noqa: T201 - the rates are what this test is read for
    if name not in {"second_round", "third_round"}:
        assert found.right >= 0.80
        assert found.wrong_without_asking <= 0.02
        assert found.right_or_offered >= 0.95


@pytest.mark.parametrize(
    ("intent", "rung", "chain"),
    [
        ("continue", "none", "init"),
        ("go on", "pending", "analyze"),
        ("what's next?", "analyzed", "plan"),
        ("next step", "planned", "execute"),
        ("carry on", "executed", "verify"),
        ("proceed", "verified", "review"),
        ("next", "reviewed", "test"),
        ("next please", "blocked", "debug"),
        ("continue", "done", "milestone-close"),
        ("continue", "complete", "next-milestone"),
        ("continue", "empty", "roadmap"),
        ("mach weiter", "planned", "execute"),
        ("weiter", "analyzed", "plan"),
        ("keep going", "planned", "execute"),
        ("继续", "pending", "analyze"),
        ("Continue!", "verified", "review"),
    ],
)
def test_what_comes_next_is_told_by_the_project(intent: str, rung: str, chain: str) -> None:
    found = routed(intent, rung)
    assert (found.chain, is_clear(found)) == (chain, True)


@pytest.mark.parametrize(
    ("intent", "issue"),
    [
        ("fix issue 12", "ISSUE-12"),
        ("work on #4521", "ISSUE-4521"),
        ("ISSUE-20260131-002", "ISSUE-20260131-002"),
        ("ABC-123", "ISSUE-ABC-123"),
        ("abc-123.", "ISSUE-ABC-123"),
        ("the ticket WEB-90 is done, close it", "ISSUE-WEB-90"),
        ("close the WEB-90 ticket", "ISSUE-WEB-90"),
        ("#318", "ISSUE-318"),
        ("quick fix for #12", "ISSUE-12"),
        ("what is the root cause of issue #77?", "ISSUE-77"),
        ("read the file as UTF-8, not as latin-1", ""),
        ("change the colour to #123456", ""),
        ("review PR #12", ""),
        ("build an issue-tracker for the shop", ""),
    ],
)
def test_issues_are_found_in_intents(intent: str, issue: str) -> None:
    assert routed(intent).issue == issue


@pytest.mark.parametrize(
    ("intent", "phase"),
    [("/quality-test phase 3", 3), ("execute phase 2", 2), ("阶段 4", 4), ("add a page", None)],
)
def test_phases_are_found_in_intents(intent: str, phase: int | None) -> None:
    assert routed(intent).phase == phase


@pytest.mark.parametrize(
    ("intent", "chain"),
    [
        ("code review", "review"),
        ("integration test", "integration-test"),
        ("fix the initial bug", "debug"),
        ("ISSUE-7", "issue-full"),
        ("work on #7", "issue-full"),
        ("add a button to the plan page", "analyze-plan-execute"),
        ("the verify page is broken", "debug"),
        ("add a retrospective board", "analyze-plan-execute"),
        ("change the colour to #123456", "quick"),
        ("issue-quick 36", "issue-quick"),
        ("fix the crash and add a regression test", "debug"),
        ("test: cover error paths in the manifest parser", "test-gen"),
        ("fix the login", "debug"),
        # A word or two, a language that nobody taught it, two things at once.
        ("colors!!", "ask"),
        ("დაამატე google ღილაკი მთავარ გვერდზე", "ask"),
        ("close #12 and start a new project for invoices", "ask"),
        ("correct the typo on the careers page. Also begin a new project for the robots", "ask"),
    ],
)
def test_traps_lead_to_their_chain_or_offer_it(intent: str, chain: str) -> None:
    found = routed(intent)
    assert (
        (answer(found) == "ask") if chain == "ask" else (answer(found) == chain or chain in found.candidates)
    )


@pytest.mark.parametrize("sigil", ["", "/", "$"])
def test_every_name_is_known_with_and_without_a_sign_in_front(sigil: str) -> None:
    for name in package().chains:
        found = routed(f"{sigil}{name} ISSUE-1")
        if sigil or "-" in name:  # a bare word before others may be any noun
            assert (found.chain, found.clarity) == (name, 3)
        assert routed(sigil + name).chain == name
    for command in package().commands.values():
        assert routed(sigil + command.seed_name).chain == command.name


def test_what_stands_behind_a_name_is_the_description() -> None:
    found = routed("/maestro-quick update the year")
    assert (found.chain, found.description) == ("quick", "update the year")


def test_a_name_alone_means_the_phase_in_work_and_words_do_not() -> None:
    assert routed("plan").phase == 1
    assert routed("plan the move to another host").phase is None
    assert routed("verify this phase").phase == 1
    assert routed("plan", "none").phase is None


def test_a_command_that_needs_words_is_told_none_where_there_are_none() -> None:
    assert routed("analyze").description == ""
    assert routed("review").description == package().chains["review"].purpose


def test_an_issue_chain_without_an_issue_asks_for_it() -> None:
    for name in ("issue-close", "issue-full", "issue-quick"):
        found = routed(name)
        assert not is_clear(found)
        assert "Which issue" in found.ask


def test_continue_goes_by_the_phase_that_is_named() -> None:
    assert routed("continue with phase 2", "planned").phase == 2
    assert routed("continue", "planned").phase == 1


def test_what_words_do_not_settle_is_asked_with_three_chains_and_their_purposes() -> None:
    found = routed("the login")
    assert (found.chain, is_clear(found), len(found.candidates)) == ("", False, 3)
    first, *lines = question_of(found, package()).splitlines()
    assert first == found.ask
    for number, (name, line) in enumerate(zip(found.candidates, lines, strict=True), 1):
        assert line.split()[:2] == [str(number), name]
        assert line.endswith(package().chains[name].purpose)


def test_a_digit_answers() -> None:
    found = routed("the login")
    for number, name in enumerate(found.candidates, 1):
        chosen = answered(found, "the login", str(number), package(), project_at("pending"), weights())
        assert (chosen.chain, chosen.description) == (name, "the login")
    again = answered(found, "the login", "4", package(), project_at("pending"), weights())
    assert not is_clear(again)


def test_an_answer_in_words_says_which_chain_and_the_intent_about_what() -> None:
    chosen = answered(routed("the login"), "the login", "code review", package(), None, weights())
    assert (chosen.chain, chosen.description) == ("review", "the login. code review")


@pytest.mark.parametrize("said", ["#7", "7", "ISSUE-7"])
def test_an_answer_names_the_issue_that_a_chain_lacks(said: str) -> None:
    found = routed("issue-close")
    chosen = answered(found, "issue-close", said, package(), None, weights())
    assert (chosen.chain, chosen.issue, is_clear(chosen)) == ("issue-close", "ISSUE-7", True)


def test_an_empty_intent_asks() -> None:
    assert routed("  \n ").clarity == 0
    assert routed("").ask


def test_a_chain_that_is_not_there_is_not_named() -> None:
    catalogue = package()
    chains = {name: chain for name, chain in catalogue.chains.items() if name != "debug"}
    found = route(
        "fix the crash in the parser", type(catalogue)(catalogue.commands, chains, {}), None, weights()
    )
    assert (found.chain, found.clarity) == ("", 0)


@given(st.text(max_size=300), st.sampled_from(RUNGS))
def test_any_text_is_routed_or_asked_about(text: str, rung: str) -> None:
    found = routed(text, rung)
    assert found.chain in {"", *package().chains}
    assert bool(found.ask) == (found.clarity < 2)


_WORDS = sorted({word for one in intents("everyday") for word in one["intent"].split()})


@given(st.lists(st.sampled_from(_WORDS), max_size=12), st.sampled_from(RUNGS))
def test_any_order_of_known_words_is_routed_or_asked_about(words: list[str], rung: str) -> None:
    found = routed(" ".join(words), rung)
    assert found.chain in {"", *package().chains}
    assert bool(found.ask) == (found.clarity < 2)
