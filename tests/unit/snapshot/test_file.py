"""Snapshot files: what they hold comes back, what is no snapshot is refused by name.

The rows are those of the case files; nothing here was printed by the code under test first.
"""

from __future__ import annotations

import dataclasses
import json
import re
import stat
from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from reshardctl.codec.strict import JsonPath
from reshardctl.codec.values import image
from reshardctl.consumers import locator
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.errors import CannotTell, UsageError
from reshardctl.lineage import Lineage
from reshardctl.model import (
    HASH_SPACE,
    START,
    TIP,
    Image,
    Probe,
    Shard,
    at_number,
    at_time,
    canonical,
    shard_id,
)
from reshardctl.report.report import RepairOptions, make
from reshardctl.snapshot import file as savedsnapshot
from reshardctl.snapshot import redaction
from reshardctl.snapshot.file import SavedSnapshot, parsed, text
from reshardctl.snapshot.take import FrozenStore, FrozenStream
from reshardctl.testing.shards import start
from tests.support.case import Case, all_cases
from tests.support.covering import few
from tests.support.grouped import by_case
from tests.support.judging import images_of, lineage_of
from tests.support.lineages import CREATED

CASES = [case for case in all_cases("kcl") if case.rows]
every_case = by_case(((case.name, "", (case,)) for case in CASES), few(tuple(CASES)))
NUMBER = 49680412033094866848527506851837432377108706273800486914
WORKER = "ip-10-1-2-3.prod.example.com"


def snapshot_of(case: Case) -> Snapshot:
    expect = case.expects[0]
    options = f"initial={expect.initial[0].partition(':')[0]}&release={expect.releases[0]}"
    lineage = lineage_of(case.shards, case.stream["created"], case.retention_hours)
    store = {"medium": "dynamodb", "arn": "arn:aws:dynamodb:us-east-1:123456789012:table/app",
             "created": "2026-11-01T00:00:00Z", "id": "5c1f"}  # fmt: skip
    parsed = locator.parse(f"kcl://payments-fraud?{options}")
    return Snapshot(parsed, lineage, tuple(images_of(case.items())), store, float(case.now))


def saved_of(case: Case) -> SavedSnapshot:
    one = snapshot_of(case)
    return SavedSnapshot(one.now, one.lineage, (one,))


def judged(snapshot: Snapshot) -> list[object]:
    """What a report says, without the names in it."""
    report = make(snapshot, RepairOptions())
    return [
        [(f.code, f.severity, f.shards, f.deadline, len(f.effects)) for f in report.findings],
        type(report.decision).__name__,
        [[(w.key, w.change) for w in s.writes] for s in getattr(report.decision, "steps", ())],
        [judged.effects for judged in report.judged],
    ]


@every_case
def test_what_is_written_comes_back(case):
    saved = saved_of(case)
    again = parsed(text(saved), "s.json")
    assert text(again) == text(saved) and not again.redacted
    (one,), (kept,) = again.consumers, saved.consumers
    assert one.images == tuple(kept.images) and one.store == kept.store and one.now == kept.now
    assert one.locator == kept.locator
    assert [again.lineage[s] for s in again.lineage] == [kept.lineage[s] for s in kept.lineage]
    assert replace(again.lineage.stream, as_of=inf) == replace(kept.lineage.stream, as_of=inf)
    assert judged(one) == judged(kept)


CUTS = st.one_of(
    st.sampled_from([START, TIP]),
    st.builds(at_number, st.integers(1, 10**55).map(str), st.integers(0, 9)),
    st.builds(at_time, st.none() | st.floats(0, 2e9)),
)
PROBES = st.builds(
    Probe, since=CUTS, drained=st.booleans(), first_arrival=st.none() | st.floats(0, 2e9),
    first=st.none() | st.integers(1, 10**55).map(str), count=st.integers(0, 10**6),
    more=st.booleans(), last_arrival=st.none() | st.floats(0, 2e9),
)  # fmt: skip


@given(PROBES)
def test_what_was_probed_comes_back(probe):
    saved = saved_of(CASES[0])
    shard = next(iter(saved.lineage))
    one = replace(saved.consumers[0], probes={shard: probe})
    one = replace(one, asked={NUMBER: True, NUMBER + (1 << 70): None})
    again = parsed(text(replace(saved, consumers=(one,))), "s.json")
    assert again.consumers[0].probes == {shard: probe} and again.consumers[0].asked == one.asked
    # Bytes are shown and never judged by, so files of snapshots are as before.
    assert {f.name for f in dataclasses.fields(Probe)} - {"size_bytes"} == set(
        json.loads(text(replace(saved, consumers=(one,))))["consumers"][0]["probes"][shard]
    )


Edit = Callable[[Any], Any]


def text_of_case() -> str:
    return text(saved_of(CASES[0]))


def part(number: int, value: Any) -> Edit:
    """Another value in one place of the first shard."""
    return lambda body: body["shards"][0].__setitem__(number, value)


WRONG: dict[str, tuple[Edit | str, str]] = {
    "not JSON": (text_of_case()[:-40], "not JSON"),
    "another file": ('{"findings": []}', "not a snapshot"),
    "a list": ("[]", "not a snapshot"),
    "another version": (lambda b: b.update(schema="reshardctl/snapshot/7"), "snapshot/7"),
    "unknown member": (lambda b: b.update(owner="me"), "unknown member 'owner'"),
    "no shards": (lambda b: b.pop("shards"), "shards missing"),
    "a shard twice": (lambda b: b["shards"].append(b["shards"][0]), "stands twice"),
    "a torn shard": (lambda b: b["shards"][0].pop(), "shards[0]"),
    "a hash range": (part(4, "9" * 40), "hash"),
    "a hash range that ends before it begins": (
        lambda b: b["shards"][0].__setitem__(slice(3, 5), ["7", "6"]), "hash"
    ),
    **{
        f"part {n} of a shard as a number": (part(n, 7), f"shards[0][{n}]: not a string")
        for n in range(7)
    },
    "a hash key": (part(4, "most"), "shards[0][4]: not a decimal number: 'most'"),
    "a sequence number": (part(5, "soon"), "shards[0][5]"),
    "no ARN": (lambda b: b["stream"].update(arn="a:b:c:d:e"), "stream.arn"),
    "kept for less than no time": (
        lambda b: b["stream"].update(retention_seconds=-1),
        "stream.retention_seconds: no stream keeps",
    ),
    "kept for more than ten years": (
        lambda b: b["stream"].update(retention_seconds=3651 * 86_400),
        "stream.retention_seconds: no stream keeps",
    ),
    "asked of no number": (
        lambda b: b["consumers"][0].update(asked={"soon": True}),
        "consumers[0].asked: not a sequence number: 'soon'",
    ),
    "asked without an answer": (
        lambda b: b["consumers"][0].update(asked={str(NUMBER): "yes"}),
        f"consumers[0].asked.{NUMBER}",
    ),
    "an infinite time": (
        re.sub(r'"taken": [\d.]+', '"taken": 1e999', text_of_case(), count=1),
        "taken: too many seconds",
    ),
    "a row": (
        lambda b: b["consumers"][0]["rows"][0].update(attributes=7),
        "consumers[0].rows[0].attributes",
    ),
    "a locator": (lambda b: b["consumers"][0].update(locator="ftp://x"), "ftp://"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_snapshot(name):
    made, says = WRONG[name]
    if not isinstance(made, str):
        body = json.loads(text_of_case())
        made(body)
        made = json.dumps(body)
    with pytest.raises(UsageError) as refused:
        parsed(made, "orders.snapshot")
    assert says in refused.value.what
    assert name == "a locator" or "orders.snapshot" in refused.value.what


def test_a_file_is_new_and_its_owners_alone(tmp_path: Path):
    file = tmp_path / "orders.snapshot"
    savedsnapshot.save(saved_of(CASES[0]), file)
    with pytest.raises(UsageError, match="exists already; no snapshot was saved"):
        savedsnapshot.save(saved_of(CASES[0]), file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["orders.snapshot"]
    assert savedsnapshot.load(file).taken == saved_of(CASES[0]).taken
    with pytest.raises(UsageError, match="no snapshot was saved"):
        savedsnapshot.save(saved_of(CASES[0]), tmp_path / "nowhere" / "s")
    with pytest.raises(UsageError, match="No such file"):
        savedsnapshot.load(tmp_path / "absent")


def renamed(case: Case) -> Snapshot:
    """The case with a worker whose name tells its host, and a note of somebody's."""
    snapshot = snapshot_of(case)
    rows = []
    for row in snapshot.images:
        more = {"leaseOwner": {"S": WORKER}} if "leaseOwner" in row.attributes else {}
        note = {"note": {"M": {"by": {"S": "jane@example.com"}}}}
        rows.append(Image(row.key, {**row.attributes, **more, **note}))
    return replace(snapshot, images=tuple(rows))


@every_case
def test_a_redacted_one_is_judged_alike_and_names_nobody(case):
    original = renamed(case)
    lineage = redaction.redacted_lineage(original.lineage)
    one = redaction.Redaction(original.lineage.stream.name).snapshot(original, lineage)
    written = text(SavedSnapshot(one.now, lineage, (one,), redacted=True))
    secrets = [original.lineage.stream.name, original.lineage.stream.account,
               "payments-fraud", WORKER, "jane", "5c1f"]  # fmt: skip
    for secret in secrets:
        assert secret not in written.replace("reshardctl/snapshot", "")
    assert _without_owners(judged(one)) == _without_owners(judged(original))
    owners, again = (
        [r.attributes.get("leaseOwner") for r in rows if r.key.startswith("shardId-")]
        for rows in (original.images, parsed(written, "s").consumers[0].images)
    )
    assert [o is None for o in owners] == [o is None for o in again]
    assert len({str(o) for o in again if o}) == len({str(o) for o in owners if o})


def _without_owners(found: list[object]) -> str:
    return str(found[:2] + found[3:])


def test_keys_of_many_streams_stay_together():
    """KCL's StreamIdentifier: account:stream:epoch, and the shard behind it (3.5.1 source)."""
    key = "123456789012:orders:1795219200"
    row = image({"key": f"{key}:shardId-000000000001", "attributes": {
        "leaseKey": {"S": f"{key}:shardId-000000000001"}, "streamName": {"S": key},
        "shardId": {"S": "shardId-000000000001"}, "leaseOwner": {"S": "orders"},
        "checkpoint": {"S": "SHARD_END"}, "childShardIds": {"SS": ["shardId-000000000002"]},
        "pendingCheckpointState": {"B": "c2VjcmV0"}, "leaseCounter": {"N": "4"},
    }}, JsonPath("test"))  # fmt: skip
    original = replace(snapshot_of(CASES[0]), images=(row,))
    found = redaction.Redaction("orders").snapshot(original, original.lineage).images[0]
    assert found.key == "000000000000:stream:1795219200:shardId-000000000001"
    assert found.attributes["streamName"] == {"S": "000000000000:stream:1795219200"}
    assert found.attributes["leaseOwner"] == {"S": "stream"}
    assert found.attributes["pendingCheckpointState"] == {"B": ""}
    for kept in ("shardId", "checkpoint", "childShardIds", "leaseCounter"):
        assert found.attributes[kept] == row.attributes[kept]


def test_the_ports_of_a_snapshot_write_nothing_and_invent_nothing():
    kept = snapshot_of(CASES[0])
    shard = next(iter(kept.lineage))
    stream = FrozenStream(replace(kept, probes={shard: Probe(START, drained=True)}))
    assert stream.lineage("") is kept.lineage
    assert stream.lineage(kept.lineage.stream.arn) is kept.lineage
    with pytest.raises(UsageError, match="not of other"):
        stream.lineage("other")
    assert stream.probe("", shard, START).drained
    with pytest.raises(CannotTell, match="no record"):
        stream.probe("", shard, at_number("49"))
    later = FrozenStream(replace(kept, probes={shard: Probe(at_number("49"), drained=True)}))
    with pytest.raises(CannotTell, match="no record"):  # what lies before 49 was not looked at
        later.probe("", shard, START)
    medium = FrozenStore(kept)
    assert medium.read() == sorted(kept.images, key=lambda row: row.key)
    assert medium.get(["no"]) == {"no": None}
    planned = next(case for case in CASES if case.name == "a-both")
    (step, *_) = make(snapshot_of(planned), RepairOptions()).decision.steps
    with pytest.raises(UsageError, match="cannot be written to"):
        medium.write(step, "t")


def test_fifty_megabytes(tmp_path: Path):
    """130 rows at DynamoDB's limit of 400 KB each, of an application that keeps much state."""
    case = next(case for case in CASES if case.name == "c")
    small = snapshot_of(case)
    blob = {"pendingCheckpointState": {"B": "c2VjcmV0" * 48_000}}
    many, rows = [], []
    for number in range(130):
        low, high = HASH_SPACE * number // 130, HASH_SPACE * (number + 1) // 130 - 1
        first, last = start(number, CREATED - 3), start(number, CREATED + 60)
        many.append(Shard(shard_id(number), None, None, low, high, str(first), None))
        rows.append(Image(shard_id(number), canonical({
            "leaseKey": {"S": shard_id(number)}, "leaseCounter": {"N": "7"},
            "ownerSwitchesSinceCheckpoint": {"N": "0"}, "checkpoint": {"S": str(last)},
            "checkpointSubSequenceNumber": {"N": "0"}, "startingHashKey": {"S": str(low)},
            "endingHashKey": {"S": str(high)}, **blob,
        })))  # fmt: skip
    big = replace(small, lineage=Lineage(small.lineage.stream, many), images=tuple(rows))
    file = tmp_path / "big.snapshot"
    savedsnapshot.save(SavedSnapshot(big.now, big.lineage, (big,)), file)
    assert file.stat().st_size > 49_000_000
    again = savedsnapshot.load(file).consumers[0]
    assert again.images == big.images
    assert judged(again)[0] == []
    hidden = redaction.Redaction("orders").snapshot(again, again.lineage)
    assert len(text(SavedSnapshot(big.now, big.lineage, (hidden,)))) < 200_000
