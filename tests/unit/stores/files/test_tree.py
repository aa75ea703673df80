"""A directory as a medium: what is seen of it, and what is refused."""

from __future__ import annotations

import base64
import json
import os
import socket
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from reshardctl.consumers.spark.sources import select as spark_files
from reshardctl.errors import CannotTell, Refused, UsageError
from reshardctl.model import Image, Update, Write
from reshardctl.model.files import Wants
from reshardctl.model.write_state import WriteResult
from reshardctl.stores.files.blobs import LARGEST
from reshardctl.stores.files.local import Local
from reshardctl.stores.files.tree import Tree
from tests.unit.stores.files.trees import (
    change,
    contents,
    crc32,
    creation,
    everything,
    held,
    one,
    plant,
    removal,
    wanting,
)

ROOT = os.geteuid() == 0
only_root = pytest.mark.skipif(not ROOT, reason="only root may become somebody else")
UNPRIVILEGED = 65534
"""nobody, on every Linux."""


@pytest.fixture
def root() -> Iterator[Path]:
    """Not below pytest's own directory, which is its owner's alone."""
    with tempfile.TemporaryDirectory() as above:
        Path(above).chmod(0o755)
        found = Path(above) / "checkpoint"
        found.mkdir()
        yield found


def tree(root: Path, select=everything) -> Tree:
    return Tree(Local(str(root)), select)


@pytest.fixture
def medium(root: Path) -> Tree:
    """Every file below the root; nothing is read before it is asked for."""
    return tree(root)


def text_of(image: Image | None) -> str | None:
    return None if image is None else image.attributes["text"]["S"]


def seen_of(path: Path) -> tuple[int, int, int]:
    """Mode, owner and group of a file."""
    found = path.stat()
    return stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid


def given(path: Path, mode: int, owner: int = 4711) -> tuple[int, int, int]:
    """A file made one of this mode, owner and group; who is not root may not give it away."""
    if ROOT:
        os.chown(path, owner, owner + 1)
    path.chmod(mode)
    return seen_of(path)


def stored_with(path: Path) -> dict[str, str]:
    mode, user, group = seen_of(path)
    return {"S": f'{{"mode":"{mode:04o}","owner":"{user}:{group}"}}'}


def b64(content: bytes) -> dict[str, str]:
    return {"B": base64.b64encode(content).decode()}


# what is seen


def test_files_come_with_text_crc_size_and_time(root):
    plant(root, "offsets/7", "v1\né\n".encode(), crc32("v1\né\n".encode()))
    os.utime(root / "offsets/7", ns=(1, 1_795_216_448_123_456_789))
    (image,) = [i for i in tree(root).read() if i.key == "offsets/7"]
    assert dict(image.attributes) == {
        "crc": b64(crc32("v1\né\n".encode())), "text": {"S": "v1\né\n"}, "size": {"N": "6"},
        "modified": {"N": "1795216448123456789"},
        "stored_with": stored_with(root / "offsets/7"),
        "crc_stored_with": stored_with(root / "offsets/.7.crc"),
    }


def test_bytes_that_are_no_utf8_come_as_bytes(root):
    plant(root, "x", b"\xff\x00")
    (image,) = tree(root).read()
    assert image.attributes["bytes"] == b64(b"\xff\x00") and "text" not in image.attributes


@pytest.mark.parametrize("content", ["", "\ufeffx", "a\r\nb\n\n", "\u2028", "\0"])
def test_text_goes_and_comes_byte_for_byte(root, content, medium):
    assert medium.write(creation("f", text={"S": content}), "t") is WriteResult.APPLIED
    assert medium.get(["f", "no/folder"]) == {"f": medium.read()[0], "no/folder": None}
    assert text_of(medium.get(["f"])["f"]) == content
    assert (root / "f").read_bytes() == content.encode()


def test_folders_are_images_and_come_in_key_order(root):
    plant(root, "b/2", b"")
    plant(root, "a", b"")
    (root / "empty").mkdir()
    plant(root, "b/..crc", b"")  # a checksum of no file
    keys = [image.key for image in tree(root).read()]
    assert keys == ["a", "b/", "b/..crc", "b/2", "empty/"]


def test_what_is_not_wanted_is_seen_and_not_read(root):
    plant(root, "offsets/1", b"x", b"c")
    plant(root, "offsets/2", b"x")
    plant(root, "state/0/1.delta", b"x")
    found = {i.key: i for i in tree(root, wanting({"offsets"}, {"offsets/2"})).read()}
    assert sorted(found) == ["offsets/1", "offsets/2"]
    assert found["offsets/1"].attributes.keys() == {"size", "modified"}
    assert text_of(found["offsets/2"]) == "x"


def test_a_selector_is_asked_until_it_wants_nothing_new(root):
    plant(root, "offsets/3", b"sources/0/log/3")
    plant(root, "sources/0/log/3/shardId-000000000000", b"found")

    def select(seen, listed):
        image = seen.get("offsets/3")
        folders, files = {"offsets"}, {"offsets/3"}
        if image is not None and "text" in image.attributes:
            folders.add(image.attributes["text"]["S"])
        if "sources/0/log/3" in listed:
            files.add("sources/0/log/3/shardId-000000000000")
        return Wants(frozenset(folders), frozenset(files))

    found = {i.key: i for i in tree(root, select).read()}
    assert text_of(found["sources/0/log/3/shardId-000000000000"]) == "found"


def test_a_file_is_read_without_a_listing_of_its_folder(root):
    plant(root, "offsets/1", b"x")
    (image,) = tree(root, wanting(set(), {"offsets/1"})).read()
    assert text_of(image) == "x"


def test_absent_folders_and_files_are_no_failure(root):
    plant(root, "a", b"")
    assert [i.key for i in tree(root, wanting({"", "x/y"}, {"z", "x/y/1"})).read()] == ["a"]


def test_an_orphan_checksum_is_an_image_of_the_lost_file(root):
    plant(root, "offsets/.8.crc", b"crc\0")
    (found,) = tree(root, wanting({"offsets"}, set())).read()
    assert (found.key, dict(found.attributes)) == (
        "offsets/8",
        {"crc": b64(b"crc\0"), "crc_stored_with": stored_with(root / "offsets/.8.crc")},
    )


def test_names_that_only_look_like_checksums_are_files(root):
    for name in (".crc", "7.crc", "a.crc.tmp"):
        plant(root, name, b"x")
    assert [i.key for i in tree(root).read()] == [".crc", "7.crc", "a.crc.tmp"]


# what is odd about a directory


def test_links_inside_are_followed_and_never_written(root):
    plant(root, "real", b"x")
    (root / "link").symlink_to("real")
    found = {i.key: i for i in tree(root).read()}
    assert text_of(found["link"]) == "x"
    with pytest.raises(Refused, match="is a link"):
        tree(root).write(change(found["link"], text={"S": "y"}), "t")
    assert (root / "link").is_symlink() and (root / "real").read_bytes() == b"x"


@pytest.mark.parametrize("inner", [False, True])
def test_links_out_of_the_root_are_seen_and_not_followed(root, inner):
    plant(root.parent, "secret/7", b"secret")
    target = root.parent / ("secret/7" if inner else "secret")
    (root / "offsets").symlink_to(target)
    (image,) = tree(root).read()
    assert image.attributes == {
        "unread": {"S": "it is a link that leads out of the directory"}
    }
    with pytest.raises(CannotTell, match="leads out of the directory"):
        tree(root, wanting({""}, {"offsets"})).read()
    with pytest.raises(CannotTell, match="leads out of the directory"):
        tree(root, wanting({"", "offsets"}, {"offsets/7"})).read()
    with pytest.raises(CannotTell, match="leads out of the directory"):
        tree(root).get(["offsets/7" if not inner else "offsets"])
    key = "offsets/8" if not inner else "offsets"
    with pytest.raises((Refused, CannotTell), match="link"):
        tree(root).write(creation(key, text={"S": "y"}), "t")
    assert contents(root.parent / "secret") == {"7": b"secret"}


@pytest.mark.parametrize("links", [{"a": "b", "b": "a"}, {"a": "nowhere"}], ids=str)
def test_a_circle_of_links_or_a_dangling_one_is_seen(root, links):
    for name, target in links.items():
        (root / name).symlink_to(target)
    found = tree(root).read()
    assert [image.key for image in found] == sorted(links)
    assert all("cannot be looked at" in image.attributes["unread"]["S"] for image in found)


def test_the_root_itself_may_be_a_link(root):
    plant(root, "a", b"x")
    link = root.parent / "link"
    link.symlink_to(root)
    assert tree(link).write(creation("b", text={"S": "y"}), "t") is WriteResult.APPLIED
    assert tree(link).identity() == tree(root).identity()
    assert contents(root) == {"a": b"x", "b": b"y"}


def test_special_files_are_seen_and_never_opened(root, monkeypatch):
    os.mkfifo(root / "fifo")
    with socket.socket(socket.AF_UNIX) as server:
        monkeypatch.chdir(root)
        server.bind("socket")
        found = tree(root).read()
    assert [i.key for i in found] == ["fifo", "socket"]
    assert all(i.attributes["unread"]["S"].startswith("it is neither") for i in found)
    with pytest.raises(CannotTell, match="it is neither a file nor a directory"):
        tree(root, wanting({""}, {"fifo"})).read()
    with pytest.raises(CannotTell, match="it is no file"):
        tree(root).get(["fifo"])


def test_names_that_are_no_utf8_are_seen(root):
    (Path(os.fsdecode(os.fsencode(root) + b"/\xff7"))).write_bytes(b"x")
    (image,) = tree(root).read()
    assert (image.key, dict(image.attributes)) == (
        "\\xff7", {"unread": {"S": "its name is not UTF-8"}}
    )
    image.key.encode()


@pytest.mark.parametrize("key", ["../x", "a/../../x", "/etc/passwd", "a//b", "", "a/", ".", "a\0b"])
def test_no_key_leads_out_of_the_root(root, key):
    with pytest.raises((UsageError, ValueError)):
        tree(root).write(creation(key, text={"S": "y"}), "t")
    with pytest.raises(UsageError):
        tree(root).get([key])
    assert contents(root.parent) == {}


def test_no_directory(root):
    for path in (root / "no", root / "file"):
        (root / "file").write_bytes(b"")
        with pytest.raises(UsageError, match="there is no directory"):
            tree(path).identity()
        with pytest.raises(UsageError, match="there is no directory"):
            tree(path, wanting({""}, set())).read()


def test_a_directory_that_vanishes_while_it_is_read(root):
    plant(root, "offsets/1", b"x")

    def select(_seen, listed):
        if "offsets" in listed:
            for path in (root / "offsets/1", root / "offsets", root):
                path.unlink() if path.is_file() else path.is_dir() and path.rmdir()
        return Wants(frozenset({"", "offsets"}), frozenset({"offsets/1"}))

    with pytest.raises(UsageError, match="there is no directory"):
        tree(root, select).read()


@pytest.mark.parametrize(("name", "found"), [
    ("offsets/1", {"offsets/1": "newer"}),
    ("offsets/2", {"offsets/1": "old", "offsets/2": "newer"}),
], ids=["changes", "appears"])
def test_a_file_that_is_written_after_the_listing_is_read(root, name, found):
    plant(root, "offsets/1", b"old")
    rounds: list[int] = []

    def select(seen, listed):
        if "offsets/1" in seen and not rounds:
            rounds.append(1)
            (root / name).write_bytes(b"newer")
        return everything(seen, listed)

    _, *files = tree(root, select).read()
    assert {image.key: text_of(image) for image in files} == found
    assert all(image.attributes["size"] == {"N": str(len(text_of(image) or ""))} for image in files)


def test_a_directory_that_never_holds_still(root):
    def select(_seen, _listed):
        plant(root, f"f{len(list(root.iterdir()))}", b"x")
        return Wants(frozenset({""}), frozenset())

    with pytest.raises(CannotTell, match="changes faster than it can be read"):
        tree(root, select).read()


@only_root
def test_what_may_not_be_read_is_named_with_who_may(root, as_nobody):
    plant(root, "offsets/1", b"x")
    (root / "offsets/1").chmod(0o600)

    def look():
        with pytest.raises(CannotTell, match=r"offsets/1: Permission denied") as caught:
            tree(root).read()
        return caught.value.next

    assert as_nobody(look) == "run this as user root"


@only_root
def test_a_folder_that_may_not_be_listed(root, as_nobody):
    plant(root, "offsets/1", b"x")
    (root / "offsets").chmod(0o700)

    def look():
        with pytest.raises(CannotTell, match=r"cannot read .*/offsets: Permission denied"):
            tree(root).read()

    as_nobody(look)


@only_root
def test_what_may_not_be_written_is_refused(root, as_nobody):
    plant(root, "offsets/1", b"x")
    before = contents(root)

    def write():
        medium = tree(root)
        image = held(medium, "offsets/1")
        for step in (creation("offsets/2", text={"S": "y"}), change(image, text={"S": "y"}),
                     removal(image)):
            with pytest.raises(Refused, match=r"cannot write .*offsets"):
                medium.write(step, "t")

    as_nobody(write)
    assert contents(root) == before


@only_root
@pytest.mark.parametrize(("owner", "named"), [(0, "user root"), (4711, "user id 4711")])
def test_nobody_makes_files_that_their_reader_may_not_read(root, as_nobody, owner, named):
    """A directory that all may write, with files of another user."""
    plant(root, "offsets/1", b"x")
    for path in (root, root / "offsets", root / "offsets/1"):
        os.chown(path, owner, 0)
    root.chmod(0o777)
    (root / "offsets").chmod(0o777)

    def write(key):
        with pytest.raises(Refused, match=f"belong to {named}") as caught:
            tree(root).write(creation(key, text={"S": "y"}), "t")
        return caught.value.next

    for key in ("offsets/2", "commits/2"):
        assert as_nobody(lambda key=key: write(key)) == f"run this as {named}, or as root"
    assert contents(root) == {"offsets/1": b"x"} and not (root / "commits").exists()


@only_root
def test_a_group_that_the_writer_is_not_in_is_no_reason_to_refuse(root, as_nobody):
    """chown(2): its owner may give a file to groups of his own only. He still reads it himself."""
    plant(root, "f", b"x")
    os.chown(root, UNPRIVILEGED, 0)
    os.chown(root / "f", UNPRIVILEGED, 4712)

    def write():
        medium = tree(root)
        return medium.write(change(held(medium, "f"), text={"S": "y"}), "t")

    assert as_nobody(write) is WriteResult.APPLIED
    assert (root / "f").read_bytes() == b"y" and (root / "f").stat().st_uid == UNPRIVILEGED


@pytest.fixture
def as_nobody():
    """Calls something as an unprivileged user."""
    def run(call):
        os.seteuid(UNPRIVILEGED)
        try:
            return call()
        finally:
            os.seteuid(0)

    return run


# what is written


def test_a_new_file_is_like_its_siblings(root):
    plant(root, "offsets/1", b"x")
    (root / "offsets/0").mkdir(0o700)
    like = given(root / "offsets/1", 0o640)
    assert tree(root).write(creation("offsets/2", text={"S": "y"}), "t") is WriteResult.APPLIED
    assert seen_of(root / "offsets/2") == like


def test_a_new_checksum_is_like_its_file(root, medium):
    for name, mode in (("10", 0o644), ("11", 0o604)):
        plant(root, f"offsets/{name}", b"x")
        (root / "offsets" / name).chmod(mode)
    step = change(held(medium, "offsets/11"), text={"S": "y"}, crc=b64(crc32(b"y")))
    assert medium.write(step, "t") is WriteResult.APPLIED
    assert seen_of(root / "offsets/.11.crc")[0] == 0o604


def test_a_new_folder_is_like_the_one_above(root):
    (root / "sources").mkdir()
    mode, *owner = given(root / "sources", 0o750)
    tree(root).write(creation("sources/0/log/7/s", text={"S": "y"}), "t")
    for path in ("sources/0", "sources/0/log", "sources/0/log/7"):
        assert seen_of(root / path) == (mode, *owner)
    assert seen_of(root / "sources/0/log/7/s")[0] == 0o640


def _odd_one_out(root):
    """A file and its checksum, neither with the mode or owner of the file that sorts first."""
    plant(root, "d/a", b"a")
    (root / "d/a").chmod(0o644)
    plant(root, "d/f", b"x", crc32(b"x"))
    for owner in (4711, 4713):  # an owner that only a journal names gets nothing
        (root / f"d/of-{owner}").mkdir()
        given(root / f"d/of-{owner}", 0o755, owner)
    return {name: given(root / name, mode, owner)
            for name, mode, owner in (("d/f", 0o750, 4711), ("d/.f.crc", 0o604, 4713))}


def test_a_deleted_file_comes_back_with_the_mode_and_owner_that_it_had(root, medium):
    before = _odd_one_out(root)
    image = held(medium, "d/f")
    assert medium.write(removal(image), "t") is WriteResult.APPLIED
    assert medium.write(creation("d/f", **image.attributes), "t") is WriteResult.APPLIED
    assert contents(root)["d/f"] == b"x"
    assert {name: seen_of(root / name) for name in before} == before


def test_a_replaced_file_and_its_checksum_keep_their_own_mode_and_owner(root, medium):
    before = _odd_one_out(root)
    step = change(held(medium, "d/f"), text={"S": "y"}, crc=b64(crc32(b"y")))
    assert medium.write(step, "t") is WriteResult.APPLIED
    assert contents(root)["d/.f.crc"] == crc32(b"y")
    assert {name: seen_of(root / name) for name in before} == before


def test_an_image_of_a_journal_without_modes_comes_back_like_its_siblings(root, medium):
    """Journals of 0.1 and 0.2 hold no mode."""
    _odd_one_out(root)
    image = held(medium, "d/f")
    medium.write(removal(image), "t")
    old = {n: v for n, v in image.attributes.items() if n in ("text", "crc", "size", "modified")}
    assert medium.write(creation("d/f", **old), "t") is WriteResult.APPLIED
    assert contents(root)["d/.f.crc"] == crc32(b"x")
    assert seen_of(root / "d/f")[0] == 0o644


@pytest.mark.skipif(not ROOT, reason="only root may give a file away")
@pytest.mark.parametrize("owner", ["4711:0", "0:4711"])
def test_an_owner_that_only_a_journal_names_gets_no_file(root, owner):
    """Who wrote the journal could make anybody's program of a file otherwise."""
    plant(root, "d/a", b"a")
    kept = {"mode": "0644", "owner": owner}
    step = creation("d/f", text={"S": "x"}, stored_with={"S": json.dumps(kept)})
    with pytest.raises(Refused, match=f"is to belong to {owner}, to whom nothing in .*/d does"):
        tree(root).write(step, "t")
    (root / "d/a").unlink()
    (root / "d").rmdir()
    kept["folders"] = [{"mode": "0755", "owner": owner}]
    kept["owner"] = "0:0"
    step = creation("d/f", text={"S": "x"}, stored_with={"S": json.dumps(kept)})
    with pytest.raises(Refused, match=f"is to belong to {owner}"):
        tree(root).write(step, "t")
    assert not (root / "d").exists()
    (root / "d").mkdir()  # and the folder in it alone is made
    kept["folders"].insert(0, {"mode": "0755", "owner": "0:0"})
    step = creation("d/e/f", text={"S": "x"}, stored_with={"S": json.dumps(kept)})
    assert tree(root).write(step, "t") is WriteResult.APPLIED


def test_no_file_runs_as_its_owner_by_a_journal(root):
    own = f"{os.geteuid()}:{os.getegid()}"
    kept = {"mode": "6755", "owner": own, "folders": [{"mode": "7775", "owner": own}]}
    step = creation("d/f", text={"S": "x"}, stored_with={"S": json.dumps(kept)})
    assert tree(root).write(step, "t") is WriteResult.APPLIED
    assert (seen_of(root / "d/f")[0], seen_of(root / "d")[0]) == (0o755, 0o3775)


@pytest.mark.parametrize("key", ["authorized_keys", "d/other", "offsets/x"])
def test_a_file_that_the_reader_does_not_select_is_never_written(root, key):
    """A plan or a journal from elsewhere may name any file below the root."""
    for name in ("d/f", "authorized_keys"):
        plant(root, name, b"x")
    before = contents(root)
    medium = tree(root, spark_files(""))
    medium.read()
    own = Image(key, {"text": {"S": "x"}})
    steps = [creation(key, text={"S": "evil"}), removal(own), change(own, text={"S": "evil"})]
    for step in steps:
        with pytest.raises(Refused, match=f"{key}: it is no file that this consumer reads"):
            medium.write(step, "t")
    assert contents(root) == before
    assert medium.write(creation("offsets/7", text={"S": "v1"}), "t") is WriteResult.APPLIED


@pytest.mark.parametrize("kept", [
    "no JSON", "[]", '{"mode":"9"}', '{"owner":"root"}',
    '{"mode":"0644","owner":"spark:hadoop"}',  # as HDFS has them
])  # fmt: skip
def test_a_mode_that_is_none_is_no_write(root, kept):
    with pytest.raises(ValueError, match=r"f: |are no ids"):
        tree(root).write(creation("f", text={"S": "x"}, stored_with={"S": kept}), "t")
    assert contents(root) == {}


def test_a_checksum_goes_with_its_file(root, medium):
    plant(root, "offsets/1", b"x", crc32(b"x"))
    step = creation("offsets/2", text={"S": "y"}, crc=b64(crc32(b"y")))
    assert medium.write(step, "t") is WriteResult.APPLIED
    assert contents(root)["offsets/.2.crc"] == crc32(b"y")
    two = held(medium, "offsets/2")
    step = change(two, text={"S": "z"}, crc=b64(crc32(b"z")))
    assert medium.write(step, "t") is WriteResult.APPLIED
    assert contents(root)["offsets/.2.crc"] == crc32(b"z")
    two = held(medium, "offsets/2")
    assert medium.write(removal(two), "t") is WriteResult.APPLIED
    assert sorted(contents(root)) == ["offsets/.1.crc", "offsets/1"]


def test_an_orphan_checksum_is_healed(root, medium):
    plant(root, "offsets/.8.crc", b"crc\0")
    plant(root, "offsets/.9.crc", b"crc\0")
    assert medium.write(creation("offsets/8", text={"S": "y"}), "t") is WriteResult.CONFLICT
    kept, gone = (held(medium, key) for key in ("offsets/8", "offsets/9"))
    filled = change(kept, text={"S": "y"}, crc=b64(crc32(b"y")))
    assert medium.write(filled, "t") is WriteResult.APPLIED
    assert medium.write(removal(gone), "t") is WriteResult.APPLIED
    assert contents(root) == {"offsets/8": b"y", "offsets/.8.crc": crc32(b"y")}


@pytest.mark.parametrize("guard", ["text", "crc"])
def test_a_change_of_either_is_seen(root, guard, medium):
    plant(root, "f", b"x", b"c")
    seen = held(medium, "f")
    plant(root, "f", b"y" if guard == "text" else b"x", b"d" if guard == "crc" else b"c")
    before = contents(root)
    for step in (change(seen, guard=(guard,), text={"S": "z"}), removal(seen, (guard,))):
        assert medium.write(step, "t") is WriteResult.CONFLICT
    assert contents(root) == before


def test_a_folder_goes_with_its_last_file(root, medium):
    """Spark's Kinesis connectors take an empty log folder for a log (HDFSMetadataCommitter)."""
    plant(root, "sources/0/shard-source/7/a", b"x", b"c")
    plant(root, "sources/0/shard-source/7/b", b"x")
    plant(root, "sources/0/shard-source/6/a", b"x")
    for name in ("a", "b"):
        key = f"sources/0/shard-source/7/{name}"
        assert (root / "sources/0/shard-source/7").is_dir()
        assert medium.write(removal(held(medium, key)), "t") is WriteResult.APPLIED
    assert not (root / "sources/0/shard-source/7").exists()
    assert (root / "sources/0/shard-source/6").is_dir()


FOLDERS = {"sources": 0o750, "sources/0": 0o2771, "sources/0/7": 0o700}


def _other_folders(root):
    """A file in folders of which none has the owner or the mode of the one above it."""
    plant(root, "sources/0/7/a", b"x", crc32(b"x"))
    before = {}
    for number, (name, mode) in enumerate(FOLDERS.items()):
        (root / f"logs-{number}").mkdir()  # an owner that only a journal names gets nothing
        given(root / f"logs-{number}", 0o755, 4711 + 10 * number)
        before[name] = given(root / name, mode, 4711 + 10 * number)
    files = ("sources/0/7/a", "sources/0/7/.a.crc")
    return before | {name: seen_of(root / name) for name in files}


def test_a_folder_comes_back_with_its_last_file_as_it_was(root, medium):
    before = _other_folders(root)
    image = held(medium, "sources/0/7/a")
    assert medium.write(removal(image), "t") is WriteResult.APPLIED
    assert not (root / "sources").exists()
    assert medium.write(creation(image.key, **image.attributes), "t") is WriteResult.APPLIED
    assert {name: seen_of(root / name) for name in before} == before


def test_an_image_without_folders_comes_back_in_folders_like_the_one_above(root, medium):
    """Journals of earlier releases hold none; nor do images of folders that are like it."""
    _other_folders(root)
    image = held(medium, "sources/0/7/a")
    medium.write(removal(image), "t")
    kept = json.loads(image.attributes["stored_with"]["S"])
    assert len(kept.pop("folders")) == len(FOLDERS)
    old = {"text": image.attributes["text"], "stored_with": {"S": json.dumps(kept)}}
    assert medium.write(creation(image.key, **old), "t") is WriteResult.APPLIED
    assert {seen_of(root / name) for name in FOLDERS} == {seen_of(root)}
    (like,) = held(medium, image.key).attributes["stored_with"].values()
    assert "folders" not in json.loads(like)


@pytest.mark.parametrize("folders", ["7", "[7]", '[{"mode":"9"}]', "[]", None])
def test_folders_that_are_none_are_no_write(root, folders, medium):
    before = _other_folders(root)
    image = held(medium, "sources/0/7/a")
    medium.write(removal(image), "t")
    kept = json.loads(image.attributes["stored_with"]["S"])
    kept["folders"] = json.loads(folders) if folders else kept["folders"][1:]
    wrong = {"text": image.attributes["text"], "stored_with": {"S": json.dumps(kept)}}
    with pytest.raises(ValueError, match=f"{image.key}: "):
        medium.write(creation(image.key, **wrong), "t")
    assert contents(root) == {} and before


def test_the_root_stays_when_it_is_empty(root, medium):
    plant(root, "f", b"x")
    medium.write(removal(held(medium, "f")), "t")
    assert root.is_dir() and medium.read() == []


@pytest.mark.parametrize("attributes", [
    {}, {"text": {"S": "a"}, "bytes": {"B": "YQ=="}}, {"text": {"B": "YQ=="}},
    {"bytes": {"B": "no"}}, {"text": {"S": "a"}, "mode": {"N": "1"}}, {"size": {"N": "1"}},
    {"text": {"S": "\ud800"}},
])  # fmt: skip
def test_what_stands_for_no_file_is_no_write(root, attributes):
    with pytest.raises(ValueError, match=r"f: |surrogates"):
        tree(root).write(creation("f", **attributes), "t")
    assert contents(root) == {}


@pytest.mark.parametrize("update", [Update({}), Update({}, (), {"size": 1})])
def test_what_changes_no_content_is_no_write(root, update, medium):
    plant(root, "f", b"x")
    with pytest.raises(ValueError, match="f: a file cannot be updated so"):
        medium.write(one(Write("f", update, held(medium, "f"), "a test")), "t")
    assert contents(root) == {"f": b"x"}


def test_temporary_files_of_others_are_seen_and_stay(root, medium):
    plant(root, "offsets/.8.2b0e7e0c-9a4b-4c9c-9b57-8d8e8b9f6a10.tmp", b"half")
    assert len(medium.read()) == 2
    medium.write(creation("offsets/8", text={"S": "y"}), "t")
    assert len(contents(root)) == 2


def test_what_a_killed_run_left_is_not_seen_and_goes_with_the_next_write(root, medium):
    left = root / ".reshardctl.2b0e7e0c-9a4b-4c9c-9b57-8d8e8b9f6a10.tmp"
    left.write_bytes(b"half")
    assert medium.read() == [] and left.exists(), "reading changes nothing"
    medium.write(creation("f", text={"S": "y"}), "t")
    assert contents(root) == {"f": b"y"}


def test_a_file_that_is_too_large_is_named_and_not_read(root):
    """A gigabyte and a byte of nothing: a file system keeps it in no space."""
    with (root / "f").open("wb") as file:
        file.truncate(LARGEST + 1)
    with pytest.raises(CannotTell, match=rf"{root}/f: 1073741825 bytes are too many"):
        tree(root).get(["f"])


# who it is


QUERY = "69880f2a-f006-496b-9513-9120bf42d838"


@pytest.mark.parametrize(("metadata", "query"), [
    (f'{{"id":"{QUERY}"}}'.encode(), QUERY),
    *((content, None) for content in (None, b"", b"[]", b'{"id":7}', b"\xff", b"{")),
])  # fmt: skip
def test_identity_is_the_real_path_and_the_query_or_the_directory(root, metadata, query):
    if metadata is not None:
        plant(root, "metadata", metadata)
    own = {"query": query} if query else {"inode": str(root.stat().st_ino)}
    assert tree(root).identity() == {"medium": "files", "path": str(root.resolve()), **own}
