"""Files that other programs printed, in place of a stream and its positions: no call to AWS.

What is said of them is what is said of the stream and the store themselves, whose expectations are
the cases'. Redis, PostgreSQL and MySQL print their rows with their own clients, by the commands of
docs/preflight.md. tests/proof/libraries/test_aws_cli.py has files of the AWS CLI itself.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import shlex
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from reshardctl import ExportRequest, Files, InspectRequest, inspect
from reshardctl import export as exported
from reshardctl.model.times import instant
from reshardctl.snapshot.printed_rows import printing_keys
from tests.cli.lab import LATEST, Lab, listed, printed
from tests.cli.spark_lab import HEAD, QUBOLE
from tests.cli.test_kinsumer import made as made_kinsumer  # noqa: F401
from tests.cli.test_position_stores import made, running  # noqa: F401
from tests.cli.test_quickwit import golden as quickwit  # noqa: F401
from tests.cli.test_spark import golden as spark  # noqa: F401
from tests.support.servers import PASSWORD, USER

pytestmark = pytest.mark.usefixtures("in_tmp_path")
JSON = ("--format", "json")


def judged(lab: Lab, words: list[str], verb: str = "inspect", *more: str) -> dict:
    """The document of a command on files, which made no call, without what names the place."""
    lab.wire.calls.clear()
    shown = lab.cli(verb, lab.locator, *more, *words, *JSON)
    assert lab.wire.calls == [] and shown.code in (0, 1), shown.err
    return without_place(shown.json)


def live(lab: Lab, verb: str = "inspect", *more: str) -> dict:
    shown = lab.cli(verb, lab.where[0], *more, *lab.where[1:], *JSON)
    assert shown.code in (0, 1), shown.err
    return without_place(shown.json)


def without_place(document: dict) -> dict:
    """A document without the identity of the store, and the commands that name files."""
    for name in ("store", "next", "again", "suggested"):
        document.pop(name, None)
    return document


def rows_in(folder: Path, content: str | bytes, name: str = "rows") -> list[str]:
    file = folder / name
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return ["--rows", str(file)]


VERBS = {
    "inspect": [], "status": [], "explain": ["0-3"], "export": [], "graph": [],
    "fix": ["--dry-run"],
}


@pytest.mark.parametrize("verb", VERBS)
def test_every_reading_verb_says_the_same(lab_of, tmp_path, verb):
    lab = lab_of("a-both", LATEST)
    words = printed(lab, tmp_path)
    assert judged(lab, words, verb, *VERBS[verb]) == live(lab, verb, *VERBS[verb])


def test_python_does_the_same(lab_of, tmp_path):
    lab = lab_of("a-both", LATEST)
    _, shards, _, summary, _, rows, _, taken = printed(lab, tmp_path)
    files = Files(summary=summary, rows=[rows], taken=taken)
    lab.wire.calls.clear()
    found = inspect(InspectRequest([lab.locator], shards=[Path(shards)], files=files))
    assert {finding.code for finding in found.report.findings} == {"RSH203"}
    part = inspect(InspectRequest([lab.locator], shards=[shards, "1"], files=files))
    assert part.report.findings == ()
    positions = exported(ExportRequest(consumer=lab.locator, shards=[shards], files=files))
    assert len(positions.positions) == 4 and lab.wire.calls == []


def test_what_names_shards_selects_them_and_all_else_is_a_file(lab_of, tmp_path):
    lab = lab_of("a-both", LATEST)
    words = printed(lab, tmp_path)
    assert judged(lab, [*words, "--shards", "3"])["findings"] != []
    assert judged(lab, [*words, "--shards", "shardId-000000000001"])["findings"] == []
    Path("4").write_bytes(Path(words[1]).read_bytes())
    assert lab.cli("inspect", lab.locator, *words, "--shards", "4").says("no such shard")
    for verb in ("inspect", "export"):
        assert judged(lab, ["--shards", "./4", *words[2:]], verb) == live(lab, verb)


def test_the_stream_alone_is_drawn(lab, tmp_path):
    drawn = lab.cli("graph", *listed(lab, tmp_path), "--taken", now(lab))
    lab.wire.calls.clear()
    assert drawn.code == 0 and drawn.out == lab.cli("graph", "--stream", lab.stream).out
    assert lab.wire.calls != []


@pytest.mark.parametrize("option", ["--shards", "--rows"])
def test_a_dash_is_standard_input(lab_of, tmp_path, option):
    lab = lab_of("a-both", LATEST)
    words = printed(lab, tmp_path)
    at = words.index(option) + 1
    content, words[at] = Path(words[at]).read_bytes(), "-"
    ran = subprocess.run(
        [sys.executable, "-m", "reshardctl", "inspect", lab.locator, *words, *JSON],
        input=content, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert without_place(json.loads(ran.stdout)) == live(lab), ran.stderr


def test_the_time_is_the_newest_files_unless_given(lab_of, tmp_path):
    lab = lab_of("a-both", LATEST)
    *words, _, taken = printed(lab, tmp_path)
    for age, file in enumerate(tmp_path.glob("*.json")):
        os.utime(file, (lab.time() - age, lab.time() - age))
    shown = lab.cli("inspect", lab.locator, *words, *JSON)
    assert without_place(shown.json) == live(lab)
    assert f"as of {taken}, when the newest file was written; or --taken TIME" in shown.err


def test_a_name_of_the_configuration(lab_of, tmp_path):
    lab = lab_of("a-both", LATEST)
    Path("reshardctl.toml").write_text(
        f'[streams.orders]\n[consumers.etl]\nstream = "orders"\nlocator = "{lab.locator}"\n'
    )
    shown = lab.cli("inspect", "etl", *printed(lab, tmp_path), *JSON)
    (entry,) = shown.json["consumers"]
    assert lab.wire.calls == [] and shown.code == 1 and entry["name"] == "etl"
    assert [finding["code"] for finding in entry["report"]["findings"]] == ["RSH203"]
    text = Path("reshardctl.toml").read_text() + 'policy = "latest-at-start"\n'
    Path("reshardctl.toml").unlink()
    Path("other.toml").write_text(text)
    also = ("--config", "other.toml")
    verb, *typed = next_command(lab.cli("fix", "etl", *also, *printed(lab, tmp_path), "--dry-run",
                                        "--format", "text").out)  # fmt: skip
    assert "table/" in typed[3] and typed[-2:] == ["--policy", "latest-at-start"]
    assert lab.cli(verb, *typed).code == 1 and commands(Path("fix.sh").read_text()) != ""


# What is printed for those who may write

def commands(script: str) -> str:
    """What a script does, without its remarks."""
    return script.partition("\ncase ")[2]


def test_the_script_is_that_of_the_table_itself(lab_of, tmp_path):
    lab = lab_of("a-both", LATEST)
    words = printed(lab, tmp_path)
    form = ("--dry-run", "--format", "aws-cli")
    script = lab.cli("fix", *lab.where, *form).out
    lab.wire.calls.clear()
    asked = lab.cli("fix", lab.locator, *words, *form)
    assert asked.code == 2 and asked.says("region of the table is not known", "by its ARN")
    named = asked.err.rpartition(": ")[2].strip().strip("'")
    assert named.startswith("kcl://arn:aws:dynamodb:us-east-1:123456789012:table/")
    by_arn = lab.cli("fix", named, *words, *form)
    assert lab.wire.calls == [] and by_arn.code == 1
    assert commands(by_arn.out) == commands(script) != ""


def test_the_next_command_takes_the_files_again(lab_of, tmp_path, monkeypatch):
    lab = lab_of("a-both", LATEST)
    words = printed(lab, tmp_path)
    verb, *typed = next_command(lab.cli("inspect", lab.locator, *words, "--format", "text").out)
    assert (verb, typed) == ("fix", ["--dry-run", lab.locator, *words])
    text = lab.cli(verb, *typed, "--format", "text").out
    assert "undo     bash fix.sh undo" in text and "JOURNAL" not in text
    verb, *typed = next_command(text)
    arn = lab.locator.replace("//", "//arn:aws:dynamodb:us-east-1:123456789012:table/")
    assert (verb, typed) == ("fix", ["--dry-run", "--format", "aws-cli=fix.sh", arn, *words])
    monkeypatch.chdir(tmp_path)
    assert lab.cli(verb, *typed).code == 1 and commands(Path("fix.sh").read_text()) != ""
    page = lab.cli("inspect", lab.locator, *words, "--format", "markdown").out
    assert f"--shards {words[1]}" in page and "bash fix.sh undo" in page
    assert "--watch" not in page and "--plan" not in page


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_after_a_forecast_the_files_are_read_again(lab_of, tmp_path, form):
    lab = lab_of("a-both", LATEST)
    words = printed(lab, tmp_path)
    foreseen = ("--if-reshard", "4", "--format", form)
    text = lab.cli("inspect", lab.locator, *words, *foreseen).out
    assert "--wait" not in text and "inspect" in text
    if form == "text":
        verb, *typed = next_command(text)
        assert (verb, typed) == ("inspect", [lab.locator, *words])


def test_an_empty_store_keeps_its_files(lab, tmp_path):
    words = [*listed(lab, tmp_path), *rows_in(tmp_path, queried([])), "--taken", now(lab)]
    empty = lab.cli("inspect", lab.locator, *words)
    verb, *typed = shlex.split(empty.err.rpartition("reshardctl ")[2])
    assert empty.code == 6 and typed == ["--dry-run", "--bootstrap", lab.locator, *words]
    lab.wire.calls.clear()
    assert lab.cli(verb, *typed).code in (0, 1) and lab.wire.calls == []


def next_command(text: str) -> list[str]:
    typed = text.replace("\\\n", " ").rpartition("  reshardctl ")[2].partition("\n")[0]
    return shlex.split(typed.partition("   #")[0])


# The forms of rows

def console(items: list[dict]) -> str:
    """As the console of DynamoDB writes CSV: all in quotes, lists in JSON."""
    names = list(dict.fromkeys(name for item in items for name in item))
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    writer.writerow(names)
    for item in items:
        cells = [next(iter(item[name].values()), "") if name in item else "" for name in names]
        writer.writerow([json.dumps(c) if isinstance(c, list | dict) else c for c in cells])
    return text.getvalue()


def exported_to_s3(items: list[dict]) -> bytes:
    return gzip.compress("\n".join(json.dumps({"Item": item}) for item in items).encode())


def queried(items: list[dict]) -> str:
    counts = {"Count": len(items), "ScannedCount": len(items), "ConsumedCapacity": None}
    return json.dumps({"Items": items, **counts}, indent=4)


def pages(items: list[dict]) -> str:
    """Two outputs of `--no-paginate`, one after the other in a file."""
    first = {"Items": items[:1], "LastEvaluatedKey": {}, "NextToken": "t"}
    return json.dumps(first, indent=4) + "\n" + queried(items[1:]) + "\n"


@pytest.mark.parametrize("form", [console, exported_to_s3, queried, pages])
def test_rows_of_dynamodb(lab_of, tmp_path, form):
    lab = lab_of("a-both", LATEST)
    *words, _, _rows, _, taken = printed(lab, tmp_path)
    given = rows_in(tmp_path, form(list(lab.items().values())))
    assert judged(lab, [*words, *given, "--taken", taken]) == live(lab)


def test_tables_of_kinsumer(made_kinsumer, tmp_path):  # noqa: F811
    lab = made_kinsumer("e")
    words = [*listed(lab, tmp_path), "--taken", now(lab)]
    for shape in lab.shapes:
        rows = [row for key, row in lab.items().items() if key.startswith(shape.prefix)]
        _, file = rows_in(tmp_path, queried(rows), shape.name)
        words += ["--rows", f"{shape.name}={file}"]
    assert judged(lab, words) == live(lab)


def now(lab: Lab) -> str:
    """The lab's time, which becomes a whole second."""
    lab.fake.clock.advance(-lab.time() % 1)
    return instant(lab.time())


def print_rows(lab) -> bytes:
    """What the store's own client prints, by the command of the page."""
    port, host = lab.running.port, "127.0.0.1"
    table = f"SELECT namespace, shard_id, sequence_number FROM {lab.table_name}"  # noqa: S608
    connect, command = {
        "redis": (f"redis-cli -p {port} -n {lab.table_name}", printing_keys("app")),
        "postgres": (f"psql -h {host} -p {port} -U {USER} -d {lab.running.database}",
                     f"psql --csv -c '{table}'"),
        "mysql": (f"mysql -h {host} --protocol=tcp -P {port} -u {USER} -D {lab.running.database}",
                  f"mysql --batch -e '{table}'"),
    }[lab.kind]
    program = connect.split()[0]
    script = f'{program}() {{ command {connect} "$@"; }}\n{command}'
    secrets = dict.fromkeys(("REDISCLI_AUTH", "PGPASSWORD", "MYSQL_PWD"), PASSWORD)
    ran = subprocess.run(
        ["bash", "-c", script], env={**os.environ, **secrets}, capture_output=True, timeout=60,
        check=True,
    )  # fmt: skip
    return ran.stdout


@pytest.mark.parametrize("case", ["e-below", "f-swapped"])
def test_rows_that_a_clients_command_prints(made, tmp_path, case):  # noqa: F811
    lab = made(case)
    rows = print_rows(lab)
    assert len(rows.splitlines()) >= len(lab.numbers())
    words = [*listed(lab, tmp_path), *rows_in(tmp_path, rows), "--taken", now(lab)]
    assert judged(lab, words) == live(lab)
    form = ("--dry-run", "--format", {"postgres": "psql", "redis": "redis-cli"}.get(
        lab.kind, lab.kind))
    script = lab.cli("fix", *lab.where, *form).out
    assert commands(lab.cli("fix", lab.locator, *words, *form).out) == commands(script) != ""


def packed(root: Path, within: str) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        archive.add(root, within)
    return file.getvalue()


@pytest.mark.parametrize("within", [".", "checkpoint", "home/of/checkpoint"])
@pytest.mark.parametrize(("release", "shape"), [(HEAD, "s1"), (QUBOLE, "s3")])
def test_a_checkpoint_directory_in_an_archive(spark, tmp_path, release, shape, within):  # noqa: F811
    lab = spark(release, shape)
    words = [*listed(lab, tmp_path), *rows_in(tmp_path, packed(lab.root, within))]
    assert judged(lab, [*words, "--taken", now(lab)]) == live(lab)


def test_a_checkpoint_directory_beside_a_printed_stream(spark, tmp_path):  # noqa: F811
    lab = spark(HEAD, "s1")
    found = judged(lab, listed(lab, tmp_path))
    assert found["findings"] == live(lab)["findings"] != []


@pytest.mark.parametrize(("release", "state"), [("0.9.0", "q2"), ("0.8.2", "q1")])
def test_the_metastore_file_of_an_index(quickwit, tmp_path, release, state):  # noqa: F811
    lab = quickwit(release, state, "&index=events")
    words = [*listed(lab, tmp_path), "--rows", str(lab.file()), "--taken", now(lab)]
    assert judged(lab, words) == live(lab)


# What cannot be judged

GIVEN = ["--shards", "shards.json", "--summary", "summary.json", "--rows", "rows.json",
         "--taken", "2026-11-21T00:25:00Z"]  # fmt: skip
LISTED = GIVEN[:4]
REFUSED = {
    "no rows": ("inspect", LISTED, ["no file holds the positions", "aws dynamodb scan"]),
    "rows alone": ("inspect", GIVEN[4:], ["no file lists the shards", "--shards FILE"]),
    "no shards": ("inspect", GIVEN[2:], ["--summary is given, and no file lists the shards"]),
    "a time alone": ("inspect", ["--taken", "2026-01-01T00:00:00Z"], ["no file lists the shards"]),
    "no summary": ("inspect", [*GIVEN[:2], *GIVEN[4:]],
                   ["does not say when the stream was created", "describe-stream-summary"]),
    "no such file": ("inspect", ["--shards", "shrds.json", *GIVEN[2:]],
                     ["shrds.json: no such file, and no shards", "4-9", "list-shards"]),
    "a selector mistyped": ("inspect", ["--shards", "4..5", "--stream", "orders"],
                            ["4..5: no such file, and no shards", "as in 4,5 or 4-9"]),
    "no such rows": ("inspect", [*LISTED, "--rows", "rws.json"], ["rws.json: No such file"]),
    "twice a dash": ("inspect", ["--shards", "-", "--rows", "-"], ["read once"]),
    "rows twice": ("inspect", [*GIVEN, "--rows", "./rows.json"], ["rows.json is given twice"]),
    "shards twice": ("inspect", [*GIVEN, *GIVEN[:2]], ["shards.json is given twice"]),
    "shards as summary": (
        "inspect", [*GIVEN[:3], "shards.json", *GIVEN[4:]],
        ["shards.json is given twice, as --shards and as --summary", "name each file once"]),
    "of a selector": ("export", [*GIVEN, "--shards", "4"], ["all shards", "--shards ./4"]),
    "explained": ("explain", ["0", *GIVEN, "--shards", "4"], ["come after the consumer"]),
    "another stream": ("inspect", [*GIVEN, "--stream", "x"], ["of stream orders, not of x"]),
    "records wanted": ("inspect", [*GIVEN, "--policy", "latest"], ["nor files hold"]),
    "before the last reshard": ("inspect", [*GIVEN[:-1], "2026-11-20T23:30:00Z"],
                                ["cannot have been made at", "opened at", "--taken TIME"]),
    "in the future": ("inspect", [*GIVEN[:-1], "2030-01-01T00:00:00Z"],
                      ["cannot have been made at 2030-01-01T00:00:00Z", "now"]),
    "yaml": ("inspect", ["--shards", "yaml", *GIVEN[2:]], ["yaml: not JSON", "--output json"]),
    "a table": ("inspect", ["--shards", "table", *GIVEN[2:]], ["table: not JSON"]),
    "a query": ("inspect", ["--shards", "query", *GIVEN[2:]], ["but a list", "without --query"]),
    "a page": ("inspect", ["--shards", "page", *GIVEN[2:]], ["page: more shards follow"]),
    "a projection": ("inspect", [*LISTED, "--rows", "projection"], ["projection"]),
    "to be written": ("fix", GIVEN, ["files show what was", "--dry-run --format aws-cli"]),
    "--yes": ("fix", [*GIVEN, "--yes"], ["files show what was", "--dry-run --format aws-cli"]),
    "a plan": ("fix", [*GIVEN, "--dry-run", "--out", "p"], ["not on files", "--format aws-cli"]),
    "of a plan": ("fix", [*GIVEN, "--plan", "p"], ["exclude each other"]),
    "for a snapshot": ("snapshot", [*GIVEN, "--shards", "4", "-o", "s"], ["of all shards"]),
    **{option: ("inspect", [*GIVEN, option, *more], [f"leave {option} out"])
       for option, *more in (["--probe"], ["--count"], ["--watch", "60s"], ["--every", "60s"],
                             ["--wait", "15m"], ["--region", "us-east-1"], ["--discover"])},
    "status --count": ("status", [*GIVEN, "--count"], ["leave --count out"]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_judged_is_refused(lab, tmp_path, name):
    verb, words, says = REFUSED[name]
    printed(lab, tmp_path)
    shards = json.loads(Path("shards.json").read_text())
    some = [{n: row[n] for n in ("leaseKey", "checkpoint")} for row in lab.items().values()]
    for file, text in {
        "yaml": "Shards:\n- HashKeyRange:\n", "table": "-----\n| ListShards |\n",
        "query": json.dumps(shards["Shards"]), "page": json.dumps({**shards, "NextToken": "t"}),
        "projection": queried(some),
    }.items():
        Path(file).write_text(text)
    lab.wire.calls.clear()
    consumer = [] if name == "of a plan" else [lab.locator]
    refused = lab.cli(verb, *consumer, *words)
    assert refused.code == 2 and refused.says(*says), refused.err
    assert lab.wire.calls == [] and not Path("s").exists()


@pytest.mark.parametrize(("consumers", "says"), [
    ([], "0 are named"), (["kcl://a", "kcl://b"], "2 are named"),
    (["snapshot:s"], "is read from a file"), (["kinsumer://app"], "app_clients are missing"),
    (["spark:/tmp/x"], "no tar archive"), (["quickwit+file:///x"], "?index=INDEX"),
    (["quickwit+file:///x?index=i"], "rows.json is no metastore file of an index"),
    (["quickwit+file:///x?index=i"], "cat /x/i/metastore.json"),
    (["quickwit+s3://my-bucket/x?index=i"], "aws s3 cp s3://my-bucket/x/i/metastore.json -"),
    (["quickwit+http://node:7280"], "are read from no file"),
    (["kinesis-consumer+redis://h/0?app=a"], "not a key of positions"),
    (["kinesis-consumer+postgres://h/d?app=a"], "does not name the column namespace"),
])
def test_rows_of_another_store(lab, tmp_path, consumers, says):
    printed(lab, tmp_path)
    refused = lab.cli("inspect", *consumers, *GIVEN)
    assert refused.code == 2 and refused.says(says), refused.err


REDIS, SQL = "kinesis-consumer+redis://h/0", "kinesis-consumer+postgres://h/d"
COLUMNS = "namespace,shard_id,sequence_number\n"


@pytest.mark.parametrize(("consumer", "rows", "says"), [
    (REDIS, "app:checkpoint:x:shardId-0 7\n", ["rows: 1 row of namespace app-x", "of app-orders"]),
    (SQL, COLUMNS + "".join(f"{n},s,7\n" for n in ("app", "b", "c", "d")),
     ["rows: 4 rows of namespace app, b, c and 1 more, and none of app-orders"]),
])
def test_rows_of_others_alone_are_no_empty_store(lab, tmp_path, consumer, rows, says):
    words = [*listed(lab, tmp_path), *rows_in(tmp_path, rows)]
    refused = lab.cli("inspect", f"{consumer}?app=app&initial=LATEST&release=0.5", *words)
    assert refused.code == 2 and refused.says(*says), refused.err
    new = lab.cli("fix", f"{consumer}?app=app&initial=LATEST&release=0.5", *words, "--dry-run",
                  "--bootstrap")  # fmt: skip
    assert new.code in (0, 1), new.err
