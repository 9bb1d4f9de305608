"""Answers to multiple choice as models write them, judged by hand."""

from __future__ import annotations

import json
from pathlib import Path

from verifiers.choice import ChoiceOptions, ChoiceVerifier
from verifiers.types import Task, Unscorable


def test_answers_are_judged_as_by_hand() -> None:
    """Every line of the table gets the verdict that stands in it."""
    wrong = []
    for line in Path(__file__).with_name("judged_choices.txt").read_text(encoding="utf-8").splitlines()[1:]:
        truth, answer, right, *options = line.split(" ||| ")
        raw = answer.startswith("raw:")
        response = answer[4:].replace("\\n", "\n") if raw else f"\\boxed{{{answer}}}"
        ground_truth = json.loads(truth[5:]) if truth.startswith("json:") else truth
        task = Task(response, ground_truth, ChoiceOptions(**json.loads(options[0] if options else "{}")))
        outcome = ChoiceVerifier().judge(task)
        got = "-" if isinstance(outcome, Unscorable) else str(int(outcome.correct))
        if got != right:
            wrong.append((line, got))
    assert wrong == []
