"""What the patterns of intents are made of: articles, the end of a noun, verbs of making, words for faults. Data, pure."""

from __future__ import annotations

import re
from typing import Final, NamedTuple


class Pattern(NamedTuple):
    chain: str
    when: re.Pattern[str]
    unless: re.Pattern[str] | None = None


DET: Final = r"(?:(?:an?|the|our|my|this|that|these|those|some|all|any|new|another|more|full|whole|short|detailed|proper|good|complete|your|its|current|last|latest|existing|missing|first|own|project's|project)\s+)*"
END: Final = (
    r"(?=$|[,.:;!?()]|\s+(?:for|of|to|on|how|that|which|and|from|with|in|into|before|about|then|first|by|so|where|"
    r"against|as|at|based|using|around|here|now|covering|since|after|phase|is|are)\b)"
)
PART: Final = (
    r"(?:page|view|screen|tab|button|menu|form|dialog|modal|panel|widget|column|field|list|table|endpoint|api|service|"
    r"module|component|command|function|class|script|toolbar|section|link|icon|label|handler|editor|model|app|server|"
    r"job|tool|queue|index|flag|mode|logs?|logging|output|build|symbols)"
)
MAKE: Final = r"(?:make|create|write|draft|prepare|produce|generate|build|give (?:me|us)|do|develop|set up|add|need|want|(?:we|i) (?:need|want))"
BUILD: Final = r"(?:implement|build|execute|develop|code|construct|realize|make|ship)"
THEN: Final = r"(?:,|;|\bthen\b|\band\b|\bafterwards\b|→|->)"
# What a program does to people who did not ask for it, said of the program.
WRONGLY: Final = r"(?:ignores|drops|skips|swallows|truncates|mangles|duplicates|doubles|overwrites|forgets|refuses|misses|silently \w+s)"
SYMPTOM: Final = (
    r"(?:\b(?:crash\w*|errors?|exceptions?|\w+error|\w+exception|traceback|stack ?trace|fail(?:s|ed|ing|ures?)?|broken|breaks|broke|"
    r"bugs?|buggy|hangs?|hanging|hung|freez\w+|frozen|stuck|leak\w*|slow(?:er|ly)?|time[sd]? ?out|timeouts?|wrong(?:ly)?|"
    r"incorrect(?:ly)?|cannot|can't|cant|no longer|stopped|not working|nothing happens|does nothing|"
    r"(?:does|do|did|is|are|was|were|will|would)(?:n't|nt| not) (?:\w+ )?(?:work|load|render|start|show|save|open|update|respond|appear|"
    r"compile|build|run|send|receive|match|display|sort|close|connect|fire|trigger|persist|refresh|return|get|go|fit|scroll|"
    r"redirect|sync|log|align|centered|clickable|visible|correct|possible)\w*|"
    r"(?:returns?|gives?|shows?|answers?) (?:an? |the )?(?:null|none|nil|undefined|nan|empty|blank|[45]\d\d)|(?:http |a |an )?(?:500|502|503|504|404|403)s?|"
    r"throws?|segfault\w*|panics?|deadlocks?|race condition|regression|flaky|corrupt\w*|garbled|exits? with|oom|"
    rf"out of memory|overflow\w*|disappear\w*|vanish\w*|loses|lost|keeps? \w+ing|flicker\w*|unresponsive|{WRONGLY}|misaligned|overlaps?|"
    r"(?:issues?|problems?|troubles?) with|complain\w*|is (?:down|red|unusable|gone|blank)|are (?:down|gone)|arrives? twice|logged out|at random|randomly|twice instead|infinite loop|blank (?:page|screen)|"
    r"stürzt|absturz\w*|abgestürzt|fehler\w*|kaputt|funktioniert nicht|geht nicht|hängt|"
    r"falla|fallos?|roto|no funciona|erreurs?|plante|bogue|ne marche|ne fonctionne|ошибк\w*|падает|не работает)\b|"
    r"报错|崩溃|错误|失败|异常|出错|无法|不工作|エラー|落ちる|動かない)"
)


def pattern(chain: str, when: str, unless: str = "") -> Pattern:
    return Pattern(chain, re.compile(when), re.compile(unless) if unless else None)
