"""Which versions of the verifiers a file of results is by: it goes on with no others."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from app.cli.errors import CommandError

Identity = tuple[str, str]
"""Version and environment of a verifier."""


class JudgedBy:
    """Collects who judged; raises `CommandError` when a verifier turns out to be two.

    path: of the results, for the message.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._identities: dict[str, Identity] = {}

    def add(self, verifier: str, identity: Identity) -> None:
        """Note who judged one item."""
        if self._identities.setdefault(verifier, identity) != identity:
            raise self._another(verifier)

    def check(self, now: Mapping[str, Identity]) -> None:
        """All that was judged so far must be by the verifiers of now."""
        for verifier, identity in self._identities.items():
            if now.get(verifier) != identity:
                raise self._another(verifier)

    def _another(self, verifier: str) -> CommandError:
        return CommandError(
            f"{self._path or verifier}: judged by another version or environment of {verifier}; "
            "choose another file for the results"
        )
