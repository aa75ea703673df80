"""JSON documents of version 1, made of those of version 2. To be deleted with `--format json1`.

The tables below are all that differs. Members keep their order, so that a document of version 1 has
the same bytes as before.
"""

from __future__ import annotations

from typing import Any

MEMBERS = (
    ("decision", "retention_advice", "first_aid"),
    ("journals", "location", "place"),
    ("unknowable", "processed", "settled"),
    ("hash_start", "position", "place"),
    ("unread_seconds", "processed", "settled"),
    ("unread_seconds", "unread_since", "owed_since"),
    ("unread_seconds", "perhaps_processed_until", "perhaps_settled_until"),
    ("unread_seconds", "unread_seconds", "owed_seconds"),
)
"""A member that tells which objects are meant; a member of theirs in version 2; in version 1."""

VALUES = {
    ("harm", "crashes"): "dies",
    ("kind", "no-safe-plan"): "no-line",
    **{
        ("schema", f"reshardctl/{kind}/2"): f"reshardctl/{kind}/1"
        for kind in ("report", "fix", "undo", "roundup", "journals", "audit", "graph")
    },
}
"""A member and its value in version 2; the value in version 1."""

PHRASES = (
    ("crash", "crashes at its start", "dies at its start"),
    ("crash", "may crash at its start", "may die at its start"),
    ("changes", "crashes at its start", "dies at its start"),
    *(
        row for member in ("crash", "why", "costs") for row in (
            (member, "and crashes at its start", "and dies at its start"),
            (member, "crashes after twenty attempts", "dies after twenty attempts"),
        )
    ),
    ("why", "crashes on the rows that", "dies of the rows that"),
    ("why", "its children, which crashes it", "its children, of which it dies"),
    ("what", "what is still unread", "what is still owed"),
    ("what", "which crashes this release", "of which this release dies"),
)
"""A member that holds a sentence, or sentences; words in it in version 2; in version 1."""

DATA = frozenset({"store", "positions", "options", "writes"})
"""Members that hold what a store holds and an operator wrote: nothing in them is a word of ours."""


def version_1(document: dict[str, Any]) -> dict[str, Any]:
    """The document of version 1 with the same content as this one of version 2."""
    names = {new: old for beside, new, old in MEMBERS if beside in document}
    return {
        names.get(name, name): value if name in DATA else _value(name, value)
        for name, value in document.items()
    }


def _value(member: str, value: Any) -> Any:
    if isinstance(value, dict):
        return version_1(value)
    if isinstance(value, list):
        return [_value(member, item) for item in value]
    if not isinstance(value, str):
        return value
    for name, new, old in PHRASES:
        if name == member:
            value = value.replace(new, old)
    return VALUES.get((member, value), value)
