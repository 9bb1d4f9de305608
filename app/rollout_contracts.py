"""Rollout records and batches over HTTP: what is sent to be validated, and the answer."""

from __future__ import annotations

from typing import Annotated, Any, Final, NotRequired

from pydantic import Field, TypeAdapter, with_config
from typing_extensions import TypedDict

from app.contracts import REQUEST_CONFIG
from app.reply_contracts import REPLY_CONFIG, ErrorPlace

_RECORD_EXAMPLE: Final = {
    "prompt_id": "q1",
    "group_id": "g1",
    "token_ids": [5, 6, 2],
    "action_mask": [1, 1, 1],
    "old_logprobs": [-0.1, -0.7, -0.2],
    "reward_components": {"correctness": 1.0},
    "stop_reason": "eos",
    "generator_version": "ckpt-1200",
}
_BATCH_EXAMPLE: Final = {
    "response_ids": [[5, 6], [7, 8]],
    "response_mask": [[1, 1], [1, 0]],
    "old_logprobs": [[-0.1, -0.7], [-0.2, None]],
    "ref_logprobs": [[-0.1, -0.6], [-0.3, None]],
    "sequence_rewards": [1.0, 0.0],
    "terminated": [True, False],
    "truncated": [False, True],
    "stop_reason": ["eos", "length"],
}


@with_config(REQUEST_CONFIG)
class RolloutRequest(TypedDict, total=False):
    """One rollout record, or a padded batch of rollouts: one of the two."""

    record: Annotated[
        dict[str, Any] | None,
        Field(description="the fields of `rollouts.RolloutRecord`", examples=[_RECORD_EXAMPLE]),
    ]
    batch: Annotated[
        dict[str, Any] | None,
        Field(
            description="arrays [B, T] and [B], as `rollouts.validate_rollout_batch` asks for;"
            " null in the padding of log-probabilities",
            examples=[_BATCH_EXAMPLE],
        ),
    ]


REQUEST: Final = TypeAdapter(RolloutRequest)


@with_config(REPLY_CONFIG)
class RecordSummary(TypedDict):
    """What a valid record holds."""

    tokens: Annotated[int, Field(description="of the response", examples=[3], ge=1)]
    actions: Annotated[int, Field(description="tokens that the policy chose", examples=[3], ge=1)]
    reward: Annotated[
        float | None, Field(description="sum of the components; null: beyond a float", examples=[1.0])
    ]
    stop_reason: Annotated[str, Field(description="as sent", examples=["eos"])]
    terminated: Annotated[bool | None, Field(description="by the default rules", examples=[True])]
    truncated: Annotated[bool | None, Field(description="by the default rules", examples=[False])]


@with_config(REPLY_CONFIG)
class BatchSummary(TypedDict):
    """What a valid batch holds."""

    batch_size: Annotated[int, Field(description="B", examples=[2], ge=1)]
    max_response_tokens: Annotated[int, Field(description="T", examples=[2], ge=1)]
    active_tokens: Annotated[int, Field(description="that the loss sees", examples=[3], ge=0)]
    terminated_sequences: Annotated[int, Field(examples=[1], ge=0)]
    truncated_sequences: Annotated[int, Field(examples=[1], ge=0)]
    mean_response_length: Annotated[float, Field(description="tokens", examples=[1.5], ge=1)]


@with_config(REPLY_CONFIG)
class ValidationReply(TypedDict):
    """Whether training can learn from it, and if not, why."""

    valid: Annotated[bool, Field(description="nothing is wrong with it", examples=[True])]
    summary: NotRequired[
        Annotated[RecordSummary | BatchSummary, Field(description="what it holds, when it is valid")]
    ]
    violations: NotRequired[
        Annotated[
            list[ErrorPlace],
            Field(description="the first hundred, as pointers into the body; in an archive, /array/index"),
        ]
    ]
    violations_total: NotRequired[
        Annotated[int, Field(description="how many there are in all", examples=[1], ge=1)]
    ]
