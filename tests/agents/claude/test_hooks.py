"""Payloads as the real CLI sends them, and answers as it takes them."""

import json
from typing import Any

import pytest

from maestro.agents.claude import ADAPTER
from maestro.agents.hooks import Hooked
from maestro.agents.questions import Answer, Option, Question

BASE = {"session_id": "4e4e", "transcript_path": "/p/4e4e.jsonl", "cwd": "/p"}
BASH = {"tool_name": "Bash", "tool_input": {"command": "touch x && ls", "description": "Make x"}}
DATABASE = {
    "question": "Which database?",
    "header": "Database",
    "multiSelect": False,
    "options": [
        {"label": "PostgreSQL", "description": "Robust"},
        {"label": "SQLite", "description": "Small"},
    ],
}
FEATURES = {
    "question": "Which features?",
    "header": "Features",
    "multiSelect": True,
    "options": [{"label": "Logging", "description": ""}, {"label": "Metrics", "description": ""}],
}
LAYOUT = {"question": "Layout?", "header": "Layout", "options": [{"label": "Left", "preview": "|"}]}


def asks(*questions: dict[str, Any]) -> dict[str, Any]:
    return {**BASE, "tool_name": "AskUserQuestion", "tool_input": {"questions": list(questions)}}


def decision(payload: dict[str, Any], answer: Answer, question: Question | None = None) -> Any:
    asked = question or ADAPTER.read_hook("PermissionRequest", payload).question
    assert asked is not None
    printed = ADAPTER.hook_answer("PermissionRequest", payload, asked, answer)
    return json.loads(printed)["hookSpecificOutput"]["decision"] if printed else None


@pytest.mark.parametrize(
    ("event", "payload", "told"),
    [
        ("SessionStart", {"source": "startup"}, ("session_started", "")),
        ("SessionStart", {"source": "compact"}, ("compacted", "")),
        ("UserPromptSubmit", {"prompt": "fix it"}, ("prompted", "fix it")),
        ("UserPromptSubmit", {"prompt": "<task-notification>done"}, ("prompted", "")),
        ("Stop", {"last_assistant_message": "Done."}, ("turn_ended", "Done.")),
        (
            "StopFailure",
            {"error": "unknown", "last_assistant_message": "API Error: 400"},
            ("turn_failed", "API Error: 400"),
        ),
        ("Notification", {"notification_type": "idle_prompt", "message": "waits"}, ("idle", "waits")),
        ("Notification", {"notification_type": "permission_prompt", "message": "x"}, ("other", "x")),
        ("PreCompact", {"trigger": "manual"}, ("compacting", "")),
        ("SessionEnd", {"reason": "clear"}, ("session_ended", "")),
        ("PostToolUse", {"tool_name": "AskUserQuestion"}, ("answered", "")),
        ("Unheard", {"prompt": "x"}, ("other", "")),
        ("Stop", {"background_tasks": 5, "last_assistant_message": None}, ("turn_ended", "")),
        ("PermissionRequest", {"tool_input": [], "tool_name": 7}, ("asked", "")),
    ],
)
def test_what_happened(event: str, payload: dict[str, Any], told: tuple[str, str]) -> None:
    happening = ADAPTER.read_hook(event, {**BASE, **payload})
    assert (happening.kind, happening.text) == told
    assert (happening.transcript_id, happening.cwd) == ("4e4e", "/p")


def test_agents_that_still_run() -> None:
    payload = {"background_tasks": [{"id": "a", "status": "running"}, {"id": "b", "status": "completed"}]}
    assert ADAPTER.read_hook("Stop", payload).background == 1


def test_a_question_has_the_cli_s_own_row_for_words_unless_it_has_previews() -> None:
    happening = ADAPTER.read_hook("PreToolUse", {**asks(DATABASE), "tool_use_id": "toolu_1"})
    assert happening.call_id == "toolu_1"
    assert happening.question == Question(
        "choice",
        "Which database?",
        options=(
            Option("PostgreSQL", "Robust", 1, takes_notes=True),
            Option("SQLite", "Small", 2, takes_notes=True),
            Option("Type something", number=3, is_free_text=True),
        ),
        header="Database",
    )
    layout = ADAPTER.read_hook("PreToolUse", asks(LAYOUT)).question
    assert layout is not None
    assert layout.free_text is None
    several = ADAPTER.read_hook("PreToolUse", asks(DATABASE, FEATURES)).question
    assert several is not None
    assert [part.kind for part in several.parts] == ["choice", "multi_choice"]


def test_a_permission_names_its_tool_and_what_it_would_do() -> None:
    question = ADAPTER.read_hook("PermissionRequest", {**BASE, **BASH}).question
    assert question is not None
    assert (question.kind, question.tool, question.detail) == ("permission", "Bash", "touch x && ls")


@pytest.mark.parametrize(
    ("payload", "answer", "answers"),
    [
        (asks(DATABASE), Answer((2,)), {"Which database?": "SQLite"}),
        (asks(DATABASE), Answer((), "a small one"), {"Which database?": "a small one"}),
        (asks(FEATURES), Answer((1, 2)), {"Which features?": "Logging, Metrics"}),
        (asks(FEATURES), Answer((1,), "Alerts"), {"Which features?": "Logging, Alerts"}),
        (
            asks(DATABASE, FEATURES),
            Answer(parts=(Answer((1,)), Answer((2,)))),
            {"Which database?": "PostgreSQL", "Which features?": "Metrics"},
        ),
        (asks(LAYOUT), Answer((1,)), {"Layout?": "Left"}),
    ],
)
def test_questions_are_answered_in_words(
    payload: dict[str, Any], answer: Answer, answers: dict[str, str]
) -> None:
    given = decision(payload, answer)
    assert given == {"behavior": "allow", "updatedInput": {**payload["tool_input"], "answers": answers}}


def test_words_beside_an_option_are_notes() -> None:
    given = decision(asks(DATABASE), Answer((2,), "it is small"))
    answers, notes = {"Which database?": "SQLite"}, {"Which database?": {"notes": "it is small"}}
    told = {**asks(DATABASE)["tool_input"], "answers": answers, "annotations": notes}
    assert given == {"behavior": "allow", "updatedInput": told}


@pytest.mark.parametrize(
    ("payload", "answer"),
    [
        (asks(DATABASE), Answer((3,))),  # the row for words, without words
        (asks(DATABASE), Answer((9,))),
        (asks(DATABASE), Answer()),
        (asks(DATABASE, FEATURES), Answer((1,))),
        (asks(LAYOUT), Answer((), "words")),
        (asks(), Answer((1,))),
        ({**BASE, "tool_name": "ExitPlanMode", "tool_input": {"plan": "p"}}, Answer((1,))),
        ({**BASE, **BASH}, Answer((1,), "then list it")),
        ({**BASE, **BASH}, Answer((3,))),
        ({**BASE, **BASH}, Answer()),
    ],
)
def test_what_can_only_be_typed(payload: dict[str, Any], answer: Answer) -> None:
    assert decision(payload, answer) is None


def test_permissions_once_and_no_but_nothing_that_lasts() -> None:
    payload = {**BASE, **BASH}
    shown = Question(
        "permission",
        "?",
        options=(Option("Yes"), Option("Yes, and don't ask again", is_lasting=True), Option("No")),
    )
    assert decision(payload, Answer((1,)), shown) == {"behavior": "allow"}
    assert decision(payload, Answer((2,)), shown) is None
    refused = decision(payload, Answer((3,)), shown)
    assert refused["behavior"] == "deny"
    assert "interrupt" not in refused  # printed late, it would stop a turn that a person let go on
    assert decision(payload, Answer((3,), "use pytest"), shown) == {
        "behavior": "deny",
        "message": "use pytest",
    }
    assert decision(payload, Answer((), "use pytest"), shown) == {"behavior": "deny", "message": "use pytest"}
    assert ADAPTER.hook_answer("PreToolUse", payload, shown, Answer((1,))) is None


def test_settings_run_the_commands_that_are_given() -> None:
    settings: Any = ADAPTER.hook_settings(
        {"Stop": "s", "PermissionRequest": "p", "PreToolUse": "q", "Other": "o"}
    )
    assert set(settings["hooks"]) == {"Stop", "PermissionRequest", "PreToolUse"}
    assert settings["hooks"]["Stop"] == [{"hooks": [{"type": "command", "command": "s"}]}]
    assert settings["hooks"]["PreToolUse"][0]["matcher"] == "AskUserQuestion|ExitPlanMode"
    [waiting] = settings["hooks"]["PermissionRequest"][0]["hooks"]
    assert waiting["timeout"] > 24 * 3600
    assert waiting["timeout"] * 1000 < 2**31  # the CLI's timers cannot count further


def test_it_has_hooks_for_one_session() -> None:
    assert isinstance(ADAPTER, Hooked)
    assert not ADAPTER.no_session_hooks
