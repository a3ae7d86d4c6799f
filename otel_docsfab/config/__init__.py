"""What can be set, by whom, and what holds for an attempt.

``load`` reads the sources and gives ``Settings``; ``Settings.resolve`` says what holds for one attempt. Importing reads
nothing.
"""

from otel_docsfab.config.loading import load
from otel_docsfab.config.names import find_limit, variable
from otel_docsfab.config.settings import Layer, Resolved, Scope, Settings
from otel_docsfab.config.sources import parse_options
from otel_docsfab.config.steps import DOCSFAB_STEPS
from otel_docsfab.config.toolset_names import toolset_by_name
from otel_docsfab.config.values import Caps, Ignored, Mode, Setting

__all__ = [
    "DOCSFAB_STEPS",
    "Caps",
    "Ignored",
    "Layer",
    "Mode",
    "Resolved",
    "Scope",
    "Setting",
    "Settings",
    "find_limit",
    "load",
    "parse_options",
    "toolset_by_name",
    "variable",
]
