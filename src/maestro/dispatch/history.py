"""A batch's folder: its record, the attempts of its agents, the results that people read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple, TypeVar

import msgspec

from maestro import confined
from maestro.confined import Folder
from maestro.dispatch.batch import (
    BATCH_FILE,
    CHANGES_FILE,
    EARLIER,
    FOUND_FILE,
    LOCK_FILE,
    RESULTS,
    RUNS,
    SUMMARY_FILE,
    AgentStatus,
    Batch,
    Found,
    exit_code,
)
from maestro.dispatch.runs import RESULT_FILE, RUN_FILE, STDERR_FILE, Run, RunResult
from maestro.dispatch.summary import Summary
from maestro.errors import Conflict, InvalidInput, NoPermission
from maestro.files import replace_in, write_atomically

T = TypeVar("T")

_HALF: Final = re.compile(r"\.(json|exit|log|patch)\.[0-9a-f.]+\.tmp$")


class SeenAttempt(NamedTuple):
    """An attempt's folder. Without a result and without `found` nobody has looked after it yet."""

    number: int
    folder: str
    run: Run
    result: RunResult | None
    found: Found | None


@contextmanager
def locked(folder: str) -> Iterator[None]:
    """One batch at a time in a folder. The kernel lets go of the lock when its holder ends, however it ends."""
    path = os.path.join(folder, LOCK_FILE)
    try:
        lock = confined.lock(path, wait=False)
    except BlockingIOError as error:
        runner = (batch := read_batch(folder)) and batch.runner
        raise Conflict(
            f"A batch is running in {folder}{f' (pid {runner.pid})' if runner else ''}.",
            hint="Wait for it, or end it with Ctrl-C there.",
        ) from error
    except OSError as error:
        raise NoPermission(
            f"{path} cannot be written: {error.strerror}.", hint="Results are written beside the prompts."
        ) from error
    with lock:
        yield


def read_batch(folder: str) -> Batch | None:
    path = os.path.join(folder, BATCH_FILE)
    try:
        return msgspec.json.decode(confined.read(path), type=Batch)
    except FileNotFoundError:
        return None
    except msgspec.MsgspecError as error:
        raise InvalidInput(
            f"{path} cannot be read: {error}.", hint="It was left as it is; move it away to begin anew."
        ) from error


def write_batch(folder: str, batch: Batch) -> None:
    write_atomically(os.path.join(folder, BATCH_FILE), _pretty(batch), confined=True)


def write_summary(folder: str, summary: Summary) -> None:
    write_atomically(os.path.join(folder, RESULTS, SUMMARY_FILE), _pretty(summary), confined=True)


def read_summary(folder: str) -> Summary | None:
    return _whole(os.path.join(folder, RESULTS, SUMMARY_FILE), Summary)


def attempts(folder: str) -> dict[str, list[SeenAttempt]]:
    """By agent, the attempts that had begun, in order. Those that had not, and their numbers, are passed over."""
    found: dict[str, list[SeenAttempt]] = {}
    for name, number in _attempt_folders(folder):
        path = attempt_folder(folder, name, number)
        run = _whole(os.path.join(path, RUN_FILE), Run)
        result = _whole(os.path.join(path, RESULT_FILE), RunResult)
        if run is not None:
            seen = SeenAttempt(number, path, run, result, _whole(os.path.join(path, FOUND_FILE), Found))
            found.setdefault(name, []).append(seen)
    return found


def last_numbers(folder: str) -> dict[str, int]:
    """By agent, the highest number that was ever used for an attempt."""
    return dict(_attempt_folders(folder))


def attempt_folder(folder: str, name: str, number: int) -> str:
    # One folder deep: making a folder costs more than anything else that is written for a run.
    return os.path.join(folder, RUNS, f"{name}.{number}")


def _attempt_folders(folder: str) -> list[tuple[str, int]]:
    try:
        entries = confined.names(os.path.join(folder, RUNS))
    except FileNotFoundError:
        return []
    parts = (entry.rpartition(".") for entry in entries)
    return sorted((name, int(number)) for name, _, number in parts if number.isascii() and number.isdecimal())


def publish(folder: str, name: str, attempt: str, status: AgentStatus, result: RunResult) -> None:
    """An agent's result under the names that people and programs look for. The attempt's folder stays the truth."""
    with confined.folder(attempt) as source, confined.folder(os.path.join(folder, RESULTS)) as results:
        _same_file(source, RESULT_FILE, results, f"{name}.json")
        _same_file(source, STDERR_FILE, results, f"{name}.log")
        replace_in(results, f"{name}.exit", b"%d\n" % exit_code(status, result), durable=False)


def clear_halves(folder: str) -> None:
    """Take away what a killed dispatcher was about to write; whoever holds the lock is the only one who writes."""
    for place in (folder, os.path.join(folder, RESULTS)):
        with confined.folder(place) as opened:
            for name in filter(_HALF.search, opened.names()):
                opened.unlink(name)


def is_used(folder: str) -> bool:
    """Whether an earlier batch left anything, also one whose record somebody has removed."""
    if any(confined.exists(os.path.join(folder, name)) for name in (RUNS, BATCH_FILE)):
        return True
    try:
        return bool(confined.names(os.path.join(folder, RESULTS)))
    except (FileNotFoundError, NotADirectoryError):
        return False


def move_aside(folder: str) -> str:
    """What an earlier batch left goes into a folder of its own: nothing of it is lost. Where it went."""
    place = os.path.join(folder, EARLIER)
    target = os.path.join(place, str(max(_numbers(place), default=0) + 1))
    confined.make_new_folder(target)
    with confined.folder(folder) as source, confined.folder(target) as aside:
        # The record last: without it nobody would know that there is something to move.
        for name in (RESULTS, RUNS, CHANGES_FILE, BATCH_FILE):
            try:
                source.rename(name, aside, name)
            except FileNotFoundError:
                pass
    return target


def _numbers(place: str) -> list[int]:
    try:
        return sorted(int(name) for name in confined.names(place) if name.isascii() and name.isdecimal())
    except (FileNotFoundError, NotADirectoryError):
        return []


def _whole(path: str, kind: type[T]) -> T | None:
    """What a file holds; None when it is not there, or not whole: then what it tells of was not finished."""
    try:
        return msgspec.json.decode(confined.read(path), type=kind)
    except (FileNotFoundError, NotADirectoryError, msgspec.MsgspecError):
        return None


def _same_file(source: Folder, name: str, results: Folder, new: str) -> None:
    """One file under two names; where the disk cannot do that, a copy."""
    try:
        source.link(name, results, new)
    except FileNotFoundError:
        replace_in(results, new, b"", durable=False)  # it never came to printing anything
    except FileExistsError:
        _replace_by(source, name, results, new)
    except OSError:
        replace_in(results, new, source.read(name), durable=False)


def _replace_by(source: Folder, name: str, results: Folder, new: str) -> None:
    # Renaming one name of a file onto another name of the same file does nothing at all.
    if os.path.samestat(source.status(name), results.status(new)):
        return
    temporary = f".{new}.{os.getpid()}.{os.urandom(6).hex()}.tmp"
    source.link(name, results, temporary)
    results.rename(temporary, results, new)


def _pretty(value: object) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"
