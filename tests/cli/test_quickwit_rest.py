"""Quickwit's REST interface: inspected, never written."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.cli.quickwit_rest_lab import RestLab, metadata, rest_lab


@pytest.fixture
def lab(entered, servers, tmp_path, monkeypatch, wire) -> Callable[..., RestLab]:
    return lambda release="0.9.0", state="q3", options="?index=events": entered.enter_context(
        rest_lab(release, state, options, servers, tmp_path, monkeypatch, wire)
    )


@pytest.mark.parametrize(("release", "state", "said", "codes"), [
    ("0.9.0", "q1", "", set()), ("0.9.0", "q2", "", {"RSH201"}), ("0.9.0", "q3", "", {"RSH301"}),
    ("0.9.0", "q5", "", {"RSH232"}), ("0.8.2", "q2", "&release=0.8.2", {"RSH231"}),
    ("0.9.0", "q6", "&source=kinesis-events", {"RSH301"}),
])
def test_it_is_judged_as_the_metastore_itself(lab, release, state, said, codes):
    index = "logs" if state == "q6" else "events"
    ours = lab(release, state, f"?index={index}{said}")
    seen = ours.inspect("--format", "json")
    assert seen.codes == codes, seen.err
    assert set(ours.node.paths) == {f"/api/v1/indexes/{index}"}


def test_a_plan_is_shown_and_never_written(lab):
    ours = lab()
    assert ours.dry("--format", "json").json["decision"]["kind"] == "plan"
    asked = len(ours.node.paths)
    plan = ours.state.parent / "a.plan"
    for done in (ours.fix(), ours.cli("fix", *ours.where), ours.dry("--out", plan)):
        assert done.code == 4
        assert done.says("no call that sets a position", "quickwit+postgres://", "quickwit+s3://")
    assert len(ours.node.paths) == asked
    assert ours.journals() == []


def _broken(status: int, headers: dict[str, str] | None = None, body: bytes = b""):
    return lambda _path: (status, headers or {}, body)


BAD = {
    "error": (_broken(500), 3, ("answered 500", "another node")),
    "forbidden": (_broken(403), 3, ("answered 403",)),
    "several": (_broken(300), 3, ("answered 300", "'somewhere else'", "not followed")),
    "redirect": (_broken(302, {"Location": "http://192.0.2.1/"}), 3,
                 ("answered 302", "'http://192.0.2.1/'", "not followed")),
    "redirect here": (_broken(307, {"Location": "/api/v1/indexes/other"}), 3, ("answered 307",)),
    "empty": (_broken(200), 2, ("no JSON object",)),
    "a page": (_broken(200, body=b"<html>"), 2, ("no JSON object",)),
    "not UTF-8": (_broken(200, body=b"\xff"), 2, ("not UTF-8",)),
    "cut off": (_broken(200, {"Content-Length": "99999"}, metadata("0.9.0", "q3")), 3,
                ("more expected",)),
    "no Kinesis source": (
        _broken(200, body=metadata("0.9.0", "q3").replace(b'"kinesis"', b'"kafka"')), 2,
        ("no Kinesis source",),
    ),
    "another index": (_broken(200, body=metadata("0.9.0", "q6", "logs")), 2, ("logs", "events")),
    "another version": (
        _broken(200, body=metadata("0.9.0", "q3").replace(b'"0.9"', b'"0.11"', 1)), 2, ("0.11",),
    ),
}


@pytest.mark.parametrize(("answer", "code", "words"), BAD.values(), ids=BAD)
def test_answers_that_are_none(lab, answer, code, words):
    ours = lab()
    ours.node.answer = answer
    done = ours.inspect()
    assert done.code == code
    assert done.says(f"http://127.0.0.1:{ours.node.port}/api/v1/indexes/events", *words)
    assert set(ours.node.paths) == {"/api/v1/indexes/events"}


def test_an_answer_without_end_is_cut(lab, monkeypatch):
    from reshardctl.stores.quickwit import rest

    monkeypatch.setattr(rest, "LARGEST", 100)
    done = lab().inspect()
    assert done.code == 3 and done.says("more than 100 bytes")


WRONG = {
    "no index": ("?release=0.9.0", 2, ("which index is not said", "index=INDEX")),
    "no such index": ("?index=nobody", 2, ("answered 404", "nobody")),
    "no such source": ("?index=events&source=nobody", 2, ("nobody",)),
}


@pytest.mark.parametrize(("options", "code", "words"), WRONG.values(), ids=WRONG)
def test_wrong_words_are_named(lab, options, code, words):
    done = lab(options=options).inspect()
    assert done.code == code
    assert done.says(*words)


def test_nobody_listens(lab):
    ours = lab()
    ours.node.port = 1
    done = ours.inspect()
    assert done.code == 3 and done.says("cannot be reached", "health/livez")


def test_an_https_address_is_asked_by_tls(lab):
    """Our node speaks none."""
    ours = lab()
    done = ours.cli("inspect", ours.locator.replace("+http:", "+https:"), "--stream", "events")
    assert done.code == 3 and done.says("https://127.0.0.1", "cannot be reached")
    assert ours.node.paths == []


@pytest.mark.parametrize("target", ["me:s3cret@node:7280", "node:7280/path", "node:99999", ""])
def test_no_address(lab, target):
    ours = lab()
    done = ours.cli("inspect", f"quickwit+http://{target}?index=events", "--stream", "events")
    assert done.code == 2 and "s3cret" not in done.err
