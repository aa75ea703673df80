"""How the stores of the libraries are laid out, for the media that cannot know: one line each."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from reshardctl.consumers.spark import shown, unnamed
from reshardctl.consumers.spark import wants as spark
from reshardctl.model import Image, Select, ShardId, Stream

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
