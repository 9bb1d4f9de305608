"""Error rates over HTTP: what may be asked, and how rates are told."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, Literal

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, with_config
from typing_extensions import TypedDict

from app.audit_contracts import Step, Text
from app.reply_contracts import REPLY_CONFIG
from audit.estimate_queries import EstimateFilter
from audit.estimate_reader import By
from audit.estimates import Refusal
from audit.windows import Lack

MAX_STEP_WIDTH: Final = 10**9
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")


def _field(description: str, example: Any, **limits: Any) -> Any:
    return Field(description=description, examples=[example], **limits)


def _written_out(text: Any) -> Any:
    """Refuse the numbers that pydantic would take for seconds, or milliseconds, since 1970."""
    if isinstance(text, str) and not _DAY.match(text):
        raise ValueError("must be a time as in 2026-03-01T00:00:00Z")
    return text


Moment = Annotated[AwareDatetime, BeforeValidator(_written_out)]


class Slice(BaseModel):
    """Which verdicts to speak of; all conditions must hold."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    verifier: Text = Field(None, description="name of the verifier", examples=["numeric"])
    version: Text = Field(None, description="version of the verifier", examples=["1.0.0"])
    data_source: Text = Field(None, description="meta.data_source; empty: none was named", examples=["gsm8k"])
    stratum: Text = Field(None, description="audit.stratum of the replies", examples=["accept/plain"])
    since: Moment | None = Field(
        None, description="windows that begin then or later", examples=["2026-03-01T00:00:00Z"]
    )
    until: Moment | None = Field(
        None, description="windows that begin before", examples=["2026-03-02T00:00:00Z"]
    )

    def as_filter(self) -> EstimateFilter:
        """For the audit."""
        fields = self.model_dump(include=set(EstimateFilter.__dataclass_fields__))
        since = None if self.since is None else int(self.since.timestamp())
        until = None if self.until is None else int(self.until.timestamp())
        return EstimateFilter(**fields, since_s=since, until_s=until)


class EstimateQuery(Slice):
    """Which rates to tell."""

    by: By = Field("verifier", description="one group of verdicts for each value of it", examples=["version"])
    run: Text = Field(None, description="meta.run; sizes are then estimated", examples=["r7"])
    step_min: Step = Field(None, description="least meta.step; likewise", examples=[1000])
    step_max: Step = Field(None, description="greatest meta.step; likewise", examples=[1200])
    step_width: int = Field(
        100, ge=1, le=MAX_STEP_WIDTH, description="steps that make one group, by step", examples=[100]
    )
    confidence: float = Field(
        0.95, ge=0.5, le=0.9999, description="with which the bounds hold", examples=[0.95]
    )


Share = Annotated[float, Field(ge=0, le=1)]
Amount = Annotated[float, Field(ge=0)]


@with_config(REPLY_CONFIG)
class RateReply(TypedDict):
    """A rate. The bounds hold always; no estimate, but a reason, where too little is known."""

    estimate: Annotated[float | None, _field("of the verdicts that the labels cover", 0.015)]
    lower: Annotated[float, _field("lower bound, over all verdicts", 0.0104)]
    upper: Annotated[float, _field("upper bound, over all verdicts", 0.0483)]
    reason: Annotated[Refusal | None, _field("why there is no estimate", None)]


RatesReply = TypedDict(  # one of its names is a keyword of Python
    "RatesReply",
    {
        "fdr": Annotated[RateReply, Field(description="false discoveries: wrong among accepts")],
        "for": Annotated[RateReply, Field(description="false omissions: right among rejects")],
        "fpr": Annotated[RateReply, Field(description="false positives: accepted among wrong answers")],
        "fnr": Annotated[RateReply, Field(description="false negatives: rejected among right answers")],
        "prevalence": Annotated[RateReply, Field(description="right among all answers")],
        "informedness": Annotated[
            RateReply, Field(description="1 - fpr - fnr; above 0 the reward points the right way")
        ],
        "accepted": Annotated[RateReply, Field(description="accepts among scored verdicts")],
    },
)
with_config(REPLY_CONFIG)(RatesReply)


@with_config(REPLY_CONFIG)
class SideReply(TypedDict):
    """What the labels say about accepts, or about rejects."""

    verdicts: Annotated[Amount, _field("of this side", 10_000)]
    labels: Annotated[int, _field("decided ones of drawn samples", 240, ge=0)]
    errors: Annotated[int, _field("of those, verdicts that were wrong", 27, ge=0)]
    undecided: Annotated[int, _field("unsure, contradictory, or the ground truth is wrong", 2, ge=0)]
    unlabelled_strata: Annotated[int, _field("strata without any label", 1, ge=0)]
    covers: Annotated[Share, _field("share of the verdicts that lie in strata with labels", 0.97)]
    with_undecided: Annotated[
        RateReply,
        Field(
            description="the side's rate, its bounds for the undecided being all right and being all wrong"
        ),
    ]


@with_config(REPLY_CONFIG)
class CanariesReply(TypedDict):
    """Items whose ground truth cannot be reached: each accept is a false positive."""

    verdicts: Annotated[int, _field("canaries judged", 400, ge=0)]
    accepted: Annotated[int, _field("exploits", 1, ge=0)]
    unscorable: Annotated[int, _field("not judged", 0, ge=0)]
    fpr_lower: Annotated[Share, _field("one-sided lower bound of the share accepted", 0.0001)]


@with_config(REPLY_CONFIG)
class StratumReply(TypedDict):
    """One stratum, or the part of it on which a second opinion differs or does not."""

    verifier: Annotated[str, _field("name", "numeric")]
    version: Annotated[str, _field("version", "1.0.0")]
    data_source: Annotated[str | None, _field("null: none was named", "gsm8k")]
    stratum: Annotated[str, _field("as the replies say", "accept/plain")]
    second: Annotated[
        Literal["accepts", "rejects"] | None, _field("the second opinion contradicts the verdict", None)
    ]
    verdicts: Annotated[Amount, _field("estimated for the parts of a stratum", 9000)]
    labels: Annotated[int, _field("decided ones", 100, ge=0)]
    errors: Annotated[int, _field("verdicts that were wrong", 0, ge=0)]
    undecided: Annotated[int, _field("unsure or bad_ground_truth", 0, ge=0)]
    effective_labels: Annotated[
        Amount, _field("as many labels of equal weight, one to a group, would tell as much", 96.4)
    ]
    rate: RateReply
    upper_one_sided: Annotated[
        Share | None, _field("where no error was found: the bound that says no more than that", 0.0295)
    ]


@with_config(REPLY_CONFIG)
class EstimateReply(TypedDict):
    """The rates of one group; what the group is not by is null."""

    verifier: Annotated[str | None, _field("of the group", "numeric")]
    version: Annotated[str | None, _field("of the group", "1.0.0")]
    data_source: Annotated[str | None, _field("of the group; empty: none was named", None)]
    stratum: Annotated[str | None, _field("of the group", None)]
    window_start: Annotated[str | None, _field("UTC (RFC 3339)", None)]
    step_min: Annotated[int | None, _field("of the group; null too where no step was named", None)]
    step_max: Annotated[int | None, _field("of the group", None)]
    sizes: Annotated[
        Literal["exact", "estimated"],
        _field("estimated from the sample where runs or steps are asked for; bounds allow for it", "exact"),
    ]
    scored: Annotated[Amount, _field("verdicts, canaries apart", 25_000)]
    unscorable: Annotated[dict[str, Amount], _field("by failure kind", {"verifier_timeout": 12})]
    null_rate: Annotated[Share | None, _field("unscorable of all; null: there are none", 0.0005)]
    rates: RatesReply
    accepts: SideReply
    rejects: SideReply
    canaries: Annotated[CanariesReply | None, Field(description="null: none were sent")]
    strata: Annotated[list[StratumReply], Field(description="what the rates are made of")]


@with_config(REPLY_CONFIG)
class AgreementReply(TypedDict):
    """How far labelers agree, over all samples that several have labelled."""

    samples: Annotated[int, _field("labelled by two at least", 100, ge=0)]
    agreeing: Annotated[int, _field("with the same answer", 92, ge=0)]
    kappa: Annotated[float | None, _field("Cohen's, beyond chance; null: not defined", 0.838)]


@with_config(REPLY_CONFIG)
class IncompleteWindow(TypedDict):
    """A window whose numbers are not whole."""

    window_start: Annotated[str, _field("UTC (RFC 3339)", "2026-03-01T12:00:00Z")]
    lacks: Annotated[
        list[Lack],
        _field(
            "lost_counts: the service died and verdicts may be missing; shed: more than 1 % of the sample is",
            ["lost_counts"],
        ),
    ]


@with_config(REPLY_CONFIG)
class EstimatesReply(TypedDict):
    """Error rates by group, ascending; at most 500 groups, of windows and steps the newest."""

    by: Annotated[By, _field("as asked", "version")]
    confidence: Annotated[float, _field("as asked", 0.95)]
    items: list[EstimateReply]
    incomplete_windows: Annotated[
        list[IncompleteWindow], Field(description="of the time asked for; their sizes may be too small")
    ]
    agreement: AgreementReply
