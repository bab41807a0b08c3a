"""Programs of trades that nobody here knows: told to look from told to act, and what reaches out from what stays."""

from __future__ import annotations

import msgspec
import pytest

from maestro.agents.questions import Question
from maestro.coordinate import AnswerRule
from maestro.coordinate.gate.effects import effects_of
from maestro.coordinate.gate.judge import gate
from maestro.coordinate.gate.python_code import deeds_of
from maestro.coordinate.gate.quoted_commands import commands_in
from maestro.coordinate.policy.config import DEFAULT

ACTS = r"""
frobctl cluster delete prod-7
frobctl items:delete 12
frobcli sendtoaddress abc 0.5
frobcli payinvoice lnbc1
frobcurl -d '{}' acme.v1.Users/DeleteUser
frobcloud ecs TerminateInstances --ids 1
frob_pub -h mqtt.corp.example -t valve -m open
frobtool -H bmc7.corp.example power off
frobcat -P -b kafka.corp.example:9092 -t orders
frobtool apply-config --file=config/production.yaml
frobcli users add mallory --roles=admin
frobcli group-add-member admins --users=eve
frobpass show -a Password team.db Prod
frobsh -c 'conf t; no router bgp 65001'
frobdb --exec 'clearrange a b'
rm${IFS}-rf${IFS}/var/lib/x
script -qc 'rm -rf ~/backup' /dev/null
printf 'all:\n\trm -rf $$HOME/x\n' | make -f -
printf '\162\155 -rf ./x\n' | sh
less '+!rm -rf ~/x' README.md
pwsh -NoProfile -Command 'Set-MpPreference -DisableRealtimeMonitoring $true'
pwsh -c 'Get-AzKeyVaultSecret -VaultName kv -AsPlainText'
bundle exec rails db:migrate:redo
./manage.py loaddata users.json
bazel run //deploy/k8s:prod.apply
pnpm -r --filter './packages/*' exec npm publish
wrangler versions deploy --yes
heroku releases:rollback v118
DOCKER_CONTEXT=prod docker compose up -d
docker compose -f dev.yml down -v
sqlite3 -cmd '.mode csv' app.db '.import a.csv a'
sqlite3 :memory: '.shell rm -rf ./x'
redis-cli -h cache.prod <<R
FLUSHALL
R
tclsh <<'T'
exec git push
T
./scripts/release.sh --dry-run
git commit -m --dry-run
git commit --message --help
curl -H --help -X DELETE https://api.example.org/users/1
curl -r --help -X DELETE https://api.example.org/users/1
frobctl --name list cluster delete
kubectl delete ns x --dry-run=none
npm publish -- --dry-run
redis-cli lpush list x
ansible status -a reboot
hg clone list https://example.org/x
influx write status 1
""".strip()
LOOKS = r"""
zpool status tank
frobctl cluster list --format json
frobctl apps:list
frobcloud ecs DescribeRegions
gpg --verify dist/a.tar.gz.asc dist/a.tar.gz
keytool -printcert -file server.pem
netsh advfirewall show allprofiles
skopeo inspect docker://docker.io/library/alpine:3.20
gh release create --help
terraform destroy -help
frobdeploy site --dry-run
helm upgrade x ./chart --install --dry-run
git send-email --dry-run --to=me@example.org a.patch
pulumi destroy --preview-only
sbatch --test-only a.slurm
aws ec2 terminate-instances help
just --show release
tox -e py312 -- -k 'not deploy'
./gradlew publishToMavenLocal
php artisan make:migration drop_legacy_table
docker run --rm -v "$PWD":/src -w /src golang:1.23 go test ./...
gh api graphql -f query='query{viewer{login}}'
psql -Atc 'EXPLAIN DELETE FROM orders'
sqlite3 :memory: 'create table t(a); drop table t'
pwsh -Command 'Get-ChildItem -Recurse | Select-String Remove-Item'
python3 -c "import urllib.parse as u; print(u.quote('a b'))"
python3 -c "import re; print(re.search('drop table', 'DROP TABLE users'))"
perl -MList::Util=sum -lane '$t+=$F[1]; END{print $t}' sizes.txt
Rscript -e 'x <- 1; rm(x)'
""".strip()


def _commands(lines: str) -> list[str]:
    """A here-document ends with a line of one capital letter."""
    found: list[str] = []
    for line in lines.splitlines():
        is_open = bool(found) and "<<" in found[-1] and not found[-1].endswith(("\nR", "\nT"))
        found[-1:] = [f"{found[-1]}\n{line}"] if is_open else [*found[-1:], line]
    return found


def _is_stopped(command: str) -> bool:
    return gate(Question("permission", "?", tool="Bash", detail=command), DEFAULT).verdict == "escalate"


@pytest.mark.parametrize("command", _commands(ACTS))
def test_what_acts_is_stopped(command: str) -> None:
    assert _is_stopped(command), effects_of(command)


@pytest.mark.parametrize("command", _commands(LOOKS))
def test_what_looks_is_not(command: str) -> None:
    assert not _is_stopped(command), effects_of(command)


@pytest.mark.parametrize(
    "command", [r"{git,push,--force}", r"g\it pu\sh origin main", 'C="rm -rf"; $C ./volumes']
)
def test_a_command_in_a_question_is_one_however_it_is_written(command: str) -> None:
    asked = Question("choice", f"Shall I run `{command}` now?")
    assert commands_in(asked.text)[0] == (command, True)
    assert gate(asked, DEFAULT).verdict == "escalate"


def test_what_a_store_is_fed_is_read_in_linear_time() -> None:
    assert _is_stopped(f"redis-cli <<R\n{'get ' * 60}\nflushall\nR")


def test_python_is_left_what_it_does() -> None:
    assert "drop" not in deeds_of("print('drop table x')")
    assert "drop" in deeds_of("c.execute('drop table x')")
    assert "rmtree" in deeds_of("import shutil; shutil.rmtree('x')")
    assert deeds_of("not ( python") == "not ( python"


TRUST = Question("dialog", "Do you trust the files in this folder?")


def test_a_dialog_of_the_cli_is_the_humans_unless_a_rule_names_it() -> None:
    assert gate(TRUST, DEFAULT, "1").verdict == "escalate"
    for kinds, pattern, verdict in (
        (("dialog",), ".*trust the files.*", "allow"),
        (("dialog",), ".*log in.*", "escalate"),
        ((), ".*trust the files.*", "escalate"),
        (("dialog",), "(", "escalate"),
    ):
        rule = AnswerRule(pattern=pattern, answer="1", kinds=kinds)
        policy = msgspec.structs.replace(DEFAULT, rules=(rule,))
        assert gate(TRUST, policy).verdict == verdict, (kinds, pattern)


@pytest.mark.parametrize(
    ("asked", "hosts"),
    [
        (
            Question("permission", "?", tool="WebFetch", detail="https://docs.example.org/a"),
            ("docs.example.org",),
        ),
        (
            Question("permission", "?", tool="Bash", detail="curl -s https://u:p@Example.org:8443/a"),
            ("example.org",),
        ),
        (Question("permission", "?", tool="Bash", detail="curl -s http://localhost:3000/health"), ()),
        (Question("permission", "?", tool="Bash", detail="make"), ()),
    ],
)
def test_a_fetch_from_an_unknown_host_is_labelled(asked: Question, hosts: tuple[str, ...]) -> None:
    assert gate(asked, DEFAULT).fetches == hosts
