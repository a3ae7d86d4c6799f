"""``otel-docsfab``: the commands, each in a module of its own that is loaded when it is called."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Final

COMMANDS: Final = {
    "demo": ("otel_docsfab.cli.demo", "Watch a scripted agent read, loop, be told, be stopped and be retried."),
    "doctor": ("otel_docsfab.cli.doctor", "Say what is configured, where it comes from, and what follows from it."),
    "replay": ("otel_docsfab.cli.replay", "Judge recorded traces and sessions as if they ran now."),
    "runs": ("otel_docsfab.cli.runs", "List, show and query what the run index keeps; import and prune."),
    "why": ("otel_docsfab.cli.why", "Say why a run failed, whose business it is, and what to do next."),
    "mixin": ("otel_docsfab.cli.mixin", "Make dashboards, rules and alerts from the catalogue."),
}
"""Command: its module, which has ``run``, a typer ``app`` or a function of the command's name, and its line of help."""

_USAGE: Final = """Usage: otel-docsfab COMMAND [OPTIONS]

Keep AI agents from re-reading what they already know, and show it to the people who run them.

Commands:
{commands}

Options:
  --version  Print the version.
  --help     Show this text; COMMAND --help shows a command's own.

Examples:
  otel-docsfab demo
  otel-docsfab doctor --limits --step review-documentation
"""
OK: Final = 0
FAILED: Final = 1
USAGE: Final = 2
INTERRUPTED: Final = 130


def run(arguments: list[str] | None = None) -> None:
    """The console script: run a command and leave with its exit code."""
    sys.exit(main(sys.argv[1:] if arguments is None else arguments))


def main(arguments: list[str]) -> int:
    """Run a command.

    Args:
        arguments: What stands after ``otel-docsfab``.

    Returns:
        The exit code: 0 when all is well, 1 when the command found something, 2 for a user's mistake.
    """
    if not arguments or arguments[0] in ("-h", "--help"):
        sys.stdout.write(_usage())
        return OK if arguments else USAGE
    if arguments[0] == "--version":
        from otel_docsfab import __version__  # noqa: PLC0415 - one command in many

        sys.stdout.write(f"otel-docsfab {__version__}\n")
        return OK
    name, *rest = arguments
    if name not in COMMANDS:
        sys.stderr.write(f"error: there is no command {name!r}{_near(name)}; otel-docsfab --help lists them\n")
        return USAGE
    return _call(name, rest)


def _call(name: str, arguments: list[str]) -> int:
    from otel_docsfab.errors import DocsfabError  # noqa: PLC0415 - help needs nothing of this

    try:
        module = importlib.import_module(COMMANDS[name][0])
        own = getattr(module, "run", None)
        code = own(arguments) if own else _call_typer(module, name, arguments)
    except DocsfabError as error:
        sys.stderr.write(f"error: {error}\n")
        return USAGE
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()  # nobody reads any more
        return OK
    except Exception as error:
        shown = _usage_error(error)
        if shown is None:
            raise
        return shown
    return code if isinstance(code, int) else OK


def _call_typer(module: ModuleType, name: str, arguments: list[str]) -> object:
    from typer import Typer  # noqa: PLC0415 - help, and commands that parse themselves, need nothing of this
    from typer.main import get_command  # noqa: PLC0415 - as above

    app = getattr(module, "app", None)
    if app is None:
        app = Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
        command = getattr(module, name)
        app.command(name, help=command.__doc__, epilog=getattr(module, "EXAMPLES", None))(command)
    return get_command(app).main(arguments, prog_name=f"otel-docsfab {name}", standalone_mode=False)


def _usage_error(error: Exception) -> int | None:
    """Show a mistake on the command line as the parser words it; None for anything else."""
    show = getattr(error, "show", None)
    code = getattr(error, "exit_code", None)
    if not isinstance(code, int):
        return None
    if show is not None:
        show()
    return code


def _usage() -> str:
    width = max(map(len, COMMANDS)) + 2
    return _USAGE.format(commands="\n".join(f"  {name:<{width}}{line}" for name, (_, line) in COMMANDS.items()))


def _near(name: str) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - only for a mistake

    near = get_close_matches(name, COMMANDS, n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""


if __name__ == "__main__":
    run()
