"""Whether a human has to decide, told by code alone. Pure and total: for any text there is a verdict.

Everything that is asked and offered is looked at, and the answer that is proposed. What a worker claims about safety,
confidence or approval changes nothing, unless it makes the gate stop.
"""

from __future__ import annotations

import re
from typing import Final

from maestro.agents.questions import Answer, Option, Question
from maestro.coordinate import ALLOWED, GateVerdict, Policy
from maestro.coordinate.gate import categories as known
from maestro.coordinate.gate import prose, tools
from maestro.coordinate.gate.deed_words import asks_to, may_be_to
from maestro.coordinate.gate.deeds import UNKNOWN, UNREADABLE
from maestro.coordinate.gate.effects import effects_of
from maestro.coordinate.gate.findings import MOST_EVIDENCE, Findings
from maestro.coordinate.gate.folding import fold_text, is_disguised, keep_letters, plain_lines, readings
from maestro.coordinate.gate.languages import other_languages
from maestro.coordinate.gate.likeness import how_grave
from maestro.coordinate.gate.likeness_file import wording
from maestro.coordinate.gate.mentions import without_mentions
from maestro.coordinate.gate.outside import strange_wishes
from maestro.coordinate.gate.pronouns import CODE_NOUNS, PRONOUNS
from maestro.coordinate.gate.quoted_commands import code_in, commands_in
from maestro.coordinate.gate.shell import parse_shell
from maestro.coordinate.gate.statements import code_effects
from maestro.coordinate.gate.texts import LASTS, MOST_TEXT, asked_texts, texts_besides
from maestro.coordinate.gate.tools import Text
from maestro.coordinate.gate.wishes import is_split_name, wishes
from maestro.errors import InvalidInput
from maestro.fleet.answers import parse_answer

DISGUISED: Final = "disguised"
LASTING: Final = "lasting"
CLI_DIALOG: Final = "dialog of the CLI"
ALIKE: Final = "alike"
SURE_SHARE: Final = 0.8  # of likeness, in a policy that escalates only what is sure
WARY_SHARE: Final = 0.65
_MOST_FINDINGS: Final = 12

_LASTS_IN_DIALOG: Final = re.compile(
    r"\balways\b|\bentire\b|\bsession\b|\bagain\b|\bremember\b|\bforever\b|\bparent folder\b"
)
_DIALOG_GUARDS: Final = re.compile(
    r"\btrust\b|\bapi key\b|\bhooks?\b|\bbypass\b|\bpermissions?\b|\bdanger\w*|\bsign ?in\b|\blog ?in\b|\bauth\w*|\bmcp\b|\bplugins?\b|\bextensions?\b|\bsandbox\b|\bcredentials?\b|\btelemetry\b|\bterms\b"
)
_DIALOG_UPDATE: Final = re.compile(r"\bupdat\w+|\bupgrad\w+|\bnew version\b")
_SKIPS: Final = re.compile(r"\b(?:skip|no|not now|later|cancel|dismiss|continue without|remind)\b")


def gate(question: Question, policy: Policy, proposed: str = "") -> GateVerdict:
    """Whether this question, with this answer, may be answered without a human."""
    found = Findings(known.matchers(policy), policy.strictness)
    texts = asked_texts(question, "")
    if question.kind == "permission" and any(text.kind != "prose" for text in texts):
        found.certain_only.add("question")
    if question.kind in {"permission", "plan", "dialog"}:
        found.certain_only.update(text.where for text in texts if text.where.startswith("option"))
    texts += _answered(question, proposed, found) if proposed.strip() else []
    _unread(question, "", found)
    for text in [*texts, *texts_besides(question, "")]:
        if len(text.text) > MOST_TEXT:
            found.add(
                UNREADABLE,
                text.where,
                text.text[:MOST_EVIDENCE],
                "It is too long to be looked at as a whole.",
            )
        _disguise(text, found)
    if question.kind == "dialog":
        _dialog(question, proposed, found)
    if found.categories:
        _own_words(texts, found)
        texts = without_mentions(question, texts)
        for text in texts:
            _look(text, found)
        _words(texts, found)
        _pronouns(question, texts, found)
        _kind(question, texts, found)
        _likeness(question, proposed, found)
    elif any(text.kind == "shell" for text in texts):
        for text in texts:
            if text.kind == "shell" and (why := parse_shell(text.text).unreadable):
                found.add(UNREADABLE, text.where, text.text, f"The command cannot be read: {why}.")
    return GateVerdict("escalate", tuple(found.all[:_MOST_FINDINGS])) if found.all else ALLOWED


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
                _lasting(asked, asked.options[choice - 1], found)
    if LASTS.search(fold_text(proposed)):
        found.add(LASTING, "answer", proposed, "The answer would change what is asked later.")
    return texts


def _pairs(question: Question, answer: Answer) -> list[tuple[Question, Answer]]:
    if answer.parts and len(answer.parts) == len(question.parts):
        return list(zip(question.parts, answer.parts, strict=True))
    return [(question.parts[0] if question.kind == "several" and question.parts else question, answer)]


def _lasting(asked: Question, option: Option, found: Findings) -> None:
    label = fold_text(f"{option.label} {option.description}")
    is_cli = asked.kind in {"permission", "plan", "dialog"}
    if (
        option.is_lasting
        or LASTS.search(label)
        or (is_cli and _LASTS_IN_DIALOG.search(label) and not label.startswith("no"))
    ):
        found.add(
            LASTING,
            "answer",
            option.label,
            "The option changes what will be asked later, which only a human chooses.",
        )


# Looking


def _disguise(text: Text, found: Findings) -> None:
    if is_disguised(text.text):
        found.add(
            DISGUISED, text.where, fold_text(text.text), "Words are written so that they would not be found."
        )
    if (
        (text.kind != "shell" or text.where.endswith("question"))
        and text.where != "answer"
        and (claim := prose.CLAIMS.search(fold_text(text.text)))
    ):
        found.add(
            DISGUISED, text.where, claim[0], "It tells the coordinator what to decide, instead of asking."
        )


def _look(text: Text, found: Findings) -> None:
    """What is not prose: commands, paths, tools; and commands inside prose."""
    if text.kind == "shell":
        _command(text.text, text.where, found)
        return
    if text.kind in {"path", "tool", "web"}:
        for effect in tools.tool_effects(text.tool, text.text):
            found.effect(effect, text.where)
        return
    for code in code_in(plain_lines(text.text)):
        for effect in code_effects(code):
            found.effect(effect._replace(evidence=code), text.where)
    for command, is_marked in commands_in(plain_lines(text.text)):
        effects = effects_of(command)
        if not is_marked and any(effect.category == UNREADABLE for effect in effects):
            effects = tuple(effect for effect in effects if effect.category not in {UNREADABLE, UNKNOWN})
        for effect in effects:
            if effect.category != UNKNOWN and effect.level != "change":
                found.effect(effect, text.where)


def _command(command: str, where: str, found: Findings) -> None:
    plain = plain_lines(command)
    for effect in effects_of(plain):
        found.effect(effect, where)
    parsed = parse_shell(plain).commands
    for matcher in found.categories:
        for beginning in matcher.commands:
            if any(
                (each.name, *each.arguments)[: len(beginning)] == beginning
                or (each.path, *each.arguments)[: len(beginning)] == beginning
                for each in parsed
            ):
                found.add(
                    matcher.name, where, " ".join(beginning), f"The policy escalates “{' '.join(beginning)}”."
                )


def _words(texts: list[Text], found: Findings) -> None:
    """Prose, all of it at once: a document for each way of reading it, its parts kept apart."""
    documents = _documents([text for text in texts if text.kind == "prose" or text.where.endswith("plan")])
    for document, places in documents:
        for category in known.built_in_prose():
            names = found.of(category.name)
            if names:
                _category(category, names, document, places, found)
        for wish in (*wishes(document), *strange_wishes(document)):
            where = _where(wish.start, places)
            if where in found.certain_only or is_split_name(wish, documents[0][0]):
                continue
            for name in found.of(wish.category):
                found.add(name, _where(wish.start, places), wish.text, asks_to(wish.category))
    for text in (text for text in texts if text.kind == "prose"):
        _elsewhere(text, found)


def _own_words(texts: list[Text], found: Findings) -> None:
    """What the policy itself lists, wherever it stands."""
    prose_of = [text for text in texts if text.kind == "prose" or text.where.endswith("plan")]
    read = _documents(prose_of) + [(fold_text(text.text), [(0, text.where)]) for text in texts]
    for matcher in found.categories:
        for pattern in matcher.patterns:
            for document, places in read:
                if match := pattern.search(document):
                    where = _where(match.start(), places)
                    found.add(matcher.name, where, match[0], f"The policy escalates “{matcher.name}”.")


def _elsewhere(text: Text, found: Findings) -> None:
    """The same in other languages than English."""
    sentences = re.sub(r"[.?!;\u3002\uff1f\uff01\uff1b\n]+", "|", keep_letters(text.text))
    for built_in, patterns in other_languages():
        names = found.of(built_in)
        match = (
            next(filter(None, (pattern.search(sentences) for pattern in patterns)), None) if names else None
        )
        for name in names if match else ():
            found.add(name, text.where, text.text, f"{asks_to(built_in)[:-1]}, in another language.")


def _category(
    category: known.Prose, names: list[str], document: str, places: list[tuple[int, str]], found: Findings
) -> None:
    patterns = [(pattern, True) for pattern in category.sure]
    patterns += [(pattern, False) for pattern in category.wary] if found.is_wary else []
    patterns += [(pattern, True) for pattern in category.topics]
    for pattern, is_sure in patterns:
        said = prose.said(pattern, document, is_topic=pattern in category.topics)
        if said is None or (not is_sure and prose.describes(document, said)):
            continue
        if category.name == "database changes" and prose.is_of_a_frame(document, said):
            continue
        if is_sure or _where(said.start, places) not in found.certain_only:
            why = asks_to(category.name) if is_sure else may_be_to(category.name)
            for name in names:
                found.add(name, _where(said.start, places), said.text, why)
            return


def _documents(texts: list[Text]) -> list[tuple[str, list[tuple[int, str]]]]:
    read = [(text.where, readings(text.text)) for text in texts]
    most = max((len(each) for _, each in read), default=0)
    found = []
    for index in range(most):
        document, places = "", []
        for where, each in read:
            if index < len(each) and (made := prose.clauses(each[index])):
                places.append((len(document), where))
                document += f"{made} | "
        if document:
            found.append((document, places))
    return found


def _where(start: int, places: list[tuple[int, str]]) -> str:
    return next((where for at, where in reversed(places) if at <= start), "question")


def _pronouns(question: Question, texts: list[Text], found: Findings) -> None:
    """“Delete it”: what it is stands elsewhere in the question."""
    documents = _documents([text for text in texts if text.kind == "prose"])[:1]
    if not documents:
        return
    document, places = documents[0]
    context = document + prose.clauses(fold_text(question.preamble[-2000:]))
    for action, about, category in PRONOUNS:
        names = found.of(category)
        said = prose.said(action, document) if names else None
        if said is None or not about.search(context):
            continue
        if CODE_NOUNS.search(document) and not found.is_wary and category == "file deletion":
            continue
        for name in names:
            found.add(
                name,
                _where(said.start, places),
                said.text,
                f"{asks_to(category)[:-1]}; of what, stands elsewhere in the question.",
            )


def _kind(question: Question, texts: list[Text], found: Findings) -> None:
    """What the kind of a question alone says."""
    whole = fold_text(f"{question.header} {question.text} {question.detail}")
    if question.kind == "permission" and tools.is_in_the_dark(question):
        found.add(UNREADABLE, "question", question.text, "Nothing says what it would do.")
    if (
        question.kind == "plan"
        and not (question.detail.strip() or question.preamble.strip())
        and prose.points_back(whole)
        and not prose.lists_steps(question.text)
    ):
        found.add(UNREADABLE, "question", question.text, "Nothing says what the plan is.")
    if found.strictness == "all" and question.kind not in {"permission", "dialog"}:
        asked = [prose.clauses(fold_text(text.text)) for text in texts if text.where == "question"]
        if not all(map(prose.only_looks, asked)):
            found.change("question", question.text)


def _dialog(question: Question, proposed: str, found: Findings) -> None:
    """What the CLI itself asks is the human's, whatever the policy lists: whether a folder, a key or hooks are trusted.
    Only an update may be put off."""
    whole = fold_text(f"{question.header} {question.text} {question.detail}")
    if not _DIALOG_UPDATE.search(whole) or _DIALOG_GUARDS.search(whole):
        for name in found.of("security decisions") or [CLI_DIALOG]:
            found.add(name, "question", question.text, "The CLI itself asks, for trust, a key or hooks.")
    elif not _is_skipped(question, proposed):
        for name in found.of("system changes") or [CLI_DIALOG]:
            found.add(name, "question", question.text, "The CLI would be updated.")


def _likeness(question: Question, proposed: str, found: Findings) -> None:
    """Where no rule speaks: whether it is worded as questions are that people decide themselves."""
    if found.all or question.kind in {"permission", "dialog"}:
        return
    covered = [bool(found.of(category.name)) for category in known.built_in_prose()]
    if sum(covered) * 2 < len(covered) or prose.only_looks(prose.clauses(fold_text(question.text))):
        return  # a policy of a few words of its own is taken at these; a look is no deed
    liked = how_grave(question, proposed, wording())
    if liked is not None and liked.share >= (WARY_SHARE if found.is_wary else SURE_SHARE):
        words = ", ".join(word.strip("^$ ") for word in liked.by)
        found.add(ALIKE, "question", words, "It is worded like questions that people decide themselves.")


def _is_skipped(question: Question, proposed: str) -> bool:
    try:
        choices = parse_answer(proposed, question).choices if proposed.strip() else ()
    except InvalidInput:
        return False
    return bool(choices) and all(
        _SKIPS.search(fold_text(question.options[choice - 1].label)) for choice in choices
    )
