"""The three dimensions of a pane's state, without tmux."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maestro.errors import InvalidInput
from maestro.fleet import colours, focus, panes
from maestro.fleet.facts import Client, Glance, Pane
from maestro.fleet.leases import FREE, Lease, may_take, taken
from maestro.fleet.panes import NOTIFY_STATES, Action, Counts, Notify, PaneState

NOW = 1_800_000_000_000
MINE = Lease("sess_c", NOW + 60_000)

STATES = st.builds(
    PaneState,
    notify=st.sampled_from(["", *NOTIFY_STATES]),
    focused=st.booleans(),
    lease=st.sampled_from([FREE, MINE, Lease("sess_d", NOW - 1), Lease("a,b|c", NOW + 1)]),
    since=st.integers(0, NOW),
    offered=st.integers(0, NOW),
    acknowledged=st.booleans(),
    question_open=st.booleans(),
    told=st.booleans(),
).map(
    lambda state: state._replace(
        acknowledged=state.acknowledged and state.notify == "done",
        question_open=state.question_open and state.notify == "checked",
        told=state.told and bool(state.lease.coordinator),
    )
)


@pytest.mark.parametrize(
    ("notify", "engaged", "focused", "action"),
    [
        ("working", 0, 0, Action.SKIP),
        ("working", 0, 1, Action.SKIP),
        ("unchecked", 0, 0, Action.PICK_UP),
        ("unchecked", 0, 1, Action.SKIP),
        ("unchecked", 1, 0, Action.SKIP),
        ("unchecked", 1, 1, Action.ABORT),
        ("error", 0, 0, Action.PICK_UP),
        ("error", 0, 1, Action.SKIP),
        ("done", 0, 0, Action.PICK_UP),
        ("checked", 0, 0, Action.SKIP),
    ],
)
def test_the_interaction_matrix(notify: Notify, engaged: int, focused: int, action: Action) -> None:
    state = PaneState(notify, focused=bool(focused), lease=MINE if engaged else FREE)
    assert panes.response(state, NOW).action is action


def test_every_combination_has_a_response_with_a_reason() -> None:
    for notify, focused, lease, acknowledged in itertools.product(
        ("", *NOTIFY_STATES), (False, True), (FREE, MINE), (False, True)
    ):
        state = PaneState(notify, focused=focused, lease=lease, acknowledged=acknowledged)
        answer = panes.response(state, NOW)
        assert answer.reason
        assert not (focused and answer.action is Action.PICK_UP)
        assert (answer.action is Action.ABORT) == (focused and lease is MINE)


@pytest.mark.parametrize(("start", "end"), list(itertools.product(("", *NOTIFY_STATES), NOTIFY_STATES)))
def test_a_worker_may_say_anything_at_any_time(start: Notify, end: Notify) -> None:
    state = panes.notified(PaneState(start, lease=MINE, since=5, offered=NOW, told=True), end, NOW)
    assert state.notify == end
    assert state.since > state.offered
    assert state.lease == (MINE if end == "unchecked" else FREE)
    assert state.actionable == (end in {"unchecked", "error", "done"})


def test_said_again_it_keeps_its_place() -> None:
    state = panes.notified(PaneState("working"), "unchecked", NOW)
    assert panes.notified(state, "unchecked", NOW + 1000).since == NOW
    given_out = panes.handed_back(panes.taken_up(state, MINE, NOW + 10, told=True))
    assert panes.notified(given_out, "unchecked", NOW + 1000).since == NOW + 1000


def test_looking_checks_and_leaving_unchecks() -> None:
    asked = PaneState("unchecked", since=NOW)
    seen = panes.settled(asked, focused=True, now=NOW + 5)
    assert (seen.notify, seen.focused) == ("checked", True)
    assert panes.settled(seen, focused=True, now=NOW + 6) == seen
    assert panes.settled(seen, focused=False, now=NOW + 7) == asked
    assert panes.notified(seen, "working", NOW + 6).question_open is False
    answered = panes.notified(seen, "checked", NOW + 6)
    assert panes.settled(answered, focused=False, now=NOW + 7).notify == "checked"


def test_the_human_takes_over_from_a_coordinator() -> None:
    engaged = PaneState("unchecked", lease=MINE, since=NOW, offered=NOW)
    taken_over = panes.settled(engaged, focused=True, now=NOW + 1)
    assert taken_over == PaneState("unchecked", focused=True, since=NOW, offered=NOW)
    assert panes.queue({"%1": panes.settled(taken_over, focused=False, now=NOW + 2)}, NOW + 2) == ["%1"]


def test_a_lease_ends() -> None:
    engaged = PaneState("done", lease=MINE, since=NOW, offered=NOW)
    assert panes.settled(engaged, focused=False, now=MINE.until - 1).lease == MINE
    free = panes.settled(engaged, focused=False, now=MINE.until)
    assert (free.lease, free.acknowledged) == (FREE, False)
    assert panes.queue({"%1": free}, MINE.until) == ["%1"]
    assert not may_take(MINE, "sess_d", NOW)
    assert may_take(MINE, "sess_c", NOW)
    assert may_take(MINE, "sess_d", MINE.until)
    assert taken("x", NOW, 10) == Lease("x", NOW + 10)


def test_a_handled_done_does_not_come_back_until_it_is_said_again() -> None:
    state = panes.handed_back(panes.taken_up(PaneState("done", since=NOW), MINE, NOW, told=True))
    assert (state.notify, state.actionable) == ("done", False)
    assert panes.queue({"%1": state}, NOW) == []
    assert panes.queue({"%1": panes.notified(state, "done", NOW + 1)}, NOW + 1) == ["%1"]


def test_what_its_coordinator_never_learned_of_comes_back() -> None:
    state = panes.taken_up(PaneState("done", since=NOW), MINE, NOW, told=False)
    assert panes.queue({"%1": panes.handed_back(state)}, NOW) == ["%1"]


def test_the_queue_is_by_urgency_and_then_by_age() -> None:
    states = {
        "%1": PaneState("done", since=1),
        "%2": PaneState("unchecked", since=3),
        "%3": PaneState("unchecked", since=2),
        "%4": PaneState("error", since=9),
        "%5": PaneState("working", since=0),
        "%6": PaneState("error", since=1, focused=True),
        "%7": PaneState("error", since=1, lease=MINE),
    }
    assert panes.queue(states, NOW) == ["%4", "%3", "%2", "%1"]


def test_what_came_back_as_it_was_lets_the_others_go_first() -> None:
    states = {
        "%1": PaneState("error", since=1, offered=20),
        "%2": PaneState("error", since=2, offered=10),
        "%3": PaneState("done", since=3),
    }
    assert panes.queue(states, NOW) == ["%3", "%2", "%1"]


def test_focused_means_that_all_there_is_to_do_is_looked_at() -> None:
    looked_at = panes.looked_at(PaneState("unchecked", since=1))
    assert panes.all_focused([looked_at, PaneState("working"), PaneState("error", focused=True)])
    assert not panes.all_focused([looked_at, PaneState("done")])
    assert not panes.all_focused([PaneState("working", focused=True)])
    assert not panes.all_focused([])


def test_the_status_line() -> None:
    states = [PaneState("working", focused=True), PaneState("unchecked"), PaneState("done"), PaneState("")]
    counted = panes.count(states)
    assert counted == Counts(3, 1, 1, 0, 1, 0, 1)
    assert str(counted) == "STATUS total=3 working=1 unchecked=1 error=0 done=1 checked=0 focused=1"


def test_the_segment_and_the_next_pane() -> None:
    states = {
        "%1": PaneState("working"),
        "%2": PaneState("unchecked", since=1),
        "%3": PaneState("error", since=2),
        "%4": PaneState("unchecked", since=0, lease=MINE),
        "%5": PaneState("error", since=0, focused=True),
        "%6": PaneState("done", since=0),
    }
    assert panes.needing_human(states, NOW) == ["%3", "%2"]
    assert panes.segment(states, NOW) == "1 working · 2 need you"
    del states["%3"]
    assert panes.segment(states, NOW) == "1 working · 1 needs you"
    assert panes.segment({}, NOW) == "0 working"


def test_a_window_shows_the_loudest_of_its_panes() -> None:
    assert panes.loudest([PaneState("working"), PaneState("unchecked"), PaneState("done")]) == "unchecked"
    assert panes.loudest([PaneState("checked"), PaneState("working")]) == "working"
    assert panes.loudest([PaneState("")]) == ""


def test_colours() -> None:
    assert colours.pane_style(PaneState("error", lease=MINE)) == colours.ENGAGED
    styles = {colours.pane_style(PaneState(notify)) for notify in ("unchecked", "error", "done", "working")}
    assert len(styles) == 4
    assert "bold" in colours.window_style("error")
    assert "bold" not in colours.window_style("working")


def test_an_unknown_state_is_refused() -> None:
    with pytest.raises(InvalidInput, match="“sleeping”"):
        panes.asked_notify("sleeping")


def glance_of(state: PaneState) -> Glance:
    options = panes.options_of(state)
    engaged, seen = options["@pane_coordinator_active"] == "1", options["@pane_user_focused"] == "1"
    return Glance(1, 1, "%1", 1, "@1", options["@pane_notify"], engaged, seen, options["@pane_book"])


@given(STATES)
def test_options_tell_the_whole_state(state: PaneState) -> None:
    assert panes.state_of(glance_of(state)) == state


@given(notify=st.text(), book=st.text(), engaged=st.booleans(), seen=st.booleans())
def test_options_that_somebody_set_by_hand_are_read(
    notify: str, book: str, *, engaged: bool, seen: bool
) -> None:
    state = panes.state_of(Glance(1, 1, "%1", 1, "@1", notify, engaged, seen, book))
    assert panes.response(state, NOW).reason


def pane(pane_id: str, **facts: str) -> Pane:
    blank = dict.fromkeys(Pane._fields, "")
    return Pane(**{**blank, "pane_id": pane_id, **facts})  # type: ignore[arg-type]  # only names matter here


def test_which_panes_are_managed() -> None:
    found = [
        pane("%1", label="Coordinator", manages="Main,SDK,%4,nobody", session_id="sess_c"),
        pane("%2", label="Main", session_id="sess_m"),
        pane("%3", label="SDK"),
        pane("%4", label="Main 2"),
        pane("%5", label="SDK"),
    ]
    assert panes.managed(found, None, "%1") == ({"%2", "%3", "%4", "%5"}, ["nobody"])
    assert panes.managed(found, None, "") == ({"%2", "%3", "%4", "%5"}, [])
    assert panes.managed(found, ["sess_m", "%1", "Mai"], "%1") == ({"%2"}, ["Mai"])
    assert panes.managed(found, [], "%1") == (set(), [])


@given(st.lists(st.text(st.sampled_from("ab, "), min_size=1).filter(lambda name: name.strip() == name)))
def test_managed_names_survive(names: list[str]) -> None:
    assert panes.manages_words(panes.manages_option(names)) == names


def client(**facts: object) -> Client:
    found = Client(
        "/dev/pts/1", 1, False, frozenset({"attached", "focused"}), "main", "@1", "%1", NOW // 1000
    )
    return found._replace(**facts)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "focused"),
    [
        (client(), True),
        (client(control=True), False),
        (client(flags=frozenset({"attached", "focused", "control-mode"})), False),
        (client(flags=frozenset({"attached"})), False),
        (client(flags=frozenset({"attached", "focused", "suspended"})), False),
        (client(activity=NOW // 1000 - 119), True),
        (client(activity=NOW // 1000 - 121), False),
        (client(activity=0), False),
    ],
)
def test_who_looks(one: Client, *, focused: bool) -> None:
    assert focus.focused_panes([one], NOW) == (frozenset({"%1"}) if focused else frozenset())


def test_several_humans_and_the_next_lapse() -> None:
    two = [client(), client(pane_id="%2", activity=NOW // 1000 - 100), client(pane_id="%3", control=True)]
    assert focus.focused_panes(two, NOW) == {"%1", "%2"}
    lapse = focus.next_lapse(two, NOW)
    assert lapse is not None
    assert focus.focused_panes(two, lapse - 1) == {"%1", "%2"}
    assert focus.focused_panes(two, lapse) == {"%1"}
    assert focus.next_lapse([], NOW) is None
    assert focus.focused_panes([], NOW) == frozenset()
