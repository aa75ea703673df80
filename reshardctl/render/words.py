"""The words of every format: shards, numbers, moments, costs, conditions, failures, reshards."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from math import ceil

from reshardctl.codec.argv import with_value
from reshardctl.consumers.base import Candidate
from reshardctl.diagnosis.rules import Finding, Severity
from reshardctl.errors import HalfDone, ReshardError
from reshardctl.exit import Exit
from reshardctl.lineage import Lineage
from reshardctl.model import TIP, ShardId, Step, Write, index_of, short, writes_of
from reshardctl.model.times import duration, in_utc, instant, parse_seconds
from reshardctl.planning.effects import Deadline, Effect, Harm
from reshardctl.planning.plan import Plan
from reshardctl.planning.writes import all_live, counted_writes
from reshardctl.render.escape import cut
from reshardctl.report.report import Report

AT_LEAST = "at least "

LISTED = 12
"""Shards, or runs of them, that a sentence names before it says how many more there are."""

_LONG = re.compile(r"\d{21,}")
_SHARD = re.compile(r"shardId-\d{12,}")
_HARMS = list(Harm)
_CONFIGURED = re.compile(r"[\w.-]+\Z", re.ASCII)
"""A name in reshardctl.toml; a locator has a colon."""

PRICED = (("skips", Harm.SKIPPED), ("re-reads", Harm.REREAD))
"""The words of what records cost."""

IDLE = "losing records now, or idle; check with --probe"


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
    """`12, 13, 16–18`; every full id where `verbose`."""
    if verbose:
        return ", ".join(ids)
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


def ago(then: float, now: float) -> str:
    """`3h41m ago`."""
    return f"{brief(max(0.0, now - then))} ago"


def extent(effect: Effect) -> str:
    """The size of an effect in a sentence: `up to 12m of records`, `an unknown amount`.

    Where its records were counted, their number follows: `up to 12m, 40 records`.
    """
    return _of_records(_with_records(_width(effect), [effect]))


def _width(effect: Effect) -> str:
    """`up to 12m`; `at least 12m` where it grows until the start; `unknown`."""
    if effect.seconds is None:
        return "unknown"
    return _bound(effect.seconds, grows=_grows(effect))


def _bound(seconds: float, *, grows: bool) -> str:
    return f"at least {brief(seconds)}" if grows else f"up to {duration(_rounded_up(seconds))}"


def _of_records(width: str) -> str:
    if width == "unknown":
        return "an unknown amount"
    return width if width == "nothing" or "record" in width else f"{width} of records"


def _with_records(width: str, effects: Iterable[Effect]) -> str:
    """`up to 12m, 40 records`; `at least` is said once."""
    counted = total(effects)
    if width.startswith(AT_LEAST):
        counted = counted.removeprefix(AT_LEAST)
    return f"{width}, {counted}" if counted else width


def _grows(effect: Effect) -> bool:
    """Whether it grows until the consumer starts."""
    return effect.harm is Harm.SKIPPED and effect.until == TIP


def total(effects: Iterable[Effect]) -> str:
    """`40 records`; `at least 40 records`, where there may be more; "" if not all were counted."""
    each = {(e.shard, e.since, e.until): e for e in effects}.values()
    counts = [e.records for e in each if e.records is not None]
    if not counts or len(counts) < len(each):
        return ""
    least = any(c.at_least for c in counts) or any(_grows(e) for e in each)
    return (AT_LEAST if least else "") + count(sum(c.records for c in counts), "record")


def left_in(effects: Iterable[Effect]) -> list[str]:
    """A line a shard that was read: what is left in it, and from when to when it arrived."""
    lines = {}
    for effect in effects:
        records = effect.records
        if records is None or effect.shard is None or effect.harm is not Harm.STALLED:
            continue
        when = ""
        if records.first_arrival is not None and records.last_arrival is not None:
            when = f", arrived {instant(records.first_arrival)} to {instant(records.last_arrival)}"
            when += " and later" if records.at_least else ""
        lines[effect.shard] = f"{shards((effect.shard,))}: {total([effect])} left{when}"
    return list(lines.values())


def _rounded_up(seconds: float) -> float:
    """To whole hours, minutes or, below one, seconds: a bound is never shown too low."""
    unit = 3600 if seconds >= 86400 else 60 if seconds >= 60 else 1
    return float(max(ceil(seconds / unit), 1) * unit)


def widest(effects: Iterable[Effect], harm: Harm) -> str:
    """The largest extent of a kind, or `nothing`; with the records of all together."""
    of_kind = [e for e in effects if e.harm is harm]
    return _with_records(broadest(of_kind), of_kind)


def priced(effects: Iterable[Effect]) -> str:
    """What shards cost, in a sentence: `re-reads up to 47m of records`; of nothing both words."""
    held = list(effects)
    widths = [(word, widest(held, harm)) for word, harm in PRICED]
    costly = [pair for pair in widths if pair[1] != "nothing"]
    parts = [f"{word} {_of_records(width)}" for word, width in costly or widths]
    if any(disorders(effect) for effect in held):
        parts.append("out of order")
    return ", ".join(parts)


def broadest(effects: Sequence[Effect]) -> str:
    """The largest width; `nothing` without an effect."""
    if not effects:
        return "nothing"
    return _width(max(effects, key=lambda e: (e.seconds is None, e.seconds or 0.0)))


def disorders(effect: Effect) -> bool:
    """Whether a shard is read out of order that could be read in order."""
    return effect.harm is Harm.DISORDERED and not (effect.past or effect.inherent)


def width_in_all(effects: Iterable[Effect]) -> str:
    """The widths of all shards together, of each its largest."""
    each: dict[ShardId | None, Effect] = {}
    for effect in effects:
        if effect.seconds is None:
            return "unknown"
        if effect.shard not in each or (each[effect.shard].seconds or 0.0) < effect.seconds:
            each[effect.shard] = effect
    seconds = sum(effect.seconds or 0.0 for effect in each.values())
    return _bound(seconds, grows=any(_grows(effect) for effect in each.values()))


def worst(effects: Sequence[Effect]) -> Effect | None:
    """The gravest effect: by kind, then the certain ones."""
    return max(effects, key=lambda e: (_HARMS.index(e.harm), e.certain), default=None)


def cost(effect: Effect) -> str:
    """`skips up to 12m of records`, `stalls`, `crashes at its start`, `out of order`."""
    if effect.gone:
        return "may be lost already"
    match effect.harm:
        case Harm.SKIPPED:
            return f"skips {extent(effect)}"
        case Harm.REREAD:
            return f"re-reads {extent(effect)}"
        case Harm.DISORDERED:
            return "was out of order" if effect.past else "out of order"
        case Harm.STALLED:
            return "stalls"
        case Harm.CRASHES:
            return "crashes at its start"


def lead(effects: Sequence[Effect], deadline: Deadline | None, now: float) -> str:
    """The few words at the right of a finding's first line."""
    effect = worst(effects)
    if effect is None:
        return ""
    if effect.harm is Harm.STALLED and deadline is not None:
        return left(deadline, now)
    return cost(effect)


def left(deadline: Deadline, now: float) -> str:
    """`loss in 20h19m`; where that is past, whether anything is lost."""
    if deadline.complete is not None and deadline.complete <= now:
        return f"expired {ago(deadline.complete, now)}"
    if deadline.starts is None:
        if deadline.complete is None:
            return "loss at an unknown time"
        return f"loss within {duration(deadline.complete - now)}"
    if deadline.starts > now:
        return f"loss in {duration(deadline.starts - now)}"
    return "losing now" if deadline.probed else IDLE


def absolute(effects: Sequence[Effect], deadline: Deadline) -> str:
    """The same in UTC: `loss from 2026-09-23T09:14:00Z at the earliest, complete by …`.

    What is skipped is skipped at the start; then the deadline is that of its records.
    """
    effect = worst(effects)
    skipped = effect is not None and effect.harm is Harm.SKIPPED
    word = "the skipped records expire" if skipped else "loss"
    parts = []
    if deadline.starts is not None:
        bound = "" if deadline.probed else " at the earliest"
        parts.append(f"from {instant(deadline.starts)}{bound}")
    if deadline.complete is not None:
        parts.append(f"complete by {instant(deadline.complete)}")
    return f"{word} " + ", ".join(parts) if parts else f"{word} at an unknown time"


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


def dry_run(report: Report, suggested_command: Sequence[str]) -> list[str]:
    """The command that makes a plan and keeps it."""
    kept = plan_file(report, suggested_command)
    return command("fix", "--dry-run", "--out", kept, *suggested_command)


def elsewhere(suggested_command: Sequence[str]) -> list[str]:
    """The arguments that say how AWS is reached, without those that say what is worked on."""
    named = {"--region", "--profile", "--role-arn", "--endpoint-url"}
    argv = list(suggested_command)
    indexes = [index for index, word in enumerate(argv[:-1]) if word in named]
    return [word for index in indexes for word in argv[index : index + 2]]


_OF_A_FIX = frozenset({"--set", "--shift", "--positions", "--shards", "--rule", "--not-rule"})
"""Options with a value that say what a fix writes, or in which part."""


def inspecting(suggested_command: Sequence[str], *more: str) -> list[str]:
    """The command that looks at all of a consumer of which a part may have been repaired."""
    kept: list[str] = []
    words = iter(suggested_command)
    for word in words:
        name, joint, _ = word.partition("=")
        if name not in _OF_A_FIX:
            kept.append(word)
        elif not joint:
            next(words, None)
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


def price_words(decided: Plan) -> str:
    """What a plan costs: `Skips nothing, re-reads up to 14h of records a shard.`."""
    effects = [e for run in decided.after for e in run if not (e.gone or e.past)]
    skipped = [e for e in (*effects, *decided.costs) if e.harm is Harm.SKIPPED]
    again = [e for e in effects if e.harm is Harm.REREAD]
    mixed = dict.fromkeys(
        e.shard for e in decided.price if e.harm is Harm.DISORDERED and e.shard is not None
    )
    forgotten = f"{_forgotten(decided)}, " if decided.forgets else ""
    order = f", reads {shards(mixed)} out of order" if mixed else ""
    return capital(f"{forgotten}skips {_by_shard(skipped)}, re-reads {_by_shard(again)}{order}.")


def _forgotten(decided: Plan) -> str:
    """With the time of the newest number: an operator knows whether that stream still lived."""
    gone = "stored position" if decided.forgets == 1 else "stored positions"
    newest = decided.newest_forgotten
    since = "" if newest is None else f" (the newest of {instant(newest)})"
    return f"forgets {decided.forgets} {gone}{since}"


def _by_shard(effects: Sequence[Effect]) -> str:
    if len({e.shard for e in effects}) < 2:
        return _of_records(_with_records(broadest(effects), effects))
    in_all = [total(effects)] if total(effects) else []
    if (width := width_in_all(effects)) != "unknown":
        in_all.insert(0, f"{width} in all")
    together = f" ({', '.join(in_all)})" if in_all else ""
    return f"{_of_records(broadest(effects))} a shard{together}"


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


_KINDS = {Exit.REFUSED: "refused", Exit.HALF_DONE: "half done", Exit.NOTHING_FOUND: "empty"}


def kind_of(failure: ReshardError) -> str:
    """`refused`, `half done`, `empty` or `error`."""
    return _KINDS.get(failure.exit, "error")


def journal_of(failure: ReshardError) -> str:
    """The journal that continues or undoes a half-done command; "" if there is none."""
    return failure.journal if isinstance(failure, HalfDone) else ""


def resharded(lineage: Lineage) -> float | None:
    """Unix second of the last split or merge: when the youngest open child opened."""
    born = (lineage.opened_at(s) for s in lineage.open_shards() if lineage[s].parents)
    return max((moment for moment in born if moment is not None), default=None)
