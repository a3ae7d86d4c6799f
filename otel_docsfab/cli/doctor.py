"""``otel-docsfab doctor``: what is configured, where it comes from, and what follows from it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

# Each examination lives in a module of its own (``doctor_limits``, ``doctor_tools``), imported when it is asked for.


def doctor(
    arguments: Annotated[
        str | None, typer.Argument(metavar="[ARGS]", help="With --tools: arguments as JSON, or a shell command.")
    ] = None,
    *,
    limits: Annotated[bool, typer.Option("--limits", help="Every limit with its value, source and headroom.")] = False,
    tools: Annotated[
        str | None, typer.Option("--tools", metavar="TOOL", help="What a call of this tool counts as, and why.")
    ] = None,
    step: Annotated[
        str | None, typer.Option("--step", metavar="ID", help="For this step, with its reserve and ask time.")
    ] = None,
    agent: Annotated[str | None, typer.Option("--agent", metavar="NAME", help="For this agent.")] = None,
    limit: Annotated[
        list[str] | None, typer.Option("--limit", metavar="NAME=VALUE", help="Set a limit over every source.")
    ] = None,
    settings: Annotated[
        Path | None, typer.Option("--settings", metavar="FILE", help="Settings file instead of OTEL_DOCSFAB_SETTINGS.")
    ] = None,
    profile: Annotated[
        str | None, typer.Option("--profile", metavar="NAME", help="Toolset to ask instead of the configured one.")
    ] = None,
    shell_rules: Annotated[
        str, typer.Option("--shell-rules", metavar="MODE", help="With --profile: off, reads or reads-and-writes.")
    ] = "off",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say what is configured, where it comes from, and what follows from it."""
    from otel_docsfab import config  # noqa: PLC0415 - help must start fast
    from otel_docsfab.errors import ConfigError  # noqa: PLC0415 - as above

    if limits == (tools is not None):
        raise ConfigError("doctor: say what to examine: --limits, or --tools TOOL")
    if arguments is not None and tools is None:
        raise ConfigError("doctor: arguments belong to --tools TOOL")
    loaded = config.load(
        limits=config.parse_options(limit or ()), limits_source="option --limit", settings_file=settings
    )
    if tools is None:
        from otel_docsfab.cli.doctor_limits import examine, print_json, print_table  # noqa: PLC0415 - as above

        seen = _seen(step, agent)
        (print_json if as_json else print_table)(examine(loaded, step_id=step, agent_name=agent, observed=seen))
        return
    from otel_docsfab.cli.doctor_tools import doctor_tools  # noqa: PLC0415 - as above

    configured: Any = None if profile else loaded.resolve(step, agent).toolset
    doctor_tools(
        tools, arguments, profile or "as configured", shell_rules=shell_rules, as_json=as_json, toolset=configured
    )


def _seen(step_id: str | None, agent_name: str | None) -> dict[str, int]:
    """The largest values that the run index knows; none without an index, and none when it cannot be read."""
    from otel_docsfab.errors import InputError  # noqa: PLC0415 - help must start fast
    from otel_docsfab.runs.paths import index_path  # noqa: PLC0415 - as above

    if not index_path().is_file():
        return {}
    from otel_docsfab.runs.reader import reading  # noqa: PLC0415 - not before there is something to read

    try:
        with reading() as reader:
            return reader.observed(step_id, agent_name)
    except InputError as error:
        typer.echo(f"warning: {error}", err=True)
        return {}
