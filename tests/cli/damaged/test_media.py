"""Damaged positions in every medium: files, buckets, tables, servers, a REST interface."""

from __future__ import annotations

from random import Random

import pytest

from tests.cli.damaged import (
    media_buckets,
    media_files,
    media_quickwit,
    media_rows,
    media_servers,
)
from tests.cli.damaged.judging import Damaged, judge, positions
from tests.cli.damaged.medium import Setting, seeded

# Pipes and loops: whoever waits for one hangs.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

MEDIA = [
    *media_rows.MEDIA, *media_files.MEDIA, *media_buckets.MEDIA, *media_servers.MEDIA,
    *media_quickwit.MEDIA,
]  # fmt: skip


@pytest.mark.parametrize(("medium", "seeds"), seeded(MEDIA))
def test_a_damaged_position(servers, database, tmp_path, monkeypatch, medium, seeds):
    for seed in seeds:
        folder = tmp_path / str(seed)
        folder.mkdir()
        with medium.store(Setting(servers, folder, monkeypatch, database)) as store:
            stood = positions(store.lab)
            named, how = store.damage(Random(f"{medium.name} {seed}"))
            judge(Damaged(
                store.lab, f"seed {seed}: {how}", store.stored, store.kept, named, stood
            ))  # fmt: skip
