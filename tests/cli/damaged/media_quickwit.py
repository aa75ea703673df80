"""Media of Quickwit beside its files: its metastore in PostgreSQL, and a node's REST interface.

The table: `index_uid`, `index_metadata_json text NOT NULL`, `index_id`; the release is told by
`_sqlx_migrations` (migrations of quickwit-metastore 0.8.2 and 0.9.0). What a text must be: what the
real metastore refused to load and what it loaded (runs, Nov 2026). A database of encoding SQL_ASCII
takes any bytes for a text (PostgreSQL manual, "Character Set Support").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any

import psycopg

from tests.cli.damaged.medium import Medium, Setting, Store
from tests.cli.damaged.text_damages import damaged_text
from tests.cli.lab import opened
from tests.cli.quickwit_lab import golden_fake
from tests.cli.quickwit_postgres_lab import PostgresLab, restored
from tests.cli.quickwit_rest_lab import Answer, RestLab, rest_lab
from tests.support.servers import PASSWORD

Told = tuple[Sequence[str], str]
UNNAMED = ("'0' is not listed", "there is no Kinesis source")
MIGRATED = ("_sqlx_migrations", "migration of this database")
PUT = "UPDATE indexes SET index_metadata_json = %s WHERE index_id = %s"


def other_text(dice: Random, lab: PostgresLab, index: str) -> Told:
    """As far as a column of type text takes it: UTF-8 without zeros."""
    way, content = damaged_text(dice, lab.text(index).encode())
    lab.put(content.decode("utf-8", "replace").replace("\0", ""), index)
    return (f"index {index}",), f"{index}: {way}"


def other_bytes(dice: Random, lab: PostgresLab, index: str) -> Told:
    """Bytes that are no UTF-8, in a database that does not look at them."""
    text = lab.text(index).encode()
    at = dice.randrange(len(text))
    stray = dice.choice((b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xfc"))
    lab.put_bytes(text[:at] + stray + text[at:], index)
    return (f"index {index}", "indexes"), f"{index}: {stray!r} at {at}"


def row_lost(_dice: Random, lab: PostgresLab, index: str) -> Told:
    lab.sql("DELETE FROM indexes WHERE index_id = %s", index)
    return (f"index {index}", "no index here"), f"the row of {index} lost"


def row_of_another(dice: Random, lab: PostgresLab, index: str) -> Told:
    """`index_uid` or `index_id` are those of another index, of another life, or nonsense."""
    column = dice.choice(("index_uid", "index_id"))
    value = dice.choice(("", " ", "other", "events:01ARZ3NDEKTSV4RRFFQ69G5FAV", ":", "a:b:c",
                         index.upper(), f"{index} ", "ü", "\x1b[2J", "x" * 250))  # fmt: skip
    lab.sql(f"UPDATE indexes SET {column} = %s WHERE index_id = %s", value, index)  # noqa: S608
    return (index, value), f"{column} of {index}: {value[:40]!r}"


def row_twice(dice: Random, lab: PostgresLab, index: str) -> Told:
    """Another row with the same text, under another name."""
    name = dice.choice(("copy", "", "ü", "zz"))
    lab.sql(
        "INSERT INTO indexes (index_uid, index_metadata_json, create_timestamp, index_id) SELECT "
        "%s, index_metadata_json, create_timestamp, %s FROM indexes WHERE index_id = %s",
        f"{name}:01ARZ3NDEKTSV4RRFFQ69G5FAV", name, index,
    )
    return (index, name), f"{index} is there as {name!r} too"


def no_text(_dice: Random, lab: PostgresLab, index: str) -> Told:
    lab.sql("ALTER TABLE indexes ALTER COLUMN index_metadata_json DROP NOT NULL")
    lab.sql("UPDATE indexes SET index_metadata_json = NULL WHERE index_id = %s", index)
    return (f"index {index}",), f"{index}: NULL"


def another_column(dice: Random, lab: PostgresLab, _index: str) -> Told:
    """Somebody altered the table."""
    name = dice.choice(("index_uid", "index_id", "index_metadata_json"))
    how = dice.choice((
        f"DROP COLUMN {name} CASCADE", f"RENAME COLUMN {name} TO other",
        "ALTER COLUMN index_metadata_json TYPE jsonb USING index_metadata_json::jsonb",
        "ALTER COLUMN index_metadata_json TYPE json USING index_metadata_json::json",
        "ALTER COLUMN index_metadata_json TYPE bytea USING index_metadata_json::bytea",
        "ALTER COLUMN index_metadata_json TYPE varchar(300000)",
        "RENAME TO others", "ADD COLUMN extra text", "DISABLE TRIGGER ALL",
        "ENABLE ROW LEVEL SECURITY", "SET SCHEMA pg_toast",
    ))  # fmt: skip
    try:
        lab.sql(f"ALTER TABLE indexes {how}")
    except psycopg.Error as error:
        return ((), f"{how} was refused: {type(error).__name__}")
    return ("indexes", name), how


def other_migrations(dice: Random, lab: PostgresLab, _index: str) -> Told:
    how = dice.choice((
        "DELETE FROM _sqlx_migrations", "DROP TABLE _sqlx_migrations",
        "UPDATE _sqlx_migrations SET version = -version",
        "UPDATE _sqlx_migrations SET version = version + 9223372036854775000",
        "DELETE FROM _sqlx_migrations WHERE version > 20",
        "ALTER TABLE _sqlx_migrations RENAME COLUMN version TO other",
        "ALTER TABLE _sqlx_migrations ALTER COLUMN version TYPE text",
        "ALTER TABLE _sqlx_migrations ALTER COLUMN version TYPE float8",
        "UPDATE _sqlx_migrations SET success = false",
    ))  # fmt: skip
    lab.sql(how)
    return MIGRATED, how


ROW_DAMAGES = {
    other_text: 14, other_bytes: 2, row_lost: 1, row_of_another: 2, row_twice: 1, no_text: 1,
    another_column: 3, other_migrations: 2,
}  # fmt: skip
"""And how often."""


@contextmanager
def in_postgres(release: str, state: str, setting: Setting) -> Iterator[Store]:
    """The index events, or, of q6, each of its two."""
    setting.monkeypatch.setenv("PGPASSWORD", PASSWORD)
    setting.monkeypatch.setenv("HOME", str(setting.folder))
    server = setting.running("postgres")
    with (
        opened(setting.servers, golden_fake(state), [], setting.folder / "state",
               setting.monkeypatch, setting.wire) as base,
        restored(server, release, state, "SQL_ASCII") as database,
    ):  # fmt: skip
        options = "?source=kinesis-events" if state == "q6" else ""
        lab = base.beside(
            PostgresLab, stream="events", options=options, running=server, database=database,
        )

        def damage(dice: Random) -> Told:
            index = dice.choice([name for (name,) in lab.sql(
                "SELECT index_id FROM indexes ORDER BY 1"
            )])  # fmt: skip
            (way,) = dice.choices(list(ROW_DAMAGES), list(ROW_DAMAGES.values()))
            named, how = way(dice, lab, index)
            return (*named, *UNNAMED), how

        yield Store(lab, damage, lab.everything, lab.everything)


# a node


@dataclass
class Body:
    """What the node answers with from now on."""

    answer: Answer
    fine: list[Answer] = field(default_factory=list)
    """Given first, each once."""

    def __call__(self, _path: str) -> Answer:
        return self.fine.pop(0) if self.fine else self.answer


def other_body(dice: Random, body: bytes) -> tuple[str, Answer]:
    way, content = damaged_text(dice, body)
    return way, (200, {}, content)


def other_status(dice: Random, body: bytes) -> tuple[str, Answer]:
    status = dice.choice((
        100, 102, 199, 201, 204, 206, 300, 301, 304, 307, 400, 401, 404, 410, 429, 500, 503, 999,
    ))
    return f"status {status}", (status, dice.choice(({}, {"Location": "http://\x1b[2J/"})), body)


def other_header(dice: Random, body: bytes) -> tuple[str, Answer]:
    headers = dice.choice((
        {"Content-Length": str(len(body) + 9)}, {"Content-Length": str(len(body) // 2)},
        {"Content-Length": "-1"}, {"Content-Length": "x"}, {"Content-Length": "9" * 40},
        {"Transfer-Encoding": "chunked"}, {"Content-Encoding": "gzip"}, {"X": "y" * 70_000},
        {"Content-Type": "text/html; charset=latin-1"},
        {f"X-{number}": "y" for number in range(200)},
    ))  # fmt: skip
    return f"headers {str(headers)[:60]}", (200, headers, body)


def wire_garbage(dice: Random, body: bytes) -> tuple[str, Answer]:
    """No HTTP: status 0 sends the body as it is."""
    raw = dice.choice((
        b"", b"\0" * 4096, b"\xff\xfe", b"HTTP/1.1", b"HTTP/1.1 200", b"HTTP/9.9 200 OK\r\n\r\n",
        b"HTTP/1.1 -1 \r\n\r\n", b"SSH-2.0-OpenSSH\r\n", b"\x15\x03\x01\0\x02\x02\x46",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{}",
        b"HTTP/1.1 200 OK\r\n" + body, b"HTTP/1.1 200 OK\r\n\r\n" + body[: len(body) // 2],
        b"HTTP/1.1 500 \x1b[2J\xff\r\n\r\n", b"x" * 100_000,
    ))  # fmt: skip
    return f"{raw[:40]!r}", (0, {}, raw)


ANSWER_DAMAGES: dict[Callable[[Random, bytes], tuple[str, Answer]], float] = {
    other_body: 12, other_status: 2, other_header: 2, wire_garbage: 2,
}  # fmt: skip
"""And how often."""


def of_node(lab: RestLab) -> Store:
    def damage(dice: Random) -> Told:
        path = "/api/v1/indexes/events"
        fine = lab.node.answer(path)
        (way,) = dice.choices(list(ANSWER_DAMAGES), list(ANSWER_DAMAGES.values()))
        how, answer = way(dice, fine[2])
        lab.node.answer = Body(answer)
        return (path, "cannot be written to", *UNNAMED), how

    def stored() -> Any:
        """A node is asked, and never told anything."""
        return [path for path in lab.node.paths if path != "/api/v1/indexes/events"]

    return Store(lab, damage, stored, stored)


@contextmanager
def behind_a_node(release: str, state: str, options: str, setting: Setting) -> Iterator[Store]:
    with rest_lab(release, state, options, *setting.basics) as lab:
        yield of_node(lab)


POSTGRES = [("0.9.0", "q3"), ("0.9.0", "q6"), ("0.8.2", "q2"), ("0.9.0", "q5")]
NODES = [("0.9.0", "q3", "?index=events"), ("0.8.2", "q2", "?index=events&release=0.8.2")]
MEDIA = [
    *(Medium("-".join(("quickwit", "postgres", *state)), partial(in_postgres, *state),
             needs=("postgres",), few=1 - number % 2, many=40)
      for number, state in enumerate(POSTGRES)),
    *(Medium("-".join(("quickwit", "rest", *state[:2])), partial(behind_a_node, *state),
             few=number % 2, many=40) for number, state in enumerate(NODES)),
]  # fmt: skip
