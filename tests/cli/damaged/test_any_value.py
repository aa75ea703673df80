"""Values of any form in whole files of our own: texts, numbers and times that no program wrote.

Checksums and digests fit, as those of a file that somebody made on purpose do: a journal's records
are sealed anew, a plan gets its digest. Each ends as the file says, or as an error that names it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import pytest

from reshardctl.journal.records import FIRST, sealed
from tests.cli.damaged.seeds import seeded
from tests.cli.damaged.test_own_files import (
    CONSUMERS,
    FRESH,
    GOLDEN,
    GONE,
    OF_A_ROW,
    READING,
    held,
)
from tests.cli.damaged.text_damages import ODD_VALUES
from tests.cli.lab import Lab

pytestmark = [pytest.mark.timeout(300), pytest.mark.usefixtures("in_tmp_path")]

TEXTS = (
    "", " ", "\n", "\0", "²", "१२", "٣", "1_000", "+5", " 5", "-0", "0x10", "1e400", "nan", "inf",
    "1e99999", "1E+999999999", "-1e99999", "0.1e1", "1.5", "1e-999999999", "12345678901234567890",
    "9" * 5000, "0" * 200, "~", "~~", "~" + "9" * 56, "-" + "9" * 56, "\ud800", "é" * 300,
    "x" * 9000, "a:b", "a/b", "/", "//", "..", "shardId-", "shardId-²", "shardId-" + "9" * 5000,
    "shardId-٣٣٣", "kcl:", "kcl://", "kcl://t?initial=²", "kcl://t?release=" + "9" * 5000,
    "kcl://t?failover=" + "9" * 400 + "s", "kcl://t?initial=AT_TIMESTAMP:" + "9" * 30,
    "spark:", "spark:/\0", "snapshot:x", "quickwit+http://h:²", "quickwit+http://[::1",
    "kinesis-consumer+redis://h:99999/9", "kinesis-consumer+postgres://u@/d?app=x",
    "arn:aws:kinesis:::stream/", "arn:aws:kinesis:a:b:stream/c/d", "arn:::::", "2026-11-21",
    "2026-11-21T24:00:00Z", "0000-00-00T00:00:00Z", "2026-02-30T00:00:00Z", "9999-12-31T23:59:59Z",
    "0001-01-01T00:00:00+23:59", "-" + "9" * 12 + "s", "9" * 12 + "d", "@reshard", "-1h", "[]", "{",
    '{"a":' * 3000, "v1\n", "v" + "9" * 5000 + "\n{}", "=cmd()", "\x1b[2J", "\u2028",
)  # fmt: skip
"""What stands for a text."""
NUMBERS = (
    0, -1, 1, 2**31, 2**53, 2**63, 2**64, 2**128, -(2**63), 10**400, 0.5, -0.0, 1e308, 1e17, -1e17,
    253402300800, -62135596801, True, None,
)  # fmt: skip
"""What stands for a number."""


def places(body: Any) -> Iterator[tuple[Any, Any]]:
    """Every leaf, and every name of a member, as the holder and the name or index."""
    for name, value in list(body.items() if isinstance(body, dict) else enumerate(body)):
        yield body, name
        if isinstance(value, dict | list):
            yield from places(value)


def otherwise(dice: Random, body: Any) -> str:
    """Changes one value of a document, or the name of one member, in place."""
    holder, name = dice.choice(list(places(body)))
    value = holder[name]
    if isinstance(holder, dict) and dice.random() < 0.15:
        other = dice.choice(TEXTS)
        holder[other] = holder.pop(name)
        return f"{name!r} is called {other[:40]!r}"
    if isinstance(value, str) and dice.random() < 0.15:
        at = dice.randrange(len(value) + 1)
        holder[name] = value[:at] + dice.choice(TEXTS) + value[at:]
    elif isinstance(value, str):
        holder[name] = dice.choice(TEXTS)
    elif isinstance(value, int | float):
        holder[name] = dice.choice(NUMBERS)
    else:
        odd = [json.loads(text) for text in ODD_VALUES if len(text) < 200 and _is_json(text)]
        holder[name] = dice.choice(odd)
    return f"{name!r}: {str(value)[:40]!r} is {str(holder[name])[:40]!r}"


def _text(body: Any) -> bytes:
    """JSON as `codec.values.text` spells it, with NaN."""
    return json.dumps(body, sort_keys=True, separators=(",", ":")).encode()


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def changed(dice: Random, kind: str, content: bytes) -> tuple[str, bytes]:
    """The file with one other value, and its checksums made to fit."""
    if kind.endswith("journal"):
        lines = [json.loads(line) for line in content.splitlines()]
        how = otherwise(dice, dice.choice(lines)["body"])
        chain, out = FIRST, []
        for line in lines:
            del line["sum"]
            sealed_line, chain = sealed(_text(line), chain)
            out.append(sealed_line)
        return how, b"".join(out)
    if kind.endswith("toml"):
        found = list(re.finditer(r"= (.*)$", content.decode(), re.MULTILINE))
        match = dice.choice(found)
        value = json.dumps(dice.choice(TEXTS if dice.random() < 0.7 else NUMBERS[:-2]))
        text = content.decode()
        text = text[: match.start(1)] + value + text[match.end(1):]
        return f"{match[0]} is {value[:40]}", text.encode()
    body = json.loads(content)
    how = otherwise(dice, body)
    if kind.endswith("plan"):
        body.pop("digest", None)
        body = {**body, "digest": sha256(_text(body)).hexdigest()}
        return how, (json.dumps(body, indent=1, sort_keys=True) + "\n").encode()
    return how, json.dumps(body).encode()


KINDS = [(kind, consumer) for kind in READING for consumer in CONSUMERS]


@pytest.mark.parametrize(("state", "seeds"), seeded(KINDS))
def test_a_value_of_any_form_in_a_file_of_an_older_release(lab, tmp_path, state, seeds):
    kind, consumer = state
    content = (GOLDEN / consumer / kind).read_bytes()
    for seed in seeds:
        path = tmp_path / str(seed) / kind.replace(".journal", ".jsonl")
        path.parent.mkdir()
        how, odd = changed(Random(f"value {state} {seed}"), kind, content)
        path.write_bytes(odd)
        for words in READING[kind]:
            held(lab, words, path, f"seed {seed}: {how}", (*GONE, *OF_A_ROW, "-"))


FILES = [(kind,) for kind in FRESH if kind != "positions.csv"]


@pytest.mark.parametrize(("state", "seeds"), seeded(FILES))
def test_a_value_of_any_form_in_a_file_of_today(lab, tmp_path, monkeypatch, state, seeds):
    (kind,) = state
    make, commands = FRESH[kind]
    monkeypatch.setattr(Lab, "configured_probe", True)  # a value may be `probe = true`
    made = tmp_path / kind
    make(lab, made)
    content = made.read_bytes()
    for seed in range(seeds.start * 3, seeds.stop * 3):
        path = tmp_path / str(seed) / kind
        path.parent.mkdir()
        how, odd = changed(Random(f"value today {kind} {seed}"), kind, content)
        path.write_bytes(odd)
        for words in commands:
            held(lab, words, path, f"seed {seed}: {how}", ("-", "another store", "orders", "app"))


def test_one_bad_journal_hides_no_other(lab: Lab, tmp_path: Path):
    """Whatever is in one file of the folder, the others are listed, and prune goes on."""
    folder = tmp_path / "journals"
    folder.mkdir()
    for consumer in CONSUMERS:
        (folder / f"{consumer}.jsonl").write_bytes((GOLDEN / consumer / "fix.journal").read_bytes())
    content = (GOLDEN / "kcl" / "fix.journal").read_bytes()
    for seed in range(12):
        how, odd = changed(Random(f"listed {seed}"), "fix.journal", content)
        (folder / "odd.jsonl").write_bytes(odd)
        for words in ((), ("--format", "json")):
            done = lab.cli("undo", "--list", folder, *words)
            assert done.code == 0, f"seed {seed}: {how}: {done.err}"
            assert all(consumer in done.out for consumer in CONSUMERS)
