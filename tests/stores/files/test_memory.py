"""How much memory a read of a tree takes."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

from reshardctl.stores.files.local import Local
from reshardctl.stores.files.tree import Tree
from tests.stores.files.trees import crc32, everything, plant


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
