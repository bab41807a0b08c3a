"""The five variables that a batch is set by. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from maestro.dispatch.runs import LONGEST_SECONDS
from maestro.errors import InvalidInput

MODEL: Final = "MAESTRO_DEFAULT_MODEL"
TIMEOUT: Final = "MAESTRO_AGENT_TIMEOUT"
CLEANUP: Final = "MAESTRO_CLEANUP_DISPATCH"
CONCURRENT: Final = "MAESTRO_MAX_CONCURRENT"
STAGGER: Final = "MAESTRO_STAGGER_DELAY"

_LONGEST_MINUTES: Final = int(LONGEST_SECONDS / 60)
_AN_HOUR: Final = 60
_MOST_DIGITS: Final = 9


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    model: str = ""  # over every agent's own
    timeout_s: float = 600.0
    cleanup: bool = False  # the prompt files are removed when every agent has finished
    concurrent: int = 0  # 0: as many as there are
    stagger_s: float = 5.0
    warnings: tuple[str, ...] = ()


def read_settings(env: Mapping[str, str]) -> Settings:
    """What the variables say; one that is not set, or set to nothing, has its default."""
    minutes = _number(env, TIMEOUT, 10)
    if minutes is None or minutes == 0:
        raise InvalidInput(
            f"{TIMEOUT} must be a positive integer (got: {env[TIMEOUT]}).", hint="It is in minutes."
        )
    if minutes > _LONGEST_MINUTES:
        raise InvalidInput(
            f"{TIMEOUT} must be at most {_LONGEST_MINUTES} (got: {env[TIMEOUT]}).",
            hint="It is in minutes, and a week is the longest.",
        )
    concurrent = _number(env, CONCURRENT, 0)
    if concurrent is None:
        raise InvalidInput(
            f"{CONCURRENT} must be a non-negative integer (got: {env[CONCURRENT]}).",
            hint="It says how many agents may run at once; 0 is for all.",
        )
    stagger = _number(env, STAGGER, 5)
    if stagger is None:
        raise InvalidInput(
            f"{STAGGER} must be a non-negative integer (got: {env[STAGGER]}).",
            hint="It is in seconds, between the starts of two agents.",
        )
    cleanup = (env.get(CLEANUP) or "false").lower()
    if cleanup not in {"true", "false"}:
        raise InvalidInput(f"{CLEANUP} must be true or false (got: {env[CLEANUP]}).")
    warnings = [f"Agent timeout set to {minutes} minutes (over 1 hour)."] if minutes > _AN_HOUR else []
    return Settings(
        model=env.get(MODEL, ""),
        timeout_s=minutes * 60.0,
        cleanup=cleanup == "true",
        concurrent=concurrent,
        stagger_s=float(stagger),
        warnings=tuple(warnings),
    )


def _number(env: Mapping[str, str], name: str, default: int) -> int | None:
    """None for what is no whole number from 0 on."""
    text = env.get(name, "")
    if not text:
        return default
    digits = text.lstrip("0") or "0"
    return int(digits) if text.isascii() and text.isdecimal() and len(digits) <= _MOST_DIGITS else None
