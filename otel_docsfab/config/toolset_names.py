"""Toolsets by name."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from otel_docsfab.config.values import printable
from otel_docsfab.core import DOCSFAB_TOOLS, Toolset
from otel_docsfab.errors import ConfigError

_PROFILES = "otel_docsfab.config.toolsets"


def toolset_by_name(name: str, source: str = "code") -> Toolset:
    """The toolset of a name; ``docsfab`` is the default one.

    Profiles are imported when one is asked for.

    Args:
        name: Name of a profile.
        source: Who asks, for the error.

    Raises:
        ConfigError: There is no such profile.
    """
    if name == "docsfab":
        return DOCSFAB_TOOLS
    refused = f"toolset {printable(name)} (from {source}) is refused"
    if find_spec(_PROFILES) is None:
        raise ConfigError(f"{refused}: give docsfab")
    try:
        toolset: Toolset = import_module(_PROFILES).profile(name)
    except (ConfigError, KeyError) as error:
        raise ConfigError(f"{refused}: {error}") from None
    return toolset
