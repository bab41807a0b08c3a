"""What git reads from a work tree and its `.git`, all of it malicious. Nothing of `.git` is committed: it is written
afterwards, as whoever hands over a folder or a worker in it can do."""

from __future__ import annotations

from typing import Final

from tests.hostile.brought import Brought, evil

HOOKS: Final = (
    "applypatch-msg", "commit-msg", "fsmonitor-watchman", "post-applypatch", "post-checkout", "post-commit",
    "post-index-change", "post-merge", "post-rewrite", "pre-auto-gc", "pre-commit", "pre-merge-commit", "pre-push",
    "pre-rebase", "prepare-commit-msg", "reference-transaction",
)  # fmt: skip
_CONFIG = f"""
[core]
	fsmonitor = "{evil("git-fsmonitor")}; false"
	hooksPath = .githooks
	pager = "{evil("git-pager")}"
	editor = "{evil("git-editor")}"
	sshCommand = "{evil("git-ssh")}"
	askPass = "{evil("git-askpass")}"
	attributesFile = .gitattributes
[commit]
	gpgSign = true
[gpg]
	program = "{evil("git-gpg")}"
[diff]
	external = "{evil("git-external-diff")}"
[diff "evil"]
	textconv = "{evil("git-textconv")}"
	command = "{evil("git-diff-command")}"
[filter "evil"]
	clean = "{evil("git-clean")}; cat"
	smudge = "{evil("git-smudge")}; cat"
[merge "evil"]
	driver = "{evil("git-merge-driver")}; true"
[alias]
	status = "!{evil("git-alias")}"
[credential]
	helper = "!{evil("git-credential")}"
[submodule "vendor/nested"]
	update = "!{evil("git-submodule")}"
[interactive]
	diffFilter = "{evil("git-diff-filter")}"
[sequence]
	editor = "{evil("git-sequence-editor")}"
"""
NESTED_CONFIG: Final = f"""
[core]
	fsmonitor = "{evil("git-nested-fsmonitor")}; false"
[diff]
	external = "{evil("git-nested-diff")}"
"""
NESTED: Final = "vendor/nested"
ATTRIBUTES: Final = "*.txt diff=evil filter=evil merge=evil\n"

FILES: Final[tuple[Brought, ...]] = (
    Brought("git-attributes", ".gitattributes", "gives files drivers and filters", ATTRIBUTES, acts=False),
    Brought("git-modules", ".gitmodules", "calls a nested repository a submodule", f'[submodule "{NESTED}"]\n\tpath = {NESTED}\n\turl = ./{NESTED}\n\tignore = none\n', acts=False),
    Brought("git-text", "text.txt", "has a driver", "one\ntwo\n", acts=False),
    *(Brought("git-hooks-path", f".githooks/{hook}", "is a hook", f"#!/bin/sh\n{evil(f'git-hook-{hook}')}\n", mode=0o755, acts=False) for hook in HOOKS),
)  # fmt: skip
LATER: Final[tuple[Brought, ...]] = (
    Brought("git-config", ".git/config", "drivers, filters, fsmonitor, editor, pager, hooks elsewhere", _CONFIG),
    *(Brought("git-hooks", f".git/hooks/{hook}", "is a hook", f"#!/bin/sh\n{evil(f'git-own-hook-{hook}')}\n", mode=0o755) for hook in HOOKS),
    Brought("git-attributes", ".git/info/attributes", "gives files drivers and filters", ATTRIBUTES),
)  # fmt: skip
