"""The injected faults over the command line: exactly their codes, in every format, and the table
of rows that mends the sink."""

from __future__ import annotations

import io
import json
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import reshardctl.render
from reshardctl.cli.app import run
from reshardctl.console.interrupt import SIGNALS
from reshardctl.testing import FakeKinesis, serve
from tests.proof.damaged_sinks import damage
from tests.proof.damaged_sinks.damage import Damage
from tests.proof.damaged_sinks.files import write_bare_csv, write_json, write_parquet, write_sink
from tests.proof.damaged_sinks.layouts import CONNECTOR, OURS, TEXT, Layout
from tests.proof.damaged_sinks.outside import counts, lines
from tests.unit.auditing.shown_codes import CODE, codes_in
from tests.unit.spark.audit.scenes import OLD, Scene, scene

pytestmark = pytest.mark.usefixtures("spark")
SCHEMA = Path(reshardctl.render.__file__).parent / "report.schema.json"
FILES = ("jsonl", "text", "markdown", "github", "sarif", "junit", "concise")


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.out)

    @property
    def codes(self) -> set[str]:
        """With their severities: error and warning."""
        found = self.json["findings"]
        return {f"{f['code']} {f['severity']}" for f in found if f["severity"] != "info"}


def command(*words: str | Path) -> Result:
    """One command line, in process; it takes the session that is there."""
    out, err = io.StringIO(), io.StringIO()
    before = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = run([str(word) for word in words])
    finally:
        for number, known in before.items():
            signal.signal(number, known)
    assert "Traceback" not in err.getvalue(), err.getvalue()
    return Result(int(code), out.getvalue(), err.getvalue())


@dataclass(frozen=True)
class Place:
    """An injected sink, and its stream over HTTP."""

    made: Scene
    layout: Layout
    sink: Path
    url: str
    fake: FakeKinesis

    def stream(self) -> list[str]:
        """The words that name it."""
        return ["--stream", "orders", "--region", "us-east-1",
                "--endpoint-url", f"kinesis={self.url}"]  # fmt: skip

    def audit(self, *more: str | Path) -> Result:
        """With every column named."""
        roles = self.layout.roles.items()
        named = [word for role, name in roles for word in ("--column", f"{role}={name}")]
        return command("audit", self.sink, *self.stream(), *named, *more)


@contextmanager
def placed(
    root: Path, damages: Sequence[Damage], *, layout: Layout = OURS, form: str = "json",
    seed: int = 81, old: bool = False,
) -> Iterator[Place]:  # fmt: skip
    made = scene(seed, damages, OLD if old else None)
    sink = write_sink(root / "sink", made.rows, layout, form)
    fake = made.history.fake()
    with serve(fake) as server:
        yield Place(made, layout, sink, server.url, fake)


def formats(folder: Path) -> list[str]:
    """Every format at once: JSON to stdout, the others to files."""
    named = [f"{name}={folder / name}" for name in FILES]
    return ["--format", "json", *(w for one in named for w in ("--format", one))]


def shown(folder: Path) -> dict[str, set[str]]:
    """Codes of errors and warnings, by format."""
    return codes_in({name: (folder / name).read_text(encoding="utf-8") for name in FILES})


def test_a_clean_sink_in_every_format(tmp_path: Path) -> None:
    with placed(tmp_path, ()) as at:
        page = tmp_path / "page.html"
        words: list[str | Path] = ["--against-stream", "--fail-on", "info", "--page", page]
        found = at.audit(*words, *formats(tmp_path))
    assert (found.code, found.json["findings"]) == (0, []), found.out[:2000]
    jsonschema.validate(found.json, json.loads(SCHEMA.read_text()))
    assert set().union(*shown(tmp_path).values()) == set()
    assert not CODE.search(page.read_text(encoding="utf-8"))
    assert found.json["records"] == {
        "read": sum(at.made.truth.read.values()), "missing": 0, "doubled": 0, "extra": 0,
    }  # fmt: skip


def test_everything_in_every_format(tmp_path: Path) -> None:
    with placed(tmp_path, damage.EVERYTHING) as at:
        page = tmp_path / "page.html"
        found = at.audit("--against-stream", "--page", page, *formats(tmp_path))
    expected = {"RSH501", "RSH502", "RSH503", "RSH504", "RSH505", "RSH509"}
    assert found.code == 1, found.err
    assert {code.split()[0] for code in found.codes} == expected
    jsonschema.validate(found.json, json.loads(SCHEMA.read_text()))
    assert shown(tmp_path) == dict.fromkeys(FILES, expected)
    html = page.read_text(encoding="utf-8")
    assert set(CODE.findall(html)) >= expected
    truth = at.made.truth
    assert found.json["records"] == {
        "read": sum(truth.read.values()),
        "missing": sum(map(len, truth.missing.values())),
        "doubled": len(truth.doubled),
        "extra": sum(held.extra for held in truth.shards.values()),
    }
    assert {(f["fault"]): 0 for f in found.json["unusable"]}.keys() == truth.unusable.keys()


@pytest.mark.parametrize(("damages", "codes"), [
    ((damage.double_many, damage.unknown_shard), {"RSH502 warning", "RSH504 warning"}),
    ((damage.within_shard, damage.faulty_numbers), {"RSH503 warning", "RSH509 warning"}),
], ids=["doubled, of no shard", "disordered, no numbers"])  # fmt: skip
def test_a_code_for_each_damage_alone(
    tmp_path: Path, damages: Sequence[Damage], codes: set[str]
) -> None:
    with placed(tmp_path, damages, layout=TEXT, form="csv") as at:
        found = at.audit("--alone", "--format", "json")
    assert (found.codes, found.code) == (codes, 0), found.out[:2000]


@pytest.mark.parametrize(("damages", "codes"), [
    ((damage.lose_range, damage.lose_tail), {"RSH501 error"}),
    ((damage.lose_shard,), {"RSH501 error", "RSH505 warning"}),
], ids=["a range and a tail", "a shard"])  # fmt: skip
def test_one_code_for_losses(tmp_path: Path, damages: Sequence[Damage], codes: set[str]) -> None:
    with placed(tmp_path, damages, layout=CONNECTOR, form="parquet") as at:
        found = at.audit("--against-stream", "--format", "json")
    assert (found.codes, found.code) == (codes, 1), found.out[:2000]
    missing = {s["shard"]: s["compared"]["missing"] for s in found.json["shards"] if s["compared"]}
    truth = {shard: len(places) for shard, places in at.made.truth.missing.items()}
    assert {shard: n for shard, n in missing.items() if n} == truth


def test_what_retention_has_taken_is_neither_missing_nor_fine(tmp_path: Path) -> None:
    with placed(tmp_path, [damage.lose_old], old=True) as at:
        found = at.audit("--against-stream", "--format", "json")
    assert (found.codes, found.code) == (set(), 0), found.out[:2000]
    assert "RSH508" in {f["code"] for f in found.json["findings"]}
    assert found.json["records"]["missing"] == 0 and len(at.made.truth.gone) == 3


def test_the_rows_mend_the_sink(tmp_path: Path) -> None:
    """The missing ones written to the sink: audited again, it lacks nothing."""
    with placed(tmp_path, [*damage.LOSSES]) as at:
        rows = tmp_path / "rows"
        found = at.audit("--against-stream", "--rows", rows, "--format", "json")
        assert found.code == 1
        replayed = missing_rows(rows)
        truth = {p for places in at.made.truth.missing.values() for p in places}
        assert {(int(r["sequence_number"]), int(r["sub_sequence_number"] or 0)) for r in replayed}\
            == truth and len(replayed) == len(truth)  # fmt: skip
        lost = {row.record: row for row in at.made.history.rows if row.record in truth}
        for row in replayed:
            one = lost[int(row["sequence_number"]), int(row["sub_sequence_number"] or 0)]
            said = (row["data"], row["partition_key"], row["shard_id"])
            assert said == (one.data, one.key, one.shard)
        last = at.made.making.last_batch()
        write_json(at.sink / "part-replayed.json",
                   [{**row, "batch_id": last} for row in replayed], OURS)  # fmt: skip
        again = command("audit", at.sink, *at.stream(), "--against-stream", "--format", "json")
    assert (again.codes, again.code) == (set(), 0), again.out[:2000]
    assert len(lines(at.sink)) == len(at.made.history.rows)
    assert {s: c[0] for s, c in counts(at.sink, OURS).items()} == at.made.truth.read


def missing_rows(folder: Path) -> list[dict[str, Any]]:
    """Of the table that `--rows` writes."""
    import pyarrow.parquet as pq

    assert [path.name for path in folder.iterdir()] == ["missing"]
    files = sorted((folder / "missing").glob("*.parquet"))
    return [row for file in files for row in pq.ParquetFile(file).read().to_pylist()]


def test_a_sink_that_is_written_meanwhile(tmp_path: Path) -> None:
    """A file comes while the stream is read: said, not judged as if nothing had happened."""
    with placed(tmp_path, [damage.lose_single]) as at:
        late = [OURS.cells(row) for row in at.made.rows[:3]]

        def write(request: Any, proceed: Any) -> Any:
            write_json(at.sink / "part-late.json", late, OURS)
            return proceed(request)

        at.fake.faults.add("GetRecords", write, times=1)
        found = at.audit("--against-stream", "--format", "json")
    assert "RSH510 warning" in found.codes, found.out[:2000]


def test_usage(tmp_path: Path) -> None:
    with placed(tmp_path, ()) as at:
        bare = write_sink(tmp_path / "bare", at.made.rows, TEXT, "csv", write=write_bare_csv)
        words: dict[str, list[str | Path]] = {
            "no column": [at.sink, "--column", "arrival=nowhere"],
            "no sink": [tmp_path / "nothing"],
            "both formats": [at.sink, "--format", "json", "--format", "sarif"],
            "csv without header": [bare, "--form", "csv"],
        }
        for kind, said in words.items():
            found = command("audit", *said, *at.stream(), "--alone")
            assert found.code == 2, (kind, found.err)
            assert "\nerror: " in f"\n{found.err}", kind
            assert not found.out or found.json["schema"] == "reshardctl/error/1", kind


def test_an_empty_sink_lacks_everything(tmp_path: Path) -> None:
    """Files with columns and no rows: counted as what they are."""
    with placed(tmp_path, (), form="parquet") as at:
        for file in at.sink.glob("part-*"):
            write_parquet(file, [], OURS)
        found = at.audit("--against-stream", "--format", "json")
        by_itself = at.audit("--alone", "--format", "json")
    lacks = {s["shard"]: s["compared"]["missing"] for s in found.json["shards"] if s["compared"]}
    assert {shard: n for shard, n in lacks.items() if n} == at.made.truth.read
    read = sum(at.made.truth.read.values())
    assert {code.split()[0] for code in found.codes} == {"RSH501", "RSH505"}
    assert (found.json["records"]["read"], found.json["records"]["missing"]) == (read, read)
    assert (by_itself.code, by_itself.codes) == (0, {"RSH505 warning"})


def test_a_half_written_line_is_counted_and_fail_on_decides(tmp_path: Path) -> None:
    with placed(tmp_path, ()) as at:
        with (at.sink / "part-00001.json").open("a", encoding="utf-8") as file:
            file.write('{"sequence_number": "4959')
        found = at.audit("--alone", "--fail-on", "warning", "--format", "json")
    assert (found.codes, found.code) == ({"RSH509 warning"}, 1)
    assert [(one["fault"], one["rows"]) for one in found.json["unusable"]] == [("no number", 1)]


def test_a_corrupt_file_is_could_not_tell(tmp_path: Path) -> None:
    with placed(tmp_path, (), form="parquet") as at:
        (at.sink / "part-00001.parquet").write_bytes(b"x" * 300)
        found = at.audit("--alone")
    assert found.code == 3, found.err
    assert "part-00001.parquet" in found.err and not found.out


def test_a_stream_that_cannot_be_read_is_could_not_tell(tmp_path: Path) -> None:
    with placed(tmp_path, ()) as at:
        at.fake.faults.add("GetShardIterator", "AccessDeniedException", times=None)
        found = at.audit("--against-stream")
    assert found.code == 3, found.err
    assert "kinesis:GetShardIterator" in found.err or "AccessDenied" in found.err
