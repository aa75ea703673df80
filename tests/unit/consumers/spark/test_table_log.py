"""awslabs' log in its DynamoDB table: the recorded logs in files, as rows.

`tests/support/log_table.py` says where attributes and keys come from.
"""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from reshardctl.consumers.spark.consumer import Spark
from reshardctl.consumers.spark.redacted_file import redact
from reshardctl.diagnosis.rules import Finding, Severity
from reshardctl.errors import CannotTell
from reshardctl.model import Delete, Image, after
from reshardctl.planning.plan import (
    Case,
    NoSafePlan,
    Nothing,
    Plan,
    decide,
)
from tests.support.golden_tables import found_in
from tests.support.log_table import row, tabled
from tests.support.spark_recorded import FOLDERS, HEAD, V1, Recorded


def case(shape: str, release: str, images: list[Image] | None = None) -> Case:
    files = Recorded(shape, release, FOLDERS[release]).case()
    rows = tabled(list(files.images)) if images is None else images
    return replace(files, images=rows, consumer=Spark(log="log-table"))


@pytest.mark.parametrize("release", [V1, HEAD])
@pytest.mark.parametrize("shape", ["s1", "s1x", "s2", "s3", "s4", "m1", "t1", "u1"])
def test_the_plan_is_that_for_the_log_in_files(shape: str, release: str) -> None:
    """What real runs lost with the log in files (spark: s1 to u1, November 2026)."""
    files = Recorded(shape, release, FOLDERS[release]).case()
    wanted, found = decide(files), decide(case(shape, release))
    assert type(wanted) is type(found)
    if not isinstance(wanted, Plan):
        return
    assert isinstance(found, Plan)
    theirs, ours = ([w.change for s in plan.steps for w in s.writes if w.key.startswith("offsets/")]
                    for plan in (wanted, found))  # fmt: skip
    assert ours == theirs != []


def planned() -> Case:
    """u1, and a row of its planned batch 1, left by the crash (R13 of the runs: wiped)."""
    one = case("u1", HEAD)
    (entry,) = [i for i in one.images if i.key.startswith("log/0/")][:1]
    _, _, shard = entry.key.split("/")
    return replace(one, images=[*one.images, row(1, shard, entry.attributes["metadataValue"]["S"])])


def test_the_rows_of_a_planned_batch_go_before_it_is_edited():
    plan = decide(planned())
    assert isinstance(plan, Plan)
    first, *_, last = [write for step in plan.steps for write in step.writes]
    assert isinstance(first.change, Delete) and first.key.startswith("log/1/")
    assert first.guard == ("metadataValue",)
    assert last.key == "offsets/1"


def test_a_row_that_is_no_entry_is_told_with_its_key():
    one = case("s1", HEAD)
    broken = [i for i in one.images if not i.key.startswith("log/")]
    shards = [i for i in one.images if i.key.startswith("log/0/")]
    rows = [Image(i.key, {**i.attributes, "metadataValue": {"N": "7"}}) for i in shards]
    anomalies = Spark(log="t").parse([*broken, *rows], one.state.lineage.stream).anomalies
    assert shards[0].key in {o.key for o in anomalies}


def test_rows_of_batches_that_this_query_never_planned_are_a_hazard():
    """The first writer wins, and no row says of which query it is (awslabs#12, #26)."""
    one = case("s1", HEAD)
    assert shared(one) == []
    ahead = row(9, "shardId-000000000000", one.images[0].key)
    (found,) = shared(replace(one, images=[*one.images, ahead]))
    assert (found.severity, found.shards) == (Severity.WARNING, ("shardId-000000000000",))
    assert "log/9/" in found.costs and "another query" in found.costs


@pytest.mark.parametrize("shape", ["s1", "u1"])
def test_no_plan_is_made_over_rows_further_ahead(shape: str):
    """No plan can be proven: the batches after the planned one go on where those rows say, since
    a row is put only where none is (DynamodbMetadataCommitter.add)."""
    one = case(shape, HEAD)
    assert isinstance(decide(one), Plan)
    ahead = row(9, "shardId-000000000000", one.images[0].key)
    decided = decide(replace(one, images=[*one.images, ahead]))
    assert isinstance(decided, NoSafePlan)
    assert "log/9/" in decided.why


def test_rows_of_the_planned_batch_are_its_own():
    assert shared(planned()) == []


def shared(one: Case) -> list[Finding]:
    return [finding for finding in found_in(one) if finding.code == "RSH234"]


def test_the_option_is_named_where_the_log_is_missing_and_the_table_where_it_is_empty():
    one = case("s1", HEAD)
    bare = [i for i in one.images if not i.key.startswith(("log/", "sources"))]
    stream = one.state.lineage.stream
    for consumer, word in ((Spark(), "log=TABLE"), (Spark(log="my-log"), "table my-log")):
        with pytest.raises(CannotTell) as refused:
            consumer.candidates(consumer.parse(bare, stream), {})
        assert word in f"{refused.value}{refused.value.what}{refused.value.next}"


def test_repaired_is_repaired():
    one = case("s1x", HEAD)
    plan = decide(one)
    assert isinstance(plan, Plan)
    assert isinstance(decide(replace(one, images=after(one.images, plan.steps))), Nothing)


def test_rows_of_the_log_tell_nobody_and_are_judged_as_before():
    """Attributes that are nobody's, and texts that are no entry, may hold anything."""
    (own,) = [row(0, "shardId-000000000000", '{"shardId":"shardId-000000000000"}')]
    told = Image(own.key, {**own.attributes, "owner": {"S": "alice"}})
    other = row(3, "alice", '{"stream":"alice-orders"}')
    assert redact(told, lambda _: "name-1") == own
    hidden = redact(other, lambda _: "name-1")
    assert "alice" not in str(hidden) and hidden.key == "log/3/name-1"
    before = case("s1x", HEAD)
    then = replace(before, images=[redact(one, lambda text: text) for one in before.images])
    assert decide(then) == decide(before)
