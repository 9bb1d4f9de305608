"""Stored verdicts beside those of the present verifiers: what flips, and whether labels call that wrong."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from audit.comparisons import mcnemar_exact

Flip = Literal["same", "accepted", "rejected", "scored", "unscorable"]
"""What became of a verdict: rejected before and accepted now, the other way round, or null before or now."""

MAX_LISTED: Final = 1000


class Judged(NamedTuple):
    """What a verifier said. correct: None when unscorable."""

    version: str
    environment: str
    correct: bool | None
    reason: str


@dataclass(frozen=True, slots=True)
class Replayed:
    """One item judged before and now. answer: what its labels come to, if it has any."""

    id: str
    verifier: str
    before: Judged
    now: Judged
    answer: str | None = None

    @property
    def flip(self) -> Flip:
        """What became of it."""
        if self.before.correct is self.now.correct:
            return "same"
        if self.now.correct is None:
            return "unscorable"
        if self.before.correct is None:
            return "scored"
        return "accepted" if self.now.correct else "rejected"

    @property
    def turned_wrong(self) -> bool:
        """By its label the verdict is wrong now and was not before, or was right and is none any more."""
        before, now = self._wrong(self.before), self._wrong(self.now)
        return (now is True and before is not True) or (now is None and before is False)

    @property
    def turned_right(self) -> bool:
        """By its label the verdict was wrong before, and is right now."""
        return self._wrong(self.before) is True and self._wrong(self.now) is False

    @property
    def is_test(self) -> bool:
        """Whether its label says which verdict is right."""
        return self.answer in {"correct", "incorrect"}

    @property
    def is_wrong(self) -> bool:
        """Whether its label contradicts the verdict of now."""
        return self._wrong(self.now) is True

    def _wrong(self, judged: Judged) -> bool | None:
        """None: there is no verdict, or no label that says which is right."""
        if not self.is_test or judged.correct is None:
            return None
        return judged.correct is not (self.answer == "correct")

    def as_json(self) -> dict[str, Any]:
        """As a line of the results."""
        return {
            "id": self.id,
            "verifier": self.verifier,
            "before": self.before._asdict(),
            "now": self.now._asdict(),
            "answer": self.answer,
            "flip": self.flip,
            "turned_wrong": self.turned_wrong,
        }

    @staticmethod
    def from_json(line: dict[str, Any]) -> Replayed:
        """Back from a line; raises what a line that is none raises: KeyError, TypeError."""
        before, now = Judged(**line["before"]), Judged(**line["now"])
        return Replayed(line["id"], line["verifier"], before, now, line["answer"])


@dataclass(slots=True)
class Comparison:
    """Items of one verifier, judged by one version before and by one now."""

    items: int = 0
    flips: dict[Flip, int] = field(default_factory=dict)
    labelled: int = 0
    wrong: int = 0
    turned_wrong: int = 0
    turned_right: int = 0

    def add(self, item: Replayed) -> None:
        """Count one item."""
        self.items += 1
        self.flips[item.flip] = self.flips.get(item.flip, 0) + 1
        self.labelled += item.is_test
        self.wrong += item.is_wrong
        self.turned_wrong += item.turned_wrong
        self.turned_right += item.turned_right

    @property
    def p_flips(self) -> float:
        """McNemar: could as many flips one way and the other be chance?"""
        return mcnemar_exact(self.flips.get("accepted", 0), self.flips.get("rejected", 0))

    @property
    def p_errors(self) -> float:
        """The same of labelled items that turned wrong and that turned right."""
        return mcnemar_exact(self.turned_wrong, self.turned_right)


class Comparisons:
    """All of a replay, by verifier and its versions before and now."""

    def __init__(self) -> None:
        self.by_versions: dict[tuple[str, str, str], Comparison] = {}
        self.turned_wrong: list[Replayed] = []
        """The first `MAX_LISTED`."""

    def add(self, item: Replayed) -> None:
        """Count one item."""
        key = item.verifier, item.before.version, item.now.version
        self.by_versions.setdefault(key, Comparison()).add(item)
        if item.turned_wrong and len(self.turned_wrong) < MAX_LISTED:
            self.turned_wrong.append(item)
