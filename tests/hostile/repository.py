"""A hostile repository: every file that Maestro, git or one of the three CLIs reads from a project, all malicious.

Whatever acts leaves a file in the canary, a folder outside of the repository. `python -m tests.hostile.repository` prints
the table of files, and what each tries.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.hostile import brought, files_of_clis, files_of_git, files_of_maestro
from tests.hostile.brought import EVIL, Brought

from maestro import processes

COMMITTED: tuple[Brought, ...] = (*files_of_maestro.FILES, *files_of_clis.FILES, *files_of_git.FILES)
LATER: tuple[Brought, ...] = files_of_git.LATER
EVERYTHING: tuple[Brought, ...] = (*COMMITTED, *LATER)

_EVIL = """\
#!/bin/sh
# Leaves evidence that something of this repository ran, and by whom.
ps -o args= -p "$PPID" > "{canary}/$1" 2>/dev/null || : > "{canary}/$1"
"""
_GIT = (
    "git", "-c", "user.name=Eve", "-c", "user.email=eve@example.org", "-c", "init.defaultBranch=main",
    "-c", "core.hooksPath=/dev/null", "-c", "advice.addEmbeddedRepo=false",
)  # fmt: skip


@dataclass(frozen=True)
class Repository:
    """Where it is, and what the words in its files stand for."""

    folder: Path
    canary: Path
    outside: Path
    stranger: int = 1
    port: int = 9

    def make(self, names: Collection[str] = ()) -> Repository:
        """Makes a git repository with all files, or only with those of these names, and commits them."""
        self.folder.mkdir(exist_ok=True)
        self.canary.mkdir(exist_ok=True)
        self.outside.mkdir(exist_ok=True)
        if not (self.folder / ".git").exists():
            self.git("init", "--quiet")
            (self.folder / "README").write_text("A shop.\n")
            self.commit("Begin")
        return self.turn_hostile(names)

    def turn_hostile(self, names: Collection[str] = ()) -> Repository:
        """Brings the files, as a pull does; then those of `.git`, as whoever can write there does."""
        (self.folder / EVIL).write_text(_EVIL.format(canary=self.canary))
        (self.folder / EVIL).chmod(0o755)
        self._write(_chosen(COMMITTED, names))
        if not names or "git-nested" in names:
            self.nest(self.folder)
        self.commit("Add what a project needs")
        if not names or "git-nested" in names:
            _append(
                self.folder / files_of_git.NESTED / ".git" / "config", self.filled(files_of_git.NESTED_CONFIG)
            )
        self._write(_chosen(LATER, names))
        return self

    def nest(self, tree: Path) -> Path:
        """Makes a repository in a work tree; its configuration is still git's own."""
        nested = tree / files_of_git.NESTED
        nested.mkdir(parents=True, exist_ok=True)
        if not (nested / ".git").exists():
            self.git("init", "--quiet", cwd=nested)
            (nested / "code.txt").write_text("nested\n")
            self.git("add", "--all", cwd=nested)
            self.git("commit", "--quiet", "-m", "Nested", cwd=nested)
        (nested / "code.txt").write_text("changed\n")
        return nested

    def poison(self, tree: Path) -> None:
        """Does what a worker can do in its own work tree: a nested repository whose configuration names programs."""
        nested = self.nest(tree)
        _append(nested / ".git" / "config", self.filled(files_of_git.NESTED_CONFIG))

    def commit(self, message: str) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", message)

    def git(self, *words: str, cwd: Path | None = None) -> str:
        done = subprocess.run(
            [*_GIT, *words], cwd=cwd or self.folder, capture_output=True, text=True, check=False,
            env={"PATH": os.environ["PATH"], "HOME": str(self.canary.parent), "GIT_CONFIG_NOSYSTEM": "1"},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def filled(self, text: str) -> str:
        values = {
            f'"{brought.STRANGER}"': str(self.stranger),
            brought.CANARY: str(self.canary),
            brought.OUTSIDE: str(self.outside),
            brought.REPOSITORY: str(self.folder),
            brought.PORT: str(self.port),
            brought.BOOT: processes.boot_id(),
        }
        for word, value in values.items():
            text = text.replace(word, value)
        return text

    def evidence(self) -> Mapping[str, str]:
        """Returns what has acted, each with the command line of whoever made it act."""
        return {path.name: path.read_text(errors="replace").strip() for path in sorted(self.canary.iterdir())}

    def _write(self, files: Collection[Brought]) -> None:
        written: set[Path] = set()
        for one in files:
            path = self.folder / one.path
            path.parent.mkdir(parents=True, exist_ok=True)
            if one.link:
                path.symlink_to(self.filled(one.link))
            elif path in written or one.path == ".git/config":
                _append(path, self.filled(one.content))
            else:
                path.write_text(self.filled(one.content))
                path.chmod(one.mode)
            written.add(path)


def _chosen(files: Collection[Brought], names: Collection[str]) -> list[Brought]:
    return [one for one in files if not names or one.name in names]


def _append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


if __name__ == "__main__":
    for one in EVERYTHING:
        print(f"{one.path:<60} {one.name:<24} {one.tries}")  # noqa: T201 - it is a table for people
