"""``otel-docsfab why``: why a run failed, whose business it is, and what to do next."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from otel_docsfab.cli.runs import run_ids

EXAMPLES = "Examples: otel-docsfab why --last  |  otel-docsfab why run-4f --json  |  otel-docsfab why --all --model m-1"


def why(
    run: Annotated[
        str | None,
        typer.Argument(metavar="[RUN]", help="Run id, or its beginning.", autocompletion=run_ids),
    ] = None,
    *,
    last: Annotated[bool, typer.Option("--last", help="The run that ended last; so without anything.")] = False,
    every: Annotated[bool, typer.Option("--all", help="All runs that failed, the newest first.")] = False,
    model: Annotated[str | None, typer.Option("--model", metavar="NAME", help="With --all: of this model.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=10_000, help="With --all: runs at most.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    index: Annotated[
        Path | None, typer.Option("--index", metavar="FILE", help="Index instead of the one in DOCSFAB_STATE_DIR.")
    ] = None,
) -> None:
    """Say why a run failed: cause and owner, model, what happened, evidence, limitations, and what to do next."""
    from otel_docsfab.cli.runs_text import why_text  # noqa: PLC0415 - help must start fast
    from otel_docsfab.errors import ConfigError, InputError  # noqa: PLC0415 - as above
    from otel_docsfab.runs.findings import why as document_of  # noqa: PLC0415 - as above
    from otel_docsfab.runs.models import as_json as json_of  # noqa: PLC0415 - as above
    from otel_docsfab.runs.reader import reading  # noqa: PLC0415 - as above

    if (run is not None) + last + every > 1:
        raise ConfigError("why: one of RUN, --last and --all")
    if model is not None and not every:
        raise ConfigError("why: --model goes with --all")
    with reading(index) as reader:
        if run is not None:
            chosen = [reader.find(run)]
        elif every:
            chosen = reader.last(failed=True, model=model, limit=limit)
        else:
            chosen = reader.last()
            if not chosen:
                raise InputError(f"the run index {reader.path} has no runs yet")
        results = [reader.result(one) for one in chosen]
    document = document_of(results)
    if as_json:
        sys.stdout.write(json.dumps(json_of(document), indent=2) + "\n")
    else:
        sys.stdout.write(why_text(document, results))
