"""A simulated day of verdicts with a known truth, sampled, queued and labelled by the service's own code.

Everything between the verdict and the estimate is the service's: the draw and the sampler, the order of the
review queue, what a second opinion's answer is called, strata and rates. Only the database is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

import numpy as np

from audit.estimate_reader import Group
from audit.review_queue import Candidate, QueueStratum, plan
from audit.sampling import Sampler, unit_interval
from audit.second_opinions import opinion_of, shown_stratum
from audit.strata import LabelledVerdict, SampleCount, is_wrong, side_of
from audit.types import WINDOW_S, Cell, Stratum

VERDICTS: Final = 50_000
WINDOWS: Final = 12
GROUP: Final = 8
BUDGET: Final = 200
"""Sampled per stratum and window, as the service's default."""

CHUNK: Final = 25
"""Labels between two plans of the queue: a page of it."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with the simulated verifier, over its everyday errors."""

    false_accepts: float = 0.0
    """Wrong answers accepted inside a hidden kind of prompts."""
    hidden: float = 0.2
    """Share of prompts of that kind. No flag, stratum or data source tells them apart."""
    fractions_rejected: float = 0.0
    """Right fractions rejected."""
    fractions: float = 0.2
    """Share of prompts whose answer is a fraction."""
    timeouts_at_load: float = 0.0
    """Verdicts that time out in the last third of the windows."""


@dataclass(frozen=True, slots=True)
class Habits:
    """What is the same with and without a fault."""

    right: float = 0.5
    everyday: float = 0.001
    """Errors of a healthy verifier, either way."""
    timeouts: float = 0.0005
    flagged: float = 0.05
    second_sees: float = 0.9
    """Errors that the second opinion contradicts."""
    second_errs: float = 0.005
    """Right verdicts that it contradicts."""
    rerun_at_load: float = 0.97
    """Time-outs of load that get a verdict when they are run again idle."""
    rerun: float = 0.1
    """The same of everyday time-outs."""
    unsure: float = 0.02
    """Answers that the reviewer cannot decide."""


@dataclass(slots=True)
class Verdict:
    """One sampled verdict: what the service sees, and what is true."""

    id: str
    cell: Cell
    group: str
    draw: float
    right: bool
    planted: bool
    """Wrong because of the fault, not by everyday error."""
    second: str


@dataclass(slots=True)
class World:
    """What was counted, and the sample."""

    counts: dict[Cell, int] = field(default_factory=dict)
    sample: list[Verdict] = field(default_factory=list)
    labels: dict[str, LabelledVerdict] = field(default_factory=dict)
    errors: dict[str, int] = field(default_factory=lambda: {"accept": 0, "reject": 0})
    """In truth, of all verdicts, by side."""


def simulate(seed: int, fault: Fault, habits: Habits = Habits()) -> World:
    """One day of verdicts."""
    rng = np.random.default_rng(seed)
    names, right, planted = _judge(rng, fault, habits)
    loaded = _loaded() & (fault.timeouts_at_load > 0)
    sides = np.array([name[0] for name in names])
    world = World()
    world.errors["accept"] = int(np.sum((sides == "a") & ~right))
    world.errors["reject"] = int(np.sum((sides == "r") & right))
    sampler = Sampler(BUDGET)
    admitted: dict[Cell, list[tuple[float, int, str]]] = {}
    cells = {
        (name, window): Cell(Stratum("simulated", "1", "", name), window * WINDOW_S)
        for name in set(names)
        for window in range(WINDOWS)
    }
    for n, name in enumerate(names):
        cell = cells[name, n * WINDOWS // VERDICTS]
        world.counts[cell] = world.counts.get(cell, 0) + 1
        verdict_id = f"{seed}-{n}"
        draw = unit_interval(verdict_id)
        if sampler.admit(cell, draw):
            admitted.setdefault(cell, []).append((draw, n, verdict_id))
    luck = rng.random(VERDICTS)
    for cell, drawn in admitted.items():
        for draw, n, verdict_id in sorted(drawn)[:BUDGET]:  # as the store trims what workers admit
            second = _second(cell.stratum.name, bool(right[n]), bool(loaded[n]), float(luck[n]), habits)
            world.sample.append(
                Verdict(verdict_id, cell, str(n // GROUP), draw, bool(right[n]), bool(planted[n]), second)
            )
    return world


def _loaded() -> Any:
    """The verdicts of the last third of the windows."""
    return np.arange(VERDICTS) * WINDOWS // VERDICTS >= WINDOWS * 2 // 3


def _judge(rng: np.random.Generator, fault: Fault, habits: Habits) -> tuple[list[str], Any, Any]:
    """The stratum of each verdict, whether its answer is right, and whether the fault made it wrong."""
    prompts = VERDICTS // GROUP
    difficulty = rng.beta(habits.right * 2, (1 - habits.right) * 2, prompts)
    right = rng.random(VERDICTS) < np.repeat(difficulty, GROUP)
    hidden = np.repeat(rng.random(prompts) < fault.hidden, GROUP)
    fraction = np.repeat(rng.random(prompts) < fault.fractions, GROUP)
    planted = hidden & ~right & (rng.random(VERDICTS) < fault.false_accepts)
    planted |= fraction & right & (rng.random(VERDICTS) < fault.fractions_rejected)
    errs = planted | (rng.random(VERDICTS) < habits.everyday)
    flagged = rng.random(VERDICTS) < habits.flagged
    late = rng.random(VERDICTS) < np.where(
        _loaded(), habits.timeouts + fault.timeouts_at_load, habits.timeouts
    )
    accepted = right ^ errs
    names = np.where(accepted, "accept/", "reject/").astype(object) + np.where(flagged, "edge", "plain")
    names[late] = "unscorable/verifier_timeout"
    return list(names), right, planted


def _second(name: str, right: bool, loaded: bool, luck: float, habits: Habits) -> str:
    """What the second opinion on a verdict comes to."""
    side = side_of(name)
    if side is None:
        judged = luck < (habits.rerun_at_load if loaded else habits.rerun)
        return opinion_of("rerun", None, right if judged else None).outcome
    accepted = side == "accept"
    contradicts = luck < (habits.second_errs if accepted == right else habits.second_sees)
    return opinion_of("math", accepted, accepted ^ contradicts).outcome


def group_of(world: World, windows: range = range(WINDOWS), *, use_second: bool = True) -> Group:
    """The strata of some windows, as the database would give them."""
    starts = {window * WINDOW_S for window in windows}
    group = Group()
    for cell, n in world.counts.items():
        if cell.window_start_s in starts:
            group.of(cell.stratum).verdicts[cell.window_start_s] = float(n)
    kept: dict[Cell, list[Verdict]] = {}
    for one in world.sample:
        if one.cell.window_start_s in starts:
            kept.setdefault(one.cell, []).append(one)
    for cell, verdicts in kept.items():
        data = group.of(cell.stratum)
        differing = sum(differs(one) for one in verdicts) if use_second else 0
        data.samples[cell.window_start_s] = SampleCount(len(verdicts), len(verdicts), differing)
        for one in verdicts:
            label = world.labels.get(one.id)
            if label is not None:
                data.labels.append(label if use_second else label._replace(differs=False))
    return group


def differs(one: Verdict) -> bool:
    """Whether the second opinion contradicts the verdict."""
    name = one.cell.stratum.name
    return shown_stratum(name, one.second) != name


def review(world: World, rng: np.random.Generator, strata: Sequence[str], labels: int, habits: Habits) -> int:
    """Label what the queue offers within strata (as people see them).

    Returns how many errors of the planted kind were found.
    """
    found = 0
    for one in _queue(world, strata, labels):
        if rng.random() < habits.unsure:
            answer: Any = "unsure"
        else:
            answer = "correct" if one.right else "incorrect"
        side = side_of(one.cell.stratum.name)
        assert side is not None
        found += one.planted and is_wrong(side, answer) is True
        world.labels[one.id] = LabelledVerdict(one.cell.window_start_s, differs(one), one.group, answer)
    return found


def _queue(world: World, strata: Sequence[str], labels: int) -> Iterator[Verdict]:
    """What the review queue offers next, planned anew after every page of labels."""
    by_id = {one.id: one for one in world.sample}
    by_stratum: dict[str, list[Verdict]] = {name: [] for name in strata}
    for one in sorted(world.sample, key=lambda one: one.draw):
        name = shown_stratum(one.cell.stratum.name, one.second)
        if name not in by_stratum:
            name = one.cell.stratum.name
        if name in by_stratum:
            by_stratum[name].append(one)
    sizes = _sizes(world, by_stratum)
    given = 0
    while given < labels:
        page = plan(
            [_known(world, name, sizes[name], verdicts) for name, verdicts in by_stratum.items()],
            min(CHUNK, labels - given),
            groups_done={label.group for label in world.labels.values()},
        )
        if not page:
            return
        given += len(page)
        yield from (by_id[entry.id] for entry in page)


def _sizes(world: World, by_stratum: dict[str, list[Verdict]]) -> dict[str, float]:
    """Verdicts of each stratum that people see, by the sample's shares."""
    weights: dict[Cell, int] = {}
    for one in world.sample:
        weights[one.cell] = weights.get(one.cell, 0) + 1
    return {
        name: sum(world.counts[one.cell] / weights[one.cell] for one in verdicts)
        for name, verdicts in by_stratum.items()
    }


def _known(world: World, name: str, size: float, verdicts: list[Verdict]) -> QueueStratum:
    labelled = [one for one in verdicts if one.id in world.labels]
    side = side_of(name)
    assert side is not None
    judged = [is_wrong(side, world.labels[one.id].answer) for one in labelled]
    decided = [wrong for wrong in judged if wrong is not None]
    open_ones = (Candidate(one.id, one.group, one.draw) for one in verdicts if one.id not in world.labels)
    candidates = list(islice(open_ones, 4 * CHUNK))
    stratum = Stratum("simulated", "1", "", name)
    return QueueStratum(stratum, size, len(decided), sum(decided), candidates)
