"""KCL's lease table is simulated once for each application, whoever asks."""

from __future__ import annotations

from reshardctl.consumers.kcl import behaviour
from reshardctl.consumers.kcl.consumer import Kcl
from reshardctl.consumers.kcl.releases import App
from reshardctl.model import START
from tests.support.lineages import split_in_turn


def test_a_table_is_simulated_once_for_each_application(monkeypatch):
    kcl, lineage = Kcl(), split_in_turn(2, [0])
    table = kcl.parse([])
    asked = []

    class Counted(behaviour._Run):
        def __init__(self, *arguments):
            asked.append(arguments)
            super().__init__(*arguments)

    monkeypatch.setattr(behaviour, "_Run", Counted)
    one, other = (
        kcl.candidates(table, {"initial": initial, "release": "3.5"})[0].app
        for initial in ("LATEST", "TRIM_HORIZON")
    )
    assert isinstance(one, App)
    runs = [lineage.memo(kcl.simulate_start, lineage, table, app) for app in (one, other, one)]
    assert runs[0] is runs[2] != runs[1]
    assert len(asked) == 2
    kcl.encode(lineage, table, dict.fromkeys(lineage, START), one, ())
    assert [arguments for arguments in asked if arguments[1] is table] == asked[:2]
