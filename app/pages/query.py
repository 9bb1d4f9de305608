"""What a page of the audit shows, as its address says it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlencode

from pydantic import ConfigDict, Field, ValidationError

from app.audit_contracts import MAX_PAGE, Storable, VerdictQuery
from app.fault_words import describe
from audit.types import VerdictFilter

_OF_THE_PAGE: Final = frozenset({"order", "blind", "at", "cursor", "limit"})
_CELLS: Final = frozenset({"verifier", "version", "data_source", "stratum"})
"""What strata are made of: within them samples stay a random choice."""


class PageQuery(VerdictQuery):
    """The filters of `/v1/audit/verdicts`, and how to go through what they find."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    order: Literal["queue", "newest"] = "queue"
    blind: bool = True
    at: Annotated[str | None, Field(max_length=64), Storable] = None
    """Id of the verdict that is shown; None: the first."""
    limit: int = Field(200, ge=1, le=MAX_PAGE)

    @property
    def filter(self) -> VerdictFilter:
        """As the verdict log takes it."""
        return VerdictFilter(**self.model_dump(exclude=set(_OF_THE_PAGE)))

    @property
    def filters(self) -> dict[str, Any]:
        """Those in force."""
        found = self.model_dump(exclude=set(_OF_THE_PAGE), exclude_none=True)
        return {name: _written(value) for name, value in found.items()}

    @property
    def counts_in_rates(self) -> bool:
        """Whether samples come by chance alone, so that their labels say something about all verdicts."""
        return self.order == "queue" and self.filters.keys() <= _CELLS

    def encoded(self, **changes: Any) -> str:
        """The query string of this page with other values; None or empty leaves a name out."""
        values: dict[str, Any] = {**self.filters, "order": self.order, "blind": _written(self.blind)}
        if self.limit != PageQuery.model_fields["limit"].default:
            values["limit"] = self.limit
        values |= changes
        defaults = {("order", "queue"), ("blind", "1")}
        shown = {name: value for name, value in values.items() if value not in {None, ""}}
        return urlencode([(name, value) for name, value in shown.items() if (name, value) not in defaults])


def read_query(parameters: Iterable[tuple[str, str]]) -> tuple[PageQuery, list[str]]:
    """The query of a page, and what is wrong with parameters that are not heeded. Empty ones are none."""
    given = {name: value for name, value in parameters if value}
    complaints: list[str] = []
    try:
        return PageQuery.model_validate(given), complaints
    except ValidationError as error:
        for one in error.errors():
            name = str(one["loc"][0])
            given.pop(name, None)
            complaints.append(f"{name} {describe(one)}")
    return PageQuery.model_validate(given), complaints


def _written(value: Any) -> Any:
    return {True: "1", False: "0"}.get(value, value) if isinstance(value, bool) else value
