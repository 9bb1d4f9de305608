"""Names, words and short phrases."""

from verifiers.words.options import WordsOptions
from verifiers.words.verifier import WordsVerifier

__all__ = ["WordsOptions", "WordsVerifier"]
