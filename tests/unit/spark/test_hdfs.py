"""A directory of HDFS, which has owners, permissions and a NameNode that can refuse everything.

The servers are the published ones (tests/support/servers/hdfs.py); what came of a write is asked of
them over WebHDFS.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from reshardctl.errors import CannotTell, Refused
from reshardctl.model import Image
from reshardctl.model.write_state import WriteResult
from reshardctl.spark.hadoop import Hadoop
from reshardctl.spark.session import gateway
from reshardctl.stores.files.tree import Tree
from tests.contracts.store_contract import SampleRows, StoreContract
from tests.support.on_hdfs import READER, system
from tests.support.servers.hdfs import SUPERUSER, Hdfs
from tests.unit.stores.files.trees import change, creation, everything, held, removal

__all__ = ["system"]
pytestmark = pytest.mark.needs("pyspark-hdfs")
ROOT = "/checkpoint"


@pytest.fixture(autouse=True)
def as_superuser(system: Hdfs) -> Iterator[None]:
    """An empty directory of the reader's, and an operator who may do anything."""
    system.make(ROOT, READER, "750")
    before = users().getLoginUser()
    run_as(SUPERUSER)
    yield
    users().setLoginUser(before)
    system.delete(ROOT)


def users() -> Any:
    return gateway().jvm.org.apache.hadoop.security.UserGroupInformation


def run_as(user: str) -> None:
    """Whom the JVM calls itself to HDFS."""
    users().setLoginUser(users().createRemoteUser(user))


def opened(system: Hdfs) -> Tree:
    return Tree(Hadoop(f"{system.url}{ROOT}"), everything)


class Directory:
    """The directory, and the reader as another client of it."""

    def __init__(self, system: Hdfs) -> None:
        self._system = system

    def medium(self) -> Tree:
        return opened(self._system)

    def plant(self, image: Image) -> None:
        text = str(image.attributes["text"]["S"])
        self._system.put(f"{ROOT}/{image.key}", text.encode(), READER)

    def pull(self, key: str) -> None:
        self._system.delete(f"{ROOT}/{key}")


class TestHdfs(StoreContract):
    samples = SampleRows(
        lambda key, number: Image(key, {"text": {"S": f"version {number}"}}),
        lambda key: Image(key, {"text": {"S": "x" * 150_000}}),
        "text", {}, ("path",), frozenset({"size", "modified", "stored_with"}),
    )

    @pytest.fixture
    def store(self, system: Hdfs) -> Directory:
        return Directory(system)

    def test_of_two_writers_one_wins(self, store: Any) -> None:
        """Not promised: only a comparison guards a replacement here."""


def test_a_replaced_file_keeps_its_owner_and_its_mode(system: Hdfs) -> None:
    system.put(f"{ROOT}/offsets/7", b"x", READER, "640")
    before = system.status(f"{ROOT}/offsets/7")
    store = opened(system)
    step = change(held(store, "offsets/7"), text={"S": "y"}, guard=("text",))
    assert store.write(step, "t") is WriteResult.APPLIED
    assert system.get(f"{ROOT}/offsets/7") == b"y"
    assert system.status(f"{ROOT}/offsets/7") == before


def test_a_replaced_file_keeps_its_access_control_list(system: Hdfs) -> None:
    """One who may read it by that list alone is not locked out; the mode shows the list's mask."""
    system.put(f"{ROOT}/offsets/7", b"x", READER, "640")
    system.allow(f"{ROOT}/offsets/7", "user:another:r--")
    before = system.access(f"{ROOT}/offsets/7"), system.status(f"{ROOT}/offsets/7")
    assert before[0] == ["user:another:r--", "group::r--"]
    store = opened(system)
    step = change(held(store, "offsets/7"), text={"S": "y"}, guard=("text",))
    assert store.write(step, "t") is WriteResult.APPLIED
    assert system.get(f"{ROOT}/offsets/7") == b"y"
    assert (system.access(f"{ROOT}/offsets/7"), system.status(f"{ROOT}/offsets/7")) == before


def test_a_new_file_is_like_its_siblings(system: Hdfs) -> None:
    system.put(f"{ROOT}/offsets/7", b"x", READER, "640")
    assert opened(system).write(creation("offsets/8", text={"S": "y"}), "t") is WriteResult.APPLIED
    assert system.status(f"{ROOT}/offsets/8") == system.status(f"{ROOT}/offsets/7")


def test_a_deleted_file_comes_back_as_it_was(system: Hdfs) -> None:
    system.put(f"{ROOT}/offsets/6", b"x", READER, "644")
    system.put(f"{ROOT}/offsets/7", b"x", READER)
    system.own(f"{ROOT}/offsets/7", "another", "640")
    before = system.status(f"{ROOT}/offsets/7")
    store = opened(system)
    was = held(store, "offsets/7")
    assert store.write(removal(was, ("text",)), "t") is WriteResult.APPLIED
    assert system.names(ROOT) == ["offsets/6"]
    assert store.write(creation("offsets/7", **was.attributes), "u") is WriteResult.APPLIED
    assert system.status(f"{ROOT}/offsets/7") == before


def test_a_folder_comes_back_with_its_last_file_as_it_was(system: Hdfs) -> None:
    system.put(f"{ROOT}/sources/0/7/a", b"x", READER)
    folders = {"sources": ("another", "755"), "sources/0": (READER, "750"), "sources/0/7": (
        "another", "711",
    )}  # fmt: skip
    for folder, own in folders.items():
        system.own(f"{ROOT}/{folder}", *own)
    before = {folder: system.status(f"{ROOT}/{folder}") for folder in folders}
    store = opened(system)
    was = held(store, "sources/0/7/a")
    assert store.write(removal(was, ("text",)), "t") is WriteResult.APPLIED
    assert system.names(ROOT) == []
    assert store.write(creation(was.key, **was.attributes), "u") is WriteResult.APPLIED
    assert {folder: system.status(f"{ROOT}/{folder}") for folder in folders} == before


def test_a_new_folder_is_like_the_one_above(system: Hdfs) -> None:
    system.make(f"{ROOT}/sources", READER, "750")
    step = creation("sources/0/shard-commit/8/s", text={"S": "y"})
    assert opened(system).write(step, "t") is WriteResult.APPLIED
    above = system.status(f"{ROOT}/sources")
    for folder in ("0", "0/shard-commit", "0/shard-commit/8"):
        assert system.status(f"{ROOT}/sources/{folder}") == above
    made = system.status(f"{ROOT}/sources/0/shard-commit/8/s")
    assert (made.owner, made.group, made.mode) == (above.owner, above.group, "640")


def test_nobody_makes_files_that_their_reader_may_not_own(system: Hdfs) -> None:
    """Another user may write to the folder, but not give the reader what is new there."""
    system.put(f"{ROOT}/offsets/7", b"x", READER, "666")
    for folder in (ROOT, f"{ROOT}/offsets"):
        system.own(folder, READER, "777")
    run_as("operator")
    store = opened(system)
    was = held(store, "offsets/7")
    for step in (
        change(was, text={"S": "y"}, guard=("text",)), creation("offsets/8", text={"S": "y"}),
        creation("commits/7", text={"S": "y"}),
    ):  # fmt: skip
        with pytest.raises(Refused, match=f"the files there belong to user {READER}") as caught:
            store.write(step, "t")
        assert caught.value.next == f"run this as user {READER}, or as the superuser"
    assert system.files(ROOT) == {"offsets/7": b"x"}
    assert system.names(ROOT) == ["offsets/7"]


def test_what_may_not_be_read_is_named_with_who_may(system: Hdfs) -> None:
    system.put(f"{ROOT}/offsets/7", b"x", READER, "600")
    run_as("operator")
    with pytest.raises(CannotTell, match=f"cannot read {system.url}{ROOT}") as caught:
        opened(system).read()
    assert caught.value.next == f"run this as user {READER}"
    for folder in (ROOT, f"{ROOT}/offsets"):
        system.own(folder, READER, "755")
    with pytest.raises(CannotTell, match=f"cannot read {system.url}{ROOT}/offsets/7") as caught:
        opened(system).read()
    assert caught.value.next == f"run this as user {READER}"


def test_what_may_not_be_written_is_refused(system: Hdfs) -> None:
    system.put(f"{ROOT}/offsets/7", b"x", READER)
    for folder in (ROOT, f"{ROOT}/offsets"):
        system.own(folder, READER, "755")
    run_as("operator")
    store = opened(system)
    was = held(store, "offsets/7")
    for step in (
        change(was, text={"S": "y"}, guard=("text",)), removal(was, ("text",)),
        creation("offsets/8", text={"S": "y"}),
    ):  # fmt: skip
        with pytest.raises(Refused, match="cannot write") as caught:
            store.write(step, "t")
        assert caught.value.next == f"run this as user {READER}"
    assert system.files(ROOT) == {"offsets/7": b"x"}


def test_a_file_system_in_safe_mode_is_read_and_not_written(system: Hdfs) -> None:
    system.put(f"{ROOT}/offsets/7", b"x", READER)
    store = opened(system)
    was = held(store, "offsets/7")
    with system.safe_mode():
        for step in (
            change(was, text={"S": "y"}, guard=("text",)), removal(was, ("text",)),
            creation("offsets/8", text={"S": "y"}),
        ):  # fmt: skip
            with pytest.raises(Refused, match="safe mode") as caught:
                store.write(step, "t")
            assert caught.value.next.startswith("hdfs dfsadmin -safemode get")
        assert held(opened(system), "offsets/7") == was
    assert system.files(ROOT) == {"offsets/7": b"x"}


def test_a_quota_that_is_used_up(system: Hdfs) -> None:
    system.put(f"{ROOT}/offsets/7", b"x", READER)
    system.limit(ROOT, names=3)
    with pytest.raises(Refused, match="quota") as caught:
        opened(system).write(creation("offsets/8", text={"S": "y"}), "t")
    assert caught.value.next == "make room, then run this again"
    assert system.files(ROOT) == {"offsets/7": b"x"}


@pytest.mark.parametrize(
    ("url", "what", "step"),
    [
        ("hdfs://127.0.0.1:1/x", "ConnectException", "hdfs getconf -confKey fs.defaultFS"),
        ("hdfs://nameservice1/x", "UnknownHostException", "export HADOOP_CONF_DIR="),
        ("hdfs:///x", "Incomplete HDFS URI", "export HADOOP_CONF_DIR="),
    ],
)
@pytest.mark.parametrize("session", [False, True], ids=["alone", "beside-a-session"])
def test_a_name_node_that_is_not_found(
    url: str, what: str, step: str, session: bool, request: pytest.FixtureRequest
) -> None:
    """PySpark turns some of Java's errors into its own once a session was made."""
    if session:
        request.getfixturevalue("spark")
    with pytest.raises(CannotTell, match=f"cannot read {url}: .*{what}") as caught:
        Hadoop(url).list("")
    assert caught.value.next.startswith(step)
