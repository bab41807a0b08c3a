"""`<coordinator_context>` as seed 000 draws it, with nothing in it that could break out."""

from datetime import UTC
from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from maestro.agents import Moment
from maestro.observe.context import BoardTask, coordinator_context
from maestro.observe.digest import Digest, Subject, digest
from maestro.observe.recent import Gathering

NOW = 1_794_753_130_000  # 14:32:10 UTC


def worker(*moments: Moment, session: str = "sess_1", name: str = "Frontend Dev") -> Digest:
    gathering = Gathering(5)
    for moment in reversed(moments):
        gathering.take((moment,))
    return digest(Subject(session, worker_name=name, task_ids=("task_1",)), gathering.result(0, 0, 0), NOW)


def test_nothing_to_tell_is_nothing() -> None:
    assert coordinator_context([], []) == ""


def test_the_block_reads_as_in_the_seed() -> None:
    tasks = [
        BoardTask("task_1", "Fix login validation", "in_progress", "Frontend Dev"),
        BoardTask("task_2", "User deletion API", "blocked", "Backend Dev", "Missing serde dependency"),
        BoardTask("task_3", "Write auth tests", "pending"),
    ]
    active = worker(Moment("text", NOW - 5000, "I'll start by reading the login component."))
    calls = [Moment("tool_call", NOW - 40_000, "Bash")] * 8
    silent = worker(
        Moment("text", NOW - 45_000, "Build error persists."), *calls, session="sess_2", name="Backend Dev"
    )
    ended = worker(
        Moment("text", NOW - 15_000, "It is all done now."),
        Moment("turn_ended", NOW - 15_000),
        session="sess_3",
    )
    assert coordinator_context(tasks, [active, silent, ended], UTC) == (
        "<coordinator_context>\n"
        "  <task_board>\n"
        '    <task id="task_1" title="Fix login validation" assignee="Frontend Dev" status="in_progress" />\n'
        '    <task id="task_2" title="User deletion API" assignee="Backend Dev" status="blocked"'
        ' blocked_reason="Missing serde dependency" />\n'
        '    <task id="task_3" title="Write auth tests" assignee="unassigned" status="pending" />\n'
        "  </task_board>\n"
        "  <session_activity>\n"
        '    <session id="sess_1" worker="Frontend Dev" task="task_1" state="active">\n'
        '      [14:32:05] "I\'ll start by reading the login component."\n'
        "    </session>\n"
        '    <session id="sess_2" worker="Backend Dev" task="task_1" state="active" stuck="true">\n'
        '      [14:31:25] "Build error persists."\n'
        "      ⚠ No text output for 45s (8 tool calls since last text)\n"
        "    </session>\n"
        '    <session id="sess_3" worker="Frontend Dev" task="task_1" state="idle_15s">\n'
        '      [14:31:55] "It is all done now."\n'
        "    </session>\n"
        "  </session_activity>\n"
        "</coordinator_context>"
    )


@given(title=st.text(), said=st.text(min_size=10), name=st.text())
def test_no_text_breaks_out_of_its_place(title: str, said: str, name: str) -> None:
    block = coordinator_context(
        [BoardTask("task_1", title, "pending", name, title)], [worker(Moment("text", NOW, said), name=name)]
    )
    root = ET.fromstring(block)
    assert [child.tag for child in root] == ["task_board", "session_activity"]
    assert [child.tag for child in root.iter()].count("task") == 1
    assert len(root.findall("session_activity/session")) == 1
    assert len(block.splitlines()) <= 10
