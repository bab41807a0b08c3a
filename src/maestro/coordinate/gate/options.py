"""Options and variables that hold programs, code or files: what a harmless program is made to do by them. Pure.

The facts are those of public lists of such programs. A value that names a pager, a packer or a compiler is what these
options are for; any other program in them is run where nobody looks for it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from maestro.coordinate.gate import places
from maestro.coordinate.gate.deeds import UNREADABLE, Effect

# Program: its options whose value is a program that is run. One that ends with `=` is followed by the value at once.
_RUNS: Final = """
tar|bsdtar|gtar: --checkpoint-action=exec= --to-command --use-compress-program -I --rsh-command --info-script --new-volume-script -F --rmt-command
zip: -TT --unzip-command
man: -P --pager -H --html=
sort: --compress-program
split: --filter
go: -exec -toolexec -vettool
gcc|g++|cc|c++|clang|clang++|gfortran: -wrapper -fplugin=
npm|pnpm|yarn: --script-shell
rsync: -e --rsh --rsync-path
scp|sftp: -S
cpio: --rsh-command
git: --upload-pack --receive-pack --exec --extcmd --open-files-in-pager --exec-path=
hg: --ssh
rg: --pre --hostname-bin
ag|ack|bat|batcat|delta|exa|psql|mysql: --pager
tcpdump: -z
helm: --post-renderer
php: -dauto_prepend_file= -dauto_append_file=
java: -XX:OnError= -XX:OnOutOfMemoryError=
ssh: -oProxyCommand= -oLocalCommand= -oPermitLocalCommand=
wget: --use-askpass
openvpn: --up --down
make|gmake: SHELL= .SHELLFLAGS= --eval
valgrind: --db-command
mvn|mvnw: -Dexec.executable=
aria2c: --on-download-complete --on-download-start --on-download-error --on-bt-download-complete
pandoc: --pdf-engine
transmission-cli: -f
"""
# Program: its options whose value is code or a library that is loaded: grave where it is not the project's own.
_LOADS: Final = """
node|nodejs|mocha|nyc|c8|ts-node|tsx: -r --require --import --loader --experimental-loader
ruby: -r -I
perl: -I -M -mlib
java: -javaagent: -agentpath: -agentlib:
gradle|gradlew: -I --init-script
eslint: --rulesdir --resolve-plugins-relative-to -c --config
jest: --globalSetup --setupFiles --runner --reporters --config -c
pytest|py.test: -p -c --rootdir --confcutdir
prettier|stylelint|babel|webpack|rollup|vite|vitest|postcss|tailwindcss: --plugin -c --config
pylint: --load-plugins --rcfile
mypy|ruff|flake8|black: --config-file --config
sphinx-build: -c
gunicorn|celery|uvicorn: -c --config
cmake: -P -C
make|gmake|just|task: -f --file --makefile --justfile -I --taskfile
docker|docker-compose|podman: -f --file
gcc|g++|cc|c++|clang|clang++: -specs= -B
ld: -rpath --plugin
openssl: -engine -provider-path -config
gdb|lldb: -x --command -s --source
vim|vi|nvim|emacs: -S -u -l --load
sqlite3: -init
npm: --userconfig --globalconfig
nginx|haproxy|caddy|redis-server: -c --config -p -g
ansible|ansible-playbook: --module-path -M
terraform|tofu: -plugin-dir=
R|Rscript: -f
pandoc: --lua-filter -L --filter -F
"""
# Program: its options whose value is a file that is written over.
_WRITES: Final = """
sort|tree|eslint|stylelint|xxd|nm|objdump|strings|yq|xmllint|shellcheck|mypy|pylint|ruff|time|strace|ltrace|perf|gcov|cloc|tokei|hyperfine|jest|vitest|flake8|semgrep|bandit|trivy: -o --output --output-file --outputFile --output= --export-json --export-markdown --log-file --report-file
git: --output --output=
go: -coverprofile -cpuprofile -memprofile -trace -blockprofile -mutexprofile -o
pytest|py.test|ctest|phpunit|rspec|behave: --junitxml --junit-xml --junit-prefix --log-junit --output-junit --out --log-file --resultlog --html -O --output-log
curl|wget: -D --dump-header --trace --trace-ascii -c --cookie-jar --stderr -o --output -a --append-output -O --output-document --save-cookies --hsts
gcc|g++|cc|c++|clang|clang++: -o
find: -fprintf -fprint -fprint0 -fls
ffmpeg: -vstats_file
iconv|pandoc|dot|convert: -o --output
awk|gawk: -o --dump-variables= --profile= --pretty-print= -d
"""
# Program: options that delete what was read.
_DELETES: Final = (
    "7z|7za|7zz: -sdel\nzip: -m -mr --move\nrsync: --remove-source-files\ntar: --remove-files\nmv: -f --force"
)
_HARMLESS_PROGRAMS: Final = frozenset(
    {"", "true", ":", "cat", "less", "more", "head", "tail", "bat", "batcat", "delta", "most", "col", "colordiff", "diff",
     "diff-so-fancy", "difft", "nl", "gzip", "gunzip", "pigz", "unpigz", "zstd", "zstdmt", "pzstd", "unzstd", "xz", "pixz",
     "unxz", "bzip2", "pbzip2", "lbzip2", "bunzip2", "lz4", "lzip", "plzip", "lzop", "brotli", "compress", "zcat", "ssh",
     "gcc", "g++", "cc", "c++", "clang", "clang++", "tcc", "icc", "icx", "gfortran", "ccache", "sccache", "distcc", "ld",
     "ld.lld", "lld", "mold", "gold", "ar", "llvm-ar", "rustc", "clippy-driver", "zig", "make", "gmake", "ninja", "time",
     "bash", "sh", "/bin/bash", "/bin/sh", "/usr/bin/bash", "vim", "vi", "nvim", "nano", "code", "emacs", "python", "python3"}
)  # fmt: skip
_ONLY_OPTIONS: Final = re.compile(r"(?:\s+(?:-{1,2}[\w=+,.-]+|\d+|target|cc|c\+\+))*")
_CROSS_COMPILER: Final = re.compile(r"[\w.+-]+-(?:gcc|g\+\+|cc|c\+\+|ld|ar|clang)(?:-\d+)?")
# A variable that names a program which another one starts.
_PROGRAM_VARIABLE: Final = re.compile(
    r"\w*(?:PAGER|EDITOR|BROWSER|ASKPASS)|VISUAL|LESSOPEN|LESSCLOSE|PS4|PROMPT_COMMAND|BASH_ENV|ENV|ZDOTDIR|SHELL"
    r"|GIT_(?:SSH|SSH_COMMAND|EXTERNAL_DIFF|PROXY_COMMAND|EXEC_PATH|TEMPLATE_DIR|SEQUENCE_EDITOR|CONFIG_\w+)"
    r"|KUBECTL_EXTERNAL_DIFF|RSYNC_RSH|CVS_RSH|SVN_SSH|TAR_OPTIONS|CC|CXX|CPP|LD|AR|AS|MAKE|GOFLAGS|MAKEFLAGS"
    r"|RUSTC|RUSTC_WRAPPER|RUSTC_WORKSPACE_WRAPPER|RUSTDOC|CARGO_\w*(?:RUNNER|LINKER|RUSTC|WRAPPER)\w*|CMAKE_\w+_LAUNCHER"
    r"|(?i:npm_config_(?:script_shell|node_gyp|git|editor|shell))|PYTHONBREAKPOINT|PYTHONSTARTUP|MANOPT|PERL5DB|TERMINAL"
)
# A variable by which code is loaded, and what loads nothing.
_CODE_VARIABLE: Final = re.compile(
    r"LD_(?:PRELOAD|AUDIT|LIBRARY_PATH)|DYLD_\w+|PYTHONPATH|PYTHONHOME|NODE_PATH|NODE_OPTIONS|PERL5OPT|PERL5LIB|PERLLIB|RUBYOPT"
    r"|RUBYLIB|CLASSPATH|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|MAVEN_OPTS|GRADLE_OPTS|PHP_INI_SCAN_DIR|PHPRC|GEM_PATH|GEM_HOME"
    r"|BUNDLE_GEMFILE|LUA_PATH|LUA_CPATH|LUA_INIT|R_PROFILE(?:_USER)?|JULIA_LOAD_PATH|ERL_LIBS|GCONV_PATH|IFS|PATH|INPUTRC|VIMINIT|EXINIT"
    r"|GIT_DIR|GIT_CONFIG|GIT_CONFIG_GLOBAL|GIT_CONFIG_SYSTEM|HGRCPATH|DOCKER_CONFIG|KUBECONFIG|CARGO_HOME|GOPROXY|GONOSUMDB|GONOSUMCHECK|GOPRIVATE|PIP_INDEX_URL|PIP_EXTRA_INDEX_URL"
    r"|(?i:npm_config_(?:registry|userconfig|globalconfig|prefix))|OPENSSL_CONF|SSLKEYLOGFILE|GTK_MODULES|QT_PLUGIN_PATH|COMPOSER_HOME|TCLLIBPATH"
)
_LOADING: Final = re.compile(
    r"(?:^|[\s,])(?:-r|-M|-I|-e|--?require|--import|--(?:experimental-)?loader|--eval|-javaagent|-agentpath|-agentlib|-d|-X\S*OnError)\b",
)
_OUTSIDE: Final = re.compile(
    r"(?:^|[\s=:,'\"@])(?:/(?!dev/null|usr/(?:lib|share|local/lib)\b|home/[\w.-]+/|Users/[\w.-]+/)|~|\.\./\.\.|https?:|ftp:|git\+|data:|ssh:|\$\{?(?:HOME|TMPDIR)\b)"
)
_ANYBODYS: Final = re.compile(r"/tmp/|/dev/shm/|/var/tmp/|https?:")  # noqa: S108 - looked for, never written to
_SOURCE: Final = re.compile(
    r"\.(?:py|pyi|ts|tsx|js|jsx|mjs|cjs|go|rs|c|h|cc|cpp|hpp|java|kt|scala|rb|php|ex|exs|swift|m|cs|fs|hs|ml|clj|lua|pl|sh|bash|sql|vue|svelte|dart|zig|nim|proto|tf|toml|ya?ml|lock|mod|sum|ipynb|csv|parquet|md|tex)$"
    r"|(?:^|/)(?:Makefile|Dockerfile|package(?:-lock)?\.json|tsconfig\.json|go\.mod|go\.sum|Gemfile|Procfile|README|LICENSE|CODEOWNERS|\.gitignore|settings\.\w+)$|(?:^|/)data/",
)
_SCRATCH: Final = re.compile(
    r"(?:^|/)(?:build|dist|out|target|tmp|temp|coverage|reports?|logs?|artifacts?|\.cache|\.next|node_modules|__pycache__|bench\w*|results?|docs?|generated|gen|public|site|_site)(?:/|$)|^/tmp/|^/dev/"
)
_GIT_RUNS: Final = re.compile(
    r"(?i)alias\.|pager\.|core\.(?:pager|sshcommand|fsmonitor|hookspath|editor|askpass|gitproxy|attributesfile)$|diff\.(?:external$|.*\.(?:command|textconv)$)"
    r"|(?:diff|merge)tool\.|merge\..*\.driver$|filter\.|gpg\.|credential\.|sequence\.editor$|uploadpack\.|remote\..*\.(?:uploadpack|receivepack|vcs|proxy)$"
    r"|browser\.|web\.browser$|man\.|include(?:if\..*)?\.path$|init\.templatedir$|submodule\..*\.update$|sendemail\.|url\.|interactive\.difffilter$"
)
_GIT_LOOSENS: Final = re.compile(
    r"(?i)http\.(?:\S*\.)?sslverify=(?:false|0|no)|protocol\.\S*allow=always|safe\.directory=\*|transfer\.fsckobjects=false"
)
_COMMANDS_OF_DEBUGGERS: Final = re.compile(
    r"^\s*(?:shell|!|pipe|\||python|py|source|make|script|platform shell|command script|guile)\b|^\s*!"
)
_COMMAND_OPTIONS: Final = "-ex -iex -o -O -c -sc --cmd -k --eval --one-line -eval-command --eval-command"
_COMMANDS_OF_EDITORS: Final = re.compile(
    r"!|%d\b|\bsystem\(|\bcall\s+delete|\bpy(?:thon)?3?\b|\blua\b|shell-command|delete-(?:file|directory)"
)


def option_effects(name: str, words: tuple[str, ...]) -> list[Effect]:
    """What a command does by values of its options that are programs, code or files."""
    found: list[Effect] = []
    for option, value in _values(name, "runs", words):
        if not runs_harmless(value, by_shell="shell" in option.casefold()):
            found.append(_runs(f"{option} {value}"))
    for option, value in _values(name, "loads", words):
        if _OUTSIDE.search(value):
            found.append(
                Effect(
                    "sure",
                    "security decisions",
                    "an option makes it load what is not the project's",
                    f"{option} {value}",
                )
            )
    for option, value in _values(name, "writes", words):
        found += written_over(value, f"{option} {value}")
    for option, value in _values(name, "deletes", words):
        if name != "mv" or not _SCRATCH.search(words[-1]):
            found.append(
                Effect(
                    "sure",
                    "file deletion",
                    "an option deletes or overwrites what is there",
                    f"{option} {value}",
                )
            )
    if name == "git":
        found += _of_git(words)
    if name.endswith(("tex", "latexmk")):
        found += _of_tex(words)
    if name == "cargo":
        given = (after for option, after in itertools.pairwise(words) if option == "--config")
        found += [_runs(one) for one in given if re.search(r"runner|linker|wrapper|rustc|credential", one)]
    return found + _commands_given(name, words)


def _of_git(words: tuple[str, ...]) -> list[Effect]:
    """git has one letter for many things: what it means depends on the subcommand; and settings for one call."""
    found = []
    for at, word in enumerate(words):
        if word == "-c" and at + 1 < len(words):
            key, _, value = words[at + 1].partition("=")
            if _GIT_RUNS.match(key) and not runs_harmless(value):
                found.append(_runs(words[at + 1]))
            elif _GIT_LOOSENS.match(words[at + 1]):
                found.append(
                    Effect("sure", "security decisions", "it switches a check off", words[at + 1][:60])
                )
    subcommand = next((word for word in words if re.fullmatch(r"[a-z-]+", word)), "")
    letter = {
        "ls-remote": "-u",
        "fetch": "-u",
        "clone": "-u",
        "difftool": "-x",
        "grep": "-O",
        "rebase": "-x",
    }.get(subcommand)
    for at, word in enumerate(words if letter else ()):
        if word.startswith(str(letter)) and not word.startswith("--"):
            value = word[2:] or (words[at + 1] if at + 1 < len(words) and letter != "-O" else "")
            if not runs_harmless(value):
                found.append(_runs(f"{letter} {value}"))
    return found


def written_over(path: str, evidence: str) -> list[Effect]:
    """What it means that a tool writes its output to this file: a source or the project's data is lost by it."""
    found = [
        Effect("sure" if place.is_sure else "wary", place.category, place.why, evidence[:80])
        for place in places.writes(path)
    ]
    if _SOURCE.search(path) and not _SCRATCH.search(path):
        found.append(
            Effect("sure", "file deletion", "its output overwrites a file of the project", evidence[:80])
        )
    return found


def variable_effect(name: str, value: str) -> Effect | None:
    """What a variable in front of a command does to it: a program or code in it is run by whoever reads it."""
    if _PROGRAM_VARIABLE.fullmatch(name):
        if name == "ENV" and "/" not in value:
            return None
        if name in {"GOFLAGS", "MAKEFLAGS", "TAR_OPTIONS"} and not re.search(
            r"exec|eval|command|overlay|wrapper", value
        ):
            return None
        is_shell = name == "SHELL" or name.casefold() == "npm_config_script_shell"
        return None if runs_harmless(value, by_shell=is_shell) else _runs(f"{name}={value}")
    if _CODE_VARIABLE.fullmatch(name) and _loads_other_code(name, value):
        return Effect(
            "sure", "security decisions", "it changes what other programs run", f"{name}={value[:60]}"
        )
    return None


def _loads_other_code(name: str, value: str) -> bool:
    if name == "PATH" and re.search(r"\$\{?PATH\b", value):
        return bool(_ANYBODYS.search(value))
    if name in {"LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "IFS"}:
        return bool(value) and not re.match(r"/usr/lib\w*/|lib\w+san", value)
    if name.endswith(("OPTIONS", "OPTS", "OPT")):
        return bool(
            re.search(r"-javaagent|-agentpath|-agentlib|OnError|OnOutOfMemory|data:|--eval", value)
        ) or (bool(_LOADING.search(value)) and bool(_OUTSIDE.search(value) or _ANYBODYS.search(value)))
    return bool(_OUTSIDE.search(value))


def runs_harmless(value: str, *, by_shell: bool = False) -> bool:
    """Whether a program that an option or a variable names is one of those that such options are for."""
    words = value.strip().strip("'\"").split(None, 1)
    if not words:
        return True
    program, rest = words[0], f" {words[1]}" if len(words) > 1 else ""
    known = program in _HARMLESS_PROGRAMS or bool(_CROSS_COMPILER.fullmatch(program))
    if program in {"bash", "sh", "/bin/bash", "/bin/sh", "/usr/bin/bash", "python", "python3"}:
        return by_shell and not rest
    if program in {"ccache", "sccache", "distcc", "time"} and rest:
        return runs_harmless(rest)
    return known and bool(_ONLY_OPTIONS.fullmatch(rest))


def _runs(evidence: str) -> Effect:
    return Effect(
        "sure", "security decisions", "it makes another program run, hidden in a value", evidence[:80]
    )


def _commands_given(name: str, words: tuple[str, ...]) -> list[Effect]:
    """Commands of debuggers and editors that run something."""
    pattern = {"gdb": _COMMANDS_OF_DEBUGGERS, "lldb": _COMMANDS_OF_DEBUGGERS}.get(name)
    if name in {"vim", "vi", "nvim", "ex", "emacs", "ed"}:
        pattern = _COMMANDS_OF_EDITORS
    if name in {"strace", "ltrace"}:
        pattern = re.compile(r"^[|!]")
    if pattern is None:
        return []
    options = set(_COMMAND_OPTIONS.split())
    given = [words[at + 1] for at, word in enumerate(words[:-1]) if word in options]
    given += [word[1:] for word in words if word.startswith("+")]
    return [_runs(one) for one in given if pattern.search(one)]


def _values(name: str, table: str, words: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for option in _options(table).get(name, ()):
        for at, word in enumerate(words):
            if option.endswith(("=", ":", "|", "!", "/")) and word.startswith(option):
                yield option, word[len(option) :] or "?"
            elif word == option:
                after = words[at + 1] if at + 1 < len(words) else ""
                yield option, after if table != "deletes" else words[-1]
            elif len(option) > 2 and word.startswith(f"{option}="):
                yield option, word[len(option) + 1 :]
            elif len(option) == 2 and table in {"runs", "writes"} and _is_attached(option, word):
                yield option, word[2:]


def _is_attached(option: str, word: str) -> bool:
    """`-Izstd`, `-oout`: the value right behind a letter."""
    return (
        word.startswith(option)
        and len(word) > 2
        and not word.startswith("--")
        and bool(re.match(r"-\w[\w./~|!]{2,}", word))
    )


@cache
def _options(table: str) -> dict[str, tuple[str, ...]]:
    lines = {"runs": _RUNS, "loads": _LOADS, "writes": _WRITES, "deletes": _DELETES}[table]
    found: dict[str, tuple[str, ...]] = {}
    for line in filter(None, lines.strip().splitlines()):
        names, _, options = line.partition(":")
        for name in names.split("|"):
            found[name] = (*found.get(name, ()), *options.split())
    return found


def _of_tex(words: tuple[str, ...]) -> list[Effect]:
    return [
        _runs(word)
        for word in words
        if re.match(r"--?(?:shell-escape|enable-write18)$", word) or "\\write18" in word
    ]


def unreadable_configuration(name: str, words: tuple[str, ...]) -> list[Effect]:
    """curl takes every option from a file, and nobody here reads it."""
    if name == "curl" and any(re.match(r"-\w*K|--config\b", word) for word in words):
        return [Effect("sure", UNREADABLE, "its options stand elsewhere", " ".join(words)[:80])]
    return []
