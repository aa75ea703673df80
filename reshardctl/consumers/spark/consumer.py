"""Checkpoints of Spark Structured Streaming with a Kinesis source, as one `Consumer`.

Signs that a query runs are new batches, commits and log entries. Nothing locks a checkpoint.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache

from msgspec.structs import replace

from reshardctl.consumers.base import MANY, BaseConsumer, Candidate, Cannot, Incarnation, ShardOwner
from reshardctl.consumers.spark import history, lineage_source
from reshardctl.consumers.spark.behaviour import simulate_start
from reshardctl.consumers.spark.checkpoint import LINEAGE, Checkpoint, log_elsewhere
from reshardctl.consumers.spark.encode import encode, startable
from reshardctl.consumers.spark.files import OPTION
from reshardctl.consumers.spark.incarnation import (
    against_the_lineage,
    current,
    incarnation,
    wrong_stream,
)
from reshardctl.consumers.spark.marks import proves_nothing
from reshardctl.consumers.spark.offset_log import parse_offset_log
from reshardctl.consumers.spark.options import (
    candidates,
    connector_lost,
    in_step,
    read_options,
    start_times,
)
from reshardctl.consumers.spark.positions import NUMBERED, cut_of, is_foreign, spelled
from reshardctl.consumers.spark.rebuilt import begun, lost, rebuild
from reshardctl.consumers.spark.redacted_file import redact
from reshardctl.consumers.spark.releases import App
from reshardctl.consumers.spark.sources import chosen, kinesis, select
from reshardctl.consumers.spark.spark_json import Malformed
from reshardctl.consumers.spark.spec import SPARK
from reshardctl.consumers.spark.starts import far_ahead
from reshardctl.consumers.spark.tree import checkpoint_of, superseded_rows
from reshardctl.errors import CannotTell, ReshardError
from reshardctl.lineage import Lineage
from reshardctl.model import (
    Anomaly,
    Cut,
    Frontier,
    Image,
    ShardId,
    Simulation,
    Step,
    Stream,
    TargetFrontier,
)
from reshardctl.model.files import Select


def places(image: Image, source: str, stream: Stream) -> Mapping[ShardId, str]:
    """Positions by shard, of the source that reads the stream; none for other files."""
    if not image.key.startswith("offsets/"):
        return {}
    text = image.attributes.get("text", {}).get("S", "")
    return _places(str(text), source, stream)


@lru_cache(maxsize=4)
def _places(text: str, source: str, stream: Stream) -> Mapping[ShardId, str]:
    """The same; a file is asked for once a finding, and the line of 10 000 shards is read once."""
    try:
        logs = {0: parse_offset_log(text)}
        offset = kinesis(logs)[chosen(logs, stream, source)]
    except (Malformed, ReshardError):
        return {}
    return {shard: spelled(position) for shard, position in sorted(offset.positions.items())}


WATCHED = ("offsets", "commits", "sources", "state", "log")


def signs_of_life(images: Iterable[Image]) -> dict[str, str]:
    """What changes when a batch is planned, run or committed.

    One entry for each folder of the checkpoint: how many files of it were seen, the newest name,
    and the latest time at which one was written.
    """
    newest: dict[str, tuple[int, str, int]] = {}
    for image in images:
        folder = image.key.partition("/")[0]
        if folder not in WATCHED or image.key.endswith("/"):
            continue
        count, name, written = newest.get(folder, (0, "", 0))
        stamp = int(image.attributes.get("modified", {"N": "0"})["N"])
        newest[folder] = (count + 1, max(name, image.key, key=_rank), max(written, stamp))
    return {
        folder: f"{count} files, newest {name}, written {written}"
        for folder, (count, name, written) in newest.items()
    }


def _rank(key: str) -> tuple[int, str]:
    """Batch ids grow in length."""
    return len(key), key


def excluded_by(seconds: float) -> str:
    """What a watch of `seconds` without a new batch rules out."""
    return (
        f"{seconds:g} s without a new batch rules out a query that has records to read and a "
        f"trigger below {seconds:g} s; an idle one, or one with a longer trigger, leaves no trace"
    )


class Spark(BaseConsumer[Checkpoint, App]):
    """See `BaseConsumer`.

    source: the judged source of the query, "" for its only one on the stream. log: the DynamoDB
    table with the connector's log, "" for files. lost: the connector of a checkpoint of which
    nothing is left.
    """

    spec = SPARK
    bootstrap = staticmethod(begun)
    rebuild = staticmethod(rebuild)
    check_sink = staticmethod(in_step)
    redact = staticmethod(redact)
    signs_of_life = staticmethod(signs_of_life)
    excluded_by = staticmethod(excluded_by)
    wrong_stream = staticmethod(wrong_stream)

    def __init__(self, source: str = "", log: str = "", lost: str = "") -> None:
        self._source, self._log, self._lost = source, log, lost

    def for_options(self, options: Mapping[str, str], _medium: str = "", /) -> Spark:
        """Returns the consumer for the source that the locator names."""
        return Spark(options.get("source", ""), options.get(OPTION, ""), connector_lost(options))

    def validate_options(self, options: Mapping[str, str], /) -> None:
        """Read the options; which of the query's sources is meant depends on the checkpoint."""
        read_options(options)

    def start_times(self, options: Mapping[str, str], /) -> Mapping[str, float]:
        """Times of startingPosition, also those that it names for single shards."""
        return start_times(options)

    def parse(self, images: Iterable[Image], stream: Stream | None = None, /) -> Checkpoint:
        """Parse the offset logs, the commits and the connector's log of one source."""
        files = list(images)
        if self._lost and all(image.key.endswith("/") for image in files):  # folders alone
            return lost(self._lost, self._source)
        return checkpoint_of(files, stream, self._source)

    def files(self) -> Select:
        """Files that the next start reads, and those that show what earlier starts lost."""
        return select(self._source)

    def shard_of(self, _key: str, /) -> ShardId:
        """MANY: an offset log holds the positions of many shards."""
        return MANY

    def empty(self, checkpoint: Checkpoint, /) -> bool:
        """Whether no batch holds a position; an unreadable or removed one may hold some."""
        return not checkpoint.unreadable and not checkpoint.committed and not any(
            batch.positions or batch.broken for batch in checkpoint.batches.values()
        )

    def positions(self, checkpoint: Checkpoint, /) -> dict[ShardId, str]:
        """The newest batch's positions: its start while it is planned, else its end."""
        return {shard: spelled(position) for shard, position in current(checkpoint).items()}

    def texts(self, checkpoint: Checkpoint, /) -> dict[ShardId, str]:
        """The newest batch's positions; of a sequence number the number alone."""
        return {
            shard: position.value if position.kind in NUMBERED else spelled(position)
            for shard, position in current(checkpoint).items()
        }

    def stored_cuts(
        self, lineage: Lineage, checkpoint: Checkpoint, _app: App, /
    ) -> dict[ShardId, Cut]:
        """The newest batch's positions; an end at a number of another shard is none."""
        return {
            shard: cut_of(position) for shard, position in current(checkpoint).items()
            if not is_foreign(lineage, shard, position)
            and not proves_nothing(lineage, shard, position)
        }

    def positions_of_many(self, image: Image, stream: Stream, /) -> Mapping[ShardId, str]:
        """The positions in an offset log, for the source that reads the stream."""
        return places(image, self._source, stream)

    def anomalies(self, lineage: Lineage, checkpoint: Checkpoint, /) -> list[Anomaly]:
        """Anomalies of the files themselves, and of positions against the lineage."""
        return [*checkpoint.anomalies, *against_the_lineage(lineage, checkpoint)]

    def incarnation(self, lineage: Lineage, checkpoint: Checkpoint, /) -> Incarnation:
        """Judged by names, creation times, and the times of numbers and batches."""
        return incarnation(lineage, checkpoint, current(checkpoint))

    def candidates(self, checkpoint: Checkpoint, given: Mapping[str, str], /) -> list[Candidate]:
        """Releases × starting positions × sinks that are left open.

        Raises CannotTell where the positions of the committed batches are not in the checkpoint.
        """
        apps = candidates(checkpoint, given)
        if self._log and log_elsewhere(checkpoint):
            raise CannotTell(
                f"table {self._log} holds no row of a connector's log, and the checkpoint is one "
                "of committed batches",
                "log= is the query's kinesis.dynamodb.tableName; check the region and the account",
            )
        if log_elsewhere(checkpoint):
            raise CannotTell(
                "the checkpoint holds no log of the connector: where its batches ended is not in "
                "it, but in the DynamoDB table of kinesis.dynamodb.tableName, under "
                "kinesis.metadataPath or kinesis.executor.metadata.path, or nowhere",
                "with the table: add log=TABLE to the locator; with the log under another path, "
                "put a copy of that folder into sources/0 of a copy of the checkpoint and inspect "
                "the copy",
            )
        if ahead := far_ahead(checkpoint):
            raise CannotTell(
                f"{ahead[0]} is left over of a batch that is not planned yet: awslabs' connector "
                "will read nothing of that shard in that batch and begin there in the next one, "
                "wherever it has come to by then",
                "move that folder out of the checkpoint (the batch has not run as far as offsets/ "
                "and commits/ tell), and look again",
            )
        if not apps:
            raise CannotTell(
                "no source in this checkpoint reads Kinesis in a way that reshardctl knows",
                "look at the last lines of the newest file in offsets/",
            )
        return apps

    def processed(self, lineage: Lineage, checkpoint: Checkpoint, app: App, /) -> Frontier:
        """What all retained batches prove."""
        if checkpoint.connector == LINEAGE:
            return lineage_source.processed(lineage, checkpoint, app)
        return history.processed(lineage, checkpoint)

    def simulate_start(self, lineage: Lineage, checkpoint: Checkpoint, app: App, /) -> Simulation:
        """Simulate the next start."""
        if checkpoint.connector == LINEAGE:
            return lineage.memo(lineage_source.simulate_start, lineage, checkpoint, app)
        return lineage.memo(simulate_start, lineage, checkpoint, app)

    def encode(
        self, lineage: Lineage, checkpoint: Checkpoint, want: TargetFrontier, app: App,
        leave: Collection[ShardId], /,
    ) -> list[Step] | Cannot:
        """Append or edit a planned batch; last, mend what keeps Spark from starting."""
        plan = lineage_source.encode if checkpoint.connector == LINEAGE else encode
        sound = replace(checkpoint, spoiled={}) if checkpoint.spoiled else checkpoint
        steps = plan(lineage, sound, want, app, leave)
        return steps if isinstance(steps, Cannot) else [*steps, *startable(checkpoint)]

    def footprint(self, image: Image, /) -> dict[str, object]:
        """A file's content and checksum, without the time at which it was written."""
        kept = image.attributes
        return {name: kept[name] for name in self.spec.rests_on if name in kept}

    def family(self, _lineage: Lineage, keys: Collection[str], /) -> set[str]:
        """The written batches and their neighbours, which the query may plan or commit."""
        near = set(keys)
        for key in keys:
            folder, _, number = key.rpartition("/")
            if folder == "offsets" and number.isdigit():
                around = (int(number) - 1, int(number), int(number) + 1)
                near |= {f"{logs}/{n}" for n in around for logs in ("offsets", "commits")}
        return near

    def owners_by_shard(self, checkpoint: Checkpoint, /) -> dict[ShardId, ShardOwner]:
        """No shard has an owner; its position is the sign of activity."""
        return {
            shard: ShardOwner(
                "", spelled(position), spelled(position), position.kind == "SHARD_END"
            )
            for shard, position in current(checkpoint).items()
        }

    def saved_at(self, checkpoint: Checkpoint, /) -> dict[ShardId, float]:
        """When the newest batch was planned: all positions are saved together."""
        if not checkpoint.batches:
            return {}
        newest = checkpoint.batches[max(checkpoint.batches)]
        written = int(newest.image.attributes.get("modified", {}).get("N", "0")) / 1e9
        return dict.fromkeys(current(checkpoint), written) if written else {}

    def superseded_rows(
        self, images: Iterable[Image], keys: Collection[str], stood: Collection[str], /
    ) -> dict[str, str]:
        """Batches that have run since they were written."""
        return superseded_rows(images, keys, stood, self._source)
