"""`maestro demo`: the story of `maestro.testing.demo`, live on a terminal, as lines in a pipe."""

from __future__ import annotations

import os

from maestro.cli import render
from maestro.cli.parser import Parser, wants_json
from maestro.cli.session import event_line, tells_something
from maestro.cli.session_logs import line_parts
from maestro.cli.task import tree_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from maestro.testing.demo import Outcome, Scene

_SHOWN = 8


def describe(parser: Parser) -> None:
    parser.set_defaults(run=_demo)


def _demo(arguments: Namespace) -> None:
    from maestro.testing import demo

    if wants_json(arguments):
        render.print_json(demo.play(_as_json, os.environ)._asdict())
        return
    print("Three scripted workers, a board and a daemon, in a temporary folder.\n", flush=True)
    outcome = _on_terminal() if render.on_terminal() else demo.play(_as_lines, os.environ)
    print(
        f"\n{outcome.tasks_completed} of {outcome.tasks_total} tasks completed by their workers' own reports:"
        f" {outcome.events} events in {outcome.seconds:.0f} s."
    )
    print(
        f"A coordinator that reads their digests takes in about {outcome.digest_tokens} tokens instead of the"
        f" {outcome.raw_tokens:,} of their transcripts' ends: 1/{outcome.raw_tokens // max(1, outcome.digest_tokens)}."
    )
    print("Nothing was left behind. Next: `maestro session discover` shows what your own agents are doing.")


def _as_json(scene: Scene) -> None:
    for told in (*scene.events, *scene.lines):
        render.print_json_line(told)


def _happened(scene: Scene) -> list[str]:
    names = {session["id"]: session["name"] for session in scene.sessions}
    names |= {task["id"]: task["title"] for task in scene.tasks}
    reports = [(event["at"], event_line(event, names)) for event in scene.events if tells_something(event)]
    said = [(line["timestamp"] or 0, "\n".join(line_parts(line, 12))) for line in scene.lines]
    return [text for _, text in sorted([*reports, *said])]


def _as_lines(scene: Scene) -> None:
    for line in _happened(scene):
        print(line, flush=True)
    finished = all(task["status"] == "completed" for task in scene.tasks)
    if finished or not (scene.events or scene.lines):
        print("\n".join(tree_lines(scene.tasks)), flush=True)


def _on_terminal() -> Outcome:
    from rich.live import Live
    from rich.text import Text

    from maestro.testing import demo

    happened: list[str] = []
    with Live(console=render.console(), auto_refresh=False) as live:

        def show(scene: Scene) -> None:
            happened.extend(_happened(scene))
            shown = [*tree_lines(scene.tasks), "", *happened[-_SHOWN:]]
            live.update(Text.from_ansi("\n".join(shown)), refresh=True)

        return demo.play(show, os.environ)
