"""A command line as every simple command that it would run, however deep. Pure.

Pipelines, lists, subshells, substitutions, here-documents, functions, loops and wrappers (`sudo`, `xargs`, `bash -c`,
`ssh`, `find -exec` …) are opened. What cannot be known before it runs is marked, never guessed.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from maestro.coordinate.gate import wrappers
from maestro.coordinate.gate.program_names import known_as

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MOST_DEPTH: Final = 6
MOST_LENGTH: Final = 60_000
MOST_COMMANDS: Final = 400  # in one line; whoever writes more of them hides one
MOST_WORDS: Final = 2_000  # of one command
# So many of these are no line that anybody wrote, and parsing them takes long.
_MOST_JOINTS: Final = 3_000
_MOST_QUOTES: Final = 8_000
SHELLS: Final = frozenset({"sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "rbash"})
INTERPRETERS: Final = frozenset(
    {"python", "python2", "python3", "node", "nodejs", "deno", "bun", "perl", "ruby", "php", "lua",
     "pwsh", "powershell", "osascript", "tclsh", "Rscript", "R", "pypy", "pypy3", "julia", "tsx", "ts-node",
     "elixir", "groovy", "ipython", "ipython3", "clojure", "clj", "bb", "raku", "octave", "scala", "ghc", "irb", "jshell"}
)  # fmt: skip
_CODE_FLAGS: Final = frozenset(
    {"-c", "-e", "-E", "-r", "-p", "-pe", "-ne", "-pi", "-i", "-lne", "-ane", "--eval", "--print",
     "-command", "-Command", "eval"}
)  # fmt: skip
# The grammar's scanner looks letters up in a table for ASCII, and a letter far behind its end crashes the process. Every
# byte of another letter is a part of a word as a percent sign is one, and places stay the same.
_AS_ASCII: Final = bytes(byte if byte < 0x80 else ord("%") for byte in range(256))
_ANSI: Final = re.compile(
    r"\\(?:(?P<octal>[0-7]{1,3})|(?:x(?=[0-9a-fA-F])|u(?=[0-9a-fA-F])|U(?=[0-9a-fA-F]))(?P<code>(?<=x)[0-9a-fA-F]{1,2}|(?<=u)[0-9a-fA-F]{1,4}|(?<=U)[0-9a-fA-F]{1,8})|(?P<letter>.))",
    re.DOTALL,
)
_ANSI_LETTERS: Final = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b", "E": "\x1b",
                        "\\": "\\", "'": "'", '"': '"', "?": "?"}  # fmt: skip
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_EXPANSIONS: Final = frozenset(
    {"simple_expansion", "expansion", "command_substitution", "process_substitution", "arithmetic_expansion"}
)


class Word(NamedTuple):
    text: str  # with its quotes resolved; an expansion stays as it is written
    is_certain: bool = True  # nothing in it is known only when it runs


class Redirect(NamedTuple):
    operator: str  # > >> < >| &> …
    target: Word
    has_content: bool = True  # something is put there; otherwise the file is only emptied
    is_read: bool = False  # by the same command, which finds it empty then

    @property
    def writes(self) -> bool:
        return ">" in self.operator and not self.target.text.isdigit() and self.target.text != "-"


class Command(NamedTuple):
    """One simple command."""

    name: str  # without its folder; empty where it is known only when it runs
    words: tuple[Word, ...]  # its arguments
    path: str = ""  # its name as it is written
    variables: tuple[tuple[str, Word], ...] = ()  # set for it, or by it alone
    through: tuple[str, ...] = ()  # wrappers, the outermost first
    fed_by: tuple[str, ...] = ()  # names of the commands whose output it reads
    stdin: str = ""  # what a here-document gives it
    code: str = ""  # what an interpreter is told to run
    runs_input: bool = False  # an interpreter or shell that runs what it reads

    @property
    def arguments(self) -> tuple[str, ...]:
        return tuple(word.text for word in self.words)


class Line(NamedTuple):
    commands: tuple[Command, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    unreadable: str = ""  # why it cannot be read as a whole; empty where it can


@cache
def _parser() -> Parser:
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def parse_shell(text: str) -> Line:
    """What this command line would run. Never raises."""
    return _parse(text, 0)


def _parse(text: str, depth: int) -> Line:
    if depth > MOST_DEPTH:
        return Line(unreadable="commands within commands, too deep")
    if len(text) > MOST_LENGTH:
        return Line(unreadable="too long")
    if "\0" in text:
        return Line(unreadable="it holds a null character")
    if sum(map(text.count, "|&;")) > _MOST_JOINTS or sum(map(text.count, "'\"`")) > _MOST_QUOTES:
        return Line(unreadable="it has more commands than anybody would read")
    source = text.encode("utf-8", errors="replace")
    root = _parser().parse(source.translate(_AS_ASCII)).root_node
    reading = _Reading(source, depth)
    if root.has_error:
        reading.unreadable.append("it is no shell command that can be parsed")
    try:
        reading.walk(root, ())
    except RecursionError:
        return Line(unreadable="commands within commands, too deep")
    return Line(
        tuple(reading.commands), tuple(reading.redirects), "; ".join(dict.fromkeys(reading.unreadable))
    )


class _Reading:
    """One walk over a syntax tree."""

    def __init__(self, source: bytes, depth: int) -> None:
        self.source = source
        self.depth = depth
        self.commands: list[Command] = []
        self.redirects: list[Redirect] = []
        self.unreadable: list[str] = []

    def text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode("utf-8", errors="replace")

    def walk(self, node: Node, fed_by: tuple[str, ...], stdin: str = "") -> None:
        if self._is_too_much():
            return
        # Iterative over statements, recursive over structure; the parser bounds how deep that can be.
        if node.type == "pipeline":
            self._pipeline(node, fed_by)
        elif node.type in {"command", "declaration_command", "unset_command"}:
            self._command(node, fed_by, stdin)
        elif node.type == "redirected_statement":
            self._redirected(node, fed_by)
        elif node.type == "file_redirect":
            self._redirect(node)
        elif node.type == "test_command":
            self._descend(node, ())
        elif node.type == "variable_assignment":
            self._assigned(node)
        else:
            self._descend(node, fed_by, stdin)

    def _is_too_much(self) -> bool:
        if len(self.commands) <= MOST_COMMANDS:
            return False
        self.unreadable = self.unreadable or ["it has more commands than anybody would read"]
        return True

    def _descend(self, node: Node, fed_by: tuple[str, ...], stdin: str = "") -> None:
        for child in node.named_children:
            if self._is_too_much():
                return
            self.walk(child, fed_by, stdin)

    def _pipeline(self, node: Node, fed_by: tuple[str, ...]) -> None:
        feeding = fed_by
        for stage in node.named_children:
            if self._is_too_much():
                return
            before = len(self.commands)
            stdin = _echoed(self.commands[before - 1]) if feeding and self.commands else ""
            self.walk(stage, feeding, stdin)
            feeding = tuple(dict.fromkeys((*feeding, *(command.name for command in self.commands[before:]))))

    def _redirected(self, node: Node, fed_by: tuple[str, ...]) -> None:
        body = node.child_by_field_name("body")
        given = [
            child
            for child in node.named_children
            if child.type in {"heredoc_redirect", "herestring_redirect"}
        ]
        stdin = "\n".join(self._given(child) for child in given)
        before = len(self.commands)
        if body is not None:
            self.walk(body, fed_by, stdin)
        first = len(self.redirects)
        read = {word for command in self.commands[before:] for word in command.arguments}
        is_silent = body is None or (bool(self.commands) and _is_silent(self.commands[-1]))
        for child in node.named_children:
            if body is None or child.id != body.id:
                name = self.commands[-1].name if self.commands else ""
                # `cat <<EOF | bash`: what follows the mark stands inside the here-document.
                self._descend(child, (name,), stdin) if child in given else self.walk(child, fed_by)
        self.redirects[first:] = [
            each._replace(is_read=each.target.text in read) for each in self.redirects[first:]
        ]
        if is_silent and not given:
            self.redirects[first:] = [each._replace(has_content=False) for each in self.redirects[first:]]

    def _given(self, node: Node) -> str:
        if node.type == "herestring_redirect":
            return " ".join(self.word(child).text for child in node.named_children)
        bodies = [self.text(child) for child in node.named_children if child.type == "heredoc_body"]
        return "\n".join(bodies)

    def _redirect(self, node: Node) -> None:
        operator = next((self.text(child) for child in node.children if not child.is_named), ">")
        for target in node.children_by_field_name("destination"):
            self.redirects.append(Redirect(operator, self.word(target)))
            self._substitutions(target)

    def _assigned(self, node: Node) -> None:
        value = node.child_by_field_name("value")
        name = node.child_by_field_name("name")
        if value is not None:
            self.commands.append(
                Command("=", (), variables=((self.text(name) if name else "", self.word(value)),))
            )
            self._substitutions(value)

    def _substitutions(self, node: Node) -> None:
        """Commands that run to make up a word."""
        if node.type in {"command_substitution", "process_substitution"}:
            self._descend(node, ())
        else:
            for child in node.named_children:
                self._substitutions(child)

    def _command(self, node: Node, fed_by: tuple[str, ...], stdin: str) -> None:
        words: list[Word] = []
        variables: list[tuple[str, Word]] = []
        for child in node.children:
            if child.type == "variable_assignment":
                name, value = child.child_by_field_name("name"), child.child_by_field_name("value")
                variables.append((self.text(name) if name else "", self.word(value) if value else Word("")))
                if node.type == "declaration_command":
                    words.append(Word(self.text(child), is_certain=True))
            elif child.type in {"file_redirect", "heredoc_redirect", "herestring_redirect"}:
                stdin = self._given(child) or stdin
                self.walk(child, fed_by)
                continue
            elif child.is_named or node.type != "command":
                words.append(self.word(child))
            self._substitutions(child)
        self._add(words, tuple(variables), (), fed_by, stdin)

    def _add(
        self, words: list[Word], variables: tuple[tuple[str, Word], ...], through: tuple[str, ...],
        fed_by: tuple[str, ...], stdin: str,
    ) -> None:  # fmt: skip
        """This command, and those inside it."""
        if not words:
            if variables:
                self.commands.append(Command("=", (), variables=variables, through=through))
            return
        if len(words) > MOST_WORDS:
            self.unreadable.append("it has more arguments than anybody would read")
            words = words[:MOST_WORDS]
        head, rest = words[0], tuple(words[1:])
        name = _name(head)
        if through and len(through) > MOST_DEPTH:
            self.unreadable.append("wrappers within wrappers, too deep")
            return
        command = Command(name, rest, head.text, variables, through, fed_by, stdin)
        if not name:
            self.unreadable.append(f"which program it runs is known only when it runs: {head.text[:60]}")
            return
        if name in SHELLS or name in INTERPRETERS or name in {"eval", "source", ".", "trap", "su"}:
            self._runner(command)
            return
        opened = wrappers.opened(name, [word.text for word in rest])
        self.commands.append(command)
        for inner in opened.texts:
            self._text(inner, (*through, name))
        for start, end in opened.spans:
            # What xargs hands on is known only when it runs, but it is there.
            more = [Word("{}", is_certain=False)] if name in {"xargs", "parallel"} else []
            span = [_found(word, rest) if name == "find" else word for word in rest[start:end]]
            self._add([*span, *more], variables, (*through, opened.label or name), fed_by, stdin)

    def _runner(self, command: Command) -> None:
        """A shell or an interpreter: what it is told to run is opened, or marked."""
        name, words = command.name, command.words
        if name == "eval":
            self.commands.append(command)
            self._sure_text(words, command)
            return
        if name == "trap":
            self.commands.append(command)
            self._sure_text(words[:1], command)
            return
        flag = next((at for at, word in enumerate(words) if _is_code_flag(name, word.text)), None)
        if flag is not None:
            code = words[flag + 1] if flag + 1 < len(words) else Word("")
            if name in SHELLS or name == "su":
                self.commands.append(command._replace(name=f"{name} -c"))
                self._sure_text((code,), command)
                return
            if name in {"pwsh", "powershell"}:
                self.commands.append(command._replace(name=f"{name} -c"))
                self._text(code.text, (*command.through, name))
                return
            self.commands.append(command._replace(code=code.text or " "))
            return
        module = next((at for at, word in enumerate(words) if word.text == "-m"), None)
        if name.startswith(("python", "pypy")) and module is not None and module + 1 < len(words):
            # A module is a program like any other, by its own name.
            self.commands.append(command)
            self._add(
                list(words[module + 1 :]), (), (*command.through, "python -m"), command.fed_by, command.stdin
            )
            return
        operands = [word for word in words if not word.text.startswith("-")]
        reads = name not in {"source", ".", "su"} and (
            not operands or any(w.text in {"-", "-s"} for w in words)
        )
        asks = any(word.text in {"--version", "-V", "--help", "-h", "-v", "-m"} for word in words)
        self.commands.append(command._replace(runs_input=reads and not asks))
        if reads and not asks and command.stdin and name in SHELLS:
            self._text(command.stdin, (*command.through, name))
        elif reads and not asks and command.stdin:
            self.commands[-1] = self.commands[-1]._replace(code=command.stdin, runs_input=False)

    def _sure_text(self, words: tuple[Word, ...], command: Command) -> None:
        if all(word.is_certain for word in words):
            self._text(" ".join(word.text for word in words), (*command.through, command.name))
        elif any("$(" in word.text or "`" in word.text or "<(" in word.text for word in words):
            self.unreadable.append(f"{command.name} runs what another command prints")
        else:
            self._text(" ".join(word.text for word in words), (*command.through, command.name))

    def _text(self, text: str, through: tuple[str, ...]) -> None:
        inner = _parse(text, self.depth + 1)
        self.commands += [
            command._replace(through=(*through, *command.through)) for command in inner.commands
        ]
        self.redirects += inner.redirects
        if inner.unreadable:
            self.unreadable.append(inner.unreadable)

    def word(self, node: Node) -> Word:
        kind = node.type
        if kind == "command_name":
            return self.word(node.named_children[0]) if node.named_children else Word(self.text(node))
        if kind == "raw_string":
            return Word(self.text(node)[1:-1])
        if kind == "ansi_c_string":
            return _ansi(self.text(node)[2:-1])
        if kind in {"string", "translated_string"}:
            return self._quoted(node)
        if kind == "concatenation":
            parts = [self.word(child) for child in node.children]
            return Word("".join(part.text for part in parts), all(part.is_certain for part in parts))
        if kind in _EXPANSIONS:
            return Word(self.text(node), is_certain=False)
        text = self.text(node)
        if kind == "word":
            return Word(_ESCAPED.sub(lambda escape: "" if escape[1] == "\n" else escape[1], text))
        return Word(text, is_certain=kind != "brace_expression")

    def _quoted(self, node: Node) -> Word:
        inner = self.text(node).removeprefix("$")[1:-1]
        certain = not any(child.type in _EXPANSIONS for child in node.named_children)
        return Word(re.sub(r'\\([\\"$`\n])', lambda e: "" if e[1] == "\n" else e[1], inner), certain)


def _ansi(text: str) -> Word:
    """What `$'…'` stands for: bash leaves an escape that it does not know as it is."""
    return Word(_ANSI.sub(_unescaped, text))


def _unescaped(escape: re.Match[str]) -> str:
    octal, code, letter = escape["octal"], escape["code"], escape["letter"]
    if letter is not None:
        return _ANSI_LETTERS.get(letter, escape[0])
    number = int(octal, 8) & 0xFF if octal is not None else int(code, 16)
    return chr(number) if number <= sys.maxunicode and not 0xD800 <= number <= 0xDFFF else "\ufffd"


def _name(head: Word) -> str:
    """A program's own name; empty where only running tells, or where it is no name at all."""
    text = head.text
    last = text.replace("\\", "/").rsplit("/", 1)[-1]
    if not head.is_certain and ("$" in last or "`" in last or not last or re.search(r"\w[$`]", text)):
        return ""
    if any(sign in last for sign in "*?{}[]$`") and last not in {"[", "[["}:
        return ""
    return known_as(last.removesuffix(".exe"))


def _found(word: Word, words: tuple[Word, ...]) -> Word:
    """What `{}` stands for, as far as a search says where it looks and for which names."""
    if word.text != "{}":
        return word
    texts = [each.text for each in words]
    start = texts[0] if texts and not texts[0].startswith("-") else "."
    names = [texts[at + 1] for at, text in enumerate(texts[:-1]) if text in {"-name", "-iname"}]
    return Word(f"{start.rstrip('/')}/{names[0] if names else '{}'}", is_certain=False)


def _is_silent(command: Command) -> bool:
    """Whether it prints nothing: `: > file` empties the file."""
    words = [word for word in command.arguments if word and word != "-n"]
    if command.name in {":", "true"}:
        return True
    return (command.name in {"echo", "printf"} and not words) or (
        command.name == "cat" and words == ["/dev/null"]
    )


def _is_code_flag(name: str, word: str) -> bool:
    if name in SHELLS or name == "su":
        return bool(re.fullmatch(r"-[a-z]*c[a-z]*|--command", word))
    if name.startswith(("python", "pypy")):
        return bool(re.fullmatch(r"-[A-Za-z]*c", word))
    return (
        word in _CODE_FLAGS
        and not (name in {"ruby", "lua"} and word == "-r")
        and not (name in {"bun", "deno"} and word in {"-p", "-c", "-r"})
    )


def _echoed(command: Command) -> str:
    """What `echo` or `printf` hands on, where that is certain."""
    if command.name not in {"echo", "printf"} or not all(word.is_certain for word in command.words):
        return ""
    words = [word.text for word in command.words if not re.fullmatch(r"-[neE]+", word.text)]
    text = " ".join(words)
    if command.name == "printf":
        return _ANSI.sub(_unescaped, text)
    return text.replace("\\n", "\n")
