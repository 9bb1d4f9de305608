"""Drift and label needs over HTTP: what may be asked, and what is told."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, with_config
from typing_extensions import TypedDict

from app.audit_contracts import Storable
from app.contracts import Label
from app.estimate_contracts import Slice
from app.reply_contracts import REPLY_CONFIG
from audit.drift import ALPHA, TOLERANCE


def _field(description: str, example: Any, **limits: Any) -> Any:
    return Field(description=description, examples=[example], **limits)


class DriftQuery(Slice):
    """Whose rates to follow."""

    verifier: Annotated[Label, Storable] = Field(description="name of the verifier", examples=["numeric"])
    by: Literal["window", "version"] = Field(
        "window",
        description="window: stretches of time, each beside all before it; version: each beside the one"
        " before it",
        examples=["window"],
    )
    span_hours: int = Field(24, ge=1, le=24 * 366, description="length of a stretch", examples=[24])
    tolerance: float = Field(
        TOLERANCE, ge=0, le=1, description="surely smaller changes raise no alarm", examples=[TOLERANCE]
    )


@with_config(REPLY_CONFIG)
class ChangeReply(TypedDict):
    """One rate beside what it was before. Null: too few labels, or no verdicts."""

    before: Annotated[float | None, _field("earlier", 0.01)]
    after: Annotated[float | None, _field("now", 0.03)]
    difference: Annotated[float | None, _field("after - before", 0.02)]
    lower: Annotated[float | None, _field("bound of the difference", 0.004)]
    upper: Annotated[float | None, _field("bound of the difference", 0.05)]
    confidence: Annotated[float, _field("of those bounds; it rises from look to look", 0.9899)]
    alarm: Annotated[
        Literal["rose", "fell"] | None, _field("the change is surely larger than the tolerance", None)
    ]


DriftMeasures = TypedDict(  # one of its names is a keyword of Python
    "DriftMeasures",
    {
        "fdr": Annotated[ChangeReply, Field(description="false discoveries among accepts, from labels")],
        "for": Annotated[ChangeReply, Field(description="false omissions among rejects, from labels")],
        "null_rate": Annotated[ChangeReply, Field(description="unscorable of all, counted")],
    },
)
with_config(REPLY_CONFIG)(DriftMeasures)


@with_config(REPLY_CONFIG)
class LookReply(TypedDict):
    """One stretch of time, or one version, beside what came before."""

    version: Annotated[str | None, _field("by version: which", None)]
    start: Annotated[str, _field("UTC (RFC 3339); by version: its first window", "2026-03-02T00:00:00Z")]
    end: Annotated[str, _field("where it ends; by version: its last window", "2026-03-03T00:00:00Z")]
    measures: DriftMeasures


@with_config(REPLY_CONFIG)
class DriftReply(TypedDict):
    """Rates beside what they were before, ascending by time."""

    by: Annotated[Literal["window", "version"], _field("as asked", "window")]
    alpha: Annotated[
        float, _field("chance of any alarm while nothing changes, all looks and rates together", ALPHA)
    ]
    items: list[LookReply]


class NeedsQuery(BaseModel):
    """What is to be known, or found."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rate: float = Field(
        0.01, gt=0, lt=1, description="error rate that is expected, or feared", examples=[0.02]
    )
    half_width: float = Field(
        0.005, gt=0, lt=1, description="how well it is to be known: within plus or minus", examples=[0.01]
    )
    confidence: float = Field(0.95, ge=0.5, le=0.9999, description="of that interval", examples=[0.95])
    errors: int = Field(3, ge=1, le=1000, description="errors that are to be found", examples=[3])
    share: float = Field(
        1.0,
        gt=0,
        le=1,
        description="share of the labelled side or stratum in which errors happen at that rate, the rest"
        " being right",
        examples=[0.2],
    )
    probability: float = Field(0.95, gt=0, lt=1, description="of finding them", examples=[0.95])
    per_group: float = Field(
        1.0, ge=1, le=10_000, description="labels per group of responses to one prompt", examples=[1]
    )
    correlation: float = Field(
        0.4, ge=0, le=1, description="of errors within a group; counts where per_group is above 1"
    )


@with_config(REPLY_CONFIG)
class NeedsReply(TypedDict):
    """Labels of verdicts that were drawn. Null: more than a billion."""

    for_half_width: Annotated[int | None, _field("until the rate is known so well", 1606)]
    to_find: Annotated[int | None, _field("until so many errors are found with that probability", 1572)]
    design_effect: Annotated[float, _field("factor in both, for labelling whole groups", 1.0)]
