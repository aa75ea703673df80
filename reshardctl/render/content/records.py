"""Documents as records: one JSON object a line, each complete in itself.

Every line has `schema` and `type`: one `header`, a `finding` for each, a `write` for each row,
one `summary` (a failure is a single `error`). Their other members are those of the `json` format.
`rows` says whether a finding is about the rows `before` or `after` what was written. A line that
ends early is no JSON, and a stream without its summary came short.

Lines of several consumers have each consumer's `name`, `stream` and `origin`; a suppressed finding
is a line of type `suppressed`, and one line of type `roundup` ends them all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reshardctl.render.document import Json

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
STATUS_SUMMARY = ("total_shards", "shown_shards", "counts", "suppressed", "notes")
AUDIT_SUMMARY = ("counts", "records", "keys", "saved", "notes", "next")


def report_records(view: str, data: Json) -> Iterator[Json]:
    """Header, findings, what fix would write, summary."""
    yield _header(view, data, data)
    yield from _findings(data, "before")
    yield from write_records(data["decision"].get("steps", ()))
    yield _summary(data["exit"], data)


def written_records(view: str, data: Json) -> Iterator[Json]:
    """Header, the findings before, what was written, the findings after, summary."""
    before, after = data["before"], data["after"]
    yield _header(view, data, before)
    yield from _findings(before, "before")
    yield from write_records(data["steps"])
    if after is not None:
        yield from _findings(after, "after")
    yield {**_summary(data["exit"], after), "before": before["counts"]}


def _header(view: str, data: Json, report: Json) -> Json:
    own = {name: report[name] for name in (*HEADER, "scope") if name in report or name in HEADER}
    command = {name: value for name, value in data.items() if name in COMMAND}
    return record("header", {"view": view, "exit": data["exit"], **own, **command})


def _findings(report: Json, rows: str) -> Iterator[Json]:
    return (record("finding", {"rows": rows, **finding}) for finding in report["findings"])


def write_records(steps: Sequence[Json]) -> Iterator[Json]:
    """A line for each row."""
    for index, step in enumerate(steps):
        for row in step["writes"]:
            own = {"step": index, "title": step["title"], "barrier": step["barrier"]}
            yield record("write", {**own, **row})


def _summary(code: Json, report: Json | None) -> Json:
    """How many findings and what is to be decided now; null where no position is left."""
    if report is None:
        empty: Json = {"counts": None, "decision": None, "positions": {}, "notes": []}
        return record("summary", {"exit": code, **empty})
    decision = {name: value for name, value in report["decision"].items() if name != "steps"}
    return record("summary", {
        "exit": code, "counts": report["counts"], "decision": decision,
        "positions": report["positions"], "notes": report["notes"],
    })


def roundup_records(data: Json) -> Iterator[Json]:
    """The lines of each consumer, its suppressed findings, and one line for all at the end."""
    for consumer in data["consumers"]:
        named = {name: consumer[name] for name in ("name", "stream", "origin")}
        if consumer["error"] is not None:
            yield {**error_record(consumer["error"]), **named}
        else:
            yield from ({**line, **named} for line in report_records("inspect", consumer["report"]))
        for suppressed in consumer["suppressed"]:
            yield record("suppressed", {**suppressed, **named})
    last = {name: data[name] for name in data if name not in ("schema", "consumers")}
    yield record("roundup", last)


def audit_records(data: Json) -> Iterator[Json]:
    """Header, findings, shards, unusable rows, buckets of time, summary."""
    head = {name: data[name] for name in AUDIT_HEADER}
    yield record("header", {"view": "audit", "exit": data["exit"], **head})
    for kind, members in (("finding", "findings"), ("shard", "shards"),
                          ("unusable", "unusable"), ("bucket", "buckets")):
        yield from (record(kind, member) for member in data[members])
    last = {name: data[name] for name in AUDIT_SUMMARY}
    yield record("summary", {"exit": data["exit"], **last})


def status_records(data: Json) -> Iterator[Json]:
    """Header, findings, shards, summary."""
    rows = {"finding": data["findings"], "shard": data["shards"]}
    last = {name: data[name] for name in STATUS_SUMMARY}
    head = {
        n: value for n, value in data.items() if n not in ("schema", "findings", "shards", *last)
    }
    yield record("header", {"view": "status", **head})
    yield from (record(kind, member) for kind, members in rows.items() for member in members)
    yield record("summary", {"exit": data["exit"], **last})


def error_record(data: Json) -> Json:
    """A failure."""
    return record("error", {name: value for name, value in data.items() if name != "schema"})


def record(kind: str, members: Json) -> Json:
    """One line of a kind."""
    return {"schema": SCHEMA, "type": kind, **members}
