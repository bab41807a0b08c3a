"""Text that may be shown, stored or sent to a model: no secrets, no control characters.

Clean first, then redact, then cut: a control character must not split a secret, and a cut must not leave
half of one. Secrets are looked for in the text without what nobody sees, and keys also over the ends of lines; only they
go, and all around them stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from maestro.invisible import INVISIBLE
from maestro.key_search import (
    Pieces,
    Span,
    goes_on_to,
    is_split,
    joined_lines,
    keys_in,
    line_may_hold_key,
    may_hold_key,
)

MARK = "[redacted]"

# Escape sequences with their parameters, then what is left of them, then characters that reorder or hide text.
_ESCAPE = (
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])(?P<words>[^\x07\x1b\x90\x98\x9c-\x9f]*)(?:\x07|\x1b\\|\x9c|$)"
    r"|\x1b[ -/]*[0-~]"
)
_ESCAPES = re.compile(_ESCAPE)
_BEFORE_WORDS = ("\x1b]", "\x1bP", "\x1bX", "\x1b^", "\x1b_", "\x9d", "\x90", "\x98", "\x9e", "\x9f")
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f]"
)
_LINE_ENDS = re.compile("\r\n?|[\x85\u2028\u2029]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_SPACES = re.compile(r"\s+")
# What may stand inside a word and is not seen; also as JSON writes it in letters.
_UNSEEN = re.compile(f"[{INVISIBLE}]")
_GAPS = re.compile(
    rf"(?:{_ESCAPE}|[{INVISIBLE}]|(?i:\\u(?:001b\[[0-?]*[ -/]*[@-~]|00[01][0-8be-f]|007f|00[89][0-9a-f]|00ad|034f|061c"
    r"|180[b-f]|200[b-f]|202[a-e]|206[0-9a-f]|fe0[0-9a-f]|feff)))+"
)

_ASSIGNED = ("://", "passw", "passphrase", "pwd", "token", "secret", "key", "credential")
_HEADER = re.compile(r"\b((?:bearer|basic)\s+)(?!\[redacted\])[A-Za-z0-9._~+/-]{8,}=*", re.IGNORECASE)
# What stands before a scheme or a name is kept as it is, and so is not matched: a long word would be looked through anew
# from each of its letters.
_USERINFO = re.compile(r"(https?://)[^\s/?#]+@|([a-z0-9+.-]://)[^\s/?#@:]*+:[^\s/?#]*@", re.IGNORECASE)
_NAME = (
    r"(?:password|passwd|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|account[_-]?key|private[_-]?key"
    r"|auth[_-]?key|credentials?)"
)
_ASSIGNMENT = re.compile(
    rf"""({_NAME}["']?\s*(?::=|=>|[:=])\s*)(?!\[redacted\])"""
    r"""("(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|`[^`\n]*`?|[^\s"'`,;&]+)""",
    re.IGNORECASE,
)
_SECRET_NAME = re.compile(rf"{_NAME}\Z", re.IGNORECASE)
# A secret, the name of a variable or a call of a function, a gap to be filled in.
_SECRET_LIKE = re.compile(
    r"(?![/.~@])(?:[\w.+/=:%*!?@#^,()\[\]-]|~)*|\$\w+|\$\{\w+\}|<[\w -]+>|\{\{? ?[\w.]+ ?\}?\}[.!?)]*"
)
_PLAIN_WORD = re.compile(r"(?:[a-z]{1,11}|[A-Z][a-z]{0,10}|\d{1,5})[.!?)]*\Z")


def _seen(text: str) -> Pieces:
    """The text as a reader sees it: without what nobody sees."""
    if not _has_unseen(text):
        return Pieces(text, [0], [0])
    parts, at, origin = [], [0], [0]
    done = here = 0
    for gap in _GAPS.finditer(text):
        parts.append(text[done : gap.start()])
        here += gap.start() - done
        done = gap.end()
        at.append(here)
        origin.append(done)
    return Pieces("".join(parts) + text[done:], at, origin)


def redact(text: str) -> str:
    """The text with every secret replaced."""
    is_plain_line = text.isascii() and text.isprintable() and "\\" not in text
    if is_plain_line and not line_may_hold_key(text) and not _may_hold_value(text):
        return text
    seen = _seen(text)
    if len(seen.at) > 1 and any(begin in text for begin in _BEFORE_WORDS):
        text = _ESCAPES.sub(_redact_words, text)
        seen = _seen(text)
    if not _is_suspect(seen.text):
        return text
    parts = []
    done = 0
    for start, end in sorted(seen.span(*span) for span in _secrets(seen)):
        if start >= done:
            parts += [text[done:start], MARK]
        done = max(done, end)
    return "".join(parts) + text[done:]


def _redact_words(escape: re.Match[str]) -> str:
    """The escape sequence without a secret in its words, such as the address of a link: a reader sees none of them."""
    start, end = escape.span("words")
    if start == end:
        return escape[0]
    return escape.string[escape.start() : start] + redact(escape["words"]) + escape.string[end : escape.end()]


def is_secret_name(name: str) -> bool:
    """Whether whatever has this name is a secret."""
    return _SECRET_NAME.search(_seen(name).text) is not None


def _has_unseen(text: str) -> bool:
    if "\\" in text and "\\u" in text:
        return True
    if text.isascii():
        is_plain = text.isprintable() or text.translate(_WITHOUT_LINES).isprintable()
        return not is_plain
    return _UNSEEN.search(text) is not None


_WITHOUT_LINES = str.maketrans("", "", "\t\r\n")


def _is_suspect(text: str) -> bool:
    """Whether a pattern could match at all: it runs for every text that is shown."""
    return may_hold_key(text) or _may_hold_value(text)


def _may_hold_value(text: str) -> bool:
    folded = text.lower()
    if "bearer" in folded or "basic" in folded:
        return True
    return (":" in text or "=" in text) and any(hint in folded for hint in _ASSIGNED)


def _secrets(seen: Pieces) -> Iterator[Span]:
    lines = joined_lines(seen.text)
    yield from keys_in(lines, seen)
    for start, end in _values(seen.text):
        yield start, goes_on_to(lines, start, end)


def _values(text: str) -> Iterator[Span]:
    """Where secrets stand that are known by what stands before them."""
    if not _may_hold_value(text):
        return
    for found in _HEADER.finditer(text):
        yield found.end(1), found.end()
    for found in _USERINFO.finditer(text):
        yield max(found.end(1), found.end(2)), found.end() - 1
    for found in _ASSIGNMENT.finditer(text):
        if _is_value(found):
            yield found.span(2)


def _is_value(found: re.Match[str]) -> bool:
    """Prose such as "token: expired" stays readable; a value that could be a secret does not."""
    return "=" in found[1] or _PLAIN_WORD.match(found[2]) is None


def hides(text: str, *, values: bool = True) -> bool:
    """Whether a text loses more than a secret or a line end when it is cleaned and redacted: what could be a command, a
    path, or words between characters that nobody sees. `values`: also where a value may be code and no secret."""
    cleaned = clean(text)
    if cleaned != _LINE_ENDS.sub("\n", text):
        return True
    seen = _seen(cleaned)
    if not _is_suspect(seen.text):
        return False
    lines = joined_lines(seen.text)
    keys = [cleaned[slice(*seen.span(*span))] for span in keys_in(lines, seen)]
    if any(is_split(key) or key.startswith("-----") or _GAPS.search(key) for key in keys):
        return True
    if any("\n" in found[1] for found in _HEADER.finditer(seen.text)):
        return True
    if any("\n" in found[1] for found in _ASSIGNMENT.finditer(seen.text) if _is_value(found)):
        return True
    spans = list(_values(seen.text))
    if any(goes_on_to(lines, *span) != span[1] for span in spans):
        return True
    taken = [cleaned[slice(*seen.span(*span))] for span in spans]
    return values and not all(map(_can_be_secret, (*keys, *taken)))


def _can_be_secret(value: str) -> bool:
    """Whether nothing of it could be run or be the name of a file."""
    bare = value[1:].removesuffix(value[0]) if value[:1] in {'"', "'"} else value
    return bool(_SECRET_LIKE.fullmatch(bare)) and ".." not in bare


def clean(text: str) -> str:
    """The text without escape sequences, control and hidden characters; newlines and tabs stay."""
    if text.isprintable() or text.replace("\n", "").replace("\t", "").isprintable():
        return text
    text = _LINE_ENDS.sub("\n", text)
    text = _ESCAPES.sub("", text)
    text = _HIDDEN.sub("", text)
    return _SURROGATES.sub("\ufffd", text)


def fold(text: str) -> str:
    """The text on one line."""
    return _SPACES.sub(" ", text).strip()
