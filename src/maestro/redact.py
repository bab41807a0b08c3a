"""Text that may be shown, stored or sent to a model: no secrets, no control characters.

Clean first, then redact, then cut: a control character must not split a secret, and a cut must not leave
half of one.
"""

from __future__ import annotations

import re

MARK = "[redacted]"

# Escape sequences with their parameters, then what is left of them, then characters that reorder or hide text.
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|$)"
    r"|\x1b[ -/]*[0-~]"
)
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f]"
)
_LINE_ENDS = re.compile("\r\n?|[\x85\u2028\u2029]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_SPACES = re.compile(r"\s+")

_DASHED = ("sk-", "xox", "xapp-", "glpat-", "-----B")
_UNDERSCORED = ("sk_", "rk_", "ghp_", "gho_", "ghs_", "ghu_", "ghr_", "github_pat_", "npm_", "hf_")
_ASSIGNED = ("://", "passw", "passphrase", "pwd", "token", "secret", "key", "credential")

_WHOLE = re.compile(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|\Z)"
    r"|\bsk-(?:ant-|proj-|or-|svcacct-)?[A-Za-z0-9_-]{12,}"
    r"|\b[rs]k_(?:live|test)_[A-Za-z0-9]{8,}"
    r"|\bAIza[A-Za-z0-9_-]{20,}"
    r"|\bgh[opsur]_[A-Za-z0-9]{16,}"
    r"|\bgithub_pat_[A-Za-z0-9_]{16,}"
    r"|\bglpat-[A-Za-z0-9_-]{12,}"
    r"|\bxox[a-z]-[A-Za-z0-9-]{8,}|\bxapp-[A-Za-z0-9-]{8,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{12,}"
    r"|\bnpm_[A-Za-z0-9]{20,}"
    r"|\bhf_[A-Za-z0-9]{20,}"
    r"|\beyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){0,4}",
    re.DOTALL,
)
_HEADER = re.compile(r"\b((?:bearer|basic)\s+)(?!\[redacted\])[A-Za-z0-9._~+/-]{8,}=*", re.IGNORECASE)
# What stands before a scheme or a name is kept as it is, and so is not matched: a long word would be looked through anew
# from each of its letters.
_USERINFO = re.compile(r"(https?://)[^\s/?#]+@|([a-z0-9+.-]://)[^\s/?#@]*:[^\s/?#]*@", re.IGNORECASE)
_ASSIGNMENT = re.compile(
    r"""((?:(?:password|passwd|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key"""
    r"""|auth[_-]?key|credentials?))["']?\s*(?::=|=>|[:=])\s*)(?!\[redacted\])"""
    r"""("(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|`[^`\n]*`?|[^\s"'`,;&]+)""",
    re.IGNORECASE,
)
# A secret, the name of a variable or a call of a function, a gap to be filled in.
_SECRET_LIKE = re.compile(
    r"(?![/.~@])(?:[\w.+/=:%*!?@#^,()\[\]-]|~)*|\$\w+|\$\{\w+\}|<[\w -]+>|\{\{? ?[\w.]+ ?\}?\}[.!?)]*"
)
_PLAIN_WORD = re.compile(r"(?:[a-z]{1,11}|[A-Z][a-z]{0,10}|\d{1,5})[.!?)]*\Z")


def redact(text: str) -> str:
    """The text with every secret replaced."""
    return _redact_suspect(text) if _is_suspect(text) else text


def _is_suspect(text: str) -> bool:
    """Whether a pattern could match at all. Single characters first: it runs for every text that is shown."""
    if "-" in text and any(hint in text for hint in _DASHED):
        return True
    if "_" in text and any(hint in text for hint in _UNDERSCORED):
        return True
    if "J" in text and "eyJ" in text:
        return True
    if "A" in text and ("AIza" in text or "AKIA" in text or "ASIA" in text):
        return True
    folded = text.lower()
    if "bearer" in folded or "basic" in folded:
        return True
    return (":" in text or "=" in text) and any(hint in folded for hint in _ASSIGNED)


def hides(text: str, *, values: bool = True) -> bool:
    """Whether a text loses more than a secret or a line end when it is cleaned and redacted: what could be a command, a
    path, or words between characters that nobody sees. `values`: also where a value may be code and no secret."""
    cleaned = clean(text)
    if cleaned != _LINE_ENDS.sub("\n", text):
        return True
    if not _is_suspect(cleaned):
        return False
    for found in _WHOLE.finditer(cleaned):
        if found[0].startswith("-----"):
            return True
    if any("\n" in found[1] for found in _HEADER.finditer(cleaned)):
        return True
    assigned = [found for found in _ASSIGNMENT.finditer(cleaned) if _without_value(found) != found[0]]
    if any("\n" in found[1] for found in assigned):
        return True
    taken = [found[2] for found in assigned] + [
        found[0].partition("://")[2].removesuffix("@") for found in _USERINFO.finditer(cleaned)
    ]
    return values and not all(map(_can_be_secret, taken))


def _can_be_secret(value: str) -> bool:
    """Whether nothing of it could be run or be the name of a file."""
    bare = value[1:].removesuffix(value[0]) if value[:1] in {'"', "'"} else value
    return bool(_SECRET_LIKE.fullmatch(bare)) and ".." not in bare


def _redact_suspect(text: str) -> str:
    text = _WHOLE.sub(MARK, text)
    text = _HEADER.sub(rf"\1{MARK}", text)
    text = _USERINFO.sub(rf"\1\2{MARK}@", text)
    return _ASSIGNMENT.sub(_without_value, text)


def _without_value(found: re.Match[str]) -> str:
    """Prose such as "token: expired" stays readable; a value that could be a secret does not."""
    if "=" not in found[1] and _PLAIN_WORD.match(found[2]):
        return found[0]
    return found[1] + MARK


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
