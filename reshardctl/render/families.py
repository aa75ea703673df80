"""The formats that still are a function for each command, as writers of a document."""

from __future__ import annotations

from types import ModuleType

from reshardctl.diagnosis.audit_report import AuditReport
from reshardctl.diagnosis.discovery import Found
from reshardctl.diagnosis.report import Report
from reshardctl.errors import ReshardError
from reshardctl.render import discovered, journals
from reshardctl.render.document import Document, Writer
from reshardctl.render.journals import Listing
from reshardctl.render.many.roundup import Roundup
from reshardctl.render.outcomes import Fixed, Planned, Undoing


def family(name: str, one: ModuleType, many: ModuleType, audit: ModuleType) -> Writer:
    """A writer out of the three modules of a format."""

    def write(document: Document) -> str:
        result, context = document.result, document.context
        text: str
        match result:
            case Report():
                text = one.inspect(result, context)
            case Planned(report, dry_run, saved):
                text = one.plan(report, context, dry_run=dry_run, saved=saved)
            case Fixed():
                text = one.fixed(result, context)
            case Undoing():
                text = one.undo(result, context)
            case AuditReport():
                text = audit.audit(result, context)
            case Roundup():
                text = many.roundup(result, context)
            case Listing():
                text = getattr(journals, name)(result, context)
            case Found():
                text = getattr(discovered, name)(result, context)
            case ReshardError():
                text = one.error(result, context)
        return text

    return write
