"""The task board's rules, pure: which status may follow which, what waits for what, how far a tree is.

A status changes only along TRANSITIONS:

    pending ──► in_progress ──► completed ──► in_progress (reopened)
       │ ▲          │  ▲
       │ └──────────┤  └── blocked, error ──► pending, in_progress
       └──► blocked, error, cancelled ──► pending

A task waits for its dependencies before it starts and for its children before it completes; a graph of these
waits with a cycle would never finish and is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from maestro.errors import Conflict, DependencyCycle, IllegalTransition
from maestro.ledger.facts import Event, Progress, ReportKind, TaskStatus

TRANSITIONS: Mapping[TaskStatus, frozenset[TaskStatus]] = {
    "pending": frozenset({"in_progress", "blocked", "error", "cancelled"}),
    "in_progress": frozenset({"completed", "blocked", "error", "cancelled", "pending"}),
    "blocked": frozenset({"in_progress", "pending", "error", "cancelled"}),
    "error": frozenset({"in_progress", "pending", "cancelled"}),
    "completed": frozenset({"in_progress"}),
    "cancelled": frozenset({"pending"}),
}
ENDED: frozenset[TaskStatus] = frozenset({"completed", "cancelled"})

_REPORTED: Mapping[ReportKind, TaskStatus] = {
    "progress": "in_progress",
    "complete": "completed",
    "blocked": "blocked",
    "error": "error",
}


class Node(NamedTuple):
    """What the rules need to know of a task."""

    id: str
    title: str
    status: TaskStatus
    parent_id: str | None
    depends_on: tuple[str, ...]


Board = Mapping[str, Node]


def path_for_report(current: TaskStatus, kind: ReportKind) -> tuple[TaskStatus, ...]:
    """The statuses that a report passes through. A completed report on a task that was never started starts
    it first, so that the log always tells a legal story."""
    target = _REPORTED[kind]
    if current == target:
        return ()
    if target in TRANSITIONS[current]:
        return (target,)
    if target == "completed" and "in_progress" in TRANSITIONS[current]:
        return ("in_progress", "completed")
    raise _illegal(current, target)


def check_move(board: Board, task_id: str, target: TaskStatus) -> None:
    """Raise unless the task may take this status now."""
    node = board[task_id]
    if target not in TRANSITIONS[node.status]:
        raise _illegal(node.status, target)
    if target == "in_progress" and node.status != "completed":
        waiting = [board[d] for d in node.depends_on if d in board and board[d].status != "completed"]
        if waiting:
            raise Conflict(
                f"“{node.title}” waits for {_names(waiting)}.",
                hint="Complete that first, or drop the dependency with `maestro task update --no-longer-depends-on ID`.",
            )
    if target == "completed":
        still_open = [child for child in children_of(board, task_id) if child.status not in ENDED]
        if still_open:
            raise Conflict(
                f"“{node.title}” has open subtasks: {_names(still_open)}.",
                hint="Complete or cancel them first; `maestro task tree` shows them.",
            )


def check_no_cycle(board: Board) -> None:
    """Raise when some tasks would wait for each other for ever. Iterative: a chain may be thousands deep."""
    children: dict[str, list[str]] = {}
    for node in board.values():
        if node.parent_id:
            children.setdefault(node.parent_id, []).append(node.id)
    done: set[str] = set()
    for root in board:
        path: list[str] = []
        on_path: set[str] = set()
        stack: list[tuple[str, bool]] = [(root, False)]
        while stack:
            current, leaving = stack.pop()
            if leaving:
                path.pop()
                on_path.discard(current)
                done.add(current)
                continue
            if current in on_path:
                loop = [*path[path.index(current) :], current]
                raise DependencyCycle(
                    "These tasks would wait for each other: "
                    + " → ".join(f"“{board[i].title}”" for i in loop)
                    + ".",
                    hint="Choose another parent or dependency.",
                )
            if current in done or current not in board:
                continue
            path.append(current)
            on_path.add(current)
            stack.append((current, True))
            stack.extend((n, False) for n in (*board[current].depends_on, *children.get(current, ())))


def children_of(board: Board, task_id: str) -> list[Node]:
    return [node for node in board.values() if node.parent_id == task_id]


def progress(board: Board) -> dict[str, Progress]:
    """For every task: leaves of its subtree that are completed, of those that were not cancelled."""
    children: dict[str, list[str]] = {}
    for node in board.values():
        if node.parent_id in board:
            children.setdefault(str(node.parent_id), []).append(node.id)
    result: dict[str, Progress] = {}
    roots = [node.id for node in board.values() if node.parent_id not in board]
    order: list[str] = []
    while roots:
        current = roots.pop()
        order.append(current)
        roots.extend(children.get(current, ()))
    for task_id in reversed(order):
        below = [result[child] for child in children.get(task_id, ())]
        status = board[task_id].status
        if below:
            result[task_id] = Progress(
                completed=sum(p.completed for p in below), total=sum(p.total for p in below)
            )
        else:
            result[task_id] = Progress(completed=int(status == "completed"), total=int(status != "cancelled"))
    return result


def replay(events: Iterable[Event]) -> dict[str, dict[str, Any]]:
    """The tasks as the log alone tells them: id → fields as on the wire. The tables must say the same."""
    tasks: dict[str, dict[str, Any]] = {}
    for event in events:
        if event.kind == "task.created":
            tasks[event.subject_id] = dict(event.data["task"])
        elif event.kind in {"task.changed", "task.reported"}:
            tasks[event.subject_id].update(event.data["changes"])
        elif event.kind == "project.removed":
            tasks = {i: t for i, t in tasks.items() if t["projectId"] != event.subject_id}
    return tasks


def _names(nodes: Iterable[Node]) -> str:
    titles = [f"“{node.title}” ({node.status})" for node in nodes]
    return ", ".join(titles[:3]) + (f" and {len(titles) - 3} more" if len(titles) > 3 else "")


def _illegal(current: TaskStatus, target: TaskStatus) -> IllegalTransition:
    allowed = ", ".join(sorted(TRANSITIONS[current]))
    return IllegalTransition(
        f"A task that is {current} cannot become {target}.", hint=f"From {current} it can become: {allowed}."
    )
