"""After the first write: whatever happens then is half done, and says how to go on and back."""

from __future__ import annotations

import pytest

from tests.cli.test_bad_input import kept, several_steps

WRITES = ("TransactWriteItems", "PutItem", "UpdateItem", "DeleteItem")


@pytest.mark.parametrize("operation", ["Scan", "ListShards", "DescribeTable"])
def test_a_fix_that_could_not_be_verified(lab, operation):
    """Written is written: no success is claimed, and nothing is lost."""
    before = lab.items()
    assert lab.fix().code == 0
    last = [name for _, name in lab.wire.calls].count(operation) - 1
    journal = lab.journal()
    assert lab.undo().code == 0
    journal.unlink()
    lab.wire.fail(operation, "ExpiredTokenException", after=last)
    result = lab.fix()
    assert result.code == 5, result.err
    assert result.says("everything was written", "could not be verified")
    journal = lab.journal()
    assert result.says(f"fix --resume {journal}", f"undo {journal}")
    assert kept(lab.items()) != kept(before)
    lab.wire.faults.clear()
    resumed = lab.cli("fix", "--resume", lab.journal(), "--assume-stopped")
    assert resumed.code == 0, resumed.err
    assert lab.undo().code == 0
    assert kept(lab.items()) == kept(before)


def test_someone_writes_while_an_undo_is_under_way(lab):
    """The rows are read back: what is not as it was put back is said."""
    assert lab.fix().code == 0
    created = sorted(k for k, v in lab.items().items() if v["leaseCounter"] == {"N": "0"})[0]
    row = lab.items()[created]
    lab.wire.do("Scan", lambda: lab.plant(row), after=2)
    result = lab.undo()
    assert result.code == 5, result.err
    assert result.says("everything was put back, but", "someone else wrote", "reshardctl undo")


def test_a_row_moves_between_two_steps_of_a_fix(lab_of):
    """The first step stays, the second is refused; back goes what is ours, and only that."""
    lab = several_steps(lab_of)
    before = lab.items()
    foreign: list[str] = []

    def meanwhile() -> None:
        key = sorted({"shardId-000000000004", "shardId-000000000005"} - lab.items().keys())[0]
        sample = next(iter(lab.items().values()))
        lab.plant({**sample, "leaseKey": {"S": key}, "checkpoint": {"S": "LATEST"}})
        foreign.append(key)

    for operation in WRITES:
        lab.wire.do(operation, meanwhile, after=1)
    result = lab.fix("--created", lab.created)
    assert result.code == 5, result.err
    assert result.says("1 of 2 steps are in place", "a row changed", "fix --resume", "undo")
    (key,) = foreign
    back = lab.undo()
    left = lab.items()
    assert left[key]["checkpoint"] == {"S": "LATEST"}, "not ours, so it stays"
    if back.code == 0:
        assert kept({k: v for k, v in left.items() if k != key}) == kept(before)
    else:
        assert back.code == 4 and back.says(key)
