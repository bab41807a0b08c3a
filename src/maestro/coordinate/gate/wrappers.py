"""Programs that run another one, and where in their arguments that one stands. Pure."""

from __future__ import annotations

import re
from typing import Final, NamedTuple


class Opened(NamedTuple):
    spans: tuple[tuple[int, int], ...] = ()  # arguments that are a command of their own
    texts: tuple[str, ...] = ()  # arguments that are a command line
    label: str = ""  # what the wrapper is called, where its name alone does not say


# Name → its options that take a value. The command stands behind them.
_PLAIN: Final[dict[str, frozenset[str]]] = {
    "sudo": frozenset({"-u", "-g", "-h", "-p", "-C", "-r", "-t", "-U", "-D", "-R", "-T"}),
    "doas": frozenset({"-u", "-C"}),
    "fvm": frozenset(), "nohup": frozenset(), "setsid": frozenset(), "builtin": frozenset(), "exec": frozenset({"-a"}),
    "time": frozenset({"-o", "-f"}), "nice": frozenset({"-n"}), "ionice": frozenset({"-c", "-n", "-p"}),
    "stdbuf": frozenset({"-i", "-o", "-e"}), "unbuffer": frozenset(), "chronic": frozenset(), "caffeinate": frozenset(),
    "watch": frozenset({"-n", "--interval"}), "xargs": frozenset({"-I", "-n", "-P", "-L", "-d", "-a", "-s", "-E"}),
    "parallel": frozenset({"-j", "-a", "-N"}), "strace": frozenset({"-o", "-e", "-p"}), "ltrace": frozenset({"-o", "-e"}),
    "command": frozenset(), "busybox": frozenset(), "fakeroot": frozenset(), "proot": frozenset({"-r", "-b"}),
    "chroot": frozenset(), "xvfb-run": frozenset({"-s", "-n"}), "catchsegv": frozenset(), "taskset": frozenset(),
    "systemd-run": frozenset({"-p", "-u"}), "firejail": frozenset(), "dotenv": frozenset({"-f", "-e"}), "entr": frozenset(),
    "cross-env": frozenset(), "dotenvx": frozenset(), "pkexec": frozenset(), "runuser": frozenset({"-u"}), "gosu": frozenset(),
    "qemu-user": frozenset({"-L", "-E", "-U", "-cpu", "-g", "-s", "-B", "-R", "-0", "-r", "-d", "-D", "-p"}), "valgrind": frozenset(), "mpirun": frozenset({"-n", "-np", "-H", "--hostfile"}), "mpiexec": frozenset({"-n", "-np"}),
    "watchexec": frozenset({"-e", "-w", "-i", "--exts", "--watch"}), "nodemon": frozenset({"-e", "-w", "--watch", "--ext"}),
    "npx": frozenset({"-p", "--package", "-w"}), "bunx": frozenset(), "uvx": frozenset({"--from", "--with", "-p", "--python"}),
}  # fmt: skip
_LEADING_OPERANDS: Final = {"timeout": 1, "flock": 1, "taskset": 1, "chroot": 1, "gosu": 1}
# Two words that run a third: the label stands for both.
_RUN: Final = frozenset(
    {
        ("uv", "run"), ("poetry", "run"), ("pipenv", "run"), ("pdm", "run"), ("hatch", "run"), ("rye", "run"),
        ("bundle", "exec"), ("pnpm", "exec"), ("yarn", "exec"), ("npm", "exec"), ("pnpm", "dlx"), ("yarn", "dlx"),
        ("pipx", "run"), ("bun", "x"), ("conda", "run"), ("mise", "exec"), ("asdf", "exec"), ("direnv", "exec"),
        ("docker", "exec"), ("podman", "exec"), ("kubectl", "exec"), ("oc", "exec"), ("vagrant", "ssh"),
        ("docker", "run"), ("podman", "run"), ("heroku", "run"), ("fly", "ssh"), ("volta", "run"), ("nvm", "exec"),
        ("op", "run"), ("doppler", "run"), ("aws-vault", "exec"), ("mix", "do"), ("rustup", "run"),
        ("devbox", "run"), ("pixi", "run"), ("infisical", "run"), ("perf", "stat"), ("perf", "record"), ("memray", "run"), ("py-spy", "record"), ("foreman", "run"), ("overmind", "run"),
    }
)  # fmt: skip
_RUN_OPTIONS: Final = frozenset(
    {"-n", "--name", "-p", "--python", "--with", "--extra", "--group", "-e", "--env", "-u", "--user", "-w", "--workdir",
     "-C", "--directory", "--project", "-c", "--container", "--namespace", "--package", "--filter", "--index", "-f",
     "--file", "--env-file", "-v", "--volume", "--mount", "--network", "--entrypoint", "--platform", "-a", "--app"}
)  # fmt: skip
_SKIPS_ONE: Final = frozenset(
    {"docker exec", "podman exec", "kubectl exec", "oc exec", "docker run", "podman run", "direnv exec",
     "rustup run", "aws-vault exec", "nvm exec"}
)  # fmt: skip
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*=")
_FIND_RUNS: Final = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_FD_RUNS: Final = frozenset({"-x", "-X", "--exec", "--exec-batch"})
_NONE: Final = Opened()


def opened(name: str, words: list[str]) -> Opened:
    """The commands inside this one."""
    if name == "env":
        return _env(words)
    if name == "sail" and words[:1]:
        return Opened(spans=((0, len(words)),), label="sail")
    if name == "git" and words[:2] == ["submodule", "foreach"]:
        return _behind(words, _past_options(words, 2, frozenset()), "git submodule foreach")
    if name == "find":
        return Opened(spans=tuple(_executed(words)), label="find -exec")
    if name == "hyperfine":
        return Opened(texts=tuple(_timed(words)), label=name)
    if name == "java" and "-jar" in words[:-1]:
        # A program like any other, by its own name.
        return Opened(spans=((words.index("-jar") + 1, len(words)),), label="java -jar")
    if name in {"west", "repo"} and "forall" in words:
        return _by_flag(words)
    if name in {"fd", "fdfind"}:
        return Opened(spans=tuple(_executed(words, _FD_RUNS)), label="fd --exec")
    if name == "ssh":
        return _ssh(words)
    if name == "cmd" and words[:1] in (["/c"], ["/C"], ["/k"]):
        return Opened(texts=(" ".join(words[1:]),), label="cmd /c")
    if name == "command" and words[:1] in (["-v"], ["-V"]):
        return _NONE
    if name in {"script", "nix-shell", "nix", "su", "runuser"}:
        return _by_flag(words)
    if name in _PLAIN or name in _LEADING_OPERANDS:
        at = _past_options(
            words, 0, _PLAIN.get(name, frozenset({"-s", "-k", "--signal", "--kill-after", "-w", "-E"}))
        )
        at = min(at + _LEADING_OPERANDS.get(name, 0), len(words))
        return _behind(words, at, name)
    return _two_words(name, words)


def _behind(words: list[str], at: int, label: str) -> Opened:
    while at < len(words) and _ASSIGNMENT.match(words[at]):
        at += 1
    if at >= len(words):
        return _NONE
    if at == len(words) - 1 and " " in words[at].strip():
        return Opened(texts=(words[at],), label=label)
    return Opened(spans=((at, len(words)),), label=label)


def _past_options(words: list[str], at: int, with_value: frozenset[str]) -> int:
    while at < len(words) and words[at].startswith("-") and words[at] != "-":
        if words[at] == "--":
            return at + 1
        at += 2 if words[at] in with_value else 1
    return min(at, len(words))


def _env(words: list[str]) -> Opened:
    for at, word in enumerate(words):
        if word in {"-S", "--split-string"} and at + 1 < len(words):
            return Opened(texts=(" ".join(words[at + 1 :]),), label="env")
    return _behind(words, _past_options(words, 0, frozenset({"-u", "--unset", "-C", "--chdir"})), "env")


def _executed(words: list[str], runs: frozenset[str] = _FIND_RUNS) -> list[tuple[int, int]]:
    spans = []
    for at, word in enumerate(words):
        if word in runs:
            end = next((i for i in range(at + 1, len(words)) if words[i] in {";", "+"}), len(words))
            spans.append((at + 1, end))
    return spans


def _timed(words: list[str]) -> list[str]:
    """The command lines that are timed, without the values of options."""
    found, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word.startswith("-"):
            skip = "=" not in word and word not in {
                "-i",
                "-N",
                "--ignore-failure",
                "--show-output",
                "--shell=none",
            }
        else:
            found.append(word)
    return found


def _ssh(words: list[str]) -> Opened:
    at = _past_options(
        words,
        0,
        frozenset({"-p", "-i", "-l", "-o", "-F", "-J", "-L", "-R", "-D", "-b", "-c", "-m", "-W", "-S"}),
    )
    remote = " ".join(words[at + 1 :])
    return Opened(texts=(remote,)) if remote else _NONE


def _by_flag(words: list[str]) -> Opened:
    for at, word in enumerate(words[:-1]):
        if word in {"--run", "--command"} or re.fullmatch(r"-[a-z]*c", word):
            return Opened(texts=(" ".join(words[at + 1 :]) if word == "--command" else words[at + 1],))
    return _NONE


# Tools that `yarn` and its like run by their bare names.
_BARE_TOOLS: Final = frozenset(
    {"lerna", "nx", "changeset", "semantic-release", "release-it", "np", "wrangler", "vercel", "netlify", "firebase", "prisma",
     "knex", "sequelize", "typeorm", "drizzle-kit", "serverless", "cdk", "sst", "gh-pages", "electron-builder", "expo", "eas"}
)  # fmt: skip


def _two_words(name: str, words: list[str]) -> Opened:
    if name in {"yarn", "pnpm", "bun"} and words[:1] and words[0] in _BARE_TOOLS:
        return Opened(spans=((0, len(words)),), label=f"{name} exec")
    if name in {"docker", "podman"} and words[:1] == ["compose"]:
        words, shift = words[1:], 1
    else:
        shift = 0
    start = _past_options(words, 0, _RUN_OPTIONS)
    first = next((i for i in range(start, len(words)) if not words[i].startswith("-")), None)
    is_compose = shift == 1 or name == "docker-compose"
    if first is None or not (
        (name, words[first]) in _RUN or (is_compose and words[first] in {"exec", "run"})
    ):
        return _NONE
    label = f"{name} {words[first]}"
    at = _past_options(words, first + 1, _RUN_OPTIONS)
    if label in _SKIPS_ONE or is_compose:
        at = _past_options(words, min(at + 1, len(words)), frozenset())
    inner = _behind(words, at, label)
    return inner._replace(spans=tuple((start + shift, end + shift) for start, end in inner.spans))
