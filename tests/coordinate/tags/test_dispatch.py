"""Approved tags handed to a real tool: each is done once, and what fails is told and left."""

from __future__ import annotations

import json
import signal
from functools import partial
from pathlib import Path

import msgspec
import pytest
from tests.coordinate.tags.dispatched import Office, kill
from tests.patience import patience, told_by
from tests.support import Maestro

from maestro import processes
from maestro.cli.tag_runner import start
from maestro.coordinate.tags.runs import begin, order_for, prompt_of
from maestro.coordinate.tags.tag import find_tags
from maestro.dispatch.run import this_process
from maestro.errors import Conflict

pytestmark = pytest.mark.more  # make test-more


@pytest.fixture
def office(maestro: Maestro) -> Office:
    return Office(maestro)


def test_approved_ones_are_done(office: Office) -> None:
    first, second = office.note("one", "two")
    with (office.project / "notes.md").open("a") as file:
        file.write("- not approved #needs-fix\n")
    told = office.dispatch()
    assert [(one["id"], one["outcome"]) for one in told] == [(first, "done"), (second, "done")]
    assert office.handled == ["one", "two"]
    assert office.states() == ["done", "done", "needs"]
    assert (office.project / ".maestro" / "runs" / f"{first}-1" / "result.json").exists()
    assert office.dispatch() == []
    assert not Path(office.maestro.home.daemon_record).exists(), "no daemon is needed"


def test_some_of_them(office: Office) -> None:
    office.note("fix one", "fix two")
    [found] = office.note("look one", kind="research")
    told = office.dispatch("--kind", "research", "--limit", "5")
    assert [one["id"] for one in told] == [found]
    run = json.loads((office.project / ".maestro" / "runs" / f"{found}-1" / "run.json").read_text())
    assert run["mode"] == "analysis"
    assert len(office.dispatch("--limit", "1")) == 1
    assert office.handled == ["look one", "fix one"]


def test_what_fails_is_given_back_with_the_reason(office: Office) -> None:
    [bad, good] = office.note("broken RUN exit 3", "good")
    done = office.maestro("tag", "dispatch")
    assert done.returncode == 1
    assert "failed: It ended with exit code 3." in done.stdout
    assert office.states() == ["delegated", "done"]
    record = office.tags.record(bad)
    assert record is not None
    assert (record.failed, record.claimant) == ("failed: It ended with exit code 3.", "")
    assert office.dispatch() == [], "not begun again by itself"
    [again] = office.dispatch("--again")
    assert (again["run"], again["outcome"]) == (f"{bad}-2", "failed")
    office.tags.approve(bad)
    [third] = office.dispatch()
    assert third["run"] == f"{bad}-3"
    assert good not in {again["id"], third["id"]}


def test_a_tool_that_is_not_there_claims_nothing(office: Office) -> None:
    office.note("one")
    done = office.maestro("tag", "dispatch", "--to", "nobody")
    assert done.returncode == 3
    assert office.states() == ["delegated"]
    assert office.dispatch()[0]["outcome"] == "done"


def test_without_waiting(office: Office) -> None:
    office.note("one", "two")
    told = office.dispatch("--async")
    assert [one["outcome"] for one in told] == ["begun", "begun"]
    office.wait_for_runs()
    assert office.states() == ["done", "done"]
    assert sorted(office.handled) == ["one", "two"]


def test_a_run_that_goes_on_is_not_begun_again(office: Office) -> None:
    gate = office.project / "gate"
    [tag_id] = office.note(f"one RUN while [ ! -e {gate} ]; do sleep 0.02; done")
    office.dispatch("--async")
    office.wait_until_handled()
    assert office.dispatch() == [], "it is held"
    stolen = office.tags.record(tag_id)
    assert stolen is not None
    # As if whoever has it could not be seen any more: only the lock tells that the run goes on.
    office.tags.write_record(msgspec.structs.replace(stolen, until=1))
    [told] = office.dispatch()
    assert told["outcome"] == "under way"
    gate.touch()
    office.wait_for_runs()
    assert (office.states(), len(office.handled)) == (["done"], 1)


def with_a_killed_run(office: Office) -> str:
    """A tag whose run was begun, and whose runner was killed; its id."""
    [tag_id] = office.note("one RUN sleep 60")
    office.dispatch("--async")
    office.wait_until_handled()
    [runner] = office.runners()
    kill(runner)
    processes.wait_for_end(runner, patience(30))
    return tag_id


def test_a_killed_run_is_told_and_not_begun_again(office: Office) -> None:
    tag_id = with_a_killed_run(office)
    [told] = office.dispatch()
    assert told["outcome"] == "failed"
    assert "interrupted" in told["reason"]
    assert (office.states(), len(office.handled)) == (["delegated"], 1)
    assert office.dispatch() == []
    record = office.tags.record(tag_id)
    assert record is not None
    assert record.attempt == 1


def test_whoever_dies_while_it_tells_of_a_killed_run_begins_nothing_anew(office: Office) -> None:
    """Each dispatcher dies around one write more of the tag's file and record, until one tells to the end."""
    tag_id = with_a_killed_run(office)
    kills = 0
    for count in range(1, 10):
        died = [office.dying(edge, count, files=f"notes.md,{tag_id}.json") for edge in ("before", "after")]
        assert {one.returncode for one in died} <= {0, 1, -signal.SIGKILL}, [one.stderr for one in died]
        kills += sum(one.returncode == -signal.SIGKILL for one in died)
        if all(one.returncode == 0 for one in died):
            break
    assert kills >= 3
    assert office.dispatch() == []
    assert (office.states(), len(office.handled)) == (["delegated"], 1)
    record = office.tags.record(tag_id)
    assert record is not None
    assert (record.attempt, record.claimant, "interrupted" in record.failed) == (1, "", True)


def test_what_failed_after_it_was_chosen_is_not_begun_again(office: Office) -> None:
    """A dispatcher chooses its tags at once, and comes to the last of them much later."""
    [tag_id] = office.note("one RUN exit 3")
    chosen = office.tags.find(tag_id)
    order = order_for(office.tags, chosen, to="hand", mode=None, seconds=None)
    [told] = office.dispatch()
    assert told["outcome"] == "failed"
    starting = partial(start, prompt_session=False)
    with pytest.raises(Conflict, match="was tried meanwhile: failed"):
        begin(office.tags, chosen, order, "late", office.maestro.env, starting)
    assert (office.states(), len(office.handled)) == (["delegated"], 1)
    [again] = office.dispatch("--again")
    assert (again["outcome"], len(office.handled)) == ("failed", 2)


def test_a_run_that_was_prepared_and_never_started_is_begun(office: Office) -> None:
    [tag_id] = office.note("one")
    folder = office.project / ".maestro" / "runs" / f"{tag_id}-1"
    record = office.tags.claim(tag_id, "dead", way="run", process=this_process()).record
    assert record is not None
    assert record.run == folder.name
    folder.mkdir(parents=True)
    (folder / "prompt.md").write_text("half")
    office.tags.write_record(msgspec.structs.replace(record, until=1))
    [told] = office.dispatch()
    assert (told["run"], told["outcome"]) == (folder.name, "done")
    assert office.handled == ["one"]


def test_what_an_agent_is_told() -> None:
    text = "# Top\n\nnot this\n\n## Clocks\n\nThey are late.\n\n- mend them #delegated-fix\n  - gently\n\n## Next\n\nnor this\n"
    [tag] = find_tags(text, "notes.md")
    told = prompt_of(tag, text)
    assert "    mend them\n" in told
    assert "notes.md, line 9, under “Clocks”" in told
    assert "They are late." in told
    assert "gently" in told
    assert "nor this" not in told
    assert "not this" not in told


def test_sessions_in_panes(office: Office, place: Path) -> None:
    """A session for each, told how to end its tag; one that ends without a word gives it back."""
    script = place / "script.json"
    script.write_text(json.dumps({"steps": [{"say": "I am ready."}]}))
    office.maestro.env["MAESTRO_SCRIPT"] = str(script)
    office.maestro.json("project", "add", ".")
    first, second = office.note("one", "two")
    told = office.dispatch("--spawn", "scripted")
    assert [(one["outcome"], one["name"]) for one in told] == [
        ("begun", f"{first}-1"),
        ("begun", f"{second}-1"),
    ]
    assert office.states() == ["claimed", "claimed"]
    assert office.dispatch("--spawn", "scripted") == [], "they have their sessions"
    assert office.dispatch() == [], "no run does what a session does"
    assert len(office.maestro.json("session", "list")) == 2
    heard = "".join(path.read_text() for path in (place / "claude").rglob("*.jsonl"))
    assert f"maestro tag done {first} --as {first}-1" in heard
    assert office.maestro("tag", "done", first, "--as", f"{first}-1").returncode == 0
    office.maestro("session", "stop", told[1]["session"], "--force")
    assert office.dispatch("--spawn", "scripted") == []
    record = office.tags.record(second)
    assert record is not None
    assert "ended without a word" in record.failed
    assert office.states() == ["done", "delegated"]


def test_a_session_that_was_asked_for_is_not_started_twice(office: Office, place: Path) -> None:
    """Whoever asked for it died before it heard: the next one finds the session."""
    script = place / "script.json"
    script.write_text(json.dumps({"steps": [{"say": "I am ready."}]}))
    office.maestro.env["MAESTRO_SCRIPT"] = str(script)
    office.maestro.json("project", "add", ".")
    [tag_id] = office.note("one")
    [told] = office.dispatch("--spawn", "scripted")
    record = office.tags.record(tag_id)
    assert record is not None
    office.tags.write_record(msgspec.structs.replace(record, claimant="dispatch", until=1))
    [again] = office.dispatch("--spawn", "scripted")
    assert (again["outcome"], again["session"]) == ("begun", told["session"])
    assert len(office.maestro.json("session", "list")) == 1


def test_a_cancelled_run_gives_its_tag_back(office: Office) -> None:
    [tag_id] = office.note("one RUN sleep 60")
    office.dispatch("--async")
    office.wait_until_handled()
    assert office.maestro("delegate", "cancel", f"{tag_id}-1").returncode == 0
    office.wait_for_runs()
    record = office.tags.record(tag_id)
    assert record is not None
    assert record.failed == "cancelled: It was cancelled."
    assert office.states() == ["delegated"]


def test_who_stops_waiting_stops_nothing(office: Office) -> None:
    gate = office.project / "gate"
    [tag_id] = office.note(f"one RUN while [ ! -e {gate} ]; do sleep 0.02; done")
    waiting = office.maestro.start("tag", "dispatch")
    office.wait_until_handled()
    waiting.send_signal(signal.SIGINT)
    _, complaint = told_by(waiting)
    assert waiting.returncode == 130
    assert f"{tag_id}-1 goes on" in complaint
    gate.touch()
    office.wait_for_runs()
    assert office.states() == ["done"]
