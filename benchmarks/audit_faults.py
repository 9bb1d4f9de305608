"""Planted faults in 50,000 verdicts: are they found, and how many labels does it take?

    python -m benchmarks.audit_faults [false_accepts] [false_rejects] [time_outs_at_load] [healthy]

(a) wrong answers accepted inside a hidden kind of prompts; (b) right fractions rejected; (c) time-outs at
load; and a healthy verifier, which must raise no alarm. 100 seeds each. For (a) and (b) the reviewer gives
as many labels as `audit.label_needs` says for three errors, in the order of the review queue; once on the
side as a whole, and once where the second opinion differs. Prints a table, writes
`benchmarks/results/audit_faults.json` and `audit_faults.svg`.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np

from audit.drift import Span, looks
from audit.estimates import Rate, estimate
from audit.intervals import clopper_pearson
from audit.label_needs import probability_to_find, to_find
from audit.strata import Side, side_of
from audit.types import WINDOW_S
from benchmarks.audit_world import VERDICTS, WINDOWS, Fault, Habits, World, group_of, review, simulate
from benchmarks.machine import machine
from benchmarks.numeric import ROOT
from benchmarks.plots import bars

RESULT = ROOT / "benchmarks" / "results" / "audit_faults.json"
SEEDS = 100
ERRORS = 3
PROBABILITY = 0.95
ALARM = 0.002
"""A rate of errors whose lower bound is above this raises an alarm."""

HEALTHY_LABELS = 800
SPAN = 4
"""Windows looked at together for drift."""

HABITS = Habits()
SIDES: dict[Side, list[str]] = {
    "accept": ["accept/plain", "accept/edge"],
    "reject": ["reject/plain", "reject/edge"],
}
CONTRADICTED: dict[Side, list[str]] = {
    "accept": ["accept/second-rejects"],
    "reject": ["reject/second-accepts"],
}
FALSE_ACCEPTS = [(0.02, 0.5), (0.02, 0.25), (0.05, 0.2)]
"""Rate among wrong answers of the hidden kind, share of prompts of that kind."""

FALSE_REJECTS = [(0.05, 0.5), (0.05, 0.2), (0.1, 0.15)]
"""Rate among right fractions, share of prompts whose answer is one."""


def main() -> None:
    """Simulate, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="only these; the others stay as found")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    arguments = parser.parse_args()
    for part in arguments.parts or PARTS:
        outcome = PARTS[part](arguments.seeds)
        print(part, json.dumps(outcome, indent=2), flush=True)
        found = json.loads(RESULT.read_text(encoding="utf-8")) if RESULT.exists() else {}
        found |= {"machine": machine(), "verdicts": VERDICTS, "seeds": arguments.seeds, part: outcome}
        RESULT.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    plot([*found.get("false_accepts", []), *found.get("false_rejects", [])])


def false_accepts(seeds: int) -> list[dict[str, Any]]:
    """(a) for each rate and share."""
    return [
        planted_fault("a", "accept", rate, share, Fault(false_accepts=rate, hidden=share), seeds)
        for rate, share in FALSE_ACCEPTS
    ]


def false_rejects(seeds: int) -> list[dict[str, Any]]:
    """(b) for each rate and share."""
    return [
        planted_fault("b", "reject", rate, share, Fault(fractions_rejected=rate, fractions=share), seeds)
        for rate, share in FALSE_REJECTS
    ]


def planted_fault(
    letter: str, side: Side, rate: float, share: float, fault: Fault, seeds: int
) -> dict[str, Any]:
    """One rate and share: what as many labels as the calculator says find, without and with second opinions.

    Half of the answers are right, so that the rate among wrong answers is about that among as many accepts.
    """
    sure = 1 - HABITS.unsure
    labels = to_find(ERRORS, rate * sure, share, PROBABILITY)
    labels_by_second = to_find(ERRORS, precision(rate * share) * sure, 1.0, PROBABILITY)
    assert labels is not None
    assert labels_by_second is not None
    by_side, by_second, rates, held, alarmed = [], [], [], 0, 0
    for seed in range(seeds):
        world = simulate(seed, fault)
        by_side.append(review(world, np.random.default_rng(seed), SIDES[side], labels, HABITS))
        rates.append(world.errors[side] / size(world, side))
        told = error_rate(world, side)
        held += told.lower <= rates[-1] <= told.upper
        alarmed += told.lower > ALARM
        world.labels.clear()
        by_second.append(
            review(world, np.random.default_rng(seed), CONTRADICTED[side], labels_by_second, HABITS)
        )
    return {
        "fault": letter,
        "rate": rate,
        "share": share,
        "rate_of_side": round(statistics.fmean(rates), 5),
        "labels": labels,
        "found_3": sum(n >= ERRORS for n in by_side) / seeds,
        "median_found": statistics.median(by_side),
        "power": round(probability_to_find(ERRORS, rate * share * sure, labels), 3),
        "alarmed": alarmed / seeds,
        "interval_held": held / seeds,
        "labels_by_second": labels_by_second,
        "found_3_by_second": sum(n >= ERRORS for n in by_second) / seeds,
        "median_found_by_second": statistics.median(by_second),
    }


def precision(rate: float) -> float:
    """Errors among the verdicts that the second opinion contradicts, when `rate` of the side are errors."""
    seen, false = rate * HABITS.second_sees, (1 - rate) * HABITS.second_errs
    return seen / (seen + false)


def size(world: World, side: Side | None) -> int:
    """Verdicts of a side; of None: unscorable ones."""
    return sum(n for cell, n in world.counts.items() if side_of(cell.stratum.name) == side)


def error_rate(world: World, side: Side) -> Rate:
    """What the service tells of the side."""
    accepts, rejects = estimate(group_of(world).scored).sides
    return (accepts if side == "accept" else rejects).rate


def spans(world: World) -> list[Span]:
    """Stretches of windows, as the page of drift looks at them."""
    return [
        Span(None, first * WINDOW_S, (first + SPAN) * WINDOW_S, group_of(world, range(first, first + SPAN)))
        for first in range(0, WINDOWS, SPAN)
    ]


def time_outs(seeds: int) -> dict[str, Any]:
    """3 % of the verdicts time out in the last third of the windows. Nobody labels anything."""
    alarmed, rates, flips, lower = 0, [], [], []
    for seed in range(seeds):
        world = simulate(seed, Fault(timeouts_at_load=0.03))
        last = looks(spans(world), pooled=True)[-1].changes["null_rate"]
        alarmed += last.alarm == "rose"
        rates.append((last.before, last.after))
        again = [one.second != "unknown" for one in world.sample if one.cell.stratum.name.startswith("unsc")]
        flips.append(sum(again) / len(again))
        lower.append(clopper_pearson(sum(again), len(again)).lower)
    return {
        "labels": 0,
        "null_rate_alarm": alarmed / seeds,
        "median_null_rate_before": round(statistics.median(before for before, _ in rates), 5),
        "median_null_rate_at_load": round(statistics.median(after for _, after in rates), 5),
        "median_share_of_reruns_that_flip": round(statistics.median(flips), 3),
        "least_lower_bound_of_flips": round(min(lower), 3),
    }


def without_fault(seeds: int) -> dict[str, Any]:
    """A healthy verifier, reviewed on both sides: which alarms does it raise?"""
    raised: dict[str, int] = {"rate": 0, "drift of labels": 0, "null rate": 0, "any": 0}
    widths, flips = [], []
    for seed in range(seeds):
        world = simulate(seed, Fault())
        everything = [name for names in (*SIDES.values(), *CONTRADICTED.values()) for name in names]
        review(world, np.random.default_rng(seed), everything, HEALTHY_LABELS, HABITS)
        told = [error_rate(world, side) for side in SIDES]
        alarms = {
            (measure if measure == "null_rate" else "drift of labels").replace("_", " ")
            for look in looks(spans(world), pooled=True)
            for measure, change in look.changes.items()
            if change.alarm
        }
        if any(rate.lower > ALARM for rate in told):
            alarms.add("rate")
        for alarm in alarms:
            raised[alarm] += 1
        raised["any"] += bool(alarms)
        widths.append(told[0].upper - told[0].lower)
        again = [one.second != "unknown" for one in world.sample if one.cell.stratum.name.startswith("unsc")]
        flips.append(sum(again) / len(again))
    return {
        "labels": HEALTHY_LABELS,
        "quiet": 1 - raised["any"] / seeds,
        "alarms": raised,
        "median_width_of_fdr": round(statistics.median(widths), 4),
        "median_share_of_reruns_that_flip": round(statistics.median(flips), 3),
    }


def plot(planted: list[dict[str, Any]]) -> None:
    """Seeds in which three errors were found, by labels given."""
    rows = []
    for row in planted:
        name = f"({row['fault']}) rate {row['rate']:.0%} in a share of {row['share']:.0%}"
        rows.append((f"{name}: the side", row["found_3"], f"{row['labels']} labels"))
        rows.append((f"{name}: contradicted", row["found_3_by_second"], f"{row['labels_by_second']} labels"))
    bars(
        RESULT.with_suffix(".svg"),
        title="Share of seeds in which three planted errors were found (0.90 wanted)",
        rows=rows,
        low=0.0,
        high=1.0,
        mark=0.9,
    )


PARTS: dict[str, Callable[[int], Any]] = {
    "false_accepts": false_accepts,
    "false_rejects": false_rejects,
    "time_outs_at_load": time_outs,
    "healthy": without_fault,
}


if __name__ == "__main__":
    main()
