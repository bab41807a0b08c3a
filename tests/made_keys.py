"""Makes keys as services give them out, anew in each run: nothing that looks like a real one stands in a file."""

from __future__ import annotations

import random
import string
from collections.abc import Container, Iterator

HEX = "0123456789abcdef"
ALNUM = string.ascii_letters + string.digits
WORD = ALNUM + "_-"
BASE64 = ALNUM + "+/"
UPPER = string.ascii_uppercase + string.digits
BECH32 = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"

# A kind is literal text and, as (alphabet, length), what is drawn by chance.
Part = str | tuple[str, int]
KINDS: dict[str, tuple[Part, ...]] = {
    "maestro session": ("mst_", (WORD, 43)),
    "maestro person": ("mhu_", (WORD, 43)),
    "azure storage": ("AccountKey=", (BASE64, 86), "=="),
    "azure service bus": ("SharedAccessKey=", (BASE64, 43), "="),
    "azure app": ((ALNUM, 3), "8Q~", (ALNUM, 34)),
    "sendgrid": ("SG.", (WORD, 22), ".", (WORD, 43)),
    "google access": ("ya29.a0", (WORD, 120)),
    "google client": ("GOCSPX-", (WORD, 28)),
    "google refresh": ("1//0", (WORD, 60)),
    "google api": ("AIza", (WORD, 35)),
    "digitalocean": ("dop_v1_", (HEX, 64)),
    "digitalocean oauth": ("doo_v1_", (HEX, 64)),
    "pypi": ("pypi-AgEIcHlwaS5vcmc", (WORD, 150)),
    "stripe webhook": ("whsec_", (ALNUM, 32)),
    "stripe": ("sk_live_", (ALNUM, 24)),
    "linear": ("lin_api_", (ALNUM, 40)),
    "age": ("AGE-SECRET-KEY-1", (BECH32, 58)),
    "anthropic": ("sk-ant-api03-", (WORD, 93), "AA"),
    "openai": ("sk-proj-", (WORD, 74), "T3BlbkFJ", (WORD, 74)),
    "openrouter": ("sk-or-v1-", (HEX, 64)),
    "groq": ("gsk_", (ALNUM, 52)),
    "hugging face": ("hf_", (string.ascii_letters, 34)),
    "github": ("ghp_", (ALNUM, 36)),
    "github fine": ("github_pat_", (ALNUM, 22), "_", (ALNUM, 59)),
    "gitlab": ("glpat-", (WORD, 20)),
    "slack": ("xoxb-", ("0123456789", 12), "-", ("0123456789", 12), "-", (ALNUM, 24)),
    "aws": ("AKIA", (UPPER, 16)),
    "npm": ("npm_", (ALNUM, 36)),
    "vault": ("hvs.", (WORD, 95)),
    "shopify": ("shpat_", (HEX, 32)),
    "databricks": ("dapi", (HEX, 32)),
    "notion": ("ntn_", ("0123456789", 11), (ALNUM, 35)),
    "docker": ("dckr_pat_", (WORD, 27)),
    "jwt": ("eyJhbGciOiJIUzI1NiJ9.eyJ", (WORD, 60), ".", (WORD, 43)),
    "bearer": ("Bearer ", (ALNUM, 48)),
}
# What can stand inside a key so that a plain search misses it.
GAPS: dict[str, str] = {
    "soft hyphen": "\u00ad",
    "joiner": "\u200d",
    "non-joiner": "\u200c",
    "variation selector": "\ufe0f",
    "another variation selector": "\U000e0101",
    "word joiner": "\u2060",
    "zero-width space": "\u200b",
    "filler": "\u3164",
    "style": "\x1b[0m",
    "null": "\x00",
    "JSON's soft hyphen": "\\u00ad",
}
BREAKS: dict[str, str] = {
    "line end": "\n",
    "CRLF": "\r\n",
    "line separator": "\u2028",
    "indented": "\n    ",
    "frame": " \u2502\n\u2502 ",
    "coloured frame": "\x1b[2m \u2502\x1b[0m\r\n\x1b[2m\u2502\x1b[0m ",
    "backslash": "\\\n",
    "JSON's line end": "\\n",
}
LEAK = 8  # letters of a key in a row


def made(kind: str, seed: int) -> str:
    chance = random.Random(f"{kind} {seed}")
    parts = (
        one if isinstance(one, str) else "".join(chance.choices(one[0], k=one[1])) for one in KINDS[kind]
    )
    key = "".join(parts)
    # A sign at its end may be a mark of the sentence around it.
    return key if key[-1].isalnum() or key.endswith("=") else key[:-1] + "7"


def secret_of(key: str) -> str:
    """The part that nobody may see: "Bearer" and the name of a value are no secrets."""
    return key.partition("Key=")[2] or key.rpartition(" ")[2]


def split(key: str, gap: str, *places: int) -> str:
    """The key with this in it at each place, as far as these are inside the key."""
    inside = sorted({place for place in places if 0 < place < len(key)})
    parts = [key[start:end] for start, end in zip([0, *inside], [*inside, len(key)], strict=True)]
    return gap.join(parts)


def leaked(key: str, shown: Container[str]) -> list[str]:
    """Every run of letters of the key that is in a text, or among its runs."""
    if isinstance(shown, str):
        shown = shown.replace("\\n", "\n")  # its letter is none of the key
    return [run for run in runs_of(secret_of(key)) if run in shown]


def runs_of(text: str) -> Iterator[str]:
    return (text[start : start + LEAK] for start in range(len(text) - LEAK + 1))
