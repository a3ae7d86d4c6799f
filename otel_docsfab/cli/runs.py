"""``otel-docsfab runs``: what the run index keeps, listed, shown, asked, filled and emptied."""

from __future__ import annotations

import csv
import json
import re
import sys
import time
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

app = typer.Typer(help="The records of past runs.", no_args_is_help=True, rich_markup_mode=None, add_completion=False)

Index = Annotated[
    Path | None, typer.Option("--index", metavar="FILE", help="Index instead of the one in DOCSFAB_STATE_DIR.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Since = Annotated[
    str | None, typer.Option("--since", metavar="WHEN", help="Only what ended since: 90m, 12h, 7d, 2w or a date.")
]
Limit = Annotated[int, typer.Option("--limit", min=1, max=1_000_000, help="Rows at most.")]


def run_ids(incomplete: str) -> list[str]:
    """Run ids that begin so, for shell completion; none when there is no index."""
    from otel_docsfab.errors import DocsfabError  # noqa: PLC0415 - help must start fast
    from otel_docsfab.runs.reader import reading  # noqa: PLC0415 - as above

    try:
        with reading() as reader:
            return reader.beginning(incomplete, 50)
    except (DocsfabError, OSError):
        return []


Run = Annotated[str, typer.Argument(metavar="RUN", help="Run id, or its beginning.", autocompletion=run_ids)]


@app.command("list", epilog="Examples: otel-docsfab runs list --since 7d  |  otel-docsfab runs list --json")
def list_runs(*, since: Since = None, limit: Limit = 20, as_json: AsJson = False, index: Index = None) -> None:
    """List runs, the newest first."""
    from otel_docsfab.cli.runs_text import run_table  # noqa: PLC0415 - help must start fast
    from otel_docsfab.runs.fields import RowKind  # noqa: PLC0415 - as above

    names, rows = _ask(index, RowKind.RUN, since=since, limit=limit)
    documents = [_document(names, row) for row in rows]
    if as_json:
        _print_json(documents)
    else:
        sys.stdout.write(run_table(documents))


@app.command(epilog="Examples: otel-docsfab runs show run-4f  |  otel-docsfab runs show run-4f --json")
def show(run: Run, *, as_json: AsJson = False, index: Index = None) -> None:
    """Show one run: steps, attempts, read evidence, limitations, retries, and what to do next."""
    from otel_docsfab.cli.runs_text import run_text  # noqa: PLC0415 - help must start fast
    from otel_docsfab.runs.reader import reading  # noqa: PLC0415 - as above

    with reading(index) as reader:
        result = reader.result(reader.find(run))
    if as_json:
        _print_json(result)
    else:
        sys.stdout.write(run_text(result))


@app.command(
    epilog="Examples: otel-docsfab runs query --where 'unchangedReReads>10' --since 7d  |"
    "  otel-docsfab runs query --group-by code --csv  |"
    "  otel-docsfab runs query --row-kind run --where concludeNow=read-loop --where model~sonnet --json"
)
def query(
    *,
    where: Annotated[
        list[str] | None,
        typer.Option("--where", metavar="TERM", help="field=value, or != > < >= <= ~ (contains); all must hold."),
    ] = None,
    row_kind: Annotated[
        Literal["attempt", "step", "run"], typer.Option("--row-kind", help="What one row stands for.")
    ] = "attempt",
    group_by: Annotated[str | None, typer.Option("--group-by", metavar="FIELD", help="Count rows by a field.")] = None,
    since: Since = None,
    limit: Limit = 50,
    as_json: AsJson = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    fields: Annotated[bool, typer.Option("--fields", help="Print the names of the fields and leave.")] = False,
    index: Index = None,
) -> None:
    """Ask the index; the newest rows first, `none` stands for a field that a row does not have."""
    from otel_docsfab.cli.runs_text import plain, query_table  # noqa: PLC0415 - help must start fast
    from otel_docsfab.errors import ConfigError  # noqa: PLC0415 - as above
    from otel_docsfab.runs.fields import FIELDS, RowKind  # noqa: PLC0415 - as above

    if as_json and as_csv:
        raise ConfigError("runs query: --json or --csv, not both")
    kind = RowKind(row_kind)
    if fields:
        sys.stdout.write("\n".join(FIELDS[kind]) + "\n")
        return
    names, rows = _ask(index, kind, where=where or (), group_by=group_by, since=since, limit=limit)
    if as_json:
        _print_json([_document(names, row) for row in rows])
    elif as_csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([plain(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    else:
        sys.stdout.write(query_table(names, rows, (re.split(r"[^A-Za-z]", term)[0] for term in where or ())))


@app.command("import", epilog="Examples: otel-docsfab replay --json traces/ | otel-docsfab runs import -")
def import_records(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH...", help="`runs show --json` or `replay --json` output, lines of records, or -."),
    ],
    *,
    as_json: AsJson = False,
    index: Index = None,
) -> None:
    """Import records; what the index has already is left alone, what is no record is refused and counted."""
    from otel_docsfab.runs.importing import Imported, import_file  # noqa: PLC0415 - help must start fast

    with _writing(index) as writer:
        each = [import_file(path, writer) for path in paths]
    total = Imported(*map(sum, zip(*each, strict=True)))
    if as_json:
        _print_json(total._asdict())
    else:
        typer.echo(f"{total.added} attempts imported, {total.known} known already, {total.refused} refused")
    if total.refused and not total.added + total.known:
        raise typer.Exit(1)


@app.command(epilog="Examples: otel-docsfab runs prune --older-than 7 --dry-run  |  otel-docsfab runs prune")
def prune(
    *,
    older_than: Annotated[float, typer.Option("--older-than", metavar="DAYS", min=0, help="Keep so many days.")] = 30,
    max_mb: Annotated[int, typer.Option("--max-mb", min=0, help="Keep the file under so many MiB.")] = 1024,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would go for its age; remove nothing.")] = False,
    index: Index = None,
) -> None:
    """Remove old runs and give their space back; a damaged index is set aside and what is readable recovered."""
    from otel_docsfab.runs.reader import reading  # noqa: PLC0415 - help must start fast
    from otel_docsfab.runs.retention import Keep, to_go  # noqa: PLC0415 - as above

    keep, now_ms = Keep(older_than, max_mb << 20), time.time_ns() // 1_000_000
    if dry_run:
        with reading(index) as reader:
            typer.echo(f"{to_go(reader.database, keep, now_ms)} runs would be removed")
        return
    with _writing(index) as writer:
        writer.repair()
        removed = writer.prune(keep, now_ms)
        for aside in writer.set_aside:
            typer.echo(f"the index was damaged; it is {aside} now, what was readable is in the new one", err=True)
    typer.echo(f"{removed} runs removed")


def _ask(index: Path | None, kind: Any, *, since: str | None, **more: Any) -> tuple[list[str], list[tuple[Any, ...]]]:
    from otel_docsfab.runs import query as questions  # noqa: PLC0415 - help must start fast
    from otel_docsfab.runs.reader import reading  # noqa: PLC0415 - as above

    moment = questions.since(since, time.time_ns() // 1_000_000) if since else None
    question = questions.build(kind, since_unix_ms=moment, **more)
    with reading(index) as reader:
        return reader.rows(question.sql, question.values)


def _writing(index: Path | None) -> Any:
    """A writer that says in words what keeps it from writing."""
    from otel_docsfab.runs.command_writer import command_writer  # noqa: PLC0415 - help must start fast

    return command_writer(index)


def _document(names: list[str], row: tuple[Any, ...]) -> dict[str, Any]:
    """A row with JSON's own true and false; fields that it does not have are left out."""
    facts = {name: value for name, value in zip(names, row, strict=True) if value is not None}
    return {name: bool(value) if name == "enforced" else value for name, value in facts.items()}


def _print_json(document: Any) -> None:
    sys.stdout.write(json.dumps(document, indent=2) + "\n")
