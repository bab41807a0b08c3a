"""Decides which transcript belongs to an agent in a person's own pane, by evidence, or says that it is unknown. Pure.

Nobody told which one it is: agents in one folder, delegates among them, write side by side. A transcript belongs when
something positive shows it and no other fits as well. In doubt it is unknown, and nothing is shown for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

# The clocks that a process's start and a file's time are told by differ by less.
_SLACK: Final = 100
# An agent that was started alone in its folder begins its transcript so soon.
_AT_START: Final = 5_000
_LONG_ENOUGH: Final = 12  # letters and digits that two agents do not show by chance
_NAMED: Final = 3  # transcripts that a sentence names, at most


class Candidate(NamedTuple):
    """One transcript that could be the agent's, as it is now."""

    transcript_id: str
    path: str
    modified: int
    began: int | None = None
    cwd: str = ""
    is_headless: bool = False
    owner: str = ""  # the other session that it is known to belong to
    is_left: bool = False  # that session is a person's own pane too, and its agent no longer has it open
    first_prompt: str = ""
    last_prompt: str = ""
    last_text: str = ""


class Process(NamedTuple):
    """The agent's process, as far as the system tells of it."""

    started: int | None = None
    cwd: str = ""
    argv: tuple[str, ...] = ()
    named: str = ""  # the transcript's id on its command line
    held: frozenset[str] = frozenset()  # ids of the sessions whose files it has open
    is_alone: bool = False  # no other process of this CLI works in its folder


class Shown(NamedTuple):
    """What the agent's screen shows."""

    prompts: tuple[str, ...] = ()  # oldest first
    content: str = ""


class Prior(NamedTuple):
    """The transcript that belonged to this same process before, and those that did not."""

    path: str
    evidence: str
    others: frozenset[str] = frozenset()


class Verdict(NamedTuple):
    """The transcript, with the evidence in words; or None, with the reason."""

    candidate: Candidate | None
    evidence: str


def whose(
    process: Process, candidates: Sequence[Candidate], shown: Shown, prior: Prior | None = None
) -> Verdict:
    """Returns the one transcript that the evidence shows to be this process's own."""
    possible = [one for one in candidates if not ruled_out(one, process)]
    if process.held:
        possible = [one for one in possible if one.transcript_id in process.held]
        if len(process.held) == 1:
            if possible:
                return Verdict(possible[0], "its process has this file open")
            return Verdict(None, "it has begun one and written nothing there yet")
    by_screen = _shown_prompt(possible, shown, prior) or _shown_text(possible, shown)
    found = by_screen or _kept(possible, prior)
    if found is not None:
        return found
    if shown.prompts:
        return Verdict(None, "none ends with the prompt that its screen shows last")
    for proof in (_named, _first_prompt, _start):
        found = proof(possible, process)
        if found is not None:
            return found
    return Verdict(None, _reason(possible, candidates, process))


def ruled_out(one: Candidate, process: Process) -> str:
    """Says why a transcript cannot be this process's; empty: it can."""
    if one.owner and not (one.is_left and process.held == {one.transcript_id}):
        return f"it is {one.owner}'s"
    if one.transcript_id in {*process.held, process.named}:
        return ""
    if one.is_headless:
        return "it was written without a terminal"
    if one.cwd and process.cwd and one.cwd != process.cwd:
        return "it is of another folder"
    if process.started is not None and one.modified < process.started - _SLACK:
        return "it was written before this process started"
    return ""


def same_words(shown: str, written: str) -> bool:
    """Whether a screen shows this prompt: wrapped, and perhaps only its beginning, or with a line below it."""
    one, other = _folded(shown), _folded(written)
    if not one or not other:
        return shown.split() == written.split() and bool(shown.split())
    if one == other:
        return True
    return min(len(one), len(other)) >= _LONG_ENOUGH and (one.startswith(other) or other.startswith(one))


def _shown_prompt(possible: Sequence[Candidate], shown: Shown, prior: Prior | None) -> Verdict | None:
    """Finds the one whose last prompt stands lowest on the screen. Of equals, the one that it was before, unless one of
    them began since: `/clear` and the same prompt again look so."""
    for prompt in reversed(shown.prompts):
        found = [one for one in possible if one.last_prompt and same_words(prompt, one.last_prompt)]
        if len(found) > 1:
            found = [one for one in found if _shows_text(one, shown)] or found
        if len(found) > 1 and prior is not None and all(_is_old(one, prior) for one in found):
            found = [one for one in found if one.path == prior.path] or found
        if len(found) == 1:
            return Verdict(found[0], "its last prompt is the last one on the screen")
        if found:
            return Verdict(None, f"{_names(found)} end with the same prompt, which is on its screen")
    return None


def _shown_text(possible: Sequence[Candidate], shown: Shown) -> Verdict | None:
    found = [one for one in possible if _shows_text(one, shown)]
    return Verdict(found[0], "its last words are on the screen") if len(found) == 1 else None


def _shows_text(one: Candidate, shown: Shown) -> bool:
    lines = [folded for line in one.last_text.splitlines() if len(folded := _folded(line)) >= _LONG_ENOUGH]
    content = _folded(shown.content) if lines else ""
    return any(line in content for line in lines[-3:])


def _is_old(one: Candidate, prior: Prior) -> bool:
    return one.path == prior.path or one.path in prior.others


def _kept(possible: Sequence[Candidate], prior: Prior | None) -> Verdict | None:
    """Keeps what was shown before, unless another transcript has begun since: the agent's own, or a stranger's."""
    if prior is None:
        return None
    found = next((one for one in possible if one.path == prior.path), None)
    newer = [one for one in possible if not _is_old(one, prior)]
    if found is None:
        return None
    if newer:
        return Verdict(None, f"{_names(newer)} began since, and nothing shows whose it is")
    return Verdict(found, prior.evidence)


def _named(possible: Sequence[Candidate], process: Process) -> Verdict | None:
    if not process.named:
        return None
    found = [one for one in possible if one.transcript_id == process.named]
    # `/clear` and `/resume` leave the command line as it was.
    return Verdict(found[0], "its command line names it") if found and len(possible) == 1 else None


def _first_prompt(possible: Sequence[Candidate], process: Process) -> Verdict | None:
    found = [
        one
        for one in possible
        if one.first_prompt
        and _is_of_process(one, process)
        and any(same_words(word, one.first_prompt) for word in process.argv[1:])
    ]
    if len(found) != 1 or len(possible) != 1:
        return None
    return Verdict(found[0], "its first prompt is on the process's command line")


def _start(possible: Sequence[Candidate], process: Process) -> Verdict | None:
    if len(possible) != 1 or not process.is_alone or process.started is None:
        return None
    [one] = possible
    began = one.began
    if began is None or not _is_of_process(one, process) or began > process.started + _AT_START:
        return None
    return Verdict(one, "it began in this folder when the process started, and no other agent works there")


def _is_of_process(one: Candidate, process: Process) -> bool:
    return process.started is not None and one.began is not None and one.began >= process.started - _SLACK


def _reason(possible: Sequence[Candidate], candidates: Sequence[Candidate], process: Process) -> str:
    if len(process.held) > 1:
        return f"its process has those of {len(process.held)} conversations open, and its screen shows none of them"
    if not possible:
        strangers = len(candidates)
        return "it has written none yet" + (
            f" ({strangers} of its folder {'is' if strangers == 1 else 'are'} of others)" if strangers else ""
        )
    return f"{_names(possible)} could be, and nothing on its screen or of its process shows it"


def _names(found: Sequence[Candidate]) -> str:
    names = ", ".join(one.transcript_id[:13] for one in found[:_NAMED])
    return names + (f" and {len(found) - _NAMED} more" if len(found) > _NAMED else "")


def _folded(text: str) -> str:
    """Keeps letters and digits: a screen wraps, indents and renders Markdown."""
    return "".join(letter for letter in text.casefold() if letter.isalnum())
