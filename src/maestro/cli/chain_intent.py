"""From the words of `maestro chain run` to a chain: by its name, by the words, by a model, by asking the person."""

from __future__ import annotations

import os
import sys
from typing import NamedTuple

import msgspec

from maestro import errors
from maestro.chains import Catalogue, Project, Route
from maestro.chains.catalogue.catalogue import command_of
from maestro.chains.catalogue.catalogue_file import load_catalogue, shown_catalogue
from maestro.chains.executors import executor
from maestro.chains.project_file import read_project
from maestro.chains.routing.pick import picked, question
from maestro.chains.routing.route import answered, is_clear, question_of, route, route_to
from maestro.chains.routing.weights import Weights
from maestro.chains.routing.weights_file import load_weights
from maestro.cli import render
from maestro.cli.chain_desk import can_ask
from maestro.dispatch import delegate, places
from maestro.dispatch.run import begin
from maestro.dispatch.tools import Toolbox, load_toolbox, shown_toolbox
from maestro.trust.project import ProjectTrust

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

_ROUNDS = 2  # of questions, before it is too unclear
_MODEL_SECONDS = 120.0


class Here(NamedTuple):
    trust: ProjectTrust
    state: str
    catalogue: Catalogue
    project: Project | None
    weights: Weights
    box: Toolbox

    @property
    def root(self) -> str:
        return self.trust.root

    @property
    def named_state(self) -> str:
        return os.path.relpath(self.state, self.root)


def here(*, acts: bool = True) -> Here:
    """Returns all that a chain needs of the project here. What does not act may look at what nobody has trusted."""
    trust = delegate.trust_of(os.getcwd(), os.environ)
    state = places.state_folder(trust.root, os.environ)
    if acts:
        catalogue, box = load_catalogue(trust, state), load_toolbox(trust, state)
    else:
        catalogue, box = shown_catalogue(trust.home, state), shown_toolbox(trust, state)
    return Here(trust, state, catalogue, read_project(state), load_weights(), box)


def check_intent(arguments: Namespace, place: Here) -> None:
    """Raises for what is wrong with the words, whoever is there."""
    if arguments.chain:
        _chain_named(arguments.chain, place)
    elif not _intent(arguments) and place.project is None:
        raise errors.InvalidInput(
            "E001: There is no intent, and the project is not initialised.",
            hint='Say what you want, or begin the project: maestro chain run init "WHAT IT IS FOR"',
        )


def routed(arguments: Namespace, place: Here) -> Route:
    """Returns a clear route; raises E002 where there is none and nobody can be asked."""
    intent = _intent(arguments)
    if arguments.chain:
        return _forced(arguments.chain, intent, place)
    intent = intent or "continue"
    found = route(intent, place.catalogue, place.project, place.weights)
    if not found.chain and not (arguments.no_model or arguments.dry_run):
        found = _by_model(arguments.to, intent, place) or found
    rounds = 0
    while not is_clear(found):
        asked = question_of(found, place.catalogue)
        if rounds == _ROUNDS or arguments.yes or arguments.dry_run or not can_ask():
            raise errors.InvalidInput(
                f"E002: It is not clear what should be done. {asked}",
                hint="Say it in other words, or name a chain: --chain NAME (`maestro chain list`).",
            )
        rounds += 1
        print(render.printable(asked, lines=True))
        try:
            said = input("> ").strip()
        except EOFError:
            said = ""
        found = answered(found, intent, said, place.catalogue, place.project, place.weights)
    return found


def _intent(arguments: Namespace) -> str:
    return " ".join(arguments.intent).strip()


def _forced(name: str, intent: str, place: Here) -> Route:
    chain = _chain_named(name, place)
    told = route(intent or chain, place.catalogue, place.project, place.weights)
    words = intent or told.description or place.catalogue.chains[chain].purpose
    return msgspec.structs.replace(
        told,
        chain=chain,
        clarity=3,
        ask="",
        candidates=(),
        description=words,
        why="it was named with --chain",
    )


def _chain_named(name: str, place: Here) -> str:
    command = command_of(place.catalogue, name.lstrip("/$"))
    chain = command.name if command else name
    if chain not in place.catalogue.chains:
        from maestro.cli.main import near_miss

        raise errors.NotFound(
            f"There is no chain “{name}”.",
            hint=near_miss(name, list(place.catalogue.chains), "maestro chain list"),
        )
    return chain


def _by_model(to: str, intent: str, place: Here) -> Route | None:
    """Returns the route to the chain that a model picks; None where it cannot be asked or names none."""
    try:
        tool = executor(place.box, to, delegate.environment(os.environ))
        order = delegate.Order(
            prompt=question(intent, place.catalogue).encode(errors="replace"),
            mode="analysis",
            to=tool,
            cd=place.root,
            timeout_s=_MODEL_SECONDS,
        )
        prepared, prompt = delegate.ready(order, os.environ)
        places.prepare(place.root, os.environ)
        begin(prepared, prompt)
        print(f"maestro: the words are not sure; {tool} is asked which chain is meant.", file=sys.stderr)
        result = delegate.carry_out_here(prepared)
    except (errors.InvalidInput, errors.NotFound):
        return None
    name = picked(result.text, place.catalogue) if result.status == "success" else ""
    return route_to(name, intent, f"{tool} picked it", place.catalogue, place.project) if name else None
