"""The walk that every CLI takes, step by step. What differs between them is told by their test files."""

from __future__ import annotations

import json
import random
import threading
from dataclasses import dataclass
from typing import Any

from tests.patience import patience
from tests.real.fleet import RealFleet
from tests.real.turns import Failure, Reply, Scripted, Used, says
from tests.stopping import stopping

# A message may begin with what an input box takes for a command, a shell line, a note, a file, a choice.
FIRST_CHARACTERS = (
    "! echo run by the shell",
    "/quit is a word here",
    "# is a heading",
    "@nobody is a name",
    "1",
    "2 things are left",
)


@dataclass(frozen=True)
class Asked:
    """A dialog: how it comes about, and how Maestro must tell it."""

    turns: tuple[Scripted, ...]
    kind: str
    text: str = ""  # exact, where it is the agent's own
    labels: tuple[str, ...] = ()  # those that come first
    preamble: str = ""
    detail: str = ""  # of a permission: the command
    mode: str = "cautious"


def first_prompt(fleet: RealFleet, *, tokens: dict[str, int], used: Used) -> None:
    """Spawned with a prompt, it works, says something, counts its tokens, and stops with all that it started."""
    gate = threading.Event()
    fleet.load(says("Hello from the stub.", gate=gate, used=used))
    session_id = fleet.spawn("say hello")
    fleet.asked("say hello")
    # What it asks the API may be there before its hook and its log are.
    shown = ("session", "show", session_id)
    fleet.until("it works", lambda: fleet.json(*shown)["status"], lambda status: status == "working")
    fleet.until("it thinks", lambda: fleet.digest(session_id)["state"], lambda state: state == "thinking")
    gate.set()
    digest = fleet.until_said(session_id, "Hello from the stub.")
    assert "say hello" in digest["entries"][0]["text"]
    assert [entry["source"] for entry in digest["entries"]] == ["user", "assistant"]
    [stats] = fleet.json("session", "stats", session_id)
    [model] = stats["models"]
    assert {name: model[name] for name in tokens} == tokens
    assert fleet.alive()
    assert fleet.stop(session_id)["status"] == "stopped"
    assert fleet.alive() == []


def status_while_it_works(fleet: RealFleet) -> None:
    """Working while the model is asked, finished after it has answered; each with evidence."""
    gate = threading.Event()
    fleet.load(says("Hello from the stub.", gate=gate))
    session_id = fleet.spawn("say hello")
    fleet.asked("say hello")
    until_all_agree(fleet, session_id, "working", "thinking")
    gate.set()
    told = until_all_agree(fleet, session_id, "finished")
    assert told["state"] == "idle"
    assert not [words for words in told["degraded"] if "version" in words]


def until_all_agree(fleet: RealFleet, session_id: str, *statuses: str) -> dict[str, Any]:
    """Hook, log and screen tell one after the other of a turn's begin and end; meanwhile they disagree."""
    return fleet.until(
        f"log and screen agree on {' or '.join(statuses)}",
        lambda: fleet.explain(session_id),
        lambda told: (
            told["status"] in statuses
            and told["disagreements"] == []
            and {"screen", "transcript"} <= {one["source"] for one in told["evidence"]}
        ),
    )


def seen(fleet: RealFleet, asked: Asked) -> tuple[str, dict[str, Any]]:
    """The dialog is told with its exact words."""
    fleet.load(*asked.turns, says("All is answered."))
    session_id = fleet.spawn("begin", asked.mode)
    screen = fleet.until_asked(session_id)
    assert screen["kind"] == asked.kind, screen
    assert screen["questionId"]
    if asked.text:
        assert screen["questionText"] == asked.text
    assert tuple(option["label"] for option in screen["options"])[: len(asked.labels)] == asked.labels
    if asked.preamble:
        assert screen["preamble"].endswith(asked.preamble)
    told = fleet.explain(session_id)
    assert told["state"] == "needs_input", told
    assert asked.detail in told["question"]["asked"].get("detail", "")
    return session_id, screen


def answered(fleet: RealFleet, asked: Asked, words: str, *, results: tuple[str, ...]) -> None:
    """The dialog is told, takes this answer, and the model gets it as its tool's result."""
    since = len(fleet.api.received())
    session_id, screen = seen(fleet, asked)
    receipt = fleet.tell(session_id, words)
    assert receipt["kind"] == "answer"
    assert receipt["questionId"] == screen["questionId"]
    fleet.until_said(session_id, "All is answered.")
    assert not fleet.screen(session_id)["hasQuestion"]
    result = fleet.api.received()[-1].tool_results()[-1] if results else ""
    assert [part for part in results if part not in result] == [], result
    assert len(fleet.api.received()) - since == len(asked.turns) + 1


def noticed(fleet: RealFleet, asked: Asked) -> None:
    """A coordinator that waits is woken by the dialog itself, told by a hook or by the pane's title; nobody looks."""
    fleet.load(*asked.turns, says("All is answered."))
    session_id = fleet.spawn("begin", asked.mode)
    waited = fleet("fleet", "coordinate-wait", "--timeout", str(patience()), timeout=60)
    first, _, capture = waited.stdout.partition("\n")
    assert first.split("|")[1] == "unchecked", waited
    told = json.loads(capture[: capture.rindex("}") + 1])
    assert (told["sessionId"], told["hasQuestion"], told["kind"]) == (session_id, True, asked.kind)


def hooked(fleet: RealFleet) -> None:
    """Its hooks tell that a turn is over."""
    fleet.load(says("I was heard."))
    session_id = fleet.spawn("say something")
    told = fleet.until(
        "a hook tells that the turn is over",
        lambda: fleet.explain(session_id),
        lambda told: ("hook", "turn_ended") in {(one["source"], one["rule"]) for one in told["evidence"]},
    )
    assert not [words for words in told["degraded"] if "hook" in words], told


def refused_words(fleet: RealFleet, session_id: str, words: str) -> None:
    """Words beside an option that takes none are refused, and nothing is typed."""
    before = fleet.json("session", "prompts", session_id)
    screen = fleet.screen(session_id)["content"]
    done = fleet("session", "prompt", session_id, "--message", words)
    assert done.returncode != 0
    assert "takes no words beside it" in done.stderr, done
    assert fleet.json("session", "prompts", session_id) == before
    assert fleet.screen(session_id)["content"] == screen


def refused(fleet: RealFleet, asked: Asked) -> None:
    """A permission that is not given ends the turn, and is told as no longer asked."""
    session_id, screen = seen(fleet, asked)
    # Versions offer more or fewer lasting permissions before it.
    no = next(n for n, option in enumerate(screen["options"], 1) if option["label"].startswith("No"))
    fleet.tell(session_id, f"Choose {no}")
    fleet.until_status(session_id, "interrupted", "finished")
    assert not fleet.screen(session_id)["hasQuestion"]


def prompted_while_idle(fleet: RealFleet, tab: str = "\t") -> None:
    """A prompt arrives once, whole, with all its lines; `tab` is what the CLI makes of one."""
    session_id = at_rest(fleet)
    message = "the first line\n\n\tthe third; with 'quotes' and \"more\" $HOME `ls` é 日本 🙂"
    since = fleet.load(says("It was read."))
    receipt = fleet.tell(session_id, message)
    fleet.until_said(session_id, "It was read.")
    assert _count(fleet, since, message.replace("\t", tab)) == 1
    assert receipt["id"] in {one["id"] for one in fleet.json("session", "prompts", session_id)}


def a_long_prompt(fleet: RealFleet) -> None:
    """So does one that the CLI shows as a mark only."""
    session_id = at_rest(fleet)
    message = "\n".join(f"line {number} of a long prompt" for number in range(400))
    since = fleet.load(says("All of it was read."))
    fleet.tell(session_id, message)
    fleet.until_said(session_id, "All of it was read.")
    assert _count(fleet, since, message) == 1


def prompted_while_busy(fleet: RealFleet) -> None:
    """Two prompts for one that works arrive once each, in their order."""
    gate = threading.Event()
    fleet.load(says("The first is done.", gate=gate), afterwards=says("The others are done."))
    session_id = fleet.spawn("begin")
    fleet.asked("begin")
    # Until it shows that it works, Gemini CLI may drop what is typed: its receipt is then uncertain.
    until_all_agree(fleet, session_id, "working", "thinking")
    fleet.tell(session_id, "then do the second")
    fleet.tell(session_id, "and at last the third")
    gate.set()
    fleet.asked("and at last the third")
    fleet.until_said(session_id, "The others are done.")
    told = "\n".join(fleet.api.received()[-1].user_texts())
    assert told.count("then do the second") == told.count("and at last the third") == 1
    assert told.index("then do the second") < told.index("and at last the third")


def stopped_at_random(fleet: RealFleet, prompts: int) -> None:
    """Prompts for one that is stopped and continued at random while it works arrive once each, in their order."""
    gate = threading.Event()
    fleet.load(says("The first is done.", gate=gate), afterwards=says("The others are done."))
    session_id = fleet.spawn("begin")
    fleet.asked("begin")
    until_all_agree(fleet, session_id, "working", "thinking")
    submitted, uncertain = [], []
    with stopping(fleet.pids(), random.Random(prompts)):
        for number in range(1, prompts + 1):
            text = f"prompt number {number} of {prompts}."
            receipt = fleet.sent(session_id, text)
            if receipt["state"] == "uncertain":
                # It may stand in the box, in front of every other one.
                uncertain = [text]
                break
            assert receipt["state"] == "submitted", receipt
            submitted.append(text)
    gate.set()
    if submitted:
        fleet.asked(submitted[-1])
    fleet.until_said(session_id, "The others are done." if submitted else "The first is done.")
    told = "\n".join(fleet.api.received()[-1].user_texts())
    assert [told.count(text) for text in submitted] == [1] * len(submitted), told
    assert sorted(submitted, key=told.index) == submitted
    assert all(told.count(text) <= 1 for text in uncertain), told
    print(f"{len(submitted)} submitted, {len(uncertain)} uncertain")  # noqa: T201 - what a soak run reports


def first_characters(fleet: RealFleet) -> None:
    """Messages arrive as text whatever they begin with."""
    session_id = at_rest(fleet)
    for number, message in enumerate(FIRST_CHARACTERS):
        since = fleet.load(says(f"Number {number} was read."))
        fleet.tell(session_id, message)
        fleet.until_said(session_id, f"Number {number} was read.")
        assert _count(fleet, since, message) == 1, message


def at_rest(fleet: RealFleet) -> str:
    """A session that waits for a prompt."""
    fleet.load(says("I am ready."))
    session_id = fleet.spawn("get ready")
    fleet.until_said(session_id, "I am ready.")
    return session_id


def _count(fleet: RealFleet, since: int, message: str) -> int:
    """How often the message, and nothing but it, stands in the conversation that the API was asked to go on with."""
    [request] = fleet.api.received(since)
    return list(map(_bare, request.user_texts())).count(_bare(message))


def _bare(text: str) -> str:
    """Without what an adapter may set before or after a text so that it is taken for one."""
    return text.strip().removeprefix("> ").strip("\u2060 ")


def adopted(fleet: RealFleet, asked: Asked, words: str, *flags: str, refuses: str = "") -> None:
    """One that a person runs in their own tmux is prompted, asks, and is answered; nothing of theirs is touched.

    With `refuses` it says first that it does not take this answer, and nothing is typed.
    """
    with fleet.own_tmux(fleet.cli.name, *flags) as tmux, fleet.adopted(tmux, "Mine") as session_id:
        assert fleet.json("session", "show", session_id)["agent"] == fleet.cli.name
        fleet.until_status(session_id, "finished")
        since = fleet.load(*asked.turns, says("All is answered."))
        fleet.tell(session_id, "begin")
        fleet.asked("begin", since=since)
        fleet.until_asked(session_id)
        if refuses:
            refused_words(fleet, session_id, refuses)
        fleet.tell(session_id, words)
        fleet.until_said(session_id, "All is answered.")
        assert tmux("list-clients") == ""


def trusted(fleet: RealFleet, *flags: str) -> None:
    """In a folder that the CLI does not know, its own dialog is told, and answered."""
    folder = fleet.work.parent / "unknown"
    folder.mkdir()
    with (
        fleet.own_tmux(fleet.cli.name, *flags, cwd=folder) as tmux,
        fleet.adopted(tmux, "Stranger") as session_id,
    ):
        screen = fleet.until_asked(session_id)
        assert screen["kind"] == "dialog", screen
        labels = [option["label"] for option in screen["options"]]
        yes = next(
            n for n, label in enumerate(labels, 1) if "rust" in label and not label.startswith(("No", "Don"))
        )
        fleet.tell(session_id, f"Choose {yes}")
        fleet.until_status(session_id, "finished")


def failed(fleet: RealFleet, failure: Failure) -> None:
    """A turn that ends with an API error is told as that, in the API's words."""
    fleet.load(afterwards=failure)
    session_id = fleet.spawn("fail")
    digest = fleet.until(
        "it failed", lambda: fleet.digest(session_id), lambda told: told["status"] == "failed"
    )
    assert digest["stuck"]["kind"] == "api_errors"
    assert failure.message in digest["stuck"]["evidence"]
    fleet.until_status(session_id, "failed")


def limited(fleet: RealFleet, failure: Failure, *, by_transcript: bool = True) -> None:
    """A used-up quota is told as that, not as work."""
    fleet.load(afterwards=failure)
    session_id = fleet.spawn("spend the rest")
    if by_transcript:
        fleet.until(
            "its limit is told",
            lambda: fleet.digest(session_id),
            lambda digest: (digest["stuck"] or {}).get("kind") == "limit",
        )
    fleet.until_status(session_id, "limited")


def retried(fleet: RealFleet, *turns: Scripted, status: str = "retrying") -> None:
    """While it tries again, it says so; then it goes on."""
    gate = threading.Event()
    back = Reply(says("Back again.").blocks, gate=gate)
    fleet.load(*turns, afterwards=back)
    session_id = fleet.spawn("try")
    try:
        fleet.until_status(session_id, status)
    finally:
        gate.set()
    fleet.until_said(session_id, "Back again.")
