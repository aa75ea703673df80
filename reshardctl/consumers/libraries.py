"""The specs of all libraries, by name, by scheme and by the key of their tables."""

from __future__ import annotations

from reshardctl.consumers.kcl.spec import KCL
from reshardctl.consumers.kinesis_consumer.spec import KINESIS_CONSUMER
from reshardctl.consumers.kinsumer.spec import KINSUMER
from reshardctl.consumers.quickwit.spec import QUICKWIT
from reshardctl.consumers.spark.spec import SPARK
from reshardctl.consumers.spec import Scheme, Spec, TableKey

SPECS: dict[str, Spec] = {
    spec.name: spec for spec in (KCL, KINSUMER, KINESIS_CONSUMER, SPARK, QUICKWIT)
}
SCHEMES: dict[str, Scheme] = {
    name: scheme for spec in SPECS.values() for name, scheme in spec.schemes.items()
}


def library_of(key: TableKey) -> Spec | None:
    """The library whose DynamoDB tables have such a primary key, if it is one we know."""
    with_tables = (spec for spec in SPECS.values() if spec.table_scheme)
    return next((spec for spec in with_tables if spec.table_key == key), None)
