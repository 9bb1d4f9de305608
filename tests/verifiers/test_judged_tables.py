"""Choices and words as models write them, judged by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from verifiers.choice import ChoiceOptions, ChoiceVerifier
from verifiers.types import Task, Unscorable
from verifiers.words import WordsOptions, WordsVerifier


@pytest.mark.parametrize(
    ("verifier", "options_of", "table"),
    [
        (ChoiceVerifier(), ChoiceOptions, "judged_choices.txt"),
        (WordsVerifier(), WordsOptions, "judged_words.txt"),
    ],
    ids=["choice", "words"],
)
def test_answers_are_judged_as_by_hand(
    verifier: ChoiceVerifier | WordsVerifier,
    options_of: type[ChoiceOptions] | type[WordsOptions],
    table: str,
) -> None:
    """Every line of the table gets the verdict that stands in it."""
    wrong = []
    for line in Path(__file__).with_name(table).read_text(encoding="utf-8").splitlines()[1:]:
        truth, answer, right, *options = line.split(" ||| ")
        raw = answer.startswith("raw:")
        response = answer[4:].replace("\\n", "\n") if raw else f"\\boxed{{{answer}}}"
        ground_truth = json.loads(truth[5:]) if truth.startswith("json:") else truth
        task = Task(response, ground_truth, options_of(**json.loads(options[0] if options else "{}")))
        outcome = verifier.judge(task)
        got = "-" if isinstance(outcome, Unscorable) else str(int(outcome.correct))
        if got != right:
            wrong.append((line, got))
    assert wrong == []
