"""The benchmark of small tasks: its checks can pass and fail, its runs are counted and kept."""

from __future__ import annotations

import json
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from benchmarks.tasks import __main__ as program
from benchmarks.tasks import report
from benchmarks.tasks.environments import CONTESTANTS, HERE
from benchmarks.tasks.proxy import Proxy
from benchmarks.tasks.runs import Bounds, Planned, Ran, keep, kept, plan, run
from benchmarks.tasks.table import TASKS
from benchmarks.tasks.task import Outcome, Task, says_number
from benchmarks.tasks.worlds import filled

BY_ID = {task.id: task for task in TASKS}


def wrote(path: str, text: str) -> Callable[[Path], None]:
    def effect(folder: Path) -> None:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")

    return effect


def exchanged(path: str, old: str, new: str) -> Callable[[Path], None]:
    def effect(folder: Path) -> None:
        text = (folder / path).read_text(encoding="utf-8")
        (folder / path).write_text(text.replace(old, new), encoding="utf-8")

    return effect


ANSWERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "explore-shop": (
        "Bookkeeping for a shop. cart.py: carts; prices.py: discounts; mail.py: receipts.",
        ("It has modules.", "A shop: cart.py, prices.py, mail.py and server.py.", "cart and mail"),
    ),
    "explore-command": ("`corner-report` runs shop.report:main", ("python main.py",)),
    "explore-data": ("station, day, celsius, humidity", ("temperatures of a station",)),
    "explore-fleet": (
        "It follows delivery vans: positions.py and rules.py.",
        ("It follows vans with gps.py, positions.py and rules.py.", "positions and rules"),
    ),
    "find-discount": ("percent_of_code in shop/prices.py", ("reduced in shop/prices.py",)),
    "find-phrase": ("`from_phrase()` in `due.py`", ("next_friday in due.py", "from_phrase")),
    "find-lock": ("45 seconds, in shop/storage.py", ("450, in storage.py", "45, in lock.py")),
    "find-distance": ("kilometres_between, positions.py", ("distance in positions.py",)),
    "find-speed": ("TOP_SPEED = 85 (rules.py)", ("80 in rules.py", "85 in speed.py")),
    "compute-primes": ("The sum is 76,127.", ("The sum is 76128.", "277050", "761270")),
    "compute-weekday": ("It was a Friday.", ("It was a Saturday.",)),
    "compute-days": ("598 days", ("597 days", "1598")),
    "compute-sevens": ("There are 572.", ("There are 714.",)),
    "data-rows": ("11 rows", ("12 rows", "110")),
    "data-mean": ("The mean is 10.1 °C.", ("The mean is 11.1.", "101")),
    "data-setting": ("35 minutes", ("every 5 minutes",)),
    "data-sum": ("V3 drove 507 km.", ("V3 drove 452 km.",)),
    "data-most": ("V2 has the most trips.", ("V1 has the most trips, V2 fewer later", "V3")),
    "notebook-cells": ("4 code cells", ("6 cells",)),
    "notebook-error": ("KeyError: 'pressure'", ("ValueError",)),
    "notebook-imports": ("json and collections.Counter", ("pandas and json",)),
    "plain-csv": ("Comma-separated values", ("Common system variables",)),
    "plain-capital": ("Vienna", ("Berlin",)),
    "review-sign": (
        "`reduced` adds the discount: prices are increased instead of reduced.",
        ("reduced looks fine", "The sign is wrong."),
    ),
    "review-append": (
        "save() now appends, so a second save makes the file invalid JSON.",
        ("save() opens the file", "It appends."),
    ),
    "review-limit": ("too_fast is inverted: below the limit is too fast", ("too_fast is fine",)),
    "review-check": ("percent_of_code fails with None", ("percent_of_code is fine",)),
}
EFFECTS: dict[str, tuple[Callable[[Path], None], tuple[Callable[[Path], None], ...]]] = {
    "edit-new": (
        wrote("hello.txt", "Hello, corner shop!\n"),
        (wrote("hello.txt", "Hello!"), wrote("hi.txt", "Hello, corner shop!")),
    ),
    "edit-value": (
        exchanged("shop/storage.py", "45", "60"),
        (exchanged("shop/storage.py", "45", "6"), wrote("shop/storage.py", "LOCK_SECONDS = 60")),
    ),
    "edit-typo": (
        exchanged("README.md", "recieve", "receive"),
        (wrote("README.md", "receive"), exchanged("README.md", "recieve", "got")),
    ),
    "edit-list": (
        wrote("docs/todo.md", "# Todo\n\n- Fuel\n- Tyres\n- Insurance\n"),
        (wrote("docs/todo.md", "fuel, tyres, insurance"), wrote("todo.md", "- fuel")),
    ),
    "edit-version": (
        exchanged("setup.cfg", "0.9.7", "1.0.0"),
        (wrote("setup.cfg", "version = 1.0.0"),),
    ),
}


def test_every_task_has_a_right_and_a_wrong_end_here():
    assert set(ANSWERS) | set(EFFECTS) == set(BY_ID)
    assert len(TASKS) == len(BY_ID) >= 30
    assert sum(task.held_out for task in TASKS) >= len(TASKS) // 3
    assert all(len(set(task.wordings)) == 3 for task in TASKS)


@pytest.mark.parametrize("name", ANSWERS)
def test_a_check_passes_the_right_answer_and_fails_the_wrong_ones(name, tmp_path):
    task = BY_ID[name]
    task.world(tmp_path)
    right, wrong = ANSWERS[name]
    assert task.check(Outcome(right, tmp_path)) == ""
    for answer in (*wrong, ""):
        assert task.check(Outcome(answer, tmp_path)), answer


@pytest.mark.parametrize("name", EFFECTS)
def test_a_check_passes_the_right_change_and_fails_the_wrong_ones(name, tmp_path):
    task = BY_ID[name]
    right, wrong = EFFECTS[name]
    for number, (effect, fine) in enumerate([(right, True), *((each, False) for each in wrong)]):
        folder = tmp_path / str(number)
        folder.mkdir()
        task.world(folder)
        assert task.check(Outcome("Done.", folder))  # words alone do not do it
        effect(folder)
        assert (task.check(Outcome("", folder)) == "") == fine
        (folder / "besides.txt").write_text("x", encoding="utf-8")
        assert task.check(Outcome("", folder))


def test_a_plain_question_is_not_finished_when_a_tool_was_called(tmp_path):
    task = BY_ID["plain-capital"]
    assert task.check(Outcome("Vienna", tmp_path, ("ls",))) == "called ls"


@pytest.mark.parametrize(
    ("text", "number", "said"),
    [
        ("1,234 rows", 1234, True),
        ("12345", 1234, False),
        ("v1.1234", 1234, False),
        ("about 10.099", 10.1, True),
        ("10.12", 10.1, False),
        ("-5", 5, False),
        ("It is 598.", 598, True),
    ],
)
def test_a_number_is_the_same_number_and_no_part_of_another(text, number, said):
    assert says_number(text, number) is said


# --- runs -------------------------------------------------------------------------------------


class Upstream:
    """An endpoint that always says the same, and notes what it got."""

    def __init__(self, said: str) -> None:
        self.bodies: list[dict] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                outer.bodies.append(
                    json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                )
                message = {"role": "assistant", "content": said}
                usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
                choice = {"index": 0, "message": message, "finish_reason": "stop"}
                self.send_response(200)
                self.end_headers()
                body = {"id": "1", "object": "chat.completion", "created": 1, "model": "m"}
                self.wfile.write(json.dumps({**body, "choices": [choice], "usage": usage}).encode())

            def do_GET(self) -> None:
                self.send_error(404)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def vienna() -> Iterator[Upstream]:
    upstream = Upstream("Vienna.")
    yield upstream
    upstream.server.shutdown()
    upstream.server.server_close()


def test_our_product_runs_a_task_and_the_proxy_counts_it(vienna):
    planned = Planned("agent_magics", "plain-capital", 0, 0, True)
    with Proxy(vienna.url, {"temperature": 0.5}) as proxy:
        ran = run(
            planned,
            BY_ID["plain-capital"],
            Path(sys.executable),
            proxy,
            "tiny-1b",
            Bounds(),
            {},
        )
    assert (ran.problem, ran.answer) == ("", "Vienna.")
    assert (ran.requests, ran.input, ran.output, ran.calls) == (1, 7, 3, ())
    assert vienna.bodies[0]["temperature"] == 0.5
    assert vienna.bodies[0]["messages"][-1]["content"].endswith("What is the capital of Austria?")


def test_a_run_that_hangs_or_dies_is_a_result_and_ends_its_processes(tmp_path, monkeypatch):
    task = Task("t", "plain", filled({}), ("a", "b", "c"), lambda _outcome: "")
    monkeypatch.setattr("benchmarks.tasks.runs.HERE", tmp_path)
    (tmp_path / "ours.py").write_text("import time; time.sleep(600)", encoding="utf-8")
    planned = Planned("agent_magics", "t", 0, 0, False)
    around = (planned, task, Path(sys.executable))
    with Proxy("http://127.0.0.1:9/v1", {}) as proxy:
        hangs = run(*around, proxy, "m", Bounds(seconds=1), {})
        assert hangs.problem == "no end within 1 s"
        (tmp_path / "ours.py").write_text("raise SystemExit('no luck')", encoding="utf-8")
        assert run(*around, proxy, "m", Bounds(), {}).problem == "no result: no luck"


def test_what_a_session_did_counts_though_it_ended_with_an_error(tmp_path, monkeypatch):
    def check(outcome: Outcome) -> str:
        return "" if (outcome.folder / "hello.txt").is_file() else "no file"

    task = Task("t", "edit", filled({}), ("a", "b", "c"), check)
    monkeypatch.setattr("benchmarks.tasks.runs.HERE", tmp_path)
    shutil.copy(HERE / "child.py", tmp_path / "child.py")
    session = (
        "from child import main\n"
        "def work(job):\n    open('hello.txt', 'w').close() if 'a' in job['prompt'] else None\n"
        "    raise RuntimeError('max turns')\nmain(work)\n"
    )
    (tmp_path / "ours.py").write_text(session, encoding="utf-8")
    with Proxy("http://127.0.0.1:9/v1", {}) as proxy:
        ran = [
            run(Planned("agent_magics", "t", wording, 0, False), task, Path(sys.executable), proxy,
                "m", Bounds(), {})
            for wording in (0, 1)
        ]  # fmt: skip
    assert [one.problem for one in ran] == ["", "RuntimeError: max turns"]
    assert ran[0].error == "RuntimeError: max turns"


def test_held_out_tasks_and_wordings_are_not_in_the_part_for_tuning():
    tuned = list(plan(TASKS, ["a"], 2, "tune"))
    assert {p.wording for p in tuned} == {0, 1}
    assert not any(BY_ID[p.task].held_out for p in tuned)
    held = list(plan(TASKS, ["a"], 1, "held-out"))
    assert {p.task for p in held} == set(BY_ID)
    assert set(tuned) | set(plan(TASKS, ["a"], 2, "held-out")) == set(plan(TASKS, ["a"], 2, "all"))


def test_runs_are_kept_and_a_line_that_was_cut_is_not_one(tmp_path):
    ran = Ran(Planned("a", "find-lock", 0, 0, False), "not named: 45", ("read",), 2, 10, 3, 1.5)
    file = tmp_path / "runs.jsonl"
    keep(file, ran)
    with file.open("a", encoding="utf-8") as broken:
        broken.write('{"planned": {"contest')
    assert kept(file) == [ran]


def test_the_benchmark_goes_on_where_it_was_and_writes_its_table(vienna, tmp_path, capsys):
    words = ["--base-url", vienna.url, "--model", "tiny-1b", "--only", "plain-capital"]
    words += ["--results", str(tmp_path), "--name", "t"]
    program.main(words)
    program.main(words)
    assert len(vienna.bodies) == 1
    table = (tmp_path / "tasks-t.md").read_text(encoding="utf-8")
    assert "| agent_magics | 1 of 1 (100%) |" in table
    assert json.loads((tmp_path / "tasks-t.json").read_text(encoding="utf-8"))["runs"]
    with pytest.raises(SystemExit, match="no contestant 'nobody'"):
        program.main([*words, "--peers", "nobody"])
    with pytest.raises(SystemExit, match="no task"):
        program.main([*words[:4], "--only", "nothing"])


def test_the_table_shows_review_and_held_out_apart():
    done = Ran(Planned("a", "find-lock", 0, 0, False), "", (), 2, 10, 3, 1.0)
    failed = Ran(Planned("a", "review-sign", 2, 0, True), "no", (), 4, 30, 5, 3.0)
    text = report.markdown([done, failed], BY_ID, "T")
    row = "| a | 1 of 2 (50%) | 1 of 1 (100%) | 0 of 1 (0%) | 3 | 0 | 20 | 4 | 2 |"
    assert row in text


def test_every_contestant_has_its_program():
    folder = Path(program.__file__).parent / "contestants"
    assert all((folder / one.program).is_file() for one in CONTESTANTS.values())
