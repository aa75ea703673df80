"""SARIF logs and JUnit files against the very schemas that their readers publish.

The schemas are others' files and are not kept here: .ci/schemas fetches them, CI does.
RESHARDCTL_SCHEMAS names a folder with
`sarif-schema-2.1.0.json` (OASIS, sarif-spec, errata 01) and `junit-10.xsd` (jenkinsci/xunit-plugin,
types/model/xsd); without it these tests are skipped, and test_sarif.py and test_junit.py hold the
same documents to closed models written from those texts. XSD is read by the JVM's own validator.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from jsonschema import Draft4Validator

from reshardctl.errors import CannotTell, HalfDone, ReshardError, StalePlan
from reshardctl.exit import Exit
from reshardctl.planning.plan import Plan
from reshardctl.render.context import Context
from reshardctl.report.results import Entry, Fixed, Roundup, Saved, Undoing
from tests.unit.render.audit.samples import ALL as AUDITED
from tests.unit.render.formats import AUDITS, FORMATS, MANY
from tests.unit.render.samples import STORED, context, report_of, then
from tests.unit.render.test_hostile import HOSTILE, infested

FOLDER = Path(os.environ.get("RESHARDCTL_SCHEMAS", "/nowhere"))
pytestmark = pytest.mark.skipif(
    not (FOLDER / "sarif-schema-2.1.0.json").is_file(), reason="RESHARDCTL_SCHEMAS is not set"
)
OPTIONS = "initial=LATEST&release=3.5.1"

VALIDATE = """
import java.io.File;
import javax.xml.XMLConstants;
import javax.xml.transform.stream.StreamSource;
import javax.xml.validation.SchemaFactory;

public class Validate {
  public static void main(String[] files) throws Exception {
    var schema = SchemaFactory.newInstance(XMLConstants.W3C_XML_SCHEMA_NS_URI)
        .newSchema(new File(files[0]));
    for (int at = 1; at < files.length; at++) {
      try {
        schema.newValidator().validate(new StreamSource(new File(files[at])));
      } catch (org.xml.sax.SAXException wrong) {
        System.out.println(files[at] + ": " + wrong.getMessage());
      }
    }
  }
}
"""


def documents(form: str) -> Iterator[tuple[str, str]]:
    """Every view of every case, hostile rows, and failures."""
    shown = FORMATS[form]
    for name in STORED:
        report = report_of(name, OPTIONS)
        yield f"{name}.inspect", shown.inspect(report, context(report))
        yield f"{name}.plan", shown.plan(report, context(report), saved=Saved("o", "0f" * 32))
        if not isinstance(report.decision, Plan):
            continue
        steps, after = report.decision.steps, then(report)
        yield f"{name}.fixed", shown.fixed(Fixed(report, after, steps, "/j", 1), context(report))
        for written in (None, 1):
            undoing = Undoing(after, report, steps, "/j", written, kept=("a counter stays.",))
            yield f"{name}.undo-{written}", shown.undo(undoing, context(report))
        yield f"{name}.emptied", shown.undo(Undoing(after, None, (), "/j", 1), context(report))
    for number, text in enumerate(HOSTILE):
        for which, items in enumerate(infested(text)):
            try:
                report = report_of("a-both", OPTIONS, items=items)
            except ReshardError:  # what cannot be judged has no report
                continue
            yield f"hostile-{number}-{which}", shown.inspect(report, context(report))
    for error in (StalePlan("a <row> & more", "plan again"), HalfDone("stopped", "on", "/j")):
        yield f"error.{type(error).__name__}", shown.error(error, Context(exit=error.exit))
    yield "roundup", roundup(form)
    for name, made in AUDITED.items():
        yield f"audit.{name}", AUDITS[form](made(), Context(("s",)))


def roundup(form: str) -> str:
    """Several consumers, one of which could not be judged."""
    found = []
    for number, name in enumerate(("a-both", "b", "healthy-roots", "foreign-rows")):
        report = report_of(name, OPTIONS)
        found.append(Entry(
            name, "orders", report.snapshot.locator, (name,), Exit.FINDINGS,
            ("reshardctl.toml", number + 1), report,
        ))  # fmt: skip
    failed = CannotTell("the <table> & its rows", "look")
    locator = found[0].locator
    found.append(Entry("e", "other", locator, ("e",), failed.exit, None, None, failed))
    shown: str = MANY[form](Roundup(tuple(found), Exit.UNKNOWN), Context(exit=Exit.UNKNOWN))
    return shown


def test_sarif() -> None:
    schema = json.loads((FOLDER / "sarif-schema-2.1.0.json").read_text("utf-8"))
    validator = Draft4Validator(schema)
    count = 0
    for name, text in documents("sarif"):
        wrong = [error.message for error in validator.iter_errors(json.loads(text))]
        assert wrong == [], (name, wrong)
        count += 1
    assert count > 200
    log = json.loads(text)
    log["runs"][0]["stray"] = 1
    assert not validator.is_valid(log), "the schema is one that can fail"


def violations(folder: Path) -> list[str]:
    """What the XSD says of all files in a folder."""
    java = shutil.which("java")
    assert java is not None, "the JVM's validator reads the XSD"
    source = folder / "Validate.java"
    source.write_text(VALIDATE, encoding="utf-8")
    files = sorted(str(path) for path in folder.glob("*.xml"))
    done = subprocess.run(
        [java, str(source), str(FOLDER / "junit-10.xsd"), *files],
        capture_output=True, text=True, timeout=300, check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_junit(tmp_path: Path) -> None:
    names = []
    for name, text in documents("junit"):
        (tmp_path / f"{name}.xml").write_text(text, encoding="utf-8")
        names.append(name)
    assert len(names) > 200
    assert violations(tmp_path) == []
    spoilt = (tmp_path / f"{names[0]}.xml").read_text("utf-8").replace("<testcase ", "<case ", 1)
    (tmp_path / "spoilt.xml").write_text(spoilt.replace("</testcase>", "</case>", 1), "utf-8")
    assert violations(tmp_path), "the schema is one that can fail"
