"""The AWS CLI itself: it runs what we print, and we judge what it prints.

What `fix --dry-run --format aws-cli` prints leaves the table as after `fix`; `config tables`
prints tables that it makes. Files of its output
are judged as the stream and the table are, whatever its options; a part of an answer is refused.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import in_tmp_path, lab_of, servers, wire  # noqa: F401
from tests.cli.lab import ACCESS_KEY, LATEST, SECRET_KEY, Lab
from tests.cli.test_config_tables import CONSUMERS
from tests.cli.test_kinesis_consumer import made as in_dynamodb  # noqa: F401
from tests.cli.test_printed import judged, live, now
from tests.proof.libraries.aws_cli.built import PROGRAM
from tests.support.by_hand import Bash, check_as_fix_and_undo

pytestmark = [pytest.mark.interop, pytest.mark.needs("aws-cli")]


def environment(servers) -> dict[str, str]:  # noqa: F811
    return {
        "AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
        "AWS_ENDPOINT_URL_DYNAMODB": servers.dynamodb, "AWS_ENDPOINT_URL_KINESIS": servers.kinesis,
        "AWS_DEFAULT_REGION": "us-east-1", "AWS_CONFIG_FILE": os.devnull,
        "AWS_MAX_ATTEMPTS": "1", "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}",
    }


@pytest.mark.parametrize("case", [
    "a-both",  # creates two in one transaction; the undo deletes them
    "row-unreadable-latest-child",  # changes one
    "full-row-not-born-below-a-parent",
    "gone-end-with-sub-hole",  # two steps
    "full-update-shard-count",
])
def test_a_table_of_kcl(lab_of, servers, tmp_path: Path, case):  # noqa: F811
    bash = Bash(tmp_path, environment(servers))
    check_as_fix_and_undo(lab_of(case, LATEST), bash, "aws-cli")


Saved = Callable[[str], str]
LIST = "kinesis list-shards --stream-name orders"
DESCRIBE = "kinesis describe-stream --stream-name orders"
SUMMARY = "kinesis describe-stream-summary --stream-name orders"


@pytest.fixture
def saved(servers, tmp_path: Path) -> Saved:  # noqa: F811
    """Runs the AWS CLI, and saves what it prints in a file of which the name is given back."""
    def save(command: str, name: str = "") -> str:
        file = tmp_path / (name or f"{len(list(tmp_path.iterdir()))}.json")
        ran = subprocess.run(
            [PROGRAM, *shlex.split(command)], env={**os.environ, **environment(servers)},
            capture_output=True, timeout=120, check=False,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr
        with file.open("ab") as appended:
            appended.write(ran.stdout)
        return str(file)

    return save


def scan(lab: Lab, *more: str) -> str:
    return " ".join(["dynamodb scan --table-name", lab.table.name, *more])


@pytest.mark.parametrize("case", ["a-both", "row-unreadable-latest-child", "healthy-roots"])
@pytest.mark.parametrize("listing", [[LIST, SUMMARY], [DESCRIBE]], ids=["list", "describe"])
def test_its_output_is_judged_as_the_stream_and_the_table(lab_of, saved, case, listing):  # noqa: F811
    lab = lab_of(case, LATEST)
    shards, *summary = [saved(command) for command in listing]
    words = ["--shards", shards, "--rows", saved(scan(lab, "--consistent-read"))]
    words += [word for file in summary for word in ("--summary", file)]
    assert judged(lab, [*words, "--taken", now(lab)]) == live(lab)


def test_a_query_of_one_application(in_dynamodb, saved):  # noqa: F811
    lab = in_dynamodb("e")
    asked = json.dumps({":app": {"S": "app-orders"}})
    rows = saved(
        f"dynamodb query --table-name {lab.name} --key-condition-expression namespace=:app "
        f"--expression-attribute-values '{asked}'"
    )
    words = ["--shards", saved(LIST), "--summary", saved(SUMMARY), "--rows", rows]
    assert judged(lab, [*words, "--taken", now(lab)]) == live(lab)


def next_of(file: str, name: str) -> str:
    return str(json.loads(Path(file).read_text())[name])


def test_pages_are_put_together(lab_of, saved):  # noqa: F811
    """In several files, or appended to one."""
    lab = lab_of("a-both", LATEST)
    first = saved(f"{LIST} --max-results 2 --no-paginate")
    token = next_of(first, "NextToken")
    second = saved(f"kinesis list-shards --next-token {token} --no-paginate")
    described = saved(f"{DESCRIBE} --limit 3 --no-paginate", "both")
    saved(f"{DESCRIBE} --exclusive-start-shard-id shardId-000000000002 --no-paginate", "both")
    rows = saved(scan(lab, "--limit 1 --no-paginate"), "rows")
    key = json.dumps(json.loads(Path(rows).read_text())["LastEvaluatedKey"])
    saved(scan(lab, f"--no-paginate --exclusive-start-key '{key}'"), "rows")
    for shards in ([first, second, saved(SUMMARY)], [described]):
        words = [word for file in shards for word in ("--shards", file)]
        assert judged(lab, [*words, "--rows", rows, "--taken", now(lab)]) == live(lab)


@pytest.mark.parametrize(("listing", "rows", "says"), [
    (f"{LIST} --max-items 2", "", ["more shards follow"]),
    (f"{LIST} --max-results 2 --no-paginate", "", ["more shards follow"]),
    (f"{DESCRIBE} --limit 2 --no-paginate", "", ["more shards follow"]),
    (f"{LIST} --output text", "", ["not JSON", "--output json"]),
    (f"{LIST} --output table", "", ["not JSON", "--output json"]),
    (f"{LIST} --query Shards", "", ["not an object but a list", "without --query"]),
    (f"{LIST} --shard-filter Type=AT_LATEST", "", ["lists shardId-000000000000", "--shard-filter"]),
    (LIST, "--max-items 1", ["more rows follow"]),
    (LIST, "--limit 1 --no-paginate", ["more rows follow"]),
    (LIST, "--filter-expression 'attribute_exists(nope)'", ["a filter left rows out"]),
    (LIST, "--projection-expression leaseKey,checkpoint", ["leaseCounter", "a projection"]),
    (LIST, "--select COUNT", ["Count"]),
    (LIST, "--query Items[].checkpoint.S", ["not an object but a list"]),
    (LIST, "--output text", ["rows", "column leaseKey", "aws dynamodb scan"]),
])
def test_a_part_of_an_answer_is_refused(lab_of, saved, listing, rows, says):  # noqa: F811
    lab = lab_of("a-both", LATEST)
    words = ["--shards", saved(listing, "shards"), "--summary", saved(SUMMARY, "summary"),
             "--rows", saved(scan(lab, rows), "rows")]  # fmt: skip
    lab.wire.calls.clear()
    refused = lab.cli("inspect", lab.locator, *words, "--taken", now(lab))
    assert refused.code == 2 and refused.says(*says), refused.err
    assert lab.wire.calls == []


@pytest.mark.parametrize("kind", ["kcl-1", "kcl-3.4", "kinsumer", "group"])
def test_tables_are_made_as_printed(lab_of, servers, tmp_path: Path, kind):  # noqa: F811
    """`config tables` prints commands that the AWS CLI takes, and --check accepts their tables."""
    lab = lab_of("a-both", LATEST)
    name = f"{lab.table.name}-{kind}"
    locator = CONSUMERS[kind].format(name=name)
    printed = lab.cli("config", "tables", locator, "--region", "us-east-1").out
    ran = Bash(tmp_path, environment(servers))(printed)
    assert ran.returncode == 0, ran.stderr
    checked = lab.cli("config", "tables", "--check", locator, "--region", "us-east-1")
    assert checked.code == 0, checked.out
    for table in lab.table.boto.list_tables()["TableNames"]:
        if table.startswith(name):
            lab.table.boto.delete_table(TableName=table)


def test_what_is_wrong_is_mended_as_printed(lab_of, servers, tmp_path: Path):  # noqa: F811
    """The index that KCL 3.x needs, and a time to live that deletes leases."""
    lab = lab_of("a-both", LATEST)
    lab.table.boto.update_time_to_live(
        TableName=lab.table.name,
        TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"},
    )
    lab.alter("shardId-000000000001", expires={"N": "1795220630"})
    words = ["config", "tables", "--check", lab.locator, "--region", "us-east-1"]
    before = lab.cli(*words)
    commands = [line for line in before.out.splitlines() if line.startswith("      aws ")]
    assert before.code == 1 and len(commands) == 2, before.out
    ran = Bash(tmp_path, environment(servers))("set -e\n" + "\n".join(commands))
    assert ran.returncode == 0, ran.stderr
    assert lab.cli(*words).code == 0
