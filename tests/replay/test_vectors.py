"""Every conformance vector as recorded OTLP through ``replay --json --calls``: in order, shuffled, in protobuf."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from otel_docsfab.cli import main
from otel_docsfab.core import Verdict
from tests.replay.files import write_lines
from tests.spans.test_processor_vectors import INEXPRESSIBLE, GenAi, OpenInference
from tests.vectors import cases

TRACE = "0af7651916cd43dd8448eb211c80319c"
BEGAN_NS = 1_700_000_000_000_000_000


class Recorder:
    """One case as the spans its run would have left."""

    def __init__(self, case: cases.Case, convention: Any, *, compactions_as_events: bool):
        self.case, self.convention, self.as_events = case, convention, compactions_as_events
        self.spans: list[dict[str, Any]] = []
        self.positions: dict[str, int] = {}
        self.agent = self._start("agent", convention.agent | self._facts(), 0)

    def _facts(self):
        given, step = self.case.settings, self.case.settings.step
        facts = {
            "docsfab.step.id": step.id,
            "docsfab.step.kind": step.kind,
            "docsfab.step.judgment": step.judgment,
            "docsfab.answer.path": step.answer_path,
            "docsfab.attempt.number": given.number,
            "docsfab.attempt.retry_of": given.retry_of,
            "docsfab.attempt.timeout_ms": given.timer_ms,
        }
        return {key: value for key, value in facts.items() if value is not None}

    def _start(self, name, attributes, at_ms, after_ns=0):
        number = len(self.spans) + 1
        span = {
            "traceId": TRACE,
            "spanId": f"{number:016x}",
            "parentSpanId": "" if number == 1 else f"{1:016x}",
            "name": name,
            "startTimeUnixNano": str(BEGAN_NS + at_ms * 1_000_000 + after_ns),
            "endTimeUnixNano": str(BEGAN_NS + at_ms * 1_000_000),
            "attributes": _pairs(attributes),
            "events": [],
            "status": {},
        }
        self.spans.append(span)
        return span

    def _end(self, span, attributes, at_ms):
        span["attributes"] += _pairs(attributes)
        span["endTimeUnixNano"] = str(BEGAN_NS + at_ms * 1_000_000)

    def record(self) -> list[dict[str, Any]]:
        tools: dict[int, dict[str, Any]] = {}
        calling = False
        for _, event, at_ms in self.case.timeline():
            match event:
                case cases.Turn(calls):
                    calling = bool(calls)
                    self._model(event, at_ms)
                    for order, call in enumerate(calls):
                        tools[call.position] = self._start(call.tool, self.convention.tool(call), at_ms, order)
                        self.positions[tools[call.position]["spanId"]] = call.position
                case cases.Tool():
                    span = tools[event.position]
                    self._end(span, self.convention.result(event), at_ms)
                    if not event.ok:
                        span["status"] = {"code": 2, "message": "it failed"}
                case cases.Compaction():
                    self._compaction({}, at_ms)
                case cases.Evicted(positions):
                    self._compaction({"docsfab.evicted.call_ids": list(map(str, positions))}, at_ms)
                case cases.Answer() if calling:
                    self._model(cases.Turn((), answers=True), at_ms)
        if self.case.expect["outcome"] != "answered":
            self._model(cases.Turn((), answers=False), self.case.end_ms)
        self._end(self.agent, {}, self.case.end_ms)
        return self.spans

    def _model(self, turn, at_ms):
        """A response that came in just before its calls start."""
        self._end(self._start("model", self.convention.model, at_ms - 2), self.convention.response(turn), at_ms - 1)

    def _compaction(self, facts, at_ms):
        if self.as_events:
            time = str(BEGAN_NS + at_ms * 1_000_000)
            self.agent["events"].append(
                {"name": "docsfab.compaction", "timeUnixNano": time, "attributes": _pairs(facts)}
            )
        else:
            self._start("docsfab.compaction", facts, at_ms)


def _pairs(attributes):
    return [{"key": key, "value": _value(value)} for key, value in attributes.items()]


def _value(value):
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, list | tuple):
        return {"arrayValue": {"values": [_value(item) for item in value]}}
    return {"stringValue": str(value)}


def _messages(spans):
    for span in spans:
        yield {"resourceSpans": [{"scopeSpans": [{"scope": {"name": "some.runtime"}, "spans": [span]}]}]}


def _replayed(case: cases.Case, recorder: Recorder, path, capsys, monkeypatch) -> cases.Observed:
    monkeypatch.setitem(main.COMMANDS, "replay", ("otel_docsfab.cli.replay", ""))
    options = [option for name, value in case.settings.limits.items() for option in ("--limits", f"{name}={value}")]
    assert main.main(["replay", str(path), "--json", "--calls", *options]) == 0
    [entry] = json.loads(capsys.readouterr().out)["attempts"]
    observed = cases.Observed()
    for call in entry["calls"]:
        position = recorder.positions[call["spanId"]]
        if call["verdict"] == Verdict.DENIED:
            observed.denied(position)
        else:
            observed.judged(
                position,
                call["verdict"],
                first_turn=call["firstTurn"],
                repeats=call["repeats"],
                cross_result=call["crossResult"],
                unjudged=call["unjudged"],
                progress=call["progress"] is not None,
            )
    stop = entry["stop"]
    observed.stop = stop and {key: stop[key] for key in ("code", "observed", "limit", "turn")}
    observed.conclude_now = entry["concludeNow"]
    observed.read_evidence = entry["tools"]["readEvidence"]
    observed.outcome = entry["outcome"]
    observed.calls_after_stop = entry["callsAfterStop"]
    return observed


def _check(case, observed):
    left_out = set(INEXPRESSIBLE.get(case.name, (set(), ""))[0])
    if case.expect["outcome"] == "open":  # a recording has an end
        assert observed.outcome in ("abandoned", "cancelled")
        left_out.add("outcome")
    assert cases.compare(case, observed, left_out) == []


@pytest.mark.parametrize("how", ["in order", "shuffled", "compactions as events", "protobuf"])
@pytest.mark.parametrize("case", cases.load_cases(), ids=lambda case: case.name)
def test_vector_as_recorded_genai_spans(case, how, tmp_path, capsys, monkeypatch):
    recorder = Recorder(case, GenAi, compactions_as_events=how.startswith("compactions"))
    spans = recorder.record()
    if how == "shuffled":
        random.Random(case.name).shuffle(spans)
    path = tmp_path / "t.otlp"
    if how == "protobuf":
        path.write_bytes(
            b"".join(ParseDict(_bytes(message), TracesData()).SerializeToString() for message in _messages(spans))
        )
    else:
        write_lines(path, _messages(spans))
    _check(case, _replayed(case, recorder, path, capsys, monkeypatch))


@pytest.mark.parametrize("case", cases.load_cases(), ids=lambda case: case.name)
def test_vector_as_recorded_openinference_spans(case, tmp_path, capsys, monkeypatch):
    recorder = Recorder(case, OpenInference, compactions_as_events=False)
    path = write_lines(tmp_path / "t.jsonl", _messages(recorder.record()))
    _check(case, _replayed(case, recorder, path, capsys, monkeypatch))


def _bytes(message):
    """The JSON mapping of protobuf wants base64 ids."""
    import base64  # noqa: PLC0415 - for this alone

    text = json.loads(json.dumps(message))
    [span] = text["resourceSpans"][0]["scopeSpans"][0]["spans"]
    for key in ("traceId", "spanId", "parentSpanId"):
        span[key] = base64.b64encode(bytes.fromhex(span[key])).decode()
    return text
