"""What a command's arguments say beyond its name: files, addresses, variables. Pure."""

from __future__ import annotations

import itertools
import re
from typing import Final

from maestro.coordinate.gate import places, statements
from maestro.coordinate.gate.deeds import UNREADABLE, Effect
from maestro.coordinate.gate.shell import Command

_WRITERS: Final = frozenset(
    {"cp", "mv", "tee", "touch", "mkdir", "ln", "install", "rsync", "patch", "dd", "truncate", "chmod",
     "copy-item", "move-item", "set-content", "out-file", "add-content", "unzip", "tar", "xcopy",
     "robocopy", "plutil"}
)  # fmt: skip
_READERS: Final = frozenset(
    {"cat", "bat", "less", "more", "head", "tail", "grep", "egrep", "rg", "strings", "xxd", "hexdump", "od", "base64", "awk", "sed",
     "cp", "scp", "mv", "tar", "zip", "cut", "sort", "source", ".", "jq", "yq", "get-content", "type", "nl", "tac", "rsync", "curl", "openssl", "gpg", "diff", "vim", "vi", "nano", "code", "open", "dotenv", "python", "node", "echo", "printf", "fold", "column", "rev", "tr", "paste", "dd", "wc"}
)  # fmt: skip
_SECRET_VARIABLE: Final = re.compile(
    r"\$\{?\w*(?:SECRET|PASSW|TOKEN|API_?KEY|ACCESS_?KEY|CREDENTIAL|PRIVATE_?KEY|DATABASE_URL)\w*",
    re.IGNORECASE,
)
_HIJACKS: Final = re.compile(
    r"^(?:LD_PRELOAD|LD_LIBRARY_PATH|DYLD_\w+|BASH_ENV|ENV|PROMPT_COMMAND|IFS|PYTHONSTARTUP|NODE_OPTIONS|PERL5OPT|GIT_SSH_COMMAND|GIT_PAGER|PAGER|EDITOR|GIT_EXTERNAL_DIFF|GIT_EDITOR|PATH)$"
)
# Variables that name a program or hand options to one, and values by which that would be somebody else's.
_NAMES_PROGRAM: Final = re.compile(
    r"^(?:CC|CXX|CPP|LD|AR|AS|SHELL|MAKE|RUSTC|RUSTC_WRAPPER|RUSTC_WORKSPACE_WRAPPER|CARGO_\w+_(?:RUNNER|LINKER)|CMAKE_\w+_LAUNCHER|\w*FLAGS|\w+_OPTS|\w+_OPTIONS|PYTHONPATH|NODE_PATH|PERL5LIB|RUBYLIB|RUBYOPT|CLASSPATH|PATH)$"
)
_OF_OTHERS: Final = re.compile(
    r"(?:^|[\s=:,])(?:/tmp/|/dev/shm/|/var/tmp/|~/|https?:)|\b(?:curl|wget|nc|ncat)\b|\b(?:ba|z|da|k)?sh -c\b|--eval\b|--require\b|-javaagent"
)
_LOOSENS: Final = re.compile(
    r"^(?:NODE_TLS_REJECT_UNAUTHORIZED|PYTHONHTTPSVERIFY|GIT_SSL_NO_VERIFY|SSL_CERT_FILE|SKIP_AUTH|DISABLE_AUTH|IS_SANDBOX)$"
)
# Options that switch off what protects, whatever program has them.
_UNGUARDED: Final = re.compile(
    r"--(?:insecure(?:-\w+)*|no-check-certificate|no-verify-ssl|skip-tls-verify|insecure-skip-tls-verify|tls-skip-verify|ignore-certificate-errors|disable-web-security|disable-host-check|no-auth|noauth|without-auth|no-password|allow-unauthenticated|allow-anonymous|disable-auth\w*|auth[=-]none|trusted-host|trust-remote-code|trust_remote_code|dangerously-[\w-]+|yolo|allow-insecure[\w-]*|privileged|bind_all|bind_ip_all|protected-mode=no|disable-sandbox|no-gpg-check\w*|nogpgcheck|force-yes|skip-verify|no-verify-peer)(?:=(?!false|no|0).*)?"
    r"|--[\w.]*(?:token|password|auth)\w*=(?:''|\"\"|none|off|false)?|--[\w.]*disable_check_xsrf\S*|--[\w.]*allow_origin\S*\*\S*|stricthostkeychecking=no|--(?:ip|bind|bind_ip|server\.address)=(?:0\.0\.0\.0|\*|::)",
    re.IGNORECASE,
)
_UNGUARDED_PAIRS: Final = frozenset(
    {("strict-ssl", "false"), ("--protected-mode", "no"), ("--ip", "0.0.0.0"), ("--ip", "*"), ("http.sslverify", "false"), ("ssl_verify", "false"), ("--auth", "none"), ("--bind_ip", "0.0.0.0")}  # noqa: S104 - addresses to look for, none is bound
)  # fmt: skip
_LIVE: Final = re.compile(r"\b(?:prod|production|live|staging)\b", re.IGNORECASE)
_STARTS: Final = frozenset({"up", "restart", "run", "start", "stop", "down", "exec", "create", "rm"})
_SECRET_SETTING: Final = re.compile(r"_authToken|_password|:_auth\b|api[_-]?key|secret|token", re.IGNORECASE)
# Options of an emulator that hand it devices, folders or commands of this machine.
_TOUCHES_HOST: Final = re.compile(
    r"(?:^|[=,:])/dev/(?!null|zero|u?random|pts|tty)|\bvfio|^tap\b|\bbridge\b|\bpath=(?:/|~|/home/\w+)/?(?:,|$)|\bexec:|\bhost(?:bus|device|addr)=|usb-host"
)
_ONLY_SHOWS: Final = frozenset({"-p", "-lint", "-type", "-help"})  # of plutil
_INSTALLERS: Final = frozenset(
    {"pip", "pipx", "npm", "pnpm", "yarn", "uv", "cargo", "go", "gem", "brew", "poetry", "bun", "deno"}
)
_URL: Final = re.compile(r"\b(?:https?|ftp|git\+\w+|ssh|git)://|git@")


def variable_effects(command: Command) -> list[Effect]:
    found = []
    for name, value in command.variables:
        if name == "ENV" and "/" not in value.text:
            continue
        if (
            _HIJACKS.match(name)
            and not (name == "PATH" and "$PATH" in value.text)
            and value.text not in {"cat", "", "less", "true", ":"}
        ):
            found.append(
                Effect(
                    "sure" if name != "NODE_OPTIONS" else "wary",
                    "security decisions",
                    "it changes what other programs run",
                    f"{name}={value.text[:60]}",
                )
            )
        elif _NAMES_PROGRAM.match(name) and _OF_OTHERS.search(value.text):
            found.append(
                Effect(
                    "sure",
                    "security decisions",
                    "it changes what other programs run",
                    f"{name}={value.text[:60]}",
                )
            )
        if _LOOSENS.match(name):
            found.append(
                Effect("sure", "security decisions", "it switches a check off", f"{name}={value.text[:60]}")
            )
        if (
            re.search(r"(?:^|_)(?:ENV|ENVIRONMENT)$", name)
            and _LIVE.search(value.text)
            and name != "NODE_ENV"
        ):
            found.append(
                Effect("sure", "deployments", "it works on a live environment", f"{name}={value.text[:60]}")
            )
    return found


def argument_effects(command: Command) -> list[Effect]:
    name, words = command.name, command.arguments
    found: list[Effect] = []
    if name in _READERS or command.path.startswith(("./", "/")):
        for word in words:
            found += placed(tuple(filter(None, (places.reads(_bare(word)),))), word)
    if name in {"echo", "printf", "curl", "wget", "http", "printenv", "nc"} and any(
        _SECRET_VARIABLE.search(w) for w in words
    ):
        found.append(Effect("sure", "API keys", "it prints or sends a secret"))
    if name == "printenv" and any(_SECRET_VARIABLE.search("$" + w) for w in words):
        found.append(Effect("sure", "API keys", "it prints a secret"))
    if any(map(_UNGUARDED.fullmatch, words)) or not _UNGUARDED_PAIRS.isdisjoint(
        (one.casefold(), two.casefold()) for one, two in itertools.pairwise(words)
    ):
        found.append(Effect("sure", "security decisions", "an option switches off what protects"))
    if name == "qemu-system" and (host := next(filter(_TOUCHES_HOST.search, words), None)):
        found.append(Effect("sure", "system changes", "the machine that it imitates gets at this one", host))
    if name in _WRITERS and not (name == "plutil" and _ONLY_SHOWS.intersection(words)):
        found += _written(name, words)
    if name in {"sed", "perl", "awk", "gawk"}:
        found += _edited(name, words)
    if name in {"curl", "wget", "http", "https", "xh"}:
        found += statements.request_effects(name, words)
    if name == "git":
        found += _git(words)
    if name in {"rsync", "scp"} and any(
        re.match(r"^[\w.-]+@?[\w.-]*:[^/\\]?", w) and "://" not in w for w in words
    ):
        found.append(Effect("sure", "security decisions", "it copies files to or from another machine"))
    if name in _INSTALLERS and any(_URL.search(w) for w in words) and "--registry" not in words:
        found.append(Effect("sure", "network fetch-and-run", "it installs from an address"))
    if name == "go" and words[:1] in (("run",), ("install",)) and any("@" in w for w in words):
        found.append(Effect("sure", "network fetch-and-run", "it fetches a program, and builds and runs it"))
    if name in {"export", "declare", "typeset"} and any(
        _SECRET_VARIABLE.search("$" + w.split("=")[0]) and "=" in w for w in words
    ):
        found.append(Effect("sure", "API keys", "it sets a secret"))
    if name in {"docker", "podman"} and any(
        re.search(r"(?:^|=)/(?:etc|var/run/docker\.sock|root)?:", w) for w in words
    ):
        found.append(Effect("sure", "system changes", "it gives a container the machine's own folders"))
    if (
        name in {"docker", "docker-compose", "podman"}
        and any(_LIVE.search(w) for w in words)
        and _STARTS & set(words)
    ):
        found.append(Effect("sure", "deployments", "it works on a live environment"))
    if "config" in words and "set" in words and any(_SECRET_SETTING.search(w) for w in words):
        found.append(Effect("sure", "API keys", "it sets a secret"))
    if name in {"xargs", "parallel"} and not [w for w in words if not w.startswith("-")]:
        found.append(Effect("read"))
    if name in {"command", "alias"} and any("=" in w for w in words) and name == "alias":
        found.append(Effect("wary", "security decisions", "it changes what a command name means"))
    if re.fullmatch("tmux|screen", name) and {
        "send-keys",
        "respawn-pane",
        "run-shell",
        "-X",
        "new-session",
        "new-window",
        "split-window",
    } & set(words):
        found.append(Effect("sure", UNREADABLE, "it types into another terminal"))
    return found


def _bare(word: str) -> str:
    """A path in an option or behind an @: `--file=x`, `file=@x`."""
    return (
        re.sub(r"^(?:-{1,2}[\w-]+=|\w+=)?@?", "", word)
        if word.startswith(("-", "@")) or "=@" in word
        else word
    )


def placed(found: tuple[places.Place, ...], evidence: str) -> list[Effect]:
    return [
        Effect("sure" if place.is_sure else "wary", place.category, place.why, evidence[:80])
        for place in found
    ]


def _written(name: str, words: tuple[str, ...]) -> list[Effect]:
    operands = [word for word in words if not word.startswith("-")]
    if name in {"cp", "mv", "ln", "install", "rsync", "copy-item", "move-item"}:
        targets = operands[-1:] if len(operands) > 1 else []
    elif name == "dd":
        targets = [word[3:] for word in words if word.startswith("of=")]
    elif name in {"tar", "unzip"}:
        targets = [words[at + 1] for at, word in enumerate(words[:-1]) if word in {"-C", "-d", "--directory"}]
    elif name == "chmod":
        targets = operands[1:]
    else:
        targets = operands
    found = [effect for target in targets for effect in placed(places.writes(target), target)]
    if name == "cp" and "/dev/null" in operands[:-1]:
        found.append(Effect("sure", "file deletion", "it empties a file"))
    if name == "mv" and any(target == "/dev/null" for target in targets):
        found.append(Effect("sure", "file deletion", "it moves files to nowhere"))
    if name == "mv" and any(places.is_home_or_root(word) for word in operands):
        found.append(Effect("sure", "file deletion", "it moves everything away"))
    return found


def _edited(name: str, words: tuple[str, ...]) -> list[Effect]:
    in_place = any(
        re.match(r"-[a-zA-Z]*i|--in-place", word) for word in words if word.startswith("-")
    ) and name in {"sed", "perl"}
    found: list[Effect] = []
    if in_place:
        found.append(Effect("change"))
        for word in [w for w in words if not w.startswith("-")][-3:]:
            found += (
                placed(places.writes(word), word) if re.search(r"[/.~]", word) and " " not in word else []
            )
    if name in {"awk", "gawk"} and any(re.search(r"\bsystem\s*\(|\|\s*\"|print\s*>", word) for word in words):
        found.append(Effect("sure", UNREADABLE, "its program runs or writes something"))
    if name == "sed" and any(
        re.search(r"(?:^|[;}/0-9$\s])(?:e\s|w\s+\S)|/e[gi]*$", word)
        for word in words
        if not re.fullmatch(r"-\w+|[\w./-]+", word)
    ):
        found.append(Effect("wary", UNREADABLE, "its program may run or write something"))
    return found


def _git(words: tuple[str, ...]) -> list[Effect]:
    found = []
    for at, word in enumerate(words[:-1]):
        if word == "-c" and re.match(
            r"(?i)(?:alias\.|core\.(?:pager|sshcommand|fsmonitor|hookspath|editor)|diff\.external|http\.sslverify|credential|protocol|filter\.|gpg\.|sequence\.editor)",
            words[at + 1],
        ):
            found.append(Effect("sure", "security decisions", "it makes git run something else"))
    if any(
        word.startswith(
            (
                "--upload-pack",
                "--receive-pack",
                "--exec=",
                "--ext-diff",
                "--textconv",
                "-O",
                "--open-files-in-pager",
            )
        )
        for word in words
        if word != "-O"
    ):
        found.append(Effect("wary", UNREADABLE, "it makes git run something else"))
    if "push" in words and any(re.match(r"^\+\S|^:\S", word) for word in words):
        found.append(Effect("sure", "destructive git operations", "it overwrites or deletes what is there"))
        found.append(Effect("sure", "git operations", "it overwrites or deletes what is there"))
    return found
