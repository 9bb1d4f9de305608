"""`goldcheck export`, `labels import` and `replay`: stored verdicts out, labels back, verdicts again."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as parquet
import pytest
from running import get, post, run

from audit.export import COLUMNS

ITEMS: list[dict[str, Any]] = [
    {"verifier": "numeric", "response": "\\boxed{3/7}", "ground_truth": 0.428571},
    {"verifier": "numeric", "response": "caf\u00e9 \\boxed{4}\r\n\u2028", "ground_truth": "5"},
    {"verifier": "numeric", "response": "none", "ground_truth": 12345678901234567890123},
    {"verifier": "numeric", "response": "3", "ground_truth": None},
    {
        "verifier": "math",
        "response": "\\boxed{x^2}",
        "ground_truth": ["x^2", "y"],
        "options": {"order": "any"},
    },
    {"verifier": "choice", "response": "\\boxed{B}", "ground_truth": "B", "prompt": "Which?"},
    {
        "verifier": "code",
        "response": "```python\nprint(input())\n```",
        "ground_truth": {"type": "stdin_stdout", "cases": [{"stdin": "a\n", "stdout": "a\n"}]},
        "prompt": [{"role": "user", "content": "Echo."}],
    },
]
pytestmark = pytest.mark.timeout(400)  # commands start verifiers of their own, and a busy host takes long

META = {"data_source": "mixed", "run": "r1", "step": 7, "prompt_id": "q1", "group_id": "g1"}


class Made(NamedTuple):
    """A service that has stored verdicts on `ITEMS`."""

    url: str
    data_dir: Path
    replies: list[dict[str, Any]]


@pytest.fixture(scope="module")
def made(
    tmp_path_factory: pytest.TempPathFactory, service_in: Callable[..., AbstractContextManager[str]]
) -> Iterator[Made]:
    """The service goes on running: commands read beside it."""
    folder = tmp_path_factory.mktemp("stored")
    with service_in(folder, GOLDCHECK_AUDIT_DURABILITY="commit", GOLDCHECK_AUDIT_CPU_SHARE="0") as url:
        body = {"items": ITEMS, "defaults": {"meta": META}}
        replies = post(f"{url}/v1/verify/batch", json=body).json()["results"]
        while len(get(f"{url}/v1/audit/verdicts").json()["items"]) < len(ITEMS):
            time.sleep(0.1)  # a busy host answers before it has committed
        answers = {0: "correct", 1: "incorrect", 4: "correct", 6: "unsure"}
        for place, answer in answers.items():
            label = {"answer": answer, "labeler": "ada", "cause": f"cause {place}"}
            posted = post(f"{url}/v1/audit/verdicts/{replies[place]['id']}/labels", json=label)
            assert posted.is_success, posted.text
        yield Made(url, folder / "data", replies)


def exported(made: Made, path: Path, *arguments: str) -> list[dict[str, Any]]:
    """The lines of an export."""
    done = run(made.data_dir, "export", "-o", path, *arguments)
    assert done.status == 0, done.err
    return [json.loads(line) for line in path.read_bytes().decode().split("\n") if line]


def newest_first(made: Made, places: Iterable[int]) -> list[int]:
    """Places of items in the order of their ids, which is not that of the batch."""
    return sorted(places, key=lambda place: made.replies[place]["id"], reverse=True)


def test_export_is_what_is_stored(made: Made, tmp_path: Path) -> None:
    """A line for each verdict, newest first, the same as over HTTP, numbers and texts as judged."""
    path = tmp_path / "out.jsonl"
    lines = exported(made, path)
    order = newest_first(made, range(len(ITEMS)))
    assert [line["id"] for line in lines] == [made.replies[place]["id"] for place in order]
    for line, place in zip(lines, order, strict=True):
        item, reply = ITEMS[place], made.replies[place]
        assert (line["response"], line.get("prompt")) == (item["response"], item.get("prompt"))
        assert line["reply"] == reply
        assert line["inclusion_probability"] == 1.0
    assert b'"ground_truth":12345678901234567890123,' in path.read_bytes()
    streamed = get(f"{made.url}/v1/audit/export")
    assert streamed.headers["content-type"] == "application/x-ndjson"
    assert streamed.content == path.read_bytes()


@pytest.mark.parametrize(
    ("query", "places"),
    [
        ({"verifier": "numeric"}, [3, 2, 1, 0]),
        ({"labelled": "true"}, [6, 4, 1, 0]),
        ({"labelled": "false", "correct": "true"}, [5]),
        ({"run": "another"}, []),
        ({"stratum": "unscorable/invalid_ground_truth"}, [3]),
        ({"q": "echo"}, [6]),
    ],
)
def test_conditions_of_the_route(made: Made, query: Any, places: list[int]) -> None:
    """The route chooses by the conditions of the list of verdicts."""
    lines = get(f"{made.url}/v1/audit/export", params=query).content.splitlines()
    ids = [made.replies[place]["id"] for place in newest_first(made, places)]
    assert [json.loads(line)["id"] for line in lines] == ids


def test_conditions_of_the_command(made: Made, tmp_path: Path) -> None:
    """The command takes conditions too, all of which must hold."""
    arguments = [
        "--verifier",
        "numeric",
        "--labelled",
        "--incorrect",
        "--run",
        "r1",
        "--stratum",
        "reject/plain",
    ]
    lines = exported(made, tmp_path / "out.jsonl", *arguments)
    assert [line["id"] for line in lines] == [made.replies[1]["id"]]


def test_rewards_by_prompt(made: Made, tmp_path: Path) -> None:
    """Rewards of a group stand on one line, oldest first; null rewards are left out."""
    rewards = [made.replies[place]["reward"] for place in newest_first(made, range(len(ITEMS)))[::-1]]
    expected = [{"prompt_id": "q1", "rewards": [reward for reward in rewards if reward is not None]}]
    assert exported(made, tmp_path / "rewards.jsonl", "--rewards") == expected
    streamed = get(f"{made.url}/v1/audit/export", params={"rewards": "true"})
    assert [json.loads(line) for line in streamed.content.splitlines()] == expected


def test_parquet(made: Made, tmp_path: Path) -> None:
    """One row a verdict, in typed columns; ground truths and prompts as JSON or text; labels as columns."""
    path = tmp_path / "out.parquet"
    assert run(made.data_dir, "export", "-o", path).status == 0
    table = parquet.read_table(path)
    assert table.column_names == list(COLUMNS)
    by_id = {row["id"]: row for row in table.to_pylist()}
    rows = [by_id[reply["id"]] for reply in made.replies]
    assert [row["reward"] for row in rows] == [reply["reward"] for reply in made.replies]
    assert [row["label"] for row in rows] == ["correct", "incorrect", None, None, "correct", None, "unsure"]
    assert rows[0]["ground_truth"] == "0.428571"
    assert rows[2]["ground_truth"] == "12345678901234567890123"
    assert (rows[1]["cause"], rows[1]["labeler"], rows[1]["step"]) == ("cause 1", "ada", 7)
    assert json.loads(rows[6]["prompt"]) == ITEMS[6]["prompt"]


def labels_in(data_dir: Path) -> list[Any]:
    """All rows of the table of labels."""
    return sqlite3.connect(data_dir / "goldcheck.db").execute("SELECT * FROM label ORDER BY id").fetchall()


def test_labels_come_back(made: Made, tmp_path: Path) -> None:
    """Labels of an export, and labels by hand, are stored once however often they are imported."""
    path = tmp_path / "out.jsonl"
    exported(made, path)
    before = labels_in(made.data_dir)
    copy = tmp_path / "copy"
    copy.mkdir()
    source = sqlite3.connect(made.data_dir / "goldcheck.db")
    with sqlite3.connect(copy / "goldcheck.db") as target:
        source.backup(target)
        target.execute("DELETE FROM label")
        target.execute("UPDATE verdict SET labelled = 0")
    target.close()
    for added, known in ((4, 0), (0, 4)):
        done = run(copy, "labels", "import", path)
        assert done.status == 0, done.err
        assert done.out.startswith(f"{added} labels stored, {known} known, 0 of")
        assert labels_in(copy) == before
    by_hand = tmp_path / "hand.jsonl"
    line = {"verdict_id": made.replies[2]["id"], "answer": "incorrect", "labeler": "bob"}
    by_hand.write_text(json.dumps(line) + "\n\n")
    for added in (1, 0):
        assert run(copy, "labels", "import", by_hand).out.startswith(f"{added} labels stored")
    assert sqlite3.connect(copy / "goldcheck.db").execute(
        "SELECT labelled FROM verdict WHERE id = ?", [made.replies[2]["id"]]
    ).fetchall() == [(1,)]


NO_MOMENTS = [
    "yesterday",
    "0001-01-01T00:00:00",
    "0001-01-01T00:00:00+23:59",
    "9999-12-31T23:59:59-23:59",
    "9999-12-31T23:59:59Z",
    "1969-12-31T23:59:59Z",
]
"""Of labels: not times, or times at which nobody can have labelled."""


def test_bad_labels_are_named(made: Made, tmp_path: Path) -> None:
    """What is no label, or of no verdict here, is counted, and the exit status is 1; nothing is stored."""
    here = made.replies[0]["id"]
    stored = {"id": "l", "verdict_id": here, "created_at": "2026-01-01", "answer": "correct", "labeler": "a"}
    lines = [
        "not json",
        "[]",
        {"answer": "correct", "labeler": "a"},
        {"verdict_id": "x", "answer": "right", "labeler": "a"},
        {"verdict_id": "x", "answer": "correct"},
        {"verdict_id": "x", "answer": "correct", "labeler": "a", "drawn": 1},
        {"id": "v", "labels": [3]},
        "[" * 100_000,
        "1" * 10_000,
        *({**stored, "created_at": moment} for moment in NO_MOMENTS),
        *({**stored, name: "x" * 20_000} for name in ("id", "verdict_id", "withdraws", "labeler", "cause")),
        {**stored, "note": "x" * 20_000},
    ]
    unknown = {"verdict_id": "not stored here", "answer": "correct", "labeler": "a"}
    before = labels_in(made.data_dir)
    path = tmp_path / "bad.jsonl"
    texts = [line if isinstance(line, str) else json.dumps(line) for line in [*lines, unknown]]
    path.write_text("\n".join(texts))
    done = run(made.data_dir, "labels", "import", path)
    assert done.status == 1
    assert f"1 of verdicts that are not stored here, {len(lines)} bad lines" in done.out
    assert all(f"line {number}:" in done.err for number in range(1, len(lines) + 1))
    assert labels_in(made.data_dir) == before


def test_replay_of_the_same_verifiers_flips_nothing(made: Made, tmp_path: Path) -> None:
    """From the database in process, and from a file against a URL, nothing flips; labels hold."""
    path = tmp_path / "out.jsonl"
    exported(made, path)
    for number, arguments in enumerate(([], [path, "--url", made.url])):
        results = tmp_path / f"{number}.jsonl"
        done = run(made.data_dir, "replay", *arguments, "-o", results)
        lines = [json.loads(line) for line in results.read_text().splitlines()]
        assert done.status == 0, done.out + done.err
        assert {line["flip"] for line in lines} == {"same"}
        assert (
            "numeric 1.0.0, now 1.0.0: 4 judged again\n  reject > accept 0, accept > reject 0 (" in done.out
        )
        assert "  labelled 2: wrong now 0, turned wrong 0, turned right 0 (McNemar p 1)" in done.out
        assert max(map(len, done.out.splitlines())) < 120
        assert len(lines) == len(ITEMS)


def altered(path: Path, made: Made, **fields: Any) -> Path:
    """An export in which the first verdict was another, as if an earlier version had given it."""
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    for line in lines:
        if line["id"] == made.replies[0]["id"]:
            line.update(fields)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_labels_are_regression_tests(made: Made, tmp_path: Path) -> None:
    """A labelled verdict that was right and is wrong now ends the replay with status 1, and is named."""
    path = tmp_path / "out.jsonl"
    exported(made, path)
    label = {"id": "l", "verdict_id": made.replies[0]["id"], "labeler": "ada", "answer": "incorrect",
             "cause": None, "note": None, "drawn": True, "withdraws": None,
             "created_at": "2026-01-01T00:00:00.000Z"}  # fmt: skip
    altered(path, made, correct=False, reason="outside_tolerance", labels=[label])
    done = run(made.data_dir, "replay", path, "--url", made.url)
    assert done.status == 1
    assert "1 labelled verdicts turned wrong" in done.err
    assert f"{made.replies[0]['id']}: numeric said incorrect (outside_tolerance), now correct" in done.out
    altered(path, made, labels=[{**label, "answer": "correct"}])
    assert run(made.data_dir, "replay", path, "--url", made.url).status == 0


def test_a_verifier_that_is_gone_fails_its_labels(made: Made, tmp_path: Path) -> None:
    """A labelled verdict that cannot be judged any more is no pass: in process and against a URL."""
    path = tmp_path / "out.jsonl"
    exported(made, path)
    altered(path, made, verifier={"name": "gone", "version": "9", "environment": "e"})
    for arguments in ([], ["--url", made.url]):
        done = run(made.data_dir, "replay", path, *arguments)
        assert done.status == 1, done.out
        assert "request_refused" in done.out


def test_a_replay_goes_on(made: Made, tmp_path: Path) -> None:
    """What the results hold is not judged again; a half line is cut off, another's file is left alone."""
    path, results = tmp_path / "out.jsonl", tmp_path / "results.jsonl"
    exported(made, path)
    arguments = ["replay", path, "--url", made.url, "-o", results]
    assert run(made.data_dir, *arguments).status == 0
    whole = results.read_bytes()
    lines = whole.splitlines(keepends=True)
    results.write_bytes(b"".join(lines[:3]) + lines[3][:20])
    assert run(made.data_dir, *arguments).status == 0
    assert results.read_bytes() == whole
    older = whole.replace(b'"now": {"version": "1.', b'"now": {"version": "0.')
    others = [line.replace(b'"version": "1.', b'"version": "0.') for line in lines]
    for other in (older, *others, b"something else\n"):
        results.write_bytes(other)
        assert run(made.data_dir, *arguments).status == 2
        assert results.read_bytes() == other


def test_canaries_are_in_no_group(made: Made, tmp_path: Path) -> None:
    """A canary's reward is not among those of its prompt, which the loss holds."""
    rewards = exported(made, tmp_path / "rewards.jsonl", "--rewards")
    canary = ITEMS[0] | {"meta": META | {"canary": True}}
    reply = post(f"{made.url}/v1/verify", json=canary).json()
    while get(f"{made.url}/v1/audit/verdicts/{reply['id']}").is_error:
        time.sleep(0.1)
    assert exported(made, tmp_path / "again.jsonl", "--rewards") == rewards


def test_no_database(tmp_path: Path) -> None:
    """Without a verdict log the commands say so, and make none; of one that cannot be read, why."""
    for arguments in (["export", "-o", tmp_path / "x"], ["labels", "import", tmp_path / "x"], ["replay"]):
        done = run(tmp_path / "nothing", *arguments)
        assert done.status == 2
        assert "there is no verdict log" in done.err
    assert not (tmp_path / "nothing").exists()
    assert not (tmp_path / "x").exists()
    (tmp_path / "goldcheck.db").write_bytes(b"no database" * 1000)
    labels = tmp_path / "labels.jsonl"
    labels.write_text('{"verdict_id": "v", "answer": "correct", "labeler": "ada"}\n')
    for arguments in (["export", "-o", tmp_path / "x"], ["labels", "import", labels], ["replay"]):
        done = run(tmp_path, *arguments)
        assert (done.status, done.err.count("\n")) == (2, 1), done.err
        assert "not a database" in done.err
