"""Whose rows are these? Tables of another stream, tables that two streams share, mistyped streams.

The numbers are FakeKinesis's, in AWS's layout. That Kinesis refuses the number of another stream:
kinesis-connectors#8 and logstash-input-kinesis#22 (AWS), kinesalite's tests against AWS, and
ferrokinesis 0.7.0. That the first shards' epoch is the creation time less three seconds: seven of
seven public samples.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from reshardctl.model import decode, shard_id
from reshardctl.stores.dynamodb.reading import Table
from tests.cli.lab import TRIM_HORIZON, Item, Lab, printed
from tests.support.covering import in_turn

CREATED = 1795219200
HOUR = 3600


def topology(name: str, created: int, shards: int, now: int) -> dict[str, Any]:
    """A stream whose shards get a record every few minutes, until a minute before the time."""
    return {
        "name": name, "created": created, "now": now - created,
        "shards": [
            {
                "id": i, "range": [f"{i}/{shards}", f"{i + 1}/{shards}"], "open": 0,
                "records": {"n": 20, "from": 100, "to": now - created - 60},
            } for i in range(shards)
        ],
    }


def lease(shard: int, position: int | str, counter: int = 7) -> Item:
    return {
        "leaseKey": {"S": shard_id(shard)}, "checkpoint": {"S": str(position)},
        "checkpointSubSequenceNumber": {"N": "0"}, "leaseCounter": {"N": str(counter)},
        "leaseOwner": {"S": "w1"}, "ownerSwitchesSinceCheckpoint": {"N": "0"},
    }


@pytest.fixture
def streams(lab_of) -> Lab:
    """`orders`, and `payments`, which is two hours younger; the table is empty."""
    from reshardctl.testing.topology import stream_of

    lab: Lab = lab_of("a-both", TRIM_HORIZON, items=[])
    now = int(lab.fake.clock.now())
    for name, age, shards in (("first", 6 * HOUR, 4), ("second", 4 * HOUR, 6)):
        lab.fake.add_stream(stream_of(topology(name, now - age, shards, now)))
    return lab


def numbers(lab: Lab, stream: str, record: int = 18) -> list[int]:
    shards = lab.fake.stream(stream).shards
    return [shards[i].records[record].number for i in sorted(shards)]


def asked(lab: Lab) -> list[str]:
    return [call.action for call in lab.fake.calls if call.action == "GetShardIterator"]


VERBS = ("inspect", "inspect --probe", "status", "status --probe", "explain 0", "fix --dry-run",
         "fix --yes --assume-stopped", "fix --shift -1h --live --yes --accept reread=3h",
         "fix --policy latest --yes --assume-stopped --accept skip=all",
         "export", "graph")  # fmt: skip


def call(lab: Lab, words: str):
    verb, *more = words.split()
    return lab.cli(verb, *lab.where, *more)


@pytest.mark.parametrize(("words", "stream"), in_turn(VERBS, ["first", "second"], every=2))
def test_a_table_of_another_stream_is_refused(streams, words, stream):
    """Of a younger one every number lies between the first and the last one of this stream's
    shards; and a mistyped --stream must not look like a stream that was deleted and made again."""
    (other,) = {"first", "second"} - {stream}
    streams.plant(*(lease(i, n) for i, n in enumerate(numbers(streams, other)[:4])))
    before = streams.items()
    streams.stream = stream
    result = call(streams, words)
    assert result.code == 2, result.out + result.err
    assert result.says("belongs to another stream", f"Its numbers are of stream {other}")
    assert "--recreated" not in result.out + result.err
    assert streams.items() == before and streams.wire.writes == []


def shared(lab: Lab) -> dict[str, Item]:
    """One lease table of two applications (KCL 1.9: amazon-kinesis-client#62)."""
    first, second = numbers(lab, "first"), numbers(lab, "second")
    lab.plant(lease(0, first[0]), lease(2, first[2]),
              *(lease(i, second[i]) for i in (1, 3, 4, 5)))  # fmt: skip
    return lab.items()


@pytest.mark.parametrize(("stream", "other", "theirs", "unborn"), [
    ("first", "second", [1, 3], [4, 5]), ("second", "first", [0, 2], []),
])  # fmt: skip
def test_a_table_that_two_streams_share(streams, stream, other, theirs, unborn):
    before = shared(streams)
    streams.stream = stream
    report = streams.inspect("--format", "json").json
    found = {f["code"]: f for f in report["findings"]}
    assert found["RSH207"]["shards"] == [shard_id(i) for i in theirs]
    assert f"stream {other}" in found["RSH207"]["what"]
    assert found.get("RSH212", {"shards": []})["shards"] == [shard_id(i) for i in unborn]
    shown = streams.cli("status", *streams.where, "--format", "text").out
    assert shown.count("not this stream's") == len(theirs + unborn), shown
    for more in ([], ["--policy", "latest"], ["--shift", "-1h"], ["--recreated", streams.created],
                 ["--set", f"{theirs[0]}=TRIM_HORIZON"]):  # fmt: skip
        streams.fix("--accept", "reread=all,skip=all,disorder", *more)
        after = streams.items()
        assert {key: after[shard_id(key)] for key in theirs + unborn} == {
            key: before[shard_id(key)] for key in theirs + unborn
        }, more


@pytest.mark.parametrize("streams_known", [True, False])
def test_rows_older_than_the_stream_are_moved_after_the_operator_s_word_only(
    streams, streams_known
):
    """Where no stream of the account is their owner, an earlier stream of this name may be."""
    first, second = numbers(streams, "first", record=0), numbers(streams, "second")
    streams.plant(lease(0, first[0]), *(lease(i, second[i]) for i in range(1, 6)))
    if not streams_known:
        streams.wire.fail("ListStreams", "AccessDeniedException")
    streams.stream = "second"
    before = streams.items()
    left = streams.fix("--accept", "reread=all")
    assert left.code == 1 and streams.items() == before
    shown = streams.dry("--recreated", streams.created, "--format", "text")
    assert ("living stream" in shown.out and "kinesis:ListStreams" in shown.out) != streams_known
    streams.fix("--accept", "reread=all", "--recreated", streams.created)
    after = streams.items()
    moved = {key for key in before if before[key] != after[key]}
    assert moved == (set() if streams_known else {shard_id(0)})


def moved_epochs(lab: Lab, stream: str = "first") -> None:
    """The shards' numbers carry a later epoch, as after AWS moves a shard."""
    for shard in lab.fake.stream(stream).shards.values():
        shard.move_epoch(int(lab.fake.clock.now()) - 1800)
    for key in range(4):
        lab.fake.client("us-east-1").put_record(
            StreamName=stream, Data=b"x", PartitionKey="k",
            ExplicitHashKey=str(key * (1 << 126)),
        )
    lab.plant(*(lease(i, s.records[-1].number) for i, s in lab.fake.stream(stream).shards.items()))


def test_numbers_of_a_moved_shard_are_asked_about_and_taken(streams):
    moved_epochs(streams)
    streams.stream = "first"
    streams.fake.calls.clear()
    result = streams.inspect()
    assert result.code == 0, result.out
    assert 0 < len(asked(streams)) <= 5


def test_numbers_that_their_epoch_proves_are_not_asked_about(streams):
    streams.plant(*(lease(i, n) for i, n in enumerate(numbers(streams, "first"))))
    streams.stream = "first"
    streams.fake.calls.clear()
    assert streams.inspect().code == 0
    assert asked(streams) == []


@pytest.mark.parametrize("of", ["first", "second"])
def test_without_permission_reports_say_so_and_nothing_is_written(streams, of):
    if of == "first":
        moved_epochs(streams)
    else:
        streams.plant(*(lease(i, n) for i, n in enumerate(numbers(streams, of)[:4])))
    streams.wire.fail("GetShardIterator", "AccessDeniedException")
    streams.stream = "first"
    before = streams.items()
    forms = {"inspect": ("text", "json", "concise"), "status": ("text", "json"),
             "fix": ("text", "json", "concise")}  # fmt: skip
    for verb in forms:
        for form in forms[verb]:
            result = call(streams, f"{verb} --format {form}")
            assert result.code == 3, (verb, form, result.out)
            told = " ".join((result.out + result.err).split())
            assert "not verified that the positions are of this stream" in told, (verb, form)
            if form == "text" and verb != "status":  # all is well, or it is another stream's
                assert "OK" not in told and "if these positions are of this stream" in told, told
    refused = streams.fix("--set", "0=TRIM_HORIZON", "--accept", "reread=all")
    assert refused.code == 4, refused.out + refused.err
    assert refused.says("not verified", "kinesis:GetShardIterator")
    assert streams.items() == before


def test_of_what_the_aws_cli_printed_no_number_is_verified(streams, tmp_path):
    """Files hold no answer of Kinesis on a number; a snapshot taken of the store does."""
    moved_epochs(streams)
    streams.stream = "first"
    codes = {}
    for made_of, words in {
        "files": [streams.locator, *printed(streams, tmp_path)], "store": streams.where,
    }.items():
        file = tmp_path / f"{made_of}.snapshot"
        assert streams.cli("snapshot", *words, "-o", file).code == 0
        codes[made_of] = streams.cli("inspect", f"snapshot:{file}", "--format", "text").code
    assert codes == {"files": 3, "store": 0}


@pytest.mark.parametrize("verb", ["inspect", "status", "fix --dry-run"])
def test_one_number_of_its_own_does_not_make_up_for_those_that_cannot_be_asked_about(streams, verb):
    """A read that fails is never clean (DESIGN.md, rule 2): 2 may be of another stream, and is."""
    first, second = numbers(streams, "first"), numbers(streams, "second")
    streams.plant(*(lease(i, second[i] if i == 2 else first[i]) for i in range(4)))
    streams.wire.fail("GetShardIterator", "AccessDeniedException")
    streams.stream = "first"
    assert call(streams, verb).code == 3


def written(lab: Lab, stream: str, shards: int) -> list[int]:
    """The numbers of records that are put into a stream now, one into each of its shards."""
    kinesis = lab.fake.client("us-east-1")
    keys = [str(i * (1 << 128) // shards) for i in range(shards)]
    return [
        int(kinesis.put_record(StreamName=stream, Data=b"x", PartitionKey="k",
                               ExplicitHashKey=key)["SequenceNumber"]) for key in keys
    ]  # fmt: skip


@pytest.mark.parametrize("shards", [4, 2])
def test_a_stream_that_was_made_again_a_moment_after_its_last_records(streams, shards):
    """None of the numbers is of the stream: they lie before the first one of their shards, or are
    of shards that it has not."""
    old, kinesis = written(streams, "first", 4), streams.fake.client("us-east-1")
    streams.plant(*(lease(i, n) for i, n in enumerate(old)))
    kinesis.delete_stream(StreamName="first")
    streams.fake.clock.advance(20)
    kinesis.create_stream(StreamName="first", ShardCount=shards)
    streams.fake.clock.advance(600)
    written(streams, "first", shards)
    streams.stream = "first"
    before = streams.items()
    last = max(fields.time for number in old if (fields := decode(number)))
    assert 0 < streams.fake.stream("first").created - last < 60
    found = {f["code"]: f for f in streams.inspect("--format", "json").json["findings"]}
    assert "older than the stream" in found["RSH102"]["what"]
    refused = streams.fix("--accept", "reread=all")
    assert refused.code == 4, refused.out + refused.err
    assert refused.says("--recreated CREATION-TIME")
    assert streams.items() == before
    done = streams.fix("--accept", "reread=all", "--recreated", streams.created)
    assert done.code == 0, done.out + done.err
    assert set(streams.items()) == {shard_id(i) for i in range(shards)}
    assert streams.inspect().code == 0


def test_numbers_that_a_living_stream_gave_out_a_moment_before_are_its_own(streams):
    """As of a stream that was just recreated, but for the account's other streams."""
    streams.plant(*(lease(i, n) for i, n in enumerate(written(streams, "second", 6)[:4])))
    streams.fake.clock.advance(20)
    streams.fake.client("us-east-1").create_stream(StreamName="third", ShardCount=4)
    streams.fake.clock.advance(600)
    streams.stream = "third"
    before = streams.items()
    for words in ([], ["--recreated", streams.created]):
        refused = streams.fix("--accept", "reread=all", *words)
        assert refused.code == 2, refused.out + refused.err
        assert refused.says("belongs to another stream", "Its numbers are of stream second")
    assert streams.items() == before


@pytest.fixture
def same_second(streams) -> Lab:
    """A stream that was created in the same second as `first`, as Terraform may do; the table has
    positions of `first`, one shard of which is at an end that it has not."""
    from reshardctl.testing.topology import stream_of

    created = streams.fake.stream("first").created
    streams.fake.add_stream(stream_of(topology("twin", created, 4, created + 6 * HOUR)))
    streams.plant(*(lease(i, n) for i, n in enumerate(numbers(streams, "first")[:3])))
    return streams


BACK = ("--set", "0=TRIM_HORIZON", "--accept", "reread=all")


@pytest.mark.parametrize(("stream", "other"), [("first", "twin"), ("twin", "first")])
def test_streams_of_one_second_are_told_apart_by_the_operator_only(
    same_second, stream, other, tmp_path
):
    """Nothing in a number of a first shard differs between them; FakeKinesis takes either, too."""
    same_second.stream = stream
    before = same_second.items()
    shown = same_second.dry(*BACK, "--format", "text")
    assert f"created in the same second as stream {other}" in " ".join(shown.out.split())
    saved = tmp_path / "a.plan"
    for words in (["--dry-run", "--out", saved], ["--yes", "--assume-stopped"], ["--live"]):
        refused = same_second.cli("fix", *same_second.where, *BACK, *words)
        assert refused.code == 4, (words, refused.out + refused.err)
        assert refused.says("in the same second", f"stream {other}", "--created CREATION-TIME")
    assert same_second.items() == before and not saved.exists()
    done = same_second.fix(*BACK, "--created", same_second.created)
    assert done.code in (0, 1) and same_second.items() != before, done.err


def number_after_a_split(lab: Lab, stream: str) -> int:
    """A number of shard 5, which the split makes, a minute later."""
    kinesis = lab.fake.client("us-east-1")
    kinesis.split_shard(
        StreamName=stream, ShardToSplit=shard_id(3), NewStartingHashKey=str((1 << 128) - 9)
    )
    lab.fake.clock.advance(60)
    kinesis.put_record(
        StreamName=stream, Data=b"x", PartitionKey="k", ExplicitHashKey=str((1 << 128) - 1)
    )
    return lab.fake.stream(stream).shards[5].records[-1].number


def test_a_number_of_a_later_shard_tells_streams_of_one_second_apart(same_second):
    same_second.stream = "first"
    same_second.plant(lease(5, number_after_a_split(same_second, "first")))
    done = same_second.fix(*BACK)
    assert done.code in (0, 1), done.err
    assert same_second.wire.writes


@pytest.mark.parametrize(("words", "twin_split"), in_turn(
    [*VERBS, "fix --set 0=TRIM_HORIZON --created CREATED --yes"], [False, True], every=2,
))
def test_a_number_of_a_later_shard_of_the_other_stream_of_the_second_is_refused(
    same_second, words, twin_split
):
    """It is the only number that shows whose the table is."""
    same_second.plant(lease(5, number_after_a_split(same_second, "first")))
    if twin_split:
        number_after_a_split(same_second, "twin")
    for n in range(25):  # of so many younger streams not all are asked
        same_second.fake.client("us-east-1").create_stream(StreamName=f"younger-{n}", ShardCount=1)
    same_second.stream = "twin"
    before = same_second.items()
    refused = call(same_second, words.replace("CREATED", same_second.created))
    assert refused.code == 2, refused.out + refused.err
    assert refused.says(f"row {shard_id(5)}", "belongs to another stream", "stream first",
                        "the same second")  # fmt: skip
    assert same_second.items() == before and same_second.wire.writes == []


def discovered(lab: Lab, stream: str) -> dict[str, str]:
    """Table → how certain it is that the table is of the stream; what is held, if it is not."""
    told = lab.cli("discover", stream, "--format", "json").json
    return {one["table"]: one.get("holds", one["confidence"])
            for one in (*told["tables"], *told["others"])}  # fmt: skip


def test_discover_names_no_stream_of_a_second_but_by_a_later_number(same_second):
    lab, table = same_second, same_second.table.name
    assert [discovered(lab, s)[table] for s in ("first", "twin")] == ["possible", "possible"]
    assert "of which stream? first, twin" in lab.cli("inspect", "--discover").out
    lab.plant(lease(5, number_after_a_split(lab, "first")))
    assert [discovered(lab, s)[table] for s in ("first", "twin")] == ["strong", "others"]
    assert "shared" not in lab.cli("discover", "twin", "--format", "text").out
    assert "of which stream?" not in lab.cli("inspect", "--discover").out


def test_numbers_of_streams_of_a_second_are_of_either_to_a_third(same_second):
    lab = same_second
    lab.stream = "second"
    refused = lab.inspect()
    assert refused.code == 2 and refused.says("Its numbers are of stream first or twin")
    text = " ".join(lab.cli("discover", "second").out.split())
    assert "3 fit stream first or twin" in text
    told = lab.cli("discover", "second", "--format", "json").json["others"]
    assert [one["streams"] for one in told] == [{"first": 3, "twin": 3}]


def test_a_table_with_later_numbers_of_both_streams_of_a_second(same_second):
    """What is of their first shards may be of either; the row of the other is never written."""
    theirs = number_after_a_split(same_second, "first")
    same_second.plant(lease(5, theirs), lease(4, number_after_a_split(same_second, "twin")))
    same_second.alter(shard_id(4), checkpoint={"S": str(
        same_second.fake.client("us-east-1").put_record(
            StreamName="twin", Data=b"x", PartitionKey="k",
            ExplicitHashKey=str((1 << 128) - (1 << 126)),
        )["SequenceNumber"]
    )})
    same_second.stream = "twin"
    before = same_second.items()
    assert "stream first" in same_second.inspect("--format", "json").out
    refused = same_second.fix(*BACK)
    assert refused.code == 4 and refused.says("in the same second", "stream first")
    assert same_second.items() == before
    done = same_second.fix(*BACK, "--created", same_second.created)
    assert done.code in (0, 1), done.err
    after = same_second.items()
    assert {key for key in before if before[key] != after[key]} == {shard_id(0)}


def test_where_streams_may_not_be_listed_the_second_counts(same_second):
    """ListStreams is an optional permission, docs/iam.md."""
    same_second.stream = "first"
    same_second.wire.fail("ListStreams", "AccessDeniedException")
    assert same_second.fix(*BACK).code in (0, 1) and same_second.wire.writes


def test_every_number_that_a_plan_rests_on_is_verified_before_the_first_write(streams):
    moved_epochs(streams)
    streams.stream = "first"
    streams.fake.calls.clear()
    done = streams.fix("--set", "0=TRIM_HORIZON", "--accept", "reread=all")
    assert done.code == 0, done.err
    assert asked(streams)


def test_a_saved_plan_is_verified_again(streams, tmp_path):
    """The row was swapped for another stream's while the plan lay in a review."""
    moved_epochs(streams)
    streams.stream = "first"
    saved = streams.dry("--set", "0=TRIM_HORIZON", "--out", tmp_path / "a.plan")
    assert saved.code == 1, saved.err
    streams.wire.fail("GetShardIterator", "AccessDeniedException")
    before = streams.items()
    refused = streams.apply(tmp_path / "a.plan", "--accept", "reread=all")
    assert refused.code == 4 and refused.says("not verified")
    assert streams.items() == before


def test_the_price_says_how_many_positions_are_forgotten(lab_of):
    lab = lab_of("recreated", TRIM_HORIZON)
    shown = lab.dry("--recreated", lab.created, "--format", "text")
    assert f"orgets {len(lab.items())} stored positions" in shown.out


REPAIRS: list[list[str]] = [
    [], ["--policy", "latest", "--accept", "skip=all"], ["--shards", "4,5"],
]


@pytest.mark.parametrize("more", REPAIRS)
def test_without_permission_no_row_of_an_unproven_table_is_written(streams, more):
    """What is written holds no number here; the rows beside it show that the table is unproven."""
    second = numbers(streams, "second")
    streams.plant(lease(0, "SHARD_END"), *(lease(i, second[i]) for i in (1, 2, 3)),
                  lease(4, "TRIM_HORIZON"), lease(5, "LATEST"))  # fmt: skip
    streams.wire.fail("GetShardIterator", "AccessDeniedException")
    streams.stream = "first"
    before = streams.items()
    refused = streams.fix("--accept", "reread=all", *more)
    assert refused.code in (3, 4), refused.out + refused.err
    assert "kinesis:GetShardIterator" in refused.err
    assert streams.items() == before and streams.wire.writes == []


def test_a_row_without_a_number_is_moved_by_its_own_name_only_beside_another_stream_s(streams):
    """Whether 0 was finished by this stream's application or by the other's, nothing shows."""
    first, second = numbers(streams, "first"), numbers(streams, "second")
    streams.plant(lease(0, "SHARD_END"), lease(1, first[1]), lease(2, second[2]),
                  lease(3, first[3]), lease(4, "LATEST"), lease(5, "TRIM_HORIZON"))  # fmt: skip
    streams.stream = "first"
    before = streams.items()
    for more in ([], ["--policy", "latest"], ["--recreated", streams.created]):
        left = streams.fix("--accept", "reread=all,skip=all,disorder", *more)
        assert {k: v for k, v in streams.items().items() if k not in (shard_id(1), shard_id(3))} \
            == {k: v for k, v in before.items() if k not in (shard_id(1), shard_id(3))}, more
        assert left.code in (1, 2, 4), left.out + left.err
    left = streams.fix("--accept", "reread=all")
    assert "nothing shows whose it is" in left.out and "--set" in left.out
    named = streams.fix("--set", "0=TRIM_HORIZON", "--accept", "reread=all")
    assert named.code in (0, 1), named.out + named.err
    assert streams.items()[shard_id(0)]["checkpoint"] == {"S": "TRIM_HORIZON"}


@pytest.mark.parametrize("more", [
    ["--policy", "latest"], ["--shift", "-1h"], ["--set", "3=TRIM_HORIZON"],
])  # fmt: skip
def test_a_dry_run_shows_no_plan_beside_another_stream_s_row(streams, more, tmp_path):
    """3 was split into 4 and 5, whose row holds a number of another stream: no plan for 3, which
    no consent makes one to write, is shown or saved."""
    own, theirs = numbers(streams, "first", record=5), numbers(streams, "second")[5]
    number_after_a_split(streams, "first")
    streams.plant(*(lease(i, n) for i, n in enumerate(own)), lease(4, "TRIM_HORIZON"),
                  lease(5, theirs))  # fmt: skip
    streams.stream = "first"
    before, saved = streams.items(), tmp_path / "a.plan"
    for words in (["--dry-run"], ["--dry-run", "--out", saved], ["--yes", "--assume-stopped"],
                  ["--dry-run", "--format", "aws-cli"]):  # fmt: skip
        refused = streams.cli("fix", *streams.where, "--accept", "reread=all,skip=all,disorder",
                              *more, *words)  # fmt: skip
        assert refused.code == 4, (words, refused.out + refused.err)
        assert refused.says("the position of 5", "beside it, none of the same family is written",
                            "if no application needs the position of 5, delete it")
        assert "planned:" not in refused.out, words
    assert streams.items() == before and not saved.exists()


def mixed(lab: Lab) -> dict[str, Item]:
    """Own rows of `first`, one of `second`, whose number lies within the life of the shard 2."""
    first, second = numbers(lab, "first", record=3), numbers(lab, "second", record=5)
    lab.plant(*(lease(i, second[i] if i == 2 else number) for i, number in enumerate(first)))
    lab.stream = "first"
    return lab.items()


def moved(before: dict[str, Item], after: dict[str, Item]) -> list[int]:
    return [i for i in range(4) if before[shard_id(i)] != after[shard_id(i)]]


@pytest.mark.parametrize("ago", ["-4h", "-30m"])
@pytest.mark.parametrize("saved", [False, True])
def test_a_policy_by_time_moves_the_own_rows_beside_another_stream_s(streams, ago, saved, tmp_path):
    """What is proven just before the write goes by whose the rows are, as the plan does."""
    before = mixed(streams)
    accept = ["--accept", "reread=all,skip=all"]
    if saved:
        path = tmp_path / "a.plan"
        streams.dry("--policy", f"at-timestamp={ago}", "--out", path, *accept)
        written = streams.apply(path, *accept)
    else:
        written = streams.fix("--policy", f"at-timestamp={ago}", *accept)
    assert written.code in (0, 1), written.out + written.err
    assert moved(before, streams.items()) == [0, 1, 3]


def test_an_undo_and_a_resumed_fix_go_by_whose_the_rows_are(streams):
    before = mixed(streams)
    accept = ["--accept", "skip=all,reread=all"]
    streams.wire.fail_writes("AccessDeniedException", after=1)
    halted = streams.fix("--policy", "at-timestamp=-4h", *accept)
    assert halted.code == 5, halted.out + halted.err
    streams.wire.faults.clear()
    resumed = streams.resume(*accept)
    assert resumed.code in (0, 1), resumed.out + resumed.err
    assert moved(before, streams.items()) == [0, 1, 3]
    undone = streams.cli("undo", streams.journal(), "--dry-run", "--format", "text")
    assert "RSH207" in undone.out, undone.out


HALF = 1 << 127
"""Halves of the hash keys are no shards of a stream of four."""
HALVES = [
    lease(shard, "TRIM_HORIZON") | {
        "startingHashKey": {"S": str(low)}, "endingHashKey": {"S": str(high)},
    } for shard, low, high in ((0, 0, HALF - 1), (1, HALF, 2 * HALF - 1))
]
NEVER, OPEN, OTHERWISE = (
    "of a shard that it never had, such as {}", "at the end of a shard that is open, such as {}",
    "with other parents or hash keys than its shard's, such as {}",
)
MOST: dict[str, tuple[list[Item], tuple[str, ...]]] = {
    "split-since": (
        [lease(i, "SHARD_END") for i in range(4)] + [lease(i, "TRIM_HORIZON") for i in (4, 5)],
        ("6 of 6 rows contradict", f"2 {NEVER.format(4)}", f"4 {OPEN.format(0)}"),
    ),
    "wide": (
        [lease(i, "SHARD_END") for i in range(60)]
        + [lease(i, "TRIM_HORIZON") for i in range(60, 180)],
        ("180 of 180 rows contradict", f"176 {NEVER.format(4)}", f"4 {OPEN.format(0)}"),
    ),
    "one-more-than-half": (
        [lease(i, "LATEST") for i in (2, 3, 7, 8, 9)], ("3 of 5 rows", f"3 {NEVER.format(7)}"),
    ),
}
"""Rows without a number that are mostly not what a stream of four open shards has."""


@pytest.mark.parametrize(("state", "words"), in_turn(
    MOST, [*VERBS, "fix --yes --created CREATED", "fix --yes --recreated CREATED"], every=3,
))
def test_rows_most_of_which_the_listing_contradicts_are_another_stream_s(streams, state, words):
    """The table is younger than the stream that was named by mistake: its age proves nothing, and
    no row is of an earlier stream. The stream's creation time tells nothing of the table."""
    items, told = MOST[state]
    streams.plant(*items)
    streams.stream = "first"
    before = streams.items()
    refused = call(streams, words.replace("CREATED", streams.created))
    assert refused.code == 2, refused.out + refused.err
    assert refused.says("belongs to another stream", "stream first", "--stream", *told)
    assert "--created" not in refused.err and "--recreated" not in refused.err
    assert streams.items() == before and streams.wire.writes == []


@pytest.mark.parametrize("state", MOST)
def test_most_rows_of_a_stream_that_was_made_again_may_look_like_another_s(
    streams, state, monkeypatch
):
    """Of a table that may be older than the stream, the operator tells."""
    monkeypatch.setattr(Table, "made_at", lambda _self: None)
    streams.plant(*MOST[state][0])
    streams.stream = "first"
    before = streams.items()
    for words in ([], ["--created", streams.created]):
        refused = streams.fix("--accept", "reread=all", *words)
        assert refused.code == 2, refused.out + refused.err
        assert refused.says("belongs to another stream", "--recreated CREATION-TIME")
    assert streams.items() == before
    done = streams.fix("--accept", "reread=all", "--recreated", streams.created)
    assert done.code == 0, done.out + done.err
    assert set(streams.items()) <= {shard_id(i) for i in range(4)}


FEW: dict[str, tuple[list[Item], str]] = {
    "unborn": (
        [lease(i, "LATEST") for i in (0, 1, 2, 4)],
        f"1 of 4 rows contradicts the listing of stream first (1 {NEVER.format(4)})",
    ),
    "finished": (  # as a single shard may be by KCL's own mistake
        [lease(i, "SHARD_END") for i in range(4)],
        f"4 of 4 rows contradict the listing of stream first (4 {OPEN.format(0)})",
    ),
    "other-keys": (  # as an operator's copies of a parent's row are
        HALVES, f"2 of 2 rows contradict the listing of stream first (2 {OTHERWISE.format(0)})",
    ),
    "half": (
        [*(lease(i, "LATEST") for i in (0, 1)), lease(3, "SHARD_END"), lease(9, "LATEST")],
        f"2 of 4 rows contradict the listing of stream first (1 {NEVER.format(9)}; "
        f"1 {OPEN.format(3)})",
    ),
}
"""Rows without a number some of which are not what such a stream has, but may be its own."""


@pytest.mark.parametrize("state", FEW)
def test_rows_without_a_number_that_the_listing_contradicts_need_the_operator_s_word(
    streams, state
):
    """The table is younger than the stream that was named by mistake: its age proves nothing."""
    items, told = FEW[state]
    streams.plant(*items)
    streams.stream = "first"
    before = streams.items()
    noted = " ".join(streams.inspect("--format", "text").out.split())
    assert "holds no sequence number" in noted and told in noted, noted
    for shown in (streams.inspect("--format", "markdown"), streams.dry("--format", "text"),
                  streams.dry("--format", "markdown"), streams.inspect("--format", "text"),
                  call(streams, "explain 0,1,2,3 --format text")):  # fmt: skip
        words = " ".join(shown.out.replace("\\\n", " ").split())
        commands = re.findall(r"reshardctl fix (?!with)[^#`]*--stream first[^#`]*", words)
        assert commands and all("--created CREATION-TIME" in one for one in commands), words
    refused = streams.fix("--accept", "reread=all")
    assert refused.code == 4, refused.out + refused.err
    assert refused.says("--created CREATION-TIME", "another stream", told)
    assert streams.items() == before
    done = streams.fix("--accept", "reread=all", "--created", streams.created)
    assert done.code == 0, done.out + done.err


def test_every_row_of_another_stream_is_named(streams):
    """Seven of twenty rows: more than are asked about at first."""
    from reshardctl.testing.topology import stream_of

    now = int(streams.fake.clock.now())
    for name, age in (("wide", 6 * HOUR), ("other", 4 * HOUR)):
        streams.fake.add_stream(stream_of(topology(name, now - age, 20, now)))
    own, theirs = numbers(streams, "wide"), numbers(streams, "other")
    streams.plant(*(lease(i, theirs[i] if i >= 13 else own[i]) for i in range(20)))
    streams.stream = "wide"
    report = streams.inspect("--format", "json").json
    found = {f["code"]: f for f in report["findings"]}
    assert found["RSH207"]["shards"] == [shard_id(i) for i in range(13, 20)]


def test_a_position_of_another_stream_is_no_position_to_give(streams, tmp_path):
    first, second = numbers(streams, "first"), numbers(streams, "second")
    streams.plant(*(lease(i, n) for i, n in enumerate(first)))
    streams.stream = "first"
    before = streams.items()
    table = tmp_path / "positions.csv"
    table.write_text(f"shard,kind,number\n{shard_id(2)},AFTER_SEQUENCE_NUMBER,{second[2]}\n")
    for more in (["--set", f"2={second[2]}"], ["--positions", table]):
        refused = streams.fix("--accept", "reread=all,skip=all", *more)
        assert refused.code == 2, refused.out + refused.err
        assert refused.says("the position given for 2", "is no number of stream first")
    assert streams.items() == before


def test_check_online_tells_whose_the_rows_are(streams, tmp_path):
    second = numbers(streams, "second")
    streams.plant(*(lease(i, n) for i, n in enumerate(second[:4])))
    table = streams.locator.partition("://")[2]
    config = tmp_path / "r.toml"
    config.write_text(
        '[streams.first]\nregion = "us-east-1"\n\n[consumers.pay]\nstream = "first"\n'
        f'locator = "kcl://{table}"\n'
    )
    refused = streams.cli("config", "check", "--online", "--config", config)
    assert refused.code == 2, refused.out + refused.err
    assert "belongs to another stream" in refused.out
    streams.alter(shard_id(0), checkpoint={"S": str(numbers(streams, "first")[0])})
    shared = streams.cli("config", "check", "--online", "--config", config)
    assert shared.code == 0, shared.out + shared.err
    assert "stream first with 4 shards, 4 rows, 3 of them another stream's" in shared.out
