"""Verbs of programs whose subcommands say what they do: `aws ec2 describe-instances`, `gcloud run services list`. Pure."""

from __future__ import annotations

import itertools
import re
from typing import Final

# Programs that name what they do by a verb, some of them behind the names of groups.
_VERBED: Final = frozenset(
    {"aws", "gcloud", "az", "kubectl", "oc", "gh", "glab", "doctl", "heroku", "fly", "flyctl", "vercel", "netlify", "railway",
     "wrangler", "firebase", "supabase", "airflow", "dvc", "mlflow", "prefect", "dagster", "databricks", "snow", "helm", "argocd",
     "flux", "istioctl", "consul", "nomad", "terraform", "tofu", "terragrunt", "pulumi", "cdk", "serverless", "eb", "docker",
     "docker-compose", "podman", "redis-cli", "rabbitmqctl", "nats", "temporal", "probe-rs", "pio", "arduino-cli", "adb",
     "xcrun", "eas", "pm2", "wandb", "kaggle", "hf", "huggingface-cli", "linode-cli", "hcloud", "ibmcloud", "oci", "scw", "bq",
     "stripe", "linkerd", "cilium", "velero", "kops", "eksctl", "rancher", "minikube", "kind", "k3d", "crossplane", "vagrant",
     "packer", "ansible-galaxy", "brew", "snap", "flatpak", "conda", "mamba", "systemctl", "etcdctl", "influx", "pscale", "neonctl",
     "turso", "jj", "puppet", "chef", "salt", "mc"}
)  # fmt: skip
_GROUPED: Final = frozenset({"gcloud", "az", "aws", "oci", "ibmcloud", "linode-cli", "databricks", "stripe"})
_READS: Final = re.compile(
    r"(?:describe|list|get|show|view|status|info|history|diff|preview|plan|inspect|logs?|search|validate|lint|check|verify|version"
    r"|versions|explain|top|events|ls|ps|tail|whoami|doctor|count|query|scan|tree|graph|outdated|releases|preflight|ping|wait|lookup)"
    r"(?:[-:_]\w[\w-]*)?"
)
# The same in any other program, where nothing but a noun stands before it; and as its first option.
_LOOKS: Final = re.compile(
    r"(?:list|ls|lsd|lsl|lsf|du|show|describe|status|info|inspect|view|history|logs?|timeline|diff|search|find|tree|validate|lint|check|verify|assess"
    r"|analy[sz]e|health|version|versions|docs|help|plans|regions|types|ps|report|precheck|preview|synth|package|capabilities|fmt|incoming|outgoing|heads|annotate|blame|whoami|print|printcert|hashfile|doctor)"
    r"|(?:list|show|describe)[-_][a-z-]+|get(?!new|key)[a-z]{3,}|decode[a-z]{3,}"
)
_NOUNS: Final = frozenset({"versions", "releases", "events", "logs", "history", "plans", "package"})
# Behind these stands the name of an object, which may be called like a look: `frob write status`.
_ON_OBJECTS: Final = re.compile(
    r"write|add|append|insert|upsert|load|save|store|move|rename|mk\w*|make|new|gen\w*|build|rebuild|use|link|unlink|assign|tag|mark|call|request|emit|produce|enqueue"
    r"|schedule|queue|recreate|regenerate|rotate|renew|issue|trust|untrust|allow|deny|block|unblock|mute|lock|open|close|reopen|resolve|ack|silence|snooze|exec|shell|command"
    r"|cmd|do|eval|[lrszh]?(?:push|pop|add|set|rem|del)|incr\w*|decr\w*|expire\w*|rebase|amend|sync|fetch|pull|clone|checkout|shelve|unshelve|backout|uncommit"
)
_WRITES: Final = re.compile(
    r"write|append|insert|rename|move|[lrszh]?(?:push|pop|add|set|rem|del)x?|incr\w*|decr\w*|expire\w*"
)
_NOUN: Final = re.compile(r"[a-z][a-z-]*")
# Their operands are files, machines, people or commands.
_WORDLESS: Final = frozenset(
    {"rm", "rmdir", "unlink", "shred", "srm", "trash", "trash-put", "wipe", "del", "erase", "rd", "truncate", "dd", "chmod", "chown", "chgrp",
     "kill", "killall", "pkill", "ssh", "scp", "sftp", "rsync", "sudo", "doas", "su", "mount", "umount", "source", ".", "mail", "mailx", "mutt",
     "sendmail", "msmtp", "wall", "write", "nc", "ncat", "telnet", "ftp", "at", "batch", "expect", "osascript", "mogrify", "ed", "eval",
     "redis-cli", "memcached-tool", "ansible", "salt", "salt-call", "pdsh", "clush", "dsh", "mco", "fab", "cap", "nsenter", "chroot", "crontab", "xe",
     "curl", "wget", "http", "https", "xh", "nmap", "reboot", "shutdown", "halt", "poweroff", "init", "export", "open", "docker", "podman"}
)  # fmt: skip
_ACTS: Final = re.compile(
    r"(?:create|delete|remove|rm|destroy|apply|set|put|update|patch|edit|replace|run|start|stop|restart|deploy|rollback|rollout|scale|push"
    r"|publish|upload|send|invoke|exec|execute|attach|detach|enable|disable|add|import|restore|reset|terminate|reboot|migrate|up|down"
    r"|login|logout|sync|cp|mv|copy|promote|approve|merge|trigger|purge|flush\w*|drain|cordon|label|annotate|taint|expose|clear|redo)(?:[-:_]\w[\w-]*)?"
)
_CHANGES: Final = re.compile(
    r"(?:create|launch|delete|remove|rm|rmr|destroy|apply|set|put|patch|replace|start|stop|restart|deploy|rollback|scale|push|publish|upload|send"
    r"|invoke|attach|detach|enable|disable|import|restore|reset|terminate|reboot|migrate|login|logout|promote|approve|trigger|purge|flush\w*"
    r"|drain|switch|revert|submit|commit|install|uninstall|register|grant|revoke|transfer|pay|buy|order|flash|erase|format|provision|prune|forget|resize|kill|wipe|rb"
    r"|land|ship|release|merge|pub|post|note|comment|reply|tweet|toot|announce|notify|broadcast|invite|withdraw|refund|subscribe|mint|stake|burn|del|dlt|join|leave|unlock|hangup|sign|finalize|evict|ban|kick|reimage)(?:[-_]\w[\w-]*)?"
    # Some programs write it as one word: `sendtoaddress`.
    r"|(?:send|delete|remove|destroy|deploy|upload|transfer|withdraw|publish)[a-z]{3,}|pay(?!load|ment|roll)[a-z]{3,}|set(?:passw|pw|secret|key)\w*|rm(?:branch|label|view|user|tag|elem|type)|del[-_]\w+"
)
_PRODUCTION: Final = re.compile(r"(?i)(?<![a-z])prod(?:uction)?(?![a-z])")
_REMOTE: Final = re.compile(
    r"^(?:[a-z][a-z+]*://(?!localhost|127\.|\[::1|0\.0\.0\.0|/)|(?:gh|github|gitlab|bitbucket|sourcehut|git@|git\+)[:@]?\S)"
    r"|@[\w-]+(?:\.[\w-]+)+:?|^(?:\S+=)?(?!127\.|0\.0\.0\.0)(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?$"
    r"|^(?:\S+=)?[\w-]+(?:\.[\w-]+)*\.(?:com|net|org|io|dev|ai|cloud|internal|local)(?::\d+)?(?:/\S*)?$"
    r"|^(?:\S+=)?(?!localhost|127\.|0\.0\.0\.0)[a-z][\w.-]*:\d{4,5}$|^ppa:"
)
_HOST_OPTION: Final = re.compile(r"-[hH]|--(?:host|hostname|server|broker|endpoint|target-host|address|url)")
_SECRET: Final = re.compile(
    r"secret|passw|credential|token|param|login|\bkeys?\b|access-key|kubeconfig|config:get|\bconfig\b|connection-string|env\b|environ|variables?\b|authorization|download-url"
)


_ACCESS: Final = frozenset(
    {"user", "users", "role", "roles", "group", "groups", "member", "members", "permission", "permissions", "acl", "acls", "policy",
     "grant", "grants"}
)  # fmt: skip
_ACCESS_ACTS: Final = frozenset(
    {"add", "set", "mod", "modify", "update", "create", "assign", "attach", "change", "edit", "bind", "map", "enable", "disable",
     "invite", "remove", "delete"}
)  # fmt: skip


def act_verb(operands: list[str]) -> str:
    """Returns the word that tells a program which nobody here knows to change something; empty where there is none."""
    told = (
        word
        for word in operands[:4]
        if re.fullmatch(r"-{0,2}[a-z][\w.:-]*|(?:[\w.]+/)?[A-Z][a-z]+(?:[A-Z]\w*)+", word)
    )
    return next(
        (
            word
            for word in told
            if word not in {"--format", "--release"} and _CHANGES.fullmatch(_last_verb(word))
        ),
        "",
    )


def _last_verb(word: str) -> str:
    """Returns the verb of `--delete`, `topics:delete` or `acme.Users/DeleteUser`."""
    last = re.split(r"[.:/]", word.lstrip("-"))[-1]
    return re.split(r"(?<=[a-z])(?=[A-Z])", last)[0].casefold() if last[:1].isupper() else last


def remote(words: tuple[str, ...]) -> str:
    """Returns the word that names another machine or somebody else's code; empty where there is none."""
    hosts = (
        value
        for option, value in itertools.pairwise(words)
        if _HOST_OPTION.fullmatch(option)
        and "." in value
        and not re.match(r"localhost|127\.|0\.0\.0\.0", value)
    )
    return next(filter(_REMOTE.search, words), "") or next(hosts, "")


def production(words: list[str]) -> str:
    """Returns the word that names what is in production; empty where there is none."""
    return next(filter(_PRODUCTION.search, words), "")


def shows_secret(words: list[str]) -> bool:
    """Returns whether a program is told to show something that is called a secret."""
    told = [word.casefold() for word in words]
    return any(
        word in {"show", "get", "read", "cat", "export", "reveal", "clip", "print", "fetch"}
        for word in told[:3]
    ) and any(re.search(r"passw|secret|credential|api-?key|private-?key|\btokens?\b", word) for word in told)


def is_about_access(operands: list[str]) -> bool:
    """Returns whether a program is told to change users, groups, roles or what they may do."""
    parts = {part for word in operands[:3] for part in re.split(r"[-_:./]", word.casefold())}
    return bool(parts & _ACCESS) and bool(parts & _ACCESS_ACTS)


def looks(name: str, words: list[str]) -> bool:
    """Returns whether a program of any trade is told to look at something that is no secret: `zfs list`, `gpg --verify`."""
    if name in _WORDLESS or any(
        _SECRET.search(word.casefold()) for word in words[:6] if not word.startswith("-")
    ):
        return False
    if words and re.match(r"--?[a-z]", words[0]) and _LOOKS.fullmatch(words[0].lstrip("-").partition("=")[0]):
        return True
    told = [word for word in words if not word.startswith("-")][:4]
    values = {
        value for option, value in itertools.pairwise(words) if option.startswith("-") and "=" not in option
    }
    for place, word in enumerate(told[:3]):
        if word in values and any(_CHANGES.fullmatch(_last_verb(other)) for other in told[place + 1 :]):
            return False
        if _LOOKS.fullmatch(_last_verb(word)) or re.match(r"(?:Describe|List)[A-Z]", word):
            return word not in _NOUNS or not any(map(_ACTS.fullmatch, told[place + 1 : place + 2]))
        if not _NOUN.fullmatch(word) or any(acts.fullmatch(word) for acts in (_ACTS, _CHANGES, _ON_OBJECTS)):
            return False
    return False


def read_verb(name: str, operands: list[str]) -> int | None:
    """Returns at which operand a program is told to read something that is no secret; None where it is not."""
    if name not in _VERBED:
        return None
    words = [word.casefold() for word in operands[:6]]
    if any(map(_SECRET.search, words)):
        return None
    start = 1 if name in _GROUPED else 0
    for place, word in enumerate(words[start:], start):
        if ":" in word and _ACTS.fullmatch(word.split(":")[-1]):
            return None
        if _READS.fullmatch(word):
            # `wrangler versions deploy`: behind a noun stands the verb.
            return (
                None if word in _NOUNS and any(map(_ACTS.fullmatch, words[place + 1 : place + 2])) else place
            )
        if _WRITES.fullmatch(word):
            return None
        # A group may be called like an act: `gcloud run services list`.
        if _ACTS.fullmatch(word) and not (name == "gcloud" and place <= 1):
            return None
    return None
