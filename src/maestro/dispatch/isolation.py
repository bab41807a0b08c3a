"""Where a batch's agents work, and what they changed there: all in the project's folder, or each in a worktree.

Nothing that an agent has written is deleted: a worktree stays, with its branch, until all of it is merged."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Sequence
from typing import Final, Protocol

import msgspec

from maestro import confined
from maestro.dispatch.batch import CHANGES_FILE
from maestro.dispatch.changes import Changes, FileConflict, Interval, attributed, names_file
from maestro.dispatch.summary import Applied, Work
from maestro.errors import Conflict, GitFailed, MaestroError
from maestro.files import write_atomically
from maestro.ledger.facts import Worktree
from maestro.worktrees import worktree as worktrees
from maestro.worktrees.git import Git
from maestro.worktrees.overlaps import Touched, overlaps
from maestro.worktrees.repository import identity, inside, stage_all

_TITLE: Final = "dispatch"


class _Kept(msgspec.Struct):
    """`changes.json`: what is known of the changes, for the same batch when it goes on."""

    intervals: list[Interval] = []
    named: dict[str, frozenset[str]] = {}
    touched: dict[str, Touched] = {}


def _kept(path: str) -> _Kept:
    try:
        return msgspec.json.decode(confined.read(path), type=_Kept)
    except (FileNotFoundError, msgspec.MsgspecError):
        return _Kept()  # it is a report: without it the batch still goes on


class Harvest(msgspec.Struct, frozen=True):
    """What a batch changed."""

    changes: Changes = Changes()
    work: dict[str, Work] = {}
    notes: tuple[str, ...] = ()


class Grounds(Protocol):
    """Where agents work."""

    async def place_of(self, name: str) -> str:
        """The folder that the agent shall work in."""

    async def entered(self, name: str) -> None:
        """It starts now."""

    async def left(self, name: str, told: Callable[[], bytes]) -> None:
        """It has ended; `told` gives what it was told and what it said."""

    async def harvest(self) -> Harvest: ...

    async def apply(self, names: Sequence[str]) -> list[Applied]:
        """Bring the work of these agents into the project."""


class Unwatched:
    """One folder for all, and nobody looks: agents that only read, or no git."""

    def __init__(self, root: str) -> None:
        self._root = root

    async def place_of(self, name: str) -> str:  # noqa: ARG002 - the port's
        return self._root

    async def entered(self, name: str) -> None:
        pass

    async def left(self, name: str, told: Callable[[], bytes]) -> None:
        pass

    async def harvest(self) -> Harvest:
        return Harvest()

    async def apply(self, names: Sequence[str]) -> list[Applied]:  # noqa: ARG002 - the port's
        return []


class Shared(Unwatched):
    """One folder for all; git tells at every start and end what has changed."""

    def __init__(self, root: str, record: str, spared: Sequence[str]) -> None:
        """`record`: where what was seen is kept; `spared`: folders whose files are our own."""
        super().__init__(root)
        self._record = record
        self._seen = _kept(record)
        self._git = Git(root, {"GIT_OPTIONAL_LOCKS": "0"})
        top = os.path.realpath(self._git("rev-parse", "--show-toplevel"))
        self._top = Git(top, {"GIT_OPTIONAL_LOCKS": "0"})
        self._spared = tuple(
            os.path.relpath(os.path.realpath(folder), top) + "/" for folder in spared if folder
        )
        self._lock = asyncio.Lock()
        self._running: set[str] = set()
        self._last: dict[str, str] | None = None
        self._head = ""
        self._notes: list[str] = []

    async def entered(self, name: str) -> None:
        async with self._lock:
            await self._try_to_look()
            self._running.add(name)

    async def left(self, name: str, told: Callable[[], bytes]) -> None:
        async with self._lock:
            await self._try_to_look()
            self._running.discard(name)
            text = told()
            changed = {file for one in self._seen.intervals if name in one.running for file in one.changed}
            found = frozenset(file for file in changed if names_file(file, text))
            self._seen.named[name] = self._seen.named.get(name, frozenset()) | found
            if changed:
                write_atomically(self._record, msgspec.json.encode(self._seen), durable=False, confined=True)

    async def harvest(self) -> Harvest:
        return Harvest(attributed(self._seen.intervals, self._seen.named), notes=tuple(self._notes))

    async def _try_to_look(self) -> None:
        """A repository that cannot be read is a note; the agents go on."""
        if self._notes:
            return
        try:
            await self._look()
        except MaestroError as error:
            self._notes.append(f"Which files were changed cannot be told: {error.message}")

    async def _look(self) -> None:
        states, head = await asyncio.to_thread(self._states)
        if self._last is not None:
            before = self._last
            changed = {file for file in {*before, *states} if before.get(file) != states.get(file)}
            if head != self._head:
                changed |= set(await asyncio.to_thread(self._between, self._head, head))
            own = {file for file in changed if not f"{file}/".startswith(self._spared)}
            if own:
                self._seen.intervals.append(Interval(frozenset(self._running), frozenset(own)))
        self._last, self._head = states, head

    def _states(self) -> tuple[dict[str, str], str]:
        """Every file that differs from the last commit, with what tells one content from another."""
        entries = self._top.names("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all")
        states = {}
        for entry in entries:
            path = os.path.join(self._top.folder, entry[3:])
            try:
                status = os.lstat(path)
                state = f"{status.st_mtime_ns} {status.st_size} {status.st_ino} {status.st_mode}"
            except OSError:
                state = "gone"
            states[entry[3:]] = state
        return states, self._top.maybe("rev-parse", "--verify", "--quiet", "HEAD") or ""

    def _between(self, before: str, after: str) -> tuple[str, ...]:
        if not before or not after:
            return ()
        try:
            return self._top.names("diff", "--name-only", "--no-renames", "-z", before, after)
        except GitFailed:
            return ()


class Apart:
    """A worktree and a branch for each."""

    def __init__(self, root: str, record: str, folder: str, results: str, batch_id: str) -> None:
        """`folder`: where worktrees are made; `results`: where patches go."""
        self._root = root
        self._record = record
        self._folder = folder
        self._results = results
        self._batch_id = batch_id
        self._lock = asyncio.Lock()  # git's own locks make others fail, not wait
        self._made: dict[str, Worktree] = {}

    async def place_of(self, name: str) -> str:
        async with self._lock:
            if name not in self._made:
                self._made[name] = await asyncio.to_thread(self._make, name)
        return self._made[name].cwd

    async def entered(self, name: str) -> None:
        pass

    async def left(self, name: str, told: Callable[[], bytes]) -> None:  # noqa: ARG002 - the port's
        async with self._lock:
            try:
                await asyncio.to_thread(self._keep_patch, name)
            except MaestroError:
                pass  # the harvest tries again, and tells

    async def harvest(self) -> Harvest:
        async with self._lock:
            return await asyncio.to_thread(self._harvest)

    async def apply(self, names: Sequence[str]) -> list[Applied]:
        async with self._lock:
            return [await asyncio.to_thread(self._apply, name) for name in names if name in self._made]

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, f"{self._batch_id}.{name}")

    def _make(self, name: str) -> Worktree:
        return worktrees.create(self._root, self._path(name), self._batch_id, f"{_TITLE}-{name}")

    def _keep_patch(self, name: str) -> None:
        patch = worktrees.patch(self._made[name])
        if patch:
            write_atomically(os.path.join(self._results, f"{name}.patch"), patch, confined=True)

    def _harvest(self) -> Harvest:
        seen = _kept(self._record)
        touched = {name: one for name, one in seen.touched.items() if name not in self._made}
        for name in touched:
            if (found := worktrees.find(self._root, self._path(name))) is not None:
                self._made[name] = found
        work: dict[str, Work] = {}
        notes = []
        for name, made in self._made.items():
            try:
                touched[name] = worktrees.touched_files(made)
                if touched[name].files:
                    self._keep_patch(name)
                    work[name] = Work(made.branch, made.path, f"{name}.patch")
                else:
                    self._give_back(made)
            except (MaestroError, OSError) as error:
                # What is there stays there, and a person is told where.
                work[name] = Work(made.branch, made.path, "")
                notes.append(f"The changes of {name} in {made.path} could not be read: {error}")
        kept = msgspec.json.encode(_Kept(touched=touched))
        write_atomically(self._record, kept, durable=False, confined=True)
        conflicts = tuple(FileConflict(one.file, one.sessions) for one in overlaps(touched))
        files = {name: one.files for name, one in touched.items()}
        return Harvest(Changes(files, conflicts), work, tuple(notes))

    def _give_back(self, made: Worktree) -> None:
        """A worktree in which nothing was done, not even an ignored file was written."""
        if not inside(made).names("status", "--porcelain", "-z", "--ignored", "--untracked-files=all"):
            worktrees.remove(made)

    def _apply(self, name: str) -> Applied:
        made = self._made[name]
        try:
            _commit(made, f"{name}: work of {self._batch_id}")
            merged = worktrees.merge(made, f"Merge the work of {name} ({self._batch_id})")
        except Conflict as error:
            return Applied(name, is_merged=False, reason=error.message)
        try:
            self._give_back(made)
        except (MaestroError, OSError):
            pass  # it is merged; what is left of the worktree may stay
        return Applied(name, is_merged=True, commit=merged.commit)


def _commit(made: Worktree, message: str) -> None:
    """What lies there uncommitted, on the agent's own branch. Hooks are for people."""
    git = inside(made)
    stage_all(git)
    if git.says_yes("diff", "--cached", "--quiet"):
        return
    git.with_env(identity(git))("commit", "--quiet", "--no-verify", "--no-gpg-sign", "-m", message)


def grounds(
    *,
    isolate: str,
    reads_only: bool,
    root: str,
    folder: str,
    results: str,
    worktrees_folder: str,
    batch_id: str,
    spared: Sequence[str],
) -> Grounds:
    record = os.path.join(folder, CHANGES_FILE)
    if isolate == "worktree":
        return Apart(root, record, worktrees_folder, results, batch_id)
    if reads_only or shutil.which("git") is None:
        return Unwatched(root)
    if Git(root).maybe("rev-parse", "--is-inside-work-tree") != "true":
        return Unwatched(root)
    return Shared(root, record, spared)
