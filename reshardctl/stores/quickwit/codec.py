"""How the text of one index becomes rows: the consumer knows it, and passes it in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from reshardctl.errors import NotLoaded, UsageError
from reshardctl.model import Image
from reshardctl.model.files import Codec

CodecOf = Callable[[str, str, bool], Codec]
"""(index, source, needed) → the codec of that index's text.

index: the index that the text must be of, "" for any. source: the only one that is wanted, "" for
every Kinesis source. needed: whether a text without a wanted source is refused."""


def indexes_of(keys: Iterable[str]) -> list[str]:
    """The indexes of these rows, in order."""
    return sorted({key.partition("/")[0] for key in keys})


def not_loaded(index: str, error: UsageError) -> Image:
    """The one row of an index whose text cannot be read: why."""
    return Image(index, {"unreadable": {"S": error.what}})


def only_unloaded(errors: Sequence[UsageError]) -> bool:
    """Whether there are such errors, and Quickwit itself loads none of these texts."""
    return bool(errors) and all(isinstance(error, NotLoaded) for error in errors)
