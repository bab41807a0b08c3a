"""A coordinator is told on every turn how its workers do: by its own hook, or behind what is typed into it."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from tests.coordinate.dehydration.coordinated import Coordinated
from tests.patience import until

pytestmark = pytest.mark.more  # make test-more

ASKS = {"ask": {"question": "Which <database>?", "header": "Data", "options": ["SQLite", "PostgreSQL"]}}
WORKS = {"tool": {"name": "Read", "input": {"file_path": "a.py"}, "seconds": 600}}
ANSWERS = [{"say": "I see."}]


def test_by_its_own_hook_with_what_is_worst_first(stage: Coordinated) -> None:
    lead = stage.lead("Lead", on_prompt=ANSWERS)
    stage.turn(lead, "Nothing is to be told yet.")
    assert stage.told(lead, "UserPromptSubmit") == []
    fine = stage.worker("Fine", lead, {"say": "I go on with the first part."}, WORKS)
    asking = stage.worker("Asking", lead, {"say": "One thing first."}, ASKS)
    nested = stage.worker("Nested", fine, {"say": "I help with the first part."}, WORKS)
    stranger = stage.worker("Stranger", None, {"say": "I belong to nobody."}, WORKS)
    until(lambda: stage.explain(asking)["question"])
    for session in (fine, nested):
        stage.see(session, "esc to interrupt")
    stage.turn(lead, "How do they do?")
    [block] = stage.told(lead, "UserPromptSubmit")
    root = ET.fromstring(block)
    shown = [str(one.get("id")) for one in root.iter("session")]
    assert shown[0] == asking
    assert sorted(shown) == sorted([asking, fine, nested])
    assert stranger not in block
    words = {one.get("id"): " ".join(one.itertext()) for one in root.iter("session")}
    assert '? asks: "Which <database>?"' in words[asking]
    assert "I go on with the first part." in words[fine]
    assert next(one for one in root.iter("session") if one.get("id") == nested).get("under") == fine
    # Each turn anew: what was answered is asked no more.
    assert stage.prompt(asking, "Choose 1").returncode == 0
    stage.turn(lead, "And now?")
    again = stage.until_told(lead, "UserPromptSubmit", 2)
    assert "Which" not in again
    assert again != block
    # Its prompts arrived as they were typed, and nothing was put into them.
    stage.until_heard(lead, "Nothing is to be told yet.", "How do they do?", "And now?")
    assert stage.told(fine, "UserPromptSubmit") == stage.told(nested, "UserPromptSubmit") == []
    [stats] = stage.maestro.json("session", "stats", lead)
    tokens = -(-len(block) // 4) + -(-len(again) // 4)
    expected = {"turns": 2, "tokens": tokens, "perTurn": round(tokens / 2), "rehydrations": 0, "rehydratedTokens": 0}  # fmt: skip
    assert stats["context"] == expected
    assert (
        f"its context on 2 turns took about {tokens:,} tokens"
        in stage.maestro("session", "stats", lead).stdout
    )
    [worker] = stage.maestro.json("session", "stats", fine)
    assert worker["context"] is None


def test_behind_what_is_typed_where_it_has_no_hooks(stage: Coordinated) -> None:
    lead = stage.adopt("Lead", on_prompt=ANSWERS)
    stage.make_coordinator(lead)
    receipt = stage.sent(lead, "First of all")
    assert (receipt["state"], receipt["text"]) == ("submitted", "First of all"), (
        "there is nothing to tell yet"
    )
    worker = stage.worker("Fixer", lead, {"say": "I go on with the first part."}, WORKS)
    stage.see(worker, "esc to interrupt")
    receipt = stage.sent(lead, "How does it do?")
    assert receipt["state"] == "submitted", receipt
    told = stage.heard(lead)[-1]
    assert receipt["text"] == told, "what was typed is what was kept"
    message, _, block = told.partition("\n\n")
    assert message == "How does it do?"
    assert [one.get("id") for one in ET.fromstring(block).iter("session")] == [worker]
    assert stage.events("session.briefed", lead) == [{"tokens": -(-len(block) // 4), "way": "typed"}]
    # To a worker it is typed as it was sent.
    assert stage.sent(worker, "Go on")["text"] == "Go on"
