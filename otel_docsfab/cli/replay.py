"""``otel-docsfab replay``: what the rules would have decided on recorded traces and sessions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

FAILED: int = 3
"""Exit code when ``--fail-on`` found what it was to find."""
EXAMPLES = (
    "Examples: otel-docsfab replay traces.jsonl.gz  |  otel-docsfab replay ~/.claude/projects  |"
    "  otel-docsfab replay --json --calls --profile generic traces/  |"
    "  otel-docsfab replay --fail-on stop --limits execution.readLoopRepeatStreak=4 traces.jsonl"
)


def replay(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Files, folders, or - for standard input.")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    calls: Annotated[bool, typer.Option("--calls", help="With --json: list each call and its verdict.")] = False,
    fail_on: Annotated[
        Literal["stop", "ask"] | None, typer.Option("--fail-on", help="Exit with 3 when an attempt has one.")
    ] = None,
    limits: Annotated[
        list[str] | None, typer.Option("--limits", metavar="KEY=VALUE", help="Set a limit over every source.")
    ] = None,
    profile: Annotated[
        str | None, typer.Option("--profile", metavar="NAME", help="Toolset to judge with; doctor --tools shows them.")
    ] = None,
    shell: Annotated[
        Literal["off", "reads", "reads-and-writes"] | None,
        typer.Option("--shell", help="How far to look into shell commands; all the way in session files."),
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", min=1, max=64, help="Processes.")] = 1,
    window: Annotated[
        int, typer.Option("--window", min=1, help="Spans of other traces through which a trace is waited for.")
    ] = 10_000,
    max_line_mb: Annotated[int, typer.Option("--max-line-mb", min=1, help="Longest line that is read, MiB.")] = 64,
    settings: Annotated[
        Path | None, typer.Option("--settings", metavar="FILE", help="Settings file instead of OTEL_DOCSFAB_SETTINGS.")
    ] = None,
) -> None:
    """Judge recorded traces and session files as if they ran now, and change nothing.

    Reads OTLP (JSON lines, JSON, protobuf), the Python SDK's JSON, and sessions of Claude Code, Codex, OpenCode,
    SWE-agent and mini-swe-agent; plain, gzip or zstd.
    """
    from otel_docsfab.cli.replay_output import JsonOutput, Progress, TableOutput  # noqa: PLC0415 - help starts fast
    from otel_docsfab.config import parse_options  # noqa: PLC0415 - as above
    from otel_docsfab.errors import ConfigError  # noqa: PLC0415 - as above
    from otel_docsfab.replay.jobs import replay as run  # noqa: PLC0415 - as above
    from otel_docsfab.replay.report import Notes, Totals  # noqa: PLC0415 - as above
    from otel_docsfab.replay.run import Request  # noqa: PLC0415 - as above

    if calls and not as_json:
        raise ConfigError("replay: --calls goes with --json")
    request = Request(
        tuple(paths),
        parse_options(limits or (), "--limits"),
        profile,
        shell,
        str(settings) if settings else None,
        with_calls=calls,
        max_record_bytes=max_line_mb << 20,
        window=window,
    )
    totals, notes = Totals(), Notes()
    output = JsonOutput() if as_json else TableOutput()
    with Progress(request.paths) as progress:
        for entry in run(request, notes, jobs=jobs, on_bytes=progress.advance):
            totals.add(entry)
            output.add(entry)
    output.finish(totals, notes)
    if (fail_on == "stop" and totals.stops) or (fail_on == "ask" and totals.asks):
        raise typer.Exit(FAILED)
