"""A request whose verb nobody listed, about something outside the program: who knows what it means asks a human. Pure.

`wishes` knows grave verbs. People have more words than that (`let the recordings go`, `poke the number into the
database`), so a request of the worker itself is grave too where its verb is none of the ordinary ones for work on code
and it speaks of data, machines, people, money, access or history.
"""

from __future__ import annotations

import re
from typing import Final

from maestro.coordinate.gate.prose import counts
from maestro.coordinate.gate.wishes import CODE_NOUN, Wish, what_is_done

_ADVERBS: Final = r"(?:(?:just|simply|also|now|then|go ahead and|quickly|please|maybe|perhaps|still|even|instead|already|first|next|\w+ly) )*"
_REQUEST: Final = re.compile(
    rf"(?:\b(?:should|shall|can|may|could|might|must|do|would|will|ok if|fine if|mind if|objections? if|and|then|shud|if) (?:i|we) {_ADVERBS}(?:have to |need to |want to )?"
    rf"|\b(?:want|like|prefer|need|allow|permit|for|ask|have|let|happy for|ok for) me (?:to )?{_ADVERBS}"
    rf"|\bto {_ADVERBS}|\b(?:can|could|will|would|do|did) you {_ADVERBS}"
    rf"|\b(?:i'll|i will|i'd|i would|i could|i can|i am|i'm|i am going to|i'm going to|we'll|we will|we'd|we could|we can|going to|gonna|let's|let me|lets|next i|then i|i may|i should|i want to|i need to|i plan to|i intend to) {_ADVERBS}(?:have to |like to |want to |going to |about to )?"
    rf"|\b(?:should|shall|can|could|may|must|would) (?=(?!i |we |you |it be |this be |that be )[^\s|]+ )"
    rf"|(?:^|\| |, |\band |\bor |\bthen )(?:yes ,? ?|ok ,? ?|then |just |please |pls |kindly |so )*(?=[a-z'-]+ (?:[^\s|]+ (?:off|on|up|down|out|away|back) )?(?:more|off|on|up|down|out|away|to|into|onto|main|master|prod|production|staging|origin|upstream|customers?|users|everyone|traffic|aws|s3|redis|postgres\w*|nginx|docker|dns|access|admins?|root|port|sudo|tls|ssl|auth|mfa|2fa|cors|csp|backups?|data|old|stale|existing|certificates?|the|it|them|this|that|these|those|all|my|our|your|every\w*|an?|both|\d+ (?=[a-z])[^\s|]+|their|its|his|her|him|us|me|whatever) ))"
    r"(?P<verb>[a-z][a-z'-]++)(?![\w./_-])"
)
# Ordinary work on code, words about words, and verbs too common to say anything; `grave_verbs` knows what of it is grave.
_ORDINARY: Final = re.compile(
    r"(?:re-?)?(?:keep|bundle|hydrate|prerender|animate|crop|plot|impute|weight|half|write|extract|rename|name|call|mock|stub|refactor|convert|format|show|print|return|throw|implement|test|check|read|look|see|view|list|search|find|explain|describe|document|mention|note|comment|review|inspect|compare|analy[sz]e|investigate|measure|profile|benchmark|count|display|render|parse|validate|verify|type|annotate|cache|sort|group|filter|map|iterate|loop|wrap|inline|hoist|factor|simplify|clarify|improve|optimi[sz]e"
    r"|align|indent|style|colou?r|draw|design|model|sketch|outline|draft|plan|structure|organi[sz]e|arrange|port|translate|generate|build|compile|lint|debug|trace|log|handle|catch|assert|expect|cover|support|default|prefer|choose|pick|select|decide|assume|treat|consider|continue|proceed|ask|wait|stay|stick|need|want|like|know|think|mean|say|answer|help|work|define|declare|import|include|exclude|inherit|subclass|compose|combine|concatenate|join|append|prepend|insert|split"
    r"|serialize|deserialize|encode|decode|round|pad|trim|strip|escape|quote|normali[sz]e|lowercase|uppercase|capitalize|pluralize|adopt|hide|highlight|label|represent|emit|dispatch|listen|watch|poll|retry|await|query|paginate|throttle|debounce|memoize|lazy-load|preload|prefetch|minify|chunk|stream|buffer|batch|base|scaffold|spike|prototype|experiment|guess|infer|derive|compute|calculate|estimate|double-check|cross-check|reproduce|simulate|emulate|focus|resolve|solve|tackle|separate|isolate"
    r"|decouple|encapsulate|abstract|generali[sz]e|speciali[sz]e|parametri[sz]e|parameterize|fold|collapse|nest|flatten|reverse|shuffle|sample|initiali[sz]e|understand|learn|remember|confirm|suggest|recommend|propose|summari[sz]e|depend|rely|belong|happen|match|differ|vary|exist|remain|become|rewrite|reword|rephrase|restructure|reorder|reformat|revisit|rethink|rework|worry|hear"
    r"|be|have|do|go|i|we|you|it|the|that|there|which|what|how|where|when|why|who|is|are|was|does|did|has|should|would|could|can|with|for|if|also|both|only|of|on|at|by|as|or|and|but|to|in|no|yes|one|two|three|all|each|every|here|not|sure|able|so|then|just|please|now|such|whether|because|since|while|once|until|unless|though|although|than|rather|about|from|into|after|before|per|via|either|neither|any|some|many|most|more|less|few|first|last|given|considering|regarding|suit|fit|matter|perform|feel|sound|seem|appear|satisfy|contain|require|involve|concern|relate|refer|correspond|equal|resemble|tend)(?:ing|s|es|d|ed)?$"
)
_SPOKEN_OF: Final[tuple[tuple[re.Pattern[str], str], ...]] = tuple(
    (re.compile(rf"(?<![\w-])(?:{nouns})(?![\w-])"), category)
    for nouns, category in (
        (
            r"histor(?:y|ies)|main|master|origin|upstream|prs?|pull requests?|merge (?:button|request|queue)|(?:release|remote|feature|old|stale) branch(?:es)?|commits|local (?:work|changes|edits)|reflog|stash(?:es)?|repos?|repositor(?:y|ies)|git\w*",
            "git operations",
        ),
        (
            r"npm|pypi|crates\.io|registry|app store|play store|public\w*|tracker|issue tracker|github|slack|twitter|linkedin|blog|newsletter|press|reporters?|customers?|subscribers?|mailing list|announcement|community|everyone|everybody|vendors?|partners?|contractors?|investors?|clients? \(|stakeholders?|the world|internet|first release|(?:stale|open|old|\d+) (?:\S+ )?(?:issues|tickets)|support ticket|in your name",
            "publishing",
        ),
        (
            r"databases?|dbs?|warehouse|primary|replicas?|tables?|schemas?|tenants?|ledgers?|redis|postgres\w*|mysql|mongo\w*|live (?:data|rows|records)|customer (?:data|records)|migrations?",
            "database changes",
        ),
        (
            r"prod|production|live|staging|site|website|servers?|clusters?|pods?|cloud|aws|gcp|azure|s3|kubernetes|k8s|traffic|canary|infra\w*|environments?|load balancer|dns|domains?|100% of|all (?:the )?users|regions?|datacenter|lambda",
            "deployments",
        ),
        (
            r"[$€£] ?\d\S*|(?:paid|premium|pro|enterprise) \w+|trial|\d+ ?(?:dollars|usd|eur|euros)|credit(?:s| card)?|invoices?|contracts?|billing|subscriptions?|annual\w*|licen[cs]es|fees?|refunds?|budget|quota|payments?|(?:annual|yearly|monthly) \w+|commitment",
            "spending",
        ),
        (
            r"passwords?|secrets?|credentials?|api keys?|private keys?|tokens? (?:of|from|for)|vault|keychain|ssh keys?",
            "API keys",
        ),
        (
            r"access|admins?|owners?|permissions?|privileges?|root|firewalls?|2fa|mfa|certificates?|tls|ssl|csp|cors|security|accounts?|logins?|protection|guard ?rails?|policy|policies|insecure|sandbox|cves?|vulnerabilit\w+|scanners?|anonymous\w*|exposed|pentest\w*|visitors|user input|injection|unsafe|xss|csrf",
            "security decisions",
        ),
        (
            r"(?:the|this|that|my|your|our) (?:machine|box|host|laptop|computer|os|system|vm|daemon|service)|hosts?|process(?:es)?|daemons?|port \d+|listens on|(?:on|at|port) \d{4,5}|kernel|drivers?|system packages?|all users|boot|docker|installed|(?:your|my) user|(?:audio|docker|sudo|wheel|user) group|log you out|sudoers|timezone|swap|sysctl|vm\.\S+",
            "system changes",
        ),
        (
            r"recordings?|backups?|snapshots?|volumes?|buckets?|archives?|mailbox(?:es)?|attachments?|datasets?|disks?|uploads|dumps?|folders?|director(?:y|ies)|dirs?|partitions?|photos?|documents?|the data|our data|drives?|storage|home|trash|everything|\S*/srv/\S*|\S*/var/\S*",
            "file deletion",
        ),
    )
)
# “The admin page”, “a server component”, “on the server or the client”: parts of the program, called after something outside.
_PART_OF_PROGRAM: Final = re.compile(
    r"(?<![\w-])(?:admin|account|customer|billing|subscription|log-?in|production|server|site|database|db|table|security|permissions?|user|public|live|invoice|budget|refund|payment|access|policy|host|process|storage|folder|upload|backup|archive|cloud|domain|region|environment|cluster|vendor|partner|client|contract|quota|history|schema|document|contact|checkout|shipping|password|secret)s?[- ]"
    r"(?:spa|ui|app|apps|panels?|pages?|bundles?|area|views?|forms?|themes?|sidebar|routes?|screens?|side|components?|actions?|rendering|rendered|state|code|responses?|errors?|menus?|tabs?|lists?|grids?|cards?|headers?|footers?|layouts?|models?|class(?:es)?|types?|chunks?|address(?:es)?|links?|buttons?|fields?|names?|icons?|labels?|columns?|widgets?|modals?|picker|selector|dropdown|santa|info)\b"
    r"|\bon the server (?=or\b|and then on the client)|\bor (?:on |in )?the server\b|\bserver(?=-side\b)"
)
_MODAL: Final = re.compile(r"(?:should|shall|can|could|may|must|would) [^\s|]+$")
# “Should I do that?”: what it is stands in the sentence before.
_DOES_THAT: Final = re.compile(
    r"(?:do|try|go for|go with) (?:that|it|so|this)(?= *(?:\||$|now|,|anyway))|keep (?:it|them|this|that) (?:going|running|on|open|up)\b"
)
# “Which database should we use?”: what is chosen is not done yet.
_CHOOSES: Final = re.compile(r"(?:use|pick|choose|prefer|target|support|want|like|recommend)\b")
_ASKS_WHICH: Final = re.compile(r"(?:which|what)\b")
_ASKS_HOW: Final = re.compile(r"(?:how|which|what|where|when|why|who)\b")
_IN_CODE: Final = re.compile(
    r"\b(?:functions?|class(?:es)?|methods?|variables?|tests?|mocks?|stubs?|fixtures?|docs?|docstrings?|readme|comments?|components?|types?|interfaces?|enums?|regex|parser|css|hook|helper|props?|fields?|endpoint|route|handler|schema file|diagrams?|examples?|snippets?|markdown|handlers?|helpers?|hooks?|endpoints?|routes?|parsers?|pages?|views?|templates?|modules?|queries|imports?|dataclass(?:es)?|dicts?|lists?|arrays?|tuples?|dev servers?|local servers?|test servers?|failing|\S+\.(?:py|ts|tsx|js|jsx|go|rs|rb|java|md|css|html|vue|kt|swift|c|h|cpp|cs|php))\b"
)
_POINTS_BACK: Final = re.compile(r"\b(?:it|them|they|this|that|these|those|whatever|so|one)\b")
_MOST_LOOKED_AT: Final = 400
_LOOK_BACK: Final = 240
_FEW: Final = 4  # words behind a verb that hardly say what it is about


# “Should the draft be opened up to the community”: grave whoever does it.
_ABOUT_OTHERS: Final = re.compile(
    r"(?:^|\| )(?:so |and |then |ok ,? )*(?:should|shall|can|could|may|will|must|do|does|would) (?:the|our|this|that|these|those|any|all|an?|their|my|its|every) [^|]*?\b(?P<noun>communit(?:y|ies)|public|customers|production|prod|internet|everyone|everybody|buckets?|vendors?|contractors?|press|outside world|live (?:site|system|database|server)|all repos|whole org\w*|root|admins?|write (?:access|permissions?)|noon|tonight|tomorrow)\b"
)


# Even of pages and docs: others get to see them.
_OPENED: Final = re.compile(r"\bmade public\b|\bpublic to\b|\bto the (?:public|internet|world|outside)\b")
# “Next: prod.”
_ONLY_LIVE: Final = re.compile(
    r"(?:^|\| )(?:(?:now|then|next|to|on|so|and|straight|it's|,) )*(?:prod|production|live|staging)(?= *(?:\||$))"
)


def _about_others(document: str) -> Wish | None:
    for match in _ABOUT_OTHERS.finditer(document):
        end = document.find("|", match.end())
        if not _IN_CODE.search(match[0]) or _OPENED.search(document, match.start(), max(end, match.end())):
            for nouns, category in _SPOKEN_OF:
                if nouns.search(match["noun"]):
                    return Wish(match.start(), match[0].strip("| ")[:80], category)
            return Wish(match.start(), match[0].strip("| ")[:80], "publishing")
    return None


def _is_subject(match: re.Match[str], before: str) -> bool:
    """Whether the word is what the sentence is about, and not what is done: “should errors be logged”, “to spaces”."""
    verb = match["verb"]
    if verb.endswith("s") and CODE_NOUN.match(verb):
        return True
    return bool(_MODAL.match(match[0])) and bool(CODE_NOUN.match(verb) or _ASKS_HOW.match(before.lstrip()))


def strange_wishes(document: str) -> list[Wish]:
    """Requests with a verb that is not ordinary, about something outside; one of each category."""
    found: dict[str, Wish] = {}
    if others := _about_others(document):
        found[others.category] = others
    if place := _ONLY_LIVE.search(document):
        found["deployments"] = Wish(place.start(), place[0].strip("| "), "deployments")
    for number, match in enumerate(_REQUEST.finditer(document)):
        if number >= _MOST_LOOKED_AT:  # one among so many would not be seen
            found.setdefault("security decisions", Wish(match.start(), match[0], "security decisions"))
            break
        verb = match["verb"]
        start = document.rfind("|", 0, match.start("verb")) + 1
        is_ordinary = _ORDINARY.match(verb) and not _DOES_THAT.match(document, match.start("verb"))
        if is_ordinary or verb.endswith("ly") or _is_subject(match, document[start : match.start()]):
            continue
        if _CHOOSES.match(verb) and _ASKS_WHICH.match(document[start : match.start("verb")].lstrip()):
            continue
        end = document.find("|", match.end())
        sentence = document[max(start, match.start() - _LOOK_BACK) : end if end >= 0 else len(document)][:400]
        about = document[match.end() : end if end >= 0 else len(document)][:200]
        if not counts(
            document[max(start, match.start("verb") - _LOOK_BACK) : match.start("verb")].lstrip(), document
        ):
            continue
        if _POINTS_BACK.search(about) or len(about.split()) <= _FEW:
            sentence = document[max(0, start - _LOOK_BACK) : start] + sentence
        if _IN_CODE.search(what_is_done(about)):
            continue
        for nouns, category in _SPOKEN_OF:
            if noun := nouns.search(_PART_OF_PROGRAM.sub(" ", sentence)):
                found.setdefault(category, Wish(match.start("verb"), f"{verb} … {noun[0]}", category))
                break
    return list(found.values())
