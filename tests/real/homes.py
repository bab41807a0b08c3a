"""The home of somebody who has used the three CLIs before: nothing asks at the start, nothing phones home."""

from __future__ import annotations

import json
from pathlib import Path

KEY = "sk-ant-dummy-" + 30 * "0"
_KEY_END = 20  # the characters that Claude Code remembers of a key

_CODEX = """\
model = "stub-model"
model_provider = "stub"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.stub]
name = "Stub"
base_url = "{url}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 5

[tui]
screen_reader_detection_done = true

[features]
default_mode_request_user_input = true
"""
_GEMINI = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "general": {
        "enableAutoUpdate": False,
        "enableAutoUpdateNotification": False,
        "sessionRetention": {"enabled": False},
    },
}


def seed(home: Path, work: Path, url: str) -> None:
    """Write what the CLIs remember of a person who trusts the folder `work`."""
    claude = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [KEY[-_KEY_END:]], "rejected": []},
        "projects": {str(work): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}},
    }
    (home / ".claude.json").write_text(json.dumps(claude))
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text(_CODEX.format(url=url))
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text(json.dumps(_GEMINI))


def variables(url: str) -> dict[str, str]:
    """What the person has in the environment for them."""
    return {
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": url,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_TELEMETRY": "1",
        "GEMINI_API_KEY": "dummy",
        "GOOGLE_GEMINI_BASE_URL": url,
        "OPENAI_API_KEY": "dummy",
    }
