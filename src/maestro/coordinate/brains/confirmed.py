"""Keeps rules for scripts from a brain where a worker's scripts are not those that the person confirmed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from maestro.coordinate import AnswerRule, Assessment, Brain, Case, Policy
from maestro.coordinate.policy.project_files import as_confirmed, changed_words


class Confirmed:
    """A brain that sees a rule for a script only while the script is as confirmed, in the folder that its session works in.

    A worker may change a script and then ask to run it: so the files are read for every question, and in the worker's own
    checkout. `folder_of` tells the folder of a session; each rule is told to the person once.
    """

    def __init__(self, brain: Brain, folder_of: Callable[[str], str], say: Callable[[str], None]) -> None:
        self.name: str = brain.name
        self._brain = brain
        self._folder_of = folder_of
        self._say = say
        self._told: set[tuple[str, AnswerRule]] = set()

    async def assess(self, case: Case, policy: Policy) -> Assessment:
        if case.asked.kind == "permission" and any(rule.digest for rule in policy.rules):
            policy = await asyncio.to_thread(self._confirmed, case.session_id, policy)
        return await self._brain.assess(case, policy)

    def _confirmed(self, session_id: str, policy: Policy) -> Policy:
        folder = self._folder_of(session_id)
        kept, changed = as_confirmed(policy, folder)
        new = tuple(rule for rule in changed if (folder, rule) not in self._told)
        self._told.update((folder, rule) for rule in new)
        if words := changed_words(new, folder):
            self._say(words)
        return kept
