"""Random work on a board: no illegal status, no cycle, and the tables always equal the log replayed."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)
from tests.support import SOAK

from maestro.errors import Conflict, InvalidInput
from maestro.ledger import board as rules
from maestro.ledger.database import open_database
from maestro.ledger.facts import Event, NewProject, NewTask, Report, Task, TaskChange
from maestro.ledger.journal import Journal
from maestro.ledger.projects import add_project
from maestro.ledger.roles import HUMAN
from maestro.ledger.tasks import create_task, list_tasks, report_task, update_task

DERIVED = {"progress", "sessionIds"}


def machine(url: Callable[[], str]) -> type[RuleBasedStateMachine]:
    class TaskMachine(RuleBasedStateMachine):
        tasks = Bundle("tasks")

        def __init__(self) -> None:
            super().__init__()
            self.folder = Path(tempfile.mkdtemp(prefix="mm"))
            self.journal = Journal(open_database(url()), "host_M", iter(range(1, 10**9)).__next__)
            request = NewProject(directory=str(self.folder))
            self.project = self.journal.write(HUMAN, lambda c: add_project(c, request))
            self.before: dict[str, Task] = {}

        def attempt(self, work: Callable[[Any], str]) -> str | None:
            try:
                return self.journal.write(HUMAN, work)
            except (Conflict, InvalidInput):
                return None

        @rule(target=tasks, title=st.text(min_size=1, max_size=8))
        def create(self, title: str) -> Any:
            request = NewTask(title=title, project_id=self.project)
            made = self.attempt(lambda c: create_task(c, request))
            return made or multiple()

        @rule(target=tasks, parent=tasks, depends=st.lists(tasks, max_size=2))
        def create_below(self, parent: str, depends: list[str]) -> Any:
            request = NewTask(title="x", parent_id=parent, depends_on=tuple(depends))
            made = self.attempt(lambda c: create_task(c, request))
            return made or multiple()

        @rule(task=tasks, status=st.sampled_from(sorted(rules.TRANSITIONS)))
        def set_status(self, task: str, status: str) -> None:
            request = TaskChange.model_validate({"status": status})
            self.attempt(lambda c: update_task(c, task, request))

        @rule(
            task=tasks,
            kind=st.sampled_from(["progress", "complete", "blocked", "error"]),
            message=st.text(max_size=5),
        )
        def report(self, task: str, kind: str, message: str) -> None:
            request = Report.model_validate({"kind": kind, "message": message})
            self.attempt(lambda c: report_task(c, task, request))

        @rule(task=tasks, parent=st.one_of(st.just(""), tasks))
        def move(self, task: str, parent: str) -> None:
            self.attempt(lambda c: update_task(c, task, TaskChange(parent_id=parent)))

        @rule(task=tasks, other=tasks, add=st.booleans())
        def depend(self, task: str, other: str, *, add: bool) -> None:
            change = TaskChange(add_depends_on=(other,)) if add else TaskChange(remove_depends_on=(other,))
            self.attempt(lambda c: update_task(c, task, change))

        @invariant()
        def table_is_legal_and_equals_the_log(self) -> None:
            now = {task.id: task for task in self.journal.read(list_tasks)}
            events = self.all_events()
            replayed = rules.replay(events)
            stored = {
                i: {n: v for n, v in t.model_dump(mode="json", by_alias=True).items() if n not in DERIVED}
                for i, t in now.items()
            }
            assert stored == replayed
            rules.check_no_cycle(
                {t.id: rules.Node(t.id, t.title, t.status, t.parent_id, t.depends_on) for t in now.values()}
            )
            assert [e.seq for e in events] == list(range(1, len(events) + 1))
            self.every_step_was_legal(events)

        def every_step_was_legal(self, events: list[Event]) -> None:
            status: dict[str, str] = {}
            for event in events:
                if event.kind == "task.created":
                    status[event.subject_id] = "pending"
                elif new := event.data.get("changes", {}).get("status"):
                    old = status[event.subject_id]
                    assert new == old or new in rules.TRANSITIONS[old]  # type: ignore[index]  # the log holds text
                    status[event.subject_id] = new

        def all_events(self) -> list[Event]:
            return self.journal.events_since(None, limit=10_000)[0]

        def teardown(self) -> None:
            self.journal.engine.dispose()
            shutil.rmtree(self.folder, ignore_errors=True)

    return TaskMachine


@pytest.mark.soak
@pytest.mark.parametrize(("kind", "examples"), [("sqlite", 10), ("postgresql", 3)])
def test_board_equals_events_replayed(kind: str, examples: int, make_database: Callable[[str], str]) -> None:
    make_database(kind)  # skips where there is no server
    run_state_machine_as_test(
        machine(lambda: make_database(kind)),
        settings=settings(max_examples=examples * (20 if SOAK else 1), stateful_step_count=30, deadline=None),
    )
