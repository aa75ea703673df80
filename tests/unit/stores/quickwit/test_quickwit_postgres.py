"""Quickwit's metastore in PostgreSQL as a medium: connections cut at any message, column types."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from reshardctl.consumers.quickwit.document import ROW, Document
from reshardctl.consumers.quickwit.rows import enabled
from reshardctl.errors import AnswerLost, CannotTell, Refused, UsageError
from reshardctl.model import Create, Delete, Step, Update, Write
from reshardctl.model.write_state import WriteResult
from reshardctl.stores.quickwit.postgres import Metastore
from reshardctl.stores.sql.postgres import Postgres
from reshardctl.stores.sql.server import address_of
from tests.cli.quickwit_postgres_lab import connected, restored
from tests.support.servers import PASSWORD, USER, Running
from tests.support.servers.severed import Way, way_to

KEY = "events/kinesis-events"
ZERO, TWO = f"{KEY}/shardId-000000000000", f"{KEY}/shardId-000000000002"


@pytest.fixture
def database(postgres: Running) -> Iterator[str]:
    with restored(postgres, "0.9.0", "q2") as name:
        yield name


def metastore(port: int, database: str, index: str = "") -> Metastore:
    server = Postgres(address_of(f"{USER}@127.0.0.1:{port}/{database}", PASSWORD))
    return Metastore(server, lambda _seconds: None, partial(Document, ROW), enabled, index)


def step_of(store: Metastore) -> Step:
    """An entry that moves and one that comes."""
    row = store.get([ZERO])[ZERO]
    assert row is not None
    return Step("two", (
        Write(ZERO, Update({"position": {"S": "7"}}), row, "a test", ("position",)),
        Write(TWO, Create({"position": {"S": "8"}}), None, "a test"),
    ))


def text_of(postgres: Running, database: str) -> str:
    with connected(postgres, database) as server:
        ((text,),) = server.execute("SELECT index_metadata_json::text FROM indexes").fetchall()
    return str(text)


def put(postgres: Running, database: str, text: str) -> None:
    with connected(postgres, database) as server:
        server.execute("UPDATE indexes SET index_metadata_json = %s", [text])


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
def test_a_connection_cut_at_any_message(
    postgres: Running, database: str, seen: bool, step: int
) -> None:
    plain = metastore(postgres.port, database)
    writes, before = step_of(plain), text_of(postgres, database)
    assert plain.write(writes, "token") is WriteResult.APPLIED
    after = text_of(postgres, database)
    with way_to(postgres.port) as way:
        endings, reached, at = set(), True, 0
        while reached:
            at += step
            assert at < 200
            put(postgres, database, before)
            said, reached = tried(way, at, seen, database, writes)
            now = text_of(postgres, database)
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
def test_a_read_cut_at_any_message_is_whole_or_none(
    postgres: Running, database: str, step: int
) -> None:
    whole = metastore(postgres.port, database).read()
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


@pytest.mark.parametrize("kind", ["json", "jsonb"])
def test_a_column_of_another_type_keeps_it(postgres: Running, database: str, kind: str) -> None:
    with connected(postgres, database) as server:
        server.execute(
            f"ALTER TABLE indexes ALTER COLUMN index_metadata_json TYPE {kind} "
            f"USING index_metadata_json::{kind}"
        )
    store = metastore(postgres.port, database)
    before, step = text_of(postgres, database), step_of(store)
    assert step.writes[0].before is not None
    first = step.writes[0].before.attributes
    assert store.write(step, "token") is WriteResult.APPLIED
    now = store.get([ZERO, TWO])
    back = Step("back", (
        Write(ZERO, Update(first), now[ZERO], "a test", ("position",)),
        Write(TWO, Delete(), now[TWO], "a test", ("position",)),
    ))
    assert store.write(back, "token") is WriteResult.APPLIED
    assert text_of(postgres, database) == before


def test_an_entry_that_jsonb_puts_in_its_own_order_is_written(
    postgres: Running, database: str
) -> None:
    """PostgreSQL's manual: jsonb does not preserve the order of object keys."""
    with connected(postgres, database) as server:
        server.execute(
            "ALTER TABLE indexes ALTER COLUMN index_metadata_json TYPE jsonb "
            "USING index_metadata_json::jsonb"
        )
    store = metastore(postgres.port, database)
    row = store.get([ZERO])[ZERO]
    assert row is not None
    gone = Write(ZERO, Delete(), row, "a test", ("position",))
    comes = Write(ZERO, Create(row.attributes), None, "a test")
    for write in (gone, comes):
        assert store.write(Step("one", (write,)), "token") is WriteResult.APPLIED
    assert store.get([ZERO])[ZERO] == row


def test_a_column_of_no_text(postgres: Running, database: str) -> None:
    with connected(postgres, database) as server:
        server.execute(
            "ALTER TABLE indexes ALTER COLUMN index_metadata_json TYPE bytea "
            "USING convert_to(index_metadata_json, 'UTF8')"
        )
    with pytest.raises(UsageError, match="is bytea"):
        metastore(postgres.port, database).read()


@pytest.mark.parametrize("index", ["", "events"])
def test_an_index_whose_text_is_null_is_named(
    postgres: Running, database: str, index: str
) -> None:
    """Somebody has altered the column. Every verb reads the table in this way, and `snapshot` too.
    """
    with connected(postgres, database) as server:
        server.execute("ALTER TABLE indexes ALTER COLUMN index_metadata_json DROP NOT NULL")
        server.execute("UPDATE indexes SET index_metadata_json = NULL")
    store = metastore(postgres.port, database, index)
    (row,) = store.read()
    assert row.key == "events" and "index events" in str(row.attributes)
    with pytest.raises(UsageError, match="index events"):
        store.get([ZERO])


def test_an_index_that_went_away_is_not_written(postgres: Running, database: str) -> None:
    store = metastore(postgres.port, database)
    step = step_of(store)
    with connected(postgres, database) as server:
        server.execute("DELETE FROM indexes")
    assert store.get([ZERO]) == {ZERO: None}
    assert store.write(step, "token") is WriteResult.CONFLICT


def test_a_step_is_of_one_index(postgres: Running, database: str) -> None:
    store = metastore(postgres.port, database)
    row = store.get([ZERO])[ZERO]
    assert row is not None and store.get([]) == {}
    elsewhere = Write("other/s/shardId-000000000000", Create(row.attributes), None, "a test")
    here = Write(ZERO, Delete(), row, "a test", ("position",))
    with pytest.raises(UsageError, match="a step writes 2 indexes"):
        store.write(Step("two", (here, elsewhere)), "token")


STATES = {
    "other sources": ("UPDATE indexes SET index_metadata_json = replace(index_metadata_json, "
                      "'\"source_type\":\"kinesis\"', '\"source_type\":\"void\"')",
                      "no index here has a Kinesis source"),
    "another uid": ("UPDATE indexes SET index_uid = 'events:01M7Y8Y2RK6PTVMG2G2Z4AMAK9'",
                    "its text is of events:"),
    "no migration": ("DELETE FROM _sqlx_migrations", "has nothing in _sqlx_migrations"),
}  # fmt: skip


@pytest.mark.parametrize("name", STATES)
def test_a_metastore_without_positions(postgres: Running, database: str, name: str) -> None:
    statement, words = STATES[name]
    with connected(postgres, database) as server:
        server.execute(statement)
    with pytest.raises(UsageError, match=words):
        metastore(postgres.port, database).read()


TRIGGERS = {
    "refuses": ("RAISE EXCEPTION 'positions are frozen'", "positions are frozen"),
    "skips": ("RETURN NULL", "would keep another text"),
    "changes": ("NEW.index_metadata_json = OLD.index_metadata_json; RETURN NEW", "another text"),
}


@pytest.mark.parametrize("name", TRIGGERS)
def test_what_a_trigger_does_not_let_through_is_refused(
    postgres: Running, database: str, name: str
) -> None:
    body, words = TRIGGERS[name]
    store = metastore(postgres.port, database)
    step, before = step_of(store), text_of(postgres, database)
    with connected(postgres, database) as server:
        server.execute(
            f"CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body}; END $$"
        )
        server.execute(
            "CREATE TRIGGER no BEFORE UPDATE ON indexes FOR EACH ROW EXECUTE FUNCTION f()"
        )
    with pytest.raises(Refused, match=words):
        store.write(step, "token")
    assert text_of(postgres, database) == before


def test_a_row_that_a_policy_hides_from_writes_is_refused(
    postgres: Running, database: str
) -> None:
    """SELECT … FOR UPDATE finds no row then, as if the index were gone."""
    with connected(postgres, database) as server:
        server.execute("CREATE ROLE reader LOGIN PASSWORD 'x'")
        server.execute("GRANT SELECT, UPDATE ON ALL TABLES IN SCHEMA public TO reader")
        server.execute("ALTER TABLE indexes ENABLE ROW LEVEL SECURITY")
        server.execute("CREATE POLICY p ON indexes FOR SELECT USING (true)")
    address = address_of(f"reader@127.0.0.1:{postgres.port}/{database}", "x")
    store = Metastore(
        Postgres(address), lambda _seconds: None, partial(Document, ROW), enabled, ""
    )
    with pytest.raises(Refused, match="lets this user read it, and not write it"):
        store.write(step_of(store), "token")


def test_a_guard_that_does_not_hold_writes_nothing(postgres: Running, database: str) -> None:
    store = metastore(postgres.port, database)
    step = step_of(store)
    assert store.write(step, "token") is WriteResult.APPLIED
    after = text_of(postgres, database)
    assert store.write(step, "token") is WriteResult.CONFLICT
    assert text_of(postgres, database) == after


def test_a_source_that_is_switched_on_after_it_was_read_is_not_written(
    postgres: Running, database: str
) -> None:
    on, off = '"enabled":true', '"enabled":false'
    put(postgres, database, text_of(postgres, database).replace(on, off))
    store = metastore(postgres.port, database)
    store.read()
    step = step_of(store)
    enabled = text_of(postgres, database).replace(off, on)
    put(postgres, database, enabled)
    assert store.write(step, "token") is WriteResult.CONFLICT
    assert text_of(postgres, database) == enabled
    put(postgres, database, enabled.replace(on, off))
    assert store.write(step, "token") is WriteResult.APPLIED


def test_an_index_made_anew_is_another_store(postgres: Running, database: str) -> None:
    before = metastore(postgres.port, database, "events").identity()
    text = text_of(postgres, database)
    with connected(postgres, database) as server:
        uid = "events:01M7Y8Y2RK6PTVMG2G2Z4AMAK9"
        old = before["indexes"]
        server.execute("UPDATE indexes SET index_uid = %s, index_metadata_json = %s",
                       [uid, text.replace(old, uid)])
    assert metastore(postgres.port, database, "events").identity() != before
