"""How much memory a read of a tree takes."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

from reshardctl.model.files import AlikeValue
from reshardctl.model.write_state import WriteResult
from reshardctl.stores.files.local import Local
from reshardctl.stores.files.tree import Tree
from tests.unit.stores.files.trees import change, crc32, everything, plant


def test_the_bytes_of_a_file_go_when_its_text_is_there(tmp_path: Path) -> None:
    files, size = 40, 200_000
    for number in range(files):
        content = f"{number:04}".encode() * (size // 4)
        plant(tmp_path, f"offsets/{number}", content, crc32(content))
    tracemalloc.start()
    images = Tree(Local(str(tmp_path)), everything).read()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    texts = [image.attributes["text"]["S"] for image in images if "text" in image.attributes]
    assert sum(map(len, texts)) == files * size
    assert peak < 1.3 * files * size


def numbered(count: int, files: int) -> list[bytes]:
    """Files of as many numbers, which differ in these alone."""
    return [
        "".join(
            f'"shardId-{n:012d}":{{"iteratorType":"AFTER_SEQUENCE_NUMBER","iteratorPosition":'
            f'"{7**60 + n * 31**25 + file}"}},' for n in range(count)
        ).encode() for file in range(files)
    ]


def test_files_that_differ_in_digits_alone_take_half_of_their_size(tmp_path: Path) -> None:
    contents = numbered(2000, 40)
    for number, content in enumerate(contents):
        plant(tmp_path, f"offsets/{number}", content, crc32(content))
    tree = Tree(Local(str(tmp_path)), everything)
    tracemalloc.start()
    images = tree.read()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < sum(map(len, contents)) / 2
    read = {image.key: image for image in images if "text" in image.attributes}
    texts = {key: image.attributes["text"]["S"] for key, image in read.items()}
    assert texts == {f"offsets/{n}": content.decode() for n, content in enumerate(contents)}
    assert tree.get(list(read)) == read


def test_a_digit_that_changed_since_is_a_conflict(tmp_path: Path) -> None:
    """What a plan was made from was kept as digits; the guard compares every one of them."""
    contents = numbered(2000, 3)
    for number, content in enumerate(contents):
        plant(tmp_path, f"offsets/{number}", content)
    tree = Tree(Local(str(tmp_path)), everything)
    before = {image.key: image for image in tree.read()}
    assert all(isinstance(before[f"offsets/{n}"].attributes["text"], AlikeValue) for n in (1, 2))
    edit = change(before["offsets/1"], text={"S": "new"})
    other = b"1" if contents[1][-4:-3] != b"1" else b"2"
    moved = contents[1][:-4] + other + contents[1][-3:]
    (tmp_path / "offsets/1").write_bytes(moved)
    assert tree.write(edit, "t") is WriteResult.CONFLICT
    assert (tmp_path / "offsets/1").read_bytes() == moved
    edit = change(before["offsets/2"], text={"S": "new"})
    assert tree.write(edit, "t") is WriteResult.APPLIED
    assert (tmp_path / "offsets/2").read_bytes() == b"new"
