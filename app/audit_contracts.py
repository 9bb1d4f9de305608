"""The verdict log over HTTP: what may be asked, and what a stored verdict looks like."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, with_config
from typing_extensions import TypedDict

from app.contracts import MAX_INTEGER, MAX_LABEL
from app.label_contracts import StoredLabel
from app.reply_contracts import REPLY_CONFIG, Status, StopReason
from audit.keys import column_text

MAX_PAGE: Final = 1000

Storable = AfterValidator(lambda text: text and column_text(text))
"""A query or an id as it would be stored; some databases refuse NUL even in a question."""

Text = Annotated[str | None, Field(max_length=MAX_LABEL), Storable]
RowId = Annotated[str, Storable]
Step = Annotated[int | None, Field(ge=-MAX_INTEGER, le=MAX_INTEGER)]


class VerdictConditions(BaseModel):
    """Which stored verdicts are wanted; all conditions must hold."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    verifier: Text = Field(None, description="name of the verifier", examples=["numeric"])
    version: Text = Field(None, description="version of the verifier", examples=["1.0.0"])
    data_source: Text = Field(None, description="meta.data_source; empty: none was named", examples=["gsm8k"])
    run: Text = Field(None, description="meta.run", examples=["r7"])
    step_min: Step = Field(None, description="least meta.step", examples=[1000])
    step_max: Step = Field(None, description="greatest meta.step", examples=[1200])
    stratum: Text = Field(None, description="audit.stratum of the reply", examples=["accept/plain"])
    flag: Text = Field(None, description="one of audit.flags of the reply", examples=["replaced_characters"])
    correct: bool | None = Field(None, description="verdict.correct of the reply", examples=[True])
    status: Status | None = Field(None, description="scored or unscorable", examples=["scored"])
    stop_reason: StopReason | None = Field(None, description="canonical stop reason", examples=["length"])
    labelled: bool | None = Field(None, description="whether somebody has labelled it", examples=[False])
    labeler: Text = Field(None, description="somebody who has labelled it", examples=["ada"])
    second: Literal["agrees", "accepts", "rejects", "unknown"] | None = Field(
        None, description="outcome of the second opinion", examples=["rejects"]
    )
    q: Text = Field(
        None, description="text in response, prompt or ground truth, upper or lower case", examples=["3/7"]
    )


class VerdictQuery(VerdictConditions):
    """Which stored verdicts to list, page by page."""

    cursor: Text = Field(None, description="`next` of the page before", examples=["MDE5N2YwYzQt"])
    limit: int = Field(100, ge=1, le=MAX_PAGE, description="verdicts per page, at most", examples=[100])


class ExportQuery(VerdictConditions):
    """Which stored verdicts to export."""

    rewards: bool = Field(
        False,
        description="instead of verdicts, lines `{prompt_id, rewards}`: rewards of stored responses to one"
        " prompt in one step",
        examples=[False],
    )


@with_config(REPLY_CONFIG)
class StoredVerifier(TypedDict):
    """What judged."""

    name: Annotated[str, Field(examples=["numeric"])]
    version: Annotated[str, Field(examples=["1.0.0"])]
    environment: Annotated[str, Field(examples=["b41c0f5e9d2a7c31"])]


@with_config(REPLY_CONFIG)
class VerdictSummary(TypedDict):
    """One stored verdict, without its texts."""

    id: Annotated[str, Field(examples=["0197f0c4-5b1e-7c3a-9d52-0e8b6f3a2c11"])]
    created_at: Annotated[str, Field(description="UTC (RFC 3339)", examples=["2026-03-01T12:00:00.000Z"])]
    verifier: StoredVerifier
    status: Annotated[str, Field(examples=["scored"])]
    correct: Annotated[bool | None, Field(description="null: unscorable", examples=[True])]
    reward: Annotated[float | None, Field(description="null: unscorable", examples=[1.0])]
    reason: Annotated[str, Field(description="reason or failure kind", examples=["within_tolerance"])]
    stratum: Annotated[str, Field(examples=["accept/plain"])]
    flags: Annotated[list[str], Field(examples=[[]])]
    stop_reason: Annotated[str, Field(examples=["eos"])]
    truncated: Annotated[bool | None, Field(examples=[False])]
    data_source: Annotated[str | None, Field(examples=["gsm8k"])]
    run: Annotated[str | None, Field(examples=["r7"])]
    step: Annotated[int | None, Field(examples=[1200])]
    split: Annotated[str | None, Field(examples=["train"])]
    prompt_id: Annotated[str | None, Field(examples=["q1"])]
    group_id: Annotated[str | None, Field(examples=["g1"])]
    rollout_id: Annotated[str | None, Field(examples=["g1-3"])]
    canary: Annotated[bool, Field(examples=[False])]
    labelled: Annotated[bool, Field(examples=[False])]
    second: Annotated[
        str | None,
        Field(
            description="second opinion: agrees, accepts, rejects or unknown; null: none yet",
            examples=["agrees"],
        ),
    ]
    inclusion_probability: Annotated[
        float | None,
        Field(
            description="chance that this verdict had of being sampled; null: stored for another reason, so"
            " that rates must not count it",
            examples=[0.1],
        ),
    ]


@with_config(REPLY_CONFIG)
class SecondOpinion(TypedDict):
    """What another way of judging said of a stored verdict."""

    method: Annotated[
        Literal["math", "sympy", "hidden_cases", "shuffled", "mutated", "rerun"], Field(examples=["math"])
    ]
    outcome: Annotated[
        Literal["agrees", "accepts", "rejects", "unknown"],
        Field(description="accepts and rejects contradict the verdict", examples=["agrees"]),
    ]
    detail: Annotated[dict[str, Any], Field(examples=[{"reason": "equal"}])]


@with_config(REPLY_CONFIG)
class FlagEvidence(TypedDict):
    """What a flag rests on."""

    flag: Annotated[str, Field(examples=["several_boxes"])]
    late: Annotated[bool, Field(description="found after the reply", examples=[False])]
    evidence: Annotated[
        list[list[int]] | str | None,
        Field(
            description="half-open spans of the response, in code points, or a short text",
            examples=[[[7, 8]]],
        ),
    ]


@with_config(REPLY_CONFIG)
class StoredVerdict(VerdictSummary):
    """One stored verdict whole, texts and numbers exactly as judged."""

    flag_evidence: list[FlagEvidence]
    second_opinions: Annotated[
        list[SecondOpinion], Field(description="empty: none could be had, or none yet")
    ]
    labels: Annotated[
        list[StoredLabel], Field(description="oldest first, those taken back and the rows that did so too")
    ]
    prompt: Annotated[
        str | list[dict[str, Any]] | None, Field(description="as sent", examples=["What part is blue?"])
    ]
    ground_truth: Annotated[Any, Field(description="as judged; null: not sent", examples=["0.428571"])]
    request: Annotated[
        dict[str, Any],
        Field(description="options, stop, shaping as sent", examples=[{"stop": {"reason": "stop"}}]),
    ]
    meta: Annotated[dict[str, Any], Field(description="as sent", examples=[{"data_source": "gsm8k"}])]
    response: Annotated[str, Field(description="as judged", examples=["so \\boxed{3/7}"])]
    reply: Annotated[dict[str, Any], Field(description="the whole reply", examples=[{"status": "scored"}])]


@with_config(REPLY_CONFIG)
class VerdictPage(TypedDict):
    """Stored verdicts, newest first."""

    items: list[VerdictSummary]
    next: Annotated[
        str | None,
        Field(
            description="cursor of the next page; null at the end. A page of a text search may hold less than"
            " `limit`, even nothing, and still have a next one",
            examples=[None],
        ),
    ]
