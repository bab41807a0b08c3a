"""`<coordinator_context>` as seed 000 draws it, worst first and bounded, with nothing in it that could break out."""

from __future__ import annotations

from datetime import UTC
from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from maestro.agents import Moment
from maestro.observe.context import BoardTask, Watched, coordinator_context, estimated_tokens
from maestro.observe.digest import Digest, Subject, digest
from maestro.observe.recent import Gathering

NOW = 1_794_753_130_000  # 14:32:10 UTC


def worker(
    *moments: Moment, session: str = "sess_1", name: str = "Frontend Dev", task: str = "task_1"
) -> Digest:
    gathering = Gathering(5)
    for moment in reversed(moments):
        gathering.take((moment,))
    subject = Subject(session, worker_name=name, task_ids=(task,) if task else ())
    return digest(subject, gathering.result(0, 0, 0), NOW)


def says(text: str, session: str, ago: int = 5000, **named: str) -> Digest:
    return worker(Moment("text", NOW - ago, text), session=session, **named)


def silent(session: str, **named: str) -> Digest:
    calls = [Moment("tool_call", NOW - 40_000, "Bash")] * 8
    return worker(Moment("text", NOW - 45_000, "Build error persists."), *calls, session=session, **named)


def ended(session: str, **named: str) -> Digest:
    moments = Moment("text", NOW - 15_000, "It is all done now."), Moment("turn_ended", NOW - 15_000)
    return worker(*moments, session=session, **named)


def test_nothing_to_tell_is_nothing() -> None:
    assert coordinator_context([], []) == ""


def test_the_block_reads_as_in_the_seed_and_the_worst_comes_first() -> None:
    tasks = [
        BoardTask("task_1", "Fix login validation", "in_progress", "Frontend Dev"),
        BoardTask("task_2", "User deletion API", "blocked", "Backend Dev", "Missing serde dependency"),
        BoardTask("task_3", "Write auth tests", "pending"),
        BoardTask("task_4", "Set it up", "completed"),
        BoardTask("task_5", "Draw it", "completed"),
    ]
    sessions = [
        Watched(says("I'll start by reading the login component.", "sess_1")),
        Watched(silent("sess_2", name="Backend Dev")),
        Watched(ended("sess_3")),
        Watched(
            says("Which one shall it be?", "sess_4"),
            asks="Which database?",
            escalation="esca_1: it is about data",
            under="sess_1",
        ),
        Watched(ended("sess_5", task="task_4")),
    ]
    assert coordinator_context(tasks, sessions, UTC) == (
        "<coordinator_context>\n"
        "  <task_board>\n"
        '    <task id="task_2" title="User deletion API" assignee="Backend Dev" status="blocked"'
        ' blocked_reason="Missing serde dependency" />\n'
        '    <task id="task_1" title="Fix login validation" assignee="Frontend Dev" status="in_progress" />\n'
        '    <task id="task_3" title="Write auth tests" assignee="unassigned" status="pending" />\n'
        '    <more completed="2" />\n'
        "  </task_board>\n"
        "  <session_activity>\n"
        '    <session id="sess_4" worker="Frontend Dev" under="sess_1" task="task_1" state="active">\n'
        '      [14:32:05] "Which one shall it be?"\n'
        '      ? asks: "Which database?"\n'
        '      ⚑ waits for the human: "esca_1: it is about data"\n'
        "    </session>\n"
        '    <session id="sess_2" worker="Backend Dev" task="task_1" state="active" stuck="true">\n'
        '      [14:31:25] "Build error persists."\n'
        "      ⚠ No text output for 45s (8 tool calls since last text)\n"
        "    </session>\n"
        '    <session id="sess_1" worker="Frontend Dev" task="task_1" state="active">\n'
        '      [14:32:05] "I\'ll start by reading the login component."\n'
        "    </session>\n"
        '    <session id="sess_3" worker="Frontend Dev" task="task_1" state="idle_15s">\n'
        '      [14:31:55] "It is all done now."\n'
        "    </session>\n"
        '    <more idle="1" idle_sessions="sess_5" />\n'
        "  </session_activity>\n"
        "</coordinator_context>"
    )


def test_with_little_room_the_worst_stays_and_the_rest_is_counted() -> None:
    tasks = [BoardTask(f"task_{n}", f"Part {n}", "pending", updated_at=n) for n in range(40)]
    tasks += [BoardTask("task_bad", "The bad one", "error"), BoardTask("task_old", "Old", "cancelled")]
    sessions = [Watched(says(f"Text {n} of a worker. " * 3, f"sess_{n}", ago=n)) for n in range(40)]
    sessions.append(Watched(silent("sess_stuck")))
    root = ET.fromstring(coordinator_context(tasks, sessions, UTC, most_tokens=500))
    shown_tasks = [task.get("id") for task in root.iter("task")]
    shown = [session.get("id") for session in root.iter("session")]
    assert shown_tasks == ["task_bad"]
    # Everybody who works comes before what nobody has begun; of those, who spoke last.
    assert shown == ["sess_stuck", *[f"sess_{n}" for n in range(len(shown) - 1)]]
    assert len(shown) > 5
    more = {part.tag: dict(part.find("more").attrib) for part in root}  # type: ignore[union-attr] # it is there
    assert more == {
        "task_board": {"cancelled": "1", "left_out": "40"},
        "session_activity": {"left_out": str(41 - len(shown))},
    }


def test_all_are_shown_shortly_before_one_is_shown_at_length() -> None:
    def talks(session: str) -> Watched:
        moments = [
            Moment("text", NOW - 9000 + n, f"Sentence number {n} of it, with some more words.")
            for n in range(5)
        ]
        return Watched(worker(*moments, session=session))

    sessions = [talks(f"sess_{n}") for n in range(6)]
    root = ET.fromstring(coordinator_context([], sessions, UTC, most_tokens=400))
    lengths = [len((session.text or "").strip().splitlines()) for session in root.iter("session")]
    assert len(lengths) == 6
    assert lengths == sorted(lengths, reverse=True)
    assert (lengths[0], lengths[-1]) == (5, 1)


def test_a_secret_is_not_told() -> None:
    block = coordinator_context(
        [BoardTask("task_1", "Use sk-ant-REDACTED", "pending")],
        [Watched(says("ok", "sess_1"), asks="password=hunter2secret", escalation="token: ghp_0123456789abcdef0123")],
    )  # fmt: skip
    assert "abcdefghijklmnop" not in block
    assert "hunter2secret" not in block
    assert "ghp_" not in block


ANY = st.text(max_size=400)
STATUSES = st.sampled_from(["pending", "in_progress", "blocked", "error", "completed", "cancelled"])
TASKS = st.lists(st.builds(BoardTask, st.just("task_1"), ANY, STATUSES, ANY, ANY, st.integers(0, 9)), max_size=30)  # fmt: skip
SESSIONS = st.lists(
    st.builds(
        lambda said, name, asks, escalation: Watched(
            worker(Moment("text", NOW, said), Moment("turn_ended", NOW), name=name, task=""), asks, escalation
        ),
        st.text(min_size=10, max_size=400),
        ANY,
        ANY,
        ANY,
    ),
    max_size=20,
)


@given(tasks=TASKS, sessions=SESSIONS, most=st.integers(0, 2000))
def test_it_is_well_formed_and_within_its_bound_whatever_is_said(
    tasks: list[BoardTask], sessions: list[Watched], most: int
) -> None:
    block = coordinator_context(tasks, sessions, most_tokens=most)
    if not block:
        assert most < 150 or not (tasks or sessions)
        return
    assert estimated_tokens(len(block)) <= most
    root = ET.fromstring(block)
    assert {child.tag for child in root} <= {"task_board", "session_activity"}
    assert {child.tag for child in root.iter()} <= {
        "coordinator_context", "task_board", "session_activity", "task", "session", "more",
    }  # fmt: skip
    numbers = [
        int(value)
        for more in root.iter("more")
        for name, value in more.attrib.items()
        if name != "idle_sessions"
    ]
    # Everything is there, shown or counted.
    told = len(list(root.iter("task"))) + len(list(root.iter("session"))) + sum(numbers)
    assert told == len(tasks) + len(sessions)
