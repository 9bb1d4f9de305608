"""The one door through which every array comes in: where it lives, what it becomes, what is checked.

Lists and NumPy arrays compute in float64. Arrays of another array-API library (PyTorch, JAX, CuPy) stay what
they are, where they are, in at least float32; lists and NumPy arrays beside them follow them. Shapes, dtypes
and parameters are always checked. Values are looked at once per call, all conditions together, and not at all
with `check_values=False` or while a compiler traces the call.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

import array_api_compat
import array_api_compat.numpy as np_compat
import numpy as np

Array = Any
"""An array of any array-API library, or a (nested) list of numbers."""


class Backend:
    """Where the arrays of one call live, and whether their values may be looked at."""

    __slots__ = ("_deferred", "checking", "device", "dtype", "is_numpy", "tracing", "xp")

    def __init__(self, *values: Array, check_values: bool = True) -> None:
        foreign = [v for v in values if array_api_compat.is_array_api_obj(v) and not _is_numpy(v)]
        self.is_numpy = not foreign
        self.xp: Any = array_api_compat.array_namespace(*foreign) if foreign else np_compat
        self.tracing = any(_is_traced(value) for value in foreign)
        self.device = array_api_compat.device(foreign[0]) if foreign and not self.tracing else None
        self.checking = check_values and not self.tracing
        self.dtype = self._widest(foreign)
        self._deferred: dict[str, Array] = {}

    def floats(self, name: str, value: Array) -> Array:
        """`value` as an array of real numbers: float64 on NumPy, else its own dtype but at least float32."""
        array = self._asarray(name, value)
        xp = self.xp
        if not xp.isdtype(array.dtype, ("bool", "integral", "real floating")):
            raise TypeError(f"{name} must hold real numbers, not {array.dtype}")
        if self._is_own(value) and self._is_wide_float(array):
            return array
        return xp.astype(array, self.dtype, copy=False)

    def narrow_floats(self, name: str, value: Array) -> Array:
        """`value` as real numbers in the dtype it came in, to be widened piece by piece (`floats`)."""
        array = self._asarray(name, value)
        return array if self.xp.isdtype(array.dtype, "real floating") else self.floats(name, array)

    def integers(self, name: str, value: Array) -> Array:
        """`value` as an array of integers; booleans are refused (TypeError)."""
        array = self._asarray(name, value)
        if not self.xp.isdtype(array.dtype, "integral"):
            raise TypeError(f"{name} must hold integers, not {array.dtype}")
        return array

    def mask(self, name: str, value: Array | None, shape: tuple[int, ...]) -> tuple[Array, Array]:
        """`value` as a boolean array of `shape` (None: all true), and where it was really 0 or 1."""
        xp = self.xp
        if value is None:
            everywhere = xp.ones(shape, dtype=xp.bool, device=self.device)
            return everywhere, everywhere
        array = self._asarray(name, value)
        if array.shape != shape:
            raise ValueError(f"{name} must have shape {list(shape)}, not {list(array.shape)}")
        if xp.isdtype(array.dtype, "bool"):
            return array, xp.ones((), dtype=xp.bool, device=self.device)
        if not xp.isdtype(array.dtype, ("integral", "real floating")):
            raise TypeError(f"{name} must hold 0 and 1, not {array.dtype}")
        active = array == 1
        return active, active | (array == 0)

    def require(self, *conditions: tuple[Array, str]) -> None:
        """ValueError with the message of the first condition that does not hold everywhere.

        All conditions are reduced together, so that a device is waited for once.
        """
        if not self.checking or not conditions:
            return
        verdict = self.xp.all(conditions[0][0])
        for condition, _ in conditions[1:]:
            verdict = verdict & self.xp.all(condition)
        if bool(verdict):
            return
        raise ValueError(
            next(message for condition, message in conditions if not bool(self.xp.all(condition)))
        )

    def require_later(self, condition: Array, message: str) -> None:
        """A condition on one piece of a large array: on NumPy required at once, elsewhere by `settle`."""
        if not self.checking:
            return
        if self.is_numpy:
            self.require((condition, message))
        else:
            holds = self.xp.all(condition)
            self._deferred[message] = self._deferred.get(message, holds) & holds

    def settle(self) -> None:
        """Require all that was put off, waiting for the device once."""
        self.require(*((condition, message) for message, condition in self._deferred.items()))

    def scalar(self, value: Array) -> Any:
        """A 0-d result: a Python float for lists and NumPy, else the array, so that gradients flow."""
        return float(value) if self.is_numpy else value

    def exp(self, value: Array) -> Array:
        """exp that stops at the largest float instead of overflowing."""
        limit = math.log(float(self.xp.finfo(value.dtype).max)) - 1e-3
        return self.xp.exp(self.xp.where(value > limit, limit, value))

    def to_host(self, value: Array) -> np.ndarray[Any, Any]:
        """A NumPy copy or view of `value`, without its gradient."""
        if self.is_numpy:
            return np.asarray(value)
        if array_api_compat.is_torch_array(value):
            value = value.detach()
        if array_api_compat.is_torch_array(value) or array_api_compat.is_cupy_array(value):
            value = array_api_compat.to_device(value, "cpu")
        return np.asarray(value)

    def from_host(self, value: np.ndarray[Any, Any], dtype: Any) -> Array:
        """A NumPy result as an array of this call's library, on its device."""
        return value if self.is_numpy else self.xp.asarray(value, dtype=dtype, device=self.device)

    def _widest(self, foreign: Sequence[Array]) -> Any:
        """The dtype of numbers that have none of their own here."""
        if self.is_numpy:
            return np.float64
        xp = self.xp
        found = [v.dtype for v in foreign if self._is_wide_float(v)]
        if found:
            return xp.result_type(*found)
        narrow = any(xp.isdtype(v.dtype, "real floating") for v in foreign)
        return xp.float32 if narrow else xp.asarray(0.0).dtype

    def _is_wide_float(self, array: Array) -> bool:
        is_float = self.xp.isdtype(array.dtype, "real floating")
        return bool(is_float and self.xp.finfo(array.dtype).bits >= 32)

    def _is_own(self, value: Array) -> bool:
        return not self.is_numpy and array_api_compat.is_array_api_obj(value) and not _is_numpy(value)

    def _asarray(self, name: str, value: Array) -> Array:
        if self._is_own(value):
            return value
        try:
            array = np.asarray(value)
        except (ValueError, OverflowError) as error:
            raise ValueError(f"{name} must be a regular array: {error}") from None
        if array.dtype.kind not in "biuf":
            raise TypeError(f"{name} must hold numbers, not {array.dtype}")
        if self.is_numpy:
            return array
        return self.xp.asarray(array, device=self.device)


def require_shape(name: str, array: Array, *axes: str) -> None:
    """ValueError unless `array` has these axes, none of them empty."""
    if array.ndim != len(axes) or 0 in array.shape:
        raise ValueError(
            f"{name} must be a non-empty [{', '.join(axes)}] array, not shape {list(array.shape)}"
        )


def require_same_shape(name: str, array: Array, other_name: str, other: Array) -> None:
    """ValueError unless both have one shape."""
    if array.shape != other.shape:
        raise ValueError(
            f"{name} and {other_name} must have the same shape, "
            f"not {list(array.shape)} and {list(other.shape)}"
        )


def _is_numpy(value: object) -> bool:
    return isinstance(value, (np.ndarray, np.generic))


def _is_traced(value: object) -> bool:
    jax, torch = sys.modules.get("jax"), sys.modules.get("torch")
    if jax is not None and isinstance(value, jax.core.Tracer):
        return True
    return torch is not None and isinstance(value, torch.Tensor) and torch.compiler.is_compiling()
