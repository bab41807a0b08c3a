"""From the words of `maestro chain run` to a chain: by name, by the patterns, by a model, by asking the person."""

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
from maestro.chains.routing.intent import parse_intent, question, route_of
from maestro.chains.routing.likeness_file import load_weights
from maestro.chains.routing.route import is_clear, route
from maestro.cli.chain_desk import can_ask
from maestro.dispatch import delegate, places
from maestro.dispatch.run import begin
from maestro.dispatch.tools import Toolbox, load_toolbox, shown_toolbox
from maestro.likeness import Weights
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
    wording: Weights
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


def routed(arguments: Namespace, place: Here) -> Route:
    intent = " ".join(arguments.intent).strip()
    if arguments.chain:
        return _forced(arguments.chain, intent, place)
    if not intent:
        if place.project is None:
            raise errors.InvalidInput(
                "E001: There is no intent, and the project is not initialised.",
                hint='Say what you want, or begin the project: maestro chain run init "WHAT IT IS FOR"',
            )
        intent = "continue"
    found = route(intent, place.catalogue, place.project, place.wording)
    if not found.chain and not (arguments.no_model or arguments.dry_run):
        found = _by_model(arguments.to, intent, place) or found
    rounds = 0
    while not is_clear(found):
        if rounds == _ROUNDS or arguments.yes or arguments.dry_run or not can_ask():
            raise errors.InvalidInput(
                f"E002: It is not clear what should be done. {found.ask}".strip(),
                hint="Say it in other words, or name a chain: --chain NAME (`maestro chain list`).",
            )
        rounds += 1
        print(found.ask)
        try:
            said = input("> ").strip()
        except EOFError:
            said = ""
        found = _with_answer(intent, said, place)
    return found


def _with_answer(intent: str, said: str, place: Here) -> Route:
    """An answer that is clear by itself says which chain, and what was said before says about what."""
    alone = route(said, place.catalogue, place.project, place.wording)
    if is_clear(alone):
        return msgspec.structs.replace(alone, description=f"{intent}. {said}")
    return route(f"{intent} {said}", place.catalogue, place.project, place.wording)


def _forced(name: str, intent: str, place: Here) -> Route:
    command = command_of(place.catalogue, name.lstrip("/$"))
    chain = command.name if command else name
    if chain not in place.catalogue.chains:
        from maestro.cli.main import near_miss

        raise errors.NotFound(
            f"There is no chain “{name}”.",
            hint=near_miss(name, list(place.catalogue.chains), "maestro chain list"),
        )
    told = route(intent or chain, place.catalogue, place.project, place.wording)
    words = intent or told.description or place.catalogue.chains[chain].purpose
    return msgspec.structs.replace(
        told, chain=chain, clarity=3, ask="", description=words, why="it was named with --chain"
    )


def _by_model(to: str, intent: str, place: Here) -> Route | None:
    """What a model takes an intent for that the patterns do not know; None where it cannot be asked or says nothing."""
    try:
        tool = executor(place.box, to, delegate.environment(os.environ))
        order = delegate.Order(
            prompt=question(intent).encode(errors="replace"),
            mode="analysis",
            to=tool,
            cd=place.root,
            timeout_s=_MODEL_SECONDS,
        )
        prepared, prompt = delegate.ready(order, os.environ)
        places.prepare(place.root, os.environ)
        begin(prepared, prompt)
        print(f"maestro: no pattern knows this; {tool} is asked what it is about.", file=sys.stderr)
        result = delegate.carry_out_here(prepared)
        if result.status != "success":
            return None
        return route_of(parse_intent(result.text), intent, place.catalogue, place.project)
    except (errors.InvalidInput, errors.NotFound):
        return None
