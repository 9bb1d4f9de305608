"""The lint of data sets."""

from __future__ import annotations

import json

import pytest

from verifiers.math.lint import lint_lines, lint_truth


@pytest.mark.parametrize(
    ("truth", "kinds"),
    [
        ("\\frac12", set()),
        ("x^2+1", set()),
        ("\\frac{", {"unreadable"}),
        ("", {"unreadable"}),
        ("9^{9^{9^9}}", {"not_comparable"}),
        ("\\int x\\,dx", {"not_comparable"}),
        ("0.0001", {"tiny", "rounded_decimal"}),
        ("1,234", {"two_readings"}),
        ("(1,2)", {"point_or_interval"}),
        ("[1,2)", set()),
        ("\\log 7", {"log_without_base"}),
        ("\\log_2 7", set()),
        ("3.14", {"rounded_decimal"}),
        ("B", {"letter"}),
    ],
)
def test_doubts_about_a_ground_truth(truth: str, kinds: set[str]) -> None:
    """Every kind of doubt is raised where it belongs and nowhere else."""
    assert {kind for kind, _, _ in lint_truth(truth)} == kinds


def test_lines_are_numbered_and_counted() -> None:
    """Findings name their line; every line is counted, blank ones too."""
    lines = [
        json.dumps({"ground_truth": "5"}), "", "not json", json.dumps({"question": "?"}),
        json.dumps({"answer": "\\frac{"}),
        json.dumps({"gold": ["1", "(1,2)"]}), '{"answer": 0.00010}',
    ]  # fmt: skip
    found = list(lint_lines(lines))
    assert found.count(None) == len(lines)
    assert [(problem.line, problem.kind, problem.fatal) for problem in found if problem] == [
        (3, "not_json", True),
        (4, "no_ground_truth", True),
        (5, "unreadable", True),
        (6, "point_or_interval", False),
        (7, "tiny", False),
        (7, "rounded_decimal", False),
    ]


def test_a_field_can_be_named() -> None:
    """Only the named field is read when one is named."""
    line = json.dumps({"answer": "5", "gold": "\\frac{"})
    assert [problem.kind for problem in lint_lines([line], "gold") if problem] == ["unreadable"]
    assert [problem.kind for problem in lint_lines([line], "truth") if problem] == ["no_ground_truth"]
