"""Recorded tables, broken in one place: found, mended, found clean, and put back as they were.

The tables are those of applications that read several streams, that keep side tables, that were
upgraded from one release to another, and of one in a hand-off; each folder's README has its story.
What breaks them is what the case files say breaks single-stream tables.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from reshardctl.consumers.kcl.table import is_side
from reshardctl.consumers.registry import CONSUMERS
from reshardctl.errors import UsageError, WrongStream
from reshardctl.model import Image, Stream, after, changed
from reshardctl.planning.plan import Case, Nothing, Plan, decide
from reshardctl.planning.restore import Restore
from tests.support.golden_tables import (
    GOLDEN,
    Item,
    above_info,
    found_in,
    golden_case,
    lineage_of,
    side_images,
    with_rows,
)
from tests.support.judging import images_of

KCL = CONSUMERS["kcl"]
MULTI = [(path, name) for path in sorted(GOLDEN.glob("*/g7*")) for name in ("ma", "mb")]
SINGLE = [
    (path, None) for path in sorted([
        *GOLDEN.glob("3.5.1/g6*"), *GOLDEN.glob("3.5.1/g9*"), *GOLDEN.glob("3.1.3/g[135]*"),
    ])
]  # fmt: skip
TABLES = [*MULTI, *SINGLE]


def name_of(folder: Path, stream: str | None) -> str:
    return "-".join([folder.parent.name, folder.name, *([stream] if stream else [])])


every_table = pytest.mark.parametrize(
    ("folder", "stream"), TABLES, ids=[name_of(*table) for table in TABLES]
)


def own(item: Item, stream: str | None) -> bool:
    """Whether a row is a lease of the stream."""
    if "checkpoint" not in item:
        return False
    return stream is None or item["streamName"]["S"].split(":")[1] == stream


def children_lost(items: list[Item], stream: str | None) -> list[Item] | None:
    """The leases of the children of finished shards are gone (state a of the runs)."""
    kept = [i for i in items if not (own(i, stream) and "parentShardId" in i)]
    return kept if len(kept) < len(items) else None


def first_open(items: list[Item], stream: str | None) -> Item:
    return next(i for i in items if own(i, stream) and i["checkpoint"]["S"].isdigit())


def false_end(items: list[Item], stream: str | None) -> list[Item]:
    """An open shard is marked as finished."""
    first_open(items, stream)["checkpoint"] = {"S": "SHARD_END"}
    return items


def no_counter(items: list[Item], stream: str | None) -> list[Item]:
    """A row has lost its counter."""
    del first_open(items, stream)["leaseCounter"]
    return items


BREAKAGES: dict[Callable[[list[Item], str | None], list[Item] | None], str] = {
    children_lost: "RSH203", false_end: "RSH206", no_counter: "RSH301",
}  # fmt: skip


def broken_tables() -> Iterator[object]:
    for folder, stream in TABLES:
        for breakage, code in BREAKAGES.items():
            case = golden_case(folder, stream, options(folder))
            items = [dict(i.attributes) for i in case.images if not is_side(i.key)]
            if breakage is false_end and folder.name == "g7-multi-stream" and stream == "ma":
                continue  # its open row is of a split parent, which is closed
            if breakage(copy.deepcopy(items), stream) is not None:
                name = f"{name_of(folder, stream)}-{breakage.__name__}"
                yield pytest.param(folder, stream, breakage, code, id=name)


def options(folder: Path) -> dict[str, str]:
    return {"initial": "TRIM_HORIZON", "release": folder.parent.name}


@every_table
@pytest.mark.parametrize("initial", ["", "LATEST", "TRIM_HORIZON"])
def test_a_table_that_nothing_broke_is_clean(folder, stream, initial):
    case = golden_case(folder, stream, {"initial": initial} if initial else {})
    assert above_info(case) == set()
    assert decide(case) == Nothing()


@pytest.mark.parametrize(("folder", "stream", "breakage", "code"), list(broken_tables()))
def test_broken_mended_and_put_back(folder, stream, breakage, code):
    def break_(items: list[Item]) -> list[Item]:
        found = breakage(copy.deepcopy(items), stream)
        assert found is not None
        return found

    case = golden_case(folder, stream, options(folder), break_)
    assert code in above_info(case)
    plan = decide(case)
    assert isinstance(plan, Plan)
    mended = with_rows(case, after(case.images, plan.steps))
    assert above_info(mended) == set()
    assert decide(mended) == Nothing()
    assert bystanders(case, stream) == bystanders(mended, stream)
    undone = put_back(case, plan)
    assert lasting(undone) == lasting(case.images)
    assert bystanders(with_rows(case, undone), stream) == bystanders(case, stream)


def bystanders(case: Case, stream: str | None) -> list[Image]:
    """Every row that is none of the stream's: other streams', other kinds', side tables'."""
    return [i for i in case.images if is_side(i.key) or not own(dict(i.attributes), stream)]


def put_back(case: Case, plan: Plan) -> list[Image]:
    """The rows after an undo, write by write, as `reshardctl.planning.restore` restores them."""
    restore = Restore.of(KCL.spec)
    rows = {image.key: image for image in case.images}
    done = []
    for write in [write for step in plan.steps for write in step.writes]:
        before, landed = rows.get(write.key), changed(rows.get(write.key), write)
        done.append((write, before, landed))
        rows.pop(write.key, None)
        if landed is not None:
            rows[write.key] = landed
    for write, before, landed in reversed(done):
        back = restore(write, before, landed, rows.get(write.key))
        if back is None:
            continue
        result = changed(rows.pop(write.key, None), back)
        if result is not None:
            rows[write.key] = result
    return [rows[key] for key in sorted(rows)]


def lasting(images: Sequence[Image]) -> dict[str, Item]:
    """Rows without what no undo brings back."""
    lost = KCL.spec.monotonic_counters | KCL.spec.owner_attributes
    return {i.key: {n: v for n, v in i.attributes.items() if n not in lost} for i in images}


@pytest.mark.parametrize(("folder", "stream"), MULTI, ids=[name_of(*t) for t in MULTI])
@pytest.mark.only(lambda folder: "finished" in folder.name, "no child has a lease yet")
def test_new_rows_look_like_the_library_s(folder, stream):
    """KCL's own row of a child, but for its position, owner and counters."""
    whole = golden_case(folder, stream, options(folder))
    case = golden_case(
        folder, stream, options(folder), lambda items: children_lost(items, stream) or []
    )
    plan = decide(case)
    assert isinstance(plan, Plan)
    mended = {i.key: i for i in after(case.images, plan.steps)}
    moving = {"checkpoint", "throughputKBps", *KCL.spec.volatile_attributes}
    for image in whole.images:
        assert image.key in mended
        theirs = {n: v for n, v in image.attributes.items() if n not in moving}
        ours = {n: v for n, v in mended[image.key].attributes.items() if n not in moving}
        assert ours == theirs


def test_other_streams_are_counted_and_left_alone():
    folder = GOLDEN / "3.5.1" / "g7-multi-stream-finished"
    case = golden_case(folder, "ma", options(folder))
    (run,) = [
        KCL.simulate_start(case.state.lineage, case.checkpoint(), c.app) for c in case.candidates
    ]
    assert any("3 rows of 1 other stream" in note and ":mb:" in note for note in run.notes)
    assert {f.code for f in found_in(case)} == {"RSH302", "RSH402"}


SEVERAL = GOLDEN / "2.7.2" / "g7-multi-stream"


def rows_of_several() -> list[Image]:
    return list(golden_case(SEVERAL, "ma", options(SEVERAL)).images)


def stream_like(**facts: object) -> Stream:
    stream = lineage_of(SEVERAL, "ma").stream
    whole = {n: getattr(stream, n) for n in stream.__struct_fields__} | facts
    return Stream(**whole)


def test_a_stream_that_has_no_rows_is_told_which_have():
    other = stream_like(arn="arn:aws:kinesis:us-east-1:000000000000:stream/mc", name="mc")
    with pytest.raises(WrongStream) as raised:
        KCL.parse(rows_of_several(), other)
    assert "000000000000:ma:1700000000" in raised.value.what
    assert "000000000000:mb:1700000001" in raised.value.what


def test_another_account_s_stream_of_the_same_name_is_another_stream():
    other = stream_like(arn="arn:aws:kinesis:us-east-1:111111111111:stream/ma")
    with pytest.raises(WrongStream):
        KCL.parse(rows_of_several(), other)


def test_the_creation_time_in_the_key_decides_over_the_numbers():
    """The key with the stream's own creation time wins over one whose numbers fit as well."""
    images = rows_of_several()
    stream = stream_like(created=1700000000.25)
    renamed = [renamed_to(i, "000000000000:ma:1600000000") for i in images if ":ma:" in i.key]
    table = KCL.parse([*images, *renamed], stream)
    assert table.named.epoch == 1700000000
    odd = [o for o in table.anomalies if o.kind.value == "earlier-stream"]
    assert len(odd) == len(renamed) == 2


def test_rows_older_than_the_stream_are_an_earlier_one_s():
    later = stream_like(created=lineage_of(SEVERAL, "ma").stream.created + 86400)
    with pytest.raises(WrongStream) as raised:
        KCL.parse(rows_of_several(), later)
    assert "earlier stream of this name" in raised.value.next


def renamed_to(image: Image, identifier: str) -> Image:
    item = {**image.attributes, "streamName": {"S": identifier}}
    key = f"{identifier}:{item['shardId']['S']}"
    return Image(key, {**item, "leaseKey": {"S": key}})


def test_a_release_that_reads_one_stream_only_is_refused():
    stream = lineage_of(SEVERAL, "ma").stream
    with pytest.raises(UsageError, match=r"before 2\.3"):
        KCL.candidates(KCL.parse(rows_of_several(), stream), {"release": "1.15"})


def test_side_tables_are_no_leases():
    """3.1.3's coordinator rows and statistics stay apart, and tell who leads."""
    folder = GOLDEN / "3.1.3" / "g3-split-parent-finished"
    case = golden_case(folder, None, {})
    table = case.checkpoint()
    assert set(table.side) == {i.key for i in side_images(folder)} and table.foreign == {}
    assert table.coordinator.client == "CLIENT_VERSION_3X" and table.coordinator.beside
    assert {c.options["release"] for c in case.candidates} == {"3.1.3", "3.5.1"}
    assert "RSH402" in {f.code for f in found_in(case)}
    assert set(KCL.signs_of_life(case.images)) >= {
        "app-CoordinatorState/Leader", "app-WorkerMetricStats/w1",
    }  # fmt: skip


def test_rows_of_the_library_only():
    """Read with images_of alone, the same tables parse to the same leases."""
    folder = GOLDEN / "3.1.3" / "g3-split-parent-finished"
    case = golden_case(folder, None, {})
    bare = [i for i in case.images if not is_side(i.key)]
    assert bare == images_of([dict(i.attributes) for i in bare])
    assert KCL.positions(KCL.parse(bare)) == KCL.positions(case.checkpoint())
