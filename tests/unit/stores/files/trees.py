"""Directories with files in them, and selectors that want all or a part."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from pathlib import Path

from reshardctl.model import Create, Delete, Image, Step, Update, Write
from reshardctl.model.files import Wants
from reshardctl.stores.files.tree import Tree


def everything(seen: Mapping[str, Image], listed: frozenset[str]) -> Wants:
    """Every folder and every file."""
    folders = frozenset({"", *(key.rstrip("/") for key in seen if key.endswith("/"))})
    return Wants(folders | listed, frozenset(
        key for key, image in seen.items()
        if not key.endswith("/") and "unread" not in image.attributes
    ))


def wanting(folders: set[str], files: set[str]):
    """These, and nothing else."""
    return lambda _seen, _listed: Wants(frozenset(folders), frozenset(files))


def crc32(content: bytes) -> bytes:
    """Hadoop's sibling of a file: `crc\\0`, 512, and one CRC-32 for each 512 bytes (Hadoop
    ChecksumFileSystem; equal to 487 of 487 that Spark 3.3 to 4.3 wrote)."""
    chunks = [content[at:at + 512] for at in range(0, len(content), 512)]
    return b"crc\0" + struct.pack(">i", 512) + b"".join(
        struct.pack(">I", zlib.crc32(chunk)) for chunk in chunks
    )


def plant(root: Path, key: str, content: bytes, crc: bytes | None = None) -> None:
    path = root / key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    if crc is not None:
        (path.parent / f".{path.name}.crc").write_bytes(crc)


def contents(root: Path) -> dict[str, bytes]:
    """Every file by its path below the root, hidden ones too."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*")) if path.is_file()
    }


def one(write: Write) -> Step:
    return Step("a test", (write,))


def held(medium: Tree, key: str) -> Image:
    """The row of a key, which is there."""
    image = medium.get([key])[key]
    assert image is not None
    return image


def creation(key: str, **attributes) -> Step:
    return one(Write(key, Create(attributes), None, "a test"))


def change(before: Image, remove=(), guard=("text", "crc"), **attributes) -> Step:
    return one(Write(before.key, Update(attributes, tuple(remove)), before, "a test", guard))


def removal(before: Image, guard=("text", "crc")) -> Step:
    return one(Write(before.key, Delete(), before, "a test", guard))
