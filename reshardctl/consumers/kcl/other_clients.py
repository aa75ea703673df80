"""Lease tables that another client than AWS's own writes, as far as its rows show it.

They keep KCL's attributes, and each differs in one. Sources: DynamoDbLeaseRepository of
svroonland/zio-kinesis @b338526 (`toDynamoItem` makes a lease without ownerSwitchesSinceCheckpoint,
which claimLease and updateCheckpoint add later, and keeps the parents under a name that KCL does
not know); README of disney/kcl-rust, "Lease" and "Creating" (a lease at AT_TIMESTAMP carries the
time, in milliseconds, as its sub-sequence number; KCL writes 0).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reshardctl.consumers.kcl.flaws import CHECKPOINT, HASH_START, SUB, SWITCHES, Flaw, meant, text
from reshardctl.consumers.kcl.keys import split
from reshardctl.model import Image
from reshardctl.model.phrases import listed_shards
from reshardctl.model.times import instant

ZIO_PARENTS = "parentShardIds"
"""Where zio-kinesis's own consumer keeps what KCL keeps as parentShardId."""
_NAMED = 5
_AS_IF = "written by another client: judged as if KCL started on it"


def of_zio(images: Sequence[Image]) -> bool:
    """Whether zio-kinesis's own consumer has made a lease of a child, and KCL has not run since.

    KCL gives every lease its hash range, those of others as well (since 1.14 and 2.3).
    """
    names = {name for image in images for name in image.attributes}
    return ZIO_PARENTS in names and HASH_START not in names


def without_its_own(flaws: tuple[Flaw, ...], image: Image) -> tuple[Flaw, ...]:
    """The flaws of a row of zio-kinesis, without the one that each of its new rows has."""
    if SWITCHES in image.attributes:
        return flaws
    return tuple(flaw for flaw in flaws if flaw.name != SWITCHES)


def notes(images: Sequence[Image]) -> Iterator[str]:
    """What to know of a forecast that is KCL's while another client runs."""
    if of_zio(images):
        new = [split(image.key)[1] for image in images if SWITCHES not in image.attributes]
        unread = (
            f". KCL itself could not read {listed_shards(sorted(new), _NAMED)}, which zio-kinesis "
            f"made and has not written a checkpoint of ({SWITCHES} is missing)" if new else ""
        )
        yield f"{_AS_IF}. Its {ZIO_PARENTS} are those of zio-kinesis{unread}"
    timed = [
        milliseconds for image in images
        if text(image.attributes, CHECKPOINT) == "AT_TIMESTAMP"
        and (milliseconds := meant(image.attributes, SUB))
    ]
    if timed:
        yield (
            f"{_AS_IF}. As disney/kcl-rust writes them, rows at AT_TIMESTAMP carry their time "
            f"({instant(min(timed) / 1000)}), which KCL does not read: it takes its own "
            "application's"
        )
