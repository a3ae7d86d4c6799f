"""No count is lost or doubled, whatever runs at the same time."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter

from otel_docsfab import Outcome, Supervisor, Verdict
from otel_docsfab.core import Code
from otel_docsfab.testing import MemorySink

WIDE = {
    "execution.readLoopRepeatStreak": 10**6,
    "execution.readLoopUnchangedReReads": 10**6,
    "execution.readLoopWithheldReads": 10**6,
    "execution.toolCallCeiling": 10**6,
}


def in_threads(count, work):
    errors = []

    def guarded(index):
        try:
            work(index)
        except BaseException as error:  # noqa: BLE001 - told below
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads)
    assert errors == []


def test_64_threads_on_one_attempt_lose_and_double_nothing():
    threads, calls, files = 64, 2_000, 50
    supervisor = Supervisor(limits=WIDE, mode="enforce")
    with supervisor.attempt() as attempt:
        read = attempt.gate(lambda path: f"content of {path}", tool="read")
        search = attempt.gate(lambda query: query, tool="web_search")

        def work(_):
            for call in range(calls):
                search(query=call) if call % 10 == 9 else read(path=f"{call % files}.md")

        with attempt.turn():
            in_threads(threads, work)
    record, total = attempt.record(), threads * calls
    reads = total * 9 // 10
    read_files = files - files // 10  # every tenth call searches
    assert record.calls == total
    assert record.verdicts == {Verdict.DELIVER: read_files, Verdict.DELIVER_WITH_NOTICE: reads - read_files}
    assert record.progress == {"new-content": read_files, "neutral-result": total // 10}
    assert record.read_evidence.unchanged_re_reads == reads - read_files
    assert record.read_evidence.max_repeats_of_one_result == reads // read_files - 1
    assert record.read_evidence.max_unchanged_re_reads_across_results == reads - read_files
    counts = supervisor.tallies.read()
    assert counts["docsfab.read.results", ("read", "deliver", "true")] == read_files
    assert counts["docsfab.read.results", ("read", "deliver-with-notice", "true")] == reads - read_files
    assert counts["docsfab.lease.progress", ("new-content",)] == read_files
    assert counts["docsfab.lease.progress", ("neutral-result",)] == total // 10


def test_withheld_and_denied_calls_of_many_threads_are_counted_once_each():
    threads, calls = 16, 100
    sink = MemorySink()
    supervisor = Supervisor(sinks=[sink], mode="enforce")
    bodies = Counter()

    def read_file(path):
        bodies[path, threading.get_ident()] += 1
        return "same"

    with supervisor.attempt() as attempt:
        read = attempt.gate(read_file, tool="read")
        with attempt.turn():
            in_threads(threads, lambda _: [read(path="a.md") for _ in range(20)])
        assert attempt.decision.code is Code.WITHHELD_READS
        in_threads(threads, lambda _: [read(path="a.md") for _ in range(calls)])
    record = attempt.record()
    assert record.calls == bodies.total() == threads * 20
    assert record.read_evidence.read_loop_withheld == threads * 20 - 9
    assert record.calls_after_stop == threads * calls
    assert [decision.action for decision in sink.decisions] == ["stop"]
    assert len(sink.judgements) == threads * (20 + calls)
    assert [told.outcome for told in sink.records] == [Outcome.FAILED]


async def test_1000_attempts_in_parallel_tasks_keep_to_themselves():
    attempts = 1_000
    sink = MemorySink()
    supervisor = Supervisor(sinks=[sink], mode="enforce")

    async def read_file(path):
        await asyncio.sleep(0)
        return f"content of {path}"

    async def run(index):
        async with supervisor.attempt(run_id=f"run-{index}") as attempt:
            read = attempt.gate(read_file, tool="read")
            for _ in range(index % 30):
                async with attempt.turn():
                    await read(path="a.md")
            return attempt.record()

    records = await asyncio.gather(*(run(index) for index in range(attempts)))
    for index, record in enumerate(records):
        reads = index % 30
        ran = min(reads, 18)  # one result read 18 times stops
        assert record.run_id == f"run-{index}"
        assert record.turns == reads
        assert record.calls == ran
        assert record.calls_after_stop == reads - ran
        assert (record.read_evidence.unchanged_re_reads if reads > 1 else 0) == max(0, ran - 1)
    assert supervisor.live_attempts == 0
    assert len(sink.opened_attempts) == len(sink.records) == attempts
    assert len(sink.decisions) == sum(index % 30 >= 18 for index in range(attempts))
    assert len(sink.judgements) == sum(index % 30 for index in range(attempts))
