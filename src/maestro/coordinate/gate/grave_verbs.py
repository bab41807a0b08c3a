"""Verbs that cannot be taken back or that reach outside, and the nouns that make them an edit after all. Pure data.

Nobody can list all that may be deleted, shipped or opened; what a program, a page or a text is made of is a smaller
world. So a verb of this file is grave whatever its object is, unless the object is of that world.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from maestro.coordinate.gate.nouns import REGISTRIES


class Grave(NamedTuple):
    """Verbs of one kind. A particle may stand apart from its verb: `roll it out`."""

    category: str
    verbs: str  # "wipe|throw … away"; the words before the first space are inflected
    needs: Literal["any", "named"] = (
        "any"  # any: grave unless the object is harmless; named: only with `objects`
    )
    objects: str = ""
    harmless: str = ""  # besides CODE
    is_noun: bool = False  # “the removal of”: asked for by being named


# What a program, a page or a text is made of, as the last word of what a verb is about.
CODE: Final = (
    r"imports?|functions?|funcs?|variables?|vars?|flags?|lines?|comments?|methods?|class(?:es)?|classname\w*|param\w*|arguments?|args?|kwargs|props?|propert(?:y|ies)|types?|typing|hints?|annotations?|helpers?|todos?|fixmes?|code|attributes?|selectors?"
    r"|rules?|dependenc(?:y|ies)|deps|features?|options?|statements?|fields?|headers?|footers?|sections?|paragraphs?|sentences?|words?|phrases?|checks?|conditions?|conditionals?|decorators?|alias(?:es)?|enums?|constants?|consts?|endpoints?|routes?|routers?"
    r"|components?|stylesheets?|css|styles?|styling|warnings?|assert\w*|mocks?|stubs?|blocks?|wrappers?|exports?|overloads?|tests?|specs?|suites?|cases?|items?|values?|elements?|nodes?|entr(?:y|ies)|hooks?|handlers?|listeners?|characters?|chars?|whitespace"
    r"|spaces?|newlines?|tabs?|indentation|prefix(?:es)?|suffix(?:es)?|directives?|references?|refs?|examples?|headings?|titles?|captions?|links?|badges?|messages?|logs?|logging|prints?|strings?|literals?|numbers?|ints?|floats?|bools?|booleans?|nulls?|defaults?|callbacks?"
    r"|promises?|generics?|interfaces?|traits?|structs?|tuples?|arrays?|lists?|dicts?|dictionar(?:y|ies)|maps?|sets?|stacks?|queues?|heaps?|vectors?|buffers?|slices?|matri(?:x|ces)|graphs?|trees?|lo?ops?|iterators?|generators?|closures?|lambdas?|regex(?:es)?|patterns?"
    r"|macros?|modifiers?|keywords?|qualifiers?|casts?|coercions?|conversions?|expressions?|operators?|operands?|brackets?|braces|parenthes[ei]s|parens|semicolons?|commas?|quotes?|mutants?|duplication|duplicates? of code|indirection|abstractions?|layers?|inheritance"
    r"|mixins?|plugins?|middlewares?|polyfills?|shims?|fallbacks?|retr(?:y|ies)|timeouts?|delays?|sleeps?|debounc\w+|throttl\w+|memo\w*|spinners?|buttons?|icons?|banners?|modals?|dialogs?|toasts?|tooltips?|menus?|sidebars?|navbars?|toolbars?|dropdowns?|checkbox(?:es)?"
    r"|inputs?|forms?|labels?|placeholders?|borders?|margins?|padding|shadows?|colou?rs?|fonts?|animations?|transitions?|layouts?|grids?|cells?|charts?|axis|axes|legends?|widgets?|views?|screens?|pages?|templates?|partials?|docstrings?|docs?|documentation|readme"
    r"|changelog|notes?|wording|typos?|emojis?|bullets?|footnotes?|frontmatter|snippets?|diagrams?|comments?|notices?|licen[cs]e header|shebang|pragma|ignores?|suppressions?|noqa|lint\w*|rule|eslint\S*|strict\w*|mode|modes|assertions?|expectations?|fixtures?|seeds?|mocking"
    r"|snapshot test|coverage|parsers?|lexers?|tokenizers?|compilers?|visitors?|passes|canvas|frames?|optimi[sz]ations?|algorithms?|logic|behaviou?r|implementation|approach|pattern|support|compatibility|shadowing|nesting|complexity|boilerplate|ambiguity|dead code|magic|edge|path|requirement"
    r"|sources?|modules?|packages?|librar(?:y|ies)|subpackages?|namespaces?|scopes?|contexts?|states?|reducers?|actions?|(?:redux|state|vuex) stores?|selectors?|events?|signals?|channels?|subscriptions?|observers?|threads?|locks?|mutex(?:es)?|semaphores?|handles?|pointers?|allocations?|leaks?"
    r"|timers?|intervals?|counters?|cursors?|selection|focus|highlight|cookies? banner|exceptions?|errors?|tracebacks?|panics?|results?|returns?|responses?|requests?|payloads?|bod(?:y|ies)|json|yaml|xml|html|markdown|svg|attrs?|ids?|names?|naming|identifiers?|symbols?"
    r"|definitions?|declarations?|signatures?|overrides?|subclass(?:es)?|superclass|base class|parents?|child(?:ren)?|siblings?|extensions?|converters?|formatters?|validators?|serializers?|adapters?|factor(?:y|ies)|builders?|singletons?|prox(?:y|ies)|facades?|strateg(?:y|ies)"
    r"|columns? in the (?:csv|report|output)|output|stdout|stderr|trailing\S*|leading\S*|unused\S*|things? in the code|ternar(?:y|ies)|switch(?:es)?|getters?|setters?|accessors?|constructors?|destructors?|initiali[sz]ers?|globals?|locals?|statics?|privates?|publics?|await|async"
)
# Where such a thing lives: “remove the spinner from the page”.
CODE_PLACE: Final = rf"{CODE}|file|files|folder|repo|project|codebase|config|configuration|schema|api|ui|app|tsconfig|pyproject|package\.json|makefile|dockerfile|gitignore|bundle|cli|sdk|client|script|[\w./-]+\.(?:py|pyi|js|jsx|ts|tsx|go|rs|java|rb|php|c|h|cpp|hpp|cs|css|scss|html|json|ya?ml|toml|md|rst|txt|vue|svelte|kt|swift|ini|cfg)"
PRONOUN: Final = r"it|them|this|these|that|those|all|both|everything|one|ones|some|stuff|things?|lot|rest|remainder|same|him|her"
# Behind these, a noun says where, when or why, and not what.
AFTER_OBJECT: Final = (
    r"in|from|on|onto|into|to|for|with|inside|within|at|by|because|so|if|when|that|which|before|after|where|using|via|between|about|as|than|is|are|was|were|should|would|could|can|will|since|until"
    r"|while|and|or|but|then|now|first|too|next|again|here|there|today|tonight|tomorrow|right|straight|please|yourself|myself|ourselves|manually|entirely|completely|permanently|immediately|directly|instead|altogether|anyway|also|once|without|unless|under|over|up|out|off|down|away|live|against|per|like|not|upstream|globally|locally|everywhere|,"
)

DATA: Final = r"databases?|dbs?|tables?|schemas?|collections?|records?|rows?|keyspaces?|redis|postgres\w*|mysql|mongo\w*|users?|customers?|accounts?|tenants?|orders?|ledgers?|constraints?|foreign keys?|replicas?|index(?:es)? on|sequences?|queues? in prod"
GIT: Final = r"branch(?:es)?|commits?|tags?|stash(?:es)?|prs?|pull requests?|merge requests?|mrs?|origin|upstream|remotes?|histor(?:y|ies)|local changes|uncommitted|working tree|submodules?|forks?"
INFRA: Final = r"clusters?|pods?|namespaces?|instances?|deployments?|environments?|envs?|servers?|services?|load balancers?|vms?|machines?|lambdas?|domains?|dns|records? set|stacks?|nodes?|droplets?|dynos?|releases?|infra\w*"
SECRET: Final = r"secrets?|passwords?|credentials?|creds|tokens?|keys?|certs?|certificates?|pats?|passphrases?|key ?pairs?|\.env|\.netrc|\.npmrc|\.pypirc|id_rsa|vault|logins?"  # noqa: S105 - words for secrets, and none itself
GUARD: Final = (
    r"auth\w*|sign-?in|log-?in|2fa|mfa|otp|two-?factor\w*|second factor|sso|certs?|certificates?|tls|ssl|https|csp|cors|csrf|xsrf|hsts|firewalls?|wafs?|antivirus|scanners?|scanning|encryption|signatures?|signing|verification|permissions?|permission checks?|polic(?:y|ies)"
    r"|protections?|captchas?|rate[- ]limit\w*|audit\w*|sandbox\w*|approvals?|reviews?|reviewers?|code ?owners?|security\w*|host[- ]key\w*|checksums?|integrity|passwords?|guards?|guardrails?|safeguards?|safety|restrictions?|access|ip ?(?:allow|white)list|allow-?lists?|whitelists?|quarantine|selinux|apparmor|gatekeeper|sanitiz\w+|sanitis\w+|escaping|xss|rls|origin check|trust"
)

VERBS: Final[tuple[Grave, ...]] = (
    Grave(
        "file deletion",
        "deletion of|removal of|purge of|wipe of|erasure of|destruction of|cleanup of|clean-up of|disposal of|wiping of|deleting of|loss of",
        is_noun=True,
    ),
    Grave(
        "deployments",
        "rollout of|roll-out of|rollout to|deploy of|deployment of|deployment to|launch of|promotion of|promotion to|teardown of|decommissioning of|failover to|failover of|cutover to|rollback of|rollback to|scale-up of",
        is_noun=True,
        harmless=r"dialog|modal|browser|variable",
    ),
    Grave("spending", "purchase of|subscription to|payment of|payment to|order of|renewal of|rental of|upgrade of the plan", "named", r"seats?|licen[cs]es?|plans?|cards?|hours|credits?|gpus?|machines?|domains?|accounts?|invoices?|months?|years?|\d+|service|tools?|hosting", is_noun=True),
    Grave("publishing", "publication of|announcement to|announcement of|email to|mail to|message to|newsletter to", "named", r"customers?|users|everyone|subscribers?|list|clients?|package|release|version|post|article|the team|press|public|blog|npm|pypi", is_noun=True),
    Grave("API keys", "rotation of|revocation of|disclosure of|reuse of", "named", SECRET, is_noun=True),
    Grave(
        "file deletion",
        "wipe|wipe … out|purge|nuke|erase|destroy|shred|trash|yeet|ditch|toss|toss … out|bin|blow … away|throw … away|throw … out|chuck|empty|obliterate|torch|do away with|unlink|clear … out|clean … out|dispose of|overwrite|clobber|discard|zap|sweep … away|burn … down|vaporize|delete|remove|drop|clean … up|tidy … up|get rid of|prune|axe|kill … off|scrap|flush|take … away|let go of|expire|eliminate|reclaim|wipe … clean|hose|rm|garbage-collect|cull|evict",
        harmless=r"players?|enem(?:y|ies)|boss(?:es)?|monsters?|npcs?|sprites?|bullets?|coins?|hearts?|loot|particles?|tiles?|projectiles?|weapons?|canvas|frames?|outliers|nans?|stop ?words|accents|diacritics",
    ),
    Grave("deployments", "decommission|tear … down|take … down|sunset|retire|deprovision|spin … down"),
    Grave(
        "git operations",
        "push|push … up|merge|land|squash|rebase|force-push|force push|amend|commit|cherry-pick|fast-forward|check … in|check … into|stash|merge … in|undo",
        harmless=r"intervals?|cells?|configs?|objects?|ranges?|files?|transactions?|coins?|pop|them together|two|three|changes into one|helpers|back",
    ),
    Grave(
        "deployments",
        "deploy|redeploy|ship|roll … out|roll … back|roll … forward|promote|launch|go live|release|cut … over|switch … over|hotfix|push … live|put … live|bring … live|take … live|make … live|turn … live|bump prod|flip the switch|flip … on|turn … on for|fail … over",
        harmless=r"browsers?|editor|app|apps|dev server|test server|debugger|repl|resources?|memory|connections?|locks?|file|types|resize|shell|preview|emulator|simulator|screen|info|costs?|address(?:es)?|methods?|rates?|fees?|zones?|details|calculator|estimates?|labels?|steps?|options?",
    ),
    Grave(
        "deployments",
        "scale|scale … up|scale … out|scale … down|provision|spin … up|stand … up|resize|bump|drain|cordon|shift|switch|route|move|redirect|point|send|restore|revert",
        "named",
        rf"{INFRA}|workers|replicas|fleet|traffic|prod|production|capacity|autoscal\w+|live site|\d+ (?:boxes|machines|nodes|servers)|(?:all|every|the rest of|remaining) (?:users|customers|traffic)",
    ),
    Grave(
        "deployments",
        "switch … on|turn … on|enable|activate|light … up|flip … on|unleash|toggle … on",
        "named",
        r"new \S+ page|(?:pricing|checkout|landing|signup) page|site|shop|campaign|everywhere|for (?:all|every|everyone|everybody|\d+%)|in (?:prod|production)|live",
    ),
    Grave(
        "publishing",
        "publish|tweet|announce|broadcast|email|e-mail|invite|unpublish|blast|syndicate|go public|open-source|open source",
        harmless=r"metrics?|signals?|field|address|addresses|users? model",
    ),
    Grave(
        "publishing",
        "ask|contact|send|send … out|post|share|notify|message|ping|submit|upload|forward|distribute|mail|reply|respond|tell|write|hand|put … up|push … out|leave|file|raise|get … out",
        "named",
        rf"announcements?|newsletters?|e?-?mails?|invit\w+|customers?|clients?|subscribers?|users|everyone|everybody|all hands|team|slack|discord|teams channel|mailing list|public|blog|twitter|linkedin|reddit|hacker news|forum|press|investors?|partners?|contractors?|vendors?|maintainers?|upstream|(?:github|gitlab|jira) (?:issue|ticket)|issue tracker|app stores?|play stores?|pypi|npm|crates\.io|crates|rubygems|docker ?hub|ghcr|registry|maven\S*|nuget|marketplace|gist|pastebin|the world|internet|outside|website|social\S*|tweets?|dms?|sms|{REGISTRIES}",
    ),
    Grave("spending", "buy|purchase|rent|lease|subscribe|pay|hire|top … up|splurge", harmless=r"attention"),
    Grave(
        "spending",
        "upgrade|order|renew|book|add|put|charge|enter|reserve|increase|raise|bump|extend|use|spend|move|switch|go|sign … up|start|accept|get|enable|activate|turn … on|request|order",
        "named",
        r"seats?|(?:credit |debit |company |payment )?cards? (?:on file|details|number)?|the (?:company )?card|a card|payment methods?|billing\w*|(?:paid|pro|premium|enterprise|business|bigger|larger|higher|team|next) (?:plan|tier|version|licen[cs]e|account)|the plan|our plan|my plan|tier|subscription|licen[cs]es|credits|quota|invoices?|budget|spend\w*|pay as (?:we|you) go|reserved instances?|gpus?|gpu box\w*|(?:\d+|more|extra|bigger|additional) (?:machines?|nodes?|instances?|servers?|vms?|seats?|licen[cs]es)|our account|paid \w+",
        harmless=r"credits page|quota check|budget field",
    ),
    Grave(
        "security decisions",
        "authorise|authorize|sanction|green-light|greenlight|grant|expose|whitelist|allowlist|elevate|impersonate|bypass|circumvent|escalate privileges|deactivate|sidestep|defeat",
        harmless=r"metrics?|prometheus|api|apis|getter|cache|caches|cdn|them to tests|internals",
    ),
    Grave(
        "security decisions",
        "disable|turn … off|switch … off|shut … off|skip|comment … out|relax|loosen|weaken|suspend|lift|waive|ignore|lower|drop|remove|stub … out|leave … out|kill|allow|accept|trust|work around|get around|swap … out|hardcode|override|mute|silence|pause|unprotect|dismiss|downgrade|take … out|strip",
        "named",
        GUARD,
        harmless=r"tests?|lint\w*|fields?|docs?|page|button|form|screen|module|cookie banner|warnings?|signature help|type hints?",
    ),
    Grave(
        "security decisions",
        "open|open … up|make|let|give|get|hand|set|add|flip|put|assign|have|mark|turn|bind|publish",
        "named",
        r"(?:port|ports) \d+|\d+ to (?:the )?(?:world|internet|public|everyone|anyone)|to (?:the )?(?:world|internet|public|everyone|everybody|anyone|anybody|all)|(?:bucket|repo\w*|dashboard|endpoint|server|database|db|site|folder|drive|blob|container|share|link|doc|port|cluster|registry) (?:\S+ )?(?:public|world-\w+|open|readable)|public(?:ly)? (?:read\w*|access\w*|reachable|visible|facing)|0\.0\.0\.0/0|anyone|anybody|everyone|admin(?:istrator)?s?|owners?|root access|write access|full access|access to (?:prod\w*|everything|all)|superusers?|sudoers|maintainer|collaborators?|elevated \w+|a login|an account|permissions|rights|privileges|s3 public|anonymous",
        harmless=r"(?:admin|owner) (?:page|panel|view|route|form|menu|test)s?|public (?:method|field|member|api|function|class|attribute)s?",
    ),
    Grave(
        "API keys",
        "rotate|revoke|regenerate|reissue|mint|re-issue|re-generate|reset",
        "named",
        SECRET,
        harmless=r"token (?:types?|kinds?|list|stream)",
    ),
    Grave(
        "API keys",
        "paste|copy|put|store|commit|hardcode|hard-code|embed|print|echo|log|dump|reveal|show|share|send|use|borrow|reuse|read|export|move|save|issue|create|generate|make|provide|give|enter|type|swap|replace|change|update|set|add|request|upload|hand|take|pull|grab|fetch|extract|decrypt|bake|cat|check … in|check … into|supply",
        "named",
        r"(?:api|access|secret|private|signing|ssh|gpg|pgp|deploy|encryption|license|stripe|aws|gcp|azure|openai|anthropic|github|gitlab|npm|pypi|slack|bot|admin|personal|my|your|prod\w*|live|real|root|master|service) (?:access |account |api |auth |secret |signing |personal )?(?:keys?|tokens?|secrets?|passwords?|credentials?|creds|certs?|certificates?|login)|secrets?|passwords?|credentials?|creds|service account (?:json|file|key)|personal access token|pats?|\.env|\.netrc|\.npmrc|\.pypirc|id_rsa|id_ed25519|keychain|1password|vault|kubeconfig",
        harmless=r"(?:password|secret|credential|token)s? (?:field|form|input|validator|page|model|test|type|class|hash\w*|strength|prompt|column|parameter|argument|rules?|manager|reset|store|provider|helper|mock|placeholder|label)s?|token kinds?",
    ),
    Grave(
        "system changes",
        "reboot|uninstall|bounce|power … down|power … off|power-cycle|shut … down|kick over|cycle",
        harmless=r"ball|rate|dev server|watcher|test server|executor|pool|event loop|worker pool|thread pool|colors|through\S*",
    ),
    Grave(
        "system changes",
        "restart|kill|kill … off|stop|terminate|install|upgrade|update|edit|change|patch|set … up|register|add|run|enable|configure|write|touch|modify|put|start|schedule|make",
        "named",
        r"hosts file|as root|as admin\w*|with sudo|system-?wide|globally|at (?:boot|startup|login|start-?up)|on (?:boot|startup|login)|(?:as|into) a (?:system |background |systemd )?(?:service|daemon)|comes? up at boot|cron\w*|launch agents?|login items?|(?:this|the|my|your|that) (?:machine|host|laptop|box|computer|server|os|kernel|operating system|vm)|system (?:packages?|python|librar\w+|settings?|services?)|kernel\w*|drivers?|firmware|bios|registry keys?|path variable|shell profile|bashrc|zshrc|dotfiles|sudoers|dns|resolv\.conf|iptables|vpn|proxy settings|(?:postgres\w*|mysql|redis|nginx|docker|apache|sshd) ?(?:daemon|service|server)?|daemons?|process(?:es)?|whatever is on port|port \d+",
        harmless=r"docker compose file|dockerfile|dns page|docker image tag|postgres fixture|server actions?|server components?|process (?:docs?|guide|section)|registry class",
    ),
    Grave(
        "database changes",
        "backfill|vacuum|reseed|re-seed|wipe|truncate|reindex|repartition|denormalize|denormalise",
        harmless=r"random\w*|rng|prng|faker|texts?|long\S*|output|decimals?|prompts?|titles?|names?|sequences?|strings?|inputs?|descriptions?|summar\w+|captions?|context|sentences?|documents?|articles?|reviews?|labels?|gradients?|series|digits|floats?|it|them",
    ),
    Grave(
        "database changes",
        "update|set|insert|alter|change|fix|patch|delete|remove|drop|migrate|run|apply|load|import|copy|restore|reset|recreate|edit|add|rename|merge|archive|flush|seed|execute|cancel|close|correct|rewrite|move|dedupe|purge|clear|replay|repair|write",
        "named",
        r"(?:in|on|against|into|from|to|through|over) (?:the |our |a )?(?:\w+ )?(?:primary|live|prod|production|postgres\w*|mysql|mariadb|mongo\w*|redis|database|db|replica|warehouse|bigquery|snowflake|dynamo\w*|data ?store)|migrations?|(?:every|all|those|these|the|\d+|duplicate|stale|old) (?:\S+ )?(?:rows?|records?|users|customers|accounts|orders|tenants)|(?:the|our) (?:db|database|schema|ledger|redis|orders? table|users? table)|foreign keys?",
        harmless=r"(?:in-memory|test|mock|local|fake|dummy|example|sample) (?:db|database|rows?|records?|users)|(?:rows?|records?|users|orders) (?:in|of) the (?:grid|test|mock|fixture|view|ui|table component|csv|report|readme)|migration (?:guide|docs?|notes?)|(?:users?|customers?|accounts?|orders?|records?|rows?|tenants?) (?:page|view|list|form|component|screen|model|class|tab|grid|endpoint|service|module)s?",
    ),
    Grave(
        "network fetch-and-run",
        "pull … down|download|fetch|grab|curl|wget|clone|get|take",
        "named",
        r"(?:and|then|to) (?:then )?(?:run|execute|install|start|launch|source|eval)",
        harmless=r"data and run the tests",
    ),
    Grave(
        "network fetch-and-run",
        "run|execute|pipe|try|install|use|source|eval|follow|start",
        "named",
        r"(?:their|the vendor'?s|its|an?|the|this|that|some|his|her|someone'?s) (?:\S+ )?(?:installer|install script|installation script|setup script|bootstrap script|one-?liner|install command)|into (?:a |the )?(?:shell|bash|sh)|straight (?:from|off) (?:the )?(?:web|internet|github|site|url)|from (?:the )?(?:web|internet|a gist|a url|pastebin|their (?:site|website|page|docs|repo|server))|unknown (?:package|binary|script|author|source|publisher|vendor|origin)|unsigned \w+|untrusted \w+|random \w+ (?:package|script|binary)|someone'?s fork|binary from",
    ),
)  # fmt: skip
