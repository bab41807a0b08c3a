"""What people write, and the chain that they mean: ordered, the first that matches holds. Data, pure.

The text has passed `wording.asked`. What decides is the verb in front and the noun that it is about, not a word somewhere
in the sentence: “add a button to the plan page” is no plan. So a noun counts only where nothing is behind it that makes
it a part of another noun (`END`), and the verbs of making and mending come before what is merely mentioned.
"""

from __future__ import annotations

import re
from typing import Final

from maestro.chains.routing.phrases import DET, END, MAKE, PART, SYMPTOM, WRONGLY, pattern
from maestro.chains.routing.sequences import SEQUENCES

# A fault that is not named: there is nothing yet that could be looked for.
_NAMELESS = (
    r"^\w+ (?:the |this |that |these |a |my |some )?(?:bugs?|issues?|problems?|errors?|failures?|crash(?:es)?)$|"
    r"^(?:something|it|this|that|everything|nothing|things?)(?:'s)? (?:\w+ )?\w+$"
)

# Words that ask for whatever comes next; the whole text.
LADDER: Final = re.compile(
    r"(?:continue|continue (?:with|where|what|from|working|on|the (?:work|project|next|current)|phase)\b.*|next|"
    r"next (?:step|task|phase|one|thing|up)|go on|carry on|keep (?:going|working)|proceed|resume|move on|onward|"
    r"(?:and )?what(?:'s| is|s) next|what(?:'s| is) (?:the|our|my) next (?:step|task|thing)|what (?:should|do|can|shall) (?:we|i|you) do(?: next| now)?|what now|and now|now what|"
    r"what comes next|(?:do|run|start|take|go to|go on with|begin|move (?:on )?to) the next (?:step|thing|task|phase)|"
    r"pick up where .*|what (?:should|can|do|shall) (?:we|i|you) work on(?: next| now)?|phase \d+|(?:finish|complete|close|wrap up|advance)(?: up)? phase \d+|(?:go|carry|keep) on with (?:it|the (?:work|project)|what .*|phase \d+)|"
    r"weiter|weitermachen|mach(?:e)? weiter|(?:der )?nächste[rn]? schritt|wie geht es weiter|was nun|was jetzt|"
    r"sigue|siguiente|continúa|continua|seguir|continuer|continue[zr]|suivant|on continue|"
    r"继续|下一步|接下来.*|接着.*|続けて|次へ?|продолжай|дальше)"
)

# A label in front, as in titles of issues and commits, counts where what follows it says nothing by itself.
_LABEL = r"(?:\([^)]*\))?!?(?:\]\s*[:-]?|:)\s*(?=\S)"
LABELS: Final = (
    pattern(
        "analyze-plan-execute",
        rf"^\[?(?:new[ -])?(?:feature(?: request)?|feat|enhancement|improvement|proposal|perf){_LABEL}",
    ),
    pattern("debug", rf"^\[?(?:bug|bugfix|fix|hotfix|regression|defect|crash){_LABEL}"),
    pattern("refactor", rf"^\[?(?:refactor|refactoring|cleanup){_LABEL}"),
    pattern("quick", rf"^\[?(?:chore|style|nit|typo){_LABEL}"),
)

# Sentences that begin with what they are about: the first word is no verb there, though it may look like one.
SUBJECT: Final = re.compile(
    r"(?!(?:what|how|where|who|why|which|when|is|are|was|do|does|did|there|it|this|that|i|we|you|they|should|can|could|will|would|the|our|my|all)\b)"
    r"(?!\w+ (?:an?|the|our|my|all|this|that|these|those|some|new)\b)"
    r"(?:(?!(?:that|which|where|when|to|for|so|if|with|who|whose|and|as|in|how|whether|why|what|then)\b)[\w./-]+ ){1,4}"
    r"(?:is|are|was|were|fails?|failed|crash(?:es|ed)|breaks|broke|hangs|freezes|does(?:n't| not)|do(?:n't| not)|did(?:n't| not)|keeps|throws|"
    rf"returns|stops|stopped|takes|shows|gives|loses|has no|have no|lacks|leaves|panics|leaks|never|always|no longer|{WRONGLY})\b"
)
STATEMENTS: Final = (
    pattern(
        "sync",
        r"\b(?:docs?|documentation|readme|comments)\b.*\b(?:out of date|outdated|stale|in line with|match(?:es)?|in sync|up to date|no longer (?:true|match))\b|\b(?:out of date|outdated|stale|obsolete)\b.*\b(?:docs?|documentation|readme|comments)\b",
        r"^(?:add|build|implement)\b.*\b(?:warning|banner|badge)\b",
    ),
    pattern(
        "test-gen",
        r"\bcover(?:age)?\b.*\b(?:test|improve|increase|raise|better|low|poor|awful|bad|more|up|reach)|\b(?:test|improve|increase|raise|better|more|low|poor)\b.*\bcoverage\b|^cover\b.*\btests?\b|^test-?gen\b|\b(?:lacks?|without|has no|have no|needs?) (?:any )?(?:unit )?tests\b",
        r"^(?:show|display|add a|build a|create a)\b",
    ),
)

# What the verb in front and its noun say. Nouns of ours first: “create an issue” is not “create a page”.
NAMED_THINGS: Final = (
    # issues without an id
    pattern(
        "issue-discover",
        r"^(?:discover|find|search|scan|look|hunt|check|go|comb|sweep|inspect|audit)\b.*\b(?:issues|problems|bugs|vulnerabilities|weaknesses|code smells|smells)\b",
        r"\b(?:diff|my changes|the changes|commits?|find out|milestone)\b|\bpage\b",
    ),
    pattern(
        "issue-create",
        rf"^(?:create|open|file|report|log|raise|submit|add|make|write|record|new)\b\s+{DET}(?:\w+ )?(?:issue|ticket|bug report|bug)s?{END}",
        r"^(?:open|make|add) (?:the|all)",
    ),
    pattern("issue-create", r"^(?:new )?(?:issue|bug report|ticket)\s*:"),
    # conventions
    pattern(
        "spec-setup",
        r"^(?:set ?up|init(?:iali[sz]e)?|bootstrap|derive|extract|detect|infer|collect|write down|document|generate)\b.*\b(?:conventions?|specs(?: folder)?|(?:coding |code )?(?:standards?|rules|guidelines|style ?guide))\b",
        rf"\b(?:rate|specs?) (?:for|of) (?:the|a) (?:new|\w+ (?:service|feature))|(?:rules?|specs?|conventions?) {PART}|\brules (?:engine|for|of)\b",
    ),
    pattern(
        "spec-add",
        rf"^(?:add|record|note|write down|define|introduce|new|make|save|put)\b\s*{DET}(?:\w+[ -]){{0,2}}(?:convention|rule|guideline|coding standard|standard|code style)s?(?:$|[:,]|\s+(?:that|to the|about|for (?:naming|code|coding|tests|commits|imports|errors)|on)\b)",
        r"\brules? (?:engine|page|table)|\b(?:firewall|eslint|lint|routing|validation|business|discount)\b",
    ),
    pattern(
        "spec-add",
        r"^(?:from now on|henceforth|we (?:always|never)|always (?:use|write|name|put)|never (?:use|write|commit|import))\b",
    ),
    pattern(
        "spec-load",
        r"^(?:show|load|list|print|display|tell me|get|read|give me|look up|what are|which|what)\b.*\b(?:conventions?|specs|rules|guidelines|coding standards?|code style|style ?guide)\b",
        rf"\b(?:rules|specs|conventions) (?:on|in|at) the|\brules? {PART}|\b(?:firewall|discount|business)\b",
    ),
    # memory, lessons, looking back
    pattern(
        "memory-capture",
        r"^(?:remember|memori[sz]e|don't forget|do not forget|keep in mind|take note|take a note|make a note|note that|note down|merke? dir|recuerda|retiens|记住)",
        r"^remember me\b|\bremember(?: the)? (?:last|users?|user's)\b",
    ),
    pattern(
        "memory-capture",
        r"\b(?:save|store|keep|write|put|capture|add|record)\b.*\b(?:to|in|into) (?:the )?(?:project )?memory\b|^(?:capture|update) (?:the )?memory\b",
    ),
    pattern(
        "retrospective",
        r"\bretro(?:spective)?\b|\bpost-?mortem\b|\bwent (?:well|wrong|badly)\b|^look(?:ing)? back\b|\blessons? of the (?:phase|milestone)\b",
        rf"^(?:add|build|create|implement|fix)\b|\bretro(?:spective)? {PART}",
    ),
    pattern(
        "learn",
        r"^(?:learn|study)\b|^(?:what|which) (?:can|could|did|do|have|should|lessons) .*\blearn(?:ed|t)?\b|\blessons (?:learned|learnt)\b|^(?:extract|record|capture|write down|note)\b.*\b(?:lessons?|learnings|patterns)\b",
    ),
    # the code base's description, documents
    pattern(
        "codebase-rebuild",
        r"^(?:re-?build|re-?generate|re-?create|redo|build|generate|create)\b.*\bcode ?-?base\b.*",
        r"\b(?:refresh|update)\b",
    ),
    pattern(
        "codebase-rebuild",
        r"^(?:map|document) (?:the |our |this )?(?:whole |entire )?code ?-?base\b|^(?:document|describe) the (?:whole|entire) (?:code|repo|project)\b",
    ),
    pattern("codebase-refresh", r"^(?:refresh|update|re-?scan|bring)\b.*\bcode ?-?base\b"),
    pattern(
        "sync",
        r"^sync(?:hroni[sz]e)?$|^sync(?:hroni[sz]e)?\b.*\b(?:docs?|documentation|readme|code|comments)\b",
    ),
    *STATEMENTS,
    # tests
    pattern(
        "integration-test",
        rf"^(?:(?:{MAKE}|run|perform|execute|start|implement|extend|more)\b\s*)?{DET}(?:[\w-]+ ){{0,3}}?(?:integration|e2e|end[- ]to[- ]end|system)[- ]tests?(?:ing)?{END}",
        rf"{SYMPTOM}|^(?:fix|repair|debug|refactor|clean|speed|remove|rename|update|change|move|cover\w*|improve|enhance|increase)\b",
    ),
    pattern(
        "test-gen",
        rf"^(?:write|add|generate|create|need|we need|i need|make|produce|missing|implement|increase|extend|more|schreibe?|escribe|écris|ajoute|füge)\b\s*(?:[\w'-]+ ){{0,4}}?(?:unit[- ]|regression[- ]|missing |more )?(?:tests|test cases|unittests|a test|unit test){END}",
    ),
    pattern(
        "test-gen",
        r"^(?:schreibe?|generier\w*|escribe|genera|écris|génère)\b.*\btests?\b|(?:编写|写|生成|添加)(?:单元)?测试|测试用例",
    ),
    pattern(
        "test",
        rf"^(?:re-?)?run\b\s*{DET}(?:[\w-]+ ){{0,2}}(?:tests?|test suite|suite|specs){END}|^do(?:es)? (?:all |the |our )*tests? (?:still )?pass|^are (?:all |the |our )*tests? (?:passing|green)|^(?:uat|acceptance test(?:s|ing)?)\b|^(?:führe|starte|lass)\b.*\btests?\b|^(?:lance|exécute|ejecuta|corre)\b.*\btests?\b|运行测试|跑测试",
    ),
    pattern(
        "test",
        r"^test (?:it|this|everything|all|the|our|my|phase|whether|if|that|whole)\b|^test$|^(?:smoke|manual(?:ly)?) test\b",
        rf"^test (?:the|our|my)? ?\w* ?{PART} (?:is|does)",
    ),
    # papers
    pattern(
        "roadmap",
        rf"^(?:{MAKE}|update|revise|extend|plan|outline|lay out|sketch|define|propose)\b\s*{DET}(?:[\w-]+ ){{0,2}}roadmap{END}|^roadmap{END}|^we need a roadmap\b",
    ),
    pattern(
        "roadmap",
        r"^(?:break|split|divide|cut|structure|organi[sz]e)\b.*\b(?:into|in) (?:\w+ )?(?:phases|milestones)\b",
    ),
    pattern(
        "spec-generate",
        rf"^(?:{MAKE}|work out|elaborate)\b\s*{DET}(?:[\w-]+ ){{0,3}}?(?:spec|specs|specification|specifications|prd|requirements(?: document)?|product brief|rfc|functional spec){END}|^spec(?:ify)? (?:out )?(?:the|a|an|our)\b|^(?:prd|spec|specification) (?:for|of)\b|^schreib\w* (?:eine? )?spezifikation",
        r"\b(?:open ?api|swagger|json|rspec|jest|api) specs?\b|^add (?:\w+ )?specs\b",
    ),
    pattern(
        "ui-design",
        rf"^(?:{MAKE}|sketch|draw)\b\s*{DET}(?:[\w-]+ ){{0,2}}?(?:ui design|ux design|mock-?ups?|wireframes?|prototype of the ui|design mock\w*){END}|^(?:mock ?up|wireframe|ui[- ]design|ux[- ]design|ui/ux)\b|^(?:diseñ\w*|entwirf|conçois|dessine)\b",
    ),
    pattern(
        "ui-design",
        r"^(?:re-?)?design\b.*\b(?:mock-?ups?|ui|ux|look|looks|screens?|pages?|layout|dashboard|forms?|interface|theme|onboarding|menu|navigation|view|views|website|app|sidebar|header|footer|modal|dialog|component|components|logo|icons?)\b",
        r"\b(?:schema|database|api|architecture|data model|protocol)\b",
    ),
    pattern(
        "brainstorm",
        rf"^brainstorm\w*{END}|^brainstorm\b(?! {PART})|^ideate\b|^(?:come up with|give (?:me|us)|find|collect|formulate|gather|think of|suggest|propose|list|i need|we need|need)\b.*\b(?:ideas?|names and|suggestions|options|ways to)\b|^come up with\b|^(?:any )?ideas? (?:for|on|how|about)\b|^what (?:could|might) we (?:do|build|try)\b|^think about (?:ways|how we could)|头脑风暴",
    ),
    pattern(
        "init",
        rf"^(?:init(?:iali[sz]e)?|set ?up|start|create|begin|bootstrap|kick ?off|scaffold)\b\s*{DET}(?:maestro|project|repo|repository|workspace){END}(?!\s+(?:page|that))|^(?:init(?:iali[sz]e)?)(?: here| this| it| maestro)?$|初始化项目",
    ),
    pattern(
        "plan",
        rf"^(?:{MAKE}|work out|come up with)\b\s*{DET}(?:[\w-]+ ){{0,2}}plan{END}|^i need a plan\b|^(?:update|revise|change|adjust|extend|rework|improve)\b\s*{DET}plan{END}|^(?:erstell\w*|mach\w*|schreib\w*|crée|fais|écris|crea|haz|escribe)\b.* plan\b",
    ),
    # milestones
    pattern(
        "milestone-audit",
        rf"\baudit\b\s*{DET}milestone{END}|\bmilestone audit\b|^(?:is|are|can) (?:the |this |our )?milestone\b.*\b(?:ready|complete|done|finished|closed?|ship)|^(?:check|review) (?:the |this |our )?(?:whole |current )?milestone\b",
    ),
    pattern(
        "milestone-complete",
        rf"^complete\b\s*{DET}milestone{END}|^mark\b.*\bmilestone\b.*\b(?:complete|completed|done|finished)\b|^archive\b\s*{DET}milestone{END}|^milestone (?:is )?(?:complete|done)$",
    ),
    pattern(
        "milestone-close",
        rf"^(?:close|wrap(?:ping)? up|finish(?: up| off)?|end|conclude|finali[sz]e|close out)\b\s*{DET}milestone(?: up| off)?{END}",
    ),
    pattern("next-milestone", rf"^(?:{MAKE}|start|begin|plan|define)\b\s*{DET}milestone{END}"),
    pattern(
        "next-milestone",
        r"\b(?:next|new|another|following|second|third) milestone\b",
        r"^(?:add|fix|implement|show)\b.*\b(?:page|view|button)\b",
    ),
    # doing and checking
    pattern(
        "execute",
        rf"^(?:execute|carry out|implement|run|do|start|begin|perform|work on|build|code)\b\s*{DET}(?:(?:[\w-]+ )?plan(?:ned tasks)?|tasks of (?:the )?(?:plan|phase)|phase(?: \d+)?){END}|^execute$|^execute (?:it|this|that|everything)\b|执行(?:计划|阶段)",
    ),
    pattern(
        "verify",
        r"^verify(?:$| (?:it|this|phase|that|whether|if|everything|what|our (?:work|goals)|my work|the (?:phase|goals?|requirements|work|result|results|implementation|plan|last|current|execution|milestone|outcome|changes|fix|feature|acceptance))\b)|"
        r"^(?:check|validate|confirm|see|test)\b.*\b(?:phase(?: \d+)?|we|it|work|implementation)\b.*\b(?:goals?|requirements|criteria|as planned|according to|success)|"
        r"^did we (?:reach|meet|achieve|fulfil)|^validate (?:phase|the (?:phase|result|results|work|implementation|requirements))|验证",
    ),
    pattern(
        "review",
        rf"^(?:(?:do|make|perform|run|give|start|need|i need|we need)\b\s*{DET})?(?:(?:\w+ )?(?:code|security|peer|design|quality|architecture|performance) )?review(?:s|ing)?(?:{END}|\s+(?:the|my|our|this|that|these|those|it|all|what|pull|pr|commit|commits|code|changes|src|phase|everything|last|latest|open|diff|branch|and|\S+\.\w+|\S+/\S*)\b)",
        rf"^review(?:s|ing)? {PART}",
    ),
    pattern(
        "review",
        r"^(?:\w+ )?(?:code|security|peer)[- ]review\b|^security (?:audit|check)(?:$| (?:of|on)\b)|^audit (?:the |our |my )?(?:code|security|dependencies|\w+ (?:code|module|handler|service))\b",
    ),
    pattern(
        "review",
        r"^(?:have a look|take a look|look|check|go|read|inspect|critique|double-?check|proofread|examine)\b.*\b(?:diff|my (?:code|changes|commits?|branch|pr|work|patch)|the (?:code|changes|commits?|branch|pr|patch)|last commits?|pull request|uncommitted|staged|pr)\b",
        r"\b(?:out of date|page|view)\b|\bwhy\b",
    ),
    pattern(
        "review",
        r"\b(?:can|could|would) you (?:please )?(?:check|review|look (?:at|over)) (?:it|this|that|them)\b|^(?:check|double-?check) (?:it|this|that|the|my|our)\b.*\b(?:implementation|solution|code|work)$|^(?:feedback|second opinion|a second opinion|comments) (?:on|for|about)\b|^(?:give me|i want|i need) (?:feedback|a second opinion)\b|^is (?:this|my|the) (?:code|diff|pr|branch|change) (?:ok|okay|good|fine|clean|safe|ready)|^(?:überprüfe|prüfe|begutachte)\b.*\b(?:code|änderung\w*|diff)\b|^(?:revisa|relis|examine)\b|代码审查|审查|评审",
    ),
    pattern(
        "plan",
        r"^plan(?:$| (?:out |for |how |the |a |an |our |my |this |phase|it|to |gaps|all |some |what|next)|:| \w+ing\b)|^how (?:should|would|could|can|do|might) (?:we|you|i) (?:approach|go about|tackle|implement|build|do|structure|best|migrate|add)\b|^(?:what would be|what is|what's) the best way to\b|^(?:plane|planifica|planifie|planen)\b|^(?:制定)?计划|规划",
        rf"^plan (?:the )?{PART}\b",
    ),
    pattern("plan", r"^design\b.*\b(?:schema|database|api|architecture|data model|protocol)\b"),
    pattern(
        "status",
        rf"^(?:(?:show|give|tell|report|print|display|what(?:'s| is)|get|check)\b\s*(?:me |us )?{DET})?(?:project )?(?:status|progress|state of (?:the |our )?(?:project|work|things))(?: report| update| of (?:the |our )?(?:project|work|phase.*|milestone))?$|"
        r"^where (?:are we|do we stand|am i|is the project|were we|does (?:the project|it) stand)\b|^how (?:far|much)\b.*\b(?:are we|along|left|done|is the project|progress|have we|did we)\b|^how(?:'s| is) (?:it|the project|everything|the work) (?:going|coming along|progressing|doing)|"
        r"^what(?:'s| is| has been|'s been)? (?:left|done|still open|remaining|open|happened|missing in phase)\b|^what have we (?:done|finished)\b|^(?:show|list|which|what)\b.*\bopen (?:issues|phases|tasks)\b|^(?:show|list)\b\s*(?:me )?(?:all |the |our )*(?:issues|phases|tasks)$|"
        r"^wo stehen wir|^wie (?:ist der stand|weit)|^stand$|^où en (?:est|sommes)|^(?:cuál es el|estado|cómo va)\b|^(?:项目)?(?:状态|进度)",
    ),
)

# Small work, clean-ups, faults, features: the verb in front decides.
WORK: Final = (
    pattern(
        "quick",
        r"\btypos?\b|\bspelling\b|\bmisspell\w*|\btippfehler\b",
        r"^(?:implement|add|build|create)\b.*\b(?:check\w*|tolerance|correction)\b|\btypo(?:-| )tolerant",
    ),
    pattern(
        "quick",
        r"^(?:quick(?:ly)?|tiny|small|minor|trivial|simple|one-?lin(?:e|er)|little|fast|short)\b[ :,-]*(?:\w+ )?(?:\w+)",
        r"^(?:quick|small|short) (?:question|\w+ (?:page|is|are)\b)",
    ),
    pattern(
        "quick",
        r"^(?:make|do|need|just)\b.*\b(?:a )?(?:small|tiny|quick|minor|trivial|one-?line) (?:change|fix|tweak|edit|adjustment)\b|^tweak\b|\bone-?liner\b",
    ),
    pattern("quick", r"^bump\b|^(?:update|set|change|increase|raise|upgrade) the version(?: number)?\b"),
    pattern(
        "quick",
        r"^rename\b.*\b(?:variable|function|method|file|class|constant|parameter|field|column|button|label|flag|key|to)\b",
    ),
    pattern(
        "quick",
        r"^(?:change|update|set|adjust|replace|correct|edit|swap|make)\b.*\b(?:colou?rs?|wording|label|title|text|texts|font|icon|padding|margin|copyright|year|placeholder|tooltip|heading|caption|default value|timeout|port number|log level|readme|favicon|border|url in|link in|constant|background)\b",
        r"\b(?:documentation|docs)\b.*\b(?:code|match)|\b(?:customi[sz]able|configurable|editor|theme|searchable|translatable|system|full[- ]text)\b",
    ),
    pattern(
        "quick",
        r"^(?:add|put|insert|remove|delete)\b\s*(?:an? |the |some )?(?:\S+ )?(?:\S+ )?(?:to|from|in) (?:the )?(?:\.?gitignore|readme|changelog)\b|^(?:add|remove|delete|insert) (?:an? |the |some )?(?:\w+ )?(?:comments?|log line|print|debug prints?|console\.logs?|trailing (?:whitespace|comma)|semicolon|blank line|unused imports?|docstring|import statement)\b",
    ),
    pattern(
        "refactor",
        r"^(?:refactor\w*|clean ?-?up|clean|tidy(?: up)?|simplify|restructure|reorgani[sz]e|extract|decouple|modulari[sz]e|dedup\w*|de-?duplicate|inline|untangle|consolidate|unify|streamline|räum\w*|vereinfache|refaktor\w*|simplifie|nettoie|refactorise\w*|simplifica|limpia)\b|重构|整理代码|"
        r"^(?:split|break|cut|pull|move|separate)\b.*\b(?:into|apart|out of|to its own|up)\b.*\b(?:modules?|files?|class(?:es)?|functions?|packages?|pieces|parts|its own|own|components?|smaller)\b|"
        r"^(?:pull|move)\b.*\b(?:out of|into (?:its|their) own|into a (?:module|helper|shared|separate))\b|^(?:split|break) up\b|"
        r"\b(?:dead|duplicate[d]?|unused|repeated) code\b|\bduplication\b|\b(?:technical|tech) debt\b|^reduce\b.*\b(?:complexity|duplication|coupling)\b|^get rid of\b.*\b(?:duplicat\w+|dead|unused|globals?|singletons?|copy)\b",
        r"^(?:extract|simplify|clean)\b.*\b(?:text from|data from|frames|metadata|images? from|user input|checkout for)\b|^clean(?:-| )?up (?:job|expired|old (?:records|files|data|sessions))",
    ),
    pattern(
        "debug",
        r"^(?:debug|fix|fixing|mend|repair|solve|resolve|troubleshoot|diagnose|track down|hunt down|correct|reproduce|bugfix|hotfix|behebe|behebt|beheben|repariere|korrigiere|corrige[rz]?|arregla|répare|soluciona|исправь|почини)\b\s+(?!(?:it|this|that|them|things?|stuff|everything|something|bugs?|up)\b(?:\s+(?:please|up|now|all))?$)\S+|修复|修正|解决|調査|直して",
        r"^(?:debug|fix|resolve)[- ](?:toolbar|mode)\b|^\w+ (?:the |our )?(?:plan|roadmap|milestone|spec)$|"
        + _NAMELESS,
    ),
    pattern(
        "debug",
        rf"^(?:find|find out|figure out|investigate|look into|check|see|understand|tell me|trace|explain|locate|look|determine|identify)\b.*(?:{SYMPTOM}|\bwhy\b.*\b(?:grow\w*|high|increas\w*|drop\w*|spik\w*|long|happen\w*)\b|\b(?:root )?cause\b)",
        r"\b(?:error handling|handle errors?|how errors?)\b|" + _NAMELESS,
    ),
    pattern(
        "debug",
        rf"^(?:why|warum|pourquoi|por qué|为什么)\b.*(?:{SYMPTOM}|\b(?:grow\w*|high|spik\w*|so long|happening)\b)",
    ),
    pattern(
        "analyze-plan-execute",
        r"^(?:add|implement|build|create|develop|introduce|support|enable|allow|integrate|hook up|wire up|connect|port|migrate|convert|switch|replace|upgrade|extend|let|provide|expose|remove|drop|delete|deprecate|speed up|optimi[sz]e|cache|locali[sz]e|internationali[sz]e|translate|paginate|dockeri[sz]e|containeri[sz]e|automate|initiali[sz]e|rewrite|parallelize|encrypt|validate|throttle|rate[- ]limit|limit|send|store|persist|move|merge|turn|rebuild|redesign|compress|schedule|import|export|secure|harden|protect|hide|show|display|include|configure|set up|install|adopt|require|track|log|notify|sort|filter|render|stream|sync|restrict|disable|prevent|reduce|scale|handle|make|write|generate|update|change|modify|adapt|adjust|improve|enhance|code|program|prototype|polish|embed|wrap|batch|index|archive|highlight|group|detect|retry|parse|print|serve|load|use|put|give|offer|document|bring|expand|increase|backup|back up)\b"
        r"\s+(?!(?:it|this|that|them|things?|stuff|everything|something|all|better|work|faster|some changes|changes|improvements?)\b(?:\s+(?:better|work|faster|nicer|good|happen|please|now|more|all|again|up|down|on|prettier|great))*$)(?!of\b)[^\s/]\S*",
        r"^\w+ (?:the |our |my |this )?(?:plan|roadmap|spec|specification|milestone|phase|phases|issue|issues|project)s?$|^(?:update|revise|change|modify|adjust)\b\s+(?:the |our |all )*(?:plans?|roadmaps?|milestones?|phases?)\b(?! (?:page|view|table|list|model|api))",
    ),
    pattern(
        "analyze-plan-execute",
        r"^(?:as an? \w+.* i (?:want|need|would like)|(?:i|we|users?|customers?|admins?|people|it|they|visitors?|the \w+|our \w+|everyone|everybody)\b.*\b(?:want|wants|should|must|needs?|ought) (?:\w+ )?to be able\b|.*\bshould (?:be able|be possible|also|support|allow|let|have|get|become|only|send|show|accept|remember)\b|it should be possible|there should be)",
    ),
    pattern(
        "analyze-plan-execute",
        r"^(?:(?:i|we) )?(?:want|need|would like|'d like) (?:an? |the |some |our |more |better )?\w+|^i'd like an?\b",
        r"\b(?:help|this|that|it|something|stuff|things)$",
    ),
    pattern(
        "analyze-plan-execute",
        r"^(?:füg\w*|ergänz\w*|implementier\w*|bau\w*|erstell\w*|entwickl\w*|ermöglich\w*|entfern\w*|ersetz\w*|migrier\w*|optimier\w*|ajout\w*|implément\w*|crée\w*|développe\w*|supprim\w*|remplac\w*|añad\w*|agreg\w*|implementa\w*|crea|desarrolla\w*|elimina\w*|adiciona\w*|aggiung\w*|добавь|реализуй|создай)\s+\S+|^(?:请)?(?:添加|新增|增加|实现|开发|创建|支持|删除|优化|追加|実装|作成)",
    ),
    pattern("status", r"^status\b"),
)

# Questions, then statements of what is wrong.
QUESTIONS: Final = (
    pattern(
        "analyze",
        r"^what (?:is|are|was|were) (?!(?:it|this|that|up|next|wrong|new)$)\S+|怎么|如何|为什么|是什么|干嘛|"
        r"^(?:analy[sz]e|analy[sz]ing|analysis of|investigate|explore|research|evaluate|assess|understand|explain|compare|examine|describe|clarify|outline|summari[sz]e|trace|analysiere|untersuche|erkläre|vergleiche|analiza|explica|explique|expliquer|compara)\b\s+(?!(?:it|this|that)$)\S+|分析|解释|调研|"
        r"^(?:how|where|when) (?:does|do|is|are|did|was|were|has|can i find)\b|^what (?:does|do|is|are|would|happens)\b.*\b(?:do|does|work|mean|for|used|used for|happen|happens|take|break|cost|difference|when|if|impact|module|class|function|file|job|service)\b|"
        r"^(?:is|would|could|can|will) (?:it|we|this|there|that)\b.*\b(?:feasible|possible|worth|make sense|realistic|better|drop|switch|move|safe|scale|way)\b|^should (?:we|i)\b|^(?:find|figure) out (?:how|whether|what|if|where|which)\b|^look into\b|^(?:look|dig) into\b|"
        r"\bpros and cons\b|\btrade-?offs?\b|\bfeasib\w+|^why (?:do|does|did|is|are|was|were)\b|^which \w+ (?:is|are|should|would|do|does)\b.*\b(?:better|best|use|uses|depend|call|calls)\b|^what would it take\b|^how to\b|^(?:it'?s |is |is it )?possible (?:to|for)\b|^(?:walk|talk) me through\b|, (?:please )?explain\b|^give me an? (?:overview|explanation|summary) of\b|^(?:wie|wo) (?:funktioniert|wird|ist|geht)\b|^comment (?:fonctionne|marche)|^cómo funciona",
    ),
    pattern(
        "debug",
        rf"^\S+\s.*{SYMPTOM}|^(?:{SYMPTOM}).*\s\S+|报错|崩溃|错误|失败|异常|出错|エラー",
        _NAMELESS,
    ),
)

ALL: Final = (*SEQUENCES, *NAMED_THINGS, *WORK, *QUESTIONS)

# What no chain does: it is a person's to do, or to ask for by itself.
FOREIGN: Final = re.compile(
    r"(?:^|\b(?:and|then) )(?:deploy|release|publish|merge|push|ship)(?: (?:it|this|that|them|to|the|a|our|my|version|v?\d[\w.]*)\b.*)?$"
)

# A verb beside an issue's id. Without one of these the issue is worked on from its analysis to its end.
OF_ISSUE: Final = (
    pattern("issue-close", r"\b(?:close|closing|is (?:done|fixed|resolved|solved)|mark .* (?:done|closed|resolved)|won'?t ?fix|duplicate of|schließe?|ferme|cierra)\b|关闭"),
    pattern("issue-quick", r"\b(?:quick(?:ly)?|fast|hotfix|asap|trivial|simple|small|tiny)\b"),
    pattern("issue-full", r"^(?:fix|solve|resolve|work on|handle|do|tackle|take care of|finish|settle|address|start|take|pick up)\b"),
    pattern("issue-plan", r"\bplan\b|\bhow (?:should|would|could|do|can) (?:we|you|i) (?:fix|solve|approach|tackle)\b"),
    pattern("issue-execute", r"\b(?:execute|implement|carry out|apply|code)\b"),
    pattern("issue-analyze", r"\b(?:analy[sz]e|investigate|root cause|cause of|why|understand|look into|diagnose|examine|explain|what is|what's|reproduce|triage)\b|分析"),
    pattern("review", r"\breview\b"),
)  # fmt: skip
