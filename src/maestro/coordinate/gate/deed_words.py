"""What a category does, in plain words: the sentences that people read in a finding. Pure data."""

from __future__ import annotations

from typing import Final

# Category → what something of it does.
_WORDS: Final[dict[str, str]] = {
    "git operations": "changes what git keeps",
    "destructive git operations": "rewrites or drops git history",
    "file deletion": "deletes or overwrites files",
    "database changes": "changes a database",
    "security decisions": "changes who or what is trusted",
    "API keys": "uses or changes secrets",
    "deployments": "changes what runs elsewhere",
    "spending": "spends money",
    "network fetch-and-run": "runs something from the network",
    "system changes": "changes the machine itself",
    "git history and remotes": "rewrites git history, or changes a remote",
    "deletion outside the project": "deletes files that may be outside the project",
    "publishing": "sends something out to others",
}
# Two words of a command that say more than its category.
_COMMANDS: Final[dict[tuple[str, str], str]] = {
    ("git", "push"): "it pushes to a remote",
    ("git", "commit"): "it commits",
    ("git", "merge"): "it merges branches",
    ("git", "rebase"): "it rewrites commits",
    ("git", "reset"): "it moves a branch, or drops changes",
    ("git", "clean"): "it deletes files that git does not know",
    ("git", "stash"): "it puts changes away, or drops them",
    ("git", "checkout"): "it switches branches, or drops changes",
    ("git", "restore"): "it drops changes",
    ("git", "tag"): "it sets or deletes tags",
    ("git", "branch"): "it creates, moves or deletes branches",
    ("git", "config"): "it changes how git works",
    ("gh", "pr"): "it changes a pull request",
    ("npm", "publish"): "it publishes a package",
    ("docker", "push"): "it publishes an image",
    ("terraform", "apply"): "it changes infrastructure",
    ("terraform", "destroy"): "it destroys infrastructure",
}
_PROGRAMS: Final[dict[str, str]] = {
    "rm": "it deletes files",
    "rmdir": "it deletes folders",
    "unlink": "it deletes files",
    "shred": "it deletes files for good",
    "sudo": "it runs as the administrator",
    "doas": "it runs as the administrator",
    "kill": "it ends processes",
    "pkill": "it ends processes",
    "killall": "it ends processes",
    "env": "it prints every variable, and secrets may be among them",
    "printenv": "it prints every variable, and secrets may be among them",
    "ssh": "it works on another machine",
}


def command_does(category: str, words: list[str]) -> str:
    """What a command does, where nothing more exact is known; no capital, no full stop."""
    first, second = (*words, "", "")[:2]
    told = _COMMANDS.get((first, second)) or _PROGRAMS.get(first, "")
    return told or f"it {_WORDS[category]}" if category in _WORDS else told or "it is not known what it does"
