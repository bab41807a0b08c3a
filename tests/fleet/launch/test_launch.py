"""What a session starts with: its environment, its first prompt, the plan of the scripted agent, the way into a pane."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.patience import run
from tests.support import clean_env

from maestro.agents.launch import LONGEST_IN_ARGV, Launcher, LaunchPlan, LaunchRequest
from maestro.agents.registry import agent_named
from maestro.errors import InvalidInput
from maestro.fleet.launch import entry_argv, launch_file, session_environment
from maestro.fleet.prompt import PromptTask, first_prompt

SESSION = "sess_01JABCDEFGHJKMNPQRS7X2K9Q"


def scripted() -> Launcher:
    agent = agent_named("scripted")
    assert isinstance(agent, Launcher)
    return agent


def request(**changed: Any) -> LaunchRequest:
    given_: dict[str, Any] = {
        "session_id": SESSION,
        "transcript_id": str(uuid.UUID(int=7)),
        "cwd": "/work place",
        "folder": "/m/sessions/s",
        "env": {"HOME": "/home/me", "MAESTRO_SCRIPTED": "1"},
        "model": "play.json",
    }
    return LaunchRequest(**given_ | changed)


def test_the_environment_is_what_a_session_needs_and_no_more() -> None:
    caller = {
        "PATH": "/bin", "HOME": "/home/me", "LANG": "de_DE.UTF-8", "LC_TIME": "C", "XDG_CONFIG_HOME": "/c",
        "HTTPS_PROXY": "http://p", "CLAUDE_CONFIG_DIR": "/cc", "MAESTRO_SCRIPT": "/s",
        # Of another session, of its pane, of its shell.
        "CLAUDECODE": "1", "CLAUDE_CODE_ENTRYPOINT": "cli", "CLAUDE_CODE_SSE_PORT": "1", "CODEX_SANDBOX": "x",
        "GEMINI_CLI": "1", "MAESTRO_SESSION_ID": "sess_other", "MAESTRO_SESSION_TOKEN": "theirs",
        "MAESTRO_HOME": "/elsewhere", "MAESTRO_DATABASE_URL": "postgresql://secret", "TMUX": "/tmp/tmux,1,0",
        "TMUX_PANE": "%1", "TERM": "screen", "LD_PRELOAD": "/x.so", "PYTHONPATH": "/x", "AWS_SECRET_ACCESS_KEY": "x",
        "SSH_AUTH_SOCK": "/a", "OLDPWD": "/", "PWD": "/", "SHLVL": "2", "_": "/bin/maestro", "GIT_DIR": "/x",
    }  # fmt: skip
    env = session_environment(caller, scripted(), session_id=SESSION, token="mine", maestro_home="/m")
    assert env == {
        "PATH": "/bin", "HOME": "/home/me", "LANG": "de_DE.UTF-8", "LC_TIME": "C", "XDG_CONFIG_HOME": "/c",
        "HTTPS_PROXY": "http://p", "CLAUDE_CONFIG_DIR": "/cc", "MAESTRO_SCRIPT": "/s",
        "MAESTRO_SESSION_ID": SESSION, "MAESTRO_SESSION_TOKEN": "mine", "MAESTRO_HOME": "/m",
    }  # fmt: skip


def test_the_first_prompt_says_who_what_and_how() -> None:
    task = PromptTask("task_1", "Fix </title><task> & go", "Use <b>JWT</b>")
    text = first_prompt(SESSION, subject="Auth", message="Focus on a < b", tasks=(task,))
    assert text.startswith(f"<session_id>{SESSION}</session_id>\n")
    assert "<subject>Auth</subject>" in text
    assert "<message>\nFocus on a &lt; b\n</message>" in text
    assert '<task id="task_1">\n<title>Fix &lt;/title&gt;&lt;task&gt; &amp; go</title>' in text
    assert "&lt;b&gt;JWT" in text
    assert 'maestro task report complete "…"' in text


def test_a_session_without_a_task_reports_for_itself() -> None:
    text = first_prompt(SESSION, message="Look around")
    assert 'maestro session report blocked "…"' in text
    assert "<task" not in text
    assert "<subject>" not in text


def test_with_several_tasks_each_is_named() -> None:
    text = first_prompt(SESSION, tasks=(PromptTask("task_1", "a"), PromptTask("task_2", "b")))
    assert 'maestro task report progress TASK_ID "…"' in text


@given(st.text(), st.text(), st.text(), st.text())
def test_nothing_in_a_prompt_closes_a_tag_or_holds_a_control_character(
    a: str, b: str, c: str, d: str
) -> None:
    text = first_prompt(SESSION, subject=a, message=b, tasks=(PromptTask("task_1", c, d),))
    assert text.count("<session_id>") == text.count("</session_id>") == 1
    assert text.count("</task>") == 1
    assert text.count("<") == text.count(">")
    assert not {chr(code) for code in range(32)} - {"\n", "\t"} & set(text) & {"\x1b", "\0", "\r"}
    text.encode()


def test_the_scripted_agents_plan() -> None:
    plan = scripted().launch(request(first_prompt="<session_id>s</session_id> go"))
    assert plan.argv == (
        sys.executable, "-P", "-m", "maestro.testing.scripted_agent", "--script", "/work place/play.json",
        "--session-id", str(uuid.UUID(int=7)), "--prompt=<session_id>s</session_id> go",
    )  # fmt: skip
    assert (plan.prompt, plan.files, plan.transcript_id) == ("argv", (), str(uuid.UUID(int=7)))


def test_the_script_may_be_named_by_a_variable_or_from_home() -> None:
    plan = scripted().launch(
        request(model="", env={"HOME": "/h", "MAESTRO_SCRIPT": "/x/y.json", "MAESTRO_SCRIPTED": "1"})
    )
    assert plan.argv[5] == "/x/y.json"
    assert plan.prompt == "none"
    assert scripted().launch(request(model="~/y.json")).argv[5] == "/home/me/y.json"
    with pytest.raises(InvalidInput, match="no script"):
        scripted().launch(request(model=""))


def test_a_long_prompt_goes_into_a_file() -> None:
    text = "ü" * LONGEST_IN_ARGV
    plan = scripted().launch(request(first_prompt=text))
    assert plan.prompt == "file"
    (file,) = plan.files
    assert (file.path, file.content.decode(), file.mode) == ("/m/sessions/s/prompt.md", text, 0o600)
    assert file.path in plan.argv[-1]
    assert f"<session_id>{SESSION}</session_id>" in plan.argv[-1]
    assert sum(map(len, plan.argv)) < 1000


def test_a_resumed_session_keeps_its_id_and_gets_no_prompt() -> None:
    plan = scripted().launch(request(first_prompt="again", resume=True))
    assert plan.argv[-2:] == ("--resume", str(uuid.UUID(int=7)))
    assert (plan.prompt, plan.transcript_id) == ("none", str(uuid.UUID(int=7)))


class Pane:
    """What a pane does: runs the entry in an environment that is not the session's."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.file = place / "launch.json"

    def enter(self, plan: LaunchPlan, env: dict[str, str], cwd: Path) -> subprocess.CompletedProcess[str]:
        self.file.write_bytes(launch_file(plan, env, str(cwd)))
        return run(
            entry_argv(str(self.file)),
            env={
                "TERM": "tmux-256color",
                "TMUX": "/tmp/x,1,0",
                "SECRET": "of the server",
                "PATH": "/nowhere",
            },
            cwd="/",
            text=True,
        )


SHOW = "import json, os, sys; print(json.dumps([sys.argv[1:], dict(os.environ), os.getcwd()]))"


def test_the_pane_becomes_the_agent_with_exactly_its_environment(place: Path) -> None:
    words = ("a b", "$HOME `x` ; ' \" \n end", "ünïcode", "-x", "")
    plan = LaunchPlan(argv=("python", "-I", "-S", "-c", SHOW, *words), env={"EXTRA": "1"})
    folder = place / "sp äce"
    folder.mkdir()
    env = {"PATH": str(Path(sys.executable).parent), "K": "v=\n1", "LC_ALL": "C.UTF-8"}
    pane = Pane(place)
    done = pane.enter(plan, env, folder)
    assert done.returncode == 0, done.stderr
    argv, seen, cwd = json.loads(done.stdout)
    assert argv == list(words)
    assert seen == env | {"EXTRA": "1", "TERM": "tmux-256color"}
    assert cwd == str(folder)
    assert not pane.file.exists()


def test_the_terminal_gets_its_modes_before_the_agent_draws(place: Path) -> None:
    plan = LaunchPlan(argv=("echo", "drawn"), terminal_modes="\x1b[?7l")
    assert Pane(place).enter(plan, {"PATH": "/usr/bin:/bin"}, place).stdout == "\x1b[?7ldrawn\n"


def test_what_cannot_be_started_is_said(place: Path) -> None:
    env = {"PATH": "/usr/bin:/bin"}
    pane = Pane(place)
    done = pane.enter(LaunchPlan(argv=("no-such-agent",)), env, place)
    assert (done.returncode, done.stderr) == (
        127, "maestro: There is no program no-such-agent, so the session was not started.\n",
    )  # fmt: skip
    done = pane.enter(LaunchPlan(argv=("true",)), env, place / "gone")
    assert (done.returncode, "There is no folder" in done.stderr) == (127, True)
    assert not pane.file.exists()
    once_more = subprocess.run(entry_argv(str(pane.file)), capture_output=True, text=True, check=False)
    assert once_more.returncode == 126
    assert "cannot be started" in once_more.stderr


def test_what_no_process_can_be_given_is_refused() -> None:
    with pytest.raises(InvalidInput):
        launch_file(LaunchPlan(argv=("a\0b",)), {}, "/")
    with pytest.raises(InvalidInput):
        launch_file(LaunchPlan(argv=("a",)), {"A=B": "c"}, "/")


def test_the_scripted_agent_runs_by_its_plan(place: Path) -> None:
    script = {"name": "Test", "steps": [{"say": "I have read my prompt and begin."}]}
    work = place / "work"
    # A folder of the project that is called as one of our packages is.
    (work / "maestro").mkdir(parents=True)
    (work / "maestro/__init__.py").write_text("raise SystemExit('wrong package')")
    (work / "play.json").write_text(json.dumps(script))
    env = session_environment(
        clean_env(place), scripted(), session_id=SESSION, token="t", maestro_home=str(place / "m")
    )
    prompt = first_prompt(SESSION, message="Begin")
    plan = scripted().launch(
        request(cwd=str(work), env=env, transcript_id=str(uuid.uuid4()), first_prompt=prompt)
    )
    done = Pane(place).enter(plan, env, work)
    assert done.returncode == 0, done.stderr
    assert plan.transcript_id is not None
    path = agent_named("scripted").locate(plan.transcript_id, str(work), env)
    assert path is not None
    assert f"<session_id>{SESSION}</session_id>" in path.read_text()
    assert os.path.dirname(path).startswith(str(place / "claude"))

    again = scripted().launch(
        request(cwd=str(work), env=env, transcript_id=plan.transcript_id, first_prompt=prompt, resume=True)
    )
    assert Pane(place).enter(again, env, work).returncode == 0
    assert agent_named("scripted").locate(plan.transcript_id, str(work), env) == path


def test_facts_are_frozen() -> None:
    with pytest.raises(AttributeError):
        request().cwd = "/"  # type: ignore[misc]  # that is what is tried
    assert msgspec.structs.replace(request(), resume=True).resume
