"""Verbs of programs whose subcommands say what they do: `aws ec2 describe-instances`, `gcloud run services list`. Pure."""

from __future__ import annotations

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
_ACTS: Final = re.compile(
    r"(?:create|delete|remove|rm|destroy|apply|set|put|update|patch|edit|replace|run|start|stop|restart|deploy|rollback|rollout|scale|push"
    r"|publish|upload|send|invoke|exec|execute|attach|detach|enable|disable|add|import|restore|reset|terminate|reboot|migrate|up|down"
    r"|login|logout|sync|cp|mv|copy|promote|approve|merge|trigger|purge|flush\w*|drain|cordon|label|annotate|taint|expose)(?:[-:_]\w[\w-]*)?"
)
_CHANGES: Final = re.compile(
    r"(?:create|launch|delete|remove|rm|rmr|destroy|apply|set|put|patch|replace|start|stop|restart|deploy|rollback|scale|push|publish|upload|send"
    r"|invoke|attach|detach|enable|disable|import|restore|reset|terminate|reboot|migrate|login|logout|promote|approve|trigger|purge|flush\w*"
    r"|drain|switch|revert|submit|commit|install|uninstall|register|grant|revoke|transfer|pay|buy|order|flash|erase|format|provision|prune|forget|resize|kill|wipe|rb)(?:[-_]\w[\w-]*)?"
)
_REMOTE: Final = re.compile(
    r"^(?:[a-z][a-z+]*://(?!localhost|127\.|\[::1|0\.0\.0\.0|/)|(?:gh|github|gitlab|bitbucket|sourcehut|git@|git\+)[:@]?\S)"
    r"|@[\w-]+(?:\.[\w-]+)+:?|^(?:\S+=)?(?!127\.|0\.0\.0\.0)(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?$"
    r"|^(?:\S+=)?[\w-]+(?:\.[\w-]+)*\.(?:com|net|org|io|dev|ai|cloud|internal|local)(?::\d+)?(?:/\S*)?$"
)
_SECRET: Final = re.compile(
    r"secret|passw|credential|token|param|login|\bkeys?\b|access-key|kubeconfig|config:get|\bconfig\b|connection-string|env\b|environ|variables?\b|authorization|download-url"
)


def act_verb(operands: list[str]) -> str:
    """Returns the word that tells a program which nobody here knows to change something; empty where there is none."""
    told = (word for word in operands[:4] if re.fullmatch(r"-{0,2}[a-z][\w.:-]*", word))
    return next((word for word in told if _CHANGES.fullmatch(re.split(r"[.:]", word.lstrip("-"))[-1])), "")


def remote(words: tuple[str, ...]) -> str:
    """Returns the word that names another machine or somebody else's code; empty where there is none."""
    return next(filter(_REMOTE.search, words), "")


def read_verb(name: str, operands: list[str]) -> int | None:
    """Returns at which operand a program is told to read something that is no secret; None where it is not."""
    if name not in _VERBED:
        return None
    words = [word.casefold() for word in operands[:6]]
    if any(map(_SECRET.search, words)):
        return None
    start = 1 if name in _GROUPED else 0
    for place, word in enumerate(words[start:], start):
        if _READS.fullmatch(word):
            return place
        # A group may be called like an act: `gcloud run services list`.
        if _ACTS.fullmatch(word) and not (name == "gcloud" and place <= 1):
            return None
    return None
