"""What holds of the formulas for all inputs, found by search and not by example."""

from __future__ import annotations

import itertools
import math

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import special, stats

import rollouts as r

finite = st.floats(-1e6, 1e6)
small = st.floats(-30, 30)
rewards_of = hnp.arrays(np.float64, st.integers(1, 12), elements=st.floats(-1e3, 1e3))


def distributions(size: int) -> st.SearchStrategy[np.ndarray]:
    """Logits of a distribution that has all its support."""
    return hnp.arrays(np.float64, size, elements=st.floats(-8, 8))


class TestAdvantages:
    """Group-relative advantages."""

    @given(rewards_of, st.booleans())
    def test_sum_to_zero(self, rewards, scale):
        """The baseline is the group's own mean."""
        advantages = r.group_relative_advantages(rewards, scale)
        assert advantages.sum() == pytest.approx(0, abs=1e-9 * max(1, np.abs(rewards).max()))

    @given(
        hnp.arrays(np.int64, st.integers(1, 12), elements=st.integers(-1000, 1000)), st.integers(-1000, 1000)
    )
    def test_shift_invariant(self, rewards, shift):
        """A constant added to all rewards changes nothing."""
        for scale in (True, False):
            assert_allclose(
                r.group_relative_advantages(rewards + shift, scale),
                r.group_relative_advantages(rewards, scale),
                atol=1e-9,
            )

    @given(rewards_of)
    def test_scaled_ones_have_unit_deviation(self, rewards):
        """Unless rewards are equal, or so near to each other that eps decides."""
        assume(np.std(rewards) > 1e-3)
        assert r.group_relative_advantages(rewards).std() == pytest.approx(1, rel=1e-4)

    @given(st.sampled_from([1e-320, 1e-300, 1e100, 1e300, 1.7e308]), st.booleans())
    def test_any_finite_scale_stays_finite(self, unit, scale):
        """Neither tiny nor huge rewards overflow on the way."""
        advantages = r.group_relative_advantages(np.array([0.0, 0.5, 1.0]) * unit, scale, eps=0.0)
        assert np.isfinite(advantages).all()
        assert advantages[0] < 0 < advantages[2]

    @given(rewards_of, st.data())
    def test_masked_members_do_not_count(self, rewards, data):
        """Members left out may be NaN: the rest is as if they were not there, and they get exactly 0."""
        mask = data.draw(hnp.arrays(bool, rewards.shape))
        assume(mask.any())
        holes = np.where(mask, rewards, np.nan)
        advantages = r.group_relative_advantages(holes, mask=mask)
        assert_allclose(advantages[mask], r.group_relative_advantages(rewards[mask]), atol=1e-12)
        assert_array_equal(advantages[~mask], 0)

    @given(
        st.lists(st.tuples(st.integers(-3, 3), st.floats(-10, 10), st.booleans()), min_size=1), st.booleans()
    )
    def test_ragged_batches_are_their_groups(self, members, scale):
        """The batch of groups gives what each group gives alone, whatever the ids are and however they
        mix."""
        ids = np.array([group for group, _, _ in members])
        rewards = np.array([reward for _, reward, _ in members])
        mask = np.array([counted for _, _, counted in members])
        for labels in (ids, ids * 10**12, [f"q{i}" for i in ids], [(int(i), "x") for i in ids]):
            whole = r.group_advantages(rewards, labels, scale)
            masked = r.group_advantages(np.where(mask, rewards, np.nan), labels, scale, mask=mask)
            for group in np.unique(ids):
                rows = ids == group
                assert_allclose(whole[rows], r.group_relative_advantages(rewards[rows], scale), atol=1e-7)
                if mask[rows].any():
                    alone = r.group_relative_advantages(rewards[rows], scale, mask=mask[rows])
                    assert_allclose(masked[rows], alone, atol=1e-7)
            assert_array_equal(masked[~mask], 0)

    def test_equal_rewards_in_ragged_batches_are_exact_zeros(self):
        """Rounding in a group's mean leaves nothing behind."""
        rewards = np.repeat([0.1, 0.3, 0.7], [3, 7, 11])
        ids = np.repeat([0, 1, 2], [3, 7, 11])
        assert_array_equal(r.group_advantages(rewards, ids), 0)


class TestLogSoftmax:
    """Log-softmax against SciPy and against its own definition."""

    @given(hnp.arrays(np.float64, hnp.array_shapes(min_dims=1, max_dims=3, max_side=6), elements=finite))
    def test_equals_scipy(self, logits):
        """On any axis."""
        for axis in range(-logits.ndim, logits.ndim):
            assert_allclose(
                r.stable_log_softmax(logits, axis), special.log_softmax(logits, axis=axis), atol=1e-9
            )

    @given(hnp.arrays(np.float64, st.integers(1, 8), elements=st.floats(-1.7e308, 1.7e308)))
    def test_stays_normalised_at_any_magnitude(self, logits):
        """Up to the largest floats there is a distribution, and no overflow."""
        result = r.stable_log_softmax(logits)
        assert np.isfinite(result).all()
        assert np.exp(result).sum() == pytest.approx(1, abs=1e-12)

    @given(
        hnp.arrays(np.int64, st.integers(1, 8), elements=st.integers(-(2**20), 2**20)),
        st.integers(-(2**30), 2**30),
    )
    def test_shift_invariant_where_the_shift_is_exact(self, logits, shift):
        """Integers of this size add exactly, so the result is the same to the last bit."""
        assert_array_equal(r.stable_log_softmax(logits + shift), r.stable_log_softmax(logits))


class TestCausalLogprobs:
    """Selected log-probabilities against the whole log-softmax."""

    @given(st.data(), st.integers(1, 4), st.integers(2, 7), st.integers(1, 6))
    def test_equals_the_full_log_softmax(self, data, batch, length, vocabulary):
        """Gathered one step early; masked positions are exact zeros although their logits are NaN."""
        logits = data.draw(
            hnp.arrays(np.float32, (batch, length, vocabulary), elements=st.floats(-50, 50, width=32))
        )
        ids = data.draw(hnp.arrays(np.int64, (batch, length), elements=st.integers(0, vocabulary - 1)))
        mask = data.draw(hnp.arrays(bool, (batch, length)))
        full = special.log_softmax(logits.astype(np.float64), axis=-1)
        expected = np.take_along_axis(full[:, :-1], ids[:, 1:, None], axis=-1)[..., 0]
        logits[:, :-1][~mask[:, 1:]] = np.nan
        logits[:, -1] = np.nan
        selected, active = r.causal_response_logprobs(logits, ids, mask)
        assert_array_equal(active, mask[:, 1:])
        assert_allclose(selected[active], expected[active], atol=1e-12)
        assert_array_equal(selected[~active], 0)

    def test_pieces_fit_together(self):
        """Batches large enough to be worked in pieces, by rows and inside of rows."""
        rng = np.random.default_rng(0)
        for shape in [(300, 3, 2000), (3, 300, 2000)]:
            logits = rng.normal(size=shape)
            ids = rng.integers(0, shape[2], shape[:2])
            selected, _ = r.causal_response_logprobs(logits, ids, np.ones(shape[:2]))
            full = special.log_softmax(logits[:, :-1], axis=-1)
            assert_allclose(selected, np.take_along_axis(full, ids[:, 1:, None], axis=-1)[..., 0], atol=1e-12)
            entropy = stats.entropy(special.softmax(logits, axis=-1), axis=-1).mean()
            assert r.mean_token_entropy(logits, np.ones(shape[:2])) == pytest.approx(entropy)
            other = rng.normal(size=shape)
            expected = special.rel_entr(special.softmax(logits, -1), special.softmax(other, -1)).sum(-1)
            assert_allclose(r.exact_kl_from_logits(logits, other), expected, atol=1e-12)

    @given(st.data(), st.integers(1, 5), st.integers(1, 6))
    def test_entropy_equals_scipy(self, data, steps, vocabulary):
        """The mean over active positions; what is masked may be NaN."""
        logits = data.draw(hnp.arrays(np.float64, (steps, vocabulary), elements=small))
        mask = data.draw(hnp.arrays(bool, steps))
        assume(mask.any())
        expected = stats.entropy(special.softmax(logits, axis=-1), axis=-1)[mask].mean()
        logits[~mask] = np.nan
        entropy = r.mean_token_entropy(logits, mask)
        assert entropy == pytest.approx(expected, abs=1e-12)
        assert -1e-12 <= entropy <= math.log(vocabulary) + 1e-12

    @given(hnp.arrays(np.float64, st.integers(1, 9), elements=st.floats(-50, 0)), st.data())
    def test_metrics_ignore_what_is_masked(self, logprobs, data):
        """Sum and mean over the active tokens, and perplexity as their exponential."""
        mask = data.draw(hnp.arrays(bool, logprobs.shape))
        assume(mask.any())
        metrics = r.masked_sequence_metrics(np.where(mask, logprobs, np.nan), mask)
        assert metrics.token_count == mask.sum()
        assert metrics.sum_logprob == pytest.approx(logprobs[mask].sum())
        assert metrics.perplexity == pytest.approx(math.exp(-logprobs[mask].mean()))


class TestDivergence:
    """KL, its estimators and its chain rule."""

    @given(st.integers(2, 6).flatmap(lambda size: st.tuples(distributions(size), distributions(size))))
    def test_exact_kl(self, pair):
        """Equals SciPy's, is not negative, and is the mean of k1 and of k3 where both support all."""
        p_logits, q_logits = pair
        p, q = special.softmax(p_logits), special.softmax(q_logits)
        exact = r.exact_kl_from_logits(q_logits, p_logits)
        assert exact >= 0
        assert exact == pytest.approx(special.rel_entr(q, p).sum(), abs=1e-12)
        values = r.kl_sample_values(np.log(q), np.log(p))
        assert q @ values["k1"] == pytest.approx(exact, abs=1e-9)
        assert q @ values["k3"] == pytest.approx(exact, abs=1e-9)
        assert r.support_report(p, q).kl == pytest.approx(exact, abs=1e-9)

    @given(hnp.arrays(np.float64, st.integers(1, 8), elements=st.floats(-1e4, 1e4)))
    def test_estimators(self, log_ratio):
        """k1 may be negative, k2 and k3 may not, and nothing overflows."""
        values = r.kl_sample_values(np.zeros_like(log_ratio), log_ratio)
        assert_array_equal(values["k1"], -log_ratio)
        assert_allclose(values["k2"], log_ratio**2 / 2)
        assert (values["k3"] >= 0).all()
        assert np.isfinite(values["k3"]).all()

    def test_sample_means_approach_the_divergence(self):
        """From samples of q: k1 and k3 do, k2 is biased, and k3 is the steadier of the first two."""
        rng = np.random.default_rng(0)
        p, q = np.array([0.45, 0.35, 0.2]), np.array([0.5, 0.25, 0.25])
        samples = rng.choice(3, 200_000, p=q)
        values = r.kl_sample_values(np.log(q)[samples], np.log(p)[samples])
        exact = r.exact_kl_from_logits(np.log(q), np.log(p))
        for name in ("k1", "k3"):
            error = values[name].std() / math.sqrt(len(samples))
            assert values[name].mean() == pytest.approx(exact, abs=5 * error)
        assert values["k3"].std() < values["k1"].std()
        assert (values["k1"] < 0).any()

    @given(st.floats(-30, 30).filter(lambda x: abs(x) > 1e-15))
    def test_k3_is_precise(self, log_ratio):
        """Also where exp(x) - 1 and x nearly cancel: against 60 digits."""
        from decimal import Decimal, localcontext

        with localcontext() as context:
            context.prec = 60
            exact = float(Decimal(log_ratio).exp() - 1 - Decimal(log_ratio))
        assert r.kl_sample_values([0.0], [log_ratio])["k3"][0] == pytest.approx(exact, rel=1e-12, abs=0)

    @given(hnp.arrays(bool, 5), hnp.arrays(np.float64, 5, elements=small))
    def test_masked_samples_are_zero(self, mask, log_p):
        """NaN where nothing was sampled gives exact zeros."""
        hole = np.where(mask, log_p, np.nan)
        for value in r.kl_sample_values(hole, hole, mask=mask).values():
            assert_array_equal(value, 0)

    @given(st.integers(1, 3), st.integers(2, 3), st.integers(0, 2**32 - 1))
    def test_chain_rule_over_random_trees(self, depth, width, seed):
        """The divergence of whole sequences is the expected sum of the divergences of their steps."""
        rng = np.random.default_rng(seed)

        def walk(level: int, log_p: float, log_q: float) -> tuple[float, list[float], list[float]]:
            """Expected divergence below a node, and the log-probabilities of its leaves."""
            if level == depth:
                return 0.0, [log_p], [log_q]
            p, q = rng.normal(size=width), rng.normal(size=width)
            total, leaves_p, leaves_q = math.exp(log_p) * r.exact_kl_from_logits(p, q), [], []
            for step_p, step_q in zip(r.stable_log_softmax(p), r.stable_log_softmax(q), strict=True):
                below, more_p, more_q = walk(level + 1, log_p + step_p, log_q + step_q)
                total, leaves_p, leaves_q = total + below, leaves_p + more_p, leaves_q + more_q
            return total, leaves_p, leaves_q

        expected, leaves_p, leaves_q = walk(0, 0.0, 0.0)
        assert r.exact_kl_from_logits(leaves_p, leaves_q) == pytest.approx(expected, abs=1e-12)

    @given(hnp.arrays(np.int64, (2, 4), elements=st.integers(0, 3)))
    def test_support_in_both_directions(self, counts):
        """Each field says what it says, for any pair of supports."""
        assume((counts.sum(axis=1) > 0).all())
        p, q = counts / counts.sum(axis=1, keepdims=True)
        report = r.support_report(p, q)
        sampled = q > 0
        assert report.log_ratio_finite == bool((p[sampled] > 0).all()) == math.isfinite(report.kl)
        assert report.covered_mass == pytest.approx(q[sampled] @ (p[sampled] / q[sampled]))
        assert report.k3_unbiased == (r.unsupported_actions(p, q).size == 0)
        if report.log_ratio_finite:
            ratio = p[sampled] / q[sampled]
            mean_k3 = q[sampled] @ (ratio - 1 - np.log(ratio))
            assert mean_k3 == pytest.approx(report.kl - (1 - report.covered_mass), abs=1e-12)


class TestDistributions:
    """Temperature, top-k, nucleus, min-p."""

    @given(hnp.arrays(np.float64, st.integers(1, 9), elements=small), st.floats(1e-3, 1.0))
    def test_nucleus_mass(self, logits, top_p):
        """The nucleus reaches the threshold, and without its least likely token it would not."""
        base, kept = special.softmax(logits), r.top_p_distribution(logits, top_p) > 0
        assert base[kept].sum() >= top_p - 1e-9
        if kept.sum() > 1 and top_p < 1:  # 1 keeps all
            assert base[kept].sum() - base[kept].min() < top_p
        assert base[kept].min() >= base[~kept].max(initial=0)

    @given(hnp.arrays(np.float64, st.integers(1, 9), elements=st.integers(-3, 3)), st.data())
    def test_kept_tokens_keep_their_proportions(self, logits, data):
        """Every cut renormalises what it keeps, in order, and gives exact zeros elsewhere."""
        size = len(logits)
        keep = data.draw(st.integers(1, size))
        base = special.softmax(logits)
        for result in (
            r.top_k_distribution(logits, keep),
            r.top_p_distribution(logits, data.draw(st.floats(0.01, 1)), min_tokens_to_keep=keep),
            r.min_p_distribution(logits, data.draw(st.floats(0, 1)), min_tokens_to_keep=keep),
        ):
            kept = result > 0
            assert kept.sum() >= keep
            assert_allclose(result[kept], base[kept] / base[kept].sum(), atol=1e-12)
            order = np.lexsort((np.arange(size), -logits))
            assert kept[order[: kept.sum()]].all()
        assert (r.top_k_distribution(logits, keep) > 0).sum() == keep

    @given(hnp.arrays(np.float64, st.integers(1, 9), elements=small), st.floats(0, 1))
    def test_min_p_threshold(self, logits, min_p):
        """A token stays when it is likely enough against the most likely one."""
        base = special.softmax(logits)
        kept = r.min_p_distribution(logits, min_p) > 0
        assert kept[base >= min_p * base.max() * (1 + 1e-9)].all()
        assert not kept[base < min_p * base.max() * (1 - 1e-9)].any()

    @given(
        hnp.arrays(np.float64, st.integers(1, 6), elements=st.floats(-1e300, 1e300)), st.floats(1e-300, 1e300)
    )
    def test_temperature_at_any_magnitude(self, logits, temperature):
        """A distribution whatever the scales are."""
        result = r.temperature_distribution(logits, temperature)
        assert result.sum() == pytest.approx(1)
        assert np.isfinite(result).all()

    @given(hnp.arrays(np.float64, (2, 3, 5), elements=small), st.integers(1, 5), st.floats(0.05, 1))
    def test_leading_axes_are_independent(self, logits, k, threshold):
        """A batch of rows gives what each row gives alone."""
        for function, parameter in (
            (r.top_k_distribution, k),
            (r.top_p_distribution, threshold),
            (r.min_p_distribution, threshold),
            (r.temperature_distribution, threshold),
        ):
            whole = function(logits, parameter)
            for row in itertools.product(range(2), range(3)):
                assert_allclose(whole[row], function(logits[row], parameter), atol=1e-12)

    @given(hnp.arrays(np.float64, st.integers(2, 9), elements=small), st.floats(0.05, 1))
    def test_retained_mass_correction_is_the_cut(self, logits, top_p):
        """Correcting the full softmax gives the cut one."""
        base, cut = special.softmax(logits), r.top_p_distribution(logits, top_p)
        kept = cut > 0
        token = int(np.argmax(logits))
        logprob, gain = r.retained_mass_correction(math.log(base[token]), min(base[kept].sum(), 1.0))
        assert logprob == pytest.approx(math.log(cut[token]), abs=1e-9)
        assert gain >= 0


class TestClipping:
    """Clip bounds and what holds inside them."""

    @given(
        hnp.arrays(np.float64, 6, elements=st.floats(1e-3, 10)),
        hnp.arrays(np.float64, 6, elements=st.floats(-5, 5)),
        st.floats(0, 1),
        st.floats(0, 3),
    )
    def test_bounds(self, ratios, advantages, low, high):
        """A term never exceeds its bound, is the plain one inside, and is constant where clipping is
        active."""
        terms = r.clipped_terms(ratios, advantages, low, high)
        active = r.clip_activity(ratios, advantages, low, high)
        bound = np.where(advantages > 0, 1 + high, 1 - low) * advantages
        assert (terms <= bound + 1e-12).all()
        assert (terms <= ratios * advantages + 1e-12).all()
        assert_allclose(terms[active], bound[active])
        assert_allclose(terms[~active], (ratios * advantages)[~active])
        step = np.where(active, np.abs(ratios - np.where(advantages > 0, 1 + high, 1 - low)) / 2, 0)
        for nearby in (ratios + step, np.maximum(ratios - step, 1e-6)):
            assert_array_equal(r.clipped_terms(nearby, advantages, low, high)[active], terms[active])

    @given(hnp.arrays(np.float64, 5, elements=st.floats(-1e3, 1e3)), hnp.arrays(bool, 5))
    def test_sequence_ratio(self, log_ratio, mask):
        """The geometric mean of the active token ratios, finite for any finite log-probabilities."""
        assume(mask.any())
        hole = np.where(mask, log_ratio, np.nan)
        ratio = r.sequence_importance_ratio(hole, np.zeros(5), mask)
        mean = log_ratio[mask].mean()
        if abs(mean) < 700:
            assert math.log(ratio) == pytest.approx(mean, abs=1e-9)
        assert math.isfinite(ratio)


class TestTokenWeights:
    """Ragged and padded twins."""

    @given(
        st.lists(st.tuples(st.floats(-5, 5), st.integers(1, 6)), min_size=1, max_size=6), st.integers(1, 50)
    )
    def test_twins_agree(self, responses, fixed_length):
        """The padded form holds the ragged one, and exact zeros after it."""
        rewards, lengths = map(np.array, zip(*responses, strict=True))
        mask = np.arange(lengths.max()) < lengths[:, None]
        pairs = [
            (
                r.original_grpo_token_weights(rewards, lengths),
                r.padded_original_grpo_token_weights(rewards, mask),
            ),
            (
                r.dr_grpo_token_weights(rewards, lengths, fixed_length=fixed_length),
                r.padded_dr_grpo_token_weights(rewards, mask, fixed_length=fixed_length),
            ),
            (r.dapo_token_weights(rewards, lengths), r.padded_dapo_token_weights(rewards, mask)),
            (
                r.dapo_token_weights(rewards, lengths, scale_rewards=False),
                r.padded_dapo_token_weights(rewards, mask, scale_rewards=False),
            ),
        ]
        for ragged, padded in pairs:
            assert_allclose(padded[mask], np.concatenate(ragged), atol=1e-15)
            assert_array_equal(padded[~mask], 0)
            assert_allclose(r.response_contributions(padded), r.response_contributions(ragged), atol=1e-12)

    @given(st.floats(-5, 5), st.floats(-5, 5), st.lists(st.integers(1, 9), min_size=2, max_size=2))
    def test_who_has_a_say(self, first, second, lengths):
        """GRPO: responses weigh alike. Dr. GRPO and DAPO: tokens do."""
        rewards = [first, second]
        totals = r.response_contributions(r.original_grpo_token_weights(rewards, lengths))
        assert totals.sum() == pytest.approx(0, abs=1e-9)
        for weights in (
            r.dr_grpo_token_weights(rewards, lengths, fixed_length=9),
            r.dapo_token_weights(rewards, lengths),
        ):
            assert abs(weights[0][0]) == pytest.approx(abs(weights[1][0]))


class TestCounting:
    """pass@k, informative groups, shaping."""

    @pytest.mark.parametrize("n", range(1, 9))
    def test_pass_at_k_is_the_share_of_subsets_with_a_success(self, n):
        """Against every subset of k responses."""
        for c in range(n + 1):
            for k in range(1, n + 1):
                subsets = list(itertools.combinations([True] * c + [False] * (n - c), k))
                assert r.pass_at_k(n, c, k) == pytest.approx(sum(map(any, subsets)) / len(subsets), abs=1e-12)

    @given(st.integers(1, 10**6), st.data())
    def test_pass_at_k_for_large_n(self, n, data):
        """Against the hypergeometric distribution."""
        c, k = data.draw(st.integers(0, min(n, 50))), data.draw(st.integers(1, min(n, 50)))
        assert r.pass_at_k(n, c, k) == pytest.approx(stats.hypergeom(n, c, k).sf(0), rel=1e-7, abs=1e-12)

    @given(st.floats(1e-12, 1), st.integers(1, 12))
    def test_informative_groups_by_enumeration(self, p, size):
        """Against the sum over all numbers of successes but none and all."""
        between = stats.binom(size, p).pmf(np.arange(1, size)).sum()
        assert r.informative_group_probability(p, size) == pytest.approx(between, abs=1e-12)
        if 0.01 < p < 0.99 and size > 1:
            assert r.expected_prompt_draws(5, p, size) == pytest.approx(5 / between)

    @pytest.mark.parametrize(("p", "size"), [(0.0, 8), (1.0, 8), (0.3, 1)])
    def test_no_group_teaches(self, p, size):
        """Then no number of draws is enough."""
        assert r.informative_group_probability(p, size) == 0
        assert r.expected_prompt_draws(1, p, size) == math.inf

    @given(st.floats(1e-12, 1), st.integers(1, 1000))
    def test_independent_pass_at_k(self, p, k):
        """Against the binomial distribution, also for tiny p."""
        assert r.independent_pass_at_k(p, k) == pytest.approx(stats.binom(k, p).sf(0), rel=1e-9, abs=1e-300)

    @given(st.integers(1, 100), st.integers(1, 100), hnp.arrays(np.int64, 5, elements=st.integers(0, 300)))
    def test_overlong_penalty(self, cache, extra, lengths):
        """0 below the cache, -1 from the limit on, falling between, never outside."""
        limit = cache + extra - 1
        penalty = r.soft_overlong_penalty(lengths, max_length=limit, cache_length=cache)
        assert (penalty[lengths <= limit - cache] == 0).all()
        assert (penalty[lengths >= limit] == -1).all()
        between = (lengths > limit - cache) & (lengths < limit)
        assert_allclose(penalty[between], (limit - cache - lengths[between]) / cache)
