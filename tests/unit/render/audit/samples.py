"""Reports of audits to render: one clean, one with everything, one hostile, one large."""

from __future__ import annotations

from functools import cache

from msgspec.structs import replace

from reshardctl.auditing.facts import Bucket, Compared, Fault, InSink, Record, Unusable
from reshardctl.lineage import Lineage
from reshardctl.model import HASH_SPACE, Shard, Stream, at_number, exactly, shard_id
from reshardctl.render.context import Context
from reshardctl.report.audit import AuditReport, Keys, Stored, Way, judge_sink
from reshardctl.testing.shards import SequenceNumber
from tests.unit.auditing.hand_made_facts import (
    CREATED,
    compared,
    facts,
    ids,
    inside,
    lacking,
    lineage,
    number,
    whole,
)

CONTEXT = Context(("/lake/orders", "--stream", "orders"), width=100)
WAYS = (
    Way(("reshardctl", "rebuild", "kcl://app?initial=LATEST", "--from", "/lake/orders"), "a line"),
    Way(("reshardctl", "rule", "RSH501"), "what this means"),
)
HOSTILE = "\x1b[31m</script><b>|`%0A::error::\n\u202e"


@cache
def clean() -> AuditReport:
    return judge_sink(whole(), lineage())


@cache
def alone() -> AuditReport:
    words = ("reshardctl", "audit", "/lake/orders", "--stream", "orders")
    report = judge_sink(replace(whole(), compared={}), lineage())
    return replace(report, ways=(Way(words, "are records missing? reads the stream"),))


@cache
def everything() -> AuditReport:
    """A finding of every rule."""
    found = facts(
        inside(0, 1, 90, doubled=2, extra=3, disordered=4), inside(1, 2, 890, disordered=0),
        inside(2, 110, 880, disordered=0),
        against=(compared(0, 10, 1, 90), lacking(1, 3, 300, 400), compared(
            2, 10, 110, 600, tip=False, short="ExpiredTokenException"), lacking(3, 20, 110, 890)),
        unusable=(
            Unusable(Fault.NOT_NUMERIC, 3, None, ("4.9E55",)),
            Unusable(Fault.OTHER_INCARNATION, 2, shard_id(1), (number(1, 1),)),
        ),
        buckets=(
            Bucket(shard_id(1), CREATED + 200, 100.0, 40, 0, 0), Bucket(
                shard_id(1), CREATED + 300, 100.0, 60, 3, 0), Bucket(
                shard_id(0), CREATED + 20, 10.0, 50, 0, 3),
        ),
        ordered_by="batch", changed="3 new files", notes=("a note of the reader",),
    )
    stored = Stored(
        "kcl://app?initial=LATEST", {
            shard_id(1): exactly(at_number(number(1, 895))),
            shard_id(2): exactly(at_number(number(2, 500))),
        }, {shard_id(1): number(1, 895), shard_id(2): number(2, 500)},
    )  # fmt: skip
    keys = Keys((("key-7", 12), ("key-1", 2)), 5)
    report = replace(judge_sink(found, lineage(), stored), keys=keys, saved="/lake/rows")
    return replace(report, ways=WAYS)


@cache
def hostile() -> AuditReport:
    """Texts of a sink wherever one can stand."""
    report = everything()
    found = replace(
        report.facts, sink=HOSTILE, form=HOSTILE, ordered_by=HOSTILE, changed=HOSTILE,
        notes=(HOSTILE,), unusable=(Unusable(Fault.NOT_NUMERIC, 3, None, (HOSTILE,)),),
    )
    assert report.stored is not None
    stored = replace(report.stored, consumer=HOSTILE, positions={ids(1)[0]: HOSTILE})
    made = replace(
        judge_sink(found, report.lineage, stored), keys=Keys(((HOSTILE, 1),)), saved=HOSTILE
    )
    return replace(made, ways=(Way(("reshardctl", "audit", HOSTILE), HOSTILE),))


def large(shards: int = 1000) -> AuditReport:
    """As many open shards side by side, records missing in each, two hundred buckets in all of
    twenty thousand."""
    arn = "arn:aws:kinesis:us-east-1:123456789012:stream/orders"
    stream = Stream(arn, "orders", float(CREATED), 86_400, "ACTIVE")
    step = HASH_SPACE // shards

    def text(shard: int, at: int) -> str:
        return str(SequenceNumber(CREATED - 3, at, CREATED + at, shard))

    listed = Lineage(stream, [
        Shard(shard_id(s), None, None, s * step,
              HASH_SPACE - 1 if s == shards - 1 else (s + 1) * step - 1, text(s, 0), None)
        for s in range(shards)
    ])

    def place(shard: int, at: int) -> Record:
        return Record(text(shard, at), 0, float(CREATED + at))

    sink = [InSink(shard_id(s), 1000, place(s, 1), place(s, 900), 0, 0) for s in range(shards)]
    read = [
        Compared(shard_id(s), 1001, 1, place(s, 1), place(s, 900), True, False, True,
                 first_missing=place(s, 500), last_missing=place(s, 500))
        for s in range(shards)
    ]
    each = 20_000 // shards
    buckets = tuple(
        Bucket(shard_id(s), CREATED + 1000.0 * b / each, 1000.0 / each, 50, b % 2, b % 3)
        for s in range(shards) for b in range(each)
    )
    found = replace(
        facts(*sink, against=tuple(read)), taken=CREATED + 1000.0, buckets=buckets
    )
    return judge_sink(found, listed)


ALL = {"clean": clean, "alone": alone, "everything": everything, "hostile": hostile}
