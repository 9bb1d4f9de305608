"""The policy and rollout mathematics of reinforcement learning with verifiable rewards.

Everything public is importable from here. Names are loaded when first used, so that stop reasons need no
NumPy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rollouts.stop import ABSENT as ABSENT
    from rollouts.stop import Absent as Absent
    from rollouts.stop import ResolvedStop as ResolvedStop
    from rollouts.stop import StopMetadata as StopMetadata
    from rollouts.stop import StopRules as StopRules
    from rollouts.stop import StopSource as StopSource
    from rollouts.stop import resolve_stop as resolve_stop
    from rollouts.stop import stop_metadata as stop_metadata
    from rollouts.stop_reasons import CANONICAL_REASONS as CANONICAL_REASONS
    from rollouts.stop_reasons import ENGINE_REASONS as ENGINE_REASONS

_MODULES = ("stop_reasons", "stop")


def __getattr__(name: str) -> object:
    if not name.startswith("_"):
        for module_name in _MODULES:
            module = import_module(f"rollouts.{module_name}")
            if name in module.__all__:
                value: object = getattr(module, name)
                globals()[name] = value
                return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
