"""`coordinate.config.json` as facts, and the modes. Pure.

    {
      "preset": "cautious",             the base that everything else is said on top of: autonomous, cautious, supervised
      "confidenceThreshold": 0.5,       numbers, texts and lists replace the preset's
      "timeouts": {"waitTimeout": 60}   of an object only the fields that are named
    }

Without a preset, a field that is not named has the default of a project without any file: a missing list is the whole
default list, and only one that is written as empty is empty. A file with a fault is refused whole.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from maestro.agents.json_text import Node, NotJson, parsed, plain
from maestro.coordinate import Logging, Policy
from maestro.coordinate.policy.faults import RANGES, SCHEMA_KEY, faults_of
from maestro.errors import InvalidInput
from maestro.redact import clean

Mode = Literal["autonomous", "cautious", "supervised"]

ALWAYS_ESCALATE: Final = (
    "git operations",
    "file deletion",
    "database changes",
    "security decisions",
    "API key management",
    "deployments",
    "spending",
    "network fetch-and-run",
    "system changes",
    "publishing",
)
# What the human decides also where little is asked.
GRAVEST: Final = (
    "security decisions",
    "API key management",
    "spending",
    "publishing",
    "deployments",
    "database changes",
    "deletion outside the project",
    "git history and remotes",
)
ALWAYS_LOG: Final = ("architecture decisions", "dependency changes", "test strategy")
_EVERYTHING: Final = Logging(log_routine_skips=True)
_MOST_FAULTS: Final = 20

# Where no file says anything.
DEFAULT: Final = Policy(always_escalate=ALWAYS_ESCALATE, always_log=ALWAYS_LOG)

PRESETS: Final[dict[Mode, Policy]] = {
    "autonomous": msgspec.structs.replace(
        DEFAULT,
        preset="autonomous",
        confidence_threshold=0.5,
        strictness="sure",
        always_escalate=GRAVEST,
    ),
    "cautious": msgspec.structs.replace(
        DEFAULT, preset="cautious", confidence_threshold=0.85, strictness="wary", logging=_EVERYTHING
    ),
    "supervised": msgspec.structs.replace(
        DEFAULT, preset="supervised", confidence_threshold=0.95, strictness="all", logging=_EVERYTHING
    ),
}


def parse_policy(text: bytes | str, where: str) -> Policy:
    """The policy that a text describes; `where` is how messages call it."""
    words = _decoded(text, where)
    root = _tree(words, where)
    faults = faults_of(root)
    if faults:
        told = [f"{_place(words, place, where)}: {what}" for place, what in faults[:_MOST_FAULTS]]
        left_out = len(faults) - len(told)
        more = [f"… and {left_out} more."] if left_out else []
        raise _invalid("\n".join([*told, *more]), faults=len(faults))
    said = plain(root)
    said.pop(SCHEMA_KEY, None)
    base = PRESETS.get(said.get("preset"), DEFAULT)
    return msgspec.convert(_overlaid(msgspec.to_builtins(base), said), Policy)


def with_mode(policy: Policy, mode: Mode) -> Policy:
    """What `--mode` makes of a policy: how sure one has to be, how strict the gate is and what is logged are the mode's.
    What escalates in either escalates. All else stays. Where nothing was said but a preset, it is the mode's."""
    of_mode = PRESETS[mode]
    if policy in {DEFAULT, *PRESETS.values()}:
        return of_mode
    return msgspec.structs.replace(
        policy,
        preset=mode,
        confidence_threshold=of_mode.confidence_threshold,
        strictness=of_mode.strictness,
        always_escalate=tuple(dict.fromkeys((*policy.always_escalate, *of_mode.always_escalate))),
        always_log=tuple(dict.fromkeys((*policy.always_log, *of_mode.always_log))),
        logging=of_mode.logging,
    )


def as_json(policy: Policy) -> str:
    """Every field, for a person to change; `parse_policy` reads the same policy from it."""
    return msgspec.json.format(msgspec.json.encode(policy), indent=2).decode() + "\n"


def policy_schema() -> dict[str, Any]:
    """The JSON schema of the file, for editors."""
    schema = msgspec.json.decode(msgspec.json.encode(msgspec.json.schema(Policy)))
    definitions = schema["$defs"]
    definitions["Policy"]["properties"][SCHEMA_KEY] = {"type": "string"}
    for (facts, name), (least, most) in RANGES.items():
        definitions[facts.__name__]["properties"][name] |= {"minimum": least, "maximum": most}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _decoded(text: bytes | str, where: str) -> str:
    """Without the byte order mark that some editors put before it."""
    if isinstance(text, str):
        return text.removeprefix("\ufeff")
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise _invalid(f"{clean(where)}:{line}: this is not UTF-8.") from error


def _tree(text: str, where: str) -> Node:
    try:
        root = parsed(text, comments=False)
    except NotJson as error:
        raise _invalid(f"{_place(text, error.place, where)}: this is not JSON: {error.what}.") from error
    if root is None:
        raise _invalid(f"{_place(text, 0, where)}: the file is empty; a policy is at least {{}}.")
    return root


def _place(text: str, offset: int, where: str) -> str:
    line = text.count("\n", 0, offset) + 1
    return f"{clean(where)}:{line}:{offset - text.rfind(chr(10), 0, offset)}"


def _overlaid(base: Any, said: Any) -> Any:
    if not isinstance(base, dict) or not isinstance(said, dict):
        return said
    return {**base, **{key: _overlaid(base.get(key), value) for key, value in said.items()}}


def _invalid(words: str, **context: Any) -> InvalidInput:
    return InvalidInput(
        words,
        hint="Nothing of this policy is used until it is mended. `maestro coordinate init` writes one to start from.",
        **context,
    )
