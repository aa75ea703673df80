"""The words of every format: shards, numbers, moments, costs, conditions, failures, reshards."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import pairwise

from reshardctl.codec.argv import with_value
from reshardctl.consumers.base import Candidate
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.diagnosis.rules import Finding, Severity
from reshardctl.errors import HalfDone, ReshardError
from reshardctl.lineage import Lineage
from reshardctl.model import ShardId, Step, Write, in_birth_order, index_of, short, writes_of
from reshardctl.model.shards import names_shards
from reshardctl.model.times import duration, in_utc, parse_seconds
from reshardctl.planning.plan import CREATION_TIME, Plan
from reshardctl.planning.policy import LOSSLESS
from reshardctl.planning.writes import all_live, counted_writes
from reshardctl.render.escape import cut
from reshardctl.report.lag import Lag
from reshardctl.report.report import Report

NOTHING = "-"
"""A cell of a table without a value."""
LISTED = 12
"""Shards, or runs of them, that a sentence names before it says how many more there are."""

_LONG = re.compile(r"\d{21,}")
_SHARD = re.compile(r"shardId-\d{12,}")
_CONFIGURED = re.compile(r"[\w.-]+\Z", re.ASCII)
"""A name in reshardctl.toml; a locator has a colon."""


def clock(moment: float, now: float) -> str:
    """`09:14`, with the date where it is not today's; UTC."""
    then, today = in_utc(moment), in_utc(now)
    return then.strftime("%H:%M" if then.date() == today.date() else "%Y-%m-%d %H:%M")


def numbers_elided(text: str) -> str:
    """Sequence numbers as `4963…9874`."""
    return _LONG.sub(lambda match: f"{match[0][:4]}…{match[0][-4:]}", text)


def shortened(text: str, verbose: bool = False) -> str:
    """A sentence with short shard ids and elided numbers; as it is where `verbose`."""
    if verbose:
        return text
    return cut(_SHARD.sub(lambda match: short(match[0]), numbers_elided(text)), 300)


def shards(ids: Iterable[ShardId], verbose: bool = False) -> str:
    """`12, 13, 16–18`; every full id where `verbose`. In the order of their birth."""
    if verbose:
        return ", ".join(in_birth_order(ids))
    parts = _runs(ids)
    if len(parts) <= LISTED:
        return ", ".join(text for text, _ in parts)
    more = sum(count for _, count in parts[LISTED:])
    return ", ".join(text for text, _ in parts[:LISTED]) + f" and {more} more"


def _runs(ids: Iterable[ShardId]) -> list[tuple[str, int]]:
    """Runs of at least three as one text; with how many shards each stands for."""
    listed = list(ids)
    numbers = sorted({i for shard_id in listed if (i := index_of(shard_id)) is not None})
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    parts: list[tuple[str, int]] = []
    for run in runs:
        if len(run) > 2:
            parts.append((f"{run[0]}–{run[-1]}", len(run)))
        else:
            parts += [(str(number), 1) for number in run]
    unnumbered = dict.fromkeys(cut(shard, 60) for shard in listed if index_of(shard) is None)
    return parts + [(shard, 1) for shard in unnumbered]


def count(number: int, singular: str, plural: str = "") -> str:
    """`1 error`, `2 errors`."""
    return f"{number} {singular if number == 1 else plural or singular + 's'}"


def counted(counts: Mapping[str, int]) -> list[str]:
    """`2 errors`, `1 info`: how many findings of each severity, worst first."""
    return [
        count(counts[str(s)], str(s), "info" if s is Severity.INFO else "")
        for s in sorted(Severity, reverse=True) if counts[str(s)]
    ]


def about(finding: Finding, verbose: bool = False) -> str:
    """`2, 3: at LATEST`: the shards of a finding and what it is. Not shortened yet."""
    named = shards(finding.shards, verbose)
    return f"{named}: {finding.what}" if named else finding.what


def capital(text: str) -> str:
    """The text as a sentence begins, unless its first word is a name with its own spelling."""
    first = text.partition(" ")[0]
    return text if first != first.lower() else text[:1].upper() + text[1:]


def sentence(text: str) -> str:
    """With a capital and a full stop."""
    return capital(text) + ("" if text.endswith((".", "?", ":")) else ".") if text else ""


def brief(seconds: float) -> str:
    """`17m`, `3h41m`, `12s`: without seconds from a minute on."""
    return duration(seconds - seconds % 60 if seconds >= 60 else seconds)


def lag_words(lag: Lag, spelled: Callable[[float], str]) -> str:
    """`12m`; `≤ 12m` where the position is not certain."""
    if lag.seconds is None:
        return NOTHING
    sure = lag.least_seconds is not None and lag.least_seconds >= lag.seconds
    if sure:
        return spelled(lag.seconds)
    up = spelled is brief and lag.seconds >= 60  # a bound is never shown too low
    return f"≤ {spelled(-(-lag.seconds // 60) * 60 if up else lag.seconds)}"


def ago(then: float, now: float) -> str:
    """`3h41m ago`."""
    return f"{brief(max(0.0, now - then))} ago"


def condition(when: str, candidates: Sequence[Candidate]) -> str:
    """`initial=LATEST, release=2.7 or …` with every option that makes no difference left out."""
    if not when:
        return ""
    labels = [dict(part.split("=", 1) for part in case.split(", ")) for case in when.split(" or ")]
    named = {option: list(dict.fromkeys(case[option] for case in labels)) for option in labels[0]}
    combinations = 1
    for values in named.values():
        combinations *= len(values)
    if combinations != len(labels):
        return when
    possible = {option: {c.options.get(option) for c in candidates} for option in named}
    kept = {o: v for o, v in named.items() if set(v) != possible[o]}
    return ", ".join(f"{option}={' or '.join(values)}" for option, values in kept.items())


def only_with(some: Sequence[Candidate], every: Sequence[Candidate]) -> str:
    """The options under which it is so; "" for all. Where they are no product, one by one value."""
    labels = [", ".join(f"{n}={value}" for n, value in each.options.items()) for each in some]
    only = condition(" or ".join(labels), every)
    if len(labels) < 2 or only != " or ".join(labels):
        return only
    groups: dict[str, list[str]] = {}
    for label in labels:
        groups.setdefault(label.partition(", ")[0], []).append(label)
    return "; or ".join(condition(" or ".join(group), every) for group in groups.values())


def only_if(report: Report, finding: Finding) -> str:
    """The options under which a start has the finding; "" where it has it under all."""
    return condition(finding.when, [each.candidate for each in report.judged])


def judged(candidates: Sequence[Candidate]) -> str:
    """Every option and its possible values: `initial=LATEST or TRIM_HORIZON, release=3.5.1`."""
    names = dict.fromkeys(name for c in candidates for name in c.options)
    values = {n: dict.fromkeys(c.options[n] for c in candidates if n in c.options) for n in names}
    return ", ".join(f"{name}={' or '.join(options)}" for name, options in values.items())


def command(*arguments: str) -> list[str]:
    """A command line of ours, word by word, quoted for a shell."""
    return ["reshardctl", *(shlex.quote(word) for word in arguments)]


def plan_file(report: Report, suggested_command: Sequence[str]) -> str:
    """Where a plan is to be saved: here, under the consumer's name or that of its store.

    Consumers of several streams can share a table, and a directory may be one on S3.
    """
    word = "".join(suggested_command[:1])
    target = report.snapshot.locator.target.rstrip("/").rpartition("/")[2]
    return f"{word if _CONFIGURED.match(word) else target}.plan"


def of_files(suggested_command: Sequence[str]) -> bool:
    """Whether the arguments name files of what other programs printed, in place of a stream."""
    return any(
        option == "--shards" and not names_shards(value)
        for option, value in pairwise(suggested_command)
    )


CLIENTS = {
    "dynamodb": "aws-cli", "postgres": "psql", "mysql": "mysql", "redis": "redis-cli",
    "rediss": "redis-cli",
}
"""Medium of a locator → the format of a script for its own client."""


SCRIPT = "fix.sh"


def writing(report: Report, suggested_command: Sequence[str]) -> list[str]:
    """The command that saves a script of what files show to be written, or fixes the store."""
    snapshot = report.snapshot
    if form := CLIENTS.get(snapshot.locator.medium):
        consumer, *more = suggested_command
        if form == "aws-cli" and not snapshot.store.get("arn"):
            policy = report.options.policy
            if _CONFIGURED.match(consumer) and policy != LOSSLESS and not policy.names_shards:
                more = [*more, *(() if "--policy" in more else ("--policy", policy.text))]
            consumer = by_arn(snapshot)
        return command("fix", "--dry-run", "--format", f"{form}={SCRIPT}", consumer, *more)
    return command("fix", *snapshot.words)


def by_arn(snapshot: Snapshot) -> str:
    """The locator of a table as it would be in the region and account of the stream."""
    locator, stream = snapshot.locator, snapshot.lineage.stream
    table = locator.spec.tables(locator.target, locator.options)[0].name
    arn = f"arn:aws:dynamodb:{stream.region}:{stream.account}:table/{table}"
    query = "".join(locator.text.partition("?")[1:])
    return f"{locator.spec.table_scheme}://{arn}{query}"


REDACTED = "The snapshot is redacted: no store has its names. Make the fix from the real store."
"""In place of the commands that would write."""


def dry_run(report: Report, suggested_command: Sequence[str]) -> list[str]:
    """The command that makes a plan and keeps it; of files, that shows it."""
    argv = vouched(report, suggested_command)
    if of_files(argv):
        return command("fix", "--dry-run", *argv)
    return command("fix", "--dry-run", "--out", plan_file(report, argv), *argv)


def vouched(report: Report, suggested_command: Sequence[str]) -> list[str]:
    """The arguments with a place for the operator's word on whose the positions are, if asked for.

    Without it the plan is not written.
    """
    argv, options = list(suggested_command), report.options
    given = options.created is not None or options.recreated is not None or "--created" in argv
    asked = isinstance(report.decision, Plan) and not given and report.doubt
    return [*argv, "--created", CREATION_TIME] if asked else argv


_OF_AWS = frozenset({
    "--region", "--profile", "--role-arn", "--table-region", "--table-profile", "--table-role-arn",
    "--endpoint-url",
})


def elsewhere(suggested_command: Sequence[str]) -> list[str]:
    """The arguments that say how AWS is reached, without those that say what is worked on."""
    return _valued(suggested_command, _OF_AWS)


def beside_a_file(suggested_command: Sequence[str]) -> list[str]:
    """The arguments to write a saved plan with: what was typed and no file holds.

    That is how AWS is reached, and the operator's word on whose the positions are.
    """
    word = [word for word in suggested_command if word == "--bootstrap"]
    return [*word, *_valued(suggested_command, {"--created", "--recreated", *_OF_AWS})]


def _valued(argv: Sequence[str], names: Collection[str]) -> list[str]:
    """The options of these names, with their values."""
    indexes = [index for index, word in enumerate(argv[:-1]) if word in names]
    return [word for index in indexes for word in argv[index : index + 2]]


_OF_A_FIX = frozenset({"--set", "--shift", "--positions", "--shards", "--rule", "--not-rule"})
"""Options with a value that say what a fix writes, or in which part."""


def inspecting(suggested_command: Sequence[str], *more: str) -> list[str]:
    """The command that looks at all of a consumer of which a part may have been repaired."""
    kept: list[str] = []
    words = iter(suggested_command)
    for word in words:
        name, joint, _ = word.partition("=")
        value = "" if joint or name not in _OF_A_FIX else next(words, "")
        if name not in _OF_A_FIX:
            kept.append(word)
        elif name == "--shards" and not names_shards(value):
            kept += [word, value]
    return command("inspect", *kept, *more)


def accepting(suggested_command: Sequence[str], flags: Iterable[str]) -> list[str]:
    """The arguments with what these `--accept` flags accept, of each word the widest."""
    argv = list(suggested_command)
    asked = argv[argv.index("--accept") + 1].split(",") if "--accept" in argv[:-1] else []
    limits: dict[str, str] = {}
    for part in [*asked, *(flag.removeprefix("--accept ") for flag in flags)]:
        word, _, limit = part.partition("=")
        if word not in limits or _wider(limit, limits[word]):
            limits[word] = limit
    parts = [f"{word}={limit}" if limit else word for word, limit in limits.items()]
    return with_value(argv, "--accept", ",".join(parts))


def _wider(limit: str, than: str) -> bool:
    if "all" in (limit, than) or not limit or not than:
        return limit == "all"
    return _limit(limit) > _limit(than)


def _limit(text: str) -> float:
    return 0.0 if text == "0" else parse_seconds(text)


def write_words(write: Write) -> str:
    """One write's mark and why; "" where nobody has looked."""
    if not write.running:
        return ""
    return f"{'live-safe' if write.live else 'stop first'}: {write.running}"


def plan_words(steps: Sequence[Step]) -> str:
    """What holds for the whole plan, and what follows; "" where nobody has looked."""
    if not any(write.running for write in writes_of(steps)):
        return ""
    way = "--live writes without a stop" if all_live(steps) else "stop the application first"
    return f"{counted_writes(steps)}; {way}"


def once_stopped(snapshot: Snapshot, what: str = "") -> str:
    """The comment of a command that writes; also its condition, where no watch can check that."""
    stopped = "once every process is stopped" if snapshot.locator.stop_words else ""
    return ", ".join(filter(None, (what, stopped)))


def take_back(snapshot: Snapshot, journal: str, suggested_command: Sequence[str]) -> list[str]:
    """The command that takes a fix back."""
    stopped = snapshot.locator.stop_words
    return command("undo", journal, *stopped, *elsewhere(suggested_command))


def journal_of(failure: ReshardError) -> str:
    """The journal that continues or undoes a half-done command; "" if there is none."""
    return failure.journal if isinstance(failure, HalfDone) else ""


def resharded(lineage: Lineage) -> float | None:
    """Unix second of the last split or merge: when the youngest open child opened."""
    born = (lineage.opened_at(s) for s in lineage.open_shards() if lineage[s].parents)
    return max((moment for moment in born if moment is not None), default=None)
