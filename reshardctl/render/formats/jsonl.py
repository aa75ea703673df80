"""For log stores and stream processors: one JSON object a line, in ASCII, each complete in itself.

Every line has `schema` and `type`: one `header`, a `finding` for each, a `write` for each row,
one `summary` (a failure is a single `error`). Their other members are those of the `json` format.
`rows` says whether a finding is about the rows `before` or `after` what was written. A line that
ends early is no JSON, and a stream without its summary came short.

Lines of several consumers have each consumer's `name`, `stream` and `origin`; a suppressed finding
is a line of type `suppressed`, and one line of type `roundup` ends them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from reshardctl.errors import ReshardError
from reshardctl.render.content.journals import Listing, Pruning
from reshardctl.render.content.report_json import Json
from reshardctl.render.document import Document
from reshardctl.render.escape import one_a_line
from reshardctl.report.audit import AuditReport
from reshardctl.report.report import Report
from reshardctl.report.results import Fixed, Planned, Roundup, Undoing

SCHEMA = "reshardctl/lines/2"

HEADER = (
    "taken", "stream", "consumer", "store", "policy", "policy_time", "accept", "bootstrap",
    "recreated", "incarnation", "candidates", "forecast", "watch",
)
"""Members of a report that its header line has."""
COMMAND = (
    "dry_run", "saved", "journal", "of_plan", "written_steps", "recognised_steps", "kept",
)
"""Members of a document that its header line has besides: what the command did."""
AUDIT_HEADER = ("taken", "stream", "sink", "consumer", "against_stream")
AUDIT_SUMMARY = ("counts", "records", "keys", "saved", "notes", "next")


def write(document: Document) -> str:
    """ASCII throughout, so that nothing in it can steer a terminal or end a line."""
    return one_a_line(_lines(document))


def _lines(document: Document) -> Iterable[Json]:
    data = document.data
    match document.result:
        case Report():
            return _report("inspect", data)
        case Planned():
            return _report("plan", data)
        case Fixed():
            return _written("fixed", data)
        case Undoing():
            return _written("undo", data)
        case AuditReport():
            return _audit(data)
        case Roundup():
            return _roundup(data)
        case Listing(rows=True):
            return [_line("journal", data["journal"]), *_writes(data["steps"])]
        case Listing():
            return [_line("journal", journal) for journal in data["journals"]]
        case Pruning():
            return [_line("pruned", data)]
        case ReshardError():
            return [_error(data)]
        case other:
            raise TypeError(f"{type(other).__name__} is not shown as lines")


def _report(view: str, data: Json) -> Iterator[Json]:
    """Header, findings, what fix would write, summary."""
    yield _header(view, data, data)
    yield from _findings(data, "before")
    yield from _writes(data["decision"].get("steps", ()))
    yield _summary(data["exit"], data)


def _written(view: str, data: Json) -> Iterator[Json]:
    """Header, the findings before, what was written, the findings after, summary."""
    before, after = data["before"], data["after"]
    yield _header(view, data, before)
    yield from _findings(before, "before")
    yield from _writes(data["steps"])
    if after is not None:
        yield from _findings(after, "after")
    yield {**_summary(data["exit"], after), "before": before["counts"]}


def _header(view: str, data: Json, report: Json) -> Json:
    own = {name: report[name] for name in (*HEADER, "scope") if name in report or name in HEADER}
    command = {name: value for name, value in data.items() if name in COMMAND}
    return _line("header", {"view": view, "exit": data["exit"], **own, **command})


def _findings(report: Json, rows: str) -> Iterator[Json]:
    return (_line("finding", {"rows": rows, **finding}) for finding in report["findings"])


def _writes(steps: Sequence[Json]) -> Iterator[Json]:
    for index, step in enumerate(steps):
        for row in step["writes"]:
            own = {"step": index, "title": step["title"], "barrier": step["barrier"]}
            yield _line("write", {**own, **row})


def _summary(code: Json, report: Json | None) -> Json:
    """How many findings and what is to be decided now; null where no position is left."""
    if report is None:
        empty: Json = {"counts": None, "decision": None, "positions": {}, "notes": []}
        return _line("summary", {"exit": code, **empty})
    decision = {name: value for name, value in report["decision"].items() if name != "steps"}
    return _line("summary", {
        "exit": code, "counts": report["counts"], "decision": decision,
        "positions": report["positions"], "notes": report["notes"],
    })


def _roundup(data: Json) -> Iterator[Json]:
    """The lines of each consumer, its suppressed findings, and one line for all at the end."""
    for consumer in data["consumers"]:
        named = {name: consumer[name] for name in ("name", "stream", "origin")}
        if consumer["error"] is not None:
            yield {**_error(consumer["error"]), **named}
        else:
            yield from ({**line, **named} for line in _report("inspect", consumer["report"]))
        for suppressed in consumer["suppressed"]:
            yield _line("suppressed", {**suppressed, **named})
    last = {name: data[name] for name in data if name not in ("schema", "consumers")}
    yield _line("roundup", last)


def _audit(data: Json) -> Iterator[Json]:
    """Header, findings, shards, unusable rows, buckets of time, summary."""
    head = {name: data[name] for name in AUDIT_HEADER}
    yield _line("header", {"view": "audit", "exit": data["exit"], **head})
    for kind, members in (("finding", "findings"), ("shard", "shards"),
                          ("unusable", "unusable"), ("bucket", "buckets")):
        yield from (_line(kind, member) for member in data[members])
    last = {name: data[name] for name in AUDIT_SUMMARY}
    yield _line("summary", {"exit": data["exit"], **last})


def _error(data: Json) -> Json:
    return _line("error", {name: value for name, value in data.items() if name != "schema"})


def _line(kind: str, members: Json) -> Json:
    return {"schema": SCHEMA, "type": kind, **members}
