"""What `inspect` and `dataclasses` ask of functions and classes, told across and made again."""

from __future__ import annotations

from typing import Any

_FIELDS = "__dataclass_fields__"
_SIGNATURE = "__signature__"
NAMES = {_FIELDS: "fields", _SIGNATURE: "signature"}
"""Attributes that are made again here, and the operations that tell what is needed."""

_FLAGS = ("init", "repr", "hash", "compare", "kw_only")


def tell_signature(target: Any) -> tuple[list[Any], tuple[Any, ...]]:
    """Parameters of something that can be called, and what it returns; AttributeError if that is unknown."""
    import inspect

    try:
        signature = inspect.signature(target)
    except (TypeError, ValueError) as error:
        raise AttributeError(str(error)) from None
    parameters = [
        (p.name, int(p.kind), _told(p.default, p.empty), _told(p.annotation, p.empty))
        for p in signature.parameters.values()
    ]
    return parameters, _told(signature.return_annotation, signature.empty)


def _told(value: Any, empty: Any) -> tuple[Any, ...]:
    return () if value is empty else (value,)


def tell_fields(target: Any) -> list[Any]:
    """Fields of a dataclass; AttributeError if it is none."""
    import dataclasses

    if not hasattr(target, _FIELDS):
        raise AttributeError(_FIELDS)
    missing = dataclasses.MISSING
    return [
        (f.name, f.type, _told(f.default, missing), _told(f.default_factory, missing), *_flags(f))
        for f in dataclasses.fields(target)
    ]


def _flags(field: Any) -> list[Any]:
    return [None if getattr(field, name) is None else bool(getattr(field, name)) for name in _FLAGS]


def make(name: str, told: Any) -> Any:
    """The attribute of this name out of what was told; raises TypeError or ValueError for nonsense."""
    return _make_signature(*told) if name == _SIGNATURE else {field[0]: _make_field(*field) for field in told}


def _make_signature(parameters: list[Any], returned: tuple[Any, ...]) -> Any:
    import inspect

    empty = inspect.Parameter.empty
    made = [
        inspect.Parameter(
            str(name),
            inspect._ParameterKind(kind),  # noqa: SLF001
            default=default[0] if default else empty,
            annotation=annotation[0] if annotation else empty,
        )
        for name, kind, default, annotation in parameters
    ]
    return inspect.Signature(made, return_annotation=returned[0] if returned else empty)


def _make_field(name: str, kind: Any, default: tuple[Any, ...], factory: tuple[Any, ...], *flags: Any) -> Any:
    import dataclasses

    given: dict[str, Any] = dict(zip(_FLAGS, flags, strict=True))
    if default:
        given["default"] = default[0]
    elif factory:
        given["default_factory"] = factory[0]
    field = dataclasses.field(**given)
    field.name, field.type = str(name), kind
    vars(dataclasses.Field)["_field_type"].__set__(field, vars(dataclasses)["_FIELD"])
    return field
