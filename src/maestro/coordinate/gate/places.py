"""What a path is, by its name alone: a secret, the system's, the agent's own settings, a pipeline's. Pure."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from maestro.coordinate.gate.folding import plain_lines


class Place(NamedTuple):
    category: str
    why: str
    is_sure: bool = True


_EXAMPLE: Final = re.compile(
    r"\.env\.?(?:example|sample|template|dist|test|ci|defaults?)\b|\.example$|\.sample$"
)
_SECRET: Final = re.compile(
    r"(?:^|/)(?:\.env(?:\.[\w.-]+)?|\.envrc|\.netrc|\.pgpass|\.my\.cnf|\.npmrc|\.pypirc|\.git-credentials|\.htpasswd|\.vault-token"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)|[\w.-]*\.(?:pem|key|p12|pfx|jks|keystore|kdbx|gpg|ppk)|credentials(?:\.\w+)?"
    r"|(?:client_)?secrets?(?:\.[\w.]+)?|[\w-]*service[-_]?account[\w-]*\.json|shadow|gshadow|sudoers|master\.key|tokens?\.json"
    r"|auth\.json|oauth_creds\.json|terraform\.tfstate|kubeconfig|wallet\.dat|\.bash_history|\.zsh_history)$"
    r"|(?:^|/)\.(?:ssh|aws|gnupg|kube|azure|password-store)(?:/|$)|\.config/(?:gcloud|gh|op)(?:/|$)|\.docker/config\.json"
    r"|(?:^|/)\.(?:kaggle|huggingface|databricks|snowsql|vercel|netlify|heroku|wandb|openai|anthropic|fly|supabase|railway|stripe|terraform\.d|oci|bluemix|minikube|step|cloudflared|wrangler|ngrok2?|subversion/auth|purple|thunderbird|mozilla|1password)(?:/|$)"
    r"|(?:^|/)\.(?:databrickscfg|boto|s3cfg|dockercfg|terraformrc|renviron|mylogin\.cnf|edgerc|ovhapi|vault_pass\w*|fetchmailrc|msmtprc|mbsyncrc|authinfo|cdsapirc|ecmwfapirc|condarc|pip/pip\.conf|osfcli\.config|zenodo|gitlab-token|github-token|token|jupyter/\S*password\S*)$"
    r"|\.m2/settings(?:-security)?\.xml|\.gradle/gradle\.properties|\.cargo/credentials\S*|\.gem/credentials|\.nuget/\S*nuget\.config|\.composer/auth\.json|\.cache/huggingface/(?:token|stored_tokens)|\.config/(?:rclone|hub|doctl|glab-cli|sops|containers/auth|heroku|configstore|wandb|kaggle|openai|gspread|pip/pip\.conf|hcloud|scw|linode-cli|flyctl|netlify|vercel|stripe|supabase|google-chrome|chromium)(?:/|\.|$)"
    r"|(?:^|/)(?:cookies|login data|key4\.db|logins\.json)$|application_default_credentials|/proc/.*/environ|(?:^|/)(?:secrets?|credentials|private[-_]?keys?)/|login\.keychain",
    re.IGNORECASE,
)
# Source code and documents that are about secrets.
_ABOUT: Final = re.compile(
    r"(?:\./)?(?![~/.])(?:[\w.-]+/)*[\w.-]+\.(?:md|rst|adoc)"
    r"|(?:\./)?(?:src|lib|app|packages|crates|internal|pkg|docs?|tests?|spec)/(?:[\w@.*-]+/)*[\w*-]+"
    r"(?:\.(?:tsx?|jsx?|mjs|py|rb|go|rs|java|kt|swift|c|h|cc|cpp|cs|php|exs?|scala|clj|hs|ml|vue|svelte|dart|lua))?"
)
_PUBLIC_KEY: Final = re.compile(r"\.pub$|known_hosts$|\.ssh/config$", re.IGNORECASE)
_SYSTEM: Final = re.compile(
    r"^/(?:etc|usr|bin|sbin|boot|lib|lib64|opt|root|sys|proc|dev|srv|var|run|System|Library|Applications)(?:/|$)|^/$|^/\*"
    r"|^[A-Za-z]:[\\/](?:$|Windows|Program)|^\\\\",
)
_HARMLESS_DEVICE: Final = re.compile(
    r"^/dev/(?:null|stdout|stderr|stdin|tty|fd/\d+|zero|u?random)$|^/var/(?:tmp|folders)/|^/run/user/\d+/\w"
)
_SOCKET: Final = re.compile(r"^/dev/(?:tcp|udp)/")
_HOME: Final = re.compile(r"^(?:~[\w-]*|\$\{?HOME\}?|/home/[\w.-]+|/Users/[\w.-]+|/root)(?:/|$)")
_DOT_OF_HOME: Final = re.compile(
    r"^(?:~[\w-]*|\$\{?HOME\}?|/home/[\w.-]+|/Users/[\w.-]+|/root)/(?:\.(?!cache/|local/share/Trash)[\w-]+|Library/LaunchAgents)"
)
_PROFILE: Final = re.compile(
    r"(?:^|/)\.(?:bashrc|zshrc|bash_profile|profile|zprofile|zshenv|bash_login|gitconfig|inputrc)$"
)
_GIT: Final = re.compile(r"(?:^|/)\.git(?:/|$)")
_HOOKS: Final = re.compile(r"(?:^|/)\.(?:git/hooks|husky|githooks)(?:/|$)")
_AGENT: Final = re.compile(
    r"(?:^|/)\.(?:claude(?:/|\.json$)|codex(?:/|$)|gemini(?:/|$)|mcp\.json$|cursor/|maestro(?:/|$)|vscode/(?:settings|tasks)\.json)|coordinate\.config\.json$"
)
_AGENT_NOTES: Final = re.compile(
    r"\.(?:claude|gemini|codex)/(?:plans?|todos?|skills|agents|commands)/.*\.md$|CLAUDE\.md$|AGENTS\.md$|GEMINI\.md$"
)
_PIPELINE: Final = re.compile(
    r"(?:^|/)(?:\.github/(?:workflows|actions)/|\.gitlab-ci\.ya?ml$|jenkinsfile$|\.circleci/|\.travis\.ya?ml$|azure-pipelines[\w.-]*\.ya?ml$"
    r"|\.drone\.ya?ml$|bitbucket-pipelines\.ya?ml$|\.buildkite/|cloudbuild\.ya?ml$|\.woodpecker)",
    re.IGNORECASE,
)
_RUNS_LIVE: Final = re.compile(
    r"(?:^|/)(?:terraform|infra|infrastructure|k8s|kubernetes|helm|charts|ansible|deploy|deployment|manifests)/|\.tf(?:vars)?$"
    r"|(?:^|/)(?:vercel|netlify|fly|firebase|serverless|app|render|wrangler)\.(?:json|toml|ya?ml)$|(?:^|/)procfile$",
    re.IGNORECASE,
)
_MIGRATION: Final = re.compile(
    r"(?:^|/)(?:migrations?|migrate|alembic/versions|db/schema\.rb|prisma/schema\.prisma)(?:/|$)|(?:^|/)schema\.sql$",
    re.IGNORECASE,
)
_DATABASE_FILE: Final = re.compile(r"\.(?:sqlite3?|db|mdb|rdb|dump)$", re.IGNORECASE)
_GUARD: Final = re.compile(
    r"(?:^|/)(?:auth|security|permissions?|rbac|acl|crypto|cors|csrf)(?:[._-]\w+)*(?:/|\.\w+$)", re.IGNORECASE
)


def reads(path: str) -> Place | None:
    """What it means that this path is read."""
    path = plain_lines(path).strip()
    if _EXAMPLE.search(path) or _PUBLIC_KEY.search(path) or _ABOUT.fullmatch(path):
        return None
    if _SECRET.search(path):
        return Place("API keys", "it reads a file that holds secrets")
    return None


def writes(path: str) -> tuple[Place, ...]:
    """What it means that this path is written, by where it is."""
    path = plain_lines(path).strip()
    if not path or _HARMLESS_DEVICE.match(path):
        return ()
    return tuple(_meanings(path))


def _meanings(path: str) -> list[Place]:
    found = []
    if _SOCKET.match(path):
        found.append(Place("security decisions", "it opens a connection of its own"))
    elif _SYSTEM.match(path):
        found.append(Place("system changes", "it writes outside the project, where the system is"))
    is_secret = _SECRET.search(path) or "authorized_keys" in path or "known_hosts" in path
    if is_secret and not (_EXAMPLE.search(path) or _ABOUT.fullmatch(path)):
        found.append(Place("API keys", "it writes a file that holds secrets"))
        found.append(Place("security decisions", "it changes who can get in"))
    if (_DOT_OF_HOME.match(path) and not _AGENT_NOTES.search(path)) or _PROFILE.search(path):
        found.append(Place("system changes", "it changes the settings of the user's home"))
    if _HOOKS.search(path):
        found.append(Place("security decisions", "it changes what git runs by itself"))
    if _GIT.search(path):
        found.append(Place("git operations", "it writes into git's own folder"))
    if _AGENT.search(path) and not _AGENT_NOTES.search(path):
        found.append(Place("security decisions", "it changes what an agent may do"))
    if _PIPELINE.search(path):
        found.append(Place("deployments", "it changes what the pipeline runs"))
    if _MIGRATION.search(path):
        found.append(Place("database changes", "it changes a migration or the schema"))
    if _RUNS_LIVE.search(path):
        found.append(Place("deployments", "it changes what is deployed", is_sure=False))
    if _DATABASE_FILE.search(path):
        found.append(Place("database changes", "it writes a database file", is_sure=False))
    if _GUARD.search(path) and not re.search(r"(?:^|/|_)tests?(?:/|_|\.)|\.md$", path):
        found.append(Place("security decisions", "it changes code that guards access", is_sure=False))
    if path.startswith("../../..") or re.match(r"^[A-Za-z]:[\\/]", path):
        found.append(Place("system changes", "it writes far outside the project", is_sure=False))
    return found


def is_home_or_root(path: str) -> bool:
    """The home folder itself, the root, or everything in one of them."""
    bare = path.rstrip("/*") or "/"
    return bare == "/" or bool(_HOME.fullmatch(bare) or _HOME.fullmatch(bare + "/"))
