"""Claude Code as the coordinator of a Claude and a Codex worker, from its first command to their last reports.

The steps follow on each other in one fleet, each a fixture that needs the one before; the tests may come in any order.
What the coordinator does, it does by its own shell; what it knows is read in what its model was told.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from tests.real.clis import CLIS, Cli, NotInstalled, installed
from tests.real.fleet import RealFleet
from tests.real.turns import Received, Reply, Scripted, Turn, calls, says

TILL, SIGN = "Fix the till", "Paint the sign"


@pytest.fixture(scope="module")
def cli() -> Cli:
    return CLIS["claude"]


@pytest.fixture(autouse=True)
def _nothing_left() -> None:
    """The sessions stay from step to step; they end with the team."""


class Cast:
    """Two agents of one API: each has a script of its own."""

    def __init__(self) -> None:
        self._scripts: dict[bool, list[Scripted]] = {True: [], False: []}

    def __call__(self, request: Received) -> Turn:
        script = self._scripts[is_coordinators(request)]
        turn = script.pop(0) if script else says("STUB: the script has no more turns.")
        return turn(request) if callable(turn) else turn

    def coordinator(self, *turns: Scripted) -> None:
        self._scripts[True] = list(turns)

    def worker(self, *turns: Scripted) -> None:
        self._scripts[False] = list(turns)


class Worker(NamedTuple):
    id: str
    task: str


class Team(NamedTuple):
    fleet: RealFleet
    cast: Cast
    lead: str
    name: str  # of the coordinator
    whole: str  # its task
    codex: Worker
    claude: Worker

    def turn(self, words: str, *turns: Scripted) -> Received:
        """The human says something to the coordinator, which does this; its model's last request of the turn."""
        last = f"I did this: {words}"
        self.cast.coordinator(*turns, says(last))
        self.fleet.until_status(self.lead, "finished")
        self.fleet.tell(self.lead, words)
        self.fleet.until_said(self.lead, last)
        return coordinators_last(self.fleet)


class Turns(NamedTuple):
    """One after the other."""

    first: Received
    second: Received


class Waiting(NamedTuple):
    """A refused answer: what the coordinator was told, what waits, the worker before the answer and after it."""

    request: Received
    inbox: list[dict[str, Any]]
    before: tuple[Any, ...]
    after: tuple[Any, ...]


def runs(command: str) -> Reply:
    """What Claude Code does with its shell."""
    return calls("I see to it.", "Bash", command=command, description="See to it")


def told(request: Received) -> str:
    """Every text that the model was given: hooks add theirs under other roles than the user's."""

    def texts(value: Any) -> Iterator[str]:
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict | list):
            for part in value.values() if isinstance(value, dict) else value:
                yield from texts(part)

    return "\n".join(texts(request.body))


def is_coordinators(request: Received) -> bool:
    return bool(re.search(r"You are the coordinator\.|<coordinator_state ", told(request)))


def coordinators_last(fleet: RealFleet) -> Received:
    return [one for one in fleet.api.received() if is_coordinators(one)][-1]


def contexts(request: Received) -> list[str]:
    """What the coordinator's model saw of its workers, turn by turn."""
    return re.findall(r"<coordinator_context>\n.*?</coordinator_context>", told(request), re.DOTALL)


def terminal(fleet: RealFleet, session_id: str) -> tuple[Any, ...]:
    """All that an answer would change: what was typed, the screen, the folder that it is about."""
    # The mark before a tool that waits blinks.
    screen = fleet.screen(session_id)["content"].replace("●", " ")
    return fleet.json("session", "prompts", session_id), screen, (fleet.work / "build").exists()


def allow_maestro(fleet: RealFleet) -> None:
    """As a person does who lets agents report without being asked each time."""
    folder = fleet.home / ".claude"
    folder.mkdir(exist_ok=True)
    (folder / "settings.json").write_text(json.dumps({"permissions": {"allow": ["Bash(maestro:*)"]}}))


@pytest.fixture(scope="module")
def team(fleet: RealFleet) -> Iterator[Team]:
    """A coordinator that splits its task and spawns its workers by its own commands."""
    try:
        codex = installed(CLIS["codex"])
    except NotInstalled as reason:
        pytest.fail(str(reason), pytrace=False)
    fleet.env["PATH"] = f"{codex}:{fleet.env['PATH']}"
    # Codex runs what it runs in a login shell, which finds commands as the person has them there.
    (fleet.home / ".profile").write_text(f"PATH='{fleet.env['PATH']}'\n")
    # It has no sandbox, and so no shell, where its home is below the folder for temporary files.
    temporary = fleet.work.parent / "tmp"
    temporary.mkdir()
    fleet.env["TMPDIR"] = str(temporary)
    allow_maestro(fleet)
    (fleet.work / "build").mkdir()
    whole = fleet.json("task", "create", "Build the shop")["id"]
    cast = Cast()
    fleet.load(afterwards=cast)
    fleet.api.load("openai", says("I am stuck: the till is locked."))
    cast.worker(says("The sign is primed."))
    spawn = "maestro session spawn --mode {} --agent {} --task '{}' --message '{}' --json"
    cast.coordinator(
        runs(f"maestro task create '{TILL}' --parent {whole} --json"),
        runs(f"maestro task create '{SIGN}' --parent {whole} --json"),
        runs(spawn.format("edits", "codex", TILL, "Begin with the drawer.")),
        runs(spawn.format("cautious", "claude", SIGN, "Prime it first.")),
        says("Both are at work."),
    )
    words = ("--agent", "claude", "--role", "coordinator", "--mode", "cautious", "--task", whole)
    lead = fleet.json("session", "spawn", *words, "--message", "The shop has two parts.", timeout=120)
    fleet.until_said(lead["id"], "Both are at work.")
    results = coordinators_last(fleet).tool_results()
    assert [one for one in results if not one.startswith("{")] == []
    till, sign, codex_id, claude_id = (json.loads(one)["id"] for one in results)
    fleet.until_said(codex_id, "I am stuck: the till is locked.")
    fleet.until_said(claude_id, "The sign is primed.")
    yield Team(fleet, cast, lead["id"], lead["name"], whole, Worker(codex_id, till), Worker(claude_id, sign))
    fleet.stop_all()


@pytest.fixture(scope="module")
def helped(team: Team) -> Turns:
    """The coordinator prompts the worker that is stuck."""
    team.fleet.api.load("openai", says("It is open, and I go on."))
    prompt = f"maestro session prompt {team.codex.id} --message 'The key is under the mat.' --json"
    first = team.turn("See to the till.", runs(prompt))
    team.fleet.until_said(team.codex.id, "It is open, and I go on.")
    return Turns(first, team.turn("Look again."))


@pytest.fixture(scope="module")
def refused(team: Team, helped: Turns) -> Waiting:
    """A worker wants to delete something, and the coordinator would let it."""
    fleet, worker = team.fleet, team.claude.id
    team.cast.worker(runs("rm -rf build"), says("The old build is gone."))
    prompt = f"maestro session prompt {worker} --json --message "
    team.turn("Have the old build removed.", runs(f"{prompt}'Remove the old build.'"))
    fleet.until_asked(worker)
    before = terminal(fleet, worker)
    request = team.turn("Let it go on.", runs(f"{prompt}'Choose 1'"))
    return Waiting(request, fleet.json("inbox"), before, terminal(fleet, worker))


@pytest.fixture(scope="module")
def compacted(team: Team, refused: Waiting) -> Received:
    """The coordinator's context is emptied while that waits; its next turn."""
    team.cast.coordinator(says("A summary that left everything out."))
    team.fleet.press(team.lead, "/compact", "Enter")
    team.fleet.until(
        "it is told what it forgot",
        lambda: team.fleet.json("session", "stats", team.lead)[0]["context"],
        lambda context: context and context["rehydrations"] == 1,
    )
    return team.turn("Go on, please.")


@pytest.fixture(scope="module")
def answered(team: Team, refused: Waiting, compacted: Received) -> dict[str, Any]:
    """The human lets it; the receipt."""
    [waiting] = refused.inbox
    receipt: dict[str, Any] = team.fleet.json("answer", waiting["id"], "1", timeout=120)["prompt"]
    team.fleet.until_said(team.claude.id, "The old build is gone.")
    return receipt


@pytest.fixture(scope="module")
def reported(team: Team, answered: dict[str, Any]) -> Received:
    """Both say that they are done, by their own shells; the coordinator's next turn."""
    report = "maestro session report complete '{}' --json"
    team.cast.worker(runs(report.format("The sign is painted; I checked it.")), says("All of it is done."))
    shell = calls("I report.", "exec_command", cmd=report.format("The till works."))
    team.fleet.api.load("openai", shell, says("I reported, though one test still fails."))
    prompt = "maestro session prompt {} --json --message 'Report, please.'"
    team.turn("Ask for reports.", *(runs(prompt.format(one.id)) for one in (team.claude, team.codex)))
    team.fleet.until_said(team.claude.id, "All of it is done.")
    team.fleet.until_said(team.codex.id, "I reported, though one test still fails.")
    return team.turn("Verify it.", runs(f"maestro session show {team.codex.id}"))


def test_it_spawns_its_workers_by_its_own_commands(fleet: RealFleet, team: Team) -> None:
    for agent, given in (("codex", team.codex), ("claude", team.claude)):
        shown = fleet.json("session", "show", given.id)
        found = (shown["agent"], shown["role"], shown["parentSessionId"], shown["taskIds"])
        assert found == (agent, "worker", team.lead, [given.task])
    assert fleet.asked("Begin with the drawer.\n</message>").api == "openai"
    assert not is_coordinators(fleet.asked("Prime it first.\n</message>"))


def test_each_turn_shows_what_its_workers_say_by_then(helped: Turns) -> None:
    before, after = contexts(helped.first), contexts(helped.second)
    assert after[:-1] == before
    assert "I am stuck: the till is locked." in before[-1]
    assert "The sign is primed." in before[-1]
    # A session has its task's title for a name.
    assert f'title="{TILL}" assignee="{TILL}" status="in_progress"' in before[-1]
    assert "It is open, and I go on." not in before[-1]
    assert "It is open, and I go on." in after[-1]


def test_it_prompts_the_one_that_is_stuck(fleet: RealFleet, team: Team, helped: Turns) -> None:
    assert json.loads(helped.first.tool_results()[-1])["state"] == "submitted"
    assert fleet.asked(f"[From: {team.name} ({team.lead})] The key is under the mat.").api == "openai"


def test_its_answer_to_what_is_dangerous_is_refused(team: Team, refused: Waiting) -> None:
    [waiting] = refused.inbox
    assert (waiting["sessionId"], waiting["proposed"]) == (team.claude.id, "Choose 1")
    assert "file deletion" in waiting["categories"]
    assert "? asks: " in contexts(refused.request)[-1]
    assert "rm -rf build" in contexts(refused.request)[-1]
    result = refused.request.tool_results()[-1]
    assert result.startswith("Exit code 5\n")
    assert waiting["id"] in result
    assert refused.after == refused.before
    assert refused.after[-1], "it was deleted"


def test_a_compaction_forgets_nothing_that_matters(team: Team, refused: Waiting, compacted: Received) -> None:
    known = told(compacted)
    assert "Have the old build removed." not in known, "nothing was forgotten"
    [state] = re.findall(r"<coordinator_state .*?</coordinator_state>", known, re.DOTALL)
    assert f'<task id="{team.whole}">\n<title>Build the shop</title>' in state
    [pending] = re.findall(r"<pending_escalations>.*?</pending_escalations>", state, re.DOTALL)
    assert refused.inbox[0]["id"] in pending
    [decisions] = re.findall(r"<recent_decisions>.*?</recent_decisions>", state, re.DOTALL)
    assert "left to the human" in decisions
    [panes] = re.findall(r"<panes>.*?</panes>", state, re.DOTALL)
    assert [one.id for one in (team.codex, team.claude) if one.id not in panes] == []
    [context] = contexts(compacted)
    assert refused.inbox[0]["id"] in context


def test_the_human_answers_what_waited(fleet: RealFleet, answered: dict[str, Any]) -> None:
    assert answered["state"] == "submitted"
    assert not (fleet.work / "build").exists()
    assert fleet.json("inbox") == []


def test_their_reports_are_held_against_what_is_known(
    fleet: RealFleet, team: Team, reported: Received
) -> None:
    sign, till = (fleet.json("session", "show", one.id)["report"] for one in (team.claude, team.codex))
    assert (sign["kind"], sign["message"]) == ("complete", "The sign is painted; I checked it.")
    assert (till["kind"], till["message"]) == ("complete", "The till works.")
    assert sign["evidence"]["agrees"]
    assert not till["evidence"]["agrees"]
    [against] = [one for one in till["evidence"]["points"] if one["stand"] == "disagrees"]
    assert (against["source"], against["says"]) == (
        "last text",
        "It says: “I reported, though one test still fails.”",
    )


def test_it_sees_that_they_are_done_and_what_speaks_against_it(team: Team, reported: Received) -> None:
    shown = contexts(reported)[-1]
    assert '<more completed="2" />' in shown
    assert [one.task for one in (team.codex, team.claude) if one.task in shown] == []
    assert "though one test still fails." in reported.tool_results()[-1]
