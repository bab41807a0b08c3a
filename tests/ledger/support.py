"""A journal on a clock of its own, and a board with tasks as a person at the keyboard would work it."""

from __future__ import annotations

from pathlib import Path

from maestro.ledger.facts import NewProject, NewTask, Report, Task, TaskChange
from maestro.ledger.journal import Journal
from maestro.ledger.projects import add_project
from maestro.ledger.roles import HUMAN, Actor
from maestro.ledger.tasks import create_task, get_task, report_task, update_task


class Clock:
    """Time as a parameter: a second passes at each look."""

    def __init__(self) -> None:
        self.now = 1_800_000_000_000

    def __call__(self) -> int:
        self.now += 1000
        return self.now


class Board:
    """A project with tasks, as a person at the keyboard would work it."""

    def __init__(self, journal: Journal, directory: Path) -> None:
        self.journal = journal
        directory.mkdir(exist_ok=True)
        self.directory = str(directory)
        self.project_id = journal.write(HUMAN, lambda c: add_project(c, NewProject(directory=self.directory)))

    def create(self, title: str, actor: Actor = HUMAN, **options: object) -> str:
        request = NewTask.model_validate({"title": title, "project_id": self.project_id, **options})
        return self.journal.write(actor, lambda c: create_task(c, request))

    def update(self, task_id: str, actor: Actor = HUMAN, **options: object) -> Task:
        request = TaskChange.model_validate(options)
        self.journal.write(actor, lambda c: update_task(c, task_id, request))
        return self.task(task_id)

    def report(self, task_id: str, kind: str, message: str = "", actor: Actor = HUMAN) -> Task:
        report = Report.model_validate({"kind": kind, "message": message})
        self.journal.write(actor, lambda c: report_task(c, task_id, report))
        return self.task(task_id)

    def task(self, task_id: str) -> Task:
        return self.journal.read(lambda c: get_task(c, task_id))
