"""Shards in detail as plain values: `reshardctl/explanation/1`, see `explanation.schema.json`.

A shard has the members of `reshardctl/status/1`; its neighbours, what is processed of it and what
the next start does with it stand beside them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reshardctl.exit import Exit
from reshardctl.lineage import Lineage
from reshardctl.model import ShardId, Span, WillRead
from reshardctl.model.times import instant
from reshardctl.planning.case import Judged
from reshardctl.render.documents import (
    Json,
    consumer_document,
    cut_document,
    effect_document,
    exit_json,
    stream_document,
)
from reshardctl.render.json_text import indented
from reshardctl.render.status.documents import finding_document, shard_document
from reshardctl.report.report import Report
from reshardctl.report.status import ShardStatus

EXPLANATION = "reshardctl/explanation/1"


def explanation_json(
    report: Report, shards: Sequence[ShardId], statuses: Mapping[ShardId, ShardStatus]
) -> str:
    """The document, indented, in ASCII."""
    document = {
        "schema": EXPLANATION,
        "exit": exit_json(Exit.OK),
        "taken": instant(report.snapshot.now),
        "stream": stream_document(report.snapshot.lineage),
        "consumer": consumer_document(report),
        "shards": [_one(report, shard, statuses) for shard in shards],
        "notes": list(report.notes),
    }
    return indented(document)


def _one(report: Report, shard: ShardId, statuses: Mapping[ShardId, ShardStatus]) -> Json:
    row = statuses[shard]
    near = dict.fromkeys((*row.parents, *row.children))
    return {
        **shard_document(row),
        "hash_range": _hash_range(report.snapshot.lineage, shard),
        "processed": None if row.processed is None else _span(row.processed),
        "neighbours": [
            shard_document(statuses[neighbour]) for neighbour in near if neighbour in statuses
        ],
        "starts": [_start(judged, shard) for judged in report.judged],
        "findings": [finding_document(f) for f in report.findings if shard in f.shards],
    }


def _hash_range(lineage: Lineage, shard: ShardId) -> list[str] | None:
    """First and last hash key; null for a shard that is not listed."""
    if shard not in lineage:
        return None
    listed = lineage[shard]
    return [str(listed.hash_start), str(listed.hash_end)]


def _start(judged: Judged, shard: ShardId) -> Json:
    """The next start under the options of one candidate."""
    run = judged.simulation
    return {
        "options": dict(judged.candidate.options),
        "crash": None if run.crash is None else run.crash.why,
        "fate": _fate(judged, shard),
        "effects": [effect_document(effect) for effect in judged.effects if effect.shard == shard],
    }


def _fate(judged: Judged, shard: ShardId) -> Json | None:
    """Null where the whole consumer crashes, or where nothing is foretold of the shard."""
    fate = judged.simulation.fates.get(shard)
    if fate is None or judged.simulation.crash is not None:
        return None
    if not isinstance(fate, WillRead):
        return {
            "reads": False, "from": None, "after": sorted(fate.waits_for), "delay_seconds": None,
            "why": fate.why, "possibly": None,
        }
    return {
        "reads": True, "from": cut_document(fate.at.lo), "after": sorted(fate.after),
        "delay_seconds": [fate.delay.least, fate.delay.most], "why": fate.why,
        "possibly": fate.possible or None,
    }


def _span(span: Span) -> Json:
    return {
        "from": cut_document(span.lo), "until": cut_document(span.hi), "basis": str(span.basis),
        "why": span.why,
    }
