"""Words that a question only names: labels, titles, names in the code, commands that a text or a test is about. Pure.

What stands in quotes or backticks is taken out of a sentence that asks how something is called or worded, or that speaks
of a text, a test or a parser of it. Options and answers of such a question are names too, where they are as short as
names are and no command. The sentence's own words stay: “which name, before I push it” still asks for a push.
"""

from __future__ import annotations

import re
from typing import Final

from maestro.agents.questions import Question
from maestro.coordinate.gate.command_lines import looks_like_shell
from maestro.coordinate.gate.folding import plain_lines
from maestro.coordinate.gate.tools import Text

_QUOTE: Final = r"(?:`+[^`\n]{1,80}`+|\"[^\"\n]{1,80}\"|“[^”\n]{1,80}”|„[^“”\n]{1,80}[“”]|«[^»\n]{1,80}»|(?<!\w)'[^'\n]{1,80}'(?!\w))"
_QUOTED: Final = re.compile(_QUOTE)
_CAPITALS: Final = re.compile(r"[A-Z]{4,}")
_SENTENCE: Final = re.compile(r"[^.?!\n]*(?:[.?!](?!\s|$)[^.?!\n]*)*(?:[.?!]+|\n|$)")
_CALLED: Final = r"(?:names?|naming|labels?|titles?|wordings?|phrasings?|phrases?|headings?|headlines?|captions?|terms?|tooltips?|spellings?|verbs?|nouns?|words?|synonyms?|abbreviations?|acronyms?|placeholders?|slogans?)"
_TEXT: Final = r"(?:slides?|chapters?|sections?|lessons?|paragraphs?|topics?|exercises?|examples?|figures?)"
_SHOWN: Final = r"(?:buttons?|menu (?:entry|item)s?|entry|labels?|titles?|tooltips?|headings?|links?|messages?|dialog(?:ue)?s?|(?:log )?lines?|columns?|toasts?|banners?|tabs?|pages?|placeholders?|texts?|prompts?|badges?|docs?|documentation|readme|comments?|docstrings?|captions?|subtitles?)"
_ASKS_FOR_A_NAME: Final = re.compile(
    rf"\b(?:which|what) (?:(?:of )?(?:the|these|those|two|variable|method|function|class|field|column|button|file|test|module|section|chapter) )*{_CALLED}\b"
    rf"|(?:^|\b(?:the|a|an|new|best|good|better|possible) ){_CALLED} (?:of|for|on|in) [^?]*[:?]|^(?:(?:\S+ ){{1,3}})?{_CALLED} ?:"
    r"|\b(?:be|is|are|being) (?:(?:it|this|that|they|better|best) )?(?:called|named|titled|labell?ed|worded|phrased|spell?ed|spelt|captioned)\b"
    rf"|\b(?:call|name|title|label|spell|word|phrase) (?:it|this|that|them|these|the \S+(?: \S+)?|an? \S+) (?={_QUOTE}|as\b)"
    rf"|\b(?:clearer|better|nicer|right|best|plainer|friendlier|shorter|usual|more \w+) {_CALLED}\b"
    r"|\breads? (?:better|best|more|nicer|clearer|well|easier)\b|\bmore readable\b|\beasier to read\b|\bclearer to (?:you|read\w*)\b"
    rf"|\bas (?:the |a |an |its |their )?(?:\w+ )?{_CALLED}(?= *(?:$|[?,:]))"
    r"|\b(?:how|what) (?:should|shall|would|do|can|could) (?:i|we|you) (?:word|phrase|title|name|call|label|spell|caption)\b"
    rf"|\bspell(?:ed)? out (?={_QUOTE})|\b(?:which|what) {_TEXT} (?:should|shall|would|comes?|goes?|do|does|is)\b"
    r"|\b(?:which|what) order (?:do you prefer|should|is)\b[^?]*\b(?:menu|columns?|fields?|buttons?|tabs?|chapters?|sections?|entries|items|options|arguments|parameters|imports)\b"
    rf"|\b(?:stands? for|abbreviat\w+|acronyms?)\b|\b(?:should|shall|does|would|could) (?:the|this|that|our|each|its) (?:\S+ ){{0,3}}?{_SHOWN} (?:say|read|use|be)\b",
    re.IGNORECASE,
)
# A text, a test or a piece of a program, and what it is about.
_ABOUT: Final = r"(?:explanations?|sections?|chapters?|paragraphs?|lessons?|exercises?|examples?|slides?|descriptions?|introductions?|tutorials?|discussion|documentation|docs|guides?|articles?|topics?|pages?|one|parsers?|lexers?|tokenizers?|grammars?|(?:ast )?nodes?|node types?|types?|(?:unit )?tests?|test cases?|fixtures?|mocks?|stubs?|regex(?:es)?|patterns?|tokens?|keywords?|highlight\w*|completions?|docstrings?|icons?|enums?|structs?|class(?:es)?|variants?|error messages?|warnings?)"
_NAMED: Final = rf"(?:{_QUOTE}|(?-i:[A-Z]{{4,}}(?: [A-Z]{{4,}})*))"  # SQL is written in capitals
_NAMED_OR_QUOTED: Final = re.compile(_NAMED)
_TOLD: Final = re.compile(
    rf"\b(?:{_ABOUT} (?:of|on|about|for|covering|on how to use) (?:the |an? |SQL |git |shell )*|(?:{_TEXT}|entry|entries|headings?|bullets?|question) )(?P<what>{_NAMED})",
    re.IGNORECASE,
)
_SUBJECT: Final = re.compile(
    rf"\b(?:should|shall|does|do|is|are|can|could|must|may) (?:the|an?|our|this|each|every) (?:\S+ )?{_ABOUT} (?:of|on|about|for|covering) (?:the |an? |SQL |git |shell )*{_NAMED}"
    rf"|(?:\b(?:readme|faq|handbook|manual|docs|documentation|glossary|tutorial|table of contents|course|book|guide|changelog)\b.*){_QUOTE} (?:(?:come|stand|appear|precede|follow|go) (?:before|after|first|last|ahead|under|above|below)|be (?:first|last|listed|mentioned))\b"
    rf"|\b(?:order|sequence|arrangement) of (?:the |these |our )*{_ABOUT}\b",
    re.IGNORECASE,
)
# “Change `next_token()`”: a function that is worked on, and not called.
_WORKED_ON: Final = re.compile(
    r"\b(?:chang|renam|refactor|adapt|inlin|extract|split|simplif|rewrit|document|annotat|implement|cover|test|extend|mov)\w*(?: the| a| an| our)?(?: (?:function|method|helper|test|signature of))? "
    r"(?P<what>`+(?:[\w.:]*\w\(\)|(?:get|set|next|peek|parse|read|is|has|make|build|create|new|on|handle|render|format|lex|consume|expect|advance|skip|eat|emit|to|from|with|test|check|validate|compute|find|load|init|scan)_\w+|(?:test|on|get|set|is|has|parse|next|peek)[A-Z]\w+)`+)",
    re.IGNORECASE,
)
_NAMES_ONLY: Final = re.compile(
    r"\s*`?[a-z][\w.]*[_.A-Z]\w+(?:\(\))?`?(?:(?:,| or|, or| vs\.?|/) ?`?[a-z][\w.]*[_.A-Z]\w+(?:\(\))?`?)+\s*\?\s*"
)
# `force_push`: what a name begins with that says what to do.
_COMMANDS: Final = re.compile(
    r"(?<![\w.])(?:git|force|hard|soft|do|run|exec|apply|push|pull|drop|delet|remov|wip|eras|purg|nuk|destroy|truncat|reset|deploy|releas|publish|send|merge|rebas|commit|revert|squash|amend|roll|ship|migrat|kill|stop|restart|reboot|shut|grant|revok|rotat|disabl|bypass|allow|expos|overwrit|clean|clear|flush|prod|live|all|everything|buy|pay|upgrad|install|uninstall|terminat|empty|discard|skip|no|yes|keep|abort|cancel|launch|promot|scal|mail|email|post|announc|upload|sudo|rm|db)",
    re.IGNORECASE,
)
_NO_NAME: Final = re.compile(
    r"(?<![a-z])(?:prod|production|staging|i|we|you|me|us|now|then|first|and|please)(?![a-z])|^(?:yes|ok|okay|no)\b|[;|&$<>]|--?\w+ |https?:",
    re.IGNORECASE,
)
# “Run `deploy`”: that is no name, whatever else the sentence asks.
_RUNS: Final = re.compile(
    r"\b(?:run|running|execut\w+|invok\w+|trigger\w*|appl(?:y|ying)|issu(?:e|ing)|start|do|perform)(?: the| this| a)?(?: command| script| task)?:? $",
    re.IGNORECASE,
)
# Somebody who does what is chosen does not ask for a name, or the names are not all that is asked for.
_DOES_IT: Final = re.compile(
    r"\b(?:i'll|i will|i do|i am going|i'm going|we'll|we will|do it|do that|does it|run|runs|execut\w+|carr(?:y|ied) out|takes? effect|happens?|should go|is final|right away|immediately|afterwards)\b",
    re.IGNORECASE,
)
_MARKS: Final = "`'\"“”„«» "
_MOST_WORDS: Final = 6
_LONGEST: Final = 400  # of a sentence that asks for no more than a name
_NAME: Final = "this"


def without_mentions(question: Question, texts: list[Text]) -> list[Text]:
    """The texts, with what is only named in them taken out."""
    if question.kind not in {"choice", "multi_choice", "free_text", "plan"}:
        return texts
    asks_for_a_name = question.kind != "plan" and _asks_for_a_name(plain_lines(question.text))
    found = []
    for text in texts:
        if text.kind != "prose":
            found.append(text)
        elif asks_for_a_name and (text.where.startswith("option") or text.where == "answer"):
            found.append(text._replace(text=_NAME) if _is_name(text.text) else text)
        else:
            found.append(text._replace(text=_SENTENCE.sub(_bare, text.text)))
    return found


def _asks_for_a_name(asked: str) -> bool:
    if len(asked) > 2 * _LONGEST:
        return False
    if _is_of_names(asked):
        return True
    if _DOES_IT.search(_QUOTED.sub(_NAME, asked)):
        return False
    sentences = [said[0] for said in _SENTENCE.finditer(asked) if said[0].strip()]
    asking = [said for said in sentences if said.rstrip().endswith("?")] or sentences[-1:]
    return bool(asking) and all(_ASKS_FOR_A_NAME.search(said.strip()) for said in asking)


def _is_of_names(asked: str) -> bool:
    """“`ring_push` or `rb_put`?”: names in the code, and none that says what to do."""
    return bool(_NAMES_ONLY.fullmatch(asked)) and not _COMMANDS.search(asked)


def _is_name(text: str) -> bool:
    plain = plain_lines(text).strip()
    return (
        len(plain.split()) <= _MOST_WORDS
        and not _NO_NAME.search(plain)
        and not looks_like_shell(plain.strip(_MARKS))
        and "\n" not in plain
    )


def _bare(said: re.Match[str]) -> str:
    sentence = said[0]
    if len(sentence) > _LONGEST or not (_QUOTED.search(sentence) or _CAPITALS.search(sentence)):
        return sentence
    if _ASKS_FOR_A_NAME.search(sentence.strip()) or _is_of_names(sentence):
        return _unquoted(sentence, names_only=True)
    if _SUBJECT.search(sentence):
        return _unquoted(sentence, names_only=False, what=_NAMED_OR_QUOTED)
    for pattern in (_TOLD, _WORKED_ON):
        sentence = pattern.sub(lambda told: told[0].replace(told["what"], _NAME), sentence)
    return sentence


def _unquoted(sentence: str, *, names_only: bool, what: re.Pattern[str] = _QUOTED) -> str:
    def taken_out(quoted: re.Match[str]) -> str:
        is_run = _RUNS.search(sentence[: quoted.start()])
        is_name = not names_only or _is_name(quoted[0].strip(_MARKS))
        return quoted[0] if is_run or not is_name else _NAME

    return what.sub(taken_out, sentence)
