"""The policy and rollout mathematics of reinforcement learning with verifiable rewards.

Everything public is importable from here. Names are loaded when first used, so that
stop reasons need no NumPy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rollouts.advantages import group_advantages as group_advantages
    from rollouts.advantages import group_relative_advantages as group_relative_advantages
    from rollouts.batches import RolloutBatchSummary as RolloutBatchSummary
    from rollouts.batches import check_rollout_batch as check_rollout_batch
    from rollouts.batches import validate_rollout_batch as validate_rollout_batch
    from rollouts.clipping import clip_activity as clip_activity
    from rollouts.clipping import clipped_terms as clipped_terms
    from rollouts.clipping import gspo_surrogate_term as gspo_surrogate_term
    from rollouts.clipping import sequence_importance_ratio as sequence_importance_ratio
    from rollouts.distributions import min_p_distribution as min_p_distribution
    from rollouts.distributions import retained_mass_correction as retained_mass_correction
    from rollouts.distributions import temperature_distribution as temperature_distribution
    from rollouts.distributions import top_k_distribution as top_k_distribution
    from rollouts.distributions import top_p_distribution as top_p_distribution
    from rollouts.dynamic_sampling import DynamicSamplingAudit as DynamicSamplingAudit
    from rollouts.dynamic_sampling import SampledGroup as SampledGroup
    from rollouts.dynamic_sampling import dynamic_sampling_audit as dynamic_sampling_audit
    from rollouts.dynamic_sampling import pass_rate_bin as pass_rate_bin
    from rollouts.dynamic_sampling import pass_rate_histogram as pass_rate_histogram
    from rollouts.groups import DistinctStrategies as DistinctStrategies
    from rollouts.groups import RejectReason as RejectReason
    from rollouts.groups import distinct_answers as distinct_answers
    from rollouts.groups import distinct_strategies as distinct_strategies
    from rollouts.groups import distinct_strings as distinct_strings
    from rollouts.groups import expected_prompt_draws as expected_prompt_draws
    from rollouts.groups import independent_pass_at_k as independent_pass_at_k
    from rollouts.groups import informative_group_probability as informative_group_probability
    from rollouts.groups import pass_at_k as pass_at_k
    from rollouts.groups import program_shape as program_shape
    from rollouts.groups import reject_reason as reject_reason
    from rollouts.kl import SupportReport as SupportReport
    from rollouts.kl import exact_kl_from_logits as exact_kl_from_logits
    from rollouts.kl import kl_sample_values as kl_sample_values
    from rollouts.kl import support_report as support_report
    from rollouts.kl import unsupported_actions as unsupported_actions
    from rollouts.log_probs import SequenceMetrics as SequenceMetrics
    from rollouts.log_probs import causal_response_logprobs as causal_response_logprobs
    from rollouts.log_probs import masked_sequence_metrics as masked_sequence_metrics
    from rollouts.log_probs import mean_token_entropy as mean_token_entropy
    from rollouts.log_probs import stable_log_softmax as stable_log_softmax
    from rollouts.objective import VARIANTS as VARIANTS
    from rollouts.objective import Objective as Objective
    from rollouts.objective import Variant as Variant
    from rollouts.records import RECORD_STOP_REASONS as RECORD_STOP_REASONS
    from rollouts.records import RolloutRecord as RolloutRecord
    from rollouts.records import check_rollout_record as check_rollout_record
    from rollouts.records import validate_rollout_record as validate_rollout_record
    from rollouts.reports import GroupMember as GroupMember
    from rollouts.reports import GroupReport as GroupReport
    from rollouts.reports import GroupStatistics as GroupStatistics
    from rollouts.reports import group_report as group_report
    from rollouts.reports import group_statistics as group_statistics
    from rollouts.sampling import PROCESSOR_ORDER as PROCESSOR_ORDER
    from rollouts.sampling import SamplingConfig as SamplingConfig
    from rollouts.sampling import behavior_logprobs as behavior_logprobs
    from rollouts.shaping import soft_overlong_penalty as soft_overlong_penalty
    from rollouts.stop import ABSENT as ABSENT
    from rollouts.stop import Absent as Absent
    from rollouts.stop import ResolvedStop as ResolvedStop
    from rollouts.stop import StopMetadata as StopMetadata
    from rollouts.stop import StopRules as StopRules
    from rollouts.stop import StopSource as StopSource
    from rollouts.stop import resolve_stop as resolve_stop
    from rollouts.stop import stop_metadata as stop_metadata
    from rollouts.stop_reasons import CANONICAL_REASONS as CANONICAL_REASONS
    from rollouts.stop_reasons import ENGINE_REASONS as ENGINE_REASONS
    from rollouts.token_weights import dapo_token_weights as dapo_token_weights
    from rollouts.token_weights import dr_grpo_token_weights as dr_grpo_token_weights
    from rollouts.token_weights import original_grpo_token_weights as original_grpo_token_weights
    from rollouts.token_weights import padded_dapo_token_weights as padded_dapo_token_weights
    from rollouts.token_weights import padded_dr_grpo_token_weights as padded_dr_grpo_token_weights
    from rollouts.token_weights import (
        padded_original_grpo_token_weights as padded_original_grpo_token_weights,
    )
    from rollouts.token_weights import response_contributions as response_contributions
    from rollouts.violations import Violation as Violation
    from rollouts.violations import Violations as Violations

_MODULES = (
    "stop_reasons",
    "stop",
    "violations",
    "records",
    "sampling",
    "batches",
    "groups",
    "reports",
    "dynamic_sampling",
    "advantages",
    "token_weights",
    "shaping",
    "clipping",
    "objective",
    "log_probs",
    "distributions",
    "kl",
)
"""Where names are looked for, in this order: those that need no NumPy come first."""


def __getattr__(name: str) -> object:
    if not name.startswith("_"):
        for module_name in _MODULES:
            module = import_module(f"{__name__}.{module_name}")
            if name in module.__all__:
                value: object = getattr(module, name)
                globals()[name] = value
                return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(name for module in _MODULES for name in import_module(f"{__name__}.{module}").__all__)
