"""The words that engines, trainers and loops around them say when a generation ends, as data.

A new engine is a new table here and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["CANONICAL_REASONS", "ENGINE_REASONS"]

Flags = tuple[bool | None, bool | None]

CANONICAL_REASONS: Final[Mapping[str, Flags]] = {
    "eos": (True, False),
    "stop_string": (True, False),
    "stop_token": (True, False),
    "stop": (True, False),  # one of the three above, not known which
    "length": (False, True),
    "repetition": (False, True),
    "tool_call": (False, False),  # ends a turn, not the episode
    "environment": (True, False),
    "budget": (False, True),  # turns, wall clock, tokens of a whole episode
    "content_filter": (False, True),
    "aborted": (False, True),
    "error": (False, False),
    "unknown": (None, None),
}
"""Canonical reason -> default `(terminated, truncated)`."""

ENGINE_REASONS: Final[Mapping[str, Mapping[str, str]]] = {
    "vllm": {
        "stop": "stop",
        "length": "length",
        "abort": "aborted",
        "error": "error",
        "repetition": "repetition",
        "tool_calls": "tool_call",
    },
    "sglang": {
        "stop": "stop",
        "length": "length",
        "abort": "aborted",
        "tool_calls": "tool_call",
        "content_filter": "content_filter",
    },
    "tgi": {"eos_token": "eos", "stop_sequence": "stop_string", "length": "length", "stop": "stop"},
    "openai": {
        "stop": "stop",
        "length": "length",
        "tool_calls": "tool_call",
        "function_call": "tool_call",
        "content_filter": "content_filter",
    },
    "openai_responses": {
        "completed": "eos",
        "incomplete": "unknown",
        "incomplete/max_output_tokens": "length",
        "incomplete/content_filter": "content_filter",
        "max_output_tokens": "length",
        "content_filter": "content_filter",
        "cancelled": "aborted",
        "failed": "error",
    },
    "anthropic": {
        "end_turn": "eos",
        "stop_sequence": "stop_string",
        "max_tokens": "length",
        "model_context_window_exceeded": "length",
        "tool_use": "tool_call",
        "refusal": "content_filter",
    },
    # verl says "completed" for an end-of-sequence token and for the length limit alike.
    "verl": {"completed": "unknown", "abort": "aborted", "aborted": "aborted"},
    "slime": {"completed": "eos", "truncated": "length", "aborted": "aborted", "failed": "error"},
    "trl": {},  # hands over token ids only
    "rllm": {
        "env_done": "environment",
        "max_response_length_exceeded": "length",
        "max_prompt_length_exceeded": "length",
        "max_turns_exceeded": "budget",
        "timeout": "budget",
        "error": "error",
    },
    "skyrl": {"stop": "stop", "length": "length", "done": "environment"},
    "nemo_gym": {
        "completed": "environment",
        "incomplete": "unknown",
        "incomplete/max_output_tokens": "length",
        "max_output_tokens": "length",
    },
    "verifiers": {
        "stop": "stop",
        "length": "length",
        "tool_calls": "tool_call",
        "max_turns": "budget",
        "max_total_tokens": "budget",
        "max_input_tokens": "length",
        "max_output_tokens": "length",
        "compaction_failed": "budget",
    },
}
"""Engine -> its words -> canonical reason. `stop` is narrowed further by what matched."""

HARNESS_REASONS: Final[Mapping[str, str]] = {
    # Said by the loop around an engine, whichever engine that is.
    "env_done": "environment",
    "done": "environment",
    "max_turns": "budget",
    "max_turns_exceeded": "budget",
    "timeout": "budget",
    "tool_calls": "tool_call",
    "abort": "aborted",
    "truncated": "length",
}

TRAILING_TOKENS: Final[Mapping[str, str]] = {
    "</s>": "eos",
    "<eos>": "eos",
    "<|im_end|>": "eos",
    "<|endoftext|>": "eos",
    "<|end_of_text|>": "eos",
    "<|eot_id|>": "eos",
    "<|eot|>": "eos",
    "<|EOT|>": "eos",
    "<|end|>": "eos",
    "<|return|>": "eos",
    "<end_of_turn>": "eos",
    "<|end_of_turn|>": "eos",
    "<|END_OF_TURN_TOKEN|>": "eos",
    "<｜end▁of▁sentence｜>": "eos",
    "<|user|>": "eos",
    "<|observation|>": "tool_call",
    "<|eom_id|>": "tool_call",
    "<|eom|>": "tool_call",
    "<|call|>": "tool_call",
}
"""Special tokens by which models end a turn, as they appear in text that was decoded with them kept."""
