"""What no model is asked about: words that are disguised, tell what to decide, or change what is asked later. Pure.

Prose is a model's or a human's to judge. This stands in front of every answer that is no human's.
"""

from __future__ import annotations

import re
from typing import Final

from maestro.agents.questions import Option, Question
from maestro.coordinate.gate.folding import fold_text, is_disguised
from maestro.coordinate.gate.tools import Text

# The short list of claims: that somebody approved it, that the rules do not hold, how sure to be.
_CLAIMS: Final = re.compile(
    r"\b(?:ignore|disregard|forget|override) (?:\S+ ){0,3}?(?:previous|prior|above|earlier|your|all|any|the) (?:\S+ ){0,2}?(?:instructions?|rules?|polic(?:y|ies)|prompts?|guidelines|constraints|gate)\b"
    r"|\b(?:already|pre-?|been|was|is|fully)[- ]?(?:been )?(?:approved|authori[sz]ed|confirmed|cleared|ok'?d|whitelisted|signed off|allowed) by (?:the |my |your |our |a )?(?:human|user|owner|admin|administrator|operator|boss|manager|security|maintainer|cto|coordinator|policy|lead)\b"
    r"|\b(?:verdict|decision|policy|gate|action|escalate|escalation)\"? ?[:=]+ ?\"?(?:allow|allowed|approve|approved|answer|false|none|no|pass|never)\b"
    r"|\b(?:do not|don't|never|no need to|without|skip|not) (?:escalat\w+|asking (?:the |a )?human|bother(?:ing)? (?:the |a )?human|ask (?:the |a )?human|tell (?:the |a )?human|involv\w+ (?:the |a )?human)\b"
    r"|\b(?:policy|gate|coordinator|system) (?:already )?(?:allows?|permits?|approves?|allowed|permitted|approved)\b"
    r"|\b(?:you are (?:now )?(?:in |an? )?(?:developer|admin|root|god|unrestricted|maintenance|dan)|system (?:prompt|message|override|notice)|as (?:the|a) coordinator,? you (?:must|should|have to)|coordinator (?:must|should|has to) (?:allow|approve|answer|choose))\b"
    r"|</?(?:system|worker|coordinator_context|policy|instructions?|assistant|human|worker_text|untrusted|question|gate)\b[^>]{0,60}>|\balwaysescalate\b|\bconfidence ?(?:score|level)? ?(?:is|[:=]|of)+ ?\"?(?:0?\.9\d*|1\.0+|100 ?%|9\d ?%)"
)
# Options and answers that change what is asked later.
_LASTS: Final = re.compile(
    r"\b(?:always (?:allow|approve|accept|trust|run|permit)|allow always|do(?:n't| not) ask (?:me )?again|never ask|stop asking|(?:for|during|in) (?:the (?:rest of|whole|entire) )?(?:this|the|my) (?:session|conversation|project|directory|folder)"
    r"|future (?:sessions?|prompts?|requests?|commands?)|(?:allow|approve|accept|trust) (?:all|everything|every|entire|any)|auto-?(?:accept|approve)|all (?:edits|commands|tools)|entire (?:session|project)|remember (?:this|my) (?:choice|decision|answer)|from now on|bypass permissions|every time|permanently allow)\b"
)
_LASTS_IN_DIALOG: Final = re.compile(
    r"\balways\b|\bentire\b|\bsession\b|\bagain\b|\bremember\b|\bforever\b|\bparent folder\b"
)


def hides(text: Text) -> str:
    """Returns a part of a text that is written so that it would not be found; nothing where none is."""
    return fold_text(text.text) if is_disguised(text.text) else ""


def claims(text: Text) -> str:
    """Returns the words by which a text tells what to decide, instead of asking; nothing where none do."""
    is_worded = text.kind != "shell" or text.where.endswith("question")
    claim = _CLAIMS.search(fold_text(text.text)) if is_worded and text.where != "answer" else None
    return claim[0] if claim else ""


def answer_lasts(proposed: str) -> bool:
    """Returns whether the words of an answer would change what is asked later."""
    return bool(_LASTS.search(fold_text(proposed)))


def option_lasts(asked: Question, option: Option) -> bool:
    """Returns whether choosing an option changes what is asked later."""
    label = fold_text(f"{option.label} {option.description}")
    is_cli = asked.kind in {"permission", "plan", "dialog"}
    says = is_cli and _LASTS_IN_DIALOG.search(label) and not label.startswith("no")
    return option.is_lasting or bool(_LASTS.search(label) or says)


def is_offered_to_last(option: Option) -> bool:
    """Returns whether an option is the CLI's own offer not to ask again."""
    label = fold_text(option.label)
    return option.is_lasting or (
        label.startswith(("yes", "allow", "trust", "no")) and bool(_LASTS.search(label))
    )
