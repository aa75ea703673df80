"""Sets of shard ids on a row that are no string sets, put right for a release that dies of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reshardctl.consumers.kcl.releases import CHILDREN, PARENTS, Traits
from reshardctl.consumers.kcl.rows import Row
from reshardctl.lineage import Lineage
from reshardctl.model import AttributeValue


@dataclass(frozen=True, slots=True)
class Retyped:
    """Attributes to set, and those to remove because nothing is known of them."""

    values: Mapping[str, AttributeValue]
    remove: tuple[str, ...]


def retyped(lineage: Lineage, row: Row, traits: Traits) -> Retyped:
    """What makes the row readable; nothing where its sets are."""
    values: dict[str, AttributeValue] = {}
    remove = []
    for name in sorted(traits.dies_of_mistyped):
        if name not in row.image.attributes or "SS" in row.image.attributes[name]:
            continue
        if members := _members(lineage, row, name):
            values[name] = {"SS": members}
        else:
            remove.append(name)
    return Retyped(values, tuple(remove))


def _members(lineage: Lineage, row: Row, name: str) -> list[str]:
    if row.shard not in lineage:
        return []
    known = {PARENTS: lineage[row.shard].parents, CHILDREN: lineage.children(row.shard)}
    return sorted(str(shard) for shard in known[name])
