"""What of a question there is to look at: its words, what it would do, its options, and what stands beside them. Pure."""

from __future__ import annotations

import re
from typing import Final

from maestro.agents.questions import Option, Question
from maestro.coordinate.gate import tools
from maestro.coordinate.gate.command_lines import looks_like_shell
from maestro.coordinate.gate.floor import is_offered_to_last
from maestro.coordinate.gate.folding import fold_text, plain_lines
from maestro.coordinate.gate.statements import changes_data
from maestro.coordinate.gate.tools import Text

MOST_TEXT: Final = 40_000

_PLAIN_OPTION: Final = re.compile(
    r"^(?:yes|no|y|n|ok(?:ay)?|cancel|allow|allow once|deny|reject|abort|skip|proceed|continue|approve|decline)\b[ ,.()a-z'/:-]{0,60}$"
)
_FEW_WORDS: Final = 8
# The field for other words that CLIs add by themselves: it offers nothing.
_OWN_WORDS: Final = frozenset(
    {"enter a custom value", "type something", "none of the above", "other", "something else"}
)


def texts_besides(question: Question, part: str) -> list[Text]:
    """What stands beside the question: no deed by itself, but it must not be disguised, or tell what to decide."""
    found = [Text(f"{part}inputs", question.inputs), Text(f"{part}preamble", question.preamble)]
    if question.kind == "permission":
        found.append(Text(f"{part}header", question.header))
    for number, each in enumerate(question.parts, 1):
        found += texts_besides(each, f"{part}part {number}, ")
    return [text._replace(text=text.text[: MOST_TEXT + 1]) for text in found if text.text.strip()]


def _previewed(preview: str) -> str:
    """A preview as prose. A line of it that is a command gets a prompt sign, as it would have in a sentence."""
    return "\n".join(
        f"$ {line}" if looks_like_shell(line) else line for line in plain_lines(preview).split("\n")
    )


def _commanded(question: Question) -> str:
    """The lines of an unknown tool's arguments that are commands: whoever takes a command runs it."""
    given = [*tools.arguments(question.detail), *tools.arguments(question.inputs)]
    lines = (line for _, text in given for line in plain_lines(text).split("\n"))
    return "\n".join(
        f"$ {line}" if looks_like_shell(line) else line
        for line in lines
        if looks_like_shell(line) or changes_data(line)
    )


def asked_texts(question: Question, part: str) -> list[Text]:
    """What it asks and offers, each as what it is: prose, a command, a path, the use of a tool."""
    if used := tools.whole_use(question):
        found = [used._replace(where=f"{part}question")]
    else:
        found = [Text(f"{part}question", question.text), *tools.detail_texts(question, part)]
    found += tools.input_texts(question, part)
    if question.kind == "permission" and question.tool and not tools.is_known(question.tool):
        found.append(Text(f"{part}arguments", _commanded(question)))
    elif question.kind != "permission" and question.inputs:
        found.append(Text(f"{part}inputs", _previewed(question.inputs)))
    if question.header and question.kind != "permission":
        found.append(Text(f"{part}header", question.header))
    for number, option in enumerate(question.options, 1):
        if (
            not option.description
            and not option.preview
            and fold_text(option.label).rstrip(" .…") in _OWN_WORDS
        ):
            continue
        # That a lasting option is offered says nothing; that it is chosen does.
        if not (question.kind in {"permission", "plan", "dialog"} and is_offered_to_last(option)):
            found.append(
                Text(
                    f"{part}option {number}",
                    f"{option.label}. {option.description}" if option.description else option.label,
                )
            )
        if option.preview:
            found.append(Text(f"{part}option {number}, preview", _previewed(option.preview)))
    for number, each in enumerate(question.parts, 1):
        found += asked_texts(each, f"{part}part {number}, ")
    if question.preamble and _means_preamble(question):
        found.append(Text(f"{part}preamble", question.preamble))
    # A character more than is looked at, so that it is seen to be too long.
    return [text._replace(text=text.text[: MOST_TEXT + 1]) for text in found if text.text.strip()]


def _means_preamble(question: Question) -> bool:
    """Whether a question says so little itself that it means what was said before it: “Proceed?”, “Is that all right?”"""
    if question.kind == "permission":
        return False
    if question.kind == "plan":
        return not question.detail.strip()
    return len(question.text.split()) <= _FEW_WORDS and all(map(_is_plain, question.options))


def _is_plain(option: Option) -> bool:
    """“Yes”, “No, and tell it what to do differently”: the CLI's own words."""
    label = fold_text(option.label)
    return not option.description and (bool(_PLAIN_OPTION.match(label)) or is_offered_to_last(option))
