"""Functions of logits `[B, T, V]` worked in pieces, so that no second array of that size is ever made.

Not for the value, and for the gradient only the gradient itself: a backward pass computes each piece again
and writes its gradient into place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import array_api_compat

from rollouts._arrays import Array, Backend

Piece = tuple[slice, slice]
OnPiece = Callable[..., Array]
"""A function of a place, rows and steps as slices, and the pieces `[b, t, V]` of the arrays there."""


def by_pieces(
    backend: Backend, function: OnPiece, check: Callable[..., None], *arrays: Array, length: int | None = None
) -> Array:
    """`function` of every piece of `arrays` (`[B, T, V]`, one shape), put together to `[B, T]`.

    check: called before `function` with the same arguments, and not again for the gradient.
    length: how many of the steps count, the first ones; None: all T.
    Other arrays that `function` uses get no gradient.
    """
    batch, steps_there, vocabulary = arrays[0].shape
    shape = (batch, steps_there if length is None else length, vocabulary)
    pieces = row_pieces(shape, whole=backend.tracing)

    def forward(*arrays: Array) -> Array:
        blocks: dict[int, list[Array]] = {}
        for rows, steps in pieces:
            cut = [array[rows, steps, :] for array in arrays]
            check(rows, steps, *cut)
            blocks.setdefault(rows.start, []).append(function(rows, steps, *cut))
        return backend.xp.concat([backend.xp.concat(row, axis=1) for row in blocks.values()], axis=0)

    if array_api_compat.is_torch_namespace(backend.xp) and not backend.tracing:
        return _torch_function().apply(forward, function, pieces, *arrays)
    if array_api_compat.is_jax_namespace(backend.xp) and backend.tracing:
        import jax  # type: ignore[import-not-found, unused-ignore]

        return jax.checkpoint(forward)(*arrays)
    return forward(*arrays)


def row_pieces(shape: Sequence[int], *, whole: bool) -> list[Piece]:
    """Cut the first two axes of `[B, T, V]`, so that each piece is a small share of the whole.

    A piece holds at most 1/256 of the elements, but at least 2**18 of them, or one row `[V]`; so a GPU is not
    asked for thousands of tiny steps. whole: a single piece, for a compiler that fuses by itself.
    """
    batch, length, vocabulary = shape
    budget = max(2**18, batch * length * vocabulary // 256)
    if whole or batch * length * vocabulary <= budget:
        return [(slice(0, batch), slice(0, length))]
    height = max(1, budget // (length * vocabulary))
    width = length if length * vocabulary <= budget else max(1, budget // vocabulary)
    return [
        (slice(row, min(row + height, batch)), slice(step, min(step + width, length)))
        for row in range(0, batch, height)
        for step in range(0, length, width)
    ]


@lru_cache(maxsize=1)
def _torch_function() -> Any:
    """PyTorch's own slices would each make a gradient of full size; this one writes into a single array."""
    import torch  # type: ignore[import-not-found, unused-ignore]

    class ByPieces(torch.autograd.Function):  # type: ignore[misc, unused-ignore]
        @staticmethod
        def forward(
            ctx: Any, forward: OnPiece, function: OnPiece, pieces: list[Piece], *arrays: Array
        ) -> Array:
            ctx.save_for_backward(*arrays)
            ctx.function, ctx.pieces = function, pieces
            return forward(*arrays)

        @staticmethod
        @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator, unused-ignore]
        def backward(ctx: Any, gradient: Array) -> tuple[Array | None, ...]:
            arrays, wanted = ctx.saved_tensors, ctx.needs_input_grad[3:]
            results = [torch.zeros_like(a) if want else None for a, want in zip(arrays, wanted, strict=True)]
            for rows, steps in ctx.pieces:
                cut = [array[rows, steps, :].detach() for array in arrays]
                leaves = [piece.requires_grad_() for piece, want in zip(cut, wanted, strict=True) if want]
                with torch.enable_grad():
                    value = ctx.function(rows, steps, *cut)
                found = iter(torch.autograd.grad(value, leaves, gradient[rows, steps]))
                for result in results:
                    if result is not None:
                        result[rows, steps, :] = next(found)
            return (None, None, None, *results)

    return ByPieces
