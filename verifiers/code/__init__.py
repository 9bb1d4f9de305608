"""Programs judged by running them in the sandbox (contract section 4, RULES R1 to R16)."""

from verifiers.code.options import CodeOptions
from verifiers.code.verifier import CodeVerifier

__all__ = ["CodeOptions", "CodeVerifier"]
