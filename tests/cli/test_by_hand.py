"""`fix --dry-run --format aws-cli`, psql, mysql and redis-cli: bash runs what is printed.

The store is then as after `fix`, byte for byte, and after the undo beside it as after `undo`. Here
`aws` is a stand-in that sends what it is told; `tests/proof/libraries/test_aws_cli.py` has the AWS
CLI itself. psql, mysql and redis-cli are the real ones.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.cli.lab import ACCESS_KEY, LATEST, SECRET_KEY
from tests.cli.test_kinsumer import made as made_kinsumer  # noqa: F401
from tests.cli.test_position_stores import made, running  # noqa: F401
from tests.support.by_hand import Bash, check_as_fix_and_undo
from tests.support.servers import PASSWORD

pytestmark = pytest.mark.lab("a-both", LATEST)

FORMATS = {"redis": "redis-cli", "postgres": "psql", "mysql": "mysql"}
STAND_IN = f"""\
#!{sys.executable} -SE
import http.client, os, sys

service, operation, *options = sys.argv[1:]
given = dict(zip(options[::2], options[1::2], strict=True))
assert service == "dynamodb" and sorted(given) == ["--cli-input-json", "--region"], given
host = os.environ["AWS_ENDPOINT_URL_DYNAMODB"].removeprefix("http://")
connection = http.client.HTTPConnection(host)
connection.request("POST", "/", given["--cli-input-json"].encode(), {{
    "X-Amz-Target": "DynamoDB_20120810." + operation.title().replace("-", ""),
    "Content-Type": "application/x-amz-json-1.0",
    "Authorization": "AWS4-HMAC-SHA256 Credential=" + os.environ["AWS_ACCESS_KEY_ID"]
    + "/20260101/" + given["--region"] + "/dynamodb/aws4_request, Signature=none",
}})
answer = connection.getresponse()
sys.exit(answer.status != 200 and answer.read().decode())
"""
"""boto3 takes ten times as long to be imported as the call does."""


@pytest.fixture
def bash(tmp_path: Path, servers) -> Bash:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "aws").write_text(STAND_IN, encoding="utf-8")
    (folder / "aws").chmod(0o755)
    return Bash(tmp_path, {
        "AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
        "AWS_ENDPOINT_URL_DYNAMODB": servers.dynamodb, "PATH": f"{folder}:{os.environ['PATH']}",
    })


@pytest.mark.parametrize("case", [
    "a-both",  # creates two in one transaction
    "row-unreadable-latest-child",  # changes one
    "gone-end-with-sub-hole",  # two steps
])
def test_a_table_of_kcl(lab_of, bash, case):
    script = check_as_fix_and_undo(lab_of(case, LATEST), bash, "aws-cli")
    assert ACCESS_KEY not in script and SECRET_KEY not in script


@pytest.mark.parametrize("case", ["e", "c1-no-cache", "unborn-finished"])
def test_tables_of_kinsumer(made_kinsumer, bash, case):  # noqa: F811
    check_as_fix_and_undo(made_kinsumer(case), bash, "aws-cli")


@pytest.mark.parametrize("case", [
    "e",  # changes one
    "e-below",  # deletes one, so that the undo creates it
    "f-swapped",  # changes two in one transaction
])
def test_a_position_store(made, bash, case):  # noqa: F811
    lab = made(case)
    script = check_as_fix_and_undo(lab, bash, FORMATS[lab.kind])
    assert PASSWORD not in script


def test_two_rows_are_written_together_or_not_at_all(made, bash):  # noqa: F811
    """The second is not as it was read."""
    lab = made("f-swapped")
    script = lab.cli("fix", *lab.where, "--dry-run", "--format", FORMATS[lab.kind]).out
    (step,) = lab.dry("--format", "json").json["decision"]["steps"]
    key = step["writes"][-1]["key"]
    lab.put(*key.split("/"), "49" + "7" * 54)
    moved = lab.numbers()
    ran = bash(script)
    assert ran.returncode != 0
    assert f"{key.split('/')[1]} is not as it was read" in ran.stderr
    assert lab.numbers() == moved


@pytest.mark.parametrize("words", [["-n"], ["--dry-run"]])
def test_what_belongs_to_another_store_names_the_right_format(lab, words):
    shown = lab.cli("fix", *lab.where, *words, "--format", "psql")
    assert shown.code == 2 and shown.says("--format psql", "--format aws-cli")


@pytest.mark.parametrize("words", [["fix", "--yes"], ["fix"], ["inspect"], ["undo"], ["audit"]])
def test_a_script_is_of_a_dry_run_only(lab, words):
    before = lab.items()
    verb, *more = words
    shown = lab.cli(verb, *lab.where, *more, "--format", "aws-cli") if verb != "undo" else \
        lab.cli(verb, "nothing.jsonl", "--format", "aws-cli")
    assert shown.code == 2 and shown.says("--format aws-cli", "--dry-run")
    assert lab.items() == before


def test_there_is_nothing_to_write(lab_of, bash):
    lab = lab_of("healthy-roots", LATEST)
    shown = lab.cli("fix", *lab.where, "--dry-run", "--format", "aws-cli")
    assert shown.code == 0 and bash(shown.out).returncode == 0
    assert "aws dynamodb" not in shown.out


def test_where_a_question_is_open_the_script_fails(lab_of, bash):
    """It must not be taken for one that has written. Here: was the stream recreated?"""
    lab = lab_of("recreated")
    shown = lab.cli("fix", *lab.where, "--dry-run", "--format", "aws-cli")
    assert shown.code == 4, shown.err
    assert "aws dynamodb" not in shown.out and bash(shown.out).returncode == 1


def test_an_earlier_script_does_not_survive_a_failure(lab_of, bash, tmp_path):
    """Somebody may run the file without having seen the error."""
    lab, file = lab_of("a-both", LATEST), tmp_path / "plan.sh"
    words = [lab.locator, "--dry-run", "--format", f"aws-cli={file}", "--stream"]
    assert lab.cli("fix", *words, lab.stream).code == 1
    assert "aws dynamodb" in file.read_text()
    assert lab.cli("fix", *words, "absent").code == 2
    ran = bash(file.read_text())
    assert ran.returncode == 1 and "there is no stream absent" in file.read_text()
    assert "aws dynamodb" not in file.read_text()


def test_rows_that_are_not_proven_to_be_the_stream_s_get_no_script(lab):
    """A write is refused there, so that somebody else's hands must not do it either."""
    for key, row in lab.items().items():
        if row["checkpoint"]["S"].isdigit():
            lab.alter(key, checkpoint={"S": str(int(row["checkpoint"]["S"]) + (9 << 148))})
    lab.wire.fail("GetShardIterator", "AccessDeniedException")
    assert lab.cli("fix", *lab.where, "--dry-run").code == 1
    shown = lab.cli("fix", *lab.where, "--dry-run", "--format", "aws-cli")
    assert shown.code == 4 and "aws dynamodb" not in shown.out
    assert shown.says("not verified")


def test_a_text_that_a_shell_or_a_client_could_misread_is_only_a_value(made, bash):  # noqa: F811
    app = """it's"$(id)`x`;$x"""
    lab = made("e", f"?app={app}&initial=TRIM_HORIZON&release=0.5")
    lab.restore({key.replace("app-", f"{app}-", 1): row for key, row in lab.items().items()})
    check_as_fix_and_undo(lab, bash, FORMATS[lab.kind])


def test_what_no_client_is_sure_to_take_for_text_is_refused(made):  # noqa: F811
    r"""MySQL takes a backslash for an escape, or does not, as it is set."""
    lab = made("e", "?app=a\\b&initial=TRIM_HORIZON&release=0.5")
    lab.restore({key.replace("app-", "a\\b-", 1): row for key, row in lab.items().items()})
    shown = lab.cli("fix", *lab.where, "--dry-run", "--format", FORMATS[lab.kind])
    if lab.kind == "redis":
        assert shown.code == 1 and "redis-cli" in shown.out
    else:
        assert shown.code == 2 and shown.says("backslash", "--out FILE", "fix --plan FILE")
