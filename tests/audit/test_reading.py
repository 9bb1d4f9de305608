"""Pages of stored verdicts, and one whole."""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recording import REJECT, keep, make_id, make_record, opened, rows, url_of
from test_exact_json import ANY_TEXT, VALUES, Literal

from audit.errors import BadCursorError, LogUnavailableError
from audit.log import VerdictLog
from audit.reader import Reader
from audit.types import Cell, LogConfig, Stratum, VerdictFilter

UNSCORABLE = make_record(
    id=make_id(serial=1),
    cell=Cell(Stratum("code", "2.0.0", "gsm8k", "unscorable/verifier_timeout"), 0),
    status="unscorable",
    correct=None,
    reward=None,
    reason="verifier_timeout",
    stop_reason="length",
    truncated=True,
    flags={"truncated": None, "slow": None},
    meta={"run": "r8", "step": 5, "data_source": "ignored here"},
    response="def f(): pass",
    ground_truth={"cases": [{"stdin": "größer"}]},
    prompt=[{"role": "user", "content": "Write F"}],
)
REJECTED = make_record(
    id=make_id(serial=2), cell=REJECT, correct=False, reward=0.0, meta={"run": "r7", "step": 10}
)
ACCEPTED = make_record(id=make_id(serial=3), meta={"run": "r7", "step": 20}, flags={"slow": None})
NAMES = {UNSCORABLE.id: "U", REJECTED.id: "R", ACCEPTED.id: "A"}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    """A log of three verdicts, from oldest to newest U, R, A."""
    path = tmp_path_factory.mktemp("reading") / "log.db"

    async def fill() -> None:
        async with opened(path) as log:
            await keep(log, REJECTED, ACCEPTED, UNSCORABLE)

    asyncio.run(fill())
    return Reader(url_of(path))


def names(reader: Reader, cursor: str | None = None, limit: int = 100, **wanted: Any) -> str:
    """The verdicts found, newest first, by their initials."""
    return "".join(NAMES[item["id"]] for item in reader.search(VerdictFilter(**wanted), cursor, limit).items)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({}, "ARU"),
        ({"verifier": "numeric"}, "AR"),
        ({"verifier": "math"}, ""),
        ({"version": "2.0.0"}, "U"),
        ({"data_source": "gsm8k"}, "ARU"),
        ({"data_source": ""}, ""),
        ({"run": "r7"}, "AR"),
        ({"step_min": 10}, "AR"),
        ({"step_max": 10}, "RU"),
        ({"step_min": 6, "step_max": 19}, "R"),
        ({"stratum": "accept/plain"}, "A"),
        ({"flag": "slow"}, "AU"),
        ({"flag": "truncated"}, "U"),
        ({"flag": "none such"}, ""),
        ({"correct": True}, "A"),
        ({"correct": False}, "R"),
        ({"status": "unscorable"}, "U"),
        ({"stop_reason": "eos"}, "AR"),
        ({"labelled": False}, "ARU"),
        ({"labelled": True}, ""),
        ({"q": "BOXED"}, "AR"),
        ({"q": "GRÖSSER"}, "U"),
        ({"q": "write f"}, "U"),
        ({"q": "blue"}, "AR"),
        ({"q": "%"}, ""),
        ({"q": "boxed", "correct": True, "run": "r7"}, "A"),
        ({"run": "r7", "flag": "truncated"}, ""),
    ],
)
def test_filters(kept: Reader, wanted: dict[str, Any], expected: str) -> None:
    """Each filter keeps what it names, newest first; together all must hold."""
    assert names(kept, **wanted) == expected


def test_an_item_says_what_people_filter_by(kept: Reader) -> None:
    """A page's item carries every narrow column, and no payload."""
    [item] = kept.search(VerdictFilter(status="unscorable"), None, 10).items
    assert item == {
        "id": UNSCORABLE.id,
        "created_at": "2025-11-24T16:00:00.000Z",
        "verifier": {"name": "code", "version": "2.0.0", "environment": "b41c"},
        "status": "unscorable",
        "correct": None,
        "reward": None,
        "reason": "verifier_timeout",
        "stratum": "unscorable/verifier_timeout",
        "flags": ["slow", "truncated"],
        "stop_reason": "length",
        "truncated": True,
        "data_source": "gsm8k",
        "run": "r8",
        "step": 5,
        "split": None,
        "prompt_id": None,
        "group_id": None,
        "rollout_id": None,
        "canary": False,
        "labelled": False,
        "second": None,
        "inclusion_probability": 1.0,
    }


def test_unknown_id(kept: Reader) -> None:
    """An id that was never stored gives None, whatever it looks like."""
    for verdict_id in (make_id(), "", "%", "\0", "' OR 1=1 --"):
        assert kept.get(verdict_id) is None


@pytest.mark.parametrize(
    "cursor", ["", "x", "????", "a" * 200, "ÿ", base64.urlsafe_b64encode(b"not an id").decode()]
)
def test_bad_cursor(kept: Reader, cursor: str) -> None:
    """A cursor that no page gave out is refused."""
    with pytest.raises(BadCursorError):
        kept.search(VerdictFilter(), cursor, 10)


@pytest.fixture(scope="module")
def one_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database that all examples of a property may fill."""
    return tmp_path_factory.mktemp("examples") / "log.db"


@settings(max_examples=40)
@given(
    response=ANY_TEXT | st.text(min_size=1500),
    ground_truth=VALUES | st.text(min_size=1500),
    prompt=st.none() | st.text() | st.lists(st.dictionaries(st.sampled_from(["role", "content"]), st.text())),
    options=st.dictionaries(st.text(), VALUES),
    tag=ANY_TEXT,
)
def test_a_verdict_comes_back_as_judged(
    one_file: Path, response: str, ground_truth: Any, prompt: Any, options: Any, tag: str
) -> None:
    """Texts and values are given back code point by code point, small or large, shared or not."""
    meta = {"run": tag, "tags": {"note": tag}}
    record = make_record(
        response=response, ground_truth=ground_truth, prompt=prompt, request={"options": options}, meta=meta
    )

    async def there_and_back() -> bytes | None:
        async with opened(one_file, durability="commit") as log:
            await keep(log, record)
            return log.get(record.id)

    found = asyncio.run(there_and_back())
    assert found is not None
    stored = json.loads(found.decode("utf-8", "surrogatepass"))
    assert stored["response"] == response
    assert stored["ground_truth"] == ground_truth
    assert stored["prompt"] == prompt
    assert stored["request"] == {"options": options}
    assert stored["meta"] == meta
    assert stored["reply"] == json.loads(record.reply)


async def test_numbers_come_back_as_written(tmp_path: Path) -> None:
    """Literals that no float holds, and integers that Python does not print, come back unchanged."""
    long_integer = 10**50_000 + 1
    record = make_record(
        ground_truth=[Literal("0.10000000000000000000001"), long_integer],
        request={"options": {"rtol": Literal("1e-400")}},
    )
    async with opened(tmp_path / "log.db", durability="commit") as log:
        await keep(log, record)
        found = log.get(record.id)
    assert found is not None
    assert b"[0.10000000000000000000001,1" + b"0" * 49_999 + b"1]" in found
    assert b'{"rtol":1e-400}' in found


async def test_shared_documents_are_stored_once(tmp_path: Path) -> None:
    """A prompt, and a ground truth too large to repeat, take one row however many verdicts name them."""
    path = tmp_path / "log.db"
    tests = {"cases": [{"stdin": str(n), "stdout": str(n)} for n in range(100)]}
    async with opened(path, durability="commit") as log:
        await keep(log, *(make_record(ground_truth=tests) for _ in range(5)))
        await keep(log, *(make_record(ground_truth=json.loads(json.dumps(tests))) for _ in range(5)))
        page = log.search(VerdictFilter(q="99"), None, 100)
        assert len(page.items) == 10
        assert rows(path, "SELECT count(*) FROM document") == [(2,)]


@settings(max_examples=15)
@given(
    before=st.integers(0, 30),
    limit=st.integers(1, 12),
    arriving=st.integers(0, 4),
    text=st.sampled_from([None, "boxed", "rare"]),
)
def test_pages_are_complete_while_more_arrive(
    before: int, limit: int, arriving: int, text: str | None
) -> None:
    """Following `next` meets every verdict that was there at the start exactly once, newest first."""

    async def walk(path: Path) -> tuple[list[str], list[str]]:
        async with opened(path, durability="commit") as log:
            records = [make_record(response="boxed rare" if n % 5 == 0 else "boxed") for n in range(before)]
            await keep(log, *records)
            wanted = VerdictFilter(q=text)
            seen: list[str] = []
            cursor: str | None = None
            while True:
                page = await asyncio.to_thread(log.search, wanted, cursor, limit)
                assert len(page.items) <= limit
                seen.extend(item["id"] for item in page.items)
                await keep(log, *(make_record(response="boxed rare") for _ in range(arriving)))
                cursor = page.next
                if cursor is None:
                    break
            there = [r.id for r in records if text is None or text in r.response]
            return seen, there[::-1]

    with TemporaryDirectory() as folder:
        seen, there = asyncio.run(walk(Path(folder) / "log.db"))
    assert seen == there


async def test_text_search_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search reads a bounded number of payloads per page, and `next` leads to the rest."""
    monkeypatch.setattr("audit.reader.SCAN_ROWS", 10)
    oldest = make_record(response="needle")
    async with opened(tmp_path / "log.db", durability="commit") as log:
        await keep(log, oldest, *(make_record() for _ in range(35)))
        found: list[str] = []
        pages = 0
        cursor: str | None = None
        while pages == 0 or cursor is not None:
            page = log.search(VerdictFilter(q="needle"), cursor, 5)
            found.extend(item["id"] for item in page.items)
            cursor, pages = page.next, pages + 1
    assert found == [oldest.id]
    assert pages == 4


def test_no_database(tmp_path: Path) -> None:
    """Where there is no database to read, the reader says that it is unavailable."""
    log = VerdictLog(LogConfig(url_of(tmp_path / "nowhere" / "log.db")))
    with pytest.raises(LogUnavailableError, match="unable to open database file"):
        log.search(VerdictFilter())
    with pytest.raises(LogUnavailableError):
        log.get(make_id())
