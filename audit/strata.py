"""What is known of one stratum: how many verdicts, which of its sample were labelled, how often it errs.

Labels are drawn at random from the verdicts of a stratum, but not evenly over its windows, and more densely
where a second opinion differs. So a stratum has up to two parts, split by second opinion, and within a part
each label stands for the verdicts of its own stretch of time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from audit.intervals import Proportion
from audit.labels import Answer
from audit.types import Stratum

Side = Literal["accept", "reject"]

MIN_STRETCH: Final = 10
"""Windows are joined until they hold this many labels: each stretch gets its own weight."""

Undecided = Literal["left_out", "as_right", "as_wrong"]
"""What an `unsure` or `bad_ground_truth` says of the verdict."""


class LabelledVerdict(NamedTuple):
    """A verdict of the sample, and what its labels come to."""

    window_start_s: int
    differs: bool
    """The second opinion contradicts the verdict."""
    group: str
    """Responses to one prompt, whose errors go together; else the verdict's own id."""
    answer: Answer


class SampleCount(NamedTuple):
    """The sample of one window, as far as it is still stored."""

    drawn: int
    """Verdicts that the sample had when it was drawn."""
    kept: int
    """Of those, still stored."""
    differing: int
    """Of those kept, contradicted by the second opinion."""


@dataclass(slots=True)
class StratumData:
    """One stratum of a time span, as it was counted, sampled and labelled."""

    stratum: Stratum
    verdicts: dict[int, float] = field(default_factory=dict)
    """By window (its start in seconds): exact, or estimated where only a part of a window is asked for."""
    samples: dict[int, SampleCount] = field(default_factory=dict)
    labels: list[LabelledVerdict] = field(default_factory=list)

    @property
    def side(self) -> Side | None:
        """None: unscorable."""
        return side_of(self.stratum.name)

    @property
    def size(self) -> float:
        """Verdicts in all windows."""
        return math.fsum(self.verdicts.values())


@dataclass(frozen=True, slots=True)
class Part:
    """The verdicts of a stratum on which the second opinion says the same."""

    stratum: Stratum
    differs: bool
    size: float
    """Verdicts; estimated where the stratum has two parts."""
    share: Proportion
    """Of the stratum."""
    labels: int
    errors: int
    undecided: int
    rate: Proportion
    """Of wrong verdicts; known from the labels, as many as would tell as much with equal weights."""


class Outcome(NamedTuple):
    """Whether one labelled verdict was wrong."""

    window_start_s: int
    group: str
    wrong: bool


def side_of(stratum: str) -> Side | None:
    """The side of a stratum by its name."""
    side = stratum.partition("/")[0]
    return side if side in ("accept", "reject") else None  # type: ignore[return-value]


def is_wrong(side: Side, answer: Answer, undecided: Undecided = "left_out") -> bool | None:
    """Whether a verdict was wrong, by what its answer turned out to be; None where that is not known."""
    if answer in ("correct", "incorrect"):
        return (answer == "incorrect") == (side == "accept")
    return {"left_out": None, "as_right": False, "as_wrong": True}[undecided]


def parts_of(data: StratumData, undecided: Undecided = "left_out") -> list[Part]:
    """The parts of a scored stratum. One, unless a second opinion differs somewhere in its sample."""
    share = _differing_share(data)
    if share.estimate == 0.0 and not any(label.differs for label in data.labels):
        return [_part(data, data.labels, None, Proportion(1.0, math.inf), undecided)]
    others = Proportion(1.0 - share.estimate, share.known_from)
    return [
        _part(data, [one for one in data.labels if one.differs is differs], differs, of_stratum, undecided)
        for differs, of_stratum in ((False, others), (True, share))
    ]


def _part(
    data: StratumData,
    labels: Sequence[LabelledVerdict],
    differs: bool | None,
    share: Proportion,
    undecided: Undecided,
) -> Part:
    side = data.side
    assert side is not None  # noqa: S101 - unscorable verdicts have no parts
    judged = [(one, is_wrong(side, one.answer, undecided)) for one in labels]
    outcomes = [Outcome(one.window_start_s, one.group, wrong) for one, wrong in judged if wrong is not None]
    return Part(
        stratum=data.stratum,
        differs=bool(differs),
        size=share.estimate * data.size,
        share=share,
        labels=len(outcomes),
        errors=sum(one.wrong for one in outcomes),
        undecided=sum(one.answer in ("unsure", "bad_ground_truth") for one in labels),
        rate=pooled_rate(_sizes(data, differs, share.estimate), outcomes),
    )


def _differing_share(data: StratumData) -> Proportion:
    """The share of verdicts whose second opinion differs.

    Each window's sample stands for its window. Windows of which retention has removed a part are left out:
    labelled verdicts stay, so that what is left is no sample.
    """
    whole = differing = spread = 0.0
    for window, sample in data.samples.items():
        if 0 < sample.kept == sample.drawn:
            verdicts = data.verdicts.get(window, 0.0)
            whole += verdicts
            differing += verdicts * sample.differing / sample.kept
            spread += verdicts**2 / sample.kept
    return Proportion(differing / whole, whole**2 / spread) if whole else Proportion(0.0, 0.0)


def _sizes(data: StratumData, differs: bool | None, share: float) -> dict[int, float]:
    """Verdicts of a part by window: by the window's sample where it is whole, else by the part's share."""
    if differs is None:
        return data.verdicts
    sizes = {}
    for window, verdicts in data.verdicts.items():
        sample = data.samples.get(window, SampleCount(0, 0, 0))
        own = sample.differing if differs else sample.kept - sample.differing
        is_whole = 0 < sample.kept == sample.drawn
        sizes[window] = verdicts * (own / sample.kept if is_whole else share)
    return sizes


def pooled_rate(sizes: Mapping[int, float], outcomes: Sequence[Outcome]) -> Proportion:
    """The share of wrong verdicts. sizes: verdicts by window.

    Each label stands for its share of the verdicts of its stretch of windows (Hájek's estimator). The
    effective number is Kish's, with a group as one label: as if its members always erred together.
    """
    weights = [
        (size / len(inside), one) for size, inside in _stretches(sizes, outcomes) if size for one in inside
    ]
    if not weights:
        return Proportion(0.0, 0.0)
    by_group: dict[str, float] = {}
    for weight, one in weights:
        by_group[one.group] = by_group.get(one.group, 0.0) + weight
    total = math.fsum(by_group.values())
    wrong = math.fsum(weight for weight, one in weights if one.wrong)
    return Proportion(wrong / total, total**2 / math.fsum(weight**2 for weight in by_group.values()))


def _stretches(sizes: Mapping[int, float], outcomes: Iterable[Outcome]) -> list[tuple[float, list[Outcome]]]:
    """Verdicts and labels of successive windows, joined until each stretch holds `MIN_STRETCH` labels."""
    by_window: dict[int, list[Outcome]] = {}
    for one in outcomes:
        by_window.setdefault(one.window_start_s, []).append(one)
    found: list[tuple[float, list[Outcome]]] = []
    size, inside = 0.0, []
    for window in sorted(sizes.keys() | by_window.keys()):
        size += sizes.get(window, 0.0)
        inside += by_window.get(window, [])
        if len(inside) >= MIN_STRETCH:
            found.append((size, inside))
            size, inside = 0.0, []
    if found and (inside or size):
        last, labels = found.pop()
        size, inside = size + last, labels + inside
    if inside:
        found.append((size, inside))
    return found
