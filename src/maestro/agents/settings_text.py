"""Our hooks in an agent's settings, as text: put in, taken out, everything else byte for byte. Pure.

Whether a list or an object was there before us is told by the text alone: what we make has a line end before its
closing bracket; what was there, empty, gets our entries right before the bracket. So taking out gives back the very
text that was there, also years later and on another machine. Where the CLI has laid out the file anew meanwhile, our
entries go and what they leave empty goes with them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from maestro.agents.hook_command import is_hook_command
from maestro.agents.json_text import Child, Node, NotJson, find, parsed, plain

_SPACES = " \t\r\n"
Edit = tuple[int, int, str]  # this stretch of the text becomes that


class Clash(ValueError):
    """The settings hold something else where hooks must stand."""


def with_hooks(text: str | None, settings: Mapping[str, Any], agent: str, *, comments: bool) -> str:
    """The text with these hooks, and with no other of ours. None: there is no file."""
    wanted = {name: value for name, value in settings.items() if _holds_ours(value, agent)}
    cleared = None if text is None else without_hooks(text, agent, comments=comments)
    if cleared is None:
        changed = json.dumps(wanted, indent=2, ensure_ascii=False) + "\n"
    elif root := parsed(cleared, comments=comments):
        changed = _edited(cleared, _additions(cleared, root, wanted, ()))
    else:
        changed = _into_nothing(cleared, wanted)
    # What says the same already stays as it is laid out.
    return text if text is not None and _says_the_same(text, changed, comments=comments) else changed


def without_hooks(text: str, agent: str, *, comments: bool) -> str | None:
    """The text without our hooks; None when nothing but ours was in the file, and we made it."""
    root = parsed(text, comments=comments)
    if root is None:
        return text
    if root.kind != "object":
        raise NotJson("line 1 has no object, but settings are one")
    if _is_made_by_us(text, root, agent):
        rest = (text[: root.start], text[root.end :])
        return None if rest == ("", "\n") else "".join(rest)
    return _edited(text, _cuts(text, root, agent))


# Putting in.


def _into_nothing(text: str, wanted: Mapping[str, Any]) -> str:
    """A file without a value: spaces, or comments, the last of which may not have an end."""
    made = json.dumps(wanted, indent=2, ensure_ascii=False)
    if text.lstrip("\ufeff").strip(_SPACES):
        place = 1 if text.startswith("\ufeff") else 0
        return text[:place] + made + text[place:]
    return text + made


def _additions(text: str, node: Node, wanted: Mapping[str, Any], path: tuple[str, ...]) -> list[Edit]:
    edits: list[Edit] = []
    missing: list[str] = []
    for name, value in wanted.items():
        member = find(node, name)
        where = (*path, name)
        if member is None:
            missing.append(f"{json.dumps(name, ensure_ascii=False)}: {_laid_out(text, node, value)}")
        elif isinstance(value, Mapping) and member.node.kind == "object":
            edits += _additions(text, member.node, value, where)
        elif isinstance(value, list | tuple) and member.node.kind == "array":
            edits += _appended(text, member.node, [_laid_out(text, member.node, each) for each in value])
        else:
            raise Clash(
                f"“{'.'.join(where)}” is not {'an object' if isinstance(value, Mapping) else 'a list'}"
            )
    return edits + _appended(text, node, missing)


def _appended(text: str, node: Node, pieces: list[str]) -> list[Edit]:
    """After the last child: Codex knows the hooks that a person trusts by their place in the list."""
    if not pieces:
        return []
    if not node.children:
        place = node.end - 1
        return [(place, place, f",{_line(text, node)}".join(pieces))]
    last = node.children[-1]
    apart = _space_before(text, last.start)
    # A comment after the last child stays beside it.
    place = last.end + len(text[last.end : node.end - 1].rstrip(_SPACES))
    if place > last.end and "\n" not in apart:
        apart = _line(text, node)
    added = apart + f",{apart}".join(pieces)
    if place == last.end:
        return [(place, place, "," + added)]
    return [(last.end, last.end, ","), (place, place, added)]


def _laid_out(text: str, node: Node, value: Any) -> str:
    """A child of this node as text, in the file's own manner."""
    apart = _space_before(text, node.children[-1].start) if node.children else ""
    line = apart if "\n" in apart else _line(text, node)
    return json.dumps(value, indent=_unit(text), ensure_ascii=False).replace("\n", line)


def _line(text: str, node: Node) -> str:
    """A line end, and the indentation of the line that the node begins in."""
    begin = text.rfind("\n", 0, node.start) + 1
    line = text[begin : node.start].lstrip("\ufeff")
    return ("\r\n" if "\r\n" in text else "\n") + line[: len(line) - len(line.lstrip(" \t"))]


def _space_before(text: str, place: int) -> str:
    """The space right before a place, from the last line end on."""
    space = text[len(text[:place].rstrip(_SPACES)) : place]
    newline = space.rfind("\n")
    if newline < 0:
        return space
    return space[newline - 1 :] if newline and space[newline - 1] == "\r" else space[newline:]


def _unit(text: str) -> str:
    """One step of indentation: that of the first indented line."""
    for line in text.split("\n")[1:]:
        body = line.lstrip(" \t")
        if body.strip() and len(body) < len(line):
            return line[: len(line) - len(body)]
    return "  "


# Taking out.


def _cuts(text: str, node: Node, agent: str) -> list[Edit]:
    children = node.children
    gone = [_goes(text, node, child, agent) for child in children]
    if children and all(gone):
        return [(children[0].start, children[-1].end, "")]
    edits: list[Edit] = []
    for place, child in enumerate(children):
        if not gone[place]:
            edits += _cuts(text, child.node, agent)
        elif all(gone[place:]):
            # Nothing that stays follows: the comma before it goes with it.
            before = children[place - 1]
            if gone[place - 1]:
                edits.append((before.end, child.end, ""))
            else:
                space = len(text[: child.start]) - len(text[: child.start].rstrip(_SPACES))
                edits += [
                    (before.comma, before.comma + 1, ""),
                    (max(before.comma + 1, child.start - space), child.end, ""),
                ]
        else:
            following = children[place + 1].start
            gap = text[child.comma + 1 : following]
            edits += [(child.start, child.end, ""), (child.comma, child.comma + 1, "")]
            if not gap.strip(_SPACES):
                edits.append((child.comma + 1, following, ""))
    return edits


def _goes(text: str, parent: Node, child: Child, agent: str) -> bool:
    if parent.kind == "array":
        return _is_our_entry(child.node, agent)
    return _is_made_by_us(text, child.node, agent)


def _is_our_entry(node: Node, agent: str) -> bool:
    """An element of a list of hooks: our command, or a group of hooks with no other than ours."""
    if node.kind != "object":
        return False
    command = find(node, "command")
    if command is not None:
        return isinstance(command.node.value, str) and is_hook_command(command.node.value, agent)
    inner = [child.node for child in node.children if child.node.kind != "scalar"]
    return bool(inner) and all(
        each.kind == "array"
        and each.children
        and all(_is_our_entry(child.node, agent) for child in each.children)
        for each in inner
    )


def _is_made_by_us(text: str, node: Node, agent: str) -> bool:
    """A list or an object that holds nothing but ours and was not there, empty, before."""
    if not node.children or node.children[-1].end == node.end - 1:
        return False
    return all(_goes(text, node, child, agent) for child in node.children)


def _holds_ours(value: Any, agent: str) -> bool:
    """Only what runs our command is put into a person's settings; switches stay theirs."""
    if isinstance(value, Mapping):
        return any(_holds_ours(each, agent) for each in value.values())
    if isinstance(value, list | tuple):
        return any(_holds_ours(each, agent) for each in value)
    return isinstance(value, str) and is_hook_command(value, agent)


def _says_the_same(text: str, other: str, *, comments: bool) -> bool:
    one, two = parsed(text, comments=comments), parsed(other, comments=comments)
    return one is not None and two is not None and plain(one) == plain(two)


def _edited(text: str, edits: list[Edit]) -> str:
    for start, end, becomes in sorted(edits, key=lambda edit: edit[:2], reverse=True):
        text = text[:start] + becomes + text[end:]
    return text
