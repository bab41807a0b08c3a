"""Whether a human has to decide, told by code alone. Pure and total: for any text there is a verdict.

Code judges what it can judge exactly: commands, wherever they stand, the use of tools, the human's own words, and a
floor that no words may lie under. What a question in prose means is a model's or a human's to judge. What a worker claims
about safety, confidence or approval changes nothing, unless it makes the gate stop.
"""

from __future__ import annotations

import re
from typing import Final

from maestro.agents.questions import Answer, Question
from maestro.coordinate import GateVerdict, Policy
from maestro.coordinate.gate import categories as known
from maestro.coordinate.gate import floor, scripts, tools
from maestro.coordinate.gate.deeds import UNKNOWN, UNREADABLE
from maestro.coordinate.gate.effects import effects_of, line_effects
from maestro.coordinate.gate.findings import MOST_EVIDENCE, Findings
from maestro.coordinate.gate.folding import fold_text, plain_lines, readings
from maestro.coordinate.gate.quoted_commands import code_in, commands_in
from maestro.coordinate.gate.read_only import is_read_only
from maestro.coordinate.gate.shell import parse_shell
from maestro.coordinate.gate.statements import changes_data, code_effects, sql_effects
from maestro.coordinate.gate.texts import MOST_TEXT, asked_texts, texts_besides
from maestro.coordinate.gate.tools import Text
from maestro.coordinate.policy.fitting import names_dialog
from maestro.errors import InvalidInput
from maestro.fleet.answers import parse_answer

DISGUISED: Final = "disguised"
LASTING: Final = "lasting"
CLI_DIALOG: Final = "dialog of the CLI"
_MOST_FINDINGS: Final = 12
_SENTENCE_ENDS: Final = re.compile(r"[.?!;:]+(?=\s|$)|\n|\u2026|[\u3002\uff1f\uff01\uff1b]")

_DIALOG_GUARDS: Final = re.compile(
    r"\btrust\b|\bapi key\b|\bhooks?\b|\bbypass\b|\bpermissions?\b|\bdanger\w*|\bsign ?in\b|\blog ?in\b|\bauth\w*|\bmcp\b|\bplugins?\b|\bextensions?\b|\bsandbox\b|\bcredentials?\b|\btelemetry\b|\bterms\b"
)
_DIALOG_UPDATE: Final = re.compile(r"\bupdat\w+|\bupgrad\w+|\bnew version\b")
_SKIPS: Final = re.compile(r"\b(?:skip|no|not now|later|cancel|dismiss|continue without|remind)\b")


def gate(question: Question, policy: Policy, proposed: str = "") -> GateVerdict:
    """Whether this question, with this answer, may be answered without a human."""
    found = Findings(known.matchers(policy), policy.strictness)
    texts = asked_texts(question, "")
    texts += _answered(question, proposed, found) if proposed.strip() else []
    _unread(question, "", found)
    for text in [*texts, *texts_besides(question, "")]:
        _floor(text, found)
    if question.kind == "dialog":
        _dialog(question, policy, proposed, found)
    if found.categories:
        _own_words(texts, found)
        for text in texts:
            _look(text, found)
        _nothing_said(question, found)
    else:
        _unreadable(texts, found)
    if found.all:
        return GateVerdict("escalate", tuple(found.all[:_MOST_FINDINGS]))
    fetches = tools.fetched_hosts(texts)
    return GateVerdict("allow", read_only=not fetches and is_read_only(question), fetches=fetches)


def _unread(question: Question, part: str, found: Findings) -> None:
    if question.unread:
        found.add(UNREADABLE, f"{part}question", question.unread, question.unread)
    if tools.has_unknown_arguments(question):
        why = "The command would be run with arguments that are not known."
        found.add(UNREADABLE, f"{part}inputs", question.inputs[:MOST_EVIDENCE], why)
    for number, each in enumerate(question.parts, 1):
        _unread(each, f"{part}part {number}, ", found)


def _answered(question: Question, proposed: str, found: Findings) -> list[Text]:
    try:
        answer = parse_answer(proposed, question)
    except InvalidInput as wrong:
        found.add(
            UNREADABLE, "answer", proposed, f"The answer is none that the question takes: {wrong.message}"
        )
        return [Text("answer", proposed)]
    texts = [Text("answer", proposed)]
    for asked, given in _pairs(question, answer):
        for choice in given.choices:
            if choice <= len(asked.options):
                option = asked.options[choice - 1]
                if floor.option_lasts(asked, option):
                    why = "The option changes what will be asked later, which only a human chooses."
                    found.add(LASTING, "answer", option.label, why)
    if floor.answer_lasts(proposed):
        found.add(LASTING, "answer", proposed, "The answer would change what is asked later.")
    return texts


def _pairs(question: Question, answer: Answer) -> list[tuple[Question, Answer]]:
    if answer.parts and len(answer.parts) == len(question.parts):
        return list(zip(question.parts, answer.parts, strict=True))
    return [(question.parts[0] if question.kind == "several" and question.parts else question, answer)]


# Looking.


def _floor(text: Text, found: Findings) -> None:
    if len(text.text) > MOST_TEXT:
        why = "It is too long to be looked at as a whole."
        found.add(UNREADABLE, text.where, text.text[:MOST_EVIDENCE], why)
    if hidden := floor.hides(text):
        found.add(DISGUISED, text.where, hidden, "Words are written so that they would not be found.")
    if claim := floor.claims(text):
        found.add(DISGUISED, text.where, claim, "It tells the coordinator what to decide, instead of asking.")


def _look(text: Text, found: Findings) -> None:
    """What is not prose: commands, paths, tools; and commands inside prose."""
    if text.kind == "shell":
        _command(text.text, text.where, found)
        return
    if text.kind == "content":
        for effect in scripts.written_effects(text.tool, text.text):
            found.effect(effect, text.where)
        return
    if text.kind in {"path", "tool", "web"}:
        for effect in tools.tool_effects(text.tool, text.text):
            found.effect(effect, text.where)
        return
    if text.where.endswith("arguments"):
        for line in filter(changes_data, text.text.split("\n")):
            for effect in sql_effects(line):
                found.effect(effect._replace(evidence=line), text.where)
    for code in code_in(plain_lines(text.text)):
        for effect in code_effects(code):
            found.effect(effect._replace(evidence=code), text.where)
    for command, is_marked in commands_in(plain_lines(text.text)):
        effects = effects_of(command)
        if not is_marked and any(effect.category == UNREADABLE for effect in effects):
            effects = tuple(effect for effect in effects if effect.category not in {UNREADABLE, UNKNOWN})
        for effect in effects:
            if effect.level != "change":
                found.effect(effect, text.where)


def _command(command: str, where: str, found: Findings) -> None:
    plain = plain_lines(command)
    line = parse_shell(plain)
    for effect in line_effects(line, plain):
        found.effect(effect, where)
    for matcher in found.categories:
        for beginning in matcher.commands:
            if any(
                (each.name, *each.arguments)[: len(beginning)] == beginning
                or (each.path, *each.arguments)[: len(beginning)] == beginning
                for each in line.commands
            ):
                found.add(
                    matcher.name, where, " ".join(beginning), f"The policy escalates “{' '.join(beginning)}”."
                )


def _own_words(texts: list[Text], found: Findings) -> None:
    """What the policy itself lists, wherever it stands."""
    patterned = [matcher for matcher in found.categories if matcher.patterns]
    for text in texts if patterned else ():
        read = [fold_text(text.text)]
        if text.kind == "prose" or text.where.endswith("plan"):
            read += [_SENTENCE_ENDS.sub(" | ", one) for one in readings(text.text)]
        for matcher in patterned:
            for pattern in matcher.patterns:
                match = next(filter(None, map(pattern.search, read)), None)
                if match:
                    found.add(matcher.name, text.where, match[0], f"The policy escalates “{matcher.name}”.")


def _unreadable(texts: list[Text], found: Findings) -> None:
    """Without categories, only what cannot be read stops."""
    for text in texts:
        if text.kind == "shell" and (why := parse_shell(text.text).unreadable):
            found.add(UNREADABLE, text.where, text.text, f"The command cannot be read: {why}.")


def _nothing_said(question: Question, found: Findings) -> None:
    """A permission that does not say what for, a plan that is not there."""
    if question.kind == "permission" and tools.is_in_the_dark(question):
        found.add(UNREADABLE, "question", question.text, "Nothing says what it would do.")
    is_bare = not (question.detail.strip() or question.preamble.strip() or "\n" in question.text.strip())
    if question.kind == "plan" and is_bare:
        found.add(UNREADABLE, "question", question.text, "Nothing says what the plan is.")


def _dialog(question: Question, policy: Policy, proposed: str, found: Findings) -> None:
    """What the CLI itself asks is the human's, whatever the policy lists: whether a folder, a key or hooks are trusted.
    Only an update may be put off, and a rule of the human's own may name a dialog."""
    if any(names_dialog(rule, question) for rule in policy.rules):
        return
    whole = fold_text(f"{question.header} {question.text} {question.detail}")
    if not _DIALOG_UPDATE.search(whole) or _DIALOG_GUARDS.search(whole):
        for name in found.of("security decisions") or [CLI_DIALOG]:
            found.add(name, "question", question.text, "The CLI itself asks, for trust, a key or hooks.")
    elif not _is_skipped(question, proposed):
        for name in found.of("system changes") or [CLI_DIALOG]:
            found.add(name, "question", question.text, "The CLI would be updated.")


def _is_skipped(question: Question, proposed: str) -> bool:
    try:
        choices = parse_answer(proposed, question).choices if proposed.strip() else ()
    except InvalidInput:
        return False
    return bool(choices) and all(
        _SKIPS.search(fold_text(question.options[choice - 1].label)) for choice in choices
    )
