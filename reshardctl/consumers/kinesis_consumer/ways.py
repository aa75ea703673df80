"""Why a target frontier cannot be held, and what the operator can do instead."""

from __future__ import annotations

from collections.abc import Sequence

from reshardctl.consumers.base import Cannot
from reshardctl.consumers.kinesis_consumer.app import App, Start
from reshardctl.consumers.kinesis_consumer.tables import NAMESPACE, SHARD
from reshardctl.model import ShardId, short
from reshardctl.model.images import NO_TRANSACTIONS

OLDER = (
    "run v0.5.0 on these rows until that shard has been read, then master again: v0.5.0 reads it "
    "first, whatever rows there are below it (add release=0.5 to the locator for its plan)"
)


def _names(shards: Sequence[ShardId]) -> str:
    return ", ".join(sorted(map(short, shards))[:4])


def unread_above(shard: ShardId, unread: Sequence[ShardId], app: App) -> Cannot:
    """A new row would end an unread ancestor."""
    read = "--probe: where nothing is left in it, the rows below it can be written"
    ways = [OLDER, read]
    if app.initial is not Start.TRIM_HORIZON:
        ways.insert(0, (
            "start it with TRIM_HORIZON (WithShardIteratorType) instead of "
            f"{app.initial}: shards with a row go on from it, the others are read from their "
            "beginning"
        ))
    return Cannot(
        f"master takes a row of shard {short(shard)} as proof that shard {_names(unread)} was read "
        "to its end, and would never read what is left in it: no row can be written there",
        tuple(ways), tuple(unread), read,
    )


def rows_below(shard: ShardId, below: Sequence[ShardId]) -> Cannot:
    """Rows that were read from keep master from reading an ancestor."""
    read = "--probe tells whether anything is left"
    return Cannot(
        f"the rows of shard {_names(below)} keep master from reading shard {short(shard)}, and "
        "whether anything is left in it is stored nowhere",
        (read, OLDER), (shard,), read,
    )


def not_guarded(why: str) -> Cannot:
    """A table in which a write could meet another row, or half of a step could stay."""
    if why == NO_TRANSACTIONS:
        return Cannot(
            "the table's engine has no transactions, so that no write there can be guarded",
            ("ALTER TABLE … ENGINE=InnoDB, then run this again",),
        )
    return Cannot(
        "the table has no unique key that keeps rows of one shard apart, so that no write there "
        "can be guarded",
        (f"leave one row for each {NAMESPACE} and {SHARD}, then ALTER TABLE … ADD PRIMARY KEY "
         f"({NAMESPACE}, {SHARD}), and run this again",),
    )


def waits_for_gone(shard: ShardId, gone: ShardId, app: App) -> Cannot:
    """A shard that is not listed any more holds back its children."""
    ways = ("upgrade to Telegraf 1.36.4 or later, which does not wait for it; with that release in "
            "the locator, inspect tells what it then reads",)
    if app.traits.leases:
        ways = ("stop the group and delete the lease of that shard: a shard is claimed once the "
                "leases of its parents are completed or missing; then inspect again",)
    return Cannot(
        f"shard {short(shard)} waits for ever for shard {short(gone)}, which is not listed any "
        "more: no position changes that",
        ways,
    )


def no_tip(app: App) -> Cannot:
    """Only the start mode can begin a shard at its tip as of each start."""
    return Cannot(
        "no row says that a shard begins at its tip as of each start: only a missing row does, "
        f"and this application then begins at {app.initial}",
        ("--policy latest pins every shard at its present tip",
         "start it with LATEST and add initial=LATEST to the locator"),
    )
