"""What a command's arguments say beyond its name: files, addresses, variables. Pure."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Final

from maestro.coordinate.gate import options, places, statements
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
_AWK_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
_AWK_REGEX: Final = re.compile(r"/(?:[^/\\\n]|\\.)+/")
_AWK_ACTS: Final = re.compile(
    r"\bsystem\s*\(|\|&|\|\s*(?:getline|\"\")|\bprintf?\b[^;}\n]*[>|]|\bgetline\b[^;}\n]*<|@(?:load|include)"
)
# These name files, and do not read them.
_LISTERS: Final = frozenset(
    {"ls", "stat", "test", "[", "file", "du", "find", "fd", "tree", "basename", "dirname", "realpath", "readlink", "mkdir", "touch"}
)  # fmt: skip
_SEARCHERS: Final = frozenset({"grep", "egrep", "rg", "awk", "sed", "jq", "yq", "tr"})
_SECRET_VARIABLE: Final = re.compile(
    r"\$\{?\w*(?:SECRET|PASSW|PASS\b|PAT\b|TOKEN|API_?KEY|ACCESS_?KEY|CREDENTIAL|PRIVATE_?KEY|DATABASE_URL)\w*",
    re.IGNORECASE,
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
    {("set", "global.trusted-host"), ("strict-ssl", "false"), ("--protected-mode", "no"), ("--ip", "0.0.0.0"), ("--ip", "*"), ("http.sslverify", "false"), ("ssl_verify", "false"), ("--auth", "none"), ("--bind_ip", "0.0.0.0")}  # noqa: S104 - addresses to look for, none is bound
)  # fmt: skip
_RUNS_URLS: Final = frozenset(
    {"streamlit", "papermill", "scala-cli", "scala", "amm", "deno", "bun", "node", "tsx", "python", "ipython", "jupyter", "marimo", "Rscript", "R",
     "julia", "ruby", "php", "lua", "groovy", "kotlin", "kotlinc", "kscript", "jbang", "raku", "elixir", "iex", "bb", "clojure", "wasmtime", "wasmer",
     "quarto", "locust", "k6", "nextflow", "snakemake", "cwltool", "wdl", "gradio", "voila", "bokeh", "panel", "source", "bash", "sh", "zsh"}
)  # fmt: skip
_REMOTE_CODE: Final = re.compile(
    r"https?://(?!localhost|127\.)\S+\.(?:py|ipynb|sh|bash|rb|pl|php|lua|jl|sc|scala|groovy|kts?|cljs?|exs?|wasm|R)(?:\?\S*)?$|https://gist\.github"
)
_LIVE: Final = re.compile(r"\b(?:prod|production|live|staging)\b", re.IGNORECASE)
_STARTS: Final = frozenset({"up", "restart", "run", "start", "stop", "down", "exec", "create", "rm"})
_SECRET_SETTING: Final = re.compile(
    r"_authToken|passw(?:or)?d|:_auth\b|api[_-]?key|secret|token", re.IGNORECASE
)
# Options of an emulator that hand it devices, folders or commands of this machine.
_TOUCHES_HOST: Final = re.compile(
    r"(?:^|[=,:])/dev/(?!null|zero|u?random|pts|tty)|\bvfio|^tap\b|\bbridge\b|\bpath=(?:/|~|/home/\w+)/?(?:,|$)|\bexec:|\bhost(?:bus|device|addr)=|usb-host"
)
_ONLY_SHOWS: Final = frozenset({"-p", "-lint", "-type", "-help"})  # of plutil
_INSTALLERS: Final = frozenset(
    {"pip", "pipx", "uvx", "npx", "bunx", "npm", "pnpm", "yarn", "uv", "cargo", "go", "gem", "brew", "poetry", "bun", "deno"}
)  # fmt: skip
_CLIENTS: Final = frozenset(
    {
        "curl",
        "wget",
        "http",
        "https",
        "xh",
        "echo",
        "printf",
        "nc",
        "ping",
        "git",
        "sed",
        "test",
        "[",
        "lsof",
        "ss",
    }
)
_EVERYWHERE: Final = re.compile(r"(?:^|[=@/,:])0\.0\.0\.0(?::\d+|,|$)")
_TYPES_ELSEWHERE: Final = frozenset(
    {"send-keys", "respawn-pane", "run-shell", "-X", "new-session", "new-window", "split-window"}
)
_URL: Final = re.compile(r"\b(?:https?|ftp|git\+\w+|ssh|git)://|git@")


def variable_effects(command: Command) -> list[Effect]:
    found = []
    for name, value in command.variables:
        if (runs := options.variable_effect(name, value.text)) is not None:
            found.append(runs)
        if _EVERYWHERE.search(value.text) and name != "NO_PROXY":
            found.append(
                Effect("sure", "security decisions", "it lets other machines in", f"{name}={value.text[:60]}")
            )
        if (place := _elsewhere(name, value.text)) is not None:
            found.append(place)
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


def _elsewhere(name: str, value: str) -> Effect | None:
    """A variable that makes a command work on another machine, or on this one outside of the project."""
    shown = f"{name}={value[:60]}"
    if name == "DOCKER_CONTEXT" and value not in {
        "default",
        "desktop-linux",
        "colima",
        "rootless",
        "orbstack",
    }:
        return Effect("sure", "deployments", "it works on another machine", shown)
    if name in {"DOCKER_HOST", "CONTAINER_HOST"} and re.match(
        r"(?:ssh|tcp|https?)://(?!localhost|127\.)", value
    ):
        return Effect("sure", "deployments", "it works on another machine", shown)
    if re.fullmatch(r"(?i)npm_config_(?:location|global)", name) and value in {"global", "true", "1"}:
        return Effect("sure", "system changes", "it installs for the whole machine", shown)
    if re.search(r"(?i)(?:^|_)(?:\w*bin|prefix|destdir|root)$", name) and re.match(
        r"/(?:usr|bin|sbin|etc|lib|opt|boot)\b", value
    ):
        return Effect("sure", "system changes", "it writes outside the project, where the system is", shown)
    return None


def argument_effects(command: Command) -> list[Effect]:
    """What a command does by its arguments, whatever its name alone says."""
    name, words = command.name, command.arguments
    found = options.option_effects(name, words) + options.unreadable_configuration(name, words)
    found += _emptied(command) + _secrets_shown(name, words)
    for look in (*_LOOKS.get(name, ()), *_LOOKS["*"]):
        found += look(command)
    found += [
        Effect("sure", category, why)
        for names, is_so, category, why in _SIGNS
        if (names is None or name in names) and is_so(words)
    ]
    return found


def _read(command: Command) -> list[Effect]:
    if command.name in _LISTERS:
        return []
    words = _read_words(command.name, command.arguments)
    if command.name not in _READERS and not command.path.startswith(("./", "/")):
        # Whatever it is, a file of the home with a secret in it is read by it.
        words = tuple(word for word in words if word.startswith(("~", "/", "$HOME")))
    return [
        effect for word in words for effect in placed(tuple(filter(None, (places.reads(_bare(word)),))), word)
    ]


def _installed(command: Command) -> list[Effect]:
    """`make install prefix=/usr`: an assignment among the arguments says where."""
    if "install" not in command.arguments:
        return []
    given = (word.split("=", 1) for word in command.arguments if "=" in word and not word.startswith("-"))
    return [place for name, value in given if (place := _elsewhere(name, value)) is not None][:1]


def _imitated(command: Command) -> list[Effect]:
    host = next(filter(_TOUCHES_HOST.search, command.arguments), None)
    why = "the machine that it imitates gets at this one"
    return [Effect("sure", "system changes", why, host)] if host else []


def _made_up(command: Command) -> list[Effect]:
    """A program in a small language that is known only when it runs."""
    is_made = any(not word.is_certain and re.search(r"\$\(|`", word.text) for word in command.words[:2])
    return [Effect("sure", UNREADABLE, "its program is what another command prints")] if is_made else []


def _aliased(command: Command) -> list[Effect]:
    is_set = any("=" in word for word in command.arguments)
    why = "it changes what a command name means"
    return [Effect("wary", "security decisions", why)] if is_set else []


def _typed(command: Command) -> list[Effect]:
    types = re.fullmatch("tmux|screen", command.name) and _TYPES_ELSEWHERE & set(command.arguments)
    return [Effect("sure", UNREADABLE, "it types into another terminal")] if types else []


def _has(pattern: str, flags: int = 0) -> Callable[[tuple[str, ...]], bool]:
    """Whether a word has this in it."""
    compiled = re.compile(pattern, flags)
    return lambda words: any(map(compiled.search, words))


def _listened(command: Command) -> list[Effect]:
    """A server that anybody in the network reaches."""
    if command.name in _SEARCHERS | _CLIENTS:
        return []
    everywhere = next(filter(_EVERYWHERE.search, command.arguments), None)
    why = "it lets other machines in"
    return [Effect("sure", "security decisions", why, everywhere)] if everywhere else []


def _is_unguarded(words: tuple[str, ...]) -> bool:
    pairs = ((one.casefold(), two.casefold()) for one, two in itertools.pairwise(words))
    return any(map(_UNGUARDED.fullmatch, words)) or not _UNGUARDED_PAIRS.isdisjoint(pairs)


def _installs_outside(words: tuple[str, ...]) -> bool:
    return any(
        option in {"--root", "--prefix", "--target", "-t", "--install-dir", "--bindir"}
        and places.writes(value)
        for option, value in itertools.pairwise(words)
    )


def _sets_secret(words: tuple[str, ...]) -> bool:
    return any("=" in word and bool(_SECRET_VARIABLE.search("$" + word.split("=")[0])) for word in words)


def _secrets_shown(name: str, words: tuple[str, ...]) -> list[Effect]:
    """Options and filters that print secrets or the whole environment."""
    is_shown = {
        "jq": any(
            re.search(r"(?:^|[|(,\s])env\b|\$ENV\b", word)
            for word in words
            if " " in word or word in {"env", "$ENV"}
        ),
        "docker": any(re.search(r"\.Config\.Env\b|\.Env\b", word) for word in words),
        "podman": any(re.search(r"\.Config\.Env\b|\.Env\b", word) for word in words),
        "gh": any(word in {"--show-token", "-t"} for word in words) and "auth" in words,
        "ps": any(re.fullmatch(r"[a-z]*e[a-z]*", word) for word in words),
    }
    return [Effect("sure", "API keys", "it prints secrets")] if is_shown.get(name) else []


def _read_words(name: str, words: tuple[str, ...]) -> tuple[str, ...]:
    """The words that may be files: what is searched for is none, nor is a certificate that is shown."""
    if name == "openssl":
        return () if words[:1] in {("x509",), ("verify",), ("req",), ("crl",)} else words
    if name not in _SEARCHERS or any(
        re.match(r"-[a-zA-Z]*[ef]$|--(?:regexp|file)\b", word) for word in words
    ):
        return words
    pattern = next((word for word in words if not word.startswith("-")), None)
    at = words.index(pattern) if pattern is not None else len(words)
    return words[:at] + words[at + 1 :]


def _emptied(command: Command) -> list[Effect]:
    """Files that are left empty or replaced by nothing."""
    name, words = command.name, command.arguments
    if name in {"sort", "install", "cp", "mv", "tee"} and "/dev/null" in words[:-1] and len(words) > 1:
        return [Effect("sure", "file deletion", "it empties a file")]
    if name == "tee" and words and not (command.fed_by or command.stdin):
        return [Effect("sure", "file deletion", "it empties a file")]
    operands = [word for word in words if not word.startswith("-")]
    if name == "uniq" and len(operands) > 1:
        return options.written_over(operands[1], operands[1])
    return []


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
        re.match(r"-[a-zA-Z]*i|--in-place", word)
        for word in words
        if word.startswith("-") and word[:2] not in {"-M", "-m", "-I"}
    ) and name in {"sed", "perl", "yq"}
    found: list[Effect] = []
    if in_place and name == "perl" and any(re.fullmatch(r"-\w*n\w*", word) for word in words):
        found.append(Effect("wary", "file deletion", "it keeps only the lines that it prints"))
    if in_place and name == "sed" and any(re.fullmatch(r"(?:[01],\$)?\s*[dQ]|\$!d", word) for word in words):
        found.append(Effect("sure", "file deletion", "it empties a file"))
    if in_place:
        found.append(Effect("change"))
        for word in [w for w in words if not w.startswith("-")][-3:]:
            found += (
                placed(places.writes(word), word) if re.search(r"[/.~]", word) and " " not in word else []
            )
    if name in {"awk", "gawk"} and any(
        map(_AWK_ACTS.search, (_AWK_REGEX.sub("//", _AWK_STRING.sub('""', word)) for word in words))
    ):
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
    if any(word in {"--ext-diff", "--textconv"} for word in words):
        found.append(Effect("wary", UNREADABLE, "it makes git run something else"))
    if "push" in words and any(re.match(r"^\+\S|^:\S", word) for word in words):
        found.append(Effect("sure", "destructive git operations", "it overwrites or deletes what is there"))
        found.append(Effect("sure", "git operations", "it overwrites or deletes what is there"))
    return found


_Look = Callable[[Command], list[Effect]]
_Sign = tuple[frozenset[str] | None, Callable[[tuple[str, ...]], bool], str, str]
# Program, or `*` for any: what is looked at besides its options.
_LOOKS: Final[dict[str, tuple[_Look, ...]]] = {
    "*": (_read, _installed, _listened, _typed),
    "qemu-system": (_imitated,),
    "git": (lambda command: _git(command.arguments),),
    "alias": (_aliased,),
    **dict.fromkeys(_WRITERS, (lambda command: _written(command.name, command.arguments),)),
    **dict.fromkeys(
        ("curl", "wget", "http", "https", "xh"),
        (lambda command: statements.request_effects(command.name, command.arguments),),
    ),
    **dict.fromkeys(
        ("sed", "perl", "awk", "gawk", "yq"),
        (lambda command: _edited(command.name, command.arguments), _made_up),
    ),
    "jq": (_made_up,),
}
# Programs (none: any), what shows it in their arguments, and what it is.
_SIGNS: Final[tuple[_Sign, ...]] = (
    (None, _is_unguarded, "security decisions", "an option switches off what protects"),
    (None, _has(r"^(?:rtmps?|srt|rist)://"), "publishing", "it streams to others"),
    (
        None,
        _has(
            r"-(?:agentpath|agentlib|javaagent):(?:/|~|\.\./)|auto_(?:prepend|append)_file=|Custom(?:Before|After)\w*=(?:/|~|\.\./)"
        ),
        "security decisions",
        "it loads code that is not the project's",
    ),
    (
        _RUNS_URLS,
        lambda words: any(map(_REMOTE_CODE.match, words)),
        "network fetch-and-run",
        "it runs what it fetches",
    ),
    (
        None,
        _has(r"169\.254\.169\.254|169\.254\.170\.2|metadata\.google\.internal|100\.100\.100\.200"),
        "API keys",
        "it asks the machine's host for credentials",
    ),
    (
        None,
        _has(r"(?i)^-{1,2}[\w.-]*show-?(?:secrets?|passwords?|tokens?|values)\b"),
        "API keys",
        "it prints secrets",
    ),
    (
        None,
        _has(r"^--?[\w-]*(?:prefix|root|install-dir|destdir|bindir)=/(?:usr|opt|bin|sbin|etc|lib)\b"),
        "system changes",
        "it installs outside of the project",
    ),
    (
        frozenset({"clojure", "clj"}),
        _has(r":git/url|:git/sha"),
        "network fetch-and-run",
        "it runs what it fetches",
    ),
    (frozenset({"rails", "rake"}), _has(r"=https?://"), "network fetch-and-run", "it runs what it fetches"),
    (
        frozenset({"ffmpeg", "gst-launch-1.0", "vlc", "cvlc"}),
        _has(r"^(?:tcp|udp|rtp|rtsp|https?)://(?!localhost|127\.|0\.0\.0\.0)"),
        "security decisions",
        "it sends to another machine",
    ),
    (
        frozenset({"terraform", "tofu", "terragrunt"}),
        lambda words: "output" in words and any(map(_SECRET_SETTING.search, words)),
        "API keys",
        "it prints a secret",
    ),
    (
        None,
        lambda words: (
            "config" in words
            and any(
                _SECRET_SETTING.search(word) or _SECRET_VARIABLE.search(word) or word == "--auth"
                for word in words
            )
        ),
        "API keys",
        "it sets a secret",
    ),
    (
        frozenset({"echo", "printf", "curl", "wget", "http", "printenv", "nc"}),
        lambda words: any(map(_SECRET_VARIABLE.search, words)),
        "API keys",
        "it prints or sends a secret",
    ),
    (
        frozenset({"printenv"}),
        lambda words: any(_SECRET_VARIABLE.search("$" + word) for word in words),
        "API keys",
        "it prints a secret",
    ),
    (frozenset({"export", "declare", "typeset"}), _sets_secret, "API keys", "it sets a secret"),
    (
        frozenset({"rsync", "scp"}),
        lambda words: any(
            re.match(r"^[\w.-]+@?[\w.-]*:[^/\\]?", word) and "://" not in word for word in words
        ),
        "security decisions",
        "it copies files to or from another machine",
    ),
    (
        _INSTALLERS,
        lambda words: any(map(_URL.search, words)) and "--registry" not in words,
        "network fetch-and-run",
        "it installs from an address",
    ),
    (
        frozenset({"go"}),
        lambda words: words[:1] in (("run",), ("install",)) and any("@" in word for word in words),
        "network fetch-and-run",
        "it fetches a program, and builds and runs it",
    ),
    (
        frozenset({"cargo", "pip", "npm", "go", "gem"}),
        _installs_outside,
        "system changes",
        "it installs outside of the project",
    ),
    (
        frozenset({"docker", "podman"}),
        _has(r"(?:^|=)/(?:etc|var/run/docker\.sock|root)?:"),
        "system changes",
        "it gives a container the machine's own folders",
    ),
    (frozenset({"docker", "podman"}), _has(r"type=registry|push=true"), "publishing", "it uploads the image"),
    (
        frozenset({"docker", "podman"}),
        _has(r"^(?:ssh|tcp)://(?!localhost|127\.)"),
        "deployments",
        "it works on another machine",
    ),
    (
        frozenset({"docker", "docker-compose", "podman"}),
        lambda words: any(map(_LIVE.search, words)) and bool(_STARTS & set(words)),
        "deployments",
        "it works on a live environment",
    ),
)
