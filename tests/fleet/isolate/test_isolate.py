"""What an isolated session can see and change, in the real sandbox."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from tests.fleet.isolate.bubblewrap import IS_REQUIRED, LACK, needs_bwrap, works
from tests.patience import end_of, patience, run

import maestro
from maestro.agents.launch import OwnFolders
from maestro.errors import InvalidInput, NotFound
from maestro.fleet import toolchains
from maestro.fleet.door import FOLDER, open_door
from maestro.fleet.isolate import Sandbox, isolated
from maestro.fleet.processtree import end_tree
from maestro.ledger.facts import Worktree
from maestro.processes import identify, start_time
from maestro.worktrees import worktree as worktrees
from maestro.worktrees.git_folders import copies, git_folders

# It may lie where the sandbox has nothing else; so may the first program in it.
_INTERPRETER = tuple(map(os.path.realpath, (sys.prefix, sys.base_prefix, os.path.dirname(maestro.__file__))))


class Room:
    def __init__(self, place: Path) -> None:
        self.place = place
        for name in ("home/.agent", "home/.agent/projects", "m/worktrees", "work", "tmux-1000", "other"):
            (place / name).mkdir(parents=True, exist_ok=True)
        (place / "home/.agent/settings.json").write_text("{}")
        (place / "m/maestro.db").write_text("secret")
        self.listener = socket.socket(socket.AF_UNIX)
        self.listen()

    def listen(self) -> None:
        path = str(self.place / "m/daemon.sock")
        if os.path.exists(path):
            os.unlink(path)
        self.listener.close()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen()
        open_door(path, str(self.place / "m" / FOLDER))

    def sandbox(self, **changed: object) -> Sandbox:
        agent = self.place / "home/.agent"
        given: dict[str, object] = {
            "cwd": str(self.place / "work"),
            "maestro_home": str(self.place / "m"),
            "socket": str(self.place / "m/daemon.sock"),
            "door": str(self.place / "m" / FOLDER),
            "own": OwnFolders((str(agent),), (str(agent / "settings.json"),)),
            "hidden": (str(self.place / "tmux-1000"),),
        }
        readable = (*_INTERPRETER, *cast("tuple[str, ...]", changed.get("readable", ())))
        return Sandbox(**given | changed | {"readable": readable})  # type: ignore[arg-type]  # a test's keywords

    def run(self, *argv: str, **changed: object) -> subprocess.CompletedProcess[str]:
        words = isolated(argv, self.sandbox(**changed), shutil.which("bwrap"))
        return run(words, text=True, stdin=subprocess.DEVNULL)

    def shell(self, script: str, **changed: object) -> subprocess.CompletedProcess[str]:
        return self.run("sh", "-c", script, **changed)


@pytest.fixture
def room(place: Path) -> Iterator[Room]:
    made = Room(place)
    yield made
    made.listener.close()


def test_where_it_is_required_a_sandbox_that_cannot_run_is_no_skip() -> None:
    assert works() or not IS_REQUIRED, str(LACK)


def test_without_bubblewrap_there_is_a_clear_word(room: Room) -> None:
    with pytest.raises(NotFound, match="bubblewrap is not installed") as caught:
        isolated(["true"], room.sandbox(), None)
    assert "package bubblewrap" in caught.value.hint


def test_only_one_that_shares_its_terminal_loses_it(room: Room) -> None:
    assert "--new-session" not in isolated(["true"], room.sandbox(), "bwrap")
    assert "--new-session" in isolated(["true"], room.sandbox(shares_terminal=True), "bwrap")


@needs_bwrap
def test_it_writes_its_own_folders_and_nothing_else(room: Room) -> None:
    place = room.place
    done = room.shell(
        f"pwd; echo a > here && echo b > {place}/home/.agent/projects/log && echo c > /tmp/private"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(place / "work")
    assert (place / "work/here").read_text() == "a\n"
    assert (place / "home/.agent/projects/log").read_text() == "b\n"
    assert not Path("/tmp/private").exists()
    for path in (f"{place}/home/.agent/settings.json", "/etc/mine", "/usr/mine", "/proc/sys/kernel/hostname"):
        assert room.shell(f"echo x > {path}").returncode != 0, path
    assert (place / "home/.agent/settings.json").read_text() == "{}"
    swap = f"cd {place}/home/.agent && echo evil > s && mv s settings.json || rm settings.json"
    assert room.shell(swap).returncode != 0
    assert (place / "home/.agent/settings.json").read_text() == "{}"


@needs_bwrap
def test_it_sees_neither_maestro_nor_tmux_nor_other_processes(room: Room) -> None:
    (room.place / "tmux-1000/default").write_text("socket")
    seen = room.shell(
        f"ls -A {room.place}/m {room.place}/tmux-1000 {room.place}/other /run; ls /proc | grep -c '^[0-9]'"
    )
    assert "maestro.db" not in seen.stdout
    assert "worktrees" not in seen.stdout
    assert "default" not in seen.stdout
    assert "daemon.sock" in seen.stdout
    assert int(seen.stdout.split()[-1]) < 8
    assert room.shell(f"kill -0 {os.getpid()}").returncode != 0


CONNECT = (
    "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.sendall(b'report')"
)


@needs_bwrap
def test_it_reports_to_a_daemon_that_was_started_again_meanwhile(room: Room) -> None:
    address = str(room.place / "m/daemon.sock")
    waiting = f"import sys; print('up', flush=True); sys.stdin.readline(); {CONNECT}"
    words = isolated(
        [sys.executable, "-I", "-S", "-c", waiting, address],
        room.sandbox(),
        shutil.which("bwrap"),
    )
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdin
        assert child.stdout
        assert child.stdout.readline() == "up\n"
        room.listen()
        heard: list[bytes] = []

        def hear() -> None:
            connection, _ = room.listener.accept()
            with connection:
                heard.append(connection.recv(100))

        ear = threading.Thread(target=hear, daemon=True)
        ear.start()
        child.stdin.write("go\n")
        child.stdin.flush()
        assert end_of(child) == 0
        ear.join(timeout=patience(60))
        assert heard == [b"report"]


def a_worktree(room: Room, monkeypatch: pytest.MonkeyPatch) -> tuple[Worktree, dict[str, object]]:
    """A worktree of the repository `other`, and what an isolated session in it may do."""
    place = room.place
    monkeypatch.setenv("HOME", str(place))
    (place / ".gitconfig").write_text(
        "[user]\nname = T\nemail = t@example.org\n[init]\ndefaultBranch = main\n"
    )
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "begin"]):
        subprocess.run(["git", *words], cwd=place / "other", check=True)
    tree = worktrees.create(str(place / "other"), str(place / "m/worktrees/sess_1"), "sess_1", "t")
    folders = git_folders(tree.path)
    return tree, {
        "readable": (str(place / ".gitconfig"), *folders.readable),
        "cwd": tree.path,
        "writable": folders.writable,
        "copies": copies(folders, str(place / "copies")),
        "protected": folders.protected,
    }


@needs_bwrap
def test_no_link_among_its_logs_of_refs_leads_git_outside_to_a_file_of_its_person(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree, allowed = a_worktree(room, monkeypatch)
    shell = room.place / ".bashrc"
    shell.write_text("mine\n")
    done = room.shell(
        "git switch -qc 'maestro/x;evil' && echo x > new && git add -A && git commit -qm work && git reflog -1 && "
        "logs=$(git rev-parse --git-common-dir)/logs && own=$(git rev-parse --git-dir)/logs && "
        f"for log in $logs/HEAD $logs/refs/heads/main $own/HEAD; do ln -sf {shell} $log || exit; done",
        **allowed,
    )
    assert done.returncode == 0, done.stderr
    assert "commit: work" in done.stdout
    worktrees.merge(tree)
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "evil"], cwd=tree.path, check=True)
    assert shell.read_text() == "mine\n"


@needs_bwrap
def test_it_commits_in_its_worktree_but_cannot_change_what_git_runs(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = room.place
    repository = place / "other"
    tree, allowed = a_worktree(room, monkeypatch)
    folders = git_folders(tree.path)
    done = room.shell(
        "echo x > new && git add -A && git commit -qm work && git status --porcelain", **allowed
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert worktrees.merge(tree).files == ("new",)
    own = folders.writable[-1]
    for attack in (
        "git config core.fsmonitor evil",
        f"echo evil > {repository}/.git/hooks/pre-commit",
        f"mv {repository}/.git/hooks {repository}/.git/h2",
        f"mv {repository}/.git/worktrees {repository}/.git/w2",
        f"mv {own} {own}2",
        f"echo /evil > {own}/commondir",
        f"rm -f {tree.path}/.git",
        f"mv {tree.path}/.git {tree.path}/g",
    ):
        assert room.shell(attack, **allowed).returncode != 0, attack
    room.shell(f"echo x > {repository}/file", **allowed)
    assert not (repository / "file").exists()


def test_it_does_not_work_where_its_person_lives(room: Room) -> None:
    for changed in ({"homes": (str(room.place / "work/me"),)}, {"cwd": str(room.place)}, {"cwd": "/"}):
        with pytest.raises(InvalidInput, match="cannot work in"):
            isolated(["true"], room.sandbox(**changed), "bwrap")


@needs_bwrap
def test_of_a_home_it_sees_programs_and_nothing_else(place: Path) -> None:
    home, outside = place / "person", place / "elsewhere"
    outside.mkdir()
    for name, content in (
        (".local/bin/tool", "#!/bin/sh\necho tool"),
        (".local/lib/part", "part"),
        (".local/share/keyrings/login", "secret"),
        (".cargo/bin/cargo", "#!/bin/sh\necho cargo"),
        (".cargo/credentials.toml", "secret"),
        ("node/lib/node_modules/@x/cli/bin/cli", "#!/bin/sh\ncat $(dirname $0)/../part"),
        ("node/lib/node_modules/@x/cli/part", "package"),
        ("opt/app/run", "#!/bin/sh\necho app"),
        (".gitconfig", "[user]"),
        (".config/git/credentials", "secret"),
        ("bin/own", "#!/bin/sh\necho own"),
        ("diary.txt", "secret"),
    ):
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        path.chmod(0o755)
    (home / ".local/bin/cli").symlink_to(home / "node/lib/node_modules/@x/cli/bin/cli")
    (home / ".local/bin/app").symlink_to(home / "opt/app/run")
    (home / ".local/bin/out").symlink_to(outside)
    env = {"PATH": f"{home}/.local/bin:{home}/.cargo/bin:{home}/bin:{home}:/usr/bin"}
    seen = {
        os.path.relpath(path, home) for path in toolchains.readable(env, (str(home), f"{home}/opt/app/m"))
    }
    assert seen == {
        ".local/bin", ".local/lib", ".cargo/bin", "node/lib/node_modules/@x/cli", ".gitconfig", "bin",
    }  # fmt: skip


def test_parts_of_a_home_that_lie_elsewhere_are_part_of_it(place: Path) -> None:
    env = {
        "HOME": str(place / "home"),
        "XDG_CONFIG_HOME": str(place / "c"),
        "XDG_DATA_HOME": str(place / "d"),
    }
    for name in ("home", "c/git/config", "c/gh/hosts.yml", "d/uv/python", "d/keyrings/login"):
        (place / name).mkdir(parents=True)
    homes = toolchains.homes(env)
    assert {env["XDG_CONFIG_HOME"], env["XDG_DATA_HOME"]} < set(homes)
    seen = {
        os.path.relpath(path, place)
        for path in toolchains.readable(env, homes)
        if path.startswith(f"{place}/")
    }
    assert seen == {"c/git/config", "d/uv"}


@needs_bwrap
def test_all_of_it_ends_with_its_tree(room: Room) -> None:
    script = "setsid sh -c 'trap \"\" TERM HUP; echo up; sleep 600' & trap '' TERM; wait"
    words = isolated(["sh", "-c", script], room.sandbox(), shutil.which("bwrap"))
    marked = os.environ | {"MAESTRO_SESSION_ID": f"sess_isolated{os.getpid()}"}
    child = subprocess.Popen(words, stdout=subprocess.PIPE, env=marked, start_new_session=True)
    assert child.stdout
    assert child.stdout.readline() == b"up\n"
    ended = end_tree(identify(child.pid), marked["MAESTRO_SESSION_ID"], grace=0.05)
    child.wait()
    child.stdout.close()
    assert len(ended) >= 4
    assert all(start_time(process.pid) is None for process in ended)
