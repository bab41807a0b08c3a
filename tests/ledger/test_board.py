from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maestro.errors import Conflict, DependencyCycle, IllegalTransition
from maestro.ledger import board
from maestro.ledger.board import TRANSITIONS, Node, check_move, check_no_cycle, path_for_report, progress


def node(
    name: str, status: str = "pending", parent: str | None = None, depends: tuple[str, ...] = ()
) -> Node:
    return Node(name, f"Task {name}", status, parent, depends)  # type: ignore[arg-type]  # tests name statuses as text


def of(*nodes: Node) -> dict[str, Node]:
    return {n.id: n for n in nodes}


@pytest.mark.parametrize(("current", "target"), [*product(TRANSITIONS, TRANSITIONS)])
def test_a_move_is_allowed_exactly_where_the_table_says(current: str, target: str) -> None:
    allowed = {
        ("pending", "in_progress"), ("pending", "blocked"), ("pending", "error"), ("pending", "cancelled"),
        ("in_progress", "completed"), ("in_progress", "blocked"), ("in_progress", "error"),
        ("in_progress", "cancelled"), ("in_progress", "pending"),
        ("blocked", "in_progress"), ("blocked", "pending"), ("blocked", "error"), ("blocked", "cancelled"),
        ("error", "in_progress"), ("error", "pending"), ("error", "cancelled"),
        ("completed", "in_progress"), ("cancelled", "pending"),
    }  # fmt: skip
    tasks = of(node("a", current))
    if (current, target) in allowed:
        check_move(tasks, "a", target)  # type: ignore[arg-type]  # as above
    else:
        with pytest.raises(IllegalTransition, match=f"{current} cannot become {target}"):
            check_move(tasks, "a", target)  # type: ignore[arg-type]  # as above


def test_a_task_starts_only_after_its_dependencies() -> None:
    tasks = of(node("a", "in_progress"), node("b", depends=("a",)))
    with pytest.raises(Conflict, match="waits for “Task a”"):
        check_move(tasks, "b", "in_progress")
    check_move(tasks | of(node("a", "completed")), "b", "in_progress")


def test_a_parent_completes_only_after_its_children() -> None:
    tasks = of(node("p", "in_progress"), node("c", "blocked", parent="p"))
    with pytest.raises(Conflict, match="open subtasks"):
        check_move(tasks, "p", "completed")
    check_move(tasks | of(node("c", "cancelled", parent="p")), "p", "completed")


@pytest.mark.parametrize(
    ("current", "kind", "path"),
    [
        ("pending", "progress", ("in_progress",)),
        ("pending", "complete", ("in_progress", "completed")),
        ("in_progress", "progress", ()),
        ("in_progress", "complete", ("completed",)),
        ("blocked", "complete", ("in_progress", "completed")),
        ("completed", "complete", ()),
        ("completed", "progress", ("in_progress",)),
    ],
)
def test_a_report_passes_only_through_legal_statuses(current: str, kind: str, path: tuple[str, ...]) -> None:
    assert path_for_report(current, kind) == path  # type: ignore[arg-type]  # as above


def test_a_report_on_a_cancelled_task_is_refused() -> None:
    for kind in ("progress", "complete", "blocked", "error"):
        with pytest.raises(IllegalTransition):
            path_for_report("cancelled", kind)


@pytest.mark.parametrize(
    "tasks",
    [
        of(node("a", depends=("a",))),
        of(node("a", depends=("b",)), node("b", depends=("a",))),
        of(node("a", parent="b"), node("b", parent="a")),
        # A child that waits for its own parent, which waits for its children.
        of(node("p"), node("c", parent="p", depends=("p",))),
        # Across trees: a waits for b, whose child waits for a.
        of(node("a", depends=("b",)), node("b"), node("x", parent="b", depends=("a",))),
    ],
)
def test_cycles_are_refused(tasks: dict[str, Node]) -> None:
    with pytest.raises(DependencyCycle, match="wait for each other"):
        check_no_cycle(tasks)


def test_a_chain_of_ten_thousand_is_no_cycle() -> None:
    names = [f"t{i}" for i in range(10_000)]
    check_no_cycle(of(*(node(name, depends=(names[i - 1],) if i else ()) for i, name in enumerate(names))))


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=40))
def test_cycle_detection_agrees_with_a_plain_search(edges: list[tuple[int, int]]) -> None:
    depends: dict[int, set[int]] = {i: set() for i in range(13)}
    for a, b in edges:
        depends[a].add(b)

    def reaches(start: int) -> bool:
        seen: set[int] = set()
        stack = list(depends[start])
        while stack:
            current = stack.pop()
            if current == start:
                return True
            if current not in seen:
                seen.add(current)
                stack.extend(depends[current])
        return False

    tasks = of(*(node(str(i), depends=tuple(map(str, sorted(d)))) for i, d in depends.items()))
    if any(reaches(i) for i in depends):
        with pytest.raises(DependencyCycle):
            check_no_cycle(tasks)
    else:
        check_no_cycle(tasks)


def test_progress_counts_leaves_and_leaves_out_cancelled_ones() -> None:
    found = progress(
        of(
            node("root"),
            node("a", "completed", parent="root"),
            node("b", parent="root"),
            node("b1", "completed", parent="b"),
            node("b2", "cancelled", parent="b"),
            node("b3", "in_progress", parent="b"),
        )
    )
    assert (found["root"].completed, found["root"].total) == (2, 3)
    assert (found["b"].completed, found["b"].total) == (1, 2)
    assert (found["b2"].completed, found["b2"].total) == (0, 0)


def test_ended_statuses_are_part_of_the_table() -> None:
    assert set(TRANSITIONS) >= board.ENDED
