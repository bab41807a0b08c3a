"""`maestro install claude|codex|gemini`: our hooks in an agent's own settings, for sessions started by hand."""

from __future__ import annotations

import os

from maestro import home as homes
from maestro.cli import render
from maestro.cli.parser import Parser, wants_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace


def describe(parser: Parser) -> None:
    describe_place(parser)
    parser.add_argument("--remove", action="store_true", help="take the hooks out again, as `uninstall` does")
    parser.set_defaults(run=_install)


def describe_place(parser: Parser) -> None:
    parser.add_argument("agent", metavar="AGENT", help="claude, codex, gemini")
    parser.add_argument(
        "--scope",
        choices=("user", "project"),
        default="user",
        help="user: for all that you do (default); project: only in the folder that you are in",
    )


def _install(arguments: Namespace) -> None:
    change(arguments, remove=arguments.remove)


def change(arguments: Namespace, *, remove: bool) -> None:
    from maestro.agents.hook_command import hook_command
    from maestro.agents.registry import installable_named
    from maestro.agents.settings_file import put_in, take_out

    agent = installable_named(arguments.agent)
    place = agent.settings_place(arguments.scope, os.environ, os.path.realpath(os.getcwd()))
    events = {event.name: hook_command(agent.name, event.name, event.waits) for event in agent.hook_events}
    scope = arguments.scope
    outcome = (
        take_out(place, agent.name, scope)
        if remove
        else put_in(place, agent.hook_settings(events), agent.name, scope)
    )
    if not remove:
        # Without one, a hook has nowhere to go.
        homes.prepare(homes.locate(os.environ))
    advice = "" if remove else place.advice
    if wants_json(arguments):
        render.print_json(
            {
                "agent": agent.name,
                "scope": arguments.scope,
                "path": outcome.path,
                "installed": not remove,
                "changed": outcome.changed,
                "events": [] if remove else list(events),
                "advice": advice,
            }
        )
        return
    print(render.printable(_sentence(agent.name, outcome.path, changed=outcome.changed, remove=remove)))
    if advice:
        print(render.printable(advice))


def _sentence(agent: str, path: str, *, changed: bool, remove: bool) -> str:
    if remove:
        return f"The hooks were taken out of {path}." if changed else f"There are no hooks of ours in {path}."
    if not changed:
        return f"The hooks are in {path} already."
    return f"The hooks are in {path}: sessions of {agent} that start now report to Maestro."
