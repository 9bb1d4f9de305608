"""The policy loss of a run, and which published variant its settings are.

Each row of the table sets six things. A run that takes all six from one row is that variant; any other is a
hybrid, of the fewest rows that between them have every one of its settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final, Literal

from rollouts._arrays import Array, Backend, require_same_shape, require_shape
from rollouts._parameters import integer, real
from rollouts.advantages import group_advantages
from rollouts.clipping import clip_bounds, clipped
from rollouts.kl import k3

__all__ = ["VARIANTS", "Objective", "Variant"]

VARIANTS: Final[Mapping[str, Mapping[str, frozenset[str]]]] = {
    "grpo": {
        "advantage_scaling": frozenset({"std"}),
        "aggregation": frozenset({"response_mean"}),
        "importance_sampling_level": frozenset({"token"}),
        "clip": frozenset({"symmetric"}),
        "dynamic_sampling": frozenset({"off"}),
        "overlong": frozenset({"keep"}),
    },
    "dr_grpo": {
        "advantage_scaling": frozenset({"none"}),
        "aggregation": frozenset({"fixed_length"}),
        "importance_sampling_level": frozenset({"token"}),
        "clip": frozenset({"symmetric"}),
        "dynamic_sampling": frozenset({"off"}),
        "overlong": frozenset({"keep"}),
    },
    "dapo": {
        "advantage_scaling": frozenset({"std"}),
        "aggregation": frozenset({"token_mean"}),
        "importance_sampling_level": frozenset({"token"}),
        "clip": frozenset({"higher"}),
        "dynamic_sampling": frozenset({"on"}),
        "overlong": frozenset({"soft_penalty", "mask"}),
    },
    "gspo": {
        "advantage_scaling": frozenset({"std"}),
        "aggregation": frozenset({"response_mean"}),
        "importance_sampling_level": frozenset({"sequence"}),
        "clip": frozenset({"symmetric", "higher"}),
        "dynamic_sampling": frozenset({"off"}),
        "overlong": frozenset({"keep"}),
    },
}
"""Variant -> setting -> the values it may have there. The weight of a KL term decides nothing here."""


@dataclass(frozen=True, slots=True)
class Variant:
    """Which row of `VARIANTS` a configuration is.

    name: the row, or `hybrid`. rows: that row, or the fewest rows that between them have every setting.
    settings: each setting's value with the rows that have it.
    """

    name: str
    rows: tuple[str, ...]
    settings: Mapping[str, tuple[str, tuple[str, ...]]]


@dataclass(frozen=True, slots=True)
class Objective:
    """The policy objective of a run: a configuration that knows its name and computes its loss.

    advantage_scaling: by the group's standard deviation, or not at all.
    aggregation: `response_mean` averages over the tokens of a response, then over responses; `fixed_length`
        sums tokens and divides by responses times `fixed_length`; `token_mean` averages over all tokens.
    importance_sampling_level: one ratio per token, or one per response (geometric mean).
    eps_low, eps_high: clip distances; an `eps_high` of None means `eps_low`.
    beta: weight of the k3 estimate of `KL(current || reference)`; 0 needs no reference.
    dynamic_sampling: groups without spread are drawn anew. overlong: what happens to responses over the
        limit. Both happen before the loss and are recorded here because they decide which variant a run is.
    Raises ValueError or TypeError for values out of range, by name.
    """

    advantage_scaling: Literal["std", "none"] = "std"
    aggregation: Literal["response_mean", "fixed_length", "token_mean"] = "response_mean"
    importance_sampling_level: Literal["token", "sequence"] = "token"
    eps_low: float = 0.2
    eps_high: float | None = None
    beta: float = 0.0
    fixed_length: int | None = None
    dynamic_sampling: bool = False
    overlong: Literal["keep", "soft_penalty", "mask"] = "keep"

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise ValueError(f"{name} must be one of {', '.join(choices)}, not {getattr(self, name)!r}")
        clip_bounds(self.eps_low, self.eps_high)
        real("beta", self.beta, low=0.0)
        if not isinstance(self.dynamic_sampling, bool):
            raise TypeError("dynamic_sampling must be True or False")
        if (self.aggregation == "fixed_length") != (self.fixed_length is not None):
            raise ValueError("fixed_length goes with aggregation='fixed_length', and only with it")
        if self.fixed_length is not None:
            integer("fixed_length", self.fixed_length, low=1)

    @classmethod
    def grpo(cls, *, beta: float = 0.04) -> Objective:
        """Original GRPO (DeepSeekMath, arXiv 2402.03300)."""
        return cls(beta=beta)

    @classmethod
    def dr_grpo(cls, *, fixed_length: int) -> Objective:
        """Dr. GRPO (arXiv 2503.20783): neither scaling by the deviation nor by the response's length."""
        return cls(advantage_scaling="none", aggregation="fixed_length", fixed_length=fixed_length)

    @classmethod
    def dapo(cls) -> Objective:
        """DAPO (arXiv 2503.14476)."""
        return cls(aggregation="token_mean", eps_high=0.28, dynamic_sampling=True, overlong="soft_penalty")

    @classmethod
    def gspo(cls) -> Objective:
        """GSPO (arXiv 2507.18071)."""
        return cls(importance_sampling_level="sequence", eps_low=3e-4, eps_high=4e-4)

    @property
    def variant(self) -> Variant:
        """Which row of `VARIANTS` this is, or a hybrid of which."""
        values = {
            "advantage_scaling": self.advantage_scaling,
            "aggregation": self.aggregation,
            "importance_sampling_level": self.importance_sampling_level,
            "clip": "symmetric" if self.eps_high in (None, self.eps_low) else "higher",
            "dynamic_sampling": "on" if self.dynamic_sampling else "off",
            "overlong": self.overlong,
        }
        owners = {
            setting: tuple(row for row, allowed in VARIANTS.items() if value in allowed[setting])
            for setting, value in values.items()
        }
        rows = next(
            rows
            for size in range(1, len(VARIANTS) + 1)
            for rows in combinations(VARIANTS, size)
            if all(set(rows) & set(having) for having in owners.values())
        )
        return Variant(
            name=rows[0] if len(rows) == 1 else "hybrid",
            rows=rows,
            settings={setting: (value, owners[setting]) for setting, value in values.items()},
        )

    def advantages(self, rewards: Array, group_ids: Array, *, eps: float = 1e-8) -> Array:
        """Advantages `[B]` of rewards `[B]` by group, scaled as configured; see `group_advantages`."""
        return group_advantages(rewards, group_ids, self.advantage_scaling == "std", eps)

    def loss(  # noqa: PLR0913 - the arrays of one update
        self,
        new_logprobs: Array,
        old_logprobs: Array,
        advantages: Array,
        mask: Array,
        ref_logprobs: Array | None = None,
        *,
        token_count: float | None = None,
        check_values: bool = True,
    ) -> Any:
        """The loss to be minimised: minus the clipped term, plus `beta` times k3, aggregated as configured.

        new_logprobs, old_logprobs, ref_logprobs: `[B, T]`, in nats, of the sampled tokens under the current,
        the old (generating) and the reference policy; only the first needs gradients. advantages: `[B]` or
        `[B, T]`.
        mask: `[B, T]`, 1 for actions. What is masked may be NaN: it adds exactly 0, and its gradient is 0.
        A row without actions adds 0 but counts as a response; a batch without any is refused.
        token_count: divisor for `token_mean`, when this is a part of a larger batch; None: the active tokens.
        Returns a float (a 0-d array of another library). Raises ValueError for shapes that disagree, values
        that are not finite where active, a mask that is empty or not 0/1, and a missing reference.
        """
        backend = Backend(
            new_logprobs, old_logprobs, advantages, mask, ref_logprobs, check_values=check_values
        )
        xp = backend.xp
        new, old, reference, active = self._checked(backend, new_logprobs, old_logprobs, ref_logprobs, mask)
        weights = backend.floats("advantages", advantages)
        weights = weights[:, None] if weights.ndim == 1 else weights
        if weights.shape not in ((new.shape[0], 1), new.shape):
            raise ValueError(f"advantages must be [B] or [B, T] like new_logprobs, not {list(weights.shape)}")
        weighed = active if weights.shape == new.shape else xp.any(active, axis=1, keepdims=True)
        backend.require((xp.isfinite(weights) | ~weighed, "advantages must be finite where active"))
        weights = xp.where(weighed, weights, 0.0)
        counts = xp.astype(xp.count_nonzero(active, axis=1), new.dtype)

        log_ratio = new - old
        if self.importance_sampling_level == "sequence":
            log_ratio = (xp.sum(log_ratio, axis=1) / _at_least_one(xp, counts))[:, None]
        low, high = clip_bounds(self.eps_low, self.eps_high)
        losses = -clipped(xp, backend.exp(log_ratio), weights, low, high)
        if reference is not None:
            losses = losses + self.beta * k3(backend, reference - new)
        losses = xp.where(active, losses, 0.0)
        return backend.scalar(self._aggregate(xp, losses, counts, token_count))

    def _checked(
        self,
        backend: Backend,
        new_logprobs: Array,
        old_logprobs: Array,
        ref_logprobs: Array | None,
        mask: Array,
    ) -> tuple[Array, Array, Array | None, Array]:
        xp = backend.xp
        if self.beta and ref_logprobs is None:
            raise ValueError("ref_logprobs are needed for beta > 0")
        given = {"new_logprobs": new_logprobs, "old_logprobs": old_logprobs}
        if self.beta:
            given["ref_logprobs"] = ref_logprobs
        arrays = {name: backend.floats(name, value) for name, value in given.items()}
        new = arrays["new_logprobs"]
        require_shape("new_logprobs", new, "B", "T")
        for name, array in arrays.items():
            require_same_shape("new_logprobs", new, name, array)
        active, is_mask = backend.mask("mask", mask, new.shape)
        backend.require(
            (is_mask, "mask must hold 0 and 1 only"),
            (xp.any(active), "mask must have an active token"),
            *(
                (xp.isfinite(array) | ~active, f"{name} must be finite where active")
                for name, array in arrays.items()
            ),
        )
        safe = [xp.where(active, array, 0.0) for array in arrays.values()]
        return safe[0], safe[1], safe[2] if self.beta else None, active

    def _aggregate(self, xp: Any, losses: Array, counts: Array, token_count: float | None) -> Array:
        if self.aggregation == "response_mean":
            return xp.mean(xp.sum(losses, axis=1) / _at_least_one(xp, counts))
        if self.fixed_length is not None:
            return xp.sum(losses) / (losses.shape[0] * self.fixed_length)
        if token_count is not None:
            return xp.sum(losses) / real("token_count", token_count, low=0.0, open_low=True)
        return xp.sum(losses) / xp.sum(counts)


def _at_least_one(xp: Any, counts: Array) -> Array:
    return xp.where(counts < 1, 1.0, counts)


_CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "advantage_scaling": ("std", "none"),
    "aggregation": ("response_mean", "fixed_length", "token_mean"),
    "importance_sampling_level": ("token", "sequence"),
    "overlong": ("keep", "soft_penalty", "mask"),
}
