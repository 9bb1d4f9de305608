"""Which sample is to be labelled next: the one whose label narrows an interval most.

Nothing here reads a database. Flags lead to faults, but only labels of unflagged verdicts say how often the
verifier is wrong: there most of the weight lies. So at least half of every queue is unflagged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Final, NamedTuple

from audit.intervals import clopper_pearson
from audit.sampling import unit_interval
from audit.types import Stratum

SECOND_LOOK_RATE: Final = 0.1
"""Share of the labelled samples that are offered to a second labeler, for their agreement."""

SECOND_LOOK_EVERY: Final = 10
"""A second look is offered as every tenth sample, while there is one."""


class Candidate(NamedTuple):
    """A stored verdict that may be labelled."""

    id: str
    group: str
    """Verdicts of one group answer the same prompt: their labels say hardly more than one of them."""
    draw: float
    """Hash of the id: ascending draws are a random order, the same for everybody."""


class QueueStratum(NamedTuple):
    """What is known of a stratum, and who could be labelled next in it."""

    key: Stratum
    verdicts: float
    """How many there are, stored or not."""
    labels: int
    errors: int
    """Labels that contradict the verdict."""
    candidates: Sequence[Candidate]
    """By ascending draw."""

    @property
    def flagged(self) -> bool:
        """Something about these verdicts was suspicious."""
        return not self.key.name.endswith("/plain")


class Entry(NamedTuple):
    """A place in the queue."""

    id: str
    stratum: Stratum
    second_look: bool
    """Somebody else has labelled it: this one is for the agreement of labelers."""


def plan(
    strata: Iterable[QueueStratum],
    limit: int,
    *,
    groups_done: Iterable[str] = (),
    second_looks: Sequence[Entry] = (),
) -> list[Entry]:
    """The next `limit` samples, best first, each label of the plan taken as given for those after it.

    At least half of any beginning of it is unflagged, while there is anything unflagged; one response per
    group, and none of the groups in `groups_done`. The same facts give the same queue.
    """
    queue = _Queue(strata, set(groups_done))
    looks = iter(second_looks)
    planned: list[Entry] = []
    while len(planned) < limit:
        entry = next(looks, None) if len(planned) % SECOND_LOOK_EVERY == SECOND_LOOK_EVERY - 1 else None
        entry = entry or queue.take() or next(looks, None)
        if entry is None:
            break
        planned.append(entry)
    return planned


def is_second_look(verdict_id: str) -> bool:
    """Whether a second labeler is to see this sample too: by hash, so that nobody chooses."""
    return unit_interval(verdict_id, "goldcheck second look") < SECOND_LOOK_RATE


@dataclass(slots=True)
class _Side:
    """What is accepted, or rejected, by one version of a verifier: what one interval speaks of."""

    verdicts: float = 0.0
    spread: float = 0.0
    """Sum of the strata's parts: about half the squared width of the interval."""


class _State:
    """How far the plan has come in one stratum."""

    def __init__(self, stratum: QueueStratum, side: _Side) -> None:
        self.stratum = stratum
        self._side = side
        self._weight = stratum.verdicts / side.verdicts
        self._position = 0
        self._labels = stratum.labels
        self._spread, self._next_spread = self._spread_with(self._labels), self._spread_with(self._labels + 1)
        if self._labels:
            side.spread += self._spread

    def gain(self) -> float:
        """By how much one more label would narrow the interval of this side, about."""
        if self._labels:
            return (self._spread - self._next_spread) / sqrt(2 * self._side.spread)
        # Nothing is known of a stratum without labels: it widens the interval by its whole weight.
        return self._weight

    def take(self, groups: set[str]) -> Candidate | None:
        """The next candidate of a group not in `groups`, which it joins, as if it were labelled now."""
        candidates = self.stratum.candidates
        while self._position < len(candidates):
            candidate = candidates[self._position]
            self._position += 1
            if candidate.group not in groups:
                groups.add(candidate.group)
                self._add_label()
                return candidate
        return None

    def _add_label(self) -> None:
        self._side.spread += self._next_spread - (self._spread if self._labels else 0.0)
        self._labels += 1
        self._spread, self._next_spread = self._next_spread, self._spread_with(self._labels + 1)

    def _spread_with(self, labels: int) -> float:
        """The stratum's part, were the rate that is known now found again in so many labels."""
        # Half an error more than were found: no stratum is taken for faultless after a few labels.
        rate = (self.stratum.errors + 0.5) / (self.stratum.labels + 1.0)
        lower, upper = clopper_pearson(rate * labels, labels)
        return self._weight**2 * ((rate - lower) ** 2 + (upper - rate) ** 2)


class _Queue:
    """Takes samples, one at a time, from where the next label gains most."""

    def __init__(self, strata: Iterable[QueueStratum], groups: set[str]) -> None:
        self._groups = groups
        known = sorted((one for one in strata if one.verdicts > 0), key=lambda one: one.key)
        sides: dict[tuple[str, str, str], _Side] = {}
        for one in known:
            sides.setdefault(_side(one.key), _Side()).verdicts += one.verdicts
        states = [_State(one, sides[_side(one.key)]) for one in known]
        self._plain = [state for state in states if not state.stratum.flagged]
        self._flagged = [state for state in states if state.stratum.flagged]
        self._lead = 0
        """Unflagged samples taken, less flagged ones."""

    def take(self) -> Entry | None:
        """The next sample; None when there is none left."""
        while self._plain or self._flagged:
            states = self._states_to_take_from()
            best = max(states, key=_State.gain)
            candidate = best.take(self._groups)
            if candidate is None:
                states.remove(best)
                continue
            self._lead += -1 if states is self._flagged else 1
            return Entry(candidate.id, best.stratum.key, second_look=False)
        return None

    def _states_to_take_from(self) -> list[_State]:
        if not self._flagged or not self._plain:
            return self._plain or self._flagged
        if self._lead < 1:
            return self._plain
        plain, flagged = (max(map(_State.gain, states)) for states in (self._plain, self._flagged))
        return self._flagged if flagged > plain else self._plain


def _side(key: Stratum) -> tuple[str, str, str]:
    return key.verifier, key.version, key.name.partition("/")[0]
