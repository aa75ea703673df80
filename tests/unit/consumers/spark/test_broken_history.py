"""Checkpoints out of which files were taken: told in words, and planned for only where it helps.

Run on Spark 3.3.4 to 4.3.0, November 2026: `batch 3 doesn't exist` (an id gap before the newest),
`CONCURRENT_STREAM_LOG_UPDATE` (offsets removed, commits left). A query that tracks its progress
asynchronously starts on gaps: golden spark-4.3.0-modes/async.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from reshardctl.consumers.spark.consumer import Spark
from reshardctl.consumers.spark.positions import Position
from reshardctl.errors import CannotTell
from reshardctl.model import Cause, Crash, Image, after
from reshardctl.planning.plan import (
    Case,
    NoSafePlan,
    Nothing,
    Plan,
    decide,
    processed_frontier,
)
from reshardctl.planning.policy import LATEST_AT_START
from tests.support.checkpoint_files import file
from tests.support.spark_recorded import FOLDERS, HEAD, QUBOLE, V1, Recorded, judged
from tests.unit.consumers.spark.test_variants import BEGINNING, END, Edited

ALL = {"offsets/0", "offsets/1"}


def case(shape: str, without: set[str], *more: Image) -> Case:
    """A recorded checkpoint without some of its files, and with others."""
    one = Recorded(shape, HEAD, HEAD).case()
    kept = [image for image in one.images if image.key not in without]
    return replace(one, images=[*kept, *more])


def crash(one: Case) -> Crash | None:
    return judged(one).simulation.crash


def test_commits_without_any_offsets_are_no_empty_checkpoint():
    logs = {i.key for i in case("s1", set()).images if i.key.startswith("offsets/")} - {"offsets/"}
    one = case("s1", logs)
    assert not Spark().empty(one.checkpoint())
    died = crash(one)
    assert died is not None and died.certain and died.cause is Cause.UNREADABLE
    assert "commits/0" in died.why
    decision = decide(one)
    assert isinstance(decision, NoSafePlan)
    assert "offsets/ is empty" in decision.why


def test_a_commit_ahead_kills_an_idle_awslabs_query_possibly_and_not_certainly():
    """It plans no batch without a record (kinesis.internal.avoidEmptyBatches, true by default)."""
    died = crash(case("s1", set(), file("commits/7", "v1\n{}")))
    assert died is not None and not died.certain


@pytest.mark.parametrize("cut", ['v1\n{"batchWaterm', "v1\n{}\n{\"metadata\":{\"stre"])
def test_an_only_offset_log_that_is_cut_off_is_named(cut: str):
    with pytest.raises(CannotTell, match="offsets/0"):
        case("s1", {"offsets/0"}, file("offsets/0", cut)).checkpoint()


def planned(number: int) -> Case:
    """u1: a committed batch 0 and a planned batch 1, renumbered so that batch 0 lies behind."""
    one = Recorded("u1", HEAD, HEAD).case()
    assert one.checkpoint().newest == 1 and 1 not in one.checkpoint().committed
    return replace(one, images=[i for i in one.images if i.key != f"offsets/{number}"])


def test_no_edit_of_a_planned_batch_is_offered_where_the_one_before_it_is_gone():
    assert isinstance(decide(planned(7)), Plan)
    decision = decide(planned(0))
    assert isinstance(decision, NoSafePlan)
    assert "offsets/0" in decision.why
    assert any("restore offsets/0" in way for way in decision.ways_out)


def mended(one: Case) -> Case:
    """The case after its plan, or as it is where nothing is planned."""
    decision = decide(one)
    steps = decision.steps if isinstance(decision, Plan) else ()
    return replace(one, images=after(one.images, steps))


def rewritten(one: Case) -> dict[str, str]:
    """The offset logs as the plan leaves them, by key; the plan after it is empty."""
    assert isinstance(decide(one), Plan)
    fixed = mended(one)
    assert crash(fixed) is None and isinstance(decide(fixed), Nothing)
    return {
        i.key: i.attributes["text"]["S"] for i in fixed.images
        if i.key.startswith("offsets/") and "text" in i.attributes
    }


@pytest.mark.parametrize("text", ["", "v1\n{}", 'v1\n{}\n{"metadata":{"str'])
def test_the_unreadable_log_before_a_planned_batch_is_made_of_it(text: str):
    """Only its number counts: KinesisV2MicrobatchStream.planInputPartitions asserts no more."""
    one = planned(0)
    one = replace(one, images=[*one.images, file("offsets/0", text)])
    died = crash(one)
    assert died is not None and died.certain and "offsets/0" in died.why
    logs = rewritten(one)
    assert '"batchId":"0"' in logs["offsets/0"] and '"batchId":"1"' in logs["offsets/1"]


def pretty(text: str) -> str:
    version, *values = text.split("\n")
    return "\n".join([version, *(json.dumps(json.loads(v), indent=2) for v in values)])


SPOILS = {
    "empty": lambda _: "", "cut in line 2": lambda text: text[:40],
    "cut in line 3": lambda text: text[:-9], "pretty": pretty,
    "bom": lambda text: "\ufeff" + pretty(text),
    "version": lambda text: text.replace("v1", "v9 of it", 1),
    "no line 2": lambda text: text.replace(text.split("\n")[1], ""),
}


def torn(whole: Case, spoil: Callable[[str], str]) -> tuple[Case, str]:
    """The case with its newest log spoiled, and the key of that log."""
    newest = f"offsets/{whole.checkpoint().newest}"
    (image,) = [i for i in whole.images if i.key == newest]
    rest = [i for i in whole.images if i.key != newest]
    spoiled = file(newest, spoil(image.attributes["text"]["S"]))
    return replace(whole, images=[*rest, spoiled]), newest


@pytest.mark.parametrize("spoil", SPOILS.values(), ids=SPOILS)
@pytest.mark.parametrize(("release", "shape"), [(QUBOLE, "s1x"), (V1, "s1x"), (HEAD, "s3")])
def test_an_unreadable_log_of_a_committed_batch_is_made_again(release: str, shape: str, spoil):
    """The connector's log says where it ended, so that the query goes on as if nothing had been."""
    whole = Recorded(shape, release, FOLDERS[release]).case()
    assert whole.checkpoint().newest in whole.checkpoint().committed
    one, newest = torn(whole, spoil)
    assert (died := crash(one)) is not None and newest in died.why
    assert processed_frontier(one) == processed_frontier(whole)
    places = json.loads(rewritten(one)[newest].split("\n")[2])
    assert places["metadata"]["batchId"] == newest.removeprefix("offsets/")
    fixed, wanted = mended(one), mended(whole)
    found, sound = judged(fixed).simulation, judged(wanted).simulation
    assert found.fates == sound.fates, "what it reads then is what it would have read"


@pytest.mark.parametrize("spoil", SPOILS.values(), ids=SPOILS)
@pytest.mark.parametrize("name", ["u1", "s1x"])
def test_an_unreadable_newest_log_is_made_of_the_one_before(name: str, spoil):
    """A planned batch, which starts where the one before it ended."""
    whole = case(name, set())
    one, newest = torn(whole, spoil)
    died = crash(one)
    assert died is not None and newest in died.why
    assert died.certain or "is empty" in died.why  # a committed batch's counts when the next ends
    places = [
        {key: json.loads(text.split("\n")[2]) for key, text in rewritten(each).items()}
        for each in (one, whole)
    ]
    assert places[0] == places[1]


@pytest.mark.parametrize("newest", [5, 6])
def test_an_asynchronous_query_starts_on_its_gaps_and_is_not_edited(newest: int):
    """s1's batch at the ids of an asynchronous query; two without a gap make it editable."""
    one = Recorded("s1", HEAD, HEAD).case()
    texts = {i.key: i.attributes for i in one.images}
    kept = [i for i in one.images if not i.key.startswith(("offsets/", "commits/"))]
    files = [Image(f"{folder}/{n}", texts[f"{folder}/0"])
             for folder in ("commits", "offsets") for n in sorted({0, 5, newest})]  # fmt: skip
    one = replace(one, images=[*kept, *files])
    decision = decide(one)
    if newest == 6:
        assert isinstance(decision, Plan)
        return
    assert one.checkpoint().asynchronous
    assert crash(one) is None
    assert isinstance(decision, NoSafePlan)
    assert "asyncProgressTrackingCheckpointIntervalMs=0" in decision.ways_out[0]


@pytest.mark.parametrize("name", ["20261127", "10000000", "99999999999999999"])
def test_a_copy_that_is_called_by_a_date_is_named_at_once(name: str):
    """`cp offsets/0 offsets/20261127`: Spark takes the name for a batch, and wants the one before.

    No time is spent on the ids between: a name of 17 digits would take for ever and all memory.
    """
    texts = {i.key: i.attributes for i in case("s1", set()).images}
    one = case("s1", set(), Image(f"offsets/{name}", texts["offsets/0"]))
    died = crash(one)
    assert died is not None and died.certain
    assert f"offsets/{name} is a copy of offsets/0" in died.why
    decision = decide(one)
    assert isinstance(decision, NoSafePlan)
    assert f"move offsets/{name} out of offsets/" in decision.ways_out[0]
    assert not one.checkpoint().asynchronous


@pytest.mark.parametrize("committed", [set(), {99999999999999999}])
def test_a_gap_costs_nothing_whatever_its_length(committed: set[int]):
    """Also where the newest log is another batch's, and where it is committed."""
    other = case("s1x", set())
    texts = {i.key: i.attributes for i in other.images}
    one = case("s1", set(), Image("offsets/99999999999999999", texts["offsets/1"]),
               *(Image(f"commits/{n}", texts["commits/0"]) for n in committed))
    assert one.checkpoint().gaps == (range(1, 99999999999999999),)
    assert isinstance(decide(one), NoSafePlan)


def edited(shape: str, *edits: Edit, release: str = HEAD, **said: str) -> Case:
    """A recorded checkpoint under edits by hand, whose query has lost the children of its shard."""
    one = Edited(shape, release)
    for edit in edits:
        edit(one)
    files = sorted(one.files.values(), key=lambda image: image.key)
    return Recorded(shape, release, FOLDERS[release], **said).case(files)


Edit = Callable[[Edited], None]


def second_line(text: str) -> Edit:
    def edit(one: Edited) -> None:
        lines = one.files["offsets/0"].attributes["text"]["S"].split("\n")
        one.put("offsets/0", "\n".join([lines[0], text, *lines[2:]]))
    return edit


def batch_1(ends: Callable[[Edited], dict[int, Position]]) -> Edit:
    """A committed batch 1, and where it ended."""
    def edit(one: Edited) -> None:
        one.plan(1, one.starts())
        one.end(1, ends(one))
        one.commit(1)
    return edit


def state(one: Edited) -> None:
    one.put("state/0/0/1.delta", "x")


def a_folder_in_the_log(one: Edited) -> None:
    one.files |= {key: Image(key, {}) for key in (f"{one.log}/1/", f"{one.log}/1/x/")}


def a_batch_is_gone(one: Edited) -> None:
    for number in (1, 2, 3):
        one.plan(number, one.starts())
        one.end(number, one.starts())
        one.commit(number)
    one.drop("offsets/1")


@pytest.mark.parametrize(("edits", "why", "way"), [
    # The next batch's second line has the watermark that the commit hands on.
    ((second_line("{}"),
      lambda one: one.put("commits/0", 'v1\n{"nextBatchWatermarkMs":7}')),
     "has no batch", "begin a new checkpoint"),
    ((second_line(""),), "its second line is empty", "restore offsets/ from a backup"),
    # HDFSMetadataCommitter.get opens whatever the folder lists.
    ((a_folder_in_the_log,), "is a folder in the connector's log", "elsewhere"),
    ((lambda one: one.commit(7),), "commits/ is ahead of offsets/0", "restore offsets/"),
    ((a_batch_is_gone,), "offsets/1 of a committed batch was removed", "restore offsets/1"),
    ((batch_1(lambda _: {0: END, 1: END, 2: BEGINNING}), state),
     "rows of shard 1 that are read again count twice", "recount"),
    ((batch_1(lambda one: {0: one.read, 1: one.read, 2: BEGINNING}), state),
     "rows of shard 1 that are read again", "recount"),
])  # fmt: skip
def test_what_keeps_the_next_batch_from_being_made(edits, why, way):
    decision = decide(edited("s1", *edits, release=V1 if state in edits else HEAD))
    assert isinstance(decision, NoSafePlan) and why in decision.why
    assert any(way in one for one in decision.ways_out)


@pytest.mark.parametrize(("shape", "edits", "said"), [
    # No shard begins before a place that a committed batch has reached, or the batch runs anyway.
    ("s1", (state,), {}), ("u1", (state,), {}), ("s1", (batch_1(Edited.starts), state), {}),
    # What the file sink cannot have yet: the batch has read nothing.
    ("u1", (lambda one: one.drop(f"{one.log}/1/"),), {"sink": "file"}),
])  # fmt: skip
def test_what_keeps_no_batch_from_being_made(shape, edits, said):
    assert isinstance(decide(edited(shape, *edits, **said)), Plan)


@pytest.mark.parametrize("release", [QUBOLE, V1, HEAD])
def test_no_batch_holds_the_tip_as_of_each_start(release):
    """ShardSyncer takes LATEST anew in each batch that stores it (runs, November 2026)."""
    decision = decide(replace(edited("s1", release=release), policy=LATEST_AT_START))
    assert isinstance(decision, NoSafePlan) and "LATEST again in every batch" in decision.why


NO_SHARD = '{"metadata":{"streamName":"st","batchId":"0"}}'
KAFKA = '{"kafka":{"0":7}}'


def two_sources(before: Callable[[str], str], newest: Callable[[str], str]) -> Case:
    """u1 with another source, whose place its offset logs alone tell."""
    texts = {i.key: i.attributes["text"]["S"] for i in case("u1", set()).images if i.key in ALL}
    logs = zip(sorted(ALL), (before, newest), strict=True)
    return case("u1", ALL, *(
        file(key, spoiled(f"{texts[key]}\n{KAFKA}")) for key, spoiled in logs
    ))


NOT_MADE_AGAIN = {
    "nothing": lambda _: "",
    "a place that no digits give back": lambda t: pretty(t.replace(KAFKA, '{"0":7.50}')),
    "a name that stands twice": lambda t: pretty(t).replace('"0": 7', '"0": 7, "0": 8'),
    "another batch's": lambda t: pretty(t.replace('"batchId":"1"', '"batchId":"5"')),
    "another version": lambda t: pretty(t).replace("v1", "v2", 1),
    "without the other source": lambda t: pretty(t.removesuffix(f"\n{KAFKA}")),
    "without its own source": lambda t: pretty("\n".join([*t.split("\n")[:2], KAFKA])),
    "with settings that are none": lambda t: pretty(re.sub(r'"conf":\{.*?\}', '"conf":7', t)),
}


@pytest.mark.parametrize("spoil", NOT_MADE_AGAIN.values(), ids=NOT_MADE_AGAIN)
def test_a_log_of_which_only_the_file_told_another_source_s_place_is_not_made_again(spoil):
    assert isinstance(decide(two_sources(str, spoil)), NoSafePlan)


def test_a_reformatted_log_keeps_the_place_of_another_source_also_of_one_that_has_not_begun():
    assert rewritten(two_sources(str, pretty))["offsets/1"].endswith(KAFKA)
    one = two_sources(lambda t: t.replace(KAFKA, "-"),
                      lambda t: pretty(t.replace(KAFKA, "7")).replace("\n7", "\n-"))
    assert rewritten(one)["offsets/1"].endswith("\n-")


@pytest.mark.parametrize("before", [
    # Its second line has no time to take over, nor has it a watermark; or it cannot be read.
    lambda t: t.replace(t.split("\n")[1], "{}"), lambda t: t.replace(t.split("\n")[1], ""),
    # It names no shard from which the next batch would go on.
    lambda t: "\n".join([*t.split("\n")[:2], NO_SHARD]),
], ids=["no time", "no second line", "no shard"])  # fmt: skip
def test_where_the_log_before_is_torn_as_well_nothing_is_made(before):
    logs = {i.key: i.attributes["text"]["S"] for i in case("u1", set()).images if i.key in ALL}
    one = case(
        "u1", ALL | {"commits/0"}, file("offsets/0", before(logs["offsets/0"])),
        file("offsets/1", ""), file("commits/0", 'v1\n{"nextBatchWatermarkMs":7}'),
    )
    assert isinstance(decide(one), NoSafePlan)


def test_the_log_before_a_first_batch_of_the_connector_is_not_made_again():
    """Its number would be below 0; and of other sources only that file says where they stood."""
    assert isinstance(decide(two_sources(lambda _: "", str)), NoSafePlan)
    first = planned(0)
    images = [
        file(i.key, i.attributes["text"]["S"].replace('"batchId":"1"', '"batchId":"0"'))
        if i.key == "offsets/1" else i for i in first.images
    ]
    one = replace(first, images=[*images, file("offsets/0", "")])
    assert isinstance(decide(one), NoSafePlan)
