"""The four boards."""

from otel_docsfab.mixin.boards import deadlines, lease, read_loops, supervisor
from otel_docsfab.mixin.config import DEFAULTS, MixinConfig
from otel_docsfab.mixin.panels import Board


def boards(config: MixinConfig = DEFAULTS) -> tuple[Board, ...]:
    """Every board of a configuration; the first is the one to open when an alert fires."""
    return (read_loops.board(config), deadlines.board(config), lease.board(config), supervisor.board(config))


__all__ = ["boards"]
