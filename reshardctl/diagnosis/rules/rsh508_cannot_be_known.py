"""RSH508, see `pages/RSH508.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.auditing.coverage import NOT_ASKED, TAKEN, UNLISTED, Unknowable, unknowable
from reshardctl.diagnosis.rules.base import Found, Severity, rule
from reshardctl.diagnosis.rules.sinks import Sink, in_order

WORDS = {
    TAKEN: "what arrived before the window is gone from the stream: whether the sink missed any of "
    "it cannot be known",
    UNLISTED: "not listed any more: whether the sink missed any of their records cannot be known",
}


@rule("RSH508", "cannot-be-known")
def cannot_be_known(sink: Sink) -> Iterator[Found]:
    """An info for each reason; none if the stream was not read, which the report says by itself."""
    reasons: dict[str, list[Unknowable]] = {}
    for stretch in unknowable(sink.facts, sink.lineage):
        if stretch.why != NOT_ASKED:
            reasons.setdefault(stretch.why, []).append(stretch)
    for why, stretches in reasons.items():
        what = WORDS.get(why, f"not compared: {why}")
        shards = in_order(sink.lineage, (stretch.shard for stretch in stretches))
        yield Found(Severity.INFO, shards, what)
