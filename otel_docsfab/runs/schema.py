"""The tables of the run index, as migrations: what stands here was released and is never changed, only added to."""

from __future__ import annotations

from typing import Final

APPLICATION_ID: Final = 0x0D0C5FAB
"""Tells a run index from other SQLite files."""

_SUMS: Final = """
    outcome TEXT, code TEXT, category TEXT,
    attempts INTEGER NOT NULL, retries INTEGER NOT NULL, stops INTEGER NOT NULL, asks INTEGER NOT NULL,
    agentName TEXT, model TEXT, enforced INTEGER, startedUnixMs INTEGER, endedUnixMs INTEGER,
    turns INTEGER, concludeNow TEXT, calls INTEGER, denied INTEGER, callsAfterStop INTEGER, unjudged INTEGER,
    progress INTEGER, unchangedReReads INTEGER, readLoopWithheld INTEGER, maxRepeatsOfOneResult INTEGER,
    maxUnchangedReReadsAcrossResults INTEGER, longestStretchCalls INTEGER, longestStretchTurns INTEGER,
    maxRepeatedFailedReads INTEGER, maxRepeatedProgressCalls INTEGER
"""

_TABLES: Final = (
    """
    CREATE TABLE attempts (
        id INTEGER PRIMARY KEY,
        runId TEXT NOT NULL, stepId TEXT, stepKind TEXT, attempt INTEGER, retryOf TEXT, agentName TEXT, model TEXT,
        traceId TEXT, spanId TEXT, enforced INTEGER, startedUnixMs INTEGER, endedUnixMs INTEGER, durationMs INTEGER,
        turns INTEGER, outcome TEXT, code TEXT, category TEXT, stopCode TEXT, concludeNow TEXT,
        concludeNowTurn INTEGER, deadlineTurn TEXT, calls INTEGER, denied INTEGER, callsAfterStop INTEGER,
        unjudged INTEGER, progress INTEGER, unchangedReReads INTEGER, readLoopWithheld INTEGER,
        maxRepeatsOfOneResult INTEGER, maxUnchangedReReadsAcrossResults INTEGER, longestStretchCalls INTEGER,
        longestStretchTurns INTEGER, maxRepeatedFailedReads INTEGER, maxRepeatedProgressCalls INTEGER
    )
    """,
    # Whole records stand apart, so that a query that looks at every row reads little.
    "CREATE TABLE documents (id INTEGER PRIMARY KEY, digest BLOB NOT NULL, document TEXT NOT NULL)",
    f"""
    CREATE TABLE steps (
        runId TEXT NOT NULL, stepId TEXT NOT NULL, stepKind TEXT, attempt INTEGER, {_SUMS},
        PRIMARY KEY (runId, stepId)
    ) WITHOUT ROWID
    """,
    f"CREATE TABLE runs (runId TEXT PRIMARY KEY, steps INTEGER, writtenUnixMs INTEGER, {_SUMS}) WITHOUT ROWID",
)

BY_NAME: Final = {
    "attempts": ("code", "stepId", "model", "agentName", "concludeNow", "deadlineTurn", "retryOf", "outcome"),
    "steps": ("code",),
    "runs": ("code", "model", "outcome", "concludeNow"),
}
"""Texts with an index, by table: rows with one value of them are found newest first."""
_EVIDENCE: Final = ("unchangedReReads", "readLoopWithheld", "maxRepeatsOfOneResult", "maxUnchangedReReadsAcrossResults")
_BY_COUNT: Final = {
    "attempts": (*_EVIDENCE, "calls", "durationMs", "longestStretchCalls"),
    "runs": _EVIDENCE,
}

_INDEXES: Final = (
    "CREATE INDEX attempts_runId ON attempts (runId)",
    "CREATE INDEX documents_digest ON documents (digest)",
    "CREATE INDEX attempts_endedUnixMs ON attempts (endedUnixMs)",
    "CREATE INDEX runs_endedUnixMs ON runs (endedUnixMs)",
    "CREATE INDEX runs_writtenUnixMs ON runs (writtenUnixMs)",
    *(
        f"CREATE INDEX {table}_{name} ON {table} ({name}, endedUnixMs) WHERE {name} IS NOT NULL"
        for names_of in (BY_NAME, _BY_COUNT)
        for table, names in names_of.items()
        for name in names
    ),
)
"""Most attempts have no code, no ask and re-read nothing: partial indexes of them stay small."""

MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = (_TABLES, _INDEXES)
"""Statements that lead from one version (``PRAGMA user_version``) to the next."""
