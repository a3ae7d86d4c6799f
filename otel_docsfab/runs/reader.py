"""Reading the index: runs by id or prefix, the newest, the failed ones, and the largest values seen."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

from otel_docsfab.errors import InputError
from otel_docsfab.runs.database import is_damage, open_for_reading
from otel_docsfab.runs.paths import index_path
from otel_docsfab.runs.results import run_result

_SHOWN: Final = 5
_LAST_CHARACTER: Final = chr(0x10FFFF)

_OBSERVED: Final = {
    "execution.readLoopRepeatStreak": "maxRepeatsOfOneResult",
    "execution.readLoopUnchangedReReads": "maxUnchangedReReadsAcrossResults",
    "execution.readLoopWithheldReads": "readLoopWithheld",
    "execution.toolCallCeiling": "calls",
    "compositionExecution.timeoutMs": "durationMs",
}
"""Which field of an attempt is measured against a limit; retries are counted over a step."""


class IndexReader:
    """Reads one index.

    Args:
        path: The index; by default where ``RunIndex`` writes.

    Raises:
        NotAnIndex: There is none.
    """

    def __init__(self, path: Path | None = None) -> None:
        """Open it."""
        self.path = path or index_path()
        with readable(self.path):
            self.database = open_for_reading(self.path)

    def close(self) -> None:
        """Close it."""
        self.database.close()

    def find(self, prefix: str) -> str:
        """The id of the run that begins so.

        Raises:
            InputError: There is none, or several; says which.
        """
        found = self.beginning(prefix, _SHOWN + 1)
        if prefix in found or len(found) == 1:
            return prefix if prefix in found else found[0]
        if not found:
            raise InputError(f"no run begins with {prefix!r}; `otel-docsfab runs list` shows the newest")
        more = ", ..." if len(found) > _SHOWN else ""
        raise InputError(f"several runs begin with {prefix!r}: {', '.join(found[:_SHOWN])}{more}; give more of the id")

    def beginning(self, prefix: str, limit: int) -> list[str]:
        """Ids of runs that begin so, in order."""
        query = "SELECT runId FROM runs WHERE runId >= ? AND runId < ? ORDER BY runId LIMIT ?"
        with readable(self.path):
            rows = self.database.execute(query, (prefix, prefix + _LAST_CHARACTER, limit)).fetchall()
        return [run for (run,) in rows]

    def last(self, *, failed: bool = False, model: str | None = None, limit: int = 1) -> list[str]:
        """Ids of the runs that ended last, the newest first.

        Args:
            failed: Only runs with a failure code.
            model: Only runs whose newest attempt had this model.
            limit: How many at most.
        """
        terms = [*(["code IS NOT NULL"] if failed else []), *(["model = ?"] if model else [])]
        where = f"WHERE {' AND '.join(terms)}" if terms else ""
        query = f"SELECT runId FROM runs {where} ORDER BY endedUnixMs DESC, runId LIMIT ?"  # noqa: S608 - our own words
        with readable(self.path):
            values = (*([model] if model else []), limit)
            return [run for (run,) in self.database.execute(query, values).fetchall()]

    def result(self, run_id: str) -> dict[str, Any]:
        """The run with this id, as in the model ``RunResult``.

        Raises:
            InputError: Its records cannot be read.
        """
        query = "SELECT document FROM documents JOIN attempts USING (id) WHERE runId = ? ORDER BY id"
        with readable(self.path):
            rows = self.database.execute(query, (run_id,)).fetchall()
        try:
            return run_result(json.loads(text) for (text,) in rows)
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"the records of {run_id} cannot be read ({type(error).__name__})") from error

    def observed(self, step_id: str | None = None, agent_name: str | None = None) -> dict[str, int]:
        """The largest values seen, by dotted name of the limit they are measured against.

        Args:
            step_id: Of this step only.
            agent_name: Of this agent only.

        Returns:
            What was never measured is missing.
        """
        chosen = {"stepId": step_id, "agentName": agent_name}
        terms = [f"{name} = ?" for name, value in chosen.items() if value is not None]
        values = [value for value in chosen.values() if value is not None]
        where = f"WHERE {' AND '.join(terms)}" if terms else ""
        maxima = ", ".join(f"max({field})" for field in _OBSERVED.values())
        with readable(self.path):
            row = self.database.execute(f"SELECT {maxima} FROM attempts {where}", values).fetchone()  # noqa: S608 - our own words
            retries = self.database.execute(f"SELECT max(retries) FROM steps {where}", values).fetchone()  # noqa: S608 - as above
        seen = dict(zip((*_OBSERVED, "retry.maxNoProgressRetries"), (*row, *retries), strict=True))
        return {name: value for name, value in seen.items() if value is not None}

    def rows(self, query: str, values: tuple[Any, ...]) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Names and rows of a query made by ``otel_docsfab.runs.query``."""
        with readable(self.path):
            cursor = self.database.execute(query, values)
            return [column[0] for column in cursor.description], cursor.fetchall()


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Say in words for people what keeps the index from being read."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if is_damage(error):
            raise InputError(
                f"the run index {path} is damaged; `otel-docsfab runs prune` sets it aside and keeps what is readable"
            ) from error
        raise InputError(f"the run index {path} cannot be read now: {error}") from error


@contextmanager
def reading(path: Path | None = None) -> Iterator[IndexReader]:
    """A reader while the block runs."""
    with closing(IndexReader(path)) as reader:
        yield reader
