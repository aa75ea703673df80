"""Every kind of result with the views that it has, which `Document` describes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from reshardctl.diagnosis.discovery import Found
from reshardctl.errors import ReshardError
from reshardctl.exit import Exit
from reshardctl.model import Step
from reshardctl.planning.plan import Plan
from reshardctl.render.content import fixes, journals, lines, notices, records, roundup, runbook
from reshardctl.render.content.audit import audit, audit_document, audit_markdown, bucket_document
from reshardctl.render.content.explanation import explanation_document, explanation_text
from reshardctl.render.content.plan import not_written, plan, written
from reshardctl.render.content.report import findings, header, last_lines
from reshardctl.render.content.report_json import (
    error_json,
    exit_json,
    report_document,
    report_json,
    steps_document,
)
from reshardctl.render.content.status import status_text
from reshardctl.render.content.status_json import status_document, table
from reshardctl.render.content.subjects import of_audit, of_entry, of_report, of_rows
from reshardctl.render.content.undo import undo
from reshardctl.render.context import Context
from reshardctl.render.document import Document, Json, Measured, Notice, Rows, Subject
from reshardctl.render.markdown_words import Page, code, prose
from reshardctl.render.sheet import Sheet
from reshardctl.render.words import journal_of
from reshardctl.report.audit import AuditReport
from reshardctl.report.report import Report
from reshardctl.report.results import Fixed, Fixes, Planned, Roundup, Undoing
from reshardctl.report.status import ConsumerStatus, Explanation

Result = (
    Report | Planned | Fixed | Fixes | Undoing | AuditReport | Roundup | journals.Listing
    | journals.Pruning | Found | ConsumerStatus | Explanation | ReshardError
)
"""What a command can have to show."""

Shown = TypeVar("Shown")


def _headed(schema: str, document: Document[Any], members: Json) -> Json:
    return {"schema": schema, "exit": exit_json(document.context.exit), **members}


class Unwritten(Document[Shown]):
    """A result that writes nothing, or of which the rows were shown before."""

    def rows(self) -> Iterable[Step]:
        """None."""
        return ()


class ReportDocument(Unwritten[Report]):
    """One consumer, judged."""

    def data(self) -> Json:
        return report_json(self.result, self.context.exit)

    def records(self) -> Iterable[Json]:
        return records.report_records("inspect", self.data())

    def lines(self) -> Sequence[str]:
        return lines.report_lines(self.result, self.context.verbose)

    def screen(self, sheet: Sheet) -> None:
        header(sheet, self.result)
        findings(sheet, self.result)
        last_lines(sheet, self.result)

    def runbook(self, page: Page) -> None:
        runbook.runbook_page(page, self.result)

    def metrics(self) -> Sequence[Measured]:
        snapshot = self.result.snapshot
        return [Measured(snapshot.lineage.stream.name, snapshot.locator.text, self.result)]

    def subjects(self) -> Sequence[Subject]:
        return [of_report(self.result)]

    def notices(self) -> Sequence[Notice]:
        return notices.report_notices(self.result, self.context)


class PlanDocument(Document[Planned]):
    """What fix would write."""

    def data(self) -> Json:
        """A report with `dry_run`, and `saved`: the plan's file and SHA-256, or null."""
        saved = self.result.saved
        file = None if saved is None else {"path": saved.path, "sha256": saved.digest}
        report = report_json(self.result.report, self.context.exit)
        return {**report, "dry_run": self.result.dry_run, "saved": file}

    def records(self) -> Iterable[Json]:
        return records.report_records("plan", self.data())

    def lines(self) -> Sequence[str]:
        planned = lines.planned_lines(self.result, self.context.verbose)
        return lines.named(planned, self.result.report, self.context.name)

    def by_hand(self) -> Report:
        return self.result.report

    def rows(self) -> Iterable[Step]:
        decision = self.result.report.decision
        return decision.steps if isinstance(decision, Plan) else ()

    def screen(self, sheet: Sheet) -> None:
        header(sheet, self.result.report)
        plan(sheet, self.result.report)
        if self.result.dry_run:
            not_written(sheet, self.result)
        if self.context.name:
            sheet.blank()

    def runbook(self, page: Page) -> None:
        runbook.runbook_page(page, self.result.report, self.result.saved)
        if self.result.dry_run:
            page.line("Nothing was written.")

    def subjects(self) -> Sequence[Subject]:
        return [of_report(self.result.report)]

    def suites(self) -> Sequence[Subject | Rows]:
        saved = self.result.saved
        facts = {} if saved is None else {"plan": saved.path, "sha256": saved.digest}
        rows = of_rows("plan", self.result.report, self.rows(), done=False, **facts)
        return [*self.subjects(), rows]

    def notices(self) -> Sequence[Notice]:
        return [notices.plan_notice(self.result, self.context)]


class FixDocument(Document[Fixed]):
    """An applied plan."""

    def data(self) -> Json:
        outcome = self.result
        return _headed("reshardctl/fix/2", self, {
            "journal": outcome.journal,
            "written_steps": outcome.written,
            "recognised_steps": outcome.recognised,
            "steps": steps_document(outcome.steps),
            "before": report_document(outcome.before),
            "after": report_document(outcome.after),
        })

    def records(self) -> Iterable[Json]:
        return records.written_records("fixed", self.data())

    def lines(self) -> Sequence[str]:
        written = lines.fixed_lines(self.result, self.context)
        return lines.named(written, self.result.before, self.context.name)

    def rows(self) -> Iterable[Step]:
        return self.result.steps

    def screen(self, sheet: Sheet) -> None:
        written(sheet, self.result)

    def runbook(self, page: Page) -> None:
        runbook.fixed(page, self.result)

    def subjects(self) -> Sequence[Subject]:
        return [of_report(self.result.after)]

    def suites(self) -> Sequence[Subject | Rows]:
        before, journal = self.result.before, self.result.journal
        return [of_rows("fix", before, self.rows(), done=True, journal=journal), *self.subjects()]

    def notices(self) -> Sequence[Notice]:
        return notices.fix_notices(self.result, self.context)


class FixesDocument(Unwritten[Fixes]):
    """What came of several consumers."""

    def data(self) -> Json:
        wrote = [
            FixDocument(each.fixed, replace(self.context, exit=each.exit)).data()
            if each.fixed is not None else None
            for each in self.result.consumers
        ]
        return _headed("reshardctl/fixes/1", self, fixes.document(self.result, wrote))

    def lines(self) -> Sequence[str]:
        rows = [line for document in self._written() for line in document.lines()]
        return [*rows, *fixes.summary(self.result)]

    def screen(self, sheet: Sheet) -> None:
        for document in self._written():
            part = Sheet(document.context)
            document.screen(part)
            sheet.raw(part.render())
            sheet.blank()
        fixes.last_lines(sheet, self.result)

    def _written(self) -> Iterator[FixDocument]:
        for each in self.result.consumers:
            if each.fixed is not None:
                yield FixDocument(each.fixed, replace(self.context, name=each.name))


class UndoDocument(Document[Undoing]):
    """An undo, wanted or done."""

    def data(self) -> Json:
        """`written_steps` is null for a dry run, `after` where no position is left."""
        undoing = self.result
        return _headed("reshardctl/undo/2", self, {
            "journal": undoing.journal,
            "of_plan": undoing.of_plan,
            "written_steps": undoing.written,
            "kept": list(undoing.kept),
            "steps": steps_document(undoing.steps),
            "before": report_document(undoing.now),
            "after": None if undoing.after is None else report_document(undoing.after),
        })

    def records(self) -> Iterable[Json]:
        return records.written_records("undo", self.data())

    def lines(self) -> Sequence[str]:
        return lines.undo_lines(self.result, self.context.verbose)

    def rows(self) -> Iterable[Step]:
        return self.result.steps

    def screen(self, sheet: Sheet) -> None:
        header(sheet, self.result.now)
        undo(sheet, self.result)

    def runbook(self, page: Page) -> None:
        runbook.undo(page, self.result)

    def subjects(self) -> Sequence[Subject]:
        now = self.result.now if self.result.written is None else self.result.after
        return [] if now is None else [of_report(now)]

    def suites(self) -> Sequence[Subject | Rows]:
        done, journal = self.result.written is not None, self.result.journal
        rows = of_rows("undo", self.result.now, self.rows(), done=done, journal=journal)
        return [rows, *self.subjects()]

    def notices(self) -> Sequence[Notice]:
        return [notices.undo_notice(self.result, self.context)]


class AuditDocument(Unwritten[AuditReport]):
    """A sink, compared with its stream."""

    def data(self) -> Json:
        buckets = [bucket_document(bucket) for bucket in self.result.facts.buckets]
        members = {**audit_document(self.result), "buckets": buckets}
        return _headed("reshardctl/audit/2", self, members)

    def records(self) -> Iterable[Json]:
        return records.audit_records(self.data())

    def lines(self) -> Sequence[str]:
        return lines.audit_lines(self.result, self.context.verbose)

    def screen(self, sheet: Sheet) -> None:
        audit(sheet, self.result)

    def runbook(self, page: Page) -> None:
        audit_markdown(page, self.result)

    def subjects(self) -> Sequence[Subject]:
        return [of_audit(self.result)]

    def notices(self) -> Sequence[Notice]:
        return notices.audit_notices(self.result, self.context)


class RoundupDocument(Unwritten[Roundup]):
    """Several consumers, judged."""

    def data(self) -> Json:
        return {"schema": "reshardctl/roundup/2", **roundup.roundup_document(self.result)}

    def records(self) -> Iterable[Json]:
        return records.roundup_records(self.data())

    def lines(self) -> Sequence[str]:
        return lines.roundup_lines(self.result, self.context.verbose)

    def screen(self, sheet: Sheet) -> None:
        roundup.roundup(sheet, self.result)

    def runbook(self, page: Page) -> None:
        runbook.roundup(page, self.result)

    def metrics(self) -> Sequence[Measured]:
        return [
            Measured(entry.asked or entry.stream, entry.name, entry.report)
            for entry in self.result.entries
        ]

    def subjects(self) -> Sequence[Subject]:
        return [of_entry(entry) for entry in self.result.entries]

    def notices(self) -> Sequence[Notice]:
        return notices.roundup_notices(self.result, self.context)


class JournalsDocument(Document[journals.Listing]):
    """Journals of one place, or one with its rows."""

    def data(self) -> Json:
        if self.result.rows:
            return _headed("reshardctl/journal/1", self, journals.journal_document(self.result))
        return _headed("reshardctl/journals/2", self, journals.journals_document(self.result))

    def records(self) -> Iterable[Json]:
        data = self.data()
        if self.result.rows:
            yield records.record("journal", data["journal"])
            yield from records.write_records(data["steps"])
        else:
            yield from (records.record("journal", journal) for journal in data["journals"])

    def lines(self) -> Sequence[str]:
        return journals.lines(self.result)

    def screen(self, sheet: Sheet) -> None:
        journals.text(sheet, self.result)


class PruningDocument(Document[journals.Pruning]):
    """Journals that are deleted, or would be."""

    def data(self) -> Json:
        return _headed("reshardctl/pruned/1", self, journals.pruning_document(self.result))

    def records(self) -> Iterable[Json]:
        return [records.record("pruned", self.data())]

    def lines(self) -> Sequence[str]:
        return journals.pruning_lines(self.result)

    def screen(self, sheet: Sheet) -> None:
        journals.pruning_text(sheet, self.result)


class DiscoveryDocument(Document[Found]):
    """Tables with positions of a stream."""

    def data(self) -> Json:
        return _headed("reshardctl/discovery/1", self, journals.discovery_document(self.result))

    def screen(self, sheet: Sheet) -> None:
        journals.discovered_text(sheet, self.result)


class StatusDocument(Document[ConsumerStatus]):
    """One consumer, shard by shard."""

    def data(self) -> Json:
        return status_document(self.result, self.context.exit)

    def records(self) -> Iterable[Json]:
        return records.status_records(self.data())

    def screen(self, sheet: Sheet) -> None:
        status_text(sheet, self.result)

    def table(self) -> tuple[Sequence[str], Iterable[Sequence[object]]]:
        return table(self.result)

    def metrics(self) -> Sequence[Measured]:
        report = self.result.report
        name = self.result.name or report.snapshot.locator.text
        return [Measured(report.snapshot.lineage.stream.name, name, report)]


class ExplanationDocument(Document[Explanation]):
    """Shards in detail."""

    def data(self) -> Json:
        return explanation_document(self.result, self.context.exit)

    def screen(self, sheet: Sheet) -> None:
        explanation_text(sheet, self.result)


class FailureDocument(Unwritten[ReshardError]):
    """An error in place of the result that was wanted."""

    def data(self) -> Json:
        return error_json(self.result)

    def records(self) -> Iterable[Json]:
        return [records.error_record(self.data())]

    def lines(self) -> Sequence[str]:
        return [lines.failure_line(self.result)]

    def by_hand(self) -> None:
        """There is no plan."""

    def screen(self, sheet: Sheet) -> None:
        failure = self.result
        sheet.line((f"{failure.exit.kind}: ", "bold red"), failure.what)
        if failure.next:
            sheet.line(failure.next, indent=2)
        if journal := journal_of(failure):
            sheet.line(f"journal: {journal}", indent=2)
        if failure.exit is Exit.REFUSED and "nothing was written" not in failure.what.lower():
            sheet.line("Nothing was written.", indent=2)

    def runbook(self, page: Page) -> None:
        failure = self.result
        page.line(f"**{failure.exit.kind.capitalize()}:** {prose(failure.what)}")
        if failure.next:
            page.line(f"Next: {prose(failure.next)}")
        if journal := journal_of(failure):
            page.line(f"Journal: {code(journal)}")

    def metrics(self) -> Sequence[Measured] | None:
        unjudged = self.result.unjudged
        return None if unjudged is None else [Measured(*unjudged, None)]

    def subjects(self) -> Sequence[Subject]:
        return [Subject("", "reshardctl", failure=self.result, exit=self.result.exit)]

    def notices(self) -> Sequence[Notice]:
        return [notices.failure_notice(self.result)]


DOCUMENTS: dict[type, type[Document[Any]]] = {
    Report: ReportDocument, Planned: PlanDocument, Fixed: FixDocument, Fixes: FixesDocument,
    Undoing: UndoDocument, AuditReport: AuditDocument, Roundup: RoundupDocument,
    journals.Listing: JournalsDocument, journals.Pruning: PruningDocument,
    Found: DiscoveryDocument, ConsumerStatus: StatusDocument, Explanation: ExplanationDocument,
}


def document_of(result: Result, context: Context) -> Document[Any]:
    """The result as a document; each error is shown in the same way."""
    return DOCUMENTS.get(type(result), FailureDocument)(result, context)
