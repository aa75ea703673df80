"""A stream in us-east-1, its consumer's table in eu-west-1 or in another account: `--table-…`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest

from tests.cli.lab import TRIM_HORIZON, Lab, Result, bare
from tests.cli.test_configured import configure, denied
from tests.support.lease_server import LeaseTable, session

THERE = ("--table-region", "eu-west-1")
OWN, OTHER = "123456789012", "222222222222"
"""moto's usual account, and that of the role."""
ROLE = f"arn:aws:iam::{OTHER}:role/leases"


@pytest.fixture
def apart(lab_of) -> Lab:
    """The stream is in us-east-1, which is set; the table in eu-west-1."""
    return lab_of("a-both", TRIM_HORIZON, region="eu-west-1")


@pytest.fixture
def twin(apart) -> Iterator[LeaseTable]:
    """A table of the same name and rows where the stream is."""
    table = LeaseTable(apart.servers.dynamodb, name=apart.table.name)
    for item in apart.table.items():
        table.boto.put_item(TableName=table.name, Item=item)
    yield table
    table.boto.delete_table(TableName=table.name)


def arn_of(lab: Lab) -> str:
    return f"arn:aws:dynamodb:eu-west-1:{OWN}:table/{lab.table.name}"


def commands_in(result: Result) -> list[list[str]]:
    """Every command of ours that is printed, as words; without what a comment says."""
    lines = bare(result.out + result.err).replace("\\\n", " ").splitlines()
    return [
        shlex.split(line, comments=True)[1:] for line in map(str.strip, lines)
        if line.startswith("reshardctl ")
    ]


VERBS = [
    (["inspect"], 1), (["status"], 1), (["fix", "--dry-run"], 1), (["graph"], 0), (["export"], 0),
    (["explain", "2"], 0), (["snapshot", "-o", "one.snapshot"], 0),
]


@pytest.mark.usefixtures("in_tmp_path")
@pytest.mark.parametrize(("verb", "code"), VERBS, ids=lambda v: str(v))
def test_every_verb_reaches_a_table_in_another_region(apart, verb, code):
    line = [verb[0], *apart.where, *verb[1:]]
    without = apart.cli(*line)
    assert without.code == 2
    assert without.says(f"no table {apart.table.name} in us-east-1", "--table-region")
    result = apart.cli(*line, *THERE)
    assert result.code == code, result.err
    by_arn = apart.cli(*[
        word.replace(f"//{apart.table.name}", f"//{arn_of(apart)}").replace("one.", "two.")
        for word in line
    ])
    assert by_arn.code == code, by_arn.err


def test_a_fix_is_undone_without_naming_the_region_again(apart, twin):
    before, beside = apart.items(), twin.items()
    assert apart.fix(*THERE).code == 0
    assert apart.items() != before
    undone = apart.undo()
    assert undone.code == 0, undone.err
    assert apart.items().keys() == before.keys()
    assert twin.items() == beside, "nothing is written where only the stream is"


def test_a_plan_is_applied_without_naming_the_region_again(apart, twin, tmp_path):
    plan, beside = tmp_path / "a.plan", twin.items()
    assert apart.dry(*THERE, "--out", plan).code == 1
    apart.wire.calls.clear()
    other = apart.cli("fix", "--plan", plan, "--yes", "--table-region", "us-east-1")
    assert other.code == 2 and other.says(arn_of(apart), "--table-region is us-east-1", "leave")
    wrong = apart.cli("fix", "--plan", plan, "--yes", "--region", "eu-west-1")
    assert wrong.code == 2 and wrong.says(
        "is in us-east-1, and --region is eu-west-1", "--table-region eu-west-1"
    )
    assert apart.wire.calls == []
    assert apart.apply(plan).code == 0
    assert apart.inspect(*THERE).code == 0
    assert twin.items() == beside


def test_a_fix_that_was_interrupted_is_finished_there(lab_of):
    """A case of two steps, of which the second is not permitted at first."""
    lab = lab_of("audit-throws", "?initial=LATEST&release=3.5.1", region="eu-west-1")
    taken = ("--accept", "skip=all,reread=all,disorder", "--created", lab.created, *THERE)
    assert lab.fix(*taken).code in (0, 1)
    whole, (first, second) = lab.items(), lab.wire.writes
    assert lab.undo().code == 0
    lab.journal().unlink()
    lab.wire.fail(second, "AccessDeniedException", after=int(first == second))
    half = lab.fix(*taken)
    assert half.code == 5, half.err
    lab.wire.faults.clear()
    done = lab.resume()
    assert done.code in (0, 1), done.err
    assert lab.items().keys() == whole.keys()


def test_a_plan_of_another_account_is_refused_with_both_tables(lab, tmp_path, monkeypatch):
    plan = tmp_path / "a.plan"
    assert lab.dry("--out", plan).code == 1
    with other_account(lab, monkeypatch, "us-east-1"):
        before = lab.items()
        refused = lab.cli("fix", "--plan", plan, "--yes", "--table-role-arn", ROLE)
        assert refused.code == 4 and refused.says("another store", OWN, OTHER)
        assert lab.items() == before


@pytest.mark.usefixtures("in_tmp_path")
@pytest.mark.parametrize(("terminal", "there"), [(False, True), (True, False)],
                         ids=["a pipe, an option", "a terminal, an ARN"])
def test_every_printed_command_runs_as_it_stands(apart, terminal, there):
    apart.terminal = terminal
    option = list(THERE) if there else []
    where = apart.where if there else [
        apart.locator.replace(apart.table.name, arn_of(apart)), *apart.where[1:]
    ]
    shown = [
        apart.typed("inspect", *where, *option), apart.typed("status", *where, *option),
        apart.typed("fix", *where, *option, "--dry-run", "--out", "a.plan"),
    ]
    again = [line for each in shown for line in commands_in(each)]
    assert {line[0] for line in again} >= {"fix", "inspect"}
    for line in again:
        assert not there or set(THERE) <= {*line}, line
        if line[0] == "fix" and "--dry-run" not in line:
            line += ["--yes", "--assume-stopped"]
        if "--out" in line:
            line[line.index("--out") + 1] = "b.plan"
            Path("b.plan").unlink(missing_ok=True)
        result = apart.typed(*line)
        assert result.code in (0, 1), (line, result.err)


def test_a_table_that_is_nowhere_is_looked_for_where_it_was_said_to_be(apart):
    result = apart.cli("inspect", "kcl://no-such-table", *apart.where[1:], *THERE)
    assert result.code == 2 and result.says("no table no-such-table in eu-west-1")
    (line,) = commands_in(result)
    assert line == ["discover", "orders", *THERE]
    found = apart.cli(*line)
    assert found.code == 0 and f"kcl://{apart.table.name}" in found.out


def test_discover_lists_tables_at_their_place_and_streams_at_theirs(apart):
    assert apart.cli("discover", "orders").code == 6
    result = apart.cli("discover", "orders", *THERE, "--format", "json")
    assert (result.code, result.json["regions"]) == (0, ["eu-west-1"])
    commands = {one["table"]: one["command"] for one in result.json["tables"]}
    line = shlex.split(commands[apart.table.name])[1:]
    assert line[-2:] == list(THERE)
    line[1] += TRIM_HORIZON
    assert apart.cli(*line).code == 1
    shown = apart.cli("discover", "orders", *THERE).out
    assert "in this account in eu-west-1" in shown and "orders   us-east-1" in shown


@pytest.mark.parametrize("verb", ["inspect", "discover", "graph"])
def test_an_option_that_contradicts_the_arn_of_the_stream(apart, verb):
    arn = f"arn:aws:kinesis:us-east-1:{OWN}:stream/orders"
    named = {"inspect": [apart.locator, "--stream", arn], "discover": [arn],
             "graph": ["--stream", arn]}[verb]  # fmt: skip
    apart.wire.calls.clear()
    result = apart.cli(verb, *named, "--region", "eu-west-1")
    assert result.code == 2 and apart.wire.calls == []
    assert result.says(arn, "--region is eu-west-1", "--table-region eu-west-1")
    if verb != "graph":
        assert apart.cli(verb, *named, *THERE).code == (1 if verb == "inspect" else 0)


def test_an_option_that_contradicts_the_arn_of_the_table(apart):
    apart.wire.calls.clear()
    locator = f"kcl://{arn_of(apart)}{TRIM_HORIZON}"
    result = apart.cli("inspect", locator, *apart.where[1:], "--table-region", "us-east-1")
    assert result.code == 2 and apart.wire.calls == []
    assert result.says(arn_of(apart), "--table-region is us-east-1", "leave --table-region out")
    own = apart.cli("inspect", locator, *apart.where[1:], "--region", "us-east-1")
    assert own.code == 1, "--region is the stream's"
    another = apart.cli("inspect", locator.replace(OWN, OTHER), *apart.where[1:])
    assert another.code == 2 and another.says(f"names account {OTHER}", arn_of(apart))
    bare_arn = apart.cli("inspect", arn_of(apart), *apart.where[1:])
    assert bare_arn.code == 2 and bare_arn.says(f"write it as kcl://{arn_of(apart)}, or ")


# reshardctl.toml


@pytest.mark.usefixtures("in_tmp_path")
@pytest.mark.parametrize("consumer", ["", 'region = "us-east-1"'])
def test_the_option_goes_before_the_file(apart, consumer):
    configure(apart, consumer=consumer)
    assert apart.cli("inspect", "app").code == 2
    assert apart.cli("inspect", "app", *THERE).code == 1
    assert apart.cli("fix", "app", *THERE, "--yes", "--assume-stopped").code == 0
    assert apart.cli("undo", apart.journal(), "--yes", "--assume-stopped").code == 0
    found = apart.cli("discover", "all-orders", *THERE, "--format", "json").json["tables"]
    assert [one["command"] for one in found] == ["reshardctl inspect app --table-region eu-west-1"]


@pytest.mark.usefixtures("in_tmp_path")
def test_the_option_of_the_stream_is_not_the_configured_tables(apart):
    """`--region` of a name is of both; `--table-region ''` is what the environment says."""
    configure(apart, consumer='region = "eu-west-1"')
    assert apart.cli("inspect", "app").code == 1
    both = apart.cli("inspect", "app", "--region", "us-east-1")
    assert both.code == 2 and "in us-east-1" in both.out + both.err
    unset = apart.cli("inspect", "app", "--table-region", "")
    assert unset.code == 2 and "in us-east-1" in unset.out + unset.err


@pytest.mark.usefixtures("in_tmp_path")
def test_the_arn_of_a_configured_table_names_its_region(apart):
    configure(apart, stream='region = "us-east-1"')
    path = Path("reshardctl.toml")
    named = path.read_text().replace(f"//{apart.table.name}", f"//{arn_of(apart)}")
    path.write_text(named)
    assert apart.cli("inspect", "app").code == 1
    assert 'region = "eu-west-1"' in apart.cli("config", "show").out
    policy = apart.cli("config", "iam", "app", "--for", "fix", "--account", OWN).out
    assert f'"{arn_of(apart)}"' in policy
    path.write_text(named + 'region = "us-east-1"\n')
    both = apart.cli("inspect", "app")
    assert both.code == 2 and both.says("reshardctl.toml:8", "names eu-west-1", "leave one")


# Another account


class other_account:  # noqa: N801 - read as a context
    """The lab's rows in a table of the same name, in the account of ROLE."""

    def __init__(self, lab: Lab, monkeypatch: pytest.MonkeyPatch, region: str) -> None:
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", lab.servers.dynamodb)
        sts = session().client("sts", endpoint_url=lab.servers.dynamodb)
        keys = sts.assume_role(RoleArn=ROLE, RoleSessionName="test")["Credentials"]
        theirs = boto3.session.Session(
            keys["AccessKeyId"], keys["SecretAccessKey"], keys["SessionToken"], region_name=region
        )
        self.keys, self.name, self._rows = keys, lab.table.name, lab.table.items()
        self.boto = theirs.client("dynamodb", endpoint_url=lab.servers.dynamodb)

    def __enter__(self) -> other_account:
        self.boto.create_table(
            TableName=self.name, KeySchema=[{"AttributeName": "leaseKey", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "leaseKey", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        for item in self._rows:
            self.boto.put_item(TableName=self.name, Item=item)
        return self

    def __exit__(self, *_: object) -> None:
        self.boto.delete_table(TableName=self.name)

    def items(self) -> list[dict]:
        return self.boto.scan(TableName=self.name)["Items"]


def test_a_role_is_assumed_for_the_table_alone(apart, monkeypatch):
    with other_account(apart, monkeypatch, "eu-west-1") as other:
        theirs, own = len(other.items()), apart.items()
        apart.wire.calls.clear()
        role = (*THERE, "--table-role-arn", ROLE)
        assert apart.inspect(*role).code == 1
        called = {service for service, _ in apart.wire.calls}
        assert called == {"kinesis", "sts"}, "only calls with our own keys are seen here"
        assert apart.fix(*role).code == 0
        assert len(other.items()) > theirs and apart.items() == own
        refused = apart.undo()
        assert refused.code == 2 and refused.says("about another store", OTHER), refused.err
        assert apart.undo(*role).code == 0
        assert len(other.items()) == theirs and apart.items() == own


def test_a_role_is_assumed_for_the_stream_alone(apart, monkeypatch):
    """An empty option is the environment's own, as an empty key of reshardctl.toml is."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", apart.servers.dynamodb)
    apart.wire.calls.clear()
    result = apart.inspect("--role-arn", ROLE, *THERE, "--table-role-arn", "")
    assert result.code in (1, 2), result.err
    assert {service for service, _ in apart.wire.calls} == {"dynamodb", "sts"}
    assert "no table" not in result.err, "of our own account"
    both = apart.inspect("--role-arn", ROLE, *THERE)
    assert both.code == 2 and both.says("no table", "in eu-west-1")


def test_a_profile_of_the_table_alone(apart, monkeypatch, tmp_path):
    """Its region counts, too: it is the table's."""
    with other_account(apart, monkeypatch, "eu-west-1") as other:
        keys = other.keys
        (tmp_path / "credentials").write_text(
            f"[leases]\nregion = eu-west-1\naws_access_key_id = {keys['AccessKeyId']}\n"
            f"aws_secret_access_key = {keys['SecretAccessKey']}\n"
            f"aws_session_token = {keys['SessionToken']}\n"
        )
        monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
        monkeypatch.delenv("AWS_DEFAULT_REGION")
        theirs = len(other.items())
        profile = ("--region", "us-east-1", "--table-profile", "leases", *THERE)
        assert apart.inspect(*profile).code == 1
        plan = tmp_path / "a.plan"
        assert apart.dry(*profile, "--out", plan).code == 1
        done = apart.apply(plan, "--table-profile",
                         "leases")  # fmt: skip
        assert done.code == 0, done.err
        assert len(other.items()) > theirs
        assert keys["SecretAccessKey"] not in done.out + done.err


def test_a_role_of_the_stream_that_the_table_does_not_take(apart, wire, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", apart.servers.dynamodb)
    wire.faults.append(("AssumeRole", 1, denied, None))
    result = apart.inspect("--role-arn", ROLE, *THERE)
    assert result.code == 3 and result.says(ROLE, "--table-role-arn, or '' for none")
