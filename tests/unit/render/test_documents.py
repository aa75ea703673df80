"""Each command offers the formats whose view the document of its result has."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
import typer.main

from reshardctl.render.content.documents import (
    DOCUMENTS,
    DiscoveryDocument,
    ExplanationDocument,
    FailureDocument,
    StatusDocument,
)
from reshardctl.render.document import Document
from reshardctl.render.formats import Format
from reshardctl.render.graph.drawings import ChartDocument

OFFERED = {
    "discover": DiscoveryDocument, "explain": ExplanationDocument, "graph": ChartDocument,
    "status": StatusDocument,
}


def shown_in(kind: type[Document[Any]]) -> list[str]:
    return [str(form) for form in Format if kind.has(form.view)]


@pytest.mark.parametrize("verb", OFFERED)
def test_a_command_offers_what_its_document_has(verb: str) -> None:
    app = importlib.import_module("reshardctl.cli.app")
    group: Any = typer.main.get_command(app.application(verb))
    (option,) = (p for p in group.commands[verb].params if "--format" in p.opts)
    assert list(option.type.choices) == shown_in(OFFERED[verb])


@pytest.mark.parametrize("kind", [*DOCUMENTS.values(), FailureDocument, ChartDocument])
def test_every_result_is_shown_to_people_and_to_programs(kind: type[Document[Any]]) -> None:
    assert {"text", "json"} <= set(shown_in(kind))
