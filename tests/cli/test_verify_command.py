"""`goldcheck verify`: stored rollouts without a server."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from running import run, start

from app.cli.errors import CommandError
from app.cli.results import Line, Results


def write_lines(path: Path, lines: list[Any]) -> Path:
    """JSON values, and texts as they are, one a line."""
    path.write_text("".join((x if isinstance(x, str) else json.dumps(x)) + "\n" for x in lines))
    return path


def numeric(response: str, ground_truth: Any = "3", **fields: Any) -> dict[str, Any]:
    """A body of /v1/verify."""
    return {"verifier": "numeric", "response": response, "ground_truth": ground_truth} | fields


def essence(path: Path) -> list[tuple[int, Any, Any]]:
    """Line, reward and verdict of every result: what two runs must agree on."""
    replies = [json.loads(line) for line in path.read_text().splitlines()]
    return [(reply["line"], reply["reward"], reply["verdict"] or reply["failure"]) for reply in replies]


def summary(out: str) -> list[list[str]]:
    """The rows of the summary table."""
    return [
        [cell.strip() for cell in line.strip("│").split("│")] for line in out.splitlines() if line[:1] == "│"
    ]


def test_results_and_summary(tmp_path: Path) -> None:
    """Every line gets its reply, in order, with its number; the table says how many of which kind."""
    lines = [numeric("\\boxed{3}"), numeric("3.0"), numeric("4"), numeric("none"), numeric("3", None)]
    done = run(tmp_path, "verify", write_lines(tmp_path / "in.jsonl", lines), "-o", tmp_path / "out.jsonl")
    assert done.status == 0, done.err
    replies = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [reply["line"] for reply in replies] == [1, 2, 3, 4, 5]
    assert [reply["reward"] for reply in replies] == [1.0, 1.0, 0.0, 0.0, None]
    assert replies[4]["failure"]["kind"] == "invalid_ground_truth"
    assert {"id", "status", "reward_components", "stop", "include_in_loss", "verifier"} <= set(replies[0])
    assert summary(done.out) == [
        ["accepted", "", "2", "40.0%"],
        ["", "within_tolerance", "2", "40.0%"],
        ["rejected", "", "2", "40.0%"],
        ["", "no_answer", "1", "20.0%"],
        ["", "outside_tolerance", "1", "20.0%"],
        ["unscorable", "", "1", "20.0%"],
        ["", "invalid_ground_truth", "1", "20.0%"],
    ]
    assert not (tmp_path / "goldcheck.db").exists()


def test_bad_lines_are_named_and_left_out(tmp_path: Path) -> None:
    """What is no body of /v1/verify is named with its line and reason; the rest is judged. Status 1."""
    lines = [
        numeric("3"),
        '{"verifier": "numeric"',
        "",
        {"verifier": "none such", "response": "3"},
        {"verifier": "numeric"},
        numeric("3", colour="blue"),
        '{"verifier": "numeric", "response": "3", "ground_truth": NaN}',
        numeric("x" * 5_000),
        numeric("4"),
    ]
    source = write_lines(tmp_path / "in.jsonl", lines)
    done = run(tmp_path, "verify", source, "-o", tmp_path / "out.jsonl", GOLDCHECK_MAX_BODY_BYTES="4000")
    assert done.status == 1
    assert [line for line, _, _ in essence(tmp_path / "out.jsonl")] == [1, 9]
    *named, last = done.err.splitlines()
    assert [line.split(": ", 1)[0] for line in named] == [f"{source}, line {n}" for n in (2, 4, 5, 6, 7, 8)]
    assert "no such verifier" in named[1]
    assert "/response" in named[2]
    assert "/colour" in named[3]
    assert "NaN" in named[4]
    assert "longer than 4000 bytes" in named[5]
    assert last == "goldcheck: 6 bad lines were left out"


def test_an_interrupted_run_goes_on(tmp_path: Path) -> None:
    """SIGINT ends a run with what it has; the next one completes it, also where a kill left half a line."""
    source = write_lines(tmp_path / "in.jsonl", [numeric(f"{n % 5}") for n in range(10_000)])
    out = tmp_path / "out.jsonl"
    with start(tmp_path, "verify", source, "-o", out) as process:
        while process.poll() is None and not (out.exists() and out.stat().st_size):
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        shown, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.splitlines()[-1] == "goldcheck: interrupted; the same command goes on from here"
    first = essence(out)
    assert 0 < len(first) < 10_000
    assert sum(int(row[2].replace(",", "")) for row in summary(shown) if row[0]) == len(first)
    with out.open("a") as file:
        file.write('{"line":9999,"id":"0197f0c4')
    done = run(tmp_path, "verify", source, "-o", out)
    assert done.status == 0
    assert f"{10_000 - len(first):,} judged" in done.out
    assert f"{len(first):,} earlier" in done.out
    assert [(line, reward) for line, reward, _ in essence(out)] == [
        (n + 1, 1.0 if n % 5 == 3 else 0.0) for n in range(10_000)
    ]
    assert ["accepted", "", "2,000", "20.0%"] in summary(done.out)
    size = out.stat().st_size
    assert run(tmp_path, "verify", source, "-o", out).status == 0
    assert out.stat().st_size == size


CHANGES: list[tuple[list[Any], str]] = [
    ([numeric("5"), numeric("4"), numeric("3")], "line 1 is another than"),
    ([numeric("3"), numeric("4", 4), numeric("3")], "line 2 is another than"),
    (["", numeric("3"), numeric("4"), numeric("3")], "line 1 is another than"),
    ([numeric("3"), "", numeric("3")], "line 2 is another than"),
    ([numeric("3")], "there is a result for line 2, and no such line"),
    ([], "there is a result for line 1, and no such line"),
]


def test_results_of_other_lines_are_not_taken_over(tmp_path: Path) -> None:
    """An input that was edited, reordered or cut after its results were written is named, and left alone."""
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    write_lines(source, [numeric("3"), numeric("4")])
    assert run(tmp_path, "verify", source, "-o", out).status == 0
    before = out.read_bytes()
    for lines, message in CHANGES:
        write_lines(source, lines)
        done = run(tmp_path, "verify", source, "-o", out)
        assert done.status == 2
        [line] = done.err.splitlines()
        assert line.startswith(f"goldcheck: {source} has changed: {message}")
        assert out.read_bytes() == before
    write_lines(source, [numeric("3"), numeric("4"), numeric("5")])
    longer = run(tmp_path, "verify", source, "-o", out)
    assert (longer.status, longer.out.count("1 judged")) == (0, 1)


def test_results_of_other_versions_are_not_taken_over(tmp_path: Path) -> None:
    """Results by a verifier or environment that is not that of now are named, and left alone."""
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    write_lines(source, [numeric("3"), numeric("4")])
    assert run(tmp_path, "verify", source, "-o", out).status == 0
    whole = out.read_bytes()
    for field in (b'"version":"', b'"environment":"'):
        for count in (1, 2):  # one of its two lines, or all of them
            other = whole.replace(field, field + b"0", count)
            out.write_bytes(other)
            done = run(tmp_path, "verify", source, "-o", out)
            assert done.status == 2
            assert "judged by another version or environment of numeric" in done.err
            assert out.read_bytes() == other


def test_code_is_judged_too(tmp_path: Path) -> None:
    """Programs run in the sandbox, several at a time, and their results keep the order of the input."""
    truth = {"cases": [{"stdin": "2\n", "stdout": "4\n"}], "type": "stdin_stdout"}
    programs = ["print(int(input()) * 2)", "import time; time.sleep(0.3); print(4)", "print(5)", "1/0"]
    lines: list[Any] = [
        {"verifier": "code", "response": program, "ground_truth": truth} for program in programs
    ]
    lines.insert(2, numeric("3"))
    source = write_lines(tmp_path / "in.jsonl", lines)
    done = run(tmp_path, "verify", source, "-o", tmp_path / "out.jsonl")
    assert done.status == 0, done.err
    results = essence(tmp_path / "out.jsonl")
    assert [line for line, _, _ in results] == [1, 2, 3, 4, 5]
    if any(outcome.get("kind") == "sandbox_unavailable" for _, _, outcome in results):
        pytest.skip("programs are not run on this host")
    assert [reward for _, reward, _ in results] == [1.0, 1.0, 1.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.jsonl", "-o", "out.jsonl"], "none.jsonl: No such file or directory"),
        (["in.jsonl", "-o", "none/out.jsonl"], "none/out.jsonl: No such file or directory"),
        (["in.jsonl", "-o", "in.jsonl"], "in.jsonl cannot be both input and output"),
        (["in.jsonl", "-o", "other.jsonl"], "other.jsonl, line 1: not a result of goldcheck verify"),
        (["in.jsonl"], "Missing option '--output' / '-o'"),
        ([".", "-o", "out.jsonl"], "Is a directory"),
    ],
)
def test_wrong_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    """What cannot be done is one line and status 2, and leaves the files alone."""
    monkeypatch.chdir(tmp_path)
    write_lines(Path("in.jsonl"), [numeric("3")])
    Path("other.jsonl").write_text('{"my": "data"}\nwithout an end')
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    done = run(tmp_path / "data", "verify", *arguments)
    assert done.status == 2
    [line] = done.err.splitlines()
    assert line.startswith("goldcheck: ")
    assert message in line
    assert {path: path.read_bytes() for path in tmp_path.iterdir() if path in before} == before


BY: dict[str, Any] = {"verifier": {"name": "numeric", "version": "1.0.0", "environment": "e"}}
WHOLE = [
    {"line": 1, "input": "a1", "status": "scored", "verdict": {"correct": True, "reason": "ok"}} | BY,
    {"line": 2, "input": "b2", "status": "unscorable", "verdict": None, "failure": {"kind": "verifier_error"}}
    | BY,
    {"line": 4, "input": "c3", "status": "scored", "verdict": {"correct": False, "reason": "héß"}} | BY,
]
TEXT = "".join(json.dumps(reply, ensure_ascii=False) + "\n" for reply in WHOLE).encode()


@given(st.integers(0, len(TEXT)))
def test_cut_anywhere(cut: int) -> None:
    """Wherever a results file was cut off, exactly its whole lines count, and the rest is removed."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "out.jsonl"
        path.write_bytes(TEXT[:cut])
        whole = TEXT[:cut].count(b"\n")
        with Results(path) as results:
            assert results.done == {reply["line"]: reply["input"] for reply in WHOLE[:whole]}
            assert results.outcomes.total() == whole
            results.add(Line(9, "d4"), WHOLE[0], b'{"status":"scored"}')
        lines = TEXT.splitlines(keepends=True)
        assert path.read_bytes() == b"".join(lines[:whole]) + b'{"line":9,"input":"d4","status":"scored"}\n'


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    """Two runs cannot write the same results."""
    path = tmp_path / "out.jsonl"
    with Results(path), pytest.raises(CommandError, match="being written by another process"), Results(path):
        pass
