"""``load``: every source read once, in order of precedence."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from otel_docsfab.config.settings import Layer, Scope, Settings
from otel_docsfab.config.settings_file import Document, Places, limits_of, parse_code, read_settings
from otel_docsfab.config.sources import read_environment, read_limits_file
from otel_docsfab.config.steps import DOCSFAB_STEPS
from otel_docsfab.config.toolset_names import toolset_of
from otel_docsfab.config.values import (
    DEFAULT_CAPS,
    MODE_VARIABLE,
    SETTINGS_VARIABLE,
    TOOLSET_VARIABLE,
    Caps,
    Mode,
    Setting,
    printable,
)
from otel_docsfab.core import LIMITS, Limits, Step, Toolset
from otel_docsfab.core.limits import ANSWER_PLAN
from otel_docsfab.errors import ConfigError

StepsGiven = Mapping[str, Step | Mapping[str, Any]] | Iterable[Step]


def load(  # noqa: PLR0913 - one keyword for each thing that can be set
    *,
    limits: Mapping[str, int] | Limits | None = None,
    steps: StepsGiven | None = None,
    agents: Mapping[str, Mapping[str, Any]] | None = None,
    toolset: Toolset | str | Mapping[str, Any] | None = None,
    mode: Mode | str | None = None,
    default_mode: Mode = Mode.OBSERVE,
    caps: Caps | None = None,
    settings_file: str | os.PathLike[str] | None = None,
    environ: Mapping[str, str] | None = None,
    limits_source: str = "code",
) -> Settings:
    """Read every source; nothing else in this package does.

    In rising precedence: default, limits file, settings file, environment, code. Of what code does not say, a narrower
    scope wins over a wider one: the settings file's word on one step holds whatever the environment says of all. The
    mode of the environment is a ceiling besides: code and settings may go below it, never above, so that
    ``OTEL_DOCSFAB_MODE=off`` switches everything off.

    Args:
        limits: Limits by dotted name; a ``Limits`` sets every one of them.
        steps: Steps by id, each a ``core.Step`` or a mapping in the shape of ``[steps.ID]``; or some ``core.Step``.
        agents: By agent name, mappings in the shape of ``[agents.NAME]``.
        toolset: What classes calls, the name of a profile, or a mapping in the shape of ``[toolset]``.
        mode: ``off``, ``observe`` or ``enforce``; wins over files, like everything that code says.
        default_mode: The mode when nobody says any.
        caps: Bounds of memory and of series.
        settings_file: TOML file; else ``OTEL_DOCSFAB_SETTINGS`` names it, else there is none.
        environ: The environment; the process's own when None.
        limits_source: How ``limits`` are named as a source; a command names its option.

    Raises:
        LimitError: A limit's value is refused; the error names limit, value, source and range.
        ConfigError: Anything else that cannot be used; the error names it and its source.

    Source: SPEC section 2; where the settings file and the mode stand is our choice.
    """
    environ = os.environ if environ is None else environ
    from_file, from_environment = read_limits_file(environ), read_environment(environ)
    path = settings_file or environ.get(SETTINGS_VARIABLE)
    document = read_settings(path) if path else Document()
    declared, mappings = _split(steps or {})
    code = parse_code(mappings, agents or {}) if mappings or agents else Document()
    ceiling = _environment_mode(environ)
    return Settings(
        configured=Layer(
            Scope(
                limits={
                    **{spec.name: Setting(spec.default, "default") for spec in LIMITS},
                    **from_file.values,
                    **document.limits,
                    **from_environment.values,
                },
                toolset=_configured_toolset(environ, document),
                mode=ceiling or document.mode or default_mode,
            ),
            document.step_scopes,
            document.agent_scopes,
        ),
        code=Layer(
            Scope(
                limits={**code.limits, **_given(limits, limits_source)},
                toolset=toolset_of(toolset, "code") if isinstance(toolset, str | Mapping) else toolset,
                mode=None if mode is None else Mode.parse(mode, "code"),
                complete=isinstance(limits, Limits),
            ),
            code.step_scopes,
            code.agent_scopes,
        ),
        steps=_merge(document, code, declared),
        ceiling=ceiling or Mode.ENFORCE,
        caps=caps or document.caps or DEFAULT_CAPS,
        ignored=from_file.ignored + from_environment.ignored,
    )


def _given(limits: Mapping[str, int] | Limits | None, source: str) -> dict[str, Setting]:
    """Limits from code: those named by a mapping, every one of a ``Limits``."""
    if not isinstance(limits, Limits):
        return limits_of(limits or {}, (), Places(source, {}))
    plans = [f"{ANSWER_PLAN}{step}Tokens" for step in limits.answer_tokens]
    scalars = [spec.name for spec in LIMITS if spec.field.islower()]
    return {name: Setting(limits.get(name), source) for name in [*scalars, *plans]}


def _split(steps: StepsGiven) -> tuple[dict[str, Step], dict[str, Mapping[str, Any]]]:
    """Steps as objects and steps as mappings, by id."""
    objects: dict[str, Step] = {}
    mappings: dict[str, Mapping[str, Any]] = {}
    for key, step in steps.items() if isinstance(steps, Mapping) else ((None, step) for step in steps):
        if isinstance(step, Mapping) and key:
            mappings[key] = step
            continue
        if not isinstance(step, Step):
            raise ConfigError(f"step {printable(key or step)} (from code): give a Step, or a mapping under its id")
        step_id = key or step.id
        if not step_id or step.id not in {None, step_id}:
            raise ConfigError(f"step {printable(key)} (from code) has the id {printable(step.id)}: give it one id")
        objects[step_id] = replace(step, id=step_id)
    return objects, mappings


def _merge(document: Document, code: Document, declared: Mapping[str, Step]) -> dict[str, Step]:
    """Every declared step: mappings change what is known of a step, objects replace it."""
    steps = dict(DOCSFAB_STEPS)
    for given in (document.steps, code.steps):
        for step_id, fields in given.items():
            steps[step_id] = replace(steps.get(step_id, Step(step_id)), **fields)
    return steps | dict(declared)


def _environment_mode(environ: Mapping[str, str]) -> Mode | None:
    """The mode of the environment; an empty variable counts as unset, as it does throughout OpenTelemetry."""
    text = environ.get(MODE_VARIABLE, "").strip()
    return Mode.parse(text, f"environment {MODE_VARIABLE}") if text else None


def _configured_toolset(environ: Mapping[str, str], document: Document) -> Toolset | None:
    name = environ.get(TOOLSET_VARIABLE, "").strip()
    if name:
        return toolset_of(name, f"environment {TOOLSET_VARIABLE}")
    return document.toolset
