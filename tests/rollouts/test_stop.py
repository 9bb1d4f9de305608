"""Stop reasons: every engine's words, the ladder of evidence, and a task's own rules."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollouts import (
    ABSENT,
    CANONICAL_REASONS,
    ENGINE_REASONS,
    StopMetadata,
    StopRules,
    resolve_stop,
    stop_metadata,
)
from rollouts.stop_reasons import TRAILING_TOKENS

READINGS = [
    # engine, raw, matched, eos_token_ids -> canonical
    ("vllm", "stop", None, (), "eos"),
    ("vllm", "stop", "\n\n", (), "stop_string"),
    ("vllm", "stop", 128009, (), "stop_token"),
    ("vllm", "stop", 128009, (128009,), "eos"),
    ("vllm", "stop", ABSENT, (), "stop"),
    ("vllm", "length", None, (), "length"),
    ("vllm", "repetition", ABSENT, (), "repetition"),
    ("vllm", "abort", ABSENT, (), "aborted"),
    ("vllm", "error", ABSENT, (), "error"),
    ("vllm", "tool_calls", ABSENT, (), "tool_call"),
    ("vLLM", "stop", None, (), "eos"),
    ("sglang", "stop", 7, (2, 7), "eos"),
    ("sglang", "stop", 7, (2,), "stop_token"),
    ("sglang", "stop", 7, (), "stop"),
    ("sglang", "stop", "END", (2,), "stop_string"),
    ("sglang", "stop", ABSENT, (), "stop"),
    ("sglang", {"type": "stop", "matched": 2}, ABSENT, (2,), "eos"),
    ("sglang", {"type": "stop", "matched": 9}, ABSENT, (2,), "stop_token"),
    ("sglang", {"type": "stop", "matched": "END"}, ABSENT, (), "stop_string"),
    ("sglang", {"type": "length", "length": 1024}, ABSENT, (), "length"),
    ("sglang", {"type": "abort", "message": "client left"}, ABSENT, (), "aborted"),
    ("tgi", "eos_token", ABSENT, (), "eos"),
    ("tgi", "stop_sequence", ABSENT, (), "stop_string"),
    ("tgi", "length", ABSENT, (), "length"),
    ("openai", "stop", ABSENT, (), "stop"),
    ("openai", "tool_calls", ABSENT, (), "tool_call"),
    ("openai", "function_call", ABSENT, (), "tool_call"),
    ("openai", "content_filter", ABSENT, (), "content_filter"),
    ("openai_responses", "completed", ABSENT, (), "eos"),
    ("openai_responses", "incomplete/max_output_tokens", ABSENT, (), "length"),
    ("openai_responses", "max_output_tokens", ABSENT, (), "length"),
    ("openai_responses", "incomplete", ABSENT, (), "unknown"),
    ("openai_responses", "cancelled", ABSENT, (), "aborted"),
    ("anthropic", "end_turn", ABSENT, (), "eos"),
    ("anthropic", "stop_sequence", ABSENT, (), "stop_string"),
    ("anthropic", "max_tokens", ABSENT, (), "length"),
    ("anthropic", "tool_use", ABSENT, (), "tool_call"),
    ("verl", "completed", ABSENT, (), "unknown"),
    ("verl", "aborted", ABSENT, (), "aborted"),
    ("slime", "completed", ABSENT, (), "eos"),
    ("slime", "truncated", ABSENT, (), "length"),
    ("slime", "failed", ABSENT, (), "error"),
    ("rllm", "env_done", ABSENT, (), "environment"),
    ("rllm", "max_response_length_exceeded", ABSENT, (), "length"),
    ("rllm", "max_prompt_length_exceeded", ABSENT, (), "length"),
    ("rllm", "timeout", ABSENT, (), "budget"),
    ("skyrl", "done", ABSENT, (), "environment"),
    ("nemo_gym", "completed", ABSENT, (), "environment"),
    ("verifiers", "max_total_tokens", ABSENT, (), "budget"),
    ("verifiers", "sandbox_error", ABSENT, (), "error"),
    # No engine: only what all tables agree on.
    (None, "stop", ABSENT, (), "stop"),
    (None, "stop", None, (), "eos"),
    (None, "stop", 7, (), "stop"),
    (None, "completed", ABSENT, (), "unknown"),
    (None, "length", ABSENT, (), "length"),
    (None, "end_turn", ABSENT, (), "eos"),
    (None, "max_tokens", ABSENT, (), "length"),
    (None, "max_turns", ABSENT, (), "budget"),
    (None, "truncated", ABSENT, (), "length"),
    (None, "cancelled", ABSENT, (), "aborted"),
    (None, "provider_error", ABSENT, (), "error"),
    (None, "it felt done", ABSENT, (), "unknown"),
    (None, "", ABSENT, (), "unknown"),
    (None, "x" * 100_000, ABSENT, (), "unknown"),
    ("an engine of its own", "length", ABSENT, (), "length"),
    ("vllm", "end_turn", ABSENT, (), "unknown"),
]


@pytest.mark.parametrize(("engine", "raw", "matched", "eos_ids", "canonical"), READINGS)
def test_each_engine_is_read_by_its_own_table(engine, raw, matched, eos_ids, canonical):
    """A raw word means what its engine means by it, narrowed by what matched."""
    stop = resolve_stop(raw, engine=engine, matched=matched, eos_token_ids=eos_ids)
    assert stop.stop_reason == canonical
    assert (stop.terminated, stop.truncated) == CANONICAL_REASONS[canonical]
    assert stop.raw == (raw["type"] if isinstance(raw, dict) else raw)
    assert stop.source == "explicit"
    assert stop.unscorable == (canonical in {"aborted", "error"})


@pytest.mark.parametrize("engine", [None, *ENGINE_REASONS])
@pytest.mark.parametrize("canonical", CANONICAL_REASONS)
def test_canonical_reasons_mean_themselves_everywhere(engine, canonical):
    """A caller that already speaks the canonical words is understood whatever engine it names."""
    assert resolve_stop(canonical, engine=engine).stop_reason == canonical


def test_every_table_maps_to_canonical_reasons():
    """No table invents a reason of its own."""
    assert {word for table in ENGINE_REASONS.values() for word in table.values()} <= set(CANONICAL_REASONS)


EVIDENCE = {
    "explicit": {"reason": "length"},
    "last_token": {"last_token_id": 2, "eos_token_ids": (2,)},
    "trailing_token": {"text": "so 42<|im_end|>\n"},
    "token_count": {"num_tokens": 8, "max_tokens": 8},
}
READ_AS = {"explicit": "length", "last_token": "eos", "trailing_token": "eos", "token_count": "length"}


@pytest.mark.parametrize("count", range(1, 5))
def test_the_strongest_evidence_decides(count):
    """Of the ladder's rungs, the highest present one names the reason and is named as the source."""
    rungs = list(EVIDENCE)[-count:]
    evidence = {key: value for rung in rungs for key, value in EVIDENCE[rung].items()}
    stop = resolve_stop(**evidence)
    assert (stop.source, stop.stop_reason) == (rungs[0], READ_AS[rungs[0]])


@pytest.mark.parametrize("rung", ["last_token", "trailing_token", "token_count"])
def test_a_word_that_says_nothing_lets_later_evidence_decide(rung):
    """verl's `completed` hides the cause, so whatever else is known decides; the raw word is kept."""
    stop = resolve_stop("completed", engine="verl", **EVIDENCE[rung])
    assert (stop.source, stop.stop_reason, stop.raw) == (rung, READ_AS[rung], "completed")


@pytest.mark.parametrize(
    "evidence",
    [
        {},
        {"last_token_id": 5, "eos_token_ids": (2,)},
        {"last_token_id": 2},
        {"text": "mid <|im_end|> sentence"},
        {"text": ""},
        {"num_tokens": 7, "max_tokens": 8},
        {"num_tokens": 8},
        {"matched": None},
        {"reason": {"matched": None}},
    ],
)
def test_no_evidence_is_unknown_and_never_false(evidence):
    """What cannot be told is None in both flags."""
    stop = resolve_stop(**evidence)
    assert (stop.stop_reason, stop.source) == ("unknown", "none")
    assert (stop.terminated, stop.truncated, stop.unscorable) == (None, None, False)


def test_length_does_not_recover_the_cause():
    """An end-of-sequence token at exactly the limit is an end, not a truncation."""
    at_limit = {"num_tokens": 8, "max_tokens": 8}
    assert resolve_stop(last_token_id=2, eos_token_ids=(2,), **at_limit).truncated is False
    assert resolve_stop("stop", **at_limit).truncated is False
    assert resolve_stop(**at_limit).truncated is True


@pytest.mark.parametrize(
    ("tail", "canonical"),
    [("</s>", "eos"), ("<|eot_id|>", "eos"), ("<|im_end|><|endoftext|>", "eos"), ("<|call|>", "tool_call")],
)
def test_trailing_special_tokens_tell(tail, canonical):
    """Text decoded with its special tokens ends in the one that ended it."""
    assert resolve_stop(text="x" * 1000 + tail).stop_reason == canonical


@pytest.mark.parametrize("reason", CANONICAL_REASONS)
def test_a_text_cannot_end_itself_unscorable(reason):
    """What stands at the end of a response is its own doing and never takes it out of judgement."""
    rules = StopRules(unscorable_reasons={reason})
    for token in TRAILING_TOKENS:
        assert resolve_stop(text="42" + token, rules=rules).unscorable is False


@pytest.mark.parametrize(("matched", "canonical"), [("END", "stop_string"), (7, "stop"), (2, "eos")])
def test_a_match_without_a_reason_is_a_stop(matched, canonical):
    """Something matched, so it stopped there, although nobody said `stop`."""
    stop = resolve_stop(matched=matched, eos_token_ids=(2,) if matched == 2 else ())
    assert (stop.stop_reason, stop.raw, stop.source) == (canonical, None, "explicit")


RULES = [
    ("length", StopRules(terminal_reasons=["length"]), True, True),
    ("environment", StopRules(truncating_reasons={"environment"}), True, True),
    ("eos", StopRules(terminal_reasons=["environment"]), False, False),
    ("tool_call", StopRules(terminal_reasons=["tool_call"]), True, False),
    ("length", StopRules(truncating_reasons=[]), False, False),
    ("unknown", StopRules(terminal_reasons=["eos"], truncating_reasons=["length"]), None, None),
    ("goal_reached", StopRules(terminal_reasons=["goal_reached"]), True, None),
    ("unknown", StopRules(terminal_reasons=["unknown"]), True, None),
    ("end_turn", StopRules(terminal_reasons=["end_turn"]), True, False),
]


@pytest.mark.parametrize(("reason", "rules", "terminated", "truncated"), RULES)
def test_a_task_has_its_own_reading(reason, rules, terminated, truncated):
    """Rules replace the default of their flag only, and both flags may be true."""
    stop = stop_metadata(reason, rules)
    assert (stop.terminated, stop.truncated) == (terminated, truncated)


def test_raw_stop_is_not_the_canonical_stop():
    """Rules about canonical `stop` do not touch an `eos` that the engine happened to call stop."""
    rules = StopRules(terminal_reasons=["stop"])
    assert resolve_stop("stop", matched=None, rules=rules).terminated is False
    assert resolve_stop("stop", rules=rules).terminated is True


def test_unscorable_reasons_are_the_tasks_to_choose():
    """By default aborted and failed generations say nothing about the policy."""
    assert resolve_stop("abort", engine="vllm", rules=StopRules(unscorable_reasons=())).unscorable is False
    assert resolve_stop("length", rules=StopRules(unscorable_reasons=["length"])).unscorable is True


@pytest.mark.parametrize(
    "rules", [{"terminal_reasons": "eos"}, {"truncating_reasons": [1]}, {"unscorable_reasons": None}]
)
def test_rules_are_checked(rules):
    """A bare string would silently become a set of letters."""
    with pytest.raises(TypeError, match=next(iter(rules))):
        StopRules(**rules)


@pytest.mark.parametrize("reason", [5, ["stop"], 1.5, b"stop"])
def test_a_reason_is_text(reason):
    """Anything else is the caller's slip."""
    with pytest.raises(TypeError, match="reason"):
        stop_metadata(reason)


def test_course_values():
    """The two examples of the course."""
    assert stop_metadata("eos") == StopMetadata("eos", terminated=True, truncated=False)
    assert stop_metadata("length") == StopMetadata("length", terminated=False, truncated=True)


words = st.one_of(st.text(), st.sampled_from([w for t in ENGINE_REASONS.values() for w in t]))


@given(
    st.one_of(
        st.none(),
        words,
        st.dictionaries(st.sampled_from(["type", "matched", "x"]), st.one_of(words, st.integers())),
    ),
    st.one_of(st.none(), st.sampled_from(list(ENGINE_REASONS)), st.text()),
    st.one_of(st.none(), st.just(ABSENT), st.integers(), st.text()),
    st.text(),
)
def test_no_word_raises(reason, engine, matched, text):
    """Whatever an engine says, there is a canonical answer, and only `unknown` leaves the flags open."""
    stop = resolve_stop(reason, engine=engine, matched=matched, text=text)
    assert stop.stop_reason in CANONICAL_REASONS
    assert (stop.terminated is None) == (stop.truncated is None) == (stop.stop_reason == "unknown")


def test_stop_reasons_need_no_numpy():
    """A service reads stop reasons without loading array libraries."""
    program = (
        "import sys, rollouts; rollouts.stop_metadata('eos'); "
        "from rollouts.stop import resolve_stop; assert 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
