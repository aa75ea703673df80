"""Rows of positions and of a consumer group's leases, with every anomaly, and what they prove.

How each store holds them: see `spec.py`. A consumer group's leases and workers: leaseItem and
workerItem of group/consumergroup/ddb/repository.go, v0.5.0.

Nothing marks a shard as finished. But the library starts a shard only once its parents have been
read to their end (allgroup.go), so a record's number in a row proves that its ancestors were
processed.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain

from msgspec import Struct, field
from msgspec.structs import replace

from reshardctl.consumers.kinesis_consumer.releases import SQL, Whose
from reshardctl.consumers.kinesis_consumer.spec import NAMESPACE, NUMBER, SHARD, WORKER
from reshardctl.consumers.sequence_numbers import (
    CREATION_SLACK,
    NumberKind,
    classify,
    up_to,
    written_at,
)
from reshardctl.errors import UsageError
from reshardctl.lineage import Lineage
from reshardctl.model import (
    Anomaly,
    AnomalyKind,
    Attributes,
    AttributeValue,
    Image,
    ShardId,
    Span,
    Stream,
    decode,
    index_of,
    is_number,
    shard_id,
)
from reshardctl.model.images import NO_UNIQUE_KEY, SAME_KEY, UNGUARDED

REDIS = frozenset({"redis", "rediss"})
NULL = "NULL"
LEASE = "LEASE#"
NAMED = 5
"""How many namespaces or rows a message names."""


class Row(Struct, frozen=True):
    """One position, as the library reads it; see `read`.

    text: "" where it reads none. null: NULL in a column. other_type: a key of Redis that holds no
    string, which no write of ours could put back.
    """

    shard: ShardId
    image: Image
    text: str
    null: bool = False
    other_type: bool = False

    @property
    def bare(self) -> str:
        """The text without blanks around a number and zeros before it, with which it is refused."""
        return self.text.strip().lstrip("0") or self.text


class Lease(Struct, frozen=True):
    """A group's lease; children wait until it is completed."""

    shard: ShardId
    image: Image
    completed: bool
    owner: str


class Positions(Struct, frozen=True, dict=True):
    """A parsed store.

    rows: those with a position that the library reads. blank: rows without one. others: rows of
    other applications and streams, never written; not a group's workers. unguarded: why no write
    there can be guarded, "" where one can.
    """

    namespace: str
    rows: Mapping[ShardId, Row]
    blank: Mapping[ShardId, Row]
    leases: Mapping[ShardId, Lease]
    others: tuple[Image, ...]
    anomalies: tuple[Anomaly, ...] = field(default=())
    unguarded: str = ""

    @cached_property
    def bare(self) -> Mapping[ShardId, str]:
        """The text of each row, see `Row.bare`."""
        return {shard: row.bare for shard, row in self.rows.items()}

    def row(self, shard: ShardId) -> Row | None:
        """The shard's row, with or without a position."""
        return self.rows.get(shard) or self.blank.get(shard)

    def strings_only(self) -> Positions:
        """Positions as a reader sees them that ignores numbers which are no strings."""
        typed = {
            shard: row for shard, row in self.rows.items()
            if "S" not in row.image.attributes.get(NUMBER, {})
        }
        if not typed:
            return self
        rows = {shard: row for shard, row in self.rows.items() if shard not in typed}
        return replace(self, rows=rows, blank={**self.blank, **typed})


def parse(
    images: Iterable[Image], whose: Whose, stream: Stream | None, before: Positions | None = None
) -> Positions:
    """Read a store; raises UsageError where the application's rows cannot be identified.

    before: parsed earlier; its rows are taken over where the image is the same.
    """
    every = list(images)
    if every and not whose.name:
        raise _nameless(every, stream)
    name = _stream_of(every, whose, stream)
    own, leased = whose.namespace(name), whose.leases(name)
    rows: dict[ShardId, Row] = {}
    leases: dict[ShardId, Lease] = {}
    others, anomalies = [], []
    known = {} if before is None else {
        row.image.key: row for row in chain(before.rows.values(), before.blank.values())
    }
    for image in every:
        row = known.get(image.key)
        if row is not None and row.image is image:
            rows[row.shard] = row
            continue
        space, key = text_of(image, NAMESPACE), text_of(image, SHARD)
        if space == own and index_of(key) is not None:
            rows[ShardId(key)] = _row(image, key, whose.medium)
        elif space == own:
            why = "its shard_id is no shard of a stream"
            anomalies.append(Anomaly(AnomalyKind.FOREIGN_ENTRY, image.key, key, why))
            others.append(image)
        elif space == leased and key.startswith(LEASE):
            lease = _lease(image, key)
            leases[lease.shard] = lease
        elif not (space == leased and key.startswith(WORKER)):
            if (space, key) == (NAMESPACE, SHARD):
                why = "it is the head of a CSV file, which somebody loaded as a row"
                anomalies.append(Anomaly(AnomalyKind.FOREIGN_ENTRY, image.key, key, why))
            others.append(image)
    anomalies += [anomaly for row in rows.values() for anomaly in _anomalies(row)]
    unguarded = next((why for image in every if (why := text_of(image, UNGUARDED))), "")
    if unguarded == NO_UNIQUE_KEY and rows:
        anomalies.append(_not_kept(rows.values(), whose.medium))
    return Positions(
        own,
        {shard: row for shard, row in rows.items() if row.text},
        {shard: row for shard, row in rows.items() if not row.text},
        leases, tuple(others), tuple(anomalies), unguarded,
    )


def belonging(positions: Positions, whose: Whose) -> dict[str, str]:
    """Owners of others' rows: the application, or the namespace where that does not name one."""
    tail = positions.namespace.removeprefix(whose.name)
    owners = {}
    for image in positions.others:
        space = text_of(image, NAMESPACE)
        if space != positions.namespace:
            named = len(tail) > 1 and space.endswith(tail) and space != tail
            owners[image.key] = f"app={space.removesuffix(tail)}" if named else repr(space)
    return owners


def read(attributes: Attributes, medium: str = "") -> str:
    """The number as GetCheckpoint returns it, "" for none; alike in v0.4.0 to v0.5.0 and 31e0042.

    DynamoDB: a string as it is and a number as its digits (attributevalue, aws-sdk-go-v2); anything
    else leaves the field empty, and the error is dropped. Redis: a string's bytes, whatever they
    are; the error for a key of another type is dropped. PostgreSQL and MySQL: Scan cannot put NULL
    into a string, and its error is passed on: here `NULL`.
    """
    value = attributes.get(NUMBER)
    if value is None:
        return NULL if medium in SQL else ""
    if medium in REDIS and "B" in value:
        return repr(base64.b64decode(value["B"]))
    return str(value.get("S", value.get("N", "")))


def text_of(image: Image, name: str) -> str:
    """An attribute's text, "" where it is none."""
    return str(image.attributes.get(name, {}).get("S", ""))


def _row(image: Image, key: str, medium: str) -> Row:
    empty = NUMBER not in image.attributes
    text = read(image.attributes, medium)
    return Row(ShardId(key), image, text, empty and medium in SQL, empty and medium in REDIS)


def _lease(image: Image, key: str) -> Lease:
    completed = image.attributes.get("completed", {}).get("BOOL") is True
    return Lease(
        ShardId(key.removeprefix(LEASE)), image, completed, text_of(image, "lease_owner")
    )


def _anomalies(row: Row) -> Iterable[Anomaly]:
    value = row.image.attributes.get(NUMBER)
    raw = row.text or repr(value)
    if not row.text:
        why = "it has no sequence number that the library could read: it is as good as no row"
        yield Anomaly(AnomalyKind.UNREADABLE, row.image.key, raw, why, row.shard)
    elif row.null:
        why = "its sequence_number is NULL, which the library cannot read"
        yield Anomaly(AnomalyKind.UNREADABLE, row.image.key, raw, why, row.shard)
    elif value is not None and "N" in value:
        why = "its sequence_number is a DynamoDB number, which holds 38 digits and no real position"
        yield Anomaly(AnomalyKind.UNREADABLE, row.image.key, raw, why, row.shard)
    elif not is_number(row.text):
        why = f"its sequence_number {row.text[:80]!r} is no number"
        yield Anomaly(AnomalyKind.UNREADABLE, row.image.key, raw, why, row.shard)


def _not_kept(rows: Iterable[Row], medium: str) -> Anomaly:
    """What the library's save does in a table without a unique key.

    `ON CONFLICT` of store/postgres fails there, and `REPLACE INTO` of store/mysql only adds rows.
    """
    saves = "fails" if medium == "postgres" else "adds a row, and moves none"
    why = f"no unique key keeps rows of one shard apart, so that each save of the library {saves}"
    doubled = [(row, row.image.attributes[SAME_KEY]["M"]) for row in rows
               if SAME_KEY in row.image.attributes]
    told = [
        f"{int(same['count']['N']) + 1} rows are {row.image.key}, of which it takes the first that "
        f"the server gives ({row.text}), not {_numbers(same)}"
        for row, same in doubled[:NAMED]
    ]
    more = [f"others with several rows: {len(doubled) - NAMED}"] if len(doubled) > NAMED else []
    key = doubled[0][0].image.key if doubled else next(iter(rows)).image.key
    return Anomaly(AnomalyKind.NOT_KEPT, key, "", "; ".join([why, *told, *more]))


def _numbers(same: Mapping[str, AttributeValue]) -> str:
    return ", ".join(str(number.get("S", NULL)) for number in same["next"]["L"])


def _stream_of(images: Sequence[Image], whose: Whose, stream: Stream | None) -> str:
    """The stream's name; where none is given, that of the only one the application reads."""
    if stream is not None:
        return stream.name
    head = f"{whose.name}-"
    names = {text_of(image, NAMESPACE) for image in images}
    streams = {name.removeprefix(head) for name in names if whose.name and name.startswith(head)}
    return streams.pop() if len(streams) == 1 else ""


def _nameless(images: Sequence[Image], stream: Stream | None) -> UsageError:
    tail = f"-{stream.name}" if stream else ""
    spaces = sorted({text_of(image, NAMESPACE) for image in images} - {""})
    likely = [space for space in spaces if tail and space.endswith(tail)]
    shown = ", ".join((likely or spaces)[:NAMED]) or "none"
    apps = " or ".join(f"app={space.removesuffix(tail)}" for space in likely[:NAMED])
    return UsageError(
        f"the locator names no application: rows are kept under APP-STREAM, and here are {shown}",
        f"add {apps or 'app=NAME'} to it, as the application was given to the store",
    )


def evidence(lineage: Lineage, positions: Positions) -> Evidence:
    """What the rows prove together, computed once for a store and a listing."""
    return lineage.memo(Evidence, lineage, positions)


class Evidence:
    """See `evidence`."""

    def __init__(self, lineage: Lineage, positions: Positions) -> None:
        self._lineage, self._positions = lineage, positions
        self.kinds = {
            shard: classify(lineage, shard, row.text) for shard, row in positions.rows.items()
        }
        self._wrong = [shard for shard, kind in self.kinds.items() if not kind.own]
        self._lost = self._numbers_elsewhere()
        self._below_read: set[ShardId] = set()
        self._below_row: set[ShardId] = set()
        for shard in reversed(lineage):
            self._prove_above(shard)
        self._meant = set(map(self.meant, self._wrong)) - {""}
        self._times = [t for t in map(self._time, self.kinds) if t is not None]
        self._oldest = min(self._times, default=None)

    def read(self, shard: ShardId) -> bool:
        """Whether its row, or the one that it was swapped with, tells one of its records."""
        return self.kinds.get(shard) is NumberKind.INSIDE or self.meant(shard) != ""

    def read_below(self, shard: ShardId) -> bool:
        """Whether a listed descendant was read."""
        return shard in self._below_read

    def row_below(self, shard: ShardId) -> bool:
        """Whether a listed descendant has a row, whatever it holds."""
        return shard in self._below_row

    def ran_before(self, shard: ShardId) -> bool:
        """Whether a record older than the shard was read: the application ran at its creation."""
        opened = self._lineage.opened_at(shard) if shard in self._lineage else None
        return opened is not None and self.ran_at(opened)

    def ran_at(self, time: float) -> bool:
        """Whether a record older than this time was read."""
        return self._oldest is not None and self._oldest < time

    def began_at_work(self, shard: ShardId) -> bool:
        """Whether the application ran while the first records of the listed shard were still kept.

        It did not where the first records have expired by the time of some number.
        """
        opened = self._lineage.opened_at(shard)
        if opened is None or not self.ran_at(opened):
            return False
        return opened + self._lineage.stream.retention >= self._newest

    @cached_property
    def _newest(self) -> float:
        """The latest time that a number of a row or of the listing shows."""
        opened = (t for t in map(self._lineage.opened_at, self._lineage) if t is not None)
        return max(chain(self._times, opened), default=0.0)

    def at_row(self, shard: ShardId) -> Span:
        """The span that ends with the record whose number its row holds."""
        return up_to(self._lineage, self._positions.rows[shard].text)

    def meant(self, shard: ShardId) -> str:
        """The number of a record that is meant by a row that is none of its shard, "" without one.

        It is in the row with which that one was swapped, or between blanks, or follows zeros.
        """
        row = self._positions.rows.get(shard)
        if row is None or self.kinds[shard].own:
            return ""
        bare = row.bare if row.bare != row.text else ""
        inside = bare and classify(self._lineage, shard, bare) is NumberKind.INSIDE
        return bare if inside else self.own_number(shard)

    def own_number(self, shard: ShardId) -> str:
        """The number of this shard that another shard's row holds, if the two rows were swapped.

        "" otherwise: a number of this shard that stands in another row alone proves nothing.
        """
        numbers, kind = self._lost.get(shard, {}), self.kinds.get(shard)
        if len(numbers) != 1 or kind is None or not kind.foreign:
            return ""
        ((row_shard, number),) = numbers.items()
        its_own = classify(self._lineage, row_shard, self._positions.rows[shard].text).own
        return number if its_own else ""

    def set_aside(self, shard: ShardId) -> str:
        """The furthest number of this shard in a row whose key is no shard's, "" without one.

        It may have been copied there, so it proves nothing; but the shard may have been read to it.
        `planning/case.py` looks at numbers in other shards' rows.
        """
        return max(self._set_aside.get(shard, ()), key=int, default="")

    @cached_property
    def _set_aside(self) -> dict[ShardId, list[str]]:
        """Numbers in rows of the application whose key is no shard's, such as a copy's."""
        numbers: dict[ShardId, list[str]] = {}
        space = self._positions.namespace
        own = (row for row in self._positions.others if text_of(row, NAMESPACE) == space)
        for text in (read(row.attributes) for row in own):
            decoded = decode(text)
            home = shard_id(decoded.shard) if decoded else None
            if home and classify(self._lineage, home, text) is NumberKind.INSIDE:
                numbers.setdefault(home, []).append(text)
        return numbers

    def _prove_above(self, shard: ShardId) -> None:
        """Notes what a listed shard proves of its parents; those below it have been looked at."""
        parents = (*self._lineage.parents(shard), *self._lineage.unlisted_parents(shard))
        if shard in self._below_read or self.read(shard):
            self._below_read.update(parents)
        if shard in self._below_row or shard in self._positions.rows:
            self._below_row.update(parents)

    def _time(self, shard: ShardId) -> int | None:
        """A time at which the application existed: a read record's, or the shard's end.

        A shard's own start is no record's number: a repair writes it, at any time.
        """
        kind, bare = self.kinds[shard], self._positions.bare[shard]
        told = kind is NumberKind.INSIDE or kind is NumberKind.AT_END or bare in self._meant
        time = written_at(self._lineage, bare) if told else None
        since = self._lineage.stream.created - CREATION_SLACK
        return None if time is None or time < since else time

    def _numbers_elsewhere(self) -> dict[ShardId, dict[ShardId, str]]:
        """Numbers in other shards' rows: shard of the number → shard of the row → number."""
        numbers: dict[ShardId, dict[ShardId, str]] = {}
        for shard in self._wrong:
            text = self._positions.rows[shard].text
            decoded = decode(text) if self.kinds[shard].foreign else None
            home = shard_id(decoded.shard) if decoded else shard
            if home != shard and classify(self._lineage, home, text) is NumberKind.INSIDE:
                numbers.setdefault(home, {})[shard] = text
        return numbers
