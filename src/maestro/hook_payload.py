"""Makes what an agent's hook was given fit to lie on the disk: the same JSON, without secrets. Pure."""

from __future__ import annotations

import json
from typing import Any

from maestro.redact import MARK, is_secret_name, redact


def without_secrets(payload: bytes) -> bytes:
    """Returns the payload with every secret in its strings and names replaced; nothing where it is no JSON object, which
    nobody could read: one that broke off may end in the middle of a secret."""
    try:
        whole = json.loads(payload.decode("utf-8", "replace"))
        if not isinstance(whole, dict):
            return b""
        return json.dumps(_safe(whole), ensure_ascii=False).encode("utf-8", "backslashreplace")
    except (ValueError, RecursionError):
        return b""


def _safe(value: Any, name: str = "") -> Any:
    if isinstance(value, str):
        return MARK if value and is_secret_name(name) else redact(value)
    if isinstance(value, dict):
        return {redact(key): _safe(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [_safe(inner, name) for inner in value]
    return value
