"""Quickwit's metastore from end to end, inspect, fix, fix again, undo: in a real PostgreSQL, and,
where `either` is asked for, in files too. test_quickwit.py has what is of files alone.

The databases are dumps of those that the real metastores of 0.8.2 and 0.9.0 migrated and filled;
what has to come out is what the real Kinesis sources did (tests/golden/quickwit, Nov 2026).
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.cli.quickwit_lab import QuickwitLab, end, golden_fake, number
from tests.cli.quickwit_postgres_lab import PostgresLab, connected, restored
from tests.cli.restoring import set_restored_and_undone_twice
from tests.cli.test_quickwit import golden as in_files  # noqa: F401 - a fixture
from tests.support.case_stream import shard_name
from tests.support.needs import needs
from tests.support.servers import PASSWORD, USER, Running

pytestmark = pytest.mark.slow

Make = Callable[..., Any]


@pytest.fixture(scope="module")
@needs("postgres")
def running(database: Callable[[str], Running]) -> Running:
    return database("postgres")


@pytest.fixture
def golden(running, base_of, entered, tmp_path, monkeypatch) -> Make:
    """A lab of a recorded metastore in PostgreSQL."""
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    monkeypatch.setenv("HOME", str(tmp_path))

    def make(release: str, state: str, options: str = "", stream: str = "events") -> PostgresLab:
        made = base_of(golden_fake(state)).beside(
            PostgresLab, stream=stream, options=options, running=running,
            database=entered.enter_context(restored(running, release, state)),
        )
        entered.callback(made.close)
        return made

    return make


@pytest.fixture(params=["files", pytest.param("postgres", marks=pytest.mark.needs("postgres"))])
def either(request) -> Make:
    """The same in files and in PostgreSQL, whose migrations tell the release."""
    made: Make = request.getfixturevalue("golden" if request.param == "postgres" else "in_files")
    return made


@pytest.mark.parametrize(("release", "state", "codes"), [
    ("0.9.0", "q1", set()), ("0.8.2", "q1", set()), ("0.9.0", "q2", {"RSH201"}),
    ("0.9.0", "q4", {"RSH201"}),
])  # fmt: skip
def test_a_store_that_heals_by_itself_has_no_error_and_no_plan(either, release, state, codes):
    lab = either(release, state)
    before = lab.everything()
    seen = lab.inspect("--format", "json")
    assert (seen.codes, seen.code) == (codes, 0), seen.err
    assert lab.fix("--format", "json").code == 0
    assert lab.everything() == before
    assert lab.journals() == []


@pytest.mark.parametrize("state", ["q2", "q4", "q5"])
def test_the_migrations_tell_that_the_old_release_runs_and_dies(golden, state):
    """16 is 0.8.2, which panicked on each (real_source.json): nothing has to be asked."""
    lab = golden("0.8.2", state)
    before = lab.everything()
    seen = lab.inspect("--format", "json")
    assert (seen.codes, seen.code) == ({"RSH231"}, 1), seen.err
    assert lab.fix("--format", "json").code == 1
    assert lab.everything() == before


REPAIRS = [
    # release, state, words, what stands there afterwards (record index or END), what remains
    ("0.9.0", "q3", [], {0: 9, 1: 6}, set()),
    ("0.9.0", "q3", ["--probe"], {0: 9, 1: 6}, set()),
    ("0.8.2", "q3", ["--probe"], {0: "END", 1: 6}, set()),
    ("0.9.0", "q3b", ["--accept", "reread=2h"], {0: None, 1: 6}, {"RSH201"}),
]


@pytest.mark.parametrize(("release", "state", "words", "positions", "remains"), REPAIRS)
def test_a_repair_changes_its_places_and_no_other_byte(
    either, release, state, words, positions, remains
):
    lab = either(release, state)
    before, whole, mode = lab.text(), lab.everything(), mode_of(lab)
    assert lab.inspect("--format", "json").codes == {"RSH301"}
    done = lab.fix("--format", "json", *words)
    assert done.code == 0, done.err + done.out
    after = lab.positions()
    for shard, place in positions.items():
        wanted = end(lab, shard) if place == "END" else place
        wanted = number(lab, shard, wanted) if isinstance(wanted, int) else wanted
        assert after.get(shard_name(shard)) == wanted
    assert outside(lab.text()) == outside(before)
    if isinstance(lab, QuickwitLab):  # of a text in one line all lines are of the shards
        changed = differing_lines(before, lab.text())
        assert all(shard_name(0) in line or shard_name(1) in line for line in changed)
    assert others(lab.everything()) == others(whole) and mode_of(lab) == mode

    probe = [word for word in words if word == "--probe"]
    assert lab.inspect("--format", "json", *probe).codes == remains
    again = lab.dry("--format", "json", *words)
    assert (again.json["decision"]["kind"], again.code) == ("nothing", 0)
    assert lab.undo().code == 0
    assert lab.everything() == whole


def mode_of(lab: QuickwitLab | PostgresLab) -> int | None:
    return lab.file().stat().st_mode if isinstance(lab, QuickwitLab) else None


def others(everything: dict) -> dict:
    """What is stored beside the texts of indexes."""
    return {
        name: held for name, held in everything.items()
        if name not in ("indexes", "events/metastore.json")
    }


def differing_lines(one: str, other: str) -> list[str]:
    """Lines of one text that the other has not, in either direction; commas do not count."""
    first = {line.rstrip(",") for line in one.split("\n")}
    second = {line.rstrip(",") for line in other.split("\n")}
    return sorted(first ^ second)


def outside(text: str) -> str:
    """The text without the entries of the source's positions."""
    changed, times = re.subn(r'("kinesis-events": ?\{)[^{}]*\}', r"\1}", text)
    assert times == 1
    return changed


def test_a_missing_key_comes_back_as_quickwit_writes_it(either):
    """0.9.0 failed at every start: could not find checkpoint (real_source.json of q5)."""
    lab = either("0.9.0", "q5")
    before = lab.everything()
    seen = lab.inspect("--format", "json")
    assert (seen.codes, seen.code) == ({"RSH232"}, 1)
    refused = lab.fix()  # what was published went with the key: all of it may come again
    assert refused.code == 4 and "--accept reread=4h" in refused.out + refused.err
    assert lab.everything() == before
    assert lab.fix("--accept", "reread=4h").code == 0
    assert lab.positions() == {}
    assert (
        '    "checkpoint": {\n      "kinesis-events": {}\n    },\n' if isinstance(lab, QuickwitLab)
        else '"checkpoint":{"kinesis-events":{}},'
    ) in lab.text()
    assert lab.inspect("--format", "json").codes == {"RSH201"}
    assert lab.dry("--format", "json").json["decision"]["kind"] == "nothing"
    assert lab.undo().code == 0
    assert lab.everything() == before


def test_a_text_that_quickwit_does_not_load_is_a_finding_and_is_not_written_into(either):
    """One position that is no string (runs on the real metastores, Nov 2026)."""
    lab = either("0.9.0", "q3")
    whole = lab.everything()
    assert lab.fix().code == 0
    document = json.loads(lab.text())
    document.get("index", document)["checkpoint"]["_ingest-source"] = {"00": 7}
    lab.put(json.dumps(document, separators=(",", ":")))
    before = lab.everything()
    seen = lab.inspect("--format", "json")
    assert (seen.codes, seen.code) == ({"RSH301"}, 1), seen.err
    assert "Quickwit does not load this index" in seen.out and "`_ingest-source`" in seen.out
    assert lab.fix("--policy", "latest").code == 1
    refused = lab.undo("--format", "json")
    assert refused.code == 4 and "--whole-file" in refused.json["next"]
    assert lab.everything() == before
    done = lab.undo("--whole-file")
    assert (done.code, lab.everything()) == (0, whole), done.err


def test_a_text_that_somebody_broke_goes_back_as_a_whole(golden):
    lab = golden("0.9.0", "q3")
    whole = lab.everything()
    assert lab.fix().code == 0
    broken = lab.text()[:200]
    lab.put(broken)
    refused = lab.undo("--format", "json")
    assert (refused.code, lab.text()) == (4, broken), refused.err
    assert "--whole-file" in refused.json["next"]
    done = lab.undo("--whole-file")
    assert (done.code, lab.everything()) == (0, whole), done.err


def test_one_index_of_several(either):
    lab = either("0.9.0", "q6")
    refused = lab.inspect()
    assert refused.code == 2
    assert refused.says("logs/kinesis-events", "audit/kinesis-audit", "index=logs")
    lab.options += "&index=logs" if lab.options else "?index=logs"
    text, before = lab.text("logs"), lab.everything()
    assert lab.inspect("--format", "json").codes == {"RSH301"}
    assert lab.fix().code == 0
    assert lab.positions("logs")[shard_name(0)] == number(lab, 0, 9)
    assert len(differing_lines(text, lab.text("logs"))) == 2, "one line, as it was and is"
    after = lab.everything()
    assert after.keys() == before.keys()
    (held,) = [name for name in after if after[name] != before[name]]
    if held == "indexes":
        assert len([row for row in after[held] if row not in before[held]]) == 1
    assert lab.undo().code == 0
    assert lab.everything() == before


# which release


def test_an_upgrade_may_be_said_but_no_way_back(golden):
    """0.8.2 does not start on a database that 0.9.0 has opened (runs, Nov 2026)."""
    old = golden("0.8.2", "q2", "?release=0.9.0")
    assert old.inspect("--format", "json").codes == {"RSH201"}
    new = golden("0.9.0", "q2", "?release=0.8.2")
    done = new.inspect()
    assert done.code == 2
    assert done.says("release=0.8.2", "migration of this database is 29", "release=0.9.0")


@pytest.mark.parametrize(("migration", "options", "words"), [
    (35, "", ("migration of this database is 35", "newer reshardctl")),
    (35, "?release=0.9.0", ("migration of this database is 35",)),
    (22, "", ("between 0.8.2 (16) and 0.9.0 (29)", "release=0.9.0")),
])
def test_a_migration_of_no_known_release(golden, migration, options, words):
    lab = golden("0.9.0", "q3", options)
    if migration > 29:
        lab.sql("UPDATE _sqlx_migrations SET version = %s WHERE version = 29", migration)
    else:
        lab.sql("DELETE FROM _sqlx_migrations WHERE version > %s", migration)
    before = lab.everything()
    for done in (lab.inspect(), lab.fix()):
        assert done.code == 2
        assert done.says(*words)
    assert lab.everything() == before


# whether it runs


def test_an_enabled_source_is_not_written_without_the_word_that_it_is_stopped(golden):
    """A rewind under a running pipeline is silently lost (whole pipeline of 0.9.0, Nov 2026)."""
    lab = golden("0.9.0", "q3")
    before = lab.everything()
    refused = lab.cli("fix", *lab.where, "--yes")
    assert refused.code == 4
    assert refused.says(
        "events/kinesis-events is enabled",
        "quickwit source disable --index events --source kinesis-events", "--assume-stopped",
    )
    assert lab.everything() == before


def test_a_source_that_is_disabled_in_its_row_is_watched_and_written(golden):
    lab = golden("0.9.0", "q3")
    lab.disable()
    before = lab.text()
    short = lab.cli("fix", *lab.where, "--yes", "--watch", "1s")
    assert short.code == 2 and "watch for at least 30s" in short.err and lab.text() == before
    done = lab.cli("fix", *lab.where, "--yes")
    assert done.code == 0, done.err
    assert sum(lab.slept) == 30
    assert lab.positions()[shard_name(0)] == number(lab, 0, 9)
    assert "disabled in the metastore" in lab.journal().read_text()
    undone = lab.cli("undo", lab.journal(), "--yes")
    assert undone.code == 0, undone.err
    assert lab.text() == before


@pytest.mark.parametrize("published", [1, 7])
def test_a_disabled_source_that_still_publishes_is_running(golden, published):
    """What was read before the switch is published after it: the next place of a shard, or the
    first one of another."""
    lab = golden("0.9.0", "q3")
    lab.disable()
    place = f'"{shard_name(1)}":"{lab.positions()[shard_name(1)]}"'
    more = f'"{shard_name(published)}":"{number(lab, 1, 8)}"'
    new = more if published == 1 else f"{place},{more}"
    assert place in lab.text()
    lab.on_sleep.append(lambda _: lab.put(lab.text().replace(place, new)))
    refused = lab.cli("fix", *lab.where, "--yes")
    assert refused.code == 4
    assert refused.says("rows of the store changed", shard_name(published))
    assert lab.positions()[shard_name(0)].startswith("~")


def test_a_source_that_is_switched_on_meanwhile_is_not_written(golden):
    lab = golden("0.9.0", "q3")
    lab.disable()
    on = '"enabled":true'
    lab.on_sleep.append(lambda _: lab.put(lab.text().replace('"enabled":false', on)))
    refused = lab.cli("fix", *lab.where, "--yes")
    assert refused.code == 4
    assert lab.positions()[shard_name(0)].startswith("~")


def test_a_publish_that_holds_the_row_survives(golden, running):
    """Quickwit publishes under `SELECT * FROM indexes ... FOR UPDATE`; ours waits for it."""
    lab = golden("0.9.0", "q3")
    plan = lab.state.parent / "plan.json"
    assert lab.dry("--out", plan).code in (0, 1)
    published = number(lab, 1, 8)
    with connected(running, lab.database) as quickwit, connected(running, lab.database) as other:
        quickwit.autocommit = False
        quickwit.execute("SELECT * FROM indexes WHERE index_id = 'events' FOR UPDATE")
        text = lab.text().replace(lab.positions()[shard_name(1)], published)
        quickwit.execute("UPDATE indexes SET index_metadata_json = %s", [text])
        release = threading.Thread(target=committed_once_waited_for, args=(quickwit, other))
        release.start()
        done = lab.apply(plan)
        release.join(30)
    assert done.code == 0, done.err
    assert lab.positions()[shard_name(0)] == number(lab, 0, 9)
    assert lab.positions()[shard_name(1)] == published


def committed_once_waited_for(holder, other) -> None:
    """Commit as soon as somebody waits for a lock."""
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    for _ in range(200):
        if other.execute(waiting).fetchone()[0]:
            break
        threading.Event().wait(0.05)
    holder.commit()


def test_a_publish_of_the_same_shard_before_the_fix_makes_the_plan_stale(either):
    lab = either("0.9.0", "q3")
    plan = lab.state.parent / "plan.json"
    assert lab.dry("--out", plan).code in (0, 1)
    lab.put(lab.text().replace('"~4968', '"4968', 1))
    before = lab.everything()
    assert lab.apply(plan).code == 4
    assert lab.everything() == before


def test_a_save_that_only_shuffles_is_no_obstacle(either):
    """With two sources Quickwit saves another text each time (20 of 20, Nov 2026): neither to a
    saved plan nor to an undo."""
    lab = either("0.9.0", "q6")
    lab.options += "&index=logs" if lab.options else "?index=logs"
    plan = lab.state.parent / "plan.json"
    assert lab.dry("--out", plan).code in (0, 1)
    shuffled(lab)
    assert lab.apply(plan).code == 0
    order = shuffled(lab)
    assert lab.undo().code == 0
    assert lab.positions("logs")[shard_name(0)].startswith("~")
    assert sources(json.loads(lab.text("logs"))) == order


def sources(document: dict) -> list:
    found: list = document.get("index", document)["sources"]
    return found


def shuffled(lab: QuickwitLab | PostgresLab) -> list:
    """Saves the sources of the index in another order, which is returned."""
    document = json.loads(lab.text("logs"))
    sources(document).reverse()
    lab.put(json.dumps(document, ensure_ascii=False, separators=(",", ":")), "logs")
    return sources(document)


# bad input


def test_what_is_no_metastore(golden, running):
    lab = golden("0.9.0", "q3")
    lab.sql("ALTER TABLE _sqlx_migrations RENAME TO other")
    assert lab.inspect().says("no metastore of Quickwit", "_sqlx_migrations", "metastore_uri")
    lab.sql("ALTER TABLE indexes RENAME TO others")
    assert lab.inspect().says("has no table indexes")
    lab.sql("CREATE TABLE indexes (index_id text, index_metadata_json text)")
    assert lab.inspect().says("no column index_uid")
    lab.database = running.database
    assert (lab.inspect().code, lab.fix().code) == (2, 2)


def test_an_index_that_is_there_twice(golden):
    lab = golden("0.9.0", "q3")
    _without_uniqueness(lab)
    lab.sql("INSERT INTO indexes (index_uid, index_metadata_json, create_timestamp, index_id) "
            "SELECT 'events:01M7Y8Y2RK6PTVMG2G2Z4AMAK9', index_metadata_json, create_timestamp, "
            "index_id FROM indexes")
    done = lab.inspect()
    assert done.code == 2
    assert done.says("index events is there twice", "01M7Y8Y2RK6PTVMG2G2Z4AMAK9")


def _without_uniqueness(lab: PostgresLab) -> None:
    for (name,) in lab.sql(
        "SELECT conname FROM pg_constraint WHERE conrelid = 'indexes'::regclass "
        "AND contype = 'u'"
    ):
        lab.sql(f'ALTER TABLE indexes DROP CONSTRAINT "{name}" CASCADE')
    for (name,) in lab.sql(
        "SELECT indexname FROM pg_indexes WHERE tablename = 'indexes' "
        "AND indexname NOT LIKE '%pkey%'"
    ):
        lab.sql(f'DROP INDEX "{name}"')


def test_a_text_of_another_index(golden):
    """Every write of Quickwit then answers `index not found` (runs, Nov 2026)."""
    lab = golden("0.9.0", "q3", "?index=events")
    lab.put(lab.text().replace('"index_uid":"events:', '"index_uid":"other:', 1))
    assert lab.inspect().says("other:", "events:", "backup")


def test_an_index_that_is_not_there(golden):
    done = golden("0.9.0", "q3", "?index=nobody").inspect()
    assert done.code == 2
    assert done.says("there is no index nobody", "it holds: events")


def test_an_unreadable_text_of_another_index_is_named(either):
    """Listing all indexes then fails, runs on 0.8.2 and 0.9.0."""
    lab = either("0.9.0", "q6")
    lab.options += "&source=kinesis-events" if lab.options else "?source=kinesis-events"
    lab.put("{", "audit")
    seen = lab.inspect("--format", "json")
    assert seen.codes == {"RSH301", "RSH307"}, seen.err
    assert re.search("(index audit|audit/metastore.json): malformed JSON", seen.out)


@pytest.mark.parametrize(("named", "broken"), [
    ("", ""), ("", '{"version": "0.9"}'), ("", "\\N"), ("?index=events", "{"),
])  # fmt: skip
def test_a_row_that_quickwit_cannot_parse_is_a_finding(golden, named, broken):
    """PgIndex::index_metadata of postgres/model.rs: serde_json takes all or fails."""
    lab = golden("0.9.0", "q3", named)
    lab.put(broken)
    before = lab.everything()
    seen = lab.inspect("--format", "json")
    assert (seen.code, seen.codes) == (1, {"RSH301"}), seen.err
    done = lab.fix()
    assert done.code == 1 and "mend it" in done.out + done.err
    assert lab.everything() == before and lab.journals() == []


def test_a_user_who_may_only_read(golden):
    lab = golden("0.9.0", "q3")
    lab.sql(f"CREATE ROLE {lab.database}_r LOGIN PASSWORD '{PASSWORD}'")
    lab.sql(f"GRANT SELECT ON indexes, _sqlx_migrations TO {lab.database}_r")
    mine = lab.locator.replace(f"//{USER}@", f"//{lab.database}_r@")
    before = lab.everything()
    assert lab.cli("inspect", mine, "--stream", "events", "--format", "json").codes == {"RSH301"}
    done = lab.cli("fix", mine, "--stream", "events", "--yes", "--assume-stopped")
    assert done.code == 4
    assert done.says("permission denied", "GRANT SELECT, UPDATE ON indexes")
    assert lab.everything() == before
    lab.sql(f"REVOKE SELECT ON _sqlx_migrations FROM {lab.database}_r")  # noqa: S608
    blind = lab.cli("inspect", mine, "--stream", "events")
    assert blind.code == 3 and blind.says("permission denied", "_sqlx_migrations")


def test_the_password_is_nowhere(golden, monkeypatch):
    lab = golden("0.9.0", "q3")
    monkeypatch.delenv("PGPASSWORD")
    full = lab.locator.replace(f"//{USER}@", f"//{USER}:{PASSWORD}@")
    plan = lab.state.parent / "a.plan"
    seen = lab.cli("fix", full, "--stream", "events", "--dry-run", "--out", plan)
    assert seen.code == 1, seen.err
    assert "warning: a password" in seen.err
    assert PASSWORD not in seen.out + seen.err + plan.read_text()


def test_set_restored_from_a_snapshot_and_undone_twice(golden, tmp_path):
    lab = golden("0.9.0", "q2", "?release=0.9.0")
    set_restored_and_undone_twice(lab, lab.everything, tmp_path)


def test_an_unreadable_row_that_may_hold_the_named_source_is_told(golden):
    lab = golden("0.9.0", "q6", "?source=kinesis-events")
    lab.put("{", "logs")
    for done in (lab.inspect(), lab.fix()):
        assert done.code == 2
        assert done.says("kinesis-events", "index logs: malformed JSON", "mend it")


def test_a_write_that_the_server_refuses_is_told_and_resumed(golden):
    """A rule of the database's own; nothing of the step is in place then."""
    lab = golden("0.9.0", "q3")
    whole = lab.everything()
    lab.sql(
        "CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'said by the test'; END $$"
    )
    lab.sql("CREATE TRIGGER no BEFORE UPDATE ON indexes FOR EACH ROW EXECUTE FUNCTION no()")
    done = lab.fix()
    assert done.code in (3, 4) and done.says("the source's positions", "said by the test"), done.err
    assert lab.everything() == whole
    lab.sql("DROP TRIGGER no ON indexes")
    if lab.journals():
        undone = lab.undo()
        assert (undone.code, lab.everything()) == (0, whole), undone.err
        lab.journal().unlink()
    assert lab.fix().code == 0
    assert lab.undo().code == 0
    assert lab.everything() == whole
