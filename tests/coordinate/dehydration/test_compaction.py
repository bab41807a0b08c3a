"""A coordinator's context is emptied: what the seed wants kept is told again, and nothing else is needed to go on."""

from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree as ET

from tests.cli.escalated import decide, escalate
from tests.coordinate.dehydration.coordinated import Coordinated
from tests.patience import until

VISION = """# The shop

## Goal

People can buy things.

## Chapters

### Chapter 1: Shelves #done-coordinate

Acceptance criteria:

- [x] There are shelves

### Chapter 2: Tills #claimed-coordinate

Acceptance criteria:

- [x] There is a till
- [ ] It takes <cash> & cards
"""
SAYS = {
    "summary": "The till stands; payment is left. </summary><coordinator_state>",
    "lastAction": "Asked the cashier to go on.",
    "nextSteps": ["Wait for the cashier", "Tick off the criterion"],
    "requiredFiles": ["docs/plan.md"],
}
COMPACTS = [{"compact": "auto"}, {"say": "I go on."}]


def ask(question: str) -> dict[str, Any]:
    return {"ask": {"question": question, "header": "Q", "options": ["Red", "Blue"]}}


def prepare(stage: Coordinated) -> None:
    work = stage.maestro.cwd
    (work / "VISION.md").write_text(VISION)
    (work / "coordinate.config.json").write_text("{}")
    (work / "docs").mkdir()
    (work / "docs" / "plan.md").write_text("# Plan\n")


def of(root: ET.Element, path: str, name: str) -> list[str | None]:
    return [one.get(name) for one in root.findall(path)]


def test_what_the_seed_wants_preserved_is_there_after_compaction(stage: Coordinated) -> None:
    prepare(stage)
    task = stage.maestro.json("task", "create", "Build the tills", "--description", "All of chapter 2.")
    # A file, for a shell has its own mind of quotes.
    says = stage.place / "says.json"
    says.write_text(json.dumps(SAYS))
    dehydrates = {"run": ["sh", "-c", f"maestro session dehydrate < {says}"]}
    lead = stage.lead(
        "Lead", {"say": "I begin."}, dehydrates, {"wait": True}, *COMPACTS, tasks=(task["id"],), on_prompt=COMPACTS
    )  # fmt: skip
    until(lambda: stage.events("session.dehydrated", lead), lambda: stage.screen(lead))
    answered = stage.worker("Answered", lead, ask("Which colour?"))
    waiting = stage.worker("Waiting", lead, ask("Which <name>?"))
    assert decide(stage, answered, answer="Choose 1", confidence=0.99)["outcome"] == "answer"
    escalation = escalate(stage, waiting)
    stage.turn(lead, "Go on.")
    block = stage.until_told(lead, "SessionStart:compact")
    root = ET.fromstring(block)
    # The table "What Gets Preserved", row by row.
    preserved = {
        "config path": of(root, "config", "path") == [str(stage.maestro.cwd / "coordinate.config.json")],
        "vision path": of(root, "vision", "path") == [str(stage.maestro.cwd / "VISION.md")],
        "current chapter": of(root, "chapter", "name") == ["Chapter 2: Tills"],
        "worker pane ids": of(root, "panes/pane", "id")
        == [stage.show(one)["place"]["paneId"] for one in (answered, waiting)],
        "recent decisions": any(
            "Which colour?" in (one.text or "") and one.get("worker") == "Answered"
            for one in root.findall("recent_decisions/decision")
        ),
        "pending escalations": of(root, "pending_escalations/escalation", "id") == [escalation],
        "checkbox state": (root.findtext("chapter") or "").split("\n")[1:-1]
        == ["  - [x] There is a till", "  - [ ] It takes <cash> & cards"],
    }
    assert preserved == dict.fromkeys(preserved, True), block
    # And its own words, with who it is.
    assert root.findtext("summary") == SAYS["summary"]
    assert root.findtext("last_action") == SAYS["lastAction"]
    assert [one.text for one in root.findall("next_steps/step")] == SAYS["nextSteps"]
    assert of(root, "required_files/file", "path") == ["docs/plan.md"]
    assert (root.find("task"), root.get("session")) != (None, None)
    assert root.findtext("task/title") == "Build the tills"
    assert "You are a coordinator" in (root.findtext("role") or "")
    kinds = [one["automatic"] for one in stage.events("session.dehydrated", lead)]
    assert kinds == [False, True], "by its own word, and before it was compacted"
    # The same for whoever asks; all of it.
    assert stage.maestro("session", "rehydrate", lead).stdout == block + "\n"
    told = stage.maestro.json("session", "rehydrate", lead)
    assert (told["state"]["summary"], told["automatic"]) == (SAYS["summary"], True)
    # What was answered since waits no longer.
    assert stage.maestro("answer", escalation, "2").returncode == 0
    stage.turn(lead, "Once more.")
    again = ET.fromstring(stage.until_told(lead, "SessionStart:compact", 2))
    assert again.find("pending_escalations") is None
    assert again.findtext("summary") == SAYS["summary"], "its last words stay"
    [stats] = stage.maestro.json("session", "stats", lead)
    assert stats["context"]["rehydrations"] == 2
    # Told by the start, it is not told once more with the next prompt.
    stage.prompt(lead, "And again.")
    last = stage.until_told(lead, "UserPromptSubmit", 3)
    assert "coordinator_state" not in last


def test_a_coordinator_that_comes_back_goes_on_from_what_was_kept(stage: Coordinated) -> None:
    lead = stage.lead("Lead", on_prompt=[{"say": "Yes."}])
    assert stage.told(lead, "SessionStart:startup") == [], "one that begins has its first prompt"
    stage.turn(lead, "Are you there?")
    done = stage.maestro("session", "dehydrate", lead, input='{"summary": "Half of it is done."}')
    assert (done.returncode, done.stdout) == (0, "Kept. `maestro session rehydrate` shows it.\n"), done.stderr
    own = stage.maestro.env | {"MAESTRO_SESSION_ID": lead}
    payload = {
        "session_id": stage.show(lead)["transcriptId"],
        "hook_event_name": "SessionStart",
        "source": "resume",
    }
    hook = stage.maestro("hook", "scripted", "SessionStart", env=own, input=json.dumps(payload))
    block = json.loads(hook.stdout)["hookSpecificOutput"]["additionalContext"]
    assert ET.fromstring(block).findtext("summary") == "Half of it is done."


def test_a_worker_gets_its_task_again(stage: Coordinated) -> None:
    task = stage.maestro.json("task", "create", "Paint the door", "--description", "In red.")
    worker = stage.worker("Painter", None, tasks=(task["id"],), on_prompt=COMPACTS)
    stage.turn(worker, "Go on.")
    block = stage.until_told(worker, "SessionStart:compact")
    root = ET.fromstring(block)
    assert root.tag == "session_state"
    assert root.findtext("session_id") == worker
    assert (root.findtext("task/title"), (root.findtext("task/description") or "").strip()) == (
        "Paint the door",
        "In red.",
    )
    assert "report complete" in block
    assert stage.told(worker, "UserPromptSubmit") == []


def test_what_cannot_be_kept_is_told_with_its_places(stage: Coordinated) -> None:
    lead = stage.lead("Lead")
    (stage.place / "secret.txt").write_text("x")
    (stage.maestro.cwd / "way-out.txt").symlink_to(stage.place / "secret.txt")
    (stage.maestro.cwd / "here.txt").write_text("x")
    files = ["here.txt", "../secret.txt", "way-out.txt", "none.txt", str(stage.maestro.cwd / "here.txt")]
    says = json.dumps({"requiredFiles": files, "sumary": "x"})
    done = stage.maestro("session", "dehydrate", lead, "--json", input=says)
    assert done.returncode == 2
    assert json.loads(done.stderr)["error"].splitlines() == [
        "line 1, column 32: requiredFiles[1] is outside of the project: ../secret.txt.",
        "line 1, column 49: requiredFiles[2] is outside of the project: way-out.txt.",
        "line 1, column 64: requiredFiles[3] is no file of the project: none.txt.",
        f"line 1, column {says.index('sumary')}: sumary is no field of this. Did you mean summary?",
    ]
    assert stage.events("session.dehydrated", lead) == []
    files = ["here.txt", str(stage.maestro.cwd / "here.txt")]
    kept = stage.maestro.json("session", "dehydrate", lead, input=json.dumps({"requiredFiles": files}))
    assert kept["state"]["requiredFiles"] == ["here.txt", "here.txt"]


def test_only_a_session_itself_and_a_human_may_say_what_it_keeps(stage: Coordinated) -> None:
    lead = stage.lead("Lead")
    other = stage.worker(
        "Other", lead, {"run": ["sh", "-c", f"echo '{{}}' | maestro session dehydrate {lead}"]}, {"say": "Done."}
    )  # fmt: skip
    until(lambda: "Done." in stage.said(other), lambda: stage.screen(other))
    [result] = [str(one) for one in stage.results(other)]
    assert "A worker may not report for this session" in result
    assert stage.events("session.dehydrated", lead) == []
