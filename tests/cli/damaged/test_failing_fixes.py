"""A `fix` that fails in the middle: what is in place is told, and `undo` brings back what was.

Each write of a repair meets each fate in turn: it is refused, its answer is lost, somebody else
writes the same row just before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.cli.damaged.endings import ended_badly
from tests.cli.damaged.failing_wire import FailingWire, answer_lost, not_done, refused
from tests.cli.damaged.media_files import contents
from tests.cli.damaged.medium import Place
from tests.cli.lab import Result
from tests.cli.spark_lab import HEAD, QUBOLE, SparkLab
from tests.cli.spark_log_lab import TABLE, dynamodb, log_lab, rows
from tests.cli.spark_s3_lab import BucketLab, bucket_lab

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

MOST = 12
"""Writes of a repair; more would be an endless one."""


@dataclass(frozen=True)
class Failing:
    """A store to be repaired. stored: each row or file. meddle: another program writes one."""

    lab: SparkLab
    wire: FailingWire
    stored: Callable[[], dict[str, Any]]
    meddle: Callable[[str], None]


@contextmanager
def bucket(release: str, shape: str, setting: Place) -> Iterator[Failing]:
    wire = FailingWire()
    with bucket_lab(release, shape, "", *setting, wire) as lab:
        yield Failing(lab, wire, lab.files, partial(_overwritten, lab))


def _overwritten(lab: BucketLab, key: str) -> None:
    lab.put(key, lab.files().get(key, (b"", 0))[0] + b" ")


@contextmanager
def table(shape: str, setting: Place) -> Iterator[Failing]:
    wire = FailingWire()
    with log_lab(shape, *setting, wire) as lab:

        def stored() -> dict[str, Any]:
            logged = {
                f"log/{row['metadataKey']['S']}/{row['metadataSortKey']['S']}": row
                for row in rows(lab)
            }
            return {**contents(lab.root), **logged}

        def meddle(key: str) -> None:
            _, batch, shard = key.split("/")
            dynamodb(lab.servers.dynamodb).put_item(TableName=TABLE, Item={
                "metadataKey": {"S": batch}, "metadataSortKey": {"S": shard},
                "metadataValue": {"S": "{}"},
            })  # fmt: skip

        yield Failing(lab, wire, stored, meddle)


MEDIA = {
    "s3-planned": partial(bucket, HEAD, "u1"), "s3-appended": partial(bucket, QUBOLE, "s3"),
    "log": partial(table, "s1x"),
}  # fmt: skip


@pytest.fixture
def medium(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture
def failing(
    medium: str, servers: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Failing]:
    with MEDIA[medium]((servers, tmp_path, monkeypatch)) as made:
        yield made


def fixed(failing: Failing) -> Result:
    done = failing.lab.fix("--created", failing.lab.created)
    assert not ended_badly(done), done.err
    return done


def told(failing: Failing, done: Result, before: dict[str, Any]) -> None:
    """Whether the ending is what the store shows."""
    now = failing.stored()
    if done.code in (0, 1):
        assert now != before, done.err
    elif done.code == 5:
        assert str(failing.lab.journal()) in done.err
    else:
        assert (done.code, now) == (4, before), done.err


def taken_back(failing: Failing, before: dict[str, Any]) -> None:
    """Undone, whatever was in place; and the journal is gone for the next try."""
    for journal in failing.lab.journals():
        undone = failing.lab.undo()
        assert not ended_badly(undone), undone.err
        assert failing.stored() == before, undone.err
        journal.unlink()


USUAL = {refused: "log", answer_lost: "s3-planned", not_done: "s3-appended"}
"""The store of which each fate befalls the writes at every turn."""


@pytest.mark.parametrize(("medium", "fate"), [
    pytest.param(medium, fate, id=f"{medium}-{fate.__name__}", marks=(
        () if medium == USUAL[fate] else pytest.mark.long
    )) for medium in MEDIA for fate in USUAL
], indirect=["medium"])  # fmt: skip
def test_each_write_in_turn(failing: Failing, fate: Any) -> None:
    before, endings = failing.stored(), set()
    for at in range(MOST):
        failing.wire.set(fate, at)
        done = fixed(failing)
        met = list(failing.wire.met)
        failing.wire.set(fate, -1)
        if not met:
            break
        endings.add(done.code)
        told(failing, done, before)
        if fate is not refused:
            assert done.code in (0, 1), f"a lost answer is looked up: {done.err}"
        if done.code == 5 and at % 2:
            journal = failing.lab.journal()
            resumed = failing.lab.cli("fix", "--resume", journal, "--assume-stopped", "--yes")
            assert resumed.code in (0, 1), resumed.err
        taken_back(failing, before)
    else:
        raise AssertionError(f"{MOST} writes, and no end")
    assert at and (fate is not refused or endings <= {4, 5})


@pytest.mark.parametrize("medium", [
    "s3-planned", "log", pytest.param("s3-appended", marks=pytest.mark.long),
], indirect=True)  # fmt: skip
def test_another_writes_just_before_each_write(failing: Failing) -> None:
    """What another program wrote is never lost; all else goes back."""
    for at in range(MOST):
        before = failing.stored()
        failing.wire.set(lambda _request, _service: failing.meddle(failing.wire.met[-1]), at)
        done = fixed(failing)
        (met,) = failing.wire.met or ("",)
        failing.wire.set(refused, -1)
        if not met:
            break
        theirs = failing.stored()[met]
        assert theirs != before.get(met), "another wrote it"
        assert done.code in (4, 5), done.err
        if done.code == 4:
            assert {k: v for k, v in failing.stored().items() if k != met} == {
                k: v for k, v in before.items() if k != met
            }  # fmt: skip
        for journal in failing.lab.journals():
            undone = failing.lab.undo()
            assert not ended_badly(undone), undone.err
            after = failing.stored()
            assert after[met] == theirs, "not ours, so it stays"
            left = {k: v for k, v in before.items() if k != met}
            assert undone.code == 4 or {k: v for k, v in after.items() if k != met} == left
            journal.unlink()
        put_back(failing, before)
    else:
        raise AssertionError(f"{MOST} writes, and no end")


def put_back(failing: Failing, before: dict[str, Any]) -> None:
    """As it was before a try."""
    lab = failing.lab
    for key in failing.stored().keys() | before.keys():
        if isinstance(lab, BucketLab):
            if key in before:
                lab.put(key, before[key][0])
            else:
                lab.s3.delete_object(Bucket=lab.bucket, Key=key)
        elif key.startswith("log/"):
            dynamodb(lab.servers.dynamodb).put_item(TableName=TABLE, Item=before[key])
        elif isinstance(before.get(key), bytes):
            (lab.root / key).write_bytes(before[key])
        elif key not in before:
            (lab.root / key).unlink()
