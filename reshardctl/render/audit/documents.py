"""Audits as plain values that JSON can hold. Every object has all of its members, always."""

from __future__ import annotations

from reshardctl.auditing.coverage import Unknowable
from reshardctl.auditing.facts import Bucket, Compared, InSink, Record, Unusable
from reshardctl.diagnosis.audit_report import AuditReport, Keys, ShardCoverage
from reshardctl.diagnosis.rules import Finding
from reshardctl.lineage import Lineage
from reshardctl.model.times import instant
from reshardctl.render.audit.words import life, processed_words
from reshardctl.render.documents import Json, stream_document


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
            "doubled": sum(one.doubled for one in facts.shards.values()),
            "extra": sum(one.extra for one in facts.shards.values()),
        },
        "shards": [_standing(report, one) for one in report.coverages],
        "unusable": [_unusable(one) for one in facts.unusable],
        "keys": _keys(report.keys),
        "saved": report.saved or None,
        "notes": list(report.notes),
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
            "starts": _time(deadline.starts), "complete": _time(deadline.complete),
            "probed": deadline.probed,
        },
    }


def _standing(report: AuditReport, one: ShardCoverage) -> Json:
    lineage: Lineage = report.lineage
    listed = one.shard in lineage
    return {
        "shard": one.shard, "state": life(report, one.shard),
        "opened": _time(lineage.opened_at(one.shard)) if listed else None,
        "closed": _time(lineage.closed_at(one.shard)) if listed else None,
        "parents": list(lineage[one.shard].parents) if listed else [],
        "sink": None if one.inside is None else _inside(one.inside),
        "compared": None if one.compared is None else _compared(one.compared),
        "window": None if one.window is None else {
            "since": _time(one.window.since), "until": _time(one.window.until),
        },
        "unknowable": [_gap(gap) for gap in one.unknowable],
        "position": one.position, "processed": processed_words(report, one.shard) or None,
        "codes": list(one.codes),
    }


def _inside(one: InSink) -> Json:
    return {
        "rows": one.rows, "first": _record(one.first), "last": _record(one.last),
        "doubled": one.doubled, "extra": one.extra, "disordered": one.disordered,
        "proven": _record(one.proven), "proof": one.proof or None,
    }


def _compared(one: Compared) -> Json:
    return {
        "read": one.read, "missing": one.missing, "first": _record(one.since),
        "last": _record(one.until), "whole": one.whole, "ended": one.ended, "tip": one.tip,
        "short": one.short or None, "first_missing": _record(one.first_missing),
        "last_missing": _record(one.last_missing), "before_missing": _record(one.before_missing),
    }


def _record(one: Record | None) -> Json | None:
    if one is None:
        return None
    return {"number": one.number, "sub": one.sub, "arrival": _time(one.arrival)}


def _gap(gap: Unknowable) -> Json:
    return {"since": _time(gap.since), "until": _time(gap.until), "why": gap.why}


def _unusable(one: Unusable) -> Json:
    return {
        "fault": str(one.fault), "rows": one.rows, "shard": one.shard,
        "samples": list(one.samples),
    }


def _keys(keys: Keys | None) -> Json | None:
    if keys is None:
        return None
    return {
        "most_missing": [{"key": key, "missing": count} for key, count in keys.missing],
        "others": keys.others,
    }


def _time(seconds: float | None) -> str | None:
    return None if seconds is None else instant(seconds)
