"""Audits as plain values that JSON can hold. Every object has all of its members, always."""

from __future__ import annotations

from reshardctl.auditing.coverage import Unknowable
from reshardctl.auditing.facts import Bucket, Compared, InSink, Record, Unusable
from reshardctl.diagnosis.rules import Finding
from reshardctl.lineage import Lineage
from reshardctl.model.times import instant
from reshardctl.render.audit.words import life, processed_words
from reshardctl.render.documents import Json, stream_document
from reshardctl.render.json_text import time_json
from reshardctl.report.audit import AuditReport, Keys, ShardCoverage


def audit_document(report: AuditReport) -> Json:
    """An audit without its schema, exit code and buckets of time."""
    facts = report.facts
    return {
        "taken": instant(facts.taken),
        "stream": stream_document(report.lineage),
        "sink": {
            "name": facts.sink, "form": facts.form, "rows": facts.rows,
            "ordered_by": facts.ordered_by or None, "changed": facts.changed or None,
        },
        "consumer": None if report.stored is None else report.stored.consumer,
        "against_stream": report.against_stream,
        "counts": report.counts(),
        "findings": [_finding(finding) for finding in report.findings],
        "records": {
            "read": report.read if report.against_stream else None,
            "missing": report.missing if report.against_stream else None,
            "doubled": sum(inside.doubled for inside in facts.shards.values()),
            "extra": sum(inside.extra for inside in facts.shards.values()),
        },
        "shards": [_standing(report, coverage) for coverage in report.coverages],
        "unusable": [_unusable(unusable) for unusable in facts.unusable],
        "keys": _keys(report.keys),
        "saved": report.saved or None,
        "notes": [*report.notes, *report.lacking],
        "next": [{"command": list(way.arguments), "why": way.why} for way in report.ways],
    }


def bucket_document(bucket: Bucket) -> Json:
    """A stretch of one shard's time."""
    return {
        "shard": bucket.shard, "since": instant(bucket.since), "seconds": bucket.seconds,
        "rows": bucket.rows, "missing": bucket.missing, "extra": bucket.extra,
    }


def _finding(finding: Finding) -> Json:
    deadline = finding.deadline
    return {
        "code": finding.code, "name": finding.name, "severity": str(finding.severity),
        "shards": list(finding.shards), "what": finding.what, "costs": finding.costs,
        "helps": finding.helps,
        "deadline": None if deadline is None else {
            "starts": time_json(deadline.starts), "complete": time_json(deadline.complete),
            "probed": deadline.probed,
        },
    }


def _standing(report: AuditReport, coverage: ShardCoverage) -> Json:
    lineage: Lineage = report.lineage
    listed = coverage.shard in lineage
    return {
        "shard": coverage.shard, "state": life(report, coverage.shard),
        "opened": time_json(lineage.opened_at(coverage.shard)) if listed else None,
        "closed": time_json(lineage.closed_at(coverage.shard)) if listed else None,
        "parents": list(lineage[coverage.shard].parents) if listed else [],
        "sink": None if coverage.inside is None else _inside(coverage.inside),
        "compared": None if coverage.compared is None else _compared(coverage.compared),
        "window": None if coverage.window is None else {
            "since": time_json(coverage.window.since), "until": time_json(coverage.window.until),
        },
        "unknowable": [_gap(gap) for gap in coverage.unknowable],
        "position": coverage.position, "processed": processed_words(report, coverage.shard) or None,
        "codes": list(coverage.codes),
    }


def _inside(inside: InSink) -> Json:
    return {
        "rows": inside.rows, "first": _record(inside.first), "last": _record(inside.last),
        "doubled": inside.doubled, "extra": inside.extra, "disordered": inside.disordered,
        "proven": _record(inside.proven), "proof": inside.proof or None,
    }


def _compared(compared: Compared) -> Json:
    return {
        "read": compared.read, "missing": compared.missing, "first": _record(compared.since),
        "last": _record(compared.until), "whole": compared.whole, "ended": compared.ended,
        "tip": compared.tip, "short": compared.short or None,
        "first_missing": _record(compared.first_missing),
        "last_missing": _record(compared.last_missing),
        "before_missing": _record(compared.before_missing),
    }


def _record(record: Record | None) -> Json | None:
    if record is None:
        return None
    return {"number": record.number, "sub": record.sub, "arrival": time_json(record.arrival)}


def _gap(gap: Unknowable) -> Json:
    return {"since": time_json(gap.since), "until": time_json(gap.until), "why": gap.why}


def _unusable(unusable: Unusable) -> Json:
    return {
        "fault": str(unusable.fault), "rows": unusable.rows, "shard": unusable.shard,
        "samples": list(unusable.samples),
    }


def _keys(keys: Keys | None) -> Json | None:
    if keys is None:
        return None
    return {
        "most_missing": [{"key": key, "missing": count} for key, count in keys.missing],
        "others": keys.others,
    }
