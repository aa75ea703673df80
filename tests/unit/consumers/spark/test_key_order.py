"""The connectors' own key order, here and in the reference: Spark compares offsets by their text.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator

import pytest

from reshardctl.consumers.spark import lines
from reshardctl.consumers.spark.lines import awslabs, qubole
from reshardctl.consumers.spark.lines.connectors import ordered
from reshardctl.consumers.spark.lines.scala_order import java_hash
from reshardctl.consumers.spark.offset_log import parse_offset_log
from reshardctl.consumers.spark.positions import Position
from reshardctl.model import shard_id
from tests.proof.reference import spark_offset as reference
from tests.support.checkpoint_files import CONNECTORS, GOLDEN, checkpoints, name
from tests.support.grouped import Situation, by_case

LINES = {"awslabs": awslabs.line, "qubole": qubole.line}
VECTORS = json.loads((GOLDEN / "key_order.json").read_text())["vectors"]
LARGE = 5_000

SCALA = {build: "2.13" if build.startswith("awslabs-head") else "2.12" for build in CONNECTORS}
"""What each build was compiled for (tests/golden/spark/README.md): Spark 3 here is 2.12."""

GOLDENS = [
    (build, name(path), (path, SCALA[build]))
    for build in CONNECTORS
    for checkpoint in checkpoints(build)
    for path in sorted((checkpoint / "offsets").iterdir())
    if path.name.isdigit()
]


def label(vector: dict) -> str:
    return "-".join(str(vector[part]) for part in ("scala", "connector", "first", "count", "step"))


def orders() -> Iterator[Situation]:
    for vector in VECTORS:
        many = "many shards, " if vector["count"] >= LARGE else ""
        yield f"{many}{vector['scala']}-{vector['connector']}", label(vector), (vector,)


@by_case(orders(), [name for name, *_ in orders() if "many" not in name])
def test_real_scala_wrote_this_text(vector):
    """Written by scala-library 2.12.10 to 2.12.18 and 2.13.5 to 2.13.18 (key_order.scala)."""
    shards = [shard_id(vector["first"] + i * vector["step"]) for i in range(vector["count"])]
    positions = dict.fromkeys(shards, Position("TRIM_HORIZON"))
    places = {str(s): reference.Position(s, "TRIM_HORIZON") for s in shards}
    family, scala = vector["connector"], vector["scala"]
    for text in (
        LINES[family]("st", 7, positions, scala),
        reference.Offset(7, "st", places).text(family, scala),
    ):
        assert text == vector.get("text", text)
        assert hashlib.sha256(text.encode()).hexdigest() == vector["sha256"]


@by_case(GOLDENS)
def test_the_connector_s_own_line_comes_out_again(path, scala):
    text = parse_offset_log(path.read_text())["0"]
    found = lines.read(text)
    line = LINES[found.connector]
    assert found.batch_id is not None
    assert line(found.stream, found.batch_id, found.positions, scala) == text
    assert reference.offset(text, found.connector).text(found.connector, scala) == text
    assert lines.possible(text, found.connector) == {scala}


def test_no_golden_line_is_missing():
    assert len(GOLDENS) == 94


def test_the_order_does_not_depend_on_that_of_the_positions():
    names = [shard_id(index) for index in range(30)]
    positions = {name: Position("TRIM_HORIZON") for name in names}
    backwards = {name: positions[name] for name in reversed(names)}
    for scala in ("2.12", "2.13"):
        assert awslabs.line("st", 1, positions, scala) == awslabs.line("st", 1, backwards, scala)


def test_another_order_is_nobody_s():
    text = parse_offset_log((GOLDEN / "awslabs-head-0f4c005/u1/offsets/1").read_text())["0"]
    value = json.loads(text)
    turned = json.dumps(dict(reversed(value.items())), separators=(",", ":"))
    assert lines.possible(text, "awslabs") == {"2.13"}
    assert lines.possible(turned, "awslabs") == frozenset()
    assert lines.possible(text.replace(":", ": "), "awslabs") == frozenset()
    assert lines.possible("{}", "awslabs") == frozenset()


def test_an_unknown_scala_has_no_order():
    with pytest.raises(ValueError, match=r"2\.11"):
        ordered(["a"], "2.11", 16)


@pytest.mark.parametrize(
    ("text", "code"), [("", 0), ("metadata", -450004177), ("iteratorType", 527312072)]
)
def test_java_s_hash(text, code):
    """From JDK 17's String.hashCode."""
    assert java_hash(text) == code % (1 << 32)
