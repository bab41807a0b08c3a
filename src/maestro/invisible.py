"""Characters that a reader does not see. Pure.

They join emoji, hint at line breaks, reorder or fill; and they split a word or a key so that a plain search misses it.
A terminal, a CLI or a copy may drop or add them: two texts are compared without them.
"""

from __future__ import annotations

import re
from typing import Final

# Not seen, or seen as something else: controls, zero-width, bidi, fillers, variation selectors, tags.
INVISIBLE: Final = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_ONE: Final = re.compile(f"[{INVISIBLE}]")


def without_invisible(text: str) -> str:
    """Returns the text without the characters that nobody sees."""
    return text if text.isascii() and text.isprintable() else _ONE.sub("", text)
