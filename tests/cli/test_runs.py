"""``otel-docsfab runs`` and ``why`` from the command line: every output as it is, and every mistake."""

import csv
import io
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import jsonschema
import pytest

from otel_docsfab.cli.main import main
from otel_docsfab.cli.runs import run_ids
from otel_docsfab.runs import RunIndex
from otel_docsfab.runs.models import PUBLISHED
from otel_docsfab.runs.models import main as make_schemas
from tests.runs.records import SECRET, Stories

SCHEMAS = Path(__file__).parents[2] / "docs" / "schemas"
GOLDEN = Path(__file__).parent / "golden"
LOOP, EARLY, WELL, REFUSED, GIVEN_UP = "run-4f01", "run-4f02", "run-7a01", "run-7a02", "run-7a03"


@pytest.fixture
def index(tmp_path, monkeypatch):
    """An index with a run of each kind, where the commands look for it."""
    monkeypatch.setenv("DOCSFAB_STATE_DIR", str(tmp_path / "state"))
    index = RunIndex()
    stories = Stories(index)
    stories.loop(LOOP, model="m-1", agent_name="reviewer")
    stories.loop(EARLY, obey=True, model="m-2", agent_name="reviewer")
    stories.answer(WELL, model="m-1", kind="read-only")
    stories.answer(REFUSED, valid=False, model="[bold]m\x1b[31m")
    stories.cancel(GIVEN_UP)
    assert index.flush(60)
    index.shutdown()
    return index.path


@pytest.fixture
def run(capsys):
    def invoke(*arguments, code=0):
        capsys.readouterr()
        assert main(list(arguments)) == code
        captured = capsys.readouterr()
        return captured.err if code else captured.out

    return invoke


def golden(name, text):
    """The text as it was approved."""
    assert text == (GOLDEN / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("runs-list.txt", ("runs", "list")),
        ("runs-list.json", ("runs", "list", "--json", "--limit", "2")),
        ("runs-show-loop.txt", ("runs", "show", LOOP)),
        ("runs-show-loop.json", ("runs", "show", LOOP, "--json")),
        ("runs-show-early.txt", ("runs", "show", EARLY)),
        ("runs-show-early.json", ("runs", "show", EARLY, "--json")),
        ("runs-show-well.txt", ("runs", "show", WELL)),
        ("runs-query.txt", ("runs", "query")),
        ("runs-query-where.txt", ("runs", "query", "--where", "longestStretchCalls>3", "--where", "model=m-1")),
        ("runs-query.json", ("runs", "query", "--where", "unchangedReReads>9", "--where", "retryOf=none", "--json")),
        ("runs-query-run.csv", ("runs", "query", "--row-kind", "run", "--csv")),
        ("runs-query-step.txt", ("runs", "query", "--row-kind", "step", "--where", "retries=1")),
        ("runs-query-group.txt", ("runs", "query", "--group-by", "code")),
        ("runs-query-group.json", ("runs", "query", "--group-by", "outcome", "--json")),
        ("runs-query-fields.txt", ("runs", "query", "--row-kind", "run", "--fields")),
        ("why-loop.txt", ("why", LOOP)),
        ("why-loop.json", ("why", LOOP, "--json")),
        ("why-last.txt", ("why", "--last")),
        ("why-all.txt", ("why", "--all")),
        ("why-all-model.json", ("why", "--all", "--model", "m-1", "--json")),
        ("why-refused.txt", ("why", REFUSED)),
    ],
)
def test_the_output_as_it_is(index, run, monkeypatch, name, arguments):
    plain = run(*arguments)
    golden(name, plain)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "40")
    assert run(*arguments) == plain
    assert "\x1b" not in plain


def valid(text, name):
    document = json.loads(text)
    jsonschema.validate(document, json.loads((SCHEMAS / name).read_text()), cls=jsonschema.Draft202012Validator)
    return document


@pytest.mark.parametrize("which", [LOOP, EARLY, WELL, REFUSED, GIVEN_UP])
def test_json_is_as_the_published_schemas_say(index, run, which):
    result = valid(run("runs", "show", which, "--json"), "run-result.schema.json")
    assert (result["kind"], result["schemaVersion"], result["runId"]) == ("docsfab-run-result", 1, which)
    why = valid(run("why", which, "--json"), "why.schema.json")
    assert (why["kind"], why["schemaVersion"]) == ("docsfab-why", 1)


def test_the_published_schemas_are_those_of_the_models(tmp_path, capsys):
    assert make_schemas(["--check", str(SCHEMAS)]) == 0
    assert make_schemas([str(tmp_path)]) == 0
    for name in PUBLISHED:
        assert (tmp_path / name).read_text() == (SCHEMAS / name).read_text()
        (tmp_path / name).write_text("{}")
    assert make_schemas(["--check", str(tmp_path)]) == 1
    assert "is stale" in capsys.readouterr().err


def test_r25_asked_attempts_are_counted_one_line_each(index, run):
    text = run("runs", "show", EARLY)
    assert "LIMITATIONS (1 attempt was asked for the answer early)" in text
    (asked,) = json.loads(run("runs", "show", EARLY, "--json"))["answersAskedEarly"]
    assert asked == {
        "stepId": "review-documentation",
        "attempt": 2,
        "trigger": "read-loop",
        "turn": 10,
        "outcome": "answered",
    }


def test_r26_a_read_loop_stop_is_named_and_owned(index, run):
    (finding,) = json.loads(run("why", LOOP, "--json"))["findings"]
    assert (finding["summary"]["cause"], finding["summary"]["owner"]) == ("read-loop-stopped", "model-progress")
    assert [one["limitation"] for one in finding["limitations"]] == ["answer-asked-early"]
    assert (finding["what"]["attempt"], finding["what"]["attempts"]) == (2, 2)


def test_r27_planted_secrets_are_nowhere(index, run):
    with closing(sqlite3.connect(index)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for path in index.parent.iterdir():
        assert SECRET.encode() not in path.read_bytes()
    assert SECRET not in run("runs", "show", LOOP, "--json") + run("why", "--all", "--json") + run("runs", "query")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("runs", "show", "run-4f"), f"several runs begin with 'run-4f': {LOOP}, {EARLY}; give more of the id"),
        (("runs", "show", "nothing"), "no run begins with 'nothing'; `otel-docsfab runs list` shows the newest"),
        (("runs", "query", "--where", "cod=1"), "attempt rows have no field 'cod'; did you mean code?"),
        (("runs", "query", "--group-by", "cod"), "did you mean code?"),
        (("runs", "query", "--since", "soon"), "'soon' is no time"),
        (("runs", "query", "--json", "--csv"), "--json or --csv, not both"),
        (("why", LOOP, "--last"), "one of RUN, --last and --all"),
        (("why", "--model", "m-1"), "--model goes with --all"),
        (("runs", "import", "nowhere.json"), "nowhere.json: cannot be read: No such file or directory"),
    ],
)
def test_mistakes_are_one_line(index, run, arguments, says):
    error = run(*arguments, code=2)
    assert says in error
    assert error.startswith("error: ")
    assert error.count("\n") == 1


def test_a_unique_beginning_is_enough(index, run):
    assert run("runs", "show", "run-7a03") == run("runs", "show", GIVEN_UP)
    assert "cancelled" in run("why", "run-7a03")


@pytest.mark.parametrize("command", [("runs", "list"), ("why",), ("why", "--all"), ("runs", "query")])
def test_without_an_index_it_says_how_to_get_one(run, tmp_path, monkeypatch, command):
    monkeypatch.setenv("DOCSFAB_STATE_DIR", str(tmp_path))
    assert "add RunIndex() to a supervisor's sinks" in run(*command, code=2)


def test_a_damaged_index_is_said_to_be_and_prune_repairs_it(index, run, capsys):
    with closing(sqlite3.connect(index)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        root = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'runs'").fetchone()[0]
    with index.open("r+b") as file:
        file.seek((root - 1) * 4096)
        file.write(b"\xee" * 4096)
    assert "`otel-docsfab runs prune` sets it aside" in run("runs", "list", code=2)
    assert run("runs", "prune") == "0 runs removed\n"
    assert run("runs", "list").count("\n") == 6
    (aside,) = index.parent.glob("*.damaged-*")
    assert run("runs", "import", str(aside)) == "0 attempts imported, 7 known already, 0 refused\n"


def test_exported_runs_can_be_imported_elsewhere(index, run, tmp_path):
    exported = [run("runs", "show", which, "--json") for which in (LOOP, EARLY)]
    (tmp_path / "one.json").write_text(exported[0])
    lines = [json.dumps(attempt) for attempt in json.loads(exported[1])["attempts"]]
    (tmp_path / "lines.jsonl").write_text("\n".join([*lines, '{"no": "record"}', "{broken"]))
    elsewhere = str(tmp_path / "elsewhere.sqlite3")
    files = (str(tmp_path / "one.json"), str(tmp_path / "lines.jsonl"))
    assert run("runs", "import", *files, "--index", elsewhere) == "4 attempts imported, 0 known already, 2 refused\n"
    assert json.loads(run("runs", "import", *files, "--index", elsewhere, "--json")) == {
        "added": 0,
        "known": 4,
        "refused": 2,
    }
    assert run("runs", "show", LOOP, "--json", "--index", elsewhere) == exported[0]


def test_replay_output_can_be_imported_and_its_content_stays_out(run, tmp_path, monkeypatch):
    monkeypatch.setenv("DOCSFAB_STATE_DIR", str(tmp_path / "state"))
    captures = Path(__file__).parents[1] / "captures"
    report = run("replay", "--json", "--calls", str(captures / "pydantic_ai.jsonl"))
    document = json.loads(report)
    document["attempts"][0]["tools"]["verdicts"][SECRET] = 1
    document["attempts"][1]["prompt"] = SECRET
    document["attempts"][1]["tools"]["arguments"] = {"path": SECRET}
    (tmp_path / "replay.json").write_text(json.dumps(document))
    number = len(document["attempts"])
    assert run("runs", "import", str(tmp_path / "replay.json")) == (
        f"{number - 1} attempts imported, 0 known already, 1 refused\n"
    )
    assert number - 1 == sum(row["rows"] for row in json.loads(run("runs", "query", "--group-by", "outcome", "--json")))
    for path in (tmp_path / "state").iterdir():
        assert SECRET.encode() not in path.read_bytes()


def test_a_file_of_no_records_is_refused(index, run, tmp_path):
    (tmp_path / "empty.json").write_text("[]")
    (tmp_path / "prose.txt").write_text("no records here")
    assert "no records" in run("runs", "import", str(tmp_path / "empty.json"), code=2)
    assert "neither JSON nor lines of JSON" in run("runs", "import", str(tmp_path / "prose.txt"), code=2)


def test_prune_says_what_would_go(index, run):
    assert run("runs", "prune", "--dry-run", "--older-than", "0") == "5 runs would be removed\n"
    assert run("runs", "prune", "--dry-run") == "0 runs would be removed\n"
    assert run("runs", "prune", "--older-than", "0") == "5 runs removed\n"
    assert run("runs", "list") == "no runs\n"
    assert "has no runs yet" in run("why", code=2)


def test_csv_is_csv(index, run):
    rows = list(csv.DictReader(io.StringIO(run("runs", "query", "--csv"))))
    assert len(rows) == 7
    assert {row["runId"] for row in rows} == {LOOP, EARLY, WELL, REFUSED, GIVEN_UP}


def test_doctor_tells_the_largest_values_seen(index, run):
    rows = {row["name"]: row for row in json.loads(run("doctor", "--limits", "--json"))["limits"]}
    assert rows["execution.readLoopRepeatStreak"]["observedMaxSeen"] == 17
    assert rows["execution.toolCallCeiling"]["observedMaxSeen"] == 18
    assert rows["retry.maxNoProgressRetries"]["observedMaxSeen"] == 1
    assert rows["execution.toolCallCeiling"]["headroomPercent"] == 96
    assert rows["compositionExecution.maxOutputTokens"]["observedMaxSeen"] is None
    quiet = json.loads(run("doctor", "--limits", "--json", "--step", "plan-documentation"))["limits"]
    assert {row["name"]: row["observedMaxSeen"] for row in quiet}["execution.toolCallCeiling"] == 2


def test_run_ids_complete_on_tab(index):
    assert run_ids("run-4") == [LOOP, EARLY]
    assert run_ids("x") == []
