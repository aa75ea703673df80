"""Media of rows in DynamoDB: lease tables of KCL, kinsumer's tables, kinesis-consumer, Telegraf."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from random import Random
from typing import Any

from reshardctl.model import table_of
from tests.cli.damaged.medium import Medium, Setting, Store
from tests.cli.damaged.row_damages import Row, Rows, damaged_rows
from tests.cli.kinesis_consumer_lab import positions_lab
from tests.cli.kinsumer_lab import kinsumer_lab
from tests.cli.lab import Lab, fake_of, opened
from tests.support.case import CASES, load
from tests.support.dialects import kinesis_consumer, kinsumer
from tests.support.side_tables import side_tables

NOT_UNDONE = {
    "kcl": {"leaseCounter", "leaseOwner", "checkpointOwner"}, "kcl-tables": {
        "leaseCounter", "leaseOwner", "checkpointOwner",
    },
    "kinsumer": {"OwnerID", "OwnerName"}, "kinesis-consumer": set(),
}  # fmt: skip
"""A lower counter, an owner who may be long gone."""
APART = {
    "kcl": {"leaseKey"}, "kcl-tables": {"leaseKey"}, "kinsumer": {"Shard", "ID", "Key"},
    "kinesis-consumer": {"namespace", "shard_id"},
}  # fmt: skip
TRIM = "initial=TRIM_HORIZON&release="
STATES = [
    ("kcl", "a-both", f"?{TRIM}1.15.3"), ("kcl", "a-both", f"?{TRIM}3.5.1"),
    ("kcl", "healthy-second-generation", f"?{TRIM}2.7.2"), ("kcl", "c-pending", f"?{TRIM}3.5.1"),
    ("kcl-tables", "multi-children-lost", f"?{TRIM}3.5.1"),
    ("kcl-tables", "side-upgrading", f"?{TRIM}3.5.1"),
    ("kinsumer", "a", f"?{TRIM}twitch"), ("kinsumer", "a", f"?{TRIM}snowplow-1.7"),
    ("kinesis-consumer", "a", f"?app=app&{TRIM}0.5"),
    ("kinesis-consumer", "b5", f"?app=app&{TRIM}telegraf-1.39"),
]
FEW = [STATES[number][1:] for number in (1, 5, 7, 9)]
"""One of each library, and of KCL's tables, at every turn."""


@contextmanager
def lab_of(library: str, name: str, options: str, setting: Setting) -> Iterator[Lab]:
    """A lab of a case of the library, on tables of its own."""
    case = load(CASES / library / f"{name}.toml")
    items = case.items() if library in ("kcl", "kcl-tables") else []
    with ExitStack() as stack:
        lab = stack.enter_context(opened(
            setting.servers, fake_of(case), items, setting.folder / "state", setting.monkeypatch,
            setting.wire,
        ))
        lab.options = options
        if items:
            stack.enter_context(side_tables(lab.table.boto, lab.table.name, case))
            yield lab
        elif library == "kinsumer":
            yield stack.enter_context(kinsumer_lab(lab, kinsumer.images(case)))
        else:
            yield stack.enter_context(positions_lab(lab, kinesis_consumer.images(case)))


def put(lab: Any, key: str, row: Row) -> None:
    if hasattr(lab, "shapes"):
        table = table_of(lab.shapes, key).name
    else:
        table = getattr(lab, "name", lab.table.name)
    lab.table.boto.put_item(TableName=table, Item=row)


def kept_of(lab: Lab, library: str) -> Rows:
    """The rows without what no undo gives back."""
    left = NOT_UNDONE[library]
    return {
        key: {name: value for name, value in row.items() if name not in left}
        for key, row in lab.items().items()
    }


def changes(before: Rows, after: Rows) -> str:
    return "; ".join(
        f"{key} {name} {str(after[key].get(name))[:60]}"
        for key in after for name in after[key].keys() | before[key].keys()
        if after[key].get(name) != before[key].get(name)
    )[:300]


@contextmanager
def rows_of(library: str, name: str, options: str, setting: Setting) -> Iterator[Store]:
    with lab_of(library, name, options, setting) as lab:

        def damage(dice: Random) -> tuple[tuple[str, ...], str]:
            rows = lab.items()
            way, key, after = damaged_rows(dice, rows, frozenset(APART[library]))
            for changed in after:
                if after[changed] != rows[changed]:
                    put(lab, changed, after[changed])
            named = (key, key.rpartition("/")[2], "'0' is not listed", "multi-stream")
            return named, f"{way}: {changes(rows, after)}"

        yield Store(lab, damage, lab.items, partial(kept_of, lab, library))


MEDIA = [
    Medium(f"{library}-{name}-{options.rpartition('=')[2]}",
           partial(rows_of, library, name, options), few=int((name, options) in FEW))
    for library, name, options in STATES
]  # fmt: skip
