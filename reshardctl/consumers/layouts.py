"""How the stores of the libraries are laid out, for the media that cannot know: one line each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from reshardctl.consumers.kinesis_consumer import tables as kinesis_consumer
from reshardctl.consumers.kinsumer.tables import tables as kinsumer
from reshardctl.consumers.spark import shown, table_log, unnamed
from reshardctl.consumers.spark import wants as spark
from reshardctl.model import Image, Select, ShardId, Stream, TableShape

Options = Mapping[str, str]
"""A locator's."""

SELECTS: Mapping[str, Callable[[Options], Select]] = {
    "spark": spark.select,
}
"""Consumer → which files of its tree have to be seen."""

PLACES: Mapping[str, Callable[[Image, Options, Stream], Mapping[ShardId, str]]] = {
    "spark": shown.places,
}
"""Consumer → the places, as spelled, that a row of many shards holds."""

UNNAMED: Mapping[str, Callable[[Image, unnamed.Name], Image]] = {
    "spark": unnamed.unnamed,
}
"""Consumer → its row without names, where those are inside of texts."""

BESIDE: Mapping[str, Callable[[Options], TableShape | None]] = {
    "spark": table_log.beside,
}
"""Consumer → the DynamoDB table that keeps a part of what lies in its files otherwise."""

TABLES: Mapping[str, Callable[[str, Options], Sequence[TableShape]]] = {
    "kinesis-consumer": kinesis_consumer.tables,
    "kinsumer": kinsumer,
}
"""Consumer → its DynamoDB tables, from a locator's target; one lease table where there is none.
That of a relational database is laid out likewise."""

NUMBERS: Mapping[str, str] = {
    "kinesis-consumer": kinesis_consumer.NUMBER,
}
"""Consumer → the attribute of a position, for stores that keep one and no more."""

TABLE: Mapping[str, str] = {
    "kinesis-consumer": kinesis_consumer.USUAL,
}
"""Consumer → the table of a relational database, where `table=` names none."""
