"""Symbolic equivalence of mathematical answers: extract, read, compare, in worker processes."""

from verifiers.math.options import MathOptions
from verifiers.math.verifier import MathVerifier

__all__ = ["MathOptions", "MathVerifier"]
