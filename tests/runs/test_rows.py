"""Rows, sums over steps and runs, migrations, retention, queries."""

import sqlite3
import time
from contextlib import closing

import pytest

from otel_docsfab.core import Outcome, RetryOf
from otel_docsfab.core.codes import FINDINGS, Code, Trigger
from otel_docsfab.core.record import ConcludeNow, ReadEvidence
from otel_docsfab.errors import InputError
from otel_docsfab.runs.database import NotAnIndex, open_for_reading, open_for_writing
from otel_docsfab.runs.fields import ATTEMPT_FIELDS, FIELDS, RowKind
from otel_docsfab.runs.findings import NEXT
from otel_docsfab.runs.query import build, since
from otel_docsfab.runs.reader import reading
from otel_docsfab.runs.retention import DAY_MS, Keep
from otel_docsfab.runs.rows import prepare
from otel_docsfab.runs.schema import MIGRATIONS
from otel_docsfab.runs.writer import IndexWriter
from tests.runs.records import record

EVIDENCE = ReadEvidence(5, 2, 3, 4)


@pytest.fixture
def writer(tmp_path):
    writer = IndexWriter(tmp_path / "runs.sqlite3")
    yield writer
    writer.close()


def put(writer, *records):
    assert writer.write([prepare(one.as_dict()) for one in records]) == len(records)


def size_of(path):
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path.stat().st_size


def ask(writer, kind, *where, **options):
    question = build(RowKind(kind), where, **options)
    with reading(writer.path) as reader:
        names, rows = reader.rows(question.sql, question.values)
    return [dict(zip(names, row, strict=True)) for row in rows]


def test_tables_and_fields_agree(writer):
    writer.write(())
    with closing(open_for_reading(writer.path)) as database:
        for kind, table in {RowKind.ATTEMPT: "attempts", RowKind.STEP: "steps", RowKind.RUN: "runs"}.items():
            columns = {row[1] for row in database.execute(f"PRAGMA table_info({table})")}
            assert columns - {"id", "writtenUnixMs"} == set(FIELDS[kind])


def test_r24_attempts_that_re_read_nothing_have_no_evidence(writer):
    put(writer, record(1), record(2, read_evidence=EVIDENCE))
    rows = {row["runId"]: row for row in ask(writer, "attempt")}
    names = ("unchangedReReads", "readLoopWithheld", "maxRepeatsOfOneResult", "maxUnchangedReReadsAcrossResults")
    assert [rows["run-000001"][name] for name in names] == [None] * 4
    assert [rows["run-000002"][name] for name in names] == [5, 2, 3, 4]


def test_steps_and_runs_sum_up_their_attempts(writer):
    failed = {"outcome": Outcome.FAILED, "code": Code.WITHHELD_READS, "read_evidence": EVIDENCE}
    asked = {"conclude_now": ConcludeNow(Trigger.READ_LOOP, 3), "retry_of": RetryOf.NO_PROGRESS, "attempt": 2}
    put(
        writer,
        record(1, step_id="a", **failed),
        record(1, step_id="a", **asked, started_unix_ms=1_700_000_000_100, model="m-2"),
        record(1, step_id="b", read_evidence=ReadEvidence(1, 0, 9, 1), started_unix_ms=1_700_000_000_500, model=None),
    )
    steps = {row["stepId"]: row for row in ask(writer, "step")}
    assert (steps["a"]["outcome"], steps["a"]["code"]) == ("answered", None)
    assert [steps["a"][name] for name in ("attempts", "retries", "asks", "stops")] == [2, 1, 1, 0]
    (run,) = ask(writer, "run")
    assert (run["steps"], run["attempts"], run["outcome"], run["model"]) == (2, 3, "answered", "m-2")
    assert (run["unchangedReReads"], run["maxRepeatsOfOneResult"], run["concludeNow"]) == (6, 9, "read-loop")
    assert (run["startedUnixMs"], run["endedUnixMs"]) == (1_700_000_000_001, 1_700_000_000_510)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_sums_do_not_depend_on_the_order_of_writing(writer, order):
    records = [
        record(1, step_id="a", attempt=1, outcome=Outcome.FAILED, code=Code.WITHHELD_READS),
        record(1, step_id="a", attempt=2, started_unix_ms=1_700_000_000_100),
        record(1, step_id="b", started_unix_ms=1_700_000_000_050, outcome=Outcome.FAILED, code=Code.TIMEOUT),
    ]
    put(writer, *(records[at] for at in order))
    (run,) = ask(writer, "run")
    assert (run["outcome"], run["code"]) == ("failed", "timeout")
    assert {row["stepId"]: row["outcome"] for row in ask(writer, "step")} == {"a": "answered", "b": "failed"}


def test_an_older_index_is_brought_to_the_newest_version(tmp_path):
    path = tmp_path / "runs.sqlite3"
    with closing(open_for_writing(path, MIGRATIONS[:1])) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (1,)
    with closing(open_for_reading(path)) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
    fresh = tmp_path / "fresh"
    with closing(open_for_writing(fresh)), closing(open_for_writing(path)):
        pass
    schemas = []
    for each in (path, fresh):
        with closing(sqlite3.connect(each)) as database:
            schemas.append(sorted(database.execute("SELECT name, sql FROM sqlite_master").fetchall()))
    assert schemas[0] == schemas[1]


def test_a_newer_index_is_refused(writer):
    writer.write(())
    with closing(sqlite3.connect(writer.path)) as database:
        database.execute("PRAGMA user_version = 99")
    writer.close()
    with pytest.raises(NotAnIndex, match="newer otel-docsfab"):
        writer.write([prepare(record().as_dict())])


def test_whole_runs_go_when_they_were_written_too_long_ago(writer):
    put(writer, record(1), record(1, attempt=2), record(2))
    now_ms = time.time_ns() // 1_000_000
    assert writer.prune(Keep(days=30), now_ms) == 0
    with closing(sqlite3.connect(writer.path)) as database:
        database.execute("UPDATE runs SET writtenUnixMs = 0 WHERE runId = 'run-000001'")
        database.commit()
    assert writer.prune(Keep(days=30), now_ms) == 1
    assert [row["runId"] for row in ask(writer, "attempt")] == ["run-000002"]
    assert len(ask(writer, "step")) == 1
    assert writer.prune(Keep(days=30), now_ms + 31 * DAY_MS) == 1
    assert ask(writer, "run") == []


def test_the_oldest_runs_go_until_the_file_is_small_enough(writer):
    for number in range(0, 3_000, 500):
        put(writer, *(record(at) for at in range(number, number + 500)))
    full = size_of(writer.path)
    assert writer.prune(Keep(days=None, size_bytes=full // 2), 0) > 500
    left = ask(writer, "run", limit=5_000)
    assert 0 < len(left) < 2_500
    assert size_of(writer.path) <= full // 2
    assert "run-002999" in {row["runId"] for row in left}


def test_everything_can_be_kept(writer):
    put(writer, record(1))
    assert writer.prune(Keep(None, None), 10**15) == 0


@pytest.mark.parametrize(
    ("term", "found"),
    [
        ("unchangedReReads>4", {2}),
        ("unchangedReReads>=5", {2}),
        ("unchangedReReads>5", set()),
        ("unchangedReReads=none", {1, 3}),
        ("unchangedReReads!=none", {2}),
        ("code=timeout", {3}),
        ("code!=timeout", {1, 2}),
        ("code~TIME", {3}),
        ("code=none", {1, 2}),
        ("concludeNow=reading-budget", {2}),
        ("enforced=true", {3}),
        ("enforced=false", {1, 2}),
        ("runId~00000", {1, 2, 3}),
        ("startedUnixMs<=1700000000002", {1, 2}),
        ("calls<99999999999999999999999", {1, 2, 3}),
        ("model='; DROP TABLE runs; --", set()),
    ],
)
def test_terms(writer, term, found):
    put(
        writer,
        record(1),
        record(2, read_evidence=EVIDENCE, conclude_now=ConcludeNow(Trigger.READING_BUDGET, 1)),
        record(3, outcome=Outcome.FAILED, code=Code.TIMEOUT, enforced=True),
    )
    assert {int(row["runId"][4:]) for row in ask(writer, "attempt", term)} == found


def test_terms_all_hold_and_rows_can_be_counted_by_a_field(writer):
    put(writer, *(record(at, model="m-1" if at % 3 else "m-2") for at in range(9)))
    assert len(ask(writer, "attempt", "model=m-1", "startedUnixMs>1700000000004")) == 3
    assert ask(writer, "attempt", group_by="model") == [{"model": "m-1", "rows": 6}, {"model": "m-2", "rows": 3}]
    assert [row["runId"] for row in ask(writer, "attempt", limit=2)] == ["run-000008", "run-000007"]
    assert len(ask(writer, "run", since_unix_ms=1_700_000_000_016)) == 3


@pytest.mark.parametrize(
    ("kind", "term", "says"),
    [
        ("attempt", "unchangedReRead>1", "did you mean unchangedReReads"),
        ("attempt", "xyz=1", "fields are runId, stepId"),
        ("attempt", "calls~1", "is a number"),
        ("attempt", "calls=many", "is a whole number, not 'many'"),
        ("attempt", "code>1", "is text"),
        ("attempt", "calls", "is no term"),
        ("run", "traceId=1", "run rows have no field"),
    ],
)
def test_mistakes_say_what_would_be_right(kind, term, says):
    with pytest.raises(InputError, match=says):
        build(RowKind(kind), [term])


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("90m", 10**12 - 5_400_000),
        ("2w", 10**12 - 14 * DAY_MS),
        ("2001-09-09", 999_993_600_000),
        ("2001-09-09T02:00+02:00", 999_993_600_000),
    ],
)
def test_since(text, moment):
    assert since(text, 10**12) == moment


def test_since_says_what_it_understands():
    with pytest.raises(InputError, match="write 90m, 12h, 7d"):
        since("yesterday", 0)


def test_every_cause_has_a_next_action():
    assert set(NEXT) == {meaning.cause for meaning in FINDINGS.values()}


def test_every_fact_of_a_record_is_in_its_row_or_in_a_sum_of_it():
    names = {field.name for field in ATTEMPT_FIELDS}
    facts = record(read_evidence=EVIDENCE, run_id="r").as_dict()
    top = {name for name, value in facts.items() if not isinstance(value, dict)}
    assert top <= names
