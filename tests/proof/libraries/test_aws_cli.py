"""The AWS CLI runs what `fix --dry-run --format aws-cli` prints: the table is as after `fix`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.conftest import in_tmp_path, lab_of, servers, wire  # noqa: F401
from tests.cli.lab import ACCESS_KEY, LATEST, SECRET_KEY
from tests.proof.libraries.aws_cli.built import PROGRAM
from tests.support.by_hand import Bash, check_as_fix_and_undo

pytestmark = [pytest.mark.interop, pytest.mark.needs("aws-cli")]


@pytest.mark.parametrize("case", [
    "a-both",  # creates two in one transaction; the undo deletes them
    "row-unreadable-latest-child",  # changes one
    "full-row-not-born-below-a-parent",
    "gone-end-with-sub-hole",  # two steps
    "full-update-shard-count",
])
def test_a_table_of_kcl(lab_of, servers, tmp_path: Path, case):  # noqa: F811
    bash = Bash(tmp_path, {
        "AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
        "AWS_ENDPOINT_URL_DYNAMODB": servers.dynamodb, "AWS_CONFIG_FILE": os.devnull,
        "AWS_MAX_ATTEMPTS": "1", "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}",
    })
    check_as_fix_and_undo(lab_of(case, LATEST), bash, "aws-cli")
