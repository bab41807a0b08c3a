"""What an oversight loop on the command line needs: the daemon, a policy, a brain, its folder, its log."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Self

import msgspec

from maestro import confined, errors
from maestro.cli.fleet import the_fleet
from maestro.cli.project import path_part
from maestro.coordinate import Assessment, BrainSettings, Case, Policy
from maestro.coordinate.brains import Metered, brain_named
from maestro.coordinate.brains.confirmed import Confirmed
from maestro.coordinate.debrief import debrief
from maestro.coordinate.log import CoordinateLog
from maestro.coordinate.loop import Loop, line_of
from maestro.coordinate.notices import Notices
from maestro.coordinate.policy.config import with_mode
from maestro.coordinate.policy.config_file import Found, find_policy, named_policy, untrusted_words
from maestro.coordinate.policy.project_files import changed_words
from maestro.coordinate.tags.tag_files import open_tags
from maestro.coordinate.vision.document_file import untrusted_principles
from maestro.dispatch.places import project_root, state_folder
from maestro.files import write_atomically
from maestro.home import locate
from maestro.server.client import Daemon
from maestro.trust.project import ProjectTrust

if TYPE_CHECKING:
    from argparse import Namespace

_LOG: Final = "COORDINATE_LOG.md"
_DEBRIEF: Final = "DEBRIEF.md"
_DECIDE_SECONDS: Final = 120.0
_NAMES_KEPT: Final = 500


def now_ms() -> int:
    return int(time.time() * 1000)


class OverSocket:
    """The daemon, as the loop needs it."""

    def __init__(
        self,
        daemon: Daemon,
        policy: Policy,
        *,
        coordinator: str,
        fleet: str,
        managed: Sequence[str] | None,
        shadow: bool,
    ) -> None:
        self._daemon = daemon
        self._body = {
            "coordinator": coordinator,
            "shadow": shadow,
            "policy": msgspec.to_builtins(policy),
        }
        self._scope: dict[str, Any] = {"fleet": fleet}
        if managed:
            self._scope["managed"] = list(managed)
        self._names: dict[str, str] = {}

    def fleet_runs(self) -> bool:
        fleets = self._daemon.call("GET", "/api/fleets")
        return any(one["running"] for one in fleets if one["name"] == self._scope["fleet"])

    def wait(self, seconds: float, *, handled: bool) -> dict[str, Any]:
        body = {
            **self._scope,
            "coordinator": self._body["coordinator"],
            "timeout": seconds,
            "handled": handled,
        }
        if own := os.environ.get("MAESTRO_SESSION_ID"):
            body["ownPane"] = own
        told: dict[str, Any] = self._daemon.call(
            "POST", "/api/fleets/coordinate-wait", body, timeout=seconds + 30
        )
        return told

    def let_go(self, *, handled: bool) -> None:
        """A wait for no pane at all ends at once, and hands back what was taken before."""
        body = {**self._scope, "coordinator": self._body["coordinator"], "managed": [], "timeout": 0}
        self._daemon.call("POST", "/api/fleets/coordinate-wait", body | {"handled": handled})

    def consider(self, session_id: str) -> dict[str, Any]:
        body = {**self._body, "sessionId": session_id}
        told: dict[str, Any] = self._daemon.call("POST", "/api/coordinate/case", body)
        return told

    def decide(self, case: Case, assessment: Assessment | None) -> dict[str, Any]:
        body = {
            **self._body,
            "sessionId": case.session_id,
            "questionId": case.question_id,
            "version": case.version,
            "assessment": None if assessment is None else msgspec.to_builtins(assessment),
        }
        told: dict[str, Any] = self._daemon.call(
            "POST", "/api/coordinate/decide", body, timeout=_DECIDE_SECONDS
        )
        return told

    def attend(self, session_ids: Sequence[str] | None = None) -> list[dict[str, Any]]:
        body = {**self._body, **self._scope}
        if session_ids is not None:
            body["sessions"] = list(session_ids)
        told: list[dict[str, Any]] = self._daemon.call(
            "POST", "/api/coordinate/attend", body, timeout=_DECIDE_SECONDS
        )
        return told

    def last_decision(self) -> int:
        return int(self._daemon.call("GET", "/api/decisions/audit")["links"])

    def sequence_of(self, decision_id: str) -> int:
        told = self._daemon.call("GET", f"/api/decisions/{path_part(decision_id)}/why")
        return int(told["decision"]["seq"])

    def decisions(self, since: int) -> list[dict[str, Any]]:
        told: list[dict[str, Any]] = self._daemon.call("GET", "/api/decisions", query={"since": since})
        return told

    def question(self, decision: Mapping[str, Any]) -> dict[str, Any] | None:
        if not decision["questionId"]:
            return None
        query: dict[str, str | int | None] = {"sessionId": decision["sessionId"]}
        asked = self._daemon.call("GET", "/api/questions", query=query)
        return next((one for one in asked if one["id"] == decision["questionId"]), None)

    def session_name(self, session_id: str) -> str:
        if session_id not in self._names:
            if len(self._names) >= _NAMES_KEPT:
                self._names.clear()
            found = self._daemon.call("GET", f"/api/sessions/{path_part(session_id)}")
            self._names[session_id] = str(found["name"])
        return self._names[session_id]

    def session_folder(self, session_id: str) -> str:
        return str(self._daemon.call("GET", f"/api/sessions/{path_part(session_id)}")["cwd"])

    def inbox(self) -> list[dict[str, Any]]:
        told: list[dict[str, Any]] = self._daemon.call("GET", "/api/inbox")
        return told

    def notified(self, escalation_id: str) -> None:
        try:
            self._daemon.call("POST", f"/api/inbox/{path_part(escalation_id)}/notified", {})
        except errors.Refused:
            # A session's loop may have told somebody; that the human knows, only the human's own may say.
            return


class Oversight:
    """One oversight: its folder, which is locked while it runs, and its loop."""

    def __init__(
        self,
        daemon: Daemon,
        found: Found,
        folder: str,
        fleet: Mapping[str, Any],
        arguments: Namespace,
        say: Callable[[str], None],
    ) -> None:
        self.policy, self.policy_path = found.policy, found.path
        self.folder = folder
        self.log_path = os.path.join(folder, _LOG)
        self._daemon = daemon
        self._fleet = fleet
        self._began = now_ms()
        managed = [word.strip() for word in (arguments.managed or "").split(",") if word.strip()]
        self._socket = OverSocket(
            daemon,
            self.policy,
            coordinator=os.path.basename(folder),
            fleet=fleet["name"],
            managed=managed or None,
            shadow=arguments.shadow,
        )
        self._since = self._socket.last_decision()
        begun = _begun(os.path.join(folder, "since"), self._since)
        brain = Confirmed(
            brain_named(self.policy.brain, os.environ, os.path.join(folder, "runs")),
            self._socket.session_folder,
            say,
        )
        self._log = CoordinateLog(self.log_path)
        self.loop = Loop(
            self._socket,
            self.policy,
            Metered(brain, self.policy.brain.calls_per_hour),
            self._log,
            Notices(self.policy.notify, os.environ),
            say=say,
            clock=time.monotonic,
            now=now_ms,
            since=begun,
        )
        self._held = contextlib.ExitStack()

    def __enter__(self) -> Self:
        try:
            self._held.enter_context(confined.lock(os.path.join(self.folder, "lock"), wait=False))
        except BlockingIOError as error:
            raise errors.Conflict(
                f"An oversight named “{os.path.basename(self.folder)}” runs in this project already.",
                hint="End it, or give this one another name: --as NAME.",
            ) from error
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def where_it_stood(self) -> str:
        """What an oversight that was begun before goes on with; empty for one that begins."""
        known = self._log.last_logged()
        if known is None:
            return ""
        try:
            why = self._daemon.call("GET", f"/api/decisions/{path_part(known)}/why")
        except errors.NotFound:
            return ""  # of another ledger
        decision = why["decision"]
        last = line_of(decision, why["question"], self._socket.session_name(decision["sessionId"]))
        waiting = len(self._socket.inbox())
        waits = (
            f"{waiting} {'waits' if waiting == 1 else 'wait'} for you" if waiting else "nothing waits for you"
        )
        return f"Goes on: {waits}" + (f"; last decision: {last}" if last else "")

    def write_debrief(self, why: str) -> str:
        daemon = self._daemon
        since = self._socket.decisions(self._since)
        # Sessions of a fleet that was taken down are in no pane any more.
        known = {one["id"] for one in self._fleet["sessions"]} | {one["sessionId"] for one in since}
        sessions = [
            one
            for one in daemon.call("GET", "/api/sessions")
            if (one["place"] or {}).get("fleet") == self._fleet["name"] or one["id"] in known
        ]
        tasks = {task for one in sessions for task in one["taskIds"]}
        hours = max(1, now_ms() - self._began) / 3_600_000
        text = debrief(
            began=self._began,
            ended=now_ms(),
            why=why,
            sessions=sessions,
            tasks=[task for task in daemon.call("GET", "/api/tasks") if task["id"] in tasks],
            decisions=since,
            open_escalations=self._socket.inbox(),
            stats=daemon.call("GET", "/api/decisions/stats", query={"sinceHours": f"{hours:.9f}"}),
            usage=self._usage([one["id"] for one in sessions]),
            tags=self._open_tags(),
        )
        path = os.path.join(self.folder, _DEBRIEF)
        write_atomically(path, text.encode(), confined=True)
        return path

    def _usage(self, session_ids: Sequence[str]) -> list[dict[str, Any]]:
        if not session_ids:
            return []
        told: list[dict[str, Any]] = self._daemon.call(
            "GET", "/api/sessions/stats", query={"sessionIds": ",".join(session_ids)}, timeout=_DECIDE_SECONDS
        )
        return told

    def _open_tags(self) -> list[dict[str, Any]]:
        try:
            standing = open_tags(project_root(os.getcwd()), os.environ)
        except errors.MaestroError:
            # A debrief without its tags is better than none.
            return []
        return [msgspec.to_builtins(seen.tag) for seen in standing]

    def fleet_status(self) -> str:
        panes = self._daemon.call("GET", "/api/fleets/panes", query={"fleet": self._fleet["name"]})
        lines = [
            f"  {pane['paneId']:<5} {'dead' if pane['dead'] else pane['notify']:<10} {pane['label']}"
            for pane in panes
        ]
        waiting = len(self._socket.inbox())
        return "\n".join([*lines, f"  {waiting} in your inbox" if waiting else "  Nothing waits for you."])

    def relay(self, worker: str, message: str) -> str:
        sent = self._daemon.call(
            "POST", f"/api/sessions/{path_part(worker)}/prompt", {"message": message}, timeout=60
        )
        return str(sent["state"]) + (f": {sent['reason']}" if sent["reason"] else "")

    def wait_for_news(self) -> None:
        """All are done, and the human wants to go on: until somebody works again."""
        cursor = None
        for event in self._daemon.events(cursor, ""):
            if str(event["kind"]).startswith(("session.", "prompt.", "task.")):
                return


def _begun(path: str, now: int) -> int:
    """Where in the chain of decisions this oversight began: a log without an entry goes on from there."""
    try:
        return int(confined.read(path))
    except (FileNotFoundError, ValueError):
        write_atomically(path, str(now).encode(), confined=True)
        return now


def open_oversight(arguments: Namespace, say: Callable[[str], None]) -> Oversight:
    """Everything that can be wrong is said before anything begins."""
    env, home = os.environ, locate(os.environ).root
    name = arguments.coordinator or "oversight"
    root = project_root(os.getcwd())
    found = (
        named_policy(arguments.config, ProjectTrust(home, root, env))
        if arguments.config
        else find_policy(name, root, env, home)
    )
    for words in (
        untrusted_words(found, root),
        changed_words(found.changed, root),
        untrusted_principles(ProjectTrust(home, root, env), env),
    ):
        if words:
            say(words)
    policy = with_mode(found.policy, arguments.mode) if arguments.mode else found.policy
    if arguments.brain:
        kept = policy.brain if policy.brain.kind == arguments.brain else BrainSettings()
        policy = msgspec.structs.replace(policy, brain=msgspec.structs.replace(kept, kind=arguments.brain))
    daemon = Daemon(env)
    fleet = the_fleet(daemon, arguments.fleet, running=True)
    folder = os.path.join(state_folder(root, env), "coordinate", name)
    try:
        confined.make_folders(folder)
    except OSError as error:
        raise errors.NoPermission(
            f"{folder} cannot be used: {error.strerror}.", hint="The log is kept in the project's folder."
        ) from error
    return Oversight(daemon, Found(policy, found.path), folder, fleet, arguments, say)
