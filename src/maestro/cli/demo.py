"""`maestro demo`: the story of `maestro.testing.demo`, live on a terminal, as lines in a pipe."""

from __future__ import annotations

import os

from maestro.cli import render
from maestro.cli.parser import Parser, wants_json
from maestro.cli.task import tree_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping
    from typing import Any

    from maestro.testing.demo import Outcome
    from maestro.testing.demo.audience import Scene

_WIDEST_NAME = 12
_INTRODUCTION = (
    "Scripted agents and their coordinators, in a temporary folder, for a little more than a minute.",
    "First `maestro coordinate` answers by rules what is harmless. What is not waits in the inbox for you.",
    "Then an agent is the coordinator: it starts a worker, watches it, helps it, and checks what it did.",
    "The demo plays you, with the commands that you would type.",
)
_FIRST_PROMPT = ("<task ", "You are the coordinator.")
_TOLD = ("What was done", "Decisions", "In numbers")


def describe(parser: Parser) -> None:
    parser.set_defaults(run=_demo)


def _demo(arguments: Namespace) -> None:
    import signal

    from maestro.testing import demo

    # Whatever ends the demo, it clears its stage first.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    if wants_json(arguments):
        render.print_json(demo.play(_as_json, os.environ)._asdict())
        return
    for told in _INTRODUCTION:
        print("\n".join(render.wrapped("", told, None)))
    print(flush=True)
    outcome = _on_terminal() if render.on_terminal() else demo.play(_as_lines, os.environ)
    for line in _ending(outcome):
        print(line)


def _ending(outcome: Outcome) -> list[str]:
    ratio = outcome.raw_tokens // max(1, outcome.digest_tokens)
    autonomy = f"{outcome.autonomy_rate:.0%}" if outcome.autonomy_rate is not None else "nothing was decided"
    agreed = (
        f"you agreed with {outcome.proposals_agreed} of {outcome.proposals_compared} proposals"
        if outcome.proposals_compared
        else "what is dangerous comes to you without a proposal to agree with"
    )
    by_reports = (
        f"{outcome.tasks_completed} of {outcome.tasks_total} tasks completed by their workers' own reports"
    )
    without_you = f"{outcome.answered_by_rules} of {outcome.questions_decided} questions answered without you"
    saving = (
        f"{outcome.digest_tokens} tokens instead of the {outcome.raw_tokens:,} of their transcripts' ends"
    )
    numbers = (
        f"{by_reports}: {outcome.events} events in {outcome.seconds:.0f} s.",
        f"Autonomy {autonomy}: {without_you}, {outcome.escalated} escalated, {_helped(outcome)}.",
        f"Agreement: {agreed}.",
        f"A coordinator that reads their digests takes in about {saving}: 1/{ratio}.",
        _agent(outcome),
        "Nothing was left behind. Next: `maestro session discover` shows what your own agents are doing.",
    )
    return [
        "",
        render.ansi("The coordinator's debrief", "bold"),
        *_debrief_lines(outcome.debrief),
        "",
        *(line for told in numbers for line in render.wrapped("", told, None)),
    ]


def _helped(outcome: Outcome) -> str:
    count = outcome.workers_helped
    return "one stuck worker helped" if count == 1 else f"{count} stuck workers helped"


def _agent(outcome: Outcome) -> str:
    """The second chapter's debrief, by the log."""
    started = _count(outcome.agent_workers_started, "worker")
    prompts = _count(outcome.agent_prompts_arrived, "prompt")
    reports = _count(outcome.agent_reports_checked, "report")
    disputed = outcome.agent_reports_disputed or "none"
    return (
        f"The agent as coordinator: {started} started, {prompts} arrived, {reports} of “done” checked against"
        f" other evidence, {disputed} disputed. “{render.printable(outcome.agent_report)}”"
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _debrief_lines(debrief: str) -> list[str]:
    """The sections of the debrief that tell the most, without empty lines."""
    lines: list[str] = []
    is_told = False
    for line in debrief.splitlines():
        if line.startswith("## "):
            is_told = line[3:] in _TOLD
        if is_told and line:
            lines += render.wrapped("  ", render.printable(line.removeprefix("## ")), None)
    return lines


def _as_json(scene: Scene) -> None:
    for told in (*scene.events, *scene.lines, *(line._asdict() for line in scene.spoken)):
        render.print_json_line(told)


# What happened, a line each: when, who, what.


def _happened(scene: Scene) -> list[str]:
    told = [
        *(_event(event, scene) for event in scene.events),
        *(_said(line) for line in scene.lines),
        *(
            (line.at, line.by, line.text, "yellow" if line.by == "you" else "green")
            for line in scene.spoken
            if line.text
        ),
    ]
    # Sorted by time alone: what a command prints stays in its order.
    in_order = sorted((one for one in told if one is not None), key=lambda one: one[0])
    return [line for at, who, what, style in in_order for line in _line(at, who, what, style)]


def _line(at: int, who: str, what: str, style: str | None) -> list[str]:
    prefix = f"[{render.clock(at)}] {render.printable(who):<{_WIDEST_NAME}}  "
    return render.wrapped(prefix, render.printable(what), style)


def _event(event: Mapping[str, Any], scene: Scene) -> tuple[int, str, str, str | None] | None:
    """Reports and questions; the rest is told by the coordinator, or of no matter here."""
    data = event["data"]
    names = {session["id"]: session["name"] for session in scene.sessions}
    if event["kind"] == "question.asked":
        asked = data["question"]
        words = f"{asked['text']} {asked['asked'].get('detail', '')}".strip()
        return event["at"], names.get(asked["sessionId"], ""), f"asks: {words}", "bold"
    if not event["kind"].startswith("task.") or not data.get("message"):
        return None
    who = names.get(event["sessionId"], "you")
    return event["at"], who, f"reports {data['report']}: {data['message']}", "cyan"


def _said(line: Mapping[str, Any]) -> tuple[int, str, str, str | None] | None:
    """What an agent says, and what is typed to it; not the prompt that it began with."""
    if line["source"] == "user" and any(mark in line["text"] for mark in _FIRST_PROMPT):
        return None
    return line["timestamp"] or 0, line["worker"], render.quoted(line["text"]), render.source_style(line)


def _board(scene: Scene) -> list[str]:
    return tree_lines(scene.tasks)


def _as_lines(scene: Scene) -> None:
    for line in _happened(scene):
        print(line, flush=True)
    finished = all(task["status"] == "completed" for task in scene.tasks)
    is_news = any(event["kind"].startswith("task.") for event in scene.events)
    if (finished and is_news) or not (scene.events or scene.lines or scene.spoken):
        print("\n".join(_board(scene)), flush=True)


def _on_terminal() -> Outcome:
    """What happens scrolls by; the board stays below it."""
    from rich.live import Live
    from rich.text import Text

    from maestro.testing import demo

    with Live(console=render.console(), auto_refresh=False) as live:

        def show(scene: Scene) -> None:
            for line in _happened(scene):
                live.console.print(Text.from_ansi(line), soft_wrap=True)
            live.update(Text.from_ansi("\n".join(["", *_board(scene)])), refresh=True)

        return demo.play(show, os.environ)
