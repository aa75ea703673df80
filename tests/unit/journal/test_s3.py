"""A journal on S3: stored before the write that it guards, whatever happens on the way.

moto answers conditional puts as S3 documents them (412 PreconditionFailed; "Conditional writes",
Amazon S3 User Guide). What AWS itself answers was not looked at: no account was at hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reshardctl.errors import CannotTell, HalfDone, Refused, ReshardError, UsageError
from reshardctl.journal import Journal, S3Object, read
from reshardctl.journal.s3 import S3Log, listed
from reshardctl.model import Step
from tests.contracts.memory_store import MemoryStore
from tests.support.faults import (
    DENIED,
    EXPIRED,
    LASTING,
    TRANSIENT,
    UNSENT,
    FaultySession,
    answer,
    before,
)
from tests.support.lease_server import lease_server
from tests.support.plans import (
    Killed,
    Plan,
    apply,
    checked,
    counters,
    header,
    journal_of,
    plan_of,
    settled,
    twice,
)
from tests.unit.journal.bucket import Bucket, KillingClient, begin, go_back, go_on

PLANS = [plan_of(sizes) for sizes in ([1], [2], [1, 2, 1])] + [twice()]


@pytest.fixture(autouse=True)
def _few_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    """What lasts lasts for three attempts as well as for eight."""
    monkeypatch.setattr("reshardctl.aws.client.ATTEMPTS", 3)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with lease_server() as url:
        yield url


@pytest.fixture
def bucket(server: str) -> Bucket:
    return Bucket(server)


@pytest.fixture
def faulty(bucket: Bucket) -> FaultySession:
    return bucket.faulty()


PLAN = plan_of([1])


@pytest.fixture
def journal(bucket: Bucket, faulty: FaultySession) -> Journal:
    """Of a fix of `PLAN`, begun through `faulty`, of which nothing is on S3 yet."""
    return Journal.create(bucket.log(faulty), header(PLAN, MemoryStore(PLAN.rows)))


def back(plan: Plan, medium: MemoryStore, left: dict[str, int]) -> None:
    assert settled(medium.read()) == settled(sorted(plan.rows, key=lambda image: image.key))
    assert all(count >= left.get(key, 0) for key, count in counters(medium.read()).items())


# what is stored, and when


def test_the_object_is_the_file(bucket: Bucket, tmp_path: Path) -> None:
    """`aws s3 cp` makes one of the other."""
    plan = plan_of([1, 2])
    begin(plan, MemoryStore(plan.rows), bucket.log())
    medium, path = MemoryStore(plan.rows), tmp_path / "j.jsonl"
    with journal_of(plan, medium, path) as journal:
        apply(plan.steps, medium, journal, check=checked(plan))
        journal.verified()
    assert bucket.content() == path.read_bytes()
    found = read(bucket.log())
    assert found.fix.outcome == "verified" and found.path == bucket.where


def test_every_put_has_its_condition(bucket, faulty):
    begin(plan_of([1, 1]), MemoryStore(plan_of([1, 1]).rows), bucket.log(faulty))
    puts = [arguments for name, arguments in faulty.calls if name == "put_object"]
    assert len(faulty.calls) == len(puts) == 2
    assert puts[0]["IfNoneMatch"] == "*" and "IfMatch" not in puts[0]
    assert puts[1]["IfMatch"] and "IfNoneMatch" not in puts[1]
    for put in puts:
        assert not {"ACL", "ServerSideEncryption", "SSEKMSKeyId", "ExpectedBucketOwner"} & set(put)


def test_the_steps_are_stored_before_the_first_is_written(bucket: Bucket) -> None:
    plan = plan_of([1, 1])

    class Watching(MemoryStore):
        def write(self, step: Step, token: str) -> Any:
            content = bucket.content()
            assert content is not None
            assert content.count(b'"kind":"intent"') == len(plan.steps)
            return super().write(step, token)

    begin(plan, Watching(plan.rows), bucket.log())


def test_a_fix_that_stops_before_its_first_write_leaves_no_object(bucket, journal):
    journal.close()
    assert bucket.content() is None


@pytest.mark.parametrize(("faults", "words", "way_out"), [
    ({}, "already and is no journal of reshardctl", "name another with --journal"),
    (dict.fromkeys(range(1, 9), DENIED), "exists already; nothing was written", ""),
], ids=["read", "may not be read"])
def test_an_existing_object_is_never_put_over(bucket, faulty, faults, words, way_out):
    bucket.put(b"mine")
    medium, faulty.faults = MemoryStore(PLAN.rows), faults
    with pytest.raises(UsageError, match=words) as caught:
        begin(PLAN, medium, bucket.log(faulty))
    assert caught.value.next.startswith(way_out)
    assert bucket.content() == b"mine" and medium.read() == MemoryStore(PLAN.rows).read()


def test_who_comes_second_writes_nothing(bucket: Bucket) -> None:
    """Two `fix --resume` at once: the second is told by S3 before it writes a row."""
    plan = plan_of([1, 1])
    medium = MemoryStore(plan.rows)
    with pytest.raises(Killed):
        begin(plan, medium, bucket.log(client=KillingClient(bucket.boto, 0, "after")))
    first, _ = Journal.open(bucket.log())
    second, _ = Journal.open(bucket.log())
    rows = medium.read()
    first.intend(enumerate(plan.steps))
    with pytest.raises(UsageError, match="in use by another reshardctl"):
        second.intend(enumerate(plan.steps))
    assert medium.read() == rows
    go_on(medium, bucket.log())
    assert medium.read() == plan.after()


@pytest.mark.parametrize("attempts", [0, 1, 99], ids=["", "an answer lost", "no answer at all"])
def test_what_another_process_wrote_is_never_put_over(bucket, faulty, journal, attempts):
    """Nor after an answer was lost: the object that is found then is not ours."""
    journal.intend(enumerate(PLAN.steps))
    lost = range(len(faulty.calls), len(faulty.calls) + attempts)
    faulty.faults = dict.fromkeys(lost, TRANSIENT["timeout-before"])
    if attempts == 99:
        with pytest.raises(CannotTell):
            journal.verified()
        faulty.faults = {}
    bucket.put(b"theirs")
    for end in (journal.verified, lambda: journal.failed("it stopped")):
        with pytest.raises(UsageError, match="another reshardctl"):
            end()
    journal.close()
    assert bucket.content() == b"theirs"


def test_an_object_that_was_deleted_meanwhile_is_not_made_again(bucket, journal):
    """S3 answers 404 to a put with If-Match then ("Conditional writes", Amazon S3 User Guide)."""
    journal.intend(enumerate(PLAN.steps))
    bucket.pull()
    with pytest.raises(UsageError, match="the object was deleted in the meantime"):
        journal.verified()
    assert bucket.content() is None


def test_a_torn_copy_is_cut(bucket: Bucket) -> None:
    plan = plan_of([1, 1])
    medium = MemoryStore(plan.rows)
    begin(plan, medium, bucket.log())
    whole = bucket.content()
    assert whole is not None
    bucket.put(whole[:-9])
    journal, records = Journal.open(bucket.log())
    assert records.torn
    with journal:
        journal.verified()
    assert bucket.content() == whole


# killed, around every put


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.name)
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("at", range(2))
def test_killed_around_a_put(bucket: Bucket, plan: Plan, at: int, when: str) -> None:
    medium = MemoryStore(plan.rows)
    with pytest.raises(Killed):
        begin(plan, medium, bucket.log(client=KillingClient(bucket.boto, at, when)))
    if (at, when) == (0, "before"):
        assert bucket.content() is None and medium.read() == MemoryStore(plan.rows).read()
        return
    other, left = MemoryStore(medium.read()), counters(medium.read())
    kept = bucket.content()
    go_on(medium, bucket.log())
    assert medium.read() == plan.after()
    bucket.put(kept)
    go_back(other, bucket)
    back(plan, other, left)


# faults, at every call


def calls_of(bucket: Bucket, plan: Plan) -> list[str]:
    faulty = bucket.faulty()
    begin(plan, MemoryStore(plan.rows), bucket.log(faulty))
    bucket.pull()
    return [name for name, _ in faulty.calls]


@pytest.mark.parametrize("name", TRANSIENT)
def test_a_call_that_fails_once_is_nothing_to_speak_of(bucket: Bucket, name: str) -> None:
    """Before S3 had it, or after: a put whose answer was lost is found and not put twice."""
    plan = plan_of([1, 1, 2])
    for number in range(len(calls_of(bucket, plan))):
        faulty, medium = bucket.faulty(), MemoryStore(plan.rows)
        faulty.faults[number] = TRANSIENT[name]
        begin(plan, medium, bucket.log(faulty))
        assert medium.read() == plan.after(), number
        assert read(bucket.log()).fix.outcome == "verified", number
        assert len(faulty.calls) > number + 1
        bucket.pull()


@pytest.mark.parametrize("name", [*TRANSIENT, *LASTING])
def test_from_some_call_on_nothing_answers(bucket: Bucket, name: str) -> None:
    """No row is written without its record on S3; what was begun is finished later."""
    plan = plan_of([1, 1, 2])
    fault = (TRANSIENT | LASTING)[name]
    for number in range(len(calls_of(bucket, plan))):
        faulty, medium = bucket.faulty(), MemoryStore(plan.rows)
        faulty.faults = dict.fromkeys(range(number, 199), fault)
        with pytest.raises(ReshardError):
            begin(plan, medium, bucket.log(faulty))
        if number == 0:
            assert medium.read() == MemoryStore(plan.rows).read()
        if bucket.content() is None:
            assert number == 0
            continue
        go_on(medium, bucket.log())
        assert medium.read() == plan.after(), number
        bucket.pull()


@pytest.fixture
def opened(bucket: Bucket, faulty: FaultySession) -> S3Log:
    """The log of a whole fix, opened through `faulty`."""
    begin(PLAN, MemoryStore(PLAN.rows), bucket.log())
    log = bucket.log(faulty)
    log.open()
    return log


@pytest.mark.parametrize("name", TRANSIENT)
def test_an_object_is_deleted_once_whatever_happens_to_the_answer(bucket, faulty, opened, name):
    faulty.faults[1] = TRANSIENT[name]
    opened.delete()
    assert bucket.content() is None
    assert len([call for call, _ in faulty.calls if call == "delete_object"]) <= 2


def test_a_delete_whose_outcome_cannot_be_read_is_not_called_done(bucket, faulty, opened):
    faulty.always = {"delete_object": TRANSIENT["timeout-before"], "get_object": DENIED}
    with pytest.raises(CannotTell, match="does not answer"):
        opened.delete()
    assert bucket.content() is not None


def test_a_put_that_lands_late_is_put_over(bucket, faulty, journal):
    """Its answer was lost and reading failed too; the next record is written all the same."""
    journal.intend(enumerate(PLAN.steps))
    faulty.faults = dict.fromkeys(range(1, 99), TRANSIENT["timeout-after"])
    with pytest.raises(CannotTell, match="does not answer"):
        journal.verified()
    faulty.faults = {}
    journal.failed("it stopped")
    found = read(bucket.log())
    assert (found.fix.outcome, found.fix.why) == ("failed", "it stopped")


@pytest.mark.parametrize("stored", [False, True], ids=["first put", "later put"])
def test_a_lost_put_of_an_object_that_is_not_there(bucket, faulty, journal, stored):
    """The first put is sent again; a later one finds that somebody has deleted the object."""
    if stored:
        journal.intend(enumerate(PLAN.steps))
    faulty.faults = dict.fromkeys(range(len(faulty.calls), 99), TRANSIENT["timeout-before"])
    with pytest.raises(CannotTell, match="does not answer"):
        journal.failed("it stopped")
    faulty.faults = {}
    if stored:
        bucket.pull()
        with pytest.raises(UsageError, match="there is no such object"):
            journal.failed("it stopped")
        assert bucket.content() is None
    else:
        journal.failed("it stopped")
        assert read(bucket.log()).fix.outcome == "failed"


def test_a_row_that_is_written_when_s3_goes_away_is_half_done(bucket, faulty):
    """The end of the fix cannot be recorded: it says so, and the rows tell the rest."""
    plan = plan_of([1, 1])

    class Failing(MemoryStore):
        def write(self, step: Step, token: str) -> Any:
            if step is not plan.steps[0] and step.title == plan.steps[1].title:
                faulty.always = {"put_object": DENIED, "get_object": DENIED}
                raise CannotTell("the table does not answer")
            return super().write(step, token)

    medium = Failing(plan.rows)
    with pytest.raises(HalfDone, match="1 of 2 steps are in place") as caught:
        begin(plan, medium, bucket.log(faulty))
    assert f"'{bucket.where}'" in caught.value.next and caught.value.journal == str(bucket.where)
    other = MemoryStore(medium.read())
    go_on(other, bucket.log())
    assert other.read() == plan.after()


# what S3 refuses


def no_bucket(_call: Any) -> Any:
    raise answer("NoSuchBucket", 404, "The specified bucket does not exist")


def elsewhere(_call: Any) -> Any:
    error = answer("PermanentRedirect", 301)
    error.response["ResponseMetadata"]["HTTPHeaders"] = {"x-amz-bucket-region": "eu-west-1"}
    raise error


REFUSALS = {
    "no bucket": (no_bucket, UsageError, ("there is no bucket", "--journal FILE")),
    "denied": (before(answer("AccessDenied", 403)), Refused, ("s3:PutObject", "arn:aws:s3:::")),
    "elsewhere": (elsewhere, UsageError, ("another region (eu-west-1)", "s3=https://s3.eu-west-1")),
    "expired": (EXPIRED, Refused, ("credentials", "sso login")),
    "gone": (UNSENT, CannotTell, ("does not answer", "later")),
    "busy": (before(answer("SlowDown", 503)), CannotTell, ("S3 is busy",)),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_what_s3_refuses_is_told_before_a_row_is_written(bucket, faulty, name):
    fault, kind, words = REFUSALS[name]
    faulty.always["put_object"] = fault
    medium = MemoryStore(PLAN.rows)
    with pytest.raises(kind) as caught:
        begin(PLAN, medium, bucket.log(faulty))
    said = f"{caught.value.what}\n{caught.value.next}"
    assert str(bucket.where) in said and all(word in said for word in words), said
    assert medium.read() == MemoryStore(PLAN.rows).read() and bucket.content() is None


def test_a_bucket_that_is_not_there(server: str) -> None:
    """As moto answers it, not as this file does."""
    nowhere = Bucket(server)
    nowhere.boto.delete_bucket(Bucket=nowhere.name)
    plan = plan_of([1])
    with pytest.raises(UsageError, match="there is no bucket"):
        begin(plan, MemoryStore(plan.rows), nowhere.log())
    with pytest.raises(UsageError, match="there is no bucket"):
        read(nowhere.log())


def test_an_object_that_is_not_there(bucket: Bucket) -> None:
    with pytest.raises(UsageError, match="no such object") as caught:
        Journal.open(bucket.log())
    assert caught.value.next == f"reshardctl undo --list s3://{bucket.name}"


def test_a_read_that_is_denied(bucket, faulty):
    """Without s3:ListBucket S3 answers 403 for an object that is not there (GetObject API
    reference)."""
    faulty.always["get_object"] = before(answer("AccessDenied", 403))
    with pytest.raises(CannotTell, match=r"s3:GetObject, or no such object"):
        read(bucket.log(faulty))


def test_a_listing_of_more_than_a_page(bucket: Bucket) -> None:
    """ListObjectsV2 gives 1000 keys a page (API reference); here two."""
    keys = [f"ops/{n}.jsonl" for n in range(5)]
    for key in [*keys, "other/6.jsonl", "ops-too/7.jsonl"]:
        bucket.boto.put_object(Bucket=bucket.name, Key=key, Body=b"")

    class Pages:
        meta = bucket.boto.meta

        def list_objects_v2(self, **asked: Any) -> Any:
            return bucket.boto.list_objects_v2(**asked, MaxKeys=2)

    found = listed(Pages(), S3Object(bucket.name, "ops/"), bucket.slept.append)
    assert found == keys
