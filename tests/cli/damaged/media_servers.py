"""Media of kinesis-consumer on servers: a real Redis, PostgreSQL and MariaDB."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from random import Random
from typing import Any

from tests.cli.damaged.medium import Medium, Setting, Store
from tests.cli.damaged.row_damages import ODD_TEXTS
from tests.cli.lab import fake_of, opened
from tests.cli.position_stores import StoreLab, store_lab
from tests.support.case import CASES, load
from tests.support.dialects import kinesis_consumer
from tests.support.servers import PASSWORD

VARIABLE = {"redis": "REDISCLI_AUTH", "postgres": "PGPASSWORD", "mysql": "MYSQL_PWD"}
SAID = "?app=app&initial=TRIM_HORIZON&release=0.5"
NUMBERS = ("0", "-1", "1.5", "1e30", "9" * 65, "-" + "9" * 65, "NaN", "Infinity", "0.000000001")
"""As NUMERIC columns take them, each as far as it does."""
ServerDamage = Callable[[Random, StoreLab, str], str]


def redis_key(shard: str) -> str:
    space, _, name = shard.partition("/")
    app, _, stream = space.partition("-")
    return f"{app}:checkpoint:{stream}:{name}"


def odd_bytes(dice: Random, lab: StoreLab, shard: str) -> str:
    value = dice.choice([*(text.encode() for text in ODD_TEXTS), b"\xff\xfe", b"\0" * 512])
    lab.handle.set(redis_key(shard), value)
    return f"{value[:40]!r}"


def another_kind(dice: Random, lab: StoreLab, shard: str) -> str:
    """A value that GET refuses."""
    key = redis_key(shard)
    lab.handle.delete(key)
    kind = dice.choice(("list", "hash", "set", "zset", "stream"))
    {
        "list": lambda: lab.handle.rpush(key, "1"), "hash": lambda: lab.handle.hset(key, "a", "1"),
        "set": lambda: lab.handle.sadd(key, "1"), "zset": lambda: lab.handle.zadd(key, {"1": 1}),
        "stream": lambda: lab.handle.xadd(key, {"a": "1"}),
    }[kind]()
    return f"a {kind}"


def odd_key(dice: Random, lab: StoreLab, shard: str) -> str:
    key = redis_key(shard) + dice.choice(("", ":x", "\xff", "*", " ", "-" * 2000))
    lab.handle.set(key.encode("latin-1"), "1")
    return f"a key {key[:60]!r}"


def odd_number(dice: Random, lab: StoreLab, shard: str) -> str:
    space, _, name = shard.partition("/")
    number = dice.choice(NUMBERS)
    try:
        lab.sql(
            f"UPDATE {lab.table_name} SET sequence_number = %s "  # noqa: S608
            "WHERE namespace = %s AND shard_id = %s", number, space, name,
        )
    except Exception as error:  # the column takes no such number
        lab.handle.rollback()
        return f"{number} was refused: {type(error).__name__}"
    return number


def another_column(dice: Random, lab: StoreLab, _shard: str) -> str:
    """Somebody altered the table."""
    statement = dice.choice((
        "DROP COLUMN sequence_number", "ADD COLUMN extra varchar(20)",
        "RENAME COLUMN sequence_number TO sequence",
    ))  # fmt: skip
    lab.sql(f"ALTER TABLE {lab.table_name} {statement}")
    return statement


def odd_row(dice: Random, lab: StoreLab, shard: str) -> str:
    space, _, name = shard.partition("/")
    name = dice.choice(("", " ", name + " ", name.upper(), "shardId-", "x" * 200, "ü", "\x1b[2J"))
    lab.put(space, name, "1")
    return f"a row {name[:40]!r}"


DAMAGES: dict[str, tuple[ServerDamage, ...]] = {
    "redis": (odd_bytes, odd_bytes, another_kind, odd_key),
    "postgres": (odd_number, odd_number, another_column, odd_row),
    "mysql": (odd_number, odd_number, another_column, odd_row),
}


def everything(lab: StoreLab) -> Any:
    if lab.kind == "redis":
        return {key: lab.handle.dump(key) for key in sorted(lab.handle.keys("*"))}
    return sorted(map(str, lab.sql(f"SELECT * FROM {lab.table_name}")))  # noqa: S608


@contextmanager
def positions_of(kind: str, name: str, setting: Setting) -> Iterator[Store]:
    setting.monkeypatch.setenv(VARIABLE[kind], PASSWORD)
    setting.monkeypatch.setenv("HOME", str(setting.folder))
    case = load(CASES / "kinesis-consumer" / f"{name}.toml")
    with ExitStack() as stack:
        base = stack.enter_context(opened(
            setting.servers, fake_of(case), [], setting.folder / "state", setting.monkeypatch,
            setting.wire,
        ))
        base.options = SAID
        images = kinesis_consumer.images(case)
        lab = stack.enter_context(store_lab(base, kind, setting.running(kind), images))

        def damage(dice: Random) -> tuple[tuple[str, ...], str]:
            shard = dice.choice(sorted(lab.numbers()))
            how = dice.choice(DAMAGES[kind])(dice, lab, shard)
            named = (shard.rpartition("/")[2], "sequence_number", lab.table_name, "'0' is not")
            return named, f"{shard}: {how}"

        stored = partial(everything, lab)
        yield Store(lab, damage, stored, stored)


MEDIA = [
    Medium(f"kinesis-consumer-{kind}-{name}", partial(positions_of, kind, name), needs=(kind,),
           few=int(name == "b4"), many=40)
    for kind in DAMAGES for name in ("healthy-children-read", "b4")
]  # fmt: skip
