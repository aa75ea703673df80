"""What vanishes, or is denied, between two calls of one command: an error, and nothing changes.

Each call of a command that reads meets it in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.cli.damaged.endings import ended_badly
from tests.cli.damaged.failing_wire import CHANGING
from tests.cli.damaged.medium import Place
from tests.cli.lab import Lab, Wire
from tests.cli.quickwit_rest_lab import rest_lab
from tests.cli.spark_lab import HEAD, SparkLab
from tests.cli.spark_log_lab import TABLE, dynamodb, log_lab, rows
from tests.cli.spark_s3_lab import BucketLab, bucket_lab

pytestmark = pytest.mark.timeout(300)


@dataclass(frozen=True)
class Vanishing:
    """meet: it happens at the call of this number. named: texts of which a message has one."""

    lab: Lab
    calls: int
    meet: Callable[[int], None]
    named: tuple[str, ...]


@contextmanager
def of_bucket(operation: str, what: Callable[..., None], setting: Place):
    wire = Wire()
    with bucket_lab(HEAD, "u1", "", *setting, wire) as lab:
        yield of_wire(lab, operation, bound(what, lab), (f"s3://{lab.bucket}", "offsets/"))


@contextmanager
def of_log(operation: str, what: Callable[..., None], setting: Place):
    wire = Wire()
    with log_lab("s1x", *setting, wire) as lab:
        yield of_wire(lab, operation, bound(what, lab), (TABLE, "log of the connector"))


def bound(what: Callable[..., None], lab: Lab) -> Callable[[], None]:
    return what if what is denied else partial(what, lab)


def of_wire(
    lab: Lab, operation: str, what: Callable[[], None], named: tuple[str, ...]
) -> Vanishing:
    assert lab.inspect().code in (0, 1)
    calls = sum(one == operation for _, one in lab.wire.calls)
    lab.wire.calls.clear()
    if what is not denied:
        return Vanishing(lab, calls, lambda at: lab.wire.do(operation, what, after=at), named)
    if operation in ("GetObject", "ListObjectsV2"):
        deny = partial(lab.wire.fail_s3, operation, "AccessDenied", 403)
    else:
        deny = partial(lab.wire.fail, operation, "AccessDeniedException")
    return Vanishing(lab, calls, lambda at: deny(after=at), named)


def denied() -> None:
    """Marks calls that are refused from then on."""


@contextmanager
def of_node(setting: Place):
    """The index is deleted, or an answer breaks off, between two questions."""
    with rest_lab("0.9.0", "q3", "?index=events", *setting, Wire()) as lab:
        assert lab.inspect().code in (0, 1)
        fine, calls = lab.node.answer, len(lab.node.paths)

        def meet(at: int) -> None:
            begun = len(lab.node.paths)
            lab.node.answer = lambda path: (
                fine(path) if len(lab.node.paths) - begun <= at else (404, {}, b"{}")
            )

        yield Vanishing(lab, calls, meet, ("/api/v1/indexes/events",))


def all_objects_lost(lab: BucketLab) -> None:
    for key in lab.files():
        lab.s3.delete_object(Bucket=lab.bucket, Key=key)


def newest_lost(lab: BucketLab) -> None:
    keys = [key for key in lab.files() if key.startswith("jobs/orders/offsets/")]
    if keys:
        newest = max(keys, key=lambda key: int(key.rpartition("/")[2]))
        lab.s3.delete_object(Bucket=lab.bucket, Key=newest)


def rows_lost(lab: SparkLab) -> None:
    for row in rows(lab):
        dynamodb(lab.servers.dynamodb).delete_item(TableName=TABLE, Key={
            name: row[name] for name in ("metadataKey", "metadataSortKey")
        })  # fmt: skip


CASES: dict[str, Callable[[Place], AbstractContextManager[Vanishing]]] = {
    "objects-at-a-read": partial(of_bucket, "GetObject", all_objects_lost),
    "objects-at-a-list": partial(of_bucket, "ListObjectsV2", all_objects_lost),
    "newest-at-a-read": partial(of_bucket, "GetObject", newest_lost),
    "newest-at-a-list": partial(of_bucket, "ListObjectsV2", newest_lost),
    "rows-at-a-scan": partial(of_log, "Scan", rows_lost),
    "rows-at-a-description": partial(of_log, "DescribeTable", rows_lost),
    "objects-denied": partial(of_bucket, "GetObject", denied),
    "list-denied": partial(of_bucket, "ListObjectsV2", denied),
    "rows-denied": partial(of_log, "Scan", denied),
    "index": of_node,
}  # fmt: skip


@pytest.fixture(params=CASES)
def made(
    request: pytest.FixtureRequest, servers: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[], Any]]:
    count = 0

    def make() -> Any:
        nonlocal count
        count += 1
        folder = tmp_path / str(count)
        folder.mkdir()
        return CASES[request.param]((servers, folder, monkeypatch))

    yield make


def test_it_vanishes_before_a_call(made: Callable[[], Any]) -> None:
    """Before the first call, and before the last."""
    with made() as first:
        calls = first.calls
        inspected(first, 0)
    if calls > 1:
        with made() as vanishing:
            inspected(vanishing, calls - 1)


def inspected(vanishing: Vanishing, at: int) -> None:
    vanishing.meet(at)
    done = vanishing.lab.inspect()
    assert not ended_badly(done, vanishing.named), (at, done.err)
    assert done.code, f"call {at}: nothing is said"
    assert not CHANGING & {operation for _, operation in vanishing.lab.wire.calls}
