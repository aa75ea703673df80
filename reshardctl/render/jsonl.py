"""For log stores and stream processors: one JSON object a line, in ASCII, each complete in itself.

Every line has `schema` and `type`: one `header`, a `finding` for each, a `write` for each row,
one `summary` (a failure is a single `error`). Their other members are those of the `json` format.
`rows` says whether a finding is about the rows `before` or `after` what was written. A line that
ends early is no JSON, and a stream without its summary came short.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from reshardctl.diagnosis.report import Report
from reshardctl.errors import ReshardError
from reshardctl.model import Step
from reshardctl.planning.plan import Plan
from reshardctl.render.context import Context
from reshardctl.render.documents import Document, report_document, steps_document
from reshardctl.render.json import error_json, exit_json
from reshardctl.render.outcomes import Fixed, Saved, Undoing

SCHEMA = "reshardctl/lines/1"

HEADER = (
    "taken", "stream", "consumer", "store", "policy", "policy_time", "accept", "bootstrap",
    "recreated", "incarnation", "candidates", "forecast", "watch",
)
"""Members of a report that its header line has."""


def inspect(report: Report, context: Context) -> str:
    """Header, findings, what fix would write, summary."""
    return _report("inspect", report, context)


def plan(
    report: Report, context: Context, *, dry_run: bool = True, saved: Saved | None = None
) -> str:
    """The same; its header has `dry_run` and the file that the plan was saved in."""
    file = None if saved is None else {"path": saved.path, "sha256": saved.digest}
    return _report("plan", report, context, dry_run=dry_run, saved=file)


def fixed(outcome: Fixed, context: Context) -> str:
    """Header, the findings before, what was written, the findings after, summary."""
    before, after = report_document(outcome.before), report_document(outcome.after)
    done = {"written_steps": outcome.written, "recognised_steps": outcome.recognised}
    return _text([
        _header("fixed", before, context, journal=outcome.journal, **done),
        *_findings(before, "before"),
        *_writes(outcome.steps),
        *_findings(after, "after"),
        _summary(after, context, before=before["counts"]),
    ])


def undo(undoing: Undoing, context: Context) -> str:
    """The same of an undo; `written_steps` is null for a dry run."""
    before = report_document(undoing.now)
    after = None if undoing.after is None else report_document(undoing.after)
    return _text([
        _header(
            "undo", before, context, journal=undoing.journal, of_plan=undoing.of_plan,
            written_steps=undoing.written, kept=list(undoing.kept),
        ),
        *_findings(before, "before"),
        *_writes(undoing.steps),
        *([] if after is None else _findings(after, "after")),
        _summary(after, context, before=before["counts"]),
    ])


def error(failure: ReshardError, context: Context) -> str:  # noqa: ARG001 - as every format
    """One line."""
    return _text([_line("error", {**error_json(failure), "schema": SCHEMA})])


def _report(view: str, report: Report, context: Context, **more: object) -> str:
    document = report_document(report)
    steps = report.decision.steps if isinstance(report.decision, Plan) else ()
    return _text([
        _header(view, document, context, **more),
        *_findings(document, "before"),
        *_writes(steps),
        _summary(document, context),
    ])


def _header(view: str, document: Document, context: Context, **more: object) -> Document:
    own = {name: document[name] for name in HEADER}
    return _line("header", {"view": view, "exit": exit_json(context.exit), **own, **more})


def _findings(document: Document, rows: str) -> Iterator[Document]:
    for finding in document["findings"]:
        yield _line("finding", {"rows": rows, **finding})


def _writes(steps: Iterable[Step]) -> Iterator[Document]:
    for place, step in enumerate(steps_document(steps)):
        for write in step["writes"]:
            own = {"step": place, "title": step["title"], "barrier": step["barrier"]}
            yield _line("write", {**own, **write})


def _summary(document: Document | None, context: Context, **more: object) -> Document:
    """How many findings and what is to be decided now; null where no position is left."""
    decision = None if document is None else {**document["decision"]}
    if decision is not None:
        decision.pop("steps", None)
    return _line("summary", {
        "exit": exit_json(context.exit),
        "counts": None if document is None else document["counts"],
        "decision": decision,
        "positions": {} if document is None else document["positions"],
        "notes": [] if document is None else document["notes"],
        **more,
    })


def _line(kind: str, members: Document) -> Document:
    return {"schema": SCHEMA, "type": kind, **members}


def _text(lines: Iterable[Document]) -> str:
    """ASCII throughout, so that nothing in it can steer a terminal or end a line."""
    return "".join(
        json.dumps(line, allow_nan=False, ensure_ascii=True, separators=(",", ":")) + "\n"
        for line in lines
    )
