"""``load``: every source read once, in order of precedence."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from otel_docsfab.config.settings import Scope, Settings
from otel_docsfab.config.settings_file import Document, Places, limits_of, parse_code, read_settings
from otel_docsfab.config.sources import read_environment, read_limits_file
from otel_docsfab.config.steps import DOCSFAB_STEPS
from otel_docsfab.config.toolset_names import toolset_by_name
from otel_docsfab.config.values import (
    MODE_VARIABLE,
    SETTINGS_VARIABLE,
    TOOLSET_VARIABLE,
    Caps,
    Mode,
    Setting,
    printable,
)
from otel_docsfab.core import DOCSFAB_TOOLS, LIMITS, Limits, Step, Toolset
from otel_docsfab.core.limits import ANSWER_PLAN
from otel_docsfab.errors import ConfigError

StepsGiven = Mapping[str, Step | Mapping[str, Any]] | Iterable[Step]


def load(  # noqa: PLR0913 - one keyword for each thing that can be set
    *,
    limits: Mapping[str, int] | Limits | None = None,
    steps: StepsGiven | None = None,
    agents: Mapping[str, Mapping[str, Any]] | None = None,
    toolset: Toolset | str | None = None,
    mode: Mode | str | None = None,
    caps: Caps | None = None,
    settings_file: str | os.PathLike[str] | None = None,
    environ: Mapping[str, str] | None = None,
    limits_source: str = "code",
) -> Settings:
    """Read every source; nothing else in this package does.

    In rising precedence: default, limits file, settings file, environment, code. The mode of the environment is a ceiling
    as well: code and settings may go below it, never above, and so ``OTEL_DOCSFAB_MODE=off`` switches everything off.

    Args:
        limits: Limits by dotted name; a ``Limits`` sets every one of them.
        steps: Steps by id, each a ``core.Step`` or a mapping in the shape of ``[steps.ID]``; or some ``core.Step``.
        agents: By agent name, mappings in the shape of ``[agents.NAME]``.
        toolset: What classes calls, or the name of a profile.
        mode: ``off``, ``observe`` or ``enforce``.
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
    table = {
        **{spec.name: Setting(spec.default, "default") for spec in LIMITS},
        **from_file.values,
        **document.limits,
        **from_environment.values,
    }
    if isinstance(limits, Limits):
        table = _whole(limits, limits_source)
    table |= code.limits
    if limits and not isinstance(limits, Limits):
        table |= limits_of(limits, (), Places(limits_source, {}))
    ceiling = _environment_mode(environ)
    chosen = Mode.parse(mode, "code") if mode is not None else document.mode or ceiling or Mode.OBSERVE
    return Settings(
        table=table,
        steps=_merge(document, code, declared),
        toolset=_toolset(toolset, environ, document),
        mode=chosen.at_most(ceiling or Mode.ENFORCE),
        ceiling=ceiling or Mode.ENFORCE,
        caps=caps or document.caps or Caps(),
        step_scopes=_laid_over(document.step_scopes, code.step_scopes),
        agent_scopes=_laid_over(document.agent_scopes, code.agent_scopes),
        ignored=from_file.ignored + from_environment.ignored,
    )


def _whole(limits: Limits, source: str) -> dict[str, Setting]:
    """Limits that were built in code: they are complete, and nothing below them shows through."""
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


def _laid_over(lower: Mapping[str, Scope], upper: Mapping[str, Scope]) -> dict[str, Scope]:
    return {key: lower.get(key, Scope()).under(upper.get(key, Scope())) for key in {**lower, **upper}}


def _environment_mode(environ: Mapping[str, str]) -> Mode | None:
    """The mode of the environment; an empty variable counts as unset, as it does throughout OpenTelemetry."""
    text = environ.get(MODE_VARIABLE, "").strip()
    return Mode.parse(text, f"environment {MODE_VARIABLE}") if text else None


def _toolset(given: Toolset | str | None, environ: Mapping[str, str], document: Document) -> Toolset:
    if given is not None:
        return toolset_by_name(given) if isinstance(given, str) else given
    name = environ.get(TOOLSET_VARIABLE, "").strip()
    if name:
        return toolset_by_name(name, f"environment {TOOLSET_VARIABLE}")
    return toolset_by_name(*document.toolset) if document.toolset else DOCSFAB_TOOLS
