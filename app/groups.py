"""Groups: a validated envelope -> jobs of the members, in the order of the request. Bad calls end here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from app import group_contracts
from app.errors import Faults, Problem
from app.ground_truths import GroundTruths
from app.ids import IdMaker
from app.intake import Intake, Job
from app.items import clean, fill, validate
from app.pacing import Pace
from app.parsing import Document
from app.settings import Settings

_DEFAULT_EPS: Final = 1e-8


@dataclass(frozen=True, slots=True)
class Terms:
    """How the members of a group are compared; see `rollouts.group_report`."""

    method: Literal["grpo", "dr_grpo", "none"] = "grpo"
    baseline: Literal["scored", "included"] = "scored"
    ks: tuple[int, ...] = ()
    eps: float = _DEFAULT_EPS


@dataclass(frozen=True, slots=True)
class Group:
    """The responses to one prompt, and how they are to be compared."""

    jobs: list[Job]
    terms: Terms
    meta: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Defaults:
    """What groups of a batch take over. replaced: the ground truth among it had to be made storable."""

    fields: Mapping[str, Any]
    replaced: bool


_NO_DEFAULTS: Final = _Defaults({}, False)


class GroupIntake:
    """Turns documents into groups, under the limits of the settings. intake: reads what each member says."""

    def __init__(self, settings: Settings, intake: Intake) -> None:
        self._settings = settings
        self._intake = intake
        self._new_id = IdMaker()

    async def single(self, document: Document) -> list[Group]:
        """The group of one request. Raises Problem."""
        faults = Faults()
        self._check_count([document.value])
        group = await self._group(document, document.value, _NO_DEFAULTS, "", faults)
        faults.raise_if_any()
        assert group is not None  # noqa: S101 - there is a fault or a group
        return [group]

    async def batch(self, document: Document) -> list[Group]:
        """The groups of a batch, in order. Raises Problem, for the whole batch, when anything is wrong."""
        faults = Faults()
        raw_defaults = document.value.get("defaults") if isinstance(document.value, dict) else None
        replaced = "ground_truth" in clean(document, raw_defaults)
        envelope = validate(group_contracts.GROUP_BATCH, document.value, "", faults)
        faults.raise_if_any()
        assert envelope is not None  # noqa: S101
        self._check_count(envelope["groups"])
        defaults = _Defaults(envelope.get("defaults") or {}, replaced)
        groups: list[Group] = []
        pace = Pace()
        for index, raw in enumerate(envelope["groups"]):
            pointer = f"/groups/{index}"
            group = await self._group(document, raw, defaults, pointer, faults)
            if group is not None:
                groups.append(group)
            if pace.is_over:
                await pace.pause()
        faults.raise_if_any()
        return groups

    def _check_count(self, groups: list[Any]) -> None:
        """Bound the responses of all groups together, like the items of a batch."""
        most = self._settings.max_items
        found = sum(map(_size, groups))
        if found > most or len(groups) > most:
            message = f"a request may hold {most} responses, this one holds {max(found, len(groups))}"
            raise Problem("too_many_items", message)

    async def _group(
        self, document: Document, raw: Any, defaults: _Defaults, pointer: str, faults: Faults
    ) -> Group | None:
        """One group; None, with faults added, where there can be none."""
        values = _members(raw)
        changed = [bool(clean(document, value)) for value in values]
        truth_replaced = "ground_truth" in clean(document, raw)
        envelope = validate(group_contracts.GROUP, raw, pointer, faults)
        members = await _validate_members(values, pointer, faults)
        if envelope is None:
            return None
        truth_replaced |= defaults.replaced and "ground_truth" not in envelope
        shared = fill(envelope, defaults.fields)
        del shared["responses"]
        asked = shared.pop("group", None) or {}
        meta = shared.get("meta") or {}
        if meta.get("group_id") is None:  # so that they are found together in the verdict log
            meta = {**meta, "group_id": self._new_id()}
        verifier, options = self._intake.terms(shared, pointer, faults)
        truths = GroundTruths(self._settings, document, {})
        jobs: list[Job] = []
        pace = Pace()
        for index, (member, replaced) in enumerate(zip(members, changed, strict=True)):
            if member is not None:
                rollout_id = member.pop("rollout_id", None)
                own = meta if rollout_id is None else {**meta, "rollout_id": rollout_id}
                job = self._intake.response_job(
                    {**shared, **member, "meta": own},
                    verifier,
                    options,
                    truths,
                    replaced or truth_replaced,
                    f"{pointer}/responses/{index}",
                    faults,
                )
                if job is not None:
                    jobs.append(job)
            if pace.is_over:
                await pace.pause()
        return Group(jobs, _terms(asked), meta)


async def _validate_members(
    values: Sequence[Any], pointer: str, faults: Faults
) -> list[dict[str, Any] | None]:
    members: list[dict[str, Any] | None] = []
    pace = Pace()
    for index, value in enumerate(values):
        members.append(validate(group_contracts.MEMBER, value, f"{pointer}/responses/{index}", faults))
        if pace.is_over:
            await pace.pause()
    return members


def _members(raw: Any) -> list[Any]:
    members = raw.get("responses") if isinstance(raw, dict) else None
    return members if isinstance(members, list) else []


def _size(raw: Any) -> int:
    return len(_members(raw))


def _terms(asked: Mapping[str, Any]) -> Terms:
    return Terms(
        method=asked.get("method") or "grpo",
        baseline=asked.get("baseline") or "scored",
        ks=tuple(asked.get("pass_at_k") or ()),
        eps=_DEFAULT_EPS if asked.get("eps") is None else float(asked["eps"]),
    )
