"""The review queue and series of counts over HTTP: what may be asked, and what comes back."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, with_config
from typing_extensions import TypedDict

from app.audit_contracts import MAX_PAGE, Storable, Text, VerdictConditions
from app.reply_contracts import REPLY_CONFIG
from audit.labels import MAX_WORD
from audit.series import By


class QueueQuery(VerdictConditions):
    """Which samples may be among those to label. `labelled` and `status` are not looked at: none is labelled,
    all are scored."""

    for_labeler: Annotated[str, Storable] = Field(
        "",
        max_length=MAX_WORD,
        description="who is to label: no second look at one's own labels",
        examples=["ada"],
    )
    limit: int = Field(100, ge=1, le=MAX_PAGE, description="samples, at most", examples=[100])


@with_config(REPLY_CONFIG)
class QueuedSample(TypedDict):
    """A sample to be labelled."""

    id: Annotated[str, Field(description="of its verdict", examples=["0197f0c4-5b1e-7c3a-9d52-0e8b6f3a2c11"])]
    verifier: Annotated[str, Field(examples=["numeric"])]
    version: Annotated[str, Field(examples=["1.0.0"])]
    data_source: Annotated[str | None, Field(description="null: none was named", examples=["gsm8k"])]
    stratum: Annotated[
        str,
        Field(description="refined by the second opinion; gives the verdict away", examples=["accept/plain"]),
    ]
    second_look: Annotated[
        bool, Field(description="somebody else has labelled it: for their agreement", examples=[False])
    ]
    run: Annotated[str | None, Field(examples=["r7"])]
    step: Annotated[int | None, Field(examples=[1200])]


@with_config(REPLY_CONFIG)
class QueueReply(TypedDict):
    """Samples to label, the one whose label narrows an interval most first; one of each group."""

    items: list[QueuedSample]
    waiting: Annotated[int, Field(description="samples without a label, in all", examples=[412])]
    labelled: Annotated[int, Field(description="verdicts with one", examples=[37])]


class SeriesQuery(BaseModel):
    """Which counts to tell."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    by: By = Field("window", description="hours, exact; or ranges of steps, estimated", examples=["step"])
    verifier: Text = Field(None, description="name of the verifier", examples=["numeric"])
    version: Text = Field(None, description="version of the verifier", examples=["1.0.0"])
    data_source: Text = Field(None, description="meta.data_source; empty: none was named", examples=["gsm8k"])
    run: Text = Field(None, description="meta.run; windows are counted without it", examples=["r7"])
    step_width: int = Field(100, ge=1, le=10**9, description="steps that make one point", examples=[100])


Amount = Annotated[float, Field(ge=0)]


@with_config(REPLY_CONFIG)
class PointReply(TypedDict):
    """What was judged in one window, or in one range of steps."""

    at: Annotated[
        int,
        Field(description="start of the window, seconds since the epoch; or the first step", examples=[1200]),
    ]
    accepted: Annotated[Amount, Field(description="canaries apart", examples=[812])]
    rejected: Annotated[Amount, Field(description="canaries apart", examples=[388])]
    unscorable: Annotated[
        dict[str, Amount], Field(description="by failure kind", examples=[{"verifier_timeout": 2}])
    ]
    canaries: Annotated[Amount, Field(examples=[10])]
    canary_accepts: Annotated[Amount, Field(description="exploits", examples=[0])]
    flags: Annotated[
        dict[str, Amount], Field(description="estimated number with each", examples=[{"several_boxes": 4}])
    ]
    second: Annotated[
        dict[str, Amount], Field(description="estimated number by second opinion", examples=[{"agrees": 700}])
    ]


@with_config(REPLY_CONFIG)
class SeriesReply(TypedDict):
    """Counts in order, the last thousand points."""

    by: Annotated[By, Field(examples=["window"])]
    items: list[PointReply]
