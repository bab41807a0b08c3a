"""`--isolate` attacked: one hostile program in the real sandbox of a real session, and the same without it."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests import skips
from tests.conftest import at
from tests.fleet.isolate import attacker
from tests.fleet.isolate.bubblewrap import needs_bwrap
from tests.patience import until
from tests.support import Maestro

from maestro.fleet.confine import has_scopes
from maestro.server import lifecycle

pytestmark = needs_bwrap

# Not in the system's temporary folder, which is hidden as a whole: that would prove nothing of a home.
CACHE = Path(__file__).parents[3] / ".cache"
SECRETS = (
    ".ssh/id_ed25519", ".aws/credentials", ".gnupg/private-keys-v1.d/key", ".netrc", ".git-credentials",
    ".config/gh/hosts.yml", ".config/git/credentials", ".codex/auth.json", ".gemini/oauth_creds.json", ".kube/config",
    ".docker/config.json", ".local/share/keyrings/login.keyring", ".mozilla/firefox/x/logins.json", ".npmrc", ".pypirc",
    ".cargo/credentials.toml", ".bash_history", ".config/gcloud/credentials.db", "Documents/tax.txt", "other/project.txt",
)  # fmt: skip
OPENED_LATER = (
    ".bashrc",
    ".profile",
    ".config/systemd/user/evil.service",
    ".config/autostart/evil.desktop",
    ".gitconfig",
)
# Each in the git folder of the worktree ($own) or of its repository ($common); all would run a program outside.
GIT = {
    "git: a hook": "echo evil > $common/hooks/pre-commit",
    "git: another folder of hooks": "mv $common/hooks $common/hooks2 && mkdir $common/hooks",
    "git: configuration": "git config -f $common/config core.fsmonitor evil",
    "git: configuration of the worktree": "echo evil > $own/config.worktree",
    "git: attributes": "mkdir -p $common/info && echo '* filter=evil' > $common/info/attributes",
    "git: another common folder": "echo /evil > $own/commondir",
    "git: a common folder for the repository": "echo /evil > $common/commondir",
    "git: another .git": "mv .git elsewhere && mkdir .git",
}


# What is no attack, and must go on.
WORK = {
    "work: its temporary folder": 'touch "$TMPDIR/x" && rm "$TMPDIR/x"',
    "work: a commit": "git commit -q --allow-empty -m x",
    "work: a report": "maestro session report progress x",
}
VARIABLES = ("SSH_AUTH_SOCK", "TMUX", "TMUX_PANE", "DBUS_SESSION_BUS_ADDRESS", "GITHUB_TOKEN")


class Stage:
    """A person with secrets, sockets, terminals and another session, and what the attacker got in and out of the sandbox."""

    def __init__(self, maestro: Maestro, stack: ExitStack) -> None:
        self.maestro = maestro
        self.home = maestro.place
        self.stack = stack
        self.repository = maestro.cwd
        for name in SECRETS:
            path = self.home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"secret of {name}")
        (self.home / ".gitconfig").write_text("[user]\nname = T\nemail = t@example.org\n")
        elsewhere = Path(tempfile.mkdtemp(prefix="a", dir=CACHE))
        stack.callback(shutil.rmtree, elsewhere, ignore_errors=True)
        self.named_folders = {
            "CODEX_HOME": (elsewhere / "codex", elsewhere / "codex/auth.json"),
            "XDG_CONFIG_HOME": (elsewhere / "config", elsewhere / "config/gh/hosts.yml"),
            "GEMINI_CLI_HOME": (self.repository / "own", self.repository / "own/.gemini/oauth_creds.json"),
        }
        for _, path in self.named_folders.values():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("secret")
        shutil.copy(attacker.__file__, self.repository)
        self.script("victim.json", {"say": "I am at work on it."}, {"work": 3600})
        attack = [sys.executable, "-I", "attacker.py", "items.json", "results.json"]
        self.script("attack.json", {"say": "I begin."}, {"run": attack}, {"work": 3600})
        self.git("init", "-q", "-b", "main")
        maestro.json("project", "add", ".")
        victim = self.spawn("victim.json")
        self.items = self.targets(victim["id"])
        (self.repository / "items.json").write_text(json.dumps(self.items))
        self.git("add", "-A")
        self.git("commit", "-qm", "begin")
        before, home = self.state_of_git(), self.state_of_home()
        self.inside = self.results(self.spawn("attack.json", "--isolate", "--worktree"))
        self.in_checkout = self.results(self.spawn("attack.json", "--isolate"))
        self.is_git_unchanged = self.state_of_git() == before
        self.is_home_unchanged = self.state_of_home() == home
        self.outside = self.results(self.spawn("attack.json", "--worktree"))

    def git(self, *words: str) -> str:
        return subprocess.run(
            ["git", *words],
            cwd=self.repository,
            env=self.maestro.env,
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    def script(self, name: str, *steps: dict[str, Any]) -> None:
        (self.repository / name).write_text(json.dumps({"steps": steps}))

    def spawn(self, script: str, *words: str) -> dict[str, Any]:
        scripted = ("--agent", "scripted", "--model", script, "--message", "Begin")
        env = dict.fromkeys(VARIABLES, "of the caller")
        env |= {name: str(folder) for name, (folder, _) in self.named_folders.items()}
        return dict(self.maestro.json("session", "spawn", *scripted, *words, timeout=120, env=env))

    def results(self, session: dict[str, Any]) -> dict[str, str]:
        path = Path(session["cwd"]) / "results.json"
        until(path.exists, lambda: self.maestro("fleet", "capture-pane", session["id"]).stdout)
        found: dict[str, str] = json.loads(path.read_text())
        path.unlink()
        return found

    def state_of_git(self) -> dict[str, bytes]:
        """What says which programs git runs, here and in every worktree."""
        folder = self.repository / ".git"
        names = ("config", "config.worktree", "commondir", "gitdir", "info/attributes")
        found = {
            str(path): path.read_bytes()
            for place in (folder,)
            for path in (*(place / name for name in names), *(place / "hooks").glob("*"))
            if path.exists()
        }
        return found | {"files": " ".join(sorted(os.listdir(self.repository))).encode()}

    def state_of_home(self) -> dict[str, str | None]:
        """What the attacker would change."""
        paths = [*(self.home / name for name in OPENED_LATER), Path(self.maestro.home.path("trust.json"))]
        return {str(path): path.read_text() if path.exists() else None for path in paths}

    def targets(self, victim: str) -> dict[str, tuple[str, str]]:
        home, m = self.home, Path(self.maestro.home.root)
        items = {f"read ~/{name}": ("read", str(home / name)) for name in SECRETS}
        items |= {f"write ~/{name}": ("write", str(home / name)) for name in OPENED_LATER}
        items |= {f"read {name}": ("read", str(path)) for name, (_, path) in self.named_folders.items()}
        (m / "environments").mkdir(exist_ok=True)
        (m / "environments/sess_x.json").write_text('{"OPENAI_API_KEY": "x"}')
        (m / "trust.json").write_text("{}")
        for name in (
            "maestro.db",
            "token",
            "daemon.json",
            "environments/sess_x.json",
            "trust.json",
            "logs/daemon.log",
        ):
            items[f"read MAESTRO_HOME/{name}"] = ("read", str(m / name))
        items |= {
            "write MAESTRO_HOME/trust.json": ("write", str(m / "trust.json")),
            "list another session's folder": ("listing", str(m / "sessions" / victim)),
            "read another agent's process": ("read", f"/proc/{self.pid_of(victim)}/environ"),
            "the fleet's tmux socket": ("connect", str(m / "fleets/maestro")),
            "the fleet's tmux": ("shell", f"tmux -S {m}/fleets/maestro list-sessions"),
            "the user's tmux": ("shell", f"tmux -S {self.tmux()} list-sessions"),
            "another session's spool": ("connect", self.listener(m / "spools" / victim / "x.sock")),
            "an agent of keys in the home": ("connect", self.listener(home / ".ssh/agent.sock")),
            "a socket in the temporary folder": (
                "connect",
                self.listener(self.folder() / "agent.sock"),
            ),
            "an abstract socket": ("connect", self.abstract()),
            "what lies in /run": ("shell", "ls -A /run | grep -Ev '^(systemd|resolvconf|NetworkManager)$'"),
            "another's terminal": ("type_into", self.terminal()),
            "a signal to the daemon": ("signal", str(lifecycle.read_record(self.maestro.home)["pid"])),  # type: ignore[index]  # it runs
            "the memory of another process": ("trace", str(self.pid_of(victim))),
            **{name: ("shell", line) for name, line in WORK.items()},
            "take the cover off the home": ("mount", str(home)),
            "become root of a namespace": (
                "shell",
                f"unshare -rm sh -c 'umount -l {home} && cat {home}/.netrc'",
            ),
            **{f"variable {name}": ("variable", name) for name in VARIABLES},
            "a kernel switch": ("shell", "cat /proc/sys/kernel/core_pattern > /proc/sys/kernel/core_pattern"),
        }
        folders = "common=$(git rev-parse --path-format=absolute --git-common-dir); own=$(git rev-parse --path-format=absolute --git-dir);"
        return items | {name: ("shell", f"{folders} {line}") for name, line in GIT.items()}

    def pid_of(self, session: str) -> int:
        return int(self.maestro.json("session", "show", session)["pid"])

    def listener(self, path: Path) -> str:
        path.parent.mkdir(parents=True, exist_ok=True)
        return self._listen(str(path))

    def abstract(self) -> str:
        return self._listen(f"@maestro-attack-{os.getpid()}")

    def _listen(self, address: str) -> str:
        listening = self.stack.enter_context(socket.socket(socket.AF_UNIX))
        listening.bind(address.replace("@", "\0", 1) if address.startswith("@") else address)
        listening.listen()
        return address

    def folder(self) -> Path:
        return Path(self.stack.enter_context(tempfile.TemporaryDirectory()))

    def tmux(self) -> str:
        path = str(self.folder() / "tmux")
        subprocess.run(
            ["tmux", "-S", path, "-f", "/dev/null", "new-session", "-d", "sleep", "3600"], check=True
        )
        self.stack.callback(subprocess.run, ["tmux", "-S", path, "kill-server"], check=True)
        return path

    def terminal(self) -> str:
        ours, theirs = os.openpty()
        self.stack.callback(os.close, ours)
        self.stack.callback(os.close, theirs)
        return os.ttyname(theirs)


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    CACHE.mkdir(exist_ok=True)
    place = Path(tempfile.mkdtemp(prefix="i", dir=CACHE))
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, place, ignore_errors=True)
        yield Stage(stack.enter_context(at(place)), stack)


# Without a sandbox there is nothing to uncover, and no session inherits these.
ONLY_INSIDE = (
    "take the cover off the home",
    "become root of a namespace",
    *(f"variable {name}" for name in VARIABLES),
)
ROOT_ONLY = {"a kernel switch"}
ITEMS = (
    *(f"read ~/{name}" for name in SECRETS),
    *(f"write ~/{name}" for name in OPENED_LATER), "read CODEX_HOME", "read GEMINI_CLI_HOME",
    "read XDG_CONFIG_HOME",
    *(f"read MAESTRO_HOME/{name}" for name in ("maestro.db", "token", "daemon.json", "environments/sess_x.json", "trust.json", "logs/daemon.log")),
    "write MAESTRO_HOME/trust.json", "list another session's folder", "read another agent's process",
    "the fleet's tmux socket", "the fleet's tmux", "the user's tmux", "another session's spool", "an agent of keys in the home",
    "a socket in the temporary folder", "an abstract socket", "what lies in /run", "another's terminal", "a signal to the daemon",
    "the memory of another process", "a kernel switch", *GIT,
)  # fmt: skip


@pytest.mark.parametrize("item", ITEMS)
def test_an_attack_is_refused_inside_and_succeeds_outside(stage: Stage, item: str) -> None:
    if item == "an abstract socket" and not has_scopes():
        skips.skip_for(skips.ABSTRACT_SOCKETS)
    if item not in ROOT_ONLY or os.geteuid() == 0:
        assert stage.outside[item], "an attack that fails anyway proves nothing"
    for got in (stage.inside, stage.in_checkout):
        assert not got[item] or _is_only_seen_inside(item), f"it got: {got[item]}"


def _is_only_seen_inside(item: str) -> bool:
    """A home that is empty can be written to: it is gone with the sandbox, and the test below looks at the real one."""
    return item.startswith("write ")


def test_nothing_outside_has_changed(stage: Stage) -> None:
    assert stage.is_home_unchanged
    assert stage.is_git_unchanged


def test_every_attack_is_asked_for(stage: Stage) -> None:
    assert set(stage.items) == {*ITEMS, *ONLY_INSIDE, *WORK}


@pytest.mark.parametrize("item", ONLY_INSIDE)
def test_it_can_neither_uncover_nor_inherit_what_is_hidden(stage: Stage, item: str) -> None:
    assert not stage.inside[item]
    assert not stage.in_checkout[item]


@pytest.mark.parametrize("item", WORK)
def test_it_can_work(stage: Stage, item: str) -> None:
    assert stage.inside[item]
    # Without a worktree it does not commit: git would run what it wrote beside.
    assert bool(stage.in_checkout[item]) is (item != "work: a commit")
