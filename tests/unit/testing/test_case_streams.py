"""Two independent readings of the cases' streams, this fake's and the case format's own, agree."""

from __future__ import annotations

import tomllib
from pathlib import Path

from reshardctl.testing import load_topology
from tests.support import case_stream
from tests.support.grouped import by_case
from tests.unit.testing.samples import iterator

CASES = Path(__file__).parents[2] / "cases"
# A case without a stream table takes its stream from a table of its own.
FILES = [
    path for path in sorted(CASES.rglob("*.toml")) if "[stream]" in path.read_text(encoding="utf-8")
]

assert len(FILES) > 10


@by_case((path.parent.name, path.stem, (path,)) for path in FILES)
def test_a_cases_stream_is_listed_and_read_as_the_case_says(path: Path) -> None:
    stream = case_stream.filled(tomllib.loads(path.read_text(encoding="utf-8"))["stream"])
    shards = case_stream.resolve(stream)
    client = load_topology(stream).client()
    name = stream["name"]
    assert client.list_shards(StreamName=name)["Shards"] == case_stream.listing(shards)
    for number, shard in shards.items():
        if not shard.listed:
            continue
        answer = client.get_records(ShardIterator=iterator(client, number, stream=name))
        found = [(r["SequenceNumber"], r["Data"].decode()) for r in answer["Records"]]
        horizon = stream["created"] + stream["trim"]
        kept = [(n, payload) for n, payload, arrival in shard.records if arrival >= horizon]
        assert found == kept
