"""Writes as DynamoDB requests: update expressions, and conditions that repeat what was read.

Names and values always go through placeholders: lease tables use reserved words, and a store may
hold attributes with any name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from reshardctl.model import AttributeValue, Create, Delete, TableShape, Update, Write
from reshardctl.stores.dynamodb.values import item_of, key_of, sent


@dataclass(slots=True)
class _Placeholders:
    names: dict[str, str] = field(default_factory=dict)
    values: dict[str, dict[str, Any]] = field(default_factory=dict)

    def name(self, attribute: str) -> str:
        return self.names.setdefault(attribute, f"#n{len(self.names)}")

    def value(self, value: AttributeValue) -> str:
        placeholder = f":v{len(self.values)}"
        self.values[placeholder] = sent(value)
        return placeholder

    def arguments(self) -> dict[str, Any]:
        named = {"ExpressionAttributeNames": {p: name for name, p in self.names.items()}}
        return named | ({"ExpressionAttributeValues": self.values} if self.values else {})


def request(write: Write, shape: TableShape) -> tuple[str, dict[str, Any]]:
    """The operation ("Put", "Update" or "Delete") and the arguments of a write.

    Together they are one entry of TransactWriteItems; with "Item" appended to the name, the
    operation of a single write. ValueError for a write that no plan may hold: an update of nothing,
    of the key, or of a row of another table.
    """
    places = _Placeholders()
    condition = _condition(write, shape.hash, places)
    arguments: dict[str, Any] = {"TableName": shape.name, "ConditionExpression": condition}
    key = key_of(shape, write.key)
    match write.change:
        case Create(attributes):
            if any(attributes.get(name, value) != value for name, value in key.items()):
                raise ValueError(f"{write.key}: the row to create carries another key")
            arguments["Item"] = key | item_of(attributes)
            return "Put", arguments | places.arguments()
        case Update() as update:
            arguments["Key"] = key
            arguments["UpdateExpression"] = _update(write.key, update, shape.names, places)
            return "Update", arguments | places.arguments()
        case Delete():
            arguments["Key"] = key
            return "Delete", arguments | places.arguments()


def _condition(write: Write, key: str, places: _Placeholders) -> str:
    if isinstance(write.change, Create):
        return f"attribute_not_exists({places.name(key)})"
    if write.before is None:
        raise ValueError(f"{write.key}: a row that was absent can only be created")
    terms = [f"attribute_exists({places.name(key)})"]
    for attribute in write.guard:
        seen = write.before.attributes.get(attribute)
        name = places.name(attribute)
        held = f"attribute_not_exists({name})"
        terms.append(held if seen is None else f"{name} = {places.value(seen)}")
    return " AND ".join(terms)


def _update(row: str, update: Update, key: tuple[str, ...], places: _Placeholders) -> str:
    add = update.add or {}
    if not {*update.set, *update.remove, *add}.isdisjoint(key):
        raise ValueError(f"{row}: a row's key cannot be changed")
    setting = [f"{places.name(n)} = {places.value(v)}" for n, v in update.set.items()]
    removing = [places.name(name) for name in update.remove]
    adding = [f"{places.name(n)} {places.value({'N': str(by)})}" for n, by in add.items()]
    clauses = [("SET", setting), ("REMOVE", removing), ("ADD", adding)]
    if not any(parts for _, parts in clauses):
        raise ValueError(f"{row}: an update that changes nothing")
    return " ".join(f"{verb} {', '.join(parts)}" for verb, parts in clauses if parts)
