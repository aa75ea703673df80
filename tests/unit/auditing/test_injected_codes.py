"""Facts of injected sinks, as the injector has counted them: their codes and no others, in every
format. No Spark: what the audit counts itself is held to the same truths in
tests/unit/spark/audit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import jsonschema
import pytest

import reshardctl.render
from reshardctl.auditing.facts import Compared, Facts, Fault, InSink, Record, Unusable
from reshardctl.kinesis import Kinesis
from reshardctl.lineage import Lineage
from reshardctl.model import ShardId
from reshardctl.render.context import Context
from reshardctl.render.html import audit_page
from reshardctl.report.audit import AuditReport, judge_sink
from tests.proof.damaged_sinks import damage
from tests.proof.damaged_sinks.damage import Damage, Making, inject
from tests.proof.damaged_sinks.history import Kind, draw
from tests.proof.damaged_sinks.truth import Truth, truth_of
from tests.unit.auditing.shown_codes import CODE, codes_in
from tests.unit.render.formats import AUDITS

SCHEMA = Path(reshardctl.render.__file__).with_name("report.schema.json")
NOW = 1_795_300_000
OLD = Kind(hours=40, roots=3, reshards=7)
SEEDS = range(90, 98)
SURE = (damage.lose_range, damage.lose_tail, damage.lose_head, damage.lose_single)


def record(place: tuple[int, int] | None) -> Record | None:
    return None if place is None else Record(str(place[0]), place[1])


def facts_of(making: Making, truth: Truth, lineage: Lineage) -> Facts:
    """What an audit has to have counted."""
    shards = {
        ShardId(name): InSink(
            ShardId(name), one.rows, Record(*spelled(one.first)), Record(*spelled(one.last)),
            one.doubled, one.extra, one.disordered,
        )
        for name, one in truth.shards.items()
    }  # fmt: skip
    unusable = [Unusable(Fault(fault), len(rows)) for fault, rows in truth.unusable.items()]
    compared = {shard: _compared(making, truth, lineage, shard) for shard in lineage}
    return Facts(
        "sink", "json", float(NOW), truth.rows, shards, tuple(unusable), compared,
        ordered_by="batch_id",
    )


def spelled(place: tuple[int, int]) -> tuple[str, int]:
    return str(place[0]), place[1]


def _compared(making: Making, truth: Truth, lineage: Lineage, shard: ShardId) -> Compared:
    history = making.history
    read = sorted(
        row.record for row in history.rows
        if row.record and row.shard == shard and row.arrival >= history.horizon
    )  # fmt: skip
    missing = truth.missing.get(shard, ())
    opened = lineage.opened_at(shard)
    return Compared(
        shard, len(read), len(missing), record(read[0] if read else None),
        record(read[-1] if read else None),
        whole=opened is not None and opened >= history.horizon,
        ended=not lineage.is_open(shard), tip=lineage.is_open(shard),
        first_missing=record(missing[0] if missing else None),
        last_missing=record(missing[-1] if missing else None),
    )  # fmt: skip


def judged(seed: int, damages: Sequence[Damage], kind: Kind | None = None) -> AuditReport:
    making = inject(draw(seed, kind, now=NOW), seed, damages)
    lineage = Kinesis.of_client(making.history.fake().client()).lineage("orders")
    return judge_sink(facts_of(making, truth_of(making), lineage), lineage)


def shown(report: AuditReport) -> dict[str, set[str]]:
    context = Context(suggested_command=("sink", "--stream", "orders"), verbose=True)
    return codes_in({name: show(report, context) for name, show in AUDITS.items()})


def alike(*codes: str) -> dict[str, set[str]]:
    """The same in every format."""
    return {name: set(codes) for name in AUDITS}


@pytest.mark.parametrize("seed", SEEDS[::2])
def test_a_clean_sink_has_no_code(seed: int) -> None:
    report = judged(seed, ())
    assert report.findings == ()
    assert shown(report) == alike()
    assert not CODE.search(audit_page(report))


@pytest.mark.parametrize("seed", SEEDS[1::4])
def test_everything(seed: int) -> None:
    report = judged(seed, damage.EVERYTHING)
    expected = {"RSH501", "RSH502", "RSH503", "RSH504", "RSH505", "RSH509"}
    assert shown(report) == alike(*expected)
    document = json.loads(AUDITS["json"](report, Context()))
    jsonschema.validate(document, json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert set(CODE.findall(audit_page(report))) >= expected


DAMAGES: list[tuple[Damage, set[str]]] = [
    *((loss, {"RSH501 error"}) for loss in SURE),
    (damage.lose_shard, {"RSH501 error", "RSH505 warning"}),
    *((double, {"RSH502 warning"}) for double in damage.DOUBLES),
    *((order, {"RSH503 warning"}) for order in damage.DISORDER),
    *((foreign, {"RSH504 warning"}) for foreign in damage.FOREIGN),
    (damage.faulty_numbers, {"RSH509 warning"}),
]  # fmt: skip
IN_TURN = [
    pytest.param(SEEDS[(place + apart) % len(SEEDS)], one, codes, id=f"{one.__name__}-{apart}",
                 marks=pytest.mark.long if apart else ())
    for place, (one, codes) in enumerate(DAMAGES) for apart in (0, len(SEEDS) // 2)
]
"""Each damage in two histories, in one of them at every turn: every history has several."""


@pytest.mark.parametrize(("seed", "one", "codes"), IN_TURN)
def test_one_damage_one_code(seed: int, one: Damage, codes: set[str]) -> None:
    report = judged(seed, [one])
    assert {f"{f.code} {f.severity}" for f in report.findings} == codes
    assert shown(report) == alike(*(code.split()[0] for code in codes))


@pytest.mark.parametrize("seed", SEEDS[::2])
def test_what_retention_has_taken_is_neither_missing_nor_fine(seed: int) -> None:
    report = judged(seed, [damage.lose_old], OLD)
    assert {f"{f.code} {f.severity}" for f in report.findings} - {"RSH505 info"} == {"RSH508 info"}
    assert shown(report) == alike()
