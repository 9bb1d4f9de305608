"""How often the intervals of `audit.estimates` hold the true rate. `python -m benchmarks.audit_coverage`.

2,000 seeds for each scenario. The first six are stratified samples of 240 or so labels, with the peers of
`interval_peers` beside; the others are what else happens to labels: windows of unequal size, second
opinions that split a stratum, whole groups labelled, sizes that are themselves estimated, strata that nobody
labelled. Coverage is printed with the median width, for an interval of [0, 1] covers too. Prints a table,
writes `benchmarks/results/audit_coverage.json` and `audit_coverage.svg`.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from audit.estimates import estimate
from audit.intervals import clopper_pearson, wilson
from audit.strata import LabelledVerdict, SampleCount, StratumData
from audit.types import Stratum
from benchmarks import interval_peers as peers
from benchmarks.machine import machine
from benchmarks.numeric import ROOT
from benchmarks.plots import bars

RESULT = ROOT / "benchmarks" / "results" / "audit_coverage.json"
SEEDS = 2_000

Rng = np.random.Generator


class Case(NamedTuple):
    """One labelled sample: what the service is given, and what is true."""

    strata: list[StratumData]
    rate: float
    """True share of wrong verdicts among them."""
    accepted: int
    """How many there are in truth."""
    known_from: float = float("inf")


class Layer(NamedTuple):
    """A stratum of a plain scenario."""

    verdicts: int
    rate: float
    labels: int


PLAIN: dict[str, list[Layer]] = {
    "2 strata": [Layer(1_000, 0.2, 100), Layer(9_000, 0.005, 140)],
    "3 strata, the largest nearly faultless": [
        Layer(400, 0.3, 80),
        Layer(600, 0.05, 60),
        Layer(9_000, 0.001, 100),
    ],
    "3 strata, even labels": [Layer(300, 0.5, 80), Layer(1_700, 0.03, 80), Layer(8_000, 0.005, 80)],
    "3 strata, labels by Neyman": [Layer(400, 0.3, 36), Layer(600, 0.05, 26), Layer(9_000, 0.03, 178)],
    "4 strata": [Layer(200, 0.6, 40), Layer(300, 0.3, 40), Layer(500, 0.1, 40), Layer(9_000, 0.01, 120)],
    "5 strata": [
        Layer(100, 0.7, 30),
        Layer(200, 0.4, 30),
        Layer(400, 0.2, 40),
        Layer(800, 0.05, 40),
        Layer(8_500, 0.01, 100),
    ],
}
PEERS: dict[str, Callable[[list[peers.Counted]], Any]] = {
    "Wald": peers.wald,
    "Wilson, effective n": peers.wilson_effective,
    "Hájek, normal": peers.hajek_normal,
    "MOVER-Wilson": peers.mover_of(wilson),
    "MOVER-CP": peers.mover_of(clopper_pearson),
    "Bonferroni-CP": peers.bonferroni,
}


def main() -> None:
    """Simulate, print, write."""
    rows = [measured(name, lambda rng, name=name: plain(rng, PLAIN[name])) for name in PLAIN]
    rows += [measured(name, make) for name, make in OTHERS.items()]
    beside = {name: compared(layers) for name, layers in PLAIN.items()}
    for row in rows:
        print(", ".join(f"{name} {value}" for name, value in row.items()))
    for name, methods in beside.items():
        print(name, methods)
    least = min(row["coverage"] for row in rows)
    print("least coverage", least)
    found = {"machine": machine(), "seeds": SEEDS, "least_coverage": least, "rows": rows, "peers": beside}
    RESULT.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    plot(rows)


def measured(name: str, make: Callable[[Rng], Case]) -> dict[str, Any]:
    """One scenario: how often each rate's interval holds the truth, and its median width."""
    held = {"fdr": 0, "fpr": 0, "fnr": 0}
    widths, estimates = [], []
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        case = make(rng)
        found = estimate([*case.strata, rejects(rng)], case.known_from)
        fpr, fnr = channel(case)
        for rate, told, true in (
            ("fdr", found.accepts.rate, case.rate),
            ("fpr", found.fpr, fpr),
            ("fnr", found.fnr, fnr),
        ):
            held[rate] += told.lower <= true <= told.upper
        widths.append(found.accepts.rate.upper - found.accepts.rate.lower)
        if found.accepts.rate.estimate is not None:
            estimates.append(found.accepts.rate.estimate - case.rate)
    return {
        "scenario": name,
        "coverage": held["fdr"] / SEEDS,
        "median_width": round(statistics.median(widths), 4),
        "bias": round(statistics.fmean(estimates), 5) if estimates else None,
        "coverage_fpr": held["fpr"] / SEEDS,
        "coverage_fnr": held["fnr"] / SEEDS,
    }


def channel(case: Case) -> tuple[float, float]:
    """True false-positive and false-negative rates."""
    false_accepts, false_rejects = case.accepted * case.rate, REJECTED * REJECT_RATE
    return (
        false_accepts / (false_accepts + REJECTED * (1 - REJECT_RATE)),
        false_rejects / (false_rejects + case.accepted * (1 - case.rate)),
    )


def data(
    name: str,
    verdicts: dict[int, float],
    labels: Iterable[LabelledVerdict],
    samples: dict[int, SampleCount] | None = None,
) -> StratumData:
    """A stratum of accepts (or, by its name, rejects)."""
    labels = list(labels)
    samples = samples or {window: SampleCount(1, 1, 0) for window in verdicts}
    return StratumData(Stratum("simulated", "1", "", name), verdicts, samples, labels)


def labelled(
    name: str, window: int, outcomes: Iterable[bool], *, differs: bool = False, start: int = 0
) -> list[LabelledVerdict]:
    """Labels of one window, each of its own group."""
    return [
        LabelledVerdict(window, differs, f"{name}/{window}/{differs}/{start + n}", answer(wrong))
        for n, wrong in enumerate(outcomes)
    ]


def answer(wrong: bool) -> Any:
    return "incorrect" if wrong else "correct"


def draws(rng: Rng, verdicts: int, rate: float, labels: int) -> list[bool]:
    """Labels drawn without replacement from verdicts of which a fixed number is wrong."""
    wrong = round(verdicts * rate)
    errors = int(rng.hypergeometric(wrong, verdicts - wrong, labels))
    return [True] * errors + [False] * (labels - errors)


REJECTED, REJECT_RATE = 15_000, 0.02


def rejects(rng: Rng) -> StratumData:
    """The other side of every scenario: one stratum, 200 labels."""
    outcomes = draws(rng, REJECTED, REJECT_RATE, 200)
    labels = [
        LabelledVerdict(0, False, str(n), "correct" if wrong else "incorrect")
        for n, wrong in enumerate(outcomes)
    ]
    return data("reject/plain", {0: float(REJECTED)}, labels)


def plain(rng: Rng, layers: list[Layer]) -> Case:
    """One window, no second opinion."""
    strata = []
    for position, layer in enumerate(layers):
        name = f"accept/{position}"
        outcomes = draws(rng, layer.verdicts, layer.rate, layer.labels)
        strata.append(data(name, {0: float(layer.verdicts)}, labelled(name, 0, outcomes)))
    total = sum(layer.verdicts for layer in layers)
    return Case(strata, sum(round(layer.verdicts * layer.rate) for layer in layers) / total, total)


def compared(layers: list[Layer]) -> dict[str, dict[str, float]]:
    """The peers on the same draws: coverage and median width."""
    total = sum(layer.verdicts for layer in layers)
    true = sum(round(layer.verdicts * layer.rate) for layer in layers) / total
    found: dict[str, list[Any]] = {name: [] for name in PEERS}
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        counted = [
            peers.Counted(one.verdicts, one.labels, sum(draws(rng, one.verdicts, one.rate, one.labels)))
            for one in layers
        ]
        for name, method in PEERS.items():
            found[name].append(method(counted))
    return {
        name: {
            "coverage": sum(one.lower <= true <= one.upper for one in bounds) / SEEDS,
            "median_width": round(statistics.median(one.upper - one.lower for one in bounds), 4),
        }
        for name, bounds in found.items()
    }


def equal_labels_in_unequal_windows(rng: Rng) -> Case:
    """The same number of labels from windows of 200 to 5,000 verdicts; the large ones err more."""
    return over_windows(rng, lambda size: 12)


def labels_by_draw(rng: Rng) -> Case:
    """The smallest draws of the stratum, whatever their window: labels go with the windows' sizes."""
    return over_windows(rng, lambda size: int(rng.binomial(size, 240 / sum(WINDOWS))))


WINDOWS = [200, 5_000, 400, 2_500, 300, 4_000, 900, 600, 3_000, 250, 1_500, 700, 3_500, 350, 2_000, 500] * 2


def over_windows(rng: Rng, labels_of: Callable[[int], int]) -> Case:
    verdicts: dict[int, float] = {}
    labels: list[LabelledVerdict] = []
    wrong = 0
    for window, size in enumerate(WINDOWS):
        rate = 0.005 + 0.04 * size / 5_000
        wrong += round(size * rate)
        verdicts[window] = float(size)
        labels += labelled("windows", window, draws(rng, size, rate, min(size, labels_of(size))))
    return Case([data("accept/plain", verdicts, labels)], wrong / sum(WINDOWS), sum(WINDOWS))


def rising_error(rng: Rng) -> Case:
    """A fault that appears in the last third of 24 windows."""
    verdicts, labels, wrong = {}, [], 0
    for window in range(24):
        rate = 0.05 if window >= 16 else 0.004
        verdicts[window] = 1_000.0
        wrong += round(1_000 * rate)
        labels += labelled("rising", window, draws(rng, 1_000, rate, int(rng.binomial(1_000, 0.008))))
    return Case([data("accept/plain", verdicts, labels)], wrong / 24_000, 24_000)


def two_phases(
    rng: Rng, sample: int, labels: tuple[int, int], rates: tuple[float, float], share: float
) -> Case:
    """A second opinion on the sample splits the stratum; the part that differs is labelled more densely."""
    size = 10_000
    differing = round(size * share)
    wrong = round((size - differing) * rates[0]), round(differing * rates[1])
    seen = int(rng.hypergeometric(differing, size - differing, sample))
    found: list[LabelledVerdict] = []
    for differs, among, rate, wanted, there in (
        (False, size - differing, wrong[0] / (size - differing), labels[0], sample - seen),
        (True, differing, wrong[1] / differing, labels[1], seen),
    ):
        n = min(wanted, there)
        found += labelled("second", 0, draws(rng, among, rate, n), differs=differs)
    samples = {0: SampleCount(sample, sample, seen)}
    return Case([data("accept/plain", {0: float(size)}, found, samples)], sum(wrong) / size, size)


def whole_groups(rng: Rng) -> Case:
    """40 groups of eight, labelled whole; in a group all are wrong together or none."""
    groups, bad = 1_250, 40
    chosen = int(rng.hypergeometric(bad, groups - bad, 40))
    labels = [
        LabelledVerdict(0, False, str(group), answer(group < chosen)) for group in range(40) for _ in range(8)
    ]
    return Case([data("accept/plain", {0: 10_000.0}, labels)], bad / groups, 10_000)


def estimated_sizes(rng: Rng) -> Case:
    """A step range inside of windows: its strata's sizes are estimated from 600 sampled verdicts."""
    layers = [Layer(400, 0.3, 80), Layer(600, 0.05, 60), Layer(9_000, 0.005, 100)]
    case = plain(rng, layers)
    sizes = [layer.verdicts for layer in layers]
    seen = rng.multivariate_hypergeometric([*sizes, 15_000], 600)
    for stratum, n in zip(case.strata, seen[:-1], strict=True):
        stratum.verdicts = {0: float(n) * 25_000 / 600}
    strata = [one for one in case.strata if one.size]
    return Case(strata, case.rate, sum(sizes), 600.0)


def unlabelled_stratum(rng: Rng) -> Case:
    """A stratum of 3 % of the accepts has no labels, and is wrong throughout."""
    case = plain(rng, [Layer(1_000, 0.2, 100), Layer(8_700, 0.005, 140)])
    wrong = case.rate * 9_700 + 300
    return Case([*case.strata, data("accept/new", {0: 300.0}, [])], wrong / 10_000, 10_000)


OTHERS: dict[str, Callable[[Rng], Case]] = {
    "32 windows, equal labels in unequal windows": equal_labels_in_unequal_windows,
    "32 windows, labels by draw": labels_by_draw,
    "24 windows, a fault in the last 8": rising_error,
    "second opinion, sample of 400": lambda rng: two_phases(rng, 400, (160, 60), (0.008, 0.5), 0.05),
    "second opinion, sample of 100": lambda rng: two_phases(rng, 100, (60, 60), (0.01, 0.8), 0.04),
    "second opinion, always right when it differs": lambda rng: two_phases(
        rng, 300, (100, 60), (0.001, 0.98), 0.02
    ),
    "second opinion, rarely right": lambda rng: two_phases(rng, 400, (150, 40), (0.02, 0.05), 0.1),
    "whole groups labelled": whole_groups,
    "sizes estimated from 600 verdicts": estimated_sizes,
    "a stratum without labels": unlabelled_stratum,
}


def plot(rows: list[dict[str, Any]]) -> None:
    """Coverage of each scenario as a bar from 0.9 to 1, with the median width written beside."""
    bars(
        RESULT.with_suffix(".svg"),
        title=f"Coverage of 95 % intervals over {SEEDS:,} seeds (median width beside)",
        rows=[(row["scenario"], row["coverage"], f"{row['median_width']:.3f}") for row in rows],
        low=0.9,
        high=1.0,
        mark=0.94,
    )


if __name__ == "__main__":
    main()
