"""`graph`: reads, draws, writes a file where asked, and never judges by its exit code."""

from __future__ import annotations

import json

import networkx
import pytest

from reshardctl.render.formats import Format
from tests.cli.lab import LATEST, mode_of_new_files
from tests.unit.render.formats import DRAWN
from tests.unit.render.graph.drawing import parsed, rects

pytestmark = pytest.mark.lab("a-both", LATEST)

CHILDREN = ["shardId-000000000002", "shardId-000000000003"]


def test_the_lineage_alone_needs_no_table(lab_of):
    lab = lab_of("a-both")
    shown = lab.cli("graph", "--stream", "orders")
    assert shown.code == 0 and not shown.err
    assert "0   closed" in shown.out and "no position" not in shown.out
    assert {service for service, _ in lab.wire.calls} == {"kinesis"}


def test_a_consumer_is_drawn_but_not_judged(lab):
    """Findings are inspect's: it exits 1 here, the picture is right all the same."""
    assert lab.inspect().code == 1
    shown = lab.cli("graph", *lab.where)
    assert shown.code == 0
    assert shown.out.count("✗ never read") == 2 and lab.locator in shown.out
    assert not lab.wire.writes


@pytest.mark.parametrize("form", DRAWN)
@pytest.mark.parametrize("alone", [True, False])
def test_every_format_goes_to_a_file_or_to_stdout(lab, tmp_path, form, alone):
    argv = ["--stream", lab.stream] if alone else lab.where
    shown = lab.cli("graph", *argv, "--format", form)
    path = tmp_path / "orders.out"
    kept = lab.cli("graph", *argv, "--format", form, "-o", path)
    assert (shown.code, kept.code, kept.out) == (0, 0, f"Saved {path}.\n")
    assert path.read_text(encoding="utf-8") == shown.out
    assert path.stat().st_mode & 0o777 == mode_of_new_files()
    if form is Format.SVG:
        assert len(rects(parsed(shown.out))) == 4
    if form is Format.GRAPHML:
        graph = networkx.parse_graphml(shown.out)
        assert sorted(graph.successors("shardId-000000000000")) == CHILDREN
    if form is Format.JSON:
        assert (json.loads(shown.out)["consumer"] is None) is alone


@pytest.mark.parametrize(
    "words,code,said",
    [
        (["--stream", "absent"], 2, ["absent"]),
        (["kcl://absent-table", "--stream", "orders"], 2, ["absent-table"]),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_said(lab_of, words, code, said):
    shown = lab_of("a-both").cli("graph", *words)
    assert (shown.code, shown.out) == (code, "")
    assert shown.says(*said)


def test_a_read_that_fails_is_could_not_tell(lab):
    lab.wire.fail("ListShards", "AccessDeniedException")
    for argv in (["--stream", "orders"], lab.where):
        shown = lab.cli("graph", *argv, "--format", "svg")
        assert (shown.code, shown.out) == (3, "")
        assert shown.says("ListShards")


def test_an_empty_table_is_as_for_inspect(lab_of):
    lab = lab_of("a-both", items=[])
    drawn, inspected = lab.cli("graph", *lab.where), lab.inspect()
    assert (drawn.code, drawn.err) == (inspected.code, inspected.err)
    assert drawn.code == 6


def test_parts_of_a_picture(lab):
    shown = lab.cli("graph", *lab.where, "--only-bad")
    assert shown.code == 0 and "2 shards not drawn" in shown.out
    shown = lab.cli("graph", *lab.where, "--shards", "0-1", "--format", "svg")
    assert [name[-1] for name, _ in rects(parsed(shown.out))] == ["0", "1"]
    shown = lab.cli("graph", "--stream", "orders", "--since", "@reshard", "--format", "svg")
    assert sorted(name[-1] for name, _ in rects(parsed(shown.out))) == ["1", "2", "3"]


@pytest.mark.parametrize(
    "words,said",
    [
        (["--shards", "7"], ["--shards 7", "not listed in orders"]),
        (["--since", "2999-01-01T00:00:00Z"], ["2999", "ends at"]),
        (["--only-bad"], ["--only-bad", "name a CONSUMER"]),
    ],
)
def test_a_part_that_is_not_there_is_said(lab_of, words, said):
    shown = lab_of("a-both").cli("graph", "--stream", "orders", *words)
    assert (shown.code, shown.out) == (2, "")
    assert shown.says(*said)


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_text_fits_the_terminal(lab, columns):
    code, shown = lab.at_terminal("graph", *lab.where, columns=columns)
    assert code == 0 and shown.count("✗ never read") == 2
    assert max(map(len, shown.splitlines())) <= columns
