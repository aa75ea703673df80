"""`config tables`: what is printed makes tables that --check accepts, and it sees what is wrong."""

from __future__ import annotations

import json
import re
import shlex
from importlib.resources import files
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.cli.test_configured import configure
from tests.support.lease_server import table_names
from tests.whole.test_iam import documented

pytestmark = pytest.mark.usefixtures("in_tmp_path")


def aws(client: Any, script: str) -> None:
    """Does what the AWS CLI does with these commands, as far as they go.

    tests/proof/libraries/test_aws_cli.py runs them with bash and AWS's own.
    """
    for line in script.replace("\\\n", " ").splitlines():
        if not (words := shlex.split(line, comments=True)):
            continue
        program, service, operation, *options = words
        assert (program, service) == ("aws", "dynamodb")
        if operation == "wait":
            continue
        given: dict[str, list[str]] = {}
        for word in options:
            if word.startswith("--"):
                given[word] = []
            else:
                given[list(given)[-1]].append(word)
        given.pop("--region", None)
        arguments = {
            "".join(part.capitalize() for part in name[2:].split("-")): _value(texts)
            for name, texts in given.items()
        }
        for name in {"ProvisionedThroughput", "TimeToLiveSpecification"} & set(arguments):
            (arguments[name],) = arguments[name]
        getattr(client, operation.replace("-", "_"))(**arguments)


def _value(texts: list[str]) -> Any:
    if texts[0].startswith("["):
        return json.loads(texts[0])
    if "=" not in texts[0]:
        return texts[0]
    known = {"true": True, "false": False}
    pairs = [[pair.split("=") for pair in text.split(",")] for text in texts]
    return [{name: int(value) if value.isdecimal() else known.get(value, value)
             for name, value in part} for part in pairs]  # fmt: skip


CONSUMERS = {
    "kcl-1": "kcl://{name}?release=1.15", "kcl-2": "kcl://{name}?release=2.7",
    "kcl-3.4": "kcl://{name}?release=3.4", "kcl-3.5": "kcl://{name}?release=3.5",
    "kinsumer": "kinsumer://{name}", "positions": "kinesis-consumer+ddb://{name}",
    "group": "kinesis-consumer+ddb://{name}?group=g", "spark": "spark:/x?log={name}",
}  # fmt: skip


def made(table: dict[str, Any]) -> dict[str, Any]:
    """A table of DescribeTable or of a template, without what differs between the two."""
    def units(part: dict[str, Any]) -> dict[str, int]:
        known = part.get("ProvisionedThroughput", {})
        return {name: n for name, n in known.items() if name.endswith("CapacityUnits") and n}

    return {
        "key": table["KeySchema"], "units": units(table),
        "attributes": sorted(a["AttributeName"] for a in table["AttributeDefinitions"]),
        "types": {a["AttributeType"] for a in table["AttributeDefinitions"]},
        "indexes": [(i["IndexName"], i["KeySchema"], i["Projection"], units(i))
                    for i in table.get("GlobalSecondaryIndexes", ())],
        "protected": table.get("DeletionProtectionEnabled", False),
    }  # fmt: skip


def terraform(text: str) -> dict[str, dict[str, Any]]:
    """The tables of a text in HCL, as `made` gives them."""
    tables: dict[str, dict[str, Any]] = {}
    stack: list[dict[str, Any]] = []
    for line in text.splitlines():
        if match := re.fullmatch(r'resource "aws_dynamodb_table" "([a-zA-Z_][\w-]*)" \{', line):
            stack = [tables.setdefault(match[1], {})]
        elif match := re.fullmatch(r" +(\w+) +\{|  (\w+) \{", line):
            block: dict[str, Any] = {}
            stack[-1].setdefault(f"{match[1] or match[2]}s", []).append(block)
            stack.append(block)
        elif match := re.fullmatch(r" +(\w+) += (.+)", line):
            stack[-1][match[1]] = json.loads(match[2])
        elif line.strip() == "}":
            stack.pop()
        else:
            assert not line or line.startswith("# "), line
    assert not stack

    def key(part: dict[str, Any]) -> list[dict[str, str]]:
        kinds = (("HASH", "hash_key"), ("RANGE", "range_key"))
        return [{"AttributeName": part[n], "KeyType": kind} for kind, n in kinds if n in part]

    def units(part: dict[str, Any]) -> dict[str, int]:
        named = (("ReadCapacityUnits", "read_capacity"), ("WriteCapacityUnits", "write_capacity"))
        return {name: part[n] for name, n in named if n in part}

    return {
        table["name"]: {
            "key": key(table), "units": units(table),
            "attributes": sorted(a["name"] for a in table["attributes"]),
            "types": {a["type"] for a in table["attributes"]},
            "indexes": [(i["name"], key(i), {"ProjectionType": i["projection_type"]}, units(i))
                        for i in table.get("global_secondary_indexs", ())],
            "protected": table["deletion_protection_enabled"],
        } for table in tables.values()
    }  # fmt: skip


@pytest.mark.parametrize("kind", CONSUMERS)
def test_all_formats_make_the_same_tables(lab, kind):
    name = f"{lab.table.name}-{kind}"
    locator = CONSUMERS[kind].format(name=name)
    printed = {form: lab.cli("config", "tables", locator, "--format", form)
               for form in ("cli", "terraform", "cloudformation")}  # fmt: skip
    assert lab.wire.calls == [] and {result.code for result in printed.values()} == {0}

    client = lab.table.boto
    aws(client, printed["cli"].out)
    found = {
        table: made(client.describe_table(TableName=table)["Table"])
        for table in table_names(client) if table.startswith(name)
    }
    assert found == terraform(printed["terraform"].out)
    template = printed["cloudformation"].json
    assert found == {r["Properties"]["TableName"]: made(r["Properties"])
                     for r in template["Resources"].values()}  # fmt: skip
    ttl = client.describe_time_to_live(TableName=next(iter(found)))["TimeToLiveDescription"]
    assert ttl.get("AttributeName") == ("ttl" if kind == "group" else None)

    checked = lab.cli("config", "tables", "--check", locator, "--region", "us-east-1")
    assert checked.code == 0, checked.out
    assert f"{len(found)} table" in checked.out and "none with something wrong" in checked.out
    for table in found:
        client.delete_table(TableName=table)


@pytest.mark.parametrize("kind", ["kcl-2", "kcl-3.5", "positions"])
def test_the_command_that_a_missing_store_asks_for_makes_the_same_table(lab, kind):
    name = f"{lab.table.name}-missing-{kind}"
    locator, region = CONSUMERS[kind].format(name=name), ("--region", "us-east-1")
    app = f"{locator}{'&' if '?' in locator else '?'}app=new" if kind == "positions" else locator
    refused = lab.cli("fix", app, "--stream", lab.stream, "--bootstrap", "--dry-run", *region)
    assert refused.code == 4
    aws(lab.table.boto, refused.err.partition("tags: ")[2])
    checked = lab.cli("config", "tables", "--check", locator, *region)
    lab.table.boto.delete_table(TableName=name)
    assert checked.code == 0, checked.out


@pytest.mark.long
def test_the_template_is_one_for_cloudformation(lab):
    from cfnlint.api import lint_all  # moto[server] brings it

    locators = [text.format(name=f"app.{kind}") for kind, text in CONSUMERS.items()]
    text = lab.cli("config", "tables", *locators, "--format", "cloudformation").out
    assert len(json.loads(text)["Resources"]) == 12
    assert [str(match) for match in lint_all(text) if not match.rule.id.startswith("I")] == []


@pytest.mark.parametrize("form", ["cli", "terraform", "cloudformation"])
def test_stores_without_tables_are_named(lab, form):
    words = ["spark:/x", "quickwit+file:///x", "kinesis-consumer+redis://h/0?app=a",
             "kinesis-consumer+postgres://h/db?app=a"]  # fmt: skip
    result = lab.cli("config", "tables", *words, "--format", form)
    assert (result.code, result.out) == (0, "")
    told = result.err.splitlines()
    assert [line.split()[0] for line in told] == words
    assert ["--format sql" in line for line in told] == [False, False, False, True]


@pytest.mark.parametrize(("locator", "statement"), [
    ("kinesis-consumer+postgres://h/db?app=a",
     "CREATE TABLE kinesis_consumer (namespace text NOT NULL, shard_id text NOT NULL, "
     "sequence_number numeric NOT NULL, PRIMARY KEY (namespace, shard_id));"),
    ("kinesis-consumer+mysql://h/db?app=a&table=my-tab",
     "CREATE TABLE `my-tab` (namespace varchar(255) NOT NULL, shard_id varchar(255) NOT NULL, "
     "sequence_number numeric(65,0) NOT NULL, PRIMARY KEY (namespace, shard_id));"),
])  # fmt: skip
def test_a_table_in_sql(lab, locator, statement):
    """The columns and the key of README, v0.5.0."""
    result = lab.cli("config", "tables", locator, "--format", "sql")
    assert result.out == f"-- {locator}\n{statement}\n"


def test_consumers_of_the_file_with_their_regions(lab):
    configure(
        lab, "[consumers.other]", 'stream = "all-orders"', 'region = "eu-west-1"',
        'locator = "kcl://other-app?release=2.7"',
    )
    result = lab.cli("config", "tables")
    assert result.code == 0 and "# app: KCL makes" in result.out
    assert "--table-name other-app" in result.out and "--region eu-west-1" in result.out
    alone = lab.cli("config", "tables", "other")
    assert "# app" not in alone.out and alone.out in result.out


SCHEMA = Draft202012Validator(json.loads(
    files("reshardctl.render").joinpath("tables.schema.json").read_text("utf-8")
))


def check(lab, *more):
    return lab.cli("config", "tables", "--check", lab.locator, "--region", "us-east-1", *more)


def as_json(lab, *more) -> dict[str, Any]:
    """The same for programs: it says what the lines say, by its schema."""
    found = check(lab, "--format", "json", *more)
    document = found.json
    SCHEMA.validate(document)
    assert document["exit"]["code"] == found.code == check(lab, *more).code
    return document


def test_what_is_wrong_ends_with_1_and_the_command_mends_it(lab):
    """The lab's table is one of KCL 2.x: it has no index, and a release 3.5 is named."""
    before = check(lab)
    assert before.code == 1 and "wrong: it has no index" in before.out
    (one,) = as_json(lab)["consumers"]
    (table,) = [table for table in one["tables"] if table["wrong"]]
    assert (table["name"], table["seen"]["indexes"]) == (lab.table.name, [])
    (remark,) = [remark for remark in table["remarks"] if remark["wrong"]]
    assert remark["what"] in before.out and remark["next"] in before.out
    (command,) = [line for line in before.out.splitlines() if "update-table" in line]
    aws(lab.table.boto, command)
    after = check(lab)
    assert after.code == 0 and "ACTIVE" in after.out, after.out


def test_rows_that_expire_are_counted(lab):
    lab.options = "?release=2.7"
    lab.table.boto.update_time_to_live(
        TableName=lab.table.name,
        TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"},
    )
    assert check(lab).code == 0, "no row has it"
    lab.alter("shardId-000000000001", expires={"N": "1795220630"})
    found = check(lab)
    assert found.code == 1 and "1 row has it" in found.out
    assert "(shardId-000000000001)" in found.out
    (command,) = [line for line in found.out.splitlines() if "update-time-to-live" in line]
    aws(lab.table.boto, command)
    assert check(lab).code == 0


def test_what_is_switched_on_is_seen(lab):
    lab.options = "?release=2.7"
    table = {"TableName": lab.table.name}
    assert {"point-in-time recovery is off", "deletion protection is off"} == notes(lab)
    lab.table.boto.update_continuous_backups(
        **table, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
    )
    lab.table.boto.update_table(**table, DeletionProtectionEnabled=True, StreamSpecification={
        "StreamEnabled": True, "StreamViewType": "KEYS_ONLY",
    })  # fmt: skip
    try:
        (note,) = notes(lab)
        assert "stream (KEYS_ONLY)" in note
    finally:
        lab.table.boto.update_table(**table, DeletionProtectionEnabled=False)


def notes(lab) -> set[str]:
    lines = check(lab).out.splitlines()
    return {line.strip().removeprefix("note: ") for line in lines if line.startswith("    note: ")}


def test_a_provisioned_table_that_is_too_small(lab):
    """Two leases, each renewed three times a second."""
    lab.options = "?release=2.7&failover=1s"
    lab.table.boto.update_table(
        TableName=lab.table.name, BillingMode="PROVISIONED",
        ProvisionedThroughput={"ReadCapacityUnits": 5, "WriteCapacityUnits": 5},
    )
    found = check(lab)
    assert found.code == 1 and "for 2 rows 6 write units a second" in found.out
    (command,) = [line for line in found.out.splitlines() if "PAY_PER_REQUEST" in line]
    aws(lab.table.boto, command)
    assert check(lab).code == 0


def test_a_table_that_is_not_there_ends_with_2(lab):
    result = lab.cli("config", "tables", "--check", "kcl://not-there?release=2.7", "--region",
                     "us-east-1")  # fmt: skip
    assert result.code == 2 and "missing: there is no table not-there in us-east-1" in result.out
    assert result.says(
        "there is no table not-there in us-east-1",
        "reshardctl config tables 'kcl://not-there?release=2.7' --table-region us-east-1",
    )
    words = ["kcl://not-there?release=2.7", "--region", "us-east-1", "--format", "json"]
    document = lab.cli("config", "tables", "--check", *words).json
    SCHEMA.validate(document)
    ((table,),) = [one["tables"] for one in document["consumers"]]
    assert table["seen"] is None and "not-there" in table["errors"][0]["what"]


def test_tables_that_only_old_releases_make_need_not_be_there(lab):
    lab.options = "?release=3.4"
    found = check(lab)
    assert found.code == 2 and "no table" in found.out
    lab.options = "?release=3.5"
    assert "CoordinatorState" not in check(lab).out


def test_without_a_release_the_index_is_not_judged(lab):
    lab.options = ""
    found = check(lab)
    assert found.code == 0 and "its release was not given" in found.out
    assert "release=" in as_json(lab)["consumers"][0]["unsettled"]


@pytest.mark.parametrize("operation", [
    "DescribeTable", "DescribeTimeToLive", "DescribeContinuousBackups", "Scan",
])  # fmt: skip
def test_what_may_not_be_asked_is_named_and_ends_with_3(lab, operation):
    lab.options = "?release=2.7"
    lab.table.boto.update_time_to_live(
        TableName=lab.table.name,
        TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"},
    )
    lab.wire.fail(operation, "AccessDeniedException")
    found = check(lab)
    assert found.code == 3 and f"no permission for dynamodb:{operation}" in found.out, found.out
    assert found.says(f"no permission for dynamodb:{operation}")
    (table,) = as_json(lab)["consumers"][0]["tables"]
    assert f"dynamodb:{operation}" in table["errors"][0]["what"]
    described = operation != "DescribeTable"
    assert ("deletion protection is off" in found.out) is described


def test_the_actions_are_those_of_the_page(lab):
    lab.options = "?release=2.7"
    lab.table.boto.update_time_to_live(
        TableName=lab.table.name,
        TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"},
    )
    check(lab)
    assert lab.wire.needed == documented("tables")
    assert lab.wire.writes == []


def test_an_arn_of_another_account(lab):
    arn = f"arn:aws:dynamodb:us-east-1:999999999999:table/{lab.table.name}"
    result = lab.cli("config", "tables", "--check", f"kcl://{arn}?release=2.7")
    assert result.code == 2 and "999999999999" in result.out
