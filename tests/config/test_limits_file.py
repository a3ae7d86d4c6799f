"""The host's limits file: what it may hold, and what happens when it cannot be read."""

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_docsfab import config
from otel_docsfab.config import sources
from otel_docsfab.core import LIMITS
from otel_docsfab.errors import LimitError
from tests.config import attempt

STREAK = "execution.readLoopRepeatStreak"
TAG = "host-limits-file-unreadable"


@pytest.fixture
def load(tmp_path):
    file = tmp_path / "service.env"

    def from_content(content: bytes | str):
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return config.load(environ={"DOCSFAB_SERVICE_ENV_FILE": str(file)})

    return from_content


@pytest.mark.parametrize(
    "content",
    [
        "execution.readLoopRepeatStreak=5",
        "DOCSFAB_EXECUTION_READ_LOOP_REPEAT_STREAK=5\n",
        "  DOCSFAB_EXECUTION_READ_LOOP_REPEAT_STREAK = 5  \n",
        "\ufeffexecution.readLoopRepeatStreak=5\n",
        "# limits\r\n\r\n#execution.readLoopRepeatStreak=4\r\nexecution.readLoopRepeatStreak=5\r\n",
        "execution.readLoopRepeatStreak=4\nDOCSFAB_EXECUTION_READ_LOOP_REPEAT_STREAK=5\n",
        "execution.readLoopRepeatStreak=005\n",
    ],
    ids=["dotted", "variable", "spaces", "bom", "crlf-and-comments", "twice", "zeros"],
)
def test_a_line_sets_a_limit(load, content):
    assert load(content).limits.repeat_streak == 5


def test_a_limit_set_twice_is_listed_with_both_lines(load, tmp_path):
    settings = load(f"{STREAK}=4\n{STREAK}=5\n")
    assert settings.ignored == ((STREAK, f"file {tmp_path / 'service.env'}:1", "set again on line 2"),)
    assert settings.limit_table()[STREAK].source.endswith(":2")


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (STREAK, "''"),
        (f"{STREAK}=", "''"),
        (f"{STREAK}=-1", "'-1'"),
        (f"{STREAK}=8.0", "'8.0'"),
        (f"{STREAK}=8 # eight", "'8 # eight'"),
        (f"{STREAK}=8_000", "'8_000'"),
        (f"{STREAK}=٣", "'٣'"),
        (f"{STREAK}=1{'0' * 400}", "'10000"),
        (f"{STREAK}=9007199254740992", "9007199254740992"),
        (f"{STREAK}=8=8", "'8=8'"),
        ("compositionExecution.timeoutMs=0", "0"),
    ],
)
def test_a_refused_value_names_file_and_line(load, tmp_path, line, shown):
    with pytest.raises(LimitError) as caught:
        load(f"# first\n{line}\n")
    assert f"= {shown}" in str(caught.value)
    assert f"(from file {tmp_path / 'service.env'}:2)" in str(caught.value)
    assert len(str(caught.value)) < 500


def test_unknown_keys_are_ignored_and_listed_without_what_they_hold(load):
    settings = load("API_KEY=hunter2\nhunter2\nexecution.toolCallCelling=3\n=hunter2\nK\x1b[31m\x07=1\n")
    assert settings.limits == config.load(environ={}).limits
    assert [(entry.key, entry.reason) for entry in settings.ignored] == [
        ("API_KEY", "no limit"),
        ("line 2", "no KEY=value line"),
        ("execution.toolCallCelling", "no limit; did you mean execution.toolCallCeiling?"),
        ("", "no limit"),
        (r"K\x1b[31m\x07", "no limit"),
    ]
    assert "hunter2" not in repr(settings)


def test_the_environment_lists_only_what_can_be_meant_as_a_limit():
    environ = {"DOCSFAB_EXECUTION_READ_LOOP_REPEAT": "x", "DOCSFAB_TOKEN": "secret", "DOCSFAB_RETRY_": "1", "PATH": "/"}
    assert [entry.key for entry in config.load(environ=environ).ignored] == [
        "DOCSFAB_EXECUTION_READ_LOOP_REPEAT",
        "DOCSFAB_RETRY_",
    ]


def _too_large(path):
    path.write_bytes(b"#" * (sources.MAX_FILE_BYTES + 1))


def _binary(path):
    path.write_bytes(b"\x7fELF\x00\xff\xfe" + bytes(range(256)))


def _utf16(path):
    path.write_text(f"{STREAK}=5\n", encoding="utf-16")


UNREADABLE = {
    "missing": lambda _: None,
    "directory": lambda path: path.mkdir(),
    "pipe": os.mkfifo,
    "loop": lambda path: path.symlink_to(path),
    "device": lambda path: path.symlink_to("/dev/zero"),
    "too-large": _too_large,
    "binary": _binary,
    "utf-16": _utf16,
}


@pytest.mark.parametrize("make", UNREADABLE.values(), ids=UNREADABLE)
def test_an_unreadable_file_is_skipped_with_one_line_on_stderr(tmp_path, capfd, make):
    path = tmp_path / "limits"
    make(path)
    settings = config.load(environ={"DOCSFAB_SERVICE_ENV_FILE": str(path), config.variable(STREAK): "3"})
    out, err = capfd.readouterr()
    assert settings.limits.repeat_streak == 3
    assert out == ""
    assert err.count("\n") == 1
    assert TAG in err
    assert str(path) in err
    assert settings.ignored[0].reason.startswith("unreadable")


@pytest.mark.parametrize("path", ["a\x00b", "no\nsuch\x1b[31m", "x" * 5_000, "\udcff"])
def test_a_path_that_cannot_be_one_makes_one_harmless_line(capfd, path):
    config.load(environ={"DOCSFAB_SERVICE_ENV_FILE": path})
    err = capfd.readouterr().err
    assert err.count("\n") == 1
    assert "\x1b" not in err
    assert TAG in err


def test_a_missing_default_file_is_simply_absent(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(sources, "DEFAULT_LIMITS_FILE", str(tmp_path / "service.env"))
    assert config.load(environ={"DOCSFAB_SERVICE_ENV_FILE": ""}).ignored == ()
    (tmp_path / "service.env").write_text(f"{STREAK}=2")
    assert config.load(environ={}).limits.repeat_streak == 2
    (tmp_path / "service.env").write_bytes(b"\xff")
    assert config.load(environ={}).limits.repeat_streak == 8
    assert capfd.readouterr().err.count(TAG) == 1


def test_a_host_without_stderr_is_not_hurt():
    program = (
        "import os, sys; from otel_docsfab import config\n"
        "environ = {'DOCSFAB_SERVICE_ENV_FILE': '/nowhere/at/all'}\n"
        "os.close(2); config.load(environ=environ)\n"
        "sys.stderr = None; print(config.load(environ=environ).limits.repeat_streak)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("8\n", 0)


def test_importing_reads_no_file_starts_no_thread_and_needs_no_pydantic(tmp_path):
    watcher = (
        "import sys, threading\nopened = []\n"
        "sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == 'open' else None)\n"
        "import otel_docsfab.config\n"
        "print([path for path in opened if not path.endswith(('.py', '.pyc', '.so')) and '__pycache__' not in path])\n"
        "print(threading.active_count(), 'pydantic' in sys.modules)\n"
    )
    environ = {**os.environ, "DOCSFAB_SERVICE_ENV_FILE": str(tmp_path), "OTEL_DOCSFAB_SETTINGS": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", watcher], capture_output=True, text=True, check=True, env=environ, cwd=tmp_path
    )
    assert done.stdout == "[]\n1 False\n"
    assert done.stderr == ""


NAMES = [spec.name for spec in LIMITS] + [config.variable(spec.name) for spec in LIMITS]
LINES = st.one_of(
    st.text(max_size=40),
    st.tuples(st.sampled_from(NAMES), st.sampled_from(["=", " = ", "", ":"]), st.text(max_size=12)).map("".join),
    st.tuples(st.sampled_from(NAMES), st.just("="), st.integers(-2, 20_000).map(str)).map("".join),
)


@given(st.lists(LINES, max_size=12).map("\n".join))
def test_fuzz_any_text_gives_limits_or_one_clear_error(text):
    reading, refused = attempt(sources.parse_limits, text, "x.env")
    if refused:
        assert refused.source.startswith("file x.env:")
        line = text.split("\n")[int(refused.source.rpartition(":")[2]) - 1]
        assert config.find_limit(line.partition("=")[0].strip()).name == refused.name
        assert str(refused).isprintable()
        return
    for name, setting in reading.values.items():
        spec = config.find_limit(name)
        assert spec.minimum <= setting.value <= spec.maximum
    assert all(entry.key.isprintable() and len(entry.key) <= 100 for entry in reading.ignored)


@given(st.binary(max_size=200))
def test_fuzz_any_bytes_never_raise_anything_but_a_limit_error(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "fuzz.env"
    path.write_bytes(content)
    settings, refused = attempt(config.load, environ={"DOCSFAB_SERVICE_ENV_FILE": str(path)})
    assert refused or settings.resolve().step.id is None
