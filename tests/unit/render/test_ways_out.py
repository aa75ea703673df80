"""A way out that names an option of ours is printed with its command; any other as words alone."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from reshardctl.consumers.locator import parse
from reshardctl.planning.plan import NoSafePlan
from reshardctl.render.content.findings import going
from tests.unit.render.formats import FORMATS
from tests.unit.render.samples import context, report_of

LATE = "add allow=late to the locator to repair all the same"


def _at(locator: str):
    report = report_of("foreign-rows", "release=2.7.2")
    return replace(report, snapshot=replace(report.snapshot, locator=parse(locator)))


@pytest.mark.parametrize(
    "locator,way,argv",
    [
        ("spark:/c", LATE, "spark:/c?allow=late --stream s"),
        ("spark:/c?allow=recount&order=any", LATE,
         "spark:/c?order=any&allow=recount,late --stream s"),
        ("spark:/c", "where it does not, say sink=file-unwritten",
         "spark:/c?sink=file-unwritten --stream s"),
        ("kinesis-consumer+ddb://leases?app=a&initial=TRIM_HORIZON",
         "start it with LATEST and add initial=LATEST to the locator",
         "kinesis-consumer+ddb://leases?app=a&initial=LATEST --stream s"),
        ("spark:/c", "--policy latest pins every shard to a number",
         "spark:/c --stream s --policy latest"),
        ("quickwit+file:///r?index=i", "--policy latest: the present tip of every shard",
         "quickwit+file:///r?index=i --stream s --policy latest"),
        ("kcl://orders", "--probe tells whether anything is left",
         "kcl://orders --stream s --probe"),
        ("kcl://orders", "accept it: --accept reread=4h,skip=2h",
         "kcl://orders --stream s --accept reread=4h,skip=2h"),
        ("spark:/c", "restore offsets/ from a backup", ""),
        ("spark:/c", "log=TABLE, where kinesis.dynamodb.tableName is set", ""),
        ("kcl://orders", "start the application with KCL 3.5 or later", ""),
    ],
)
def test_the_command_of_a_way_out(locator, way, argv):
    assert " ".join(going(_at(locator), way, [locator, "--stream", "s"])) == argv


def test_a_way_out_stands_once_with_its_command():
    report = replace(_at("kcl://orders"), decision=NoSafePlan("it cannot", ("wait", f"or {LATE}")))
    for view in ("inspect", "plan"):
        shown = getattr(FORMATS["text"], view)(report, context(report, width=80))
        assert "way out: wait" in shown
        assert shown.count(LATE) == 1 and f"  # or {LATE}\n  reshardctl fix --dry-run " in shown
        assert "'kcl://orders?allow=late'" in shown
