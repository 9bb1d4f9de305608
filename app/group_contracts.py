"""Groups over HTTP: what callers send, what they get back, and what may be asked of the counts."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, Required

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, with_config
from typing_extensions import TypedDict

from app.contracts import (
    MAX_INTEGER,
    MAX_LABEL,
    REQUEST_CONFIG,
    GroundTruth,
    Label,
    Meta,
    Options,
    Prompt,
    Response,
    Shaping,
    Stop,
    Verifier,
)
from app.reply_contracts import REPLY_CONFIG, VerifyReply

MAX_KS: Final = 64
MAX_PAGE: Final = 10_000


@with_config(REQUEST_CONFIG)
class GroupMember(TypedDict, total=False):
    """One response of a group."""

    response: Required[Response]
    stop: Stop | None
    rollout_id: Annotated[Label | None, Field(description="this response", examples=["g1-0"])]


@with_config(REQUEST_CONFIG)
class GroupTerms(TypedDict, total=False):
    """How the members are compared."""

    method: Annotated[
        Literal["grpo", "dr_grpo", "none"] | None,
        Field(
            description="grpo: (reward - mean) / (population deviation + eps); dr_grpo: reward - mean;"
            " none: no advantages. grpo when left out",
            examples=["grpo"],
        ),
    ]
    baseline: Annotated[
        Literal["scored", "included"] | None,
        Field(
            description="whose mean and deviation: all scored members, or only those that shaping.truncation"
            " does not mask. scored when left out",
            examples=["scored"],
        ),
    ]
    pass_at_k: Annotated[
        Annotated[list[Annotated[int, Field(ge=1, le=MAX_INTEGER)]], Field(max_length=MAX_KS)] | None,
        Field(description="each k of pass@k that is wanted", examples=[[1, 4]]),
    ]
    eps: Annotated[
        Annotated[float, Field(ge=0)] | None,
        Field(description="added to the deviation; 1e-8 when left out", examples=[1e-8]),
    ]


@with_config(REQUEST_CONFIG)
class GroupRequest(TypedDict, total=False):
    """One prompt, one ground truth, and the responses to it."""

    verifier: Required[Verifier]
    responses: Required[
        Annotated[
            list[GroupMember],
            Field(
                min_length=1,
                description="the members",
                examples=[[{"response": "so \\boxed{42}", "stop": {"reason": "stop"}}]],
            ),
        ]
    ]
    ground_truth: GroundTruth
    prompt: Prompt
    options: Options
    group: GroupTerms | None
    shaping: Shaping | None
    meta: Meta | None


@with_config(REQUEST_CONFIG)
class GroupDefaults(TypedDict, total=False):
    """Whole fields that groups of a batch leave out (`meta` is merged key by key)."""

    verifier: Verifier
    ground_truth: GroundTruth
    prompt: Prompt
    options: Options
    group: GroupTerms | None
    shaping: Shaping | None
    meta: Meta | None


@with_config(REQUEST_CONFIG)
class BatchGroup(GroupDefaults, total=False):
    """One group of a batch; whole fields left out are taken from `defaults` (`meta` key by key)."""

    responses: Required[
        Annotated[
            list[GroupMember],
            Field(min_length=1, description="the members", examples=[[{"response": "so \\boxed{42}"}]]),
        ]
    ]


@with_config(REQUEST_CONFIG)
class GroupBatchRequest(TypedDict, total=False):
    """Many groups."""

    groups: Required[
        Annotated[
            list[BatchGroup],
            Field(
                description="the groups",
                examples=[[{"ground_truth": "42", "responses": [{"response": "so \\boxed{42}"}]}]],
            ),
        ]
    ]
    defaults: Annotated[
        GroupDefaults | None, Field(description="fields of all groups", examples=[{"verifier": "numeric"}])
    ]


@with_config(REQUEST_CONFIG)
class GroupEnvelope(GroupDefaults, total=False):
    """A group before its members are looked at, one by one."""

    responses: Required[Annotated[list[Any], Field(min_length=1)]]


@with_config(REQUEST_CONFIG)
class GroupBatchEnvelope(TypedDict, total=False):
    """A batch before its groups are looked at, one by one."""

    groups: Required[list[Any]]
    defaults: GroupDefaults | None


MEMBER: Final = TypeAdapter(GroupMember)
GROUP: Final = TypeAdapter(GroupEnvelope)
GROUP_BATCH: Final = TypeAdapter(GroupBatchEnvelope)


def _field(description: str, example: Any, **limits: Any) -> Any:
    return Field(description=description, examples=[example], **limits)


Share = Annotated[float, Field(ge=0, le=1)]


@with_config(REPLY_CONFIG)
class MemberReply(VerifyReply):
    """One member judged, as by /v1/verify, and how it compares with the others."""

    advantage: Annotated[
        float | None, _field("null when unscorable, and for all under the method none", 1.732)
    ]


@with_config(REPLY_CONFIG)
class GroupStatisticsReply(TypedDict):
    """Counts and means of some members. null: there is nothing to tell it from."""

    count: Annotated[int, _field("members", 8, ge=0)]
    reward_mean: Annotated[float | None, _field("an unscorable member counts as 0 in `all`", 0.375)]
    reward_std: Annotated[float | None, _field("population deviation", 0.484, ge=0)]
    zero_std: Annotated[bool | None, _field("all rewards are equal", False)]
    solved: Annotated[int, _field("correct members", 3, ge=0)]
    pass_rate: Annotated[Share | None, _field("solved of count", 0.375)]
    pass_at_k: Annotated[
        dict[str, Share | None],
        _field("by k; null for a k above count", {"1": 0.375, "4": 0.928571}),
    ]
    distinct_responses: Annotated[int, _field("different texts, space around them aside", 8, ge=0)]
    distinct_answers: Annotated[
        int | None,
        _field("different values of verdict.detail.parsed; null where there is none", 4, ge=1),
    ]
    distinct_programs: Annotated[
        int | None,
        _field("Python programs that differ in more than names, literals and comments", None, ge=1),
    ]
    truncated_fraction: Annotated[Share | None, _field("of those whose ending is known", 0.25)]
    truncated_accepted_fraction: Annotated[
        Share | None, _field("of the truncated, those whose text holds an accepted answer already", 0.5)
    ]
    stop_reason_counts: Annotated[dict[str, int], _field("members by stop reason", {"eos": 6, "length": 2})]
    tokens: Annotated[int | None, _field("sum of stop.num_tokens where known", 4096, ge=0)]


RejectReason = Literal["all_correct", "all_wrong", "equal_partial", "too_few_valid"]


@with_config(REPLY_CONFIG)
class GroupSummary(TypedDict):
    """What the members come to together."""

    method: Annotated[Literal["grpo", "dr_grpo", "none"], _field("as asked", "grpo")]
    informative: Annotated[bool, _field("rewards differ, so there is something to learn", True)]
    reject_reason: Annotated[RejectReason | None, _field("why there is nothing to learn", None)]
    advantages: Annotated[list[float | None], _field("those of the members, in order", [1.0, -1.0, None])]
    all: Annotated[GroupStatisticsReply, Field(description="every member, the unscorable as not solved")]
    valid: Annotated[GroupStatisticsReply, Field(description="the scored members")]


@with_config(REPLY_CONFIG)
class GroupReply(TypedDict):
    """One group judged."""

    results: Annotated[list[MemberReply], Field(description="one per member, in order")]
    group: GroupSummary


@with_config(REPLY_CONFIG)
class GroupBatchReply(TypedDict):
    """The groups of a batch, in order."""

    groups: list[GroupReply]


@with_config(REPLY_CONFIG)
class IndexedGroupReply(GroupReply):
    """One line of a streamed batch."""

    index: Annotated[int, _field("position of the group in the batch", 0, ge=0)]


class GroupMetricsQuery(BaseModel):
    """Which groups to sum up; all conditions must hold, one left out or empty does not filter."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    run: Annotated[str | None, Field(max_length=MAX_LABEL, description="meta.run", examples=["r7"])] = None
    data_source: Annotated[
        str | None, Field(max_length=MAX_LABEL, description="meta.data_source", examples=["gsm8k"])
    ] = None
    split: Annotated[
        str | None, Field(max_length=MAX_LABEL, description="meta.split", examples=["train"])
    ] = None
    by: Annotated[
        Literal["step", "run", "data_source", "split"] | None,
        Field(description="sum up for each value of this field as well", examples=["step"]),
    ] = None
    cursor: Annotated[
        str | None,
        Field(max_length=8 * MAX_LABEL, description="`next` of the page before", examples=["MTIwMA"]),
    ] = None
    limit: Annotated[int, Field(ge=1, le=MAX_PAGE, description="values per page", examples=[1000])] = 1000


@with_config(REPLY_CONFIG)
class PassRateHistograms(TypedDict):
    """Groups by pass rate before any was rejected: exactly 0, the ten tenths between, exactly 1."""

    all: Annotated[list[int], _field("an unscorable member is not solved", [2, *[0] * 9, 1, 3])]
    valid: Annotated[list[int], _field("of the scored members, where there are any", [1, *[0] * 10, 4])]


@with_config(REPLY_CONFIG)
class GroupMetrics(TypedDict):
    """What became of some groups. Counts are exact."""

    groups: Annotated[int, _field("seen", 6, ge=0)]
    accepted: Annotated[int, _field("with something to learn", 3, ge=0)]
    rejected: Annotated[
        dict[RejectReason, int],
        _field(
            "groups by reason", {"all_correct": 1, "all_wrong": 2, "equal_partial": 0, "too_few_valid": 0}
        ),
    ]
    rejected_fraction: Annotated[Share | None, _field("rejected of seen", 0.5)]
    rejected_fraction_by_reason: Annotated[
        dict[RejectReason, Share | None],
        _field(
            "of seen",
            {"all_correct": 0.167, "all_wrong": 0.333, "equal_partial": 0.0, "too_few_valid": 0.0},
        ),
    ]
    groups_with_tokens: Annotated[
        int, _field("groups of which every member's stop.num_tokens is known", 6, ge=0)
    ]
    tokens: Annotated[int, _field("generated for those groups", 24576, ge=0)]
    tokens_per_accepted_group: Annotated[
        float | None, _field("those tokens for each accepted one of those groups", 8192.0, ge=0)
    ]
    pass_rate_hist: PassRateHistograms


@with_config(REPLY_CONFIG)
class KeyedGroupMetrics(GroupMetrics):
    """The groups that have one value of the field `by`."""

    key: Annotated[str | int | None, _field("that value; null: none was named", 1200)]


@with_config(REPLY_CONFIG)
class GroupMetricsReply(TypedDict):
    """What became of the groups that match."""

    total: Annotated[GroupMetrics, Field(description="all groups that match")]
    by: Annotated[Literal["step", "run", "data_source", "split"] | None, _field("as asked", "step")]
    items: Annotated[list[KeyedGroupMetrics], Field(description="ascending by key; empty without `by`")]
    next: Annotated[str | None, _field("cursor of the next page; null at the end", None)]
