"""What a permission is for: which tool would run, on what, and what that means. Pure.

The names are those that the CLIs give their tools, folded; an unknown one is judged by the words of its name.
"""

from __future__ import annotations

import json
import re
from typing import Final, Literal, NamedTuple

from maestro.agents.questions import Question
from maestro.coordinate.gate import places
from maestro.coordinate.gate.command_lines import ENGLISH, is_command, looks_like_shell
from maestro.coordinate.gate.deeds import UNKNOWN, UNREADABLE, Effect
from maestro.coordinate.gate.folding import fold_text, plain_lines

_SHELL: Final = frozenset(
    {"bash", "shell", "run_shell_command", "exec", "exec_command", "local_shell", "shell_command",
     "execute", "run_command", "terminal", "powershell", "unified_exec", "sh", "command", "runcommand",
     "execute_command", "run_terminal_cmd", "container.exec", "write_stdin", "monitor"}
)  # fmt: skip
_READS: Final = frozenset(
    {"read", "grep", "glob", "ls", "read_file", "read_many_files", "list_directory",
     "search_file_content", "grep_search", "find_files", "list_dir", "view", "view_image", "notebookread",
     "todowrite", "todoread", "write_todos", "task", "agent", "websearch", "web_search",
     "google_web_search", "update_plan", "bashoutput", "lsp", "toolsearch", "skill", "save_memory",
     "askuserquestion", "taskoutput", "read_mcp_resource", "listmcpresources", "codebase_search",
     "search", "find", "get_internal_docs", "activate_skill", "readfile", "readfolder", "findfiles", "searchtext",
     "readmanyfiles", "listdirectory", "googlesearch"}
)  # fmt: skip
_EDITS: Final = frozenset(
    {"edit", "write", "multiedit", "notebookedit", "write_file", "replace", "apply_patch", "edit_file",
     "create", "create_file", "str_replace", "str_replace_editor", "update", "patch", "applypatch",
     "insert", "save_file", "notebook_edit", "writefile", "createfile", "editfile"}
)  # fmt: skip
_FETCHES: Final = frozenset(
    {"webfetch", "web_fetch", "fetch", "browser", "open_url", "url_fetch", "fetch_url"}
)
_READING_WORDS: Final = re.compile(
    r"(?:^|[_\W])(?:get|list|search|read|query|fetch|find|describe|show|view|lookup|inspect|status|count|snapshot|screenshot|resolve|docs?)(?:[_\W]|$)"
)
_GRAVE_WORDS: Final[tuple[tuple[str, str], ...]] = (
    (r"delete|remove|destroy|purge|drop|trash|unlink|erase|wipe", "file deletion"),
    (r"push|commit|merge|branch|pull_request|rebase|tag|create_or_update_file|fork", "git operations"),
    (
        r"execute_sql|sql|migration|migrate|insert|upsert|query_write|run_query|apply_migration|database",
        "database changes",
    ),
    (r"deploy|rollback|scale|restart|provision|apply|terraform|kubernetes|lambda|promote", "deployments"),
    (r"send|post|publish|email|message|tweet|comment|release|issue|reply|notify|upload", "publishing"),
    (r"secret|token|credential|password|key|vault", "API keys"),
    (r"permission|grant|role|iam|user|invite|policy|share|trust|auth", "security decisions"),
    (r"pay|charge|refund|invoice|purchase|buy|subscription|billing|checkout|transfer", "spending"),
    (r"execute|exec|run|shell|eval|evaluate|install|system|process|kill", "system changes"),
)
_PATH_IN: Final = re.compile(r"(?:\.{0,2}/|~/|[\w.@-]+/)*[\w.@~$*-]+(?:/[\w.@$*-]*)*")
_PATCHED: Final = re.compile(
    r"^\*\*\* (Add|Update|Delete) File: (.+)$|^(?:\+\+\+|---) (?:[ab]/)?(\S+)", re.MULTILINE
)
_ASKED: Final = (
    re.compile(
        r"\b(?:bash|shell|run_shell_command|exec|command|terminal)\s*\((?P<command>.+)\)\s*\??\s*$",
        re.IGNORECASE | re.DOTALL,
    ),
    re.compile(
        r"(?:^|\b)(?:bash|shell|terminal|exec)?\s*command\s*\??\s*[:\n]\s*(?P<command>.+?)\s*$",
        re.IGNORECASE | re.DOTALL,
    ),
    re.compile(r"`+(?P<command>[^`]+)`+", re.DOTALL),
    re.compile(
        r"(?:allow|execute|run|execution of|running|approve|permit)[^:`'\"\n]{0,60}[:?]\s*[\"'`]?(?P<command>[^\n\"'`][^\n]*?)[\"'`]?\s*\??\s*$",
        re.IGNORECASE,
    ),
    re.compile(
        r"(?:allow|run|execute|execution of|approve|running)(?: the| this| a| following| shell| bash| command| tool)*\s+[\"'](?P<command>.+?)[\"']\s*\??\s*$",
        re.IGNORECASE | re.DOTALL,
    ),
    re.compile(r"^\s*\$\s+(?P<command>.+)$", re.MULTILINE),
    re.compile(
        r"(?:allow|want to|may i|may it|can i|should i|to|ok to|shall i)\s+(?:run|execute|use)(?: the| this| command)*:?\s+(?P<command>.+?)\s*\??\s*$",
        re.IGNORECASE | re.DOTALL,
    ),
    re.compile(r"^(?:bash|shell|run|execute|exec)\s*:\s*(?P<command>.+?)\s*$", re.IGNORECASE | re.DOTALL),
)
_TOOL_CALL: Final = re.compile(
    r"\b(?P<tool>Edit|Write|MultiEdit|Read|Grep|Glob|LS|WebFetch|WebSearch|NotebookEdit|Update|Create|Fetch|read_file|write_file|replace|list_directory|glob|web_fetch|mcp__\w+)\s*\((?P<what>.*)\)\s*\??\s*$",
    re.DOTALL,
)
_WHOLE_CALL: Final = re.compile(r"\s*(?P<tool>[A-Za-z][\w.-]*)\((?P<what>.*)\)\s*\??\s*", re.DOTALL)
_FILE_ASKED: Final = re.compile(
    r"\b(?P<act>edit(?:s)? to|edit|write(?: to)?|create|overwrite|modify|update|make this edit to|save|read|apply (?:this |these )?(?:changes?|edits?|patch) to|delete)\s+(?:the |a |new |this |following )*(?:files? |changes? to )?[`\"']?(?P<path>[\w./~@$-]*[\w/][\w./~@$-]*\.?[\w-]+)[`\"']?\s*\??\s*$",
    re.IGNORECASE,
)
_GOES_ON: Final = re.compile(r"\S*\.\./\S*$")
_NAMES_FILE: Final = re.compile(r"(?i)path|file(?!diff)|folder|dir|root|target")
_WRITTEN: Final = frozenset({"content", "contents", "new_string", "new_str", "file_text", "text"})
_URL: Final = re.compile(r"https?://[^\s\"'`)]+", re.IGNORECASE)
_SENDS: Final = re.compile(
    r"[?&](?:\w*(?:key|token|secret|pass|data|env|content|payload)\w*)=|@|webhook\.site|requestbin|ngrok|pastebin|transfer\.sh|burpcollaborator|interact\.sh|169\.254\.169\.254|metadata\.google",
    re.IGNORECASE,
)


_HOST: Final = re.compile(r"https?://(?:[^\s/@]*@)?(\[[0-9a-f:]+\]|[^\s/:?#\"'`()]+)", re.IGNORECASE)
_LONGEST_URLS: Final = 4_000
_LOCAL_HOST: Final = re.compile(r"localhost|127\.[\d.]+|\[::1\]|0\.0\.0\.0|host\.docker\.internal")


class Text(NamedTuple):
    """Something to look at, and as what."""

    where: str
    text: str
    kind: Literal["prose", "shell", "path", "tool", "web", "content"] = "prose"
    tool: str = ""  # of content: the file that it is written to


def detail_texts(question: Question, part: str) -> list[Text]:
    """What a permission or a plan would do, as something to look at."""
    if question.kind == "plan":
        return [Text(f"{part}plan", question.detail)]
    if question.kind != "permission":
        return [Text(f"{part}detail", question.detail)]
    tool = fold_text(question.tool)
    patch = _patch(question, part) if tool in _EDITS else []
    detail, named = question.detail.strip(), question.tool
    if not detail and patch:
        return patch
    if not detail:
        named, detail = _from_words(question)
        tool = fold_text(named) or tool
    if not detail:
        return (
            [Text(f"{part}detail", question.preamble, "path", "edit")]
            if tool in _EDITS and question.preamble
            else [Text(f"{part}tool", question.tool, "tool", question.tool)]
        )
    if tool in _SHELL or (not tool and not _is_file_or_address(detail)):
        return [Text(f"{part}detail", detail, "shell")]
    if tool in _EDITS or (not tool and not _URL.match(detail)):
        return [Text(f"{part}detail", detail, "path", "edit"), *patch]
    if tool in _FETCHES or not tool:
        return [Text(f"{part}detail", detail, "web", "webfetch")]
    return [Text(f"{part}detail", detail, "tool", named or question.tool)]


def _patch(question: Question, part: str) -> list[Text]:
    """What an edit changes, where a hook told it beside the file's name on the screen."""
    is_patch = bool(_PATCHED.search(question.preamble))
    return [Text(f"{part}patch", question.preamble, "path", "edit")] if is_patch else []


def input_texts(question: Question, part: str) -> list[Text]:
    """A call's other arguments, where they say what it reaches: of an edit they are what it writes, no deed, but for
    the names of files among them."""
    tool = fold_text(question.tool)
    if question.kind != "permission" or not question.inputs.strip() or tool in _SHELL:
        return []
    if tool in _EDITS:
        given = arguments(question.inputs)
        files = [text for key, text in given if _NAMES_FILE.search(key)]
        path = question.detail.strip() or next(iter(files), "")
        written = [Text(f"{part}content", text, "content", path) for key, text in given if key in _WRITTEN]
        return [*(Text(f"{part}inputs", file, "path", "edit") for file in files), *written]
    kind: Literal["web", "tool"] = "web" if tool in _FETCHES else "tool"
    return [Text(f"{part}inputs", question.inputs, kind, question.tool)]


def fetched_hosts(texts: list[Text]) -> tuple[str, ...]:
    """Returns the hosts that a call or a command would fetch from, other than this machine."""
    hosts = (
        host.casefold()
        for text in texts
        if text.kind in {"web", "shell"} and len(text.text) <= _LONGEST_URLS
        for host in _HOST.findall(text.text)
    )
    return tuple(dict.fromkeys(host[:100] for host in hosts if not _LOCAL_HOST.fullmatch(host)))[:5]


def is_known(tool: str) -> bool:
    """Whether it is known what a tool of this name does with its arguments."""
    return fold_text(tool) in _SHELL | _READS | _EDITS | _FETCHES


def runs_shell(tool: str) -> bool:
    """Whether a tool of this name runs its argument as a command line."""
    return fold_text(tool) in _SHELL


def arguments(given: str) -> list[tuple[str, str]]:
    """Returns every text in a call's arguments, with the key that it stands under; nothing where they are no JSON."""
    try:
        return _named_texts("", json.loads(given))
    except (ValueError, RecursionError):
        return []


def _named_texts(key: str, value: object) -> list[tuple[str, str]]:
    if isinstance(value, str):
        return [(key, value)]
    if isinstance(value, dict):
        return [one for name, inner in value.items() for one in _named_texts(name, inner)]
    return [one for inner in value for one in _named_texts(key, inner)] if isinstance(value, list) else []


def has_unknown_arguments(question: Question) -> bool:
    """Whether a command would be run in a way that nobody here knows."""
    is_shell = question.kind == "permission" and fold_text(question.tool) in _SHELL
    return is_shell and bool(question.inputs.strip())


def whole_use(question: Question) -> Text | None:
    """The use of a tool that a permission's question is, and nothing besides: a command line, or `Read(README.md)`."""
    if question.kind != "permission" or question.detail.strip():
        return None
    plain = plain_lines(question.text)
    called = _WHOLE_CALL.fullmatch(plain)
    name = fold_text(called["tool"]) if called else ""
    if called and name in _SHELL:
        return Text("question", called["what"], "shell")
    if called and (name in _READS | _EDITS | _FETCHES or name.startswith("mcp__")):
        return Text("question", called["what"] or " ", "tool", called["tool"])
    if fold_text(question.tool) in {"", *_SHELL} and is_command(plain):
        return Text("question", plain.strip().removeprefix("$ "), "shell")
    return None


def _from_words(question: Question) -> tuple[str, str]:
    """Tool and target, where only the question's words tell them."""
    for text in (question.text, question.header):
        plain = plain_lines(text)
        called = _TOOL_CALL.search(plain)
        if called:
            return called["tool"], called["what"] or " "
        for pattern in _ASKED:
            match = pattern.search(plain)
            if match and not _is_nothing(match["command"]):
                return question.tool or "Bash", match["command"].strip().removeprefix("$ ")
        asked = _FILE_ASKED.search(plain)
        if asked:
            act = asked["act"].casefold()
            return (
                ("Bash", f"rm {asked['path']}")
                if act == "delete"
                else ("Read" if act == "read" else "Edit", asked["path"])
            )
        if looks_like_shell(plain):
            return question.tool or "Bash", plain.strip().rstrip("?")
    return "", ""


def _is_nothing(command: str) -> bool:
    """“the following command”, “this tool”: words about a command that is not there."""
    words = re.findall(r"[a-z]+", command.casefold())
    return not words or all(
        word
        in ENGLISH
        | {
            "following",
            "command",
            "commands",
            "tool",
            "bash",
            "shell",
            "proceed",
            "yes",
            "no",
            "run",
            "use",
            "mcp",
        }
        for word in words
    )


def _is_file_or_address(detail: str) -> bool:
    one = len(detail.split()) == 1
    return bool(_URL.match(detail)) or (
        one
        and ("/" in detail or re.search(r"\.\w{1,8}$", detail) is not None)
        and not detail.startswith("./")
    )


def is_in_the_dark(question: Question) -> bool:
    """Whether a permission says nothing of what it is for."""
    tool = fold_text(question.tool)
    if question.detail.strip() or tool in _READS or tool in _FETCHES:
        return False
    if tool and tool not in _SHELL and tool not in _EDITS:
        return False
    if whole_use(question) is not None:
        return False
    return not _from_words(question)[1] and not (tool in _EDITS and question.preamble.strip())


def tool_effects(tool: str, target: str) -> tuple[Effect, ...]:
    """What a tool that is no shell does with this."""
    name = fold_text(tool)
    if name in _READS:
        return tuple(_reading(target)) or (Effect("read"),)
    if name in _FETCHES:
        return tuple(_fetching(target))
    if name in _EDITS:
        return tuple(_editing(target))
    return tuple(_unknown(name, target))


def _reading(target: str) -> list[Effect]:
    found = [places.reads(path) for path in _PATH_IN.findall(target)]
    return [Effect("sure", place.category, place.why, target[:80]) for place in found if place]


def _fetching(target: str) -> list[Effect]:
    if _SENDS.search(target):
        return [Effect("sure", "security decisions", "the address carries something out", target[:80])]
    if re.search(
        r"(?i)https?://(?:\d{1,3}\.){3}\d{1,3}|\.(?:sh|exe|ps1|msi|bat)(?:$|[?#\s])|file://", target
    ):
        return [Effect("wary", "network fetch-and-run", "it fetches something that can be run", target[:80])]
    return [Effect("read")]


def _editing(target: str) -> list[Effect]:
    found: list[Effect] = [Effect("change")]
    patched = _PATCHED.findall(target)
    for act, path, other in patched:
        if act == "Delete":
            found.append(Effect("sure", "file deletion", "the patch deletes a file", path))
        found += _written(path or other)
    if not patched:
        first, *others = target.strip().splitlines() or [""]
        for path in [first] if " " not in first.strip() else _PATH_IN.findall(first):
            found += _written(path)
        # A name may go on behind a line end, and a CLI shortens `..` in it before it opens the file.
        for line in others:
            if _GOES_ON.match(line):
                found += [
                    *_written(line.strip()),
                    Effect("sure", UNREADABLE, "the name has a line end", line[:80]),
                ]
    return found


def _written(path: str) -> list[Effect]:
    return [
        Effect("sure" if place.is_sure else "wary", place.category, place.why, path[:80])
        for place in places.writes(path)
    ]


def _unknown(name: str, target: str) -> list[Effect]:
    """A tool that we know nothing of, by its name."""
    if not name:
        return []
    found = [] if name.startswith("mcp__") and _READING_WORDS.search(name) else [
        Effect("sure", category, "the tool's name says so", name)
        for pattern, category in _GRAVE_WORDS
        if re.search(rf"(?:^|[_\W])(?:{pattern})", name)
    ]  # fmt: skip
    found += _reading(target)
    found += [effect for url in _URL.findall(target) for effect in _fetching(url) if effect.level == "sure"]
    if not found and not _READING_WORDS.search(name):
        found.append(Effect("wary", UNKNOWN, f"the tool {name[:40]} is not known", target[:80] or name))
    return found or [Effect("read")]
