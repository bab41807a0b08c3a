"""From an approved tag to the run that does it, once, whoever dies in between.

The run's id comes from the tag's, and its own process holds the tag's run lock from its first moment to its end. Whoever
comes second finds the lock held, or the run's folder, and begins nothing: a result ends the tag, and a run that was
begun and interrupted is told as failed, for nobody knows how much of it was done.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping
from typing import Final, Literal, NamedTuple

import msgspec

from maestro import confined, processes
from maestro.agents.headless import RunMode
from maestro.coordinate.tags.claims import Record, Standing
from maestro.coordinate.tags.markdown import lines_of, readable
from maestro.coordinate.tags.tag import Tag
from maestro.coordinate.tags.tag_files import ProjectTags
from maestro.dispatch import delegate, places, run
from maestro.dispatch.process import end_run
from maestro.dispatch.run import look, mark_of, record_failure, record_start, this_process
from maestro.dispatch.runs import RUN_FILE, STDOUT_FILE, Process, RunResult
from maestro.errors import Conflict, MaestroError, NotFound

READING: Final = frozenset({"analysis", "brainstorm", "research", "review"})  # kinds that change no file
_MARGIN_SECONDS: Final = 60.0
_AROUND: Final = 30  # lines of its passage
_MOST_CHARACTERS: Final = 6_000
_MOST_REASON: Final = 500


class Begun(NamedTuple):
    record: Record
    how: Literal[
        "started",  # by us
        "running",  # by somebody before us
        "ended",  # it was over, and the tag says so now
    ]


def mode_of(kind: str) -> RunMode:
    return "analysis" if kind in READING else "write"


def prompt_of(tag: Tag, text: str) -> str:
    """What an agent is told; `text` is the tag's file."""
    lines = lines_of(text)
    start = next((n for n in range(tag.line - 1, -1, -1) if lines[n].level), 0)
    end = next((n for n in range(tag.line, len(lines)) if lines[n].level), len(lines))
    shown = lines[max(start, tag.line - _AROUND) : min(end, tag.line + _AROUND)]
    passage = readable("\n".join(line.text for line in shown)[:_MOST_CHARACTERS])
    under = f", under “{tag.heading}”" if tag.heading and tag.heading != tag.text else ""
    return (
        f"Do this piece of work for the project; it is of the kind “{tag.kind}”:\n\n"
        f"    {tag.text}\n\n"
        f"It is noted in {tag.file}, line {tag.line}{under}. The passage there:\n\n{passage}\n\n"
        "Do this and nothing else that stands there. Leave its tag as it is: that is changed for you. When you are "
        "done, say in a few sentences what you did and how to check it.\n"
    )


def order_for(
    tags: ProjectTags, seen: Standing, *, to: str, mode: RunMode | None, seconds: float | None
) -> delegate.Order:
    return delegate.Order(
        prompt=prompt_of(seen.tag, tags.files.text_of(seen.tag.file)).encode(),
        to=to,
        mode=mode or mode_of(seen.tag.kind),
        cd=tags.files.root,
        timeout_s=seconds,
    )


def begin(
    tags: ProjectTags,
    seen: Standing,
    order: delegate.Order,
    claimant: str,
    env: Mapping[str, str],
    start: Callable[[str, Record, int], int],
) -> Begun:
    """Claim the tag, as it was seen, and see to it that its run goes on. `start` starts the run's process, given the run's folder, the
    record and the lock's descriptor, and returns its pid."""
    # What is wrong with the tool is said before anything is claimed.
    delegate.ready(order, env)
    record = tags.claim(seen.tag.id, claimant, process=this_process(), way="run", as_seen=seen).record
    assert record is not None
    folder = os.path.join(places.prepare(tags.files.root, env), record.run)
    with tags.run_lock(record.id) as lock:
        if lock is None:
            return Begun(record, "running")
        if is_over(tags, record, folder):
            return Begun(record, "ended")
        try:
            prepared, prompt = delegate.ready(msgspec.structs.replace(order, id=record.run), env)
            run.begin(prepared, prompt)
        except MaestroError as error:
            tags.end_run(record, failed=f"It could not begin: {error.message}")
            raise
        pid = start(folder, record, lock)
        process = Process(pid, processes.start_time(pid) or 0, processes.boot_id())
        tags.hold(record, process, prepared.run.timeout_s + _MARGIN_SECONDS)
    return Begun(record, "started")


def is_over(tags: ProjectTags, record: Record, folder: str) -> bool:
    """Whether the run was begun and is over; then its tag is ended, too. For whoever holds the run lock.

    A folder without output is of a run whose program was never started: it is taken away."""
    if not all(confined.exists(os.path.join(folder, name)) for name in (STDOUT_FILE, RUN_FILE)):
        with contextlib.suppress(OSError):
            confined.remove_tree(folder)
        return False
    seen = look(folder)
    result = seen.result
    if result is None:
        end_run(mark_of(folder))
        why = "It was interrupted, and may be half done. See what is there, then approve it again."
        result = record_failure(seen.run, folder, Conflict(why))
    tags.end_run(record, failed=failure_of(result))
    return True


def carry_out(tags: ProjectTags, record: Record, folder: str, env: Mapping[str, str]) -> RunResult:
    """In the run's own process, which holds the lock: to the result, and the tag to its end."""
    made = delegate.run_by(look(folder).run, this_process())
    record_start(made, folder)
    if not tags.hold(record, this_process(), made.timeout_s + _MARGIN_SECONDS):
        return record_failure(made, folder, NotFound("Its tag was released before it began."))
    try:
        result = delegate.carry_out_here(delegate.taken_over(folder, env))
    except MaestroError as error:
        result = record_failure(made, folder, error)
    tags.end_run(record, failed=failure_of(result))
    return result


def failure_of(result: RunResult) -> str:
    """Why the run did not do it; empty where it did."""
    if result.status == "success":
        return ""
    return f"{result.status}: {' '.join(result.error.split())[:_MOST_REASON]}"
