# ruff: noqa: RUF001 - the characters that look alike are what this file is about
"""Text as a reader takes it: look-alikes, hidden characters and letters in disguise become plain ASCII. Pure.

`fold_text` is what matchers look at. `readings` adds what the same text may also say: escapes decoded, letters that
stand apart joined, digits taken for letters. Further readings only ever add matches. `is_disguised` tells whether an
ordinary word was written so that a plain search would not find it, which no honest question needs.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
import unicodedata
from functools import cache, lru_cache
from typing import Final

from maestro.invisible import INVISIBLE

_ESCAPES: Final = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|$)"
    r"|\x1b[ -/]*[0-~]"
)
_HIDDEN: Final = re.compile(f"[{INVISIBLE}]")
_HIDDEN_IN_WORD: Final = re.compile(f"[A-Za-z0-9](?:[{INVISIBLE}]+|\x1b\\[[0-9;]*m)+[A-Za-z0-9]")
_REORDERS: Final = re.compile("[\u202a\u202b\u202d\u202e\u2066-\u2068]")
_TAGS: Final = re.compile("[\U000e0020-\U000e007e]")
_FLAG: Final = re.compile("\U0001f3f4[\U000e0020-\U000e007f]+")
_SPACES: Final = re.compile(r"\s+")
_SURROGATES: Final = re.compile("[\ud800-\udfff]")
_LETTERS: Final = re.compile(r"[^\W\d_]+(?:[\u0300-\u036f]+[^\W\d_]*)*")
_EAST_ASIAN: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_STYLED: Final = re.compile(
    "[\u1d00-\u1d2b\ua730-\ua731\u0262\u026a\u0274\u0280\u028f\u0299\u029c\u029f"
    "\u24b6-\u24e9\U0001d400-\U0001d6a3\U0001f110-\U0001f189\U0001f1e6-\U0001f1ff]{3,}"
)
_SPACED_STYLED: Final = re.compile(
    "(?:[\u24b6-\u24e9\U0001d400-\U0001d6a3\U0001f110-\U0001f189\U0001f1e6-\U0001f1ff] ?){4,}"
)
_FULLWIDTH: Final = re.compile("[\uff21-\uff3a\uff41-\uff5a]{2,}")
_PILED: Final = re.compile("[A-Za-z][\u0300-\u036f\u0488\u0489\u20d0-\u20ff]")
_ENTITY: Final = re.compile(r"&(?:#\d{1,7}|#x[0-9a-fA-F]{1,6}|[A-Za-z]{2,8});?")
_LETTER_ENTITY: Final = re.compile(
    r"&#(?:0*(?:6[5-9]|[78]\d|90|9[7-9]|1[01]\d|12[0-2])|x0*[46][1-9a-fA-F]|x0*[57][0-9aA]);?"
)
_PERCENT: Final = re.compile(r"(?:%[0-9a-fA-F]{2})+")
_LETTER_PERCENT: Final = re.compile(r"%(?:4[1-9a-fA-F]|5[0-9aA]|6[1-9a-fA-F]|7[0-9aA])")
_UNICODE: Final = re.compile(
    r"\\u\{([0-9a-fA-F]{1,6})\}|\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})|\\U([0-9a-fA-F]{8})"
)
_BASE64: Final = re.compile(r"(?<![\w/+.-])[A-Za-z0-9+/]{12,}={0,2}(?![\w/+])")
_APART: Final = re.compile(r"(?<![^\W_])[^\W\d_](?:[ \t._*|/·•~-]{1,3}[^\W\d_](?![^\W_])){2,}(?![^\W_])")
_INSIDE: Final = re.compile(r"(?<=[a-z])[*_~`|\\/.·•-]+(?=[a-z])")
_LEET_WORD: Final = re.compile(r"[a-z0-9@$!|]{0,40}?(?:[a-z][0-9@$!|]|[0-9@$!|][a-z])[a-z0-9@$!|]*")
_LEET_L: Final = str.maketrans("013457@$!|", "oleastasil")
_LEET_I: Final = str.maketrans("01345789@$!|", "oieastbgasll")
# What is hidden is hidden for one of these. Substrings, because joined letters lose the spaces between words.
_WORTH_HIDING: Final = re.compile(
    r"delet|remov|drop|truncat|wip(?:e|ing)|eras|destroy|purg|nuke|push|forc|merge|rebas|commit|reset|deploy|releas"
    r"|publish|migrat|secret|passw|token|apikey|credent|sudo|rmrf|curl|wget|disabl|bypass|grant|purchas|production"
    r"|kill|reboot|shutdown|chmod|database"
)
_MISTYPED: Final = frozenset(
    ["delete", "deleting", "remove", "deploy", "publish", "commit", "merge", "rebase", "release", "install", "database", "production", "password", "credentials", "secret", "truncate", "migrate", "migration", "migrations", "disable", "everything", "directory", "folder", "files", "branch", "should", "customers", "firewall", "grant", "overwrite", "purchase", "upgrade", "server", "reboot", "force", "bucket", "backup", "wipe", "erase", "purge"]
)  # fmt: skip
# Slips that are words of their own.
_REAL_WORDS: Final = frozenset(
    ["file", "flies", "fore", "for", "sever", "serve", "were", "wip", "rant", "ranch", "older", "fold", "pure", "ease", "secrete"]
)  # fmt: skip
_SHORTEST_SLIP: Final = 5  # shorter ones are words of their own, in one language or another
_MOST_FOLDS: Final = 6

# Look-alikes that the Unicode list does not have, or has only by way of another script.
_SMALL_CAPITALS: Final = dict(zip("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnoprstuvwyz", strict=True))
_MORE: Final = {
    **_SMALL_CAPITALS,
    "ǫ": "q", "к": "k", "т": "t", "м": "m", "н": "h", "в": "b", "п": "n", "и": "u", "я": "r", "є": "e", "з": "3",
    "ı": "i", "ɑ": "a", "ɡ": "g", "ο": "o", "ν": "v", "κ": "k", "τ": "t", "η": "n", "μ": "u", "ω": "w", "ε": "e",
    "β": "b", "χ": "x", "ø": "o", "đ": "d", "ł": "l", "ħ": "h", "ŧ": "t", "ƀ": "b", "ɗ": "d", "ɓ": "b", "ə": "e",
    "ᗪ": "d", "ᗴ": "e", "ᒪ": "l", "丨": "l", "〇": "o",
}  # fmt: skip
_PUNCTUATION: Final = {
    **dict.fromkeys("‐‑‒–—―−﹘﹣⁃➖ー", "-"),
    **dict.fromkeys("‘’‚‛′ʼʹˈ＇", "'"),
    **dict.fromkeys("“”„‟″«»", '"'),
    **dict.fromkeys("∕⁄╱⧸", "/"),
    **dict.fromkeys("∣❘❙⏐ǀ", "|"),
    **dict.fromkeys("∗⁎✱＊", "*"),
    **dict.fromkeys("⧵∖﹨", "\\"),
    **dict.fromkeys("‹〈", "<"),
    **dict.fromkeys("›〉", ">"),
    "\u037e": ";", "∶": ":", "꞉": ":", "․": ".", "。": ". ", "、": ", ", "¿": "?", "¡": "!",
}  # fmt: skip


@cache
def _look_alikes() -> dict[int, str]:
    """Every character that looks like ASCII letters or digits, and which."""
    # The package has no types; its data is one dictionary.
    from confusable_homoglyphs.confusables import confusables_data  # type: ignore[import-untyped]

    table: dict[int, str] = {}
    for seen, alikes in confusables_data.items():
        if len(seen) != 1 or seen.isascii():
            continue
        plain = [alike["c"].casefold() for alike in alikes if alike["c"].isascii() and alike["c"].isalnum()]
        letters = [letter for letter in plain if letter.isalpha()]
        if plain:
            # The upright stroke is an l: an I was made small, and is an i, before.
            table[ord(seen)] = "l" if "l" in letters else min(letters or plain, key=len)
    table.update({ord(seen): plain for seen, plain in (_MORE | _PUNCTUATION).items()})
    for seen, alikes in confusables_data.items():  # look-alikes of look-alikes
        if len(seen) == 1 and not seen.isascii() and ord(seen) not in table:
            further = (table.get(ord(a["c"])) for a in alikes if len(a["c"]) == 1 and not a["c"].isascii())
            known = next((plain for plain in further if plain and plain.isalnum()), None)
            if known:
                table[ord(seen)] = known
    return table


def _plain(text: str) -> str:
    """One pass without case: what is hidden is gone, what looks alike is ASCII, letters have no marks."""
    if text.isascii() and not _HIDDEN.search(text):
        return text
    text = _HIDDEN.sub("", _ESCAPES.sub("", _SURROGATES.sub("\ufffd", text)))
    text = _HIDDEN.sub("", unicodedata.normalize("NFKC", text))
    if text.isascii():
        return text
    text = "".join(
        c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) not in {"Mn", "Me"}
    )
    return unicodedata.normalize("NFC", text).translate(_look_alikes())


def plain_lines(text: str) -> str:
    """The text with look-alikes plain, but its case, spaces and lines as they are: a command line is read so."""
    for _ in range(_MOST_FOLDS):
        plainer = _plain(text)
        if plainer == text:
            break
        text = plainer
    return text


@lru_cache(maxsize=4096)
def fold_text(text: str) -> str:
    """The text as matchers look at it. Folding twice is folding once."""
    for _ in range(_MOST_FOLDS):
        folded = _SPACES.sub(" ", _plain(text.casefold()).casefold()).strip()
        if folded == text:
            break
        text = folded
    return text


def readings(text: str) -> tuple[str, ...]:
    """The folded text first, then what it may also say."""
    found = [fold_text(text)]
    found += [fold_text(other) for other in (_decoded(text), _joined(plain_lines(text))) if other]
    for folded in tuple(found):
        found += _respelled(folded)
    return tuple(dict.fromkeys(reading for reading in found if reading))


@cache
def _slips() -> dict[str, str]:
    """Words worth finding as they are mistyped: a letter left out, doubled, or two of them swapped."""
    found: dict[str, str] = {}
    for word in sorted(_MISTYPED):
        for at in range(1, len(word)):
            swapped = word[: at - 1] + word[at] + word[at - 1] + word[at + 1 :]
            for slip in (word[:at] + word[at + 1 :], word[:at] + word[at] + word[at:], swapped):
                found.setdefault(slip, word)
    return {
        slip: word
        for slip, word in found.items()
        if len(slip) >= _SHORTEST_SLIP and slip not in _REAL_WORDS and slip not in _MISTYPED
    }


def _respelled(folded: str) -> list[str]:
    found = []
    corrected = " ".join(_slips().get(word, word) for word in folded.split(" "))
    if corrected != folded:
        found.append(corrected)
    if _INSIDE.search(folded):
        found += [_INSIDE.sub("", folded), _INSIDE.sub(" ", folded)]
    if _LEET_WORD.search(folded):
        found += [_spelled_with(_LEET_L, folded), _spelled_with(_LEET_I, folded)]
    return found


def _spelled_with(letters: dict[int, int], folded: str) -> str:
    return _LEET_WORD.sub(lambda word: word[0].translate(letters), folded)


def _decoded(text: str) -> str:
    """With HTML entities, percent signs, \\u and \\x escapes and base64 decoded; empty where there are none."""
    decoded = _UNICODE.sub(_unicode_character, text)
    decoded = _PERCENT.sub(_percent_bytes, decoded)
    decoded = _ENTITY.sub(lambda entity: html.unescape(entity[0]), decoded)
    decoded = _BASE64.sub(_base64_text, decoded)
    return decoded if decoded != text else ""


def _unicode_character(escape: re.Match[str]) -> str:
    number = int(next(group for group in escape.groups() if group), 16)
    return chr(number) if number <= 0x10FFFF and not 0xD800 <= number <= 0xDFFF else ""


def _percent_bytes(escape: re.Match[str]) -> str:
    return bytes.fromhex(escape[0].replace("%", "")).decode("utf-8", errors="replace")


def _base64_text(word: re.Match[str]) -> str:
    try:
        decoded = base64.b64decode(word[0] + "=" * (-len(word[0]) % 4), validate=True).decode("ascii")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return word[0]
    return f" {decoded} " if decoded.isprintable() or "\n" in decoded else word[0]


def _joined(text: str) -> str:
    """With letters that stand apart joined: `d e l e t e`. Two spaces part the words; empty where there are none."""
    joined = _APART.sub(
        lambda run: re.sub(r"[ \t._*|/·•~-]", "", re.sub(r"  +", "\0", run[0])).replace("\0", " "), text
    )
    return joined if joined != text else ""


def is_disguised(text: str) -> bool:
    """Whether an ordinary word was written with look-alikes, with something unseen inside, or letter by letter."""
    if not text.isascii() and _is_alike(_FLAG.sub("", text)):
        return True
    if "\x1b" in text and _HIDDEN_IN_WORD.search(text):
        return True
    if _LETTER_ENTITY.search(text) or _hides_by_percent(text):
        return True
    return any(
        _WORTH_HIDING.search(fold_text(re.sub(r"[ \t._*|/·•~-]", "", run[0])))
        for run in _APART.finditer(plain_lines(text))
        if sum(map(str.isalpha, run[0])) > 3
    )


def _hides_by_percent(text: str) -> bool:
    return bool(_LETTER_PERCENT.search(text)) and bool(
        _WORTH_HIDING.search(fold_text(_PERCENT.sub(_percent_bytes, text)))
        and not _WORTH_HIDING.search(fold_text(_PERCENT.sub("%", text)))
    )


def _is_alike(text: str) -> bool:
    if _HIDDEN_IN_WORD.search(text) or _REORDERS.search(text) or _TAGS.search(text):
        return True
    if (
        _STYLED.search(text)
        or _SPACED_STYLED.search(text)
        or _PILED.search(unicodedata.normalize("NFC", text))
    ):
        return True
    if _FULLWIDTH.search(text) and not _EAST_ASIAN.search(text):
        return True
    return any(_is_mixed(word[0]) for word in _LETTERS.finditer(text))


def _is_mixed(word: str) -> bool:
    """Letters of another script among Latin ones, or a whole word of them that spells a word worth hiding."""
    if word.isascii() or len(word) < 3:
        return False
    foreign = [c for c in word if not c.isascii() and not _is_latin(c)]
    if not foreign:
        return False
    alike = [c for c in foreign if fold_text(c).isascii()]
    if any(c.isascii() or _is_latin(c) for c in word):
        return bool(alike)
    return len(alike) == len(foreign) and bool(_WORTH_HIDING.search(fold_text(word)))


@lru_cache(maxsize=2048)
def _is_latin(character: str) -> bool:
    name = unicodedata.name(character, "")
    return name.startswith("LATIN ") and "SMALL CAPITAL" not in name
