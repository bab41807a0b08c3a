"""Texts whose characters a terminal or a CLI drops, joins, widens or splits."""

from __future__ import annotations

FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"

# By what they try: each was pasted into the three real CLIs, see tests/agents/shown/.
ODD = {
    "a family of four": f"family {FAMILY} end",
    "a joined flag": "flag \U0001f3f3\ufe0f\u200d\U0001f308 and \U0001f1e8\U0001f1ed end",
    "variation selectors": "heart \u2764\ufe0f warning \u26a0\ufe0f text \u2764\ufe0e end",
    "keycaps": "keys 1\ufe0f\u20e3 #\ufe0f\u20e3 *\ufe0f\u20e3 end",
    "skin tones": "skin \U0001f44d\U0001f3fd \U0001f9d1\U0001f3ff\u200d\U0001f680 end",
    "a flag of tags": "flag \U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f end",
    "soft hyphens": "co\u00adop\u00adera\u00adtion end",
    "zero width": "zero\u200bwidth\u2060joined\ufeff end",
    "a joiner of letters": "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 end",
    "directions": "\u202eevil\u202c \u2066iso\u2069 \u200frtl\u200e end",
    "right to left": "\u05e9\u05dc\u05d5\u05dd world end",
    "combining marks": "e\u0301 n\u0303 o\u0308\u0304 a\u030a \u212b end",
    "zalgo": "Z\u0351\u036b\u0343\u036a\u0302\u036b\u033d\u034f\u0334\u0319\u0324\u031e\u0349\u035a\u032f\u031e\u0320\u034dA\u036b\u0357 end",
    "wide": "\u6f22\u5b57 \uff37\uff29\uff24\uff25 \ud55c\uad6d\uc5b4 \u1112\u1161\u11ab end",
    "ambiguous width": "\u00a7 \u00b1 \u2026 \u2460 \u2605 \u25cb \u2192 end",
    "vowel signs": "\u0915\u094d\u0937\u093f \u0928\u092e\u0938\u094d\u0924\u0947 \u0e01\u0e33\u0e19\u0e35\u0e49 end",
    "young emoji": "new \U0001fae8 \U0001fa75 \U0001f6dc end",
    "noncharacters": "non \ufdd0 \U0010fffe end",
    "private use": "pua \ue0b0 \uf8ff \U000f0001 end",
    "fillers": "hangul\u3164filler\u115fx\uffa0 end",
    "replacements": "obj \ufffc repl \ufffd end",
    "spaces": "no\u00a0break\u202fnarrow\u3000wide\u2003em end",
    "hidden notes": "\U0001d173note\U0001d174 c\u034fh \u180e end",
    "a joiner first": "\u200d\ufe0flead end",
    "many of them": f"{FAMILY} \u2764\ufe0f \U0001f44d\U0001f3fd word " * 14 + "end",
}
