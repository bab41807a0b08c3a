"""From an intent to a chain. Pure; asks where it does not know.

Exact names first, then “continue”. Everything else is weighed (`likeness.py`): its words, and what the patterns in their
order say of it, each count as much as they were right about the intents of many people. What is not like anything enough
is clarity 0 or 1 and comes with a question; a model may be asked first (`intent.py`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from maestro.chains import CLEAR, Catalogue, Project, Route
from maestro.chains.catalogue.catalogue import command_of
from maestro.chains.project import phase_of
from maestro.chains.routing import patterns as known
from maestro.chains.routing.ladder import next_rung
from maestro.chains.routing.likeness import ASK, PATTERN, features, spoken
from maestro.chains.routing.phrases import Pattern
from maestro.chains.routing.sequences import SEQUENCES
from maestro.chains.routing.wording import asked, plain
from maestro.likeness import Weights, liken

_ISSUE: Final = re.compile(
    r"\b(issue-[a-z0-9]+(?:-[a-z0-9]+)*)|\b(?:issue|issues|bug|ticket)\s*(?:no\.?\s*|number\s*|nr\.?\s*)?#?(\d{1,6})\b|(?<![\w&/#])#(\d{1,5})\b(?![0-9a-f])"
)
_PULL_REQUEST: Final = re.compile(r"\b(?:pr|pull request|merge request|mr)\s*#?\d+")
_REFERENCE: Final = re.compile(r"(?<=\S)\s*\([^()]*#\d+[^()]*\)\s*$")
_COLOUR: Final = re.compile(r"\b(?:colou?r|background|hex)\b")
_PHASE: Final = re.compile(r"\b(?:phase|etappe|fase)\s*#?(\d{1,3})\b|第?\s*(\d{1,3})\s*阶段|阶段\s*(\d{1,3})")
_THIS_PHASE: Final = re.compile(r"\b(?:this|current|the) phase\b")
_SIGIL: Final = re.compile(r"[/$]")
_THEN: Final = re.compile(
    r"(?:,\s*)?(?:\band then\b|\bthen\b|\bafterwards\b|;)\s*|[,.;]?\s+(?:and )?(?:also|plus|besides|oh and)[, ]\s*|"
    r"\s+and\s+(?=(?:plan|execute|verify|review|test|audit|brainstorm|analy[sz]e|add|write|create|fix|implement|update|build|close|refactor|start|begin|make|set up)\b)"
)

ENOUGH: Final = 0.45  # of all that speaks for anything has to speak for a chain
VAGUE: Final = 0.6  # so much has to speak against any, where a pattern and the words would still agree on one
_LIKELY: Final = 0.2  # so much is worth being named in a question
_FEWEST: Final = 2  # words

# Work that is tested and looked over as a part of it: “add a page and test it” is one thing.
_WHOLE_WORK: Final = frozenset({"analyze-plan-execute", "quick", "debug", "refactor"})
_PART_OF_WORK: Final = _WHOLE_WORK | {
    "test",
    "test-gen",
    "integration-test",
    "review",
    "verify",
    "sync",
    "analyze",
    "plan",
}
_COMMIT_TYPES: Final = frozenset({"test", "refactor"})  # “test: …” may be a commit's title
_ASK_WHAT: Final = (
    "What should be done? Say it with a verb and what it is about, or name a chain (`maestro chain list`)."
)
_ASK_FOREIGN: Final = "No chain merges, publishes or deploys. What should be done before you do that?"
_ASK_ISSUE: Final = "Which issue? Name it, for example ISSUE-12 or #12."


def route(intent: str, catalogue: Catalogue, project: Project | None, wording: Weights) -> Route:
    """Total: every text leads somewhere, to a chain or to a question."""
    words = intent.strip()
    if not words:
        return Route(chain="", clarity=0, ask=_ASK_WHAT, why="the intent is empty")
    found = _by_name(words, catalogue, project) or _by_ladder(words, project)
    if found is None:
        found = _weighed(_by_patterns(words), words, catalogue, wording)
    if found.chain and found.chain not in catalogue.chains:
        return Route(chain="", clarity=0, ask=_ASK_WHAT, why=f"there is no chain {found.chain} here")
    issue = found.issue or _issue_in(words)
    phase = found.phase if found.phase is not None else _phase_in(words, project)
    found = msgspec.structs.replace(found, issue=issue, phase=phase)
    if not issue and _needs_issue(found.chain, catalogue):
        return msgspec.structs.replace(found, clarity=1, ask=_ASK_ISSUE)
    return found


def _by_name(words: str, catalogue: Catalogue, project: Project | None) -> Route | None:
    """A chain or command by its name, ours or the seed's, with what is said behind it."""
    first, _, rest = words.partition(" ")
    marked = bool(_SIGIL.match(first))
    name = plain(first).lstrip("/$").rstrip(":,")
    whole = re.sub(r"[\s_]+", "-", plain(words).lstrip("/$").rstrip(".!? "))
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
    return None


def _chain_named(name: str, catalogue: Catalogue) -> str:
    if name in catalogue.chains:
        return name
    command = command_of(catalogue, name)
    return command.name if command else ""


def _without_words(chain: str, catalogue: Catalogue) -> str:
    """What steps are told where nothing was said: nothing, if they cannot do without words."""
    steps = catalogue.chains[chain].steps
    needs = any("description" in catalogue.commands[step.command].inputs for step in steps)
    return "" if needs else catalogue.chains[chain].purpose


def _needs_issue(chain: str, catalogue: Catalogue) -> bool:
    steps = catalogue.chains[chain].steps if chain else ()
    return any("issue_id" in catalogue.commands[step.command].inputs for step in steps)


def _by_ladder(words: str, project: Project | None) -> Route | None:
    if not known.LADDER.fullmatch(asked(words)) and not known.LADDER.fullmatch(plain(words).rstrip(".!? ")):
        return None
    named = _phase_in(words, project)
    if project is not None and phase_of(project, named) is not None:
        project = msgspec.structs.replace(project, current_phase=named)
    rung = next_rung(project)
    return Route(chain=rung.chain, clarity=3, phase=rung.phase, description=rung.description, why=rung.why)


def _by_issue(words: str) -> Route | None:
    text = asked(words)
    # An id in brackets behind a sentence is a reference: “search hangs (#12)” is about the search.
    issue = _issue_in(_REFERENCE.sub("", words))
    if not issue:
        return None
    found = _first(known.OF_ISSUE, text)
    chain = found.chain if found else "issue-full"
    others = [other for other in _others(text, chain) if other not in _PART_OF_WORK]
    if others and not others[0].startswith("issue-"):
        return msgspec.structs.replace(_several([chain, *others], words), issue=issue)
    return Route(chain=chain, clarity=2, issue=issue, description=words, why=f"it names {issue}")


def _issue_in(words: str) -> str:
    text = plain(words)
    if _PULL_REQUEST.search(text):
        return ""
    for found in _ISSUE.finditer(text):
        word, counted, marked = found.groups()
        if word and any(letter.isdigit() for letter in word):  # a word such as “issue-tracker” is no id
            return str(word).upper()
        if counted or (marked and not _COLOUR.search(text)):
            return f"ISSUE-{counted or marked}"
    return ""


def _phase_in(words: str, project: Project | None) -> int | None:
    text = plain(words)
    found = _PHASE.search(text)
    if found is None:
        return project.current_phase if project and _THIS_PHASE.search(text) else None
    return next((int(group) for group in found.groups() if group), 0) or None


def _by_pattern(words: str) -> Route:
    text = asked(words)
    label = _first(known.LABELS, text)
    text = label.when.sub("", text) if label else text
    sequence = _first(SEQUENCES, text)
    found = sequence or _first(_that_apply(text), text) or label
    if known.FOREIGN.search(text):
        return Route(
            chain=found.chain if found else "",
            clarity=1,
            ask=_ASK_FOREIGN,
            description=words,
            why="no chain publishes",
        )
    if found is None:
        return Route(chain="", clarity=0, ask=_ASK_WHAT, description=words, why="no pattern knows it")
    others = [] if sequence else _others(text, found.chain)
    if found.chain in _WHOLE_WORK:
        others = [other for other in others if other not in _PART_OF_WORK]
    if others:
        return _several([found.chain, *others], words)
    matched = found.when.search(text)
    said = matched[0].strip() if matched else ""
    return Route(chain=found.chain, clarity=2, description=words, why=f"it says “{said[:40]}”")


def _several(chains: Sequence[str], words: str) -> Route:
    return Route(
        chain=chains[0],
        clarity=1,
        ask=f"This is more than one chain: {', then '.join(chains)}. Which one first?",
        description=words,
        why="it asks for several things",
    )


def clues(words: str) -> list[str]:
    """What an intent is weighed by."""
    return _clues(words, _by_patterns(words))


def _by_patterns(words: str) -> Route:
    return _by_issue(words) or _by_pattern(words)


def _clues(words: str, found: Route) -> list[str]:
    said = f"{PATTERN}{found.chain or 'nothing'}"
    return [*features(words), said if is_clear(found) else f"{said}?"]


def _weighed(found: Route, words: str, catalogue: Catalogue, wording: Weights) -> Route:
    """What the patterns say, and all its words."""
    liked = liken(_clues(words, found), wording)
    if liked is None:
        return found
    is_enough = liked.share >= ENOUGH and (is_clear(found) or is_understood(words, wording))
    if is_enough and liked.name in catalogue.chains:
        if is_clear(found) and liked.name == found.chain:
            return found
        said = ", ".join(f"“{word.strip('^$ ')}”" for word in liked.by if not word.startswith(PATTERN))
        return msgspec.structs.replace(
            found, chain=liked.name, clarity=2, ask="", description=words, why=f"it is worded so: {said}"
        )
    if is_clear(found) and liked.name == ASK and liked.next == found.chain and liked.share < VAGUE:
        return found
    if found.ask not in ("", _ASK_WHAT):
        return found  # it knows better what to ask
    likely = [name for name in (found.chain, liked.name, liked.next) if name in catalogue.chains]
    one, other = [*dict.fromkeys(likely), "", ""][:2]
    if liked.name == ASK or liked.share < _LIKELY or not other:
        return msgspec.structs.replace(found, clarity=0, chain="", ask=_ASK_WHAT, why="it is too vague")
    ask = (
        f"Is it {one} or {other}? The one: {_purpose(one, catalogue)} The other: {_purpose(other, catalogue)}"
    )
    return msgspec.structs.replace(found, chain=one, clarity=1, ask=ask, why="it may be either")


def is_understood(words: str, wording: Weights) -> bool:
    """Whether there are some words, and most of them are known: of a language that nobody taught it, it knows a few."""
    said = spoken(words)
    known = sum(word in wording.rarity for word in said)
    return len(said) >= _FEWEST and known * 2 >= len(said)


def _purpose(chain: str, catalogue: Catalogue) -> str:
    return catalogue.chains[chain].purpose if chain in catalogue.chains else ""


def _others(text: str, chain: str) -> list[str]:
    """Other chains that later parts of the sentence ask for."""
    found: list[str] = []
    for clause in _THEN.split(text)[1:]:
        pattern = _first(_that_apply(clause.strip(" ,")), clause.strip(" ,"))
        if pattern and pattern.chain not in (chain, *found):
            found.append(pattern.chain)
    return found


def _that_apply(text: str) -> Sequence[Pattern]:
    return (*known.STATEMENTS, *known.QUESTIONS) if known.SUBJECT.match(text) else known.ALL


def _first(patterns: Sequence[Pattern], text: str) -> Pattern | None:
    for pattern in patterns:
        if pattern.when.search(text) and not (pattern.unless and pattern.unless.search(text)):
            return pattern
    return None


def is_clear(found: Route) -> bool:
    return found.clarity >= CLEAR and not found.ask
