"""What a flush promised survives everything, and nothing that happens to the file reaches the host."""

import json
import os
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

import otel_docsfab as docsfab
from otel_docsfab.runs import Keep, RunIndex
from otel_docsfab.runs.database import open_for_reading
from otel_docsfab.runs.models import Attempt
from otel_docsfab.runs.salvage import readable_documents
from otel_docsfab.supervisor import Site
from tests.runs.records import record
from tests.services.loopback import wait_until

ROOT = Path(__file__).parents[2]
FOREVER = Keep(days=None, size_bytes=None)
KILLS = 200


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state" / "runs.sqlite3"


@pytest.fixture
def opened():
    """Makes indexes and ends them."""
    made = []

    def make(*arguments, **options):
        made.append(RunIndex(*arguments, **{"keep": FOREVER, **options}))
        return made[-1]

    yield make
    for index in made:
        index.shutdown()


def count(path, table="attempts"):
    with closing(open_for_reading(path)) as database:
        return database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608 - our own tables


def sound(path):
    with closing(sqlite3.connect(path)) as database:
        return database.execute("PRAGMA integrity_check").fetchone()[0]


def test_kill_minus_9_in_the_middle_of_writing(path):
    done = subprocess.run(
        [sys.executable, "-m", "tests.runs.crashing", str(path), str(KILLS)],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    promises = [tuple(map(int, line.split())) for line in done.stdout.splitlines()]
    assert len(promises) == KILLS
    assert sum(promised - first for first, promised in promises) > KILLS
    assert sound(path) == "ok"
    with closing(open_for_reading(path)) as database:
        rows = database.execute("SELECT runId, document FROM attempts JOIN documents USING (id)").fetchall()
    kept = {int(run.removeprefix("run-")) for run, _ in rows}
    assert len(kept) == len(rows) == count(path, "runs") == count(path, "documents")
    for first, promised in promises:
        assert kept.issuperset(range(first, promised))
    for run, text in rows:
        assert Attempt.model_validate(json.loads(text)).run_id == run
    assert [name.name for name in path.parent.iterdir() if "damaged" in name.name] == []


def write_many(path, worker, number):
    index = RunIndex(path, keep=FOREVER, max_pending=number)
    for at in range(number):
        index.closed(record(worker * number + at))
    sys.exit(0 if index.flush(600) else 1)


def test_eight_processes_write_at_once(path):
    program = (
        "import sys; from tests.runs.test_durability import *; write_many(Path(sys.argv[1]), int(sys.argv[2]), 5_000)"
    )
    command = [sys.executable, "-c", program, str(path)]
    workers = [subprocess.Popen([*command, str(worker)], cwd=ROOT) for worker in range(8)]
    assert [worker.wait() for worker in workers] == [0] * 8
    assert count(path) == count(path, "runs") == count(path, "documents") == 40_000
    assert sound(path) == "ok"


def test_nothing_is_touched_before_the_first_record(path, opened):
    before = threading.active_count()
    index = opened(path)
    assert index.flush(1)
    assert threading.active_count() == before
    assert not path.parent.exists()


def test_only_the_owner_can_read_it(path, opened):
    index = opened(path)
    index.closed(record())
    assert index.flush(60)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_what_is_pending_at_exit_is_written(path):
    program = (
        "import sys\nfrom otel_docsfab.runs import RunIndex\nfrom tests.runs.records import record\n"
        "index = RunIndex(sys.argv[1])\nfor n in range(100): index.closed(record(n))\n"
    )
    subprocess.run([sys.executable, "-c", program, str(path)], check=True, cwd=ROOT)
    with closing(open_for_reading(path)) as database:
        assert database.execute("SELECT count(*) FROM runs").fetchone()[0] == 100


def test_a_directory_that_cannot_be_written_costs_records_and_nothing_else(tmp_path, opened):
    (tmp_path / "state").write_text("a file where the directory should be")
    index = opened(tmp_path / "state" / "runs.sqlite3", max_pending=5)
    supervisor = docsfab.Supervisor(sinks=[index])
    index.bind(supervisor)
    for _ in range(8):
        with supervisor.attempt("step") as attempt:
            attempt.answered()
    assert not index.flush(0.3)
    assert index.dropped == 3
    assert supervisor.faults.counts()[Site.RECORDS] >= 4
    assert supervisor.faults.counts()[Site.SINK] == 0
    (tmp_path / "state").unlink()  # the disk is back
    assert index.flush(60)
    assert count(index.path) == 5


FULL_DISK = """
import resource, sys
from otel_docsfab.runs import RunIndex
from otel_docsfab.supervisor import Site
from tests.runs.records import record

_, most = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, most))  # no file may grow past it
index = RunIndex(sys.argv[1])
for number in range(1_000):
    index.closed(record(number))
assert not index.flush(1)
assert index.faults.counts()[Site.RECORDS] > 0
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
assert index.flush(60)
assert index.dropped == 0
"""


def test_a_full_disk_is_waited_for(path):
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert count(path) == 1_000
    assert sound(path) == "ok"


def test_a_locked_file_is_waited_for_and_never_waits_in_the_host(path, opened, monkeypatch):
    monkeypatch.setattr("otel_docsfab.runs.database.BUSY_S", 0.05)
    index = opened(path)
    index.closed(record(1))
    assert index.flush(60)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        index.closed(record(2))
        assert not index.flush(0.3)
        wait_until("it is counted", lambda: index.faults.counts()[Site.RECORDS] > 0)
        other.execute("ROLLBACK")
    assert index.flush(60)
    assert count(path) == 2


def test_an_odd_record_is_lost_alone(path, opened):
    index = opened(path)
    index.closed(record(1))
    index.closed(record(2, denied=object()))
    index.closed(record(3, agent_name="\udc80 surrogate", calls=2**80))
    assert not index.flush(60)
    assert index.dropped == 1
    assert count(path) == 2


def test_after_shutdown_records_are_dropped(path, opened):
    index = opened(path)
    index.shutdown()
    index.closed(record())
    assert index.dropped == 1
    assert not path.exists()


def test_a_forked_child_writes_its_own_records_only(path, opened):
    index = opened(path)
    index.closed(record(1))
    assert index.flush(60)
    child = os.fork()
    if child == 0:
        index.closed(record(2))
        os._exit(0 if index.flush(60) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    index.closed(record(3))
    assert index.flush(60)
    assert count(path) == 3
    assert sound(path) == "ok"


def damage(path, page):
    """Overwrite one page in the middle of the file."""
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = database.execute("PRAGMA page_size").fetchone()[0]
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xee" * size)


def filled(path, opened, number=400):
    index = opened(path)
    for at in range(number):
        index.closed(record(at))
    assert index.flush(60)
    index.shutdown()


def pages_of(path, table):
    """Leaf pages of a table, by asking SQLite's own check which page a broken one is."""
    with closing(sqlite3.connect(path)) as database:
        return database.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0]


@pytest.mark.parametrize("table", ["runs", "attempts", "steps"])
def test_a_damaged_index_is_set_aside_and_its_records_recovered(path, opened, table):
    filled(path, opened)
    damage(path, pages_of(path, table))
    index = opened(path)
    index.closed(record(1_000))
    assert index.flush(60)
    (aside,) = path.parent.glob("runs.sqlite3.damaged-*")
    assert sound(path) == "ok"
    assert count(path) == count(path, "runs") == 401
    assert index.faults.counts()[Site.RECORDS] == 1
    assert aside.stat().st_size > 0


def test_a_broken_page_costs_the_records_on_it(path, opened):
    filled(path, opened)
    with closing(sqlite3.connect(path)) as database:
        pages = database.execute("PRAGMA page_count").fetchone()[0]
    kept = []
    for page in range(2, pages, 7):
        copy = path.with_name(f"copy-{page}")
        copy.write_bytes(path.read_bytes())
        damage(copy, page)
        kept.append(len(list(readable_documents(copy))))
    assert max(kept) == 400
    lost_all = [number for number in kept if number == 0]  # the page with the names of the tables
    assert all(number > 380 for number in kept if number)  # else all but the few on one page
    assert len(lost_all) <= 1


def test_a_file_that_is_no_database_is_set_aside(path, opened):
    path.parent.mkdir()
    path.write_bytes(b"\x00garbage" * 1_000)
    index = opened(path)
    index.closed(record())
    assert index.flush(60)
    assert count(path) == 1
    assert len(list(path.parent.glob("*.damaged-*"))) == 1


def test_only_the_newest_damaged_files_are_kept(path, opened):
    for _ in range(5):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"\x00garbage" * 1_000)
        index = opened(path)
        index.closed(record())
        assert index.flush(60)
        index.shutdown()
    assert len(list(path.parent.glob("*.damaged-*"))) == 3


def test_a_writer_whose_file_was_replaced_writes_to_the_new_one(path, opened):
    first, second = opened(path), opened(path)
    for index in (first, second):
        index.closed(record(1))
        assert index.flush(60)
    path.rename(path.with_name("elsewhere"))
    for side in ("-wal", "-shm"):
        Path(f"{path}{side}").rename(path.with_name(f"elsewhere{side}"))
    for number, index in enumerate((first, second)):
        index.closed(record(10 + number))
        assert index.flush(60)
    assert count(path) == 2


def test_a_database_of_something_else_is_left_alone(path, opened):
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE theirs (x)")
    index = opened(path)
    index.closed(record())
    assert not index.flush(0.3)
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT name FROM sqlite_master").fetchall() == [("theirs",)]
