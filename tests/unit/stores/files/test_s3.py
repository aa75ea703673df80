"""A prefix of a bucket as a medium: what is seen of it, what is lost on the way, who is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime

import pytest

from reshardctl.errors import AnswerLost, CannotTell, Refused, UsageError
from reshardctl.model.write_state import WriteResult
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
from tests.unit.stores.files.trees import change, creation, everything, removal, wanting

QUERY = "2b9d1f0e-6b1c-4a5e-9f0e-0d6f5a3c7b21"
"""The id of a query is a UUID (StreamMetadata)."""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with bucket_server() as found:
        yield found


@pytest.fixture
def place(url: str) -> Prefix:
    return Prefix(url)


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


def test_more_than_a_page_is_listed_and_read(place, monkeypatch):
    """S3 lists a thousand at a time; so that the test is quick, moto lists five here."""
    monkeypatch.setenv("MOTO_S3_DEFAULT_MAX_KEYS", "5")
    for n in range(12):
        place.plant(f"offsets/{n:04}", str(n).encode())
    faulty = FaultySession(session())
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


def test_writes_go_where_they_should(place):
    place.plant("offsets/7", b"v1")
    medium = place.tree()
    assert medium.write(creation("offsets/8", text={"S": "new"}), "t") is WriteResult.APPLIED
    seven = medium.get(["offsets/7"])["offsets/7"]
    assert medium.write(change(seven, text={"S": "v2"}), "t") is WriteResult.APPLIED
    eight = medium.get(["offsets/8"])["offsets/8"]
    assert medium.write(removal(eight), "t") is WriteResult.APPLIED
    assert place.contents() == {"jobs/orders/offsets/7": b"v2"}


def test_what_else_an_object_has_stays(place):
    place.plant("f", b"x", ContentType="text/x", Metadata={"a": "b"}, CacheControl="no-store")
    medium = place.tree()
    medium.write(change(medium.get(["f"])["f"], text={"S": "y"}), "t")
    head = place.boto.head_object(Bucket=place.name, Key=place.key("f"))
    assert (head["ContentType"], head["Metadata"], head["CacheControl"]) == (
        "text/x", {"a": "b"}, "no-store"
    )


EVERYTHING_ELSE = {
    "ServerSideEncryption": "aws:kms", "SSEKMSKeyId": "alias/aws/s3", "BucketKeyEnabled": True,
    "Expires": datetime(2030, 1, 1, tzinfo=UTC), "WebsiteRedirectLocation": "/x",
    "Tagging": "team=search&retain=yes+%2B+no%3D1", "ContentLanguage": "de",
}  # fmt: skip


def what_else(place: Prefix, key: str) -> dict[str, object]:
    """All that an object is stored with, as S3 tells it."""
    head = place.boto.head_object(Bucket=place.name, Key=place.key(key))
    tags = place.boto.get_object_tagging(Bucket=place.name, Key=place.key(key))["TagSet"]
    names = {*EVERYTHING_ELSE, "Metadata", "ContentType", "StorageClass"} - {"Tagging"}
    return {name: head.get(name) for name in names} | {"tags": tags}


@pytest.mark.parametrize(
    "encryption", [{}, {"ServerSideEncryption": "aws:kms:dsse", "BucketKeyEnabled": False},
                   {"ServerSideEncryption": "AES256", "SSEKMSKeyId": "",
                    "BucketKeyEnabled": False}],
    ids=["kms", "dsse", "aes"],
)
@pytest.mark.parametrize("deleted", [False, True], ids=["replaced", "deleted and back"])
def test_encryption_tags_expiry_and_redirect_stay(place, encryption, deleted):
    options = {n: v for n, v in {**EVERYTHING_ELSE, **encryption}.items() if v not in ("", False)}
    place.plant("f", b"x", **options)
    before = what_else(place, "f")
    assert before["tags"] and before["ServerSideEncryption"] and before["Expires"]
    medium = place.tree()
    image = medium.get(["f"])["f"]
    if deleted:
        assert medium.write(removal(image), "t") is WriteResult.APPLIED
        kept = json.loads(json.dumps(image.attributes))
        assert medium.write(creation("f", **kept), "u") is WriteResult.APPLIED
    else:
        assert medium.write(change(image, text={"S": "y"}), "t") is WriteResult.APPLIED
    assert what_else(place, "f") == before


def test_tags_that_came_since_the_read_stay_with_a_new_content(place):
    place.plant("f", b"x")
    medium = place.tree()
    image = medium.get(["f"])["f"]
    place.boto.put_object_tagging(
        Bucket=place.name, Key=place.key("f"), Tagging={"TagSet": [{"Key": "a", "Value": "b"}]}
    )
    assert medium.write(change(image, text={"S": "y"}), "t") is WriteResult.APPLIED
    assert what_else(place, "f")["tags"] == [{"Key": "a", "Value": "b"}]


def test_tags_that_come_before_the_delete_keep_an_object(place):
    """They could not come back with it."""
    place.plant("f", b"x")
    image = place.tree().get(["f"])["f"]
    faulty = FaultySession(session())

    def tagged(call):
        place.plant("f", b"x", Tagging="a=b")
        return call()

    faulty.always["get_object_tagging"] = tagged
    assert place.tree(faulty).write(removal(image), "t") is WriteResult.CONFLICT
    assert place.contents() == {place.key("f"): b"x"}


@pytest.mark.parametrize("write", [change, removal])
def test_nothing_is_written_over_an_object_whose_tags_cannot_be_seen(place, write):
    """GetObject tells the number of tags only "when you have the relevant permission"."""
    place.plant("f", b"x", Tagging="a=b")
    image = place.tree().get(["f"])["f"]
    denied = FaultySession(session())
    denied.always["get_object_tagging"] = before(answer("AccessDenied", 403))
    step = write(image, text={"S": "y"}) if write is change else write(image)
    with pytest.raises(Refused, match="no permission for s3:GetObjectTagging"):
        place.tree(denied).write(step, "t")
    assert place.contents() == {place.key("f"): b"x"}
    assert what_else(place, "f")["tags"]


def test_a_service_without_tags_is_written_to(place):
    place.plant("f", b"x")
    image = place.tree().get(["f"])["f"]
    lacking = FaultySession(session())
    lacking.always["get_object_tagging"] = before(answer("NotImplemented", 501))
    assert place.tree(lacking).write(change(image, text={"S": "y"}), "t") is WriteResult.APPLIED


def test_what_else_an_object_had_comes_back_with_it(place):
    place.plant("f", b"x", ContentType="text/x", Metadata={"a": "b"}, CacheControl="no-store")
    medium = place.tree()
    image = medium.get(["f"])["f"]
    medium.write(removal(image), "t")
    assert medium.write(creation("f", **image.attributes), "t") is WriteResult.APPLIED
    head = place.boto.head_object(Bucket=place.name, Key=place.key("f"))
    assert (head["ContentType"], head["Metadata"], head["CacheControl"]) == (
        "text/x", {"a": "b"}, "no-store"
    )


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


def test_every_write_has_its_condition(place):
    """Between our read and our write somebody else may write: the service itself refuses."""
    place.plant("f", b"x")
    medium = place.tree()
    seen = medium.get(["f"])["f"]
    for step in (change(seen, text={"S": "ours"}), removal(seen)):
        place.plant("f", b"x")
        faulty = FaultySession(session())
        faulty.always = dict.fromkeys(("put_object", "delete_object"), _meanwhile(place))
        assert place.tree(faulty).write(step, "t") is WriteResult.CONFLICT
        assert place.contents()["jobs/orders/f"] == b"theirs"
    place.pull("f")
    faulty = FaultySession(session())
    faulty.always["put_object"] = _meanwhile(place)
    assert place.tree(faulty).write(creation("f", text={"S": "o"}), "t") is WriteResult.CONFLICT
    assert place.contents()["jobs/orders/f"] == b"theirs"


def _meanwhile(place):
    def fault(call):
        place.plant("f", b"theirs")
        return call()

    return fault


@pytest.mark.parametrize("kind", ["change", "removal"])
def test_an_object_that_vanishes_meanwhile_is_moved(place, kind):
    """S3 answers 404 NoSuchKey to a conditional write of what is not there (User Guide)."""
    place.plant("f", b"x")
    seen = place.tree().get(["f"])["f"]
    faulty = FaultySession(session())
    for operation in ("put_object", "delete_object"):
        faulty.always[operation] = before(answer("NoSuchKey", 404))
    step = change(seen, text={"S": "y"}) if kind == "change" else removal(seen)
    assert place.tree(faulty).write(step, "t") is WriteResult.CONFLICT


def test_a_bucket_with_versions(place):
    place.boto.put_bucket_versioning(
        Bucket=place.name, VersioningConfiguration={"Status": "Enabled"}
    )
    place.plant("f", b"x")
    medium = place.tree()
    seen = medium.get(["f"])["f"]
    assert medium.write(removal(seen), "t") is WriteResult.APPLIED
    assert medium.get(["f"]) == {"f": None}
    assert medium.write(creation("f", **seen.attributes), "t") is WriteResult.APPLIED
    assert text_of(medium.get(["f"])["f"]) == "x"
    found = place.boto.list_object_versions(Bucket=place.name)
    assert (len(found["Versions"]), len(found["DeleteMarkers"])) == (2, 1)


# lost on the way


@pytest.mark.parametrize(
    ("fault", "kind"), in_turn(TRANSIENT, ["create", "change", "removal"], every=3)
)
def test_whatever_passes_is_waited_out(place, fault, kind):
    """One fault at every call of a write; it is done in the end, once."""
    for at in range(5):
        place.plant("f", b"x")
        place.pull("new")
        seen = place.tree().get(["f"])["f"]
        step = {
            "create": creation("new", text={"S": "y"}), "change": change(seen, text={"S": "y"}),
            "removal": removal(seen),
        }[kind]
        faulty = FaultySession(session())
        faulty.faults[at] = TRANSIENT[fault]
        assert place.tree(faulty).write(step, "t") is WriteResult.APPLIED
        expected = {
            "create": {"f": b"x", "new": b"y"}, "change": {"f": b"y"}, "removal": {},
        }[kind]
        assert place.contents() == {place.key(k): v for k, v in expected.items()}


def test_slow_down_is_waited_out(place):
    place.plant("f", b"x")
    faulty = FaultySession(session())
    for at in range(6):
        faulty.faults[at] = before(answer("SlowDown", 503))
    assert len(place.tree(faulty).read()) == 1
    assert place.slept == [0.2, 0.4, 0.8, 1.6, 3.2, 5.0]


@pytest.mark.parametrize("fault", [BROKEN_BEFORE, TIMEOUT_BEFORE, BROKEN_AFTER, TIMEOUT_AFTER])
def test_answers_that_stay_lost(place, fault):
    """What is in place is recognised; what is not may still land."""
    place.plant("f", b"x")
    seen = place.tree().get(["f"])["f"]
    faulty = FaultySession(session())
    faulty.always["put_object"] = fault
    step = change(seen, text={"S": "y"})
    if fault in (BROKEN_AFTER, TIMEOUT_AFTER):
        assert place.tree(faulty).write(step, "t") is WriteResult.APPLIED
        return
    with pytest.raises(AnswerLost, match="an earlier attempt may still land"):
        place.tree(faulty).write(step, "t")


def test_an_answer_lost_and_somebody_else_since(place):
    place.plant("f", b"x")
    seen = place.tree().get(["f"])["f"]
    faulty = FaultySession(session())

    def fault(call):
        call()
        place.plant("f", b"theirs")
        raise answer("InternalError", 500)

    faulty.always["put_object"] = fault
    with pytest.raises(AnswerLost, match="someone else has written since"):
        place.tree(faulty).write(change(seen, text={"S": "y"}), "t")


def test_an_answer_lost_and_no_reading_since(place):
    place.plant("f", b"x")
    seen = place.tree().get(["f"])["f"]
    faulty = FaultySession(session())
    faulty.faults[2] = CLOSED_AFTER
    faulty.faults[3] = DENIED
    with pytest.raises(AnswerLost, match="the answer was lost, and then reading failed"):
        place.tree(faulty).write(change(seen, text={"S": "y"}), "t")


def test_a_late_write_meets_its_own_content(place):
    """Sent again, it is refused, because the lost one has landed meanwhile."""
    place.plant("f", b"x")
    seen = place.tree().get(["f"])["f"]
    faulty = FaultySession(session())
    held = []

    def late(call):
        held.append(call)
        raise answer("InternalError", 500)

    def land_first(call):
        held.pop()()
        return call()

    faulty.faults[2], faulty.faults[4] = late, land_first
    assert place.tree(faulty).write(change(seen, text={"S": "y"}), "t") is WriteResult.APPLIED
    assert place.contents()["jobs/orders/f"] == b"y"


def test_a_body_that_breaks_off_is_read_again(place):
    from botocore.exceptions import ResponseStreamingError

    place.plant("f", b"x" * 100)
    faulty = FaultySession(session())

    class Broken:
        def read(self):
            raise ResponseStreamingError(error="cut")

    faulty.faults[1] = lambda call: {**call(), "Body": Broken()}
    (image,) = place.tree(faulty).read()
    assert text_of(image) == "x" * 100


# refused


@pytest.mark.parametrize(("fault", "expected", "words"), [
    (DENIED, Refused, "no permission for s3:PutObject"),
    (EXPIRED, Refused, "credentials"),
    (before(answer("NoSuchBucket", 404)), UsageError, "there is no bucket"),
    (before(answer("PermanentRedirect", 301)), UsageError, "another region"),
    (before(answer("InvalidObjectState", 403)), Refused, "cannot write"),
])  # fmt: skip
def test_refused_writes_say_why(place, fault, expected, words):
    place.plant("f", b"x")
    seen = place.tree().get(["f"])["f"]
    faulty = FaultySession(session())
    faulty.always["put_object"] = fault
    with pytest.raises(expected, match=words) as caught:
        place.tree(faulty).write(change(seen, text={"S": "y"}), "t")
    assert type(caught.value) is expected
    assert place.contents()["jobs/orders/f"] == b"x"


def test_a_delete_that_is_denied_names_its_action(place):
    place.plant("f", b"x")
    seen = place.tree().get(["f"])["f"]
    faulty = FaultySession(session())
    faulty.always["delete_object"] = DENIED
    with pytest.raises(Refused, match=r"cannot delete .*no permission for s3:DeleteObject") as no:
        place.tree(faulty).write(removal(seen), "t")
    assert f"arn:aws:s3:::{place.name}/jobs/orders/f" in no.value.next


@pytest.mark.parametrize(("operation", "words"), [
    ("list_objects_v2", r"cannot list .*no permission for s3:ListBucket"),
    ("get_object", r"cannot read .*no permission for s3:GetObject"),
])
def test_denied_reads_say_why(place, operation, words):
    place.plant("f", b"x")
    faulty = FaultySession(session())
    faulty.always[operation] = DENIED
    with pytest.raises(CannotTell, match=words):
        place.tree(faulty).read()


def test_no_bucket(url):
    place = Prefix(url)
    place.name = "no-such-bucket"
    with pytest.raises(UsageError, match="there is no bucket no-such-bucket"):
        place.tree().read()


def test_one_of_many_that_fails_is_the_whole_read(place):
    for n in range(40):
        place.plant(f"f{n:02}", b"x")
    faulty = FaultySession(session())
    faulty.faults[20] = DENIED
    with pytest.raises(CannotTell, match="no permission for s3:GetObject"):
        place.tree(faulty).read()


def test_reads_are_bounded_and_at_once(place):
    from threading import Barrier, BrokenBarrierError, Lock

    for n in range(24):
        place.plant(f"f{n:02}", b"x")
    faulty, lock, together = FaultySession(session()), Lock(), Barrier(8)
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
    assert len(place.tree(faulty).read()) == 24
    assert most == 8


def test_only_the_named_actions_are_called(place):
    """The operations of boto3 that stand for these actions (Service Authorization Reference)."""
    stand_for = {
        "get_object": "s3:GetObject", "list_objects_v2": "s3:ListBucket",
        "put_object": "s3:PutObject", "delete_object": "s3:DeleteObject",
        "get_object_tagging": "s3:GetObjectTagging",
    }
    place.plant("f", b"x")
    faulty = FaultySession(session())
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
