"""The record of a roll-out: nothing torn, nothing lost, nothing half-written believed; one owner at a time."""

import multiprocessing
import os
from pathlib import Path

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.journal import Journal
from ansible_collections.jumbo.fabric.plugins.module_utils.lock import Lock
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError


def _write_many(path: Path, writer: int) -> None:
    journal = Journal(path)
    for number in range(20):
        data = {"writer": writer, "number": number, "bulk": "x" * 5000 * (number % 3)}
        journal.write(step="s", host=f"h{writer}", event="intent", verb="apply", data=data)


def test_many_processes_write_whole_lines_in_one_sequence(tmp_path):
    path = tmp_path / "journal.jsonl"
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_write_many, args=(path, writer)) for writer in range(6)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    lines = Journal(path).lines()
    assert [line["seq"] for line in lines] == list(range(1, 121))
    for writer in range(6):
        numbers = [line["data"]["number"] for line in lines if line["data"]["writer"] == writer]
        assert numbers == list(range(20))


@pytest.mark.parametrize("torn", ['{"seq": 2, "half', "{", "null"])
def test_a_torn_line_is_dropped_then_and_for_ever(tmp_path, torn):
    journal = Journal(tmp_path / "journal.jsonl")
    journal.write(step="a", host="h", event="intent", verb="apply", data={})
    with journal.path.open("a", encoding="utf-8") as file:
        file.write(torn)
    assert [line["step"] for line in journal.lines()] == ["a"]
    journal.write(step="b", host="h", event="done", verb="apply", data={})
    assert [(line["step"], line["seq"]) for line in journal.lines()] == [("a", 1), ("b", 2)]


def test_a_journal_that_cannot_be_written_says_so(tmp_path):
    with pytest.raises(JumboError, match="cannot be written"):
        Journal(tmp_path / "missing" / "journal.jsonl").write(step="a", host="h", event="done", verb="open", data={})


def test_unknown_words_are_refused(tmp_path):
    with pytest.raises(ValueError, match="verb"):
        Journal(tmp_path / "j").write(step="s", host="h", event="done", verb="guess", data={})


def test_a_second_rollout_is_refused_by_name(tmp_path):
    Lock(tmp_path / "lock").take("first", os.getpid())
    with pytest.raises(JumboError, match=f"first .* process {os.getpid()}"):
        Lock(tmp_path / "lock").take("second", os.getpid())


def test_the_lock_of_a_dead_process_is_taken_over(tmp_path):
    process = multiprocessing.get_context("fork").Process(target=lambda: None)
    process.start()
    Lock(tmp_path / "lock").take("first", process.pid)
    process.join()
    process.close()
    lock = Lock(tmp_path / "lock")
    lock.take("second", os.getpid())
    assert lock.holder()["rollout"] == "second"


def test_only_the_owner_gives_the_lock_back(tmp_path):
    lock = Lock(tmp_path / "lock")
    lock.take("mine", os.getpid())
    lock.release("other")
    assert lock.holder()["rollout"] == "mine"
    lock.release("mine")
    assert lock.holder() is None


def test_of_many_takers_one_wins(tmp_path):
    context = multiprocessing.get_context("fork")
    won = context.Queue()

    def take(number):
        try:
            Lock(tmp_path / "lock").take(f"r{number}", os.getppid())
            won.put(number)
        except JumboError:
            won.put(None)

    processes = [context.Process(target=take, args=(number,)) for number in range(8)]
    for process in processes:
        process.start()
    results = [won.get(timeout=20) for _process in processes]
    for process in processes:
        process.join()
    winners = [number for number in results if number is not None]
    assert len(winners) == 1
    assert Lock(tmp_path / "lock").holder()["rollout"] == f"r{winners[0]}"
