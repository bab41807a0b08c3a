"""A policy's fields, for the tests of it."""

from __future__ import annotations

from typing import Any

WHERE = "coordinate.config.json"
# Each field of every part, with a value that is not its default.
OTHER_VALUES: dict[str, Any] = {
    "confidenceThreshold": 0.25,
    "strictness": "all",
    "alwaysEscalate": ["payroll"],
    "alwaysLog": ["naming"],
    "principles": ["Prefer speed over thoroughness."],
    "preEscalation.enabled": False,
    "preEscalation.probeMessage": "What do you mean?",
    "timeouts.waitTimeout": 1,
    "timeouts.consecutiveTimeoutLimit": 2,
    "timeouts.idleHeartbeatInterval": 7,
    "logging.logAutonomousDecisions": False,
    "logging.logEscalations": False,
    "logging.logProbes": False,
    "logging.logRoutineSkips": True,
    "brain.kind": "api",
    "brain.model": "large",
    "brain.provider": "openai",
    "brain.baseUrl": "http://localhost:8000/v1",
    "brain.apiKeyEnv": "MY_KEY",
    "brain.timeout": 30,
    "brain.callsPerHour": 0,
    "brain.maxTokens": 500,
    "precedents.enabled": False,
    "precedents.expireDays": 1,
    "precedents.offerRuleAfter": 5,
    "stuck.interveneAfter": 60,
    "stuck.helpMessage": "Go on.",
    "stuck.mostHelps": 0,
    "stuck.onLimit": "resume",
    "stuck.resumeMessage": "Again.",
    "stuck.mostResumes": 0,
    "budget.sessionTokens": 1_000_000,
    "budget.sessionCostUsd": 1.5,
    "budget.fleetTokens": 9_000_000,
    "budget.fleetCostUsd": 20,
    "notify.desktop": False,
    "notify.command": ["notify-me", "--loud"],
    "notify.webhook": "https://example.com/hook?to=me",
}


def said(path: str, value: Any) -> dict[str, Any]:
    """`{"timeouts": {"waitTimeout": 1}}` for `timeouts.waitTimeout` and 1."""
    outer, _, inner = path.partition(".")
    return {outer: {inner: value} if inner else value}
