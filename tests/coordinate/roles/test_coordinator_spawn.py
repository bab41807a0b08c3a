"""`session spawn --role coordinator`: its prompt, its name, its children; with a scripted agent in a real pane."""

from __future__ import annotations

from tests.coordinate.roles.panes import events_of, inside, shown_task, task
from tests.fleet.typing.stage import Stage
from tests.patience import until


def test_a_coordinator_is_told_its_work_and_its_children_are_its_own(stage: Stage) -> None:
    whole = task(stage, "Ship accounts", description="All of it")
    child = stage.script({"say": "I begin."}, on_prompt=[{"say": "Thank you."}])
    spawns = [
        "maestro", "session", "spawn", "--agent", "scripted", "--model", child, "--task", "Login",
        "--message", "Mind the tests", "--name", "Ann",
    ]  # fmt: skip
    steps = (
        {"run": ["maestro", "task", "create", "Login", "--parent", whole]},
        {"run": spawns},
        {"run": ["maestro", "session", "logs", "Ann", "--last", "10"]},
        {"say": "I watch."},
    )
    told = [
        {"run": ["maestro", "session", "prompt", "Ann", "--message", "Go on."]},
        {"run": ["maestro", "session", "report", "complete", "All parts are done"]},
        {"say": "So much for now."},
    ]
    words = ("--agent", "scripted", "--model", stage.script(*steps, on_prompt=told), "--role", "coordinator")
    boss = stage.maestro.json("session", "spawn", *words, "--task", whole)
    assert (boss["role"], boss["name"]) == ("coordinator", "Coordinator: Ship accounts")
    until(lambda: len(stage.results(boss["id"])) == 3, lambda: stage.screen(boss["id"]))
    first = next(one["message"]["content"] for one in stage.records(boss["id"]) if one["type"] == "user")
    for part in (
        "You are the coordinator.",
        "1. SPAWN",
        "4. VERIFY",
        "<title>Ship accounts</title>",
        "All of it",
    ):
        assert part in first
    ann = stage.maestro.json("session", "show", "Ann")
    assert ann["parentSessionId"] == boss["id"]
    login = shown_task(stage, ann["taskIds"][0])
    assert (login["createdBy"], login["parentId"]) == (boss["id"], whole)
    until(lambda: events_of(stage, ann["id"], "agent.turn_ended"))
    stage.queued(boss["id"], "Ann is ready.")
    [heard] = until(lambda: stage.heard(ann["id"]), lambda: stage.screen(boss["id"]))
    assert heard == f"[From: Coordinator: Ship accounts ({boss['id']})] Go on."
    until(lambda: events_of(stage, boss["id"], "session.reported"), lambda: stage.screen(boss["id"]))
    said = stage.show(boss["id"])["report"]
    assert said["evidence"]["agrees"] is False, "its part is not done"
    assert "open subtasks" in said["left"][0]


def test_without_a_task_it_is_told_its_work_and_waits(stage: Stage) -> None:
    words = ("--agent", "scripted", "--model", stage.script({"say": "Ready."}), "--role", "coordinator")
    boss = stage.maestro.json("session", "spawn", *words)
    assert boss["name"] == f"Coordinator {boss['id'][-6:]}"
    until(lambda: stage.said(boss["id"]) == ["Ready."], lambda: stage.screen(boss["id"]))
    first = next(one["message"]["content"] for one in stage.records(boss["id"]) if one["type"] == "user")
    assert "You have no task yet" in first


def test_a_fleets_coordinator_has_those_that_it_manages(stage: Stage) -> None:
    script = stage.script({"say": "Ready."}, on_prompt=[{"say": "Yes."}])
    fleet = stage.place / "work" / "fleet.yml"
    fleet.write_text(
        "name: crew\npanes:\n"
        f"  - {{label: Lead, agent: scripted, model: {script}, role: coordinator, manages: [One]}}\n"
        f"  - {{label: One, agent: scripted, model: {script}, prompt: Begin}}\n"
        f"  - {{label: Two, agent: scripted, model: {script}, prompt: Begin}}\n"
    )
    stage.maestro.json("up", str(fleet))
    lead, one, two = (stage.maestro.json("session", "show", name) for name in ("Lead", "One", "Two"))
    assert (one["parentSessionId"], two["parentSessionId"]) == (lead["id"], None)
    until(lambda: events_of(stage, one["id"], "agent.turn_ended"))
    env = inside(stage, lead["id"])
    assert stage.maestro("session", "prompt", "One", "--message", "Go on.", env=env).returncode == 0
    assert stage.maestro("session", "prompt", "Two", "--message", "Go on.", env=env).returncode == 5
