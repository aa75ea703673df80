"""The checked-in lists of executed situations are the lists of situations.

Otherwise a case could drop out of CI unseen, or come in and fail it only after an hour.
"""

from __future__ import annotations

from tests.proof.libraries.go.executed import LISTED as LISTED_GO
from tests.proof.libraries.go.situations import every_id
from tests.proof.libraries.kcl.situations import listed, situations


def test_every_situation_of_kcl_is_listed() -> None:
    ids = {situation.id for situation in situations()}
    wanted = (
        "python -m tests.proof.libraries.kcl.situations > tests/proof/libraries/kcl/executed.txt"
    )
    assert sorted(ids - listed()) == [], wanted
    assert sorted(listed() - ids) == [], wanted


def test_every_situation_of_the_go_libraries_is_listed() -> None:
    ids, listed_go = set(every_id()), set(LISTED_GO.read_text(encoding="utf-8").splitlines())
    wanted = "python -m tests.proof.libraries.go.situations > tests/proof/libraries/go/executed.txt"
    assert sorted(ids - listed_go) == [], wanted
    assert sorted(listed_go - ids) == [], wanted
