"""For code scanning: one run a consumer, its results at the line that names the consumer.

A suppressed finding is a result with a suppression (SARIF 2.1.0, 3.27.23): viewers hide it and
keep its reason.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from reshardctl.render import sarif
from reshardctl.render.context import Context
from reshardctl.render.escape import escape
from reshardctl.render.many.roundup import Entry, Roundup
from reshardctl.render.many.words import remarks

Object = dict[str, Any]


def roundup(shown: Roundup, context: Context) -> str:
    """One log."""
    runs = [_run(entry, context) for entry in shown.entries]
    document = {"$schema": sarif.SCHEMA, "version": "2.1.0", "runs": runs}
    return json.dumps(document, indent=2, allow_nan=False, ensure_ascii=True) + "\n"


def _run(entry: Entry, context: Context) -> Object:
    own = replace(context, again=entry.again, exit=entry.exit)
    if entry.failure is not None:
        run = _only(sarif.error(entry.failure, own))
        run["automationDetails"] = {"id": escape(f"reshardctl/{entry.stream}/{entry.name}/")}
    else:
        assert entry.report is not None and entry.hidden is not None
        run = _only(sarif.inspect(entry.report, own))
        hidden = _only(sarif.inspect(entry.hidden, own))["results"]
        for result, (_, by) in zip(hidden, entry.sifted.hidden, strict=True):
            said = {"kind": "external", "status": "accepted", "justification": escape(by.why)}
            run["results"].append(result | {"suppressions": [said]})
        for result in run["results"]:
            _place(result, entry)
    notes = [{"level": "note", "message": {"text": escape(line)}} for line in remarks(entry)]
    run["invocations"][0]["toolExecutionNotifications"] += notes
    return run


def _only(text: str) -> Object:
    run: Object = json.loads(text)["runs"][0]
    return run


def _place(result: Object, entry: Entry) -> None:
    """File and line besides shard or store: what shows results needs them."""
    result["properties"]["name"] = escape(entry.name)
    if entry.origin is None:
        return
    file, line = entry.origin
    physical = {
        "artifactLocation": {"uri": escape(file).replace("\\", "/")},
        "region": {"startLine": line},
    }
    for location in result["locations"]:
        location["physicalLocation"] = physical
