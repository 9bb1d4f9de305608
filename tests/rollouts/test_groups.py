"""Groups: why one is rejected, what is distinct in it, its report, and dynamic sampling under audit."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import rollouts as r

REASONS = [
    ([1.0, 0.0], [True, False], None, None),
    ([1.0, 1.0], [True, True], None, "all_correct"),
    ([0.0, 0.0], [False, False], None, "all_wrong"),
    ([0.5, 0.5], [False, False], None, "equal_partial"),
    ([0.0, 0.0], [True, False], None, "equal_partial"),
    ([-1.0, -1.0], [False, False], [0.0, 0.0], "all_wrong"),
    ([0.5, 0.5], [True, True], [1.0, 1.0], "all_correct"),
    ([1.0, 0.5], [True, True], [1.0, 1.0], None),
    ([1.0], [True], None, "too_few_valid"),
    ([], [], None, "too_few_valid"),
]


@pytest.mark.parametrize(("rewards", "correct", "scores", "reason"), REASONS)
def test_reject_reason(rewards, correct, scores, reason):
    """Equal rewards teach nothing; what they are equal at is the reason."""
    assert r.reject_reason(rewards, correct, scores) == reason


@pytest.mark.parametrize(("rewards", "correct"), [([1.0], [True, False]), ([math.nan, 0.0], [True, False])])
def test_reject_reason_checks(rewards, correct):
    """One length, finite rewards."""
    with pytest.raises(ValueError, match="rewards"):
        r.reject_reason(rewards, correct)


class TestDistinct:
    """Strings, answers and strategies are three things."""

    def test_counts(self):
        """Four wordings, two answers, one of them not given."""
        texts = ["so 1/2", "thus .5", "it is 0.5 ", "it is 0.5", "no idea"]
        assert r.distinct_strings(texts) == 4
        assert r.distinct_answers(["1/2", "1/2", "1/2", "1/2", None]) == 1

    def test_program_shape_ignores_names_literals_comments_and_layout(self):
        """The same steps in other words are one shape; another step is another."""
        first = "def f(a, b):\n    # add\n    return a + b * 2\n"
        second = 'def solve(x, y):\n    """Docs are text."""\n    return x + y * 10'
        third = "def solve(x, y):\n    return (x + y) * 10"
        assert r.program_shape(first) != r.program_shape(third)
        assert r.program_shape(first) == r.program_shape(second.replace('    """Docs are text."""\n', ""))
        programs = [first, second, third, None]
        assert r.distinct_strategies(programs=programs) == r.DistinctStrategies(3, "program_shape")
        assert r.distinct_strategies(tags=["dp", "greedy", "dp", None]) == r.DistinctStrategies(2, "tag")

    @pytest.mark.parametrize("given_", [{}, {"tags": [], "programs": []}])
    def test_one_source(self, given_):
        """Either tags or programs."""
        with pytest.raises(ValueError, match="either"):
            r.distinct_strategies(**given_)

    @given(st.text())
    def test_program_shape_of_anything(self, program):
        """Any text has a shape; it is never parsed."""
        assert isinstance(r.program_shape(program), str)

    @pytest.mark.parametrize("unit", ["'", '"""', "'''\\", "\\\n", "r'", "(", "a" * 9, "\x00"])
    def test_program_shape_is_linear(self, unit):
        """Unclosed quotes and escapes do not make the scan go back; 200 kB is read at once."""
        assert len(r.program_shape(unit * (200_000 // len(unit)))) < 10**6


members = st.builds(
    r.GroupMember,
    reward=st.none() | st.sampled_from([0.0, 0.5, 1.0]),
    correct=st.booleans(),
    included=st.booleans(),
    response=st.sampled_from(["a", "b", "a "]),
    answer=st.none() | st.sampled_from(["1", "2"]),
    program_shape=st.none() | st.sampled_from(["n = 0", "n ( 0 )"]),
    stop_reason=st.sampled_from(["eos", "length"]),
    truncated=st.none() | st.booleans(),
    num_tokens=st.none() | st.integers(0, 100),
)


class TestReport:
    """What `POST /v1/groups` answers."""

    def test_example(self):
        """Four responses: right, wrong, right but cut off, and one that could not be judged."""
        group = [
            r.GroupMember(
                1.0, True, response="42", answer="42", stop_reason="eos", truncated=False, num_tokens=10
            ),
            r.GroupMember(0.0, response="41", answer="41", stop_reason="eos", truncated=False, num_tokens=12),
            r.GroupMember(
                1.0, True, response="42 and", answer="42", stop_reason="length", truncated=True, num_tokens=64
            ),
            r.GroupMember(None, response="?", stop_reason="aborted", truncated=True),
        ]
        report = r.group_report(group, ks=[1, 2, 4])
        assert (report.informative, report.reject_reason) == (True, None)
        assert report.advantages[3] is None
        assert_allclose(report.advantages[:3], [math.sqrt(0.5), -math.sqrt(2), math.sqrt(0.5)], atol=1e-7)
        assert report.valid == r.GroupStatistics(
            count=3, reward_mean=pytest.approx(2 / 3), reward_std=pytest.approx(math.sqrt(2) / 3),
            zero_std=False, solved=2, pass_rate=2 / 3, pass_at_k={1: 2 / 3, 2: 1.0, 4: None},
            distinct_responses=3, distinct_answers=2, distinct_programs=None, truncated_fraction=1 / 3,
            truncated_accepted_fraction=1.0, stop_reason_counts={"eos": 2, "length": 1}, tokens=86,
        )  # fmt: skip
        assert (report.all.count, report.all.solved, report.all.reward_mean) == (4, 2, 0.5)
        assert report.all.pass_at_k == {1: 0.5, 2: pytest.approx(1 - 1 / 6), 4: 1.0}
        assert (report.all.truncated_fraction, report.all.truncated_accepted_fraction) == (0.5, 0.5)

    @given(st.lists(members, min_size=1, max_size=6), st.sampled_from(["scored", "included"]))
    def test_all_and_valid(self, group, baseline):
        """`valid` is the scored members; `all` counts the others as not solved."""
        report = r.group_report(group, baseline=baseline, ks=[1])
        scored = [member for member in group if member.reward is not None]
        assert (report.all.count, report.valid.count) == (len(group), len(scored))
        assert report.all.solved == report.valid.solved == sum(member.correct for member in scored)
        assert report.all.reward_mean == pytest.approx(sum(m.reward or 0.0 for m in group) / len(group))
        assert report.informative == (report.reject_reason is None)
        assert [a is None for a in report.advantages] == [m.reward is None for m in group]
        counted = [m.reward for m in scored if baseline == "scored" or m.included]
        values = [a for a in report.advantages if a is not None]
        assert sum(values) == pytest.approx(0, abs=1e-9)
        assert report.informative == (len(set(counted)) > 1)
        if not report.informative:
            assert set(values) <= {0.0}

    def test_methods(self):
        """Scaled, centred only, or none at all."""
        group = [r.GroupMember(1.0, True), r.GroupMember(0.0), r.GroupMember(0.0), r.GroupMember(0.0)]
        scaled, centred, none = (
            r.group_report(group, method=method).advantages for method in ("grpo", "dr_grpo", "none")
        )
        assert_allclose(scaled, [math.sqrt(3)] + [-1 / math.sqrt(3)] * 3, atol=1e-7)
        assert_allclose(centred, [0.75, -0.25, -0.25, -0.25])
        assert none == (None,) * 4

    def test_members_outside_the_baseline(self):
        """A masked response stays in the baseline unless asked otherwise; then it gets 0."""
        group = [r.GroupMember(1.0, True), r.GroupMember(0.0), r.GroupMember(1.0, True, included=False)]
        assert r.group_report(group).advantages[1] == pytest.approx(-math.sqrt(2))
        assert_allclose(r.group_report(group, baseline="included").advantages, [1, -1, 0], atol=1e-7)

    @pytest.mark.parametrize(
        ("group", "options", "message"),
        [
            ([], {}, "members"),
            ([r.GroupMember(1.0)], {"method": "ppo"}, "method"),
            ([r.GroupMember(1.0)], {"baseline": "all"}, "baseline"),
            ([r.GroupMember(math.nan)], {}, "rewards"),
            ([r.GroupMember(1.0)], {"ks": [0]}, "k must"),
        ],
    )
    def test_bad_inputs(self, group, options, message):
        """By name."""
        with pytest.raises(ValueError, match=message):
            r.group_report(group, **options)


class TestDynamicSampling:
    """More signal per update, more generation, a shifted prompt distribution."""

    def test_audit(self):
        """Two of four groups kept, for the tokens of all four; hard prompts are over-represented
        afterwards."""
        audit = r.dynamic_sampling_audit(
            [
                r.SampledGroup(1.0, 100, "all_correct", "easy"),
                r.SampledGroup(0.875, 100, None, "easy"),
                r.SampledGroup(0.25, 300, None, "hard"),
                r.SampledGroup(0.0, 300, "all_wrong", "hard"),
                r.SampledGroup(1.0, 200, "all_correct", "easy"),
            ]
        )
        assert audit == r.DynamicSamplingAudit(
            groups=5, accepted=2, rejected_fraction=pytest.approx(0.6),
            rejected_by_reason={"all_correct": 2, "all_wrong": 1}, tokens_per_accepted_group=500.0,
            pass_rates=(1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 2), prompt_shift=pytest.approx(0.1),
            pass_rate_shift=pytest.approx(0.5625 - 0.625),
        )  # fmt: skip

    def test_nothing_accepted(self):
        """Costs per accepted group and shifts are not known then, and not 0."""
        audit = r.dynamic_sampling_audit([r.SampledGroup(0.0, 10, "all_wrong")])
        assert (audit.tokens_per_accepted_group, audit.prompt_shift, audit.pass_rate_shift) == (
            None,
            None,
            None,
        )
        with pytest.raises(ValueError, match="groups"):
            r.dynamic_sampling_audit([])

    @pytest.mark.parametrize("size", [2, 5, 7, 8, 10, 16, 30])
    def test_bins_of_pass_rates(self, size):
        """None, all, and the tenth each rate c/n lies in."""
        bins = [r.pass_rate_bin(c / size) for c in range(size + 1)]
        assert bins == [0, *(1 + 10 * c // size for c in range(1, size)), 11]
        assert sum(r.pass_rate_histogram(np.arange(size + 1) / size)) == size + 1

    @given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), min_size=1))
    def test_prompt_shift(self, groups):
        """Between 0, when strata are kept in proportion, and 1."""
        audit = r.dynamic_sampling_audit(
            [r.SampledGroup(0.5, 1, None if kept else "equal_partial", stratum) for stratum, kept in groups]
        )
        if audit.prompt_shift is not None:
            assert 0 <= audit.prompt_shift <= 1
            if audit.accepted == audit.groups:
                assert audit.prompt_shift == 0

    @pytest.mark.parametrize(
        "change", [{"pass_rate": 1.5}, {"pass_rate": math.nan}, {"tokens": -1}, {"reject_reason": "bored"}]
    )
    def test_groups_are_checked(self, change):
        """By name."""
        with pytest.raises(ValueError, match=next(iter(change))):
            dataclasses.replace(r.SampledGroup(0.5, 10), **change)


class TestParameters:
    """Wrong kinds are bad types, wrong values bad values."""

    @pytest.mark.parametrize(
        "call",
        [
            lambda: r.informative_group_probability(1.1, 8),
            lambda: r.informative_group_probability(math.nan, 8),
            lambda: r.informative_group_probability(0.5, 0),
            lambda: r.expected_prompt_draws(0, 0.5, 8),
            lambda: r.independent_pass_at_k(-0.1, 1),
            lambda: r.independent_pass_at_k(0.1, 0),
            lambda: r.pass_at_k(0, 0, 1),
            lambda: r.pass_at_k(4, 5, 1),
            lambda: r.pass_at_k(4, -1, 1),
            lambda: r.pass_at_k(4, 1, 5),
            lambda: r.soft_overlong_penalty([1], max_length=10, cache_length=11),
            lambda: r.soft_overlong_penalty([-1], max_length=10, cache_length=5),
            lambda: r.retained_mass_correction(-1.0, 0.0),
            lambda: r.retained_mass_correction(0.1, 1.0),
            lambda: r.retained_mass_correction(-0.1, 0.5),
            lambda: r.unsupported_actions([0.5, 0.4], [0.5, 0.5]),
            lambda: r.support_report([0.5, 0.5], [1.0]),
            lambda: r.group_advantages([1.0, 0.0], [1]),
        ],
    )
    def test_bad_values(self, call):
        """Out of range, or not a distribution."""
        with pytest.raises(ValueError, match=r"\w"):
            call()

    @pytest.mark.parametrize(
        "call",
        [
            lambda: r.informative_group_probability(0.5, True),
            lambda: r.informative_group_probability(True, 8),
            lambda: r.informative_group_probability(0.5, 8.0),
            lambda: r.expected_prompt_draws("3", 0.5, 8),
            lambda: r.independent_pass_at_k(0.1, 1.0),
            lambda: r.pass_at_k(True, 1, 1),
            lambda: r.soft_overlong_penalty([1.5], max_length=10, cache_length=5),
            lambda: r.soft_overlong_penalty([True], max_length=10, cache_length=5),
            lambda: r.soft_overlong_penalty([1], max_length=True, cache_length=1),
            lambda: r.original_grpo_token_weights([1, 0], [True, True]),
            lambda: r.original_grpo_token_weights([1, 0], [1.5, 2.5]),
            lambda: r.group_relative_advantages(["1", "0"]),
            lambda: r.group_relative_advantages([1, 0], scale=1),
            lambda: r.group_relative_advantages([1, 0], eps="0"),
            lambda: r.group_advantages([1.0, 0.0], [0.5, 1.5]),
            lambda: r.top_k_distribution([1.0, 2.0], True),
            lambda: r.causal_response_logprobs(np.zeros((1, 2, 2)), [[0.0, 1.0]], [[0, 1]]),
            lambda: r.causal_response_logprobs(np.zeros((1, 2, 2)), [[False, True]], [[0, 1]]),
        ],
    )
    def test_bad_types(self, call):
        """Booleans, floats and texts where integers or numbers are meant."""
        with pytest.raises(TypeError, match=r"\w"):
            call()
