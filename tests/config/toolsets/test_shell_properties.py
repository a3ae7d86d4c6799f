"""Any text is judged without an error, and nothing dangerous passes for a read; bash itself is the witness."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from otel_docsfab.config.toolsets import ShellMode, ToolsetSettings
from otel_docsfab.config.toolsets.shell import judge
from otel_docsfab.config.toolsets.shell.programs import BESIDE, READERS
from tests.config.toolsets.commands import NEUTRAL, READS, WRITES

_TOKENS = [
    *[
        "cat",
        "sed",
        "sort",
        "uniq",
        "find",
        "awk",
        "head",
        "grep",
        "ls",
        "tee",
        "touch",
        "cp",
        "echo",
        "cd",
        "xxd",
        "bash",
        "env",
    ],
    *[
        "a",
        "b",
        "sub",
        "out",
        "-n",
        "-i",
        "-o",
        "-c",
        "-e",
        "--",
        "-",
        "-delete",
        "-name",
        "-fprint",
        "-exec",
        "1p",
        "p",
        "w out",
    ],
    *[
        "'p'",
        "'w out'",
        '"p"',
        "'1p;w out'",
        "'s/x/y/w out'",
        "'{print}'",
        "'{print > \"out\"}'",
        "'cat a'",
        "'touch out'",
        "*",
        "?",
        "{a,b}",
    ],
    *[
        "|",
        "||",
        "&&",
        ";",
        "&",
        ">",
        ">>",
        "<",
        "2>",
        "2>&1",
        ">/dev/null",
        "2>/dev/null",
        "&>",
        "<<<",
        "<(",
        "$(",
        ")",
        "(",
        "{",
        "}",
    ],
    *[
        "!",
        "\n",
        "\\\n",
        "\\",
        " ",
        "  ",
        "\t",
        "'",
        '"',
        "`",
        "$",
        "$x",
        '"$x"',
        "${x}",
        "x=",
        "#",
        "# a",
        "=",
        "~",
        "\\;",
        "do",
        "done",
    ],
    *["for", "f", "in", "if", "then", "fi", "<<E\n", "\nE\n", "é", "\u00a0", "\r"],
]
_SOUP = st.lists(st.sampled_from(_TOKENS), min_size=1, max_size=9).flatmap(
    lambda tokens: st.sampled_from([" ".join(tokens), "".join(tokens)])
)
_MUTANT = st.builds(
    lambda command, at, token: command[: at % (len(command) + 1)] + token + command[at % (len(command) + 1) :],
    st.sampled_from([*READS, *WRITES]),
    st.integers(0, 200),
    st.sampled_from(_TOKENS),
)
_KNOWN = {
    *READERS,
    *BESIDE,
    "git",
    "find",
    "echo",
    "printf",
    "set",
    "test",
    "bash",
    "sh",
    "dash",
    "zsh",
    "timeout",
    "nice",
    "stdbuf",
    "env",
    "command",
}


@given(
    st.one_of(
        st.text(max_size=200),
        st.binary(max_size=80).map(lambda b: b.decode("utf-8", "surrogateescape")),
        _SOUP,
        _MUTANT,
    )
)
@settings(max_examples=600, deadline=None)
def test_any_text_is_judged(command):
    judged = judge(command)
    assert not (judged.reads and judged.writes)
    assert judged.reason


@given(
    st.from_regex(r"[a-z_][a-z0-9_.+-]{0,12}", fullmatch=True),
    st.sampled_from(READS),
    st.sampled_from(
        ["{0} x", "{1}; {0}", "{0} | {1}", "{1} | {0} -a", "{1} && {0} f", "cat $({0})", "({0} f)", "! {0}"]
    ),
)
@settings(max_examples=300, deadline=None)
def test_an_unknown_program_never_reads(program, command, shape):
    if program not in _KNOWN:
        base = command.partition(" #")[0].rstrip("; \n")
        assert not judge(shape.format(program, base)).reads


@given(
    st.sampled_from(READS),
    st.sampled_from([">", ">>", ">|", "&>", "&>>", "2>", "1>", "<>", "3>"]),
    st.from_regex(r"[a-z./][a-z0-9./]{0,8}", fullmatch=True),
)
@settings(max_examples=300, deadline=None)
def test_output_to_a_file_never_reads(command, operator, target):
    base = command.partition(" #")[0].rstrip("; \n")
    if target != "/dev/null":
        assert not judge(f"{base} {operator} {target}").reads


def _snapshot(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes() if path.is_file() else b"" for path in sorted(root.rglob("*"))
    }


@pytest.fixture(scope="module")
def place():
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not installed")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "sub").mkdir()
        for name in ("a", "b", "sub/a", "f"):
            (root / name).write_text("x 1\ny 2\n")
        # programs that a mistake would start leave a trace
        (root / "bin").mkdir()
        for name in ("cata", "catb", "p", "w", "x"):
            trap = root / "bin" / name
            trap.write_text('#!/bin/sh\ntouch "$TRACE"\n')
            trap.chmod(0o755)
        yield bash, root


def _run(bash: str, root: Path, command: str) -> None:
    environment = {"PATH": f"{os.environ['PATH']}:{root}/bin", "TRACE": f"{root}/trace", "x": "out", "HOME": str(root)}
    try:
        subprocess.run(
            [bash, "--norc", "-c", command],
            cwd=root,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=10,
            check=False,
        )
    except (subprocess.TimeoutExpired, ValueError):  # a NUL never gets to a shell
        return


@given(st.one_of(_SOUP, _MUTANT))
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_bash_changes_no_file_by_what_passes_for_a_read(place, command):
    if judge(command).reads:
        bash, root = place
        before = _snapshot(root)
        _run(bash, root, command)
        assert _snapshot(root) == before


@pytest.mark.parametrize("command", READS)
def test_bash_changes_no_file_by_the_table_of_reads(place, command):
    bash, root = place
    before = _snapshot(root)
    _run(bash, root, command)
    assert _snapshot(root) == before


_TOOLSETS = {
    name: ToolsetSettings(name, shell_rules=ShellMode.READS_AND_WRITES, working_directory="/w").build()
    for name in ("generic", "codex", "cline", "docsfab")
}
_ARGUMENTS = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20), st.sampled_from([*READS, *NEUTRAL])
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.text(max_size=8) | st.sampled_from(["command", "cmd", "cwd", "path", "files", "workdir"]),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=8,
)


@given(
    st.sampled_from(sorted(_TOOLSETS)),
    st.one_of(
        st.text(max_size=20),
        st.sampled_from(["bash", "shell", "Bash", "str_replace_editor", "execute_command", "read_file"]),
    ),
    st.one_of(_ARGUMENTS, st.text()),
)
@settings(max_examples=400, deadline=None)
def test_any_call_is_classed(name, tool, arguments):
    toolset = _TOOLSETS[name]
    once = toolset.classify(tool, arguments)
    assert repr(toolset.classify(tool, arguments)) == repr(once)
