"""Decides which of a repository's own git settings git may see, pure.

A repository's `.git/config` can name programs: hooks, filters, drivers, monitors, helpers. Whoever can write there could
make Maestro's git run them. So a setting of the repository counts only if it is known to be harmless or was confirmed by
the user; any other, also one of a git that is newer than this list, gets the value that the user's own configuration has,
or one that runs nothing. The user's own configuration (system, global) counts as it is.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

NO_HOOKS: Final = "/dev/null"
HOOKS_PATH: Final = "core.hookspath"
_SCOPES_OF_USER: Final = frozenset({"system", "global"})

# Sections in which no key names a program.
_HARMLESS_SECTIONS: Final = frozenset(
    {
        "advice", "apply", "author", "blame", "checkout", "clean", "clone", "color", "column", "commit",
        "commitgraph", "committer", "extensions", "feature", "fetch", "format", "fsck", "grep", "http", "i18n",
        "include", "index", "log", "mailmap", "notes", "pack", "push", "rebase", "repack", "rerere", "showbranch",
        "stash", "tag", "transfer", "url", "user", "versionsort", "worktree",
    }
)  # fmt: skip
# Keys without a program in sections that have some. A name between section and key is left out.
_HARMLESS: Final = frozenset(
    {
        *(
            f"core.{key}"
            for key in (
                "abbrev", "attributesfile", "autocrlf", "bare", "bigfilethreshold", "checkroundtripencoding",
                "checkstat", "commentchar", "commitgraph", "compression", "createobject", "deltabasecachelimit",
                "eol", "excludesfile", "filemode", "fsmonitorhookversion", "fsync", "fsyncmethod",
                "fsyncobjectfiles", "hidedotfiles", "ignorecase", "ignorestat", "logallrefupdates", "longpaths",
                "loosecompression", "multipackindex", "notesref", "packedgitlimit", "packedgitwindowsize",
                "packedrefstimeout", "precomposeunicode", "prefersymlinkrefs", "preloadindex", "protecthfs",
                "protectntfs", "quotepath", "repositoryformatversion", "restrictinheritedhandles", "safecrlf",
                "sharedrepository", "sparsecheckout", "sparsecheckoutcone", "splitindex", "symlinks",
                "trustctime", "untrackedcache", "usereplacerefs", "warnambiguousrefs",
                "whitespace", "worktree",
            )
        ),
        *(f"branch.{key}" for key in ("autosetupmerge", "autosetuprebase", "description", "merge", "pushremote",
                                      "rebase", "remote", "sort")),
        *(f"diff.{key}" for key in ("algorithm", "autorefreshindex", "binary", "cachetextconv", "colormoved",
                                    "context", "funcname", "indentheuristic", "interhunkcontext", "mnemonicprefix",
                                    "noprefix", "orderfile", "renamelimit", "renames", "wordregex", "xfuncname")),
        "filter.required",
        *(f"gc.{key}" for key in ("auto", "autodetach", "autopacklimit", "pruneexpire", "reflogexpire",
                                  "worktreepruneexpire", "writecommitgraph")),
        "gpg.format",
        "init.defaultbranch",
        *(f"lfs.{key}" for key in ("access", "fetchexclude", "fetchinclude", "locksverify",
                                   "repositoryformatversion", "url")),
        *(f"merge.{key}" for key in ("autostash", "branchdesc", "conflictstyle", "default", "defaulttoupstream",
                                     "directoryrenames", "ff", "log", "name", "recursive", "renamelimit",
                                     "renames", "renormalize", "stat", "verbosity", "verifysignatures")),
        "pull.ff", "pull.rebase",
        *(f"remote.{key}" for key in ("fetch", "mirror", "partialclonefilter", "promisor", "prune", "prunetags",
                                      "push", "pushdefault", "pushurl", "skipdefaultupdate", "skipfetchall",
                                      "tagopt", "url")),
        *(f"submodule.{key}" for key in ("active", "branch", "ignore", "url")),
    }
)  # fmt: skip
# `git lfs install --local` writes these: a program that the user's PATH finds, and no other words.
_WELL_KNOWN: Final = frozenset(
    {
        ("filter.lfs.clean", "git-lfs clean -- %f"),
        ("filter.lfs.smudge", "git-lfs smudge -- %f"),
        ("filter.lfs.process", "git-lfs filter-process"),
    }
)
# Values that run nothing of the repository, where an empty one would not do.
_PLAIN: Final = {
    "core.fsmonitor": "false",
    "core.sshcommand": "ssh",
    "gpg.program": "gpg",
    "gpg.ssh.program": "ssh-keygen",
    "gpg.x509.program": "gpgsm",
    # As git merges without a driver. With an empty one it would take one side and call that merged.
    "merge.driver": "git merge-file --marker-size=%L %A %O %B",
    "remote.receivepack": "git-receive-pack",
    "remote.uploadpack": "git-upload-pack",
}
# Holds many values. An empty one takes back all before it, also the user's own.
_HELPER: Final = "credential.helper"
# Of several values git takes the first one, or runs all: no later value takes such a program back.
_NOT_TAKEN_BACK: Final = frozenset({"core.gitproxy", "gc.recentobjectshook"})
# Whatever any configuration says: no repository inside the repository is entered, none is found by chance.
_ALWAYS: Final = (
    ("core.quotepath", "false"),
    ("diff.submodule", "short"),
    ("fetch.recursesubmodules", "false"),
    ("safe.barerepository", "explicit"),
    ("status.submodulesummary", "false"),
    ("submodule.recurse", "false"),
)


class Setting(msgspec.Struct, frozen=True):
    key: str  # as git prints it: section and last word in small letters
    value: str
    scope: str  # git's word: system, global, local, worktree, command

    @property
    def is_of_repository(self) -> bool:
        return self.scope not in _SCOPES_OF_USER


class Confirmed(msgspec.Struct, frozen=True):
    """What the user has confirmed of one repository."""

    settings: frozenset[tuple[str, str]] = frozenset()  # key and value
    hooks: frozenset[str] = frozenset()  # digests of hook folders


def parse_settings(listed: bytes) -> tuple[Setting, ...]:
    """Returns the settings that `git config --list --show-scope -z` printed, in their order."""
    parts = listed.decode("utf-8", "surrogateescape").split("\0")
    found = []
    for scope, entry in zip(parts[::2], parts[1::2], strict=False):
        key, _, value = entry.partition("\n")
        found.append(Setting(key, value, scope))
    return tuple(found)


def programs_among(settings: Iterable[Setting]) -> tuple[Setting, ...]:
    """Returns the settings of the repository that are not known to be harmless."""
    return tuple(
        one
        for one in settings
        if one.is_of_repository and not _is_harmless(one.key) and (one.key, one.value) not in _WELL_KNOWN
    )


def conditional_includes(settings: Iterable[Setting]) -> tuple[str, ...]:
    """Returns the keys by which the repository's settings differ from branch to branch, or from folder to folder.

    A child that git starts in another worktree would see settings that were not judged.
    """
    return tuple(one.key for one in settings if one.is_of_repository and one.key.startswith("includeif."))


def not_taken_back(settings: Iterable[Setting], confirmed: Confirmed) -> tuple[str, ...]:
    """Returns the keys that nobody vouches for, and that no other setting can take the place of."""
    return tuple(
        dict.fromkeys(
            one.key
            for one in programs_among(settings)
            if _plain_name(one.key) in _NOT_TAKEN_BACK and not _is_confirmed(one, confirmed)
        )
    )


def overrides(settings: tuple[Setting, ...], confirmed: Confirmed) -> tuple[tuple[str, str], ...]:
    """Returns the settings that git gets instead of doubtful ones, and those that it always gets; not the hooks'."""
    return (*overridden(settings, confirmed), *_ALWAYS)


def overridden(settings: tuple[Setting, ...], confirmed: Confirmed) -> tuple[tuple[str, str], ...]:
    """Returns settings that take the place of those that neither the user nor this list vouches for."""
    doubtful = dict.fromkeys(
        one.key
        for one in programs_among(settings)
        if one.key != HOOKS_PATH and not _is_confirmed(one, confirmed)
    )
    found: list[tuple[str, str]] = []
    for key in doubtful:
        own = [one for one in settings if one.key in {key, _HELPER} and not one.is_of_repository]
        if _plain_name(key) == _HELPER:
            found += [(key, ""), *((key, one.value) for one in own)]
        else:
            values = [one.value for one in own if one.key == key]
            plain = _PLAIN.get(key, _PLAIN.get(_plain_name(key), ""))
            found.append((key, values[-1] if values else plain))
    return tuple(found)


def hooks_value(settings: tuple[Setting, ...], confirmed: Confirmed) -> Setting | None:
    """Returns the setting that says where hooks are, of those that count; None for the repository's own folder."""
    counting = [
        one
        for one in settings
        if one.key == HOOKS_PATH and (not one.is_of_repository or _is_confirmed(one, confirmed))
    ]
    return counting[-1] if counting else None


def as_environment(pairs: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    """Returns the variables by which git takes settings, whatever characters are in them."""
    env: dict[str, str] = {}
    count = 0
    for key, value in pairs:
        env[f"GIT_CONFIG_KEY_{count}"] = key
        env[f"GIT_CONFIG_VALUE_{count}"] = value
        count += 1
    return env | {"GIT_CONFIG_COUNT": str(count)}


def _plain_name(key: str) -> str:
    """Returns `filter.clean` for `filter.any.thing.clean`."""
    return f"{key.partition('.')[0]}.{key.rpartition('.')[2]}"


def _is_harmless(key: str) -> bool:
    return key.partition(".")[0] in (_HARMLESS_SECTIONS | {"includeif"}) or _plain_name(key) in _HARMLESS


def _is_confirmed(setting: Setting, confirmed: Confirmed) -> bool:
    is_hooks = setting.key == HOOKS_PATH  # whose files are confirmed by themselves
    return (setting.key, setting.value) in confirmed.settings and (is_hooks or not _is_of_tree(setting.value))


def _is_of_tree(command: str) -> bool:
    """Tells whether the command names a file by a path that begins where git works: in a worker's own tree."""
    try:
        words = shlex.split(command)
    except ValueError:
        return True
    return any("/" in word and not word.startswith(("/", "~/")) for word in words)
