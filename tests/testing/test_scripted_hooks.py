"""The scripted agent runs hooks as Claude Code does, beside its dialogs too."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from tests.patience import until
from tests.testing.stage import BOX, Home, Pane

from maestro.errors import InvalidInput
from maestro.testing.scripted_agent.dialog import Answer, Choice, Consent, PlanApproval, Several
from maestro.testing.scripted_agent.hooks import HookCommand, hook_answer, injected, parse_settings
from maestro.testing.scripted_agent.steps import Option

ONE = Choice("Which?", "Colour", (Option("Red"), Option("Green")))
SIZE = Choice("How big?", "Size", (Option("Small"), Option("Large")))
EVENTS = (
    "SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "Stop", "StopFailure",
    "Notification", "SessionEnd",
)  # fmt: skip


def decision(**fields: Any) -> str:
    return json.dumps({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": fields}})


def answers(**given: str) -> str:
    labels = {"Which?": given["which"]} | ({"How big?": given["size"]} if "size" in given else {})
    return decision(behavior="allow", updatedInput={"questions": [], "answers": labels})


@pytest.mark.parametrize(
    ("asked", "output", "answer"),
    [
        (ONE, answers(which="Green"), Answer(("Green",))),
        (ONE, answers(which="my own"), Answer(("my own",))),
        (Several((ONE, SIZE)), answers(which="Red", size="Large"), Answer(parts=(("Red",), ("Large",)))),
        (Several((ONE, SIZE)), answers(which="Red"), None),
        (Consent("ls", ""), decision(behavior="allow"), Answer(("yes",))),
        (Consent("ls", ""), decision(behavior="deny"), Answer(("no",))),
        (Consent("ls", ""), decision(behavior="deny", interrupt=True), Answer(("no",), ends_turn=True)),
        (PlanApproval("x"), decision(behavior="allow"), Answer(("yes",))),
        (ONE, decision(behavior="deny"), Answer()),
        (ONE, decision(behavior="allow"), None),
        (ONE, "", None),
        (ONE, "[1]", None),
        (ONE, '{"hookSpecificOutput": {"decision": "allow"}}', None),
    ],
)
def test_what_a_hook_prints_answers_the_question(asked: Any, output: str, answer: Answer | None) -> None:
    assert hook_answer(asked, output) == answer


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (json.dumps({"hookSpecificOutput": {"additionalContext": "how it is"}}), "how it is"),
        ("plain words\n", "plain words"),
        ("", ""),
        ("{}", ""),
        ("[1]", ""),
        ('{"hookSpecificOutput": {"additionalContext": 3}}', ""),
    ],
)
def test_what_a_hook_prints_is_put_before_the_model(output: str, text: str) -> None:
    assert injected(output) == text


def test_matchers_choose_the_commands() -> None:
    def group(command: str, **more: Any) -> dict[str, Any]:
        return {"hooks": [{"type": "command", "command": command}], **more}

    written = {
        "PreToolUse": [group("a", matcher="Bash|Write"), group("b", matcher="*"), group("c")],
        "Stop": [{"hooks": [{"type": "command", "command": "d", "timeout": 5}]}],
    }
    settings = parse_settings(json.dumps({"hooks": written, "model": "x"}))
    assert [one.command for one in settings.commands("PreToolUse", "Write")] == ["a", "b", "c"]
    assert [one.command for one in settings.commands("PreToolUse", "Read")] == ["b", "c"]
    assert settings.commands("Stop", "") == (HookCommand("d", 5.0),)
    assert settings.events == {"PreToolUse", "Stop"}


@pytest.mark.parametrize("text", ["{", "[]", '{"hooks": {"Stop": 3}}', '{"hooks": {"Stop": [{}]}}'])
def test_settings_in_another_form_are_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_settings(text)


class Recorder:
    """Settings whose hooks write down what they are told; that of PermissionRequest may do more."""

    def __init__(self, folder: Path, asked: str = "") -> None:
        self._log = folder / "events.jsonl"
        self.settings = folder / "settings.json"
        self.go = folder / "go"
        write = f"{{ cat; echo; }} >> {shlex.quote(str(self._log))}"
        hooks = {
            event: [{"hooks": [{"type": "command", "command": write}], "matcher": "*"}] for event in EVENTS
        }
        if asked:
            command = f"{write}; {asked}"
            hooks["PermissionRequest"] = [{"hooks": [{"type": "command", "command": command}]}]
        self.settings.write_text(json.dumps({"hooks": hooks}), encoding="utf-8")

    def events(self) -> list[dict[str, Any]]:
        if not self._log.exists():
            return []
        return [
            json.loads(line) for line in self._log.read_text(encoding="utf-8").splitlines() if line.strip()
        ]

    def names(self) -> list[str]:
        return [event["hook_event_name"] for event in self.events()]

    def one(self, name: str) -> dict[str, Any]:
        return next(event for event in self.events() if event["hook_event_name"] == name)


ASK = {"ask": {"question": "Which?", "header": "Colour", "options": ["Red", "Green"]}}


def test_a_turn_tells_its_events_in_order(home: Home, pane: Pane, tmp_path: Path) -> None:
    recorder = Recorder(tmp_path)
    script = home.script({"tool": {"name": "Read", "input": {"file_path": "a"}}}, ASK, {"say": "Bye."})
    pane.start(script, "--settings", str(recorder.settings), "--prompt", "go")
    pane.see("Enter to select")
    until(lambda: "PermissionRequest" in recorder.names())
    pane.keys("2")
    pane.see("● Bye.", BOX)
    pane.type("/exit")
    pane.keys("Enter")
    assert pane.ended() == 0
    names = [name for name in recorder.names() if name != "Notification"]
    assert names == [
        "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PreToolUse", "PermissionRequest",
        "PostToolUse", "Stop", "SessionEnd",
    ]  # fmt: skip
    path = str(home.transcripts()[0])
    for event in recorder.events():
        assert event["transcript_path"] == path
        assert event["session_id"] in path
        assert event["cwd"] == str(home.project)
    assert recorder.one("SessionStart")["source"] == "startup"
    assert recorder.one("UserPromptSubmit")["prompt"] == "go"
    asked = recorder.one("PermissionRequest")
    assert asked["tool_name"] == "AskUserQuestion"
    (question,) = asked["tool_input"]["questions"]
    assert (question["question"], question["multiSelect"]) == ("Which?", False)
    assert [option["label"] for option in question["options"]] == ["Red", "Green"]
    answered = [event for event in recorder.events() if event["hook_event_name"] == "PostToolUse"][-1]
    assert answered["tool_response"]["answers"] == {"Which?": "Green"}
    assert recorder.one("Stop")["last_assistant_message"] == "Bye."


def test_a_failed_turn_and_a_stopped_one_tell_as_the_real_one_does(
    home: Home, pane: Pane, tmp_path: Path
) -> None:
    recorder = Recorder(tmp_path)
    permission = {"permission": {"command": "rm x"}}
    script = home.script({"api_error": {"status": 400, "text": "bad"}}, {"wait": True}, permission)
    pane.start(script, "--settings", str(recorder.settings))
    pane.see("API Error: 400 bad", BOX)
    until(lambda: "StopFailure" in recorder.names())
    assert recorder.one("StopFailure")["last_assistant_message"] == "API Error: 400 bad"
    pane.type("go on")
    pane.keys("Enter")
    pane.see("Tab to amend")
    pane.keys("3")
    pane.see("User rejected", BOX)
    pane.type("/exit")
    pane.keys("Enter")
    assert pane.ended() == 0
    assert "Stop" not in recorder.names()
    assert recorder.names()[-1] == "SessionEnd"


def test_a_hook_answers_the_dialog_on_the_screen(home: Home, pane: Pane, tmp_path: Path) -> None:
    reply = answers(which="Green")
    waits = f"until test -e {shlex.quote(str(tmp_path))}/go; do sleep 0.02; done; printf '%s' '{reply}'"
    recorder = Recorder(tmp_path, waits)
    pane.start(home.script(ASK, {"say": "So ${answer}."}), "--settings", str(recorder.settings))
    pane.see("Enter to select", "1. Red")
    recorder.go.touch()
    pane.see("Which? → Green", "Allowed by PermissionRequest hook", "● So Green.", BOX)


def test_a_person_who_answers_first_ends_the_hook(home: Home, pane: Pane, tmp_path: Path) -> None:
    reply = answers(which="Green")
    waits = f"cd {shlex.quote(str(tmp_path))}; echo $$ > pid; until test -e go; do sleep 0.02; done; printf '%s' '{reply}'"
    recorder = Recorder(tmp_path, f"{waits}; touch finished")
    pane.start(home.script(ASK, {"say": "So ${answer}."}), "--settings", str(recorder.settings))
    pane.see("Enter to select")
    pid = until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
    assert isinstance(pid, str)
    pane.keys("1")
    pane.see("Which? → Red", "● So Red.", BOX)
    until(lambda: not Path(f"/proc/{pid.strip()}").exists())
    assert not (tmp_path / "finished").exists()


def test_an_open_question_and_idling_are_notified_after_a_while(
    home: Home, pane: Pane, tmp_path: Path
) -> None:
    recorder = Recorder(tmp_path)
    script = home.script(ASK, notify_after=0.1, idle_after=0.1)
    pane.start(script, "--settings", str(recorder.settings))
    pane.see("Enter to select")

    def kinds() -> list[str]:
        return [e["notification_type"] for e in recorder.events() if e["hook_event_name"] == "Notification"]

    until(lambda: kinds() == ["permission_prompt"])
    pane.keys("1")
    pane.see(BOX)
    until(lambda: kinds() == ["permission_prompt", "idle_prompt"])
