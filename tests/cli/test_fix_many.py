"""`fix` of several consumers: consent, journal and outcome of each; a failure leaves the others."""

from __future__ import annotations

import json
import re
import stat
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from reshardctl.aws.client import ATTEMPTS
from reshardctl.cli import terminal as cli_terminal
from reshardctl.commands.fix import require_different_rows
from reshardctl.commands.observer import SILENT
from reshardctl.commands.repair import Repair
from reshardctl.commands.write_requests import FixRequest
from reshardctl.consumers.locator import parse
from reshardctl.execution import plan_file
from tests.cli.lab import TRIM_HORIZON, Lab
from tests.support.lease_server import LeaseTable
from tests.unit.render.test_json import VALIDATOR

Rows = dict[str, dict[str, Any]]


class Two:
    """Two applications on one stream, `left` and `right`, each with two lost leases."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        rows = list(lab.items().values())
        self.left, self.right = lab.table, LeaseTable(lab.servers.dynamodb)
        lab.table = self.right
        lab.plant(*rows)
        lab.wire.calls.clear()
        self.names = [f"kcl://{table.name}{TRIM_HORIZON}" for table in (self.left, self.right)]
        Path("reshardctl.toml").write_text("\n".join([
            "[streams.all-orders]", 'stream = "orders"',
            "[consumers.left]", 'stream = "all-orders"', f'locator = "{self.names[0]}"',
            "[consumers.right]", 'stream = "all-orders"', f'locator = "{self.names[1]}"', "",
        ]), encoding="utf-8")

    def fix(self, *more: str) -> Any:
        return self.lab.cli("fix", "left", "right", *more)

    def rows(self) -> tuple[Rows, Rows]:
        return self._rows(self.left), self._rows(self.right)

    def _rows(self, table: LeaseTable) -> Rows:
        self.lab.table = table
        return self.lab.items()

    def alter(self, table: LeaseTable, **attributes: Any) -> None:
        self.lab.table = table
        self.lab.alter(next(iter(self.lab.items())), **attributes)


@pytest.fixture
def two(lab_of, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    two = Two(lab_of("a-both", TRIM_HORIZON))
    yield two
    two.right.boto.delete_table(TableName=two.right.name)


def outcomes(two: Two, *more: str) -> list[tuple[str, int]]:
    shown = two.fix("--format", "json", *more).json
    VALIDATOR.validate(shown)
    assert shown["schema"] == "reshardctl/fixes/1"
    return [(each["name"], each["exit"]["code"]) for each in shown["consumers"]]


def test_both_are_repaired_and_each_has_a_journal(two: Two) -> None:
    before = two.rows()
    fixed = two.fix("--yes", "--assume-stopped")
    assert fixed.code == 0
    after = two.rows()
    assert [len(rows) - len(old) for rows, old in zip(after, before, strict=True)] == [2, 2]
    journals = two.lab.journals()
    assert len(journals) == 2 and all(str(journal) in fixed.out for journal in journals)
    for journal in journals:
        assert two.lab.cli("undo", str(journal), "--yes", "--assume-stopped").code == 0
    assert two.rows() == before


def test_it_writes_what_a_fix_of_each_alone_writes(two: Two) -> None:
    alone = [
        two.lab.cli("fix", name, "-n", "--format", "json").json["decision"]["steps"]
        for name in ("left", "right")
    ]
    shown = two.fix("-n", "--format", "json").json
    assert [each["plan"]["decision"]["steps"] for each in shown["consumers"]] == alone
    assert shown["dry_run"] and shown["exit"]["code"] == 1 and alone[0]
    done = two.fix("-n", "--format", "json", "--fail-on", "never")
    assert done.code == 0 == done.json["exit"]["code"]
    assert two.lab.wire.writes == []


def test_both_are_watched_at_the_same_time(two: Two) -> None:
    for table in (two.left, two.right):
        two.alter(table, leaseOwner={"S": "w1"})
    slept: list[float] = []
    two.lab.on_sleep.append(slept.append)
    fixed = two.fix("--yes", "--watch", "30s")
    assert fixed.code == 0 and sum(slept) == 60
    assert fixed.err.count("not running: ") == 2 and "right: not running: " in fixed.err


def test_a_running_one_leaves_the_other_complete(two: Two) -> None:
    two.alter(two.left, leaseOwner={"S": "w1"})
    before = two.rows()
    counter = iter(range(100, 1000))

    def renew(_seconds: float) -> None:
        two.alter(two.left, leaseCounter={"N": str(next(counter))})

    two.lab.on_sleep.append(renew)
    refused = two.fix("--yes")
    two.lab.on_sleep.clear()
    left, right = two.rows()
    assert refused.code == 4
    assert set(left) == set(before[0]) and len(right) == len(before[1]) + 2
    assert "refused: left: the consumer is running" in refused.err
    lines = refused.out.splitlines()[-2:]
    assert lines[0].startswith("left ") and "refused, nothing was written" in lines[0]
    assert lines[1].startswith("right") and "wrote 1 step, journal" in lines[1]


def test_one_that_cannot_be_read_leaves_the_other_complete(two: Two) -> None:
    with Path("reshardctl.toml").open("a", encoding="utf-8") as file:
        file.write('[consumers.lost]\nstream = "all-orders"\nlocator = "kcl://no-such-table"\n')
    before = two.rows()
    fixed = two.lab.cli("fix", "lost", "right", "--yes", "--assume-stopped", "--format", "json")
    VALIDATOR.validate(fixed.json)
    lost, right = fixed.json["consumers"]
    assert fixed.code == lost["exit"]["code"] == fixed.json["exit"]["code"] == 2
    assert lost["fix"] is None and "no-such-table" in lost["error"]["what"]
    assert right["exit"]["code"] == 0 and right["fix"]["written_steps"] == 1
    assert two.rows()[0] == before[0]


def test_one_that_breaks_half_way_leaves_the_other_complete(two: Two) -> None:
    two.lab.wire.fail("TransactWriteItems", "InternalServerError", 500, times=ATTEMPTS)
    fixed = two.fix("--yes", "--assume-stopped")
    assert fixed.code in (3, 5) and "wrote 1 step" in fixed.out
    left, right = two.rows()
    assert len(left) + 2 == len(right)


def test_nothing_is_written_without_a_terminal_or_yes(two: Two) -> None:
    before = two.rows()
    refused = two.fix("--assume-stopped")
    assert refused.code == 4 and two.rows() == before
    assert refused.err.count("there is no terminal to ask at") == 2


def test_one_file_holds_both_plans(two: Two) -> None:
    planned = two.fix("-n", "--out", "both.plan")
    assert planned.code == 1 and "plans saved to both.plan" in planned.out
    path = Path("both.plan")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(path.read_text("utf-8"))["schema"] == "reshardctl/plans/1"
    fixed = two.lab.apply("both.plan")
    assert fixed.code == 0 and len(two.lab.journals()) == 2
    assert outcomes(two, "-n") == [("left", 0), ("right", 0)]


def test_a_plan_that_was_carried_out_leaves_the_other(two: Two) -> None:
    two.fix("-n", "--out", "both.plan")
    assert two.lab.cli("fix", "left", "--yes", "--assume-stopped").code == 0
    fixed = two.lab.apply("both.plan")
    assert fixed.code == 4 and two.left.name in fixed.err
    assert "is already as this plan leaves it" in fixed.err
    assert outcomes(two, "-n") == [("left", 0), ("right", 0)]


def test_an_edited_file_is_refused(two: Two) -> None:
    two.fix("-n", "--out", "both.plan")
    path = Path("both.plan")
    path.write_text(path.read_text("utf-8").replace("TRIM_HORIZON", "LATEST", 1), "utf-8")
    refused = two.lab.cli("fix", "--plan", "both.plan", "--yes")
    assert refused.code == 2 and refused.says("both.plan: plan 1", "edited or damaged")
    assert two.lab.wire.writes == []


def test_an_existing_plan_file_stays(two: Two) -> None:
    Path("both.plan").write_text("mine", encoding="utf-8")
    refused = two.fix("--yes", "--assume-stopped", "--out", "both.plan")
    assert refused.code == 2 and refused.says("both.plan exists already")
    assert two.lab.wire.writes == [] and Path("both.plan").read_text("utf-8") == "mine"


def test_two_applications_in_one_table_are_two_consumers() -> None:
    """kinesis-consumer keeps several applications in a table: `app` tells them apart."""
    repairs = []
    for name, app in (("left", "left"), ("right", "right"), ("again", "left")):
        repair = Repair(FixRequest(), "orders", SILENT, name)
        repair.ready = SimpleNamespace(  # type: ignore[assignment]
            locator=parse(f"kinesis-consumer+ddb://positions?app={app}"),
            before=SimpleNamespace(snapshot=SimpleNamespace(
                lineage=SimpleNamespace(stream=SimpleNamespace(arn="arn:orders")),
                store={"arn": "arn:positions"},
            )),
        )
        repairs.append(repair)
    require_different_rows(repairs)
    assert [repair.failure is None for repair in repairs] == [True, True, False]


def test_one_store_named_twice_is_written_once(two: Two) -> None:
    fixed = two.lab.cli(
        "fix", two.names[0], two.names[0].replace("TRIM_HORIZON", "LATEST"), "--stream", "orders",
        "--yes", "--assume-stopped",
    )
    assert fixed.code == 2 and "have the same positions" in fixed.err
    assert len(two.lab.journals()) == 1


def test_the_rows_of_both_are_one_diff(two: Two) -> None:
    for more in (["-n"], ["--yes"]):
        lines = two.fix(*more, "--format", "diff").out.splitlines()
        assert all(line[:1] in "+- @#" for line in lines), lines
        assert lines.count("--- /dev/null") == 4, "two leases of each"
        assert lines[-2:] == [line for line in lines[-2:] if line.startswith("# ")]


def test_each_question_names_its_consumer(two: Two, monkeypatch) -> None:
    """Two plans of the same price: without a name nobody knows which one a no leaves out."""
    asked: list[str] = []

    def no(question: str) -> str:
        asked.append(question)
        return "no"

    terminal = SimpleNamespace(isatty=lambda: True)
    streams = SimpleNamespace(stdin=terminal, stdout=terminal, stderr=sys.stderr)
    monkeypatch.setattr(cli_terminal, "sys", streams)
    monkeypatch.setattr("builtins.input", no)
    monkeypatch.setenv("COLUMNS", "400")
    before = two.rows()
    assert two.fix("--assume-stopped").code == 4 and two.rows() == before
    assert [question.split("? Only")[0].rpartition(" ")[2] for question in asked] == [
        "left", "right",
    ]
    assert asked[0].startswith("Skips nothing, ")


def test_a_question_fits_a_narrow_terminal(monkeypatch, capsys) -> None:
    said: list[str] = []

    def yes(last: str) -> str:
        said.append(last)
        return "yes"

    terminal = SimpleNamespace(isatty=lambda: True)
    monkeypatch.setattr(cli_terminal, "sys", SimpleNamespace(stdin=terminal, stdout=terminal))
    monkeypatch.setattr("builtins.input", yes)
    monkeypatch.setenv("COLUMNS", "40")
    price = "Skips nothing, re-reads up to 14h6m of records a shard (up to 1d5h in all)."
    assert cli_terminal.ask("", shown=True, price=price)
    lines = [*capsys.readouterr().out.splitlines(), *said]
    assert len(lines) > 3 and max(map(len, lines)) <= 40 and len(said) == 1
    assert " ".join(lines) == f"{price} Write this? Only 'yes' is taken for a yes: "


def test_each_line_names_its_consumer(two: Two) -> None:
    planned = two.fix("-n", "--format", "concise")
    assert [line.split(": ")[:2] for line in planned.out.splitlines()[:-2]] == [
        [name, "planned"] for name in ("left", "left", "right", "right")
    ]
    text = two.fix("-n", "--format", "text").out
    for name, locator in zip(("left", "right"), two.names, strict=True):
        assert f"\n{name}   {locator}" in text
    fixed = two.fix("--yes", "--assume-stopped", "--format", "concise")
    assert {line.split(": ")[0] for line in fixed.out.splitlines()[:-2]} == {"left", "right"}


def test_plans_of_one_table_and_several_streams_have_different_names(two: Two) -> None:
    """Such a table, of KCL's multi-stream mode, has one locator for all of its streams."""
    two.fix("-n", "--out", "both.plan")
    left, right = plan_file.load_several(Path("both.plan"))
    other = replace(left, stream=left.stream.replace("stream/orders", "stream/invoices"))
    assert plan_file.names_of([left, right]) == two.names
    assert plan_file.names_of([left, other, right]) == [
        f"{two.names[0]} (stream orders)", f"{two.names[0]} (stream invoices)", two.names[1],
    ]


def test_each_runbook_has_a_plan_file_of_its_own(two: Two) -> None:
    """A table can serve several streams, so its name is not enough."""
    shown = two.lab.cli("inspect", "left", "right", "--format", "markdown").out
    assert re.findall(r"--out (\S+)", shown) == ["left.plan", "right.plan"]
    assert re.findall(r"undo (\S+[.]plan)", shown) == ["left.plan", "right.plan"]


def test_a_plan_whose_rows_another_one_wrote_names_each_row_once(two: Two) -> None:
    """And in plain words: `row KEY`."""
    two.fix("-n", "--out", "both.plan")
    assert two.fix("--yes", "--assume-stopped", "--policy", "latest").code == 0
    stale = two.lab.apply("both.plan")
    assert stale.code == 4
    for line in stale.err.splitlines()[::2]:
        rows = line.partition("the plan is stale: ")[2].removesuffix(" changed since").split(", ")
        assert rows == [f"row {key}" for key in dict.fromkeys(r.split()[-1] for r in rows)] != []


def test_a_report_that_cannot_be_written_names_every_journal(two: Two) -> None:
    """Both are written by then."""
    before = two.rows()
    result = two.fix("--yes", "--assume-stopped", "--format", "json", "--output", "/dev/full")
    assert result.code == 5, result.err
    assert all(rows != old for rows, old in zip(two.rows(), before, strict=True))
    journals = two.lab.journals()
    assert len(journals) == 2
    assert result.says("the rows are written", "/dev/full", *map(str, journals))


def test_the_saved_plans_are_written_by_the_last_command(two: Two) -> None:
    """As the plan of one consumer is: docs/runbook.md, steps 5 and 6. A blank line between two."""
    before = two.rows()
    shown = two.fix("--dry-run", "--out", "all.plan", "--watch", "60s", "--format", "text")
    assert shown.out.endswith("\n  reshardctl fix --plan all.plan --watch 60s\n"), shown.out
    assert shown.out.count("\n\norders ") == 1
    done = two.lab.cli(*shown.commands("fix")[-1], "--yes", "--format", "text")
    assert done.code == 0 and two.rows() != before
    assert done.out.count("\n\norders ") == 1
