"""Quickwit's metastore in PostgreSQL as a medium: connections cut at any message, column types."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import pytest

from reshardctl.consumers.quickwit.document import ROW, Document
from reshardctl.consumers.quickwit.rows import enabled
from reshardctl.errors import AnswerLost, CannotTell, Refused, UsageError
from reshardctl.model import Image, Step, Update
from reshardctl.model.write_state import WriteResult
from reshardctl.stores.quickwit.postgres import Metastore
from reshardctl.stores.sql.postgres import Postgres
from reshardctl.stores.sql.server import address_of
from tests.cli.quickwit_postgres_lab import connected, restored
from tests.contracts.store_contract import create, delete, step, update
from tests.support.servers import PASSWORD, USER, Running
from tests.support.servers.severed import Way, way_to

KEY = "events/kinesis-events"
ZERO, TWO = f"{KEY}/shardId-000000000000", f"{KEY}/shardId-000000000002"


@pytest.fixture
def database(postgres: Running) -> Iterator[str]:
    with restored(postgres, "0.9.0", "q2") as name:
        yield name


@pytest.fixture
def store(postgres: Running, database: str) -> Metastore:
    return metastore(postgres.port, database)


@pytest.fixture
def sql(postgres: Running, database: str) -> Callable[..., Any]:
    """Statements, run as the owner of the database; gives the rows of the first one."""

    def run(*statements: str, values: Sequence[Any] = ()) -> Any:
        with connected(postgres, database) as server:
            first, *_ = [server.execute(statement, values or None) for statement in statements]
            return first.fetchall() if first.description else []

    return run


@pytest.fixture
def text(sql: Callable[..., Any]) -> Text:
    return Text(sql)


class Text:
    """The text of the only index."""

    def __init__(self, sql: Callable[..., Any]) -> None:
        self._sql = sql

    def __call__(self) -> str:
        ((text,),) = self._sql("SELECT index_metadata_json::text FROM indexes")
        return str(text)

    def put(self, text: str) -> None:
        self._sql("UPDATE indexes SET index_metadata_json = %s", values=[text])


def metastore(
    port: int, database: str, index: str = "", user: str = USER, password: str = PASSWORD
) -> Metastore:
    server = Postgres(address_of(f"{user}@127.0.0.1:{port}/{database}", password))
    return Metastore(server, lambda _seconds: None, partial(Document, ROW), enabled, index)


def step_of(store: Metastore) -> Step:
    """An entry that moves and one that comes."""
    row = store.get([ZERO])[ZERO]
    assert row is not None
    comes = create(Image(TWO, {"position": {"S": "8"}}))
    return step(update(row, Update({"position": {"S": "7"}}), "position"), comes)


def ended(store: Metastore, step: Step) -> str:
    try:
        return store.write(step, "token").value
    except AnswerLost:
        return "lost"
    except CannotTell:
        return "nothing"


some = pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.long)])
"""Every fourth message at every turn."""


@some
@pytest.mark.parametrize("seen", [False, True], ids=["unseen", "seen"])
def test_a_connection_cut_at_any_message(postgres, database, store, text, seen, step):
    writes, before = step_of(store), text()
    assert store.write(writes, "token") is WriteResult.APPLIED
    after = text()
    with way_to(postgres.port) as way:
        endings, reached, at = set(), True, 0
        while reached:
            at += step
            assert at < 200
            text.put(before)
            said, reached = tried(way, at, seen, database, writes)
            now = text()
            assert now in (before, after), "never half of it"
            assert said != "moved", at
            assert said == "lost" or now == (after if said == "done" else before), (at, said)
            endings.add(said)
    assert "done" in endings


def tried(way: Way, at: int, seen: bool, database: str, step: Step) -> tuple[str, bool]:
    """How it ended, and whether the message was ever reached."""
    way.reset(at, seen=seen)
    said = ended(metastore(way.port, database), step)
    reached = way.count >= at
    way.reset()
    return said, reached


@some
def test_a_read_cut_at_any_message_is_whole_or_none(postgres, database, store, step):
    whole = store.read()
    outcomes = set()
    with way_to(postgres.port) as way:
        for at in range(1, 40, step):
            way.reset(at)
            try:
                assert metastore(way.port, database).read() == whole
                outcomes.add("whole")
            except CannotTell:
                outcomes.add("none")
    assert outcomes == {"whole", "none"}


def column(kind: str, using: str = "") -> str:
    given = using or f"index_metadata_json::{kind}"
    return f"ALTER TABLE indexes ALTER COLUMN index_metadata_json TYPE {kind} USING {given}"


@pytest.mark.parametrize("kind", ["json", "jsonb"])
def test_a_column_of_another_type_keeps_it(store, sql, text, kind):
    sql(column(kind))
    before, writes = text(), step_of(store)
    first = writes.writes[0].before
    assert first is not None
    assert store.write(writes, "token") is WriteResult.APPLIED
    now = store.get([ZERO, TWO])
    back = step(
        update(now[ZERO], Update(first.attributes), "position"), delete(now[TWO], "position")
    )
    assert store.write(back, "token") is WriteResult.APPLIED
    assert text() == before


def test_an_entry_that_jsonb_puts_in_its_own_order_is_written(store, sql):
    """PostgreSQL's manual: jsonb does not preserve the order of object keys."""
    sql(column("jsonb"))
    row = store.get([ZERO])[ZERO]
    for write in (delete(row, "position"), create(row)):
        assert store.write(step(write), "token") is WriteResult.APPLIED
    assert store.get([ZERO])[ZERO] == row


@pytest.mark.parametrize("index", ["", "events"])
def test_an_index_whose_text_is_null_is_named(postgres, database, sql, index):
    """Somebody has altered the column. Every verb reads the table in this way, and `snapshot` too.
    """
    sql("ALTER TABLE indexes ALTER COLUMN index_metadata_json DROP NOT NULL",
        "UPDATE indexes SET index_metadata_json = NULL")
    store = metastore(postgres.port, database, index)
    (row,) = store.read()
    assert row.key == "events" and "index events" in str(row.attributes)
    with pytest.raises(UsageError, match="index events"):
        store.get([ZERO])


def test_an_index_that_went_away_is_not_written(store, sql):
    writes = step_of(store)
    sql("DELETE FROM indexes")
    assert store.get([ZERO]) == {ZERO: None}
    assert store.write(writes, "token") is WriteResult.CONFLICT


def test_a_step_is_of_one_index(store: Metastore) -> None:
    row = store.get([ZERO])[ZERO]
    assert row is not None and store.get([]) == {}
    elsewhere = create(Image("other/s/shardId-000000000000", row.attributes))
    with pytest.raises(UsageError, match="a step writes 2 indexes"):
        store.write(step(delete(row, "position"), elsewhere), "token")


STATES = {
    "other sources": ("UPDATE indexes SET index_metadata_json = replace(index_metadata_json, "
                      "'\"source_type\":\"kinesis\"', '\"source_type\":\"void\"')",
                      "no index here has a Kinesis source"),
    "another uid": ("UPDATE indexes SET index_uid = 'events:01M7Y8Y2RK6PTVMG2G2Z4AMAK9'",
                    "its text is of events:"),
    "no migration": ("DELETE FROM _sqlx_migrations", "has nothing in _sqlx_migrations"),
    "no text": (column("bytea", "convert_to(index_metadata_json, 'UTF8')"), "is bytea"),
}  # fmt: skip


@pytest.mark.parametrize("name", STATES)
def test_a_metastore_without_positions(store, sql, name):
    statement, words = STATES[name]
    sql(statement)
    with pytest.raises(UsageError, match=words):
        store.read()


TRIGGERS = {
    "refuses": ("RAISE EXCEPTION 'positions are frozen'", "positions are frozen"),
    "skips": ("RETURN NULL", "would keep another text"),
    "changes": ("NEW.index_metadata_json = OLD.index_metadata_json; RETURN NEW", "another text"),
}


@pytest.mark.parametrize("name", TRIGGERS)
def test_what_a_trigger_does_not_let_through_is_refused(store, sql, text, name):
    body, words = TRIGGERS[name]
    writes, before = step_of(store), text()
    sql(f"CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body}; END $$",
        "CREATE TRIGGER no BEFORE UPDATE ON indexes FOR EACH ROW EXECUTE FUNCTION f()")
    with pytest.raises(Refused, match=words):
        store.write(writes, "token")
    assert text() == before


def test_a_row_that_a_policy_hides_from_writes_is_refused(postgres, database, sql):
    """SELECT … FOR UPDATE finds no row then, as if the index were gone."""
    sql("CREATE ROLE reader LOGIN PASSWORD 'x'",
        "GRANT SELECT, UPDATE ON ALL TABLES IN SCHEMA public TO reader",
        "ALTER TABLE indexes ENABLE ROW LEVEL SECURITY",
        "CREATE POLICY p ON indexes FOR SELECT USING (true)")
    store = metastore(postgres.port, database, user="reader", password="x")
    with pytest.raises(Refused, match="lets this user read it, and not write it"):
        store.write(step_of(store), "token")


def test_a_guard_that_does_not_hold_writes_nothing(store, text):
    writes = step_of(store)
    assert store.write(writes, "token") is WriteResult.APPLIED
    after = text()
    assert store.write(writes, "token") is WriteResult.CONFLICT
    assert text() == after


def test_a_source_that_is_switched_on_after_it_was_read_is_not_written(store, text):
    on, off = '"enabled":true', '"enabled":false'
    text.put(text().replace(on, off))
    store.read()
    writes = step_of(store)
    enabled = text().replace(off, on)
    text.put(enabled)
    assert store.write(writes, "token") is WriteResult.CONFLICT
    assert text() == enabled
    text.put(enabled.replace(on, off))
    assert store.write(writes, "token") is WriteResult.APPLIED


def test_an_index_made_anew_is_another_store(postgres, database, sql, text):
    before = metastore(postgres.port, database, "events").identity()
    uid = "events:01M7Y8Y2RK6PTVMG2G2Z4AMAK9"
    sql("UPDATE indexes SET index_uid = %s, index_metadata_json = %s",
        values=[uid, text().replace(before["indexes"], uid)])
    assert metastore(postgres.port, database, "events").identity() != before
