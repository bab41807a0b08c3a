"""What the scripted agent draws in the looks of a CLI, that CLI's own adapter reads, and answers by its own keys."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.testing.imitated import Imitation, typed

from maestro.agents import claude, codex, gemini, scripted
from maestro.agents.launch import LaunchRequest
from maestro.agents.questions import Answer as Wanted
from maestro.agents.screen import captured
from maestro.agents.terminal import Cannot, Terminal
from maestro.testing.scripted_agent.box import Box
from maestro.testing.scripted_agent.dialog import (
    Answer,
    Asked,
    Choice,
    Consent,
    Gate,
    PlanApproval,
    Several,
)
from maestro.testing.scripted_agent.effects import Block
from maestro.testing.scripted_agent.hooks import hook_answer, parse_settings
from maestro.testing.scripted_agent.keys import Draft
from maestro.testing.scripted_agent.screen import Spinner
from maestro.testing.scripted_agent.steps import IMITATED, Ask, Imitated, Option
from maestro.testing.scripted_agent.transcript import question_input

REAL: dict[Imitated, Terminal] = {"claude": claude.ADAPTER, "codex": codex.ADAPTER, "gemini": gemini.ADAPTER}
DATABASE = Choice(
    "Which database should we use?",
    "Database",
    (Option("PostgreSQL", "Relational"), Option("SQLite", "Embedded")),
)
FEATURES = Choice(
    "Which features do you want?",
    "Features",
    (Option("Logging", "Logs"), Option("Metrics", "Numbers"), Option("Tracing", "Spans")),
    multi=True,
)
LICENSE = Choice("Which license?", "License", (Option("MIT", "Short"), Option("GPL", "Long")))
LAYOUT = Choice(
    "Which layout?",
    "Layout",
    (Option("Left bar", preview="+-+--+\n| |  |"), Option("Top bar", preview="+----+")),
)
NAME = Choice("Any name?", "Name", ())
COMMAND = Consent("touch made.txt && ls -la", "Create a file and list")
FOUR = Consent(
    "touch made.txt",
    "",
    (
        Option("Yes"),
        Option("Yes, and always allow access to proj from this project"),
        Option("Yes, and switch to auto mode · auto mode handles these prompts for you"),
        Option("No"),
    ),
)
PLAN = PlanApproval("Plan\n\n1. Create a.txt\n2. Check it")


def adapters(imitate: Imitated) -> list[Terminal]:
    """The CLI's own, and the scripted agent's, which finds out whose screen it is."""
    ours = scripted.ADAPTER
    assert isinstance(ours, Terminal)
    return [REAL[imitate], ours]


KINDS: list[tuple[Imitated, Asked, str, str]] = [
    ("claude", DATABASE, "question", "choice"),
    ("claude", FEATURES, "question", "multi_choice"),
    ("claude", LAYOUT, "question", "choice"),
    ("claude", Several((DATABASE, FEATURES, LICENSE)), "question", "several"),
    ("claude", COMMAND, "permission", "permission"),
    ("claude", FOUR, "permission", "permission"),
    ("claude", PLAN, "plan", "plan"),
    ("claude", PlanApproval(""), "plan", "plan"),
    ("claude", Gate("trust"), "dialog", "dialog"),
    ("claude", Gate("bypass"), "dialog", "dialog"),
    ("claude", Gate("key"), "dialog", "dialog"),
    ("codex", DATABASE, "question", "choice"),
    ("codex", Several((DATABASE, LICENSE)), "question", "several"),
    ("codex", COMMAND, "permission", "permission"),
    ("codex", PLAN, "plan", "plan"),
    ("codex", Gate("trust"), "dialog", "dialog"),
    ("codex", Gate("hooks"), "dialog", "dialog"),
    ("gemini", DATABASE, "question", "choice"),
    ("gemini", FEATURES, "question", "multi_choice"),
    ("gemini", NAME, "question", "free_text"),
    ("gemini", Several((FEATURES, NAME, LICENSE)), "question", "several"),
    ("gemini", COMMAND, "permission", "permission"),
    ("gemini", PLAN, "plan", "plan"),
    ("gemini", Gate("trust"), "dialog", "dialog"),
]


@pytest.mark.parametrize(("imitate", "asked", "state", "kind"), KINDS)
def test_a_dialog_is_read_as_what_it_asks(imitate: Imitated, asked: Asked, state: str, kind: str) -> None:
    for adapter in adapters(imitate):
        screen = Imitation(imitate, adapter).ask(asked)
        assert screen.state == state
        question = screen.question
        assert question is not None
        assert question.kind == kind
        assert screen.draft is None
        match asked:
            case Choice():
                offered = [option.label for option in asked.options]
                assert question.text == asked.question
                assert [option.label for option in question.options[: len(offered)]] == offered
            case Several(parts):
                assert len(question.parts) == len(parts)
                assert question.parts[0].text == parts[0].question
            case Consent():
                assert question.detail == asked.command
                if imitate == "claude":
                    assert [o.label for o in question.options] == [o.label for o in asked.options]
            case PlanApproval(plan):
                assert question.detail == plan


def working(imitate: Imitated) -> dict[str, object]:
    retries = {
        "claude": "500 oops · Retrying in 4s · attempt 1/10",
        "codex": "Reconnecting... 1/5",
        "gemini": "Trying to reach scripted (Attempt 2/10)",
    }
    return {"spinner": Spinner(1, "Brewing", 5, retries[imitate])}


@pytest.mark.parametrize("imitate", IMITATED)
def test_a_screen_without_a_dialog_is_read_as_what_it_shows(imitate: Imitated) -> None:
    over = (Block("done", "Worked for 8s · done 6:49 PM"),) if imitate == "claude" else ()
    prompt = Block("prompt", "go")
    busy = Spinner(1, "Brewing", 5)
    for adapter in adapters(imitate):

        def read(**state: object) -> tuple[str, str | None, tuple[str, ...]]:
            screen = Imitation(imitate, adapter, **state).read()  # noqa: B023 - called in the loop only
            return screen.state, screen.draft, screen.queued

        done = (prompt, Block("text", "Done."), *over)
        failed = (prompt, Block("error", "API Error: 400 bad request"), *over)
        limited = (prompt, Block("error", "Usage limit reached · resets 3pm"), *over)
        assert read(placeholder="Try me") == ("idle", "", ())
        assert read(blocks=done) == ("idle", "", ())
        assert read(box=Box(Draft(("my words",)))) == ("idle", "my words", ())
        assert read(spinner=busy) == ("working", "", ())
        assert read(spinner=busy, queued=("then this",)) == ("working", "", ("then this",))
        assert read(**working(imitate)) == ("retrying", "", ())
        assert read(blocks=failed)[0] == "error"
        assert read(blocks=limited)[0] == "limit"
        assert read(box=Box(Draft(("rm -r /",)), is_shell=True))[1] == "!rm -r /"


def test_waiting_for_background_agents_is_told_from_idling() -> None:
    blocks = (Block("text", "Started."), Block("done", "Waiting for 1 background agent to finish"))
    assert Imitation("claude", claude.ADAPTER, blocks=blocks).read().state == "background"


ANSWERS: list[tuple[Imitated, Asked, Wanted, Answer]] = [
    ("claude", DATABASE, Wanted((2,)), Answer(("SQLite",))),
    ("claude", DATABASE, Wanted(text="2 of them"), Answer(("2 of them",))),
    ("claude", FEATURES, Wanted((3, 1)), Answer(("Logging", "Tracing"))),
    ("claude", FEATURES, Wanted((2,), text="Alerts 24x7"), Answer(("Metrics", "Alerts 24x7"))),
    ("claude", LAYOUT, Wanted((2,)), Answer(("Top bar",))),
    (
        "claude",
        Several((DATABASE, FEATURES, LICENSE)),
        Wanted(parts=(Wanted((2,)), Wanted((1, 2)), Wanted((1,)))),
        Answer(parts=(("SQLite",), ("Logging", "Metrics"), ("MIT",))),
    ),
    (
        "claude",
        Several((DATABASE, LICENSE)),
        Wanted(parts=(Wanted(text="CockroachDB 42"), Wanted((2,)))),
        Answer(parts=(("CockroachDB 42",), ("GPL",))),
    ),
    ("claude", COMMAND, Wanted((1,)), Answer(("yes",))),
    ("claude", COMMAND, Wanted((3,)), Answer(("no",), ends_turn=True)),
    ("claude", COMMAND, Wanted((3,), text="use make"), Answer(("no",), notes=("use make",))),
    ("claude", FOUR, Wanted((4,)), Answer(("no",), ends_turn=True)),
    ("claude", PLAN, Wanted((2,)), Answer(("yes", "Yes, manually approve edits"))),
    ("claude", PLAN, Wanted(text="add 2 tests"), Answer(("add 2 tests",))),
    ("claude", PlanApproval(""), Wanted((2,)), Answer(("no",), ends_turn=True)),
    ("claude", Gate("trust"), Wanted((2,)), Answer(("yes",))),
    ("claude", Gate("bypass"), Wanted((1,)), Answer(ends_turn=True)),
    ("claude", Gate("key"), Wanted((1,)), Answer(("yes",))),
    ("codex", DATABASE, Wanted((2,)), Answer(("SQLite",))),
    ("codex", DATABASE, Wanted((2,), text="version 3"), Answer(("SQLite",), notes=("version 3",))),
    ("codex", DATABASE, Wanted(text="DuckDB 7"), Answer(("None of the above",), notes=("DuckDB 7",))),
    (
        "codex",
        Several((DATABASE, LICENSE)),
        Wanted(parts=(Wanted((1,)), Wanted((2,), text="the 3rd"))),
        Answer(parts=(("PostgreSQL",), ("GPL",)), notes=("", "the 3rd")),
    ),
    ("codex", COMMAND, Wanted((1,)), Answer(("yes",))),
    ("codex", COMMAND, Wanted((2,)), Answer(("always",))),
    ("codex", COMMAND, Wanted((3,)), Answer(("no",), ends_turn=True)),
    ("codex", PLAN, Wanted((1,)), Answer(("yes", "Yes, implement this plan"))),
    ("codex", PLAN, Wanted((3,)), Answer(("no",), ends_turn=True)),
    ("codex", Gate("trust"), Wanted((1,)), Answer(("yes",))),
    ("codex", Gate("hooks"), Wanted((2,)), Answer(("yes",))),
    ("gemini", DATABASE, Wanted((2,)), Answer(("SQLite",))),
    ("gemini", DATABASE, Wanted(text="DuckDB 12"), Answer(("DuckDB 12",))),
    ("gemini", FEATURES, Wanted((3, 1)), Answer(("Logging", "Tracing"))),
    ("gemini", FEATURES, Wanted((2,), text="Extra 3"), Answer(("Metrics", "Extra 3"))),
    ("gemini", NAME, Wanted(text="Proj 1"), Answer(("Proj 1",))),
    (
        "gemini",
        Several((FEATURES, NAME, LICENSE)),
        Wanted(parts=(Wanted((1,)), Wanted(text="Proj 1"), Wanted((2,)))),
        Answer(parts=(("Logging",), ("Proj 1",), ("GPL",))),
    ),
    ("gemini", PLAN, Wanted((2,)), Answer(("yes", "Yes, manually accept edits"))),
    ("gemini", PLAN, Wanted(text="Add 2 tests\nfirst"), Answer(("Add 2 tests\nfirst",))),
    ("gemini", COMMAND, Wanted((1,)), Answer(("yes",))),
    ("gemini", COMMAND, Wanted((2,)), Answer(("always",))),
    ("gemini", COMMAND, Wanted((3,)), Answer(("no",), ends_turn=True)),
    ("gemini", Gate("trust"), Wanted((3,)), Answer(ends_turn=True)),
]


@pytest.mark.parametrize(("imitate", "asked", "wanted", "answer"), ANSWERS)
def test_every_dialog_gets_the_answer_that_was_meant(
    imitate: Imitated, asked: Asked, wanted: Wanted, answer: Answer
) -> None:
    for adapter in adapters(imitate):
        imitation = Imitation(imitate, adapter)
        imitation.ask(asked)
        assert imitation.settle(wanted) == answer


@pytest.mark.parametrize(
    ("imitate", "asked", "wanted"),
    [
        ("claude", LAYOUT, Wanted(text="neither")),
        ("claude", DATABASE, Wanted((9,))),
        ("claude", Gate("trust"), Wanted(text="yes please")),
        ("codex", COMMAND, Wanted((3,), text="use make")),
        ("gemini", COMMAND, Wanted(text="use make")),
    ],
)
def test_an_answer_that_a_dialog_does_not_take_is_refused_before_a_key_is_pressed(
    imitate: Imitated, asked: Asked, wanted: Wanted
) -> None:
    imitation = Imitation(imitate, REAL[imitate])
    imitation.ask(asked)
    before = imitation.state
    assert isinstance(imitation.settle(wanted), Cannot)
    assert imitation.state == before


def test_a_dialog_that_a_person_has_begun_is_finished_from_where_it_stands() -> None:
    imitation = Imitation("claude", claude.ADAPTER)
    imitation.ask(FEATURES)
    imitation.press(*typed("13"))
    assert imitation.settle(Wanted((2, 3))) == Answer(("Tracing", "Metrics"))


@pytest.mark.parametrize("imitate", IMITATED)
def test_the_scripted_agent_knows_its_screens_without_their_title(imitate: Imitated) -> None:
    imitation = Imitation(imitate, REAL[imitate])
    ours = adapters(imitate)[1]
    imitation.ask(COMMAND)
    lines = "\n".join(imitation.frame.lines)
    assert ours.read_screen(captured(lines)).state == "permission"


@pytest.mark.parametrize(
    ("imitate", "state", "title"),
    [("codex", "working", "\N{BRAILLE PATTERN DOTS-145} "), ("gemini", "working", "✦  Working…")],
)
def test_titles_tell_as_the_real_ones_do(imitate: Imitated, state: str, title: str) -> None:
    frame = Imitation(imitate, REAL[imitate], spinner=Spinner(1, "Brewing", 5)).frame
    assert frame.title.startswith(title)
    for adapter in adapters(imitate):
        reading = adapter.read_title(frame.title)
        assert reading is not None
        assert reading.state == state


def test_the_hooks_that_maestro_configures_are_run_and_their_answers_are_taken() -> None:
    ours = scripted.ADAPTER
    written = ours.hook_settings({event.name: f"told {event.name}" for event in ours.hook_events})
    settings = parse_settings(json.dumps(written))
    (asking,) = settings.commands("PermissionRequest", "AskUserQuestion")
    assert asking.command == "told PermissionRequest"
    cases: list[tuple[str, Asked, Wanted, Answer]] = [
        ("AskUserQuestion", DATABASE, Wanted((2,)), Answer(("SQLite",))),
        ("AskUserQuestion", DATABASE, Wanted(text="DuckDB"), Answer(("DuckDB",))),
        ("AskUserQuestion", FEATURES, Wanted((1, 3)), Answer(("Logging, Tracing",))),
        ("Bash", COMMAND, Wanted((1,)), Answer(("yes",))),
        # Its message asks the model to stop; the turn goes on.
        ("Bash", COMMAND, Wanted((3,)), Answer(("no",))),
    ]
    for tool, asked, wanted, answer in cases:
        payload = {"hook_event_name": "PermissionRequest", "tool_name": tool, "tool_input": tool_input(asked)}
        assert ours.read_hook("PermissionRequest", payload).kind == "asked"
        question = Imitation("claude", ours).ask(asked).question
        assert question is not None
        output = ours.hook_answer("PermissionRequest", payload, question, wanted)
        assert output is not None
        assert hook_answer(asked, output.decode()) == answer


def tool_input(asked: Asked) -> dict[str, object]:
    if isinstance(asked, Consent):
        return {"command": asked.command, "description": asked.description}
    assert isinstance(asked, Choice)
    return question_input((Ask(asked.question, asked.header, asked.options, asked.multi, {}),))


def test_a_launch_passes_settings_on(tmp_path: Path) -> None:
    settings = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}
    plan = scripted.ADAPTER.launch(
        LaunchRequest(
            session_id="s_1",
            transcript_id="11111111-1111-4111-8111-111111111111",
            cwd=str(tmp_path),
            folder="/ours/s_1",
            env={"MAESTRO_SCRIPTED": "1"},
            model="play.json",
            settings=settings,
        )
    )
    (file,) = plan.files
    assert plan.argv[plan.argv.index("--settings") + 1] == file.path
    assert json.loads(file.content) == settings
    assert scripted.ADAPTER.is_agent(plan.argv)
    assert not scripted.ADAPTER.is_agent(["vim", "maestro.testing.scripted_agent"])
