"""What callers get back, for the OpenAPI document. Replies are built as plain values; tests compare."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from verifiers.types import FailureKind

REPLY_CONFIG = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)

Status = Literal["scored", "unscorable"]
StopReason = Literal[
    "eos",
    "stop_string",
    "stop_token",
    "stop",
    "length",
    "repetition",
    "tool_call",
    "environment",
    "budget",
    "content_filter",
    "aborted",
    "error",
    "unknown",
]

_EXAMPLE_ID = "0197f0c4-5b1e-7c3a-9d52-0e8b6f3a2c11"


def _field(description: str, example: Any, **limits: Any) -> Any:
    return Field(description=description, examples=[example], **limits)


@with_config(REPLY_CONFIG)
class VerdictReply(TypedDict):
    """A judgement about the response."""

    correct: Annotated[bool, _field("whether the response is right", True)]
    reason: Annotated[str, _field("one of the verifier's reasons", "within_tolerance")]
    detail: Annotated[
        dict[str, Any], _field("the verifier's evidence, as asked by options.detail", {"extracted": "3/7"})
    ]


@with_config(REPLY_CONFIG)
class StopReply(TypedDict):
    """Why the generation ended. null: not known, which is not the same as false."""

    stop_reason: Annotated[StopReason, _field("canonical reason", "eos")]
    raw: Annotated[str | None, _field("the engine's own word", "stop")]
    source: Annotated[
        Literal["explicit", "last_token", "trailing_token", "token_count", "none"],
        _field("the evidence that decided", "explicit"),
    ]
    terminated: Annotated[bool | None, _field("the task reached an end of its own", True)]
    truncated: Annotated[bool | None, _field("a limit cut it off", False)]


@with_config(REPLY_CONFIG)
class FailureReply(TypedDict):
    """Why the response could not be judged. It is not to blame."""

    kind: Annotated[FailureKind, _field("the fault, in one stable word", "invalid_ground_truth")]
    message: Annotated[str, _field("the fault, for people", "no ground truth was sent")]


@with_config(REPLY_CONFIG)
class VerifierReply(TypedDict):
    """What judged."""

    name: Annotated[str, _field("name of the verifier", "numeric")]
    version: Annotated[str, _field("version of its contract and code", "1.0.0")]
    environment: Annotated[
        str, _field("hash of interpreter, libraries and limits that can change a verdict", "b41c09d5e2a7f310")
    ]


@with_config(REPLY_CONFIG)
class AuditReply(TypedDict):
    """Where the verdict log counts this verdict."""

    flags: Annotated[list[str], _field("signs that a person should look at it", [])]
    stratum: Annotated[str, _field("the cell in which it is counted", "accept/plain")]
    selected: Annotated[bool, _field("its texts are stored", True)]


@with_config(REPLY_CONFIG)
class TimingReply(TypedDict):
    """Wall clock."""

    queue_ms: Annotated[float, _field("waiting, in milliseconds; counts against nothing", 0.1, ge=0)]
    verify_ms: Annotated[float, _field("judging, in milliseconds", 0.04, ge=0)]


@with_config(REPLY_CONFIG)
class CalibrationReply(TypedDict):
    """What reward_calibrated rests on."""

    reason: Annotated[
        Literal[
            "not_ready",
            "unscorable",
            "too_few_labels",
            "labels_before_drift",
            "uninformative",
            "too_few_labels_in_stratum",
        ]
        | None,
        _field("why it is null", None),
    ]
    labels: Annotated[int, _field("labels of this version of the verifier that count", 640, ge=0)]


@with_config(REPLY_CONFIG)
class VerifyReply(TypedDict):
    """One response judged, or why it could not be. Three outcomes, never mixed."""

    id: Annotated[str, _field("of this verdict, a UUIDv7", _EXAMPLE_ID)]
    status: Annotated[Status, _field("scored: there is a reward", "scored")]
    reward: Annotated[float | None, _field("sum of the components; null when unscorable", 1.0)]
    reward_components: Annotated[
        dict[str, float] | None, _field("weighted; correctness is always there", {"correctness": 1.0})
    ]
    verdict: Annotated[VerdictReply | None, Field(description="null when unscorable")]
    stop: StopReply
    include_in_loss: Annotated[bool, _field("false: leave it out of the loss", True)]
    failure: Annotated[FailureReply | None, Field(description="null when scored")]
    verifier: VerifierReply
    audit: AuditReply
    timing: TimingReply
    reward_calibrated: NotRequired[
        Annotated[
            float | None,
            _field(
                "chance that the answer is right, by the labels of its stratum; only with"
                " GOLDCHECK_AUDIT_CALIBRATED",
                0.985,
                ge=0,
                le=1,
            ),
        ]
    ]
    calibration: NotRequired[CalibrationReply]


@with_config(REPLY_CONFIG)
class BatchReply(TypedDict):
    """One reply per item, in the order of the items."""

    results: list[VerifyReply]


class IndexedReply(VerifyReply):
    """One line of an NDJSON reply; the last line is `{"end": true, "count": N}` instead."""

    index: Annotated[int, _field("position of the item in the batch", 0, ge=0)]


@with_config(REPLY_CONFIG)
class ErrorPlace(TypedDict):
    """One place in the request."""

    pointer: Annotated[str, _field("JSON pointer", "/items/3/options/rtol")]
    message: Annotated[str, _field("what is wrong there", "must be greater than or equal to 0")]


@with_config(REPLY_CONFIG)
class ProblemReply(TypedDict):
    """A request that was not served (RFC 9457). Nothing of it was scored or counted."""

    type: Annotated[str, _field("a name for the kind of problem", "urn:goldcheck:problem:invalid_request")]
    title: Annotated[str, _field("the kind of problem, for people", "The request does not fit the contract")]
    status: Annotated[int, _field("HTTP status", 422)]
    code: Annotated[str, _field("the kind of problem, in one stable word", "invalid_request")]
    detail: Annotated[str, _field("this problem, for people", "/response: is missing")]
    errors: NotRequired[Annotated[list[ErrorPlace], Field(description="the first hundred places at fault")]]
    errors_total: NotRequired[Annotated[int, _field("how many there are in all", 1)]]


@with_config(REPLY_CONFIG)
class VerifierSummary(VerifierReply):
    """One verifier in the list of all."""

    reward_range: Annotated[list[float], _field("least and greatest score, before shaping", [0.0, 1.0])]


@with_config(REPLY_CONFIG)
class VerifierList(TypedDict):
    """All verifiers."""

    verifiers: list[VerifierSummary]


@with_config(REPLY_CONFIG)
class VerifierContract(VerifierSummary):
    """One verifier's whole contract."""

    ground_truth_schema: Annotated[dict[str, Any], _field("JSON Schema of ground_truth", {"type": "string"})]
    options_schema: Annotated[dict[str, Any], _field("JSON Schema of options", {"type": "object"})]
    reasons: Annotated[list[str], _field("all reasons of verdicts", ["within_tolerance"])]
    flags: Annotated[
        list[str], _field("all flags it may raise; the first of a verdict's names its stratum", [])
    ]
    contract: Annotated[str, _field("the contract in words", "The last complete box decides.")]
    environment_values: Annotated[
        dict[str, str], _field("what the hash `environment` is made of", {"python": "3.11.7"})
    ]


@with_config(REPLY_CONFIG)
class CaseExpectation(TypedDict):
    """What must come back."""

    status: Annotated[Status, _field("of the reply", "scored")]
    reward: Annotated[float | None, _field("of the reply", 1.0)]
    reason: Annotated[str, _field("the verdict's reason, or the failure's kind", "within_tolerance")]


@with_config(REPLY_CONFIG)
class Case(TypedDict):
    """One row of a verifier's contract."""

    id: Annotated[str, _field("name of the row", "last-box-decides")]
    why: Annotated[str, _field("the sentence of the contract it shows", "the last complete box decides")]
    request: Annotated[
        dict[str, Any], _field("a body of /v1/verify", {"verifier": "numeric", "response": "1"})
    ]
    expect: CaseExpectation


@with_config(REPLY_CONFIG)
class CaseList(TypedDict):
    """A verifier's contract as a table."""

    cases: list[Case]


@with_config(REPLY_CONFIG)
class HealthReply(TypedDict):
    """The process answers."""

    status: Literal["ok"]


@with_config(REPLY_CONFIG)
class ReadyReply(TypedDict):
    """Whether all that is on offer works."""

    status: Annotated[
        Literal["ready", "degraded", "not_ready"],
        _field("degraded: verdicts go on, but something else is broken", "ready"),
    ]
    reasons: Annotated[list[str], _field("what is broken", [])]


@with_config(REPLY_CONFIG)
class LimitsReply(TypedDict):
    """How large requests may be, and how much may wait."""

    max_items: Annotated[int, _field("items of a batch", 16384)]
    max_body_bytes: Annotated[int, _field("a body, decompressed", 268435456)]
    max_response_bytes: Annotated[int, _field("a response as UTF-8", 4194304)]
    max_ground_truth_bytes: Annotated[int, _field("a ground truth as JSON", 33554432)]
    max_ground_truth_depth: Annotated[int, _field("levels of nesting of a ground truth", 200)]
    max_integer_digits: Annotated[int, _field("digits up to which integers are exact", 100000)]
    queue_items: Annotated[int, _field("items accepted and not answered, per worker", 65536)]
    queue_bytes: Annotated[int, _field("bytes of bodies held, per worker", 536870912)]
    idempotency_window_s: Annotated[float, _field("how long an Idempotency-Key is remembered", 600.0)]


@with_config(REPLY_CONFIG)
class GuaranteeReply(TypedDict):
    """How strongly one thing is enforced on this host."""

    strength: Annotated[
        Literal["kernel", "polled", "refused", "none"],
        _field("by the kernel, by looking now and then, by allowing none of it, or not", "kernel"),
    ]
    reason: Annotated[str, _field("why it is not stronger", "")]


@with_config(REPLY_CONFIG)
class LimitsOfPrograms(TypedDict):
    """Bounds on programs, in the words of options.limits."""

    time_s: Annotated[float, _field("CPU time of one case", 10.0)]
    wall_time_s: Annotated[float, _field("wall clock of one case", 16.0)]
    memory_mb: Annotated[float, _field("memory, MiB", 1024.0)]
    output_mb: Annotated[float, _field("standard output, MiB", 16.0)]
    processes: Annotated[int, _field("processes and threads at a time", 64)]
    total_time_s: Annotated[float, _field("wall clock of all cases", 60.0)]


@with_config(REPLY_CONFIG)
class SandboxReply(TypedDict):
    """How programs are isolated on this host."""

    level: Annotated[Literal["none", "base", "strong", "full"], _field("in force", "strong")]
    minimum_level: Annotated[
        Literal["none", "base", "strong", "full"], _field("below it no program is run", "strong")
    ]
    available: Annotated[bool, _field("programs are run here", True)]
    reason: Annotated[str, _field("why not", "")]
    guarantees: Annotated[
        dict[str, GuaranteeReply],
        _field("files, network, signals, …", {"files": {"strength": "kernel", "reason": ""}}),
    ]
    languages: Annotated[dict[str, str], _field("versions by language", {"python": "3.11.7"})]
    packages: Annotated[dict[str, str], _field("versions by offered package", {"numpy": "2.1.0"})]
    environment: Annotated[dict[str, str], _field("environment that programs see", {"TZ": "UTC"})]
    default_limits: LimitsOfPrograms
    maximum_limits: LimitsOfPrograms
    slots: Annotated[int, _field("programs run at once on this host", 2)]
