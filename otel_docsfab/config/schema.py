"""The settings file as pydantic models, and the JSON Schema made from them.

``python -m otel_docsfab.config.schema PATH`` writes the schema, with ``--check`` it fails when the file is stale.
What ``[limits]`` and ``[toolset]`` hold is checked by those who know it; only their schemas are used here.
"""

from __future__ import annotations

import json
import sys
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, WithJsonSchema, create_model
from pydantic.alias_generators import to_camel
from pydantic.json_schema import SkipJsonSchema

from otel_docsfab.config.json_schemas import MAX_VALUE, limits_schema, toolset_schema
from otel_docsfab.config.values import Caps, Mode
from otel_docsfab.core import AnswerPath, StepKind

SCHEMA_TITLE = "Settings of otel-docsfab"


LimitTable = Annotated[dict[str, Any], WithJsonSchema(limits_schema())]
ToolsetTable = Annotated[str | dict[str, Any], WithJsonSchema(toolset_schema())]
Name = Annotated[str, StringConstraints(min_length=1)]
Count = Annotated[int, Field(ge=1, le=MAX_VALUE)]


class _Strict(BaseModel):
    """Camel case outside, no unknown keys, no conversions."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        alias_generator=to_camel,
        use_attribute_docstrings=True,
        field_title_generator=lambda name, _: name.replace("_", " "),
    )


class ScopeModel(_Strict):
    """What one agent (``[agents.NAME]``) does otherwise than the rest."""

    mode: Annotated[Mode, Field(strict=False)] | SkipJsonSchema[None] = None
    """Nothing, observed only, or enforced; the mode of the environment is a ceiling."""
    toolset: ToolsetTable | SkipJsonSchema[None] = None
    """What classes its calls: the name of a profile, or a table of rules before one."""
    limits: LimitTable = {}
    """Its own limits."""


class StepModel(ScopeModel):
    """One workflow step (``[steps.ID]``): what it is, and what it does otherwise than the rest."""

    kind: Annotated[StepKind, Field(strict=False)] | SkipJsonSchema[None] = None
    """Whether it only reads; a step without a kind is never asked for its answer."""
    judgment: bool = False
    """Whether it also has a reading share."""
    answer_path: Annotated[AnswerPath, Field(strict=False)] | SkipJsonSchema[None] = None
    """How its answer is handed in."""
    answer_tokens: Count | SkipJsonSchema[None] = None
    """Planned answer, tokens: another way to write ``compositionExecution.answerPlan.<step>Tokens``."""


if TYPE_CHECKING:  # a model that is made cannot be a type
    CapsModel = _Strict
else:
    CapsModel = create_model(
        "CapsModel",
        __base__=_Strict,
        __doc__="Bounds of memory and of series.",
        **{cap.name: (Count, cap.default) for cap in fields(Caps)},
    )


class SettingsModel(_Strict):
    """The settings file."""

    model_config = ConfigDict(title=SCHEMA_TITLE)

    mode: Annotated[Mode, Field(strict=False)] = Mode.OBSERVE
    """Nothing, observed only, or enforced; the mode of the environment is a ceiling."""
    toolset: ToolsetTable = "docsfab"
    """What classes calls: the name of a profile, or a table of rules before one."""
    limits: LimitTable = {}
    """Limits by name, nested along the dots; between the limits file and the environment in precedence."""
    steps: dict[Name, StepModel] = {}
    """Workflow steps by id; what is not said of a public DocsFab step stays as it is."""
    agents: dict[Name, ScopeModel] = {}
    """Agents by name. Where agent and step differ, the step wins."""
    caps: CapsModel = CapsModel()
    """Bounds of memory and of series."""


_MODELS: dict[str, type[BaseModel]] = {"steps": StepModel, "agents": ScopeModel, "caps": CapsModel}


def keys_at(path: tuple[str, ...]) -> list[str]:
    """The keys that the table at a path may have."""
    model = _MODELS.get(path[0], SettingsModel) if path else SettingsModel
    return [to_camel(name) for name in model.model_fields]


def json_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of the settings file."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **SettingsModel.model_json_schema()}


def schema_text() -> str:
    """The schema as it is published."""
    return json.dumps(json_schema(), indent=2, sort_keys=True) + "\n"


def main(arguments: list[str]) -> int:
    """Write the schema to a path, or compare with ``--check``; 1 when it is stale."""
    check = "--check" in arguments
    (target,) = [Path(argument) for argument in arguments if argument != "--check"]
    if not check:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(schema_text(), encoding="utf-8")
        return 0
    if target.is_file() and target.read_text(encoding="utf-8") == schema_text():
        return 0
    sys.stderr.write(f"{target} is stale: run python -m otel_docsfab.config.schema {target}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
