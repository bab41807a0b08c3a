"""Answers whether what a project brings may act: the one rule, and the one way to read a file that acts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Final

from maestro import confined
from maestro.agents.project_files import ActsOnProject
from maestro.errors import InvalidInput, Untrusted
from maestro.trust import Brought
from maestro.trust.brought import EVERYWHERE, brought_by, brought_file, digest_of, maestro_files
from maestro.trust.old_list import is_listed
from maestro.trust.person import mark_of_agent
from maestro.trust.records import TrustRecord, confirm, read_record
from maestro.trust.remarks import remark
from maestro.trust.root import STATE_FOLDER, main_checkout

ONCE: Final = (
    "MAESTRO_TRUST_ONCE"  # set by `--trust-once` for this command and the processes that it detaches
)
STATE_VARIABLE: Final = "MAESTRO_STATE_DIR"
_LARGEST: Final = 1_000_000


class ProjectTrust:
    """What the person trusts of one project. `home` is MAESTRO_HOME, `root` the project's root."""

    def __init__(self, home: str, root: str, env: Mapping[str, str]) -> None:
        self.home = home
        self.root = os.path.realpath(root)
        self.state = os.path.normpath(env.get(STATE_VARIABLE) or STATE_FOLDER)
        # An agent may set the variable as well; it says what a person allows.
        self.is_once = env.get(ONCE) == "1" and not mark_of_agent(env)

    # Files that Maestro acts on.

    def read(self, path: str, largest: int = _LARGEST) -> bytes | None:
        """Returns the content of a file that acts, None where there is none. Raises Untrusted before anybody has
        confirmed exactly this content. Only a file below the root is the project's; any other is the person's own."""
        name = self.name_of(path)
        if name is None:
            return read_own(path, largest)
        content = read_brought(os.path.join(self.root, name), largest)
        if content is not None and not self.confirms(name, content):
            raise self.untrusted(name)
        return content

    def confirms(self, name: str, content: bytes) -> bool:
        """Whether the person trusts this content under this name."""
        return self.is_once or self._files().get(name) == digest_of(content)

    def name_of(self, path: str) -> str | None:
        """Returns how a file is called below the root; None for one that does not lie there."""
        folder, file = os.path.split(os.path.abspath(path))
        # As it is written first: a link below the root that leads out of it is the project's all the same.
        for place in (folder, os.path.realpath(folder)):
            if place == self.root or place.startswith(self.root + os.sep):
                return os.path.relpath(os.path.join(place, file), self.root)
        return None

    def untrusted(self, name: str, where: str = "") -> Untrusted:
        """Returns the refusal; `where` is the folder that somebody works in, and that brings it."""
        known = self.record()
        # A name that begins with a slash is of a file outside, which a CLI reads all the same.
        comes = "is read by agents that work here" if name.startswith("/") else "comes with this project"
        what = "has changed since you trusted it" if known and name in known.files else comes
        return Untrusted(
            f"{name} {what}, and acts only when you trust it.",
            hint=f"See what it wants and decide: maestro trust {where or self.root}",
            root=where or self.root,
            name=name,
        )

    # Files that a CLI acts on, and the folder itself.

    def trusts_folder(self, agent: ActsOnProject, cwd: str) -> bool:
        """Whether a CLI may be told that the folder is trusted: the person said so, and nothing changed since by which
        this CLI would run programs."""
        if self.is_once:
            return True
        known = self.record()
        return known is not None and known.trusted_at > 0 and not self._unconfirmed_of(agent, cwd)

    def require_run(self, agent: ActsOnProject, cwd: str) -> bool:
        """Raises Untrusted where a run of this CLI, which nobody looks at, would act on what the project brings.
        Returns whether the CLI may be told that the folder is trusted."""
        unconfirmed = [] if self.is_once else self._unconfirmed_of(agent, cwd)
        if unconfirmed:
            raise self.untrusted(unconfirmed[0].name, os.path.realpath(cwd) if self._holds(cwd) else "")
        is_trusted = self.trusts_folder(agent, cwd)
        if agent.needs_trust and not is_trusted:
            raise Untrusted(
                f"{agent.name} runs only in a folder that you trust, and you have not trusted {self.root}.",
                hint=f"See what it brings and decide: maestro trust {self.root}",
                root=self.root,
                name="",
            )
        return is_trusted

    def _unconfirmed_of(self, agent: ActsOnProject, cwd: str) -> list[Brought]:
        files = self._files()
        found = [
            one
            for top, folders in self._folders(cwd)
            for one in brought_by(top, folders, agent.project_files)
        ]
        return [one for one in found if files.get(one.name) != one.digest]

    def _folders(self, cwd: str) -> list[tuple[str, list[str]]]:
        """Returns every folder that a CLI which works in `cwd` takes files from, each with the top that names them.

        A worktree has a top of its own, so that its files have the names of the project's. A CLI does not stop where our
        project begins: it goes up to the repository that holds it and further, and from a worktree to the main checkout.
        """
        here = os.path.realpath(cwd)
        checkout = _top_of_checkout(here)
        top = self.root if self._holds(here) else checkout
        found = [(top, _down(top, here)), (EVERYWHERE, _above(top))]
        main = main_checkout(checkout)
        if main and main != checkout:
            named_from = self.root if main == self.root else EVERYWHERE
            there = os.path.normpath(os.path.join(main, os.path.relpath(here, checkout)))
            found.append((named_from, _down(main, there)))
        return found

    def _holds(self, folder: str) -> bool:
        here = os.path.realpath(folder)
        return here == self.root or here.startswith(self.root + os.sep)

    # For the person.

    def unconfirmed(
        self, agents: Iterable[ActsOnProject], names: Iterable[str] = (), cwd: str = ""
    ) -> list[Brought]:
        """Returns everything that can act and that the person has not confirmed as it is now."""
        files = self._files()
        return [one for one in self.everything(agents, names, cwd) if files.get(one.name) != one.digest]

    def everything(
        self, agents: Iterable[ActsOnProject], names: Iterable[str] = (), cwd: str = ""
    ) -> list[Brought]:
        """Returns everything that can act; `names` are files that only a command knows of. A CLI also acts on what the
        folders down to `cwd` and above the project bring."""
        found = brought_by(self.root, [self.root], maestro_files(self.state))
        places = self._folders(cwd if cwd and self._holds(cwd) else self.root)
        for agent in agents:
            for top, folders in places:
                found += brought_by(top, folders, agent.project_files)
        found += [one for name in names if name and (one := brought_file(self.root, name)) is not None]
        return list({one.name: one for one in found}.values())

    def confirm(self, brought: Iterable[Brought], *, folder: bool) -> None:
        confirm(self.home, self.root, brought, folder=folder)

    def confirm_own(self, path: str) -> None:
        """Records a file that Maestro itself has just written at the person's word."""
        name = self.name_of(path)
        one = brought_file(self.root, name) if name is not None else None
        if one is not None:
            confirm(self.home, self.root, [one], folder=False)

    def confirm_content(self, path: str, content: bytes) -> None:
        """Records a content that the person has agreed to, whatever the file holds by now."""
        name = self.name_of(path)
        if name is not None:
            confirm(self.home, self.root, [Brought(name, digest_of(content))], folder=False)

    def record(self) -> TrustRecord | None:
        known = read_record(self.home, self.root)
        if known is None and is_listed(self.home, self.root):
            known = self._taken_over()
        return known

    def _taken_over(self) -> TrustRecord | None:
        """The old list trusted whole projects: their files count as confirmed as they are, once."""
        from maestro.agents.registry import acting_agents

        confirm(self.home, self.root, self.everything(acting_agents()), folder=True)
        remark(
            f"Your tools.toml lists {self.root} under `trust`: its files are confirmed as they are now, and a change "
            "asks again. The list itself is no longer needed; `maestro trust` keeps this."
        )
        return read_record(self.home, self.root)

    def _files(self) -> Mapping[str, str]:
        known = self.record()
        return known.files if known else {}


def _down(top: str, here: str) -> list[str]:
    """Returns the folders from `top` down to `here`, which is in it."""
    folders = [here]
    while folders[-1] != top:
        folders.append(os.path.dirname(folders[-1]))
    return folders[::-1]


def _above(top: str) -> list[str]:
    """Returns the folders above `top`. The person's home, and what is above that, is their own."""
    home = os.path.realpath(os.path.expanduser("~"))
    folders = [top]
    while folders[-1] not in (home, os.path.dirname(folders[-1])):
        folders.append(os.path.dirname(folders[-1]))
    return [folder for folder in folders[1:] if folder != home]


def _top_of_checkout(folder: str) -> str:
    """Returns the nearest folder upwards that git has checked out; the folder itself where there is none."""
    place = folder
    while not os.path.lexists(os.path.join(place, ".git")):
        if place == os.path.dirname(place):
            return folder
        place = os.path.dirname(place)
    return place


def read_own(path: str, largest: int = _LARGEST) -> bytes | None:
    """Returns the content of a file of the person's own, which may be a link to wherever they keep it."""
    return read_brought(os.path.realpath(path), largest)


def read_brought(path: str, largest: int = _LARGEST) -> bytes | None:
    """Returns the content of a file of a project, None where there is none. No link leads out of the project, a pipe is
    not waited for, a large file is refused."""
    try:
        content = confined.read(path, largest + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.") from error
    if len(content) > largest:
        raise InvalidInput(f"{path} has over {largest:,} bytes.", hint="Is it the right file?")
    return content
