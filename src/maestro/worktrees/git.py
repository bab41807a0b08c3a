"""Runs git: words as a list, no shell, no prompts, nothing of the caller's own git variables."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping

from maestro import processes
from maestro.errors import Conflict, GitFailed, NotFound, TimedOut
from maestro.redact import clean

_SECONDS = 300.0
_PASSED_ON = frozenset({"HOME", "LANG", "LOGNAME", "PATH", "TMPDIR", "TZ", "USER", "XDG_CONFIG_HOME"})
_QUIET = {"GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": ":", "LC_ALL": "C.UTF-8"}


class Git:
    """git in one folder."""

    def __init__(self, folder: str, env: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        inherited = {name: value for name, value in os.environ.items() if name in _PASSED_ON}
        self._env = inherited | _QUIET | dict(env or {})

    def with_env(self, env: Mapping[str, str]) -> Git:
        return Git(self.folder, self._env | dict(env))

    def raw(self, *words: str, stdin: bytes = b"") -> bytes:
        done = self.answer(*words, stdin=stdin)
        if done.returncode != 0:
            raise _failed(words[0], done)
        return done.stdout

    def __call__(self, *words: str) -> str:
        """The answer, without the line end."""
        return self.raw(*words).decode("utf-8", "surrogateescape").removesuffix("\n")

    def says_yes(self, *words: str) -> bool:
        """For questions that git answers by its exit code, 0 or 1."""
        done = self.answer(*words)
        if done.returncode not in {0, 1}:
            raise _failed(words[0], done)
        return done.returncode == 0

    def names(self, *words: str) -> tuple[str, ...]:
        """The answer of a command that was given -z: names as they are, whatever is in them."""
        answer = self.raw(*words).decode("utf-8", "surrogateescape")
        return tuple(name for name in answer.split("\0") if name)

    def maybe(self, *words: str) -> str | None:
        """The answer, or None when there is none."""
        try:
            return self(*words)
        except GitFailed:
            return None

    def answer(self, *words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """The exit code and everything that git said."""
        try:
            return subprocess.run(
                ["git", "-c", "core.quotePath=false", *words],
                cwd=self.folder,
                env=self._env,
                input=stdin,
                capture_output=True,
                timeout=_SECONDS,
                check=False,
                umask=processes.umask_of_user(),
            )
        except FileNotFoundError as error:
            if error.filename == "git":
                raise NotFound(
                    "git is not installed.", hint="Install it, or leave out --worktree."
                ) from error
            raise NotFound(f"There is no folder {self.folder}.") from error
        except NotADirectoryError as error:
            raise Conflict(f"{self.folder} is not a folder.") from error
        except subprocess.TimeoutExpired as error:
            raise TimedOut(f"git {words[0]} took over {_SECONDS:.0f} s in {self.folder}.") from error


def _failed(verb: str, done: subprocess.CompletedProcess[bytes]) -> GitFailed:
    words = clean(done.stderr.decode("utf-8", "replace")).strip()
    return GitFailed(f"git {verb} failed: {words or 'it said nothing'}.", words=words)
