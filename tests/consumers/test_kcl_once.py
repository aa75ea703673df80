"""KCL's lease table is simulated once for each application, whoever asks."""

from __future__ import annotations

from reshardctl.consumers.kcl import behaviour
from reshardctl.consumers.kcl.consumer import Kcl
from reshardctl.consumers.kcl.releases import App
from tests.support.lineages import split_in_turn


def test_a_table_is_simulated_once_for_each_application(monkeypatch):
    kcl, lineage = Kcl(), split_in_turn(2, [0])
    table = kcl.parse([])
    asked = []
    simulated = behaviour._simulated

    def counted(*arguments):
        asked.append(arguments)
        return simulated(*arguments)

    monkeypatch.setattr(behaviour, "_simulated", counted)
    one, other = (
        kcl.candidates(table, {"initial": initial, "release": "3.5"})[0].app
        for initial in ("LATEST", "TRIM_HORIZON")
    )
    assert isinstance(one, App)
    assert isinstance(other, App)
    assert kcl.simulate_start(lineage, table, one) is kcl.simulate_start(lineage, table, one)
    assert kcl.simulate_start(lineage, table, one) != kcl.simulate_start(lineage, table, other)
    assert len(asked) == 2
