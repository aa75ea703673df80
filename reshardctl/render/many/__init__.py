"""Several consumers in every format: pure functions from a round-up to a string."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from reshardctl.render.context import Context
from reshardctl.render.many import concise, github, json, jsonl, junit, markdown, sarif, text
from reshardctl.render.many.roundup import Entry, Roundup

MANY: Mapping[str, Callable[[Roundup, Context], str]] = {
    "text": text.roundup, "concise": concise.roundup, "json": json.roundup,
    "jsonl": jsonl.roundup, "markdown": markdown.roundup, "github": github.roundup,
    "junit": junit.roundup, "sarif": sarif.roundup,
}

__all__ = ["MANY", "Entry", "Roundup"]
