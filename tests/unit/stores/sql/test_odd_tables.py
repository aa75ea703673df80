"""Tables that people make beside the README's: what the library uses is compared, the rest kept.

The library's queries (store/postgres and store/mysql of harlow/kinesis-consumer v0.5.0) are run
beside ours: `SELECT sequence_number FROM t WHERE namespace = … AND shard_id = …`.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pymysql
import pytest
from msgspec.structs import replace

from reshardctl.consumers.kinesis_consumer.spec import KINESIS_CONSUMER
from reshardctl.errors import Refused, UsageError
from reshardctl.model import Image, Write
from reshardctl.model.images import OTHER_COLUMNS, SAME_KEY
from reshardctl.model.write_state import WriteResult
from reshardctl.planning.restore import Restore
from reshardctl.stores.sql import SqlTable
from reshardctl.stores.sql.server import compared
from tests.contracts.store_contract import create, delete, step
from tests.support.servers import Running
from tests.unit.stores.sql.test_contract import NUMBER, Table
from tests.unit.stores.sql.test_contract import moved as moved_to

APP = "pay"
SHARD = "shardId-000000000001"
OTHER = "shardId-000000000002"
KEYS = {
    "postgres": "namespace text, shard_id text, sequence_number numeric",
    "mysql": "namespace varchar(255), shard_id varchar(255), sequence_number numeric(65,0)",
}
PRIMARY = "PRIMARY KEY (namespace, shard_id)"
FILLED = {
    "postgres": {
        "default": ["updated_at timestamptz DEFAULT clock_timestamp()"],
        "local-time": ["updated_at timestamp DEFAULT clock_timestamp()"],
        "counted": ["id bigserial UNIQUE", "n int GENERATED ALWAYS AS IDENTITY"],
        "generated": ["twice numeric GENERATED ALWAYS AS (sequence_number * 2) STORED"],
        "odd-types": [
            "a int[] DEFAULT '{1,2}'", "b bytea DEFAULT '\\xff00'",
            "c interval DEFAULT '1 mon 3 d'",
            "d double precision DEFAULT 0.1", "e money DEFAULT 12.5", "f json DEFAULT '{}'",
            "g real DEFAULT 0.1", "h timestamptz DEFAULT '2026-10-25 02:30+01'", "i bit(10)",
            "j char(9) DEFAULT 'x'",
        ],
    },
    "mysql": {
        "default": ["updated_at timestamp(6) DEFAULT CURRENT_TIMESTAMP(6)"],
        "on-update": [
            "updated_at timestamp(6) DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6)"
        ],
        "counted": ["id bigint AUTO_INCREMENT UNIQUE"],
        "generated": ["twice varchar(99) AS (concat(shard_id, 'x')) STORED"],
        "odd-types": [
            "a blob DEFAULT x'ff00fe'", "b bit(10) DEFAULT b'101'", "c float DEFAULT 123456.789",
            "d double DEFAULT 1.1", "e varbinary(9) DEFAULT x'00ff'", "f json DEFAULT '{}'",
            "g timestamp NULL DEFAULT '2026-10-25 02:30:00'", "h enum('a','b') DEFAULT 'b'",
            "i geometry", "j char(9) CHARACTER SET latin1 DEFAULT 'é'",
            "k timestamp NULL DEFAULT CURRENT_TIMESTAMP", "l decimal(5,2) ZEROFILL DEFAULT 1.5",
        ],
    },
}  # fmt: skip


class Odd(Table):
    """A table of these columns."""

    def __init__(self, running: tuple[str, Running], *further: str, keys: str = "") -> None:
        super().__init__(*running)
        kind = running[0]
        heads = KINESIS_CONSUMER.heads({"app": APP}, "orders")
        self.exact = ""
        self.shape = dataclasses.replace(self.shape, heads=heads)
        self.sql("DROP TABLE {t}")
        columns = ", ".join([keys or KEYS[kind], *further])
        self.sql(f"CREATE TABLE {{t}} ({columns})")

    def store(self) -> SqlTable:
        store: SqlTable = self.inner()
        return store

    def put(self, space: str, shard: str, number: int, **more: Any) -> None:
        names = ["namespace", "shard_id", "sequence_number", *more]
        marks = ", ".join(["%s"] * len(names))
        statement = f"INSERT INTO {self.shape.name} ({', '.join(names)}) VALUES ({marks})"  # noqa: S608
        self.sql(statement, space, shard, str(number), *more.values())

    def asked(self, space: str = f"{APP}-orders", shard: str = SHARD) -> int | None:
        """The library's own query, and what it takes of the answer."""
        where = "WHERE namespace = %s AND shard_id = %s"
        rows = self.sql(f"SELECT sequence_number FROM {self.shape.name} {where}", space, shard)  # noqa: S608
        return int(rows[0][0]) if rows else None

    def all(self) -> list[Any]:
        return sorted(self.sql(f"SELECT *{self.exact} FROM {self.shape.name}"), key=repr)  # noqa: S608


@pytest.fixture
def make(running: tuple[str, Running]) -> Iterator[Any]:
    made: list[Odd] = []

    def one(*further: str, keys: str = "") -> Odd:
        made.append(Odd(running, *further, keys=keys))
        return made[-1]

    yield one
    for table in made:
        table.connection.close()


def key(shard: str = SHARD) -> str:
    return f"{APP}-orders/{shard}"


def fresh(number: int, shard: str = SHARD) -> Write:
    own = {"namespace": {"S": f"{APP}-orders"}, "shard_id": {"S": shard}}
    return create(Image(key(shard), {**own, "sequence_number": {"S": str(number)}}))


def moved(image: Image, number: int) -> Write:
    return moved_to(image, str(number), OTHER_COLUMNS)


def gone(image: Image) -> Write:
    return delete(image, *sorted(image.attributes.keys() - {"namespace", "shard_id"}))


def done(table: Odd, *writes: Write) -> bool:
    return table.store().write(step(*writes), "t") is WriteResult.APPLIED


def only(table: Odd) -> Image:
    (image,) = table.store().read()
    return image


@pytest.mark.only(lambda running, name: name in FILLED[running], "not possible there")
@pytest.mark.parametrize("name", sorted(FILLED["postgres"] | FILLED["mysql"]))
def test_a_deleted_row_is_put_back_whole(make, running, name):
    """Whatever its columns are: bytes, times in other zones, counters, NULL beside a default."""
    table = make(*FILLED[running[0]][name], PRIMARY)
    table.put(f"{APP}-orders", SHARD, NUMBER)
    if name == "odd-types" and running[0] == "mysql":
        point = "ST_GeomFromText('POINT(1 2)', 4326)"
        table.sql(f"UPDATE {table.shape.name} SET i = {point}, k = NULL")  # noqa: S608
        table.exact = ", c + 0e0"  # as text it has six digits
    before, image = table.all(), only(table)
    assert done(table, gone(image))
    assert table.all() == []
    back = Restore(frozenset(), frozenset(), frozenset())(gone(image), image, None, None)
    assert back is not None
    with in_tokyo(table, running):
        assert done(table, back)
    assert table.all() == before


@contextmanager
def in_tokyo(table: Odd, running: tuple[str, Running]) -> Iterator[None]:
    """New sessions begin in another time zone."""
    if running[0] == "mysql":
        as_root(running[1], "SET GLOBAL time_zone = '+09:00'")
    else:
        table.sql("ALTER ROLE CURRENT_USER SET TimeZone = 'Asia/Tokyo'")
    try:
        yield
    finally:
        if running[0] == "mysql":
            as_root(running[1], "SET GLOBAL time_zone = 'SYSTEM'")
        else:
            table.sql("ALTER ROLE CURRENT_USER RESET TimeZone")


@pytest.mark.only(lambda running, name: name in FILLED[running], "not possible there")
@pytest.mark.parametrize("name", sorted(FILLED["postgres"] | FILLED["mysql"]))
def test_what_the_database_fills_is_compared_by_nobody(make, running, name):
    table = make(*FILLED[running[0]][name], PRIMARY)
    assert done(table, fresh(NUMBER))
    created = only(table)
    assert {n for n in created.attributes if n != OTHER_COLUMNS} == {
        "namespace", "shard_id", "sequence_number"
    }
    assert done(table, moved(created, NUMBER + 1))
    if "updated_at" in str(FILLED[running[0]][name]):
        table.sql(f"UPDATE {table.shape.name} SET updated_at = '2001-01-01'")  # noqa: S608
    after = only(table)
    stale = replace(created, attributes={
        **created.attributes, "sequence_number": {"S": str(NUMBER + 1)},
    })
    assert table.asked() == NUMBER + 1
    assert done(table, moved(stale, NUMBER + 2))
    assert not done(table, moved(stale, NUMBER + 3)), "the position did move"
    assert done(table, gone(replace(stale, attributes={
        **stale.attributes, "sequence_number": {"S": str(NUMBER + 2)},
    })))
    assert after.key == key()


def test_defaults_are_filled_in_the_zone_of_the_session(make, running):
    when = "timestamp" if running[0] == "postgres" else "datetime"
    table = make(f"updated_at {when} DEFAULT current_timestamp", PRIMARY)
    with in_tokyo(table, running):
        assert done(table, fresh(NUMBER))
    hours = {
        "postgres": "round(extract(epoch FROM updated_at - (now() AT TIME ZONE 'UTC')) / 3600)",
        "mysql": "round(timestampdiff(second, utc_timestamp(), updated_at) / 3600)",
    }[running[0]]
    assert table.sql(f"SELECT {hours} FROM {table.shape.name}") == [(9,)]  # noqa: S608


TRIGGERS = {
    "postgres": [
        "CREATE OR REPLACE FUNCTION {t}_f() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN NEW.updated_at = clock_timestamp(); RETURN NEW; END $$",
        "CREATE TRIGGER touch BEFORE INSERT OR UPDATE ON {t} FOR EACH ROW EXECUTE FUNCTION {t}_f()",
    ],
    "mysql": [
        f"CREATE TRIGGER {{t}}_{verb} BEFORE {verb} ON {{t}} FOR EACH ROW "
        "SET NEW.updated_at = SYSDATE(6)" for verb in ("INSERT", "UPDATE")
    ],
}


def test_a_column_that_a_trigger_sets(make: Any, running: tuple[str, Running]) -> None:
    when = {"postgres": "timestamptz", "mysql": "timestamp(6) NULL"}[running[0]]
    table = make(f"updated_at {when}", PRIMARY)
    for statement in TRIGGERS[running[0]]:
        table.sql(statement)
    table.put(f"{APP}-orders", SHARD, NUMBER)
    image = only(table)
    assert done(table, moved(image, NUMBER + 1))
    assert done(table, moved(only(table), NUMBER))
    assert done(table, gone(image))
    assert done(table, create(image))
    assert table.asked() == NUMBER
    assert only(table).attributes[OTHER_COLUMNS] != image.attributes[OTHER_COLUMNS]


def test_a_column_that_keeps_less_than_it_held_is_refused(make, running):
    """No trigger explains it: the row would not be what was deleted."""
    table = make("note varchar(20)", "rate numeric(9,4)", PRIMARY)
    table.put(f"{APP}-orders", SHARD, NUMBER, note="long enough", rate="1.2345")
    image = only(table)
    assert done(table, gone(image))
    change = "ALTER COLUMN rate TYPE" if running[0] == "postgres" else "MODIFY rate"
    table.sql(f"ALTER TABLE {table.shape.name} {change} numeric(9,2)")
    with pytest.raises(Refused, match=r"rate of .* would be kept as 1\.23"):
        done(table, create(image))
    assert table.all() == []


# no unique key


def test_rows_of_one_key_are_named_and_not_written(make: Any) -> None:
    table = make()
    for number in (NUMBER, NUMBER + 4):
        table.put(f"{APP}-orders", SHARD, number)
    table.put(f"{APP}-orders", OTHER, NUMBER)
    before = table.all()
    first, other = table.store().read()
    assert int(first.attributes["sequence_number"]["S"]) == table.asked() == NUMBER
    assert first.attributes[SAME_KEY] == {
        "M": {"count": {"N": "1"}, "next": {"L": [{"S": str(NUMBER + 4)}]}}
    }
    for write in (moved(first, NUMBER + 9), gone(first), fresh(NUMBER)):
        with pytest.raises(Refused, match=f"2 rows are {key()} .at {NUMBER}, {NUMBER + 4}"):
            done(table, write)
    with pytest.raises(Refused, match="no unique key") as refused:
        done(table, moved(other, NUMBER + 9))
    assert "ADD PRIMARY KEY (namespace, shard_id)" in refused.value.next
    assert table.all() == before


def test_of_many_rows_of_one_key_a_few_are_kept(make: Any) -> None:
    """REPLACE adds one at each flush, for as long as the application runs."""
    table = make()
    for number in range(40):
        table.put(f"{APP}-orders", SHARD, NUMBER + number)
    same = only(table).attributes[SAME_KEY]["M"]
    assert (same["count"], len(same["next"]["L"])) == ({"N": "39"}, 5)


def test_the_library_keeps_no_position_without_a_unique_key(make, running):
    """What the refusal says: save() of store/postgres and store/mysql, statement by statement."""
    table = make()
    name = table.shape.name
    given = [f"{APP}-orders", SHARD, str(NUMBER)]
    if running[0] == "postgres":
        upsert = (
            f"INSERT INTO {name} (namespace, shard_id, sequence_number) VALUES (%s, %s, %s) "  # noqa: S608
            "ON CONFLICT (namespace, shard_id) DO UPDATE SET sequence_number= %s"
        )
        with pytest.raises(Exception, match="no unique or exclusion constraint"):
            table.sql(upsert, *given, str(NUMBER))
        return
    for number in range(3):
        upsert = f"REPLACE INTO {name} (namespace, shard_id, sequence_number) VALUES (%s, %s, %s)"  # noqa: S608
        table.sql(upsert, *given[:2], str(NUMBER + number))
    assert table.asked() == NUMBER
    assert len(table.all()) == 3


@pytest.mark.parametrize("index", [
    PRIMARY, "UNIQUE (shard_id, namespace)", "UNIQUE (shard_id)", "UNIQUE (sequence_number)", "",
])  # fmt: skip
def test_which_keys_keep_rows_apart(make: Any, index: str) -> None:
    table = make(*[index] if index else [])
    if index and "sequence" not in index:
        assert done(table, fresh(NUMBER))
    else:
        with pytest.raises(Refused, match="no unique key"):
            done(table, fresh(NUMBER))


@pytest.mark.only(lambda running: running == "postgres", "MariaDB has no partial index")
def test_a_partial_key_keeps_nothing_apart(make: Any) -> None:
    table = make()
    name = table.shape.name
    table.sql(f"CREATE UNIQUE INDEX ON {name} (namespace, shard_id) WHERE sequence_number > 9")
    with pytest.raises(Refused, match="no unique key"):
        done(table, fresh(NUMBER))


# what is equal to the database

SPELLINGS = [
    (f"{APP}-orders", SHARD), ("Pay-orders", SHARD), ("PAY-orders ", SHARD),
    (f"{APP}-orders", SHARD.upper()), (f"{APP}-orders", SHARD + "  "), ("päy-orders", SHARD),
    (f"{APP}-Orders", SHARD), ("PAY-ÖRDERS ", SHARD), (f"{APP}-Orders-2", SHARD),
]  # fmt: skip
COLUMNS = {
    "postgres": {
        "text": ("text", "text"), "char": ("char(40)", "char(40)"),
        "icu": ('text COLLATE "odd"', 'text COLLATE "odd"'), "citext": ("citext", "citext"),
    },
    "mysql": {
        collation: (f"varchar(255) COLLATE {collation}",) * 2
        for collation in ("utf8mb4_general_ci", "utf8mb4_bin", "utf8mb4_unicode_nopad_ci")
    } | {
        "binary": ("varbinary(255)",) * 2, "char": ("char(40)",) * 2, "text": ("text", "text"),
        "mixed": ("varchar(255) COLLATE utf8mb4_bin", "varchar(255) COLLATE utf8mb4_general_ci"),
    },
}  # fmt: skip


@pytest.mark.only(lambda running, columns: columns in COLUMNS[running], "not possible there")
@pytest.mark.parametrize("columns", sorted(COLUMNS["postgres"] | COLUMNS["mysql"]))
def test_a_row_is_the_application_s_where_the_library_finds_it(make, running, columns):
    """Alone in a table, in any spelling. And then it is moved, deleted and put back by the name
    that the library asks for."""
    first, second = COLUMNS[running[0]][columns]
    number = KEYS[running[0]].rpartition(", ")[2]
    keys = f"namespace {first} NOT NULL, shard_id {second} NOT NULL, {number}"
    table = made_with(make, keys, columns)
    prefix = "(100)" if running[0] == "mysql" and columns == "text" else ""
    name = table.shape.name
    table.sql(f"CREATE UNIQUE INDEX {name}_k ON {name} (namespace{prefix}, shard_id{prefix})")
    numbers = []
    for space, shard in SPELLINGS:
        table.sql(f"DELETE FROM {name}")  # noqa: S608
        table.put(space, shard, NUMBER)
        numbers.append(table.asked())
        is_the_librarys(table, found=numbers[-1] is not None)
    assert numbers[0] == NUMBER and None in numbers


def test_a_name_that_is_longer_than_its_column_is_no_row_s(make, running):
    """An explicit cast to varchar(n) cuts it off (PostgreSQL's manual, "Character Types")."""
    number = KEYS[running[0]].rpartition(", ")[2]
    table = make(keys=f"namespace varchar(99), shard_id varchar({len(SHARD)}), {number}")
    table.put(f"{APP}-orders", SHARD, NUMBER)
    longer = SHARD + "0"
    assert table.asked(shard=longer) is None
    assert table.store().get([key(longer)]) == {key(longer): None}


@pytest.mark.only(lambda running: running == "mysql", "a matter of MySQL's collations")
def test_a_row_that_only_the_database_takes_for_another_one(make: Any) -> None:
    """utf8mb4_general_ci compares ß with s (MySQL 8.0 Reference Manual, "Unicode Character Sets").
    Asked for one row, its word counts; of several, nothing tells which one it means."""
    text = "varchar(255) COLLATE utf8mb4_general_ci NOT NULL"
    number = KEYS["mysql"].rpartition(", ")[2]
    table = make(keys=f"namespace {text}, shard_id {text}, {number}, {PRIMARY}")
    table.put(f"{APP}-orders", "s", NUMBER)
    found = table.store().get([key("ß")])[key("ß")]
    assert found is not None and table.asked(shard="ß") == NUMBER
    with pytest.raises(UsageError, match="takes row pay-orders/s for one of another name"):
        table.store().get([key("ß"), key("x")])


def is_the_librarys(table: Odd, *, found: bool) -> None:
    """The only row of a table; found: by the library, by its own query."""
    image = only(table)
    assert (image.key == key()) is found, table.all()
    assert (table.store().get([key()])[key()] is not None) is found, table.all()
    if not found:
        return
    before = table.all()
    assert not done(table, fresh(NUMBER + 5)), "there is one already"
    assert done(table, moved(image, NUMBER + 1))
    assert table.asked() == NUMBER + 1
    assert done(table, moved(only(table), NUMBER))
    assert table.all() == before
    assert done(table, gone(image))
    assert done(table, create(image))
    assert table.all() == before


def made_with(make: Any, keys: str, columns: str) -> Odd:
    if columns in ("icu", "citext"):
        table: Odd = make()
        table.connection.rollback()
        try:
            if columns == "citext":
                table.sql("CREATE EXTENSION IF NOT EXISTS citext")
            else:
                table.sql(
                    "CREATE COLLATION IF NOT EXISTS odd "
                    "(provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
                )
        except Exception as error:  # an optional part of PostgreSQL
            pytest.skip(str(error))
    made: Odd = make(keys=keys)
    return made


@pytest.mark.parametrize("count", [4, pytest.param(12, marks=pytest.mark.long)])
def test_drawn_tables(make: Any, running: tuple[str, Running], count: int) -> None:
    """Rows of any spelling and number, with and without a key: read as the library reads them, and
    either written there alone and put back, or refused with nothing changed."""
    kind = running[0]
    for seed in range(60_000, 60_000 + count):
        drawn = random.Random(seed)
        further = list(drawn.choice(list(FILLED[kind].values())))
        keyed = drawn.random() < 0.6
        table = make(*further, *[PRIMARY] if keyed else [])
        for n in range(drawn.randrange(1, 7)):
            space, shard = drawn.choice([*SPELLINGS, (f"{APP}-orders", OTHER), ("csv", "shard_id")])
            try:
                table.put(space, shard, NUMBER + n)
            except Exception:  # the key forbids it
                table.connection.rollback()
        before, images = table.all(), {image.key: image for image in table.store().read()}
        for shard in (SHARD, OTHER):
            image = images.get(key(shard))
            number = table.asked(shard=shard)
            assert (image is None) is (number is None), seed
            if image is None:
                write = fresh(NUMBER + 99, shard)
            else:
                assert image.attributes["sequence_number"]["S"] == str(number), seed
                write = gone(image)
            try:
                assert done(table, write), seed
            except Refused:
                assert not keyed, seed
                assert table.all() == before, seed
                continue
            assert keyed, seed
            assert (table.asked(shard=shard) is None) is (image is not None), seed
            made = table.store().get([key(shard)])[key(shard)]
            back = create(image) if image else gone(made)
            assert done(table, back), seed
            assert table.all() == before, seed


@pytest.mark.parametrize(("first", "second", "collation", "equal"), [
    ("Pay", "pay", "utf8mb4_general_ci", True), ("pay", "päy", "utf8mb4_0900_ai_ci", True),
    ("pay", "päy", "utf8mb4_0900_as_ci", False), ("pay", "pay ", "utf8mb4_bin", True),
    ("pay", "pay ", "utf8mb4_0900_ai_ci", False), ("Pay", "pay", "utf8mb4_bin", False),
    ("Pay", "pay", "", False), ("pay", "pay ", "", False),
])  # fmt: skip
def test_what_collations_compare(first: str, second: str, collation: str, equal: bool) -> None:
    """MySQL 8.0 Reference Manual, "Character Sets, Collations, Unicode"."""
    assert (compared(first, collation) == compared(second, collation)) is equal


# identity

MAINTAINED = {
    "postgres": [
        "VACUUM FULL {t}", "CLUSTER {t} USING {t}_pkey", "ALTER TABLE {t} ADD note text",
        "REINDEX TABLE {t}", "ALTER TABLE {t} ALTER note TYPE varchar(9)", "ANALYZE {t}",
        "SET TIME ZONE 'Asia/Tokyo'",
    ],
    "mysql": [
        "OPTIMIZE TABLE {t}", "ALTER TABLE {t} ADD note varchar(9)", "ANALYZE TABLE {t}",
        "ALTER TABLE {t} FORCE", "ALTER TABLE {t} ENGINE=InnoDB", "SET GLOBAL time_zone = '+05:00'",
    ],
}


def test_the_identity_survives_maintenance(make: Any, running: tuple[str, Running]) -> None:
    kind, server = running
    table = make(PRIMARY)
    identity = table.store().identity()
    table.connection.rollback()
    if kind == "postgres":
        table.connection.autocommit = True
    try:
        for statement in MAINTAINED[kind]:
            statement = statement.replace("{t}", table.shape.name)
            if statement.startswith("SET GLOBAL"):
                as_root(server, statement)
            else:
                table.sql(statement)
            assert table.store().identity() == identity, statement
    finally:
        if kind == "mysql":
            as_root(server, "SET GLOBAL time_zone = 'SYSTEM'")


def as_root(server: Running, statement: str) -> None:
    root = pymysql.connect(unix_socket=str(server.folder / "socket"), user="root")
    with root, root.cursor() as cursor:
        cursor.execute(statement)


@pytest.mark.only(lambda running: running == "postgres", "MySQL keeps no identity of a table")
def test_another_table_of_the_name_is_another(make: Any) -> None:
    table = make(PRIMARY)
    identity = table.store().identity()
    table.sql("DROP TABLE {t}")
    table.sql(f"CREATE TABLE {table.shape.name} ({KEYS['postgres']}, {PRIMARY})")
    assert table.store().identity() != identity
