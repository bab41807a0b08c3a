"""What grave verbs are about: nouns and verbs that the categories share. Pure data."""

from __future__ import annotations

from typing import Final

EXTENSION: Final = (
    r"(?:py|pyi|js|mjs|ts|tsx|jsx|go|rs|java|rb|php|c|h|cpp|hpp|cs|css|scss|html|json|ya?ml|toml|md|rst|txt|sql|sh|lock|log|csv|db|sqlite3?|pem|ipynb|cfg|ini"
    r"|xml|png|jpe?g|svg|pdf|zip|tar|gz|tgz|bak|tmp|orig|vue|svelte|kt|swift|snap|dump|parquet|dockerfile)"
)
PATH: Final = (
    rf"(?!(?:console|logger|log)\.|(?:node|react|vue|next|express|three|d3|nuxt|moment|chart|socket|ember|alpine)\.(?:js|io))"
    rf"(?:[\w./~*@-]*\.{EXTENSION}|\.env[\w.]*|(?:\.{{0,2}}/|~/)?(?:src|lib|tests?|docs|build|dist|tmp|app|pkg|bin|node_modules|vendor|target|out|public|assets|config|scripts"
    r"|migrations|data|backups?|logs|packages|etc|var|home|opt|usr|mnt|srv|static|uploads|storage)/[\w./*-]*|(?:\.{1,2}|~)/[\w./*-]+|/(?:tmp|var|etc|home|opt|usr|mnt|srv|data|root)\b[\w./*-]*|\*\.\w+)"
)
FILES: Final = (
    r"files?|folders?|director(?:y|ies)|dirs?|subdirector(?:y|ies)|sub-?folders?|node_modules|dist|backups?|artifacts?|archives?|snapshots?|volumes?|buckets?"
    r"|repos?|repositor(?:y|ies)|worktrees?|workspaces?|codebase|home|disks?|partitions?|drives?|data|datasets?|uploads|lock ?files?|checkpoints?|recordings?"
    rf"|virtualenvs?|venv|\.venv|caches?|screenshots|dumps?|s3 objects|stuff|contents|everything|scripts?|test suite|documents|photos|fixtures|docker (?:images?|containers?|volumes?|networks?)|images? and volumes?|{PATH}"
)
DELETE: Final = "delete|remove|erase|wipe|purge|rm|unlink|nuke|trash|destroy|shred|get rid of|clean up|clear out|blow away|throw away|discard|obliterate|wipe out|clean out|rm -rf|dispose of|eradicate|scrub|zap|prune|clear|rm -r|get rid off"
# What a program is made of: deleting such a thing is an edit.
OF_CODE: Final = (
    r"imports?|functions?|variables?|vars?|flags?|lines?|comments?|methods?|class(?:es)?|param\w*|arguments?|args?|props?|propert(?:y|ies)|types?|annotations?|helpers?|todos?|code|attributes?|selectors?|rules?|dependenc(?:y|ies)|features?|options?"
    r"|statements?|fields?|keys?|headers?|sections?|paragraphs?|sentences?|words?|checks?|conditions?|decorators?|alias(?:es)?|enums?|constants?|endpoints?|routes?|components?|stylesheets?|css|warnings?|assert\w*|mocks?|stubs?|blocks?|wrappers?|exports?"
    r"|overloads?|tests?|cases?|items?|values?|elements?|nodes?|entr(?:y|ies)|hooks?|handlers?|listeners?|characters?|whitespace|spaces?|newlines?|prefix(?:es)?|suffix(?:es)?|styles?|directives?|references?|examples?|headings?|links?|badges?|messages?"
    r"|calls?|casts?|buttons?|pages?|screens?|modals?|icons?|labels?|placeholders?|snapshots?|todo|logic|loops?|conditionals?|clauses?|interfaces?|structs?|traits?|modules?|macros?|generics?|brackets?|semicolons?|commas?|quotes?|columns? in the (?:ui|grid|csv)|debug\w*|prints?|logs? statements?|log calls?|subscriptions?|middlewares?|path|branch|state|cookie|tag|tags|html"
)
TABLES: Final = (
    r"databases?|db|dbs|(?:db|database|sql) tables?|tables?|schemas?|collections?|records?|rows?|keyspaces?|redis|postgres(?:ql)?|mysql|mongo(?:db)?|(?:production|prod|live|customer|user) data"
    r"|customers?|accounts?|tenants?|\w+ table|foreign keys?|constraints?|(?:db|database) index(?:es)?|replicas?"
)
LIVE: Final = r"(?:the )?(?:production|prod|live|staging|real|customer)"
SECRETS: Final = (
    r"api[- ]?keys?|api[- ]?tokens?|access keys?|secret keys?|private keys?|ssh keys?|signing keys?|encryption keys?|deploy keys?|gpg keys?|credentials?|creds|secrets?|passwords?|passphrases?"
    r"|(?:access|auth|bearer|oauth|refresh|github|gitlab|npm|pypi|personal access|bot|session|slack|admin|service|jwt|deploy) tokens?|pats?|service accounts?(?: keys?)?|client secrets?|webhook secrets?"
    r"|\.env(?:\.(?:local|production|prod|staging))?(?: file)?|env(?:ironment)? files?|key ?pairs?|certificates?|tls certs?|ssl certs?|keystore|vault|stripe keys?|\w+_(?:api_)?key|\w+_(?:token|secret|password)|connection strings?|database url"
)
GUARDS: Final = (
    r"auth|authentication|authori[sz]ation|auth(?:entication)? checks?|auth guards?|login checks?|permission checks?|access controls?|access checks?|csrf(?: protection| checks?| tokens?)?|cors(?: checks?| protection| restrictions?)?"
    r"|ssl(?: verification| checks?)?|tls(?: verification| checks?)?|(?:certificate|cert|ssl|tls|signature|token|webhook|host key|jwt|checksum) (?:verification|validation|checks?|checking|pinning)|2fa|mfa|two-factor(?: auth\w*)?"
    r"|firewalls?|security(?: checks?| headers?| scans?| controls?| features?| rules?)?|encryption(?: at rest)?|sandbox(?:ing)?|rate[- ]?limit(?:s|ing|er)?|csp|content security policy|hsts|rls|row[- ]level security(?: polic(?:y|ies))?|audit log(?:s|ging)?"
    r"|captcha|antivirus|selinux|apparmor|secret scanning|input (?:sani[tz]i[sz]ation|validation|escaping)|saniti[sz]ation|xss (?:protection|escaping|filter)|password (?:hashing|requirements?|checks?)|branch protection(?: rules?)?|code signing|gatekeeper"
    r"|permissions? (?:checks?|prompts?)|approval (?:prompts?|checks?)|the approval|guardrails?|safety checks?|brute[- ]force protection|session expiry|vulnerability (?:checks?|scans?)|dependency scanning|strict host key checking|authentication middleware|auth middleware|login"
)
HOSTS: Final = r"(?:production|prod|staging|live|kubernetes|k8s|cluster|vercel|heroku|aws|gcp|azure|netlify|fly\.io|cloudflare|cloud run|lambda|ecs|eks|gke|digitalocean|render|railway|firebase|server|servers|the server|infra|infrastructure|app store|play store|users|customers|canary|pre-?prod|uat|edge|cdn|github pages)"
PLATFORM_NOUN: Final = r"(?! (?:scripts?|targets?|steps?|jobs?|workflows?|configs?|configuration|docs?|guide|commands?|keys?|buttons?|pipelines?|stages?|urls?|sections?|notes?|manifests?|settings?|templates?|checklists?|process|strateg(?:y|ies)|dates?|names?|versions?|previews?|histor(?:y|ies)|logs?|lists?|status|timelines?|badges?|events?|pages?|views?|tables?|dashboards?|icons?|labels?|frequency|metrics|cards?|tabs?|widgets?|columns?|filters?))"
CODE_OBJECT: Final = r"(?:stack|queue|array|list|heap|vector|buffer|slice|set|map|history stack|router|events? onto|notifications?)"
BRANCHES: Final = r"(?<!else )(?<!if )(?<!dead )(?<!default )(?<!error )(?<!unreachable )(?<!catch )(?<!fallback )(?<!true )(?<!false )(?<!code )(?<!switch )branch(?:es)?"
# Where things are handed in for others to have: registries, stores, archives.
REGISTRIES: Final = (
    r"npm|pypi|test ?pypi|crates\.io|rubygems|packagist|hackage|cpan|cran|ctan|bioconductor|conda-forge|anaconda\.org|hex\.pm|pub\.dev|jsr|nuget|maven central|sonatype|docker ?hub|ghcr|quay|zenodo|figshare|dryad|osf|arxiv|biorxiv|medrxiv|openreview|ncbi|sra|genbank|kaggle|hugging ?face(?: hub)?|model hub"
    r"|(?:chrome )?web ?store|app ?stores?|play ?stores?|(?:vs ?code |jetbrains |atlassian |aws )?marketplace|f-droid|flathub|homebrew(?: core)?|snap ?store|microsoft store|test ?flight|itch\.io|itch|steam|beta testers|melpa|opam|artifactory|nexus|terraform registry|github releases|product hunt"
)
