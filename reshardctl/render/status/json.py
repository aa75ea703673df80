"""For programs: one document, in ASCII, so that nothing in it can steer a terminal."""

from __future__ import annotations

from json import dumps

from reshardctl.diagnosis.consumer_status import ConsumerStatus
from reshardctl.render.context import Context
from reshardctl.render.status.documents import status_document


def write(status: ConsumerStatus, context: Context) -> str:
    """The document, indented."""
    document = status_document(status, context.exit)
    return dumps(document, indent=2, allow_nan=False, ensure_ascii=True) + "\n"
