"""The actions used are the actions documented: not one more, not one less."""

from __future__ import annotations

from tests.cli.lab import TRIM_HORIZON, Lab
from tests.whole.test_iam import documented

WRITES = ("TransactWriteItems", "PutItem", "UpdateItem", "DeleteItem")
CASES = ("a-both", "a-one", "false-end", "row-not-born", "row-no-counter", "h-open", "d2",
         "merge-coparent-lost", "number-expired")  # fmt: skip
"""Broken tables whose repairs create, change and delete rows."""


def used(lab: Lab) -> set[str]:
    found = set(lab.wire.needed)
    lab.wire.needed.clear()
    return found


def test_inspect(lab_of):
    found = set()
    for case in CASES:
        lab = lab_of(case, TRIM_HORIZON)
        lab.inspect()
        lab.inspect("--wait", "1m")
        lab.dry("--policy", "latest-at-start")
        lab.cli("explain", "0", *lab.where)
        found |= used(lab)
    assert found == documented("inspect")


def test_probe(lab_of):
    found = set()
    for case in CASES:
        lab = lab_of(case, TRIM_HORIZON)
        lab.inspect("--probe")
        lab.dry("--probe")
        found |= used(lab)
    assert found == documented("probe")


def test_fix_and_undo(lab_of):
    found = set()
    for case in CASES:
        lab = lab_of(case, TRIM_HORIZON)
        lab.fix("--created", lab.created)
        for journal in lab.journals():
            assert lab.cli("undo", journal, "--yes", "--assume-stopped").code == 0
            journal.unlink()
        found |= used(lab)
    lab = lab_of("a-both", TRIM_HORIZON)
    for operation in WRITES:
        lab.wire.fail(operation, "InternalServerError", 500, times=1)
    assert lab.fix().code == 0, "a lost answer is looked at, and the write done"
    found |= used(lab)
    assert found == documented("fix")
