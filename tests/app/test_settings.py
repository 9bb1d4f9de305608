"""Settings: from the environment, frozen, described."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from app.settings import Settings


def test_every_setting_is_described() -> None:
    """What `goldcheck settings` prints says something about each."""
    for name, field in Settings.model_fields.items():
        assert field.description, name
        assert not field.is_required(), name


def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """GOLDCHECK_ and the name."""
    monkeypatch.setenv("GOLDCHECK_MAX_ITEMS", "7")
    monkeypatch.setenv("GOLDCHECK_MIN_ISOLATION", "base")
    monkeypatch.setenv("GOLDCHECK_ALLOW_ANONYMOUS", "1")
    settings = Settings()
    assert (settings.max_items, settings.min_isolation, settings.allow_anonymous) == (7, "base", True)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MAX_ITEMS", "0"),
        ("MAX_ITEMS", "many"),
        ("AUDIT_BUDGET", "1.5"),
        ("AUDIT_BUDGET", "-1"),
        ("AUDIT_DURABILITY", "sometimes"),
        ("MIN_ISOLATION", "weak"),
        ("VERIFIER_TIMEOUT_S", "inf"),
        ("LOG_LEVEL", "loud"),
    ],
)
def test_wrong_settings_are_refused(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    """At the start, and not when they are first used."""
    monkeypatch.setenv(f"GOLDCHECK_{name}", value)
    with pytest.raises(ValidationError):
        Settings()


def test_settings_are_frozen() -> None:
    """Nobody changes them on the way."""
    with pytest.raises(ValidationError):
        Settings().max_items = 3  # type: ignore[misc]
