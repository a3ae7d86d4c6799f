"""What a file is, told by its content, and its spans or events."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from enum import StrEnum
from itertools import chain
from typing import Any, Final, NamedTuple, TypeVar

from otel_docsfab.errors import NotATrace
from otel_docsfab.replay.readers.documents import LONG_LISTS, document_records
from otel_docsfab.replay.readers.framing import MAX_RECORD_BYTES, Record, line_records, unfold
from otel_docsfab.replay.readers.json_values import BrokenJson, loads
from otel_docsfab.replay.readers.otlp_json import BrokenSpan, is_otlp, otlp_spans
from otel_docsfab.replay.readers.otlp_protobuf import protobuf_spans, sniff_protobuf
from otel_docsfab.replay.readers.problems import Problems
from otel_docsfab.replay.readers.sdk_json import is_sdk_span, sdk_span
from otel_docsfab.replay.readers.sessions.claude_code import claude_code_events, is_claude_code
from otel_docsfab.replay.readers.sessions.codex import codex_events, is_codex
from otel_docsfab.replay.readers.sessions.mini_swe_agent import is_mini_swe_agent, mini_swe_agent_events
from otel_docsfab.replay.readers.sessions.opencode import (
    export_events,
    is_opencode_export,
    is_session_file,
    storage_events,
)
from otel_docsfab.replay.readers.sessions.swe_agent import is_swe_agent, swe_agent_events
from otel_docsfab.replay.readers.share import WHOLE, Share
from otel_docsfab.replay.readers.sources import Source, open_source, push_back
from otel_docsfab.replay.script import ScriptEvent
from otel_docsfab.spans.view import RecordedSpan

EXPECTED: Final = (
    "expected OTLP as JSON or protobuf, spans of the Python SDK's to_json, or a session of Claude Code, Codex,"
    " OpenCode, SWE-agent or mini-swe-agent; plain, gzip or zstd"
)
_BOM: Final = b"\xef\xbb\xbf"
_HEAD_BYTES: Final = 8 << 20
_SNIFFED_BYTES: Final = 256
_BINARY: Final = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_HEAD_LINES: Final = 20
_SNIFFED_RECORDS: Final = 200
_SQLITE: Final = b"SQLite format 3\0"


_Item = TypeVar("_Item")


class Format(StrEnum):
    """What a file is."""

    OTLP_JSON = "otlp-json"
    OTLP_PROTOBUF = "otlp-protobuf"
    SDK_JSON = "sdk-json"
    CLAUDE_CODE = "claude-code"
    CODEX = "codex"
    OPENCODE = "opencode"
    SWE_AGENT = "swe-agent"
    MINI_SWE_AGENT = "mini-swe-agent"


class Recording(NamedTuple):
    """One file, ready to be read once. Of the two streams one is empty.

    Attributes:
        source: Name of the file.
        format: What it is.
        spans: Its spans, in file order.
        events: Its session's events.
    """

    source: str
    format: Format
    spans: Iterator[RecordedSpan]
    events: Iterator[ScriptEvent]


_SESSIONS: Final[dict[Format, Callable[[Iterator[Record], str], Iterator[ScriptEvent]]]] = {
    Format.CLAUDE_CODE: claude_code_events,
    Format.CODEX: codex_events,
    Format.OPENCODE: export_events,
    Format.SWE_AGENT: swe_agent_events,
    Format.MINI_SWE_AGENT: mini_swe_agent_events,
}


def read_recording(
    source: Source,
    problems: Problems,
    *,
    limit: int = MAX_RECORD_BYTES,
    share: Share = WHOLE,
    on_bytes: Callable[[int], None] | None = None,
) -> Recording:
    """Open a source, tell what it is, and read it in flat memory.

    Args:
        source: What to read.
        problems: Takes what cannot be read while the streams are consumed.
        limit: Longest line, element or message that is read, bytes.
        share: The traces that this process judges; spans of others may be left out.
        on_bytes: Told how many bytes of the file were read.

    Returns:
        The recording; the file stays open until its stream is exhausted or dropped.

    Raises:
        InputError: The file cannot be opened.
        NotATrace: It can, but holds no trace in a known form.
    """
    if is_session_file(source.path):
        return Recording(source.path, Format.OPENCODE, iter(()), storage_events(source.path, limit, problems))
    problems.muted = False
    stream = open_source(source, problems, on_bytes)
    mark = problems.mark()
    try:
        return _read(stream, source.path, problems, limit, share)
    except NotATrace:
        stream.close()
        problems.rewind(mark)  # lines of a file that is no trace are not broken ones
        raise


def _read(stream: io.BufferedReader, name: str, problems: Problems, limit: int, share: Share) -> Recording:
    head = stream.read(_HEAD_BYTES).removeprefix(_BOM)
    stream = push_back(stream, head, name, problems)
    start = head[:_SNIFFED_BYTES].lstrip()
    if not start:
        raise NotATrace(f"{name}: is empty; {EXPECTED}")
    if not _BINARY.search(start) and (start[:1] in (b"{", b"[") or b"\n{" in head):  # log lines may come first
        return _read_json(stream, head, name, problems, limit, share)
    layout = sniff_protobuf(head)
    if layout:
        problems.muted = not share.first
        spans = protobuf_spans(stream, layout, limit, problems, name)
        first = next(spans, None)
        if first is not None:
            return Recording(name, Format.OTLP_PROTOBUF, _closing(chain([first], spans), stream), iter(()))
    hint = "is an SQLite database, export its sessions first" if head.startswith(_SQLITE) else "is no trace"
    raise NotATrace(f"{name}: {hint}; {EXPECTED}")


def _read_json(
    stream: io.BufferedReader, head: bytes, name: str, problems: Problems, limit: int, share: Share
) -> Recording:
    sniffed = False

    def wanted(line: bytes) -> bool:
        if not sniffed or share.count == 1:
            return True
        parse, speaks = share.looks_at(line)
        problems.muted = not speaks
        return parse

    mark = problems.mark()
    records: Iterator[Record]
    if _lines_stand_alone(head):
        records = line_records(stream, limit, problems, name, wanted)
    else:
        records = document_records(stream, limit, problems, name)
    seen: list[Record] = []
    form: Format | None = None
    for record in records:
        seen.append(record)
        form = classify(record)
        if form or len(seen) >= _SNIFFED_RECORDS:
            break
    if form is None:
        raise NotATrace(f"{name}: is JSON but no trace; {EXPECTED}" if seen else f"{name}: is no trace; {EXPECTED}")
    whole = not seen[-1].key and _members_tell(seen[-1].value) is form
    records = chain(seen, records)
    if form in (Format.OTLP_JSON, Format.SDK_JSON):
        sniffed = True
        if not share.first:  # what was read to tell the format, everybody read; one speaks for it
            problems.rewind(mark)
            problems.muted = True
        return Recording(name, form, _closing(_json_spans(records, problems, name), stream), iter(()))
    if whole:
        records = unfold(records, LONG_LISTS)
    return Recording(name, form, iter(()), _closing(_SESSIONS[form](records, name), stream))


def _lines_stand_alone(head: bytes) -> bool:
    """Whether lines are objects of their own: one of the first few is, whole."""
    lines = head.split(b"\n", _HEAD_LINES)
    if len(lines) > 1 and (len(lines) > _HEAD_LINES or len(head) >= _HEAD_BYTES):
        lines.pop()  # not whole, or many lines
    for line in lines:
        stripped = line.strip()
        if stripped.startswith(b'{"') and stripped.endswith(b"}") and line[:1] == b"{":
            try:
                loads(stripped)
            except BrokenJson:
                continue
            return True
    return False


def classify(record: Record) -> Format | None:
    """The format that writes such a record; None when it does not tell."""
    key, value = record.key, record.value
    if key:
        return _part_tells(key, value)
    if is_otlp(value):
        return Format.OTLP_JSON
    if is_sdk_span(value):
        return Format.SDK_JSON
    if is_claude_code(value):
        return Format.CLAUDE_CODE
    return _members_tell(value) or (Format.CODEX if is_codex(value) else None)


def _members_tell(value: Any) -> Format | None:
    """The format of a whole document, by its members and the first elements of its lists."""
    if not isinstance(value, dict):
        return None
    for key, member in value.items():
        elements = member[:_HEAD_LINES] if key in LONG_LISTS and isinstance(member, list) else [member]
        for element in elements:
            form = _part_tells(key, element)
            if form:
                return form
    return None


def _part_tells(key: str, value: Any) -> Format | None:
    if key in ("resourceSpans", "resource_spans"):
        return Format.OTLP_JSON
    if key == "items" and is_codex(value):
        return Format.CODEX
    if is_opencode_export(key, value):
        return Format.OPENCODE
    if is_swe_agent(key, value):
        return Format.SWE_AGENT
    return Format.MINI_SWE_AGENT if is_mini_swe_agent(key, value) else None


def _json_spans(records: Iterator[Record], problems: Problems, name: str) -> Iterator[RecordedSpan]:
    for record in records:
        if record.key or is_otlp(record.value):
            yield from otlp_spans(record, problems, name)
        elif is_sdk_span(record.value):
            try:
                yield sdk_span(record.value)
            except BrokenSpan as error:
                problems.broke(name, record.line, str(error))
        else:
            problems.broke(name, record.line, "no span and no OTLP message")


def _closing(items: Iterator[_Item], stream: io.BufferedReader) -> Iterator[_Item]:
    with stream:
        yield from items
