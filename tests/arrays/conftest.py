"""The array libraries under test: the strict one of the standard always, PyTorch and JAX where installed."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest


@dataclass(frozen=True)
class Library:
    """One array library. dtype: what Python floats become there; tolerance: of that dtype."""

    name: str
    xp: Any
    tolerance: float

    def array(self, value: Any) -> Any:
        """A NumPy array or list as an array of this library; floats in its default dtype."""
        value = np.asarray(value)
        if value.dtype.kind == "f":
            return self.xp.asarray(value, dtype=self.xp.asarray(0.0).dtype)
        return self.xp.asarray(value)

    def numpy(self, value: Any) -> np.ndarray:
        """Back again, after making sure that it is an array of this library."""
        assert type(value) is type(self.xp.asarray(0.0)), type(value)
        return np.asarray(value.detach() if hasattr(value, "detach") else value)


LIBRARIES = ["array_api_strict", "torch", "jax.numpy"]
INSTALLED = [name for name in LIBRARIES if find_spec(name.partition(".")[0])]


@pytest.fixture(params=INSTALLED)
def library(request: pytest.FixtureRequest) -> Library:
    """Each installed library in turn; `make test-arrays` brings all of them."""
    module = import_module(request.param)
    return Library(request.param, module, 1e-9 if request.param == "array_api_strict" else 2e-5)
