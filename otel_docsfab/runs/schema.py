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

_BY_NAME: Final = ("code", "stepId", "model", "agentName", "concludeNow", "deadlineTurn", "retryOf", "outcome")
_BY_COUNT: Final = (
    "unchangedReReads",
    "readLoopWithheld",
    "maxRepeatsOfOneResult",
    "maxUnchangedReReadsAcrossResults",
)

_INDEXES: Final = (
    "CREATE INDEX attemptsByRun ON attempts (runId)",
    "CREATE INDEX attemptsByEnd ON attempts (endedUnixMs)",
    "CREATE INDEX documentsByDigest ON documents (digest)",
    "CREATE INDEX runsByEnd ON runs (endedUnixMs)",
    "CREATE INDEX runsByWritten ON runs (writtenUnixMs)",
    "CREATE INDEX runsByModel ON runs (model, endedUnixMs) WHERE code IS NOT NULL",
    "CREATE INDEX stepsByCode ON steps (code, endedUnixMs) WHERE code IS NOT NULL",
    *(
        f"CREATE INDEX attemptsBy_{name} ON attempts ({name}, endedUnixMs) WHERE {name} IS NOT NULL"
        for name in (*_BY_NAME, *_BY_COUNT)
    ),
)
"""Most attempts have no code, no ask and re-read nothing: partial indexes of them stay small."""

MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = (_TABLES, _INDEXES)
"""Statements that lead from one version (``PRAGMA user_version``) to the next."""
