"""A shell command is a read only when it surely only reads."""

from __future__ import annotations

import pytest

from otel_docsfab.config.toolsets.shell import judge
from tests.config.toolsets.commands import NEUTRAL, READS, WRITES


def test_the_tables_are_as_long_as_promised():
    assert len(READS) + len(WRITES) >= 150
    assert len(NEUTRAL) >= 250
    every = READS + WRITES + NEUTRAL
    assert len(set(every)) == len(every)


@pytest.mark.parametrize("command", READS)
def test_surely_reading(command):
    judged = judge(command)
    assert judged.reads, judged.reason
    assert not judged.writes


@pytest.mark.parametrize("command", WRITES)
def test_surely_writing(command):
    judged = judge(command)
    assert judged.writes, judged.reason
    assert not judged.reads


@pytest.mark.parametrize("command", NEUTRAL)
def test_neither_for_sure(command):
    judged = judge(command)
    assert not judged.reads
    assert not judged.writes, judged.reason
    assert judged.reason


@pytest.mark.parametrize(
    "tail", ["> out", ">> out", ">| out", "&> out", "2> out", "<> out", "& rm f", "; rm f", "| sh", "$(rm f)"]
)
def test_no_read_stays_one_with_a_dangerous_tail(tail):
    bases = [command.partition(" #")[0].rstrip("; \n") for command in READS]
    passed = [base for base in bases if judge(f"{base} {tail}").reads]
    assert passed == []


@pytest.mark.parametrize("command", READS)
def test_a_nested_shell_reads_what_its_script_reads(command):
    if "'" not in command:
        assert judge(f"bash -c '{command}'").reads


def test_deep_nesting_and_length_are_neutral():
    assert not judge("(" * 500 + "cat f" + ")" * 500).reads
    assert not judge("cat " + "$(cat " * 300 + "f" + ")" * 300).reads
    assert not judge("cat " + "f " * 20_000).reads
    assert not judge("! " * 3000 + "cat f").reads
    assert not judge(" && ".join(["cat f"] * 2000)).reads
    assert judge(" && ".join(["cat f"] * 12)).reads


def test_reasons_say_what_stood_in_the_way():
    assert judge("cat a > b").reason == "output to a file"
    assert judge("git diff").reason == "git diff polls work in progress"
    assert judge("date").reason == "date tells of the moment"
    assert judge("cat f 2>err").reason == "a redirection to a file"
    assert judge("sort -o f f").reason == "option -o is not known to read only"
