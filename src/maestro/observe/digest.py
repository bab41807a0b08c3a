"""A digest: the last texts of a transcript, each short, with status, stuck signal and evidence. Pure."""

from __future__ import annotations

import re
import unicodedata
from typing import Final, Literal

import msgspec

from maestro.agents import Moment
from maestro.agents.screen import Screen
from maestro.observe.recent import Recent
from maestro.observe.status import Evidence, State, Status, assess
from maestro.observe.status import shown as one_line
from maestro.observe.stuck import Stuck, find_stuck, retrying, stopped
from maestro.redact import clean, fold, redact

LONGEST_TEXT: Final = 150
LONGEST_PROMPT: Final = 200
PROMPT_MARK: Final = "[PROMPT] "
DEFAULT_LAST: Final = 5

_SENTENCE_END = re.compile(r"[.!?]\s")
_WINDOW: Final = 4096  # characters looked at for a short entry, unless redaction leaves too few of them

_MARK: Final = re.compile(r"^[^\w\[({]+")  # what a CLI draws before its words

Source = Literal["assistant", "user", "system"]
_SOURCES: Final[dict[str, Source]] = {"text": "assistant", "prompt": "user"}


class Entry(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    timestamp: int | None
    text: str
    source: Source
    is_first_sentence: bool  # there was more than this


class Metrics(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    turns_since_last_text: int
    last_activity_timestamp: int | None
    idle_duration_ms: int


class Subject(msgspec.Struct, frozen=True, gc=False):
    """Whose digest it is, as the ledger knows it."""

    session_id: str
    session_name: str = ""
    worker_name: str | None = None
    task_ids: tuple[str, ...] = ()
    agent: str = ""
    task_open: bool = False  # it has a task that is not finished yet


class Digest(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    session_id: str
    session_name: str
    worker_name: str | None
    task_ids: tuple[str, ...]
    agent: str
    state: State
    status: Status
    evidence: tuple[Evidence, ...]
    entries: tuple[Entry, ...]
    stuck: Stuck | None
    metrics: Metrics
    last_activity_timestamp: int | None
    unknown_transcript: str = ""  # why nothing is told: which transcript is its own is unknown


class Shape(msgspec.Struct, frozen=True, gc=False):
    """How entries are cut. `full` keeps every text, short ones too, whole and with its lines."""

    full: bool = False
    max_length: int | None = None


USUAL_SHAPE: Final = Shape()


def digest(subject: Subject, recent: Recent, now: int, shape: Shape = USUAL_SHAPE) -> Digest:
    """Everything that the end of a transcript tells about a session."""
    verdict = assess(recent, now)
    last_activity = last_activity_of(recent)
    stuck = find_stuck(recent, verdict, now, task_open=subject.task_open)
    idle = (
        0 if last_activity is None or verdict.state in {"active", "thinking"} else max(0, now - last_activity)
    )
    return Digest(
        session_id=subject.session_id,
        session_name=subject.session_name,
        worker_name=subject.worker_name,
        task_ids=subject.task_ids,
        agent=subject.agent,
        state=verdict.state,
        status=verdict.status,
        evidence=verdict.evidence,
        entries=tuple([entry_of(moment, shape) for moment in recent.entries]),
        stuck=stuck,
        metrics=Metrics(turns_since_text(recent), last_activity, idle),
        last_activity_timestamp=last_activity,
    )


def with_screen(
    told: Digest, screen: Screen, now: int, *, last: int = DEFAULT_LAST, shape: Shape = USUAL_SHAPE
) -> Digest:
    """The digest with the error or limit that only the screen shows: a CLI that tries again writes nothing down, and
    not every one notes how a turn failed."""
    is_retry = screen.state == "retrying" and told.status in {"working", "thinking", "retrying"}
    is_end = screen.state in {"error", "limit"} and told.status != "failed"
    if not is_retry and not is_end:
        return told
    said = _MARK.sub("", screen.evidence)
    words = one_line(said)
    # The agent said it after its last record, and wrote nothing since.
    said_at = told.last_activity_timestamp
    silent = max(0, now - said_at) if said_at else 0
    calls = told.metrics.turns_since_last_text
    if is_retry:
        stuck = retrying(words, silent, calls)
    else:
        stuck = stopped(said, said_at, now, silent, calls, limited=screen.state == "limit")
    entry = entry_of(Moment("api_error", said_at, said), shape)
    is_told = any(one.text == entry.text for one in told.entries[-1:])
    entries = told.entries if is_told else (*told.entries, entry)
    return msgspec.structs.replace(
        told,
        status="retrying" if is_retry else "failed",
        state="active" if is_retry else "idle",
        evidence=(Evidence("screen", words, now), *told.evidence),
        entries=entries[-last:] if last else (),
        stuck=stuck,
        metrics=msgspec.structs.replace(told.metrics, idle_duration_ms=0 if is_retry else silent),
    )


def unseen(subject: Subject) -> Digest:
    """The digest of a session whose transcript is not there."""
    return digest(subject, Recent(), 0)


def last_activity_of(recent: Recent) -> int | None:
    for moment in reversed(recent.after_text):
        if moment.at is not None:
            return moment.at
    return recent.last_text.at if recent.last_text is not None else None


def turns_since_text(recent: Recent) -> int:
    """How many messages of the model had no text since the last one that had."""
    turns = 0
    message = recent.last_text.message if recent.last_text is not None else ""
    for moment in recent.after_text:
        if moment.kind in {"tool_call", "question"} and (not moment.message or moment.message != message):
            turns += 1
            message = moment.message
    return turns


def entry_of(moment: Moment, shape: Shape = USUAL_SHAPE) -> Entry:
    """What a digest shows of a text, a prompt or an error."""
    source = _SOURCES.get(moment.kind, "system")
    text = _without_tag(moment.text) if source == "user" else moment.text
    longest = shape.max_length or (LONGEST_PROMPT if source == "user" else LONGEST_TEXT)
    if shape is not USUAL_SHAPE and shape.full:
        whole = redact(clean(text)).strip()
        shown = cut(whole, shape.max_length) if shape.max_length else whole
        shortened = len(shown) < len(whole)
    else:
        shown, shortened = _shortened(text, longest, first_sentence=source == "assistant")
    return Entry(moment.at, PROMPT_MARK + shown if source == "user" else shown, source, shortened)


def _without_tag(prompt: str) -> str:
    """Our own mark in a first prompt tells a reader nothing."""
    if not prompt.startswith("<session_id>"):
        return prompt
    return prompt.partition("</session_id>")[2].lstrip() or prompt


def _shortened(text: str, longest: int, *, first_sentence: bool) -> tuple[str, bool]:
    text = text.strip()
    window = text if len(text) <= _WINDOW else text[: max(_WINDOW, 2 * longest)]
    printable = window.isprintable()
    safe = redact(window if printable else clean(window)).strip()
    sentence = _first_sentence(safe, printable=printable) if first_sentence else safe
    if len(window) < len(text) and len(sentence) == len(safe) and len(safe) <= longest:
        printable = False
        safe = redact(clean(text)).strip()
        sentence = _first_sentence(safe) if first_sentence else safe
    more = len(sentence) < len(safe) or len(window) < len(text)
    if not printable and not sentence.isprintable():
        sentence = fold(sentence)
    if len(sentence) <= longest:
        return sentence, more
    return cut(sentence, longest), True


def _first_sentence(text: str, *, printable: bool = False) -> str:
    if printable and "!" not in text and "?" not in text:  # then nothing but a space can end it
        return text[: text.find(". ") + 1] or text
    end = _SENTENCE_END.search(text)
    return text if end is None else text[: end.start() + 1]


def cut(text: str, longest: int) -> str:
    """At most `longest` characters; what is left out shows as three dots, and no character is torn."""
    if len(text) <= longest:
        return text
    end = max(0, longest - 3)
    while end > 0 and _continues(text, end):
        end -= 1
    return text[:end] + "..."[: longest - end]


def _continues(text: str, at: int) -> bool:
    """Whether what begins here belongs to the character before."""
    here, before = text[at], text[at - 1]
    if here.isascii():
        return False
    return (
        before == "\u200d"
        or here == "\u200d"
        or "\ufe00" <= here <= "\ufe0f"
        or "\U0001f3fb" <= here <= "\U0001f3ff"
        or unicodedata.combining(here) != 0
    )
