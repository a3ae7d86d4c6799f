"""The settings file: shapes, errors with key, file and line, and its published schema."""

import json
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_docsfab import config
from otel_docsfab.config import schema
from otel_docsfab.config.json_schemas import toolset_schema
from otel_docsfab.config.settings_file import Places, parse_document
from otel_docsfab.config.toml_lines import key_lines
from otel_docsfab.config.toolsets import ShellMode
from otel_docsfab.config.toolsets import settings as toolset_settings
from otel_docsfab.core import LIMITS, AnswerPath, StepKind
from otel_docsfab.errors import ConfigError, LimitError
from tests.config import attempt

PUBLISHED = Path(__file__).parents[2] / "docs" / "schemas" / "settings.schema.json"
VALIDATOR = jsonschema.Draft202012Validator(schema.json_schema())

WHOLE = """\
mode = "enforce"
toolset = "docsfab"

[limits]
execution.readLoopRepeatStreak = 5
"execution.toolCallCeiling" = 6

[limits.compositionExecution.answerPlan]
myStepTokens = 77

[steps.review-documentation]
answerTokens = 9000
answerPath = "tool-call"

[steps.my-step]
kind = "read-only"
judgment = true
mode = "observe"
toolset = "docsfab"
limits.execution.readLoopWithheldReads = 0

[agents."the scout"]
mode = "off"
limits = { retry.maxNoProgressRetries = 3 }

[caps]
maxLiveAttempts = 10
"""


@pytest.fixture
def load(tmp_path):
    file = tmp_path / "docsfab.toml"

    def from_content(content):
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return config.load(settings_file=file, environ={})

    return from_content


def test_everything_that_a_settings_file_can_say(load):
    settings = load(WHOLE)
    assert (settings.mode, settings.caps.max_live_attempts) == ("enforce", 10)
    assert (settings.limits.repeat_streak, settings.limits.tool_call_ceiling) == (5, 6)
    assert settings.limits.answer_tokens == {
        "reviewDocumentation": 9000,
        "evaluateDocumentQuality": 15_000,
        "myStep": 77,
    }
    assert settings.resolve("review-documentation").step.answer_path is AnswerPath.TOOL_CALL
    mine = settings.resolve("my-step", "the scout")
    assert (mine.step.kind, mine.step.judgment) == (StepKind.READ_ONLY, True)
    assert (mine.mode, mine.limits.withheld_reads, mine.limits.max_no_progress_retries) == ("observe", 0, 3)
    assert settings.resolve(None, "the scout").mode == "off"


def test_every_value_keeps_its_line(load, tmp_path):
    table = load(WHOLE).resolve("my-step", "the scout").table
    lines = {name: setting.source.rpartition(":")[2] for name, setting in table.items() if setting.source != "default"}
    assert lines == {
        "execution.readLoopRepeatStreak": "5",
        "execution.toolCallCeiling": "6",
        "compositionExecution.answerPlan.myStepTokens": "9",
        "compositionExecution.answerPlan.reviewDocumentationTokens": "12",
        "execution.readLoopWithheldReads": "20",
        "retry.maxNoProgressRetries": f"settings {tmp_path / 'docsfab.toml'}",  # in an inline table
    }


@pytest.mark.parametrize("content", ["", "\ufeffmode = 'observe'", "mode = 'observe'\r\n[limits]\r\n", "# nothing\n"])
def test_small_files_are_fine(load, content):
    assert load(content).mode == "observe"


@pytest.mark.parametrize(
    ("content", "line", "limit", "shown"),
    [
        ("[limits]\nexecution.readLoopRepeatStreak = -1", 2, "execution.readLoopRepeatStreak", "-1"),
        ("[limits.execution]\n\nreadLoopRepeatStreak = 8.0", 3, "execution.readLoopRepeatStreak", "8.0"),
        ("[limits.execution]\nreadLoopRepeatStreak = true", 2, "execution.readLoopRepeatStreak", "True"),
        ("[limits.execution]\nreadLoopRepeatStreak = '8'", 2, "execution.readLoopRepeatStreak", "'8'"),
        ("[limits.execution]\nreadLoopRepeatStreak = nan", 2, "execution.readLoopRepeatStreak", "nan"),
        ("[limits.execution]\nreadLoopRepeatStreak = [\n 8 ]", 2, "execution.readLoopRepeatStreak", "[8]"),
        ("[limits.execution]\nreadLoopRepeatStreak = 2000-01-01", 2, "execution.readLoopRepeatStreak", "datetime"),
        (f"[limits.execution]\nreadLoopRepeatStreak = 1{'0' * 400}", 2, "execution.readLoopRepeatStreak", "1000"),
        ("[steps.x.limits.execution]\ntoolCallCeiling = 0", 2, "execution.toolCallCeiling", "0"),
        ("[agents.x.limits]\nexecution.toolCallCeiling = 0", 2, "execution.toolCallCeiling", "0"),
        ("[steps.my-step]\nanswerTokens = 0", 2, "compositionExecution.answerPlan.myStepTokens", "0"),
        ("[steps.my-step]\nanswerTokens = 1.5", 2, "compositionExecution.answerPlan.myStepTokens", "1.5"),
    ],
)
def test_a_refused_limit_names_limit_value_line_and_range(load, tmp_path, content, line, limit, shown):
    with pytest.raises(LimitError) as caught:
        load(content)
    assert caught.value.name == limit
    assert f"{limit} = {shown}" in str(caught.value)
    assert f"settings {tmp_path / 'docsfab.toml'}:{line}" in str(caught.value)
    assert "a whole number of at least" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("mod = 'off'", r":1: unknown key mod; did you mean mode\?"),
        ("[step.x]", r":1: unknown key step; did you mean steps\?"),
        ("[steps.x]\nanswertokens = 5", r":2: unknown key steps\.x\.answertokens; did you mean answerTokens\?"),
        ("[steps.x]\nanswer_tokens = 5", r":2: unknown key steps\.x\.answer_tokens"),
        ("[agents.x]\nkind = 'write'", r":2: unknown key agents\.x\.kind.*Known: mode, toolset, limits"),
        ("[caps]\nmaxLive = 5", r":2: unknown key caps\.maxLive"),
        ("[limits]\nexecution.readLoopRepeatStreek = 5", r":2: .* did you mean execution\.readLoopRepeatStreak"),
        ('[limits]\n"execution".x.y = 5', r":2: 'execution\.x\.y' names no limit"),
        ("[limits]\nDOCSFAB_EXECUTION_READ_LOOP_REPEAT_STREAK = 5", ":2: .* names no limit"),
        ('[limits.compositionExecution]\n"answerPlan.defaultTokens" = 5', ":2: .* names no limit"),
        ("[limits.execution.readLoopRepeatStreak]", r"readLoopRepeatStreak = \{\} \(from .*:1\)"),
        ("[limits.execution.other]", r":1: 'execution\.other' names no limit"),
        ("limits = 5", r"limits = 5 \(from .*:1\)"),
        ("mode = 'enforced'", r"mode = 'enforced' \(from .*:1\).*'off', 'observe' or 'enforce'"),
        ("mode = 1", r"mode = 1 \(from .*:1\)"),
        ("toolset = ''", r"toolset\.profile = '' \(from .*:1\)"),
        ("toolset = 'nowhere'", r"\(from settings .*:1\) = 'nowhere' is unknown"),
        ("[steps.x]\ntoolset = 'nowhere'", r"\(from settings .*:2\) = 'nowhere' is unknown"),
        ("[steps.x]\nkind = 'reed-only'", r"steps\.x\.kind = 'reed-only' \(from .*:2\)"),
        ("[steps.x]\njudgment = 1", r"steps\.x\.judgment = 1 \(from .*:2\)"),
        ("[steps.'']\n", "steps.*refused"),
        ("steps = []", r"steps = \[\] \(from .*:1\)"),
        ("[caps]\nmaxIdleMs = 0", r"caps\.maxIdleMs = 0 \(from .*:2\)"),
        (
            '[limits.execution]\ntoolCallCeiling = 1\n[limits]\n"execution.toolCallCeiling" = 2',
            "set twice: .*:2 and .*:4",
        ),
        (
            "[steps.my-step]\nanswerTokens = 5\n[limits.compositionExecution.answerPlan]\nmyStepTokens = 6",
            "myStepTokens is set twice: .*:4 and .*:2",
        ),
        ("mode = 'off'\nmode = 'off'", "cannot be used: Cannot overwrite a value"),
        ("mode", "cannot be used"),
        ("[[[[", "cannot be used"),
        ("x = " + "[" * 5_000, "cannot be used"),
        (f"x = 1{'0' * 5_000}", "cannot be used"),
        (b"\xff\xfe", "cannot be used"),
        (b"\x00", "cannot be used"),
        (b"#" * 1_048_577, "cannot be used: larger than 1048576 bytes"),
        ("limits." + ".".join("a" * 2_000) + " = 1", "names no limit"),
    ],
)
def test_a_mistake_names_key_place_and_what_would_do(load, content, says):
    with pytest.raises(ConfigError, match=says) as caught:
        load(content)
    assert "docsfab.toml" in str(caught.value)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize("path", ["missing.toml", ".", "a\x00b", "x" * 5_000])
def test_a_settings_file_that_was_named_must_be_readable(tmp_path, path):
    with pytest.raises(ConfigError, match=r"settings file .* cannot be used"):
        config.load(settings_file=tmp_path / path, environ={})
    with pytest.raises(ConfigError, match=r"settings file .* cannot be used"):
        config.load(environ={"OTEL_DOCSFAB_SETTINGS": str(tmp_path / path)})


def test_a_settings_file_given_in_code_wins_over_the_variable(load, tmp_path):
    (tmp_path / "other.toml").write_text("mode = 'enforce'")
    environ = {"OTEL_DOCSFAB_SETTINGS": str(tmp_path / "other.toml")}
    (tmp_path / "mine.toml").write_text("mode = 'off'")
    assert config.load(environ=environ).mode == "enforce"
    assert config.load(settings_file=tmp_path / "mine.toml", environ=environ).mode == "off"


def test_lines_of_keys():
    text = 'a = 1\nb.c = [\n 2,\n]\n[t]\n"d.e" = """\nfake\n"""\n[[u]]\nx = 1\nbroken\n'
    assert key_lines(text) == {
        ("a",): 1,
        ("b",): 2,
        ("b", "c"): 2,
        ("t",): 5,
        ("t", "d.e"): 6,
        ("u",): 9,
        ("u", "x"): 10,
    }


def test_a_toolset_may_be_a_table_of_rules(load):
    settings = load(
        "[toolset]\nprofile = 'generic'\n[[toolset.rules]]\ntools = ['kb_*']\nclass = 'read'\n"
        "[agents.scout.toolset]\nrules = [{ tools = 'notes', class = 'read', when = { action = 'get' } }]\n"
    )
    scout = settings.resolve(None, "scout").toolset
    assert settings.toolset.classify("kb_search", {}).tool_class == "read"
    assert scout.classify("kb_search", {}).tool_class == "neutral"
    assert scout.classify("notes", {"action": "get"}).tool_class == "read"


TOOLSETS = [
    ("generic", True),
    ({}, True),
    ({"profile": "claude-code", "shellRules": "reads", "prefixes": "mcp__*", "workingDirectory": "/srv"}, True),
    ({"rules": [{"tools": ["a*", "b"], "class": "read", "when": {"x": [1, "y", True]}, "ignore": ["z"]}]}, True),
    ("", False),
    (3, False),
    ({"profil": "generic"}, False),
    ({"profile": ""}, False),
    ({"shellRules": "yes"}, False),
    ({"rules": {}}, False),
    ({"rules": [{"tools": "a"}]}, False),
    ({"rules": [{"class": "read"}]}, False),
    ({"rules": [{"tools": [], "class": "read"}]}, False),
    ({"rules": [{"tools": "a", "class": "reads"}]}, False),
    ({"rules": [{"tools": "a", "class": "read", "when": {"x": []}}]}, False),
    ({"rules": [{"tools": "a", "class": "read", "unless": {"x": {}}}]}, False),
    ({"rules": [{"tools": "a", "class": "read", "other": 1}]}, False),
    ({"prefixes": [1]}, False),
]


@pytest.mark.parametrize(("toolset", "good"), TOOLSETS)
def test_the_schema_and_the_loader_accept_the_same_toolsets(toolset, good):
    document = {"toolset": toolset}
    _, refused = attempt(config.load, toolset=toolset, environ={}) if toolset != 3 else (None, "no toolset")
    _, in_step = attempt(config.load, steps={"s": document}, environ={}) if toolset != 3 else (None, "no toolset")
    assert (VALIDATOR.is_valid(document), VALIDATOR.is_valid({"steps": {"s": document}})) == (good, good)
    assert (refused is None, in_step is None) == (good, good)


def test_the_schema_of_a_toolset_has_the_keys_that_the_loader_knows():
    table = toolset_schema()["anyOf"][1]["properties"]
    rule = table["rules"]["items"]["properties"]
    assert set(table) == set(toolset_settings._KEYS)
    assert set(rule) == set(toolset_settings._RULE_KEYS)
    assert set(rule["class"]["enum"]) == set(toolset_settings._CLASSES)
    assert set(table["shellRules"]["enum"]) == set(ShellMode)


# The schema


def test_the_published_schema_is_the_one_of_the_models():
    assert PUBLISHED.read_text(encoding="utf-8") == schema.schema_text()


def test_the_schema_command_writes_and_checks(tmp_path):
    target = tmp_path / "new" / "schema.json"

    assert schema.main(["--check", str(target)]) == 1
    assert schema.main([str(target)]) == 0
    assert schema.main(["--check", str(target)]) == 0
    target.write_text("{}")
    command = [sys.executable, "-m", "otel_docsfab.config.schema", "--check", str(target)]
    stale = subprocess.run(command, capture_output=True, text=True, check=False)
    assert stale.returncode == 1
    assert "is stale: run python -m otel_docsfab.config.schema" in stale.stderr


def test_the_schema_is_a_valid_one_and_names_every_limit_and_cap():
    document = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(document)
    limits = document["properties"]["limits"]["properties"]
    for spec in LIMITS:
        cell = limits[spec.name]
        assert (cell["default"], cell["minimum"], cell["maximum"]) == (spec.default, spec.minimum, spec.maximum)
    caps = document["$defs"]["CapsModel"]["properties"]
    assert {cap["default"] for cap in caps.values()} == {cap.default for cap in fields(config.Caps)}
    assert len(caps) == len(fields(config.Caps))


NUMBERS = st.one_of(st.integers(-1, 3), st.integers(9_999, 10_001), st.sampled_from([2**53 - 1, 2**53, 10**400]))
ODD = st.one_of(
    NUMBERS, st.text(max_size=3), st.booleans(), st.just([]), st.just({}), st.floats().filter(lambda x: x % 1)
)
LIMIT_TREE = st.fixed_dictionaries(
    {},
    optional={
        "execution": st.dictionaries(
            st.sampled_from(["readLoopRepeatStreak", "toolCallCeiling", "readLoop"]), ODD, max_size=2
        ),
        "retry.maxNoProgressRetries": ODD,
        "compositionExecution": st.fixed_dictionaries(
            {},
            optional={
                "answerNowElapsedShareBasisPoints": NUMBERS,
                "answerPlan": st.dictionaries(
                    st.sampled_from(["defaultTokens", "fooBarTokens", "FooTokens", "foo", "2xTokens"]),
                    NUMBERS,
                    max_size=2,
                ),
            },
        ),
        "other": ODD,
    },
)
MODES = st.sampled_from(["off", "observe", "enforce", "OFF", "", 1])
SCOPE = {"mode": MODES, "toolset": st.sampled_from(["docsfab", "", 3]), "limits": LIMIT_TREE, "unknown": ODD}
STEP = SCOPE | {
    "kind": st.sampled_from(["read-only", "write", "x", 0]),
    "judgment": st.sampled_from([True, False, 1]),
    "answerPath": st.sampled_from(["tool-call", "text-final", "x"]),
    "answerTokens": NUMBERS,
    "answer_tokens": NUMBERS,
}


def _some(cells):
    """A table of few of these cells, so that a good share of documents is valid."""
    return st.sets(st.sampled_from(sorted(cells)), max_size=2).flatmap(
        lambda keys: st.fixed_dictionaries({key: cells[key] for key in keys})
    )


DOCUMENTS = _some(
    SCOPE
    | {
        "steps": st.dictionaries(st.sampled_from(["my-step", "", "2nd"]), _some(STEP), max_size=2),
        "agents": st.dictionaries(st.sampled_from(["scout", ""]), _some(SCOPE), max_size=2),
        "caps": _some({"maxIdleMs": ODD, "maxLiveAttempts": NUMBERS, "max": NUMBERS}),
    }
)


@given(DOCUMENTS)
def test_fuzz_the_schema_and_the_loader_accept_the_same_documents(document):
    valid = VALIDATOR.is_valid(document)
    _, refused = attempt(parse_document, document, Places("code", {}))
    assert valid == (refused is None), refused or list(VALIDATOR.iter_errors(document))


@given(
    st.integers(0, len(WHOLE)),
    st.integers(0, 30),
    st.one_of(st.text(max_size=10), st.sampled_from(["\n", "=", "[", "]", "'", '"', "1e400", "\x00", "0", "-", "."])),
)
def test_fuzz_a_damaged_file_loads_or_fails_with_a_clear_error(tmp_path_factory, start, cut, put):
    file = tmp_path_factory.getbasetemp() / "fuzz.toml"
    file.write_bytes((WHOLE[:start] + put + WHOLE[start + cut :]).encode("utf-8", "surrogatepass"))
    settings, refused = attempt(config.load, settings_file=file, environ={})
    if refused:
        assert "fuzz.toml" in str(refused)
        assert str(refused).isprintable()
        return
    for step in settings.steps:
        assert settings.resolve(step, "the scout").limits.timeout_ms > 0


@given(st.text(max_size=200))
def test_fuzz_lines_of_any_text(text):
    assert all(1 <= line <= text.count("\n") + 1 for line in key_lines(text).values())
