"""A prefix of a bucket as a medium: what is seen of it, what is lost on the way, who is refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import suppress
from datetime import UTC, datetime
from threading import Barrier, BrokenBarrierError, Lock
from typing import Any

import pytest
from botocore.exceptions import ResponseStreamingError

from reshardctl.errors import AnswerLost, CannotTell, Refused, UsageError
from reshardctl.model import Image, Step
from reshardctl.model.write_state import WriteResult
from reshardctl.stores.files import s3
from reshardctl.stores.files.s3 import ACTIONS, S3
from reshardctl.stores.files.tree import Tree
from tests.support.covering import in_turn
from tests.support.faults import (
    BROKEN_AFTER,
    BROKEN_BEFORE,
    CLOSED_AFTER,
    DENIED,
    EXPIRED,
    TIMEOUT_AFTER,
    TIMEOUT_BEFORE,
    TRANSIENT,
    FaultySession,
    after,
    answer,
    before,
)
from tests.support.lease_server import session
from tests.unit.stores.files.bucket import Prefix, bucket_server
from tests.unit.stores.files.trees import change, creation, everything, held, removal, wanting

QUERY = "2b9d1f0e-6b1c-4a5e-9f0e-0d6f5a3c7b21"
"""The id of a query is a UUID (StreamMetadata)."""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with bucket_server() as found:
        yield found


@pytest.fixture
def place(url: str) -> Prefix:
    return Prefix(url)


@pytest.fixture
def faulty() -> FaultySession:
    return FaultySession(session())


@pytest.fixture
def seen(place: Prefix) -> Image:
    """The row of an object `f`, which holds `x`."""
    return planted(place)


def planted(place: Prefix, **options: Any) -> Image:
    place.plant("f", b"x", **options)
    return held(place.tree(), "f")


WRITES: dict[str, Callable[[Image], Step]] = {
    "create": lambda _: creation("new", text={"S": "y"}),
    "change": lambda seen: change(seen, text={"S": "y"}), "removal": removal,
}


def text_of(image):
    return image.attributes["text"]["S"]


# what is seen


@pytest.mark.parametrize("prefix", ["jobs/orders", "jobs/orders/", "/jobs/orders", ""])
def test_a_prefix_is_a_root(url, prefix):
    place = Prefix(url, prefix)
    place.plant("metadata", b'{"id":"%s"}' % QUERY.encode())
    place.plant("offsets/7", b"v1")
    place.plant("sources/0/shard-source/7/s", b"x")
    place.boto.put_object(Bucket=place.name, Key="jobs/orders-other/8", Body=b"not ours")
    found = [image.key for image in place.tree().read() if "jobs" not in image.key]
    assert found == [
        "metadata", "offsets/", "offsets/7", "sources/", "sources/0/", "sources/0/shard-source/",
        "sources/0/shard-source/7/", "sources/0/shard-source/7/s",
    ]
    arn = f"arn:aws:s3:::{place.name}/{prefix.strip('/')}".rstrip("/")
    assert place.tree().identity() == {"medium": "s3files", "arn": arn, "query": QUERY}


def test_more_than_a_page_is_listed_and_read(place, faulty, monkeypatch):
    """S3 lists a thousand at a time; so that the test is quick, moto lists five here."""
    monkeypatch.setenv("MOTO_S3_DEFAULT_MAX_KEYS", "5")
    for n in range(12):
        place.plant(f"offsets/{n:04}", str(n).encode())
    images = [i for i in place.tree(faulty).read() if i.key != "offsets/"]
    assert [text_of(i) for i in images] == [str(n) for n in range(12)]
    pages = [a for name, a in faulty.calls if "offsets" in a.get("Prefix", "")]
    assert len(pages) == 2 * 3, "before and after reading, three pages each"


def test_what_a_listing_says_is_what_reading_says(place):
    place.plant("offsets/7", b"v1")
    (listed,) = place.tree(select=wanting({"offsets"}, set())).read()
    (read,) = place.tree(select=wanting({"offsets"}, {"offsets/7"})).read()
    assert listed.attributes.items() <= read.attributes.items()
    assert int(listed.attributes["modified"]["N"]) % 10**9 == 0


def test_folder_markers_are_no_files(place):
    for key in ("offsets/", "offsets/7", "empty/", ""):
        place.plant(key, b"")
    assert [i.key for i in place.tree().read()] == ["empty/", "offsets/", "offsets/7"]


def test_names_that_no_file_system_has_are_left_out(place):
    for key in ("a//b", "../x", "."):
        place.plant(key, b"")
    (dot,) = [i for i in place.tree().read() if i.key not in ("a/",)]
    assert (dot.key, "unread" in dot.attributes) == (".", True)


def test_nothing_below_a_prefix_is_said(place):
    with pytest.raises(UsageError, match=r"there is nothing below s3://.*jobs/orders"):
        place.tree().read()


# what is written


EVERYTHING_ELSE = {
    "ServerSideEncryption": "aws:kms", "SSEKMSKeyId": "alias/aws/s3", "BucketKeyEnabled": True,
    "Expires": datetime(2030, 1, 1, tzinfo=UTC), "WebsiteRedirectLocation": "/x",
    "Tagging": "team=search&retain=yes+%2B+no%3D1", "ContentLanguage": "de",
    "ContentType": "text/x", "Metadata": {"a": "b"}, "CacheControl": "no-store",
}  # fmt: skip


def what_else(place: Prefix, key: str) -> dict[str, object]:
    """All that an object is stored with, as S3 tells it."""
    head = place.boto.head_object(Bucket=place.name, Key=place.key(key))
    tags = place.boto.get_object_tagging(Bucket=place.name, Key=place.key(key))["TagSet"]
    names = {*EVERYTHING_ELSE, "StorageClass"} - {"Tagging"}
    return {name: head.get(name) for name in names} | {"tags": tags}


@pytest.mark.parametrize(
    "encryption", [{}, {"ServerSideEncryption": "aws:kms:dsse", "BucketKeyEnabled": False},
                   {"ServerSideEncryption": "AES256", "SSEKMSKeyId": "",
                    "BucketKeyEnabled": False}],
    ids=["kms", "dsse", "aes"],
)
@pytest.mark.parametrize("deleted", [False, True], ids=["replaced", "deleted and back"])
def test_what_else_an_object_is_stored_with_stays(place, encryption, deleted):
    options = {n: v for n, v in {**EVERYTHING_ELSE, **encryption}.items() if v not in ("", False)}
    image, medium = planted(place, **options), place.tree()
    before = what_else(place, "f")
    assert before["tags"] and before["ServerSideEncryption"] and before["Expires"]
    if deleted:
        assert medium.write(removal(image), "t") is WriteResult.APPLIED
        kept = json.loads(json.dumps(image.attributes))
        assert medium.write(creation("f", **kept), "u") is WriteResult.APPLIED
    else:
        assert medium.write(change(image, text={"S": "y"}), "t") is WriteResult.APPLIED
    assert what_else(place, "f") == before


def test_tags_that_came_since_the_read_stay_with_a_new_content(place, seen):
    tags = [{"Key": "a", "Value": "b"}]
    place.boto.put_object_tagging(
        Bucket=place.name, Key=place.key("f"), Tagging={"TagSet": tags}
    )
    assert place.tree().write(change(seen, text={"S": "y"}), "t") is WriteResult.APPLIED
    assert what_else(place, "f")["tags"] == tags


def test_tags_that_come_before_the_delete_keep_an_object(place, seen, faulty):
    """They could not come back with it."""

    def tagged(call):
        place.plant("f", b"x", Tagging="a=b")
        return call()

    faulty.always["get_object_tagging"] = tagged
    assert place.tree(faulty).write(removal(seen), "t") is WriteResult.CONFLICT
    assert place.contents() == {place.key("f"): b"x"}


@pytest.mark.parametrize("kind", ["change", "removal"])
def test_nothing_is_written_over_an_object_whose_tags_cannot_be_seen(place, faulty, kind):
    """GetObject tells the number of tags only "when you have the relevant permission"."""
    image = planted(place, Tagging="a=b")
    faulty.always["get_object_tagging"] = before(answer("AccessDenied", 403))
    with pytest.raises(Refused, match="no permission for s3:GetObjectTagging"):
        place.tree(faulty).write(WRITES[kind](image), "t")
    assert place.contents() == {place.key("f"): b"x"}
    assert what_else(place, "f")["tags"]


def test_a_service_without_tags_is_written_to(place, seen, faulty):
    faulty.always["get_object_tagging"] = before(answer("NotImplemented", 501))
    assert place.tree(faulty).write(change(seen, text={"S": "y"}), "t") is WriteResult.APPLIED


def test_a_checksum_has_no_place_here(place):
    with pytest.raises(ValueError, match="no checksums beside files"):
        place.tree().write(creation("f", text={"S": "x"}, crc={"B": "YQ=="}), "t")
    blobs = place.blobs()
    with blobs.together(b"a file and its checksum"):
        assert place.contents() == {}
    assert list(blobs.unfinished()) == []


def test_what_no_object_is_stored_with_is_no_write(place):
    kept = {"S": json.dumps({"mode": "0644"})}
    with pytest.raises(ValueError, match="f: an object is not stored with 'mode'"):
        place.tree().write(creation("f", text={"S": "x"}, stored_with=kept), "t")
    assert place.contents() == {}


@pytest.mark.parametrize("kind", WRITES)
def test_every_write_has_its_condition(place, seen, faulty, kind):
    """Between our read and our write somebody else may write: the service itself refuses."""
    key = "new" if kind == "create" else "f"

    def meanwhile(call):
        place.plant(key, b"theirs")
        return call()

    faulty.always = dict.fromkeys(("put_object", "delete_object"), meanwhile)
    assert place.tree(faulty).write(WRITES[kind](seen), "t") is WriteResult.CONFLICT
    assert place.contents()[place.key(key)] == b"theirs"


@pytest.mark.parametrize("kind", ["change", "removal"])
def test_an_object_that_vanishes_meanwhile_is_moved(place, seen, faulty, kind):
    """S3 answers 404 NoSuchKey to a conditional write of what is not there (User Guide)."""
    gone = before(answer("NoSuchKey", 404))
    faulty.always = dict.fromkeys(("put_object", "delete_object"), gone)
    assert place.tree(faulty).write(WRITES[kind](seen), "t") is WriteResult.CONFLICT


def test_a_bucket_with_versions(place):
    place.boto.put_bucket_versioning(
        Bucket=place.name, VersioningConfiguration={"Status": "Enabled"}
    )
    seen, medium = planted(place), place.tree()
    assert medium.write(removal(seen), "t") is WriteResult.APPLIED
    assert medium.get(["f"]) == {"f": None}
    assert medium.write(creation("f", **seen.attributes), "t") is WriteResult.APPLIED
    assert text_of(medium.get(["f"])["f"]) == "x"
    found = place.boto.list_object_versions(Bucket=place.name)
    assert (len(found["Versions"]), len(found["DeleteMarkers"])) == (2, 1)


# lost on the way


@pytest.mark.parametrize(("fault", "kind"), in_turn(TRANSIENT, WRITES, every=3))
def test_whatever_passes_is_waited_out(place, fault, kind):
    """One fault at every call of a write; it is done in the end, once."""
    expected = {
        "create": {"f": b"x", "new": b"y"}, "change": {"f": b"y"}, "removal": {},
    }[kind]
    for at in range(5):
        place.pull("new")
        step, faulty = WRITES[kind](planted(place)), FaultySession(session())
        faulty.faults[at] = TRANSIENT[fault]
        assert place.tree(faulty).write(step, "t") is WriteResult.APPLIED
        assert place.contents() == {place.key(k): v for k, v in expected.items()}


@pytest.mark.usefixtures("seen")
def test_slow_down_is_waited_out(place, faulty):
    faulty.faults = dict.fromkeys(range(6), before(answer("SlowDown", 503)))
    assert len(place.tree(faulty).read()) == 1
    assert place.slept == [0.2, 0.4, 0.8, 1.6, 3.2, 5.0]


@pytest.mark.parametrize(("fault", "said"), [
    (BROKEN_BEFORE, "an earlier attempt may still land"),
    (TIMEOUT_BEFORE, "an earlier attempt may still land"), (BROKEN_AFTER, ""), (TIMEOUT_AFTER, ""),
], ids=["broken before", "timeout before", "broken after", "timeout after"])
def test_answers_that_stay_lost(place, seen, faulty, fault, said):
    """What is in place is recognised; what is not may still land."""
    faulty.always["put_object"] = fault
    step = change(seen, text={"S": "y"})
    if not said:
        assert place.tree(faulty).write(step, "t") is WriteResult.APPLIED
        return
    with pytest.raises(AnswerLost, match=said):
        place.tree(faulty).write(step, "t")


def test_an_answer_lost_and_somebody_else_since(place, seen, faulty):
    def fault(call):
        call()
        place.plant("f", b"theirs")
        raise answer("InternalError", 500)

    faulty.always["put_object"] = fault
    with pytest.raises(AnswerLost, match="someone else has written since"):
        place.tree(faulty).write(change(seen, text={"S": "y"}), "t")


def test_an_answer_lost_and_no_reading_since(place, seen, faulty):
    faulty.faults = {2: CLOSED_AFTER, 3: DENIED}
    with pytest.raises(AnswerLost, match="the answer was lost, and then reading failed"):
        place.tree(faulty).write(change(seen, text={"S": "y"}), "t")


def test_a_late_write_meets_its_own_content(place, seen, faulty):
    """Sent again, it is refused, because the lost one has landed meanwhile."""
    sent = []

    def late(call):
        sent.append(call)
        raise answer("InternalError", 500)

    def land_first(call):
        sent.pop()()
        return call()

    faulty.faults[2], faulty.faults[4] = late, land_first
    assert place.tree(faulty).write(change(seen, text={"S": "y"}), "t") is WriteResult.APPLIED
    assert place.contents()["jobs/orders/f"] == b"y"


@pytest.mark.usefixtures("seen")
def test_a_body_that_breaks_off_is_read_again(place, faulty):
    class Broken:
        def read(self):
            raise ResponseStreamingError(error="cut")

    faulty.faults[1] = lambda call: {**call(), "Body": Broken()}
    (image,) = place.tree(faulty).read()
    assert text_of(image) == "x"


# refused


@pytest.mark.parametrize(("kind", "fault", "expected", "words"), [
    ("change", DENIED, Refused, "no permission for s3:PutObject"),
    ("removal", DENIED, Refused, r"cannot delete .*no permission for s3:DeleteObject"),
    ("change", EXPIRED, Refused, "credentials"),
    ("change", before(answer("NoSuchBucket", 404)), UsageError, "there is no bucket"),
    ("change", before(answer("PermanentRedirect", 301)), UsageError, "another region"),
    ("change", before(answer("InvalidObjectState", 403)), Refused, "cannot write"),
], ids=["denied", "delete denied", "expired", "no bucket", "elsewhere", "archived"])
def test_refused_writes_say_why(place, seen, faulty, kind, fault, expected, words):
    faulty.always = dict.fromkeys(("put_object", "delete_object"), fault)
    with pytest.raises(expected, match=words) as caught:
        place.tree(faulty).write(WRITES[kind](seen), "t")
    assert type(caught.value) is expected
    assert fault is not DENIED or f"arn:aws:s3:::{place.name}/jobs/orders/f" in caught.value.next
    assert place.contents() == {place.key("f"): b"x"}


@pytest.mark.parametrize(("operation", "words"), [
    ("list_objects_v2", r"cannot list .*no permission for s3:ListBucket"),
    ("get_object", r"cannot read .*no permission for s3:GetObject"),
])
@pytest.mark.usefixtures("seen")
def test_denied_reads_say_why(place, faulty, operation, words):
    faulty.always[operation] = DENIED
    with pytest.raises(CannotTell, match=words):
        place.tree(faulty).read()


def test_no_bucket(url):
    place = Prefix(url)
    place.name = "no-such-bucket"
    with pytest.raises(UsageError, match="there is no bucket no-such-bucket"):
        place.tree().read()


@pytest.fixture
def many(place: Prefix) -> Prefix:
    for n in range(40):
        place.plant(f"f{n:02}", b"x")
    return place


def test_one_of_many_that_fails_is_the_whole_read(many, faulty):
    faulty.faults[20] = DENIED
    with pytest.raises(CannotTell, match="no permission for s3:GetObject"):
        many.tree(faulty).read()


def test_reads_are_bounded_and_at_once(many, faulty):
    lock, together = Lock(), Barrier(8)
    now, most = 0, 0

    def counted(call):
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        with suppress(BrokenBarrierError):
            together.wait(120)
        try:
            return call()
        finally:
            with lock:
                now -= 1

    faulty.always["get_object"] = counted
    assert len(many.tree(faulty).read()) == 40
    assert most == 8


class InTurn(Executor):
    """Makes each call at once."""

    def __init__(self, _most: int) -> None:
        pass

    def submit(self, call: Any, /, *arguments: Any, **named: Any) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(call(*arguments, **named))
        return done


def test_no_more_objects_are_held_than_said(many, faulty, monkeypatch):
    monkeypatch.setattr(s3, "ThreadPoolExecutor", InTurn)
    blobs, taken, read = many.blobs(faulty), 0, 0
    for taken, _ in enumerate(blobs.each([f"f{n:02}" for n in range(40)]), 1):
        read = sum(name == "get_object" for name, _ in faulty.calls)
        assert read - taken <= s3.AHEAD
    assert (taken, read) == (40, 40)


def test_only_the_named_actions_are_called(place, seen, faulty):
    """The operations of boto3 that stand for these actions (Service Authorization Reference)."""
    stand_for = {
        "get_object": "s3:GetObject", "list_objects_v2": "s3:ListBucket",
        "put_object": "s3:PutObject", "delete_object": "s3:DeleteObject",
        "get_object_tagging": "s3:GetObjectTagging",
    }
    medium = place.tree(faulty)
    medium.identity()
    (seen,) = medium.read()
    assert {stand_for[name] for name, _ in faulty.calls} == set(ACTIONS["inspect"])
    place.plant("f", b"x", Tagging="a=b")  # of which S3 tells only who may see tags
    (seen,) = medium.read()
    faulty.faults[len(faulty.calls) + 2] = after(answer("InternalError", 500))
    medium.write(change(seen, text={"S": "y"}), "t")
    medium.write(creation("g", text={"S": "y"}), "t")
    medium.write(removal(medium.get(["g"])["g"]), "t")
    medium.read()
    tagged = {"s3:PutObjectTagging"} if any(a.get("Tagging") for _, a in faulty.calls) else set()
    assert {stand_for[name] for name, _ in faulty.calls} | tagged == set(ACTIONS["fix"])


def test_an_object_that_is_too_large_is_named_and_not_read(place, monkeypatch):
    monkeypatch.setattr("reshardctl.stores.files.blobs.LARGEST", 3)
    place.plant("f", b"xxx")
    place.plant("g", b"xxxx")
    assert text_of(place.tree().get(["f"])["f"]) == "xxx"
    with pytest.raises(CannotTell, match=rf"{place.name}/jobs/orders/g: 4 bytes are too many"):
        place.tree().get(["g"])


def test_progress_is_told(place):
    for n in range(3):
        place.plant(f"f{n}", b"x")
    told = []
    blobs = S3(
        session(), place.name, place.prefix, endpoint_url=place.url, sleep=place.slept.append,
        progress=lambda *numbers: told.append(numbers),
    )
    Tree(blobs, everything).read()
    assert told == [(1, 3), (2, 3), (3, 3)]
