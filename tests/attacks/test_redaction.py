"""Keys of services and of Maestro itself, whole or split so that a plain search misses them: none gets out anywhere."""

from __future__ import annotations

import json
import random
import re
import sqlite3
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fleet.typing.stage import Stage
from tests.made_keys import BREAKS, GAPS, KINDS, leaked, made, runs_of, secret_of, split
from tests.patience import run, until
from tests.support import forbid_start, some_in_test

from maestro.agents import Moment
from maestro.agents.hook_command import hook_command
from maestro.agents.questions import HIDDEN, REDACTED, Question, merged
from maestro.fleet.asking import fit, without_the_rest
from maestro.hook_payload import without_secrets
from maestro.key_formats import FORMATS, Format
from maestro.observe.digest import Shape, entry_of
from maestro.redact import MARK, clean, hides, redact

ROOT = Path(__file__).parents[2]
SPLITS = {"whole": "", **GAPS, **BREAKS}


def places_in(key: str, chance: random.Random) -> list[int]:
    """One in what it begins with, one in the middle, one near its end; never in the word before a header's value."""
    first = len(key) - len(secret_of(key)) + 1
    return [first, chance.randrange(first, len(key)), len(key) - 9]


def every_key(name: str, *, seed: int = 0) -> Iterator[tuple[str, str]]:
    """Keys of every kind, and each as it is hidden."""
    chance = random.Random(seed)
    for kind in KINDS:
        key = made(kind, seed)
        for place in places_in(key, chance):
            yield key, split(key, SPLITS[name], place)


@pytest.mark.parametrize("name", SPLITS)
def test_a_key_goes_whole_and_the_words_around_it_stay(name: str) -> None:
    for seed in range(3):
        for key, hidden in every_key(name, seed=seed):
            text = f"I have set {hidden} for it.\nThe next line, too: \N{WOMAN}\u200d\N{ROCKET} is here."
            shown = redact(text)
            assert leaked(key, shown) == [], (hidden, shown)
            assert shown.startswith("I have set ")
            assert shown.endswith(" for it.\nThe next line, too: \N{WOMAN}\u200d\N{ROCKET} is here."), shown
            assert redact(shown) == shown


@pytest.mark.soak
@settings(deadline=None)
@given(
    kind=st.sampled_from(sorted(KINDS)),
    seed=st.integers(0, 10**6),
    gap=st.sampled_from(sorted({**GAPS, **BREAKS}.values())),
    places=st.lists(st.integers(0, 200), max_size=3),
    before=st.sampled_from(["", "It is ", "密钥", "x=", '"', "│ ", "key: `", "(", "\n  - "]),
    after=st.sampled_from(["", " and so on", '"', "`.", ")", "\nand so on", "\n\n- more", " │\n│ and so on"]),
)
def test_no_part_of_a_key_is_left(
    kind: str, seed: int, gap: str, places: list[int], before: str, after: str
) -> None:
    key = made(kind, seed)
    first = len(key) - len(secret_of(key))
    hidden = split(key, gap, *(place for place in places if place > first))
    shown = redact(before + hidden + after)
    assert leaked(key, shown) == [], shown
    assert shown.startswith(before)
    entry = entry_of(Moment("text", 0, before + hidden + after), Shape(full=True)).text
    assert leaked(key, entry) == []


def drawn(kind: Format, chance: random.Random) -> str:
    letters = re.findall(f"[{kind.letters}]", "".join(map(chr, range(33, 127))))
    return "".join(chance.choices(letters, k=kind.whole - 1)) + chance.choice("2479")


@pytest.mark.parametrize("kind", FORMATS, ids=lambda kind: kind.begins[0])
def test_every_format_that_is_listed_is_found(kind: Format) -> None:
    chance = random.Random(1)
    for begin in kind.begins:
        key = "".join(chance.choices("0123456789", k=kind.before)) + begin + drawn(kind, chance)
        for gap in ("", "\u00ad", "\n", " \u2502\n\u2502 "):
            for place in {1, len(key) // 2, len(key) - 9}:
                shown = redact(f"Use {key[:place]}{gap}{key[place:]} here.")
                assert leaked(secret_of(key), shown) == [], shown
                assert shown.startswith("Use "), shown
                assert shown.endswith(f"{MARK} here."), shown


def whole_keys(chance: random.Random) -> Iterator[str]:
    """One for each beginning of every format that is listed."""
    for kind in FORMATS:
        for begin in kind.begins:
            yield "".join(chance.choices("0123456789", k=kind.before)) + begin + drawn(kind, chance)


@pytest.mark.parametrize("gap", [*GAPS.values(), "\\t", "\\u0009"])
def test_a_key_behind_a_word_and_what_nobody_sees_goes(gap: str) -> None:
    for key in whole_keys(random.Random(2)):
        for text in (f"key{gap}{key} here.", f"one\n  key{gap}{key}"):
            shown = redact(text)
            assert leaked(secret_of(key), shown) == [], shown
            assert shown.startswith(text[: text.index(gap)] + gap), shown


@pytest.mark.parametrize("before", ["C:\\tok\\", "C:\\\\tok\\\\", '{"path": "C:\\\\', "\\", "one\\ntwo\\"])
def test_a_key_behind_a_backslash_goes(before: str) -> None:
    """Together with what a key begins with, the backslash is as JSON writes the end of a line."""
    for key in whole_keys(random.Random(3)):
        shown = redact(f"{before}{key} here.")
        assert leaked(secret_of(key), shown) == [], shown
        assert shown.startswith(before), shown
        assert shown.endswith(f"{MARK} here."), shown


@pytest.mark.parametrize(
    "text",
    [
        "Keys begin with sk-\nand then come many letters.",
        "A list:\n- sk-\n- ghp_\n- mst_\nEach is a prefix of a token.",
        "task-list-of-everything, disk-usage-of-the-machine, risk-assessment-document",
        "Both families: \N{FAMILY} \N{WOMAN}\u200d\N{ROCKET}, \N{HEAVY BLACK HEART}\ufe0f, soft\u00adhyphens.",
        "see mst_session and mhu_person, hf_model_name, npm_config_registry, key-value, pat.strip",
        "SG.\nNext sentence begins here, and goes on for quite a while without any key.",
        "commit 3d7de4b1d0bfd1b88ac7833dcf880d75febc5a067921df36042eaf57c1ed52ca",
        "| name | begins |\n| --- | --- |\n| github | ghp_ |\n| gitlab | glpat- |",
        "AKIA is what they begin with.\nASIA is for others.",
        "C:\\new\\readme and \\u00ad are only letters.",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert redact(text) == text


def test_our_own_documents_stay() -> None:
    for name in ("README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert redact(text) == text, name


BELOW = [
    *(
        "Then I ran the tests.",
        "- step two",
        "src/app.py is next",
        "README",
        "1. First",
        "/usr/lib64/x2y3/z4 is it",
    ),
    *("DB_HOST2=example", "export2names: yes", "run2tests(now)", "./scripts/x86_64.sh --v2"),
]


def test_what_stands_below_a_whole_key_stays() -> None:
    for kind in KINDS:
        key = made(kind, 1)
        name = key.removesuffix(secret_of(key))
        for below in BELOW:
            assert redact(f"I set {key}\n{below}") == f"I set {name}{MARK}\n{below}"


@pytest.mark.parametrize("below", ["SESS_01JABCDEFGH2K3 working", "3f2a9c1d fix the bug", "3f2a9c1d9a8b"])
def test_nothing_is_taken_for_the_rest_of_a_key_that_is_whole(below: str) -> None:
    """Of these kinds there are no longer ones."""
    kinds = ("maestro session", "maestro person", "github", "github fine", "aws", "npm", "google api", "groq")
    for kind in (*kinds, "hugging face", "digitalocean", "sendgrid", "shopify"):
        for seed in range(20):
            assert redact(f"I set {made(kind, seed)}\n{below}") == f"I set {MARK}\n{below}"
            for key in (made(kind, seed), made(kind, seed + 20)):
                halves = f"{key[:-12]}\n  {key[-12:]}"
                assert redact(f"{halves}\n{below}") == f"{MARK}\n{below}"


def test_a_blank_line_ends_a_key() -> None:
    below = "some_function_name_that_is_quite_long_indeed2\n\nmore"
    for key in ("sk-abcdefghijkl1234", *(made(kind, 1) for kind in KINDS)):
        name = key.removesuffix(secret_of(key))
        assert redact(f"key {key}\n\n{below}") == f"key {name}{MARK}\n\n{below}"
    assert redact("Ask-\n\nabcdefghijkl1234") == "Ask-\n\nabcdefghijkl1234"


CODE = [
    *('"$OPENAI_API_KEY"', "$OPENAI_API_KEY", "$openai_api_key", "${OPENAI_API_KEY}", "$S3_ACCESS_KEY_2"),
    *("settings.API_KEY)", "process.env.openAiKey", "load_token_of2(name)", "Config.of(path).key2()"),
    *("'A1b2C3d4E5f6G7h8'", '"A1b2C3d4E5f6G7h8"'),
]


@pytest.mark.parametrize("value", CODE)
def test_what_stands_below_a_value_in_code_stays(value: str) -> None:
    for below in (
        "python3.12 train.py --all",
        "base64_text = encode(x)",
        "docker-compose-v2",
        "a1b2c3d4e5f6",
    ):
        for end in ("\n", " \\\n  "):
            text = f"Client(api_key={value}{end}{below}"
            assert redact(text) == f"Client(api_key={MARK}{end}{below}"
            assert not hides(text, values=False)


@pytest.mark.parametrize(
    "value", ["A1b2C3d4E5f6G7h8", '"A1b2C3d4E5f6G7h8', "$A1b2C3d4E5f6G7h8", "x.A1b2C3d4E5f6G7h8"]
)
def test_a_value_that_goes_on_below_goes_whole(value: str) -> None:
    for below in ("I9j0K1l2M3n4", "I9j0K1l2M3n4 and more", "I9j0K1l2M3n4\nO5p6Q7r8S9t0"):
        shown = redact(f"api_key={value}\n{below}")
        assert "K1l2" not in shown, shown
        assert "Q7r8" not in shown, shown


REPEATED = [
    *(
        "sk-",
        "ask-",
        "sk-\n",
        "sk-aaaaaaaaaaaa\n",
        "_",
        "AKIA",
        "+ASt",
        "Q~",
        ":AA",
        "eyJ.",
        "s\u00adk-",
        "\x9d",
        "\x1b]",
    ),
    *("-----BEGIN ", "password=", "bearer aaaaaaaaaaaaaaaa1\n", "https://a:", " \n", "\\n", "\\u00ad", "aB1"),
    *("ghp_aB1\n", "secret=A1b2C3d4E5f6G7h8\n", "hooks.slack.com/services/", "A" * 76 + "APIM"),
]


@pytest.mark.parametrize("part", REPEATED)
def test_a_long_text_takes_as_much_longer_as_it_is_longer(part: str) -> None:
    """Eight times the text: a square would take sixty-four times as long."""

    def took(size: int) -> float:
        text = part * (size // len(part)) + "\x1b"
        best = 1e9
        for _ in range(2):
            before = time.thread_time()
            redact(text)
            clean(text)
            hides(text)
            best = min(best, time.thread_time() - before)
        return best

    assert took(40_000) < 24 * took(5_000) + 0.02


LONG = 200_000
LARGE = {
    "words below a key": "sk-abc123\n" + "_" * LONG + "aB1",
    "beginnings": "axai-" * (LONG // 5),
    "beginnings with dots": "adp.st." * (LONG // 7),
    "dots": "adp.st." * (LONG // 14) + "." * (LONG // 2),
    "lines of beginnings": ("axai-" * 200 + "\n") * (LONG // 1001),
    "words below beginnings": "axai-" * (LONG // 10) + "\n/" + "a_b_" * (LONG // 8),
    "signs below beginnings": "axai-" * (LONG // 10) + "\n" + "=" * (LONG // 2) + "a",
    "values on one line": "api_key='abcdefghijklm1'," * (LONG // 2),
    "colons": "x://" + ":" * LONG,
    "titles": "\x1b]0;sk-a\x07" * (LONG // 9),
}


READ_LARGE = """\
import sys
from maestro.redact import hides, redact
text = sys.stdin.read()
print(len(redact(text)), hides(text))
"""


@pytest.mark.parametrize("name", some_in_test(LARGE, of=2))
def test_a_large_text_is_done(name: str) -> None:
    """Each takes a moment; where the work grows as the square, minutes. In a process of its own: a pattern at
    work lets no signal through."""
    done = run([sys.executable, "-c", READ_LARGE], input=LARGE[name], text=True, encoding="utf-8", check=True)
    assert int(done.stdout.split()[0]) > 0


# Hooks without a daemon.

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)


def shape(value: Any) -> Any:
    if isinstance(value, dict):
        return [shape(inner) for inner in value.values()]
    return [shape(inner) for inner in value] if isinstance(value, list) else type(value)


@settings(deadline=None)
@given(
    beside=st.dictionaries(st.text(max_size=8), VALUES, max_size=4),
    kind=st.sampled_from(sorted(KINDS)),
    seed=st.integers(0, 1000),
    gap=st.sampled_from(sorted(SPLITS.values())),
    place=st.integers(1, 100),
    ascii_only=st.booleans(),
)
def test_a_kept_payload_is_the_same_json_without_its_keys(
    beside: dict[str, Any], kind: str, seed: int, gap: str, place: int, *, ascii_only: bool
) -> None:
    key = made(kind, seed)
    first = len(key) - len(secret_of(key))
    hidden = split(key, gap, place if place > first else 0)
    payload = {
        **beside, "ours": {"command": f'say "{hidden}"', "more": [hidden, 1]}, "api_key": "hunter-2-hunter",
    }  # fmt: skip
    kept = without_secrets(json.dumps(payload, ensure_ascii=ascii_only).encode("utf-8", "backslashreplace"))
    told = json.loads(kept)
    assert shape(told) == shape(payload)
    assert told["api_key"] == MARK
    assert told["ours"]["command"].startswith('say "')
    assert told["ours"]["command"].endswith('"')
    assert leaked(key, kept.decode()) == leaked(key, json.dumps(told)) == []


@pytest.mark.parametrize(
    "sequence",
    [
        *(
            "\x1b]8;;https://x/?k={}\x07link",
            "\x1b]8;;https://x/?k={}\x1b\\link\x1b]8;;\x1b\\",
            "\x1b]0;title {}",
        ),
        *(
            "\x1b]0;abc\n export K={}",
            "\x9d0;{}\x9clink",
            "\x1bP{}\x1b\\link",
            "\x1b_{}\x9c",
            "\x1b]2;a\x07\x1b]0;{}\x07",
        ),
    ],
)
def test_a_kept_payload_has_no_secret_in_an_escape_sequence(sequence: str) -> None:
    """The sequence stays, so that a reader of the payload still knows that something was hidden in it."""
    for kind in KINDS:
        key = made(kind, 5)
        for hidden in (key, split(key, "\u00ad", len(key) - 9)):
            text = sequence.format(hidden)
            told = json.loads(without_secrets(json.dumps({"tool_response": text, text: 1}).encode()))
            assert leaked(key, json.dumps(told)) == [], told
            shown = redact(text)
            assert told == {"tool_response": shown, shown: 1}
            before, _, after = sequence.partition("{}")
            assert shown.startswith(before), shown
            assert shown.endswith(MARK + after), shown
            assert hides(shown)


def test_a_kept_payload_has_no_password_in_a_link() -> None:
    link = "\x1b]8;;https://me:hunter2@example.org/\x07link\x1b]8;;\x07"
    kept = without_secrets(json.dumps({"tool_response": link, "pass\u200bword": "hunter2"}).encode())
    assert b"hunter2" not in kept
    assert b"https://[redacted]@example.org/" in kept


@pytest.mark.parametrize("cut", [1, 20, 40, 60])
def test_half_a_payload_is_not_kept(cut: int) -> None:
    """It cannot be read, and may end in the middle of a key."""
    assert without_secrets(json.dumps({"command": "echo " + made("github", 1)}).encode()[:-cut]) == b""


def permission(command: str) -> Question:
    return Question("permission", "May it use Bash?", tool="Bash", detail=command)


def spooled(command: str) -> Question:
    return without_the_rest(permission(redact(command)))


def test_a_question_that_lost_words_is_unread_until_a_screen_shows_them() -> None:
    key = made("github", 1)
    whole = f"grep {key} notes.txt"
    kept = fit(spooled(whole))
    assert kept.unread == REDACTED
    assert fit(kept).unread == REDACTED, "also after a restart"
    assert merged(kept, fit(spooled(whole)), exact=True).unread == REDACTED, "told once more by a kept hook"
    cut = permission(whole[:20])
    assert merged(kept, fit(cut), exact=False).unread == REDACTED, "a screen that shows less"
    shown = merged(kept, fit(permission(whole)), exact=False)
    assert (shown.unread, shown.detail) == ("", f"grep {MARK} notes.txt")
    assert merged(fit(permission(whole)), kept, exact=True).unread == "", "the screen came first"
    assert merged(kept, fit(permission(whole)), exact=True).unread == "", (
        "its hook tells it again, to a daemon"
    )
    told = fit(without_the_rest(permission("ls")))
    assert told.unread == "", "nothing was taken out of it"


@pytest.mark.parametrize(
    "command",
    [
        "grep password=$(rm${IFS}-rf${IFS}x) notes.txt",
        f"grep {made('github', 2)[:30]}\nreboot2machines0now notes.txt",
        f"grep {split(made('github', 2), chr(0xAD), 9)} notes.txt",
    ],
)
def test_what_may_be_more_than_a_secret_stays_unread(command: str) -> None:
    assert hides(command)
    kept = fit(spooled(command))
    assert kept.unread
    assert merged(kept, fit(permission(command)), exact=False).unread


# The real thing: one daemon, workers in panes, hooks, transcripts.


def every_hidden_key() -> list[tuple[str, str]]:
    """One of each kind in each way, in other words each time."""
    return [pair for at, name in enumerate(SPLITS) for pair in list(every_key(name, seed=at))[at % 3 :: 3]]


def require_none(shown: str, where: str) -> None:
    runs = frozenset(runs_of(shown))
    for key, hidden in every_hidden_key():
        assert leaked(key, runs) == [], (where, hidden)


def test_no_surface_shows_a_key(stage: Stage) -> None:
    hidden = [one for _, one in every_hidden_key()]
    session = str(uuid.uuid4())
    token = stage.maestro.daemon.call(
        "POST",
        "/api/sessions",
        {"agent": "scripted", "projectId": stage.project, "transcriptId": session,
         "environment": {"CLAUDE_CONFIG_DIR": stage.maestro.env["CLAUDE_CONFIG_DIR"]}},
    )  # fmt: skip
    own = token["token"]
    texts = [f"I have set {one} for it." for one in [*hidden, own]]
    script = stage.script(*({"say": one} for one in texts))
    run(
        [sys.executable, "-m", "maestro.testing.scripted_agent", "--speed", "0", "--script", script,
         "--session-id", session, "--prompt", "Use " + hidden[0]],
        env=stage.maestro.env, cwd=stage.maestro.cwd, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    name = token["session"]["id"]
    last = str(len(texts) + 1)
    for words in ([], ["--json"], ["--full"], ["--full", "--json"], ["--max-length", "60"]):
        shown = stage.maestro("session", "logs", name, "--last", last, *words).stdout
        assert MARK in shown
        require_none(shown, f"session logs {words}")
        assert leaked(own, shown) == [], "the session's own token"
    # Reports, tasks, hooks with a daemon: into the ledger.
    env = stage.maestro.env | {"MAESTRO_SESSION_ID": name, "MAESTRO_SESSION_TOKEN": own}
    for at in range(0, len(texts), 40):
        payload = {"session_id": session, "hook_event_name": "Stop", "last_assistant_message": texts[at]}
        hook(stage, "Stop", payload, env)
        task = {"projectId": stage.project, "title": "Use it", "description": texts[at]}
        stage.maestro.daemon.call("POST", "/api/tasks", task)
    for at in range(0, len(texts), 20):
        stage.maestro.daemon.call(
            "POST", f"/api/sessions/{name}/report", {"kind": "progress", "message": texts[at][:1000]}
        )
    require_none(stage.maestro("session", "explain", name).stdout, "explain")
    require_none(stage.maestro("context").stdout, "context")
    require_none(json.dumps(stage.maestro.daemon.call("GET", "/api/events"), ensure_ascii=False), "events")
    require_none(in_ledger(stage), "ledger")


def hook(stage: Stage, event: str, payload: object, env: dict[str, str]) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", hook_command("scripted", event)],
        env=env, cwd=stage.maestro.cwd, input=json.dumps(payload).encode(), capture_output=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")


def in_ledger(stage: Stage) -> str:
    [path] = Path(stage.maestro.home.root).glob("*.db")
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as ledger:
        return "\n".join(ledger.iterdump())


def test_a_question_asked_while_no_daemon_runs_is_judged_by_its_screen(stage: Stage) -> None:
    """Its hook leaves it on the disk without the key. The screen shows what that was: a secret, or a command."""
    key = made("github", 3)
    asks = {
        "harmless": f"grep {key} notes.txt",
        "hidden": "grep password=$(rm${IFS}-rf${IFS}x) notes.txt",
    }
    workers = {
        name: stage.spawn(
            name, on_prompt=[{"permission": {"command": command, "description": "It is needed"}}]
        )
        for name, command in asks.items()
    }
    # As they are typed at by their human, while there is no daemon.
    places = {worker: stage.place_of(worker) for worker in workers.values()}
    spool = Path(stage.maestro.home.path("spool"))
    forbid_start(stage.maestro.home)
    stage.kill_daemon()
    for worker, (socket, pane) in places.items():
        stage.tmux("send-keys", "-t", pane, "Go on", "Enter", socket=socket)
        until(partial(is_kept, spool, worker), lambda: contents(spool))
    for one in contents(spool):
        assert leaked(key, one.decode()) == []
        assert b"rm$" not in one
    for _ in range(2):
        harmless, hidden = (case_of(stage, workers[name]) for name in asks)
        assert f"grep {MARK} notes.txt" in harmless["case"]["asked"]["detail"]
        assert harmless["case"]["asked"].get("unread", "") == ""
        assert harmless["case"]["gate"]["verdict"] != "escalate", harmless["case"]["gate"]
        assert hidden["case"]["asked"]["unread"]
        assert hidden["case"]["gate"]["verdict"] == "escalate", hidden["case"]["gate"]
        assert hidden["verdict"]["action"] == "escalate"
        # And again by the next daemon, which has only the ledger and the screen.
        stage.kill_daemon()


def test_without_its_screen_it_waits_for_the_human(stage: Stage) -> None:
    """A pane of no agent's dialog: what the hook left on the disk is all that there is."""
    command = f"grep {made('github', 4)} notes.txt"
    worker = stage.spawn("blind")
    found = stage.show(worker)
    payload = {
        "session_id": found["transcriptId"], "hook_event_name": "PermissionRequest", "tool_name": "Bash",
        "tool_input": {"command": command},
    }  # fmt: skip
    said = without_secrets(json.dumps(payload).encode())
    head = f"maestro-hook 1 {time.time_ns() // 1_000_000} scripted PermissionRequest {len(said)} {worker}\n"
    spool = Path(stage.maestro.home.path("spool"))
    forbid_start(stage.maestro.home)  # which makes the folder, too
    stage.kill_daemon()
    (spool / f"{time.time_ns():020d}-1-x").write_bytes(head.encode() + said)
    questions = stage.maestro.daemon.call("GET", "/api/questions", query={"session": worker})
    asked = [one["asked"] for one in questions if one["sessionId"] == worker]
    assert [one["unread"] for one in asked] == [REDACTED]
    assert MARK in asked[0]["detail"]


def test_a_question_in_words_that_lost_some_is_the_humans(stage: Stage) -> None:
    """A digest is redacted before anybody judges it: what stood there may be a command."""
    plain = stage.spawn("plain", {"say": "The notes are written. Shall I go on with the tests?"})
    lost = stage.spawn("lost", {"say": "Next is `grep password=$(reboot) notes`. Shall I run it?"})
    case = case_of(stage, lost)["case"]
    assert MARK in case["asked"]["text"]
    assert case["asked"]["unread"] == HIDDEN
    assert case["gate"]["verdict"] == "escalate"
    assert case_of(stage, plain)["case"]["asked"].get("unread", "") == ""


def is_kept(spool: Path, worker: str) -> bool:
    """Whether its hook has left what it asks."""
    return any(b" PermissionRequest " in one and worker.encode() in one for one in contents(spool))


def contents(spool: Path) -> list[bytes]:
    return [path.read_bytes() for path in spool.glob("[0-9]*")]


def case_of(stage: Stage, worker: str) -> dict[str, Any]:
    body = {"sessionId": worker, "coordinator": "oversight"}

    def found() -> Any:
        told = stage.maestro.daemon.call("POST", "/api/coordinate/case", body)
        return told if told["case"] else None

    case: dict[str, Any] = until(found, lambda: stage.screen(worker))
    return case
