"""Tasks and scripts of the project itself, judged by what they are called. Pure."""

from __future__ import annotations

import re
from typing import Final

from maestro.coordinate.gate import statements
from maestro.coordinate.gate.deeds import Effect
from maestro.coordinate.gate.shell import SHELLS

TASK_RUNNERS: Final = frozenset(
    {"make", "gmake", "just", "task", "rake", "mage", "nox", "tox", "invoke", "inv", "composer", "gradle",
     "gradlew", "mvn", "mvnw", "lein", "sbt", "mix", "rebar3"}
)  # fmt: skip
# Tools whose first operand is a command of theirs: `mkdocs gh-deploy`, `nx release`.
_PLAIN_TOOLS: Final = frozenset(
    {"mkdocs", "hugo", "nx", "lerna", "turbo", "expo", "eas", "ng", "next", "nuxt", "astro", "gatsby",
     "docusaurus", "storybook", "electron-builder", "electron-forge", "poetry", "hatch", "pdm", "uv",
     "flit", "rye", "cargo", "deno", "bun", "dotnet", "flutter", "dart", "sbt", "stack", "cabal", "opam",
     "jupyter", "modal", "prefect", "dagster", "airflow", "dvc", "kedro", "quarto", "zola", "jekyll",
     "eleventy", "vite", "wrangler", "changeset", "maturin", "bazel", "pants", "conda", "sphinx-build",
     "amplify", "supabase", "rails", "mix", "buf", "dbt", "act"}
)  # fmt: skip
_SCRIPT_RUNNERS: Final = frozenset({"npm", "pnpm", "yarn", "bun"})
_RISKY_NAMES: Final[tuple[tuple[str, str], ...]] = (
    (
        r"deploy\w*|rollout|rollback|provision|teardown|prod|production|staging|promote|golive|terraform|k8s|infra|apply|destroy|redeploy|failover",
        "deployments",
    ),
    (r"publish|jib|release|ship|upload|announce|submit|send|changelog:push", "publishing"),
    (r"migrat\w*|seed|dbreset|dropdb|truncate|db|database|backfill|restore", "database changes"),
    (
        r"delete|remove|wipe|purge|nuke|destroy|cleanup|prune|uninstall|clean:all|distclean|reset|mrproper|obliterate",
        "file deletion",
    ),
    (r"rotate|keys?|secrets?|token|credentials?|creds|encrypt|decrypt", "API keys"),
    (r"push|commit|forcepush|tag|sync-upstream|merge", "git operations"),
    (r"sudo|root|bootstrap-machine|provisioning|flash|erase|burn", "system changes"),
    (r"login|logout|grant|revoke|untrust", "security decisions"),
    (r"pwn|exploit|payload|backdoor|exfil\w*|miner|keylog\w*", "security decisions"),
)


_SCRIPTS: Final = frozenset(
    {*SHELLS, "python", "node", "ruby", "perl", "php", "tsx", "ts-node", "deno", "bun", "Rscript", "julia"}
)
_RISKY_OPTION: Final = re.compile(
    r"^--(?!no-|skip-|without-)(?:[\w-]+-)?(?:(?:delete|wipe|purge|destroy|nuke|erase)(?:-\w+)*$|(?P<live>(?:env|environment|stage|target)=(?:prod|production|live)$|(?:prod|production|live|deploy|publish)$))"
)


def task_effects(name: str, operands: list[str], flags: list[str]) -> list[Effect]:
    """Tasks of the project itself, by what they are called."""
    if name in TASK_RUNNERS:
        told = (
            operands[:1]
            if name == "mix"
            else operands[: operands.index("--")]
            if "--" in operands
            else operands
        )
        tasks = (task for word in told if "=" not in word for task in re.split(r"[\s;+]+", word) if task)
        return risky_names([task for task in tasks if not re.search(r"/|\.\w{1,4}$", task)])
    if name in _SCRIPT_RUNNERS:
        known = operands[:1] in (["run"], ["run-script"])
        script = operands[1:2] if known else operands[:1] if name != "npm" else []
        return (
            risky_names(script)
            if known or (script and script[0] not in {"add", "install", "remove", "up", "why", "prune"})
            else []
        )
    if name in {"bazel", "bazelisk", "buck2", "pants", "nx"} and operands[:1] == ["run"]:
        return [effect for word in operands[1:2] for effect in risky_names(re.split(r"[/:.]+", word))]
    if (name, *operands[:1]) == ("dotnet", "publish"):
        return []  # into a folder
    if name in _PLAIN_TOOLS and operands and not re.search(r"[/.]", operands[0]):
        return risky_names(operands[:1])
    if (
        name in {*SHELLS, "python", "node", "ruby", "perl", "php", "source", ".", "tsx", "ts-node", "deno"}
        and operands
    ):
        script = operands[1:2] if operands[0] in {"run", "artisan"} else operands[:1]
        if script and script[0].endswith("manage.py"):
            done = statements.django_effects([*operands[1:], *flags])
            return done if done == [Effect("read")] else [*done, *risky_names(operands[1:2])]
        return risky_names([stem(word) for word in script])
    return []


def option_effects(name: str, flags: list[str], *, of_any: bool = False) -> list[Effect]:
    """Options of a script of the project, or of any program, that say what it does: `--delete-all`, `--env=prod`."""
    if not (of_any or name in _SCRIPTS) or any("dry" in flag for flag in flags):
        return []
    found = [(flag, _RISKY_OPTION.search(flag.casefold())) for flag in flags]
    return [
        Effect("sure", "deployments" if said["live"] else "file deletion", "the option says so", flag)
        for flag, said in found
        if said
    ]


def stem(path: str) -> str:
    return path.rsplit("/", 1)[-1].rsplit(".", 1)[0]


def risky_names(names: list[str]) -> list[Effect]:
    found = []
    for name in names:
        if re.match(
            r"(?:test|check|lint|verify|validate|list|show|build|docs?|dry|make|gen|generate)[-_:.]|:?(?:\w+:)*[a-z]\w*Local$|.*[-_.:]migrations$|.*(?:dry[-_]?run|[-_:.](?:test|tests|check|lint|types?|docs?|notes|dev|status|list|show|diff|plan|preview))$|test_",
            name,
        ):
            continue
        parts = set(re.split(r"[-_:./\s]+", name.casefold()))
        # `publishToSonatype` says it with its first word; `assembleRelease` only builds one.
        parts |= {part.casefold() for part in re.findall(r"(?:^|:)([a-z]+)(?=[A-Z])", name)}
        if re.match(
            r"flyway(?!Info|Validate)[A-Z]|liquibase:(?!status|validate|diff|updateSQL)|(?:.*:)?drop[A-Z]",
            name,
        ):
            found.append(Effect("sure", "database changes", "the task's name says so", name))
        for pattern, category in _RISKY_NAMES:
            if any(re.fullmatch(pattern, part) for part in parts):
                found.append(Effect("sure", category, "the task's name says so", name))
    return found
