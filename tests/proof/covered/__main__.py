"""Ends with 1 where a line or a branch of the gate's rooms is run by no test, and not excused.

::

    scripts/test coverage                               the gate
    scripts/test coverage --rooms model tests/unit      any rooms, by the tests that are named
    scripts/test coverage --report                      the last run, by the excuses of now

``excused.toml`` has the excuses; one that is not needed ends with 1 too. Where a test fails nothing
is judged; a test that needs a server fails where there is none, and is not skipped.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

import coverage

from tests.proof.covered.gaps import Gap, Room, excuses, judge, possible
from tests.proof.covered.measuring import BRANCHES, FAILED, ROOT, measure
from tests.proof.mutants.drawing import ROOMS, modules, source

GATE = (
    "model", "lineage", "planning", "report", "diagnosis", "auditing", "codec", "consumers",
    "journal", "execution", "stores", "snapshot",
)  # fmt: skip
"""The rooms of which every line and branch is run, or excused."""
TESTS = (
    *(f"tests/unit/{room}" for room in GATE),
    "tests/cli/damaged/test_options.py",
    *(f"tests/cli/test_{name}.py" for name in (
        "baseline", "beside", "config_tables", "destinations", "every", "explain", "files",
        "fix_many", "fleet", "from_elsewhere", "if_reshard", "journals", "journals_on_s3",
        "kinesis_consumer", "live", "metrics", "named_options", "probe", "prune",
        "quickwit_postgres", "quickwit_rest", "skipped", "spark_copy", "spark_in_order",
        "spark_log_table", "spark_spoiled", "status", "transcripts_config", "transcripts_quickwit",
        "transcripts_running", "waiting",
    )),
    *(f"tests/cli/test_{file}.py::test_{name}" for file, name in (
        ("bad_input", "a_journal_that_cannot_be_made_is_refused_before_anything_is_read"),
        ("discover", "other_tables_are_told_apart"),
        ("discover", "streams_of_one_second_are_not_told_apart"),
        ("given_files", "a_device_that_never_ends"),
        ("hostile_outcomes", "no_store_of_another_library_does"),
        ("position_stores", "a_row_of_another_kind_leaves_the_others_judged"),
        ("position_stores", "a_table_of_another_kind"),
        ("position_stores", "a_wrong_database_or_table"),
        ("position_stores", "rows_of_one_key_are_named_and_the_table_is_not_written"),
        ("printed", "rows_of_dynamodb"),
        ("quickwit", "a_file_that_somebody_broke_goes_back_as_a_whole"),
        ("quickwit", "a_watch_rules_out_nothing"),
        ("quickwit", "no_fix_without_the_word_that_every_node_is_stopped"),
        ("quickwit", "positions_that_cannot_be_read_are_not_exported_as_none"),
        ("quickwit", "putting_a_whole_file_back_is_finished_when_it_was_cut_off"),
        ("quickwit", "the_whole_of_a_readable_file_is_not_put_back"),
        ("rebuild", "a_checkpoint_in_a_bucket_that_is_gone_is_not_made"),
        ("rebuild", "a_directory_that_is_gone_is_not_made"),
        ("rebuild", "other_stores_that_are_gone"),
        ("rebuild", "the_sinks_own_log_says_which_batch_was_the_last"),
        ("safety", "a_watch_that_a_running_worker_may_outlast_is_refused"),
        ("safety", "rows_without_an_owner_are_watched_as_long"),
        ("spark", "a_home_is_for_the_shell_to_find"),
        ("spark", "a_silent_watch_is_believed_as_far_as_it_goes"),
        ("spark", "bad_input_is_named"),
        ("spark", "bad_options"),
        ("spark", "what_matters_is_asked_and_no_more"),
        ("staleness", "a_foreign_row_that_narrows_the_releases"),
        ("staleness", "a_recreated_stream"),
        ("staleness", "a_recreated_table"),
        ("tables", "side_tables_that_may_not_be_read_are_named"),
        ("whose_rows", "streams_of_one_second_are_told_apart_by_the_operator_only"),
    )),
    *(f"tests/proof/drawn/test_{name}.py" for name in ("kcl_waiting", "partial_plans")),
    *(f"tests/unit/{name}.py" for name in (
        "render/test_asking", "render/test_json_documents", "render/test_junit",
        "spark/source/test_cases",
    )),
    *(f"tests/whole/test_{name}.py" for name in ("golden_broken", "left", "saved_files")),
)  # fmt: skip
"""The rooms' own tests, and tests of commands that have them do what no test of theirs does."""
HOME = ROOT / "build" / "coverage"
EXCUSED = Path(__file__).with_name("excused.toml")
TYPES_ONLY = [r"if TYPE_CHECKING:", r"^\s*(def .*|\).*)?:?\s*\.\.\.$"]
"""Blocks that do nothing when the program runs: imports for mypy, bodies of protocols."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/test coverage")
    parser.add_argument("tests", nargs="*", help="instead of the gate's")
    parser.add_argument("--rooms", default=",".join(GATE), metavar="A,B")
    parser.add_argument("--report", action="store_true", help="of the last run")
    wish = parser.parse_args()
    rooms = wish.rooms.split(",")
    if unknown := [room for room in rooms if not modules(room)]:
        there = f"there are {', '.join(ROOMS)}, and packages of them: consumers/kcl"
        parser.error(f"--rooms: no room {unknown[0]}; {there}")
    if wish.report and not (HOME / "coverage").exists():
        parser.error("--report: nothing was measured yet: scripts/test coverage")
    if not wish.report:
        os.environ["CI"] = "1"  # what a machine lacks fails there, and is not skipped
        code = measure(HOME, BRANCHES, wish.tests or TESTS)
        if code:
            why = "tests failed, see above" if code == FAILED else f"pytest ended with {code}"
            print(f"nothing is judged: {why}", file=sys.stderr)
            return code
    return judge([measured(room) for room in rooms], [*excuses(EXCUSED, rooms)], ROOT)


def measured(room: str) -> Room:
    """The lines and branches of a room in the last run, and its gaps."""
    run = coverage.Coverage(data_file=str(HOME / "coverage"), config_file=False, branch=True)
    run.set_option("report:exclude_lines", TYPES_ONLY)
    run.load()
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        run.json_report(morfs=[str(ROOT / path) for path in modules(room)], outfile=file.name)
        files = json.loads(Path(file.name).read_text(encoding="utf-8"))["files"]
    lines, branches, gaps = 0, 0, []
    for name, found in files.items():
        path = Path(name).resolve().relative_to(ROOT)
        text = source(path).splitlines()
        lines += found["summary"]["num_statements"]
        branches += found["summary"]["num_branches"]
        never = set(found["missing_lines"])
        branch = [place for place in found["missing_branches"] if never.isdisjoint(place)]
        for line, to in [*((line, 0) for line in never), *branch]:
            gap = Gap(str(path), line, to, text[line - 1].strip())
            gaps += [gap] if possible(gap, source(path)) else []
    return Room(room, lines, branches, tuple(gaps))


if __name__ == "__main__":
    sys.exit(main())
