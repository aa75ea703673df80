"""What other programs printed, read as rows.

Recorded output of the AWS CLI is in tests/golden/aws-cli; lines of an export are as the DynamoDB
Developer Guide shows them ("DynamoDB table export output format"); `NextToken`, `LastEvaluatedKey`,
`Count` and `ScannedCount` are as in the API references. tests/cli/test_printed.py has what the
clients of the other stores print.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from reshardctl.consumers.kcl.spec import KCL
from reshardctl.consumers.kinesis_consumer.spec import KINESIS_CONSUMER
from reshardctl.errors import UsageError
from reshardctl.model import Image, TableShape
from reshardctl.snapshot.printed import Printed
from reshardctl.snapshot.printed_rows import rows_of_redis, rows_of_sql, rows_of_table
from tests.support.golden_tables import GOLDEN, items_of
from tests.support.judging import images_of as expected_images
from tests.unit.snapshot.test_printed import LIST, RECORDED, SCAN, file

LEASES = TableShape("orders-reader")


def images_of(files: Sequence[Printed], shape: TableShape) -> list[Image]:
    return rows_of_table(files, shape, KCL)


FOLDERS = sorted(path.parent for path in GOLDEN.glob("*/*/leases.json"))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: f"{f.parent.name}/{f.name}")
def test_a_scan_gives_the_rows_that_the_store_gives(folder: Path) -> None:
    """Against the tests' own reading of the recorded tables of real KCLs."""
    items = items_of(folder)
    counts = {"Count": len(items), "ScannedCount": len(items)}
    read = images_of([file({"Items": items, **counts})], LEASES)
    assert sorted(read, key=lambda image: image.key) == sorted(
        expected_images(items), key=lambda image: image.key
    )


def test_every_form_gives_the_same_rows() -> None:
    items = SCAN["Items"]
    recorded = Printed("scan.json", (RECORDED / "scan.json").read_bytes())
    whole = images_of([recorded], LEASES)
    assert len(whole) == len(items) == 7
    lines = [json.dumps(item).encode() for item in items]
    export = "\n".join(json.dumps({"Item": item}) for item in items).encode()
    counts = {"Count": 4, "ScannedCount": 4}
    first = {"Items": items[:4], **counts, "LastEvaluatedKey": {"leaseKey": {"S": "x"}}}
    whole_count = {"Count": 7, "ScannedCount": 7}
    both = [first, {"Items": items[4:]}]
    forms = {
        "export": [Printed("a", export)],
        "gzipped": [Printed("a.gz", gzip.compress(export))],
        "two files of an export": [
            Printed("a", export[: export.index(b"\n") + 1]),
            Printed("b", export[export.index(b"\n") :]),
        ],
        "bare items, a line each": [Printed("a", b"\n".join(lines))],
        "pages": [file(page) for page in both],
        "--max-items, --starting-token": [
            file({"Items": items[:4], **whole_count, "NextToken": "t"}),
            file({"Items": items[4:], **whole_count}),
        ],
        "pages, a line each": [Printed("a", "\n".join(map(json.dumps, both)).encode())],
    }
    for form, files in forms.items():
        assert images_of(files, LEASES) == whole, form


def test_what_a_global_table_adds_is_no_part_of_a_row() -> None:
    item = {"leaseKey": {"S": "k"}, "aws:rep:updatetime": {"N": "1"}}
    (row,) = images_of([file({"Item": item})], LEASES)
    assert set(row.attributes) == {"leaseKey"}


@pytest.mark.parametrize(("content", "words"), [
    (json.dumps({**SCAN, "NextToken": "t"}), ["more rows follow", "--max-items"]),
    (json.dumps({**SCAN, "LastEvaluatedKey": {}, "Count": 3}), ["a filter left rows out"]),
    (json.dumps({**SCAN, "Items": SCAN["Items"][:-1]}), ["says that it has 7", "holds 6"]),
    (json.dumps({**SCAN, "Count": 6, "ScannedCount": 6}), ["says that it has 6", "holds 7"]),
    (json.dumps({"Items": [{"id": {"S": "x"}}]}), ["Items[0]", "its key leaseKey is missing"]),
    (json.dumps({"Items": [{"leaseKey": {"N": "1"}}]}), ["Items[0]", "is no string"]),
    (json.dumps({"Items": [{"leaseKey": "x"}]}), ["Items[0]", "leaseKey"]),
    (json.dumps(LIST), ["Shards"]), ("", ["the file is empty"]),
    ('{"Item": {"leaseKey": {"S": "a"}}}\n{"Item": ', ["line 2"]),
    ('{"Items": [', ["line 1", "not JSON"]), ("[1]", ["not an object"]),
    ("[" * 100_000, ["nested too deep"]),
    (json.dumps({"Items": SCAN["Items"] * 2}), ["row Leader stands twice"]),
    ("\x1f\x8bxx", ["not JSON"]),
    (gzip.compress(json.dumps(SCAN).encode())[:-20], ["cannot be unpacked"]),
])  # fmt: skip
def test_what_are_no_rows_is_refused(content: str | bytes, words: list[str]) -> None:
    given = content.encode() if isinstance(content, str) else content
    with pytest.raises(UsageError) as caught:
        images_of([Printed("scan.json", given)], LEASES)
    text = f"{caught.value.what}\n{caught.value.next}"
    assert "scan.json" in text and all(word in text for word in words), text


def test_an_archive_that_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reshardctl.snapshot.printed_rows.LARGEST", 1000)
    monkeypatch.setattr("reshardctl.stores.given_file.LARGEST", 1000)
    with pytest.raises(UsageError, match="larger than 1,000 bytes"):
        images_of([Printed("a.gz", gzip.compress(b" " * 2000))], LEASES)


def test_rows_of_another_application_are_left_out() -> None:
    """A scan has them; the store's own reader queries by the application's name."""
    shape = TableShape("positions", hash="namespace", range="shard_id", fixed="app")
    items = [{"namespace": {"S": name}, "shard_id": {"S": "s"}} for name in ("app", "other")]
    (row,) = images_of([file({"Items": items})], shape)
    assert row.key == "app/s"


HEADER = '"leaseKey","checkpoint","leaseCounter","parentShardId"'


def test_a_csv_file_has_the_librarys_types() -> None:
    """The list is spelled as in matheussilvasantos/dynamocli#4, the set as its members in JSON."""
    text = "\n".join([
        HEADER, '"b","TRIM_HORIZON","0","[  { ""S"" : ""a"" },  { ""S"" : ""0"" }]"',
        "", '"c","49","12","[""a""]"', '"d","49","12","{""a"", ""b""}"', '"a","SHARD_END","7",""',
    ])  # fmt: skip
    read = {image.key: image.attributes for image in images_of([Printed("a", text.encode())],
                                                               LEASES)}  # fmt: skip
    assert [*read] == ["b", "c", "d", "a"] and "parentShardId" not in read["a"]
    assert read["b"]["parentShardId"] == {"SS": ["0", "a"]}
    assert read["d"]["parentShardId"] == {"SS": ["a", "b"]}
    assert read["c"]["leaseCounter"] == {"N": "12"} and read["a"]["checkpoint"]["S"] == "SHARD_END"


@pytest.mark.parametrize(("line", "words"), [
    ('"a","x","1,5",""', ["line 2.leaseCounter", "'1,5' is not what the library writes"]),
    ('"a","x","many",""', ["leaseCounter"]),
    ('"a","x","1","a, b"', ["parentShardId", "not JSON"]),
    ('"a","x","1","[1]"', ["parentShardId"]),
    ('"a","x","1","7"', ["parentShardId"]),
    ('"a","x","1","[{""S"": ""a"", ""N"": ""1""}]"', ["parentShardId"]),
    ('"a","x","1"', ["line 2: 3 values for 4 columns"]),
    ('"a"x,"x","1",""', ["line 2: no CSV"]),
    ('"","x","1",""', ["its key leaseKey is missing"]),
    ('"a","x""y,"1",""', ["line"]),
    ('"a","4.96807E+55","1",""', ["line 2.checkpoint: '4.96807E+55' was changed on its way"]),
    ('"a","4,96807E+55","1",""', ["was changed on its way: a spreadsheet"]),
    ('"a","49680700000000000000000000000000000000000000000000000000","1",""', ["was changed"]),
])  # fmt: skip
def test_what_a_csv_file_does_not_tell_is_refused(line: str, words: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        images_of([Printed("a.csv", f"{HEADER}\n{line}\n".encode())], LEASES)
    text = f"{caught.value.what}\n{caught.value.next}"
    assert "a.csv" in text and "aws dynamodb scan" in text, text
    assert all(word in text for word in words), text


def test_a_cell_of_a_named_type_is_what_its_json_says() -> None:
    """A header with a type in parentheses, as in `note (BOOL)`."""
    text = '"leaseKey","checkpoint","note (BOOL)"\n"a","x","true"\n'
    (read,) = images_of([Printed("a.csv", text.encode())], LEASES)
    assert read.attributes["note"] == {"BOOL": True}


@pytest.mark.parametrize("number", ["0.016447", "0.000016", "-3"])
def test_a_number_in_csv(number: str) -> None:
    """The first is as KCL 3.5.1 wrote it (tests/golden/kcl)."""
    text = f'"leaseKey","throughputKBps"\n"a","{number}"\n'
    (read,) = images_of([Printed("a.csv", text.encode())], LEASES)
    assert read.attributes["throughputKBps"] == {"N": number}


@pytest.mark.parametrize(("header", "words"), [
    ('"id","checkpoint"', "does not name the column leaseKey"),
    ('"leaseKey","leaseKey"', "column leaseKey stands twice"),
    ('"leaseKey","pendingCheckpointState"', "cannot be told"),
    ('"leaseKey","colour"', "no attribute of this library"),
])
def test_columns_of_a_csv_file(header: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        images_of([Printed("a.csv", f'{header}\n"a","x"\n'.encode())], LEASES)
    spare = "leave column colour out" in caught.value.next
    assert spare == ("colour" in header) and "aws dynamodb scan" in caught.value.next


(POSITIONS,) = KINESIS_CONSUMER.tables("positions", {})
SQL = ("namespace", "shard_id", "sequence_number")


def row(space: str, shard: str, number: str | None, **other: Any) -> Image:
    values = {"namespace": space, "shard_id": shard, "sequence_number": number}
    own = {name: {"S": value} for name, value in values.items() if value is not None}
    extra = {"other columns": {"M": other}} if other else {}
    return Image(f"{space}/{shard}", {**own, **extra})


def test_what_relational_databases_print() -> None:
    """Escapes and NULL of `mysql --batch` are as the MySQL Reference Manual has them."""
    def read(text: str) -> list[Image]:
        return rows_of_sql([Printed("a", text.encode())], POSITIONS, SQL[2], "psql --csv")

    assert read(f"{','.join(SQL)}\na-b,s,7\n\"x,y\",t,\n") == [
        row("a-b", "s", "7"), row("x,y", "t", None)]  # fmt: skip
    assert read("\t".join(SQL) + "\na\\tb\ts\t7\nc\\\\d\tt\tNULL\n") == [
        row("a\tb", "s", "7"), row("c\\d", "t", None)]  # fmt: skip
    assert read("shard_id,sequence_number,namespace,at\ns,7,a,now\nt,8,a,\n") == [
        row("a", "s", "7", at={"S": "now"}), row("a", "t", "8", at={"NULL": True})]  # fmt: skip


@pytest.mark.parametrize(("text", "words"), [
    (" namespace | shard_id | sequence_number\n-----+----+----\n", "column namespace"),
    ("+---+\n| namespace |\n", "column namespace"), ("", "column namespace"),
    ("namespace,shard_id,sequence_number\na,s\n", "line 2: 2 values for 3"),
    ("namespace,shard_id,sequence_number\n,s,7\n", "namespace has no value"),
    ("namespace,shard_id,sequence_number\na,s,7\na,s,8\n", "a/s stands twice"),
    ("namespace,shard_id,sequence_number\na,s,4.96807E+55\n", "line 2.sequence_number: .*changed"),
])
def test_what_no_database_prints_so_is_refused(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        rows_of_sql([Printed("a", text.encode())], POSITIONS, SQL[2], "psql --csv")
    assert "a" in caught.value.what


def redis(text: str, app: str = "app") -> list[Image]:
    return rows_of_redis([Printed("a", text.encode())], POSITIONS, SQL[2], app)


def test_what_the_loop_over_redis_cli_prints() -> None:
    text = "app:checkpoint:orders:shardId-0 7\n\nmy app:checkpoint:a:b:shardId-1 LATEST\n"
    assert redis(text, "") == [
        row("app-orders", "shardId-0", "7"), row("my app-a:b", "shardId-1", "LATEST")]  # fmt: skip


@pytest.mark.parametrize(("text", "words"), [
    ("", "the file is empty"), ("\n\n", "the file is empty"),
    ("app:checkpoint:orders:s \n", "line 1: not a key"),
    ("app:checkpoint:orders:s 7\napp:checkpoint:orders:s 8\n", "stands twice"),
    ("other:checkpoint:orders:s 7\n", "line 1: not a key"),
    ("app:checkpoint:orders:s WRONGTYPE Operation against a key\n", "line 1: not a key"),
    ("NOAUTH Authentication required. NOAUTH Authentication required.\n", "line 1: not a key"),
    ('1) "app:checkpoint:orders:s"\n', "line 1: not a key"),
    ('app:checkpoint:orders:s "496807"\n', "line 1: '\"496807\"' was changed on its way"),
    ("app:checkpoint:orders:s (nil)\n", "line 1: '.nil.' was changed on its way"),
])
def test_what_it_does_not_print_is_refused(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        redis(text)
    assert "empty" in words or "twice" in words or "redis-cli --scan" in caught.value.next
