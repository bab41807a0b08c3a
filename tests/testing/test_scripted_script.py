"""Scripts: what is accepted, and how a fault is named."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maestro.errors import InvalidInput
from maestro.testing.scripted_agent import steps
from maestro.testing.scripted_agent.script import fill, parse_script


def parse(*items: Any, **rest: Any) -> steps.Script:
    return parse_script(json.dumps({"steps": items, **rest}), {"task"})


def test_every_kind_of_step_is_read() -> None:
    script = parse(
        {"say": "hello ${task}"},
        {"think": "hm"},
        {
            "tool": {
                "name": "Read",
                "input": {"file_path": "a"},
                "result": "x",
                "seconds": 2,
                "is_error": True,
            }
        },
        {"work": 1.5},
        {"run": ["echo", ""]},
        {"ask": {"question": "Which?", "options": ["A", {"label": "B", "description": "b"}]}},
        {"permission": {"command": "rm x", "answers": {"no": [{"say": "pity"}]}}},
        {"api_error": {}},
        {"limit": {"text": "out", "resets": "3pm"}},
        {"wait": True},
        {"silent": {"calls": 3}},
        {"usage": {"input_tokens": 7}},
        {"exit": 3},
        name="all",
        on_prompt=[{"say": "${prompt}"}],
    )
    assert script.name == "all"
    assert script.steps == (
        steps.Say("hello ${task}"),
        steps.Think("hm"),
        steps.Tool("Read", {"file_path": "a"}, "x", 2.0, is_error=True),
        steps.Work(1.5),
        steps.Run(("echo", "")),
        steps.Ask("Which?", "Question", (steps.Option("A"), steps.Option("B", "b")), multi=False, answers={}),
        steps.Permission("rm x", "", "", 0.0, {"no": (steps.Say("pity"),)}),
        steps.ApiError(500, "scripted error", 0.0),
        steps.Limit("out", "3pm"),
        steps.Wait(),
        steps.Silent(3, 0.0, "Read"),
        steps.SetUsage(steps.Usage(7, 0, 0, 0)),
        steps.Exit(3),
    )
    assert script.on_prompt == (steps.Say("${prompt}"),)


ONE_OPTION = {"question": "Which?", "options": ["A"]}


@pytest.mark.parametrize(
    ("step", "fault"),
    [
        ("say", "steps[1] must be an object with one key"),
        ({}, "steps[1] must be an object with one key"),
        ({"say": "a", "work": 1}, "steps[1] must be an object with one key"),
        ({"sing": "la"}, "steps[1].sing is not a kind of step"),
        ({"say": ""}, "steps[1].say must be a non-empty string"),
        ({"say": None}, "steps[1].say must be a non-empty string"),
        ({"say": "${nobody}"}, "steps[1].say uses ${nobody}"),
        ({"tool": {}}, "steps[1].tool.name is missing"),
        ({"tool": {"name": "Read", "input": []}}, "steps[1].tool.input must be a JSON object"),
        ({"tool": {"name": "Read", "reslt": ""}}, "steps[1].tool.reslt is not a known field"),
        ({"tool": {"name": "Read", "is_error": 1}}, "steps[1].tool.is_error must be true or false"),
        ({"work": -1}, "steps[1].work must be a number of seconds"),
        ({"work": True}, "steps[1].work must be a number of seconds"),
        ({"work": 10**400}, "steps[1].work must be a number of seconds"),
        ({"run": []}, "steps[1].run must name a command"),
        ({"run": "ls"}, "steps[1].run must be a list"),
        ({"run": ["ls", 1]}, "steps[1].run[1] must be a string"),
        ({"run": ["ls", "\0"]}, "steps[1].run[1] holds a NUL"),
        ({"run": ["ls", "${nobody}"]}, "steps[1].run[1] uses ${nobody}"),
        ({"ask": {"question": "Which?", "options": []}}, "steps[1].ask.options must hold 1 to 7 options"),
        (
            {"ask": {"question": "Which?", "options": ["A", "A"]}},
            "steps[1].ask.options holds the same label twice",
        ),
        ({"ask": {"question": "Which?", "options": [{}]}}, "steps[1].ask.options[0].label is missing"),
        ({"ask": {**ONE_OPTION, "answers": {"Z": []}}}, "steps[1].ask.answers.Z is no option"),
        (
            {"ask": {**ONE_OPTION, "answers": {"A": [{"say": "ok"}, {"exit": 256}]}}},
            "steps[1].ask.answers.A[1].exit must be a whole number from 0 to 255",
        ),
        (
            {"ask": {**ONE_OPTION, "answers": {"*": [{"say": "${nobody}"}]}}},
            'steps[1].ask.answers["*"][0].say uses ${nobody}',
        ),
        ({"permission": {"command": "x", "answers": {"Yes": []}}}, "steps[1].permission.answers.Yes must be"),
        ({"api_error": {"status": 200}}, "steps[1].api_error.status must be a whole number from 400"),
        ({"wait": 1}, "steps[1].wait must be true"),
        ({"silent": {"calls": 0}}, "steps[1].silent.calls must be a whole number from 1"),
        ({"usage": {"tokens": 1}}, "steps[1].usage.tokens is not a known field"),
    ],
)
def test_a_fault_is_named_by_its_place(step: Any, fault: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        parse({"say": "fine"}, step)
    assert raised.value.message.startswith(fault)
    assert raised.value.message.endswith(".")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "it is not JSON"),
        ("[]", "the script must be a JSON object"),
        ("{}", "steps is missing"),
        ('{"steps": {}}', "steps must be a list"),
        ('{"steps": [], "on_prompt": [{"say": 1}]}', "on_prompt[0].say must be"),
        ('{"steps": [], "stpes": []}', "stpes is not a known field"),
        ('{"steps": [{"work": NaN}]}', "it is not JSON: NaN"),
        ("[" * 100_000, "its steps are nested too deeply"),
    ],
)
def test_a_fault_of_the_whole_is_named(text: str, fault: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        parse_script(text)
    assert raised.value.message.startswith(fault)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
KINDS = ("say", "tool", "work", "run", "ask", "permission", "wait", "silent", "usage", "exit", "limit")


@given(st.lists(st.dictionaries(st.sampled_from(KINDS), JSON, min_size=1, max_size=1)))
def test_any_json_is_a_script_or_a_clear_refusal(items: list[Any]) -> None:
    try:
        script = parse(*items)
    except InvalidInput as refusal:
        fault = refusal.message
    else:
        assert len(script.steps) == len(items)
        return
    assert fault.startswith("steps[")


@given(st.text())
def test_any_text_is_a_script_or_a_clear_refusal(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_script(text)


def test_places_are_filled_once() -> None:
    assert fill("${a} ${b} $a ${c}", {"a": "${b}", "b": "2"}) == "${b} 2 $a ${c}"


def test_the_steps_of_the_imitated_clis_are_read() -> None:
    first = {"question": "Which?", "header": "One", "options": [{"label": "A", "preview": "x"}, "B"]}
    second = {"question": "How?", "header": "Two", "options": ["C"], "multi": True}
    script = parse(
        {"ask": {"questions": [first, second], "answers": {"A; C": [{"say": "both"}]}}},
        {"permission": {"command": "x", "file": "a.py", "options": ["Yes", "No"], "answers": {"Yes": []}}},
        {"plan": {"plan": "1. Do", "answers": {"yes": [{"say": "go"}]}}},
        {"background": {"description": "Count", "seconds": 2, "result": "1"}},
        {"dialog": "trust"},
        imitate="claude",
        notify_after=1,
        idle_after=2,
    )
    options = (steps.Option("A", "", "x"), steps.Option("B"))
    asks = (
        steps.Ask("Which?", "One", options, multi=False, answers={}),
        steps.Ask("How?", "Two", (steps.Option("C"),), multi=True, answers={}),
    )
    assert script.steps == (
        steps.AskSeveral(asks, {"A; C": (steps.Say("both"),)}),
        steps.Permission("x", "", "", 0.0, {"Yes": ()}, (steps.Option("Yes"), steps.Option("No")), "a.py"),
        steps.Plan("1. Do", {"yes": (steps.Say("go"),)}),
        steps.Background("Count", 2.0, "1"),
        steps.OwnDialog("trust"),
    )
    assert (script.imitate, script.notify_after, script.idle_after) == ("claude", 1.0, 2.0)


MULTI = {"ask": {"question": "Which?", "options": ["A"], "multi": True}}
PREVIEW = {"ask": {"question": "Which?", "options": [{"label": "A", "preview": "x"}]}}
WORDS = {"ask": {"question": "Which?", "free_text": True}}


@pytest.mark.parametrize(
    ("imitate", "step", "message"),
    [
        ("codex", MULTI, "Codex has no question with several answers."),
        ("codex", {"plan": {"answers": {"*": [MULTI]}}}, "Codex has no question with several answers."),
        ("gemini", PREVIEW, "Gemini CLI has no options with a preview."),
        ("claude", WORDS, "Claude Code has no question without options."),
        ("codex", {"background": {}}, "Codex has no background agents."),
        ("gemini", {"dialog": "hooks"}, "Gemini CLI has no dialog of the kind hooks."),
        ("claude", {"dialog": "sign-in"}, "steps[0].dialog must be trust, bypass, key or hooks."),
        ("claude", {"plan": {"answers": {"A": []}}}, "steps[0].plan.answers.A must be yes, no or *."),
        (
            "claude",
            {"ask": {"questions": [ONE_OPTION]}},
            "steps[0].ask.questions must hold 2 to 4 questions.",
        ),
        ("opencode", {"wait": True}, "imitate must be claude, codex or gemini."),
    ],
)
def test_what_a_cli_does_not_have_is_refused(imitate: str, step: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse(step, imitate=imitate)
    assert refused.value.message == message


def test_an_option_overrules_the_scripts_imitation() -> None:
    text = json.dumps({"steps": [], "imitate": "codex"})
    assert parse_script(text, imitate="gemini").imitate == "gemini"
    with pytest.raises(InvalidInput):
        parse_script(text, imitate="other")
