"""How each CLI is started: what reaches its command line, its files and its environment."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from tests.patience import run

from maestro.agents.launch import LaunchPlan, LaunchRequest, Mode
from maestro.agents.registry import launcher_named, launchers_of
from maestro.errors import InvalidInput
from maestro.fleet.launch import caller_environment, entry_argv, launch_file

ID = "11111111-2222-4333-8444-555555555555"


def plan(agent: str, **options: object) -> LaunchPlan:
    given: dict[str, object] = {
        "session_id": "sess_1",
        "transcript_id": ID,
        "cwd": "/work",
        "folder": "/m/sessions/sess_1",
        "env": {"HOME": "/h"},
        "cli_version": "0.166.0" if agent == "codex" else "",
    }
    return launcher_named(agent).launch(LaunchRequest(**given | options))  # type: ignore[arg-type]  # a test's keywords


@pytest.mark.parametrize(
    ("agent", "argv"),
    [
        ("claude", ("claude", "--session-id", ID, "--", "Begin")),
        ("codex", ("codex", "--no-daemon", "--", "Begin")),
        ("gemini", ("gemini", "--session-id", ID, "--prompt-interactive=Begin")),
    ],
)
def test_a_new_session(agent: str, argv: tuple[str, ...]) -> None:
    assert plan(agent, first_prompt="Begin").argv == argv


@pytest.mark.parametrize(
    ("agent", "argv"),
    [
        ("claude", ("claude", "--resume", ID)),
        ("codex", ("codex", "resume", "--no-daemon", ID)),
        ("gemini", ("gemini", "--resume", ID)),
    ],
)
def test_a_session_that_is_opened_again_has_no_first_prompt(agent: str, argv: tuple[str, ...]) -> None:
    assert plan(agent, first_prompt="Begin", resume=True).argv == argv


@pytest.mark.parametrize(
    ("version", "flags"), [("0.149.0", ()), ("", ("--config", "features.daemon_auto_start=false"))]
)
def test_codex_gets_no_flag_that_its_version_may_not_know(version: str, flags: tuple[str, ...]) -> None:
    assert plan("codex", first_prompt="Begin", cli_version=version).argv == ("codex", *flags, "--", "Begin")
    assert plan("codex", resume=True, cli_version=version).argv == ("codex", "resume", *flags, ID)


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini"])
def test_a_long_prompt_is_never_on_the_command_line(agent: str) -> None:
    made = plan(agent, first_prompt="word " * 10_000)
    assert sum(map(len, made.argv)) < 5_000
    assert made.prompt in {"file", "typed"}
    if made.prompt == "file":
        assert made.files[-1].content.decode().startswith("word word")
        assert made.files[-1].mode == 0o600


@pytest.mark.parametrize(
    ("agent", "mode", "words"),
    [
        ("claude", "plan", ("--permission-mode", "plan")),
        ("claude", "cautious", ("--permission-mode", "default")),
        ("claude", "unrestricted", ("--permission-mode", "bypassPermissions")),
        ("codex", "plan", ("--sandbox", "read-only")),
        ("codex", "unrestricted", ("--dangerously-bypass-approvals-and-sandbox",)),
        ("gemini", "edits", ("--approval-mode", "auto_edit")),
    ],
)
def test_modes(agent: str, mode: Mode, words: tuple[str, ...]) -> None:
    argv = plan(agent, mode=mode).argv
    place = argv.index(words[0])
    assert argv[place : place + len(words)] == words


@pytest.mark.parametrize("mode", ["default", "plan", "cautious", "edits", "autonomous", "unrestricted"])
def test_codex_has_a_network_only_where_a_person_opens_it(mode: Mode) -> None:
    closed = plan("codex", mode=mode, spool="/m/spools/sess_1")
    assert not [word for word in closed.argv if "network" in word]
    writes = mode in {"edits", "autonomous"}
    assert closed.needs_spool is writes
    # With a folder to write to, its read-only sandbox would not start.
    assert ("--add-dir" in closed.argv) is writes
    if mode in {"plan", "cautious"}:
        with pytest.raises(InvalidInput, match="no network in its read-only sandbox"):
            plan("codex", mode=mode, network=True)
        return
    opened = plan("codex", mode=mode, network=True, spool="/m/spools/sess_1")
    assert ("sandbox_workspace_write.network_access=true" in opened.argv) is (mode != "unrestricted")
    assert not opened.needs_spool


def test_settings_of_one_session_lie_in_a_file_of_its_own() -> None:
    made = plan("claude", settings={"hooks": {}}, mode="unrestricted")
    [file] = made.files
    assert (
        made.argv[made.argv.index("--settings") + 1] == file.path == "/m/sessions/sess_1/claude-settings.json"
    )
    assert json.loads(file.content) == {"hooks": {}, "skipDangerousModePermissionPrompt": True}


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini", "scripted"])
def test_no_session_learns_of_another_agents(agent: str) -> None:
    caller = {
        "PATH": "/bin", "HOME": "/h", "LC_ALL": "C", "CLAUDECODE": "1", "CLAUDE_CODE_SSE_PORT": "1", "CODEX_SANDBOX": "x",
        "GEMINI_CLI": "1", "TMUX": "x", "TMUX_PANE": "%1", "MAESTRO_SESSION_TOKEN": "t", "SECRET": "s",
        "ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o", "GEMINI_API_KEY": "g",
    }  # fmt: skip
    own = {"claude": "ANTHROPIC_API_KEY", "codex": "OPENAI_API_KEY", "gemini": "GEMINI_API_KEY"}.get(agent)
    expected = {"PATH", "HOME", "LC_ALL", *([own] if own else [])}
    assert set(caller_environment(caller, launcher_named(agent))) == expected


def test_what_is_kept_for_a_coordinators_children_has_the_keys_of_every_agent() -> None:
    caller = {
        "ANTHROPIC_API_KEY": "a",
        "OPENAI_API_KEY": "o",
        "GEMINI_API_KEY": "g",
        "SECRET": "s",
        "CLAUDECODE": "1",
    }
    keys = {"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"}
    assert set(caller_environment(caller, *launchers_of("claude", "coordinator"))) == keys
    assert set(caller_environment(caller, *launchers_of("claude", "worker"))) == {"ANTHROPIC_API_KEY"}


def test_an_agent_begins_with_the_usual_signals(place: Path) -> None:
    path = place / "launch.json"
    path.write_bytes(
        launch_file(LaunchPlan(argv=("grep", "SigIgn", "/proc/self/status")), {"PATH": "/usr/bin:/bin"}, "/")
    )
    argv = entry_argv(str(path))
    script = f"trap '' INT HUP QUIT; exec {' '.join(argv)}"
    done = run(["sh", "-c", script], text=True, check=True)
    ignored = int(done.stdout.split()[1], 16)
    usual = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE, signal.SIGTERM, signal.SIGXFSZ)
    assert [number for number in usual if ignored >> (number - 1) & 1] == []
    assert not path.exists()
