"""Multiple choice: letter or text."""

from verifiers.choice.options import ChoiceOptions
from verifiers.choice.verifier import ChoiceVerifier

__all__ = ["ChoiceOptions", "ChoiceVerifier"]
