"""tools.toml: the user's, then the project's; what is wrong is told with its file and key."""

from __future__ import annotations

from pathlib import Path

import pytest

from maestro.agents.headless import Output, RunRequest
from maestro.dispatch.command_tool import CommandTool
from maestro.dispatch.tools import Tool, Toolbox, load_toolbox, shown_toolbox
from maestro.errors import InvalidInput, MaestroError, NotFound, Untrusted
from maestro.trust.project import ProjectTrust
from maestro.trust.records import revoke
from maestro.trust.remarks import take_remarks


class Files:
    def __init__(self, place: Path) -> None:
        self.home, self.root = place / "home", place / "project"
        self.state = self.root / ".maestro"
        for folder in (self.home, self.state):
            folder.mkdir(parents=True)

    def user(self, text: str) -> None:
        (self.home / "tools.toml").write_text(text)

    def project(self, text: str) -> None:
        (self.state / "tools.toml").write_text(text)

    @property
    def trust(self) -> ProjectTrust:
        return ProjectTrust(str(self.home), str(self.root.resolve()), {})

    def load(self) -> Toolbox:
        return load_toolbox(self.trust, str(self.state))


@pytest.fixture
def files(place: Path) -> Files:
    return Files(place)


def test_without_files_there_are_the_known_clis(files: Files) -> None:
    assert files.load().names() == ["claude", "codex", "gemini", "scripted"]


def test_an_unknown_tool_is_an_error_with_the_list(files: Files) -> None:
    with pytest.raises(NotFound) as error:
        files.load().find("cursor")
    assert error.value.hint == "There are: claude, codex, gemini, scripted."


def test_the_project_is_on_top_of_the_user(files: Files) -> None:
    files.user('default = "codex"\n[tools.claude]\nmodel = "opus"\ntimeout = 900\n[roles]\nreview = "gemini"')
    files.project(
        'default = "quick"\n[tools.claude]\nmodel = "haiku"\n[tools.quick]\nagent = "gemini"\nmodel = "flash"'
    )
    files.trust.confirm(files.trust.everything([]), folder=False)
    box = files.load()
    assert box.tools["claude"] == Tool(agent="claude", model="haiku", timeout=900.0)
    assert box.find("review") == ("gemini", Tool(agent="gemini"))
    assert box.default == "quick"
    assert box.find("quick")[1].agent == "gemini"


def test_fallbacks_are_tried_in_order_and_once(files: Files) -> None:
    files.user('[tools.claude]\nfallbacks = ["codex", "gemini"]\n[tools.codex]\nfallbacks = ["claude"]')
    assert [name for name, _ in files.load().candidates("claude")] == ["claude", "codex", "gemini"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("default = 3", "default: Expected `str`"),
        ('default = "nobody"', "default: there is no tool “nobody”"),
        ('[roles]\nreview = "nobody"', "roles.review: there is no tool “nobody”"),
        ('[tools.claude]\nfallbacks = ["nobody"]', "tools.claude.fallbacks: there is no tool “nobody”"),
        ("[tools.claude]\nmodle = 'x'", "modle"),
        ("[tools.claude]\ntimeout = -1", "tools.claude.timeout"),
        ('[tools.mine]\nmodel = "x"', "tools.mine: neither"),
        ('[tools.mine]\nagent = "cursor"', "tools.mine.agent: Maestro knows no CLI “cursor”"),
        ('[tools.mine]\ncommand = ["x", "{promt}"]', "tools.mine.command: there is no placeholder {promt}"),
        ('[tools.mine]\ncommand = ["x"]\nmodes = ["fly"]', "modes"),
        ("[tools", "is not TOML"),
    ],
)
def test_faults_name_the_file_and_the_key(files: Files, text: str, words: str) -> None:
    files.user(text)
    with pytest.raises(InvalidInput) as error:
        files.load()
    assert str(files.home / "tools.toml") in error.value.message
    assert words in error.value.message


@pytest.mark.parametrize(
    "text",
    [
        '[tools.claude]\ncommand = ["sh", "-c", "evil"]',
        '[tools.claude]\nagent = "scripted"\nmodel = "evil.json"',
        '[tools.claude]\nmodel = "evil.json"',
        'default = "scripted"',
        '[roles]\nreview = "scripted"',
        '[tools.claude]\nfallbacks = ["scripted"]',
    ],
)
def test_nothing_that_a_project_says_of_tools_counts_untrusted(files: Files, text: str) -> None:
    """A repository that somebody cloned must not run programs by being there."""
    files.project(text)
    with pytest.raises(Untrusted, match=r"\.maestro/tools\.toml comes with this project"):
        files.load()
    files.trust.confirm(files.trust.everything([]), folder=False)
    before = files.load()
    files.project(f"{text}\n# more")
    with pytest.raises(Untrusted, match="has changed since you trusted it"):
        files.load()
    assert shown_toolbox(files.trust, str(files.state)) == before, "it can still be looked at"


def test_the_old_list_is_taken_over_once(files: Files) -> None:
    files.user(f'trust = ["{files.root}"]')
    files.project('[tools.mine]\ncommand = ["sh"]')
    assert files.load().tools["mine"].command == ("sh",)
    assert [sentence for sentence in take_remarks() if str(files.root) in sentence]
    files.project('[tools.mine]\ncommand = ["sh", "-c", "evil"]')
    with pytest.raises(Untrusted):
        files.load()
    revoke(str(files.home), str(files.root))
    with pytest.raises(Untrusted):
        files.load()
    assert take_remarks() == []


def test_a_project_cannot_trust_itself(files: Files) -> None:
    files.project(f'trust = ["{files.root}"]\n[tools.x]\ncommand = ["x"]')
    with pytest.raises(Untrusted):
        files.load()
    files.trust.confirm(files.trust.everything([]), folder=False)
    with pytest.raises(MaestroError, match="not the project's to give"):
        files.load()


def request(**more: object) -> RunRequest:
    asked: dict[str, object] = {
        "prompt_path": "/r/prompt.md",
        "folder": "/r",
        "cwd": "/c",
        "mode": "write",
        "env": {},
    }
    return RunRequest(**(asked | more))  # type: ignore[arg-type]  # fields of several types


def test_a_command_gets_its_words() -> None:
    tool = CommandTool("mine", Tool(command=("x", "--file={prompt_file}", "{model}", "{cwd}", "{{}}")))
    plan = tool.headless(request(model="m {cwd}"))
    assert plan.argv[:2] == ("x", "--file=/r/prompt.md")
    assert plan.argv[3:] == ("/c", "{{}}")
    assert plan.stdin == "/dev/null"
    assert CommandTool("mine", Tool(command=("x",))).headless(request()).stdin == "/r/prompt.md"


def test_a_command_says_itself_what_it_may_be_used_for() -> None:
    with pytest.raises(InvalidInput):
        CommandTool("mine", Tool(command=("x",))).headless(request(mode="analysis"))
    CommandTool("mine", Tool(command=("x",), modes=("analysis",))).headless(request(mode="analysis"))
    with pytest.raises(InvalidInput):
        CommandTool("mine", Tool(command=("x",))).headless(request(resume="id"))


def test_what_a_command_prints_is_its_answer() -> None:
    tool = CommandTool("mine", Tool(command=("x",)))

    def told(stdout: bytes, code: int, stderr: bytes = b"") -> tuple[str, str]:
        found = tool.outcome(Output(stdout=stdout, stderr=stderr, exit_code=code, ended_at=0), request())
        return found.status, found.text

    assert told(b"yes\n", 0) == ("success", "yes")
    assert told(b"", 0) == ("failed", "")
    assert told(b"half", 3) == ("failed", "half")
    assert told(b"", 1, b"429 Too Many Requests") == ("limit", "")
