"""Faults of ours, of sinks, callbacks and toolsets: counted, logged once a site, and never with content."""

from __future__ import annotations

import logging

import pytest

from otel_docsfab import BaseSink, Supervisor
from otel_docsfab.supervisor import Faults, Site
from otel_docsfab.testing import MemorySink

SECRET = "planted-secret-93aa"  # noqa: S105 - planted on purpose


class BrokenTools:
    def classify(self, tool, arguments=None):
        raise LookupError(f"{tool} {arguments}")


class BrokenSink:
    """Raises whatever it is told, with all it was told."""

    def __getattr__(self, name):
        def tell(*facts, **more):
            raise ValueError(f"{SECRET} {name} {facts} {more}")

        return tell


def test_a_sink_that_raises_hurts_neither_host_nor_the_next_sink():
    sink = MemorySink()
    supervisor = Supervisor(sinks=[BrokenSink(), sink], mode="enforce")
    with supervisor.attempt() as attempt:
        read = attempt.gate(lambda path: "same", tool="read")
        with attempt.turn():
            delivered = [read(path="a") for _ in range(18)]
        attempt.answered()
    assert delivered[0] == "same"
    assert len(sink.opened_attempts) == len(sink.records) == len(sink.decisions) == 1
    assert len(sink.judgements) == 18
    assert [kind for _, kind in sink.progresses] == ["new-content", "answer"]
    assert supervisor.flush() is False
    supervisor.shutdown()
    assert sink.is_shut_down
    told = 1 + 18 + 2 + 1 + 1  # opened, judged, progressed, decided, closed
    assert supervisor.faults.counts()[Site.SINK] == told + 2  # flush, shutdown


def test_r27_no_content_in_any_log(caplog):
    caplog.set_level(logging.DEBUG)

    def callback(decision):
        raise RuntimeError(decision.message)

    supervisor = Supervisor(sinks=[BrokenSink()], on_decision=callback, toolset=BrokenTools(), mode="enforce")
    with supervisor.attempt(SECRET, run_id=SECRET, agent_name=SECRET) as attempt:
        read = attempt.gate(
            lambda path: SECRET, tool="read", ok=lambda result: result[SECRET], call_id=lambda path: path[SECRET]
        )
        for _ in range(3):
            read(path=SECRET)
        attempt.machine.toolset = Supervisor().settings.toolset
        read = attempt.gate(lambda path: SECRET, tool="read")
        with attempt.turn():
            for _ in range(20):
                read(path=SECRET)
    attempt.answered()
    assert attempt.record().stop is not None
    counts = supervisor.faults.counts()
    sites = {Site.SINK, Site.CALLBACK, Site.GATE, Site.ATTEMPT}
    assert {site for site, count in counts.items() if count} == sites
    assert len(caplog.records) == len(sites)  # one line a site, however often it happens
    assert SECRET not in caplog.text
    assert all(record.name == "otel_docsfab" and record.levelno == logging.WARNING for record in caplog.records)


def test_the_first_fault_of_a_site_says_what_and_where(caplog):
    faults = Faults()
    try:
        {}[SECRET]
    except KeyError as error:
        for _ in range(3):
            faults.count(Site.GATE, error, "Do this.")
    faults.count(Site.SINK)
    first, second = (record.getMessage() for record in caplog.records)
    assert "KeyError in gate at " in first
    assert f"{__file__}:" in first
    assert first.endswith("Do this.")
    assert SECRET not in first
    assert second.startswith("otel-docsfab: fault in sink; ")
    assert faults.counts() == {site: {Site.GATE: 3, Site.SINK: 1}.get(site, 0) for site in Site}


def test_a_forked_child_counts_and_logs_anew(caplog):
    faults = Faults()
    faults.count(Site.GATE)
    faults.forked()
    assert set(faults.counts().values()) == {0}
    faults.count(Site.GATE)
    assert len(caplog.records) == 2


@pytest.mark.parametrize(
    "tell",
    [
        lambda attempt: attempt.answered(),
        lambda attempt: attempt.compacted(),
        lambda attempt: attempt.evicted(["c1", ("read", {"path": "a"})]),
        lambda attempt: attempt.request_sent(),
        lambda attempt: attempt.output_started("answer"),
        lambda attempt: attempt.request_ended(),
        lambda attempt: attempt.turn().__enter__(),
        lambda attempt: attempt.turn().__exit__(),
    ],
)
def test_what_comes_after_the_end_is_counted_and_not_raised(tell):
    supervisor = Supervisor(mode="enforce")
    with supervisor.attempt() as attempt:
        pass
    before = attempt.record()
    tell(attempt)
    assert attempt.record() == before
    assert supervisor.faults.counts()[Site.ATTEMPT] == 1


def test_a_base_sink_ignores_everything():
    supervisor = Supervisor(sinks=[BaseSink()], mode="enforce")
    with supervisor.attempt() as attempt:
        read = attempt.gate(lambda path: "same", tool="read")
        with attempt.turn():
            for _ in range(18):
                read(path="a")
    assert supervisor.flush()
    supervisor.shutdown()
    assert set(supervisor.faults.counts().values()) == {0}
