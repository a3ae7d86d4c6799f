"""Memory does not grow with the file."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from collections import deque

import pytest

from otel_docsfab.replay.readers import Problems, read_recordings
from otel_docsfab.replay.readers import recording as recording_module
from tests.replay.files import otlp_message, otlp_span
from tests.replay.test_claude_code import Session
from tests.replay.test_codex import META, _call, _output, _prompt
from tests.replay.test_opencode import _messages, _text, _tool
from tests.replay.test_otlp import _proto, _varint
from tests.replay.test_trajectories import _step, _v2_result, _v2_use

CONTENT = "x" * 8000


def _lines(count, make):
    return "".join(json.dumps(record) + "\n" for number in range(1, count + 1) for record in make(number)).encode()


def _otlp(count):
    return _lines(count, lambda n: [otlp_message(otlp_span(n, result=CONTENT))])


def _pretty_otlp(count):
    groups = [otlp_message(otlp_span(n, result=CONTENT))["resourceSpans"][0] for n in range(1, count + 1)]
    return json.dumps({"resourceSpans": groups}, indent=1).encode()


def _protobuf(count):
    message = _proto(1)
    message.resource_spans[0].scope_spans[0].spans[0].name = CONTENT
    raw = message.SerializeToString()
    return (_varint(len(raw)) + raw) * count


def _claude(count):
    session = Session().user("go")
    for number in range(count):
        session.use(f"m{number}", f"t{number}").result(f"t{number}", CONTENT)
    return _lines(1, lambda _: session.records)


def _codex(count):
    return _lines(1, lambda _: [META, *_prompt("go", 1)]) + _lines(count, lambda n: [_call(n), _output(n, CONTENT)])


def _opencode(count):
    messages = _messages(
        ("user", 0, [_text("go")]), *(("assistant", n, [_tool(f"c{n}", CONTENT)]) for n in range(count))
    )
    return json.dumps({"info": {"id": "ses_1"}, "messages": messages}).encode()


def _swe(count):
    return json.dumps({"trajectory": [_step("cat a", CONTENT)] * count, "history": []}, indent=2).encode()


def _mini(count):
    turns = [message for _ in range(count) for message in (_v2_use("cat a"), _v2_result("cat a", CONTENT))]
    return json.dumps({"info": {"mini_version": "2"}, "messages": turns}).encode()


def _peak(path) -> tuple[int, int]:
    tracemalloc.start()
    try:
        count = 0
        for recording in read_recordings([path], Problems()):
            for stream in (recording.spans, recording.events):
                count += sum(1 for _ in stream)
                deque(stream, maxlen=0)
        return tracemalloc.get_traced_memory()[1], count
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "make", [_otlp, _pretty_otlp, _protobuf, _claude, _codex, _opencode, _swe, _mini], ids=lambda make: make.__name__
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_peak_memory_does_not_grow_with_the_file(tmp_path, monkeypatch, make, pack):
    monkeypatch.setattr(recording_module, "_HEAD_BYTES", 64 << 10)  # what is looked at first, small beside these files
    peaks, counts = [], []
    for count in (80, 320):
        data = make(count)
        assert len(data) > 400_000
        (tmp_path / f"{count}.bin").write_bytes(pack(data))
        peak, found = _peak(tmp_path / f"{count}.bin")
        peaks.append(peak)
        counts.append(found)
    assert counts[1] > 3 * counts[0]
    assert peaks[1] < 1.25 * peaks[0] + 300_000
