"""The demo and the commands' front door, as a user meets them."""

import json
import subprocess
import sys

import pytest

from otel_docsfab.cli.main import main


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "otel_docsfab.cli.main", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def demo_json(*options):
    done = run("demo", "--json", *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def enforced():
    return demo_json()


@pytest.fixture(scope="module")
def observed():
    return demo_json("--observe")


def test_the_demo_ends_a_cycle_with_the_message_of_the_source(enforced):
    first = enforced["attempts"][1]
    assert first["stop"]["message"] == (
        "execution-read-loop-unchanged-re-reads-bound: 25 exceeds execution.readLoopUnchangedReReads = 16 count."
    )
    assert first["stop"]["retryGranted"] is True


def test_the_demo_retry_is_asked_and_ignores_it(enforced):
    retry = enforced["attempts"][2]
    assert retry["retryOf"] == "no-progress"
    assert retry["concludeNow"] == {"trigger": "read-loop", "turn": 20}
    assert retry["outcome"] == "failed"
    assert enforced["answersAskedEarly"] == [
        {"stepId": "audit-documentation", "attempt": 2, "trigger": "read-loop", "turn": 20, "outcome": "failed"}
    ]
    assert len(enforced["limitations"]) == 1


def test_an_edit_that_only_the_processor_sees_resets_and_a_compaction_frees_one_read(enforced):
    writing = enforced["attempts"][0]
    assert writing["outcome"] == "answered"
    assert writing["tools"]["readEvidence"] == {
        "unchangedReReads": 10,
        "readLoopWithheld": 1,
        "maxRepeatsOfOneResult": 9,
        "maxUnchangedReReadsAcrossResults": 9,
    }


def test_the_same_run_only_watched_comes_to_the_same_decisions(enforced, observed):
    assert not observed["enforced"]
    for ours, theirs in zip(enforced["attempts"], observed["attempts"], strict=True):
        assert theirs["enforced"] is False
        assert theirs.get("concludeNow") == ours.get("concludeNow")
        assert theirs["tools"].get("readEvidence") == ours["tools"].get("readEvidence")
        assert {**theirs.get("stop", {}), "retryGranted": 0} == {**ours.get("stop", {}), "retryGranted": 0}


@pytest.mark.parametrize("options", [[], ["--observe"]])
def test_the_demo_says_what_was_saved_or_would_have_been(options, capsys):
    assert main(["demo", *options]) == 0
    out = capsys.readouterr().out
    assert ("WOULD HAVE SAVED" if options else "\nSAVED") in out
    assert ("only watched: nothing is done" in out) is bool(options)
    assert "6135 bytes of context were not delivered again" in out


def test_json_output_is_one_object_and_nothing_else(enforced):
    assert (enforced["kind"], enforced["schemaVersion"]) == ("docsfab-demo", 1)
    assert {attempt["runId"] for attempt in enforced["attempts"]} == {enforced["runId"]}


def test_records_hold_no_path(enforced):
    assert "docs/" not in json.dumps(enforced)


def test_without_a_terminal_the_demo_prints_plain_lines():
    done = run("demo")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert "LIMITATIONS\n  1 attempt(s)" in done.stdout
    assert "STOP after turn 28" in done.stdout


def test_a_collector_that_is_not_there_is_an_error_with_its_address():
    done = run("demo", "--otlp", "http://127.0.0.1:1")
    assert done.returncode == 1
    assert "could not be delivered to http://127.0.0.1:1" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--help"], 0, "Usage: otel-docsfab COMMAND"),
        (["--version"], 0, "otel-docsfab 0."),
        ([], 2, "Examples:"),
        (["dmo"], 2, "did you mean 'demo'?"),
        (["demo", "--nonsense"], 2, "--nonsense"),
        (["demo", "--otlp", "not an address"], 2, "is no address"),
        (["doctor", "--limits", "--limit", "execution.nothing=1"], 2, "execution.nothing"),
        (["demo", "--help"], 0, "Examples: otel-docsfab demo"),
    ],
)
def test_a_users_mistake_gets_a_sentence_and_an_exit_code(arguments, code, says, capsys):
    assert main(arguments) == code
    out, err = capsys.readouterr()
    assert says in out + err
    assert "Traceback" not in out + err
