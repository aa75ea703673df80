"""A scene through both: the core's forecast and plan, the reference consumer's starts."""

from __future__ import annotations

from functools import cached_property

from msgspec.structs import replace

from reshardctl.model import Image, Simulation, Step, after
from reshardctl.planning.effects import Effect
from reshardctl.planning.plan import Case as PlanCase
from reshardctl.planning.plan import Decision, Nothing, Plan, decide, judge, processed_frontier
from reshardctl.planning.policy import POLICIES, Accept
from tests.proof.exhaustive.direct import Direct
from tests.proof.exhaustive.owed import Owes, owes
from tests.proof.exhaustive.scenes import Scene
from tests.proof.reference.kcl import Run, run
from tests.support.case_rows import Item
from tests.support.judging import Bench, delivered

Delivered = dict[str, tuple[str, ...]]


class Trial:
    """Everything that properties look at, each worked out once and only if asked for."""

    def __init__(self, scene: Scene, policy: str = "lossless") -> None:
        self.scene, self.case, self.policy = scene, scene.case, policy

    def plan_case(self, items: list[Item]) -> PlanCase:
        """These rows, as the core gets them."""
        bench = Bench.of(self.case, self.scene.initial, self.scene.release, self.policy, items)
        return replace(bench.plan_case, accept=Accept(reread=self.scene.reread))

    def start(self, items: list[Item]) -> Run:
        """The reference consumer's next start on these rows."""
        fake = Direct(self.case)

        def put() -> None:
            for shard in self.case.live.shards:
                for index in range(self.case.live.n):
                    fake.put(shard, f"n{shard}-{index}")

        scene, name = self.scene, self.case.stream["name"]
        return run(fake, name, items, scene.initial, scene.release, put)  # type: ignore[arg-type]

    def effects(self, items: list[Item]) -> tuple[Effect, ...]:
        """What the core says the next start on these rows costs, against skipping nothing."""
        case = replace(self.plan_case(items), policy=POLICIES["lossless"])
        processed = processed_frontier(case)
        want = case.policy.frontier(case.state.lineage, processed)
        return judge(case, want, processed)[0].effects

    @cached_property
    def before(self) -> Run:
        """The start on the table as it is."""
        return self.start(self.case.items())

    @cached_property
    def owes(self) -> Owes:
        """The oracle's word."""
        return owes(self.case, self.case.items(), self.scene.initial)

    @cached_property
    def core(self) -> PlanCase:
        """The table as it is, for the core."""
        return self.plan_case(self.case.items())

    @cached_property
    def harms(self) -> tuple[Effect, ...]:
        """The effects on the table as it is."""
        return self.effects(self.case.items())

    @cached_property
    def simulation(self) -> Simulation:
        """The core's forecast for the table as it is."""
        return self.forecast(self.core)

    @cached_property
    def forecast_delivery(self) -> Delivered:
        """The forecast in payloads."""
        return delivered(self.case, self.simulation, self.core.state.lineage)

    def forecast(self, case: PlanCase) -> Simulation:
        """The core's forecast."""
        (candidate,) = case.candidates
        checkpoint = case.consumer.parse(case.images)
        return case.consumer.simulate_start(case.state.lineage, checkpoint, candidate.app)

    @cached_property
    def decision(self) -> Decision:
        """What the core would do about it."""
        return decide(self.core)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The plan's steps; none where there is no plan."""
        return self.decision.steps if isinstance(self.decision, Plan) else ()

    @property
    def residuals(self) -> set[str]:
        """Shards that the decision leaves alone."""
        found = self.decision
        return {r.shard for r in found.residuals} if isinstance(found, Plan | Nothing) else set()

    def applied(self, steps: tuple[Step, ...]) -> list[Item]:
        """The table after these steps."""
        return _items(after(self.core.images, steps))

    @cached_property
    def repaired(self) -> list[Item]:
        """The table after the whole plan."""
        return self.applied(self.steps) if self.steps else self.case.items()

    @cached_property
    def after(self) -> Run:
        """The start on the repaired table."""
        return self.start(self.repaired) if self.steps else self.before


def _items(images: list[Image]) -> list[Item]:
    return [dict(image.attributes) for image in images]
