"""Similar names: one letter off is found, other words are not."""

from __future__ import annotations

import pytest

from reshardctl.model.phrases import did_you_mean, similar

KNOWN = ("orders-etl", "fraud", "Archive")


@pytest.mark.parametrize(("wanted", "found"), [
    ("orders-elt", "orders-etl"),
    ("fruad", "fraud"),
    ("archive", "Archive"),
    ("billing", None),
    ("", None),
])
def test_the_most_similar_name_is_found(wanted, found):
    assert similar(wanted, KNOWN) == found


def test_without_a_similar_name_the_advice_is_the_other_one():
    assert did_you_mean("billing", KNOWN, "it has none") == "it has none"
    assert did_you_mean("fraut", KNOWN, "it has none") == "did you mean fraud? it has none"
