"""What callers send. The one truth about requests: validation and the OpenAPI document are both made from it.

Typed dictionaries, not models: a batch holds thousands of items, a field that was not sent must stay apart
from one that is null, and items are merged with defaults field by field.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, Required

from pydantic import ConfigDict, Field, TypeAdapter, with_config
from typing_extensions import TypedDict

REQUEST_CONFIG: Final = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)

MAX_INTEGER: Final = 2**63 - 1

MAX_LABEL: Final = 1024

Label = Annotated[str, Field(max_length=MAX_LABEL)]
Tokens = Annotated[int, Field(ge=0, le=MAX_INTEGER)]
TokenId = Annotated[int, Field(ge=-MAX_INTEGER, le=MAX_INTEGER)]
Words = Annotated[list[Label], Field(max_length=256)]


@with_config(REQUEST_CONFIG)
class Stop(TypedDict, total=False):
    """Why the generation ended, as far as the caller knows."""

    reason: Annotated[
        Label | dict[str, Any] | None,
        Field(description="the engine's own word, or SGLang's object", examples=["stop"]),
    ]
    engine: Annotated[
        Label | None,
        Field(description="whose words these are: vllm, sglang, tgi, openai, …", examples=["vllm"]),
    ]
    matched: Annotated[
        Label | TokenId | None,
        Field(description="what ended it; null: nothing matched (eos); absent: not known", examples=[None]),
    ]
    num_tokens: Annotated[Tokens | None, Field(description="tokens of the response", examples=[41])]
    max_tokens: Annotated[Tokens | None, Field(description="limit on those tokens", examples=[1024])]
    last_token_id: Annotated[TokenId | None, Field(description="last token of the response", examples=[2])]
    eos_token_ids: Annotated[
        Annotated[list[TokenId], Field(max_length=1024)] | None,
        Field(description="end-of-sequence tokens of the model", examples=[[2]]),
    ]
    terminal_reasons: Annotated[
        Words | None, Field(description="reasons by which this task ends", examples=[["eos"]])
    ]
    truncating_reasons: Annotated[
        Words | None, Field(description="reasons that cut this task off", examples=[["length"]])
    ]
    unscorable_reasons: Annotated[
        Words | None,
        Field(description="reasons that say nothing about the policy", examples=[["aborted", "error"]]),
    ]


@with_config(REQUEST_CONFIG)
class Overlong(TypedDict, total=False):
    """Soft penalty on length (DAPO): 0 up to max_length - cache_length, then linear to -1 at max_length."""

    max_length: Required[Annotated[int, Field(ge=1, le=MAX_INTEGER, description="tokens", examples=[1024])]]
    cache_length: Required[Annotated[int, Field(ge=1, le=MAX_INTEGER, description="tokens", examples=[128])]]
    weight: Annotated[
        Annotated[float, Field(ge=0, le=1e6)] | None,
        Field(description="factor of the penalty, 1 when left out", examples=[1.0]),
    ]


@with_config(REQUEST_CONFIG)
class Shaping(TypedDict, total=False):
    """What the reward holds beside the verdict, which it never touches."""

    truncation: Annotated[
        Literal["keep", "zero", "mask"] | None,
        Field(description="what becomes of a truncated response; keep when left out", examples=["keep"]),
    ]
    overlong: Annotated[Overlong | None, Field(description="penalty by stop.num_tokens; none when left out")]


Scalar = Label | Annotated[int, Field(ge=-MAX_INTEGER, le=MAX_INTEGER)] | float | bool


@with_config(REQUEST_CONFIG)
class Meta(TypedDict, total=False):
    """Where the response comes from. Never seen by a verifier."""

    data_source: Annotated[Label | None, Field(description="data set of the prompt", examples=["gsm8k"])]
    run: Annotated[Label | None, Field(description="training run", examples=["r7"])]
    step: Annotated[
        Annotated[int, Field(ge=-MAX_INTEGER, le=MAX_INTEGER)] | None,
        Field(description="training step", examples=[1200]),
    ]
    split: Annotated[Label | None, Field(description="train, eval, …", examples=["train"])]
    prompt_id: Annotated[Label | None, Field(description="the prompt", examples=["q1"])]
    group_id: Annotated[Label | None, Field(description="responses to one prompt", examples=["g1"])]
    rollout_id: Annotated[Label | None, Field(description="this response", examples=["g1-3"])]
    generator_version: Annotated[
        Label | None, Field(description="weights that generated it", examples=["ckpt-1200"])
    ]
    reference_version: Annotated[Label | None, Field(description="reference policy", examples=["sft-0"])]
    canary: Annotated[
        bool | None, Field(description="the ground truth is deliberately unreachable", examples=[False])
    ]
    tags: Annotated[
        Annotated[dict[Label, Scalar | None], Field(max_length=256)] | None,
        Field(description="free labels", examples=[{"lang": "en"}]),
    ]


Verifier = Annotated[str, Field(description="name of the verifier", examples=["numeric"])]
Response = Annotated[
    str, Field(description="what the model wrote", examples=["3 of 7 parts, so \\boxed{3/7}"])
]
GroundTruth = Annotated[
    Any, Field(description="the gold answer; its shape is the verifier's", examples=["0.428571"])
]
Prompt = Annotated[
    str | list[dict[str, Any]] | None,
    Field(description="text or chat messages, for the audit only", examples=["What part is blue?"]),
]
Options = Annotated[
    dict[str, Any] | None, Field(description="the verifier's own options", examples=[{"rtol": 1e-6}])
]


@with_config(REQUEST_CONFIG)
class VerifyRequest(TypedDict, total=False):
    """One response to judge."""

    verifier: Required[Verifier]
    response: Required[Response]
    ground_truth: GroundTruth
    prompt: Prompt
    options: Options
    stop: Stop | None
    shaping: Shaping | None
    meta: Meta | None


@with_config(REQUEST_CONFIG)
class NamedVerifyRequest(TypedDict, total=False):
    """One response to judge by the verifier in the path."""

    response: Required[Response]
    ground_truth: GroundTruth
    prompt: Prompt
    options: Options
    stop: Stop | None
    shaping: Shaping | None
    meta: Meta | None


@with_config(REQUEST_CONFIG)
class BatchItem(TypedDict, total=False):
    """One response of a batch; whole fields left out are taken from `defaults` (`meta` key by key)."""

    verifier: Verifier
    response: Response
    ground_truth: GroundTruth
    ground_truth_key: Annotated[
        str | None, Field(description="key into ground_truths, instead of ground_truth", examples=["k1"])
    ]
    prompt: Prompt
    options: Options
    stop: Stop | None
    shaping: Shaping | None
    meta: Meta | None


@with_config(REQUEST_CONFIG)
class BatchRequest(TypedDict, total=False):
    """Many responses to judge."""

    items: Required[
        Annotated[
            list[BatchItem],
            Field(
                description="the responses", examples=[[{"response": "\\boxed{3/7}", "ground_truth": "3/7"}]]
            ),
        ]
    ]
    defaults: Annotated[
        BatchItem | None, Field(description="fields of all items", examples=[{"verifier": "numeric"}])
    ]
    ground_truths: Annotated[
        dict[str, Any] | None, Field(description="ground truths by key", examples=[{"k1": "0.428571"}])
    ]


@with_config(REQUEST_CONFIG)
class BatchEnvelope(TypedDict, total=False):
    """A batch before its items are looked at, one by one."""

    items: Required[list[Any]]
    defaults: BatchItem | None
    ground_truths: dict[str, Any] | None


REQUEST: Final = TypeAdapter(VerifyRequest)
NAMED_REQUEST: Final = TypeAdapter(NamedVerifyRequest)
ITEM: Final = TypeAdapter(BatchItem)
ENVELOPE: Final = TypeAdapter(BatchEnvelope)
