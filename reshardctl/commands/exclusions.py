"""Which options exclude each other, why, and which one to leave out: one table.

A command asks it about its options, each at the moment at which that can be told: some only once
the consumer is known.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec import Struct

from reshardctl.errors import UsageError


class Exclusion(Struct, frozen=True):
    """An option excludes others, of which the first that is given is named.

    what, next: the message, and the way out, in which {option} and {other} are named.
    """

    option: str
    others: tuple[str, ...]
    what: str
    next: str = "leave {other} out"


BOTH = "{option} and {other} exclude each other: "
WHERE = f"{BOTH}both say where shards start"
ANEW = f"{BOTH}{{option}} begins anew with every shard"
SAVED = f"{BOTH}{{option}} applies a saved plan as it is"
RESUMED = f"{BOTH}{{option}} finishes a fix as its journal has it"
STRETCH = "--since and --until say what of the stream is compared, and it is not to be read"
OF_ALL_ROWS = "leave {other} out; of the sink all rows are counted"

REBUILD, SEVERAL, FILES = "rebuild", "several consumers", "files of the stream or its positions"
"""Not options, but what excludes some."""
SCOPE = ("--shards", "--rule", "--not-rule")
GIVEN = ("--positions", "--set", "--shift")
SETTLED = (
    "--out", "--policy", "--probe", "--count", "--to", *SCOPE, *GIVEN, "--from", "--column",
    "--form", FILES,
)
"""Options that a saved plan or a journal settles."""
OF_AN_UNDO = ("--journal", "--whole-file")

EXCLUDE = (
    Exclusion("--live", ("--assume-stopped",), f"{BOTH}the application runs, or it does not",
              "leave {other} out while a worker runs, else {option}"),
    Exclusion("--live", ("--bootstrap", "--recreated"),
              f"{BOTH}a running application makes positions of its own meanwhile",
              "stop every worker first, and leave {option} out"),
    Exclusion(FILES, ("--probe", "--count", "--wait", "--watch", "--every", "--discover"),
              "{other} reads stream or positions as they are now, and files stand in their place"),
    Exclusion(REBUILD, (FILES,), "rebuild reads the stream and the positions themselves"),
    Exclusion(REBUILD, SCOPE, "rebuild writes what a sink proves of every shard: {other} excluded",
              "leave {other} out, or run reshardctl fix"),
    Exclusion("--shift", ("--positions", "--set"), f"{BOTH}{{option}} moves every shard",
              "fix with {option} first, then with {other}"),
    Exclusion("--positions", ("--policy", "--recreated", "--from"), WHERE),
    Exclusion("--set", ("--policy", "--recreated", "--from"), WHERE),
    Exclusion("--shift", ("--policy", "--recreated", "--bootstrap", "--from"), WHERE),
    Exclusion("--created", ("--recreated",), f"{BOTH}the positions belong to this stream, or to an "
              "earlier one of its name", "leave one of them out"),
    Exclusion("--plan", ("--dry-run",), SAVED, "leave {other} out; without --yes the plan is "
              "shown, and written only after a yes"),
    Exclusion("--plan", SETTLED, SAVED),
    Exclusion("--resume", ("--dry-run",), RESUMED, "leave {other} out; without --yes what is left "
              "is shown, and written only after a yes"),
    Exclusion("--resume", (*SETTLED, "--journal", "--skipped"), RESUMED),
    Exclusion(SEVERAL, ("--resume", "--plan", "--to", "--recreated", "--created", "--skipped",
                        *GIVEN),
              "{other} is for one consumer", "name one, or leave it out"),
    Exclusion("--bootstrap", SCOPE, ANEW),
    Exclusion("--recreated", SCOPE, ANEW),
    Exclusion("--bootstrap", ("--recreated",), f"{BOTH}{{option}} is for a new application, "
              "without positions; {other} for one whose stream was deleted and made again",
              "leave {option} out if positions are stored, else {other}"),
    Exclusion("--to", ("--dry-run", "--live", "--out"), f"{BOTH}{{option}} makes the copy and "
              "repairs it at once", "leave {other} out, or leave {option} out to look at the plan "
              "first"),
    Exclusion("--prune", ("--list", "--show", *OF_AN_UNDO), f"{BOTH}{{option}} deletes journals"),
    Exclusion("--list", ("--yes", "--dry-run", *OF_AN_UNDO),
              f"{BOTH}{{option}} only shows which journals there are"),
    Exclusion("--show", ("--list", "--yes", "--dry-run", *OF_AN_UNDO),
              f"{BOTH}{{option}} only shows what a journal holds"),
    Exclusion("--every", ("--wait",), f"{BOTH}{{other}} waits once, {{option}} goes on for ever",
              "inspect first with {other}, then with {option}"),
    Exclusion("--shards", ("--if-reshard",), f"{BOTH}the shards of a forecast have no number yet",
              "leave {option} out; the forecast names the shards"),
    Exclusion("--discover", ("--if-reshard",), f"{BOTH}a forecast is of the reshard of one stream",
              "leave {option} out, and name the consumers of the stream"),
    Exclusion("--discover", ("--created", "--recreated", "--bootstrap", "--skipped"),
              f"{BOTH}{{other}} is for one consumer", "inspect it by its name"),
    Exclusion("--skipped", ("--if-reshard",), f"{BOTH}records after a reshard that nobody has made "
              "have no numbers yet"),
    Exclusion("--every", ("--skipped",), f"{BOTH}{{other}} saves one new file",
              "inspect once with {other}"),
    Exclusion("--if-reshard", ("--watch",), f"{BOTH}one judges a start after a reshard that nobody "
              "has made, the other what runs now", "run inspect once with each"),
    Exclusion("--if-reshard", ("--format openmetrics",), f"{BOTH}metrics tell what is, not what a "
              "reshard would bring", "leave {option} out"),
    Exclusion("--count", ("--if-reshard",), f"{BOTH}a forecast has no records to count",
              "count what is there: leave {other} out"),
    *(
        Exclusion(policy, ("--if-reshard",), f"{BOTH}it is resolved to numbers of records, and "
                  "those of a forecast are not written yet",
                  "leave --policy out: what breaks does not depend on it")
        for policy in ("--policy latest", "--policy at-timestamp")
    ),
    Exclusion("--master", ("--remote",), f"{BOTH}each names another Spark",
              "leave {option} out for a Spark Connect server, else {other}"),
    Exclusion("--keys", ("--alone",), "{option} shows the keys of missing records, and without the "
              "stream none is known"),
    Exclusion("--since", ("--alone",), STRETCH, OF_ALL_ROWS),
    Exclusion("--until", ("--alone",), STRETCH, OF_ALL_ROWS),
)
"""In the order in which they are looked for."""


def require_compatible(given: Collection[str], *options: str) -> None:
    """UsageError for the first of these options that excludes another one.

    given: the names of all options that are given.
    """
    for row in EXCLUDE:
        if row.option not in options or row.option not in given:
            continue
        for other in row.others:
            if other in given:
                both = {"option": row.option, "other": other}
                raise UsageError(row.what.format(**both), row.next.format(**both))


def set_in(flags: Mapping[str, bool]) -> frozenset[str]:
    """The names of the options that are given."""
    return frozenset(name for name, is_given in flags.items() if is_given)
