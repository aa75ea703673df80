"""kinesis-consumer on the command line, on a real Redis, PostgreSQL and MariaDB."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.cli.end_to_end import fixed_cases, repaired
from tests.cli.lab import fake_of, option_words
from tests.cli.position_stores import StoreLab, store_lab
from tests.cli.restoring import set_restored_and_undone_twice
from tests.support.case import CASES, Case, Expect, load
from tests.support.covering import in_turn
from tests.support.dialects import kinesis_consumer as dialect
from tests.support.servers import PASSWORD, USER, Running

SAID = "?app=app&initial=TRIM_HORIZON&release=0.5"
VARIABLE = {"redis": "REDISCLI_AUTH", "postgres": "PGPASSWORD", "mysql": "MYSQL_PWD"}
Made = Callable[..., StoreLab]


KINDS = [pytest.param(kind, marks=pytest.mark.needs(kind)) for kind in VARIABLE]


@pytest.fixture(scope="module", params=KINDS)
def running(request: pytest.FixtureRequest, database: Callable[[str], Running]) -> Any:
    return request.param, database(request.param)


@pytest.fixture
def made(running, base_of, entered, tmp_path, monkeypatch) -> Made:
    """A lab of a case, by the case or by its file's name, with the password in its place."""
    kind, server = running
    monkeypatch.setenv(VARIABLE[kind], PASSWORD)
    monkeypatch.setenv("HOME", str(tmp_path))

    def make(case: Case | str, options: str = SAID) -> StoreLab:
        if isinstance(case, str):
            case = load(CASES / "kinesis-consumer" / f"{case}.toml")
        lab = base_of(fake_of(case))
        lab.options = options
        return entered.enter_context(store_lab(lab, kind, server, dialect.images(case)))

    return make


def _plain(case: Case) -> bool:
    """Whether every row is one that all of these stores can hold."""
    rows = [image.attributes for image in dialect.images(case)]
    return bool(rows) and all(
        set(row) == {"namespace", "shard_id", "sequence_number"}
        and row["sequence_number"].get("S", "").isdigit() for row in rows
    ) and not case.state.get("items")


def _newest(expect: Expect) -> Iterator[tuple[str, str]]:
    """Telegraf keeps positions in DynamoDB alone."""
    releases = [release for release in expect.releases if not release.startswith("telegraf")]
    yield from ((expect.initial[0], release) for release in releases[-1:])


@pytest.mark.long
@pytest.mark.parametrize(("case", "initial", "release", "expect"), list(
    fixed_cases("kinesis-consumer", pairs=_newest, holds=_plain)
))
def test_a_case_from_end_to_end(made, case, initial, release, expect):
    lab = made(case, option_words(initial, release, case.stream["created"]) + "&app=app")
    repaired(lab, case, expect, lambda shard: f"app-orders/shardId-{shard:012d}")
    for path in lab.journals():
        assert PASSWORD not in path.read_text()


# passwords


def test_a_password_in_the_locator_works_is_warned_about_and_is_nowhere(
    made, monkeypatch, running, tmp_path
):
    lab = made("a")
    monkeypatch.delenv(VARIABLE[running[0]])
    user = "" if running[0] == "redis" else USER
    shown = f"{user}:***@"
    full = lab.locator.replace("://" + (f"{user}@" if user else ""), f"://{user}:{PASSWORD}@")
    seen = lab.cli("inspect", full, "--stream", "orders", "--format", "json")
    assert seen.code in (0, 1), seen.err
    assert "warning: a password on the command line" in seen.err
    assert shown in seen.out
    plan = tmp_path / "a.plan"
    kept = tmp_path / "a.snapshot"
    made_it = lab.cli("fix", full, "--stream", "orders", "--dry-run", "--out", plan)
    lab.cli("snapshot", full, "--stream", "orders", "-o", kept)
    texts = [seen.out, seen.err, made_it.out, made_it.err, kept.read_text()]
    if plan.exists():
        texts.append(plan.read_text())
    assert not [text for text in texts if PASSWORD in text]


def test_a_wrong_password_is_not_shown(made, monkeypatch, running):
    lab = made("a")
    monkeypatch.setenv(VARIABLE[running[0]], "wr0ng-secret")
    seen = lab.inspect()
    words = "invalid username-password" if running[0] == "redis" else "cannot be reached"
    assert seen.code == 3 and seen.says(words, VARIABLE[running[0]])
    assert "wr0ng-secret" not in seen.err


@pytest.mark.only(lambda running: running != "redis", "redis-cli has no file for passwords")
def test_a_password_file_is_read(made, monkeypatch, running, tmp_path):
    lab = made("a")
    kind, server = running
    monkeypatch.delenv(VARIABLE[kind])
    if kind == "postgres":
        file = tmp_path / "pgpass"
        file.write_text(f"127.0.0.1:{server.port}:positions:{USER}:{PASSWORD}\n")
        monkeypatch.setenv("PGPASSFILE", str(file))
    else:
        file = tmp_path / ".my.cnf"
        # Its host and socket are another server's: only the locator says where to write.
        file.write_text(
            f"[client]\nuser={USER}\npassword='{PASSWORD}'\nhost=192.0.2.1\nsocket=/nowhere\n"
        )
    file.chmod(0o600)
    assert lab.inspect().code in (0, 1)


def test_the_environment_names_no_other_server(made, monkeypatch):
    lab = made("a")
    for name, value in {
        "PGHOSTADDR": "192.0.2.1", "PGHOST": "192.0.2.1", "PGPORT": "1", "PGDATABASE": "other",
        "PGOPTIONS": "-c search_path=nowhere", "MYSQL_HOST": "192.0.2.1",
        "MYSQL_TCP_PORT": "1", "REDIS_URL": "redis://192.0.2.1/0",
    }.items():
        monkeypatch.setenv(name, value)
    assert lab.inspect().code in (0, 1)


# bad input


def test_no_server(made):
    lab = made("a")
    locator = lab.locator.replace(f":{lab.running.port}", ":1")
    seen = lab.cli("inspect", locator, "--stream", "orders")
    assert seen.code == 3 and seen.says("127.0.0.1:1/", "check host")


def test_a_wrong_database_or_table(made, running):
    lab = made("a")
    if running[0] == "redis":
        seen = lab.cli("inspect", lab.locator.replace("/" + lab.table_name + "?", "/99?"),
                       "--stream", "orders")
        assert seen.code == 3 and seen.says("DB index is out of range")
        return
    other = lab.locator.replace("/positions?", "/nowhere?")
    seen = lab.cli("inspect", other, "--stream", "orders")
    known = running[0] == "postgres"  # MySQL answers the same for a database without a GRANT
    words = "name the right database" if known else "check host, port and user"
    assert seen.code == (2 if known else 3) and seen.says("nowhere", words)
    wrong = lab.locator.replace(f"table={lab.table_name}", "table=nothing_of_the_kind")
    seen = lab.cli("inspect", wrong, "--stream", "orders")
    assert seen.code == 2
    place = f"{lab.kind}://{lab.running.target}"
    assert seen.says(f"there is no table nothing_of_the_kind in {place}", "positions_")


def test_an_empty_database_is_named(made):
    """Who is connected to the wrong one is told where nothing was found."""
    lab = made("a")
    locator, place = lab.locator, f"{lab.kind}://{lab.running.target}"
    if lab.kind == "redis":
        locator = locator.replace(f"/{lab.table_name}?", "?")  # 0 is meant, and not written
        lab.handle.execute_command("FLUSHALL")
    else:
        lab.sql(f"DELETE FROM {lab.table_name}")  # noqa: S608
    seen = lab.cli("inspect", locator, "--stream", "orders")
    assert seen.code == 6 and seen.says("holds no position", place)
    waited = lab.cli("inspect", locator, "--stream", "orders", "--wait", "1s", "--until", "crossed")
    assert waited.code == 3 and waited.says("holds no position", place, "check the name")


@pytest.mark.only(lambda running: running != "redis", "Redis has no tables")
def test_a_table_of_another_kind(made):
    lab = made("a")
    lab.sql("CREATE TABLE orders_2 (namespace varchar(9), shard_id varchar(9), other int)")
    wrong = lab.locator.replace(f"table={lab.table_name}", "table=orders_2")
    seen = lab.cli("inspect", wrong, "--stream", "orders")
    assert seen.code == 2 and seen.says("has no column sequence_number", lab.running.target)
    lab.sql("DROP TABLE orders_2")
    lab.sql("CREATE TABLE orders_3 (namespace varchar(9), shard_id varchar(9), "
            "sequence_number double precision)")
    wrong = lab.locator.replace(f"table={lab.table_name}", "table=orders_3")
    seen = lab.cli("inspect", wrong, "--stream", "orders")
    assert seen.code == 2 and seen.says("double", "56 digits", lab.running.target)
    lab.sql("DROP TABLE orders_3")


def test_another_applications_rows_are_left_alone(made):
    lab = made("c")
    lab.put("other-orders", "shardId-000000000000", "49")
    before = lab.numbers()
    lab.fix()
    assert lab.numbers()["other-orders/shardId-000000000000"] == "49"
    assert lab.cli("inspect", lab.locator.replace("app=app", "app=nobody"),
                   "--stream", "orders").code == 6
    assert before.keys() <= lab.numbers().keys()


FOREIGN = [
    ("namespace", "shard_id"), ("app-orders", "shard_id"), ("app-orders", ""), ("", ""),
    ("app-orders", "shardId-x"), ("app-orders", "bak:shardId-000000000000"),
]  # fmt: skip


def test_a_row_of_another_kind_leaves_the_others_judged(made, running):
    """A CSV file's head among them: named, never written, and no reason to refuse the table."""
    lab = made("a", "?app=app&initial=LATEST&release=0.5")
    alone = lab.inspect("--format", "json")
    assert alone.code == 1 and alone.codes
    ours = lab.items()
    for space, shard in FOREIGN:
        lab.restore(ours)
        lab.put(space, shard, "0")
        seen = lab.inspect("--format", "json")
        named = space == "app-orders" or (space, shard) == ("namespace", "shard_id")
        if running[0] == "redis" and (space != "app-orders" or ":" in shard):
            named = False  # it is the key of another application, or of another stream
        found = seen.json["findings"]
        assert [f for f in found if f["code"] != "RSH302"] == alone.json["findings"], shard
        assert ("RSH302" in {f["code"] for f in found}) is named, shard
        before = lab.numbers()
        assert lab.fix("--accept", "reread=99h").code in (0, 1)
        (key,) = before.keys() - ours.keys()
        assert lab.numbers()[key] == before[key] == "0"
        for path in lab.journals():  # of the same second as the next one
            path.unlink()


FURTHER = {
    "postgres": ["updated_at timestamptz DEFAULT clock_timestamp()", "id bigserial"],
    "mysql": [
        "updated_at timestamp(6) DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6)",
        "id bigint AUTO_INCREMENT UNIQUE",
    ],
}
TOUCHING = {
    "postgres": [
        "CREATE OR REPLACE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN NEW.updated_at = clock_timestamp(); RETURN NEW; END $$",
        "CREATE TRIGGER touch BEFORE INSERT OR UPDATE ON {t} FOR EACH ROW EXECUTE FUNCTION touch()",
    ],
    "mysql": [
        f"CREATE TRIGGER {{t}}_{verb} BEFORE {verb} ON {{t}} FOR EACH ROW "
        "SET NEW.updated_at = SYSDATE(6)" for verb in ("INSERT", "UPDATE")
    ],
}


@pytest.mark.only(lambda running: running != "redis", "Redis has no columns")
@pytest.mark.parametrize(("trigger", "killed"), in_turn([False, True], [False, True], every=2))
def test_columns_that_the_database_fills_keep_no_undo(made, trigger, killed):
    """Also that of a fix which was killed right after its COMMIT, and its resumption."""
    lab = made("a", "?app=app&initial=LATEST&release=0.5")
    for column in FURTHER[lab.kind]:
        lab.sql(f"ALTER TABLE {lab.table_name} ADD {column}")
    for statement in TOUCHING[lab.kind] if trigger else ():
        lab.sql(statement.replace("{t}", lab.table_name))
    before = lab.numbers()
    assert lab.fix("--accept", "reread=99h").code in (0, 1)
    written = lab.numbers()
    assert written != before
    (path,) = lab.journals()
    if killed:
        lines = path.read_bytes().splitlines(keepends=True)
        kept = [line for line in lines if json.loads(line)["kind"] in ("header", "intent")]
        path.write_bytes(b"".join(kept))
        assert lab.cli("fix", "--resume", path, "--assume-stopped").code in (0, 1)
        path.write_bytes(b"".join(kept))
    undone = lab.cli("undo", path, "--yes", "--assume-stopped")
    assert undone.code == 0, undone.err
    assert lab.numbers() == before


@pytest.mark.only(lambda running: running != "redis", "a key of Redis is there once")
def test_rows_of_one_key_are_named_and_the_table_is_not_written(made, tmp_path):
    """The library takes the first that the server gives, and so does the forecast."""
    lab = made("a", "?app=app&initial=LATEST&release=0.5")
    alone = lab.inspect("--format", "json")
    ((key, number),) = [pair for pair in lab.numbers().items() if pair[0].startswith("app-orders/")]
    space, _, shard = key.partition("/")
    constraint = "CONSTRAINT " + lab.table_name + "_pk" if lab.kind == "postgres" else "PRIMARY KEY"
    lab.sql(f"ALTER TABLE {lab.table_name} DROP {constraint}")
    lab.sql(f"INSERT INTO {lab.table_name} VALUES (%s, %s, %s)", space, shard, int(number) + 16)  # noqa: S608
    before = lab.sql(f"SELECT * FROM {lab.table_name}")  # noqa: S608
    seen = lab.inspect("--format", "json")
    (named,) = [found for found in seen.json["findings"] if found["code"] == "RSH301"]
    assert f"2 rows are {key}," in str(named) and str(int(number) + 16) in str(named)
    assert "nothing of such a shard is read" not in str(named), "the first one is read"
    others = [f for f in seen.json["findings"] if f["code"] != "RSH301"]
    assert [f["code"] for f in others] == [f["code"] for f in alone.json["findings"]]
    _refuses_to_plan(lab, tmp_path / "plan.json")
    assert lab.sql(f"SELECT * FROM {lab.table_name}") == before  # noqa: S608
    lab.sql(f"DELETE FROM {lab.table_name} WHERE sequence_number = %s", int(number) + 16)  # noqa: S608
    (keyless,) = [f for f in lab.inspect("--format", "json").json["findings"]
                  if f["code"] == "RSH301"]
    assert "no unique key" in str(keyless)
    _refuses_to_plan(lab, tmp_path / "plan.json")
    lab.sql(f"ALTER TABLE {lab.table_name} ADD PRIMARY KEY (namespace, shard_id)")
    assert lab.inspect("--format", "json").json["findings"] == alone.json["findings"]
    assert lab.fix("--accept", "reread=99h").code in (0, 1)


def _refuses_to_plan(lab, plan):
    """Neither a dry run nor a plan's file promises what the write would refuse."""
    asked = lab.dry("--accept", "reread=99h", "--format", "json", "--out", plan)
    assert asked.json["decision"]["kind"] == "no-safe-plan", asked.out
    assert "ADD PRIMARY KEY (namespace, shard_id)" in str(asked.json["decision"])
    assert not plan.exists()
    before = lab.sql(f"SELECT * FROM {lab.table_name}")  # noqa: S608
    done = lab.fix("--accept", "reread=99h")
    assert done.code == 1 and "ADD PRIMARY KEY" in done.out + done.err
    assert lab.journals() == []
    assert lab.sql(f"SELECT * FROM {lab.table_name}") == before  # noqa: S608


@pytest.mark.only(lambda running: running == "mysql", "every table of PostgreSQL has transactions")
def test_a_table_without_transactions_is_read_and_no_plan_is_made(made):
    """The library writes row by row, so that its engine is nothing to it."""
    lab = made("a", "?app=app&initial=LATEST&release=0.5")
    alone = lab.inspect("--format", "json")
    lab.sql(f"ALTER TABLE {lab.table_name} ENGINE=MyISAM")
    seen = lab.inspect("--format", "json")
    assert [f["code"] for f in seen.json["findings"]] == [f["code"] for f in alone.json["findings"]]
    asked = lab.dry("--accept", "reread=99h", "--format", "json")
    assert asked.json["decision"]["kind"] == "no-safe-plan", asked.out
    assert "ENGINE=InnoDB" in str(asked.json["decision"])


@pytest.mark.only(lambda running: running == "mysql", "its usual collations ignore case")
@pytest.mark.parametrize(("space", "told"), [
    ("App-orders", "app=App"), ("app-Orders", ""), ("APP-ORDERS ", ""),
])  # fmt: skip
def test_rows_are_the_applications_where_the_database_says_so(made, space, told):
    """Whether the application or the stream is spelled otherwise: both are in the namespace."""
    lab = made("a", "?app=app&initial=LATEST&release=0.5")
    alone = lab.inspect("--format", "json")
    lab.sql(f"UPDATE {lab.table_name} SET namespace = %s WHERE namespace = 'app-orders'", space)  # noqa: S608
    before = lab.numbers()
    assert any(key.startswith(f"{space}/") for key in before)
    seen = lab.inspect("--format", "json")
    assert seen.json["findings"] == alone.json["findings"]
    assert lab.fix("--shift", "-5m", "--accept", "reread=99h").code in (0, 1)
    assert lab.numbers() != before and lab.numbers().keys() == before.keys()
    assert lab.undo().code == 0
    assert lab.numbers() == before
    lab.sql(f"ALTER TABLE {lab.table_name} CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
    assert lab.inspect().says("holds no position", told)


def test_set_restored_from_a_snapshot_and_undone_twice(made, tmp_path):
    lab = made("a")
    set_restored_and_undone_twice(lab, lab.numbers, tmp_path)


REFUSING = {
    "postgres": [
        "CREATE OR REPLACE FUNCTION frozen() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'positions are frozen'; END $$",
        "CREATE TRIGGER no BEFORE INSERT OR UPDATE OR DELETE ON {t} FOR EACH ROW "
        "EXECUTE FUNCTION frozen()",
    ],
    "mysql": [
        f"CREATE TRIGGER {{t}}_{verb} BEFORE {verb} ON {{t}} FOR EACH ROW "
        "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'positions are frozen'"
        for verb in ("INSERT", "UPDATE", "DELETE")
    ],
    "redis": [],
}


def test_a_write_that_the_store_refuses_is_refused(made) -> None:
    """Exit 4, not 3: the store has said that nothing is written (docs/exit-codes.md)."""
    lab = made("e")
    for statement in REFUSING[lab.kind]:
        lab.sql(statement.replace("{t}", lab.table_name))
    if lab.kind == "redis":
        lab.handle.config_set("maxmemory", "1")
    before = lab.numbers()
    try:
        done = lab.fix("--accept", "reread=9999h,disorder")
    finally:
        if lab.kind == "redis":
            lab.handle.config_set("maxmemory", "0")
    assert done.code == 4, done.err
    assert "maxmemory" in done.err or "positions are frozen" in done.err
    assert "nothing was written" in done.err.lower()
    assert lab.numbers() == before
