"""Finds what a person means: a whole id, its short form, a name; and says what comes near when nothing fits."""

from __future__ import annotations

from collections.abc import Mapping

from maestro.errors import InvalidInput, NotFound


def find(noun: str, wanted: str, names: Mapping[str, str]) -> str:
    """The id that `wanted` means among `names` (id → name). Exact first, then a unique beginning or end."""
    if wanted in names:
        return wanted
    by_name = [i for i, name in names.items() if name == wanted]
    if len(by_name) == 1:
        return by_name[0]
    folded = wanted.upper()
    _, _, tail = folded.rpartition("_")
    matching = [
        i
        for i in names
        if len(tail) >= 4 and (i.upper().startswith(folded) or i.rpartition("_")[2].endswith(tail))
    ]
    if len(matching) == 1:
        return matching[0]
    several = matching or by_name
    if several:
        listed = ", ".join(f"{i} ({names[i]})" for i in sorted(several)[:5])
        raise InvalidInput(f"“{wanted}” means {len(several)} {noun}s: {listed}.", hint="Type more of the id.")
    raise NotFound(f"There is no {noun} “{wanted}”.", hint=_suggestion(noun, wanted, names))


def _suggestion(noun: str, wanted: str, names: Mapping[str, str]) -> str:
    import difflib

    known = {name: i for i, name in names.items()} | {i: i for i in names}
    near = difflib.get_close_matches(wanted, list(known), n=1, cutoff=0.6)
    if near:
        found = known[near[0]]
        return f"Did you mean {found} ({names[found]})?"
    return f"`maestro {noun} list` shows all."
