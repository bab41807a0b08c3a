"""What code may answer by itself: commands that are proven to read only, and nothing that could be more."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maestro.agents.questions import Option, Question
from maestro.coordinate.gate.check import check_line
from maestro.coordinate.gate.judge import gate
from maestro.coordinate.gate.read_only import proves
from maestro.coordinate.policy.config import DEFAULT, PRESETS

READS = r"""
git status
git status --short --branch
git log --oneline -5
git --no-pager log --since='2 weeks ago' --author=me -n 20
git -C packages/api diff --stat
git diff --stat main...HEAD
git diff HEAD~1 -- src/a.py | head -50
git show HEAD:src/a.py
git blame -L 10,20 src/x.c
git branch --list
git branch -a
git tag --list 'v*'
git stash list
git rev-parse --abbrev-ref HEAD
git help rebase
ls -la src/
ls src/*.py
cat package.json
cat a.txt 2>/dev/null
rg -n "TODO" src | head -20
rg -l 'delete|drop' --type py
grep -rn 'def foo' src/ --include='*.py'
sed -n '1,120p' src/app.py
find . -name '*.py' -maxdepth 2 | sort | wc -l
find src -type f \( -name '*.ts' -o -name '*.tsx' \)
head -20 README.md && tail -n 5 README.md
timeout 10 git status
cd src && ls
wc -l src/*.py
jq '.scripts' package.json
sort -t, -k2 data.csv | uniq -c | sort -rn
python3 --version
go version
pip show requests
which node
command -v node
echo done
""".strip().splitlines()

# One of each kind that a list of harmless programs would let through.
NOT_PROVEN = r"""
cat .env
cat config/secrets.yml
cat certs/*.pem
cat config/*
cat .git/config
cat ../other/file
cat ~/.netrc
ls /etc
cd && ls
cd - && ls
cd /tmp && ls
cat $HOME/x
echo $API_KEY
echo `id`
ls $(cat list)
diff <(ls) <(ls b)
ls > listing.txt
cat a | tee b
cat <<< x
FOO=1 ls
PAGER=less git log
GIT_EXTERNAL_DIFF=./x git diff
./ls
/bin/ls
./python3 --version
xargs cat
git branch topic
git branch -D topic
git branch -m a b
git tag v1.0
git tag -d v1.0
git stash
git push
git fetch
git ls-remote origin
git -c core.pager=./x log
git -c diff.external=./x diff
git --exec-path=. status
git diff --output=x
git diff --ext-diff
git log --output=x
git grep -O./x foo
git grep --open-files-in-pager=./x foo
git show HEAD:.env
git log -p -- .env
git config --list
git remote add x y
git reflog expire --all
git stash list drop
sort -o out in
sort --compress-program=./x in
sort -T /tmp in
uniq in out
tree -o out
xxd -r in out
find . -delete
find . -exec rm {} ;
find . -fprintf out %p
find / -name x
fd -x rm
rg --pre ./x foo
rg --hidden foo
rg -uu foo
rg --no-ignore foo
rg "API_KEY"
grep -rn password .
grep -rn foo .
grep -r foo
grep -f patterns in
grep -d recurse foo .
sed -i 's/a/b/' x
sed 's/a/b/e' x
sed -n 'w out' x
sed -n '1e ./x' x
awk '{print}' x
jq 'env' x.json
jq -n '$ENV.API_KEY'
jq -f filter x.json
date -s tomorrow
date 01010000
hostname other
file -C -m magic
stat /etc/shadow
tail -f log
env
printenv
npm test
make
make test
node
git
python3 -c 'print(1)'
node -p 1
kubectl get pods
terraform plan
docker ps
npm ls
curl localhost
ls; rm x
ls && make
ls || make
ls & make
time -o out ls
timeout -k 5 10 ls
ls {a,b}
ls "$x"
ls 'unclosed
eval ls
""".strip().splitlines()


@pytest.mark.parametrize("command", READS)
def test_what_only_reads_is_proven(command: str) -> None:
    assert proves(command)


@pytest.mark.parametrize("command", NOT_PROVEN)
def test_what_could_be_more_is_not_proven(command: str) -> None:
    assert not proves(command)


@given(
    st.sampled_from(READS), st.sampled_from(NOT_PROVEN), st.sampled_from(["; ", " && ", " | ", "\n", " & "])
)
def test_one_command_that_is_not_proven_is_enough(reads: str, other: str, joint: str) -> None:
    assert not proves(reads + joint + other)
    assert not proves(other + joint + reads)


@given(st.sampled_from(READS), st.sampled_from("$`(){}#\u00e9\u200b\u202e\x00"), st.data())
def test_a_character_that_shells_expand_is_not_proven_outside_of_quotes(
    reads: str, character: str, data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(reads)))
    before, after = reads[:place], reads[place:]
    if before.count("'") % 2 == 0 and before.count('"') % 2 == 0 and not before.endswith("\\"):
        assert not proves(before + character + after)


@given(st.text(max_size=80))
def test_any_text_has_an_answer(text: str) -> None:
    assert proves(text) in {True, False}


def permission(command: str, **more: str) -> Question:
    return Question("permission", "Do you want to proceed?", (Option("Yes"), Option("No")), tool="Bash", detail=command, **more)  # type: ignore[arg-type] # fmt: skip


def test_the_gate_says_so() -> None:
    assert gate(permission("git status"), DEFAULT).read_only
    assert not gate(permission("npm test"), DEFAULT).read_only
    assert not gate(permission("git status", unread="The screen cuts it off."), DEFAULT).read_only
    assert not gate(permission("git status", inputs='{"run_in_background": true}'), DEFAULT).read_only
    assert not gate(Question("choice", "git status", (Option("Yes"), Option("No"))), DEFAULT).read_only
    record = {"kind": "permission", "tool": "Bash", "detail": "git log -3"}
    assert check_line(record, PRESETS["cautious"])["readOnly"] is True
