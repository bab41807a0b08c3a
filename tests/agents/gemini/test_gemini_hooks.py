"""Gemini CLI: what its hooks tell."""

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from maestro.agents.gemini import ADAPTER
from maestro.agents.hooks import Hooked
from maestro.agents.questions import Answer, Question

PAYLOADS = json.loads((Path(__file__).parent / "hook_payloads_0.61.0.json").read_text())


def test_it_is_hooked_but_not_for_one_session() -> None:
    assert isinstance(ADAPTER, Hooked)
    assert "root" in ADAPTER.no_session_hooks
    assert not any(event.waits for event in ADAPTER.hook_events)


def test_settings_are_its_own() -> None:
    assert ADAPTER.hook_settings({"BeforeTool": "tell", "Unknown": "x"}) == {
        "hooks": {
            "BeforeTool": [
                {
                    "matcher": "ask_user",
                    "hooks": [{"name": "maestro-BeforeTool", "type": "command", "command": "tell"}],
                }
            ]
        }
    }


def test_recorded_payloads_are_understood() -> None:
    told = {name: ADAPTER.read_hook(name.partition(":")[0], payload) for name, payload in PAYLOADS.items()}
    assert {name: happening.kind for name, happening in told.items()} == {
        "SessionStart": "session_started",
        "BeforeAgent": "prompted",
        "BeforeTool:run_shell_command": "other",
        "AfterTool:run_shell_command": "other",
        "AfterAgent": "turn_ended",
        "SessionEnd": "session_ended",
        "Notification:ToolPermission": "asked",
        "BeforeTool:ask_user": "asked",
        "AfterTool:ask_user": "answered",
    }
    assert told["BeforeAgent"].text == "run the greeting"
    assert told["BeforeAgent"].transcript_id == "4fa5c861-78c1-4a96-a227-39cc334a30ab"


def test_a_turn_without_words_has_none() -> None:
    assert ADAPTER.read_hook("AfterAgent", {"prompt_response": "[no response text]"}).text == ""


def test_a_confirmation_leaves_its_options_to_the_screen() -> None:
    question = ADAPTER.read_hook("Notification", PAYLOADS["Notification:ToolPermission"]).question
    assert question is not None
    assert (question.kind, question.detail, question.options) == ("permission", "touch made.txt", ())


def test_the_notice_of_a_question_is_not_asked_twice() -> None:
    notice = {"notification_type": "ToolPermission", "details": {"type": "ask_user", "title": "Ask User"}}
    assert ADAPTER.read_hook("Notification", notice).kind == "other"


def test_questions_have_the_screens_numbers() -> None:
    asked = {
        "tool_name": "ask_user",
        "tool_input": {
            "questions": [
                {
                    "question": "Which?",
                    "header": "W",
                    "type": "choice",
                    "multiSelect": True,
                    "options": [{"label": "A", "description": "a"}, {"label": "B", "description": "b"}],
                },
                {"question": "Name?", "header": "N", "type": "text"},
                {"question": "Go?", "header": "G", "type": "yesno"},
            ]
        },
    }
    question = ADAPTER.read_hook("BeforeTool", asked).question
    assert question is not None
    assert [part.kind for part in question.parts] == ["multi_choice", "free_text", "choice"]
    assert [[option.label for option in part.options] for part in question.parts] == [
        ["A", "B", "All of the above", "Enter a custom value"],
        [],
        ["Yes", "No", "Enter a custom value"],
    ]
    numbers = [option.number for option in question.parts[0].options]
    assert numbers == [1, 2, 3, 4]


def test_no_hook_answers() -> None:
    assert ADAPTER.hook_answer("Notification", {}, Question("permission", ""), Answer(choices=(1,))) is None


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(
    event=st.sampled_from([event.name for event in ADAPTER.hook_events]),
    payload=st.fixed_dictionaries(
        {}, optional={"tool_name": json_values, "tool_input": json_values, "details": json_values}
    ),
)
def test_any_payload_is_read_without_an_error(event: str, payload: dict[str, object]) -> None:
    ADAPTER.read_hook(event, payload)
