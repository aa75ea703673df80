"""For programs: one document, in ASCII, so that nothing in it can steer a terminal."""

from __future__ import annotations

from reshardctl.render.content.status import status_document
from reshardctl.render.context import Context
from reshardctl.render.escape import indented
from reshardctl.report.status import ConsumerStatus


def write(status: ConsumerStatus, context: Context) -> str:
    """The document, indented."""
    return indented(status_document(status, context.exit))
