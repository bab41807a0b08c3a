"""Runs git: words as a list, no shell, no prompts, nothing of the caller's own git variables.

git runs no program that a worker could have chosen. Its settings are the user's own, and those of the repository that
are harmless or confirmed (git_settings.py); the repository is found once, and then named to git at every call, so that a
`.git` that is put in its place later is not followed; repositories inside it are not entered.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping

import msgspec

from maestro import processes
from maestro.errors import Conflict, GitFailed, NotFound, TimedOut
from maestro.redact import clean
from maestro.worktrees.git_programs import Programs, confirmed, digest, hooks_in
from maestro.worktrees.git_settings import (
    HOOKS_PATH,
    NO_HOOKS,
    Confirmed,
    Setting,
    as_environment,
    conditional_includes,
    hooks_value,
    not_taken_back,
    overridden,
    overrides,
    parse_settings,
    programs_among,
)

_SECONDS = 300.0
_YOUNG_NANOSECONDS = 2_000_000_000  # two changes of a file in so short a time may look like one
_PASSED_ON = frozenset({"HOME", "LANG", "LOGNAME", "PATH", "TMPDIR", "TZ", "USER", "XDG_CONFIG_HOME"})
_QUIET = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": ":",
    "LC_ALL": "C.UTF-8",
    # Where objects are missing git fetches them. From a repository on this machine, that one's settings would count.
    "GIT_ALLOW_PROTOCOL": "https:http:ssh:git",
}
# What git does without a look into the repositories inside this one. A commit that was made there still counts.
_NOT_ENTERED = {
    "status": ("--ignore-submodules=dirty",),
    "diff": ("--ignore-submodules=dirty", "--submodule=short", "--no-ext-diff", "--no-textconv"),
}


class Place(msgspec.Struct, frozen=True):
    """A repository, and the worktree of it that git works in."""

    git_folder: str
    common: str  # the same, or that of the repository which the worktree was made of
    top: str

    @property
    def variables(self) -> dict[str, str]:
        shared = {} if self.git_folder == self.common else {"GIT_COMMON_DIR": self.common}
        return {"GIT_DIR": self.git_folder, "GIT_WORK_TREE": self.top} | shared


class Git:
    """git in one folder."""

    def __init__(
        self,
        folder: str,
        env: Mapping[str, str] | None = None,
        place: Place | None = None,
        agreed: Confirmed | None = None,
    ) -> None:
        """`place`: where it is known already; else git finds it from the folder. `agreed`: what of the repository's
        own configuration counts, instead of what the user has confirmed."""
        self.folder = folder
        inherited = {name: value for name, value in os.environ.items() if name in _PASSED_ON}
        # A relative folder among those of programs would be one of the worker's tree.
        found_in = [path for path in inherited.get("PATH", "").split(":") if path.startswith("/")]
        self._env = inherited | {"PATH": ":".join(found_in)} | _QUIET | dict(env or {})
        self._place = place
        self._agreed = agreed
        self._known: tuple[tuple[object, ...], tuple[Setting, ...]] | None = None

    def with_env(self, env: Mapping[str, str]) -> Git:
        return Git(self.folder, self._env | dict(env), self._place, self._agreed)

    @property
    def place(self) -> Place | None:
        """The repository; None when the folder is in none, or in none that has files."""
        if self._place is None:
            self._place = self._find()
        return self._place

    def programs(self) -> Programs:
        """Returns what the repository's own configuration would make git run."""
        place = self.place
        if place is None:
            return Programs("")
        settings = self._settings(place)
        found = programs_among(settings)
        everything = Confirmed(frozenset((one.key, one.value) for one in found))
        folder, is_of_user = _hooks_folder(place, hooks_value(settings, everything))
        return Programs(place.common, found, folder, () if is_of_user else hooks_in(folder))

    def raw(self, *words: str, stdin: bytes = b"") -> bytes:
        done = self.answer(*words, stdin=stdin)
        if done.returncode != 0:
            raise self._failed(words[0], done)
        return done.stdout

    def __call__(self, *words: str) -> str:
        """The answer, without the line end."""
        return self.raw(*words).decode("utf-8", "surrogateescape").removesuffix("\n")

    def says_yes(self, *words: str) -> bool:
        """For questions that git answers by its exit code, 0 or 1."""
        done = self.answer(*words)
        if done.returncode not in {0, 1}:
            raise self._failed(words[0], done)
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
        place = self.place
        settings = self._settings(place)
        agreed = self._confirmed(place)
        if found := not_taken_back(settings, agreed):
            raise Conflict(
                f"The configuration of the repository {place.common if place else self.folder} names programs that git "
                f"would run whatever else it is told ({', '.join(found)}), so Maestro runs no git there.",
                hint="Look at them; then confirm them with `maestro trust`, or move them into your own configuration.",
            )
        pairs = (
            *overrides(settings, agreed),
            (HOOKS_PATH, _hooks(place, hooks_value(settings, agreed), agreed)),
        )
        words = (words[0], *_NOT_ENTERED.get(words[0], ()), *words[1:])
        return self._run(words, {**_variables(place), **as_environment(pairs)}, stdin)

    def _confirmed(self, place: Place | None) -> Confirmed:
        if self._agreed is not None:
            return self._agreed
        return confirmed(place.common, self._settings(place)) if place else Confirmed()

    def _find(self) -> Place | None:
        done = self._run(
            ("rev-parse", "--absolute-git-dir", "--git-common-dir", "--show-toplevel"),
            as_environment([("safe.barerepository", "explicit")]),
        )
        if done.returncode != 0:
            return None
        lines = done.stdout.decode("utf-8", "surrogateescape").removesuffix("\n").split("\n")
        if len(lines) != 3:
            raise Conflict(f"The path of the repository of {self.folder} has a line break in it.")
        place = Place(*(os.path.realpath(os.path.join(self.folder, line)) for line in lines))
        if place.top != _top_above(self.folder):
            raise Conflict(
                f"The repository {place.git_folder} says that its files are in {place.top}, which is not where it is.",
                hint=f"If you did not set this, type: git config --file {place.common}/config --unset core.worktree",
            )
        return place

    def _settings(self, place: Place | None) -> tuple[Setting, ...]:
        """Returns all settings; those of the last time while the repository's own files are the same."""
        state = _state_of_settings(place) if place else None
        if self._known is not None and self._known[0] == state:
            return self._known[1]
        settings = self._listed(place)
        is_all_there = not any(one.is_of_repository and one.key.startswith("include") for one in settings)
        self._known = (state, settings) if state and is_all_there else None
        return settings

    def _listed(self, place: Place | None) -> tuple[Setting, ...]:
        done = self._run(("config", "--list", "--show-scope", "-z"), _variables(place))
        if done.returncode != 0:
            raise _failed("config", done)
        settings = parse_settings(done.stdout)
        if found := conditional_includes(settings):
            raise Conflict(
                f"The configuration of the repository {place.common if place else self.folder} depends on "
                f"conditions ({', '.join(found)}), so Maestro runs no git there.",
                hint="Move the includeIf into your own configuration: git config --global --edit",
            )
        return settings

    def _run(
        self, words: tuple[str, ...], env: Mapping[str, str], stdin: bytes = b""
    ) -> subprocess.CompletedProcess[bytes]:
        try:
            return subprocess.run(
                ["git", "--no-pager", *words],
                cwd=self.folder,
                env={**self._env, **env},
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

    def _failed(self, verb: str, done: subprocess.CompletedProcess[bytes]) -> GitFailed:
        left_out = self.unconfirmed()
        hint = (
            f"Maestro's git runs nothing that only the repository's own configuration names: {', '.join(left_out)}."
            if left_out
            else ""
        )
        return _failed(verb, done, hint)

    def unconfirmed_hooks(self) -> tuple[str, ...]:
        """Returns the names of hooks that the repository has, and that git does not run here."""
        place = self.place
        if place is None:
            return ()
        brought = self.programs()
        agreed = self._confirmed(place)
        used = _hooks(place, hooks_value(self._settings(place), agreed), agreed)
        return tuple(hook.name for hook in brought.hooks if hook.is_executable) if used == NO_HOOKS else ()

    def unconfirmed(self) -> tuple[str, ...]:
        """Returns the keys of the repository's own configuration that do not count."""
        place = self.place
        agreed = self._confirmed(place)
        return tuple(dict.fromkeys(key for key, _ in overridden(self._settings(place), agreed)))


def programs_of(repository: str) -> Programs:
    """Returns the programs that the repository of this folder brings for git."""
    return Git(repository).programs()


def _top_above(folder: str) -> str:
    """Returns the nearest folder that holds a `.git`."""
    path = os.path.realpath(folder)
    while not os.path.lexists(os.path.join(path, ".git")) and path != "/":
        path = os.path.dirname(path)
    return path


def _hooks(place: Place | None, value: Setting | None, agreed: Confirmed) -> str:
    """Returns where git shall find hooks: where the user's own configuration says, or where they are confirmed."""
    if place is None:
        return NO_HOOKS
    folder, is_of_user = _hooks_folder(place, value)
    is_confirmed = bool(agreed.hooks) and digest(hooks_in(folder)) in agreed.hooks
    return folder if is_of_user or is_confirmed else NO_HOOKS


def _hooks_folder(place: Place, value: Setting | None) -> tuple[str, bool]:
    """Returns the folder of hooks, and whether it is the user's own: named by them, and outside of the files."""
    if value is None:
        return os.path.join(place.common, "hooks"), False
    folder = os.path.join(place.top, os.path.expanduser(value.value))
    real = os.path.realpath(folder) + "/"
    is_inside = any(real.startswith(f"{above}/") for above in (place.top, place.common))
    return folder, not value.is_of_repository and not is_inside


def _state_of_settings(place: Place) -> tuple[object, ...] | None:
    """Returns what differs after any change to the files of settings; None while a change could go unseen."""
    state: list[object] = []
    for path in (os.path.join(place.common, "config"), os.path.join(place.git_folder, "config.worktree")):
        try:
            found = os.stat(path)
        except OSError:
            state.append(None)
            continue
        if time.time_ns() - found.st_ctime_ns < _YOUNG_NANOSECONDS:
            return None
        state.append((found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns))
    return tuple(state)


def _variables(place: Place | None) -> dict[str, str]:
    return place.variables if place else {}


def _failed(verb: str, done: subprocess.CompletedProcess[bytes], hint: str = "") -> GitFailed:
    words = clean(done.stderr.decode("utf-8", "replace")).strip()
    return GitFailed(f"git {verb} failed: {words or 'it said nothing'}.", hint=hint, words=words)
