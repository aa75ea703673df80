"""Whose rows are these? Asked before a plan is saved, and again before its first write.

A row of another stream is never written. A number counts as this stream's with proof only: its
epoch, or Kinesis itself. Where no row holds a number, the store's own age may prove it; else the
operator says so. What the operator has to say is a creation time, typed from AWS's own answer: no
output prints it as a value to copy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from reshardctl.consumers.base import MANY, Incarnation
from reshardctl.consumers.registry import consumer_of
from reshardctl.consumers.sequence_numbers import Origin, origin
from reshardctl.diagnosis.evidence import Snapshot, same_second_as
from reshardctl.errors import Refused, UsageError, command_line
from reshardctl.model import Rank, ShardId, Step, after, decode, shard_id, short, writes_of
from reshardctl.model.phrases import listed
from reshardctl.model.times import same_second
from reshardctl.planning.plan import CREATION_TIME, Plan
from reshardctl.report.report import Report, make
from reshardctl.snapshot import Stream, verified
from reshardctl.snapshot.take import NUMBERS_ASKED, alike

NAMED = 5
"""Shards that an error names before it counts the rest."""
ASK = ("aws", "kinesis", "describe-stream-summary", "--stream-name")


def right_incarnation(report: Report, created: float | None) -> None:
    """Refused unless the times that an operator names are this stream's, in Unix seconds.

    Refused, too, where `--recreated` names the time, but nothing is left of an earlier stream.
    """
    right_times(report, created)
    earlier = any(whose.origin is Origin.EARLIER for whose in report.foreign.values())
    if (
        report.options.recreated is not None and report.incarnation is Incarnation.SAME
        and not earlier
    ):
        raise Refused(
            "--recreated: the store has numbers of this very stream, and none that is older",
            "leave --recreated out",
        )


def right_times(report: Report, created: float | None) -> None:
    """Refused unless the times that an operator names are this stream's, in Unix seconds."""
    stream = report.snapshot.lineage.stream
    for option, named in (("--recreated", report.options.recreated), ("--created", created)):
        if named is None or same_second(named, stream.created):
            continue
        raise Refused(
            f"stream {stream.name} was not created at the time that {option} names",
            f"look at StreamCreationTimestamp again: {_ask(report)}",
        )


def unambiguous(report: Report, created: float | None) -> None:
    """Refused for a plan of positions that may belong to another stream, or an earlier one.

    created: what `--created` names, which decides it; so does a store younger than the stream,
    unless its rows contradict the listing.
    """
    doubt = report.doubt if isinstance(report.decision, Plan) else ""
    if doubt and created is None:
        raise _doubtful(doubt, report.snapshot)


def _doubtful(doubt: str, snapshot: Snapshot) -> Refused:
    return Refused(
        f"{doubt}. If they belong to this one, add --created {CREATION_TIME}, the stream's "
        "StreamCreationTimestamp",
        asking_for(snapshot.lineage.stream.arn),
    )


def _ask(report: Report) -> str:
    return asking_for(report.snapshot.lineage.stream.arn)


def asking_for(stream: str) -> str:
    """The command by which AWS tells the creation time of a stream, given its ARN."""
    where, _, name = stream.rpartition("/")
    return command_line(*ASK, name, "--region", where.split(":")[3] if ":" in where else "REGION")


def verified_report(report: Report, kinesis: Stream) -> Report:
    """The report with Kinesis's word on every number that its plan rests on.

    It is judged again where Kinesis has refused one.
    """
    while isinstance(report.decision, Plan):
        now = verified_steps(report.snapshot, kinesis, report.decision.steps)
        if now is report.snapshot:
            break
        report = make(now, report.options)
    return report


def of_this_stream(report: Report) -> None:
    """UsageError for a position given by hand that is a number of another stream."""
    policy, lineage = report.options.policy, report.snapshot.lineage
    if not policy.names_shards:
        return
    for shard, cut in policy.places.items():
        if cut.rank is Rank.INSIDE and origin(lineage, str(cut.number)) is Origin.ELSEWHERE:
            raise UsageError(
                f"the position given for {short(shard)}, {cut.number}, is no number of stream "
                f"{lineage.stream.name}",
                "give a number of this stream, or name the stream that it is of",
            )


def verified_steps(snapshot: Snapshot, kinesis: Stream, steps: Sequence[Step]) -> Snapshot:
    """The snapshot with Kinesis's word on every number that these steps rest on.

    And on some others, where nothing proves yet that a number of the store is this stream's.
    """
    snapshot = verified(snapshot, kinesis, tuple(_touched(snapshot, steps)))
    stored = tuple(_stored(snapshot).values())
    if any(origin(snapshot.lineage, text) is Origin.OWN for text in stored):
        if snapshot.alike:
            return snapshot
        others = alike(snapshot, kinesis, stored)
        return replace(snapshot, alike=others) if others else snapshot
    return verified(snapshot, kinesis, stored, NUMBERS_ASKED)


def require_verified(report: Report, created: float | None) -> None:
    """Refused while a number that the plan rests on is not proven to be this stream's."""
    if isinstance(report.decision, Plan):
        require_proven(report.snapshot, report.decision.steps, created)


def require_proven(
    snapshot: Snapshot, steps: Sequence[Step], created: float | None
) -> None:
    """Refused while a number that these steps rest on is not proven to be this stream's.

    Shards that have expired cannot be asked about: their numbers count where another number of the
    store is proven, or the operator has said whose they are. created: what `--created` names.
    """
    lineage = snapshot.lineage
    stored = _stored(snapshot)
    proven = any(origin(lineage, text) is Origin.OWN for text in stored.values())
    origins = {text: origin(lineage, text) for text in _touched(snapshot, steps)}
    if snapshot.alike and created is None:
        raise _doubtful(same_second_as(snapshot), snapshot)
    _require_apart(snapshot, origins)
    unproven = [text for text, whose in origins.items() if whose is Origin.UNPROVEN]
    if not proven and not unproven:  # what is written holds no number: the others have to prove it
        unproven = [t for t in stored.values() if origin(lineage, t) is Origin.UNPROVEN]
    if askable := [text for text in unproven if not _expired(snapshot, text)]:
        raise Refused(
            f"not verified that the positions of {_rows(snapshot, askable)} are of stream "
            f"{lineage.stream.name}: Kinesis could not be asked",
            "allow kinesis:GetShardIterator on the stream (docs/iam.md)",
        )
    if unproven and not proven and created is None:
        raise Refused(
            f"nothing proves that the positions of {_rows(snapshot, unproven)}, which expired, are "
            f"of stream {lineage.stream.name}. If they are, add --created {CREATION_TIME}, the "
            "stream's StreamCreationTimestamp",
            asking_for(lineage.stream.arn),
        )


def require_apart(report: Report) -> None:
    """Refused for a plan beside rows that are another stream's: no consent makes it one to write.

    A dry run shows no such plan, either.
    """
    if isinstance(report.decision, Plan):
        snapshot, steps = report.snapshot, report.decision.steps
        texts = _touched(snapshot, steps)
        _require_apart(snapshot, {text: origin(snapshot.lineage, text) for text in texts})


def _require_apart(snapshot: Snapshot, origins: Mapping[str, Origin | None]) -> None:
    """origins: whose each position is that is written, or that lies in a family with such a one."""
    if wrong := [text for text, whose in origins.items() if whose is Origin.ELSEWHERE]:
        rows = _rows(snapshot, wrong)
        raise Refused(
            f"the position of {rows} is not of stream {snapshot.lineage.stream.name}: beside it, "
            "none of the same family is written",
            "name the right stream with --stream, or the right store; if no application needs the "
            f"position of {rows}, delete it, and plan again",
        )


def _touched(snapshot: Snapshot, steps: Sequence[Step]) -> Iterator[str]:
    """The positions of the families that the steps touch, and those that they write."""
    consumer, lineage = consumer_of(snapshot.locator), snapshot.lineage
    keys = {write.key for write in writes_of(steps)}
    shards = {consumer.shard_of(key) for key in (*keys, *consumer.family(lineage, keys))}
    for images in (snapshot.images, after(snapshot.images, steps)):
        texts = consumer.texts(consumer.parse(images, lineage.stream))
        yield from (text for shard, text in texts.items() if MANY in shards or shard in shards)


def _expired(snapshot: Snapshot, text: str) -> bool:
    decoded = decode(text)
    return decoded is not None and shard_id(decoded.shard) not in snapshot.lineage


def _stored(snapshot: Snapshot) -> Mapping[ShardId, str]:
    """Every stored position."""
    consumer = consumer_of(snapshot.locator)
    return consumer.texts(consumer.parse(snapshot.images, snapshot.lineage.stream))


def _rows(snapshot: Snapshot, texts: Sequence[str]) -> str:
    """The shards whose rows hold these positions; of one that no row holds, the shard it names."""
    stored = _stored(snapshot)
    holding = {text: shard for shard, text in stored.items()}
    named = {text: shard_id(fields.shard) for text in texts if (fields := decode(text))}
    ids = sorted({holding.get(text, shard) for text, shard in named.items()})
    return listed([short(shard) for shard in ids], NAMED)
