from tests.spark.source.drive import *
from reshardctl.testing.topology import load_topology
import pytest

TWO = {"name": "orders", "created": 1795232267, "now": 3600, "shards": [
    {"id": 0, "range": ["0","1/2"], "close": 1000, "records": {"n": 4, "from": 1, "to": 900}},
    {"id": 1, "range": ["1/2","1"], "records": {"n": 5, "from": 1, "to": 3000}},
    {"id": 2, "range": ["0","1/4"], "parents": [0], "records": {"n": 3, "from": 1100, "to": 2000}},
    {"id": 3, "range": ["1/4","1/2"], "parents": [0], "records": {"n": 3, "from": 1100, "to": 2000}},
]}

@pytest.mark.parametrize("old", [True, False])
def test_smoke(old):
    fake = load_topology(TWO)
    q = Query(fake, old)
    n = q.drain()
    print(n, q.offsets)
    assert len(q.rows()) == 15
    fake.put("orders", 1, "x")
    fake.clock.advance(2)
    assert q.trigger()
    assert len(q.rows()) == 16
    assert not q.trigger()
