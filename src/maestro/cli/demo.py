"""`maestro demo`: the story of `maestro.testing.demo`, live on a terminal, as lines in a pipe."""

from __future__ import annotations

import os

from maestro.cli import render
from maestro.cli.parser import Parser, wants_json
from maestro.cli.session import event_line, tells_something
from maestro.cli.task import tree_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from maestro.testing.demo import Outcome, Scene


def describe(parser: Parser) -> None:
    parser.set_defaults(run=_demo)


def _demo(arguments: Namespace) -> None:
    from maestro.testing import demo

    if wants_json(arguments):
        render.print_json(demo.play(_events_as_json, os.environ)._asdict())
        return
    print("Three scripted workers, a board, and a daemon of their own in a temporary folder.\n", flush=True)
    outcome = _on_terminal() if render.on_terminal() else demo.play(_as_lines, os.environ)
    print(
        f"\n{outcome.tasks_completed} of {outcome.tasks_total} tasks completed by their workers' own reports:"
        f" {outcome.events} events in {outcome.seconds:.0f} s. Nothing was left behind."
    )
    print("Next: `maestro project add .` in a folder of yours, then `maestro task create TITLE`.")


def _events_as_json(scene: Scene) -> None:
    if scene.event:
        render.print_json_line(scene.event)


def _as_lines(scene: Scene) -> None:
    names = {session["id"]: session["name"] for session in scene.sessions}
    names |= {task["id"]: task["title"] for task in scene.tasks}
    if scene.event and tells_something(scene.event):
        print(event_line(dict(scene.event), names), flush=True)
    elif not scene.event:
        print("\n".join(tree_lines(scene.tasks)), flush=True)


def _on_terminal() -> Outcome:
    from rich.live import Live
    from rich.text import Text

    from maestro.testing import demo

    happened: list[str] = []
    with Live(console=render.console(), auto_refresh=False) as live:

        def show(scene: Scene) -> None:
            names = {session["id"]: session["name"] for session in scene.sessions}
            names |= {task["id"]: task["title"] for task in scene.tasks}
            if scene.event and tells_something(scene.event):
                happened.append(event_line(dict(scene.event), names))
            shown = [*tree_lines(scene.tasks), "", *happened[-6:]]
            live.update(Text.from_ansi("\n".join(shown), no_wrap=True, overflow="ellipsis"), refresh=True)

        return demo.play(show, os.environ)
