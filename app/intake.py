"""A validated envelope -> jobs: verifier found, options read, stop reason resolved. Bad calls end here.

Everything wrong with a request is collected before it is refused, with a pointer for each place. What is
wrong with the content of a ground truth is no bad call: it becomes the job's `fault`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

from app import contracts
from app.errors import Fault, Faults, Problem
from app.flags import REPLACED
from app.ground_truths import GroundTruths
from app.items import clean, clean_keyed, fill, is_inherited, is_object, validate
from app.pacing import Pace
from app.parsing import Document
from app.settings import Settings
from audit import exact_json
from rollouts.stop import ABSENT, ResolvedStop, StopRules, resolve_stop
from verifiers.base import BaseOptions, Verifier
from verifiers.literals import FloatLiteral
from verifiers.registry import Registry
from verifiers.types import Task, Unscorable

_RULES: Final = frozenset(("terminal_reasons", "truncating_reasons", "unscorable_reasons"))
_MAX_CACHED_OPTIONS: Final = 256


@dataclass(slots=True)
class Job:
    """One response to score, with every word of the envelope resolved."""

    verifier: Verifier
    task: Task
    stop: ResolvedStop
    num_tokens: int | None
    shaping: contracts.Shaping | None
    meta: Mapping[str, Any]
    flags: tuple[str, ...]
    fault: Unscorable | None
    """Known before judging: an aborted generation, a ground truth over a cap."""
    fields: Mapping[str, Any]
    """The request's fields as sent, defaults filled in."""


class Intake:
    """Turns documents into jobs, under the limits of the settings."""

    def __init__(self, settings: Settings, registry: Registry) -> None:
        self._settings = settings
        self._registry = registry
        self._options: dict[Any, BaseOptions] = {}

    def single(self, document: Document, verifier: str | None = None) -> Job:
        """The job of one request; `verifier`: its name when it stands in the path. Raises Problem."""
        faults = Faults()
        adapter = contracts.REQUEST if verifier is None else contracts.NAMED_REQUEST
        replaced = clean(document, document.value)
        fields = validate(adapter, document.value, "", faults)
        faults.raise_if_any()
        assert fields is not None  # noqa: S101 - there is a fault or a value
        if verifier is not None:
            fields["verifier"] = verifier
        job = self._job(fields, GroundTruths(self._settings, document, {}), bool(replaced), "", faults)
        faults.raise_if_any()
        assert job is not None  # noqa: S101
        return job

    async def batch(self, document: Document) -> list[Job]:
        """The jobs of a batch, in order. Raises Problem, for the whole batch, when anything is wrong."""
        faults = Faults()
        in_defaults = clean(document, document.value.get("defaults")) if is_object(document) else set()
        keyed = clean_keyed(document)
        envelope = validate(contracts.ENVELOPE, document.value, "", faults)
        faults.raise_if_any()
        assert envelope is not None  # noqa: S101
        self._check_count(envelope["items"])
        defaults: Mapping[str, Any] = envelope.get("defaults") or {}
        truths = GroundTruths(self._settings, document, envelope.get("ground_truths") or {})
        jobs: list[Job] = []
        pace = Pace()
        for index, raw in enumerate(envelope["items"]):
            pointer = f"/items/{index}"
            changed = clean(document, raw)
            item = validate(contracts.ITEM, raw, pointer, faults)
            if item is not None:
                fields = fill(item, defaults)
                replaced = changed or fields.get("ground_truth_key") in keyed
                replaced = replaced or any(is_inherited(name, item) for name in in_defaults)
                job = self._job(fields, truths, bool(replaced), pointer, faults)
                if job is not None:
                    jobs.append(job)
            if pace.is_over:
                await pace.pause()
        faults.raise_if_any()
        return jobs

    def _check_count(self, items: list[Any]) -> None:
        most = self._settings.max_items
        if len(items) > most:
            raise Problem("too_many_items", f"a batch may hold {most} items, this one holds {len(items)}")

    def _job(
        self, fields: Mapping[str, Any], truths: GroundTruths, replaced: bool, pointer: str, faults: Faults
    ) -> Job | None:
        """Resolve one item's words; None, with faults added, where that cannot be done."""
        verifier, options = self.terms(fields, pointer, faults)
        return self.response_job(fields, verifier, options, truths, replaced, pointer, faults)

    def terms(
        self, fields: Mapping[str, Any], pointer: str, faults: Faults
    ) -> tuple[Verifier | None, BaseOptions | None]:
        """The verifier and options that `fields` name; None, with faults added, where that cannot be."""
        verifier = self._find_verifier(fields, pointer, faults)
        options = None if verifier is None else self._read_options(verifier, fields, pointer, faults)
        _check_overlong(fields.get("shaping"), pointer, faults)
        return verifier, options

    def response_job(  # noqa: PLR0913, PLR0917 - what a response is judged by
        self,
        fields: Mapping[str, Any],
        verifier: Verifier | None,
        options: BaseOptions | None,
        truths: GroundTruths,
        replaced: bool,
        pointer: str,
        faults: Faults,
    ) -> Job | None:
        """The job of one response; None, with faults added, where there can be none. replaced: see above."""
        before = faults.total
        response = self._check_response(fields, pointer, faults)
        if "ground_truth_key" in fields:
            _check_ground_truth_key(fields, truths, pointer, faults)
        stop_words: contracts.Stop | None = fields.get("stop")
        shaping: contracts.Shaping | None = fields.get("shaping")
        num_tokens = None if stop_words is None else stop_words.get("num_tokens")
        if stop_words is not None and not _check_stop(stop_words, pointer, faults):
            return None
        stop = _resolve_stop(stop_words, response)
        overlong = None if shaping is None else shaping.get("overlong")
        if overlong is not None and num_tokens is None and not stop.unscorable:
            faults.add(Fault(pointer + "/stop/num_tokens", "shaping.overlong needs it"))
        if faults.total > before or verifier is None or options is None:
            return None
        ground_truth, fault = truths.of(fields)
        if stop.unscorable:
            fault = Unscorable("aborted_generation", f"the generation ended with {stop.stop_reason}")
        return Job(
            verifier=verifier,
            task=Task(response, ground_truth, options),
            stop=stop,
            num_tokens=num_tokens,
            shaping=shaping,
            meta=fields.get("meta") or {},
            flags=(REPLACED,) if replaced else (),
            fault=fault,
            fields=fields,
        )

    def _find_verifier(self, fields: Mapping[str, Any], pointer: str, faults: Faults) -> Verifier | None:
        name = fields.get("verifier")
        if name is None:
            faults.add(Fault(pointer + "/verifier", "is missing"))
            return None
        verifier = self._registry.get(name)
        if verifier is None:
            known = ", ".join(self._registry.names)
            faults.add(
                Fault(pointer + "/verifier", f"no such verifier; there are: {known}", "unknown_verifier")
            )
        return verifier

    def _read_options(
        self, verifier: Verifier, fields: Mapping[str, Any], pointer: str, faults: Faults
    ) -> BaseOptions | None:
        raw = fields.get("options") or {}
        key = (verifier.name, _options_key(raw))
        options = self._options.get(key)
        if options is not None:
            return options
        try:
            options = verifier.Options.model_validate(raw)
        except ValidationError as error:
            faults.add_validation(error, pointer + "/options", raw)
            return None
        if len(self._options) >= _MAX_CACHED_OPTIONS:
            self._options.clear()
        self._options[key] = options
        return options

    def _check_response(self, fields: Mapping[str, Any], pointer: str, faults: Faults) -> str:
        response: str | None = fields.get("response")
        if response is None:
            faults.add(Fault(pointer + "/response", "is missing"))
            return ""
        limit = self._settings.max_response_bytes
        if len(response) > limit // 4 and len(response.encode()) > limit:
            message = f"a response may have {limit} bytes as UTF-8"
            faults.add(Fault(pointer + "/response", message, "response_too_large"))
        return response


def _check_ground_truth_key(
    fields: Mapping[str, Any], truths: GroundTruths, pointer: str, faults: Faults
) -> None:
    key = fields.get("ground_truth_key")
    if key is None:
        return
    if fields.get("ground_truth") is not None:
        faults.add(Fault(pointer + "/ground_truth_key", "stands beside ground_truth; send one of them"))
    elif key not in truths:
        faults.add(Fault(pointer + "/ground_truth_key", "is no key of ground_truths"))


def _check_overlong(shaping: contracts.Shaping | None, pointer: str, faults: Faults) -> None:
    overlong = None if shaping is None else shaping.get("overlong")
    if overlong is not None and overlong["cache_length"] > overlong["max_length"]:
        faults.add(Fault(pointer + "/shaping/overlong/cache_length", "must not exceed max_length"))


def _check_stop(stop: contracts.Stop, pointer: str, faults: Faults) -> bool:
    """Whether the stop reason can be resolved; if not, a fault is added."""
    reason = stop.get("reason")
    if isinstance(reason, dict):
        word = reason.get("type")
        if not isinstance(word, str) or len(word) > contracts.MAX_LABEL:
            faults.add(Fault(pointer + "/stop/reason/type", "must be a word"))
            return False
    return True


def _resolve_stop(stop: contracts.Stop | None, response: str) -> ResolvedStop:
    if stop is None:
        return resolve_stop(text=response)
    rules = None if _RULES.isdisjoint(stop) else _stop_rules(stop)
    return resolve_stop(
        stop.get("reason"),
        engine=stop.get("engine"),
        matched=stop.get("matched", ABSENT),
        last_token_id=stop.get("last_token_id"),
        eos_token_ids=stop.get("eos_token_ids") or (),
        num_tokens=stop.get("num_tokens"),
        max_tokens=stop.get("max_tokens"),
        text=response,
        rules=rules,
    )


def _stop_rules(stop: Mapping[str, Any]) -> StopRules:
    return StopRules(**{name: stop[name] for name in _RULES if stop.get(name) is not None})


def _options_key(raw: dict[str, Any]) -> object:
    """Equal for options that were written alike: 1, 1.0, true and 0.10 are four different things."""
    if not raw:
        return None
    key = tuple(
        [
            (name, FloatLiteral, value.text) if type(value) is FloatLiteral else (name, type(value), value)
            for name, value in raw.items()
        ]
    )
    try:
        hash(key)
    except TypeError:  # lists or objects inside
        return exact_json.dump(raw)
    return key
