"""Every number of the course, each with the function that it belongs to."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import rollouts as r

NAN, INF = math.nan, math.inf


class TestAdvantages:
    """Module 9: group-relative advantages."""

    def test_one_solved_of_four(self):
        """The odd one out is sqrt(3) away from three."""
        assert_allclose(
            r.group_relative_advantages([1, 0, 0, 0]), [math.sqrt(3)] + [-1 / math.sqrt(3)] * 3, atol=1e-7
        )

    def test_one_solved_of_eight(self):
        """sqrt(7) and -1/sqrt(7), summing to 0."""
        advantages = r.group_relative_advantages([0, 0, 0, 1, 0, 0, 0, 0])
        assert_allclose(sorted(advantages), [-1 / math.sqrt(7)] * 7 + [math.sqrt(7)], atol=1e-6)
        assert advantages.sum() == pytest.approx(0, abs=1e-12)

    @pytest.mark.parametrize("rewards", [[1, 1, 1, 1], [0.1, 0.1, 0.1], [0.3] * 7, [5]])
    @pytest.mark.parametrize("scale", [True, False])
    def test_equal_rewards_teach_nothing(self, rewards, scale):
        """Exact zeros, although the float deviation of equal rewards need not be 0."""
        assert_array_equal(r.group_relative_advantages(rewards, scale), np.zeros(len(rewards)))

    def test_without_scaling(self):
        """Only the mean is taken off."""
        assert_allclose(
            r.group_relative_advantages([0.9, 1, 0.8, 0.9], scale=False), [0, 0.1, -0.1, 0], atol=1e-12
        )

    @pytest.mark.parametrize("rewards", [[1, NAN], [INF, 0], [], [[1, 0]], 1.0, [-INF]])
    def test_bad_rewards(self, rewards):
        """NaN, infinity, nothing and anything that is not 1-D are refused."""
        with pytest.raises(ValueError, match="rewards"):
            r.group_relative_advantages(rewards)

    def test_negative_eps(self):
        """eps keeps the divisor above 0."""
        with pytest.raises(ValueError, match="eps"):
            r.group_relative_advantages([1, 0], eps=-1e-9)


CLIPPING = [
    ([1.5, 1.25, 0.7, 1.1], [1, 1, -1, 1], 0.2, 0.2, [1.2, 1.2, -0.8, 1.1], [True, True, True, False]),
    ([1.5, 1.25, 0.7, 1.1], [1, 1, -1, 1], 0.2, None, [1.2, 1.2, -0.8, 1.1], [True, True, True, False]),
    ([1.5, 1.25, 0.7, 1.1], [1, 1, -1, 1], 0.2, 0.28, [1.28, 1.25, -0.8, 1.1], [True, False, True, False]),
    ([1.5, 0.7, 1.1], [1, -1, -1], 0.2, None, [1.2, -0.8, -1.1], [True, True, False]),
]


class TestClipping:
    """Module 9: clipped terms and GSPO."""

    @pytest.mark.parametrize(("ratios", "advantages", "low", "high", "terms", "active"), CLIPPING)
    def test_values(self, ratios, advantages, low, high, terms, active):
        """Terms and activity, with the upper bound equal to the lower or its own."""
        assert_allclose(r.clipped_terms(ratios, advantages, low, high), terms)
        activity = r.clip_activity(ratios, advantages, low, high)
        assert activity.dtype == bool
        assert activity.tolist() == active

    @pytest.mark.parametrize("function", [r.clipped_terms, r.clip_activity])
    @pytest.mark.parametrize(
        ("ratios", "advantages"),
        [([0], [1]), ([-1], [1]), ([NAN], [1]), ([1], [INF]), ([1, 1], [1]), ([], []), ([[1]], [[1]])],
    )
    def test_bad_inputs(self, function, ratios, advantages):
        """Ratios are above 0, all is finite, 1-D, non-empty and of one shape."""
        with pytest.raises(ValueError, match=r"ratios|advantages"):
            function(ratios, advantages)

    def test_sequence_ratio_is_the_geometric_mean(self):
        """About 1.0049 where the arithmetic mean is 1.005."""
        new = np.log([1.01, 0.99, 1.02, 1.00])
        assert r.sequence_importance_ratio(new, np.zeros(4)) == pytest.approx(1.0049, abs=5e-5)

    def test_masked_token_is_ignored(self):
        """A tool token with ratio 10 is no action."""
        new = np.log([1.01, 0.99, 1.02, 10])
        expected = (1.01 * 0.99 * 1.02) ** (1 / 3)
        ratio = r.sequence_importance_ratio(new, np.zeros(4), [1, 1, 1, 0])
        assert isinstance(ratio, float)
        assert ratio == pytest.approx(expected)

    @pytest.mark.parametrize("length", [100_000, 1_000_000])
    def test_long_responses_do_not_underflow(self, length):
        """The probability of the whole underflows, its mean log-ratio does not."""
        old = np.full(length, -20.0)
        assert r.sequence_importance_ratio(old + 1e-4, old) == pytest.approx(math.exp(1e-4), rel=1e-12)

    def test_opposite_changes_cancel(self):
        """[-.4, -.6] against [-.5, -.5] is 1, and so is the term."""
        assert r.sequence_importance_ratio([-0.4, -0.6], [-0.5, -0.5]) == pytest.approx(1)
        assert r.gspo_surrogate_term([-0.4, -0.6], [-0.5, -0.5], 1) == pytest.approx(1)

    def test_gspo_clips_the_response(self):
        """Far up with a positive advantage is held at 1 + eps_high."""
        assert r.gspo_surrogate_term([-0.4], [-0.5], 2.0) == pytest.approx(2 * (1 + 4e-4))
        assert r.gspo_surrogate_term([-0.6], [-0.5], -2.0) == pytest.approx(-2 * (1 - 3e-4))

    @pytest.mark.parametrize(
        ("new", "old", "mask"),
        [
            ([1.0], [1.0, 2.0], None),
            ([], [], None),
            ([NAN], [0.0], None),
            ([0.0], [INF], None),
            ([0.0, 0.0], [0.0, 0.0], [1]),
            ([0.0, 0.0], [0.0, 0.0], [0, 0]),
            ([0.0, 0.0], [0.0, 0.0], [1, 2]),
            ([0.0, 0.0], [0.0, 0.0], [1, 0.5]),
        ],
    )
    def test_bad_sequences(self, new, old, mask):
        """Masks match, hold 0 and 1 and have an active token; log-probabilities are finite."""
        with pytest.raises(ValueError, match=r"new_logp|old_logp|mask"):
            r.sequence_importance_ratio(new, old, mask)
        with pytest.raises(ValueError, match=r"new_logp|old_logp|mask"):
            r.gspo_surrogate_term(new, old, 1.0, mask=mask)

    @pytest.mark.parametrize("advantage", [NAN, INF])
    def test_bad_advantage(self, advantage):
        """The advantage is finite."""
        with pytest.raises(ValueError, match="advantage"):
            r.gspo_surrogate_term([0.0], [0.0], advantage)


VARIANTS = {
    "original": r.original_grpo_token_weights,
    "dr": lambda rewards, lengths: r.dr_grpo_token_weights(rewards, lengths, fixed_length=1000),
    "dapo": r.dapo_token_weights,
}


class TestTokenWeights:
    """Module 9: who decides the size of an update."""

    @pytest.mark.parametrize(
        ("variant", "totals"),
        [("original", [0.5, -0.5]), ("dr", [0.0025, -0.25]), ("dapo", [10 / 1010, -1000 / 1010])],
    )
    def test_totals(self, variant, totals):
        """Rewards [1, 0] of lengths [10, 1000], L = 1000."""
        weights = VARIANTS[variant]([1, 0], [10, 1000])
        assert [w.shape for w in weights] == [(10,), (1000,)]
        assert_allclose(r.response_contributions(weights), totals, atol=1e-7)

    def test_original_grpo_favours_tokens_of_short_responses(self):
        """Lengths [50, 500]: .01 and -.001 a token, but the same total."""
        weights = r.original_grpo_token_weights([1, 0], [50, 500])
        assert_allclose([weights[0][0], weights[1][0]], [0.01, -0.001], atol=1e-9)
        assert_allclose(r.response_contributions(weights), [0.5, -0.5], atol=1e-7)

    @pytest.mark.parametrize("variant", VARIANTS)
    @pytest.mark.parametrize(
        ("rewards", "lengths"),
        [([1, 0], [1]), ([1, 0], [0, 1]), ([1, 0], [-1, 1]), ([], []), ([1, NAN], [1, 1])],
    )
    def test_bad_inputs(self, variant, rewards, lengths):
        """Lengths are positive and of the shape of the rewards."""
        with pytest.raises(ValueError, match=r"rewards|lengths"):
            VARIANTS[variant](rewards, np.asarray(lengths, dtype=int))

    @pytest.mark.parametrize("fixed_length", [0, -1])
    def test_bad_fixed_length(self, fixed_length):
        """The fixed length is positive."""
        with pytest.raises(ValueError, match="fixed_length"):
            r.dr_grpo_token_weights([1, 0], [1, 1], fixed_length=fixed_length)


class TestGroups:
    """Module 9: dynamic sampling, shaping and pass@k."""

    def test_informative_groups(self):
        """p = .1, G = 8; 32 such groups take about 56 draws."""
        assert r.informative_group_probability(0.1, 8) == pytest.approx(0.56953278, abs=1e-8)
        assert r.expected_prompt_draws(32, 0.1, 8) == pytest.approx(56.19, abs=5e-3)

    def test_soft_overlong_penalty(self):
        """Limit 1000, cache 200."""
        penalty = r.soft_overlong_penalty([750, 900, 1000, 1200], max_length=1000, cache_length=200)
        assert_array_equal(penalty, [0, -0.5, -1, -1])
        penalty = r.soft_overlong_penalty([80, 81, 90, 99, 100, 101], max_length=100, cache_length=20)
        assert_allclose(penalty, [0, -0.05, -0.5, -0.95, -1, -1])

    @pytest.mark.parametrize(("k", "expected"), [(1, 0.2), (4, 0.5904), (16, 0.9719)])
    def test_independent_pass_at_k(self, k, expected):
        """p = .2."""
        assert r.independent_pass_at_k(0.2, k) == pytest.approx(expected, abs=5e-5)

    @pytest.mark.parametrize(("k", "expected"), [(1, 0.375), (2, 0.642857), (4, 0.928571), (8, 1.0)])
    def test_pass_at_k(self, k, expected):
        """n = 8, c = 3; and one right of sixteen gives k/16."""
        assert r.pass_at_k(8, 3, k) == pytest.approx(expected, abs=5e-7)
        assert r.pass_at_k(16, 1, k) == pytest.approx(k / 16)


class TestLogProbs:
    """Module 6: log-probabilities and likelihood."""

    def test_log_softmax_is_stable(self):
        """Large logits of either sign: normalised, and equal up to the order."""
        result = r.stable_log_softmax([[1000, 1001, 999], [-1000, -999, -1001]])
        assert_allclose(np.exp(result).sum(axis=-1), 1, atol=1e-12)
        assert_array_equal(result[0], result[1])

    @pytest.mark.parametrize("logits", [[NAN, 0], [INF, 0], [-INF, 0], 1.0, []])
    def test_bad_logits(self, logits):
        """NaN, infinities and 0-d input are refused."""
        with pytest.raises(ValueError, match="logits"):
            r.stable_log_softmax(logits)

    def test_bad_axis(self):
        """An axis out of range is a bad value, one that is no integer a bad type."""
        for axis in (2, -3):
            with pytest.raises(ValueError, match="axis"):
                r.stable_log_softmax([[1.0, 2.0]], axis)
        for axis in (0.5, "0", None, True):
            with pytest.raises(TypeError, match="axis"):
                r.stable_log_softmax([[1.0, 2.0]], axis)

    def test_causal_shift(self):
        """Logits at i predict token i + 1."""
        logprobs, mask = r.causal_response_logprobs(np.zeros((1, 3, 4)), [[0, 1, 2]], [[0, 1, 1]])
        assert_allclose(logprobs, [[-math.log(4)] * 2])
        assert mask.tolist() == [[True, True]]

    @pytest.mark.parametrize(
        ("logits", "ids", "mask"),
        [
            (np.zeros((1, 1, 4)), [[0]], [[1]]),
            (np.zeros((1, 3, 4)), [[0, 1, 4]], [[0, 1, 1]]),
            (np.zeros((1, 3, 4)), [[0, -1, 1]], [[0, 1, 1]]),
            (np.zeros((1, 3, 4)), [[0, 1]], [[0, 1, 1]]),
            (np.zeros((1, 3, 4)), [[0, 1, 2]], [[0, 1]]),
            (np.zeros((3, 4)), [[0, 1, 2]], [[0, 1, 1]]),
            (np.zeros((1, 3, 4)), [[0, 1, 2]], [[0, 1, 2]]),
            (np.full((1, 3, 4), NAN), [[0, 1, 2]], [[0, 1, 1]]),
        ],
    )
    def test_bad_causal_inputs(self, logits, ids, mask):
        """At least two tokens, ids in the vocabulary, shapes that agree."""
        with pytest.raises(ValueError, match=r"model_logits|input_ids|response_token_mask|L must"):
            r.causal_response_logprobs(logits, ids, mask)

    def test_sequence_metrics(self):
        """The two tables of the course, and a certain token that lowers the perplexity."""
        metrics = r.masked_sequence_metrics([-0.1, -0.2, -1], [0, 1, 1])
        assert metrics.token_count == 2
        assert_allclose(
            [metrics.sum_logprob, metrics.mean_nll, metrics.perplexity], [-1.2, 0.6, math.exp(0.6)]
        )
        metrics = r.masked_sequence_metrics(np.log([0.5, 0.25, 0.8]), [1, 1, 1])
        assert_allclose(
            [metrics.sum_logprob, metrics.mean_nll, metrics.perplexity],
            [-2.302585, 0.767528, 2.154435],
            atol=5e-7,
        )
        longer = r.masked_sequence_metrics(np.log([[0.5, 0.25, 0.8, 1.0]]), [[1, 1, 1, 1]])
        assert longer.perplexity == pytest.approx(1.7783, abs=5e-5)

    @pytest.mark.parametrize(
        ("logprobs", "mask"),
        [([-1.0], [0]), ([-1.0, -1.0], [1]), ([NAN], [1]), ([-INF], [1]), ([-1.0], [2]), (-1.0, 1)],
    )
    def test_bad_metrics(self, logprobs, mask):
        """Something is active, shapes agree, and what is active is finite."""
        with pytest.raises(ValueError, match=r"selected_logprobs|mask"):
            r.masked_sequence_metrics(logprobs, mask)


class TestDivergence:
    """Module 6: exact and sampled KL, and support."""

    def test_samples(self):
        """r = 2 and r = 1/2: only k1 changes its sign."""
        values = r.kl_sample_values(np.log([0.25, 0.5]), np.log([0.5, 0.25]))
        assert_allclose(values["k1"], [-0.693147, 0.693147], atol=5e-7)
        assert_allclose(values["k2"], [0.240227, 0.240227], atol=5e-7)
        assert_allclose(values["k3"], [0.306853, 0.193147], atol=5e-7)

    def test_tree(self):
        """The divergence of a two-step tree is that of the first step plus the expected rest."""
        p0, q0 = np.array([0.6, 0.4]), np.array([0.5, 0.5])
        p1, q1 = np.array([[0.7, 0.3], [0.2, 0.8]]), np.array([[0.4, 0.6], [0.5, 0.5]])
        first = r.exact_kl_from_logits(np.log(p0), np.log(q0))
        rest = p0 @ r.exact_kl_from_logits(np.log(p1), np.log(q1))
        joint = r.exact_kl_from_logits(np.log(p0[:, None] * p1).ravel(), np.log(q0[:, None] * q1).ravel())
        assert_allclose([first, rest, joint], [0.0201355, 0.1873700, 0.2075056], atol=5e-8)
        assert r.exact_kl_from_logits([1.0, 2.0], [1.0, 2.0]) == 0

    def test_unsupported_actions(self):
        """What the behaviour policy never takes no weight makes up for."""
        assert r.unsupported_actions([0.6, 0.2, 0.2], [0.7, 0.3, 0]).tolist() == [2]

    def test_support_in_both_directions(self):
        """Where q misses p, the mean of k3 falls short; where p misses q, the divergence is infinite."""
        uncovered = r.support_report(p=[0.8, 0.2], q=[1, 0])
        assert uncovered.covered_mass == pytest.approx(0.8)
        assert (uncovered.k3_unbiased, uncovered.log_ratio_finite) == (False, True)
        assert uncovered.kl == pytest.approx(-math.log(0.8))
        infinite = r.support_report(p=[1, 0], q=[0.8, 0.2])
        assert (infinite.kl, infinite.log_ratio_finite, infinite.k3_unbiased) == (INF, False, True)


LOGITS = [2, 1, 0, -1]
NUCLEUS = np.log([0.5, 0.3, 0.15, 0.05])


class TestDistributions:
    """Module 6: temperature and cuts."""

    def test_temperature(self):
        """T = 2 flattens."""
        assert r.temperature_distribution(LOGITS, 2)[0] == pytest.approx(0.455054, abs=5e-7)

    def test_top_k_and_top_p(self):
        """Two of four remain either way."""
        for result in (r.top_k_distribution(LOGITS, 2), r.top_p_distribution(LOGITS, 0.8)):
            assert_allclose(result, [0.731059, 0.268941, 0, 0], atol=5e-7)

    @pytest.mark.parametrize(
        ("top_p", "expected"),
        [(0.80, [0.625, 0.375, 0, 0]), (0.81, np.array([0.5, 0.3, 0.15, 0]) / 0.95), (1.0, np.exp(NUCLEUS))],
    )
    def test_the_token_that_reaches_the_threshold_stays(self, top_p, expected):
        """At .80 two tokens suffice although their float sum is an ulp short."""
        assert_allclose(r.top_p_distribution(NUCLEUS, top_p), expected, atol=1e-12)

    def test_ties_go_to_the_smaller_id(self):
        """Of equal logits the first survive."""
        assert_array_equal(r.top_k_distribution([0, 1, 1, 1], 2), [0, 0.5, 0.5, 0])
        assert_array_equal(r.top_p_distribution([0, 0, 0, 0], 0.5), [0.5, 0.5, 0, 0])

    @pytest.mark.parametrize(
        "call",
        [
            lambda: r.temperature_distribution(LOGITS, 0),
            lambda: r.temperature_distribution(LOGITS, -1),
            lambda: r.top_k_distribution(LOGITS, 0),
            lambda: r.top_k_distribution(LOGITS, 5),
            lambda: r.top_p_distribution(LOGITS, 0),
            lambda: r.top_p_distribution(LOGITS, 1.1),
            lambda: r.top_p_distribution(LOGITS, 0.5, min_tokens_to_keep=0),
            lambda: r.top_p_distribution(LOGITS, 0.5, min_tokens_to_keep=5),
            lambda: r.min_p_distribution(LOGITS, -0.1),
            lambda: r.temperature_distribution([NAN, 1], 1),
        ],
    )
    def test_bad_parameters(self, call):
        """T above 0, k within 1..V, top_p within (0, 1], min_tokens_to_keep within 1..V."""
        with pytest.raises(ValueError, match=r"temperature|k|top_p|min_tokens_to_keep|min_p|logits"):
            call()

    def test_retained_mass(self):
        """Cutting to .85 of the mass multiplies each kept probability, along the response too."""
        logprob, gain = r.retained_mass_correction(math.log(0.25), 0.85)
        assert (logprob, gain) == (pytest.approx(-1.223775, abs=5e-7), pytest.approx(0.162519, abs=5e-7))
        assert math.exp(4 * gain) == pytest.approx(1.915686, abs=5e-7)


class TestRollouts:
    """Modules 6 and 9: records, batches and stop reasons."""

    def test_batch_summary(self):
        """Two sequences, three tokens, one ended and one cut off."""
        batch = {
            "response_ids": [[5, 6], [7, 8]],
            "response_mask": [[1, 1], [1, 0]],
            "old_logprobs": [[-0.1, -0.2], [-0.3, NAN]],
            "ref_logprobs": [[-0.1, -0.2], [-0.3, NAN]],
            "sequence_rewards": [1.0, 0.0],
            "terminated": [True, False],
            "truncated": [False, True],
            "stop_reason": ["eos", "length"],
        }
        assert r.validate_rollout_batch(batch) == r.RolloutBatchSummary(2, 2, 3, 1, 1, 1.5)

    @pytest.mark.parametrize("reason", ["eos", "stop_string", "truncated", "environment", "error"])
    def test_record_stop_reasons(self, reason):
        """The course's five reasons are accepted."""
        record = r.RolloutRecord("q1", "g1", (1, 2), (1, 0), (-0.5, 0.0), (1.0,), reason, "ckpt-1")
        assert r.validate_rollout_record(record) is None
