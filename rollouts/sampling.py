"""How tokens were sampled, and the log-probability that the sampled ones then had.

Text alone does not say which policy wrote it. A rollout keeps the weights' version, the tokenizer's and the
chat template's, and every setting that shaped the distribution; `old_logprobs` are those of that final
distribution.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rollouts._arrays import Array, Backend, require_shape
from rollouts._parameters import integer, real
from rollouts._pieces import by_pieces
from rollouts.distributions import min_p_kept, top_k_kept, top_p_kept
from rollouts.log_probs import row_log_sum_exp

__all__ = ["PROCESSOR_ORDER", "SamplingConfig", "behavior_logprobs"]

PROCESSOR_ORDER = ("masks", "penalties", "temperature", "top_k", "top_p", "min_p")
"""The documented order; an engine with another one (vLLM cuts by min-p first) says so in its config."""


@dataclass(frozen=True, slots=True)
class SamplingConfig:
    """Everything that decides the distribution a token was drawn from, and when drawing stops.

    Raises ValueError for values out of range and TypeError for values of the wrong kind, by name.
    """

    generator_version: str = ""
    """Version of the weights that generated (checkpoint or step)."""
    tokenizer_version: str = ""
    template_version: str = ""
    temperature: float = 1.0
    top_k: int | None = None
    top_p: float = 1.0
    min_p: float = 0.0
    min_tokens_to_keep: int = 1
    repetition_penalty: float = 1.0
    """Divides positive and multiplies negative logits of tokens seen in prompt or response (arXiv
    1909.05858)."""
    presence_penalty: float = 0.0
    """Subtracted once from the logit of a token that is already in the response."""
    frequency_penalty: float = 0.0
    """Subtracted as often as the token is already in the response."""
    allowed_token_ids: tuple[int, ...] | None = None
    suppressed_token_ids: tuple[int, ...] = ()
    logit_bias: Mapping[int, float] = field(default_factory=dict, hash=False)
    """Added to logits, together with the masks."""
    processor_order: tuple[str, ...] = PROCESSOR_ORDER
    stop_strings: tuple[str, ...] = ()
    stop_token_ids: tuple[int, ...] = ()
    max_tokens: int | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        for name in ("generator_version", "tokenizer_version", "template_version"):
            if not isinstance(getattr(self, name), str):
                raise TypeError(f"{name} must be a string")
        real("temperature", self.temperature, low=0.0, open_low=True)
        real("top_p", self.top_p, low=0.0, high=1.0, open_low=True)
        real("min_p", self.min_p, low=0.0, high=1.0)
        real("repetition_penalty", self.repetition_penalty, low=0.0, open_low=True)
        real("presence_penalty", self.presence_penalty)
        real("frequency_penalty", self.frequency_penalty)
        integer("min_tokens_to_keep", self.min_tokens_to_keep, low=1)
        for name in ("top_k", "max_tokens"):
            if getattr(self, name) is not None:
                integer(name, getattr(self, name), low=1)
        if self.seed is not None:
            integer("seed", self.seed, low=-(2**63), high=2**64 - 1)
        for name in ("allowed_token_ids", "suppressed_token_ids", "stop_token_ids"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _token_ids(name, getattr(self, name)))
        if self.allowed_token_ids == ():
            raise ValueError("allowed_token_ids must not be empty; None allows all")
        for token_id, bias in self.logit_bias.items():
            integer("logit_bias key", token_id, low=0)
            real("logit_bias", bias)
        if isinstance(self.stop_strings, str) or not all(isinstance(s, str) and s for s in self.stop_strings):
            raise TypeError("stop_strings must be a sequence of non-empty strings")
        object.__setattr__(self, "stop_strings", tuple(self.stop_strings))
        object.__setattr__(self, "processor_order", tuple(self.processor_order))
        if sorted(self.processor_order) != sorted(PROCESSOR_ORDER):
            raise ValueError(f"processor_order must be an order of {', '.join(PROCESSOR_ORDER)}")
        before_masks = self.processor_order[: self.processor_order.index("masks")]
        if not {"top_k", "top_p", "min_p"}.isdisjoint(before_masks):
            raise ValueError("processor_order must have masks before any cut, or no token might be left")

    def to_dict(self) -> dict[str, Any]:
        """Every field by name, as plain JSON values; keys of `logit_bias` become text."""
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        fields["logit_bias"] = {str(token_id): bias for token_id, bias in self.logit_bias.items()}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}


def behavior_logprobs(
    logits: Array,
    config: SamplingConfig,
    token_ids: Array,
    *,
    prompt_token_ids: Sequence[int] = (),
    check_values: bool = True,
) -> Array:
    """Log-probability of each sampled token under the distribution it was really drawn from.

    The processors of `config` act in `config.processor_order`: masks (allowed, suppressed, bias), penalties
    over the prompt and the tokens before each position, temperature, top-k, top-p, min-p. Cuts renormalise at
    the end; a token that was cut, or masked, has -inf: it cannot have come from this configuration.
    logits: `[T, V]` raw logits at each position of one response, finite. token_ids: `[T]`, the sampled ones.
    prompt_token_ids: what the repetition penalty also counts.
    Returns `[T]`, in nats, at most 0. Positions are worked in pieces; no second `[T, V]` array is made.
    Raises ValueError for shapes that disagree, ids outside the vocabulary, logits that are not finite, a
    top_k or min_tokens_to_keep above V, or masks that leave no token; TypeError for ids that are no integers
    or a `config` of another type.
    """
    if not isinstance(config, SamplingConfig):
        raise TypeError("config must be a SamplingConfig")
    backend = Backend(logits, token_ids, check_values=check_values)
    xp = backend.xp
    rows = backend.narrow_floats("logits", logits)
    require_shape("logits", rows, "T", "V")
    ids = backend.integers("token_ids", token_ids)
    steps, vocabulary = rows.shape
    if ids.shape != (steps,):
        raise ValueError(f"token_ids must have shape [{steps}], not {list(ids.shape)}")
    for name in ("top_k", "min_tokens_to_keep"):
        if (getattr(config, name) or 1) > vocabulary:
            raise ValueError(f"{name} must be at most the vocabulary's size {vocabulary}")
    inside = (ids >= 0) & (ids < vocabulary)
    backend.require((inside, f"token_ids must lie within the vocabulary [0, {vocabulary})"))
    ids = xp.astype(xp.where(inside, ids, 0), xp.asarray(0).dtype)
    processors = _Processors(backend, config, *_masks(backend, config, vocabulary))
    history = _History(backend, config, ids, prompt_token_ids, vocabulary)

    def check(_: slice, steps: slice, piece: Array) -> None:
        backend.require_later(xp.isfinite(piece), "logits must be finite")

    def log_prob(_: slice, steps: slice, piece: Array) -> Array:
        return processors.log_probs(piece[0, ...], ids[steps], history.before(steps))[None, :]

    result = by_pieces(backend, log_prob, check, rows[None, ...])
    backend.settle()
    return result[0, :]


class _History:
    """What came before each position, for the penalties: counts in the response, presence in the prompt."""

    def __init__(
        self, backend: Backend, config: SamplingConfig, ids: Array, prompt: Sequence[int], vocabulary: int
    ) -> None:
        prompt_ids = _token_ids("prompt_token_ids", prompt)
        if any(token_id >= vocabulary for token_id in prompt_ids):
            raise ValueError(f"prompt_token_ids must lie within the vocabulary [0, {vocabulary})")
        in_prompt = np.zeros(vocabulary, dtype=bool)
        in_prompt[list(prompt_ids)] = True
        self._xp, self._ids = backend.xp, ids
        self._needed = (config.repetition_penalty, config.presence_penalty, config.frequency_penalty) != (
            1,
            0,
            0,
        )
        self._in_prompt = backend.from_host(in_prompt, backend.xp.bool)
        self._vocabulary = backend.xp.arange(vocabulary, dtype=ids.dtype, device=backend.device)

    def before(self, steps: slice) -> tuple[Array, Array] | None:
        """Counts `[t, V]` before each position of `steps`, and the prompt's tokens `[V]`."""
        if not self._needed:
            return None
        xp = self._xp
        earlier = xp.sort(self._ids[: steps.start])
        counts = xp.searchsorted(earlier, self._vocabulary, side="right")
        counts = counts - xp.searchsorted(earlier, self._vocabulary, side="left")
        hits = xp.astype(self._ids[steps][:, None] == self._vocabulary[None, :], counts.dtype)
        return counts[None, :] + xp.cumulative_sum(hits, axis=0) - hits, self._in_prompt


@dataclass(frozen=True, slots=True)
class _Processors:
    """The processors of a configuration. allowed, bias: `[V]`. A token that is cut gets a logit of -inf."""

    backend: Backend
    config: SamplingConfig
    allowed: Array
    bias: Array

    def log_probs(self, piece: Array, target: Array, seen: tuple[Array, Array] | None) -> Array:
        """Process a piece of logits `[w, V]` and select the sampled tokens `[w]`."""
        xp = self.backend.xp
        values = self.backend.floats("logits", piece)
        for step in self.config.processor_order:
            values = self._step(step, values, seen)
        selected = xp.take_along_axis(values, target[:, None], axis=-1)[:, 0]
        return selected - row_log_sum_exp(xp, values)

    def _step(self, step: str, values: Array, seen: tuple[Array, Array] | None) -> Array:
        xp, config = self.backend.xp, self.config
        if step == "masks":
            return xp.where(self.allowed, values + self.bias, -xp.inf)
        if step == "penalties":
            return values if seen is None else self._penalised(values, *seen)
        if step == "temperature":
            # Not measured from the largest: a penalty that comes later looks at the sign.
            limit = float(xp.finfo(values.dtype).max) * min(config.temperature, 1.0) / 4.0
            divided = xp.clip(values, -limit, limit) / config.temperature
            return xp.where(values > -xp.inf, divided, -xp.inf)
        if step == "top_k":
            kept = top_k_kept(xp, values, config.top_k or values.shape[-1])
        elif step == "top_p":
            kept = top_p_kept(xp, values, config.top_p, config.min_tokens_to_keep)
        else:
            kept = min_p_kept(xp, values, config.min_p, config.min_tokens_to_keep)
        return xp.where(kept, values, -xp.inf)

    def _penalised(self, values: Array, counts: Array, in_prompt: Array) -> Array:
        xp, config = self.backend.xp, self.config
        repeated = (counts > 0) | in_prompt
        divided = xp.where(values > 0, values / config.repetition_penalty, values * config.repetition_penalty)
        times = xp.astype(counts, values.dtype)
        once = xp.where(times > 1, 1.0, times)
        return (
            xp.where(repeated, divided, values)
            - config.frequency_penalty * times
            - config.presence_penalty * once
        )


def _masks(backend: Backend, config: SamplingConfig, vocabulary: int) -> tuple[Array, Array]:
    """Which tokens are allowed `[V]`, and what is added to their logits `[V]`."""
    allowed = np.ones(vocabulary, dtype=bool)
    bias = np.zeros(vocabulary)
    used = (*(config.allowed_token_ids or ()), *config.suppressed_token_ids, *config.logit_bias)
    if any(token_id >= vocabulary for token_id in used):
        raise ValueError(f"token ids of the config must lie within the vocabulary [0, {vocabulary})")
    if config.allowed_token_ids is not None:
        allowed[:] = False
        allowed[list(config.allowed_token_ids)] = True
    allowed[list(config.suppressed_token_ids)] = False
    if not allowed.any():
        raise ValueError("allowed_token_ids and suppressed_token_ids leave no token")
    for token_id, value in config.logit_bias.items():
        bias[token_id] = value
    return backend.from_host(allowed, backend.xp.bool), backend.from_host(bias, backend.dtype)


def _token_ids(name: str, token_ids: Sequence[int]) -> tuple[int, ...]:
    if isinstance(token_ids, str) or not isinstance(token_ids, Sequence):
        raise TypeError(f"{name} must be a sequence of integers")
    return tuple(integer(name, token_id, low=0) for token_id in token_ids)
