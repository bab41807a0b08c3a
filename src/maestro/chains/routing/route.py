"""Routes an intent to a chain, or to a question with the likeliest ones. Pure.

A name comes first, then an issue's id alone, then the words (`weights.py`). Where they are not sure, a model may pick a
name (`pick.py`), and else the person is asked: three chains with their purpose, and a digit answers.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from maestro.chains import CLEAR, Catalogue, Project, Route
from maestro.chains.catalogue.catalogue import command_of
from maestro.chains.project import phase_of
from maestro.chains.routing.ladder import next_rung
from maestro.chains.routing.references import is_issue, issue_in, phase_in, plain
from maestro.chains.routing.weights import Weights, rank
from maestro.chains.routing.words import ASK, CONTINUE, features, spoken

OFFERED: Final = 3
_LADDER: Final = frozenset({CONTINUE, "next", "resume", "proceed", "go-on", "carry-on"})
_COMMIT_TYPES: Final = frozenset({"test", "refactor"})  # “test: …” may be a commit's title
_ASK_WHAT: Final = (
    "What should be done? Say it with a verb and what it is about, or name a chain (`maestro chain list`)."
)
_ASK_WHICH: Final = "Which chain is meant? Type its number, or say it in other words."
_ASK_ISSUE: Final = "Which issue? Name it, for example ISSUE-12 or #12."


def route(intent: str, catalogue: Catalogue, project: Project | None, weights: Weights) -> Route:
    """Total: every text leads somewhere, to a chain or to a question."""
    words = intent.strip()
    if not words:
        return Route(chain="", clarity=0, ask=_ASK_WHAT, why="the intent is empty")
    found = _by_name(words, catalogue, project) or _by_words(words, catalogue, project, weights)
    return _with_references(found, words, catalogue, project)


def route_to(name: str, intent: str, why: str, catalogue: Catalogue, project: Project | None) -> Route:
    """Returns the route of an intent to a chain that a model or the person has picked, or to whatever comes next."""
    words = intent.strip()
    if name == CONTINUE:
        return _next(words, project)
    found = Route(chain=name, clarity=CLEAR, description=words, why=why)
    return _with_references(found, words, catalogue, project)


def answered(
    found: Route, intent: str, said: str, catalogue: Catalogue, project: Project | None, weights: Weights
) -> Route:
    """Returns where an intent leads after the person has answered the question about it."""
    if said.isascii() and said.isdecimal() and 0 < int(said) <= len(found.candidates):
        name = found.candidates[int(said) - 1]
        return route_to(name, intent, "you chose it", catalogue, project)
    if found.chain and found.ask == _ASK_ISSUE and (issue := issue_in(said)):
        return msgspec.structs.replace(found, clarity=CLEAR, ask="", issue=issue)
    alone = route(said, catalogue, project, weights)
    if is_clear(alone):
        # It says which chain, and what was said before says about what.
        return msgspec.structs.replace(alone, description=f"{intent}. {said}")
    return route(f"{intent} {said}", catalogue, project, weights)


def is_clear(found: Route) -> bool:
    return found.clarity >= CLEAR and not found.ask


def question_of(found: Route, catalogue: Catalogue) -> str:
    """Returns what the person is asked, with a numbered line for each chain that may be meant."""
    width = max(map(len, found.candidates), default=0)
    lines = [
        f"  {number}  {name:<{width}}  {_purpose(name, catalogue)}"
        for number, name in enumerate(found.candidates, 1)
    ]
    return "\n".join([found.ask, *lines])


def _by_name(words: str, catalogue: Catalogue, project: Project | None) -> Route | None:
    """Returns the chain or command that is named, by us or by the seed, with what is said behind it."""
    first, _, rest = words.partition(" ")
    marked = first.startswith(("/", "$"))
    name = plain(first).lstrip("/$").rstrip(":,")
    whole = re.sub(r"[\s_]+", "-", plain(words).lstrip("/$").rstrip(".!? "))
    if whole in _LADDER:
        return _next(words, project)
    is_told = first.endswith(":") and name not in _COMMIT_TYPES
    for candidate, behind in ((whole, ""), (name, rest.strip())):
        chain = _chain_named(candidate, catalogue)
        # A bare word such as “plan” or “test” is a name only if it stands alone: before others it may be any noun.
        if chain and (not behind or marked or "-" in candidate or is_told):
            is_number = behind.isdecimal() and _needs_issue(chain, catalogue)
            return Route(
                chain=chain,
                clarity=3,
                issue=f"ISSUE-{behind}" if is_number else "",
                # Without another word, the phase in work is meant.
                phase=None if behind or project is None else project.current_phase,
                description=behind or _without_words(chain, catalogue),
                why=f"{candidate} is its name",
            )
    if is_issue(words) and "issue-full" in catalogue.chains:
        return Route(chain="issue-full", clarity=CLEAR, description=words, why=f"it names {issue_in(words)}")
    return None


def _by_words(words: str, catalogue: Catalogue, project: Project | None, weights: Weights) -> Route:
    ranking = rank(features(words), weights)
    if ranking is None:
        return Route(chain="", clarity=0, ask=_ASK_WHAT, description=words, why="its words are unknown")
    best = ranking.names[0]
    likely = tuple(one.name for one in ranking.names if one.name in {*catalogue.chains, CONTINUE})[:OFFERED]
    if best.share >= weights.enough and best.name in likely and _is_understood(words, weights):
        if best.name == CONTINUE:
            return _next(words, project)
        said = ", ".join(f"“{word.strip('^$<>* ')}”" for word in ranking.by)
        return Route(chain=best.name, clarity=CLEAR, description=words, why=f"it is worded so: {said}")
    is_vague = best.name == ASK
    return Route(
        chain="",
        clarity=0 if is_vague else 1,
        ask=_ASK_WHICH if likely else _ASK_WHAT,
        candidates=likely,
        description=words,
        why="it is too vague" if is_vague else f"it may be {' or '.join(likely[:2])}",
    )


def _next(words: str, project: Project | None) -> Route:
    named = phase_in(words, project)
    if project is not None and phase_of(project, named) is not None:
        project = msgspec.structs.replace(project, current_phase=named)
    rung = next_rung(project)
    return Route(chain=rung.chain, clarity=3, phase=rung.phase, description=rung.description, why=rung.why)


def _with_references(found: Route, words: str, catalogue: Catalogue, project: Project | None) -> Route:
    if found.chain and found.chain not in catalogue.chains:
        return Route(chain="", clarity=0, ask=_ASK_WHAT, why=f"there is no chain {found.chain} here")
    issue = found.issue or issue_in(words)
    phase = found.phase if found.phase is not None else phase_in(words, project)
    found = msgspec.structs.replace(found, issue=issue, phase=phase)
    if not issue and _needs_issue(found.chain, catalogue):
        return msgspec.structs.replace(found, clarity=1, ask=_ASK_ISSUE)
    return found


def _chain_named(name: str, catalogue: Catalogue) -> str:
    if name in catalogue.chains:
        return name
    command = command_of(catalogue, name)
    return command.name if command else ""


def _without_words(chain: str, catalogue: Catalogue) -> str:
    """Returns what steps are told where nothing was said: nothing, if they cannot do without words."""
    steps = catalogue.chains[chain].steps
    needs = any("description" in catalogue.commands[step.command].inputs for step in steps)
    return "" if needs else catalogue.chains[chain].purpose


def _needs_issue(chain: str, catalogue: Catalogue) -> bool:
    steps = catalogue.chains[chain].steps if chain else ()
    return any("issue_id" in catalogue.commands[step.command].inputs for step in steps)


def _is_understood(words: str, weights: Weights) -> bool:
    """Returns whether most words are known: of a language that nobody taught it, it knows a few."""
    said = spoken(words)
    known = sum(weights.find(word) is not None for word in said)
    return 0 < len(said) <= known * 2


def _purpose(name: str, catalogue: Catalogue) -> str:
    return (
        catalogue.chains[name].purpose if name in catalogue.chains else "Whatever comes next in the project."
    )
