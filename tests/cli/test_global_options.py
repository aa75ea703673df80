"""`--quiet` and `--debug FILE`, which every command takes before or after its name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reshardctl.aws import call_log
from reshardctl.cli.app import split
from reshardctl.console import progress
from tests.cli.lab import LATEST, SECRETS

pytestmark = pytest.mark.lab("a-both", LATEST)


@pytest.fixture(autouse=True)
def _without_them_afterwards() -> Iterator[None]:
    yield
    progress.silence(False)
    call_log.begin(None)


@pytest.mark.parametrize(
    ("line", "ahead", "rest"),
    [
        ("inspect kcl://a", "", "inspect kcl://a"),
        ("inspect kcl://a --quiet", "--quiet", "inspect kcl://a"),
        ("--quiet inspect kcl://a", "--quiet", "inspect kcl://a"),
        ("inspect --debug a.log kcl://a", "--debug a.log", "inspect kcl://a"),
        ("inspect --debug=a.log kcl://a", "--debug=a.log", "inspect kcl://a"),
        ("inspect kcl://a --debug", "--debug", "inspect kcl://a"),
        ("inspect -- --quiet", "", "inspect -- --quiet"),
    ],
)
def test_they_are_found_wherever_they_stand(line: str, ahead: str, rest: str) -> None:
    assert split(line.split()) == (ahead.split(), rest.split())


def entries(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_each_call_is_logged_with_its_request_id(lab, tmp_path: Path) -> None:
    log = tmp_path / "calls.jsonl"
    lab.wire.calls.clear()
    lab.inspect("--debug", str(log))
    logged = entries(log)
    called = [(entry["service"], entry["operation"]) for entry in logged]
    assert sorted(called) == sorted(lab.wire.calls)  # some are made at the same time
    scan = next(entry for entry in logged if entry["operation"] == "Scan")
    assert scan["about"] == {"TableName": lab.table.name}
    assert scan["status"] == 200 and scan["attempt"] == 1 and "error" not in scan
    assert scan["request_id"] and scan["seconds"] >= 0 and scan["time"].endswith("+00:00")


@pytest.mark.parametrize("command", ["inspect", "status", "dry"])
def test_nothing_is_asked_twice(lab, command: str) -> None:
    """But for the summary, with the first page of the listing and after the last."""
    lab.wire.calls.clear()
    if command == "status":
        lab.cli("status", *lab.where)
    else:
        getattr(lab, command)()
    asked = Counter(operation for _, operation in lab.wire.calls)
    assert asked == Counter({
        "DescribeStreamSummary": 2, "ListShards": 1, "DescribeTable": 1, "Scan": 1,
        "GetItem": 1,  # of KCL 3's coordinator table, which is not there
        "ListStreams": command == "dry",  # whether another was created in the same second
    })  # fmt: skip


def test_a_repeated_call_is_logged_with_its_attempt_and_the_error(lab, tmp_path: Path) -> None:
    lab.wire.fail("Scan", "ProvisionedThroughputExceededException", times=2)
    lab.inspect("--debug", str(log := tmp_path / "calls.jsonl"))
    scans = [entry for entry in entries(log) if entry["operation"] == "Scan"]
    assert [(entry["attempt"], entry["status"], entry.get("error")) for entry in scans] == [
        (1, 400, "ProvisionedThroughputExceededException"),
        (2, 400, "ProvisionedThroughputExceededException"),
        (3, 200, None),
    ]


def test_nothing_secret_is_logged(lab, tmp_path: Path) -> None:
    """SignatureDoesNotMatch repeats the request's headers, and so the session token."""
    lab.wire.fail("Scan", "SignatureDoesNotMatch", 403, message=" ".join(SECRETS))
    lab.inspect("--debug", str(log := tmp_path / "calls.jsonl"))
    text = log.read_text(encoding="utf-8")
    assert "SignatureDoesNotMatch" in text
    assert not [secret for secret in SECRETS if secret in text]
    assert "checkpoint" not in text and "leaseOwner" not in text


def test_a_log_that_cannot_be_opened_is_a_usage_error(lab, tmp_path: Path) -> None:
    lab.wire.calls.clear()
    result = lab.inspect("--debug", str(tmp_path / "none" / "calls.jsonl"))
    assert result.code == 2 and result.says("--debug", "No such file or directory")
    assert not lab.wire.calls


def test_a_full_disk_does_not_end_the_command(lab) -> None:
    assert lab.inspect("--debug", "/dev/full") == lab.inspect()


def test_quiet_leaves_the_report_and_errors_alone(lab) -> None:
    watched = ["--yes", "--watch", "60s", "--quiet"]
    fixed = lab.cli("fix", *lab.where, *watched)
    assert fixed.code == 0 and not fixed.err and fixed.out
    assert lab.inspect("--quiet") == lab.inspect()
    undone = lab.cli("undo", lab.journal(), *watched[:-1])
    assert undone.code == 0 and "not running: " in undone.err
    refused = lab.cli("inspect", "nothing://x", "--quiet")
    assert refused.code == 2 and refused.err


WARNS = """
import sys, warnings
from reshardctl.cli import main
from reshardctl.diagnosis.rules import pages

def find(code, known=pages.find):
    warnings.warn("a release that s3://me:s3cr3t@host knows", FutureWarning)
    return known(code)

pages.find = find
main()
"""


@pytest.mark.parametrize("asked", [(), ("-W", "default")])
def test_a_warning_of_a_library_is_logged_and_not_told(tmp_path: Path, asked: tuple[str]) -> None:
    log, secret = tmp_path / "calls.jsonl", "s3://me:s3cr3t@host"
    done = subprocess.run(
        [sys.executable, *asked, "-c", WARNS, "rule", "RSH203", "--debug", log], check=True,
        env={**os.environ, "AWS_ENDPOINT_URL": secret}, capture_output=True, text=True,
    )
    assert done.stdout.startswith("RSH203")
    assert ("FutureWarning" in done.stderr) is bool(asked)
    if not asked:
        assert done.stderr == ""
        (line,) = entries(log)
        assert line["warning"] == "FutureWarning" and line["where"].startswith("<string>:")
        assert line["message"] == "a release that s3://me:***@host knows"
