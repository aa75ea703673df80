"""For programs: one document, in ASCII, so that nothing in it can steer a terminal."""

from __future__ import annotations

from reshardctl.diagnosis.consumer_status import ConsumerStatus
from reshardctl.render.context import Context
from reshardctl.render.json_text import indented
from reshardctl.render.status.documents import status_document


def write(status: ConsumerStatus, context: Context) -> str:
    """The document, indented."""
    return indented(status_document(status, context.exit))
