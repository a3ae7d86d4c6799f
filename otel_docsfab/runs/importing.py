"""Records from files into the index: exported runs, lines of records, replay reports, indexes that were set aside.

Only what the models know is kept; whatever else a file holds is dropped (R27).
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from otel_docsfab.core.codes import FINDINGS, Code
from otel_docsfab.errors import InputError
from otel_docsfab.runs.models import Attempt, Model, as_json
from otel_docsfab.runs.rows import prepare
from otel_docsfab.runs.salvage import readable_documents
from otel_docsfab.runs.writer import BATCH, IndexWriter

_SQLITE: Final = b"SQLite format 3\0"
_LIMIT_NAMES: Final = {
    Code.WITHHELD_READS: "execution.readLoopWithheldReads",
    Code.UNCHANGED_RE_READS: "execution.readLoopUnchangedReReads",
    Code.TOOL_CALL_CEILING: "execution.toolCallCeiling",
}
_TIMER: Final = "compositionExecution.timeoutMs"


class Imported(NamedTuple):
    """What became of the records of a file.

    Attributes:
        added: New in the index.
        known: There already.
        refused: No records of attempts.
    """

    added: int = 0
    known: int = 0
    refused: int = 0


def import_file(path: str, writer: IndexWriter) -> Imported:
    """Import one file.

    Args:
        path: The file, or ``-`` for standard input.
        writer: Writes to the index.

    Raises:
        InputError: The file cannot be read, or holds nothing that could be imported.
    """
    added = known = refused = 0
    candidates = _candidates(path)
    while batch := list(itertools.islice(candidates, BATCH)):
        records = [prepare(document) for one in batch if (document := record_of(one)) is not None]
        written = writer.write(records, unless_known=True)
        added += written
        known += len(records) - written
        refused += len(batch) - len(records)
    if not added + known + refused:
        raise InputError(f"{path}: no records; give `runs show --json` or `replay --json` output, or lines of records")
    return Imported(added, known, refused)


def record_of(candidate: object) -> dict[str, Any] | None:
    """A record as the index keeps it; None when it is none."""
    if not isinstance(candidate, Mapping):
        return None
    try:
        facts = _known(_without_nulls(_from_replay(candidate)), Attempt)
        return as_json(Attempt.model_validate(facts))
    except (ValidationError, KeyError, TypeError, ValueError):
        return None


def _candidates(path: str) -> Iterator[object]:
    """What could be records, in the order of the file."""
    if path == "-":
        yield from _of_text(path, sys.stdin.read())
        return
    try:
        with Path(path).open("rb") as file:
            is_index = file.read(len(_SQLITE)) == _SQLITE
        if is_index:
            yield from readable_documents(Path(path))
            return
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise InputError(f"{path}: cannot be read: {reason}") from error
    yield from _of_text(path, text)


def _of_text(path: str, text: str) -> Iterator[object]:
    """Records of one JSON document, or of one a line."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        lines = [line for line in text.splitlines() if line.strip()]
    else:
        yield from _of_document(whole)
        return
    if len(lines) < 2:  # noqa: PLR2004 - one line that is no JSON
        raise InputError(f"{path}: neither JSON nor lines of JSON")
    for line in lines:
        try:
            yield from _of_document(json.loads(line))
        except (ValueError, RecursionError):
            yield None


def _of_document(document: object) -> Iterator[object]:
    if isinstance(document, Mapping) and isinstance(document.get("attempts"), list):
        yield from document["attempts"]
    elif isinstance(document, list):
        yield from document
    else:
        yield document


def _from_replay(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """An entry of a replay report in the words of a record; anything else as it is."""
    if "waste" not in entry:
        return entry
    stop = entry.get("stop")
    if stop:
        stop = {"limitName": _LIMIT_NAMES.get(stop["code"], _TIMER), **stop}
    code = entry.get("code")
    category = FINDINGS[Code(code)].category if code else None
    apart = {"callsAfterStop": entry.get("callsAfterStop", 0), "unjudged": entry.get("unjudged", {})}
    return {**entry, "category": category, "stop": stop, "tools": {**apart, **entry["tools"]}}


def _without_nulls(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return value


def _known(value: Any, model: type[Model]) -> Any:
    """Only what the model knows, at every depth."""
    if not isinstance(value, Mapping):
        return value
    kept = {}
    for name, field in model.model_fields.items():
        key = field.alias or name
        if key in value:
            part = next((kind for kind in _kinds(field.annotation) if issubclass(kind, Model)), None)
            kept[key] = _known(value[key], part) if part else value[key]
    return kept


def _kinds(annotation: Any) -> list[type]:
    parts = getattr(annotation, "__args__", ()) or (annotation,)
    return [part for part in parts if isinstance(part, type)]
