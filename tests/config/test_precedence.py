"""Who wins: default < limits file < settings file < environment < code, for every limit."""

import itertools

import pytest

from otel_docsfab import config
from otel_docsfab.core import LIMITS, Limits, Step, StepKind
from otel_docsfab.errors import ConfigError, LimitError

SOURCES = ("file", "settings", "environment", "code")
STREAK = "execution.readLoopRepeatStreak"
VARIABLES = {
    "execution.readLoopRepeatStreak": "DOCSFAB_EXECUTION_READ_LOOP_REPEAT_STREAK",
    "execution.readLoopUnchangedReReads": "DOCSFAB_EXECUTION_READ_LOOP_UNCHANGED_RE_READS",
    "execution.readLoopWithheldReads": "DOCSFAB_EXECUTION_READ_LOOP_WITHHELD_READS",
    "execution.toolCallCeiling": "DOCSFAB_EXECUTION_TOOL_CALL_CEILING",
    "retry.maxNoProgressRetries": "DOCSFAB_RETRY_MAX_NO_PROGRESS_RETRIES",
    "compositionExecution.timeoutMs": "DOCSFAB_COMPOSITION_EXECUTION_TIMEOUT_MS",
    "compositionExecution.maxOutputTokens": "DOCSFAB_COMPOSITION_EXECUTION_MAX_OUTPUT_TOKENS",
    "compositionExecution.answerPlan.defaultTokens": "DOCSFAB_COMPOSITION_EXECUTION_ANSWER_PLAN_DEFAULT_TOKENS",
    "compositionExecution.answerPlan.reviewDocumentationTokens": (
        "DOCSFAB_COMPOSITION_EXECUTION_ANSWER_PLAN_REVIEW_DOCUMENTATION_TOKENS"
    ),
    "compositionExecution.answerPlan.evaluateDocumentQualityTokens": (
        "DOCSFAB_COMPOSITION_EXECUTION_ANSWER_PLAN_EVALUATE_DOCUMENT_QUALITY_TOKENS"
    ),
    "compositionExecution.answerNowDecodeTokensPerSecond": (
        "DOCSFAB_COMPOSITION_EXECUTION_ANSWER_NOW_DECODE_TOKENS_PER_SECOND"
    ),
    "compositionExecution.answerNowTurnLatencyMs": "DOCSFAB_COMPOSITION_EXECUTION_ANSWER_NOW_TURN_LATENCY_MS",
    "compositionExecution.answerNowElapsedShareBasisPoints": (
        "DOCSFAB_COMPOSITION_EXECUTION_ANSWER_NOW_ELAPSED_SHARE_BASIS_POINTS"
    ),
}
MY_STEP = "compositionExecution.answerPlan.myOwnStep2Tokens"
MY_STEP_VARIABLE = "DOCSFAB_COMPOSITION_EXECUTION_ANSWER_PLAN_MY_OWN_STEP2_TOKENS"


@pytest.fixture
def sources(tmp_path):
    """Loads with some of the sources; each sets the limit to a value of its own."""

    def load(name, given, values):
        limits, settings = tmp_path / "service.env", tmp_path / "settings.toml"
        limits.write_text(f"{name}={values['file']}\n" if "file" in given else "")
        settings.write_text(f"[limits]\n{name} = {values['settings']}\n" if "settings" in given else "")
        environ = {"DOCSFAB_SERVICE_ENV_FILE": str(limits), "OTEL_DOCSFAB_SETTINGS": str(settings)}
        if "environment" in given:
            environ[config.variable(name)] = str(values["environment"])
        return config.load(limits={name: values["code"]} if "code" in given else None, environ=environ)

    return load


def test_every_limit_has_the_variable_of_the_rule():
    assert {spec.name: config.variable(spec.name) for spec in LIMITS} == VARIABLES


@pytest.mark.parametrize("name", [*VARIABLES, MY_STEP])
def test_a_variable_and_a_dotted_name_find_the_same_limit(name):
    assert config.find_limit(config.variable(name)) == config.find_limit(name)
    assert config.find_limit(name).name == name


@pytest.mark.parametrize("name", [*VARIABLES, MY_STEP])
@pytest.mark.parametrize(
    "given", [given for size in range(5) for given in itertools.combinations(SOURCES, size)], ids="+".join
)
def test_the_source_of_highest_rank_sets_a_limit(sources, tmp_path, name, given):
    values = {source: 101 + number for number, source in enumerate(SOURCES)}

    table = sources(name, given, values).limit_table()

    names = {
        "file": f"file {tmp_path / 'service.env'}:1",
        "settings": f"settings {tmp_path / 'settings.toml'}:2",
        "environment": f"environment {config.variable(name)}",
        "code": "code",
    }
    if given:
        assert table[name] == (values[given[-1]], names[given[-1]])
    elif name == MY_STEP:
        assert name not in table
    else:
        assert table[name] == (config.find_limit(name).default, "default")


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(("name", "value"), [(STREAK, -1), ("compositionExecution.timeoutMs", 0), (MY_STEP, 0)])
def test_a_refused_value_names_limit_value_source_and_range(sources, tmp_path, source, name, value):
    with pytest.raises(LimitError) as caught:
        sources(name, (source,), {source: value})

    places = {"file": "service.env:1", "settings": "settings.toml:2", "environment": config.variable(name)}
    message = str(caught.value)
    assert name in message
    assert str(value) in message
    assert places.get(source, "code") in message
    assert f"at least {config.find_limit(name).minimum} {config.find_limit(name).unit}" in message


def test_a_bad_value_is_refused_though_a_higher_source_sets_the_limit(sources):
    with pytest.raises(LimitError, match=r"service\.env:1"):
        sources(STREAK, ("file", "code"), {"file": "many", "code": 3})


@pytest.mark.parametrize(
    "text",
    ["", " ", "8.0", "8.", "1e3", "+8", "-8", "8_000", "0x10", "٨", "\uff18", "²", "8 8", '"8"', "1" + "0" * 400],
)
def test_text_that_is_no_whole_number_is_refused(text):
    with pytest.raises(LimitError, match=STREAK.replace(".", r"\.")):
        config.load(environ={config.variable(STREAK): text})


def test_the_share_ends_at_ten_thousand_basis_points():
    share = "compositionExecution.answerNowElapsedShareBasisPoints"
    assert config.load(limits={share: 10_000}, environ={}).limits.elapsed_share_bp == 10_000
    with pytest.raises(LimitError, match="from 0 to 10000 basis points"):
        config.load(limits={share: 10_001}, environ={})


def test_a_whole_limits_object_lets_nothing_below_show_through():
    given = Limits(repeat_streak=3, answer_tokens={"planDocumentation": 7})
    settings = config.load(limits=given, environ={config.variable("execution.toolCallCeiling"): "5"})
    assert settings.limits == given
    assert settings.limit_table()["execution.toolCallCeiling"] == (512, "code")


def test_a_name_that_is_no_limit_is_an_error_in_code_with_the_nearest_one():
    with pytest.raises(ConfigError, match=r"did you mean execution\.readLoopRepeatStreak"):
        config.load(limits={"execution.readLoopRepeatStrike": 3}, environ={})


def test_r20_the_tokens_of_a_step_are_its_answer_plan_from_every_source(tmp_path):
    file = tmp_path / "settings.toml"
    file.write_text("[steps.my-own-step2]\nkind = 'read-only'\nanswerTokens = 11\n")
    name = "compositionExecution.answerPlan.myOwnStep2Tokens"
    low = config.load(settings_file=file, environ={})
    high = config.load(settings_file=file, environ={MY_STEP_VARIABLE: "12"})
    top = config.load(
        settings_file=file, environ={MY_STEP_VARIABLE: "12"}, steps={"my-own-step2": {"answerTokens": 13}}
    )
    assert [s.resolve("my-own-step2").limits.planned_tokens("my-own-step2") for s in (low, high, top)] == [11, 12, 13]
    assert low.limit_table()[name].source == f"settings {file}:3"
    assert top.limit_table()[name].source == "code"


def test_a_step_whose_id_makes_no_limit_name_keeps_its_own_plan():
    step = config.load(environ={}, steps={"2nd review": {"answerTokens": 13}}).resolve("2nd review").step
    assert step.answer_tokens == 13


def test_the_toolset_of_the_environment_wins_over_the_file_and_loses_to_code(tmp_path):
    file = tmp_path / "settings.toml"
    file.write_text("toolset = 'docsfab'\n")
    mine = _Mine()
    with pytest.raises(ConfigError, match=r"\(from environment OTEL_DOCSFAB_TOOLSET\) = 'nowhere' is unknown"):
        config.load(settings_file=file, environ={"OTEL_DOCSFAB_TOOLSET": "nowhere"})
    assert config.load(settings_file=file, environ={}).toolset is config.toolset_by_name("docsfab")
    assert config.load(settings_file=file, environ={"OTEL_DOCSFAB_TOOLSET": "docsfab"}, toolset=mine).toolset is mine


class _Mine:
    def classify(self, tool, arguments=None):
        raise NotImplementedError


# Modes


@pytest.mark.parametrize(
    ("environment", "file", "code", "holds"),
    [
        (None, None, None, "observe"),
        (None, "enforce", None, "enforce"),
        (None, "enforce", "observe", "observe"),
        (None, "off", "enforce", "enforce"),
        ("", "enforce", None, "enforce"),
        ("enforce", None, None, "enforce"),
        ("enforce", "observe", None, "enforce"),
        ("enforce", None, "observe", "observe"),
        ("observe", "enforce", "enforce", "observe"),
        ("observe", None, "off", "off"),
        ("off", "enforce", "enforce", "off"),
        (" OFF ", "enforce", "enforce", "off"),
    ],
)
def test_the_mode_of_the_environment_is_source_and_ceiling(tmp_path, environment, file, code, holds):
    settings = tmp_path / "settings.toml"
    settings.write_text(f"mode = '{file}'\n" if file else "")
    environ = {} if environment is None else {"OTEL_DOCSFAB_MODE": environment}
    assert config.load(mode=code, settings_file=settings, environ=environ).mode == holds


def test_the_kill_switch_reaches_every_step_and_agent():
    steps, agents = {"s": {"mode": "enforce"}}, {"a": {"mode": "enforce"}}
    loud = config.load(environ={}, steps=steps, agents=agents)
    quiet = config.load(environ={"OTEL_DOCSFAB_MODE": "off"}, steps=steps, agents=agents)
    assert (loud.resolve("s").mode, loud.resolve(None, "a").mode, loud.resolve().mode) == (
        "enforce",
        "enforce",
        "observe",
    )
    assert {quiet.resolve(step, agent).mode for step in ("s", None) for agent in ("a", None)} == {"off"}
    assert (loud.strongest_mode, quiet.strongest_mode) == ("enforce", "off")


def test_a_default_mode_is_what_holds_when_nobody_says_any(tmp_path):
    file = tmp_path / "settings.toml"
    file.write_text("mode = 'observe'\n")
    assert config.load(default_mode=config.Mode.ENFORCE, environ={}).mode == "enforce"
    assert config.load(default_mode=config.Mode.ENFORCE, settings_file=file, environ={}).mode == "observe"


@pytest.mark.parametrize("mode", ["of", "on", "", "observe;enforce"])
def test_a_mode_that_is_none_is_refused_with_its_source(mode):
    with pytest.raises(ConfigError, match=r"\(from code\) is refused: give off, observe, enforce"):
        config.load(mode=mode, environ={})
    if mode:
        with pytest.raises(ConfigError, match=r"\(from environment OTEL_DOCSFAB_MODE\)"):
            config.load(environ={"OTEL_DOCSFAB_MODE": mode})


# Scopes


def test_code_wins_then_the_narrower_scope_then_the_source(tmp_path):
    file = tmp_path / "settings.toml"
    file.write_text(
        "[limits.execution]\nreadLoopRepeatStreak = 1\n"
        "[agents.scout.limits.execution]\nreadLoopRepeatStreak = 3\n"
        "[steps.look.limits.execution]\nreadLoopRepeatStreak = 4\n"
    )
    environ = {"OTEL_DOCSFAB_SETTINGS": str(file), config.variable(STREAK): "2"}

    def streaks(**code):
        settings = config.load(environ=environ, **code)
        pairs = [(None, None), (None, "scout"), ("look", None), ("look", "scout")]
        return [settings.resolve(step, agent).limits.repeat_streak for step, agent in pairs]

    assert streaks() == [2, 3, 4, 4]
    assert streaks(limits={STREAK: 9}) == [9, 9, 9, 9]
    assert streaks(agents={"scout": {"limits": {STREAK: 8}}}) == [2, 8, 4, 8]
    assert streaks(limits={STREAK: 9}, agents={"scout": {"limits": {STREAK: 8}}}) == [9, 8, 9, 8]
    assert streaks(steps={"look": {"limits": {STREAK: 7}}}) == [2, 3, 7, 7]


def test_a_step_and_an_agent_may_have_a_toolset_of_their_own():
    mine, theirs = _Mine(), _Mine()
    settings = config.load(environ={}, steps={"s": {"toolset": mine}}, agents={"a": {"toolset": theirs}})
    assert settings.resolve("s", "a").toolset is mine
    assert settings.resolve(None, "a").toolset is theirs
    assert settings.resolve().toolset is config.toolset_by_name("docsfab")


# Steps


def test_r20_r21_the_public_steps_need_no_declaration():
    settings = config.load(environ={})
    kinds = {step_id: settings.resolve(step_id).step.kind for step_id in config.DOCSFAB_STEPS}
    judged = {step_id for step_id in config.DOCSFAB_STEPS if settings.resolve(step_id).step.judgment}
    assert [step for step, kind in kinds.items() if kind == "write"] == ["write-documentation"]
    assert sum(kind == "read-only" for kind in kinds.values()) == 9
    assert judged == {"review-documentation", "evaluate-document-quality"}


def test_r20_a_step_that_nobody_declared_has_no_kind():
    assert config.load(environ={}).resolve("chat", "bob").step == Step("chat")


def test_steps_from_a_file_change_what_they_name_and_code_changes_it_again(tmp_path):
    file = tmp_path / "settings.toml"
    file.write_text("[steps.review-documentation]\nanswerPath = 'tool-call'\n[steps.mine]\nkind = 'write'\n")
    settings = config.load(settings_file=file, environ={}, steps={"mine": {"judgment": True}})
    assert settings.resolve("review-documentation").step == Step(
        "review-documentation", StepKind.READ_ONLY, judgment=True, answer_path="tool-call"
    )
    assert settings.resolve("mine").step == Step("mine", StepKind.WRITE, judgment=True)


def test_none_in_a_mapping_says_nothing():
    given = {"kind": None, "mode": None, "toolset": None, "answerTokens": None}
    plain = config.load(environ={})
    settings = config.load(environ={}, steps={"review-documentation": given})
    assert settings.resolve("review-documentation") == plain.resolve("review-documentation")


def test_step_objects_replace_what_is_known():
    mine = Step("review-documentation", StepKind.WRITE, answer_tokens=5)
    for steps in (
        [mine],
        {"review-documentation": mine},
        {"review-documentation": Step(None, StepKind.WRITE, answer_tokens=5)},
    ):
        assert config.load(environ={}, steps=steps).resolve("review-documentation").step == mine


@pytest.mark.parametrize(
    ("steps", "says"),
    [
        ({"a": Step("b")}, "has the id 'b'"),
        ([Step()], "give it one id"),
        ({"a": 3}, "give a Step"),
        ({"a": {"kind": "reed-only"}}, r"steps\.a\.kind = 'reed-only' \(from code\)"),
        ({"a": {"kinds": "write"}}, "did you mean kind"),
        ({"a": {"toolset": "nowhere"}}, "'nowhere' is unknown"),
    ],
)
def test_a_step_that_makes_no_sense_is_refused(steps, says):
    with pytest.raises(ConfigError, match=says):
        config.load(environ={}, steps=steps)


# Cost


def test_what_nobody_configured_cannot_fill_the_memory():
    settings = config.load(environ={}, agents={"known": {"mode": "off"}})
    for number in range(1_000):
        assert settings.resolve(f"step-{number}", f"agent-{number}").step.id == f"step-{number}"
    assert settings.resolve("plan-documentation", "known") is settings.resolve("plan-documentation", "known")
    assert len(settings._known) == 2


def test_caps_of_the_settings_and_of_code(tmp_path):
    file = tmp_path / "settings.toml"
    file.write_text("[caps]\nmaxLiveAttempts = 5\n")
    assert config.load(environ={}).caps == config.Caps(100_000, 3_600_000, 65_536)
    assert config.load(settings_file=file, environ={}).caps == config.Caps(max_live_attempts=5)
    assert config.load(settings_file=file, environ={}, caps=config.Caps(6)).caps == config.Caps(6)
    with pytest.raises(ConfigError, match="max_idle_ms = 0"):
        config.Caps(max_idle_ms=0)
