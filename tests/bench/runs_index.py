"""How fast the run index answers when it is large: ``python -m tests.bench.runs_index [ATTEMPTS] [DIRECTORY]``.

Fills an index (kept when a directory is named), then measures questions in this process, warm, and whole commands
against the bare start of the interpreter. Prints; asserts nothing.
"""

import os
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from otel_docsfab.core import Outcome, RetryOf
from otel_docsfab.core.codes import Code, Trigger
from otel_docsfab.core.record import ConcludeNow, ReadEvidence
from otel_docsfab.runs import Keep, RunIndex
from otel_docsfab.runs.fields import RowKind
from otel_docsfab.runs.findings import why
from otel_docsfab.runs.query import build
from otel_docsfab.runs.reader import reading
from otel_docsfab.runs.rows import prepare
from otel_docsfab.runs.writer import BATCH, IndexWriter
from tests.runs.records import record

ROUNDS = 7
PART = 20_000
QUESTIONS = {
    "code=...": (RowKind.ATTEMPT, ["code=execution-read-loop-withheld-reads-bound"]),
    "unchangedReReads>25": (RowKind.ATTEMPT, ["unchangedReReads>25"]),
    "concludeNow=read-loop": (RowKind.ATTEMPT, ["concludeNow=read-loop"]),
    "model=m-3 code!=none": (RowKind.ATTEMPT, ["model=m-3", "code!=none"]),
    "outcome=answered (nearly all)": (RowKind.ATTEMPT, ["outcome=answered"]),
    "calls>1000 (no index, none)": (RowKind.ATTEMPT, ["calls>1000"]),
    "run rows: code=...": (RowKind.RUN, ["code=execution-read-loop-withheld-reads-bound"]),
    "run rows: unchangedReReads>25": (RowKind.RUN, ["unchangedReReads>25"]),
}


def made_up(number, chance):
    """A record: one attempt in 14 re-read something, one in 50 failed, as in public runs."""
    facts = {"model": f"m-{number % 5}", "step_id": f"step-{number % 7}", "calls": chance.randrange(1, 60)}
    facts["started_unix_ms"] = 1_750_000_000_000 + number * 1_000
    facts["run_id"] = f"run-{number // 2:016x}"
    if chance.random() < 0.07:
        facts["read_evidence"] = ReadEvidence(chance.randrange(1, 30), 0, chance.randrange(1, 18), 1)
    if chance.random() < 0.02:
        facts |= {"outcome": Outcome.FAILED, "code": chance.choice(list(Code)), "retry_of": RetryOf.NO_PROGRESS}
        facts["conclude_now"] = ConcludeNow(chance.choice(list(Trigger)), 3)
    return record(number, **facts)


def fill(path, attempts):
    """Write one part as the sink does and copy the rest inside SQLite; answers how long one record took, us."""
    chance, writer = random.Random(1), IndexWriter(path)
    part = min(PART, attempts)
    began = time.perf_counter()
    for first in range(0, part, BATCH):
        writer.write([prepare(made_up(number, chance).as_dict()) for number in range(first, first + BATCH)])
    each = (time.perf_counter() - began) / part * 1e6
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA synchronous = OFF")
        for copy in range(1, attempts // part):
            for table in ("attempts", "documents", "steps", "runs"):
                database.execute(copied(database, table, copy, part))
            database.commit()
    writer.prune(Keep(None, None), 0)
    writer.close()
    return each


def copied(database, table, copy, part):
    """The statement that adds the rows of the first part once more, as other and later runs."""
    renamed = f"'run-{copy:03d}' || substr(runId, 8)"
    later = f"+ {copy * part * 1_000}"
    change = {
        "id": f"id + {copy * part}",
        "runId": renamed,
        "startedUnixMs": f"startedUnixMs {later}",
        "endedUnixMs": f"endedUnixMs {later}",
        "digest": "randomblob(16)",
        "document": f"replace(document, '\"run-000', '\"run-{copy:03d}')",
    }
    columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
    only = f"id <= {part}" if "id" in columns else "runId < 'run-001'"
    values = ", ".join(change.get(name, name) for name in columns)
    return f"INSERT INTO {table} ({', '.join(columns)}) SELECT {values} FROM {table} WHERE {only}"  # noqa: S608 - a bench


def median_ms(work):
    work()
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        work()
        times.append((time.perf_counter() - began) * 1_000)
    return statistics.median(times)


def command_ms(*arguments, environ):
    return median_ms(lambda: subprocess.run(arguments, env=environ, check=True, stdout=subprocess.DEVNULL))


def say(what, value, unit="ms"):
    sys.stdout.write(f"{what:<44}{value:>12.1f} {unit}\n")
    sys.stdout.flush()


def main(attempts, directory):
    environ = {**os.environ, "DOCSFAB_STATE_DIR": str(directory)}
    path = directory / "runs.sqlite3"
    if not path.exists():
        say("writing one record, in the background", fill(path, attempts), "us")
    with closing(sqlite3.connect(path)) as database:
        say("attempts", database.execute("SELECT count(*) FROM attempts").fetchone()[0], "")
    say("size", path.stat().st_size / 2**20, "MiB")
    with reading(path) as reader:
        for name, (kind, where) in QUESTIONS.items():
            question = build(kind, where)
            say(name, median_ms(lambda asked=question: reader.rows(asked.sql, asked.values)))
        say("why, the run that ended last", median_ms(lambda: why([reader.result(one) for one in reader.last()])))
        say("largest values seen, for doctor", median_ms(reader.observed))
    program = str(Path(sys.executable).with_name("otel-docsfab"))
    bare = command_ms(sys.executable, "-c", "pass", environ=environ)
    say("bare interpreter", bare)
    say("otel-docsfab --help, beyond that", command_ms(program, "--help", environ=environ) - bare)
    say("why --last, beyond that", command_ms(program, "why", "--last", environ=environ) - bare)
    where = ("--where", "unchangedReReads>25")
    say("runs query, beyond that", command_ms(program, "runs", "query", *where, environ=environ) - bare)
    index = RunIndex(directory / "other.sqlite3")
    one = record()
    began = time.perf_counter()
    for _ in range(5_000):
        index.closed(one)
    say("handing a record over, while it writes", (time.perf_counter() - began) / 5_000 * 1e6, "us")
    index.shutdown()


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    if len(sys.argv) > 2:
        Path(sys.argv[2]).mkdir(parents=True, exist_ok=True)
        main(number, Path(sys.argv[2]))
    else:
        with tempfile.TemporaryDirectory() as name:
            main(number, Path(name))
