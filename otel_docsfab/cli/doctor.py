"""``otel-docsfab doctor``: what is configured, where it comes from, and what follows from it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

# Each examination lives in a module of its own (``doctor_limits``, ``doctor_tools``), imported when it is asked for.


def doctor(
    *,
    limits: Annotated[bool, typer.Option("--limits", help="Every limit with its value, source and headroom.")] = False,
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
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say what is configured, where it comes from, and what follows from it."""
    from otel_docsfab import config  # noqa: PLC0415 - help must start fast
    from otel_docsfab.cli.doctor_limits import examine, print_json, print_table  # noqa: PLC0415 - as above
    from otel_docsfab.errors import ConfigError  # noqa: PLC0415 - as above

    if not limits:
        raise ConfigError("doctor: say what to examine: --limits")
    loaded = config.load(
        limits=config.parse_options(limit or ()), limits_source="option --limit", settings_file=settings
    )
    report = examine(loaded, step_id=step, agent_name=agent)
    (print_json if as_json else print_table)(report)
