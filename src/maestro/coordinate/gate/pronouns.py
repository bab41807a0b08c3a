"""“Delete it”: verbs whose object stands elsewhere in the question, and what makes them grave. Pure data."""

from __future__ import annotations

import re
from typing import Final

from maestro.coordinate.gate.nouns import OF_CODE

_IT: Final = r"(?:it|them|this|these|that|those|both|the rest|all|all of (?:it|them|these|those)|the (?:old|existing|current|previous|other|duplicate|unused|stale|orphaned|obsolete|generated|whole) (?:one|ones|thing))"
_ENDED: Final = r"(?= *(?:$|\||,|and|or|now|first|anyway|too|entirely|completely|permanently|as well|from|before|then|instead|yourself|manually|here|so|with|without|immediately|if|once))"
CODE_NOUNS: Final = re.compile(rf"\b(?:{OF_CODE})\b")
PRONOUNS: Final[tuple[tuple[re.Pattern[str], re.Pattern[str], str], ...]] = (
    (
        re.compile(rf"(?:^|\| |, |\b)(?:delete|deleting|remove|removing|wipe|erase|purge|destroy|nuke|trash|rm|overwrite|overwriting|discard|get rid of|clean (?:it|them) up|clobber|empty|drop) (?:{_IT}){_ENDED}|(?:^|\| )(?:yes ,? ?)?(?:delete|wipe|erase|purge|destroy|overwrite|remove)(?: (?:now|anyway|everything|all))?(?= *\|)"),
        re.compile(r"\b(?:files?|folders?|director(?:y|ies)|node_modules|backups?|artifacts?|snapshots?|volumes?|buckets?|repos?|repository|worktrees?|data|dumps?|logs|\S+\.(?:log|bak|tmp|zip|tar|gz|csv|db|sqlite|sql|json|md|txt|py|ts|js|go|rs)|dist|venv|migrations?)\b"),
        "file deletion",
    ),
    (
        re.compile(rf"\b(?:drop|dropping|delete|deleting|truncate|wipe|purge|reset|remove|recreate|clear|alter|flush) (?:{_IT}){_ENDED}|(?:^|\| )(?:yes ,? ?)?(?:drop|delete|wipe|purge|reset|recreate|truncate|drop and recreate)(?= *\|)"),
        re.compile(r"\b(?:databases?|db|tables?|schemas?|collections?|records|rows|columns?|redis|postgres\w*|mysql|mongo\w*|accounts|customers|production data|index(?:es)? on)\b"),
        "database changes",
    ),
    (
        re.compile(rf"\b(?:run|apply|execute|running|applying|re-?run|revert|roll (?:it|them|this) back|squash) (?:{_IT}){_ENDED}|(?:^|\| )(?:yes ,? ?)?(?:run|apply|execute)(?: now)?(?= *\|)"),
        re.compile(r"\.(?:delete|truncate|drop|destroy)\b|\b(?:migrations?|migrate|alter table|drop (?:table|column)|schema change|terraform|sql (?:script|statement)|delete from|\w*delete_all|\w*destroy_all|\w*deletemany|\w*drop_all)\b"),
        "database changes",
    ),
    (
        re.compile(rf"\b(?:run|execute|running|executing|source|eval|install|try|use) (?:{_IT}){_ENDED}"),
        re.compile(r"\b(?:gist|pastebin|stack ?overflow|downloaded|curl|wget|install(?:er)? script|from the internet|https?://|remote script|third[- ]party script|setup script from)\b"),
        "network fetch-and-run",
    ),
    (
        re.compile(rf"\b(?:push|merge|commit|revert|rebase|squash|amend|force|tag|delete|land|prune) (?:{_IT}){_ENDED}|(?:^|\| )(?:yes ,? ?)?(?:push|merge|commit|rebase|revert|squash|amend|force|force-push)(?: (?:now|anyway))?(?= *\|)"),
        re.compile(r"\b(?:pr|pull request|branch(?:es)?|commits?|origin|main|master|upstream|remote|merge request|git|uncommitted|hotfix|tags?)\b(?! (?:coverage|condition))"),
        "git operations",
    ),
    (
        re.compile(rf"\b(?:apply|run|execute|destroy|delete|scale|restart|promote|release|ship|roll) (?:{_IT}){_ENDED}"),
        re.compile(r"\b(?:production|prod|staging|terraform|kubernetes|k8s|cluster|pods?|helm|ec2|load balancer|infrastructure|live (?:site|environment))\b"),
        "deployments",
    ),
    (
        re.compile(rf"\b(?:kill|stop|terminate|restart|uninstall) (?:{_IT}){_ENDED}"),
        re.compile(r"\b(?:process(?:es)?|pid|service|daemon|port \d+|nginx|postgres|docker daemon|system package)\b"),
        "system changes",
    ),
    (
        re.compile(rf"\b(?:sign|accept|agree to) (?:{_IT}){_ENDED}"),
        re.compile(r"\b(?:cla|contract|agreement|terms|eula|nda|dpa|licen[cs]e terms)\b"),
        "security decisions",
    ),
    (
        re.compile(rf"\b(?:disable|skip|bypass|turn off|remove|ignore|suppress|grant|trust|expose|open|accept|allow) (?:{_IT}){_ENDED}"),
        re.compile(r"\b(?:auth|authentication|authorization|csrf|certificates?|tls|ssl|2fa|mfa|firewall|security|vulnerabilit(?:y|ies)|cve|admin access|permission check|signature|encryption|rate limit\w*)\b"),
        "security decisions",
    ),
    (
        re.compile(rf"\b(?:use|print|show|paste|share|send|store|commit|log|read|rotate|revoke|copy|export|open|hardcode|hard-code|cat|delete|enter|provide) (?:{_IT}){_ENDED}"),
        re.compile(r"\b(?:api[- ]?keys?|access tokens?|passwords?|credentials?|secrets?|private keys?|\.env|ssh key)\b(?! (?:field|form|input))"),
        "API keys",
    ),
)  # fmt: skip
