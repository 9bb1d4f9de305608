"""Items as they are sent -> items whose fields can be read: checked, made storable, filled from defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from app.errors import Fault, Faults
from app.parsing import Document, escape_unstorable, replace_unstorable

_MAX_FIELDS: Final = 100


def validate(adapter: TypeAdapter[Any], value: Any, pointer: str, faults: Faults) -> dict[str, Any] | None:
    """Hold `value` at `pointer` against a model; None, with faults added, where it does not fit."""
    if isinstance(value, dict) and len(value) > _MAX_FIELDS:
        faults.add(Fault(pointer, f"holds {len(value)} fields, far more than the contract knows"))
        return None
    try:
        fields: dict[str, Any] = adapter.validate_python(value)
    except ValidationError as error:
        faults.add_validation(error, pointer, value)
        return None
    return fields


def clean(document: Document, item: Any) -> set[str]:
    """Make all texts of an item storable; which of response and ground truth were changed by that."""
    changed_fields: set[str] = set()
    if not document.may_hold_unstorable or not isinstance(item, dict):
        return changed_fields
    if isinstance(key := item.get("ground_truth_key"), str):
        item["ground_truth_key"] = escape_unstorable(key)
    for name in ("response", "ground_truth"):
        if name in item:
            item[name], changed = replace_unstorable(item[name])
            if changed:
                changed_fields.add(name)
    replace_unstorable(item)
    return changed_fields


def clean_keyed(document: Document) -> set[str]:
    """Make the keyed ground truths storable; the keys whose value was changed by that."""
    by_key = document.value.get("ground_truths") if is_object(document) else None
    changed_keys: set[str] = set()
    if not document.may_hold_unstorable or not isinstance(by_key, dict):
        return changed_keys
    cleaned: dict[str, Any] = {}
    for key, value in by_key.items():
        name = escape_unstorable(key)
        cleaned[name], changed = replace_unstorable(value)
        if changed:
            changed_keys.add(name)
    by_key.clear()
    by_key.update(cleaned)
    return changed_keys


def fill(item: dict[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Take whole fields that `item` leaves out from `defaults`; `meta` is merged key by key.

    Null counts as left out, except for a ground truth: a null one was sent, and cannot be used.
    """
    if not defaults:
        return item
    own = _without_nulls(item)
    fields = {**defaults, **own}
    if "ground_truth" in item:
        own["ground_truth"] = fields["ground_truth"] = item["ground_truth"]
    if "ground_truth" in own and "ground_truth_key" not in own:
        fields.pop("ground_truth_key", None)
    if "ground_truth_key" in own and "ground_truth" not in own:
        fields.pop("ground_truth", None)
    if defaults.get("meta") and "meta" in own:
        fields["meta"] = {**defaults["meta"], **_without_nulls(own["meta"])}
    return fields


def _without_nulls(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def is_object(document: Document) -> bool:
    return isinstance(document.value, dict)


def is_inherited(name: str, item: Mapping[str, Any]) -> bool:
    """Whether an item takes this field from the defaults."""
    return name not in item and not (name == "ground_truth" and item.get("ground_truth_key") is not None)
