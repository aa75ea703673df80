"""Plans as a file: what each writes, what its proof promised, and how to make it again.

Applying a saved plan means making it anew on fresh state: it must give the same steps and nothing
worse, or it is stale. Its before-images serve the undo when the journal is lost.

Plans of several consumers lie in one file, each as in a file of its own, with its digest.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from reshardctl.auditing.sink_frontier import line, line_json
from reshardctl.codec.strict import (
    PLAN,
    PLANS,
    JsonPath,
    array,
    boolean,
    list_of,
    mapping_of,
    members,
    moment,
    moment_or_none,
    or_another_kind,
    parse,
    seconds,
    string,
    strings,
)
from reshardctl.codec.values import (
    cut_list,
    cut_of_list,
    cut_of_quiet_list,
    digest,
    quiet_cut_list,
    step,
    step_json,
)
from reshardctl.consumers.registry import consumer_of
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.errors import UsageError
from reshardctl.model import DONE, TIP, Cut, ShardId, Step, keys_of
from reshardctl.model.times import parse_when
from reshardctl.planning.effects import Effect
from reshardctl.planning.plan import Plan
from reshardctl.planning.policy import POLICIES, POSITIONS, Accept, Policy
from reshardctl.report.report import RepairOptions, Report
from reshardctl.report.results import Saved
from reshardctl.report.scope import ScopeOptions, scope_json
from reshardctl.stores.given_file import content
from reshardctl.stores.named_file import save_private

VERSION = "reshardctl/plan/1"
ON_A_LINE = "reshardctl/plan/2"
"""The format of a plan on the frontier that a sink proves; older releases must not apply it."""

NEW = "make a new one: reshardctl fix CONSUMER --stream STREAM --dry-run --out FILE"
MADE = "name a file made with --out"

Promise = tuple[str, str, str]
"""An effect that was shown: harm, shard ("" for the whole consumer), "certain" or "possible"."""


class SavedPlan(Struct, frozen=True):
    """See the module. created, made: Unix seconds. store: the store's identity."""

    locator: str
    stream: str
    created: float
    store: Mapping[str, str]
    options: RepairOptions
    probe: bool
    made: float
    steps: tuple[Step, ...]
    promised: tuple[tuple[Promise, ...], ...]
    footprint: Mapping[str, str]
    """Row or shard that the proof used → digest of what it rests on, "" for an absent row."""

    @property
    def digest(self) -> str:
        """SHA-256 of the whole plan."""
        return digest(_body(self))

    @property
    def stood(self) -> frozenset[str]:
        """Rows of the written families that were there when the plan was made."""
        rows = (name.removeprefix("row ") for name, found in self.footprint.items()
                if found and name.startswith("row "))  # fmt: skip
        return frozenset(rows)

    @property
    def unvouched(self) -> SavedPlan:
        """The plan without the words of its maker: to begin anew, and whose the positions are."""
        options = replace(self.options, bootstrap=False, recreated=None, created=None)
        return replace(self, options=options)


def of_report(report: Report, probe: bool) -> SavedPlan:
    """The plan of a report that has one."""
    assert isinstance(report.decision, Plan)
    snapshot, stream = report.snapshot, report.snapshot.lineage.stream
    return SavedPlan(
        snapshot.locator.text, stream.arn, stream.created, dict(snapshot.store), report.options,
        probe, snapshot.now, report.decision.steps,
        tuple(promises(effects) for effects in report.decision.after),
        footprint(snapshot, report.decision.steps),
    )


def footprint(snapshot: Snapshot, steps: Sequence[Step]) -> dict[str, str]:
    """What the proof of these steps rests on: the rows and shards of the written families."""
    consumer, lineage = consumer_of(snapshot.locator), snapshot.lineage
    rows = {image.key: image for image in snapshot.images}
    digests = {}
    for key in sorted(consumer.family(lineage, keys_of(steps))):
        image = rows.get(key)
        rests = {} if image is None else consumer.footprint(image)
        digests[f"row {key}"] = "" if image is None else digest(rests)
        digests[f"lasting {key}"] = "" if image is None else digest(
            {name: rests[name] for name in rests if name not in consumer.spec.reading}
        )
        shard = consumer.shard_of(key)
        if shard in lineage:
            listed = lineage[shard]
            digests[f"shard {shard}"] = digest([listed.parents, listed.start, listed.end])
    return digests


def promises(effects: tuple[Effect, ...]) -> tuple[Promise, ...]:
    """The effects without the figures that grow as time passes."""
    return tuple(
        (str(e.harm), e.shard or "", "certain" if e.certain else "possible")
        for e in effects if not (e.gone or e.past)
    )


def broken(promised: tuple[Promise, ...], now: tuple[Promise, ...]) -> list[Promise]:
    """The effects that are worse than what was promised."""
    kept = set(promised) | {(h, s, "possible") for h, s, _ in promised}
    return [promise for promise in now if promise not in kept]


def save(plan: SavedPlan, path: Path) -> None:
    """Writes the plan to a new file, whole or not at all, readable by its owner only; or a pipe."""
    save_private(path, [text(plan)], "no plan was saved", "--out")


def load(path: Path) -> SavedPlan:
    """Reads a plan. UsageError for a file that is no plan, or that was edited."""
    source = content(path, MADE)
    with or_another_kind(source, str(path), "a saved plan", PLAN):
        return parsed(source, str(path))


def text(plan: SavedPlan) -> str:
    """The whole plan as JSON."""
    return json.dumps({**_body(plan), "digest": plan.digest}, indent=1, sort_keys=True) + "\n"


def parsed(source: str | bytes, name: str) -> SavedPlan:
    """The plan in a text; `name`: for messages."""
    json_path = JsonPath(name, next=NEW)
    body = parse(source, json_path)
    if not isinstance(body, dict) or body.get("schema") not in (VERSION, ON_A_LINE):
        json_path.wrong(f"not a plan of this version ({VERSION} or {ON_A_LINE})")
    plan = _plan_of(body, json_path)
    written = source.encode() if isinstance(source, str) else source
    if plan.digest != body["digest"] or text(plan).encode() != written:
        raise UsageError(
            f"{name}: its content does not match its digest: it was edited or damaged",
            NEW,
        )
    return plan


def _body(plan: SavedPlan) -> dict[str, Any]:
    repair_options = plan.options
    return {
        "schema": VERSION if repair_options.line is None else ON_A_LINE,
        "locator": plan.locator,
        "stream": plan.stream,
        "created": plan.created,
        "store": dict(plan.store),
        "wishes": _wishes_json(repair_options),
        "probe": plan.probe,
        "made": plan.made,
        "steps": [step_json(step) for step in plan.steps],
        "promised": [[list(promise) for promise in effects] for effects in plan.promised],
        "footprint": dict(plan.footprint),
    }


def _wishes_json(repair_options: RepairOptions) -> dict[str, Any]:
    """The options as `_wishes` reads them; `created`, `line` and `scope` only where given."""
    line = {} if repair_options.line is None else {"line": line_json(repair_options.line)}
    created = {} if repair_options.created is None else {"created": repair_options.created}
    scope = {} if repair_options.scope is None else {"scope": scope_json(repair_options.scope)}
    return {
        "policy": repair_options.policy.name,
        "since": _since_json(repair_options.policy),
        "accept": None if repair_options.accept is None else _accept_json(repair_options.accept),
        "bootstrap": repair_options.bootstrap,
        "recreated": repair_options.recreated,
        **created,
        **line,
        **scope,
    }


def _plan_of(body: object, json_path: JsonPath) -> SavedPlan:
    names = (
        "schema", "locator", "stream", "created", "store", "wishes", "probe", "made", "steps",
        "promised", "footprint", "digest",
    )
    plan = members(body, names, json_path)
    return SavedPlan(
        string(plan["locator"], json_path / "locator"),
        string(plan["stream"], json_path / "stream"),
        moment(plan["created"], json_path / "created"),
        strings(plan["store"], json_path / "store"),
        _wishes(plan["wishes"], json_path / "wishes", on_a_line=plan["schema"] == ON_A_LINE),
        boolean(plan["probe"], json_path / "probe"),
        moment(plan["made"], json_path / "made"),
        list_of(plan["steps"], json_path / "steps", step),
        list_of(plan["promised"], json_path / "promised", _promised),
        strings(plan["footprint"], json_path / "footprint"),
    )


def _wishes(value: object, json_path: JsonPath, *, on_a_line: bool) -> RepairOptions:
    names = ["policy", "since", "accept", "bootstrap", "recreated"]
    if isinstance(value, dict) and "created" in value:
        names.append("created")
    if isinstance(value, dict) and "scope" in value:
        names.append("scope")
    options = members(value, [*names, "line"] if on_a_line else names, json_path)
    policy = string(options["policy"], json_path / "policy")
    if policy not in (*POLICIES, POSITIONS.name):
        (json_path / "policy").wrong(f"no policy is called {policy!r}")
    return RepairOptions(
        _policy(policy, options["since"], json_path / "since"),
        _accept(options["accept"], json_path / "accept"),
        boolean(options["bootstrap"], json_path / "bootstrap"),
        moment_or_none(options["recreated"], json_path / "recreated"),
        line=line(options["line"], json_path / "line") if on_a_line else None,
        created=moment_or_none(options.get("created"), json_path / "created"),
        scope=_scope(options["scope"], json_path / "scope") if "scope" in options else None,
    )


def _scope(value: object, json_path: JsonPath) -> ScopeOptions:
    """The part of the consumer that was selected when the plan was made."""
    lists = members(value, ("shards", "rules", "not_rules"), json_path)
    return ScopeOptions(*(
        list_of(lists[name], json_path / name, string)
        for name in ("shards", "rules", "not_rules")
    ))


def _accept(value: object, json_path: JsonPath) -> Accept | None:
    """The limit that was given when the plan was made, if one was."""
    if value is None:
        return None
    named = ("names_skip",) if isinstance(value, dict) and "names_skip" in value else ()
    limit = members(value, ("skip", "reread", "disorder", *named), json_path)
    return Accept(
        seconds(limit["skip"], json_path / "skip"),
        seconds(limit["reread"], json_path / "reread"),
        boolean(limit["disorder"], json_path / "disorder"),
        boolean(limit.get("names_skip", False), json_path / "names_skip"),
    )


def _accept_json(accept: Accept) -> dict[str, Any]:
    """A limit as `_accept` reads it; `names_skip` only where it is so."""
    limit = asdict(accept)
    if not accept.names_skip:
        del limit["names_skip"]
    return limit


def _since_json(policy: Policy) -> dict[str, Any] | None:
    """A policy's time, as asked and as resolved, and every position that it was resolved to.

    `shifts` only where they were reckoned from the stored ones.
    """
    if policy.names_shards:
        moved = {"places": {shard: _place_json(cut) for shard, cut in policy.places.items()}}
        return moved | ({"shifts": True} if policy.shifts else {})
    if policy.since is None or policy.when is None:
        return None
    places = {s: cut_list(DONE if cut == DONE else cut) for s, cut in policy.places.items()}
    return {"asked": policy.when.text, "time": policy.since, "places": places}


def _place_json(cut: Cut) -> list[Any]:
    return ["TIP"] if cut == TIP else quiet_cut_list(cut)


def _place(value: object, json_path: JsonPath) -> Cut:
    return TIP if value == ["TIP"] else cut_of_quiet_list(value, json_path)


def _policy(name: str, value: object, json_path: JsonPath) -> Policy:
    if name == POSITIONS.name:
        named = ("shifts",) if isinstance(value, dict) and "shifts" in value else ()
        moved = members(value, ("places", *named), json_path)
        return replace(
            POSITIONS, places=_places(moved["places"], json_path / "places", _place),
            shifts=boolean(moved.get("shifts", False), json_path / "shifts"),
        )
    policy = POLICIES[name]
    if value is None:
        if policy.unresolved:
            json_path.wrong(f"policy {name} without its time")
        return policy
    policy_members = members(value, ("asked", "time", "places"), json_path)
    asked = string(policy_members["asked"], json_path / "asked")
    return replace(
        policy,
        when=policy.when or parse_when(asked),
        since=moment(policy_members["time"], json_path / "time"),
        places=_places(policy_members["places"], json_path / "places", cut_of_list),
    )


def _places(
    value: object, json_path: JsonPath, read: Callable[[Any, JsonPath], Cut]
) -> dict[ShardId, Cut]:
    return {ShardId(shard): cut for shard, cut in mapping_of(value, json_path, read).items()}


def _promised(value: object, json_path: JsonPath) -> tuple[Promise, ...]:
    out = []
    for number, item in enumerate(array(value, json_path)):
        parts = [string(p, json_path / number) for p in array(item, json_path / number)]
        if len(parts) != 3:
            (json_path / number).wrong("not harm, shard and certainty")
        out.append((parts[0], parts[1], parts[2]))
    return tuple(out)


BUNDLE = "reshardctl/plans/1"


def save_several(plans: Sequence[SavedPlan], path: Path) -> Saved:
    """Save the plans to a new file, or to an existing pipe or device.

    Raises:
        UsageError: The file exists, or cannot be written; no plan was saved.
    """
    whole = text_of_several(plans)
    save_private(path, [whole], "no plan was saved", "--out")
    return Saved(str(path), hashlib.sha256(whole.encode()).hexdigest())


def text_of_several(plans: Sequence[SavedPlan]) -> str:
    """The file's content."""
    bodies = [json.loads(text(plan)) for plan in plans]
    return json.dumps({"schema": BUNDLE, "plans": bodies}, indent=1, sort_keys=True) + "\n"


def names_of(plans: Sequence[SavedPlan]) -> list[str]:
    """What to call each plan's consumer: its locator, and its stream where that is not enough.

    A table that serves several streams has one locator.
    """
    often = Counter(plan.locator for plan in plans)
    return [
        plan.locator if often[plan.locator] == 1
        else f"{plan.locator} (stream {plan.stream.rpartition('/')[2]})"
        for plan in plans
    ]


def load_several(path: Path) -> list[SavedPlan]:
    """Read the plans of a file, or the one plan of a file that holds one.

    Raises:
        UsageError: The file has no plans, or was edited or damaged.
    """
    source = content(path, MADE)
    with or_another_kind(source, str(path), "a saved plan", PLAN, PLANS):
        return _parsed(source, path)


def _parsed(source: bytes, path: Path) -> list[SavedPlan]:
    json_path = JsonPath(str(path), next=NEW)
    body = parse(source, json_path)
    if not isinstance(body, dict) or body.get("schema") != BUNDLE:
        return [parsed(source, str(path))]
    bodies = array(members(body, ("schema", "plans"), json_path)["plans"], json_path / "plans")
    return [
        parsed(json.dumps(each, indent=1, sort_keys=True) + "\n", f"{path}: plan {n}")
        for n, each in enumerate(bodies, 1)
    ]
