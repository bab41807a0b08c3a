"""Who needs the human, in which order, and what is told of each."""

from __future__ import annotations

from typing import Any

import pytest

from maestro.agents.questions import Option
from maestro.agents.questions import Question as Asked
from maestro.coordinate import overview as views
from maestro.coordinate.doing import DONE, ERROR, ESCALATION, NOTHING, QUESTION, STUCK, Seat
from maestro.coordinate.overview import Row, overview, rows
from maestro.fleet.asking import stored
from maestro.fleet.leases import Lease
from maestro.fleet.panes import Notify, PaneState
from maestro.ledger.facts import Escalation, Progress, Question, Session, SessionStatus, Task
from maestro.observe.digest import Digest, Entry, Metrics
from maestro.observe.status import Evidence, Status
from maestro.observe.stuck import Stuck, StuckKind

NOW = 1_000_000_000


def session(name: str = "one", status: SessionStatus = "working", **fields: Any) -> Session:
    known: dict[str, Any] = {
        "id": f"sess_{name}", "project_id": "proj_1", "name": name, "role": "worker", "agent": "claude",
        "status": status, "parent_session_id": None, "task_ids": (), "cwd": "/work", "host": "h", "model": None,
        "mode": None, "network": False, "transcript_id": None, "transcript_path": None, "environment": {}, "place": None,
        "worktree": None, "pid": None, "last_report": None, "created_at": NOW - 900_000,
        "updated_at": NOW - 100_000, "ended_at": None,
    }  # fmt: skip
    return Session(**(known | fields))


def stuck(kind: StuckKind) -> Stuck:
    return Stuck(kind, f"It is {kind}.", "evidence", "remedy", 1, 1)


def digest(
    status: Status, at: int = NOW - 50_000, *, wrong: StuckKind | None = None, said: str = ""
) -> Digest:
    entries = (Entry(at, said, "assistant", False),) if said else ()
    evidence = () if status == "unknown" else (Evidence("transcript", f"it is {status}", at),)
    return Digest(
        "sess_one", "one", "one", (), "claude", "unknown", status, evidence, entries,
        stuck(wrong) if wrong else None, Metrics(0, at, 0), at,
    )  # fmt: skip


def question(asked: Asked | None = None, name: str = "one", **fields: Any) -> Question:
    asked = asked or Asked("choice", "Which?", (Option("A"), Option("B")))
    known: dict[str, Any] = {
        "id": f"ques_{name}", "session_id": f"sess_{name}", "version": 2, "kind": asked.kind, "text": asked.text,
        "asked": stored(asked), "source": "hook", "call_id": "", "opened_at": NOW - 30_000, "closed_at": None,
        "closed_by": "",
    }  # fmt: skip
    return Question(**(known | fields))


def escalation(name: str = "one", **fields: Any) -> Escalation:
    known: dict[str, Any] = {
        "id": f"esca_{name}", "session_id": f"sess_{name}", "kind": "question", "subject": "ques_one",
        "question_id": "ques_one", "version": 2, "text": "Which?", "reason": "not sure", "categories": (),
        "proposed": "Choose 1", "confidence": 0.4, "decision_id": None, "opened_at": NOW - 20_000,
        "updated_at": NOW - 20_000, "news": 0, "notified_at": None, "closed_at": None, "closed_by": "",
    }  # fmt: skip
    return Escalation(**(known | fields))


def seat(notify: Notify = "", since: int = NOW - 10_000, *, dead: bool = False, **state: Any) -> Seat:
    return Seat("shop", "/run/shop", "%3", "shop", "shop:1.0", PaneState(notify, since=since, **state), dead)


ENGAGED = Lease("sess_boss", NOW + 1)
OLD = NOW - 500_000


def one(
    who: Session, told: Digest | None, ask: Question | None, inbox: Escalation | None, pane: Seat | None
) -> Row:
    [row] = rows(
        [who],
        {who.id: told} if told else {},
        [ask] if ask else [],
        [inbox] if inbox else [],
        {who.id: pane} if pane else {},
        {},
        NOW,
    )
    return row


ENDED: dict[str, Any] = {"ended_at": NOW - 5_000}


@pytest.mark.parametrize(
    ("who", "told", "ask", "inbox", "pane", "status", "needs"),
    [
        # An open escalation is first, whatever the session does.
        (session(), digest("working"), question(), escalation(), seat("unchecked"), "waiting", ESCALATION),
        (session(), digest("working"), question(), escalation(), seat(lease=ENGAGED), "waiting", ESCALATION),
        (session(), digest("working", wrong="wedged"), None, escalation(), None, "stuck", ESCALATION),
        (session(status="stopped", **ENDED), None, None, escalation(), None, "ended", ESCALATION),
        # A question, unless somebody is at it; an engagement that has lapsed is none.
        (session(), digest("working"), question(), None, None, "waiting", QUESTION),
        (
            session(),
            digest("working"),
            question(),
            None,
            seat("unchecked", lease=ENGAGED),
            "waiting",
            NOTHING,
        ),
        (session(), None, question(), None, seat("unchecked", lease=Lease("x", NOW)), "waiting", QUESTION),
        (session(), digest("asking"), None, None, seat("unchecked"), "waiting", QUESTION),
        (session(), digest("asking", wrong="question"), None, None, None, "waiting", QUESTION),
        (session(status="needs_input"), None, None, None, None, "waiting", QUESTION),
        # Errors and limits.
        (session(), digest("failed"), None, None, None, "error", ERROR),
        (session(), digest("failed", wrong="limit"), None, None, seat("error"), "error", ERROR),
        (session(), digest("retrying", wrong="api_errors"), None, None, None, "error", ERROR),
        (session(), digest("finished"), None, None, seat("error"), "error", ERROR),
        (session(status="error", **ENDED), digest("working"), None, None, None, "error", ERROR),
        (session(), digest("failed"), None, None, seat("error", lease=ENGAGED), "error", NOTHING),
        # Stuck.
        (session(), digest("working", wrong="silent"), None, None, None, "stuck", STUCK),
        (session(), digest("thinking", wrong="wedged"), None, None, seat("working", OLD), "stuck", STUCK),
        (session(), digest("finished", wrong="finished"), None, None, None, "stuck", STUCK),
        # Done, until somebody has seen it.
        (session(), digest("finished"), None, None, seat("done"), "done", DONE),
        (session(), digest("finished"), None, None, seat("done", OLD), "done", DONE),
        (session(), digest("finished"), None, None, seat("done", acknowledged=True), "done", NOTHING),
        (session(status="completed", **ENDED), digest("finished"), None, None, None, "done", DONE),
        (session(), digest("finished"), None, None, seat("unchecked"), "idle", DONE),
        (session(), digest("finished"), None, None, seat("unchecked", acknowledged=True), "idle", NOTHING),
        (session(), digest("working"), None, None, seat("unchecked"), "idle", DONE),
        # Nothing is needed.
        (session(), digest("working"), None, None, seat("done", OLD), "working", NOTHING),
        (session(), digest("working"), None, None, seat("error", OLD), "working", NOTHING),
        (session(), digest("background"), None, None, None, "working", NOTHING),
        (session(), digest("finished"), None, None, seat("working"), "working", NOTHING),
        (session(), digest("finished"), None, None, seat("working", OLD), "idle", NOTHING),
        (session(), digest("finished", OLD), None, None, seat("working", NOW - 21_000), "idle", NOTHING),
        (session(), digest("interrupted"), None, None, seat("checked"), "idle", NOTHING),
        (session(status="spawning"), digest("unknown"), None, None, None, "working", NOTHING),
        (session(status="stopped", **ENDED), None, None, None, None, "ended", NOTHING),
        (session(), digest("unknown"), None, None, seat("working"), "working", NOTHING),
        (session(), None, None, None, None, "unknown", NOTHING),
    ],
)
def test_what_it_does_and_whether_it_needs_you(
    who: Session,
    told: Digest | None,
    ask: Question | None,
    inbox: Escalation | None,
    pane: Seat | None,
    status: str,
    needs: int,
) -> None:
    row = one(who, told, ask, inbox, pane)
    assert (row.status, row.needs_you) == (status, needs)
    assert row.evidence


def test_who_needs_you_most_stands_first_and_among_equals_who_waited_longest() -> None:
    names = ["idle", "works", "done", "stuck", "error", "late", "early", "inbox"]
    found = rows(
        [session(name) for name in names],
        {
            "sess_idle": digest("finished"),
            "sess_works": digest("working"),
            "sess_done": digest("finished"),
            "sess_stuck": digest("working", wrong="silent"),
            "sess_error": digest("failed"),
        },
        [question(name="early", opened_at=NOW - 9_000), question(name="late", opened_at=NOW - 3_000)],
        [escalation("inbox", opened_at=NOW - 1_000)],
        {"sess_done": seat("done")},
        {},
        NOW,
    )
    assert [row.name for row in found] == [
        "inbox",
        "early",
        "late",
        "error",
        "stuck",
        "done",
        "works",
        "idle",
    ]
    whole = overview(found, [], NOW)
    assert whole.headline == "1 working · 5 need you · 1 idle · 1 done"
    assert whole.counts["needsYou"] == 5
    assert whole.counts["inbox"] == 1
    assert whole.refresh_after == views.WORKING_SECONDS


def test_nobody_works_then_it_looks_less_often() -> None:
    whole = overview(rows([session()], {}, [question()], [], {}, {}, NOW), [], NOW)
    assert (whole.headline, whole.refresh_after) == ("0 working · 1 needs you", views.RESTING_SECONDS)
    assert overview([], [], NOW).headline == "no sessions"


def test_the_question_is_told_whole_with_what_must_be_asked_again() -> None:
    asked = Asked(
        "permission",
        "May it?",
        (Option("Yes"), Option("Yes, always", is_lasting=True), Option("No, tell it", is_free_text=True)),
        tool="Bash",
        detail="git push\n--force",
        preamble="I am done.",
    )
    plain = one(session(), None, question(asked), None, None).question
    assert plain is not None
    assert (plain.id, plain.version, plain.takes, plain.detail) == ("ques_one", 2, "one", "git push\n--force")
    [part] = plain.parts
    assert [option.label for option in part.options] == ["Yes", "Yes, always", "No, tell it"]
    assert [bool(option.confirm) for option in part.options] == [False, True, False]
    assert [option.is_free_text for option in part.options] == [False, False, True]
    escalated = one(session(), None, question(asked), escalation(categories=("git operations",)), None)
    assert escalated.question is not None
    [part] = escalated.question.parts
    assert all("git operations" in option.confirm for option in part.options)
    assert escalated.line == "May it? git push --force"


@pytest.mark.parametrize(
    ("asked", "takes", "parts"),
    [
        (Asked("choice", "Which?", (Option("A"),)), "one", 1),
        (Asked("multi_choice", "Which?", (Option("A"),)), "many", 1),
        (Asked("free_text", "Name?"), "words", 1),
        (Asked("several", "", parts=(Asked("choice", "a?", (Option("A"),)), Asked("free_text", "b?"))), "several", 2),
        (Asked("several", "", parts=(Asked("multi_choice", "a?", (Option("A"),)),)), "many", 1),
    ],
)  # fmt: skip
def test_what_a_question_takes(asked: Asked, takes: str, parts: int) -> None:
    told = one(session(), None, question(asked), None, None).question
    assert told is not None
    assert (told.takes, len(told.parts)) == (takes, parts)


def test_what_is_in_the_inbox_is_shown_without_its_session() -> None:
    [row] = rows([], {}, [], [escalation(kind="budget", subject="fleet shop", session_id="")], {}, {}, NOW)
    assert (row.name, row.needs_you, row.question) == ("fleet shop", ESCALATION, None)


def test_of_two_escalations_the_one_of_a_question_is_shown() -> None:
    stuck_one = escalation(id="esca_stuck", question_id=None, opened_at=NOW - 90_000)
    [row] = rows([session()], {}, [], [stuck_one, escalation()], {}, {}, NOW)
    assert row.escalation is not None
    assert row.escalation.id == "esca_one"


def test_nothing_of_a_worker_reaches_the_screen_uncleaned() -> None:
    nasty = "\x1b]0;pwned\x07key sk-ant-REDACTED \u202eevil"
    asked = Asked("choice", nasty, (Option(nasty, description=nasty),), preamble=nasty, detail=nasty)
    found = one(
        session(nasty, id="sess_one"),
        digest("working", said=nasty),
        question(asked),
        escalation(text=nasty, reason=nasty, proposed=nasty, categories=(nasty,)),
        None,
    )
    shown = str(found)
    assert "key [redacted] evil" in shown
    for hidden in ("sk-ant", "\\x1b", "\x1b", "pwned", "\\u202e", "\u202e"):
        assert hidden not in shown


def test_tasks_lines_and_panes_are_told() -> None:
    task = Task(
        id="task_1", project_id="proj_1", title="Build it", description="", parent_id=None, depends_on=(),
        assignee=None, priority="normal", status="in_progress", blocked_reason=None, last_report=None,
        created_by=None, session_ids=("sess_one",), progress=Progress(completed=0, total=1), created_at=1,
        updated_at=1, started_at=None, ended_at=None,
    )  # fmt: skip
    who = session(task_ids=("task_gone", "task_1"))
    [row] = rows(
        [who], {who.id: digest("working", said="Half done.")}, [], [], {who.id: seat()}, {"task_1": task}, NOW
    )
    assert (row.task, row.line) == ("Build it", "Half done.")
    assert row.pane is not None
    assert (row.pane.socket, row.pane.pane_id, row.pane.location) == ("/run/shop", "%3", "shop:1.0")
    assert one(session(), None, None, None, seat(dead=True)).pane is None
