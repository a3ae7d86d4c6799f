"""``otel-docsfab why``: why a run failed, whose business it is, and what to do next.

Asked often, and from scripts: it parses its few options with the standard library and loads nothing that it does not
need, which makes it several times faster than the other commands.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

_DESCRIPTION: Final = (
    "Say why a run failed: cause and owner, model, what happened, evidence, limitations, and what to do next."
)
_EXAMPLES: Final = (
    "Examples: otel-docsfab why --last  |  otel-docsfab why run-4f --json  |  otel-docsfab why --all --model m-1"
)
_MAX_RUNS: Final = 10_000


def run(arguments: list[str]) -> int:
    """Run the command.

    Args:
        arguments: What stands after ``otel-docsfab why``.

    Returns:
        The exit code.

    Raises:
        ConfigError: Options do not go together.
        InputError: There is no such run, or no index.
    """
    try:
        given = _parser().parse_args(arguments)
    except SystemExit as done:  # help was shown, or a mistake
        return int(done.code or 0)
    from otel_docsfab.errors import ConfigError, InputError  # noqa: PLC0415 - help must start fast
    from otel_docsfab.runs.findings import why  # noqa: PLC0415 - as above
    from otel_docsfab.runs.reader import reading  # noqa: PLC0415 - as above

    if (given.run is not None) + given.last + given.all > 1:
        raise ConfigError("why: one of RUN, --last and --all")
    if given.model is not None and not given.all:
        raise ConfigError("why: --model goes with --all")
    with reading(given.index) as reader:
        if given.run is not None:
            chosen = [reader.find(given.run)]
        elif given.all:
            chosen = reader.last(failed=True, model=given.model, limit=min(max(1, given.limit), _MAX_RUNS))
        else:
            chosen = reader.last()
            if not chosen:
                raise InputError(f"the run index {reader.path} has no runs yet")
        results = [reader.result(one) for one in chosen]
    document = why(results)
    if given.json:
        import json  # noqa: PLC0415 - as above

        sys.stdout.write(json.dumps(document, indent=2) + "\n")
        return 0
    from otel_docsfab.cli.why_text import why_text  # noqa: PLC0415 - as above

    sys.stdout.write(why_text(document, results))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("otel-docsfab why", description=_DESCRIPTION, epilog=_EXAMPLES, allow_abbrev=False)
    parser.add_argument("run", nargs="?", metavar="RUN", help="run id, or its beginning")
    parser.add_argument("--last", action="store_true", help="the run that ended last; so without anything")
    parser.add_argument("--all", action="store_true", help="all runs that failed, the newest first")
    parser.add_argument("--model", metavar="NAME", help="with --all: of this model")
    parser.add_argument("--limit", type=int, default=20, metavar="N", help="with --all: runs at most")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--index", type=Path, metavar="FILE", help="index instead of the one in DOCSFAB_STATE_DIR")
    return parser
