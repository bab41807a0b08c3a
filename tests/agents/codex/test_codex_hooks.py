"""Codex CLI: what its hooks tell, and the words that give them to one session."""

import json
import tomllib
from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from maestro.agents.codex import ADAPTER
from maestro.agents.codex.hooks import session_flags
from maestro.agents.hooks import Hooked
from maestro.agents.launch import LaunchRequest
from maestro.agents.questions import Answer, Question

COMMAND = "/opt/maestro/hook.py UserPromptSubmit /opt/maestro/told"
PAYLOADS = json.loads((Path(__file__).parent / "hook_payloads_0.166.0.json").read_text())


def test_it_is_hooked() -> None:
    assert isinstance(ADAPTER, Hooked)
    assert ADAPTER.no_session_hooks == ""
    assert not any(event.waits for event in ADAPTER.hook_events)


def test_only_named_events_get_a_command() -> None:
    assert ADAPTER.hook_settings({"Stop": "tell", "Unknown": "x"}) == {
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "tell", "timeout": 30}]}]}
    }


def test_no_hook_sits_on_ordinary_calls() -> None:
    settings = ADAPTER.hook_settings({"PreToolUse": "tell"})
    assert settings == {
        "hooks": {
            "PreToolUse": [
                {
                    "matcher": "request_user_input",
                    "hooks": [{"type": "command", "command": "tell", "timeout": 30}],
                }
            ]
        }
    }


def test_the_digest_is_the_one_that_codex_writes_when_a_person_trusts_the_hook() -> None:
    """Recorded: Codex 0.166.0 wrote it into its config for a hook that was given by --config."""
    recorded = json.loads((Path(__file__).parent / "trusted_hook_0.166.0.json").read_text())
    flags = session_flags({"hooks": recorded["hooks"]})
    config = tomllib.loads("\n".join(flags[1::2]))
    assert config["hooks"]["state"] == recorded["state"]


def test_hooks_and_their_trust_are_on_the_command_line() -> None:
    settings = ADAPTER.hook_settings(
        {event.name: f"tell 'ü' \"{event.name}\"" for event in ADAPTER.hook_events}
    )
    request = LaunchRequest(
        session_id="ses_1",
        transcript_id="",
        cwd="/p",
        folder="/f",
        env={},
        settings=settings,
        first_prompt="Go.",
    )
    argv = ADAPTER.launch(request).argv
    given = [word for flag, word in pairwise(argv) if flag == "--config"]
    config = tomllib.loads("\n".join(given))
    state = config["hooks"].pop("state")
    assert config["hooks"] == settings["hooks"]
    assert len(state) == len(ADAPTER.hook_events)
    assert all(key.startswith("/<session-flags>/config.toml:") for key in state)
    assert argv[-2:] == ("--", "Go.")
    assert not any("bypass" in word for word in argv)


def test_without_hooks_the_command_line_has_none() -> None:
    assert session_flags({}) == []


def test_recorded_payloads_are_understood() -> None:
    told = {name: ADAPTER.read_hook(name.partition(":")[0], payload) for name, payload in PAYLOADS.items()}
    assert {name: happening.kind for name, happening in told.items()} == {
        "SessionStart": "session_started",
        "UserPromptSubmit": "prompted",
        "PreToolUse:Bash": "other",
        "Stop": "turn_ended",
        "SessionEnd": "session_ended",
        "PermissionRequest:Bash": "asked",
        "PreToolUse:request_user_input": "asked",
        "PostToolUse:request_user_input": "answered",
    }
    assert told["UserPromptSubmit"].text == "run with hooks bypass"
    assert told["Stop"].text == "Done: it printed hi-from-codex."
    assert told["Stop"].transcript_id == "01a1e096-8134-7260-afbf-0b3e3a1c46f2"
    assert told["Stop"].cwd == "/home/dev/ws/cxproj"


def test_a_question_has_its_own_words_and_the_screens_numbers() -> None:
    happening = ADAPTER.read_hook("PreToolUse", PAYLOADS["PreToolUse:request_user_input"])
    question = happening.question
    assert question is not None
    assert (question.kind, question.text, question.header) == (
        "choice",
        "Which database should we use?",
        "Database",
    )
    assert [(option.label, option.number, option.is_free_text) for option in question.options] == [
        ("PostgreSQL (Recommended)", 1, False),
        ("SQLite", 2, False),
        ("None of the above", 3, True),
    ]
    assert happening.call_id


def test_a_permission_leaves_its_options_to_the_screen() -> None:
    question = ADAPTER.read_hook("PermissionRequest", PAYLOADS["PermissionRequest:Bash"]).question
    assert question is not None
    assert (question.kind, question.tool, question.options) == ("permission", "Bash", ())
    assert question.detail == "touch /home/dev/ws/cxproj/made.txt && ls"


def test_no_hook_answers() -> None:
    answer = ADAPTER.hook_answer("PermissionRequest", {}, Question("permission", ""), Answer(choices=(1,)))
    assert answer is None


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(
    event=st.sampled_from([event.name for event in ADAPTER.hook_events]),
    payload=st.fixed_dictionaries(
        {}, optional={"tool_name": json_values, "tool_input": json_values, "prompt": json_values}
    ),
)
def test_any_payload_is_read_without_an_error(event: str, payload: dict[str, object]) -> None:
    ADAPTER.read_hook(event, payload)
