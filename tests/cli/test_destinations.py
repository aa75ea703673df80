"""`--format NAME`, `--format NAME=FILE` and `--output FILE`, alone and together."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree.ElementTree import Element, fromstring

import pytest

from reshardctl.console.destinations import Destination, destinations
from reshardctl.errors import UsageError
from reshardctl.render.formats import REPORTS, Format
from tests.cli.lab import mode_of_new_files

OPTIONS = "?initial=LATEST&release=2.7.2"


def root(path: Path) -> Element:
    return fromstring(path.read_bytes())  # noqa: S314 - our own


@pytest.mark.parametrize(
    "formats,output,places",
    [
        (None, None, [(None, None)]),
        (None, "o", [(None, "o")]),
        (["json"], None, [("json", None)]),
        (["json"], "o", [("json", "o")]),
        (None, "-", [(None, None)]),
        (["json"], "-", [("json", None)]),
        (["junit=x.xml"], None, [(None, None), ("junit", "x.xml")]),
        (["junit=x.xml"], "o", [(None, "o"), ("junit", "x.xml")]),
        (["sarif=s", "github", "junit=x"], None,
         [("github", None), ("sarif", "s"), ("junit", "x")]),
        (["junit=a", "junit=b"], None, [(None, None), ("junit", "a"), ("junit", "b")]),
        (["json=a=b"], None, [(None, None), ("json", "a=b")]),
    ],
)
def test_the_main_one_comes_first(formats, output, places):
    wanted = tuple(Destination(name and Format(name), file) for name, file in places)
    assert destinations(formats, output) == wanted


@pytest.mark.parametrize(
    "formats,output,said",
    [
        (["xml"], None, "xml"), (["xml=f"], None, "xml"), ([""], None, "no format"),
        (["JSON"], None, "JSON"), (["junit="], None, "names no file"),
        (["junit=-"], None, "stdout needs no name"),
        (["json", "github"], None, "both write to stdout"),
        (["json", "json"], None, "both write to stdout"),
        (["json=f", "junit=f"], None, "named twice"), (["json=f"], "f", "named twice"),
        (["json=f", "junit=./f"], None, "named twice"),
    ],
)
def test_bad_combinations(formats, output, said):
    with pytest.raises(UsageError, match=said):
        destinations(formats, output)


def test_several_at_once(lab_of, tmp_path):
    lab = lab_of("a-both", OPTIONS)
    files = {name: tmp_path / name for name in ("junit", "sarif", "jsonl")}
    flags = [word for name, path in files.items() for word in ("--format", f"{name}={path}")]
    found = lab.inspect(*flags, "--format", "github")
    assert found.code == 1
    assert found.out.startswith("::error title=RSH203 child-not-started::")
    assert root(files["junit"]).get("failures") == "1"
    (run,) = json.loads(files["sarif"].read_text())["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["RSH203"]
    assert len(files["jsonl"].read_text().splitlines()) >= 3
    assert all(path.stat().st_mode & 0o777 == mode_of_new_files() for path in files.values())


def test_a_fix_leaves_its_outcome_in_the_file(lab_of, tmp_path):
    """The plan is shown first; what stays in the file is what was done."""
    lab = lab_of("a-both", OPTIONS)
    done = lab.fix("--format", f"junit={tmp_path / 'x.xml'}", "--format", "text")
    assert done.code == 0
    assert "Plan: 2 to create" in done.out and "Done. 2 rows written" in done.out
    written, rules = root(tmp_path / "x.xml")
    assert written.get("name").endswith(" fix") and written.get("skipped") == "0"
    assert rules.get("failures") == "0"


@pytest.mark.parametrize("name", [form for form in REPORTS if form.one_document])
def test_a_program_gets_one_document(lab_of, name):
    shown = lab_of("a-both", OPTIONS).fix("--format", name)
    assert shown.code == 0
    start = {"junit": "<?xml", "jsonl": '"type":"header"', "sarif": '"$schema"', "json": '"schema"'}
    assert name in start, "say what stands exactly once in a document of the new format"
    assert shown.out.count(start[name]) == 1
