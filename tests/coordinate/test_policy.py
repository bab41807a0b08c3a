"""coordinate.config.json: what loads, and what a mode makes of it."""

from __future__ import annotations

import json
from typing import Any, get_args

import msgspec
import pytest
from tests.coordinate.policy_values import OTHER_VALUES, WHERE, said

from maestro.coordinate import (
    AnswerRule,
    CategoryRule,
    Logging,
    Policy,
    PreEscalation,
    Timeouts,
)
from maestro.coordinate.policy.config import (
    ALWAYS_ESCALATE,
    ALWAYS_LOG,
    DEFAULT,
    GRAVEST,
    PRESETS,
    Mode,
    as_json,
    parse_policy,
    policy_schema,
    with_mode,
)

# The example of the seed, word for word.
EXAMPLE = """\
{
  "confidenceThreshold": 0.7,
  "alwaysEscalate": [
    "git operations",
    "file deletion",
    "database changes",
    "security decisions"
  ],
  "alwaysLog": [
    "architecture decisions",
    "dependency changes",
    "test strategy"
  ],
  "preEscalation": {
    "enabled": true,
    "probeMessage": "Can you elaborate on what you need?"
  },
  "timeouts": {
    "waitTimeout": 300,
    "consecutiveTimeoutLimit": 10,
    "idleHeartbeatInterval": 3
  },
  "logging": {
    "logAutonomousDecisions": true,
    "logEscalations": true,
    "logProbes": true,
    "logRoutineSkips": false
  }
}
"""


def told(policy: Policy, path: str) -> Any:
    value = msgspec.json.decode(msgspec.json.encode(policy))
    for step in path.split("."):
        value = value[step]
    return value


def test_the_seeds_example_loads_field_by_field() -> None:
    policy = parse_policy(EXAMPLE, WHERE)
    assert policy == Policy(
        confidence_threshold=0.7,
        always_escalate=("git operations", "file deletion", "database changes", "security decisions"),
        always_log=("architecture decisions", "dependency changes", "test strategy"),
        pre_escalation=PreEscalation(True, "Can you elaborate on what you need?"),
        timeouts=Timeouts(300, 10, 3),
        logging=Logging(True, True, True, False),
    )


def test_without_a_preset_every_field_has_its_default() -> None:
    """A list that is left out is the default list: an empty one has to be written."""
    policy = parse_policy("{}", WHERE)
    assert policy == DEFAULT
    assert (policy.confidence_threshold, policy.always_escalate) == (0.7, ALWAYS_ESCALATE)
    assert parse_policy('{"alwaysEscalate": []}', WHERE).always_escalate == ()
    assert policy.pre_escalation.enabled
    assert policy.pre_escalation.probe_message.startswith("Can you elaborate")
    assert policy.timeouts == Timeouts(300, 10, 3)
    assert policy.logging == Logging(True, True, True, False)
    assert parse_policy('{"preset": "custom"}', WHERE) == policy


@pytest.mark.parametrize("path", OTHER_VALUES)
def test_each_field_alone(path: str) -> None:
    policy = parse_policy(json.dumps(said(path, OTHER_VALUES[path])), WHERE)
    assert told(policy, path) == OTHER_VALUES[path] != told(DEFAULT, path)
    # Nothing else changed.
    for other in OTHER_VALUES.keys() - {path}:
        assert told(policy, other) == told(DEFAULT, other)


def test_no_field_is_left_out_above() -> None:
    whole = msgspec.json.decode(msgspec.json.encode(Policy()))
    paths = {
        f"{key}.{inner}" if inner else key
        for key, value in whole.items()
        for inner in (value if isinstance(value, dict) else [""])
    }
    assert paths - OTHER_VALUES.keys() == {"preset", "categories", "rules"}


def test_categories_and_rules() -> None:
    policy = parse_policy(
        json.dumps(
            {
                "categories": [
                    {"name": "payroll"},
                    {
                        "name": "infrastructure",
                        "description": "What changes machines",
                        "patterns": [r"\bterraform\b", "pulumi (up|destroy)"],
                        "commands": ["terraform apply"],
                    },
                ],
                "rules": [
                    {
                        "pattern": "which test runner.*",
                        "answer": "pytest",
                        "kinds": ["choice"],
                        "name": "runner",
                    },
                    {"pattern": "npm test", "answer": "Choose 1"},
                ],
            }
        ),
        WHERE,
    )
    assert policy.categories == (
        CategoryRule("payroll"),
        CategoryRule(
            "infrastructure",
            "What changes machines",
            (r"\bterraform\b", "pulumi (up|destroy)"),
            ("terraform apply",),
        ),
    )
    assert policy.rules == (
        AnswerRule("which test runner.*", "pytest", ("choice",), "runner"),
        AnswerRule("npm test", "Choose 1"),
    )


@pytest.mark.parametrize(
    ("mode", "threshold", "strictness", "routine"),
    [
        ("autonomous", 0.5, "sure", False),
        ("cautious", 0.85, "wary", True),
        ("supervised", 0.95, "all", True),
    ],
)
def test_the_presets(mode: Mode, threshold: float, strictness: str, *, routine: bool) -> None:
    policy = parse_policy(json.dumps({"preset": mode}), WHERE)
    assert policy == PRESETS[mode]
    assert (policy.preset, policy.confidence_threshold, policy.strictness) == (mode, threshold, strictness)
    escalated = GRAVEST if mode == "autonomous" else ALWAYS_ESCALATE
    assert (policy.always_escalate, policy.always_log) == (escalated, ALWAYS_LOG)
    assert policy.logging == Logging(True, True, True, routine)


def test_the_default_is_stricter_than_an_empty_file() -> None:
    assert (DEFAULT.confidence_threshold, DEFAULT.strictness) == (0.7, "wary")
    assert (DEFAULT.always_escalate, DEFAULT.always_log) == (ALWAYS_ESCALATE, ALWAYS_LOG)
    assert len(ALWAYS_ESCALATE) == 10
    assert DEFAULT.logging == Logging(), "routine skips are told only where somebody wants them"
    assert DEFAULT.preset == "custom"


def test_autonomous_confidence_but_cautious_escalation_categories() -> None:
    policy = parse_policy('{"preset": "cautious", "confidenceThreshold": 0.5}', WHERE)
    assert policy == msgspec.structs.replace(PRESETS["cautious"], confidence_threshold=0.5)


def test_of_an_object_only_what_is_named_is_changed_and_lists_are_replaced() -> None:
    policy = parse_policy(
        '{"preset": "supervised", "logging": {"logProbes": false}, "alwaysEscalate": ["payroll"]}', WHERE
    )
    assert policy == msgspec.structs.replace(
        PRESETS["supervised"], logging=Logging(True, True, False, True), always_escalate=("payroll",)
    )


@pytest.mark.parametrize("threshold", [0, 0.0, 1, 1.0])
def test_the_ends_of_the_threshold_are_valid(threshold: float) -> None:
    assert (
        parse_policy(json.dumps({"confidenceThreshold": threshold}), WHERE).confidence_threshold == threshold
    )


def test_a_byte_order_mark_and_windows_line_ends_are_no_fault() -> None:
    text = EXAMPLE.replace("\n", "\r\n")
    assert parse_policy(b"\xef\xbb\xbf" + text.encode(), WHERE) == parse_policy(EXAMPLE, WHERE)
    assert parse_policy("\ufeff" + text, WHERE) == parse_policy(EXAMPLE, WHERE)


def test_a_mode_takes_over_what_is_the_modes_and_leaves_the_rest() -> None:
    own = parse_policy(
        json.dumps(
            {
                "confidenceThreshold": 0.1,
                "strictness": "sure",
                "alwaysEscalate": ["payroll", "git operations"],
                "alwaysLog": ["naming"],
                "logging": {"logProbes": False},
                "categories": [{"name": "payroll", "commands": ["pay"]}],
                "rules": [{"pattern": "a", "answer": "b"}],
                "brain": {"kind": "codex"},
                "budget": {"fleetCostUsd": 5},
                "notify": {"desktop": False},
                "timeouts": {"waitTimeout": 5},
                "preEscalation": {"enabled": False},
                "stuck": {"mostHelps": 2},
                "precedents": {"enabled": False},
            }
        ),
        WHERE,
    )
    made = with_mode(own, "supervised")
    assert made == msgspec.structs.replace(
        own,
        preset="supervised",
        confidence_threshold=0.95,
        strictness="all",
        always_escalate=("payroll", *ALWAYS_ESCALATE),
        always_log=("naming", *ALWAYS_LOG),
        logging=PRESETS["supervised"].logging,
    )


@pytest.mark.parametrize("mode", get_args(Mode))
def test_a_mode_on_the_default_is_the_preset(mode: Mode) -> None:
    assert with_mode(DEFAULT, mode) == PRESETS[mode]
    for other in get_args(Mode):
        assert with_mode(PRESETS[other], mode) == PRESETS[mode]


def everything() -> Policy:
    whole: dict[str, Any] = {"preset": "autonomous", "rules": [{"pattern": "ü", "answer": "“b”"}]}
    for path, value in OTHER_VALUES.items():
        for key, part in said(path, value).items():
            whole[key] = {**whole.get(key, {}), **part} if isinstance(part, dict) else part
    return parse_policy(json.dumps(whole), WHERE)


@pytest.mark.parametrize("policy", [DEFAULT, *PRESETS.values(), Policy(), everything()])
def test_what_is_written_is_read_back(policy: Policy) -> None:
    text = as_json(policy)
    assert parse_policy(text, WHERE) == policy
    assert text.endswith("}\n")
    assert '\n  "confidenceThreshold": ' in text


def test_the_schema_knows_every_field_and_its_range() -> None:
    schema = policy_schema()
    properties = schema["$defs"]["Policy"]["properties"]
    assert properties.keys() == {
        "$schema",
        *(field.encode_name for field in msgspec.structs.fields(Policy)),
    }
    assert schema["$defs"]["Policy"]["additionalProperties"] is False
    threshold = properties["confidenceThreshold"]
    assert (threshold["type"], threshold["minimum"], threshold["maximum"]) == ("number", 0, 1)
    assert schema["$defs"]["Timeouts"]["properties"]["waitTimeout"]["minimum"] == 1
    assert schema == json.loads(json.dumps(schema))
