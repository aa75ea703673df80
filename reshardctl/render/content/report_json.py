"""Reports as plain values that JSON can hold. Every object has all of its members, always."""

from __future__ import annotations

from collections.abc import Iterable

from reshardctl.diagnosis.evidence import Watched
from reshardctl.diagnosis.rules import Finding
from reshardctl.errors import HalfDone, ReshardError
from reshardctl.exit import Exit
from reshardctl.lineage import Lineage
from reshardctl.model import (
    Attributes,
    Count,
    Create,
    Cut,
    Delete,
    Rank,
    Shard,
    ShardId,
    Step,
    Update,
    Write,
)
from reshardctl.model.times import instant
from reshardctl.planning.effects import Deadline, Effect
from reshardctl.planning.plan import Ask, Decision, NoSafePlan, Nothing, Plan, Residual
from reshardctl.planning.policy import ANY_PRICE, EVERYTHING, Accept
from reshardctl.planning.prices import flag
from reshardctl.render.content.questions import outcomes
from reshardctl.render.document import Json
from reshardctl.render.escape import time_json
from reshardctl.render.words import resharded
from reshardctl.report.changes import Changed, changes, fixable, mending, shards_written
from reshardctl.report.forecast import RetentionAdvice, retention_advice
from reshardctl.report.report import Report, question
from reshardctl.report.scope import scope_json

REPORT = "reshardctl/report/2"
ERROR = "reshardctl/error/1"


def exit_json(code: Exit) -> Json:
    """{"code": 4, "name": "refused"}."""
    return {"code": int(code), "name": code.name.lower().replace("_", "-")}


def report_json(report: Report, code: Exit) -> Json:
    """Everything that a report holds, with its schema and the exit code."""
    return {"schema": REPORT, "exit": exit_json(code), **report_document(report)}


def error_json(failure: ReshardError) -> Json:
    """A failure. journal: the file that tells which writes were made, or null."""
    journal = failure.journal if isinstance(failure, HalfDone) else ""
    return {
        "schema": ERROR,
        "exit": exit_json(failure.exit),
        "what": failure.what,
        "next": failure.next,
        "journal": journal or None,
    }


def report_document(report: Report) -> Json:
    """A report without its schema and exit code."""
    steps = report.decision.steps if isinstance(report.decision, Plan) else ()
    changed = {row.shard: row for row in changes(report, steps)}
    return {
        "taken": instant(report.snapshot.now),
        "stream": stream_document(report.snapshot.lineage),
        "consumer": consumer_document(report),
        "store": {name: report.snapshot.store[name] for name in sorted(report.snapshot.store)},
        "policy": report.options.policy.name,
        "policy_time": time_json(report.options.policy.since),
        "accept": _accept(report.options.accept),
        "bootstrap": report.options.bootstrap,
        "recreated": time_json(report.options.recreated),
        "incarnation": report.incarnation.value,
        "forecast": _forecast(report),
        "watch": _watch(report.snapshot.watched),
        "candidates": [dict(j.candidate.options) for j in report.judged],
        "counts": {**report.counts(), "fixable": len(fixable(report))},
        "findings": [_finding(report, finding, changed) for finding in report.findings],
        "decision": _decision(report, report.decision, changed),
        "positions": {s: report.positions[s] for s in sorted(report.positions)},
        "notes": list(report.notes),
        "retention_advice": _advice(retention_advice(report)),
        **_scope(report),
    }


def _scope(report: Report) -> Json:
    """What was selected, and what the plan adds to it; nothing if all was judged."""
    if report.options.scope is None:
        return {}
    added = report.decision.added if isinstance(report.decision, Plan) else ()
    needs = report.decision.needs if isinstance(report.decision, NoSafePlan) else ()
    return {"scope": {
        **scope_json(report.options.scope), "left_out": len(report.left_out),
        "added": [{"shard": more.shard, "why": more.why} for more in added],
        "needs": list(needs),
    }}


def _forecast(report: Report) -> Json | None:
    """What was supposed; the findings are those of the first start after it."""
    forecast = report.snapshot.foreseen
    if forecast is None:
        return None
    already = report.already or {}
    return {
        "reshards": [str(reshard) for reshard in forecast.reshards],
        "closes": list(forecast.closes),
        "creates": [_created(forecast.lineage[shard]) for shard in forecast.born],
        "already": [
            {"code": code, "shards": sorted(already[code])} for code in sorted(already)
        ],
    }


def _created(shard: Shard) -> Json:
    return {
        "shard": shard.id, "parents": list(shard.parents), "open": shard.open,
        "hash_range": [str(shard.hash_start), str(shard.hash_end)],
    }


def _watch(watched: Watched | None) -> Json | None:
    """What a running consumer was seen to do. Null: only its next start was judged."""
    if watched is None:
        return None
    return {
        "seconds": round(watched.seconds), "runs": watched.runs, "excluded": watched.excluded,
        "shards": [
            {"shard": shard, "owner": row.owner or None, "renewed": row.renewed,
             "moved": row.moved, "finished": row.finished}
            for shard, row in sorted(watched.shards.items())
        ],
    }


def steps_document(steps: Iterable[Step]) -> list[Json]:
    """Steps with every attribute as DynamoDB JSON."""
    return [
        {"title": s.title, "barrier": s.barrier, "writes": [_write(w) for w in s.writes]}
        for s in steps
    ]


def _advice(advice: RetentionAdvice | None) -> Json | None:
    """What buys time, as a command to run."""
    if advice is None:
        return None
    return {
        "command": list(advice.argv()), "retention_hours": advice.hours,
        "loss_from": time_json(advice.since),
    }


def stream_document(lineage: Lineage) -> Json:
    """A stream, and how many shards it has."""
    stream = lineage.stream
    opened = lineage.open_count()
    return {
        "name": stream.name, "arn": stream.arn, "account": stream.account,
        "region": stream.region, "created": instant(stream.created),
        "retention_seconds": stream.retention, "status": stream.status, "mode": stream.mode,
        "open_shards": opened, "closed_shards": len(lineage) - opened,
        "resharded": time_json(resharded(lineage)),
    }


def consumer_document(report: Report) -> Json:
    """Which consumer, by its locator and what it names."""
    locator = report.snapshot.locator
    return {
        "locator": locator.text, "library": locator.consumer, "medium": locator.medium,
        "target": locator.target, "options": dict(sorted(locator.options.items())),
    }


def _accept(named: Accept | None) -> Json:
    """No bound is null."""
    accept = named or ANY_PRICE
    return {
        "skip_seconds": None if accept.skip >= EVERYTHING else accept.skip,
        "reread_seconds": None if accept.reread >= EVERYTHING else accept.reread,
        "disorder": accept.disorder,
    }


def _finding(report: Report, finding: Finding, changed: dict[ShardId, Changed]) -> Json:
    repair = mending(report, finding)
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": str(finding.severity),
        "shards": list(finding.shards),
        "what": finding.what,
        "costs": finding.costs,
        "helps": finding.helps,
        "when": finding.when,
        "deadline": _deadline(finding.deadline),
        "effects": [effect_document(e) for e in finding.effects],
        "fix": {
            "mended": repair.mended,
            "changes": [
                _changed(changed[shard]) for w in repair.writes
                for shard in shards_written(report, w) if shard in finding.shards
            ],
            "remains": [effect_document(e) for e in repair.remains],
            "residuals": [_residual(r) for r in repair.residuals],
        },
    }


def _changed(row: Changed) -> Json:
    return {
        "shard": row.shard, "action": str(row.action), "now": row.now, "after": row.after,
        "why": row.write.why,
    }


def _deadline(deadline: Deadline | None) -> Json | None:
    if deadline is None:
        return None
    return {
        "starts": time_json(deadline.starts), "complete": time_json(deadline.complete),
        "probed": deadline.probed,
    }


def effect_document(effect: Effect) -> Json:
    """One consequence of a start."""
    return {
        "harm": str(effect.harm),
        "shard": effect.shard,
        "certain": effect.certain,
        "since": cut_document(effect.since),
        "until": cut_document(effect.until),
        "seconds": effect.seconds,
        "cause": None if effect.cause is None else str(effect.cause),
        "why": effect.why,
        "by": list(effect.by),
        "deadline": _deadline(effect.deadline),
        "gone": effect.gone,
        "past": effect.past,
        "records": _records(effect.records),
    }


def _records(counted: Count | None) -> Json | None:
    if counted is None:
        return None
    return {
        "count": counted.records, "at_least": counted.at_least,
        "first_arrival": time_json(counted.first_arrival),
        "last_arrival": time_json(counted.last_arrival),
    }


def cut_document(cut: Cut) -> Json:
    """at: start, number, time, tip or done."""
    inside = cut.rank is Rank.INSIDE
    at = ("time" if cut.by_time else "number") if inside else cut.rank.name.lower()
    number = (cut.text or str(cut.number)) if at == "number" else None
    return {
        "at": at, "number": number, "sub": cut.sub if at == "number" else None,
        "time": time_json(cut.time) if at == "time" else None,
    }


def _residual(residual: Residual) -> Json:
    return {
        "shard": residual.shard, "costs": effect_document(residual.costs), "flag": residual.flag,
        **({"why": residual.why} if residual.why else {}),
    }


def _decision(report: Report, decision: Decision, changed: dict[ShardId, Changed]) -> Json:
    match decision:
        case Plan():
            return {
                "kind": "plan",
                "changes": [_changed(row) for row in changed.values()],
                "steps": steps_document(decision.steps),
                "before": [[effect_document(e) for e in run] for run in decision.before],
                "after": [[effect_document(e) for e in run] for run in decision.after],
                "costs": [effect_document(e) for e in decision.costs],
                "price": [effect_document(e) for e in decision.price],
                "consent": flag(decision, report.options.accept) or None,
                "residuals": [_residual(r) for r in decision.residuals],
                **({"forgets": decision.forgets} if decision.forgets else {}),
            }
        case Nothing(residuals):
            return {"kind": "nothing", "residuals": [_residual(r) for r in residuals]}
        case NoSafePlan(why, ways):
            return {"kind": "no-safe-plan", "why": why, "ways_out": list(ways)}
        case Ask(options, answers):
            return {
                "kind": "ask", "options": list(options),
                "answers": [dict(answer) for answer in answers],
                "defaults": dict(decision.defaults), "changes": outcomes(report, decision),
                "question": question(report, decision),
            }


def _write(write: Write) -> Json:
    before = None if write.before is None else _attributes(write.before.attributes)
    change: Json
    match write.change:
        case Create(attributes):
            change = {"kind": "create", "set": _attributes(attributes), "remove": [], "add": {}}
        case Delete():
            change = {"kind": "delete", "set": {}, "remove": [], "add": {}}
        case Update(values, remove, add):
            change = {
                "kind": "update", "set": _attributes(values), "remove": list(remove),
                "add": dict(add or {}),
            }
    return {
        "key": write.key, **change, "guard": list(write.guard), "before": before,
        "why": write.why, "live": write.live, "running": write.running,
    }


def _attributes(attributes: Attributes) -> Json:
    return {name: dict(attributes[name]) for name in sorted(attributes)}
