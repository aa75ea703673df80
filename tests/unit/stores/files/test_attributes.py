"""Access control lists and extended attributes below a directory stay: acl(5), xattr(7)."""

from __future__ import annotations

import os
import stat
import struct
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from reshardctl.errors import Refused
from reshardctl.model.write_state import WriteResult
from reshardctl.stores.files.local import Local
from reshardctl.stores.files.system import ACL, OF_NEW
from reshardctl.stores.files.tree import Tree
from tests.unit.stores.files.test_tree import b64
from tests.unit.stores.files.trees import change, crc32, creation, everything, held, plant, removal

NOBODY = 65534
NONE = 0xFFFFFFFF


def access(permissions: int, user: int = NOBODY) -> bytes:
    """A list by which one more user has these permissions (posix_acl_xattr.h of Linux)."""
    entries = [(1, 7, NONE), (2, permissions, user), (4, 5, NONE), (16, 7, NONE), (32, 0, NONE)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


def granted(path: Path, name: str = ACL) -> dict[int, int] | None:
    """The users of a list, and what each is granted; `None` without a list."""
    try:
        body = os.getxattr(path, name)[4:]
    except OSError:
        return None
    entries = [struct.unpack_from("<HHI", body, at) for at in range(0, len(body), 8)]
    return {who: permissions for tag, permissions, who in entries if tag == 2}


@pytest.fixture
def root() -> Iterator[Path]:
    """A checkpoint that a user reads by lists alone."""
    with tempfile.TemporaryDirectory() as above:
        Path(above).chmod(0o755)
        found = Path(above) / "checkpoint"
        plant(found, "offsets/7", b"v1", crc32(b"v1"))
        plant(found, "offsets/8", b"v1", crc32(b"v1"))
        plant(found, "sources/0/7", b"v1")
        for path in [found, *found.rglob("*")]:
            path.chmod(0o750 if path.is_dir() else 0o640)
            try:
                os.setxattr(path, ACL, access(5 if path.is_dir() else 4))
            except OSError:
                pytest.skip("no access control lists in the folder for temporary files")
        yield found


@pytest.fixture
def medium(root: Path) -> Tree:
    return Tree(Local(str(root)), everything)


def replaced(medium: Tree, key: str = "sources/0/7") -> None:
    """A file with another text."""
    assert medium.write(change(held(medium, key), text={"S": "v2"}), "t") is WriteResult.APPLIED


def facts(path: Path) -> tuple[object, ...]:
    status = path.lstat()
    attributes = {name: os.getxattr(path, name) for name in os.listxattr(path)}
    return attributes, stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid


def test_a_file_that_is_replaced_keeps_its_list_and_its_attributes(root, medium):
    for key in ("sources/0/7", "offsets/7"):
        path = root / key
        os.setxattr(path, "user.note", b"\0x")
        before = facts(path)
        replaced(medium, key)
        assert (path.read_bytes(), facts(path)) == (b"v2", before)
    assert granted(root / "offsets" / ".7.crc") == {NOBODY: 4}


def test_a_new_file_has_the_list_of_its_siblings(root, medium):
    assert medium.write(creation("offsets/9", text={"S": "x"}), "t") is WriteResult.APPLIED
    assert granted(root / "offsets" / "9") == {NOBODY: 4}


def test_the_first_file_of_a_folder_has_the_list_that_the_folder_gives(root, medium):
    (root / "commits").mkdir(0o750)
    os.setxattr(root / "commits", OF_NEW, access(7))
    assert medium.write(creation("commits/0", text={"S": "x"}), "t") is WriteResult.APPLIED
    made = root / "commits" / "0"
    assert granted(made) == {NOBODY: 7}
    assert stat.S_IMODE(made.lstat().st_mode) & 0o111 == 0
    (root / "commits" / "1").write_bytes(b"as a program makes one")
    assert granted(root / "commits" / "1") == {NOBODY: 7}


def test_a_folder_that_went_comes_back_with_a_list(root, medium):
    image = held(medium, "sources/0/7")
    assert medium.write(removal(image), "t") is WriteResult.APPLIED
    assert not (root / "sources").exists()
    assert medium.write(creation("sources/0/7", **image.attributes), "t") is WriteResult.APPLIED
    assert granted(root / "sources") == granted(root / "sources" / "0") == {NOBODY: 5}


def test_a_file_without_a_list_gets_none_from_the_root(root, medium):
    """New contents are made in the root, which may give lists to what is made there."""
    os.setxattr(root, OF_NEW, access(7, user=1234))
    for path in (root / "offsets").iterdir():
        os.removexattr(path, ACL)
    replaced(medium)
    assert granted(root / "sources" / "0" / "7") == {NOBODY: 4}
    assert medium.write(creation("offsets/9", text={"S": "x"}), "t") is WriteResult.APPLIED
    assert granted(root / "offsets" / "9") is None
    step = change(held(medium, "offsets/8"), text={"S": "y"}, crc=b64(crc32(b"y")))
    assert medium.write(step, "t") is WriteResult.APPLIED
    assert granted(root / "offsets" / "8") is None


def test_a_hash_that_the_kernel_made_of_the_old_content_is_left_to_it(root, medium):
    """security.ima of the Integrity Measurement Architecture, see evmctl(1)."""
    path = root / "sources" / "0" / "7"
    try:
        os.setxattr(path, "security.ima", b"\x01" * 21)
    except OSError:
        pytest.skip("only root may set it")
    replaced(medium)
    assert "security.ima" not in os.listxattr(path) and granted(path) == {NOBODY: 4}


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user")
def test_the_user_of_the_list_still_reads_it(root, medium):
    replaced(medium)
    seen = subprocess.run(
        ["/bin/cat", str(root / "sources" / "0" / "7")], user=NOBODY, group=NOBODY,
        extra_groups=[], capture_output=True, text=True, check=False,
    )
    assert seen.stdout == "v2", seen.stderr


def test_nothing_is_written_where_an_attribute_cannot_be_kept(root, medium, monkeypatch):
    real = os.setxattr

    def refused(file, name, value, *more, **others):
        if name == "user.note" and isinstance(file, int):
            raise PermissionError(1, "Operation not permitted")
        return real(file, name, value, *more, **others)

    path = root / "sources" / "0" / "7"
    os.setxattr(path, "user.note", b"x")
    before = facts(path)
    monkeypatch.setattr(os, "setxattr", refused)
    with pytest.raises(Refused, match=r"user\.note cannot be kept"):
        medium.write(change(held(medium, "sources/0/7"), text={"S": "v2"}), "t")
    assert (path.read_bytes(), facts(path)) == (b"v1", before)
    assert not [name for name in root.iterdir() if name.name.startswith(".resh")]
