"""The ground truths of a document, and the caps on them: over a cap is the item's fault, not the caller's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.parsing import Document, HugeInteger, deeper_than, holds_huge_integer
from app.settings import Settings
from audit import exact_json
from verifiers.literals import MAX_INTEGER_DIGITS
from verifiers.types import MISSING, Unscorable


class GroundTruths:
    """Finds each item's ground truth, in the item or by its key."""

    def __init__(self, settings: Settings, document: Document, by_key: Mapping[str, Any]) -> None:
        self._settings = settings
        self._document = document
        self._by_key = by_key
        self._known: dict[int, Unscorable | None] = {}

    def __contains__(self, key: str) -> bool:
        return key in self._by_key

    def of(self, fields: Mapping[str, Any]) -> tuple[Any, Unscorable | None]:
        """The ground truth of an item, or what is wrong with it; `MISSING` when none was sent."""
        key = fields.get("ground_truth_key")
        value = self._by_key.get(key, MISSING) if key is not None else fields.get("ground_truth", MISSING)
        fault = self._fault(value)
        return (value, None) if fault is None else (MISSING, fault)

    def _fault(self, value: Any) -> Unscorable | None:
        if isinstance(value, list | dict):
            # Defaults and keyed ground truths are shared by many items: looked at once.
            if id(value) not in self._known:
                self._known[id(value)] = self._container_fault(value)
            return self._known[id(value)]
        if isinstance(value, HugeInteger):
            return _invalid(f"an integer has more than {MAX_INTEGER_DIGITS} digits")
        limit = self._settings.max_ground_truth_bytes
        if isinstance(value, str) and len(value) > limit // 4 and len(value.encode()) > limit:
            return _invalid(f"the ground truth has more than {limit} bytes")
        return None

    def _container_fault(self, value: Any) -> Unscorable | None:
        levels = self._settings.max_ground_truth_depth
        if deeper_than(value, levels):
            return _invalid(f"the ground truth is nested more than {levels} levels deep")
        if self._document.may_hold_huge and holds_huge_integer(value):
            return _invalid(f"an integer has more than {MAX_INTEGER_DIGITS} digits")
        limit = self._settings.max_ground_truth_bytes
        if self._document.size > limit and len(exact_json.dump(value)) > limit:
            return _invalid(f"the ground truth has more than {limit} bytes")
        return None


def _invalid(message: str) -> Unscorable:
    return Unscorable("invalid_ground_truth", message)
