"""Verifiers by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from verifiers.base import Verifier


class Registry:
    """A fixed set of verifiers; a name is taken once."""

    def __init__(self, verifiers: Iterable[Verifier]) -> None:
        self._by_name: dict[str, Verifier] = {}
        for verifier in verifiers:
            if verifier.name in self._by_name or verifier.name == "batch":
                raise ValueError(f"verifier name {verifier.name!r} is taken")
            self._by_name[verifier.name] = verifier

    def __iter__(self) -> Iterator[Verifier]:
        return iter(self._by_name.values())

    def get(self, name: str) -> Verifier | None:
        """The verifier called `name`, or None."""
        return self._by_name.get(name)

    @property
    def names(self) -> list[str]:
        """All names, in order of registration."""
        return list(self._by_name)
