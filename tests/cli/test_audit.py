"""`reshardctl audit` around what Spark counts: words, positions, exit codes, files, errors.

What Spark counts is put in its place by hand here; tests/unit/spark/audit runs it on real sinks.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from reshardctl.auditing.facts import FAILED, Compared, Facts, InSink, Record
from reshardctl.commands import count_sink
from reshardctl.errors import CannotTell
from reshardctl.lineage import Lineage
from reshardctl.model import shard_id
from reshardctl.report.audit import Keys
from tests.cli.lab import mode_of_new_files

pytestmark = pytest.mark.usefixtures("in_tmp_path")

"""Of a-both: parents 0 and 1 are read to their end, 2 and 3 have no lease."""


class Spark:
    """Stands for `sparking.count`; keeps what it was asked for."""

    def __init__(self) -> None:
        self._lineage: Lineage | None = None
        self.asked: tuple = ()
        self.saved = ""
        self.missing = 0
        self.full = False
        self.short = ""
        self.failure: Exception | None = None

    def count(self, sink, lineage, account, _observer, since=None, until=None):
        self.asked, self._lineage = (sink, account, since, until), lineage
        if self.failure is not None:
            raise self.failure
        return self

    @property
    def lineage(self) -> Lineage:
        """What was counted over."""
        assert self._lineage is not None
        return self._lineage

    @property
    def facts(self) -> Facts:
        sink, _, since, until = self.asked
        shards = {s: self._inside(s) for s in self.lineage}
        against = {s: self._compared(s) for s in self.lineage} if sink.against else {}
        return Facts(
            sink.path, sink.form or "parquet", self.lineage.stream.created + 600.0,
            sum(one.rows for one in shards.values()), shards, compared=against, since=since,
            until=until,
        )

    def _place(self, shard) -> Record:
        return Record(str(int(self.lineage[shard].start) + (1 << 80)), 0, None)

    def _inside(self, shard) -> InSink:
        return InSink(shard, 5, self._place(shard), self._place(shard), 0, 0)

    def _compared(self, shard) -> Compared:
        first = self._place(shard)
        one = Compared(
            shard, 6, self.missing, first, first, True, ended=not self.lineage.is_open(shard),
            tip=self.lineage.is_open(shard), short=self.short,
        )
        lost = Record(self.lineage[shard].start, 0, None)
        return replace(one, first_missing=lost, last_missing=lost) if self.missing else one

    def keys(self) -> Keys:
        return Keys((("key-1", 1),))

    def save(self, place: str) -> str:
        if self.full:
            raise CannotTell(f"--rows {place} cannot be written: No space left", "make room")
        self.saved = place
        return place


@pytest.fixture(autouse=True)
def spark(monkeypatch) -> Spark:
    made = Spark()
    monkeypatch.setattr(count_sink, "count", made.count)
    monkeypatch.setattr(count_sink, "check_installed", lambda _sink: None)
    return made


def audit(lab, *more):
    return lab.cli("audit", "/lake/orders", "--stream", "orders", *more)


def test_a_sink_by_itself(lab, spark):
    found = audit(lab, "--alone", "--format", "json")
    assert found.code == 0 and found.json["against_stream"] is False
    assert found.json["sink"]["name"] == "/lake/orders" and found.json["findings"] == []
    assert {one["shard"] for one in found.json["shards"]} == set(spark.lineage)
    assert spark.asked[0].against is False


def test_the_stream_is_read_unless_the_sink_is_to_be_judged_alone(lab, spark):
    found = audit(lab, "--format", "json")
    assert found.json["against_stream"] is True and spark.asked[0].against is True
    assert found.json["schema"] == "reshardctl/audit/2" and shard_id(0) in spark.lineage
    assert not any("--alone" in one["command"] for one in found.json["next"])


@pytest.mark.parametrize(("fail_on", "code"), [
    ("error", 1), ("warning", 1), ("info", 1), ("never", 0),
])
def test_exit_code_is_that_of_the_gravest_finding(lab, spark, fail_on, code):
    spark.missing = 1
    found = audit(lab, "--fail-on", fail_on, "--format", "json")
    assert found.code == code == found.json["exit"]["code"]
    assert "RSH501" in lab_codes(found)


@pytest.mark.parametrize("missing", [0, 1])
@pytest.mark.parametrize("fail_on", ["error", "never"])
def test_a_read_that_failed_half_way_is_could_not_tell(lab, spark, missing, fail_on):
    """Never clean, and no plain finding either: 3 comes before 1."""
    spark.short, spark.missing = FAILED + "AccessDeniedException", missing
    found = audit(lab, "--fail-on", fail_on, "--format", "json")
    assert found.code == 3 == found.json["exit"]["code"]
    assert any("could not be told" in note for note in found.json["notes"])
    assert any("AccessDenied" in f["what"] for f in found.json["findings"] if f["code"] == "RSH508")


@pytest.mark.parametrize("short", ["records arrived faster", "its records have expired"])
def test_a_read_that_ends_for_good_reasons_is_no_failure(lab, spark, short):
    spark.short = short
    assert audit(lab).code == 0


def lab_codes(found) -> set[str]:
    return {one["code"] for one in found.json["findings"]}


def test_a_warning_alone_is_no_failure_by_default(lab):
    """2 and 3 have no lease (the case says that they were never started), and the sink has rows."""
    found = audit(lab, "--format", "json", "--consumer", lab.locator)
    assert found.code == 0 and found.json["consumer"] == lab.locator
    assert f"reading the positions of {lab.locator}" in found.err
    (one,) = [f for f in found.json["findings"] if f["code"] == "RSH506"]
    assert one["severity"] == "warning"
    assert one["shards"] == [shard_id(2), shard_id(3)]
    assert audit(lab, "--consumer", lab.locator, "--fail-on", "warning").code == 1


def test_a_position_behind_the_sink(lab):
    lab.alter("shardId-000000000001", checkpoint={"S": "TRIM_HORIZON"})
    found = audit(lab, "--format", "json", "--consumer", lab.locator, "--fail-on", "warning")
    assert found.code == 1 and shard_id(1) in found.json["findings"][0]["shards"]


def test_an_acknowledged_record_that_the_sink_lacks(lab, spark):
    spark.missing = 1
    lab.alter("shardId-000000000001", checkpoint={"S": "SHARD_END"})
    found = audit(
        lab, "--format", "json", "--consumer", lab.locator,
    )
    assert {"RSH501", "RSH507"} <= lab_codes(found) and found.code == 1


def test_a_consumer_by_its_name(lab):
    Path("reshardctl.toml").write_text(
        '[streams.all-orders]\nstream = "orders"\n[consumers.app]\nstream = "all-orders"\n'
        f'locator = "{lab.locator}"\n', encoding="utf-8",
    )
    found = lab.cli("audit", "/lake/orders", "--consumer", "app", "--format", "json")
    assert found.code == 0 and found.json["consumer"] == "app"


def test_a_window_in_time(lab, spark):
    audit(lab, "--since=-2m", "--until", "-1m")
    _, _, since, until = spark.asked
    assert until - since == 60


@pytest.mark.parametrize(("words", "said"), [
    (["--since", "2026-09-22T09:14:00"], "no zone"),
    (["--since", "soon"], "no time"),
    (["--since=-1m", "--until=-5m"], "is not before"),
    (["--alone", "--until=-5m"], "leave --alone out"),
    (["--column", "seqNo"], "names no column"),
    (["--column", "colour=seqNo"], "names no column"),
    (["--column", "number=a", "--column", "sequence_number=b"], "twice"),
    (["--alone", "--keys"], "leave --alone out"),
    (["--master", "local", "--remote", "sc://h"], "exclude each other"),
    (["--master", "nonsense"], "is no master"),
    (["--remote", "http://h"], "sc://HOST:PORT"),
    (["--remote", "sc://h:port"], "sc://HOST:PORT"),
    (["--rows", "."], "is there already"),
    (["--rows", "nowhere/rows"], "No such file"),
    (["--rows", "rows", "--remote", "sc://h"], "where its server runs"),
    (["--page", "."], "directory"),
    (["--format", "pdf"], "no format"),
    (["--consumer", "kcl://nowhere"], "no table nowhere"),
])
def test_wrong_words_are_found_before_spark_starts(lab, spark, words, said):
    found = audit(lab, *words)
    assert found.code == 2 and said in found.err
    assert spark.asked == ()


def test_no_stream(lab):
    found = lab.cli("audit", "/lake/orders")
    assert found.code == 2 and "--stream is missing" in found.err


def test_files_are_written_and_named(lab, spark, tmp_path):
    spark.missing = 1
    found = audit(
        lab, "--keys", "--rows", tmp_path / "rows", "--page",
        tmp_path / "page.html", "--format", "json",
    )
    assert found.json["saved"] == spark.saved == str(tmp_path / "rows")
    assert found.json["keys"]["most_missing"] == [{"key": "key-1", "missing": 1}]
    page = tmp_path / "page.html"
    assert "RSH501" in page.read_text("utf-8")
    assert page.stat().st_mode & 0o777 == mode_of_new_files()


def test_a_page_that_cannot_be_written_hides_no_report(lab, spark):
    """An audit can take hours: what it found is shown, and the code says that a file is missing."""
    spark.missing = 1
    found = audit(lab, "--page", "/dev/full")
    assert found.code == 2 and "/dev/full: No space left on device" in found.err
    assert "RSH501" in found.out


def test_rows_that_cannot_be_written_hide_no_report(lab, spark):
    spark.missing, spark.full = 1, True
    found = audit(lab, "--rows", "rows", "--format", "json")
    assert found.code == 3 and found.json["saved"] is None
    assert "RSH501" in [one["code"] for one in found.json["findings"]]
    (note,) = [one for one in found.json["notes"] if "--rows" in one]
    assert note == "--rows rows cannot be written: No space left (make room; exit 3)"
    assert "No space left" in audit(lab, "--rows", "rows", "--format", "text").out


@pytest.mark.parametrize("form", ["json", "jsonl", "junit", "sarif"])
def test_a_failure_is_a_document_too(lab, spark, form):
    spark.failure = CannotTell("part-0.parquet is no Parquet file", "look at it")
    found = audit(lab, "--format", form)
    assert found.code == 3 and "part-0.parquet" in found.out
    assert "part-0.parquet is no Parquet file" in found.err


def test_ctrl_c_leaves_nothing(lab, spark, tmp_path):
    spark.failure = KeyboardInterrupt()  # type: ignore[assignment]
    found = audit(lab, "--page", tmp_path / "page.html")
    assert found.code == 130 and "cancelled" in found.err
    assert not (tmp_path / "page.html").exists()


def test_what_is_printed_next_can_be_typed(lab):
    found = audit(
        lab, "--alone", "--form", "delta", "--column", "number=seqNo", "--format", "text",
    )
    said = " ".join(found.out.replace("\\\n", " ").split())
    assert said.endswith(
        "are records missing? reads the stream "
        "reshardctl audit /lake/orders --stream orders --form delta --column number=seqNo"
    )


def test_what_helps_is_a_command_with_everything_filled_in(lab, spark):
    """Of a loss: time first, then the rows, a line from the sink, what the next start does."""
    spark.missing = 1
    found = audit(
        lab, "--consumer", lab.locator, "--column", "number=seqNo", "--format",
        "json",
    )
    argv = [" ".join(one["command"]) for one in found.json["next"]]
    assert [line.split()[:2] for line in argv] == [
        ["aws", "kinesis"], ["reshardctl", "audit"], ["reshardctl", "rebuild"],
        ["reshardctl", "inspect"], ["reshardctl", "rule"],
    ]
    asked = f"/lake/orders --stream orders --consumer {lab.locator} --column number=seqNo"
    assert argv[1].startswith(f"reshardctl audit {asked} --rows")
    assert argv[1].endswith("--rows offending-rows")
    assert argv[2].startswith(f"reshardctl rebuild {lab.locator} --stream orders")
    assert argv[2].endswith("--from /lake/orders --column number=seqNo --dry-run")
    assert argv[3].startswith(f"reshardctl inspect {lab.locator} --stream orders")
    saved = audit(lab, "--rows", "rows", "--format", "json")
    assert not any("--rows" in one["command"] for one in saved.json["next"])


@pytest.mark.parametrize("form", ["text", "json", "markdown", "github"])
def test_a_password_in_the_locator_is_shown_nowhere(lab, spark, form):
    """Nothing answers at that port: positions come first, so that is what is said."""
    spark.missing = 1
    locator = "kinesis-consumer+postgres://me:s3cr3t@127.0.0.1:1/db?app=a&table=t&release=0.5"
    found = audit(lab, "--consumer", locator, "--format", form)
    assert found.code != 0 and "reading the positions of kinesis-consumer" in found.err
    assert "s3cr3t" not in found.err + found.out


def test_the_words_that_come_back_have_no_password():
    from reshardctl.commands.audit import AuditRequest, arguments
    from reshardctl.commands.requests import Sink

    locator = "kinesis-consumer+redis://me:s3cr3t@127.0.0.1:1/0?app=a"
    argv = arguments(AuditRequest(Sink("/lake", against=False), locator, stream="orders"))
    assert "s3cr3t" not in " ".join(argv) and "--alone" in argv


def test_a_servers_token_is_in_no_command(lab, spark):
    words = ("--alone", "--remote", "sc://h:1/;use_ssl=true;token=s3cr3t")
    found = audit(lab, *words, "--format", "json")
    assert "s3cr3t" not in found.out + found.err
    assert "sc://h:1/;use_ssl=true;token=***" in found.json["next"][0]["command"]
    assert spark.asked[0].remote.endswith("token=s3cr3t")


def test_without_pyspark_nothing_is_asked_of_aws(lab, monkeypatch):
    from reshardctl.errors import UsageError

    def missing(_sink: object) -> None:
        raise UsageError("an audit needs PySpark", "install it")

    monkeypatch.setattr(count_sink, "check_installed", missing)
    found = audit(lab)
    assert found.code == 2 and "needs PySpark" in found.err and "listing" not in found.err


@pytest.mark.parametrize("gone", ["pandas", "pyarrow"])
def test_what_pyspark_reads_a_stream_with_is_looked_for_before_spark_starts(monkeypatch, gone):
    """PySpark's own `pip install pyspark` brings neither (its "sql" extra does), and mapInArrow
    wants both."""
    from reshardctl.errors import UsageError
    from reshardctl.spark import session

    there = {"pandas", "pyarrow"} - {gone}
    monkeypatch.setattr(session, "find_spec", lambda name: name if name in there else None)
    with pytest.raises(UsageError, match=rf"needs {gone}, which PySpark alone") as raised:
        session.check_arrow()
    assert raised.value.next == "pip install '.[spark]'   # in a checkout of reshardctl"


def test_the_stack_that_py4j_logs_at_ctrl_c_is_not_shown():
    """As py4j 0.10.9 logs it: on the root logger, by `logging.exception`."""
    code = (
        "import logging\n"
        "from reshardctl.commands.count_sink import keep_traces_away\n"
        "keep_traces_away()\n"
        "try: raise KeyboardInterrupt\n"
        "except KeyboardInterrupt: logging.exception('KeyboardInterrupt while sending command.')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stderr == ""


def test_without_pyspark_it_says_what_to_install():
    """In a process of its own, in which PySpark cannot be imported."""
    code = (
        "import sys; sys.modules['pyspark'] = None\n"
        "from reshardctl.spark.session import session\n"
        "from reshardctl.errors import UsageError\n"
        "try: session()\n"
        "except UsageError as error: print(error.what, error.next)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert "needs PySpark" in done.stdout and "pip install '.[spark]'" in done.stdout
