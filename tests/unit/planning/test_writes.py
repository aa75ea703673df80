"""What is said of writes that are not safe while the consumer runs."""

from __future__ import annotations

import pytest

from reshardctl.errors import Refused
from reshardctl.model import Delete, Step, Write
from reshardctl.planning.writes import require_live


@pytest.mark.parametrize(("count", "named"), [
    (1, "0: it is read"), (3, "0: it is read; 1: it is read; 2: it is read"),
    (5, "0: it is read; 1: it is read; 2: it is read; and 2 more"),
])  # fmt: skip
def test_three_writes_are_named_and_the_others_counted(count: int, named: str) -> None:
    writes = [Write(str(n), Delete(), None, "", running="it is read") for n in range(count)]
    with pytest.raises(Refused) as refusal:
        require_live([Step("", tuple(writes))])
    assert refusal.value.what.partition(". ")[2] == f"{named}. Nothing was written"
