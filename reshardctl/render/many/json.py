"""For programs: one document, with the report of every consumer in it as it is alone."""

from __future__ import annotations

import json

from reshardctl.render.context import Context
from reshardctl.render.many.documents import roundup_document
from reshardctl.render.many.roundup import Roundup

ROUNDUP = "reshardctl/roundup/1"


def roundup(shown: Roundup, context: Context) -> str:  # noqa: ARG001 - as every format
    """`report.schema.json` describes it."""
    document = {"schema": ROUNDUP, **roundup_document(shown)}
    return json.dumps(document, indent=2, allow_nan=False, ensure_ascii=True) + "\n"
