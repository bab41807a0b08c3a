"""How the faults of coordinate.config.json are told: all of them, each with its place."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.coordinate.policy_values import OTHER_VALUES, WHERE, said

from maestro.coordinate import Policy
from maestro.coordinate.policy.config import DEFAULT, as_json, parse_policy
from maestro.errors import InvalidInput


def fault(text: bytes | str) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        parse_policy(text, WHERE)
    assert "Nothing of this policy is used" in caught.value.hint
    return caught.value


def only_fault(path: str, value: Any) -> str:
    """The one fault of a policy that says this, without where it is in the text."""
    error = fault(json.dumps(said(path, value)))
    assert error.context == {"faults": 1}
    place, _, words = error.message.partition(": ")
    assert place.startswith(f"{WHERE}:1:")
    return words


def test_an_editors_schema_line_is_no_fault() -> None:
    assert parse_policy('{"$schema": "./policy.schema.json"}', WHERE) == DEFAULT
    assert only_fault("$schema", 3) == "`$schema` is text in quotation marks, not “3”."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", f"{WHERE}:1:1: the file is empty; a policy is at least {{}}."),
        (" \n\n", f"{WHERE}:1:1: the file is empty; a policy is at least {{}}."),
        ("[]", f"{WHERE}:1:1: a policy is an object in {{ }}, not a list."),
        ("null", f"{WHERE}:1:1: a policy is an object in {{ }}, not null."),
        (
            '{\n  "alwaysLog": []\n  "rules": []\n}',
            f"{WHERE}:3:3: this is not JSON: no comma and no }} where one must be.",
        ),
        (
            '{"alwaysLog": [],}',
            f"{WHERE}:1:18: this is not JSON: no name in quotation marks where one must be.",
        ),
        (
            '{\n"confidenceThreshold": NaN}',
            f"{WHERE}:2:24: this is not JSON: no value where one must be.",
        ),
        ('{"a": 1} {', f"{WHERE}:1:10: this is not JSON: something after the end."),
        ('// no\n{"a": 1}', f"{WHERE}:1:1: this is not JSON: no value where one must be."),
        ('\ufeff{"a" 1}', f"{WHERE}:1:6: this is not JSON: no colon after a name."),
        (b'{\n"alwaysLog": ["\xff"]}', f"{WHERE}:2: this is not UTF-8."),
        ("[" * 5000, f"{WHERE}:1:101: this is not JSON: too many brackets within each other."),
    ],
)
def test_what_is_not_json_is_told_with_line_and_column(text: str | bytes, message: str) -> None:
    assert fault(text).message == message


def test_a_fault_of_a_field_is_told_with_its_path_and_its_line() -> None:
    text = '{\n  "timeouts": {\n    "idleHeartbeatInterval": 3,\n    "waitTimeout": "long"\n  }\n}'
    assert fault(text).message == (
        f"{WHERE}:4:20: `timeouts.waitTimeout` is a whole number from 1 to 604800, not “long”."
    )


def test_every_fault_is_told_at_once_in_the_order_of_the_text() -> None:
    text = (
        '{\n"preset": "carefull",\n"rules": [\n{"pattern": "("}],\n"confidenceTreshold": 0.5,\n"brain": []}'
    )
    error = fault(text)
    assert error.context == {"faults": 5}
    assert error.message.split("\n") == [
        f"{WHERE}:2:11: `preset` is one of autonomous, cautious, custom, supervised, not “carefull”.",
        f"{WHERE}:4:1: `rules[0]` has no `answer`. Add one.",
        (
            f"{WHERE}:4:13: `rules[0].pattern` is no regular expression:"
            " missing ), unterminated subpattern at position 0."
        ),
        f"{WHERE}:5:1: `confidenceTreshold` is no field of a policy. Did you mean “confidenceThreshold”?",
        f"{WHERE}:6:10: `brain` is an object in {{ }}, not a list.",
    ]


def test_a_flood_of_faults_is_cut() -> None:
    error = fault(json.dumps({"alwaysLog": list(range(100))}))
    assert error.context == {"faults": 100}
    assert len(error.message.split("\n")) == 21
    assert error.message.endswith("\n… and 80 more.")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"alwaysLog": [],\n "alwaysLog": []}', ":2:2: `alwaysLog` is there twice. Remove one."),
        (
            '{"brain": {"model": "a", "model": "b"}}',
            ":1:26: `brain.model` is there twice. Remove one.",
        ),
        (
            '{"rules": [{"pattern": "a", "answer": "b", "answer": "c"}]}',
            ":1:44: `rules[0].answer` is there twice. Remove one.",
        ),
        (
            '{"categories": [{"name": "x"},\n{"name": "y"},\n{"name": "x"}]}',
            ":1:17: `categories` has two of the name “x”. Rename one.",
        ),
    ],
)
def test_what_is_said_twice_is_refused(text: str, words: str) -> None:
    assert fault(text).message == WHERE + words


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("preEscalation.probemessage", "Did you mean “probeMessage”?"),
        ("timeouts.waitTimout", "Did you mean “waitTimeout”?"),
        ("always_escalate", "Did you mean “alwaysEscalate”?"),
        ("xyz", "There are: preset, confidenceThreshold,"),
        ("logging.$schema", "There are: logAutonomousDecisions, logEscalations, logProbes, logRoutineSkips."),
    ],
)
def test_an_unknown_field_is_refused_with_the_nearest_one(path: str, words: str) -> None:
    said_ = only_fault(path, 1)
    assert said_.startswith(f"`{path}` is no field of a policy. ")
    assert words in said_


@pytest.mark.parametrize("path", OTHER_VALUES)
@pytest.mark.parametrize("wrong", [None, {"a": 1}, [[]], [None]])
def test_no_field_takes_a_value_of_another_type(path: str, wrong: Any) -> None:
    assert only_fault(path, wrong).startswith(f"`{path}")


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("confidenceThreshold", 1.01, "is a number from 0 to 1, not “1.01”."),
        ("confidenceThreshold", -0.1, "is a number from 0 to 1, not “-0.1”."),
        ("confidenceThreshold", True, "is a number from 0 to 1, not true."),
        ("confidenceThreshold", "0.5", "is a number from 0 to 1, not “0.5”."),
        ("timeouts.waitTimeout", -1, "is a whole number from 1 to 604800, not “-1”."),
        ("timeouts.waitTimeout", 0, "is a whole number from 1 to 604800, not “0”."),
        ("timeouts.waitTimeout", 1.5, "is a whole number from 1 to 604800, not “1.5”."),
        ("timeouts.consecutiveTimeoutLimit", -10, "is a whole number from 1 to 1000000, not “-10”."),
        ("timeouts.idleHeartbeatInterval", 0, "is a whole number from 1 to 1000000, not “0”."),
        ("brain.timeout", -120, "is a whole number from 1 to 3600, not “-120”."),
        ("brain.callsPerHour", -1, "is a whole number from 0 to 1000000, not “-1”."),
        ("brain.maxTokens", 0, "is a whole number from 1 to 1000000, not “0”."),
        ("precedents.expireDays", 0, "is a whole number from 1 to 36500, not “0”."),
        ("precedents.offerRuleAfter", 0, "is a whole number from 1 to 1000000, not “0”."),
        ("stuck.interveneAfter", 0, "is a whole number from 1 to 604800, not “0”."),
        ("stuck.mostHelps", -1, "is a whole number from 0 on, not “-1”."),
        ("budget.sessionTokens", -1, "is a whole number from 0 on, not “-1”."),
        ("budget.fleetCostUsd", -0.01, "is a number from 0 on, not “-0.01”."),
        ("strictness", "sur", "is one of all, sure, wary, not “sur”. Did you mean “sure”?"),
        ("brain.kind", "gpt", "is one of api, claude, codex, gemini, none, rules, not “gpt”."),
        ("stuck.onLimit", "wait", "is one of escalate, resume, not “wait”."),
        ("preEscalation.enabled", "yes", "is true or false, not “yes”."),
        ("preEscalation.enabled", 1, "is true or false, not “1”."),
        ("preEscalation.probeMessage", " ", "is empty. Say something, or leave it out."),
        ("alwaysEscalate", "git operations", "is a list in [ ], not “git operations”."),
        ("notify.webhook", "ftp://example.com", "is an address that begins with http:// or https://"),
        ("brain.baseUrl", "localhost:8000", "is an address that begins with http:// or https://"),
        ("brain.model", "\ud800", "holds half of a character"),
        ("budget.sessionCostUsd", 1e999, None),
    ],
)
def test_each_value_that_cannot_be_meant(path: str, value: Any, words: str | None) -> None:
    if words is None:  # Python writes it as a word that JSON does not have
        text = json.dumps(said(path, "huge")).replace('"huge"', "1e999")
        assert "is a number from 0 on, not “inf”." in fault(text).message
    else:
        assert only_fault(path, value).startswith(f"`{path}` {words}")


@pytest.mark.parametrize(
    ("path", "value", "where"),
    [
        ("alwaysEscalate", ["git operations", ""], "alwaysEscalate[1]"),
        ("alwaysLog", ["  "], "alwaysLog[0]"),
        ("notify.command", ["notify", ""], "notify.command[1]"),
        ("categories", [{"name": ""}], "categories[0].name"),
        ("categories", [{"name": "x", "commands": ["a", " "]}], "categories[0].commands[1]"),
        ("rules", [{"pattern": "a", "answer": ""}], "rules[0].answer"),
        ("rules", [{"pattern": "", "answer": "b"}], "rules[0].pattern"),
    ],
)
def test_what_is_empty_is_told_by_its_place_in_the_list(path: str, value: Any, where: str) -> None:
    assert only_fault(path, value).startswith(f"`{where}` is empty")


@pytest.mark.parametrize(
    ("field", "value"),
    [("digest", "f00"), ("digest", "G" * 64), ("source", "/etc/passwd"), ("source", "a\u001b[2Jb")],
)
def test_a_rule_for_a_script_names_its_file_and_digest(field: str, value: str) -> None:
    words = only_fault("rules", [{"pattern": "a", "answer": "b", field: value}])
    assert words.startswith(f"`rules[0].{field}` is a ")


@pytest.mark.parametrize("pattern", ["(", "[z-a]", "*", "a{99999999999999999999}", "(?P<x>a)(?P<x>b)"])
def test_a_pattern_that_is_no_regular_expression(pattern: str) -> None:
    rules = [{"pattern": "fine", "answer": "x"}, {"pattern": pattern, "answer": "x"}]
    assert only_fault("rules", rules).startswith("`rules[1].pattern` is no regular expression: ")
    categories = [{"name": "x", "patterns": ["fine", pattern]}]
    assert only_fault("categories", categories).startswith(
        "`categories[0].patterns[1]` is no regular expression: "
    )


def test_a_kind_of_question_that_there_is_not() -> None:
    rules = [{"pattern": "a", "answer": "b", "kinds": ["choice", "permision"]}]
    words = only_fault("rules", rules)
    assert words.startswith("`rules[0].kinds[1]` is one of choice, multi_choice, ")
    assert words.endswith("not “permision”. Did you mean “permission”?")


def test_a_rule_and_a_category_without_what_they_need() -> None:
    assert only_fault("rules", [{"answer": "b"}]) == "`rules[0]` has no `pattern`. Add one."
    assert only_fault("categories", [{}]) == "`categories[0]` has no `name`. Add one."


def test_a_key_put_where_its_variable_belongs_is_not_repeated() -> None:
    words = only_fault("brain.apiKeyEnv", "sk-ant-" + "a1" * 20)
    assert words == (
        "`brain.apiKeyEnv` is the name of an environment variable that holds the key, never the key itself."
    )


def test_a_secret_or_a_control_character_in_a_wrong_value_is_not_shown() -> None:
    secret = "sk-ant-" + "a1" * 20
    assert secret not in fault(json.dumps({"strictness": secret, "preEscalation": secret})).message
    assert "\x1b" not in fault(json.dumps({"\x1b[31mred": 1, "strictness": "\x1b[31m"})).message


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*msgspec.json.decode(msgspec.json.encode(Policy())), "name", "pattern"])
            | st.text(max_size=5),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


def fault_or_policy(text: str | bytes) -> str | Policy:
    try:
        return parse_policy(text, WHERE)
    except InvalidInput as error:
        return error.message


@given(JSON)
def test_any_json_is_a_whole_policy_or_told_with_its_line(value: Any) -> None:
    got = fault_or_policy(json.dumps(value, indent=1))
    if isinstance(got, Policy):
        assert parse_policy(as_json(got), WHERE) == got
    else:
        assert all(line.startswith((f"{WHERE}:", "… and ")) for line in got.split("\n"))


@given(st.binary(max_size=60) | st.text(alphabet='{}[]":,\\u0 1eE-tfn\n', max_size=60).map(str.encode))
def test_any_bytes_are_a_policy_or_refused(data: bytes) -> None:
    got = fault_or_policy(data)
    assert isinstance(got, Policy) or got.startswith(f"{WHERE}:")
