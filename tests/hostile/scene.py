"""A user with Maestro, the three CLIs as fakes, a stranger's process and a hostile repository; and what must not change.

A fake CLI does what the real one does with a project's files: without a terminal, or told that the folder is trusted, it
runs the project's hooks; otherwise it shows its own question and waits.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pty
import signal
import socketserver
import subprocess
import sys
import threading
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.hostile.brought import MARK
from tests.hostile.repository import Repository
from tests.patience import end_of
from tests.support import BIN, Maestro

CLIS = ("claude", "codex", "gemini")
UNTRUSTED = 9  # exit code
_SCREENS = Path(__file__).parent.parent / "agents" / "screens"
_DIALOGS = {
    "claude": "claude/2.1.325/dialog_trust.ansi",
    "codex": "codex/0.166.0/trust.ansi",
    "gemini": "gemini/0.61.0/35_trust.txt",
}
# Beside the repository: what Maestro, the agents and the tests themselves keep.
_OWN = frozenset(
    {"m", "claude", "codex", "gemini", "config", "repository", "canary", "work", "calls", "copy"}
)

_FAKE = """\
#!/bin/sh
# {name}, as far as a hostile project is concerned.
here=$(pwd -P)
echo "{name} $here $*" >> {calls}
tell() {{ echo "{name} $here: $*" > "{canary}/$1"; }}
headless= trusted=
for word in "$@"; do
  case "$word" in
    --version) echo 0.0.0; exit 0;;
    -p|exec|--output-format) headless=1;;
    --skip-trust|*trust_level*trusted*) trusted=1;;
    bypassPermissions|--dangerously-bypass-approvals-and-sandbox|yolo) tell fleet-unrestricted "$@";;
    --settings={repository}/*|-c*{repository}/*) tell tools-model "$@";;
  esac
done
case "$here" in
  {outside}*) tell fleet-cwd-outside "$@";;
  {repository}*)
    if [ -n "$headless" ]; then tell {name}-runs-project-hooks-headless "$@"; fi
    if [ -n "$trusted" ]; then tell {name}-was-told-to-trust "$@"; fi;;
esac
if [ -n "$headless" ]; then
  if grep -q {mark} 2>/dev/null; then tell model-was-given-its-words "$@"; fi
  echo '{{"type":"result","subtype":"success","is_error":false,"result":"no","session_id":"x"}}'
  exit 0
fi
cat {screen}
exec sleep 600
"""
# Of the user's own: a tool that leaves evidence when it is handed something.
_OWN_TOOLS = """\
[tools.own]
command = ["sh", "-c", ": > {canary}/$0; echo done", "own-tool"]
modes = ["write", "analysis"]
"""


class _Caught(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        line = self.request.recv(200).split(b"\r\n")[0].decode(errors="replace")
        canary = getattr(self.server, "canary")  # noqa: B009 - it is ours, not socketserver's
        (canary / "address-was-called").write_text(line)


@dataclass
class Scene:
    maestro: Maestro
    repository: Repository
    stranger: subprocess.Popen[bytes]

    program = BIN / "maestro"

    @property
    def folder(self) -> Path:
        return self.repository.folder

    def __call__(self, *words: str, **options: Any) -> subprocess.CompletedProcess[str]:
        """Runs a command in the repository, without a terminal."""
        options.setdefault("cwd", self.folder)
        if "input" not in options:
            options.setdefault("stdin", subprocess.DEVNULL)
        return self.maestro(*words, **options)

    def on_terminal(self, *words: str, typed: str) -> tuple[int, str]:
        """Runs a command at a terminal on which somebody types ahead; returns its exit code and what it showed."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [self.program, *words],
            env=self.maestro.env, cwd=self.folder, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        os.write(ours, typed.encode())
        shown = b""
        with contextlib.suppress(OSError):  # the other end is closed
            while block := os.read(ours, 1 << 16):
                shown += block
        os.close(ours)
        return end_of(process), shown.decode(errors="replace")

    def trust(self) -> None:
        done = self("trust", "--yes")
        assert done.returncode == 0, done.stderr

    def calls(self, name: str) -> list[str]:
        """Returns the command lines by which a fake CLI was started."""
        path = self.repository.canary.parent / "calls"
        lines = path.read_text().splitlines() if path.exists() else []
        return [line for line in lines if line.startswith(f"{name} ")]

    def surroundings(self) -> Mapping[str, str]:
        """Returns a digest of each file of the user's that is not Maestro's, an agent's or the repository's."""
        found: dict[str, str] = {}
        for top, folders, files in os.walk(self.maestro.place):
            if top == str(self.maestro.place):
                folders[:] = [name for name in folders if name not in _OWN]
                files[:] = [name for name in files if name not in _OWN]
            for name in (*folders, *files):
                path = Path(top) / name
                link = os.readlink(path) if path.is_symlink() else ""
                content = path.read_bytes() if path.is_file() else b""
                found[str(path)] = f"{path.lstat().st_mode:o} {link} {hashlib.sha256(content).hexdigest()}"
        return found


@contextlib.contextmanager
def staged(maestro: Maestro, names: Collection[str] = (), *, scripted: bool = True) -> Iterator[Scene]:
    """Opens a scene; with `names` the repository brings only these files."""
    place = maestro.place.resolve()
    with _catching(place / "canary") as port, _stranger() as stranger:
        repository = Repository(place / "repository", place / "canary", place / "outside", stranger.pid, port)
        repository.outside.mkdir()
        (repository.outside / "notes.md").write_text("# Mine\n")
        (place / "keep").write_text("mine\n")
        _install_clis(maestro, repository)
        maestro.env.pop("MAESTRO_TRUST_ONCE", None)  # other tests bring their projects themselves
        maestro.env["MAESTRO_SCRIPTED"] = "1"
        if not scripted:
            del maestro.env["MAESTRO_SCRIPTED"]
        home = Path(maestro.env["MAESTRO_HOME"])
        home.mkdir(mode=0o700, exist_ok=True)
        # A loop that has nothing to do ends soon.
        (home / "coordinate.config.json").write_text(
            '{"preset": "cautious", "timeouts": {"waitTimeout": 1}, "notify": {"desktop": false}}'
        )
        (home / "tools.toml").write_text(_OWN_TOOLS.format(canary=repository.canary))
        yield Scene(maestro, repository.make(names) if names is not NOTHING else _plain(repository), stranger)


NOTHING: Collection[str] = ("",)


def _plain(repository: Repository) -> Repository:
    """A repository that brings nothing yet."""
    return repository.make(NOTHING)


def _install_clis(maestro: Maestro, repository: Repository) -> None:
    programs = maestro.place / "bin"
    programs.mkdir()
    for name in CLIS:
        text = _FAKE.format(
            name=name,
            calls=maestro.place / "calls",
            canary=repository.canary,
            outside=repository.outside,
            repository=repository.folder,
            mark=MARK,
            screen=_SCREENS / _DIALOGS[name],
        )
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    maestro.env["PATH"] = f"{programs}:{maestro.env['PATH']}"


@contextlib.contextmanager
def _catching(canary: Path) -> Iterator[int]:
    """A server that tells the canary that somebody called."""
    canary.mkdir()
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Caught) as server:
        server.canary = canary  # type: ignore[attr-defined]  # for the handler
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


@contextlib.contextmanager
def _stranger() -> Iterator[subprocess.Popen[bytes]]:
    """A process of the user's that has nothing to do with Maestro."""
    process = subprocess.Popen(
        [sys.executable, "-S", "-c", "import time; time.sleep(3600)"], start_new_session=True
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.wait()


__all__ = ["CLIS", "NOTHING", "UNTRUSTED", "Scene", "staged"]
