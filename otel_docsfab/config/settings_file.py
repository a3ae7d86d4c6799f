"""The settings file (TOML), and the same shapes given as mappings in code."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from otel_docsfab.config.names import GROUPS, did_you_mean, nearest_limit, plan_name
from otel_docsfab.config.settings import Scope
from otel_docsfab.config.sources import read_text
from otel_docsfab.config.toolset_names import toolset_of
from otel_docsfab.config.values import Caps, Mode, Setting, printable, printable_text
from otel_docsfab.core import Toolset
from otel_docsfab.core.limits import LimitSpec, limit_spec
from otel_docsfab.errors import ConfigError, LimitError

if TYPE_CHECKING:  # pydantic costs more than all the rest of the room: only who gives settings pays for it
    from pydantic import ValidationError

    from otel_docsfab.config.schema import ScopeModel, StepModel

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """What one source of settings says; None and empty where it says nothing.

    Attributes:
        limits: Limits of every attempt, planned answers of steps included.
        mode: The mode of every attempt.
        toolset: What classes the calls of every attempt.
        steps: Fields of ``core.Step`` by step id, only those that were given.
        step_scopes: What single steps do otherwise.
        agent_scopes: What single agents do otherwise.
        caps: The caps.
    """

    limits: Mapping[str, Setting] = field(default_factory=dict)
    mode: Mode | None = None
    toolset: Toolset | None = None
    steps: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    step_scopes: Mapping[str, Scope] = field(default_factory=dict)
    agent_scopes: Mapping[str, Scope] = field(default_factory=dict)
    caps: Caps | None = None


class Places:
    """Where keys stand, for sources and errors."""

    def __init__(self, source: str, lines: Mapping[Path, int]) -> None:
        self._source, self._lines = source, lines

    def of(self, path: Path) -> str:
        """``settings FILE:LINE`` when the line is known."""
        line = self._lines.get(path)
        return f"{self._source}:{line}" if line else self._source


def read_settings(path: str | os.PathLike[str]) -> Document:
    """Read a settings file.

    Raises:
        ConfigError: It cannot be read, is no TOML, has an unknown key or a value that does not fit.
        LimitError: A limit's value is refused.
    """
    import tomllib  # noqa: PLC0415 - only a settings file needs it

    from otel_docsfab.config.toml_lines import key_lines  # noqa: PLC0415 - as above

    shown = printable_text(os.fspath(path))
    try:
        text = read_text(path)
        content = tomllib.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise ConfigError(f"settings file {shown} cannot be used: {printable(why, 200)[1:-1]}") from None
    return parse_document(content, Places(f"settings {shown}", key_lines(text)))


def parse_document(content: Mapping[str, Any], places: Places) -> Document:
    """Check the content of a settings file and take it apart.

    Raises:
        ConfigError: It has an unknown key or a value that does not fit.
        LimitError: A limit's value is refused.
    """
    from pydantic import ValidationError  # noqa: PLC0415 - see above

    from otel_docsfab.config.schema import SettingsModel  # noqa: PLC0415

    try:
        model = SettingsModel.model_validate(content)
    except ValidationError as error:
        raise _explained(error, content, places) from None
    given = model.model_fields_set
    limits = limits_of(model.limits, ("limits",), places)
    for step_id, step in model.steps.items():
        if plan := _plan(step_id, step, places):
            _set_once(limits, *plan)
    return Document(
        limits=limits,
        mode=model.mode if "mode" in given else None,
        toolset=toolset_of(model.toolset, places.of(("toolset",))) if "toolset" in given else None,
        steps={step_id: _fields(step_id, step) for step_id, step in model.steps.items()},
        step_scopes={key: _scope(scope, ("steps", key), places) for key, scope in model.steps.items()},
        agent_scopes={key: _scope(scope, ("agents", key), places) for key, scope in model.agents.items()},
        caps=Caps(**model.caps.model_dump(exclude_unset=True)) if "caps" in given else None,
    )


def parse_code(steps: Mapping[str, Any], agents: Mapping[str, Any]) -> Document:
    """Check steps and agents that code gives as mappings in the shape of the settings file.

    A toolset may be an object here.

    Raises:
        ConfigError: As for a file.
        LimitError: A limit's value is refused.
    """
    step_toolsets, agent_toolsets = _objects(steps), _objects(agents)
    document = parse_document(
        {"steps": _without_toolset(steps, step_toolsets), "agents": _without_toolset(agents, agent_toolsets)},
        Places("code", {}),
    )
    return replace(
        document,
        step_scopes=_with_toolset(document.step_scopes, step_toolsets),
        agent_scopes=_with_toolset(document.agent_scopes, agent_toolsets),
    )


def _objects(group: Mapping[str, Any]) -> dict[str, Toolset]:
    """Toolsets that are given as objects."""
    given = {key: scope.get("toolset") for key, scope in group.items() if isinstance(scope, Mapping)}
    return {key: toolset for key, toolset in given.items() if not isinstance(toolset, str | Mapping | None)}


def _without_toolset(group: Mapping[str, Any], toolsets: Mapping[str, Toolset]) -> dict[str, Any]:
    return {
        key: {name: value for name, value in scope.items() if name != "toolset"} if key in toolsets else scope
        for key, scope in group.items()
    }


def _with_toolset(scopes: Mapping[str, Scope], toolsets: Mapping[str, Toolset]) -> dict[str, Scope]:
    return {key: replace(scope, toolset=toolsets.get(key, scope.toolset)) for key, scope in scopes.items()}


def limits_of(table: Mapping[str, Any], path: Path, places: Places) -> dict[str, Setting]:
    """Check a table of limits.

    Args:
        table: Values by dotted name, or tables nested along the dots.
        path: Where the table stands.
        places: For sources and errors.

    Raises:
        ConfigError: A key names no limit, or two name the same.
        LimitError: A value is refused.
    """
    found: dict[str, Setting] = {}
    for keys, value in _leaves(table):
        name, source = ".".join(keys), places.of((*path, *keys))
        spec = limit_spec(name)
        if spec is None or len(keys) not in {1, 1 + name.count(".")}:
            raise ConfigError(f"{source}: {printable(name)} names no limit{nearest_limit(name)}")
        _set_once(found, name, Setting(spec.check(value, source), source))
    return found


def _leaves(table: Mapping[str, Any]) -> Iterator[tuple[Path, Any]]:
    """Every value below a table with its path; a loop, because keys nest as deep as a file likes.

    An empty table is a value too, unless it is one that limits stand in: it may have been meant as something.
    """
    waiting: list[tuple[Path, Any]] = [((), table)]
    while waiting:
        path, node = waiting.pop()
        if isinstance(node, Mapping) and (node or path in GROUPS):
            waiting.extend(((*path, str(key)), value) for key, value in reversed(list(node.items())))
        else:
            yield path, node


def _set_once(limits: dict[str, Setting], name: str, setting: Setting) -> None:
    if name in limits:
        raise ConfigError(f"{name} is set twice: {limits[name].source} and {setting.source}")
    limits[name] = setting


def _plan(step_id: str, step: StepModel, places: Places) -> tuple[str, Setting] | None:
    """A step's ``answerTokens`` as the limit that it is another way to write."""
    name = plan_name(step_id)
    if step.answer_tokens is None or name is None:
        return None
    return name, Setting(step.answer_tokens, places.of(("steps", step_id, "answerTokens")))


def _fields(step_id: str, step: StepModel) -> dict[str, Any]:
    """The fields of ``core.Step`` that were given."""
    own = {"kind", "judgment", "answer_path"}
    if plan_name(step_id) is None:  # no limit can say it, so the step does
        own.add("answer_tokens")
    return step.model_dump(include=own, exclude_unset=True, exclude_none=True)


def _scope(model: ScopeModel, path: Path, places: Places) -> Scope:
    """What a step or an agent does otherwise."""
    toolset = None if model.toolset is None else toolset_of(model.toolset, places.of((*path, "toolset")))
    return Scope(limits_of(model.limits, (*path, "limits"), places), toolset, model.mode)


def _explained(error: ValidationError, content: Mapping[str, Any], places: Places) -> ConfigError:
    """The first mistake in words: key, value, place, and what would do."""
    from otel_docsfab.config.schema import keys_at  # noqa: PLC0415 - as above

    first = error.errors(include_url=False, include_context=False)[0]
    path = _keys(first["loc"], content)
    source, name = places.of(path), printable(".".join(path))[1:-1]
    if first["type"] == "extra_forbidden":
        known = keys_at(path[:-1])
        return ConfigError(f"{source}: unknown key {name}{did_you_mean(path[-1], known)} Known: {', '.join(known)}")
    if path[-1:] == ("answerTokens",) and path[:1] == ("steps",):
        spec = limit_spec(plan_name(path[1]) or "") or LimitSpec(name, "", 0, "tokens", 1)
        return LimitError(spec.name, first["input"], source, spec.allowed)
    return ConfigError(f"{name} = {printable(first['input'])} (from {source}) is refused: {first['msg']}")


def _keys(location: tuple[int | str, ...], content: Any) -> Path:
    """The keys of an error's location; what pydantic adds about its own types is left out."""
    path: list[str] = []
    for part in location:
        if not isinstance(content, Mapping) or part not in content:
            break
        path.append(str(part))
        content = content[part]
    return tuple(path)
