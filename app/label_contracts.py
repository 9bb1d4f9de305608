"""Labels over HTTP: what people send, and how it is kept."""

from __future__ import annotations

from typing import Annotated, Any, Final, Required

from pydantic import Field, TypeAdapter, with_config
from typing_extensions import TypedDict

from app.contracts import REQUEST_CONFIG
from app.errors import Faults
from app.items import validate
from app.reply_contracts import REPLY_CONFIG
from audit.labels import MAX_NOTE, MAX_WORD, Answer, NewLabel

Word = Annotated[str, Field(max_length=MAX_WORD)]

AnswerField = Annotated[
    Answer,
    Field(
        description="whether the answer is right, whatever the verifier said; bad_ground_truth: the ground"
        " truth is wrong",
        examples=["correct"],
    ),
]


@with_config(REQUEST_CONFIG)
class LabelRequest(TypedDict, total=False):
    """What somebody says about the answer of a stored verdict."""

    answer: Required[AnswerField]
    labeler: Required[Annotated[Word, Field(min_length=1, description="who says so", examples=["ada"])]]
    cause: Annotated[
        Word | None, Field(description="why the verdict is wrong, in a word of your own", examples=["unit"])
    ]
    note: Annotated[
        Annotated[str, Field(max_length=MAX_NOTE)] | None,
        Field(description="anything else", examples=["the gold is in cm"]),
    ]
    drawn: Annotated[
        bool | None,
        Field(
            description="the verdict was drawn for labelling; false: it was looked for, so rates must not"
            " count it. true when left out",
            examples=[True],
        ),
    ]


@with_config(REPLY_CONFIG)
class StoredLabel(TypedDict):
    """One label, as it was appended."""

    id: Annotated[str, Field(examples=["0197f0c4-5b1e-7c3a-9d52-0e8b6f3a2c11"])]
    verdict_id: Annotated[str, Field(examples=["0197f0c4-5b1e-7c3a-9d52-0e8b6f3a2c11"])]
    created_at: Annotated[str, Field(description="UTC (RFC 3339)", examples=["2026-03-01T12:00:00.000Z"])]
    labeler: Annotated[str, Field(examples=["ada"])]
    answer: AnswerField
    cause: Annotated[str | None, Field(examples=["unit"])]
    note: Annotated[str | None, Field(examples=[None])]
    drawn: Annotated[bool, Field(examples=[True])]
    withdraws: Annotated[
        str | None,
        Field(description="the label that this one takes back; its answer is repeated", examples=[None]),
    ]


LABEL: Final = TypeAdapter(LabelRequest)


def read_label(fields: Any) -> NewLabel:
    """A label as somebody sent it, its texts storable already. Raises Problem."""
    faults = Faults()
    found = validate(LABEL, fields, "", faults)
    faults.raise_if_any()
    assert found is not None  # noqa: S101 - there is a fault or a value
    return NewLabel(**{name: value for name, value in found.items() if value is not None})
