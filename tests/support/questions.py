"""How often a plan has to wait for an answer, over all case files without a release.

    python -m tests.support.questions        # the table
    python -m tests.support.questions -v     # and each case that is asked about

A case is counted once for each start mode that it names, and once with nothing named at all.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator

from reshardctl.consumers.registry import CONSUMERS
from reshardctl.planning.plan import Ask
from tests.support.case import Case, all_cases
from tests.support.dialects import dialect_of
from tests.support.judging import Bench, options_of

FOLDERS = ("kcl", "kcl-tables", "kinsumer", "kinesis-consumer", "quickwit", "spark")
STARTED = "start mode named, no release"
NOTHING = "nothing named"


def situations() -> Iterator[tuple[str, Case, dict[str, str], bool]]:
    """What is named, the case, its options, whether its closed shards were read."""
    for folder in FOLDERS:
        for case in all_cases(folder):
            if case.consumer not in CONSUMERS:
                continue
            named = {
                (initial, expect.probe): dict(expect.options)
                for expect in case.expects for initial in expect.initial
            }
            for (initial, probe), more in named.items():
                options = options_of(case, initial, None) | more
                options.pop("release", None)
                yield STARTED, case, options, probe
            asks = CONSUMERS[case.consumer].spec.ambiguous_options
            kept = {name: value for name, value in more.items() if name not in asks}
            yield NOTHING, case, kept, False


def question(case: Case, options: dict[str, str], probe: bool) -> Ask | None:
    """What is asked about the case, if anything."""
    rows = dialect_of(case.consumer).images(case)
    decision = Bench.on(case, rows, options, probe=probe).decide()
    return decision if isinstance(decision, Ask) and decision.options != ("recreated",) else None


def main(verbose: bool) -> None:
    """Prints the number of cases and of questions, by what is named and by consumer."""
    seen: Counter[tuple[str, str]] = Counter()
    asked: Counter[tuple[str, str]] = Counter()
    failed = 0
    for named, case, options, probe in situations():
        key = (named, case.consumer)
        try:
            ask = question(case, options, probe)
        except Exception as error:
            failed += 1
            print(f"could not: {case.name} {options}: {error!r}", file=sys.stderr)
            continue
        seen[key] += 1
        if ask is not None:
            asked[key] += 1
            if verbose:
                print(f"{named}: {case.consumer} {case.name} {options}: {ask.named}")
    for (named, consumer), number in seen.items():
        print(f"{named:30} {consumer:18} {number:5} judged  {asked[named, consumer]:5} asked")
    for named in (STARTED, NOTHING):
        judged = sum(n for (what, _), n in seen.items() if what == named)
        total = sum(n for (what, _), n in asked.items() if what == named)
        print(f"{named:30} {'in all':18} {judged:5} judged  {total:5} asked")
    if failed:
        print(f"{failed} could not be judged")


if __name__ == "__main__":
    main("-v" in sys.argv[1:])
