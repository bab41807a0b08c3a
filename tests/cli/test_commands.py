"""Commands as a person types them, and as a program reads them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.patience import run, told_by
from tests.support import BIN, Maestro

from maestro import __version__
from maestro.cli.completion import whole_parser
from maestro.cli.main import COMMANDS

ULID = r"[0-9A-HJKMNP-TV-Z]{26}"


def masked(text: str) -> str:
    return re.sub(ULID, "ULID", text)


def test_a_morning_with_tasks(guest: Maestro) -> None:
    assert guest("project", "add", ".", "--name", "shop").stdout.endswith(f"  shop  {guest.cwd}\n")
    root = guest.json("task", "create", "Ship accounts")["id"]
    guest("task", "create", "Fix login", "--parent", root, "--assignee", "Frontend Dev")
    guest(
        "task", "create", "Write tests", "--parent", root, "--depends-on", "Fix login", "--priority", "high"
    )
    assert guest("task", "report", "complete", "Fix login", "12 tests pass").returncode == 0
    assert guest("task", "report", "blocked", "Write tests", "no\nbrowser \x1b[31mhere").returncode == 0
    assert masked(guest("task", "tree").stdout) == (
        "○ pending  Ship accounts  (1/2)  task_ULID\n"
        "├─ ● completed  Fix login  @Frontend Dev  task_ULID\n"
        "└─ ■ blocked  Write tests  — no browser here  task_ULID\n"
    )
    listed = masked(guest("task", "list", "--status", "completed,pending").stdout).splitlines()
    assert [re.split(r" {2,}", line) for line in listed] == [
        ["ID", "STATUS", "TITLE", "ASSIGNEE", "LAST REPORT"],
        ["task_ULID", "pending", "Ship accounts"],
        ["task_ULID", "completed", "Fix login", "Frontend Dev", "12 tests pass"],
    ]
    assert [t["title"] for t in guest.json("task", "children", root)] == ["Fix login", "Write tests"]
    assert guest("status").stdout == (
        f"shop  {guest.cwd}\n  tasks     1 blocked · 1 completed · 1 pending\n  sessions  none live\n"
    )


def test_the_project_is_that_of_the_folder(guest: Maestro, guest_project: dict[str, Any]) -> None:
    deep = guest.cwd / "src" / "deep"
    deep.mkdir(parents=True)
    assert guest.json("task", "create", "from below", cwd=deep)["projectId"] == guest_project["id"]
    elsewhere = guest("task", "list", cwd="/")
    assert elsewhere.returncode == 3
    assert "maestro project add ." in elsewhere.stderr
    assert len(guest.json("task", "list", "--all", cwd="/")) == 1
    assert len(guest.json("task", "list", "--project", guest_project["name"], cwd="/")) == 1


def test_update_and_show(guest: Maestro, guest_project: dict[str, Any]) -> None:
    task = guest.json("task", "create", "a", "--description", "two\nlines")["id"]
    changed = guest.json("task", "update", task, "--title", "b", "--assignee", "Ann", "--priority", "urgent")
    assert (changed["title"], changed["assignee"], changed["priority"]) == ("b", "Ann", "urgent")
    shown = guest("task", "show", task[-6:]).stdout
    assert re.search(r"^description +two\n +lines$", shown, re.MULTILINE)
    assert guest("task", "update", task).returncode == 2


def test_reports_from_inside_a_session_need_no_id(guest: Maestro, guest_project: dict[str, Any]) -> None:
    task = guest.json("task", "create", "mine")["id"]
    made = guest.daemon.call("POST", "/api/sessions", {"agent": "scripted", "taskIds": [task]})
    inside = {"MAESTRO_SESSION_ID": made["session"]["id"], "MAESTRO_SESSION_TOKEN": made["token"]}
    assert guest.json("task", "report", "progress", "half way", env=inside)["lastReport"] == "half way"
    assert guest.json("session", "report", "progress", env=inside)["status"] == "working"
    assert "mine" in guest("session", "list").stdout
    assert guest("task", "report", "progress", "half way").returncode == 2


def test_watch_ends_when_the_sessions_do(guest: Maestro, guest_project: dict[str, Any]) -> None:
    made = guest.daemon.call(
        "POST", "/api/sessions", {"agent": "scripted", "projectId": guest_project["id"], "name": "w"}
    )
    session_id = made["session"]["id"]
    plain = guest.start("session", "watch")
    as_json = guest.start("session", "watch", session_id, "--json")
    assert plain.stdout
    assert plain.stdout.readline() == "Watching 1 live of 1 sessions.\n"
    # The JSON watcher says nothing until something happens, so report until it has heard.
    guest("session", "report", "progress", "on it", "--session", session_id)
    assert "session progress → ◐ working “on it”" in plain.stdout.readline()
    guest("session", "report", "complete", "done", "--session", session_id)
    out, _ = told_by(plain)
    assert (plain.returncode, "completed “done”" in out) == (0, True)
    out, _ = told_by(as_json)
    assert as_json.returncode == 0
    kinds = [json.loads(line)["kind"] for line in out.splitlines()]
    assert set(kinds) <= {"session.reported"}


def test_watching_what_has_ended_returns_at_once(guest: Maestro, guest_project: dict[str, Any]) -> None:
    assert guest("session", "watch").stdout == "No live sessions.\n"


def test_help_and_version(maestro: Maestro) -> None:
    assert maestro("--version").stdout == f"maestro {__version__}\n"
    overview = maestro("--help").stdout
    assert all(noun in overview for noun in COMMANDS)
    assert maestro().stdout == overview
    for noun in COMMANDS:
        assert maestro(noun, "--help").stdout.startswith(f"usage: maestro {noun}")
    assert not Path(maestro.home.root).exists(), "help needs no daemon"


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_completion_knows_every_command(maestro: Maestro, shell: str) -> None:
    script = maestro("completion", shell).stdout
    # shtab completes nouns only in tcsh.
    deeper = [] if shell == "tcsh" else ["--depends-on", "--my-workers"]
    assert [word for word in [*COMMANDS, *deeper] if word not in script] == []


def test_completion_works_in_bash(maestro: Maestro) -> None:
    script = (
        'eval "$(maestro completion bash)"; COMP_WORDS=(maestro task cr); COMP_CWORD=2; _shtab_maestro; '
        'echo "${COMPREPLY[@]}"'
    )
    done = run(
        ["bash", "-c", script],
        env=maestro.env,
        text=True,
    )
    assert done.stdout.split() == ["create"], done.stderr


def test_a_closed_pipe_is_no_error(guest: Maestro, guest_project: dict[str, Any]) -> None:
    done = run(
        ["bash", "-c", f"set -o pipefail; {BIN}/maestro task list --json | true; echo ${{PIPESTATUS[0]}}"],
        env=guest.env, cwd=guest.cwd, text=True,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("0\n", "")


def test_ctrl_c_ends_quietly(guest: Maestro, guest_project: dict[str, Any]) -> None:
    guest.daemon.call("POST", "/api/sessions", {"agent": "scripted", "projectId": guest_project["id"]})
    watching = guest.start("session", "watch")
    assert watching.stdout
    watching.stdout.readline()
    watching.send_signal(signal.SIGINT)
    _, err = told_by(watching)
    assert (watching.returncode, err) == (130, "")


def test_doctor_finds_what_is_wrong_and_says_what_helps(guest: Maestro) -> None:
    findings = {f["check"]: f for f in guest.json("doctor")}
    assert findings["permissions"]["state"] == "ok"
    assert findings["daemon"]["found"].startswith("running, pid")
    assert all(f["remedy"] for f in findings.values() if f["state"] != "ok")
    os.chmod(guest.home.log, 0o644)
    done = guest("doctor", "--json")
    wrong = next(f for f in json.loads(done.stdout) if f["check"] == "permissions")
    assert (done.returncode, wrong["state"]) == (1, "fail")
    subprocess.run(["sh", "-c", wrong["remedy"]], check=True)
    assert guest("doctor").returncode == 0


def test_logs_are_readable(guest: Maestro, guest_project: dict[str, Any]) -> None:
    newest = guest("server", "logs").stdout.splitlines()[-1]
    assert "request method=POST path=/api/projects status=201 role=human" in newest
    assert json.loads(guest("server", "logs", "-n", "1", "--json").stdout)["event"] == "request"


def test_every_command_has_a_purpose_and_takes_json() -> None:
    whole = whole_parser().format_help()
    assert all(noun in whole for noun in COMMANDS)
