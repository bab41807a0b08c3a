"""Hooks as processes: those that are waited for, and those that run beside an open question."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator

from maestro.testing.scripted_agent.dialog import Answer, Asked
from maestro.testing.scripted_agent.effects import Hook
from maestro.testing.scripted_agent.hooks import HookSettings, hook_answer
from maestro.testing.scripted_agent.process import Child
from maestro.testing.scripted_agent.transcript import Record

LAST_HOOK_SECONDS = 5.0


class Hooks:
    """The hooks of one session. Notifications are not waited for: they are ended with the session, at the latest."""

    def __init__(self, settings: HookSettings) -> None:
        self._settings = settings
        self._notifying: list[Child] = []

    def started(self, hook: Hook) -> Iterator[tuple[Child, float]]:
        """Each command of the hook as it is started, with the time at which it has taken too long."""
        given = json.dumps(hook.payload, ensure_ascii=False).encode("utf-8", "replace")
        for command in self._settings.commands(hook.event, hook.matched):
            yield Child(("sh", "-c", command.command), given), time.monotonic() + command.timeout

    def notify(self, hook: Hook) -> None:
        self._notifying += [child for child, _ in self.started(hook)]

    def last(self, payload: Record) -> None:
        """SessionEnd: the agent is leaving, so nothing else waits with it."""
        for child, _ in self.started(Hook("SessionEnd", str(payload["reason"]), payload)):
            with contextlib.closing(child):
                child.wait(LAST_HOOK_SECONDS)

    def close(self) -> None:
        for child in self._notifying:
            child.wait(LAST_HOOK_SECONDS)
            child.close()


class Beside:
    """What goes on beside an open question: hooks that may answer it, and the notification that comes later."""

    def __init__(
        self, hooks: Hooks, asked: Asked | None, hook: Hook | None, notification: Hook | None, delay: float
    ) -> None:
        self._hooks = hooks
        self._asked = asked
        self._answering = list(hooks.started(hook)) if hook is not None else []
        self._notification = notification
        self._notify_at = time.monotonic() + delay

    def look(self) -> Answer | None:
        """The answer that a hook gave by now. Notifies, when it is time."""
        if self._notification is not None and time.monotonic() >= self._notify_at:
            self._hooks.notify(self._notification)
            self._notification = None
        for entry in list(self._answering):
            child, deadline = entry
            is_late = time.monotonic() >= deadline
            if not (child.ended() or is_late):
                continue
            self._answering.remove(entry)
            with contextlib.closing(child):
                output = "" if is_late else child.outcome().stdout
            answer = hook_answer(self._asked, output) if self._asked is not None else None
            if answer is not None:
                return answer
        return None

    def seconds_left(self) -> float | None:
        """How long there is nothing to look at; none: until a key or a signal comes."""
        times = [deadline for _, deadline in self._answering]
        if self._notification is not None:
            times.append(self._notify_at)
        return max(0.0, min(times) - time.monotonic()) if times else None

    def close(self) -> None:
        """The question is answered: hooks that still run are ended, and what they would say counts no more."""
        for child, _ in self._answering:
            child.close()
