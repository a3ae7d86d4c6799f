"""``otel-docsfab mixin``: dashboards, rules, alerts and the reference page, made from the catalogue."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from otel_docsfab.errors import ConfigError

app = typer.Typer(help="Dashboards, rules and alerts from the catalogue.", no_args_is_help=True, rich_markup_mode=None)
show = typer.Typer(help="Print what the catalogue holds.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(show, name="show")


@app.command()
def build(
    *,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; fail when a file is not as made.")] = False,
    out: Annotated[Path, typer.Option("--out", help="Directory that gets dashboards/ and docs/.")] = Path(),
    rules_format: Annotated[
        Literal["prometheus", "prometheus-operator"],
        typer.Option("--format", help="Rule files for Prometheus, or a PrometheusRule for its operator."),
    ] = "prometheus",
    config: Annotated[
        Path | None, typer.Option("--config", help="TOML file of thresholds, windows and the runbook URL.")
    ] = None,
) -> None:
    """Write dashboards, recording rules, alerts and the reference page."""
    _need_extra()
    from otel_docsfab.mixin.config import DEFAULTS, load  # noqa: PLC0415 - only this command needs them
    from otel_docsfab.mixin.files import Format, differences, render, write  # noqa: PLC0415 - needs the extra

    files = render(load(config) if config else DEFAULTS, Format(rules_format))
    if not check:
        write(files, out)
        typer.echo(f"{len(files)} files written to {out.resolve()}")
        return
    found = differences(files, out)
    for line in found:
        typer.echo(line, err=True)
    if found:
        typer.echo("run: otel-docsfab mixin build", err=True)
        raise typer.Exit(1)
    typer.echo(f"{len(files)} files are as made")


@show.command()
def metrics(*, as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False) -> None:
    """Print every metric: name, name in Prometheus, kind, unit, labels."""
    from otel_docsfab.catalogue import METRICS, reference  # noqa: PLC0415 - keeps the start of other commands short

    if as_json:
        typer.echo(json.dumps(reference.as_data(), indent=2))
        return
    for metric in METRICS:
        labels = f"{{{','.join(metric.label_names)}}}" if metric.labels else ""
        typer.echo(
            f"{metric.prometheus_name}{labels}\n    {metric.name}: {metric.kind}, {metric.unit}, {metric.stability}"
        )
        typer.echo(f"    {metric.description}.")


def _need_extra() -> None:
    """Raise ``ConfigError`` when the extra ``[mixin]`` is not installed."""
    for module in ("grafana_foundation_sdk", "yaml"):
        try:
            importlib.import_module(module)
        except ImportError as error:
            raise ConfigError(
                f"mixin build needs the package {module}: pip install 'otel-docsfab[mixin]' (Grafana 11.6 builders)"
            ) from error
